"""The options that methods over several tasks share, checked; and which tasks carry a mean difference."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels
from xcurves.core.refusal import UNSAID, Refusal, Verbatim
from xcurves.core.weights import weights_on
from xcurves.kernels.over_tasks.task_plans import least_pvalues
from xcurves.kernels.resampling.adjustments import benjamini_hochberg, holm

TaskWeights = Sequence[float] | xr.DataArray
TaskGroups = str | Sequence[Any] | xr.DataArray
CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}
GROUP = "task_group"
_UNLIKE = 10.0  # times that runs may differ more in one task than in another


class TaskFamilies(NamedTuple):
    """Families of tasks."""

    # of the coordinate that has them; None if every task is a family of its own
    name: str | None
    numbers: list[int]  # the family of each task
    coord: dict[Hashable, Any]  # where they were given as an array


def check_task_weights(curves: xr.DataArray, task: str, weights: TaskWeights | None) -> list[float] | None:
    """Return a positive weight for each task, or None."""
    if weights is None:
        return None
    checked = weights_on(curves, task, weights, "task_weights")
    for label, weight in zip(curves[task].to_numpy().tolist(), checked.to_numpy().tolist(), strict=True):
        if weight <= 0:
            got = f"got {weight:g} for {label!r} (0 is that of a {task} not named)"
            raise Refusal(
                "task_weights",
                UNSAID,
                f"must be positive for every {task}; {got}",
                f"To leave one out: curves.sel({task}=[...])",
            )
    return list(checked.to_numpy().tolist())


def check_task_groups(curves: xr.DataArray, task: str, groups: TaskGroups | None) -> TaskFamilies:
    """Return the family of each task: as given, or as the attr of the tasks says, which a reading of passages has."""
    n_tasks = curves.sizes[task]
    if groups is None and task in curves.coords:
        said = curves[task].attrs.get("task_groups")
        if said in curves.coords:
            groups = str(said)
    if groups is None:
        return TaskFamilies(None, list(range(n_tasks)), {})
    families = _families_of(curves, task, groups)
    values = np.asarray(families)
    has_other_dims = isinstance(families, xr.DataArray) and families.dims != (task,)
    if values.shape != (n_tasks,) or has_other_dims:
        raise Refusal(
            "task_groups",
            Verbatim(f"shape {values.shape}"),
            f"must have a label for each of {n_tasks} tasks",
        )
    missing = pd.isna(values)
    if missing.any():
        label = labels.words(curves[task])[int(missing.argmax())]
        raise Refusal(
            "task_groups",
            UNSAID,
            f"task_groups has no family for {task} {label}",
            "Name one for every task",
        )
    _, numbers = np.unique(values.astype(str), return_inverse=True)
    name = GROUP
    if isinstance(groups, str):
        name = groups
    coord: dict[Hashable, Any] = {}
    if name == GROUP:
        coord[GROUP] = (task, values)
    return TaskFamilies(name, numbers.ravel().tolist(), coord)


def _families_of(curves: xr.DataArray, task: str, groups: TaskGroups) -> Sequence[Any] | xr.DataArray:
    """Return the labels of families: of the coordinate that was named, or those given, in the order of the tasks."""
    if isinstance(groups, str):
        known = [str(name) for name, coord in curves.coords.items() if coord.dims == (task,) and name != task]
        if groups not in known:
            has = ", ".join(map(repr, known))
            if not known:
                has = "none; give the labels, one for each task"
            raise Refusal(
                "task_groups",
                groups,
                f"is no coordinate of dim {task!r}",
                f"It has {has}",
            )
        return curves[groups]
    if not isinstance(groups, xr.DataArray):
        return groups
    if task in groups.indexes and task in curves.indexes:
        return groups.reindex({task: curves[task].to_numpy()})
    return groups


def task_spread_ratio(result: xr.Dataset) -> Floats:
    """Return how many times as much runs differ in one task as in another, of tasks in which they do.

    That is in each task the mean over algorithms of the standard deviation of runs.
    """
    task = result.attrs["task"]
    spread = result["task_mean_sd"].mean("algorithm")
    return np.asarray((spread.max(task) / spread.where(spread > 0).min(task)).fillna(1.0))


def least_task_pvalues(benchmark: xr.Dataset) -> xr.DataArray:
    """Return the smallest that `task_pvalue_adjusted` could have been in each task, dims (pair, task), NaN without a p.

    An adjusted p falls with every p of its pair: it is the smallest where all are as small as their runs allow.
    """
    task = benchmark.attrs["task"]
    counts = benchmark["n_runs"].transpose(task, "algorithm")
    algorithms = benchmark["algorithm"].to_numpy().tolist()
    sides = [
        [algorithms.index(label) for label in benchmark[side].to_numpy().tolist()]
        for side in ("algorithm_a", "algorithm_b")
    ]
    runs = counts.to_numpy()[:, sides].transpose(2, 0, 1)  # (pair, task, side)
    least = least_pvalues(
        runs,
        benchmark.attrs.get("n_resamples"),
        paired=bool(benchmark.attrs.get("paired", 0)),
    )
    pvalues = benchmark["task_pvalue_adjusted"].transpose("pair", task)
    adjust = CORRECTIONS[benchmark.attrs.get("task_correction", "holm")]
    tested = np.where(pvalues.notnull(), least, np.nan)
    return pvalues.copy(data=adjust(tested)).drop_attrs()


def carrying_tasks(benchmark: xr.Dataset) -> list[object]:
    """Return the tasks of one benchmark that make its mean difference, where scales of tasks are unlike.

    They are the fewest that make up nine tenths of all differences; none if scores were normalized, if runs differ at
    most ten times as much in one task as in another, or if most tasks are needed.
    """
    if "normalize(" in benchmark.attrs.get("history", "") or _are_counts(benchmark):
        return []
    if task_spread_ratio(benchmark) <= _UNLIKE:
        return []
    task = benchmark.attrs["task"]
    sizes = _mean_differences(benchmark)
    largest = np.argsort(-sizes, kind="stable")
    n = int(np.searchsorted(sizes[largest].cumsum(), 0.9 * sizes.sum() - 1e-12)) + 1
    if n > len(sizes) / 2:
        return []
    return list(benchmark[task].to_numpy()[largest[:n]].tolist())


def _mean_differences(benchmark: xr.Dataset) -> Floats:
    """Return the mean size of the differences of pairs in every task, 0 where there is none."""
    if "task_difference" in benchmark:
        sizes = abs(benchmark["task_difference"]).mean("pair")
        return np.asarray(np.nan_to_num(sizes.to_numpy()), float)
    # Of all pairs of n ordered means the k-th is added 2 k - n - 1 times: no array of pairs.
    task = benchmark.attrs["task"]
    means = np.sort(benchmark["task_mean"].transpose(task, "algorithm").to_numpy())
    n = np.count_nonzero(~np.isnan(means), axis=-1)[:, np.newaxis]
    times = 2.0 * np.arange(means.shape[-1]) + 1 - n
    n_pairs = np.maximum(n[:, 0] * (n[:, 0] - 1) / 2, 1)
    return np.asarray(np.nansum(times * means, axis=-1) / n_pairs, float)


def _are_counts(benchmark: xr.Dataset) -> bool:
    """Return whether all scores are 0 or 1, which are on one scale: the mean of runs then says how much they differ."""
    mean, n = benchmark["task_mean"], benchmark["n_runs"]
    if not (n > 1).any():  # single runs, as of most items, have no spread that could be unlike
        return True
    variance = benchmark["task_mean_sd"] ** 2 * (n - 1) / n.where(n > 1)
    apart = abs(variance - mean * (1 - mean)).where(n > 1)
    return bool(apart.fillna(0.0).max() <= 1e-9)
