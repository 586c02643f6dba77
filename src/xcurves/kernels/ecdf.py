"""Empirical distribution functions: look-ups and partial sums of sorted samples, and intervals that need no resampling.

Samples are rows ``x`` of shape (task, trial), sorted, missing trials NaN at the end; ``n``, shape (task,), counts the
others. Ranks are numbers of trials from below, whole or not: the sum up to rank 2.5 has half of the third trial.

Bands come from limits of every order statistic: exact equal local levels, or DKW's. Of n independent trials of a
continuous distribution F(x_(i)) is Beta(i, n + 1 - i). Its η/2 and 1 - η/2 quantiles bound every order statistic, with
the one η for which all limits hold at once with probability 1 - α. Discrete distributions keep them the more often.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats

Ints = NDArray[np.int64]

_ROUNDING = 1e-12  # rounding of binary fractions: a probability this close to k/n counts as k/n
_AT_ONCE = 2**15


def count_up_to(x: Floats, z: Floats, side: Literal["below", "up to"] = "up to") -> Ints:
    """Return how many trials of each row are at most `z`, shape (task or 1, point), or below it."""
    shape = np.broadcast_shapes((len(x), 1), z.shape)
    low, high = np.zeros(shape, np.int64), np.full(shape, x.shape[-1])
    for _ in range(x.shape[-1].bit_length()):
        middle = (low + high) // 2
        value = np.take_along_axis(x, np.minimum(middle, x.shape[-1] - 1), axis=-1)
        passed = (middle < high) & ((value <= z) if side == "up to" else (value < z))
        low, high = np.where(passed, middle + 1, low), np.where(passed, high, middle)
    return low


def whole(ranks: Floats, n: Ints | Floats) -> Floats:
    """Round ranks that are whole up to rounding errors, so that 10 (1 - 0.9) is 1."""
    nearest = np.rint(ranks)
    return np.where(np.abs(ranks - nearest) <= _ROUNDING * n, nearest, ranks)


def quantile_ranks(probabilities: Floats, n: Ints) -> Ints:
    """Return the rank of F⁻¹(p), the smallest z with F(z) >= p, shape (task, probability); of p = 0 the first."""
    per_task = np.maximum(n, 1)[:, np.newaxis]
    return np.clip(np.ceil(whole(probabilities * per_task, per_task)), 1, per_task).astype(np.int64)


def value_at(x: Floats, ranks: Ints, n: Ints) -> Floats:
    """Return the trials at ranks 1 .. n; below them minus infinity, above them infinity."""
    inside = np.take_along_axis(x, np.clip(ranks - 1, 0, x.shape[-1] - 1), axis=-1)
    return np.where(ranks < 1, -np.inf, np.where(ranks > n[:, np.newaxis], np.inf, inside))


def finite(x: Floats, n: Ints) -> tuple[Floats, Ints]:
    """Return sorted trials with a number that is larger than all others for +inf, and how many trials are finite."""
    n_finite = count_up_to(x, np.array([[np.inf]]), "below")[:, 0]
    if (n_finite == n).all():
        return x, n_finite
    most = np.where(n_finite > 0, x[np.arange(len(x)), np.maximum(n_finite - 1, 0)], 0.0)
    least = np.where(n_finite > 0, x[:, 0], 0.0)
    return np.where(np.isposinf(x), (most + (most - least) + 1)[:, np.newaxis], x), n_finite


class CentredSums:
    """Sums of what sorted trials differ from a middle one: small scores keep their precision next to large ones.

    All trials are read once, in pieces that fit the cache; sums up to ranks read the pieces of these ranks again.

    Attributes
    ----------
    x : ndarray, shape (task, trial)
        The trials, with a number that is larger than all others for +inf.
    n, n_finite : ndarray, shape (task,)
        Numbers of trials, and of finite ones.
    centre : ndarray, shape (task, 1)
    squares : ndarray, shape (task,)
        Sums of the squared differences.
    """

    def __init__(self, x: Floats, n: Ints) -> None:
        self.n = n
        self.x, self.n_finite = finite(x, n)
        self.centre = np.asarray(self.x[np.arange(len(x)), np.maximum(n - 1, 0) // 2][:, np.newaxis])
        self.squares = np.zeros(len(x))
        sums = np.zeros((len(x), 1 + -(-x.shape[-1] // _AT_ONCE)))
        for rows, columns in _pieces(x):
            part = self.x[rows, columns] - self.centre[rows]
            if np.isnan(part[:, -1]).any():
                part[np.isnan(part)] = 0.0
            self.squares[rows] += np.einsum("ti,ti->t", part, part)
            sums[rows, columns.start // _AT_ONCE + 1] = part.sum(axis=-1)
        self._before = sums.cumsum(axis=-1)

    def up_to(self, ranks: Floats) -> Floats:
        """Return the sums of all trials up to ranks, shape (task, rank)."""
        found = np.take_along_axis(self._before, (ranks // _AT_ONCE).astype(np.int64), axis=-1)
        for rows, columns in _pieces(self.x):
            beyond = ranks[rows] - columns.start
            inside = (beyond > 0) & (beyond < _AT_ONCE)
            if inside.any():
                part = self.x[rows, columns] - self.centre[rows]
                found[rows] += _sums_up_to(part, np.where(inside, beyond, 0.0))
        return found

    def deviations(self, mean: Floats) -> Floats:
        """Return the standard deviation of every row, divisor n - 1; no mean is further than that from the middle."""
        squares = np.maximum(self.squares - self.n * (mean - self.centre[:, 0]) ** 2, 0.0)
        return np.sqrt(np.where(self.n > 1, squares, np.nan) / np.maximum(self.n - 1, 1))


def _pieces(x: Floats) -> Iterator[tuple[slice, slice]]:
    """Yield the rows and columns of pieces that fit the cache."""
    n_rows = max(1, _AT_ONCE // x.shape[-1])
    for row in range(0, len(x), n_rows):
        for start in range(0, x.shape[-1], _AT_ONCE):
            yield slice(row, row + n_rows), slice(start, start + _AT_ONCE)


def _sums_up_to(x: Floats, ranks: Floats) -> Floats:
    n_tasks, width = x.shape
    full = np.floor(ranks).astype(np.int64)
    order = full.argsort(axis=-1)
    cuts = np.take_along_axis(full, order, axis=-1)
    cuts = np.concatenate([np.zeros((n_tasks, 1), np.int64), cuts], axis=-1)
    cuts += width * np.arange(n_tasks)[:, np.newaxis]
    inside = cuts < x.size
    parts = np.zeros(cuts.shape)
    parts[inside] = np.add.reduceat(x.ravel(), cuts[inside])
    parts = np.where(cuts[:, :-1] == cuts[:, 1:], 0.0, parts[:, :-1])
    found = np.empty(ranks.shape)
    np.put_along_axis(found, order, np.cumsum(parts, axis=-1), axis=-1)
    rest = ranks - full
    following = np.take_along_axis(x, np.minimum(full, width - 1), axis=-1)
    return found + np.where(rest > 0, rest * following, 0.0)


def clopper_pearson(k: Ints, n: Ints, alpha: float) -> tuple[Floats, Floats]:
    """Return exact limits of a probability from `k` successes in `n` trials."""
    k, n = np.broadcast_arrays(k, n)
    codes, place = np.unique(n * (n.max(initial=0) + 1) + k, return_inverse=True)  # few values of k are distinct
    trials, successes = np.divmod(codes, n.max(initial=0) + 1)
    inverse = scipy.special.betaincinv
    lower = inverse(np.maximum(successes, 1), trials - successes + 1, alpha / 2)
    upper = inverse(successes + 1, np.maximum(trials - successes, 1), 1 - alpha / 2)
    limits = np.where(successes == 0, 0.0, lower), np.where(successes == trials, 1.0, upper)
    return limits[0][place].reshape(k.shape), limits[1][place].reshape(k.shape)


def tolerance_ranks(share: float, n: Ints, alpha: float) -> Ints:
    """Return the ranks r, r + w between which, and s above which, a share lies with probability 1 - alpha: (3, task).

    What lies between x_(r) and x_(r+w) has the distribution Beta(w, n + 1 - w), of which r = 0 and r + w = n + 1 are
    the lowest and the highest score there can be (Wilks 1941). Ranks are 0 where there are too few trials.
    """
    sizes, place = np.unique(n, return_inverse=True)
    ranks = np.zeros((3, len(sizes)), np.int64)
    for column, size in enumerate(sizes.tolist()):
        held = scipy.special.betainc(np.arange(1, size + 1), np.arange(size, 0, -1), share) <= alpha
        if held.any():
            width = int(held.argmax()) + 1
            low = (size + 1 - width) // 2
            ranks[:, column] = low, (low + width) * (low > 0), size + 1 - width
    return ranks[:, place]


def trials_for_tolerance(share: float, alpha: float) -> int:
    """Return the least number of trials of which the lowest and the highest hold a share between them."""

    def enough(n: int) -> bool:
        return bool(scipy.special.betainc(n - 1, 2, share) <= alpha)

    most = 2
    while not enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=max(2, most // 2), key=enough)


def order_statistics(probabilities: Floats, n: Ints, alpha: float) -> tuple[Ints, Ints]:
    """Return the ranks between which F⁻¹(p) lies, 0 or n + 1 where there are too few trials.

    P(X_(l) > F⁻¹(p)) = P(Bin(n, F(F⁻¹(p))) < l) <= P(Bin(n, p) < l), and the same above.
    """
    trials, place = np.unique(np.maximum(n, 1), return_inverse=True)
    lower = scipy.stats.binom.ppf(alpha / 2, trials[:, np.newaxis], probabilities)
    upper = scipy.stats.binom.ppf(1 - alpha / 2, trials[:, np.newaxis], probabilities) + 1
    return lower.astype(np.int64)[place], upper.astype(np.int64)[place]


LARGEST = 20_000  # trials with equal local levels: 2 s once for these, .05 s for 1,000
_NEGLIGIBLE = 1e-19  # probability of a count of the Poisson process that is left out
_LEAST_ALPHA = 1e-9


class Band(NamedTuple):
    """Limits of F around n trials: ``lower[k] <= F(z) <= upper[k]`` where k = 0 .. n of them are at most z."""

    lower: Floats
    upper: Floats


def dkw(n: int, alpha: float) -> float:
    """Return ε of the band F ± ε of Dvoretzky, Kiefer and Wolfowitz with Massart's constant."""
    return float(np.sqrt(np.log(2 / alpha) / (2 * n)))


def _parallel(counts: Ints, n: int, alpha: float) -> Band:
    return Band(np.maximum(counts / n - dkw(n, alpha), 0.0), np.minimum(counts / n + dkw(n, alpha), 1.0))


def band(n: int, alpha: float) -> Band:
    """Return limits that hold everywhere at once: equal local levels, beyond 20,000 trials those of DKW."""
    if n > LARGEST:  # not kept: they may be large, and are made fast
        return _parallel(np.arange(n + 1), n, alpha)
    return _equal_local_levels(n, alpha)


@lru_cache(maxsize=512)
def _equal_local_levels(n: int, alpha: float) -> Band:
    lower = np.concatenate([[0.0], _lower_limits(n, local_level(n, alpha))])
    return Band(lower, 1 - lower[::-1])


def limits_at(counts: Ints, n: Ints, alpha: float) -> Band:
    """Return the limits of F where `counts`, shape (task, point), of the `n` trials of a task are lower or equal."""
    found = Band(np.zeros(counts.shape), np.ones(counts.shape))
    for size in np.unique(n[n > 0]).tolist() if counts.size else ():
        tasks = np.flatnonzero(n == size)
        if size > LARGEST:
            own = _parallel(counts[tasks], size, alpha)
        else:
            own = Band(*(limits[counts[tasks]] for limits in band(size, alpha)))
        found.lower[tasks], found.upper[tasks] = own
    return found


def ranks_in_band(probabilities: Floats, n: Ints, alpha: float) -> tuple[Ints, Ints]:
    """Return the ranks of the lowest and the highest F⁻¹ that the bands allow, shape (task, probability).

    Rank 0 is below all trials, n + 1 beyond them.
    """
    ranks = np.zeros((2, len(n), len(probabilities)), np.int64)
    for size in np.unique(n[n > 0]).tolist():
        limits = band(size, alpha)
        ranks[0, n == size] = np.searchsorted(limits.upper, probabilities)
        ranks[1, n == size] = np.searchsorted(limits.lower, probabilities)
    return ranks[0], ranks[1]


@lru_cache(maxsize=4096)
def local_level(n: int, alpha: float) -> float:
    """Return the η for which the limits hold at once with probability 1 - α, to eight digits."""
    if n < 2:
        return alpha
    if alpha < _LEAST_ALPHA:  # 1 - coverage is lost in rounding: Bonferroni's level, which is a little lower
        return alpha / n

    def excess(log_level: float) -> float:  # nearly linear: five or six steps
        return float(np.log((1 - coverage(n, np.exp(log_level))) / alpha))

    ends = np.log(alpha / n), np.log(alpha)  # Bonferroni's, and that of a single order statistic
    return float(np.exp(scipy.optimize.brentq(excess, *ends, xtol=1e-9)))


def _lower_limits(n: int, level: float) -> Floats:
    i = np.arange(1, n + 1)
    return np.asarray(scipy.special.betaincinv(i, n + 1 - i, level / 2))


def coverage(n: int, level: float) -> float:
    """Return the probability that all n order statistics of a uniform sample are within their limits.

    The sample is a Poisson process of rate n, given that it has n points. The distribution of the number of points up
    to t, with all limits below t kept, is carried from limit to limit (Moscovich & Nadler 2017); the limits are
    symmetric, so that half of them are enough: the second half of the path is the first in reverse.
    """
    lower = _lower_limits(n, level)
    times = np.concatenate([lower, 1 - lower[::-1]])
    is_lower = np.arange(2 * n) < n
    early = times <= 0.5
    order = times[early].argsort(kind="stable")
    times, is_lower = times[early][order], is_lower[early][order]
    rates = n * np.diff(times, prepend=0.0, append=0.5)[:, np.newaxis]
    steps = np.arange(_longest(rates.max()) + 1)
    moves = np.exp(scipy.special.xlogy(steps, rates) - rates - scipy.special.gammaln(steps + 1))
    mass, least, most = np.ones(1), 0, 0  # of `least`, `least` + 1, ... points; fewer than `most` + 1 are allowed
    for move, lowers in zip(moves, is_lower, strict=False):
        mass = np.convolve(mass, move)[: most - least + 1]
        if lowers:
            most += 1
        else:
            mass, least = mass[1:], least + 1
    half = np.zeros(n + 1)
    mass = np.convolve(mass, moves[-1])[: most - least + 1]
    half[least : least + len(mass)] = mass
    log_of_n = n * np.log(n) - n - scipy.special.gammaln(n + 1)
    return float(half @ half[::-1] / np.exp(log_of_n))


def _longest(rate: float) -> int:
    """Return a number of points that a Poisson process of this rate exceeds with negligible probability."""
    count = int(rate) + 20
    while scipy.special.pdtrc(count, rate) > _NEGLIGIBLE:
        count *= 2
    return count


def isotonic(rates: Floats) -> Floats:
    """Return the nearest rates that do not fall along the last axis (least squares): isotonic regression."""
    known = np.nan_to_num(rates)
    n = rates.shape[-1]
    sums = np.concatenate([np.zeros((*rates.shape[:-1], 1)), known.cumsum(axis=-1)], axis=-1)
    i, k = np.arange(n)[:, np.newaxis], np.arange(n)
    means = (sums[..., 1:][..., np.newaxis, :] - sums[..., :-1, np.newaxis]) / np.maximum(k - i + 1, 1)
    lowest = np.minimum.accumulate(np.where(k >= i, means, np.inf)[..., ::-1], axis=-1)[..., ::-1]
    fitted = np.maximum.accumulate(np.where(k >= i, lowest, -np.inf), axis=-2)
    return np.where(np.isnan(rates), np.nan, np.diagonal(fitted, axis1=-2, axis2=-1))


def first_reaching(rates: Floats, power: float, n_runs: Sequence[int]) -> Floats:
    """Return the smallest number of runs from which on rates, shape (..., n_runs), reach the power.

    It is infinite where none does, and NaN where no number of runs gives a p-value.
    """
    missed = ~(rates >= power)
    first = np.where(missed.any(axis=-1), len(n_runs) - missed[..., ::-1].argmax(axis=-1), 0)
    found = np.append(np.array(n_runs, dtype=np.float64), np.inf)[first]
    return np.where(np.isnan(rates).all(axis=-1), np.nan, found)


def quantile(numbers: Floats, probability: float) -> Floats:
    """Return the smallest of the numbers along the first axis up to which such a share of them lies; NaN stays."""
    rank = quantile_ranks(np.array([probability]), np.array([len(numbers)])).item()
    found: Floats = np.sort(numbers, axis=0)[rank - 1]
    return found
