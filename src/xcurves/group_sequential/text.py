"""The sentences and the table about group-sequential tests: what is shown, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of_pairs, turned_pairs
from xcurves.core.wording import count, ends_of, interval, joined, listed, pvalue, span
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
        still, sizes, more = "is" if len(left) == 1 else "are", next_batch(task), planned - done
        looks = "the look that is left" if more == 1 else f"the {more} looks that are left"
        run = f"run {span(map(float, sizes.values()))} more of each of {listed(sizes, 3)}"
        most = f"at most {more * max(sizes.values())} of each in {looks}"
        said.append(f"{which} {still} still open: {run} ({most}), or stop and report nothing of them")
    closed = [pair for pair in pairs if pair["rejected"] == 0 and pair["undecided"] == 0]
    for pair in closed[:2]:
        missing = pair["pvalue"].isnull()
        why = "nothing can be said, runs are missing" if missing else f"not shown to differ{_in_brackets(pair)}"
        said.append(f"{_versus(pair)}: {why}")
    if len(closed) > 2:
        said.append(f"{count(len(closed) - 2, 'more pair is', 'more pairs are')} not shown to differ")
    runs = latest["n_runs"].fillna(0).to_numpy()
    return f"After look {done} of {planned} ({span(set(runs.tolist()))} runs each): {joined(said, '; ')}."


def _versus(pair: xr.Dataset) -> str:
    return f"{pair['algorithm_a'].item()} v {pair['algorithm_b'].item()}"


def _say_best(pair: xr.Dataset) -> str:
    """Return which of a pair is better, it first."""
    higher = bool(pair.attrs.get("higher_is_better", 1))
    turned = (pair["difference"].item() > 0) != higher
    names = [pair["algorithm_a"].item(), pair["algorithm_b"].item()]
    better, other = names[::-1] if turned else names
    said = f"{better} is above {other}" if higher else f"{better} is below {other}, that is better"
    return f"{said}{_in_brackets(pair, turned=turned)}"


def _in_brackets(pair: xr.Dataset, *, turned: bool = False) -> str:
    limits = ""
    if "difference_ci" in pair:
        low, high = ends_of(pair["difference_ci"], turned=turned)
        limits = f", {interval(low, high) if low == low else 'no interval: the looks contradict each other'}"
    return f" ({pvalue(pair['pvalue_adjusted'].item())}{limits})"


def _notes(task: xr.Dataset) -> Iterator[str]:
    """Yield which open pairs are unlikely to be shown, unusual batches, and which looks could reject nothing."""
    done = n_done(task)
    latest = task.isel(look=done - 1)
    unlikely = (latest["futile"] == 1) & (latest["undecided"] == 1)
    if unlikely.any():
        pairs = joined(task["pair"].to_numpy()[unlikely.to_numpy()].tolist())
        yield f"Unlikely to be shown with the looks that are left: {pairs}. To stop there is allowed, never needed."
    added = np.diff(task["n_runs"].transpose("algorithm", "look").to_numpy()[:, :done], prepend=0).astype(int)
    names = task["algorithm"].to_numpy().tolist()
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
    blind = looks_without_rejection(task)
    if blind:
        yield (
            f"At look {joined(list(map(str, blind)))} no pair could be shown to differ, whatever its scores: there are "
            "too few assignments for so small a share of the level."
        )


def looks_without_rejection(task: xr.Dataset) -> list[int]:
    """Return the looks so far at which no pair could have been rejected, whatever its scores."""
    done = n_done(task)
    spending: Spending = task.attrs.get("spending", "square")
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


def sequential_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the largest difference first, at the latest look."""
    latest = at_latest_look(result)
    size = latest["difference"]
    latest = turned_pairs(latest, size, ["difference", "difference_ci"])
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
