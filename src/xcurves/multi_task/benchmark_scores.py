"""What is known of one benchmark before any test: the scores of algorithms and pairs, means and ranks, and the scope.

The scores of pairs have differences and their errors; the scope is what a verdict is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats, Index
from xcurves.core.jobs import Indices
from xcurves.kernels import intervals
from xcurves.kernels.over_tasks import family_means, task_effects, task_flips
from xcurves.kernels.over_tasks.family_means import ranks
from xcurves.kernels.resampling.batches import rows_that_fit, stretches

_MOST_LACKING = 0.1  # share of tasks that may be left out so that all algorithms are compared


@dataclass(frozen=True)
class AlgorithmScores:
    """The scores of algorithms in tasks, shape (algorithm, task, ...)."""

    runs: Floats  # a task's runs in front and NaN behind; failed ones beyond all others
    n_runs: Index
    mean: Floats  # NaN without a run
    variance: Floats  # of the runs, NaN of a single one
    infinite: Bools  # whether a run failed
    infinity: float  # the score of runs that failed
    are_binary: bool  # whether all scores are 0 or 1

    @cached_property
    def present(self) -> Bools:
        """Which algorithm has which task."""
        return np.asarray(self.n_runs > 0)

    @cached_property
    def is_complete(self) -> bool:
        """Whether all algorithms have all tasks."""
        return bool(self.present.all())

    @cached_property
    def any_failed(self) -> bool:
        """Whether any run failed."""
        return bool(self.infinite.any())

    @cached_property
    def error(self) -> Floats:
        """The squared standard errors of the means."""
        return self.variance / np.maximum(self.n_runs, 1)

    @cached_property
    def error_squares(self) -> Floats:
        """Half the variance of these of normal runs: v² / (l - 1)."""
        return np.asarray(self.error**2 / np.maximum(self.n_runs - 1, 1))


def scores_of_algorithms(scores: Floats) -> AlgorithmScores:
    """Return what is known of each algorithm by itself, of scores of shape (task, algorithm, run)."""
    present, failed = ~np.isnan(scores), np.isinf(scores)
    known = scores[present]
    are_binary = bool(((known == 0) | (known == 1)).all())
    infinity = -np.inf if np.isneginf(scores).any() else np.inf
    # a number beyond all others of the task: ranks stand, differences are NaN below
    if failed.any():
        scores = _beyond(scores)
    runs = scores.swapaxes(0, 1)
    if not present.all():
        front = np.argsort(~present, axis=-1, kind="stable")
        runs = np.take_along_axis(scores, front, axis=-1).swapaxes(0, 1)
    _, mean, variance = task_effects.moments(runs)
    n_runs = present.sum(axis=-1).T
    infinite = np.asarray(failed.any(axis=-1)).T
    return AlgorithmScores(runs, n_runs, mean, variance, infinite, infinity, are_binary)


@dataclass(frozen=True)
class PairScores:
    """The scores of pairs of one benchmark, shape (pair, task, ...)."""

    own: AlgorithmScores
    pairs: Indices  # (pair, 2), of algorithms
    # of the tasks, of sum one in every pair, 0 where a pair lacks the task
    weights: Floats
    here: Bools  # whether the pair has the task
    d: Floats  # differences of means, NaN where there is none
    v: Floats  # their squared standard errors
    paired: bool

    @cached_property
    def x(self) -> Floats:
        """The scores of the first algorithm, a task's runs in front and NaN behind."""
        return self._side(0)

    @cached_property
    def y(self) -> Floats:
        """Those of the second."""
        return self._side(1)

    def _side(self, side: int) -> Floats:
        runs = self.own.runs[self.pairs[:, side]]
        if self.own.is_complete:
            return runs
        return np.where(self.here[..., np.newaxis], runs, np.nan)

    @cached_property
    def runs(self) -> NDArray[np.int64]:
        """Numbers of runs of both, (pair, task, 2); 0 for both where either has none."""
        counts = self.own.n_runs[self.pairs].swapaxes(1, 2)
        return np.where(self.here[..., np.newaxis], counts, 0)

    @cached_property
    def d_ranked(self) -> Floats:
        """Differences, infinite where a run of one failed, 0 where one of each did."""
        if not self.own.any_failed:
            return self.d
        first, second = self.own.infinite[self.pairs.T]
        infinity = self.own.infinity
        cases = [~self.here, first & second, first, second]
        return np.select(cases, [np.nan, 0.0, infinity, -infinity], self.d)

    @cached_property
    def varies(self) -> Bools:
        """Whether anything varies, runs within a task or differences over tasks; else no interval says anything."""
        is_still = np.all(~self.here | (self.v == 0), axis=-1)
        of_still = self.d[is_still]
        is_still[is_still] = np.fmax.reduce(of_still, axis=-1) == np.fmin.reduce(of_still, axis=-1)
        return np.asarray(~is_still)

    @property
    def uncertainty(self) -> Floats:
        """The sum over samples of (s² / l)² / (l - 1) of every task, NaN where it is unknown."""
        if self.paired:
            return task_effects.uncertainty(self.x, self.y, paired=True)
        a, b = self.pairs.T
        squares = self.own.error_squares
        return np.where(self.here, squares[a] + squares[b], np.nan)

    def __getitem__(self, some: Index) -> PairScores:
        """Return some of the pairs."""
        return PairScores(
            self.own,
            self.pairs[some],
            self.weights[some],
            self.here[some],
            self.d[some],
            self.v[some],
            self.paired,
        )


@dataclass
class PairFacts:
    """What is known of all pairs before anything is tested, each of shape (pair,)."""

    n_tasks: Floats
    known: Bools  # whether a pair has a mean difference
    has_errors: Bools  # whether no task of the pair has a single run of an algorithm
    varies: Bools  # whether anything varies; True until differences say otherwise

    @property
    def some(self) -> Bools:
        """Whether the pair has a task."""
        return np.asarray(self.n_tasks > 0)

    def known_of(self, name: str) -> Bools:
        """Return which pairs a p-value of that name is of: ranks need no mean difference."""
        if name == "pvalue":
            return self.known
        return self.some


def facts_of_pairs(own: AlgorithmScores, pairs: Indices) -> PairFacts:
    """Return what is known of pairs: products of what is known of algorithms."""
    n_tasks = in_common(own.present, own.present, pairs)
    n_failed = in_common(own.infinite, own.present, pairs, both_ways=True)
    n_single = in_common(own.n_runs == 1, own.present, pairs, both_ways=True)
    return PairFacts(
        n_tasks=n_tasks,
        known=np.asarray((n_tasks > 0) & (n_failed == 0)),
        has_errors=np.asarray((n_tasks > 0) & (n_single == 0)),
        varies=np.ones(len(pairs), bool),
    )


def in_common(values: Floats | Bools, present: Bools, pairs: Indices, *, both_ways: bool = False) -> Floats:
    """Return the sums of an algorithm's values over the tasks that another has, for the first of every pair.

    With `both_ways` those of the second over the tasks of the first are added. Values are 0 where it lacks the task.
    """
    sums = np.asarray(values, float) @ present.T.astype(float)
    a, b = pairs.T
    if both_ways:
        return np.asarray(sums[a, b] + sums[b, a])
    return np.asarray(sums[a, b])


def make_pairs(own: AlgorithmScores, pairs: Indices, weights: Floats, *, paired: bool) -> PairScores:
    """Return pairs of algorithms, given weights of the tasks."""
    a, b = pairs.T
    if own.is_complete:
        # of all pairs the same: no array of them
        shape = (len(pairs), len(weights))
        here, shares = np.broadcast_to(True, shape), np.broadcast_to(weights / weights.sum(), shape)
    else:
        here = own.present[a] & own.present[b]
        shares = np.where(here, weights, 0.0)
        with np.errstate(invalid="ignore"):
            shares /= shares.sum(axis=-1, keepdims=True)
    if paired:
        x, y = (np.where(here[..., np.newaxis], own.runs[side], np.nan) for side in (a, b))
        d, v = task_effects.task_differences(x, y, paired=True)
    else:
        d = task_effects.difference_of_means(own.mean[a], own.mean[b])
        v = np.broadcast_to(np.nan, d.shape)
        if own.n_runs.max() > 1:
            v = own.error[a] + own.error[b]
    if own.any_failed or not own.is_complete:
        is_unknown = ~here | own.infinite[a] | own.infinite[b]
        d, v = np.where(is_unknown, np.nan, d), np.where(is_unknown, np.nan, v)
    return PairScores(own, pairs, shares, here, d, v, paired)


def _beyond(scores: Floats) -> Floats:
    """Return scores with a finite one in place of infinite ones, above or below all others of the task."""
    finite = np.where(np.isinf(scores), np.nan, scores)
    for infinity, extreme in ((np.inf, np.fmax), (-np.inf, np.fmin)):
        last = np.nan_to_num(extreme.reduce(finite, axis=(1, 2), keepdims=True))
        sign = np.sign(infinity)
        further = np.where(last == 0, sign, last + sign * np.abs(last))
        scores = np.where(scores == infinity, further, scores)
    return scores


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
