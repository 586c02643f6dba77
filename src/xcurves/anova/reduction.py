"""Curves to their moments, the sufficient statistics of the randomized ANOVA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcurves.core import run_checks
from xcurves.core.driver import Group, Reduction, Shape
from xcurves.kernels import moments, sums
from xcurves.kernels.moments import Floats, Moments


@dataclass(frozen=True)
class CurveMoments:
    """Moments of curves, or of their differences from the mean of their run over the algorithms, level by level.

    If there are fewer levels than curves, a factor of the co-moments takes no more memory than the curves, and is
    computed from all of training at once.
    """

    within_runs: bool = False

    def whole(self, shape: Shape) -> bool:
        """Return whether there are fewer levels than curves."""
        return shape[2] < shape[0] * shape[1]

    def size(self, shape: Shape) -> int:
        """Return the length of packed moments."""
        return moments.packed_size(shape[0] * shape[1], shape[2] - 1 if self.whole(shape) else None)

    def measure(self, curves: Floats, shape: Shape, _: slice, /) -> Floats:
        """Return the packed moments of some levels."""
        curves = _less_run_means(curves) if self.within_runs else curves
        flat = curves.reshape(*curves.shape[:-3], -1, curves.shape[-1])
        return moments.measure_moments(flat, factored=self.whole(shape))

    def merge(self, numbers: Floats, shape: Shape) -> Floats:
        """Merge the moments of stretches of training."""
        with np.errstate(over="ignore", invalid="ignore"):  # huge scores are refused later
            return moments.merge_moments(numbers, shape[0] * shape[1])

    def unpack(self, numbers: Floats, shape: Shape) -> Moments:
        """Return moments by name."""
        return moments.unpack(numbers, shape[0] * shape[1])


def reductions(*, paired: bool) -> tuple[Reduction, ...]:
    """Return what the ANOVA needs of curves: moments, and if paired those within runs."""
    return (CurveMoments(), CurveMoments(within_runs=True)) if paired else (CurveMoments(),)


def design_of(group: Group) -> sums.AnovaDesign:
    """Return the design of tasks with the same runs; refuse those whose squares overflow or vanish."""
    part, *within = group.data
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.abs(part.means).max(axis=-1) ** 2 + moments.trace(part.comoment)
    run_checks.check_scale(squares, np.abs(part.means).any(axis=-1) | (squares > 0), group.names)
    every = np.arange(len(squares))
    means, comoment, magnitude = moments.subset(part, every, group.curves)
    by_run = moments.subset(within[0], every, group.curves)[:2] if within else None
    return sums.make_design(means, comoment, int(part.n_levels[0]), group.sizes, magnitude, by_run)


def _less_run_means(curves: Floats) -> Floats:
    """Subtract from every run the mean over the present algorithms, level by level."""
    has = ~np.isnan(curves)
    total = np.where(has, curves, 0.0).sum(axis=-3, keepdims=True)
    with np.errstate(invalid="ignore"):  # infinite values are refused by their moments
        return np.asarray(curves - total / np.maximum(has.sum(axis=-3, keepdims=True), 1))
