"""The sentences about group-sequential tests besides the verdict: what to do next, and what to know of the looks."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import mul

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels, provenance
from xcurves.core.schema import Role, Statement
from xcurves.kernels.looks.sequential_pvalues import Spending, spent
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import count, joined, listed, number, span

_TOO_LARGE = (
    "After stopping at a large difference the estimate is too large on average; report the repeated interval with it."
)
_HOW = (
    "p is the sequential p of a randomization test within batches, valid at whatever look one stops, adjusted over "
    "pairs (Holm). It holds if the number of looks and the sizes of the batches were fixed before the first result."
)
_INTERVALS = "Intervals hold at all looks together; they assume a shift."
_CHANCE = (
    "Chances are of continuations by normal runs with the spreads so far; the true difference of each is drawn from "
    "what these runs leave open, and where most true differences are small, chances are too high. chance_at_ci has "
    "them at both ends of the interval."
)
_MOST_CHANCES = 3  # pairs whose chances a sentence has


def mean_score(latest: xr.Dataset) -> str:
    """Return what pairs are compared by: "mean accuracy after look 2 of 3 (6 runs each)"."""
    looks = np.unique(latest["_look"]).tolist()
    runs = f"{span(latest['n_runs'].fillna(0).to_numpy().ravel().tolist())} runs each"
    if "task" in latest.attrs:
        runs += f", over these {labels.noun(str(latest.attrs['task']))}s"
    return f"mean {score_name(latest)} after look {span(looks)} of {latest.attrs['n_looks']} ({runs})"


def more_of_looks(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what to do next, what to know of every task, and what p and the intervals are not."""
    tasks = list(labels.named_tasks(result, "undecided"))
    role: Role = "detail"
    if len(tasks) == 1:
        role = "answer"
    n_open = int(result["undecided"].sum())
    if n_open and len(tasks) > 1:
        yield Statement("answer", f"Undecided, with more runs needed: {count(n_open, 'pair')}.")
    for task, name in tasks:
        for text in _what_next(task):
            yield Statement(role, f"{name}{text}")
        for text in _notes(task):
            yield Statement("detail", f"{name}{text}")

    if (result["rejected"] == 1).any():
        yield Statement("caution", _TOO_LARGE)
    yield Statement("caution", _HOW)
    if "task" in result.attrs:
        noun = labels.noun(str(result.attrs["task"]))
        about = f"the claim is about these {noun}s, not others like them"
        yield Statement("caution", f"Runs are dealt anew within each {noun}: {about}.")
    if "difference_ci" in result:
        yield Statement("caution", _INTERVALS)
    if "chance" in result and (result["undecided"] == 1).any():
        yield Statement("caution", _CHANCE)


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
    sizes = zip(task["algorithm"].to_numpy().tolist(), task["n_runs_next"].to_numpy().tolist(), strict=True)
    return {name: int(size) for name, size in sizes if size}


def _what_next(task: xr.Dataset) -> Iterator[str]:
    """Yield which pairs of one task are open, and what to run for them."""
    left = _open_pairs(task)
    if left:
        yield _say_open(list(left), task.sizes["pair"], next_batch(task), task.sizes["look"] - n_done(task))


def _open_pairs(task: xr.Dataset) -> dict[str, float]:
    """Return the open pairs of one task, with the chance that the looks left show them, the likeliest first."""
    latest = task.isel(look=n_done(task) - 1)
    names = [f"{a} v {b}" for a, b in zip(*(latest[f"algorithm_{side}"].to_numpy() for side in "ab"), strict=True)]
    chances = latest.get("chance", xr.full_like(latest["difference"], np.nan)).to_numpy().tolist()
    is_open = latest["undecided"].to_numpy() == 1
    left = [each for each, still in zip(zip(names, chances, strict=True), is_open, strict=True) if still]
    return dict(sorted(left, key=lambda pair: -np.nan_to_num(pair[1])))


def _say_open(left: list[str], n_pairs: int, sizes: Mapping[Hashable, int], more: int) -> str:
    """Return which pairs are open, and what to run for them."""
    which = f"{len(left)} of {n_pairs} pairs"
    if len(left) < 4:
        which = listed(left, 2)
    verb, them = "are", "them"
    if len(left) == 1:
        verb, them = "is", "it"
    to_run = f"{span(map(float, sizes.values()))} more of each of {listed(sizes, 3)}"
    if more > 1:
        to_run += f" (at most {more * max(sizes.values())} of each in the {more} looks left)"
    return f"{which} {verb} still open: run {to_run}, or stop without a claim about {them}."


def _say_chances(left: Mapping[str, float], more: int) -> Iterator[str]:
    """Yield how often the looks left would show the open pairs, the likeliest first."""
    known = [(name, round(100 * chance)) for name, chance in left.items() if not math.isnan(chance)]
    if not known:
        return
    looks = f"The {more} looks left show"
    if more == 1:
        looks = "The look left shows"
    first, *others = known[:_MOST_CHANCES]
    named = [f"{first[0]} in about {first[1]} of 100 cases", *(f"{name} in {n}" for name, n in others)]
    yield f"{looks} {listed(named)} (the differences as uncertain as they are now)."


def _notes(task: xr.Dataset) -> Iterator[str]:
    """Yield how likely open pairs are to be shown, unusual batches, and which looks could reject nothing."""
    done = n_done(task)
    yield from _say_chances(_open_pairs(task), task.sizes["look"] - done)
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
    batches: Sequence[int], n_pairs: int, spending: Spending, n_resamples: int, alpha: float, n_tasks: int = 1
) -> list[int]:
    """Return the looks at which no pair can be rejected, whatever its scores, of batches that algorithms share."""
    n_looks = len(batches)
    every = list(accumulate((math.comb(2 * size, size) ** n_tasks for size in batches), mul))
    n_assignments = np.array([float(min(n, n_resamples + 1)) for n in every])
    blind = _blind(n_assignments, np.ones(n_looks, bool), spending, n_looks, n_pairs, n_resamples, alpha)
    # One run a side has no spread, so that nothing is tested yet.
    if batches[0] == 1:
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


def columns_of_looks(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return what the table has of each pair besides its difference: the latest look, and when it was decided."""
    latest = at_latest_look(result)
    decided = result["look"].where(result["rejected"] == 1).min("look")
    columns = {
        "look": latest["_look"].broadcast_like(decided),
        "decided at": decided,
        "T": latest["statistic"],
        "boundary": latest["critical_value"],
        "undecided": result["undecided"],
    }
    if "chance" in latest:
        columns["chance"] = latest["chance"].where(result["undecided"] == 1)
    return columns
