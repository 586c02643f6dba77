"""What is known of every algorithm by itself: its means in tasks and over them, and its mean rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels import intervals
from xcurves.kernels.over_tasks import family_means, task_flips
from xcurves.kernels.over_tasks.family_means import ranks
from xcurves.kernels.resampling.batches import rows_that_fit, stretches
from xcurves.multi_task.pair_scores import AlgorithmScores


@dataclass(frozen=True)
class AlgorithmMeans:
    """The means of the algorithms of one benchmark."""

    own: AlgorithmScores
    scope: Scope  # of the verdict
    weights: Floats  # of the tasks
    families: Index  # the family of each task
    sign: int  # of a mean that is better
    alpha: float

    def fill(self, scores: Floats, out: Mapping[str, Floats]) -> None:
        """Fill in means in tasks and over them, and mean ranks, 1 the best; scores of shape (task, algorithm, run)."""
        own = self.own
        out["n_runs"][:] = own.n_runs.T
        means = np.where(own.infinite, np.nan, own.mean)
        out["task_mean"][:] = means.T
        self._in_tasks(means, out)
        self._over_tasks(means, own.are_binary or family_means.are_shares(scores), out)
        self._ranks(out)

    def _in_tasks(self, means: Floats, out: Mapping[str, Floats]) -> None:
        """Fill in how much runs vary within tasks."""
        several = (self.own.n_runs > 1) & ~np.isnan(means)
        n_runs = self.own.n_runs[several].astype(float)
        spread = np.sqrt(self.own.variance[several])
        out["task_mean_sd"].T[several] = spread
        ends = intervals.student(means[several], spread / np.sqrt(n_runs), n_runs - 1, self.alpha)
        out["task_mean_ci"].swapaxes(0, 1)[several] = ends

    def _over_tasks(self, means: Floats, of_shares: bool, out: Mapping[str, Floats]) -> None:
        """Fill in means over each algorithm's own tasks with intervals, and over the tasks that a verdict is about."""
        has, scope = self.own.present, self.scope
        out["n_tasks_algorithm"][:] = has.sum(axis=1)
        compared = np.flatnonzero(has.any(axis=1))
        some_by_some = [compared[each] for each in stretches(len(compared), rows_that_fit(64 * means.shape[1]))]
        for some in some_by_some:
            out["score_mean"][some] = self._parts(means, some)[0].sum(axis=-1)
        is_finite = np.isfinite(out["score_mean"])
        alpha = self.alpha / max(1, int(is_finite.sum()))
        for some in some_by_some:
            x, weights = (
                task_flips.family_sums(np.where(has[some], each, np.nan), self.families)
                for each in self._parts(means, some)
            )
            ends = family_means.means_over_families(x, weights, alpha, of_shares=of_shares)
            out["score_mean_ci"][some] = np.where(is_finite[some, np.newaxis], ends, np.nan)

        out["n_tasks_common"][...] = np.count_nonzero(scope.tasks)
        for some in some_by_some:
            of_scope = some[scope.algorithms[some]]
            out["score_mean_common"][of_scope] = self._parts(means, of_scope, scope.tasks)[0].sum(axis=-1)

    def _parts(self, means: Floats, some: Index, tasks: Bools | None = None) -> tuple[Floats, Floats]:
        """Return the parts of tasks in the means of some algorithms, (algorithm, task), and their weights."""
        means, has, weights = means[some], self.own.present[some], self.weights
        if tasks is not None:
            means, has, weights = means[:, tasks], has[:, tasks], weights[tasks]
        weights = weights * has
        shares = weights / np.maximum(weights.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
        return np.where(has, shares * means, 0.0), shares

    def _ranks(self, out: Mapping[str, Floats]) -> None:
        """Fill in mean ranks over the tasks that all algorithms have."""
        own = self.own
        complete = np.flatnonzero(own.present.all(axis=0))
        if not complete.size:
            return
        sums = np.zeros(len(own.mean))
        for each in stretches(len(complete), rows_that_fit(64 * len(sums))):
            some = complete[each]
            # failed runs are beyond all others, so that the ranks of their means stand
            means = np.where(own.infinite[:, some], own.infinity, own.mean[:, some])
            sums += ranks(means.T, self.sign).sum(axis=0)
        out["rank_mean"][:] = sums / len(complete)


_MOST_LACKING = 0.1  # share of tasks that may be left out so that all algorithms are compared


class Scope(NamedTuple):
    """What a verdict is about."""

    tasks: Bools  # shape (task,)
    algorithms: Bools  # shape (algorithm,)
    # "all": all algorithms, over nine tenths of the tasks or more, those that all have; "full": the algorithms that
    # have every task; "common": all algorithms, over the fewer tasks that all have; "none": no algorithm
    about: Literal["all", "full", "common", "none"]


def scope_of_tasks(has: Bools) -> Scope:
    """Return what a verdict is about, given which algorithms have which tasks, shape (task, algorithm).

    A task that no algorithm has, and an algorithm that has no task, do not count.
    """
    used, compared = np.asarray(has.any(axis=1)), np.asarray(has.any(axis=0))
    common = np.asarray(used & has[:, compared].all(axis=1))
    n_tasks, n_common = np.count_nonzero(used), np.count_nonzero(common)
    if n_common and n_tasks - n_common <= _MOST_LACKING * n_tasks + 1e-9:
        return Scope(common, compared, "all")
    full = np.asarray(compared & has[used].all(axis=0))
    if np.count_nonzero(full) >= 2:
        return Scope(used, full, "full")
    if n_common >= 2:
        return Scope(common, compared, "common")
    return Scope(np.zeros_like(used), np.zeros_like(compared), "none")


def scope_of(benchmark: xr.Dataset) -> Scope:
    """Return what the verdict on one benchmark is about; its result has the dim of tasks."""
    n_runs = benchmark["n_runs"].transpose(benchmark.attrs["task"], "algorithm")
    return scope_of_tasks(n_runs.to_numpy() > 0)
