"""The mean difference over tasks like those at hand, by flipping the signs of whole tasks, or of families of tasks.

Of sums ``x`` of a family's weighted differences, (member, family), NaN if absent, T rises with R = (Σ x)² / (F Σ x²),
whose denominator no flip changes. Intervals are those of subset means (Hartigan, doi:10.1080/01621459.1969.10501057).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.resampling import adjustments
from xcurves.kernels.resampling.batches import rows_that_fit, stretches
from xcurves.kernels.resampling.engine import label_batches, tally
from xcurves.kernels.resampling.plans import FlipPlan, ceiling

FEWEST_FAMILIES = 6  # of a band by residuals: 2 / 2^6 is the first p below .05
# Largest over smallest weight of families, up to which residuals make the band: of unlike ones it covers too little.
ALIKE = 1.5
NO_BAND, RESIDUALS, SUBSET_MEANS = 0, 1, 2  # how a band is made
ROUNDING = 64 * np.finfo(float).eps
_LEVEL_TIE = 1e-12  # of a p-value and the level
# of tests on the scale of the ranks of p
_FEWEST_RANKS = 20.0  # random flips beyond the level for each pair, so that ranks of p tell pairs apart
_MOST_FAMILIES = 200
_MOST_WORK = 10**8  # flips of all pairs


def _denominator(x: Floats) -> Floats:
    """Return the denominator of R, shape (..., member)."""
    return np.asarray(np.count_nonzero(~np.isnan(x), axis=-1) * np.nansum(x**2, axis=-1))


def _ratio(total: Floats, scale: Floats) -> Floats:
    """Return R of flipped sums, shape (..., member) or (..., member, flip); 0 where all numbers are 0."""
    # T² = (F - 1) R / (1 - R), with R = (Σ x)² / (F Σ x²): a flip changes the sum only.
    flip_axes = tuple(range(scale.ndim, total.ndim))
    by_flip = np.expand_dims(np.where(scale > 0, scale, np.inf), flip_axes)
    ratio = total**2
    ratio /= by_flip
    return ratio


def _flipped_sums(x: Floats, plan: FlipPlan) -> Iterator[Floats]:
    """Yield the sums of flipped numbers, shape (..., member, flip)."""
    filled = np.nan_to_num(x)  # absent families add nothing, whatever their sign
    # doubles of the sums of all members, and of the signs of all families
    bytes_each = 8 * (math.prod(x.shape[:-1]) + x.shape[-1])
    for _, labels in label_batches(plan, rows_that_fit(bytes_each)):
        yield filled @ (1.0 - 2.0 * labels).T


def family_sums(values: Floats, families: Index) -> Floats:
    """Sum values of tasks, shape (..., task), over families; NaN where a family has none."""
    n_tasks = len(families)
    if np.array_equal(families, np.arange(n_tasks)):
        return values
    by_task = np.moveaxis(values, -1, 0)
    known = ~np.isnan(by_task)
    sums, numbers = np.zeros((2, int(families.max()) + 1, *by_task.shape[1:]))
    np.add.at(sums, families, np.where(known, by_task, 0.0))
    np.add.at(numbers, families, known)
    return np.moveaxis(np.where(numbers > 0, sums, np.nan), 0, -1)


def takes_ranks(n_families: int, n_pairs: int, n_resamples: int | None, alpha: float) -> bool:
    """Return whether a study is tested on the scale of the ranks of p, as here, and not on that of `t_scale`."""
    exact, n_flips = ceiling(2**n_families, n_resamples)
    n_tests = max(1, n_pairs)
    if exact:
        return n_flips * n_tests <= _MOST_WORK
    is_fine = alpha * (n_flips + 1) / n_tests >= _FEWEST_RANKS - 1e-9
    return is_fine and n_families <= _MOST_FAMILIES


def pvalues(x: Floats, plan: FlipPlan, alpha: float = 1.0) -> tuple[Floats, Floats]:
    """Return p-values, and adjusted ones by step-down min-p over the members; axes in front are alone.

    The p of a member is exact where all flips of its own families are few enough, and its adjusted p is not below it.
    Members with too few families for a p of `alpha` take no part in the adjustment.
    """
    n_members, n_families = x.shape[-2:]
    flat = x.reshape(-1, n_members, n_families)
    # Of all flips half, as the others are their mirrors: see `all_flipped_sums`. Without a plan of all there may be
    # members with one.
    n_values = plan.n_total
    if plan.exact:
        n_values = 2 ** (n_families - 1)
    elif flat.size:
        own = exact_members(flat[0], plan)
        most = np.count_nonzero(~np.isnan(flat[0, own]), axis=-1).max(initial=1)
        n_values = max(n_values, int(2 ** (most - 1)))
    both = np.empty((2, *flat.shape[:-1]))
    for some in stretches(len(flat), rows_that_fit(32 * n_values)):
        both[:, some] = _pvalues_of(flat[some], plan, alpha)
    pvalue, adjusted = both.reshape(2, *x.shape[:-1])
    return pvalue, adjusted


def _pvalues_of(x: Floats, plan: FlipPlan, alpha: float) -> Floats:
    """Return p-values and adjusted ones of some data sets, shape (2, data set, member)."""
    n_families = np.count_nonzero(~np.isnan(x), axis=-1)
    scale = _denominator(x)
    sets = np.arange(len(x))

    def values_of(member: Index) -> Floats:
        """Return R of a member of each data set under all flips, the observed one first."""
        return _ratio(all_flipped_sums(x[sets, member], plan), scale[sets, member])

    observed, counts, n_total = _observed_and_counts(values_of, *n_families.shape)
    shares = counts / n_total
    if not plan.exact:
        is_exact = exact_members(x[0], plan) & (n_families[0] > 1)
        for member in np.flatnonzero(is_exact):
            shares[:, member] = _exact_share(x[:, member], plan)
    pvalue = np.where(n_families > 1, shares, np.nan)

    # All data sets are alike in families. A member whose smallest p, 2 / 2^F, is above the level cannot be shown: in
    # the adjustment it would only cost the others.
    of_member = n_families[0]
    tested = np.flatnonzero(can_be_shown(of_member, alpha))
    adjusted = np.full(pvalue.shape, np.nan)
    if len(tested) < 2:
        adjusted[:, tested] = pvalue[:, tested]
        return np.stack([pvalue, adjusted])
    tails = TailsOfT(of_member[tested], observed[:, tested])
    reached = adjustments.step_down(
        lambda member: values_of(tested[member]),
        counts[:, tested],
        tails.second,
        tails.ratio_at,
    )
    adjusted[:, tested] = np.maximum(reached / n_total, pvalue[:, tested])
    return np.stack([pvalue, adjusted])


def exact_members(x: Floats, plan: FlipPlan) -> Bools:
    """Return of which members, (member, family), all flips of their own families are evaluated."""
    if plan.exact:
        return np.ones(len(x), bool)
    n_families = np.count_nonzero(~np.isnan(x), axis=-1)
    numbers, which = np.unique(n_families, return_inverse=True)
    return np.array([plan.of(n).exact for n in numbers.tolist()], bool)[which]


def can_be_shown(n_families: Index, alpha: float) -> Bools:
    """Return of which numbers of families the flips can give a p of `alpha`: others are outside a family of tests."""
    least = 2.0 ** (1 - n_families)
    return np.asarray((n_families > 1) & (least <= alpha + _LEVEL_TIE))


def own_flips(weights: Floats, plan: FlipPlan) -> tuple[Index, FlipPlan]:
    """Return the families that a member has, NaN where none, with all their flips; all if these are too many."""
    present = np.flatnonzero(~np.isnan(weights))
    own = plan.of(len(present))
    if own.exact:
        return present, own
    return np.arange(len(weights)), plan


def _exact_share(x: Floats, plan: FlipPlan) -> Floats:
    """Return the share of all flips of a member's own families that reach the observed sum, x of (data set, family)."""
    # Data sets have as many families, which need not be the same ones.
    n_families = int(np.count_nonzero(~np.isnan(x[0])))
    front = np.argsort(np.isnan(x), axis=-1, kind="stable")[:, :n_families]
    present = np.take_along_axis(x, front, axis=-1)
    values = _ratio(all_flipped_sums(present, plan.of(n_families)), _denominator(present))
    return np.asarray(adjustments.count_reached(values, values[:, 0]) / values.shape[-1])


def _observed_and_counts(
    values_of: Callable[[Index], Floats], n_sets: int, n_members: int
) -> tuple[Floats, Floats, int]:
    """Return observed statistics, (data set, member), how many flips reach them, and how many flips there are."""
    observed, counts = np.empty((2, n_sets, n_members))
    n_total = 0
    # Member by member: the flips of one are held at a time.
    for member in range(n_members):
        values = values_of(np.full(n_sets, member))
        observed[:, member] = values[:, 0]
        counts[:, member] = adjustments.count_reached(values, values[:, 0])
        n_total = values.shape[-1]
    return observed, counts, n_total


class TailsOfT:
    """What decides between equal shares of flips: P(|t| > |T|), of members with the same number of families R."""

    def __init__(self, n_families: Index, observed: Floats) -> None:
        self.n_families = n_families
        # then R itself has the order of P, and nothing is computed
        self.are_alike = bool(np.ptp(n_families) == 0)
        self.second = observed
        if not self.are_alike:
            # P(|t_{F-1}| > |T|) is the beta distribution function I_{1-R}((F - 1) / 2, 1/2). -log P rises with R.
            rest = np.clip(1 - observed, 0.0, 1.0)
            with np.errstate(divide="ignore"):
                tail = scipy.special.betainc((n_families - 1) / 2, 0.5, rest)
                self.second = -np.log(tail)

    def ratio_at(self, member: Index, second: Floats) -> Floats:
        """Return R of a member of each data set at second values, shape (data set, step)."""
        if self.are_alike:
            return second
        half_df = (self.n_families[member] - 1) / 2
        tail = np.exp(-second)
        rest = scipy.special.betaincinv(half_df[:, np.newaxis], 0.5, tail)
        return 1 - np.asarray(rest)


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
        # each family doubles the flips: with one addition for each
        number = filled[:, family : family + 1]
        sums = np.concatenate([sums + number, sums - number], axis=-1)
    return sums


def flip_intervals(x: Floats, weights: Floats, plan: FlipPlan, *alphas: float) -> Floats:
    """Return the intervals of weighted means, (alpha, member, 2), infinite where no p is so small."""
    # A flip counts at a shift that lies between the means of the flipped and of the other families, ends included: the
    # shifts that more than K flips count at lie between the K-th smallest of their lower means and the K-th largest of
    # their upper ones. If all flips are enumerated, each subset of families is flipped in one and stays in another:
    # among all means of subsets each flip stands twice, and K is half as large on each side.
    parts = []
    for means, is_exact in _means_of_flips(x, weights, plan):
        low, high = _ends_of_flips(means)
        n_total = len(low) + 1  # with the observed flip, which has no subset
        n_rare = [int(np.floor(alpha * n_total + 1e-9)) // (1 + is_exact) for alpha in alphas]
        most = max(n_rare)
        if most:
            low = np.sort(-adjustments.largest_of(-low, most))
            high = np.sort(adjustments.largest_of(high, most))
        of_member = []
        for number in n_rare:
            if number == 0:
                of_member.append((-np.inf, np.inf))
            else:
                of_member.append((low[number - 1], high[-number]))
        parts.append(of_member)
    return np.array(parts).reshape(-1, len(alphas), 2).swapaxes(0, 1)


def _means_of_flips(x: Floats, weights: Floats, plan: FlipPlan) -> Iterator[tuple[Floats, bool]]:
    """Yield for each member the means of all subsets of its families, or those of both sides of random flips.

    And whether they are of all: that depends on the families that the member has.
    """
    is_exact = exact_members(x, plan)
    of_subsets = subset_means(x[is_exact], weights[is_exact])
    drawn = drawn_means(x[~is_exact], weights[~is_exact], plan)
    for exact in is_exact.tolist():
        yield next(of_subsets if exact else drawn), exact


def _ends_of_flips(means: Floats) -> tuple[Floats, Floats]:
    """Return the means of all subsets, twice, or of each random flip the lower and the higher mean."""
    if means.ndim == 1:
        return means, means
    # a flip of no family or of all counts at every shift
    is_trivial = ~np.isfinite(means).all(axis=0)
    lower = np.where(is_trivial, -np.inf, means.min(axis=0))
    upper = np.where(is_trivial, np.inf, means.max(axis=0))
    return lower, upper


def drawn_means(x: Floats, weights: Floats, plan: FlipPlan) -> Iterator[Floats]:
    """Yield the means of the flipped and of the other families of each random flip, of none minus infinity."""
    # two means of each flip, of 8 bytes
    for members in stretches(len(x), rows_that_fit(16 * plan.n_resamples)):
        sums = np.nan_to_num(x[members])
        of_families = np.nan_to_num(weights[members])
        means = np.empty((len(sums), 2, plan.n_resamples))
        for some, labels in label_batches(plan, rows_that_fit(8 * sum(sums.shape))):
            for side in (0, 1):
                is_chosen = (labels != side).T.astype(float)
                with np.errstate(invalid="ignore", divide="ignore"):
                    mean = (sums @ is_chosen) / (of_families @ is_chosen)
                means[:, side, some] = np.where(np.isfinite(mean), mean, -np.inf)
        yield from means


def subset_means(x: Floats, weights: Floats) -> Iterator[Floats]:
    """Yield the weighted means of all subsets of each member's families but the empty one."""
    known_weights, sums_of_weights = None, np.empty(0)
    for of_member, weights_of_member in zip(x, weights, strict=True):
        is_present = ~np.isnan(of_member)
        present_weights = weights_of_member[is_present]
        # levels of a pair have the same weights
        if known_weights is None or not np.array_equal(present_weights, known_weights):
            known_weights = present_weights
            sums_of_weights = _subset_sums(known_weights)[1:]
        yield _subset_sums(of_member[is_present])[1:] / sums_of_weights


def _subset_sums(numbers: Floats) -> Floats:
    """Sum numbers over every subset of the families, shape (..., subset); bit j of its number is family j."""
    sums = np.zeros((*numbers.shape[:-1], 2 ** numbers.shape[-1]))
    # Each family doubles the table: subsets with it are those without it, and its number. One addition a subset.
    for family, n_before in enumerate(2 ** np.arange(numbers.shape[-1])):
        without = sums[..., :n_before]
        with_family = sums[..., n_before : 2 * n_before]
        np.add(without, numbers[..., family, np.newaxis], out=with_family)
    return sums


def with_two_further(x: Floats, n_families: Floats, plan: FlipPlan) -> tuple[tuple[Floats, Floats], FlipPlan]:
    """Return numbers and weights of items of 0 and 1 with two further ones, of which each side is ahead in one."""
    weight = 1 / (n_families[:, np.newaxis] + 2)
    in_all = x * n_families[:, np.newaxis] * weight
    numbers = np.hstack([in_all, weight, -weight])
    weights = np.where(np.isnan(numbers), np.nan, weight)
    return (numbers, weights), plan.of(plan.n_families + 2)


def profile_difference(x: Floats, weights: Floats, plan: FlipPlan, alpha: float, n_tests: int) -> dict[str, Floats]:
    """Return the difference of a pair at every level, `x` (level, family), with intervals and a band over all levels.

    Simultaneous intervals are those of subset means, for `n_tests` levels of all pairs together.
    """
    x = np.where(np.isnan(weights), np.nan, x)
    estimate = np.nansum(x, axis=-1)
    # each level at α / K, K of this pair's levels or of all pairs' (Bonferroni): exact, if wide
    alphas = alpha, alpha / max(1, len(x)), alpha / max(1, n_tests)
    pointwise, of_subsets, simultaneous = flip_intervals(x, np.broadcast_to(weights, x.shape), plan, *alphas)

    if are_many_and_alike(weights):
        band, method = band_of_residuals(x, weights, estimate, plan, alpha), RESIDUALS
    else:
        is_known = np.isfinite(of_subsets).all(axis=-1, keepdims=True)
        band = np.where(is_known, of_subsets, np.nan)
        method = SUBSET_MEANS if is_known.any() else NO_BAND
    return {
        "difference": estimate,
        "difference_ci": pointwise,
        "difference_ci_simultaneous": simultaneous,
        "difference_band": band,
        "band_method": np.float64(method),
    }


def are_many_and_alike(weights: Floats) -> bool:
    """Return whether residuals make a band: of at least six families that weigh about the same."""
    # A heavy family pulls the estimate towards itself: its residuals are too small, and so would be their band.
    if np.count_nonzero(~np.isnan(weights)) < FEWEST_FAMILIES:
        return False
    return bool(np.nanmax(weights) <= ALIKE * np.nanmin(weights))


def band_of_residuals(x: Floats, weights: Floats, estimate: Floats, plan: FlipPlan, alpha: float) -> Floats:
    """Return the band of all levels by the largest |T| of flipped residuals, shape (level, 2)."""
    # Δ ± c √(F / (F - 1) Σ (x - w Δ)²): the root is the standard error of a sum of F numbers
    n_families = np.count_nonzero(~np.isnan(weights))
    residual = x - weights * estimate[:, np.newaxis]
    error = np.sqrt(n_families / (n_families - 1) * np.nansum(residual**2, axis=-1))
    half = critical(residual, plan, alpha) * error
    return np.stack([estimate - half, estimate + half], axis=-1)


def critical(residual: Floats, plan: FlipPlan, alpha: float) -> float:
    """Return the value that the largest |T| over levels exceeds in a share of at most `alpha` of the flips."""
    # On the scale of R, which rises with |T| and is finite: T² = (F - 1) R / (1 - R).
    n_families, scale = np.count_nonzero(~np.isnan(residual[0])), _denominator(residual)
    largest = (_ratio(total, scale).max(axis=0, initial=0.0) for total in _flipped_sums(residual, plan))
    _, critical_ratio = tally(largest, np.zeros(()), plan, alpha)
    ratio = float(critical_ratio)
    rest = 1 - ratio
    if rest <= ROUNDING:
        return np.inf
    return float(np.sqrt((n_families - 1) * ratio / rest))


def flip_margins(x: Floats, weights: Floats, plan: FlipPlan, margin: float, alpha: float) -> tuple[Floats, Floats]:
    """Return the one-sided p of a weighted mean of at most ``-margin``, and its lower limit, shape (member,)."""
    # Flipped about -margin, Σ (x + w margin), a flip reaches the observed sum where what is turned adds up to 0 or
    # less: where the mean of the flipped families is at most -margin. The observed flip turns nothing, and counts.
    pvalues, limits = [], []
    for of_flips, is_exact in _means_of_flips(x, weights, plan):
        means = of_flips
        if not is_exact:
            means = of_flips[0]  # of the flipped families
        n_total = len(means) + 1
        size = margin + np.abs(means[np.isfinite(means)]).max(initial=0.0)
        n_reached = 1 + np.count_nonzero(means <= ROUNDING * size - margin)
        pvalues.append(n_reached / n_total)

        # p <= α exactly where the limit, the K-th smallest mean, exceeds -margin
        rare = int(np.floor(alpha * n_total + 1e-9))
        limit = -np.inf
        if rare:
            limit = np.partition(means, rare - 1)[rare - 1]
        limits.append(limit)
    return np.array(pvalues), np.array(limits)
