"""A studentized contrast after a shift, in every reassignment: which shifts are not rejected.

With y the shift from the estimate in standard errors, T of a reassignment g has ``N_g = mean - slope y`` and ``V_g =
variance + linear y + square y²``; as observed N = -y, and V stays, as all curves of a group move alike. So |T_g| >=
|T| is the sign of a quartic in y. A margin is tested by the largest p of all shifts up to ``-margin``, as that of a
single shift need not rise with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches
from xcurves.kernels.resampling.plans import TIE
from xcurves.kernels.resampling.shifts import Test, halve, limits, points_of_scan

Alternative = Literal["two-sided", "less", "greater"]

_ROUNDING = 64 * np.finfo(float).eps
_ROUNDS = 4  # of a search between neighbours on a grid
_FRACTIONS = np.linspace(-1, 1, 9)  # of a step to both sides, in each of them


class ShiftedContrast(NamedTuple):
    """T of every reassignment after a shift by ``y`` standard errors: ``mean - slope y`` over the root of variance."""

    mean: Floats  # (task, reassignment); as observed -y
    variance: Floats  # plus linear y + square y²
    linear: Floats
    slope: Floats  # (reassignment,)
    square: Floats
    spread: Floats  # (task,): the variance as observed, 0 or 1


def reaches(shifted: ShiftedContrast, at: Floats, alternative: Alternative) -> Bools:
    """Return which reassignments reach the observed T after a shift, (..., task, reassignment); 0 / 0 does."""
    # V_g is a variance: what is small beside its terms is what these leave when they cancel.
    y = at[..., np.newaxis]
    constant, linear, square = (
        shifted.variance,
        y * shifted.linear,
        y**2 * shifted.square,
    )
    variance = constant + linear + square
    variance[variance <= _ROUNDING * (constant + np.abs(linear) + square)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -y / shifted.spread[:, np.newaxis]
        t_shuffled = (shifted.mean - y * shifted.slope) / np.sqrt(variance)
        # Infinite T tie with infinite ones only: inf - inf would be NaN.
        slack = np.where(np.isinf(t), 0.0, TIE * (1 + np.abs(t)))
        # Not the opposite comparison: with NaN it is false, so that 0 / 0 reaches.
        if alternative == "less":
            return np.asarray(~(t_shuffled > t + slack))
        return np.asarray(~(t_shuffled < t - slack))


def quartics(shifted: ShiftedContrast) -> Floats:
    """Return ``N_g² V - N² V_g`` of every reassignment, ties included: squared terms within `TIE` of their sum."""
    # With N_g = mean - slope y, N = -y and V = spread,
    #     (1 + TIE) N_g² V - (1 - TIE) N² V_g =
    #     (1 + TIE) V (mean² - 2 mean slope y + slope² y²) - (1 - TIE) (variance y² + linear y³ + square y⁴),
    # which is at least 0 where N_g² V - N² V_g >= -TIE (N_g² V + N² V_g). Coefficients are computed in place: they are
    # the largest arrays of the test.
    spread = shifted.spread[:, np.newaxis]
    coefs = np.empty((5, *shifted.mean.shape))
    coefs[0] = shifted.mean
    coefs[0] *= (1 + TIE) * spread  # V mean, of both of the next two
    coefs[1] = -2 * shifted.slope
    coefs[1] *= coefs[0]
    coefs[0] *= shifted.mean

    # The others are divided by TIE - 1 until the last line.
    coefs[2] = shifted.variance
    coefs[2] -= (1 + TIE) / (1 - TIE) * spread * shifted.slope**2
    # so that 0 / 0 and equal infinities are ties
    coefs[2] -= _ROUNDING * (shifted.spread == 0)[:, np.newaxis]
    coefs[3] = shifted.linear
    coefs[4] = shifted.square
    coefs[2:] *= TIE - 1
    return coefs


def polynomials(coefs: Floats, at: Floats) -> Floats:
    """Return polynomials with coefficients in ascending order along the first axis."""
    # Horner's rule, in place
    value = coefs[-1] * at
    for coef in coefs[-2:0:-1]:
        value += coef
        value *= at
    value += coefs[0]
    return np.asarray(value)


def shift_test(
    shifted: ShiftedContrast,
    coefs: Floats,
    side: int,
    one_sided: bool,
    besides: int,
    most: float,
) -> Test:
    """Return the test of shifts to a side, -1 or 1, for `limits`; one-sided, contrasts must have the sign ``-side``."""
    _, n_tasks, n_resamples = coefs.shape
    flat_coefs = coefs.reshape(5, -1)

    def reaches_at(cells: Index | None, distance: Floats) -> Bools:
        if cells is None:
            coefs_there = coefs
            mean, slope = shifted.mean, shifted.slope
            distance = distance[..., np.newaxis]
        else:
            coefs_there = flat_coefs.take(cells, axis=1)
            mean, slope = (
                shifted.mean.ravel()[cells],
                shifted.slope[cells % n_resamples],
            )
        reached = polynomials(coefs_there, side * distance) >= 0
        if not one_sided:
            return reached
        # The quartic squares T. As observed N = -y has the sign -side; N_g must have it too.
        return reached & (-side * mean + slope * distance >= 0)

    return Test(reaches_at, (n_tasks, n_resamples), besides, most)


def hull(shifted: ShiftedContrast, besides: int, mosts: Sequence[int], *, scan: bool) -> Floats:
    """Return the outermost shifts that are not rejected, in standard errors from the estimate: (most, task, 2)."""
    coefs = quartics(shifted)
    estimates = np.zeros(len(shifted.mean))  # where T = 0, which all reach
    ends: dict[int, list[Floats]] = {}
    for most in set(mosts):
        ends[most] = []
        for side in (-1, 1):
            test = shift_test(shifted, coefs, side, False, besides, most)
            distance, _ = limits(test, estimates, scan=scan)
            ends[most].append(side * distance)
    return np.asarray(np.moveaxis(np.array([ends[most] for most in mosts]), 1, -1))


def not_below(shifted: ShiftedContrast, at: Floats, n_total: int, most: int) -> tuple[Floats, Floats]:
    """Test shifts of at most `at` standard errors: the largest count up to it, and how far down the limit lies."""
    n_tasks, n_resamples = shifted.mean.shape
    besides = n_total - n_resamples

    def counts(shift: Floats) -> Floats:
        reached = np.count_nonzero(reaches(shifted, shift, "greater"), axis=-1)
        return np.asarray(reached + float(besides))

    # The lower end of what is not rejected. Usually the estimate itself is not; at levels of about one half it can
    # be, and the end is above it: T of 2 standard errors below the shift is reached by nearly all.
    test = shift_test(shifted, quartics(shifted), -1, True, besides, most)
    distance, _ = limits(test, np.zeros(n_tasks), scan=True)
    is_inside = counts(np.zeros(n_tasks)) > most
    if not is_inside.all():
        far, near = np.full(n_tasks, 2.0), np.zeros(n_tasks)
        above, _ = halve(lambda shift: counts(shift) > most, far, near)
        distance = np.where(is_inside, distance, -above)

    # Both searches may see what the other misses: a shift that is not rejected and further down is the end, and the
    # count at the end, if it is up to `at`, is one of those of which the largest is sought.
    largest, where = _largest_count(counts, at, n_tasks, n_resamples)
    limit = np.where((largest > most) & (-where > distance), -where, distance)
    is_below = np.isfinite(limit) & (-limit <= at)
    at_limit = counts(np.where(is_below, -limit, at))
    return np.where(is_below, np.maximum(largest, at_limit), largest), limit


def _largest_count(
    counts: Callable[[Floats], Floats], at: Floats, n_tasks: int, n_resamples: int
) -> tuple[Floats, Floats]:
    """Return the largest of the counts at all shifts up to `at`, and where it is."""
    # A grid of x / (1 - x) down from `at`, as in a scan of `limits`.
    n_points = points_of_scan(n_resamples)
    grid = np.arange(n_points) / n_points
    largest, best_point = np.full(n_tasks, -1.0), np.zeros(n_tasks)
    width = rows_that_fit(64 * n_tasks * n_resamples, CACHE)
    for some in stretches(n_points, width):
        points = grid[some]
        on_grid = counts(at - (points / (1 - points))[:, np.newaxis])
        highest = on_grid.max(axis=0)
        best_point = np.where(highest > largest, points[on_grid.argmax(axis=0)], best_point)
        largest = np.maximum(largest, highest)

    # Then between the neighbours of the best point: d/dx of x / (1 - x) is 1 / (1 - x)², times the width of the grid.
    # Each round goes on around the best, with a quarter of the step: the distance of the points tried before.
    where = at - best_point / (1 - best_point)
    step = 1 / n_points / (1 - best_point) ** 2
    for _ in range(_ROUNDS):
        for fraction in _FRACTIONS:
            shift = np.minimum(where + fraction * step, at)
            nearby = counts(shift)
            where = np.where(nearby > largest, shift, where)
            largest = np.maximum(largest, nearby)
        step /= 4
    return largest, where
