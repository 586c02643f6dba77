"""What shuffles need of curves, in the analysis of variance and of pairs: their moments, and designs of these."""

from __future__ import annotations

from functools import partial

import numpy as np

from xcurves.array_types import Floats
from xcurves.core import magnitudes
from xcurves.core.jobs import Group, Reduction
from xcurves.kernels.resampling import moments, sums
from xcurves.kernels.resampling.moments import Moments


def curve_moments(curves: Floats, *, within_runs: bool = False) -> Moments:
    """Return the moments of curves, shape (task, algorithm, run, training).

    Within runs those of the differences from the mean of each run over the algorithms, level by level.
    """
    measured = curves
    if within_runs:
        has = ~np.isnan(curves)
        total = np.where(has, curves, 0.0).sum(axis=1, keepdims=True)
        count = np.maximum(has.sum(axis=1, keepdims=True), 1)
        # Infinite values are refused by their moments.
        with np.errstate(invalid="ignore"):
            measured = curves - total / count
    n_tasks, n_algorithms, n_runs, n_levels = curves.shape
    # Of fewer levels than curves a factor of the co-moments takes less memory.
    factored = n_levels < n_algorithms * n_runs
    flat = measured.reshape(n_tasks, -1, n_levels)
    return moments.measure_moments(flat, factored=factored)


def reductions(*, paired: bool) -> tuple[Reduction, ...]:
    """Return what the ANOVA needs of curves: moments, and if paired those within runs."""
    if paired:
        return curve_moments, partial(curve_moments, within_runs=True)
    return (curve_moments,)


def design_of(group: Group) -> sums.AnovaDesign:
    """Return the design of tasks with the same runs; refuse those whose squares overflow or vanish."""
    of_all, *within_runs = group.data
    largest = np.abs(of_all.means).max(axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = largest**2 + moments.trace(of_all.comoment)
    has_scores = np.abs(of_all.means).any(axis=-1) | (squares > 0)
    magnitudes.check_squares(squares, has_scores, group.names)

    means, comoment, magnitude = moments.of_curves(of_all, group.curves)
    by_run = None
    if within_runs:
        by_run = moments.of_curves(within_runs[0], group.curves)[:2]
    return sums.make_design(means, comoment, int(of_all.n_levels[0]), group.sizes, magnitude, by_run)
