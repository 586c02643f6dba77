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
_INFINITE = 1e200  # by which sums of squares between groups without spread are multiplied, to be ordered as W


def welch_tests(
    u: Floats, plan: RunPlan, alpha: float, *, keep: bool = False
) -> dict[str, Floats]:
    """Compare the W of numbers `u`, (task, curve), with those of reassignments; nothing if a group has one curve."""
    if min(plan.sizes) == 1:
        return {}
    return in_stretches(
        lambda some: _welch_panel(u[some], plan, alpha, keep), len(u), _PANEL
    )


def _welch_panel(
    u: Floats, plan: RunPlan, alpha: float, keep: bool
) -> dict[str, Floats]:
    u = u - u.mean(axis=-1, keepdims=True)
    scale = np.abs(u).max(axis=-1, keepdims=True)
    u = u / np.where(scale > 0, np.ldexp(1.0, np.frexp(scale)[1]), 1.0)
    starts = np.cumsum((0, *plan.sizes[:-1]))
    first, second = (
        np.add.reduceat(each, starts, axis=-1)[..., np.newaxis] for each in (u, u * u)
    )
    observed, df = (each[:, 0] for each in _welch_statistic(first, second, plan.sizes))
    w = _finite_w(observed)
    p = scipy.special.fdtrc(len(plan.sizes) - 1, df, w)
    found = compare_with_null(
        _shuffled(u, plan), observed * (1 - TIE), plan, alpha, w, _finite_w, keep=keep
    )
    return found | {
        "f": w,
        "pvalue_parametric": p,
        "error_df": np.where(np.isnan(w), np.nan, df),
    }


def _finite_w(w: Floats) -> Floats:
    """Return W, infinite where groups without spread differ."""
    return np.where(w >= _ROUNDING**2 * _INFINITE, np.inf, w)


def _shuffled(u: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield W of the reassignments of a plan; of two groups it is the square of Welch's t, in fewer steps."""
    features = np.stack([u, u * u], axis=1)
    if len(plan.sizes) > 2:
        for sums in group_sums(features, plan):
            yield _welch_statistic(sums[:, :, 0], sums[:, :, 1], plan.sizes)[0]
        return
    sizes = np.array(plan.sizes, float)
    total = (u * u).sum(axis=-1, keepdims=True)
    alike = plan.sizes[0] == plan.sizes[1]
    for sums in group_sums(features[:, :1] if alike else features, plan):
        w, variance = squared_difference(
            sums[:, 0, 0], None if alike else sums[:, 0, 1], total, plan.sizes
        )
        nothing = variance <= _ROUNDING / (sizes * (sizes - 1)).min() * total
        if nothing.any():
            w = np.where(nothing, _INFINITE * w * sizes.prod() / sizes.sum(), w)
            variance[nothing] = 1.0
        w /= variance
        yield w


def spread_ratio(u: Floats, sizes: tuple[int, ...]) -> Floats:
    """Return the ratio of the largest to the smallest standard deviation of the groups of two or more; 0 / 0 is NaN."""
    groups = np.split(u, np.cumsum(sizes)[:-1], axis=-1)
    spreads = np.stack(
        [group.std(axis=-1, ddof=1) for group in groups if group.shape[-1] > 1], axis=-1
    )
    spreads[spreads <= _ROUNDING * np.abs(u).max(axis=-1, keepdims=True)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(spreads.max(axis=-1) / spreads.min(axis=-1))


def _welch_statistic(
    u: Floats, uu: Floats, sizes: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """Return W and its error df from sums of numbers and of squares, (task, group, reassignment); of equal ones NaN."""
    size, m = np.array(sizes, float)[:, np.newaxis], len(sizes)
    total = uu.sum(axis=1, keepdims=True)
    mean = u / size
    within = uu - u * mean
    constant = within <= _ROUNDING * total
    weight = np.where(
        constant, 0.0, size * (size - 1) / np.where(constant, 1.0, within)
    )
    share = weight / np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    some = constant.any(axis=1)
    between = np.zeros(some.shape)
    if some.any():
        of_constant = np.where(constant, size, 0.0)
        limit = of_constant / np.maximum(of_constant.sum(axis=1, keepdims=True), 1.0)
        share = np.where(some[:, np.newaxis], limit, share)
        centre = (limit * mean).sum(axis=1, keepdims=True)
        between = (of_constant * (mean - centre) ** 2).sum(axis=1)
        between[between <= _ROUNDING * total[:, 0]] = 0.0
    centre = (share * mean).sum(axis=1, keepdims=True)
    ratio = (weight * (mean - centre) ** 2).sum(axis=1) / (m - 1)
    spread = ((1 - share) ** 2 / (size - 1)).sum(axis=1)
    with np.errstate(divide="ignore"):
        df = (m * m - 1) / (3 * spread)
    w = ratio / (1 + 2 * (m - 2) / (m * m - 1) * spread)
    w[constant.all(axis=1) & (between == 0)] = np.nan
    w[between > 0] = _INFINITE * between[between > 0]
    return w, df


@lru_cache(maxsize=1024)
def ratio_quantile(sizes: tuple[int, ...], probability: float) -> float:
    """Return a quantile of the ratio of the largest to the smallest standard deviation of normal samples."""
    # With F_i of the variance of sample i, P(ratio <= r) = Σ_i ∫ Π_{j≠i} [F_j(r F_i⁻¹(p)) - F_j(F_i⁻¹(p))] dp.
    counts = Counter(size - 1 for size in sizes)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    p = (nodes + 1) / 2

    def excess(log_ratio: float) -> float:
        total = 0.0
        for smallest, count in counts.items():
            x = 2 * scipy.special.gammaincinv(smallest / 2, p) / smallest
            product = np.ones(_NODES)
            for df, n in counts.items():
                upper, lower = (
                    scipy.special.gammainc(df / 2, df * at / 2)
                    for at in (x * np.exp(log_ratio), x)
                )
                product *= (upper - lower) ** (n - (df == smallest))
            total += count * float(weights @ product) / 2
        return total - probability

    return float(np.exp(scipy.optimize.brentq(excess, 1e-6, 60, xtol=1e-10) / 2))
