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

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling import min_p
from xcurves.kernels.resampling.batches import rows_that_fit, stretches
from xcurves.kernels.resampling.binomial_limits import clopper_pearson
from xcurves.kernels.resampling.engine import label_batches, tally
from xcurves.kernels.resampling.group_products import subset_sums
from xcurves.kernels.resampling.plans import FlipPlan

FEWEST_FAMILIES = 6  # of a band by residuals
# Largest over smallest weight of families, up to which residuals make the band.
ALIKE = 1.5
NO_BAND, RESIDUALS, SUBSET_MEANS = 0, 1, 2  # how a band is made
_MANY = 1e14  # degrees of freedom of F that stand for infinitely many
ROUNDING = 64 * np.finfo(float).eps


def _denominator(x: Floats) -> Floats:
    """Return the denominator of R, shape (..., member)."""
    return np.asarray(
        np.count_nonzero(~np.isnan(x), axis=-1) * np.nansum(x**2, axis=-1)
    )


def _ratio(total: Floats, scale: Floats) -> Floats:
    """Return R of flipped sums, shape (..., member) or (..., member, flip); 0 where all numbers are 0."""
    n_flip_axes = total.ndim - scale.ndim
    scale = scale[(..., *(np.newaxis,) * n_flip_axes)]
    return np.divide(total**2, scale, out=np.zeros(total.shape), where=scale > 0)


def _flipped_sums(x: Floats, plan: FlipPlan) -> Iterator[Floats]:
    """Yield the sums of flipped numbers, shape (..., member, flip)."""
    filled = np.nan_to_num(x)
    for _, labels in label_batches(
        plan, rows_that_fit(8 * (math.prod(x.shape[:-1]) + x.shape[-1]))
    ):
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
    """Return p-values, and adjusted ones by step-down min-p over the members; axes in front are alone.

    Members with too few families for a p of `alpha` take no part in the adjustment.
    """
    n_members, n_families = x.shape[-2:]
    flat = x.reshape(-1, n_members, n_families)
    n_values = 2 ** (n_families - 1) if plan.exact else plan.n_total
    parts = [
        _pvalues_of(flat[some], plan, alpha)
        for some in stretches(len(flat), rows_that_fit(32 * n_values))
    ]
    found = np.concatenate(parts, axis=1) if parts else np.empty((2, *flat.shape[:-1]))
    pvalue, adjusted = found.reshape(2, *x.shape[:-1])
    return pvalue, adjusted


def _pvalues_of(x: Floats, plan: FlipPlan, alpha: float) -> Floats:
    """Return p-values and adjusted ones of some data sets, shape (2, data set, member)."""
    n = np.count_nonzero(~np.isnan(x), axis=-1)
    scale = _denominator(x)
    found = np.full((2, *n.shape), np.nan)

    observed = np.empty(n.shape)
    counts = np.empty(n.shape)
    n_total = 0
    for member in range(n.shape[-1]):
        values = _ratio(all_flipped_sums(x[:, member], plan), scale[:, member])
        observed[:, member] = values[:, 0]
        counts[:, member] = min_p.count_reached(values, values[:, 0])
        n_total = values.shape[-1]
    found[0] = np.where(n > 1, counts / n_total, np.nan)

    of_member = n.reshape(-1, n.shape[-1])[0] if len(n) else np.zeros(n.shape[-1], int)
    family = np.flatnonzero((of_member > 1) & (2.0 ** (1 - of_member) <= alpha + 1e-12))
    if len(family) < 2:
        found[1][:, family] = found[0][:, family]
        return found
    x, scale, observed, counts = (
        x[:, family],
        scale[:, family],
        observed[:, family],
        counts[:, family],
    )
    tails = TailsOfT(of_member[family], observed)
    rows = np.arange(len(x))

    def values_of(member: Index) -> Floats:
        return _ratio(all_flipped_sums(x[rows, member], plan), scale[rows, member])

    found[1][:, family] = (
        min_p.step_down(values_of, counts, tails.second, tails.ratio_at) / n_total
    )
    return found


class TailsOfT:
    """What decides between equal shares of flips: P(|t| > |T|), of members with the same number of families R."""

    def __init__(self, n_families: Index, observed: Floats) -> None:
        self.n_families = n_families
        self.alike = bool(np.ptp(n_families) == 0)
        # -log P rises with R: 1 - R is a beta quantile of P.
        with np.errstate(divide="ignore"):
            tail = scipy.special.betainc(
                (n_families - 1) / 2, 0.5, np.clip(1 - observed, 0.0, 1.0)
            )
            self.second = observed if self.alike else -np.log(tail)

    def ratio_at(self, member: Index, second: Floats) -> Floats:
        """Return R of a member of each data set at second values, shape (data set, step)."""
        if self.alike:
            return second
        degrees = (self.n_families[member] - 1) / 2
        return 1 - np.asarray(
            scipy.special.betaincinv(degrees[:, np.newaxis], 0.5, np.exp(-second))
        )


def all_flipped_sums(x: Floats, plan: FlipPlan, *, both_signs: bool = False) -> Floats:
    """Return the sums of numbers, shape (data set, family), under all flips, the observed one first.

    Of all distinct flips those are left out that turn the first family, unless `both_signs` are wanted: they mirror
    the others.
    """
    filled = np.nan_to_num(x)
    if not plan.exact:
        drawn = [filled @ (1.0 - 2.0 * labels).T for labels in plan.blocks()]
        return np.concatenate([filled.sum(axis=-1, keepdims=True), *drawn], axis=-1)
    sums = filled[:, :1]
    if both_signs:
        sums = np.concatenate([sums, -sums], axis=-1)
    for family in range(1, filled.shape[-1]):
        own = filled[:, family : family + 1]
        sums = np.concatenate([sums + own, sums - own], axis=-1)
    return sums


def flip_intervals(
    x: Floats, weights: Floats, plan: FlipPlan, *alphas: float
) -> Floats:
    """Return the intervals of weighted means, (alpha, member, 2), infinite where no p is so small."""
    parts = []
    for low, high in _ends_of_flips(x, weights, plan):
        rare = [
            int(np.floor(alpha * (len(low) + 1) + 1e-9)) // (1 + plan.exact)
            for alpha in alphas
        ]
        low.partition([each - 1 for each in rare if each] or 0)
        high.partition([len(high) - each for each in rare if each] or 0)
        parts.append(
            [
                (low[each - 1], high[-each]) if each else (-np.inf, np.inf)
                for each in rare
            ]
        )
    return np.array(parts).reshape(-1, len(alphas), 2).swapaxes(0, 1)


def _ends_of_flips(
    x: Floats, weights: Floats, plan: FlipPlan
) -> Iterator[tuple[Floats, Floats]]:
    """Yield for each member the means of all subsets, twice, or of each random flip the lower and the higher mean."""
    if plan.exact:
        yield from ((means, means.copy()) for means in subset_means(x, weights))
        return
    for means in drawn_means(x, weights, plan):
        none = ~np.isfinite(means).all(axis=0)
        yield (
            np.where(none, -np.inf, means.min(axis=0)),
            np.where(none, np.inf, means.max(axis=0)),
        )


def drawn_means(x: Floats, weights: Floats, plan: FlipPlan) -> Iterator[Floats]:
    """Yield the means of the flipped and of the other families of each random flip, of none minus infinity."""
    width = rows_that_fit(16 * plan.n_resamples)
    for start in range(0, len(x), width):
        numbers, of_families = (
            np.nan_to_num(each[start : start + width]) for each in (x, weights)
        )
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
        # levels of a pair have the same weights
        if last is None or not np.array_equal(of_own[present], last):
            last = of_own[present]
            sums = subset_sums(last)[1:]
        yield subset_sums(own[present])[1:] / sums


def profile_difference(
    x: Floats, weights: Floats, plan: FlipPlan, alpha: float, n_tests: int
) -> dict[str, Floats]:
    """Return the difference of a pair at every level, `x` (level, family), with intervals and a band over all levels.

    Simultaneous intervals are those of subset means, for `n_tests` levels of all pairs together.
    """
    x = np.where(np.isnan(weights), np.nan, x)
    estimate, n = np.nansum(x, axis=-1), np.count_nonzero(~np.isnan(weights))
    alphas = alpha, alpha / max(1, len(x)), alpha / max(1, n_tests)
    pointwise, band, together = flip_intervals(
        x, np.broadcast_to(weights, x.shape), plan, *alphas
    )
    band[~np.isfinite(band).all(axis=-1)] = np.nan
    made = SUBSET_MEANS if np.isfinite(band).any() else NO_BAND
    # A heavy family pulls the estimate towards itself: its residuals are too small, and so would be their band.
    if n >= FEWEST_FAMILIES and np.nanmax(weights) <= ALIKE * np.nanmin(weights):
        residual = x - weights * estimate[:, np.newaxis]
        half = critical(residual, plan, alpha) * np.sqrt(
            n / (n - 1) * np.nansum(residual**2, axis=-1)
        )
        band, made = np.stack([estimate - half, estimate + half], axis=-1), RESIDUALS
    return {
        "difference": estimate,
        "difference_ci": pointwise,
        "difference_ci_simultaneous": together,
        "difference_band": band,
        "band_method": np.float64(made),
    }


def critical(residual: Floats, plan: FlipPlan, alpha: float) -> float:
    """Return the value that the largest |T| over levels exceeds in a share of at most `alpha` of the flips."""
    n, scale = np.count_nonzero(~np.isnan(residual[0])), _denominator(residual)
    largest = (
        _ratio(total, scale).max(axis=0, initial=0.0)
        for total in _flipped_sums(residual, plan)
    )
    ratio = float(tally(largest, np.zeros(()), plan, alpha)[1])
    rest = 1 - ratio
    return float(np.sqrt((n - 1) * ratio / rest)) if rest > ROUNDING else np.inf


def spread_of_truth(
    d: Floats, v: Floats, uncertainty: Floats, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Return the standard deviation of true differences of pairs, its interval, and the share of noise.

    That is the part of the variance between tasks that is due to the runs. NaN of a single task.
    """
    count = np.count_nonzero(~np.isnan(d), axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, noise = (np.nansum(each, axis=-1) / count for each in (d, v))
        square = np.nansum((d - mean[:, np.newaxis]) ** 2, axis=-1) / np.where(
            count > 1, count - 1, np.nan
        )
        # 0 / 0 of errors that are exactly 0
        dof = np.fmin((noise * count) ** 2 / uncertainty, _MANY)
        upper, lower = (
            scipy.special.fdtri(count - 1.0, dof, share)
            for share in (1 - alpha / 2, alpha / 2)
        )
        low, high = square / upper - noise, np.maximum(square, noise) / lower - noise
    ends = np.sqrt(np.maximum(np.stack([square - noise, low, high], axis=-1), 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        noise_share = np.minimum(noise / square, 1.0)
    return ends[..., 0], ends[..., 1:], noise_share


def share_positive(x: Floats, alpha: float) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the share of positive numbers among those that are not 0, Clopper & Pearson's interval, and the zeros."""
    positive = np.count_nonzero(x > 0, axis=-1)
    n = np.count_nonzero((x > 0) | (x < 0), axis=-1)
    ends = np.where(
        n[:, np.newaxis] > 0,
        np.stack(clopper_pearson(positive, n, alpha), axis=-1),
        np.nan,
    )
    return (
        positive / np.where(n > 0, n, np.nan),
        ends,
        np.count_nonzero(x == 0, axis=-1),
    )


def places(ranks: Floats, plan: FlipPlan, alpha: float) -> tuple[Floats, Floats]:
    """Test differences of mean ranks, (algorithm, family), and return which places can be (Mogstad et al. 2024).

    The p-values, (algorithm, other), are those of a better mean rank of the first, adjusted by step-down over both
    directions of all pairs.
    """
    first, second = np.triu_indices(len(ranks), 1)
    x = ranks[second] - ranks[first]
    scale = _denominator(x)
    n_pairs = len(x)

    def values_of(member: Index) -> Floats:
        """Return R with the sign of the mean difference, for the other direction of the opposite sign."""
        pair = member % n_pairs
        sums = all_flipped_sums(x[pair], plan, both_signs=True)
        directed = np.sign(sums) * _ratio(sums, scale[pair])
        return directed * np.where(member < n_pairs, 1.0, -1.0)[:, np.newaxis]

    observed, counts = np.empty((2, 1, 2 * n_pairs))
    n_total = 1
    for member in range(2 * n_pairs):
        values = values_of(np.array([member]))
        observed[:, member] = values[:, 0]
        counts[:, member] = min_p.count_reached(values, values[:, 0])
        n_total = values.shape[-1]
    reached = min_p.step_down(
        values_of, counts, observed, lambda _, statistic: statistic
    )
    pvalues = np.ones((len(ranks), len(ranks)))
    pvalues[first, second], pvalues[second, first] = (reached / n_total).reshape(2, -1)
    better = pvalues <= alpha + 1e-12
    return pvalues, np.stack(
        [1.0 + better.sum(axis=0), len(ranks) - better.sum(axis=1)], axis=-1
    )


def flip_margins(
    x: Floats, weights: Floats, plan: FlipPlan, margin: float, alpha: float
) -> tuple[Floats, Floats]:
    """Return the one-sided p of a weighted mean of at most ``-margin``, and its lower limit, shape (member,)."""
    drawn = (one for one, _ in drawn_means(x, weights, plan))
    every = subset_means(x, weights) if plan.exact else drawn
    found = []
    for means in every:
        n_total = len(means) + 1
        size = margin + np.abs(means[np.isfinite(means)]).max(initial=0.0)
        pvalue = (1 + np.count_nonzero(means <= ROUNDING * size - margin)) / n_total
        rare = int(np.floor(alpha * n_total + 1e-9))
        found.append(
            (pvalue, np.partition(means, rare - 1)[rare - 1] if rare else -np.inf)
        )
    pvalues, limits = np.array(found).reshape(-1, 2).T
    return pvalues, limits
