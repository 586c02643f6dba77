"""What more tasks would tell: how many it takes, what these can show, and between which values one more would be."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np
import xarray as xr

from xcurves.core.schema import Needed
from xcurves.multi_task.answers_shown import shows_answers
from xcurves.multi_task.too_few import (
    kind_of_tasks,
    n_families_of,
    noun_of,
    units_of_claim,
)
from xcurves.say.compared_pairs import Compared
from xcurves.say.numbers import ends_of, number, percent, quantity
from xcurves.say.pairs import sides_of
from xcurves.say.verdict import what_it_takes


def tasks_that_tell(benchmark: xr.Dataset, best: str, other: str) -> Needed:
    """Return how many tasks, items or families of these would tell two algorithms apart."""
    place = _place_of(benchmark, (best, other))
    pair = benchmark.isel(pair=place)
    # Of answers to questions it is asked first what so many can show.
    smallest = nan
    if shows_answers(benchmark):
        smallest = pair["smallest_to_show"].item()
    return Needed(
        kind_of_tasks(benchmark),
        units_of_claim(benchmark),
        n_families_of(benchmark, place),
        pair["tasks_to_show"].item(),
        pair["tasks_at_least"].item(),
        smallest,
    )


def _place_of(benchmark: xr.Dataset, names: tuple[str, str]) -> int:
    """Return the place of a pair in a result."""
    return [{*pair} for pair in sides_of(benchmark)].index({*names})


def could_be_seen(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield which difference of the best and its nearest rival so many tasks show, and what more runs would bring."""
    names = likes.rivals
    if names is None:
        return
    place = _place_of(benchmark, names)
    smallest = float(benchmark["smallest_to_show"].to_numpy()[place])
    needed = tasks_that_tell(benchmark, *names)
    # Of answers the verdict says it.
    is_said = shows_answers(benchmark) and bool(what_it_takes(needed))
    if np.isnan(smallest) or is_said:
        return
    size = quantity(smallest, likes.units, 2)
    there = f"{number(needed.present)} {needed.things}"
    sentence = f"In 8 of 10 cases {there} show a difference of {size} between {names[0]} and {names[1]}"
    share = float(benchmark["noise_share"].to_numpy()[place])
    if benchmark.sizes["pair"] > 1 and not np.isnan(share):
        sentence += (
            f"; more runs in them would take away {percent(share, 2)} of the variance between {noun_of(benchmark)}s"
        )
    yield f"{sentence}."


def one_more(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield between which values the difference would be in one more task: of the best and the nearest beside it."""
    near = likes.nearest
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
