"""What more tasks would tell: how many it takes, what these can show, and between which values one more would be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.multi_task.answers_shown import shows_answers
from xcurves.multi_task.compared import (
    floors,
    n_families_of,
    noun_of,
    sides_of,
    units_of_claim,
)
from xcurves.say.compared_pairs import Compared, beside
from xcurves.say.numbers import ends_of, number, percent, quantity

_MOST_TIMES = 20  # as many tasks: of more no number is said


def _nearest(made: Compared) -> tuple[str, str] | None:
    """Return the best and its nearest rival, from which it is not told apart; None if there is none."""
    best = made.named_best
    rivals = [row for row in made.own_rows if best in row[:2] and not row.shown and not np.isnan(row.p)]
    if best is None or not rivals:
        return None
    near = min(rivals, key=lambda row: abs(row.amount))
    return best, beside(best, near)


def nearest_pair(made: Compared) -> tuple[str, str] | None:
    """Return the best and its nearest rival, or, where all are shown to be lower, the nearest of these."""
    best = made.named_best
    rows = [row for row in made.own_rows if best in row[:2] and not np.isnan(row.amount)]
    if best is None or not rows:
        return None
    near = _nearest(made)
    if near is not None:
        return near
    nearest = min(rows, key=lambda row: abs(row.amount))
    return best, beside(best, nearest)


def _place_of(benchmark: xr.Dataset, names: tuple[str, str]) -> int:
    """Return the place of a pair in a result."""
    return [{*pair} for pair in sides_of(benchmark)].index({*names})


def what_next(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield how many tasks it would take to tell the best from the nearest that may be the best too."""
    few = list(floors(benchmark, "random", of=likes))
    if few:
        yield few[0]
        return
    names = _nearest(likes)
    if names is None:
        return
    place = _place_of(benchmark, names)
    n = n_families_of(benchmark, place)
    takes = _what_it_takes(benchmark, place, n)
    if not takes:
        return
    pair = f"{names[0]} from {names[1]}"
    smallest = float(benchmark["smallest_to_show"].to_numpy()[place])
    # Of answers to questions it is asked first what so many can show.
    if shows_answers(benchmark) and not np.isnan(smallest):
        yield f"{_that_many_show(benchmark, n, smallest)}; to tell {pair} takes {takes}."
    else:
        yield f"To tell {pair} takes {takes}."


def _what_it_takes(benchmark: xr.Dataset, place: int, n: int) -> str:
    """Return how many tasks would tell a pair apart, "" where nothing says it."""
    wanted = float(benchmark["tasks_to_show"].to_numpy()[place])
    at_least = float(benchmark["tasks_at_least"].to_numpy()[place])
    unit = units_of_claim(benchmark)
    if wanted > _MOST_TIMES * n:
        return f"more than {_MOST_TIMES} times as many {unit}"
    if np.isnan(wanted) and np.isfinite(at_least):
        return f"at least {_about(at_least)} {unit}"
    # So many as there are would show it most often: then nothing says what it takes.
    if wanted > n and n <= at_least < wanted:
        return f"at least {_about(at_least)} {unit}, about {_about(wanted)} if the difference is as seen"
    if wanted > n:
        return f"about {_about(wanted)} {unit} if the difference is as seen"
    return ""


def _that_many_show(benchmark: xr.Dataset, n: int, smallest: float) -> str:
    """Return which difference so many tasks, or families of them, show."""
    things = f"{number(n)} {units_of_claim(benchmark)}"
    return f"{things} show a difference of {number(smallest, 2)} or more in 8 of 10 cases"


def _about(count_of: float) -> str:
    """Return a number in two significant digits."""
    return number(float(f"{count_of:.2g}"))


def could_be_seen(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield which difference of the best and its nearest rival so many tasks show, and what more runs would bring."""
    names = _nearest(likes)
    if names is None:
        return
    place = _place_of(benchmark, names)
    smallest = float(benchmark["smallest_to_show"].to_numpy()[place])
    # Of answers the verdict says it.
    is_said = shows_answers(benchmark) and bool(_what_it_takes(benchmark, place, n_families_of(benchmark, place)))
    if np.isnan(smallest) or is_said:
        return
    unit = units_of_claim(benchmark)
    size = quantity(smallest, likes.units, 2)
    n = n_families_of(benchmark, place)
    sentence = f"In 8 of 10 cases {number(n)} {unit} show a difference of {size} between {names[0]} and {names[1]}"
    share = float(benchmark["noise_share"].to_numpy()[place])
    if benchmark.sizes["pair"] > 1 and not np.isnan(share):
        sentence += (
            f"; more runs in them would take away {percent(share, 2)} of the variance between {noun_of(benchmark)}s"
        )
    yield f"{sentence}."


def one_more(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield between which values the difference would be in one more task: of the best and the nearest beside it."""
    near = nearest_pair(likes)
    if near is None:
        return
    best = near[0]
    place = _place_of(benchmark, near)
    level = float(benchmark["new_task_level"].to_numpy()[place])
    if np.isnan(level):
        return
    # the ends of best minus other
    is_first = sides_of(benchmark)[place][0] == best
    low, high = ends_of(benchmark["new_task_ci"].isel(pair=place), turned=not is_first)
    where = f"On one more {noun_of(benchmark)} like these {best} would be"
    yield f"{where} {_between(low, high)} than {near[1]} ({percent(level, 2)})."


def _between(low: float, high: float) -> str:
    """Return between which differences something lies: "between 3.1 lower and 14 higher"."""
    if low < 0 < high:
        return f"between {number(-low, 2)} lower and {number(high, 2)} higher"
    if high <= 0:
        return f"between {number(-high, 2)} and {number(-low, 2)} lower"
    return f"between {number(low, 2)} and {number(high, 2)} higher"
