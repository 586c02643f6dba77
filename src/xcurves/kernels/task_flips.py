"""The mean difference over tasks like those at hand, by flipping the signs of whole tasks, or of families of tasks.

Of sums ``x`` of a family's weighted differences, (member, family), NaN if absent, T rises with R = (Σ x)² / (F Σ x²),
whose denominator no flip changes. Intervals are those of subset means (Hartigan, doi:10.1080/01621459.1969.10501057).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.engine import StepDown, clopper_pearson, label_batches, tally
from xcurves.kernels.group_products import subset_sums
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import TIE, FlipPlan, Index, rows_that_fit

FEWEST_FAMILIES = 6  # of a band by residuals
ALIKE = 1.5  # largest over smallest weight of families, up to which residuals make the band
NO_BAND, RESIDUALS, SUBSET_MEANS = 0, 1, 2  # how a band is made
_MANY = 1e14  # degrees of freedom of F that stand for infinitely many
ROUNDING = 64 * np.finfo(float).eps


def _denominator(x: Floats) -> Floats:
    """Return the denominator of R, shape (..., member)."""
    return np.asarray(np.count_nonzero(~np.isnan(x), axis=-1) * np.nansum(x**2, axis=-1))


def _ratio(total: Floats, scale: Floats) -> Floats:
    """Return R of flipped sums, shape (..., member) or (..., member, flip); 0 where all numbers are 0."""
    scale = scale.reshape(*scale.shape, *[1] * (total.ndim - scale.ndim))
    return np.divide(total**2, scale, out=np.zeros(total.shape), where=scale > 0)


def _flipped_sums(x: Floats, plan: FlipPlan) -> Iterator[Floats]:
    """Yield the sums of flipped numbers, shape (..., member, flip)."""
    filled = np.nan_to_num(x)
    for _, labels in label_batches(plan, rows_that_fit(8 * (math.prod(x.shape[:-1]) + x.shape[-1]))):
        yield filled @ (1.0 - 2.0 * labels).T


def family_sums(values: Floats, families: Index) -> Floats:
    """Sum values of tasks, shape (..., task), over families; NaN where a family has none."""
    by_task = np.moveaxis(values, -1, 0)
    known = ~np.isnan(by_task)
    sums, numbers = np.zeros((2, int(families.max()) + 1, *by_task.shape[1:]))
    np.add.at(sums, families, np.where(known, by_task, 0.0))
    np.add.at(numbers, families, known)
    return np.moveaxis(np.where(numbers > 0, sums, np.nan), 0, -1)


def pvalues(x: Floats, plan: FlipPlan, alpha: float = 1.0) -> tuple[Floats, Floats]:
    """Return p-values, and adjusted ones by step-down max-|T| over the members; axes in front are alone.

    Members with too few families for a p of `alpha` take no part in the adjustment.
    """
    n, scale = np.count_nonzero(~np.isnan(x), axis=-1), _denominator(x)
    of_member = n.reshape(-1, n.shape[-1])[0]
    family = np.flatnonzero((of_member > 1) & (2.0 ** (1 - of_member) <= alpha + 1e-12))
    few = of_member[family, np.newaxis]
    alike = np.ptp(few) == 0 if few.size else True

    def sizes(ratio: Floats) -> Floats:
        """Return R, or if numbers of families differ -log P(|t| > |T|), which rises with it: (lead, member, flip)."""
        ratio = ratio[..., family, :]
        if not alike:
            with np.errstate(divide="ignore"):
                ratio = -np.log(scipy.special.betainc((few - 1) / 2, 0.5, np.maximum(1 - ratio, 0.0)))
        return ratio.reshape(math.prod(n.shape[:-1]), *ratio.shape[-2:])

    observed = _ratio(np.nansum(x, axis=-1), scale)[..., np.newaxis]
    steps = StepDown(sizes(observed)[..., 0])
    counts, adjusted = np.zeros(n.shape), np.full(n.shape, np.nan)
    for total in _flipped_sums(x, plan):
        ratio = _ratio(total, scale) + TIE
        counts += np.count_nonzero(ratio >= observed, axis=-1)
        steps.add(sizes(np.minimum(ratio, 1.0)))
    adjusted[..., family] = plan.pvalue(steps.counts).reshape(*n.shape[:-1], len(family))
    return np.where(n > 1, plan.pvalue(counts), np.nan), adjusted


def flip_intervals(x: Floats, weights: Floats, plan: FlipPlan, *alphas: float) -> Floats:
    """Return the intervals of weighted means, (alpha, member, 2), infinite where no p is so small."""
    parts = []
    for low, high in _ends_of_flips(x, weights, plan):
        rare = [int(np.floor(alpha * (len(low) + 1) + 1e-9)) // (1 + plan.exact) for alpha in alphas]
        low.partition([each - 1 for each in rare if each] or 0)
        high.partition([len(high) - each for each in rare if each] or 0)
        parts.append([(low[each - 1], high[-each]) if each else (-np.inf, np.inf) for each in rare])
    return np.array(parts).reshape(-1, len(alphas), 2).swapaxes(0, 1)


def _ends_of_flips(x: Floats, weights: Floats, plan: FlipPlan) -> Iterator[tuple[Floats, Floats]]:
    """Yield for each member the means of all subsets, twice, or of each random flip the lower and the higher mean."""
    if plan.exact:
        yield from ((means, means.copy()) for means in subset_means(x, weights))
        return
    for means in drawn_means(x, weights, plan):
        none = ~np.isfinite(means).all(axis=0)
        yield np.where(none, -np.inf, means.min(axis=0)), np.where(none, np.inf, means.max(axis=0))


def drawn_means(x: Floats, weights: Floats, plan: FlipPlan) -> Iterator[Floats]:
    """Yield the means of the flipped and of the other families of each random flip, of none minus infinity."""
    width = rows_that_fit(16 * plan.n_resamples)
    for start in range(0, len(x), width):
        numbers, of_families = (np.nan_to_num(each[start : start + width]) for each in (x, weights))
        means = np.empty((len(numbers), 2, plan.n_resamples))
        for some, labels in label_batches(plan, rows_that_fit(8 * sum(numbers.shape))):
            for side in (0, 1):
                chosen = (labels != side).T.astype(float)
                with np.errstate(invalid="ignore", divide="ignore"):
                    mean = (numbers @ chosen) / (of_families @ chosen)
                means[:, side, some] = np.where(np.isfinite(mean), mean, -np.inf)
        yield from means


def subset_means(x: Floats, weights: Floats) -> Iterator[Floats]:
    """Yield the weighted means of all subsets of each member's families but the empty one."""
    last, sums = None, np.empty(0)
    for own, of_own in zip(x, weights, strict=True):
        present = ~np.isnan(own)
        if last is None or not np.array_equal(of_own[present], last):  # levels of a pair have the same weights
            last = of_own[present]
            sums = subset_sums(last)[1:]
        yield subset_sums(own[present])[1:] / sums


def profile_difference(x: Floats, weights: Floats, plan: FlipPlan, alpha: float) -> dict[str, Floats]:
    """Compare a pair at every level, `x` (level, family), with one vector of flips, and bands over all levels."""
    x = np.where(np.isnan(weights), np.nan, x)
    pvalue, adjusted = pvalues(x, plan)
    estimate, n = np.nansum(x, axis=-1), np.count_nonzero(~np.isnan(weights))
    pointwise, together = flip_intervals(x, np.broadcast_to(weights, x.shape), plan, alpha, alpha / max(1, len(x)))
    together[~np.isfinite(together).all(axis=-1)] = np.nan
    made = SUBSET_MEANS if np.isfinite(together).any() else NO_BAND
    # A heavy family pulls the estimate towards itself: its residuals are too small, and so would be their band.
    if n >= FEWEST_FAMILIES and np.nanmax(weights) <= ALIKE * np.nanmin(weights):
        residual = x - weights * estimate[:, np.newaxis]
        half = critical(residual, plan, alpha) * np.sqrt(n / (n - 1) * np.nansum(residual**2, axis=-1))
        together, made = np.stack([estimate - half, estimate + half], axis=-1), RESIDUALS
    return {
        "difference": estimate,
        "pvalue": pvalue,
        "pvalue_adjusted": adjusted,
        "difference_ci": pointwise,
        "difference_band": together,
        "band_method": np.float64(made),
    }


def critical(residual: Floats, plan: FlipPlan, alpha: float) -> float:
    """Return the value that the largest |T| over levels exceeds in a share of at most `alpha` of the flips."""
    n, scale = np.count_nonzero(~np.isnan(residual[0])), _denominator(residual)
    largest = (_ratio(total, scale).max(axis=0, initial=0.0) for total in _flipped_sums(residual, plan))
    ratio = float(tally(largest, np.zeros(()), plan, alpha)[1])
    rest = 1 - ratio
    return float(np.sqrt((n - 1) * ratio / rest)) if rest > ROUNDING else np.inf


def spread_of_truth(d: Floats, v: Floats, uncertainty: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return the standard deviation of true differences of pairs, and its interval; NaN of a single task."""
    count = np.count_nonzero(~np.isnan(d), axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, noise = (np.nansum(each, axis=-1) / count for each in (d, v))
        square = np.nansum((d - mean[:, np.newaxis]) ** 2, axis=-1) / np.where(count > 1, count - 1, np.nan)
        dof = np.fmin((noise * count) ** 2 / uncertainty, _MANY)  # 0 / 0 of errors that are exactly 0
        upper, lower = (scipy.special.fdtri(count - 1.0, dof, share) for share in (1 - alpha / 2, alpha / 2))
        low, high = square / upper - noise, np.maximum(square, noise) / lower - noise
    ends = np.sqrt(np.maximum(np.stack([square - noise, low, high], axis=-1), 0.0))
    return ends[..., 0], ends[..., 1:]


def share_positive(x: Floats, alpha: float) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the share of positive numbers among those that are not 0, Clopper & Pearson's interval, and the zeros."""
    positive = np.count_nonzero(x > 0, axis=-1)
    n = np.count_nonzero((x > 0) | (x < 0), axis=-1)
    ends = np.where(n[:, np.newaxis] > 0, np.stack(clopper_pearson(positive, n, alpha), axis=-1), np.nan)
    return positive / np.where(n > 0, n, np.nan), ends, np.count_nonzero(x == 0, axis=-1)


def places(ranks: Floats, plan: FlipPlan, alpha: float) -> tuple[Floats, Floats]:
    """Test differences of mean ranks, (algorithm, family), and return which places can be (Mogstad et al. 2024).

    The p-values, (algorithm, other), are those of a better mean rank of the first, adjusted by step-down over both
    directions of all pairs.
    """
    first, second = np.triu_indices(len(ranks), 1)
    x = ranks[second] - ranks[first]
    scale = _denominator(x)

    def directed(total: Floats) -> Floats:
        ratio = np.sign(total) * _ratio(total, scale)
        return np.concatenate([ratio, -ratio])[np.newaxis]

    steps = StepDown(directed(np.nansum(x, axis=-1)))
    for total in _flipped_sums(x, plan):
        steps.add(directed(total))
    pvalues = np.ones((len(ranks), len(ranks)))
    pvalues[first, second], pvalues[second, first] = plan.pvalue(steps.counts).reshape(2, -1)
    better = pvalues <= alpha + 1e-12
    return pvalues, np.stack([1.0 + better.sum(axis=0), len(ranks) - better.sum(axis=1)], axis=-1)


def flip_margins(x: Floats, weights: Floats, plan: FlipPlan, margin: float, alpha: float) -> tuple[Floats, Floats]:
    """Return the one-sided p of a weighted mean of at most ``-margin``, and its lower limit, shape (member,)."""
    drawn = (one for one, _ in drawn_means(x, weights, plan))
    every = subset_means(x, weights) if plan.exact else drawn
    found = []
    for means in every:
        n_total = len(means) + 1
        size = margin + np.abs(means[np.isfinite(means)]).max(initial=0.0)
        pvalue = (1 + np.count_nonzero(means <= ROUNDING * size - margin)) / n_total
        rare = int(np.floor(alpha * n_total + 1e-9))
        found.append((pvalue, np.partition(means, rare - 1)[rare - 1] if rare else -np.inf))
    pvalues, limits = np.array(found).reshape(-1, 2).T
    return pvalues, limits
