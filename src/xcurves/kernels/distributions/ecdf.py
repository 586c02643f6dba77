"""Empirical distribution functions: look-ups and partial sums of sorted samples, and intervals without resampling.

Samples are rows ``x``, (task, trial), sorted, missing trials NaN at the end; ``n``, (task,), counts the others. Bands
bound each order statistic, Beta(i, n + 1 - i), at the one level at which all limits hold at once with 1 - α, or DKW's.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import scipy

from xcurves.array_types import Floats, Ints

# Rounding of binary fractions: a probability this close to k/n counts as k/n.
_ROUNDING = 1e-12
_SQUARED = 1e140  # the largest number, and the inverse of the smallest, whose squares are added up as they are


def count_up_to(x: Floats, z: Floats, side: Literal["below", "up to"] = "up to") -> Ints:
    """Return how many trials of each row are at most `z`, shape (task or 1, point), or below it."""
    # Halving in all rows at once, which `searchsorted` cannot do. NaN compare as false: they are above every score.
    shape = np.broadcast_shapes((len(x), 1), z.shape)
    low = np.zeros(shape, np.int64)
    high = np.full(shape, x.shape[-1])
    for _ in range(x.shape[-1].bit_length()):
        middle = (low + high) // 2
        value = np.take_along_axis(x, np.minimum(middle, x.shape[-1] - 1), axis=-1)
        if side == "up to":
            is_counted = value <= z
        else:
            is_counted = value < z
        # rows that have come to their end stay
        passed = (middle < high) & is_counted
        low = np.where(passed, middle + 1, low)
        high = np.where(passed, high, middle)
    return low


def whole(ranks: Floats, n: Ints | Floats) -> Floats:
    """Round ranks that are whole up to rounding errors, so that 10 (1 - 0.9) is 1."""
    nearest = np.rint(ranks)
    return np.where(np.abs(ranks - nearest) <= _ROUNDING * n, nearest, ranks)


def quantile_ranks(probabilities: Floats, n: Ints) -> Ints:
    """Return the rank of F⁻¹(p), the smallest z with F(z) >= p, shape (task, probability); of p = 0 the first."""
    # p n is rounded to a whole number first: F(z) >= p holds where they are equal
    per_task = np.maximum(n, 1)[:, np.newaxis]
    ranks = np.ceil(whole(probabilities * per_task, per_task))
    return np.clip(ranks, 1, per_task).astype(np.int64)


def value_at(x: Floats, ranks: Ints, n: Ints) -> Floats:
    """Return the trials at ranks 1 .. n; below them minus infinity, above them infinity."""
    index = np.clip(ranks - 1, 0, x.shape[-1] - 1)
    values = np.take_along_axis(x, index, axis=-1)
    up_to_last = np.where(ranks > n[:, np.newaxis], np.inf, values)
    return np.where(ranks < 1, -np.inf, up_to_last)


def finite(x: Floats, n: Ints) -> tuple[Floats, Ints, Ints]:
    """Return sorted trials with finite numbers beyond all others for infinite ones, and the ranks of finite trials.

    Finite are those above the first of these ranks, up to the second.
    """
    first = count_up_to(x, np.array([[-np.inf]]))[:, 0]
    last = count_up_to(x, np.array([[np.inf]]), "below")[:, 0]
    if (first == 0).all() and (last == n).all():
        return x, first, last
    # farther from the others than these are from each other: order, and sums in which they have no part, are kept
    row = np.arange(len(x))
    some = last > first
    most = np.where(some, x[row, np.maximum(last - 1, 0)], 0.0)
    least = np.where(some, x[row, np.minimum(first, x.shape[-1] - 1)], 0.0)
    beyond = most - least + 1
    highest = (most + beyond)[:, np.newaxis]
    lowest = (least - beyond)[:, np.newaxis]
    numbers = np.where(np.isposinf(x), highest, x)
    return np.where(np.isneginf(x), lowest, numbers), first, last


class CentredSums:
    """Sums of what sorted trials differ from a middle one: small scores keep their precision next to large ones."""

    def __init__(self, x: Floats, n: Ints) -> None:
        self.n = n
        # first and last are ranks, as of `finite`
        self.x, self.first_finite, self.last_finite = finite(x, n)
        self.centre = np.asarray(self.x[np.arange(len(x)), np.maximum(n - 1, 0) // 2][:, np.newaxis])
        # In pieces whose sums are added up: a cumulative sum of 3,000,000 trials takes a fifth of `performance_cdf`.
        width = math.isqrt(x.shape[-1]) + 1
        pieces = np.zeros((len(x), -(-x.shape[-1] // width), width))
        apart = np.subtract(self.x, self.centre, out=pieces.reshape(len(x), -1)[:, : x.shape[-1]])
        if np.isnan(apart[:, -1]).any():
            apart[np.isnan(apart)] = 0.0
        # `apart` is a part of `pieces`: what is set to 0 is so in both
        self._unit = _unit_of_squares(apart)
        scaled = apart if (self._unit == 1).all() else apart / self._unit[:, np.newaxis]
        self._squares = np.einsum("ti,ti->t", scaled, scaled)
        self._pieces = pieces
        sums_up_to = pieces.sum(axis=-1).cumsum(axis=-1)
        self._before = np.pad(sums_up_to, ((0, 0), (1, 0)))

    def up_to(self, ranks: Floats) -> Floats:
        """Return the sums of all trials up to ranks, shape (task, rank), of which a part may be that of a trial."""
        _, n_pieces, width = self._pieces.shape
        # whole pieces before it, and of its own piece each trial that is below the rank, the last one in part
        number = np.minimum(ranks // width, n_pieces - 1).astype(np.int64)
        piece = np.take_along_axis(self._pieces, number[..., np.newaxis], axis=1)
        share = np.clip((ranks - number * width)[..., np.newaxis] - np.arange(width), 0.0, 1.0)
        before = np.take_along_axis(self._before, number, axis=-1)
        return np.asarray(before + np.einsum("trw,trw->tr", piece, share))

    def deviations(self) -> Floats:
        """Return the standard deviation of every row, divisor n - 1.

        About the middle trial, from which the mean is no further than that: the mean itself has too few digits where
        scores are far from zero.
        """
        # Σ (x - c)² - (Σ (x - c))² / n
        total = self._before[:, -1] / self._unit
        squares = np.maximum(self._squares - total**2 / np.maximum(self.n, 1), 0.0)
        return self._unit * np.sqrt(np.where(self.n > 1, squares, np.nan) / np.maximum(self.n - 1, 1))


def _unit_of_squares(apart: Floats) -> Floats:
    """Return in which unit each row is squared: 1, or its largest number where a square would overflow or vanish."""
    largest = np.maximum(apart.max(axis=1), -apart.min(axis=1))
    is_odd = (largest > _SQUARED) | ((largest < 1 / _SQUARED) & (largest > 0))
    return np.where(is_odd, largest, 1.0)


def tolerance_ranks(share: float, n: Ints, alpha: float) -> Ints:
    """Return the ranks r, r + w between which, and s above which, a share lies (Wilks 1941), or 0: (3, task)."""
    # The share between ranks r and r + w is Beta(w, n + 1 - w): at most the wanted one with P(Bin(n, share) >= w). The
    # smallest w is taken for which that is at most alpha, in the middle; one-sided, all that is left lies below.
    width = scipy.stats.binom.ppf(1 - alpha, n, share).astype(np.int64) + 1
    least = np.maximum(n + 1 - width, 0)
    low = least // 2  # 0: there is no such interval
    return np.stack([low, (low + width) * (low > 0), least])


def trials_for_tolerance(share: float, alpha: float) -> int:
    """Return the least number of trials of which the lowest and the highest hold a share between them."""
    # lowest to highest: w = n - 1, Beta(n - 1, 2)
    return bisect_left(
        range(2**62),
        True,
        lo=2,
        key=lambda n: scipy.special.betainc(n - 1, 2, share) <= alpha,
    )


def order_statistics(probabilities: Floats, n: Ints, alpha: float) -> tuple[Ints, Ints]:
    """Return the ranks between which F⁻¹(p) lies, by Bin(n, p); 0 or n + 1 where there are too few trials."""
    # x_(r) <= F⁻¹(p) unless fewer than r trials are up to it, a count of Bin(n, p). Quantiles are slow: once a size.
    trials, place = np.unique(np.maximum(n, 1), return_inverse=True)
    lower = scipy.stats.binom.ppf(alpha / 2, trials[:, np.newaxis], probabilities)
    upper = scipy.stats.binom.ppf(1 - alpha / 2, trials[:, np.newaxis], probabilities) + 1
    return lower.astype(np.int64)[place], upper.astype(np.int64)[place]


LARGEST = 20_000  # trials with equal local levels: 2 s once for these, .05 s for 1,000
_NEGLIGIBLE = 1e-19  # probability of a count of the Poisson process that is left out
_LEAST_ALPHA = 1e-9


class CdfBand(NamedTuple):
    """Limits of F around n trials: ``lower[k] <= F(z) <= upper[k]`` where k = 0 .. n of them are at most z."""

    lower: Floats
    upper: Floats


def dkw(n: int, alpha: float) -> float:
    """Return ε of the band F ± ε of Dvoretzky, Kiefer and Wolfowitz with Massart's constant."""
    return float(np.sqrt(np.log(2 / alpha) / (2 * n)))


def band(n: int, alpha: float, counts: Ints | None = None) -> CdfBand:
    """Return limits that hold everywhere at once: equal local levels, beyond 20,000 trials those of DKW.

    They are those for all counts of trials from 0 to `n`, or for the given `counts`.
    """
    counts = np.arange(n + 1) if counts is None else counts
    if n <= LARGEST:
        known = _equal_local_levels(n, alpha)
        return CdfBand(known.lower[counts], known.upper[counts])
    share = counts / n
    epsilon = dkw(n, alpha)
    lower = np.maximum(share - epsilon, 0.0)
    upper = np.minimum(share + epsilon, 1.0)
    return CdfBand(lower, upper)


@lru_cache(maxsize=512)
def _equal_local_levels(n: int, alpha: float) -> CdfBand:
    # Nothing bounds F below all trials from below. Upper limits mirror the lower ones: 1 - U_(i) is U_(n + 1 - i).
    lower = np.concatenate([[0.0], _lower_limits(n, local_level(n, alpha))])
    return CdfBand(lower, 1 - lower[::-1])


def limits_at(counts: Ints, n: Ints, alpha: float) -> CdfBand:
    """Return the limits of F where `counts`, shape (task, point), of the `n` trials of a task are lower or equal."""
    found = CdfBand(np.zeros(counts.shape), np.ones(counts.shape))
    for size in np.unique(n[n > 0]).tolist() if counts.size else ():
        tasks = np.flatnonzero(n == size)
        found.lower[tasks], found.upper[tasks] = band(size, alpha, counts[tasks])
    return found


def ranks_in_band(probabilities: Floats, n: Ints, alpha: float) -> tuple[Ints, Ints]:
    """Return the ranks of the lowest and highest F⁻¹ in the bands, (task, probability); 0 below all trials."""
    ranks = np.zeros((2, len(n), len(probabilities)), np.int64)
    for size in np.unique(n[n > 0]).tolist():
        # F⁻¹ is lowest where F is highest; k trials are up to z from rank k on, so that the index is the rank
        limits = band(size, alpha)
        ranks[0, n == size] = np.searchsorted(limits.upper, probabilities)
        ranks[1, n == size] = np.searchsorted(limits.lower, probabilities)
    return ranks[0], ranks[1]


@lru_cache(maxsize=4096)
def local_level(n: int, alpha: float) -> float:
    """Return the η for which the limits hold at once with probability 1 - α, to eight digits."""
    if n < 2:
        return alpha
    # 1 - coverage is lost in rounding: Bonferroni's level, which is a little lower
    if alpha < _LEAST_ALPHA:
        return alpha / n

    def excess(log_level: float) -> float:  # nearly linear: five or six steps
        return float(np.log((1 - coverage(n, np.exp(log_level))) / alpha))

    # Bonferroni's, and that of a single order statistic
    ends = (np.log(alpha / n), np.log(alpha))
    return float(np.exp(scipy.optimize.brentq(excess, *ends, xtol=1e-9)))


def _lower_limits(n: int, level: float) -> Floats:
    i = np.arange(1, n + 1)
    return np.asarray(scipy.special.betaincinv(i, n + 1 - i, level / 2))


def coverage(n: int, level: float) -> float:
    """Return the probability that all n order statistics of a uniform sample are within their limits."""
    # A Poisson process given n points, from limit to limit (Moscovich & Nadler 2017); half the path is enough, as the
    # second half is the first in reverse.
    lower = _lower_limits(n, level)
    times = np.concatenate([lower, 1 - lower[::-1]])
    is_lower = np.arange(2 * n) < n
    early = times <= 0.5
    order = times[early].argsort(kind="stable")
    times, is_lower = times[early][order], is_lower[early][order]
    rates = n * np.diff(times, prepend=0.0, append=0.5)[:, np.newaxis]
    # points between neighbouring limits are Poisson; counts that are too unlikely to matter are left out
    most_steps = int(rates.max()) + 20
    while scipy.special.pdtrc(most_steps, rates.max()) > _NEGLIGIBLE:
        most_steps *= 2
    steps = np.arange(most_steps + 1)
    moves = np.exp(scipy.special.xlogy(steps, rates) - rates - scipy.special.gammaln(steps + 1))
    # of `least`, `least` + 1, ... points; fewer than `most` + 1 are allowed
    mass, least, most = (np.ones(1), 0, 0)
    for move, lowers in zip(moves, is_lower, strict=False):
        mass = np.convolve(mass, move)[: most - least + 1]
        if lowers:
            most += 1
        else:
            mass, least = mass[1:], least + 1
    # k points in the first half and n - k in the second, over the Poisson probability of n points
    half = np.zeros(n + 1)
    mass = np.convolve(mass, moves[-1])[: most - least + 1]
    half[least : least + len(mass)] = mass
    log_of_n = n * np.log(n) - n - scipy.special.gammaln(n + 1)
    return float(half @ half[::-1] / np.exp(log_of_n))


def isotonic(rates: Floats) -> Floats:
    """Return the nearest rates that do not fall along the last axis (least squares): isotonic regression."""
    # Fitted_m is the largest, over i <= m, of the smallest mean of rates i to k, over k >= m. Means, of all i and k at
    # once, are differences of cumulated sums.
    known = np.nan_to_num(rates)
    n = rates.shape[-1]
    sums = np.concatenate([np.zeros((*rates.shape[:-1], 1)), known.cumsum(axis=-1)], axis=-1)
    i, k = np.arange(n)[:, np.newaxis], np.arange(n)
    means = (sums[..., 1:][..., np.newaxis, :] - sums[..., :-1, np.newaxis]) / np.maximum(k - i + 1, 1)
    lowest = np.minimum.accumulate(np.where(k >= i, means, np.inf)[..., ::-1], axis=-1)[..., ::-1]
    fitted = np.maximum.accumulate(np.where(k >= i, lowest, -np.inf), axis=-2)
    return np.where(np.isnan(rates), np.nan, np.diagonal(fitted, axis1=-2, axis2=-1))


def first_reaching(rates: Floats, power: float, n_runs: Sequence[int]) -> Floats:
    """Return the smallest number of runs from which on rates reach the power: inf if none, NaN without p-values."""
    # the number behind the last one that misses it; NaN miss it
    missed = ~(rates >= power)
    behind_last = len(n_runs) - missed[..., ::-1].argmax(axis=-1)
    first = np.where(missed.any(axis=-1), behind_last, 0)
    found = np.append(np.array(n_runs, dtype=np.float64), np.inf)[first]
    return np.where(np.isnan(rates).all(axis=-1), np.nan, found)


def quantile(numbers: Floats, probability: float) -> Floats:
    """Return the smallest of the numbers along the first axis up to which such a share of them lies; NaN stays."""
    rank = quantile_ranks(np.array([probability]), np.array([len(numbers)])).item()
    found: Floats = np.sort(numbers, axis=0)[rank - 1]
    return found
