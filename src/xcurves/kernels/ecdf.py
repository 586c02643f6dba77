"""Empirical distribution functions: look-ups and partial sums of sorted samples, and intervals that need no resampling.

Samples are rows ``x`` of shape (task, trial), sorted, missing trials NaN at the end; ``n``, shape (task,), counts the
others. Ranks are numbers of trials from below, whole or not: the sum up to rank 2.5 has half of the third trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

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


def dkw(n: Ints, alpha: float) -> Floats:
    """Return ε of the Dvoretzky-Kiefer-Wolfowitz band with Massart's constant."""
    return np.asarray(np.sqrt(np.log(2 / alpha) / (2 * np.maximum(n, 1))))


def order_statistics(probabilities: Floats, n: Ints, alpha: float) -> tuple[Ints, Ints]:
    """Return the ranks between which F⁻¹(p) lies, 0 or n + 1 where there are too few trials.

    P(X_(l) > F⁻¹(p)) = P(Bin(n, F(F⁻¹(p))) < l) <= P(Bin(n, p) < l), and the same above.
    """
    trials, place = np.unique(np.maximum(n, 1), return_inverse=True)
    lower = scipy.stats.binom.ppf(alpha / 2, trials[:, np.newaxis], probabilities)
    upper = scipy.stats.binom.ppf(1 - alpha / 2, trials[:, np.newaxis], probabilities) + 1
    return lower.astype(np.int64)[place], upper.astype(np.int64)[place]
