"""Welch's statistic under every reassignment: equal means, whatever the spreads (1951, doi:10.1093/biomet/38.3-4.330).

With ``w_i = l_i / s_i²``, W = Σ w_i (ū_i - ũ)² / (m - 1) / [1 + 2 (m - 2) / (m² - 1) Λ], Λ = Σ (1 - w_i / Σ w)² /
(l_i - 1). If groups have no spread, W is the limit: infinite if their means differ, ordered by what is between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import scipy

from xcurves.array_types import Floats
from xcurves.kernels.resampling.batches import in_stretches
from xcurves.kernels.resampling.engine import compare_with_null, group_sums
from xcurves.kernels.resampling.plans import TIE, RunPlan
from xcurves.kernels.resampling.sums import squared_difference

_ROUNDING = 64 * np.finfo(float).eps
_PANEL = 32  # tasks evaluated together
_NODES = 400  # of an integral
# By which sums of squares between groups without spread are multiplied, to be ordered among themselves, beyond all W of
# groups with spread: numbers are of size one and what counts as spread is above `_ROUNDING`, so that these are far
# less.
_INFINITE = 1e200


def welch_tests(u: Floats, plan: RunPlan, alpha: float, *, keep: bool = False) -> dict[str, Floats]:
    """Compare the W of numbers `u`, (task, curve), with those of reassignments; nothing if a group has one curve."""
    if min(plan.sizes) == 1:
        return {}
    return in_stretches(lambda some: _welch_panel(u[some], plan, alpha, keep), len(u), _PANEL)


def _welch_panel(u: Floats, plan: RunPlan, alpha: float, keep: bool) -> dict[str, Floats]:
    """Test the numbers of some tasks."""
    # W changes neither with an offset nor with a scale; a power of two scales without rounding.
    centred = u - u.mean(axis=-1, keepdims=True)
    largest = np.abs(centred).max(axis=-1, keepdims=True)
    unit = np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1]), 1.0)
    scaled = centred / unit

    starts = np.cumsum((0, *plan.sizes[:-1]))
    sums = np.add.reduceat(scaled, starts, axis=-1)[..., np.newaxis]
    squares = np.add.reduceat(scaled * scaled, starts, axis=-1)[..., np.newaxis]
    observed, df = _welch_statistic(sums, squares, plan.sizes)
    w = _finite_w(observed[:, 0])
    tested = compare_with_null(
        _shuffled(scaled, plan),
        observed[:, 0] * (1 - TIE),
        plan,
        alpha,
        w,
        _finite_w,
        keep=keep,
    )
    tested["f"] = w
    tested["pvalue_parametric"] = scipy.special.fdtrc(len(plan.sizes) - 1, df[:, 0], w)
    tested["error_df"] = np.where(np.isnan(w), np.nan, df[:, 0])
    return tested


def _finite_w(w: Floats) -> Floats:
    """Return W, infinite where groups without spread differ."""
    return np.where(w >= _ROUNDING**2 * _INFINITE, np.inf, w)


def _shuffled(u: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield W of the reassignments of a plan; of two groups it is the square of Welch's t, in fewer steps."""
    if len(plan.sizes) == 2:
        yield from _shuffled_of_two(u, plan)
        return
    for sums in group_sums(np.stack([u, u * u], axis=1), plan):
        yield _welch_statistic(sums[:, :, 0], sums[:, :, 1], plan.sizes)[0]


def _shuffled_of_two(u: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield the squares of Welch's t."""
    sizes = np.array(plan.sizes, float)
    total = (u * u).sum(axis=-1, keepdims=True)
    # Of groups of one size squares need not be summed: both have the same weight, and together they are the total.
    are_equal = plan.sizes[0] == plan.sizes[1]
    features = u[:, np.newaxis] if are_equal else np.stack([u, u * u], axis=1)
    for sums in group_sums(features, plan):
        squares = None if are_equal else sums[:, 0, 1]
        square, variance = squared_difference(sums[:, 0, 0], squares, total, plan.sizes)
        # As in `_welch_statistic`: l_1 l_2 / (l_1 + l_2) times the squared difference is the sum of squares between the
        # groups.
        is_rounding = variance <= _ROUNDING / (sizes * (sizes - 1)).min() * total
        if is_rounding.any():
            between = _INFINITE * square * sizes.prod() / sizes.sum()
            square = np.where(is_rounding, between, square)
            variance[is_rounding] = 1.0
        yield np.divide(square, variance, out=square)


def spread_ratio(u: Floats, sizes: tuple[int, ...]) -> Floats:
    """Return the ratio of the largest to the smallest standard deviation of the groups of two or more; 0 / 0 is NaN."""
    groups = np.split(u, np.cumsum(sizes)[:-1], axis=-1)
    spreads = np.stack([group.std(axis=-1, ddof=1) for group in groups if group.shape[-1] > 1], axis=-1)
    spreads[spreads <= _ROUNDING * np.abs(u).max(axis=-1, keepdims=True)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(spreads.max(axis=-1) / spreads.min(axis=-1))


def _welch_statistic(u: Floats, uu: Floats, sizes: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return W and its error df from sums of numbers and of squares, (task, group, reassignment); of equal ones NaN."""
    size, m = np.array(sizes, float)[:, np.newaxis], len(sizes)
    total = uu.sum(axis=1, keepdims=True)
    mean = u / size
    within = uu - u * mean
    # w_i = l_i / s_i² = l_i (l_i - 1) / SS_i
    is_constant = within <= _ROUNDING * total
    weight = size * (size - 1) / np.where(is_constant, 1.0, within)
    weight = np.where(is_constant, 0.0, weight)
    all_weight = weight.sum(axis=1, keepdims=True)
    share = weight / np.maximum(all_weight, np.finfo(float).tiny)

    # The limit as their spread vanishes: groups without spread have all the weight, and the grand mean is that of them;
    # the terms of the others, with their own weights, are left.
    has_constant = is_constant.any(axis=1)
    between = np.zeros(has_constant.shape)
    if has_constant.any():
        limit, between = _without_spread(np.where(is_constant, size, 0.0), mean)
        between[between <= _ROUNDING * total[:, 0]] = 0.0
        share = np.where(has_constant[:, np.newaxis], limit, share)

    centre = (share * mean).sum(axis=1, keepdims=True)
    ratio = (weight * (mean - centre) ** 2).sum(axis=1) / (m - 1)
    spread_of_shares = ((1 - share) ** 2 / (size - 1)).sum(axis=1)  # Λ
    with np.errstate(divide="ignore"):
        df = (m * m - 1) / (3 * spread_of_shares)
    w = ratio / (1 + 2 * (m - 2) / (m * m - 1) * spread_of_shares)

    # All groups without spread: 0 / 0 if their means are equal. Any such groups whose means differ: beyond all others.
    w[is_constant.all(axis=1) & (between == 0)] = np.nan
    w[between > 0] = _INFINITE * between[between > 0]
    return w, df


def _without_spread(size: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Return shares by size, of groups without spread (others have size 0), and the sum of squares between them."""
    share = size / np.maximum(size.sum(axis=1, keepdims=True), 1.0)
    centre = (share * mean).sum(axis=1, keepdims=True)
    return share, (size * (mean - centre) ** 2).sum(axis=1)


@lru_cache(maxsize=1024)
def ratio_quantile(sizes: tuple[int, ...], probability: float) -> float:
    """Return a quantile of the ratio of the largest to the smallest standard deviation of normal samples."""
    # With F_i of the variance of sample i, P(ratio <= r) = Σ_i ∫ Π_{j≠i} [F_j(r F_i⁻¹(p)) - F_j(F_i⁻¹(p))] dp: sample
    # i has the smallest variance, F_i⁻¹(p), and all others lie between this and r times it. Samples of one size have
    # the same term: it is computed once for each number of degrees of freedom.
    counts = Counter(size - 1 for size in sizes)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    p = (nodes + 1) / 2  # from (-1, 1) to (0, 1); weights are halved below

    def excess(log_ratio: float) -> float:
        total = 0.0
        for df_smallest, count in counts.items():
            # χ² / df is 2 / df times a gamma variable of shape df / 2
            smallest = 2 * scipy.special.gammaincinv(df_smallest / 2, p) / df_smallest
            largest = smallest * np.exp(log_ratio)
            product = np.ones(_NODES)
            for df, n_samples in counts.items():
                upper = scipy.special.gammainc(df / 2, df * largest / 2)
                lower = scipy.special.gammainc(df / 2, df * smallest / 2)
                n_others = n_samples - (df == df_smallest)
                product *= (upper - lower) ** n_others
            total += count * float(weights @ product) / 2
        return total - probability

    # ratios of variances up to e^60: the root is that of standard deviations
    return float(np.exp(scipy.optimize.brentq(excess, 1e-6, 60, xtol=1e-10) / 2))
