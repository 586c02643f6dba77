"""Bootstrap intervals: exact limits of the percentile method where they exist, else resampled counts of trials.

A resample of a sorted sample is described by how often each trial is in it, so nothing is sorted again. Trials of one
sample are exchangeable, so samples of equal sizes share their resamples. Each stratum is resampled by itself. Whole
*units*, by default single trials, are resampled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.ecdf import Ints
from xcurves.kernels.moments import Floats

_FEW, _FEW_IN_STRATUM = 30, 10
_AT_ONCE = 2**17  # counts of trials in one block of resamples
_HELD = 2**22  # statistics of resamples held at once
_TIE = 1e-12

Statistics = Callable[[Floats, Floats], Floats]


def are_few(n_trials: Ints, n_units: Ints, stratified: bool) -> NDArray[np.bool_]:
    """Return whether there are so few trials, or units in the smallest stratum, that a bootstrap gives a warning."""
    return (np.where(stratified, n_trials, n_units) < _FEW) | (n_units < (_FEW_IN_STRATUM if stratified else _FEW))


@dataclass(frozen=True)
class BootstrapDesign:
    """How resamples are drawn.

    Attributes
    ----------
    sizes : tuple of int
        Number of units in each stratum; units are numbered stratum after stratum.
    unit : ndarray, shape (trial,), or None
        Number of the unit of each trial; None if the trials are the units and there is one stratum, so that the order
        of trials does not matter.
    n_resamples, entropy : int
        Number and seed of the resamples.
    """

    sizes: tuple[int, ...]
    unit: Ints | None
    n_resamples: int
    entropy: int

    def block(self, number: int, rows: int) -> Ints:
        """Return how often each unit is in the resamples of a block, shape (resample, unit)."""
        rng = np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(*self.sizes, number)))
        sizes = np.array(self.sizes)
        starts = np.cumsum(sizes) - sizes
        n_units = int(sizes.sum())
        counts = np.zeros(rows * n_units, np.int64)
        for size in np.unique(sizes):
            first = starts[sizes == size] + n_units * np.arange(rows)[:, np.newaxis]
            drawn = rng.integers(size, size=(*first.shape, size), dtype=np.uint16 if size < 2**16 else np.int64)
            counts += np.bincount((drawn + first[..., np.newaxis]).ravel(), minlength=len(counts))
        return counts.reshape(rows, n_units)

    def cumulative(self, counts: Ints, order: Ints) -> Floats:
        """Return the cumulative counts of trials in resamples, in ascending order, shape (task or 1, resample, trial).

        `order`, shape (task, trial), has the places of the trials in ascending order of score.
        """
        if self.unit is None:
            return np.cumsum(counts, axis=-1, dtype=np.float64)[np.newaxis]
        by_trial = counts.T[self.unit[order]].swapaxes(-1, -2)
        return np.cumsum(by_trial, axis=-1, dtype=np.float64)


def resample(x: Floats, order: Ints, design: BootstrapDesign, statistics: Statistics) -> Floats:
    """Return the statistics of all resamples, shape (task, resample, statistic).

    `x`, shape (task, trial), is sorted; `statistics` takes it and the cumulative counts.
    """
    rows = max(1, min(_AT_ONCE // x.shape[-1], design.n_resamples))
    n_tasks = len(x) if design.unit is None else max(1, 2**20 // (rows * x.shape[-1]))
    parts = []
    for number, start in enumerate(range(0, design.n_resamples, rows)):
        counts = design.block(number, min(rows, design.n_resamples - start))
        tasks = range(0, len(x), n_tasks)
        found = [statistics(x[t : t + n_tasks], design.cumulative(counts, order[t : t + n_tasks])) for t in tasks]
        parts.append(np.concatenate(found))
    return np.concatenate(parts, axis=1)


def bootstrap_intervals(
    x: Floats, order: Ints, design: BootstrapDesign, statistics: Statistics, length: int, alpha: float, *, bca: bool
) -> Floats:
    """Return bootstrap intervals of statistics of sorted samples, shape (task, statistic, 2)."""
    n_tasks = max(1, _HELD // (design.n_resamples * length))
    found = []
    for start in range(0, len(x), n_tasks):
        part, places = x[start : start + n_tasks], order[start : start + n_tasks]
        drawn = resample(part, places, design, statistics)
        tails = (
            _bca_tails(drawn, part, places, design, statistics, alpha) if bca else np.array([alpha / 2, 1 - alpha / 2])
        )
        found.append(bootstrap_percentiles(drawn, tails))
    return np.concatenate(found)


def mean_band(curves: Floats, design: BootstrapDesign, alpha: float) -> Floats:
    """Return percentile limits of the mean of curves that are resampled whole, shape (2, level).

    `curves` has shape (unit, level); a resample takes the same curves at every level.
    """
    counts = design.block(0, design.n_resamples)
    tails = [alpha / 2, 1 - alpha / 2]
    width = max(1, _HELD // design.n_resamples)
    starts = range(0, curves.shape[-1], width)
    parts = [np.quantile(counts @ curves[:, at : at + width] / len(curves), tails, axis=0) for at in starts]
    return np.concatenate(parts, axis=-1)


def bootstrap_percentiles(drawn: Floats, tails: Floats) -> Floats:
    """Return percentiles over resamples, linear between them; `tails` has shape (..., 2), by task and statistic."""
    drawn = np.sort(drawn, axis=1)
    place = np.broadcast_to(tails, (drawn.shape[0], drawn.shape[2], 2)).swapaxes(1, 2) * (drawn.shape[1] - 1)
    below = np.floor(place).astype(np.int64)
    low = np.take_along_axis(drawn, below, axis=1)
    high = np.take_along_axis(drawn, np.minimum(below + 1, drawn.shape[1] - 1), axis=1)
    with np.errstate(invalid="ignore"):  # of two infinite neighbours
        between = low + (place - below) * (high - low)
    return np.asarray(np.where((high == low) | (place == below), low, between).swapaxes(1, 2))


def _bca_tails(
    drawn: Floats, x: Floats, order: Ints, design: BootstrapDesign, statistics: Statistics, alpha: float
) -> Floats:
    """Return the percentiles of the bias-corrected and accelerated interval (Efron 1987), (task, statistic, 2)."""
    everything = np.ones((1, sum(design.sizes)), np.int64)
    observed = statistics(x, design.cumulative(everything, order))
    slack = 4 * np.finfo(float).eps * np.abs(observed) + _TIE * np.ptp(drawn, axis=1, keepdims=True)
    below = (drawn < observed - slack).mean(axis=1)
    tied = (np.abs(drawn - observed) <= slack).mean(axis=1)
    edge = 1 / (2 * drawn.shape[1])
    bias = scipy.special.ndtri(np.clip(below + tied / 2, edge, 1 - edge))[..., np.newaxis]
    normal = bias + scipy.special.ndtri(np.array([alpha / 2, 1 - alpha / 2]))
    tails = scipy.special.ndtr(
        bias + normal / (1 - _acceleration(x, order, design, statistics)[..., np.newaxis] * normal)
    )
    return np.where(np.isnan(tails), 0.5, tails)


def _acceleration(x: Floats, order: Ints, design: BootstrapDesign, statistics: Statistics) -> Floats:
    """Return the skewness of the jackknife's influences over 6, units of a stratum about their own mean."""
    sizes = np.array(design.sizes)
    n_units, rows = int(sizes.sum()), max(1, _AT_ONCE // x.shape[-1])
    without = []
    for start in range(0, n_units, rows):  # one unit left out in turn
        counts = 1 - np.eye(min(rows, n_units - start), n_units, start, dtype=np.int64)
        without.append(statistics(x, design.cumulative(counts, order)))
    jackknife = np.concatenate(without, axis=1)
    mean = np.add.reduceat(jackknife, np.cumsum(sizes) - sizes, axis=1) / sizes[:, np.newaxis]
    influence = np.repeat((sizes - 1) / sizes, sizes)[:, np.newaxis] * (np.repeat(mean, sizes, axis=1) - jackknife)
    squares, cubes = (influence**2).sum(axis=1), (influence**3).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(squares > 0, cubes / (6 * squares**1.5), 0.0)


def cdf_limits(counts: Ints, sizes: Ints, alpha: float) -> tuple[Floats, Floats]:
    """Return the percentile limits of F(z) for infinitely many resamples.

    `counts`, shape (..., stratum), has the trials of each stratum that are at most z, of `sizes`, shape (stratum,).
    """
    n = int(sizes.sum())
    if len(sizes) == 1:
        share = counts[..., 0] / n
        return tuple(scipy.stats.binom.ppf(tail, n, share) / n for tail in (alpha / 2, 1 - alpha / 2))
    flat = counts.reshape(-1, len(sizes))
    rows = max(1, _HELD // (n + 1))
    limits = np.empty((2, len(flat)))
    for start in range(0, len(flat), rows):
        cumulative = np.cumsum(sum_of_binomials(flat[start : start + rows], sizes), axis=-1)
        for end, tail in zip(limits, (alpha / 2, 1 - alpha / 2), strict=True):
            end[start : start + rows] = np.count_nonzero(cumulative < tail - _TIE, axis=-1) / n
    return limits[0].reshape(counts.shape[:-1]), limits[1].reshape(counts.shape[:-1])


def quantile_limits(ranks: Ints, sizes: Ints, counts_at: Callable[[Ints], Ints], alpha: float) -> tuple[Ints, Ints]:
    """Return the ranks of the percentile limits of F⁻¹ for infinitely many resamples.

    `ranks`, shape (task, probability), are those of F⁻¹ in a sample. A limit is the first trial x with
    P(F*(x) >= rank / n) at least the tail; `counts_at` returns how many trials of each stratum are at most the trial of
    a given rank, shape (..., stratum).
    """
    n = int(sizes.sum())
    tails = (alpha / 2, 1 - alpha / 2)
    if len(sizes) == 1:
        ends = [np.ceil(n * scipy.special.betaincinv(ranks, n - ranks + 1, tail) - n * _TIE) for tail in tails]
        return tuple(np.clip(end, 1, n).astype(np.int64) for end in ends)
    both = np.stack([ranks, ranks])
    limit = np.array(tails)[:, np.newaxis, np.newaxis]
    low, high = np.ones_like(both), np.full_like(both, n)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        reached = _at_least(counts_at(middle), sizes, both) >= limit - _TIE
        low, high = np.where(reached | (low == high), low, middle + 1), np.where(reached, middle, high)
    return high[0], high[1]


def _at_least(counts: Ints, sizes: Ints, rank: Ints) -> Floats:
    """Return P(n F* >= rank), computed in pieces."""
    flat, least = counts.reshape(-1, len(sizes)), rank.ravel()
    n = int(sizes.sum())
    rows = max(1, _HELD // (n + 1))
    parts = []
    for start in range(0, len(flat), rows):
        mass = sum_of_binomials(flat[start : start + rows], sizes)
        here = np.arange(n + 1) >= least[start : start + rows, np.newaxis]
        parts.append(np.where(here, mass, 0.0).sum(axis=-1))
    return np.concatenate(parts).reshape(rank.shape)


def sum_of_binomials(counts: Ints, sizes: Ints) -> Floats:
    """Return the distribution of Σ Bin(size, count / size) over strata, shape (row, 0 .. Σ sizes), by FFT.

    Strata of one size that have the same count share a factor of the characteristic function.
    """
    n = int(sizes.sum())
    turn = np.exp(-2j * np.pi * np.arange((n + 1) // 2 + 1) / (n + 1))
    size_of = np.zeros((len(counts), len(turn)))
    angle = np.zeros_like(size_of)
    for size in np.unique(sizes):
        seen, place = np.unique(counts[:, sizes == size], return_inverse=True)
        place = place.reshape(len(counts), np.count_nonzero(sizes == size))
        places = place + len(seen) * np.arange(len(counts))[:, np.newaxis]
        times = (
            np.bincount(places.ravel(), minlength=len(seen) * len(counts)).reshape(len(counts), len(seen)).astype(float)
        )
        factor = 1 + (seen / size)[:, np.newaxis] * (turn - 1)
        with np.errstate(divide="ignore"):
            size_of += times @ np.maximum(size * np.log(np.abs(factor)), -1e4)
        angle += times @ (size * np.angle(factor))
    mass = np.fft.irfft(np.exp(size_of + 1j * angle), n + 1, axis=-1)
    return np.maximum(mass, 0.0)


def resampled_points(x: Floats, cumulative: Floats, ranks: NDArray[np.int64], probabilities: Floats) -> Floats:
    """Return F at points of which `ranks` trials are below or at, and F⁻¹ at probabilities, of resamples."""
    n_tasks = len(x)
    padded = np.concatenate([np.zeros_like(cumulative[..., :1]), cumulative], axis=-1)
    padded = np.broadcast_to(padded, (n_tasks, *padded.shape[1:]))
    share = np.take_along_axis(padded, ranks[:, np.newaxis], axis=-1) / padded[..., -1:]
    total = cumulative[..., -1]
    least = [np.ceil(p * total - _TIE * total) for p in probabilities]
    places = [np.count_nonzero(cumulative < np.maximum(rank, 1)[..., np.newaxis], axis=-1) for rank in least]
    values = [np.take_along_axis(x, np.broadcast_to(place, (n_tasks, place.shape[1])), axis=-1) for place in places]
    return np.concatenate([share, np.stack(values, axis=-1)] if values else [share], axis=-1)
