"""Which shifts a randomization test does not reject: the largest distance in one direction, for many tasks at once.

A reassignment reaches the observed statistic at some distances and not at others; where too few do, the shift is
rejected. Of all that is between two distances only the reassignments that differ at the ends are evaluated. Brackets of
anything else are halved by `halve` too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches

# Standard errors; a shift as large that is not rejected stands for all beyond.
_FAR = 1e8
_STEPS = 60  # of bisection: see `halve`
_POINTS = 2**18  # evaluations of reassignments in a scan of shifts


class Test(NamedTuple):
    """A test of a shift, for `limits`."""

    # from numbers of (task, reassignment) in a flat array and their distances, or None and distances (..., task)
    reaches: Callable[[Index | None, Floats], Bools]
    shape: tuple[int, int]  # numbers of tasks and of reassignments
    besides: int  # further reassignments, which reach it everywhere
    most: float  # a shift is rejected if no more than this reach the observed statistic

    def states(self, at: Floats) -> tuple[Bools, Bools]:
        """Return which reassignments reach the statistic at distances (..., task), and which of these are kept."""
        reached = self.reaches(None, at)
        return reached, self.besides + np.count_nonzero(reached, axis=-1) > self.most


def may_leave_gaps(*sizes: float) -> bool:
    """Return whether shifts that are not rejected may lie in several pieces: seen with less than 4, or past 3:1."""
    return min(sizes) < 4 or max(sizes) > 3 * min(sizes)


def points_of_scan(n_resamples: int) -> int:
    """Return at how many shifts so many reassignments are evaluated in a scan."""
    # Within bounds: few reassignments are cheap, but change their state at few places; many still need a grid.
    return int(np.clip(_POINTS // n_resamples, 64, 4096))


def limits(test: Test, known: Floats, *, scan: bool) -> tuple[Floats, Bools]:
    """Return the largest distance that is not rejected (inf: all are kept), from `known` ones, and gaps in a `scan`."""
    outside = np.full(test.shape[0], _FAR)
    unbounded = test.states(outside)[1]
    if scan:
        inside, outside, gap = _scan(test, known, outside)
    else:
        inside, outside = _bracket(test, known, outside, unbounded)
        gap = np.zeros(len(known), bool)
    furthest = _bisect(test, inside, outside)
    return np.where(unbounded, np.inf, furthest), gap & ~unbounded


def _scan(test: Test, known: Floats, far: Floats) -> tuple[Floats, Floats, Bools]:
    """Bracket the outermost end of what is kept, on a grid of all distances, and return where there are gaps."""
    n_tasks, n_resamples = test.shape
    # x / (1 - x) of a grid of (0, 1): as many points below one standard error as above. From outside in.
    n_points = points_of_scan(n_resamples)
    grid = np.arange(n_points - 1, 0, -1) / n_points
    inside, outside, gap = known.copy(), far, np.zeros(n_tasks, bool)
    width = rows_that_fit(16 * n_tasks * n_resamples, CACHE)
    for some in stretches(n_points - 1, width):
        steps = grid[some] / (1 - grid[some])
        at = np.tile(steps[:, np.newaxis], n_tasks)
        kept = test.states(at)[1]
        inside, outside = _narrowed(inside, outside, at, kept)
        # rejected, though one further out is kept
        gap |= (~kept & (at < inside)).any(axis=0)
    return inside, outside, gap


def _bracket(test: Test, known: Floats, far: Floats, unbounded: Bools) -> tuple[Floats, Floats]:
    """Bracket the end of what is kept, in steps outwards: enough where that is one piece."""
    n_tasks, n_resamples = test.shape
    # The first step is a little inside the usual limit, that of a normal statistic with half the share on each side;
    # further ones grow ever faster, to 1.25^100 = 5e9 times that, beyond `_FAR`.
    share = test.most / (test.besides + n_resamples)
    usual = np.clip(0.9 * scipy.special.ndtri(1 - share / 2), 0.1, 10)
    inside, outside = known.copy(), far
    for distance in usual * 1.25 ** np.arange(11) ** 2:
        at = np.full((1, n_tasks), distance)
        inside, outside = _narrowed(inside, outside, at, test.states(at)[1])
        if (unbounded | (outside < _FAR)).all():
            break
    return inside, outside


def _narrowed(inside: Floats, outside: Floats, at: Floats, kept: Bools) -> tuple[Floats, Floats]:
    """Return brackets of the outermost end after tests at distances, shape (distance, task)."""
    inside = np.maximum(inside, np.where(kept, at, 0.0).max(axis=0))
    rejected_beyond = np.where(~kept & (at > inside), at, _FAR)
    return inside, np.minimum(outside, rejected_beyond.min(axis=0))


def _bisect(test: Test, inside: Floats, outside: Floats) -> Floats:
    """Halve brackets of a kept and a rejected distance; only reassignments that differ at their ends are evaluated."""
    n_tasks, n_resamples = test.shape
    begin, end = inside, outside
    at_inside = test.states(inside)[0].ravel()
    at_outside = test.states(outside)[0].ravel()

    # A reassignment that reaches the statistic at both ends is taken to do so in between, and likewise one that does
    # not: what is left, `cells`, halves with the bracket, so that all steps together cost little more than the first.
    cells = np.flatnonzero(at_inside != at_outside)
    task = cells // n_resamples
    at_both = (at_inside & at_outside).reshape(test.shape)
    settled = test.besides + np.count_nonzero(at_both, axis=1)
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if not ((middle > inside) & (middle < outside)).any():
            break  # nothing lies between any two ends
        reached = test.reaches(cells, middle[task])
        kept = settled + np.bincount(task, reached, n_tasks) > test.most
        inside = np.where(kept, middle, inside)
        outside = np.where(kept, outside, middle)

        # the middle is the new end on one side, the other end stays
        now_inside = np.where(kept[task], reached, at_inside[cells])
        now_outside = np.where(kept[task], at_outside[cells], reached)
        at_inside[cells], at_outside[cells] = now_inside, now_outside
        settled = settled + np.bincount(task, now_inside & now_outside, n_tasks)
        differ = now_inside != now_outside
        cells, task = cells[differ], task[differ]

    # One that differs within a bracket, but not at its ends, is missed: where that matters all are evaluated.
    wrong = (~test.states(inside)[1] | test.states(outside)[1]) & (inside > begin)
    if wrong.any():
        by_all, _ = halve(lambda at: test.states(at)[1], begin, end)
        inside = np.where(wrong, by_all, inside)
    return inside


def halve(
    kept: Callable[[Floats], Bools],
    inside: Floats,
    outside: Floats | float,
    times: int = 60,
) -> tuple[Floats, Floats]:
    """Halve brackets between values that are kept and values that are not, and return both ends."""
    # 60 halvings leave 2^-60 of the width, about 1e-18: less than doubles tell apart, unless the end is close to 0.
    for _ in range(times):
        middle = (inside + outside) / 2
        keeps = kept(middle)
        inside = np.where(keeps, middle, inside)
        outside = np.where(keeps, outside, middle)
    return inside, np.asarray(outside)
