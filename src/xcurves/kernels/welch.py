"""Welch's statistic under every reassignment of a plan: equal means, whatever the spreads of the groups.

With ``w_i = l_i / s_i²`` and the ``w``-mean ``ũ`` of the means ``ū_i`` of ``m`` groups,

    W = Σ w_i (ū_i - ũ)² / (m - 1) / [1 + 2 (m - 2) / (m² - 1) Λ],    Λ = Σ (1 - w_i / Σ w)² / (l_i - 1)

(Welch 1951, doi:10.1093/biomet/38.3-4.330), recomputed for each reassignment. If groups have no spread, W is
the limit: ``ũ`` is their mean, and W is infinite if their means differ. Infinite values are ordered by the sum of
squares between these groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.groupsums import group_sums
from xcurves.kernels.moments import Floats
from xcurves.kernels.null import UpperTail, rank_pvalue
from xcurves.kernels.shuffles import TIE, Plan

_ROUNDING = 64 * np.finfo(float).eps
_PANEL = 32  # tasks evaluated together


class Statistic(NamedTuple):
    """Welch's statistic, shape (task, reassignment).

    Attributes
    ----------
    w : ndarray
        Infinite where groups without spread have different means; NaN where all numbers are equal.
    between : ndarray
        Where `w` is infinite, the sum of squares between the groups without spread, up to a factor.
    df : ndarray
        Degrees of freedom of the denominator in Welch's approximation.
    """

    w: Floats
    between: Floats
    df: Floats


def welch_tests(u: Floats, plan: Plan, alpha: float, *, keep: bool = False) -> dict[str, Floats]:
    """Compare the observed W of numbers `u`, shape (task, curve), with that of every reassignment of the plan.

    Returns
    -------
    dict of ndarray, shape (task,)
        `f` (W), `pvalue`, `pvalue_stderr`, `critical_value`, `pvalue_parametric`, `error_df`; with `keep` also
        `pvalue_rank` and `null_distribution`, shape (task, reassignment). All NaN if a group has one curve.
    """
    panels = [_evaluate(u[start : start + _PANEL], plan, alpha, keep) for start in range(0, len(u), _PANEL)]
    return {name: np.concatenate([panel[name] for panel in panels]) for name in panels[0]}


def _evaluate(u: Floats, plan: Plan, alpha: float, keep: bool) -> dict[str, Floats]:
    u = u - u.mean(axis=-1, keepdims=True)
    scale = np.abs(u).max(axis=-1, keepdims=True)
    u = u / np.where(scale > 0, np.ldexp(1.0, np.frexp(scale)[1]), 1.0)
    observed = _observed(u, plan.sizes)
    if len(plan.sizes) == 2:  # the same factor as the shuffled ones
        observed = observed._replace(between=observed.between * sum(plan.sizes) / np.prod(plan.sizes))
    n_tail = int(np.floor(alpha * plan.n_total + 1e-9)) + plan.exact
    tail = UpperTail(n_tail)
    below, kept = np.zeros(len(u)), []
    for shuffled in _shuffled(u, plan) if min(plan.sizes) > 1 else ():
        below += np.count_nonzero(~_reaches(shuffled, observed), axis=-1)
        tail.add(shuffled.w)
        if keep:
            kept.append(shuffled.w)
    pvalue = np.maximum(plan.n_total - below, 1) / plan.n_total
    w, df = observed.w[:, 0], observed.df[:, 0]
    found = {
        "f": w.copy(),
        "pvalue": pvalue,
        "pvalue_stderr": np.zeros_like(pvalue) if plan.exact else np.sqrt(pvalue * (1 - pvalue) / plan.n_resamples),
        "critical_value": tail.smallest(w.shape) if n_tail and tail.held else np.full(w.shape, np.inf),
        "pvalue_parametric": scipy.special.fdtrc(len(plan.sizes) - 1, df, w),
        "error_df": df.copy(),
    }
    if keep:
        null = np.concatenate(kept, axis=-1) if kept else np.full((len(u), plan.n_resamples), np.nan)
        found["pvalue_rank"] = rank_pvalue(w, null)
        found["null_distribution"] = null
    for values in found.values():
        values[np.isnan(w)] = np.nan
    return found


def _shuffled(u: Floats, plan: Plan) -> Iterator[Statistic]:
    """Yield W of the reassignments of a plan; of two groups it is the square of Welch's t, in fewer steps."""
    if len(plan.sizes) > 2:
        for sums in group_sums(np.concatenate([u, u * u]), plan):
            yield _statistic(sums[: len(u)], sums[len(u) :], plan.sizes)
        return
    sizes = np.array(plan.sizes, float)
    by_square = 1 / (sizes * (sizes - 1))
    total = (u * u).sum(axis=-1, keepdims=True)
    alike = plan.sizes[0] == plan.sizes[1]
    for sums in group_sums(u if alike else np.concatenate([u, u * u]), plan):
        first = sums[: len(u), 0]
        squares = first * first  # of the sum over the second group too, since all add up to 0
        variance = -(by_square / sizes).sum() * squares
        variance += by_square[1] * total
        if not alike:
            variance += (by_square[0] - by_square[1]) * sums[len(u) :, 0]
        squares *= (1 / sizes).sum() ** 2
        nothing = variance <= _ROUNDING * by_square.max() * total
        with np.errstate(divide="ignore", invalid="ignore"):
            w = np.where(nothing, np.inf, squares / variance) if nothing.any() else squares / variance
        yield Statistic(w, squares, w)


def spread_ratio(u: Floats, sizes: tuple[int, ...]) -> Floats:
    """Return the ratio of the largest to the smallest standard deviation of the groups of two or more; 0 / 0 is NaN."""
    groups = np.split(u, np.cumsum(sizes)[:-1], axis=-1)
    spreads = np.stack([group.std(axis=-1, ddof=1) for group in groups if group.shape[-1] > 1], axis=-1)
    spreads[spreads <= _ROUNDING * np.abs(u).max(axis=-1, keepdims=True)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(spreads.max(axis=-1) / spreads.min(axis=-1))


def _observed(u: Floats, sizes: tuple[int, ...]) -> Statistic:
    if min(sizes) < 2:
        return Statistic(*np.full((3, len(u), 1), np.nan))
    starts = np.cumsum((0, *sizes[:-1]))
    first, second = (np.add.reduceat(each, starts, axis=-1)[..., np.newaxis] for each in (u, u * u))
    return _statistic(first, second, sizes)


def _statistic(u: Floats, uu: Floats, sizes: tuple[int, ...]) -> Statistic:
    """Return W from sums of numbers and of their squares, shape (task, group, reassignment)."""
    size, m = np.array(sizes, float)[:, np.newaxis], len(sizes)
    total = uu.sum(axis=1, keepdims=True)
    mean = u / size
    within = uu - u * mean
    constant = within <= _ROUNDING * total
    weight = np.where(constant, 0.0, size * (size - 1) / np.where(constant, 1.0, within))
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
    w[between > 0] = np.inf
    return Statistic(w, between, df)


def _reaches(shuffled: Statistic, observed: Statistic) -> NDArray[np.bool_]:
    """Return which reassignments have W at least as large as observed, ties included."""
    reaches = shuffled.w >= observed.w * (1 - TIE)
    for task in np.flatnonzero(np.isinf(observed.w)):
        reaches[task] &= shuffled.between[task] >= observed.between[task] * (1 - TIE)
    return np.asarray(reaches)
