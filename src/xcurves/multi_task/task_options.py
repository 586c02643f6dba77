"""What methods over several tasks check: options that they share, tasks and levels that algorithms have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.special
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.core import labels, provenance
from xcurves.core.driver import is_lazy
from xcurves.core.matched_runs import NUMBERED
from xcurves.core.names import is_item
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, Words, shown
from xcurves.core.task_dims import TASK
from xcurves.core.weights import weights_on
from xcurves.kernels.over_tasks.task_plans import least_pvalues
from xcurves.kernels.resampling.adjustments import benjamini_hochberg, holm
from xcurves.say.numbers import number, span

TaskWeights = Sequence[float] | xr.DataArray
TaskGroups = str | Sequence[Any] | xr.DataArray
CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}
GROUP = "task_group"
GROUP_DIM = "group"  # of results by groups of tasks
_SHARED_ALPHA = 0.001  # of independent runs one benchmark in so many is warned of
_FEWEST_SHARED = 3  # tasks
_FEW = 6  # algorithms that are selected in a command
_SEVERAL = 6  # tasks of an algorithm from which it should share some: fewer have no p
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
    mean, sd, n = (benchmark.variables[name] for name in ("task_mean", "task_mean_sd", "n_runs"))
    if not (n > 1).any():  # single runs, as of most items, have no spread that could be unlike
        return True
    repeated = n.where(n > 1)  # type: ignore[no-untyped-call]  # of xarray
    apart = abs(sd**2 * (n - 1) / repeated - mean * (1 - mean))
    return bool(apart.fillna(0.0).max() <= 1e-9)


_STEP = "checkpoints"  # what a line of a history begins with


def at_common_levels(curves: xr.DataArray, dim: str, task: object) -> xr.DataArray:
    """Return curves of items, one answer of an algorithm to each, at the levels that all algorithms of the item have.

    Only where the call names the dim as that of tasks; an algorithm that has an item at no level lacks it.
    """
    if task != dim or dim == TASK or "training" not in curves.dims or is_lazy(curves):
        return curves
    has = curves.notnull().transpose(dim, "algorithm", "run", "training", ...)
    if has.ndim > 4:
        return curves
    graded = has.to_numpy()
    answered = np.asarray(graded.any(axis=-1))
    if answered.sum(axis=-1).max(initial=0) > 1:
        return curves
    common = np.asarray((graded | ~answered[..., np.newaxis]).all(axis=(1, 2)))
    cut = np.asarray((graded & ~common[:, np.newaxis, np.newaxis]).any(axis=(1, 2, 3)))
    if not cut.any():
        return curves
    noun = labels.noun(dim)
    n_left = common[cut].sum(axis=-1)
    said = (
        f"{number(int(cut.sum()))} of {number(len(cut))} {noun}s count at {span(n_left.tolist())} of "
        f"{number(curves.sizes['training'])} levels, those that all of their answers have"
    )
    n_none = int((n_left == 0).sum())
    if n_none:
        said += f"; {number(n_none)} of them have no level in common and are left out"
    kept = xr.DataArray(common, dims=(dim, "training"))
    taken = curves.where(kept).transpose(*curves.dims).assign_attrs(curves.attrs)
    return provenance.record(taken, f"{_STEP}: {said}")


def say_levels(result: xr.Dataset) -> Iterator[str]:
    """Yield how many items count at fewer levels than there are."""
    for line in str(result.attrs.get("history", "")).split("\n"):
        who, _, what = line.partition(": ")
        if who == _STEP:
            yield f"{what}."


class GroupsOfTasks(NamedTuple):
    """Groups of tasks by the labels of a coordinate."""

    names: NDArray[Any]  # in sorted order
    numbers: Index  # the group of each task


def check_by(curves: xr.DataArray, task: str, by: str | None) -> GroupsOfTasks | None:
    """Return the groups of tasks by a coordinate of theirs, None if there is none asked for."""
    if by is None:
        return None
    known = [str(name) for name, coord in curves.coords.items() if coord.dims == (task,) and name != task]
    if by not in known:
        has = ", ".join(map(repr, known)) or "none"
        if isinstance(by, str) and by in curves.coords and by != task:
            raise Refusal("by", by, f"differs within a {labels.noun(task)}", "Name what is the same in all of its runs")
        raise Refusal("by", by, f"is no coordinate of dim {task!r}", f"It has {has}")
    if GROUP_DIM in curves.coords:
        raise Refusal(
            "curves",
            UNSAID,
            f"has a coordinate {GROUP_DIM!r}, the dim of what by= returns",
            f"Rename it: curves.rename({GROUP_DIM}='suite')",
        )
    values = curves[by].to_numpy()
    missing = pd.isna(values)
    if missing.any():
        label = labels.words(curves[task])[int(missing.argmax())]
        raise Refusal("by", by, f"has no label of {task} {label}", "Name one for every task")
    numbers, names = pd.factorize(values, sort=True)  # labels of several types too
    return GroupsOfTasks(np.asarray(names), numbers)


def refuse_strangers(curves: xr.DataArray, dim: str) -> None:
    """Refuse an algorithm that has several tasks of its own and none in common with any other."""
    if is_lazy(curves):
        return
    others = [each for each in curves.dims if each not in (dim, "algorithm")]
    has = curves.notnull().any(others).transpose(dim, "algorithm").to_numpy().astype(float)  # for a fast product
    common = has.T @ has
    n_own = np.diagonal(common).copy()
    np.fill_diagonal(common, 0.0)
    alone = (n_own >= _SEVERAL) & (common.max(axis=1, initial=0.0) == 0)
    if len(n_own) < 2 or not alone.any():
        return
    names = curves["algorithm"].to_numpy().tolist()
    tasks = curves[dim].to_numpy().tolist()
    first = int(alone.argmax())
    # the one that has most is what the stranger should match
    other = int(np.argmax(np.where(np.arange(len(n_own)) == first, -1, n_own)))
    noun = labels.noun(dim)
    own, theirs = (shown(tasks[int(has[:, each].argmax())]) for each in (first, other))
    raise Refusal(
        "curves",
        UNSAID,
        f"algorithm {shown(names[first])} has {number(n_own[first])} {noun}s, of "
        f"which 0 are common with any other algorithm: its own is called {own}, one of "
        f"{shown(names[other])} {theirs}",
        Cure(f"Give the same {noun} the same label", *_without(curves, names[first])),
    )


def _without(curves: xr.DataArray, stranger: object) -> Iterator[Words | str]:
    """Yield how an algorithm is left out: in the shell the others are selected, if they are few."""
    others = [name for name in curves["algorithm"].to_numpy().tolist() if name != stranger]
    column = str(curves["algorithm"].attrs.get("long_name", "algorithm"))
    selected = ""
    if len(others) <= _FEW:
        options = [f"--select {quote(f'{column}={name}')}" for name in others]
        selected = f", or leave it out: {' '.join(options)}"
    yield Words(f", or leave it out: curves.drop_sel(algorithm={shown(stranger)})", selected)


def warn_of_shared_runs(curves: xr.DataArray, task: str) -> None:
    """Warn of runs called alike whose scores go up and down together over tasks, as those of one training do.

    Methods over several tasks take runs as independent between them; to take one training for several makes p too
    small. Curves have the dims (..., task, algorithm, run, training); lazy ones are not looked at, nor answers to items
    and runs that were numbered by their order, whose numbers mean nothing.
    """
    is_numbered = "run" in curves.coords and NUMBERED in curves["run"].attrs
    if is_lazy(curves) or curves.sizes["run"] < 2 or is_item(task) or is_numbered:
        return
    scores = curves.transpose(..., task, "algorithm", "run", "training").to_numpy()
    for place, benchmark in enumerate(scores.reshape(-1, *scores.shape[-4:])):
        p = runs_together(benchmark.mean(axis=-1))
        if p < _SHARED_ALPHA:
            _warn_of_benchmark(curves, task, place, p)
            return


def _warn_of_benchmark(curves: xr.DataArray, task: str, place: int, p: float) -> None:
    """Warn of one benchmark."""
    name = labels.task_names(curves.isel({task: 0}, drop=True))[place]
    noun = labels.noun(task)
    size = f"p = {p:.1g}" if p > 1e-9 else "p < 1e-9"
    provenance.warn(
        f"{name}runs of one label go up and down together over {noun}s ({size}), as those of one training that was "
        f"evaluated on all do, and claims take them as independent: p is too small then. Compare the mean of each run: "
        + str(Words(f"curves.mean({task!r})", "--extra none --duplicates mean"))
    )


def runs_together(scores: Floats) -> float:
    """Return the p of runs whose means over tasks differ more than those of independent runs, NaN if it is not known.

    `scores` have the shape (task, algorithm, run). F is that of runs in a two-way analysis of variance of tasks and
    runs without replication, of each algorithm and pooled, after tasks are brought to one spread:
    F = Σ_a Σ_r T z̄²_ar / Σ_a (R - 1) over Σ_a Σ_t Σ_r (z_tar - z̄_ar)² / Σ_a (R - 1) (T - 1). Tasks that lack a score of
    an algorithm, or in which runs do not differ, are left out.
    """
    whole = np.asarray(np.isfinite(scores).all(axis=-1))
    centred = np.where(whole[..., np.newaxis], scores, 0.0)
    centred = centred - centred.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=(1, 2)) / np.maximum(whole.sum(axis=1), 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = centred / spread[:, np.newaxis, np.newaxis]
    used = whole & (spread > 0)[:, np.newaxis]
    n_tasks = used.sum(axis=0)
    counts = n_tasks >= _FEWEST_SHARED
    z = np.where((used & counts)[..., np.newaxis], z, 0.0)
    means = z.sum(axis=0) / np.maximum(n_tasks, 1)[:, np.newaxis]
    between = (np.where(counts, n_tasks, 0)[:, np.newaxis] * means**2).sum()
    within = (z**2).sum() - between
    free = (scores.shape[-1] - 1) * counts.sum()
    free_within = ((scores.shape[-1] - 1) * np.where(counts, n_tasks - 1, 0)).sum()
    if free == 0 or within <= 0:
        return float("nan")
    return float(scipy.special.fdtrc(free, free_within, between / free / (within / free_within)))
