"""The scores of all pairs of algorithms in the tasks of one benchmark, with differences and their errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core.jobs import Indices
from xcurves.kernels.over_tasks import task_effects


class PairScores(NamedTuple):
    """The scores of all pairs of one benchmark, shape (pair, task, ...)."""

    x: Floats  # of the first algorithm, a task's runs in front and NaN behind
    y: Floats  # of the second
    runs: NDArray[np.int64]  # numbers of both; 0 for both where either has none
    weights: (
        Floats  # of the tasks, of sum one in every pair, 0 where a pair lacks the task
    )
    d: Floats  # differences of means, NaN where there is none
    d_ranked: (
        Floats  # the same, infinite where a run of one failed, 0 where one of each did
    )
    v: Floats  # their squared standard errors
    known: NDArray[np.bool_]  # whether the pair has a mean difference
    # Whether anything varies, runs within a task or differences over tasks; else no interval says anything.
    varies: NDArray[np.bool_]

    @property
    def here(self) -> NDArray[np.bool_]:
        """Whether the pair has the task."""
        return self.runs[..., 0] > 0

    @property
    def has_errors(self) -> NDArray[np.bool_]:
        """Whether no task of the pair has a single run of an algorithm."""
        return np.asarray((self.runs != 1).all(axis=(1, 2)) & self.here.any(axis=-1))


def make_pairs(
    scores: Floats, pairs: Indices, weights: Floats, *, paired: bool
) -> PairScores:
    """Return the pairs of scores of shape (task, algorithm, run)."""
    present, failed = ~np.isnan(scores), np.isinf(scores)
    infinity = -np.inf if np.isneginf(scores).any() else np.inf
    # a number beyond all others of the task: ranks stand, differences are NaN below
    if failed.any():
        scores = _beyond(scores)
    front = np.argsort(~present, axis=-1, kind="stable")
    compact = np.take_along_axis(scores, front, axis=-1).swapaxes(0, 1)
    runs = present.sum(axis=-1).T[pairs].swapaxes(1, 2)
    runs[(runs == 0).any(axis=-1)] = 0
    here = runs[..., 0] > 0
    weights = np.where(here, weights, 0.0)
    with np.errstate(invalid="ignore"):
        weights = weights / weights.sum(axis=-1, keepdims=True)
    x, y = np.where(here[..., np.newaxis], compact[pairs.T], np.nan)
    infinite = np.asarray(failed.any(axis=-1)).T[pairs].any(axis=1)
    d, v = (
        np.where(infinite, np.nan, each)
        for each in task_effects.task_differences(x, y, paired=paired)
    )
    alike = np.all(~here | (v == 0), axis=-1) & (
        np.fmax.reduce(d, axis=-1) == np.fmin.reduce(d, axis=-1)
    )
    known = here.any(axis=-1) & ~(here & infinite).any(axis=-1)
    first, second = np.asarray(failed.any(axis=-1)).T[pairs].swapaxes(0, 1)
    cases = [~here, first & second, first, second]
    d_ranked = np.select(cases, [np.nan, 0.0, infinity, -infinity], d)
    return PairScores(x, y, runs, weights, d, d_ranked, v, known, ~alike)


def _beyond(scores: Floats) -> Floats:
    """Return scores with a finite one in place of infinite ones, above or below all others of the task."""
    finite = np.where(np.isinf(scores), np.nan, scores)
    for infinity, extreme in ((np.inf, np.fmax), (-np.inf, np.fmin)):
        last = np.nan_to_num(extreme.reduce(finite, axis=(1, 2), keepdims=True))
        sign = np.sign(infinity)
        further = np.where(last == 0, sign, last + sign * np.abs(last))
        scores = np.where(scores == infinity, further, scores)
    return scores
