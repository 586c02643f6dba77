"""What is known of every algorithm by itself: its means in tasks and over them, and its mean rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels import intervals
from xcurves.kernels.over_tasks import family_means, task_flips
from xcurves.kernels.over_tasks.places import ranks
from xcurves.multi_task.pair_scores import AlgorithmScores
from xcurves.multi_task.scope import Scope


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
        n_runs = own.n_runs.T
        out["n_runs"][:] = n_runs
        means = np.where(own.infinite, np.nan, own.mean).T
        out["task_mean"][:] = means
        spread = np.where(np.isnan(means), np.nan, np.sqrt(own.variance).T)
        out["task_mean_sd"][:] = spread
        n = np.where(n_runs > 1, n_runs, np.nan)
        ends = intervals.student(means, spread / np.sqrt(n), n - 1, self.alpha)
        out["task_mean_ci"][:] = ends
        self._over_tasks(scores, means, out)
        complete = own.present.all(axis=0)
        if complete.any():
            # failed runs are beyond all others, so that the ranks of their means stand
            ranked = _with_failed(own).T[complete]
            out["rank_mean"][:] = ranks(ranked, self.sign).mean(axis=0)

    def _over_tasks(self, scores: Floats, means: Floats, out: Mapping[str, Floats]) -> None:
        """Fill in means over each algorithm's own tasks with intervals, and over the tasks that a verdict is about."""
        has = np.asarray(self.own.present.T)
        out["n_tasks_algorithm"][:] = has.sum(axis=0)
        parts, shares = self._weighted(means, has)
        compared = has.any(axis=0)
        out["score_mean"][compared] = parts.sum(axis=0)[compared]

        x, weights = (
            task_flips.family_sums(np.where(has, each, np.nan).T, self.families)[compared] for each in (parts, shares)
        )
        is_finite = np.isfinite(out["score_mean"][compared])
        ends = family_means.means_over_families(
            x,
            weights,
            self.alpha / max(1, int(is_finite.sum())),
            of_shares=self.own.are_binary or family_means.are_shares(scores),
        )
        out["score_mean_ci"][compared] = np.where(is_finite[:, np.newaxis], ends, np.nan)

        scope = self.scope
        out["n_tasks_common"][...] = np.count_nonzero(scope.tasks)
        parts, _ = self._weighted(means[scope.tasks], has[scope.tasks], scope.tasks)
        in_scope = scope.algorithms
        out["score_mean_common"][in_scope] = parts.sum(axis=0)[in_scope]

    def _weighted(self, means: Floats, has: Bools, tasks: Bools | slice = slice(None)) -> tuple[Floats, Floats]:
        """Return the parts of some tasks in the mean of each algorithm, (task, algorithm), and their weights."""
        weights = self.weights[tasks, np.newaxis] * has
        shares = weights / np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
        return np.where(has, shares * means, 0.0), shares


def _with_failed(own: AlgorithmScores) -> Floats:
    """Return means, infinite where a run failed."""
    return np.where(own.infinite, own.infinity, own.mean)
