"""The sentences and the table about group-sequential tests: what is shown, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels, provenance
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import Statement, statements
from xcurves.kernels.looks.sequential_pvalues import Spending, spent
from xcurves.say.numbers import (
    decimals_of,
    interval,
    joined,
    listed,
    number,
    open_interval,
    pvalue,
    rounded,
    span,
)
from xcurves.say.pairs import (
    TURNED,
    PairRow,
    better_first,
    displayed_pairs,
    heading,
    keeps_direction,
    lower_is_better,
    rows_of,
)
from xcurves.say.result_frames import bounds, frame_of_pairs, note_open_ends

_TOO_LARGE = (
    "After stopping at a large difference the estimate is too large on average; report the repeated interval with it."
)
_HOW = (
    "p is the sequential p of a randomization test within batches, valid at whatever look one stops, adjusted over "
    "pairs (Holm). It holds if the number of looks and the sizes of the batches were fixed before the first result."
)
_MOST_CHANCES = 3  # pairs whose chances an answer has
_INTERVAL = "Intervals hold at all looks{together}; they assume a shift."
_CHANCE = (
    "Chances are of continuations by normal runs with the spreads so far; the true difference of each is drawn from "
    "what these runs leave open, and where most true differences are small, chances are too high. chance_at_ci has "
    "them at both ends of the interval."
)


def sequential_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what is shown and what to do next, every task, and what p and the intervals are not."""
    tasks = list(labels.named_tasks(result, "undecided"))
    details = [f"{name}{text}" for task, name in tasks for text in (_after_look(task), *_notes(task))]
    if len(tasks) == 1:
        answer = _after_look(tasks[0][0])
    else:
        answer = _over_tasks(result)

    cautions = []
    if (result["rejected"] == 1).any():
        cautions.append(_TOO_LARGE)
    cautions.append(_HOW)
    if "task" in result.attrs:
        noun = labels.noun(str(result.attrs["task"]))
        cautions.append(
            f"Runs are dealt anew within each {noun}: the claim is about these {noun}s, not others like them."
        )
    if "difference_ci" in result:
        together = " together"
        if result.sizes.get("pair", 1) > 1:
            together = " and for all pairs together"
        cautions.append(_INTERVAL.format(together=together))
    if "chance" in result and (result["undecided"] == 1).any():
        cautions.append(_CHANCE)
    return statements(answer, details, cautions)


def _over_tasks(result: xr.Dataset) -> str:
    """Return how many pairs of several tasks are shown to differ, and how many need more runs."""
    n_tested = int(at_latest_look(result)["pvalue"].notnull().sum())
    n_shown = int((result["rejected"] == 1).any("look").sum())
    noun = labels.task_noun(result["undecided"])
    return (
        f"Of {n_tested} pairs within a {noun}, {n_shown} are shown to differ; {int(result['undecided'].sum())} are "
        "undecided and need more runs."
    )


def at_latest_look(result: xr.Dataset) -> xr.Dataset:
    """Return what every task says at its latest look; `_look` is its number."""
    done = result["n_runs"].notnull().any("algorithm").sum("look")
    return result.drop_vars("look").isel(look=np.maximum(done - 1, 0)).assign(_look=done)


def n_done(result: xr.Dataset) -> int:
    """Return how many looks are done, of any task where there are several."""
    known = result["n_runs"].notnull()
    return int(known.any([dim for dim in known.dims if dim != "look"]).sum())


def next_batch(task: xr.Dataset) -> dict[Hashable, int]:
    """Return how many runs each algorithm of one task that has an undecided pair makes in the next batch."""
    sizes = zip(
        task["algorithm"].to_numpy().tolist(),
        task["n_runs_next"].to_numpy().tolist(),
        strict=True,
    )
    return {name: int(size) for name, size in sizes if size}


class OpenPair(NamedTuple):
    """A pair at the latest look, as it is shown, and whether it is open."""

    row: PairRow
    is_open: bool
    chance: float  # that the looks left show it


def pairs_at(latest: xr.Dataset) -> list[OpenPair]:
    """Return the pairs of one task at its latest look, those shown with the largest difference first."""
    blank = xr.full_like(latest["difference"], np.nan)
    with_intervals = latest
    if "difference_ci_simultaneous" not in latest:
        no_interval = blank.expand_dims(ci_bound=list(CI_BOUNDS), axis=-1)
        with_intervals = latest.assign(difference_ci_simultaneous=no_interval)
    displayed = displayed_pairs(
        with_intervals,
        "difference",
        "difference_ci_simultaneous",
        latest["pvalue_adjusted"],
    )

    # Rows are in the order of differences, and turned.
    both = zip(
        *(_texts(latest[f"algorithm_{side}"]) for side in "ab"),
        strict=True,
    )
    place_of = {frozenset(pair): index for index, pair in enumerate(both)}
    is_open = latest["undecided"].to_numpy() == 1
    chance = latest.get("chance", blank).to_numpy().tolist()
    pairs = []
    for row in rows_of(displayed):
        index = place_of[frozenset((row.better, row.other))]
        pairs.append(OpenPair(row, bool(is_open[index]), chance[index]))
    return pairs


def _texts(coordinate: xr.DataArray) -> list[str]:
    """Return labels as texts."""
    return [str(label) for label in coordinate.to_numpy().tolist()]


def _after_look(task: xr.Dataset) -> str:
    """Return what is shown of one task after its latest look, and what to do next."""
    done = n_done(task)
    planned = task.sizes["look"]
    latest = task.isel(look=done - 1)
    with_pairs = latest
    if "pair" not in latest.dims:
        with_pairs = latest.expand_dims("pair")
    pairs = pairs_at(with_pairs)
    is_open = [pair for pair in pairs if pair.is_open]
    closed = [pair for pair in pairs if not pair.is_open]

    phrases = [_say_shown(pair.row, latest) for pair in closed if pair.row.shown]
    if is_open:
        phrases.append(_say_open(is_open, len(pairs), next_batch(task), planned - done))
    unshown = [f"{_versus(pair.row)}{_in_brackets(pair.row)}" for pair in closed if not pair.row.shown]
    if unshown:
        phrases.append(f"not shown to differ: {joined(unshown, ', ', 2)}")

    runs = f"{span(latest['n_runs'].fillna(0).to_numpy().tolist())} runs each"
    if "task" in task.attrs:
        runs += f", over these {labels.noun(str(task.attrs['task']))}s"
    sentences = [f"After look {done} of {planned} ({runs}): {joined(phrases, '; ')}."]
    chances = _say_chances(is_open, planned - done)
    if chances:
        sentences.append(chances)
    return " ".join(sentences)


def _say_open(left: list[OpenPair], n_pairs: int, sizes: dict[Hashable, int], more: int) -> str:
    """Return which pairs are open, and what to run for them."""
    which = f"{len(left)} of {n_pairs} pairs"
    if len(left) < 4:
        which = listed([_versus(pair.row) for pair in left], 2)
    verb, them = "are", "them"
    if len(left) == 1:
        verb, them = "is", "it"
    to_run = f"{span(map(float, sizes.values()))} more of each of {listed(sizes, 3)}"
    if more > 1:
        to_run += f" (at most {more * max(sizes.values())} of each in the {more} looks left)"
    return f"{which} {verb} still open: run {to_run}, or stop without a claim about {them}"


def _say_chances(left: list[OpenPair], more: int) -> str:
    """Return how often the looks left would show the open pairs, the likeliest first."""
    known = sorted(
        (pair for pair in left if not math.isnan(pair.chance)),
        key=lambda pair: -pair.chance,
    )
    if not known:
        return ""
    looks = f"The {more} looks left show"
    if more == 1:
        looks = "The look left shows"
    if len(left) == 1:
        n_cases = _of_100(known[0].chance)
        return f"{looks} it in about {n_cases} of 100 cases (the difference as uncertain as it is now)."
    first, *others = known[:_MOST_CHANCES]
    named = [f"{_versus(first.row)} in about {_of_100(first.chance)} of 100 cases"]
    named += [f"{_versus(pair.row)} in {_of_100(pair.chance)}" for pair in others]
    return f"{looks} {listed(named)}."


def _of_100(chance: float) -> int:
    """Return in how many of 100 cases it is so."""
    return round(100 * chance)


def _versus(row: PairRow) -> str:
    return f"{row.better} v {row.other}"


def _say_shown(row: PairRow, latest: xr.Dataset) -> str:
    """Return which of a pair is better, it first, and by how much."""
    is_above = row.amount > 0
    # Pairs with a reference keep their sign, of others it says by how much the first is better.
    if lower_is_better(latest) and not keeps_direction(latest):
        is_above = not is_above
    word = "below"
    if is_above:
        word = "above"
    decimals = decimals_of(row.low, row.high, row.amount)
    amount = rounded(abs(row.amount), decimals)
    return f"{row.better} is {word} {row.other} by {amount}{_in_brackets(row)}"


def _in_brackets(row: PairRow) -> str:
    """Return the interval of the size of a difference, if there is one, and p."""
    if math.isnan(row.p):
        return " (runs are missing)"
    low, high = row.low, row.high
    if row.amount < 0:
        low, high = -high, -low
    if math.isnan(low):
        return f" ({pvalue(row.p)})"
    if row.shown:
        limits = open_interval(low, high, abs(row.amount))
    else:
        limits = interval(low, high, estimate=abs(row.amount))
    return f" ({limits}; {pvalue(row.p)})"


def _notes(task: xr.Dataset) -> Iterator[str]:
    """Yield which open pairs are unlikely to be shown, unusual batches, and which looks could reject nothing."""
    done = n_done(task)
    if "futile" in task:
        yield from _say_futile(task, done)

    # Runs that were added at each look, shape (algorithm, look).
    n_runs = task["n_runs"].transpose("algorithm", "look").to_numpy()[:, :done]
    added = np.diff(n_runs, prepend=0).astype(int)
    names = task["algorithm"].to_numpy().tolist()
    for name, of_algorithm in zip(names, added, strict=True):
        yield from _say_gaps(name, np.flatnonzero(of_algorithm) + 1)
    yield from _say_unequal(names, added)

    n_assignments = task["n_assignments"].transpose("pair", "look").to_numpy()
    blind = _blind(
        n_assignments[:, :done].max(axis=0),
        (added == added[0]).all(axis=0).cumprod() == 1,
        task.attrs.get("spending", "square"),
        task.sizes["look"],
        task.sizes["pair"],
        task.attrs.get("n_resamples", 9999),
        provenance.alpha_of(task),
    )
    if blind:
        yield (
            f"At look {joined(list(map(str, blind)))} no pair could be shown to differ, whatever its scores: there are "
            "too few assignments for so small a share of the level."
        )


def _say_futile(task: xr.Dataset, done: int) -> Iterator[str]:
    """Yield which open pairs are unlikely to be shown."""
    is_futile = task["futile"].isel(look=done - 1) == 1
    unlikely = np.atleast_1d((is_futile & (task["undecided"] == 1)).to_numpy())
    if unlikely.any():
        pairs = np.atleast_1d(task["pair"].to_numpy())[unlikely].tolist()
        yield (
            f"Unlikely to be shown with the looks that are left: {joined(pairs)}. To stop there is allowed, never "
            "needed."
        )


def _say_gaps(name: object, looks: NDArray[np.intp]) -> Iterator[str]:
    """Yield that an algorithm begins late, or has looks without runs between those with some."""
    if not looks.size:
        return
    if looks[0] > 1:
        yield f"{name} has runs from look {looks[0]} on only: what is added because of results is not controlled for."
    gaps = [str(look) for look in range(looks[0], looks[-1]) if look not in looks]
    if gaps:
        yield f"{name} has no runs at look {joined(gaps)} and has some later: there its pairs stay as they were."


def _say_unequal(names: list[object], added: NDArray[np.int_]) -> Iterator[str]:
    """Yield that the batches of looks differ in size, given runs that were added, shape (algorithm, look)."""
    looks: dict[str, list[str]] = {}
    for look, sizes in enumerate(added.T.tolist(), 1):
        made = {name: n for name, n in zip(names, sizes, strict=True) if n}
        if len(set(made.values())) > 1:
            numbers = joined([f"{name} {number(n)}" for name, n in made.items()])
            looks.setdefault(numbers, []).append(str(look))
    for numbers, of_looks in looks.items():
        which = "look"
        if len(of_looks) > 1:
            which = "looks"
        yield (
            f"At {which} {listed(of_looks)} the numbers of runs differ ({numbers}): with unlike spread the test then "
            "rejects too often. A run that crashed counts with the score that a crash is worth."
        )


def planned_without_rejection(
    batch_size: int,
    n_looks: int,
    n_pairs: int,
    spending: Spending,
    n_resamples: int,
    alpha: float,
) -> list[int]:
    """Return the looks, of equal batches, at which no pair can be rejected, whatever its scores."""
    every = [math.comb(2 * batch_size, batch_size) ** k for k in range(1, n_looks + 1)]
    n_assignments = np.array([float(min(n, n_resamples + 1)) for n in every])
    blind = _blind(
        n_assignments,
        np.ones(n_looks, bool),
        spending,
        n_looks,
        n_pairs,
        n_resamples,
        alpha,
    )
    # One run a side has no spread, so that nothing is tested yet.
    if batch_size == 1:
        blind.append(1)
    return sorted(set(blind))


def _blind(
    n_assignments: Floats,  # at each look so far
    alike: NDArray[np.bool_],  # whether all batches until then are equal
    spending: Spending,
    n_looks: int,
    n_pairs: int,
    n_resamples: int,
    alpha: float,
) -> list[int]:
    """Return the looks, from 1, at which the smallest adjusted p is above the level, and was before."""
    # of the observed with that of all labels exchanged
    ties = alike & (n_assignments <= n_resamples)
    smallest = (1 + ties) / (spent(spending, n_looks)[: len(n_assignments)] * n_assignments)
    shown = provenance.significant(n_pairs * np.minimum.accumulate(smallest), alpha)
    return [look for look, is_shown in enumerate(shown, 1) if not is_shown]


def sequential_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the better first, the largest difference in front, at the latest look."""
    latest = at_latest_look(result)
    size = latest["difference"]
    p = latest["pvalue_adjusted"]
    decided = result["look"].where(result["rejected"] == 1).min("look")
    columns: dict[str, xr.DataArray] = {}
    if "difference_ci_simultaneous" in latest:
        shown = displayed_pairs(latest, "difference", "difference_ci_simultaneous", p)
        columns = {"difference": shown["amount"], **bounds(shown["interval"])}
    else:
        shown = better_first(latest, size, ["difference"])
        columns = {"difference": shown["difference"]}
    columns |= {
        "p": p,
        "look": latest["_look"].broadcast_like(decided),
        "decided at": decided,
        "T": latest["statistic"],
        "boundary": latest["critical_value"],
        "undecided": result["undecided"],
    }
    if "chance" in latest:
        columns["chance"] = latest["chance"].where(result["undecided"] == 1)
    frame = frame_of_pairs(columns, size, shown[TURNED])
    if "difference_ci_simultaneous" in latest:
        frame.attrs["interval"] = heading(result)
        note_open_ends(frame, shown)
    return frame
