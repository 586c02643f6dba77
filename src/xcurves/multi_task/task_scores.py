"""The mean score of every algorithm in every task, with which of them are shown to be worse than the best."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats
from xcurves.core import labels
from xcurves.core.provenance import alpha_of, significant
from xcurves.core.refusal import UNSAID, Refusal, escape_controls
from xcurves.core.schema import TaskScores
from xcurves.core.validation import are_means_over_training
from xcurves.multi_task.task_options import least_task_pvalues
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import with_units


def scores_by_task(result: xr.Dataset) -> TaskScores:
    """Return the scores of one benchmark."""
    task = result.attrs["task"]
    others = [dim for dim in result["task_mean"].dims if dim not in (task, "algorithm")]
    if others:
        raise Refusal(
            "result",
            UNSAID,
            f"result has a dim {others[0]!r} beside its tasks",
            f"Select: result.isel({others[0]}=0)",
        )
    if task not in result.dims:
        raise Refusal(
            "result",
            UNSAID,
            f"result has a single {task}, no table of {task}s",
            "Take it of all: leave out the selection",
        )

    over = " over training" if are_means_over_training(result) else ""
    by_task = result.transpose(task, "algorithm", "pair", ...)
    mean = by_task["task_mean"].to_numpy()
    best = _best_of_each(mean, lower_is_better=result.attrs.get("higher_is_better", 1) == 0)
    tied, untold, any_could = _compare_with_best(by_task, best)
    return TaskScores(
        task=labels.noun(str(task)),
        tasks=_labels(result, task),
        algorithms=_labels(result, "algorithm"),
        score=with_units(f"{score_name(result)}{over}", result["task_mean"]),
        mean=mean,
        sd=by_task["task_mean_sd"].to_numpy(),
        half=_half_width(by_task["task_mean_ci"]),
        n_runs=by_task["n_runs"].to_numpy(),
        best=best,
        tied=tied,
        untold=untold,
        any_could=any_could,
        compared=result.attrs.get("reference"),
        mean_over_tasks=result["score_mean"].to_numpy(),
        n_tasks=result["n_tasks_algorithm"].to_numpy(),
        rank=result["rank_mean"].to_numpy(),
        confidence_level=float(result.attrs["confidence_level"]),
    )


def _half_width(interval: xr.DataArray) -> Floats:
    lower, upper = interval.transpose("ci_bound", ...).to_numpy()
    return np.asarray((upper - lower) / 2)


def _labels(result: xr.Dataset, dim: str) -> list[str]:
    return [escape_controls(str(label)) for label in result[dim].to_numpy().tolist()]


def _best_of_each(mean: Floats, *, lower_is_better: bool) -> Bools:
    """Return which algorithm has the best mean of each task; several where they are equal, none where none has runs."""
    upward = mean
    if lower_is_better:
        upward = -mean
    highest = np.fmax.reduce(upward, axis=1, keepdims=True)
    return np.asarray(upward == highest)


def _compare_with_best(result: xr.Dataset, best: Bools) -> tuple[Bools, Bools, bool]:
    """Return who is not shown to be worse than the best of its task: where that could have been shown, and elsewhere.

    Third, whether anything could have been shown.
    """
    if "task_pvalue_adjusted" not in result:
        # tasks without tests of their own
        return np.zeros_like(best), np.zeros_like(best), False
    algorithms = result["algorithm"].to_numpy().tolist()
    alpha = alpha_of(result)
    task = result.attrs["task"]
    # Of very many tasks nothing was tested in each by itself.
    if "task_pvalue_adjusted" not in result:
        return np.zeros_like(best), np.zeros_like(best), False
    shown = significant(result["task_pvalue_adjusted"].transpose(task, "pair").to_numpy(), alpha)
    # Without a p nothing could have been shown.
    least = least_task_pvalues(result).transpose(task, "pair").to_numpy()
    could_be_shown = significant(least, alpha)
    tied, untold = np.zeros_like(best), np.zeros_like(best)
    any_could = False
    has_mean = np.isfinite(result["task_mean"].to_numpy())
    for pair, sides in enumerate(
        zip(
            result["algorithm_a"].to_numpy(),
            result["algorithm_b"].to_numpy(),
            strict=True,
        )
    ):
        a, b = (algorithms.index(side) for side in sides)
        for first, other in ((a, b), (b, a)):
            is_behind = best[:, first] & ~best[:, other] & has_mean[:, other]
            could = is_behind & could_be_shown[:, pair]
            tied[could & ~shown[:, pair], other] = True
            untold[is_behind & ~could_be_shown[:, pair], other] = True
            any_could |= bool(could.any())
    # Of several best ones the one that is easiest to tell from decides.
    return tied, untold & ~tied, any_could
