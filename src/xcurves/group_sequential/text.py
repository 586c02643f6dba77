"""The sentences about group-sequential tests: what is shown, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.schema import Statement, statements
from xcurves.core.wording import count, interval, joined, listed, pvalue, span
from xcurves.kernels.moments import Floats
from xcurves.kernels.sequential_pvalues import Spending, spent

_TOO_LARGE = (
    "After stopping at a large difference the estimate is too large on average; report the repeated interval with it."
)
_HOW = (
    "p is the sequential p of a randomization test within batches, valid at whatever look one stops, adjusted over "
    "pairs (Holm). It holds if the number of looks and the sizes of the batches were fixed before the first result."
)
_INTERVAL = "Intervals hold at all looks together, for one pair each (not adjusted); they assume a shift."


def sequential_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield what each task shows and what to do next, then what holds for all."""
    names = labels.result_names(result["undecided"])
    for task, name in zip(labels.tasks_of(result, "undecided"), names, strict=True):
        yield f"{name}{_after_look(task)}"
        yield from (f"{name}{each}" for each in _notes(task))
    yield from sequential_caution(result)


def sequential_answer(result: xr.Dataset) -> str:
    """Return what is shown and what to do next, or in how many tasks more runs are needed."""
    if result["undecided"].size == result.sizes["pair"]:
        task = next(iter(labels.tasks_of(result, "undecided")))
        return _after_look(task)
    tested = int(at_latest_look(result)["pvalue"].notnull().sum())
    decided = int((result["rejected"] == 1).any("look").sum())
    return (
        f"Of {tested} pairs within a task, {decided} are shown to differ; {int(result['undecided'].sum())} are "
        "undecided and need more runs."
    )


def sequential_caution(result: xr.Dataset) -> Iterator[str]:
    """Yield what the p-values take for fixed, and what the estimates and intervals are not."""
    if (result["rejected"] == 1).any():
        yield _TOO_LARGE
    yield _HOW
    if "difference_ci" in result:
        yield _INTERVAL


def at_latest_look(result: xr.Dataset) -> xr.Dataset:
    """Return what every task says at its latest look; `_look` is its number."""
    n_done = result["n_runs"].notnull().any("algorithm").sum("look")
    place = np.maximum(n_done - 1, 0)
    latest = result.drop_vars("look").isel(look=place)
    return latest.assign(_look=n_done)


def n_done(task: xr.Dataset) -> int:
    """Return how many looks of one task are done."""
    return int(task["n_runs"].notnull().any("algorithm").sum())


def needed(task: xr.Dataset) -> list[Hashable]:
    """Return the algorithms of one task that have an undecided pair."""
    open_pairs = task.isel(pair=np.flatnonzero(task["undecided"].to_numpy() == 1))
    names = {*open_pairs["algorithm_a"].to_numpy().tolist(), *open_pairs["algorithm_b"].to_numpy().tolist()}
    return [name for name in task["algorithm"].to_numpy().tolist() if name in names]


def next_batch(task: xr.Dataset, names: Sequence[Hashable]) -> list[int]:
    """Return how many runs each of some algorithms of one task has in the next batch."""
    sizes = dict(zip(task["algorithm"].to_numpy().tolist(), task["n_runs_next"].to_numpy().tolist(), strict=True))
    return [int(sizes[name]) for name in names]


def _after_look(task: xr.Dataset) -> str:
    done, planned = n_done(task), task.sizes["look"]
    latest = task.isel(look=done - 1)
    pairs = [latest.isel(pair=place) for place in range(task.sizes["pair"])]
    said = [_shown(pair, bool(task.attrs.get("higher_is_better", 1))) for pair in pairs if pair["rejected"] == 1]
    left = [_named(pair) for pair in pairs if pair["undecided"] == 1]
    if left:
        still = "is" if len(left) == 1 else "are"
        which = listed(left, 2) if len(left) < 4 else f"{len(left)} of {len(pairs)} pairs"
        said.append(f"{which} {still} still open: {_next(task)}, or stop and report nothing of them")
    closed = [pair for pair in pairs if pair["rejected"] == 0 and pair["undecided"] == 0]
    said.extend(f"{_named(pair)}: {_not_shown(pair)}" for pair in closed[:2])
    if len(closed) > 2:
        said.append(f"{count(len(closed) - 2, 'more pair is', 'more pairs are')} not shown to differ")
    runs = latest["n_runs"].fillna(0).to_numpy()
    return f"After look {done} of {planned} ({span(set(runs.tolist()))} runs each): {joined(said, '; ')}."


def _named(pair: xr.Dataset) -> str:
    return f"{pair['algorithm_a'].item()} v {pair['algorithm_b'].item()}"


def _shown(pair: xr.Dataset, higher_is_better: bool) -> str:
    a, b, difference = pair["algorithm_a"].item(), pair["algorithm_b"].item(), pair["difference"].item()
    place = "above" if difference > 0 else "below"
    better = "" if higher_is_better else f", that is {'worse' if difference > 0 else 'better'}"
    return f"{a} is {place} {b}{better}{_in_brackets(pair)}"


def _not_shown(pair: xr.Dataset) -> str:
    missing = pair["pvalue"].isnull().item()
    return "nothing can be said, runs are missing" if missing else f"not shown to differ{_in_brackets(pair)}"


def _in_brackets(pair: xr.Dataset) -> str:
    p = f"{pvalue(pair['pvalue_adjusted'].item())}"
    if "difference_ci" not in pair:
        return f" ({p})"
    low, high = (pair["difference_ci"].sel(ci_bound=bound).item() for bound in labels.CI_BOUNDS)
    limits = interval(low, high) if low == low else "no interval: the looks contradict each other"
    return f" ({p}, {limits})"


def _next(task: xr.Dataset) -> str:
    names, left = needed(task), task.sizes["look"] - n_done(task)
    sizes = next_batch(task, names)
    looks = "the look that is left" if left == 1 else f"the {left} looks that are left"
    most = f"at most {left * max(sizes)} of each in {looks}"
    return f"run {span({float(size) for size in sizes})} more of each of {listed(names, 3)} ({most})"


def _notes(task: xr.Dataset) -> Iterator[str]:
    """Yield which open pairs are unlikely to be shown, and which looks could reject nothing."""
    latest = task.isel(look=n_done(task) - 1)
    unlikely = (latest["futile"] == 1) & (latest["undecided"] == 1)
    if unlikely.any():
        pairs = joined(task["pair"].to_numpy()[unlikely.to_numpy()].tolist())
        yield f"Unlikely to be shown with the looks that are left: {pairs}. To stop there is allowed, never needed."
    yield from _batches(task)
    blind = [str(look) for look in looks_without_rejection(task)]
    if blind:
        yield (
            f"At look {joined(blind)} no pair could be shown to differ, whatever its scores: there are too few "
            "assignments for so small a share of the level."
        )


def _batches(task: xr.Dataset) -> Iterator[str]:
    """Yield what is unusual about the numbers of runs in the batches."""
    done = n_done(task)
    runs = task["n_runs"].transpose("algorithm", "look").to_numpy()[:, :done]
    added = np.diff(runs, prepend=0)
    names = task["algorithm"].to_numpy().tolist()
    for name, row in zip(names, added, strict=True):
        looks = np.flatnonzero(row) + 1
        if looks.size and looks[0] > 1:
            yield (
                f"{name} has runs from look {looks[0]} on only: what is added because of results is not controlled for."
            )
        gaps = sorted({*range(looks[0], looks[-1])} - {*looks.tolist()}) if looks.size else []
        if gaps:
            skipped = joined(list(map(str, gaps)))
            yield f"{name} has no runs at look {skipped} and has some later: there its pairs stay as they were."
    for look in range(done):
        sizes = {int(n) for n in added[:, look] if n}
        if len(sizes) > 1:
            each = joined([f"{name} {int(n)}" for name, n in zip(names, added[:, look], strict=True) if n])
            yield (
                f"At look {look + 1} the numbers of runs differ ({each}): with unlike spread the test then rejects too "
                "often. A run that crashed counts with the score that a crash is worth."
            )


def looks_without_rejection(task: xr.Dataset) -> list[int]:
    """Return the looks so far at which no pair could have been rejected, whatever its scores."""
    done = n_done(task)
    spending: Spending = "linear" if task.attrs.get("spending") == "linear" else "square"
    runs = task["n_runs"].transpose("algorithm", "look").to_numpy()[:, :done]
    n_assignments = task["n_assignments"].transpose("pair", "look").to_numpy()[:, :done].max(axis=0)
    budget = spent(spending, task.sizes["look"])[:done] * n_assignments
    ties = (runs == runs[0]).all() & (n_assignments <= task.attrs.get("n_resamples", 9999))
    return _blind((1 + ties) / budget, task.sizes["pair"], provenance.alpha_of(task))


def planned_without_rejection(
    batch_size: int, n_looks: int, n_pairs: int, spending: Spending, n_resamples: int, alpha: float
) -> list[int]:
    """Return the looks, of equal batches, at which no pair can be rejected, whatever its scores."""
    every = [math.comb(2 * batch_size, batch_size) ** k for k in range(1, n_looks + 1)]
    n_assignments = np.array([float(min(n, n_resamples + 1)) for n in every])
    ties = n_assignments <= n_resamples
    blind = _blind((1 + ties) / (spent(spending, n_looks) * n_assignments), n_pairs, alpha)
    return sorted({*blind, *([1] if batch_size == 1 else [])})


def _blind(smallest: Floats, n_pairs: int, alpha: float) -> list[int]:
    """Return the looks, from 1, at which the smallest adjusted p is above the level, and was before.

    Where all assignments are evaluated and batches are equal, that with all labels exchanged ties with the observed.
    """
    adjusted = n_pairs * np.minimum.accumulate(smallest)
    found: list[int] = (np.flatnonzero(~provenance.significant(adjusted, alpha)) + 1).tolist()
    return found


def sequential_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what is shown and what to do next, every task, and what the intervals are not."""
    return statements(sequential_answer(result), sequential_sentences(result), sequential_caution(result))
