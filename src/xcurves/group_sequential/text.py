"""The sentences and the table about group-sequential tests: what is shown, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance
from xcurves.core.pairs import better_first
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of_pairs
from xcurves.core.wording import ends_of, interval, joined, listed, pvalue, span
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


def sequential_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what is shown and what to do next, every task, and what p and the intervals are not."""
    tasks = list(labels.named_tasks(result, "undecided"))
    said = [f"{name}{text}" for task, name in tasks for text in (_after_look(task), *_notes(task))]
    tested = int(at_latest_look(result)["pvalue"].notnull().sum())
    shown, noun = int((result["rejected"] == 1).any("look").sum()), labels.task_noun(result["undecided"])
    answer = (
        f"Of {tested} pairs within a {noun}, {shown} are shown to differ; {int(result['undecided'].sum())} are "
        "undecided and need more runs."
    )
    cautions = [_TOO_LARGE] * bool((result["rejected"] == 1).any()) + [_HOW] + [_INTERVAL] * ("difference_ci" in result)
    return statements(_after_look(tasks[0][0]) if len(tasks) == 1 else answer, said, cautions)


def at_latest_look(result: xr.Dataset) -> xr.Dataset:
    """Return what every task says at its latest look; `_look` is its number."""
    done = result["n_runs"].notnull().any("algorithm").sum("look")
    return result.drop_vars("look").isel(look=np.maximum(done - 1, 0)).assign(_look=done)


def n_done(task: xr.Dataset) -> int:
    """Return how many looks of one task are done."""
    return int(task["n_runs"].notnull().any("algorithm").sum())


def next_batch(task: xr.Dataset) -> dict[Hashable, int]:
    """Return how many runs each algorithm of one task that has an undecided pair makes in the next batch."""
    sizes = zip(task["algorithm"].to_numpy().tolist(), task["n_runs_next"].to_numpy().tolist(), strict=True)
    return {name: int(size) for name, size in sizes if size}


def _after_look(task: xr.Dataset) -> str:
    done, planned = n_done(task), task.sizes["look"]
    latest = task.isel(look=done - 1)
    pairs = list(labels.each_of(latest, "pair"))
    said = [_say_best(pair) for pair in pairs if pair["rejected"] == 1]
    left = [_versus(pair) for pair in pairs if pair["undecided"] == 1]
    if left:
        which = listed(left, 2) if len(left) < 4 else f"{len(left)} of {len(pairs)} pairs"
        sizes, more = next_batch(task), planned - done
        looks = "the look that is left" if more == 1 else f"the {more} looks that are left"
        said.append(
            f"{which} {'is' if len(left) == 1 else 'are'} still open: run {span(map(float, sizes.values()))} more of "
            f"each of {listed(sizes, 3)} (at most {more * max(sizes.values())} of each in {looks}), or stop and report "
            "nothing of them"
        )
    closed = [f"{_versus(pair)}{_in_brackets(pair)}" for pair in pairs if (pair["rejected"] + pair["undecided"]) == 0]
    said += [f"not shown to differ: {joined(closed, ', ', 2)}"] * bool(closed)
    runs = latest["n_runs"].fillna(0).to_numpy()
    return f"After look {done} of {planned} ({span(runs.tolist())} runs each): {joined(said, '; ')}."


def _versus(pair: xr.Dataset) -> str:
    return f"{pair['algorithm_a'].item()} v {pair['algorithm_b'].item()}"


def _say_best(pair: xr.Dataset) -> str:
    """Return which of a pair is better, it first."""
    higher = bool(pair.attrs.get("higher_is_better", 1))
    turned = (pair["difference"].item() > 0) != higher
    better, other = (pair[f"algorithm_{side}"].item() for side in ("ba" if turned else "ab"))
    said = f"{better} is above {other}" if higher else f"{better} is below {other}, that is better"
    return f"{said}{_in_brackets(pair, turned=turned)}"


def _in_brackets(pair: xr.Dataset, *, turned: bool = False) -> str:
    if pair["pvalue"].isnull():
        return " (runs are missing)"
    limits = ""
    if "difference_ci" in pair:
        low, high = ends_of(pair["difference_ci"], turned=turned)
        limits = f", {'no interval: the looks contradict each other' if math.isnan(low) else interval(low, high)}"
    return f" ({pvalue(pair['pvalue_adjusted'].item())}{limits})"


def _notes(task: xr.Dataset) -> Iterator[str]:
    """Yield which open pairs are unlikely to be shown, unusual batches, and which looks could reject nothing."""
    done, names = n_done(task), task["algorithm"].to_numpy().tolist()
    unlikely = ((task["futile"].isel(look=done - 1) == 1) & (task["undecided"] == 1)).to_numpy()
    if unlikely.any():
        pairs = joined(task["pair"].to_numpy()[unlikely].tolist())
        yield f"Unlikely to be shown with the looks that are left: {pairs}. To stop there is allowed, never needed."
    added = np.diff(task["n_runs"].transpose("algorithm", "look").to_numpy()[:, :done], prepend=0).astype(int)
    for name, row in zip(names, added, strict=True):
        looks = np.flatnonzero(row) + 1
        if looks.size and looks[0] > 1:
            yield (
                f"{name} has runs from look {looks[0]} on only: what is added because of results is not controlled for."
            )
        gaps = [str(look) for look in range(looks[0], looks[-1]) if look not in looks] if looks.size else []
        if gaps:
            yield f"{name} has no runs at look {joined(gaps)} and has some later: there its pairs stay as they were."
    for look, sizes in enumerate(added.T.tolist(), 1):
        if len({*sizes} - {0}) > 1:
            each = joined([f"{name} {n}" for name, n in zip(names, sizes, strict=True) if n])
            yield (
                f"At look {look} the numbers of runs differ ({each}): with unlike spread the test then rejects too "
                "often. A run that crashed counts with the score that a crash is worth."
            )
    n_assignments = task["n_assignments"].transpose("pair", "look").to_numpy()[:, :done].max(axis=0)
    alike = (added == added[0]).all(axis=0).cumprod() == 1
    options = task.attrs.get("spending", "square"), task.sizes["look"], task.sizes["pair"]
    blind = _blind(n_assignments, alike, *options, task.attrs.get("n_resamples", 9999), provenance.alpha_of(task))
    if blind:
        yield (
            f"At look {joined(list(map(str, blind)))} no pair could be shown to differ, whatever its scores: there are "
            "too few assignments for so small a share of the level."
        )


def planned_without_rejection(
    batch_size: int, n_looks: int, n_pairs: int, spending: Spending, n_resamples: int, alpha: float
) -> list[int]:
    """Return the looks, of equal batches, at which no pair can be rejected, whatever its scores."""
    every = [math.comb(2 * batch_size, batch_size) ** k for k in range(1, n_looks + 1)]
    n_assignments = np.array([float(min(n, n_resamples + 1)) for n in every])
    blind = _blind(n_assignments, np.ones(n_looks, bool), spending, n_looks, n_pairs, n_resamples, alpha)
    return sorted({*blind, *([1] if batch_size == 1 else [])})


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
    ties = alike & (n_assignments <= n_resamples)  # of the observed with that of all labels exchanged
    smallest = (1 + ties) / (spent(spending, n_looks)[: len(n_assignments)] * n_assignments)
    shown = provenance.significant(n_pairs * np.minimum.accumulate(smallest), alpha)
    return [look for look, is_shown in enumerate(shown, 1) if not is_shown]


def sequential_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the largest difference first, at the latest look."""
    latest = at_latest_look(result)
    size = latest["difference"]
    latest = better_first(latest, size, ["difference", "difference_ci"])
    decided = result["look"].where(result["rejected"] == 1).min("look")
    columns = {
        "look": latest["_look"].broadcast_like(decided),
        "decided at": decided,
        "T": latest["statistic"],
        "boundary": latest["critical_value"],
        "p": latest["pvalue"],
        "p_adjusted": latest["pvalue_adjusted"],
        "difference": latest["difference"],
        **(bounds(latest["difference_ci"]) if "difference_ci" in latest else {}),
        "undecided": result["undecided"],
    }
    return frame_of_pairs(columns, size, latest["pair_turned"])
