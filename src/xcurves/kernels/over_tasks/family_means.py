"""What is said over tasks, or families of them, without a plan: means, spreads, ranks and places of algorithms.

``x`` has the sums of a family's weighted numbers, (member, family), NaN if absent, and ``weights`` those of the
weights, of sum one.
"""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.intervals import clopper_pearson, satterthwaite, student, wilson
from xcurves.kernels.resampling.plans import TIE

_SAME = 1e-15  # of sums of squares: what is left when equal numbers are taken from each other
_TIE_OF_MEANS = 1e-14  # relative, of means that tie
_LEVEL_TIE = 1e-12  # of a p-value and the level, which both are rounded
_MANY = 1e14  # degrees of freedom of F that stand for infinitely many
_MOST_ANSWERS = 8  # of a task, of which scores may be the shares
_FEWEST_NEW = 5  # tasks whose differences say something of one more
_FEWEST_DISTINCT = 4  # of these differences that are not the same
_SOME = 64  # values, among which so many mostly are


def error_over_families(x: Floats, weights: Floats) -> Floats:
    """Return the standard errors of weighted means over families, shape (member,); NaN of a single family."""
    # sqrt(F / (F - 1) Σ (x - n Δ)²), n the weight of the family and Δ the mean
    n_families = np.count_nonzero(~np.isnan(x), axis=-1)
    mean = np.nansum(x, axis=-1, keepdims=True)
    squares = np.nansum((x - weights * mean) ** 2, axis=-1)
    is_rounding = squares <= _SAME * np.nansum(x**2, axis=-1)
    squares = np.where(is_rounding, 0.0, squares)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = n_families / (n_families - 1) * squares
    return np.asarray(np.sqrt(np.where(n_families > 1, variance, np.nan)))


def means_over_families(x: Floats, weights: Floats, alpha: float, *, of_shares: bool) -> Floats:
    """Return intervals of weighted means over families like these, shape (member, 2).

    They are Student's, NaN where nothing varies; of shares Wilson's, of as many numbers as have such an error.
    """
    mean = np.nansum(x, axis=-1)
    error = error_over_families(x, weights)
    n_families = np.count_nonzero(~np.isnan(x), axis=-1).astype(float)
    if of_shares:
        share = np.clip(mean, 0.0, 1.0)  # a sum of weights may be above 1 by rounding
        with np.errstate(divide="ignore", invalid="ignore"):
            n_effective = share * (1 - share) / error**2
        n_effective = np.where(error == 0, n_families, n_effective)
        return np.stack(wilson(share, n_effective, alpha), axis=-1)

    return student(mean, np.where(error > 0, error, np.nan), n_families - 1, alpha)


def are_shares(scores: Floats) -> bool:
    """Return whether all scores are 0 or 1, or all are the shares of equally many answers, of a few; NaN are none."""
    known = scores[~np.isnan(scores)]
    if not known.size or known.min() < 0 or known.max() > 1:
        return False
    for n_answers in range(1, _MOST_ANSWERS + 1):
        successes = n_answers * known
        if np.abs(successes - np.rint(successes)).max() <= TIE:
            return True
    return False


def one_more_value(values: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return intervals of one more of exchangeable values, (member, value), and their levels, shape (member,).

    From the j-th smallest to the j-th largest value. NaN where fewer than five are known, or than four are distinct.
    """
    # One more value has each of T + 1 ranks with the same probability: 2 j of them are outside.
    n = np.count_nonzero(~np.isnan(values), axis=-1)
    rank = np.maximum(1, np.floor(alpha / 2 * (n + 1) + 1e-9).astype(np.intp))
    is_known = n >= _FEWEST_NEW
    is_known[is_known] = _have_distinct(values[is_known], n[is_known])
    ends, level = np.full((len(values), 2), np.nan), np.full(len(values), np.nan)
    for number in np.unique(n[is_known]).tolist():
        members = np.flatnonzero(is_known & (n == number))
        j = int(rank[members[0]])
        # half the time of a sort; NaN last
        at = [j - 1, number - j]
        ends[members] = np.partition(values[members], at, axis=-1)[:, at]
        level[members] = 1 - 2 * j / (number + 1)
    return ends, level


def _have_distinct(values: Floats, n: Index) -> Bools:
    """Return whether so many of `n` values, (member, value), differ by more than rounding from all below them."""
    # Between two of some values that are n times as far apart there is such a step among all: few need a sort.
    largest = np.fmax.reduce(np.abs(values), axis=-1, initial=0.0)
    is_enough = _n_steps(values[:, :_SOME], n * TIE * largest) >= _FEWEST_DISTINCT - 1
    others = np.flatnonzero(~is_enough)
    is_enough[others] = _n_steps(values[others], TIE * largest[others]) >= _FEWEST_DISTINCT - 1
    return np.asarray(is_enough)


def _n_steps(values: Floats, least: Floats) -> Index:
    """Return how many values are further than that from the next one below, NaN are none."""
    gaps = np.diff(np.sort(values, axis=-1), axis=-1)
    return np.asarray(np.count_nonzero(gaps > least[:, np.newaxis], axis=-1))


def places(pairs: Index, difference: Floats, pvalue_adjusted: Floats, has: Bools, alpha: float) -> Floats:
    """Return the first and the last place of every algorithm, 1 the best, shape (algorithm, 2).

    Behind all that are shown to be better, before all that are shown to be worse, of those that `has` scores. NaN
    where algorithms form a circle, in which each is shown to be better than another.
    """
    n_algorithms = len(has)
    shown = pvalue_adjusted <= alpha + _LEVEL_TIE
    better = np.where(difference > 0, pairs[:, 0], pairs[:, 1])[shown]
    worse = np.where(difference > 0, pairs[:, 1], pairs[:, 0])[shown]
    is_better = np.zeros((n_algorithms, n_algorithms), bool)
    is_better[better, worse] = True
    first = 1.0 + is_better.sum(axis=0)
    last = np.count_nonzero(has) - is_better.sum(axis=1)
    found = np.stack([first, last], axis=-1)

    # who is better than whom by any number of steps: each product doubles the number
    reaches = is_better.astype(np.float32)
    for _ in range(n_algorithms.bit_length()):
        reaches = np.minimum(reaches + reaches @ reaches, 1.0)
    found[(np.diagonal(reaches) > 0) | ~has] = np.nan
    return found


def ranks(means: Floats, sign: int) -> Floats:
    """Return the ranks of algorithms in tasks, shape (task, algorithm), 1 the best; equal ones share theirs."""
    # 1 is the largest sign × mean; neighbours in order tie, and so do theirs
    upward = -sign * means
    order = np.argsort(upward, axis=-1, kind="stable")
    ordered = np.take_along_axis(upward, order, axis=-1)
    begins = np.ones(ordered.shape, bool)
    higher, lower = ordered[:, :-1], ordered[:, 1:]
    size = np.maximum(np.abs(higher), np.abs(lower))
    size[np.isinf(size)] = 0.0
    # of runs that failed all are equal
    with np.errstate(invalid="ignore"):
        is_tie = (lower == higher) | (lower - higher <= _TIE_OF_MEANS * size)
    begins[:, 1:] = ~is_tie
    place = np.broadcast_to(np.arange(ordered.shape[-1]), ordered.shape)
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=-1)
    ends = np.roll(begins, -1, axis=-1)
    ends[:, -1] = True
    behind = np.where(ends, place, place.shape[-1])[:, ::-1]
    last = np.minimum.accumulate(behind, axis=-1)[:, ::-1]
    out = np.empty(ordered.shape)
    np.put_along_axis(out, order, (first + last) / 2 + 1, axis=-1)
    return out


def spread_of_truth(d: Floats, v: Floats, uncertainty: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return the standard deviation of true differences of pairs, its interval, and the share of noise.

    That is the part of the variance between tasks that is due to the runs. NaN of a single task.
    """
    # S² = var(d) has the mean τ² + v̄, v̄ the mean squared error of the d: S² / (τ² + v̄) is about F distributed, with T -
    # 1 degrees of freedom and those of v̄, (Σ v)² over the sum of (s² / l)² / (l - 1) (Satterthwaite). So the ends of τ²
    # are S² / F quantile - v̄; upwards not below what S² = v̄ gives.
    count = np.count_nonzero(~np.isnan(d), axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(d, axis=-1) / count
        noise = np.nansum(v, axis=-1) / count
        deviations = d - mean[:, np.newaxis]
        df_tasks = np.where(count > 1, count - 1, np.nan)
        variance = np.nansum(deviations**2, axis=-1) / df_tasks
        # 0 / 0 of errors that are exactly 0
        df_noise = np.fmin(satterthwaite(noise * count, uncertainty), _MANY)
        upper = scipy.special.fdtri(count - 1.0, df_noise, 1 - alpha / 2)
        lower = scipy.special.fdtri(count - 1.0, df_noise, alpha / 2)
        low = variance / upper - noise
        high = np.maximum(variance, noise) / lower - noise
        noise_share = np.minimum(noise / variance, 1.0)
    squares = np.stack([variance - noise, low, high], axis=-1)
    spreads = np.sqrt(np.maximum(squares, 0.0))
    return spreads[..., 0], spreads[..., 1:], noise_share


def share_positive(positive: Index, negative: Index, alpha: float) -> tuple[Floats, Floats]:
    """Return the share of positive numbers, of so many that are not 0, and Clopper & Pearson's interval."""
    n = positive + negative
    share = positive / np.where(n > 0, n, np.nan)
    limits = np.stack(clopper_pearson(positive, n, alpha), axis=-1)
    return share, np.where(n[:, np.newaxis] > 0, limits, np.nan)
