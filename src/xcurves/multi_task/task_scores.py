"""The mean score of every algorithm in every task, with which of them are shown to be worse than the best."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats
from xcurves.core.labels import escape_controls
from xcurves.core.provenance import alpha_of, significant
from xcurves.core.task_scores import TaskScores
from xcurves.core.verdict import score_name
from xcurves.core.wording import with_units


def scores_by_task(result: xr.Dataset) -> TaskScores:
    """Return the scores of one benchmark."""
    task = result.attrs["task"]
    others = [dim for dim in result["task_mean"].dims if dim not in (task, "algorithm")]
    if others:
        raise ValueError(
            f"result has a dim {others[0]!r} beside its tasks. Select: result.isel({others[0]}=0)"
        )
    if task not in result.dims:
        raise ValueError(
            f"result has a single {task}, no table of {task}s. Take it of all: leave out the selection"
        )

    by_task = result.transpose(task, "algorithm", "pair", ...)
    mean = by_task["task_mean"].to_numpy()
    best = _best_of_each(
        mean, lower_is_better=result.attrs.get("higher_is_better", 1) == 0
    )
    tied, any_shown = _compare_with_best(by_task, best)
    return TaskScores(
        task=str(task),
        tasks=_labels(result, task),
        algorithms=_labels(result, "algorithm"),
        score=with_units(score_name(result), result["task_mean"]),
        mean=mean,
        sd=by_task["task_mean_sd"].to_numpy(),
        n_runs=by_task["n_runs"].to_numpy(),
        best=best,
        tied=tied,
        any_shown=any_shown,
        compared=result.attrs.get("reference"),
        mean_over_tasks=result["score_mean"].to_numpy(),
        rank=result["rank_mean"].to_numpy(),
        confidence_level=float(result.attrs["confidence_level"]),
    )


def _labels(result: xr.Dataset, dim: str) -> list[str]:
    return [escape_controls(str(label)) for label in result[dim].to_numpy().tolist()]


def _best_of_each(mean: Floats, *, lower_is_better: bool) -> Bools:
    """Return which algorithm has the best mean of each task; several where they are equal, none where none has runs."""
    upward = mean
    if lower_is_better:
        upward = -mean
    highest = np.fmax.reduce(upward, axis=1, keepdims=True)
    return np.asarray(upward == highest)


def _compare_with_best(result: xr.Dataset, best: Bools) -> tuple[Bools, bool]:
    """Return who is compared with the best of its task and not shown to be worse, and whether any is shown to be."""
    algorithms = result["algorithm"].to_numpy().tolist()
    shown = significant(
        result["task_pvalue_adjusted"].transpose(..., "pair").to_numpy(),
        alpha_of(result),
    )
    tied = np.zeros_like(best)
    any_shown = False
    for pair, sides in enumerate(
        zip(
            result["algorithm_a"].to_numpy(),
            result["algorithm_b"].to_numpy(),
            strict=True,
        )
    ):
        a, b = (algorithms.index(side) for side in sides)
        for first, other in ((a, b), (b, a)):
            is_behind = (
                best[:, first]
                & ~best[:, other]
                & np.isfinite(result["task_mean"].to_numpy()[:, other])
            )
            tied[is_behind & ~shown[:, pair], other] = True
            any_shown |= bool((is_behind & shown[:, pair]).any())
    return tied, any_shown
