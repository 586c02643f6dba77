"""Bootstrap intervals: exact limits of the percentile method where they exist, else resampled counts of trials.

A resample is how often each trial of a sorted sample is in it; each stratum is resampled by itself, by whole *units*.
Bands over all training levels are from whole residual curves with random signs, studentized by their spread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.array_types import Floats, Ints
from xcurves.kernels.distributions import ecdf
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.streams import make_generator

Observe = Callable[[Floats, Ints], Floats]
_SORTED = 2**18  # scores of replicates that are sorted at once
_REPLICATES = 128  # of a mean curve whose signs are drawn at once
_ROUNDING = 64 * np.finfo(float).eps
_FEW, _FEW_IN_STRATUM = 30, 10
_AT_ONCE = 2**17  # counts of trials in one block of resamples
_HELD = 2**22  # statistics of resamples held at once
_TIE = 1e-12

Statistics = Callable[[Floats, Floats], Floats]


def are_few(n_trials: Ints, n_units: Ints, stratified: bool) -> NDArray[np.bool_]:
    """Return whether there are so few trials, or units in the smallest stratum, that a bootstrap gives a warning."""
    return (np.where(stratified, n_trials, n_units) < _FEW) | (
        n_units < (_FEW_IN_STRATUM if stratified else _FEW)
    )


@dataclass(frozen=True)
class BootstrapDesign:
    """How resamples are drawn."""

    # units in each stratum; they are numbered stratum after stratum
    sizes: tuple[int, ...]
    # of each trial; None: trials are units of one stratum, whose order does not matter
    unit: Ints | None
    n_resamples: int
    entropy: int

    def block(self, number: int, rows: int) -> Ints:
        """Return how often each unit is in the resamples of a block, shape (resample, unit)."""
        rng = make_generator(
            np.random.SeedSequence(self.entropy, spawn_key=(*self.sizes, number))
        )
        sizes = np.array(self.sizes)
        starts = np.cumsum(sizes) - sizes
        n_units = int(sizes.sum())
        counts = np.zeros(rows * n_units, np.int64)
        for size in np.unique(sizes):
            first = starts[sizes == size] + n_units * np.arange(rows)[:, np.newaxis]
            drawn = rng.integers(
                size,
                size=(*first.shape, size),
                dtype=np.uint16 if size < 2**16 else np.int64,
            )
            counts += np.bincount(
                (drawn + first[..., np.newaxis]).ravel(), minlength=len(counts)
            )
        return counts.reshape(rows, n_units)

    def cumulative(self, counts: Ints, order: Ints) -> Floats:
        """Return cumulative counts of trials in `order` of score, shape (task or 1, resample, trial)."""
        if self.unit is None:
            return np.cumsum(counts, axis=-1, dtype=np.float64)[np.newaxis]
        by_trial = counts.T[self.unit[order]].swapaxes(-1, -2)
        return np.cumsum(by_trial, axis=-1, dtype=np.float64)


def resample(
    x: Floats, order: Ints, design: BootstrapDesign, statistics: Statistics
) -> Floats:
    """Return `statistics`, of sorted trials and cumulative counts, of all resamples: (task, resample, statistic)."""
    rows = max(1, min(_AT_ONCE // x.shape[-1], design.n_resamples))
    tasks = stretches(
        len(x), len(x) if design.unit is None else max(1, 2**20 // (rows * x.shape[-1]))
    )
    parts = []
    for number, some in enumerate(stretches(design.n_resamples, rows)):
        counts = design.block(number, some.stop - some.start)
        parts.append(
            np.concatenate(
                [statistics(x[t], design.cumulative(counts, order[t])) for t in tasks]
            )
        )
    return np.concatenate(parts, axis=1)


def bootstrap_intervals(
    x: Floats,
    order: Ints,
    design: BootstrapDesign,
    statistics: Statistics,
    length: int,
    alpha: float,
    *,
    bca: bool,
) -> Floats:
    """Return bootstrap intervals of statistics of sorted samples, shape (task, statistic, 2)."""
    found = []
    for tasks in stretches(len(x), max(1, _HELD // (design.n_resamples * length))):
        drawn = resample(x[tasks], order[tasks], design, statistics)
        tails = np.array([alpha / 2, 1 - alpha / 2])
        if bca:
            tails = _bca_tails(drawn, x[tasks], order[tasks], design, statistics, alpha)
        found.append(bootstrap_percentiles(drawn, tails))
    return np.concatenate(found)


def bootstrap_percentiles(drawn: Floats, tails: Floats) -> Floats:
    """Return percentiles over resamples, linear between them; `tails` has shape (..., 2), by task and statistic."""
    drawn = np.sort(drawn, axis=1)
    place = np.broadcast_to(tails, (drawn.shape[0], drawn.shape[2], 2)).swapaxes(
        1, 2
    ) * (drawn.shape[1] - 1)
    below = np.floor(place).astype(np.int64)
    low = np.take_along_axis(drawn, below, axis=1)
    high = np.take_along_axis(drawn, np.minimum(below + 1, drawn.shape[1] - 1), axis=1)
    with np.errstate(invalid="ignore"):  # of two infinite neighbours
        between = low + (place - below) * (high - low)
    return np.asarray(
        np.where((high == low) | (place == below), low, between).swapaxes(1, 2)
    )


def _bca_tails(
    drawn: Floats,
    x: Floats,
    order: Ints,
    design: BootstrapDesign,
    statistics: Statistics,
    alpha: float,
) -> Floats:
    """Return the percentiles of the bias-corrected and accelerated interval (Efron 1987), (task, statistic, 2)."""
    everything = np.ones((1, sum(design.sizes)), np.int64)
    observed = statistics(x, design.cumulative(everything, order))
    slack = 4 * np.finfo(float).eps * np.abs(observed) + _TIE * np.ptp(
        drawn, axis=1, keepdims=True
    )
    below = (drawn < observed - slack).mean(axis=1)
    tied = (np.abs(drawn - observed) <= slack).mean(axis=1)
    edge = 1 / (2 * drawn.shape[1])
    bias = scipy.special.ndtri(np.clip(below + tied / 2, edge, 1 - edge))[
        ..., np.newaxis
    ]
    normal = bias + scipy.special.ndtri(np.array([alpha / 2, 1 - alpha / 2]))
    tails = scipy.special.ndtr(
        bias
        + normal
        / (
            1
            - _jackknife_skewness(x, order, design, statistics)[..., np.newaxis]
            * normal
        )
    )
    return np.where(np.isnan(tails), 0.5, tails)


def _jackknife_skewness(
    x: Floats, order: Ints, design: BootstrapDesign, statistics: Statistics
) -> Floats:
    """Return the skewness of the jackknife's influences over 6, units of a stratum about their own mean."""
    sizes = np.array(design.sizes)
    n_units, rows = int(sizes.sum()), max(1, _AT_ONCE // x.shape[-1])
    without = []
    for some in stretches(n_units, rows):  # one unit left out in turn
        counts = 1 - np.eye(some.stop - some.start, n_units, some.start, dtype=np.int64)
        without.append(statistics(x, design.cumulative(counts, order)))
    jackknife = np.concatenate(without, axis=1)
    mean = (
        np.add.reduceat(jackknife, np.cumsum(sizes) - sizes, axis=1)
        / sizes[:, np.newaxis]
    )
    influence = np.repeat((sizes - 1) / sizes, sizes)[:, np.newaxis] * (
        np.repeat(mean, sizes, axis=1) - jackknife
    )
    squares = (influence**2).sum(axis=1)
    cubes = (influence**3).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(squares > 0, cubes / (6 * squares**1.5), 0.0)


def cdf_limits(counts: Ints, sizes: Ints, alpha: float) -> tuple[Floats, Floats]:
    """Return the percentile limits of F(z) for infinitely many resamples, of `counts` up to z, (..., stratum)."""
    n = int(sizes.sum())
    if len(sizes) == 1:
        share = counts[..., 0] / n
        return tuple(
            scipy.stats.binom.ppf(tail, n, share) / n
            for tail in (alpha / 2, 1 - alpha / 2)
        )
    flat = counts.reshape(-1, len(sizes))
    limits = np.empty((2, len(flat)))
    for some in stretches(len(flat), max(1, _HELD // (n + 1))):
        cumulative = np.cumsum(sum_of_binomials(flat[some], sizes), axis=-1)
        for end, tail in zip(limits, (alpha / 2, 1 - alpha / 2), strict=True):
            end[some] = np.count_nonzero(cumulative < tail - _TIE, axis=-1) / n
    return limits[0].reshape(counts.shape[:-1]), limits[1].reshape(counts.shape[:-1])


def quantile_limits(
    ranks: Ints, sizes: Ints, counts_at: Callable[[Ints], Ints], alpha: float
) -> tuple[Ints, Ints]:
    """Return the ranks of the percentile limits of F⁻¹ for infinitely many resamples; `counts_at` a rank."""
    n = int(sizes.sum())
    tails = (alpha / 2, 1 - alpha / 2)
    if len(sizes) == 1:
        ends = [
            np.ceil(n * scipy.special.betaincinv(ranks, n - ranks + 1, tail) - n * _TIE)
            for tail in tails
        ]
        return tuple(np.clip(end, 1, n).astype(np.int64) for end in ends)
    both = np.stack([ranks, ranks])
    limit = np.array(tails)[:, np.newaxis, np.newaxis]
    low, high = np.ones_like(both), np.full_like(both, n)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        reached = _at_least(counts_at(middle), sizes, both) >= limit - _TIE
        low, high = (
            np.where(reached | (low == high), low, middle + 1),
            np.where(reached, middle, high),
        )
    return high[0], high[1]


def _at_least(counts: Ints, sizes: Ints, rank: Ints) -> Floats:
    """Return P(n F* >= rank), computed in pieces."""
    flat, least = counts.reshape(-1, len(sizes)), rank.ravel()
    n = int(sizes.sum())
    found = np.empty(least.shape)
    for some in stretches(len(flat), max(1, _HELD // (n + 1))):
        here = np.arange(n + 1) >= least[some, np.newaxis]
        found[some] = np.where(here, sum_of_binomials(flat[some], sizes), 0.0).sum(
            axis=-1
        )
    return found.reshape(rank.shape)


def sum_of_binomials(counts: Ints, sizes: Ints) -> Floats:
    """Return the distribution of Σ Bin(size, count / size) over strata, shape (row, 0 .. Σ sizes), by FFT."""
    n = int(sizes.sum())
    turn = np.exp(-2j * np.pi * np.arange((n + 1) // 2 + 1) / (n + 1))
    size_of = np.zeros((len(counts), len(turn)))
    angle = np.zeros_like(size_of)
    for size in np.unique(sizes):
        seen, place = np.unique(counts[:, sizes == size], return_inverse=True)
        place = place.reshape(len(counts), np.count_nonzero(sizes == size))
        places = place + len(seen) * np.arange(len(counts))[:, np.newaxis]
        times = (
            np.bincount(places.ravel(), minlength=len(seen) * len(counts))
            .reshape(len(counts), len(seen))
            .astype(float)
        )
        factor = 1 + (seen / size)[:, np.newaxis] * (turn - 1)
        with np.errstate(divide="ignore"):
            size_of += times @ np.maximum(size * np.log(np.abs(factor)), -1e4)
        angle += times @ (size * np.angle(factor))
    mass = np.fft.irfft(np.exp(size_of + 1j * angle), n + 1, axis=-1)
    return np.maximum(mass, 0.0)


def resampled_points(
    x: Floats, cumulative: Floats, points: Floats, probabilities: Floats
) -> Floats:
    """Return F at points, and F⁻¹ at probabilities, of resamples of sorted trials."""
    n_tasks, total = len(x), cumulative[..., -1:]
    padded = np.concatenate([np.zeros_like(total), cumulative], axis=-1)
    padded = np.broadcast_to(padded, (n_tasks, *padded.shape[1:]))
    share = (
        np.take_along_axis(
            padded, ecdf.count_up_to(x, points[np.newaxis])[:, np.newaxis], axis=-1
        )
        / total
    )
    values = []
    for p in probabilities:
        place = np.count_nonzero(
            cumulative < np.maximum(np.ceil(p * total - _TIE * total), 1), axis=-1
        )
        values.append(
            np.take_along_axis(
                x, np.broadcast_to(place, (n_tasks, place.shape[1])), axis=-1
            )
        )
    return np.concatenate([share, np.stack(values, axis=-1)], axis=-1)


def statistic_bands(
    x: Floats,
    sizes: NDArray[np.intp],
    observe: Observe,
    n_replicates: int,
    alpha: float,
    entropy: int,
) -> Floats:
    """Return bands of what `observe` returns of curves (level, trial) by stratum: (level, statistic, 2), or NaN."""
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    member = (stratum[:, np.newaxis] == np.arange(len(sizes))).astype(float)
    means = (x @ member / sizes)[:, stratum]
    residual = (x - means) * np.sqrt(sizes / (sizes - 1))[stratum]
    residual[np.abs(residual) <= _ROUNDING * np.abs(x).max(axis=-1, keepdims=True)] = (
        0.0  # means of equal scores round
    )
    estimate = observe(np.sort(x, axis=-1), np.full(len(x), x.shape[1]))
    deviation = np.empty(estimate.shape)
    largest = np.zeros((n_replicates, estimate.shape[1]))
    for part in stretches(len(x), max(1, _HELD // (n_replicates * estimate.shape[1]))):
        drawn, spread = _replicates(
            means[part],
            residual[part],
            member / np.sqrt(sizes),
            observe,
            n_replicates,
            entropy,
        )
        deviation[part] = drawn.std(axis=0)
        scale = deviation[part] * spread[..., np.newaxis]
        apart = np.abs(drawn - drawn.mean(axis=0))
        some = apart > _ROUNDING * np.abs(drawn).max(axis=0)
        with np.errstate(divide="ignore"):
            t = np.divide(apart, scale, out=np.zeros_like(apart), where=some)
        np.maximum(largest, t.max(axis=1), out=largest)
    critical = _seldom_exceeded(largest, alpha)
    half = np.where(np.isfinite(critical), critical, np.nan) * deviation
    half[~residual.any(axis=-1)] = np.nan
    return np.stack([estimate - half, estimate + half], axis=-1)


def _replicates(
    means: Floats,
    residual: Floats,
    member: Floats,
    observe: Observe,
    n_replicates: int,
    entropy: int,
) -> tuple[Floats, Floats]:
    """Return statistics of replicates, shape (replicate, level, statistic), and their relative spread."""
    n_levels, n_trials = means.shape
    rows = max(1, _SORTED // (n_trials * n_levels))
    whole = (residual**2).sum(axis=-1)
    rng = make_generator(
        np.random.SeedSequence(entropy, spawn_key=(n_trials, member.shape[1]))
    )
    statistics, spreads = [], []
    for some in stretches(n_replicates, rows):
        signs = 1.0 - 2.0 * rng.integers(
            0, 2, (some.stop - some.start, 1, n_trials), np.int8
        )
        signed = signs * residual
        sample = np.sort((means + signed).reshape(-1, n_trials), axis=-1)
        statistics.append(
            observe(sample, np.full(len(sample), n_trials)).reshape(
                len(signed), n_levels, -1
            )
        )
        left = whole - ((signed @ member) ** 2).sum(axis=-1)
        spreads.append(
            np.sqrt(
                np.where(
                    left > _ROUNDING * whole, left / np.where(whole > 0, whole, 1), 0.0
                )
            )
        )
    return np.concatenate(statistics), np.concatenate(spreads)


def _seldom_exceeded(largest: Floats, alpha: float) -> Floats:
    """Return the ceil((1 - alpha)(n + 1))-th smallest of n replicates, along the first axis; infinite beyond them."""
    place = int(np.ceil((1 - alpha) * (len(largest) + 1) - 1e-9)) - 1
    if place >= len(largest):
        return np.full(largest.shape[1:], np.inf)
    return np.asarray(np.partition(largest, place, axis=0)[place])


def mean_curve(
    curves: Floats, n_replicates: int, alpha: float, entropy: int
) -> dict[str, Floats]:
    """Return an algorithm's mean curve over tasks, of curves (task, run, level), and its band; NaN of few runs."""
    present = ~np.isnan(curves[..., 0])
    n = np.count_nonzero(present, axis=1)[:, np.newaxis]
    filled = np.where(present[..., np.newaxis], curves, 0.0)
    means = filled.sum(axis=1) / n
    estimate = means.mean(axis=0)
    if (n < 2).any():
        return {
            "mean_curve": estimate,
            "mean_curve_band": np.full((len(estimate), 2), np.nan),
        }
    residual = np.where(present[..., np.newaxis], filled - means[:, np.newaxis], 0.0)
    own = (residual**2).sum(axis=1) / (n * (n - 1))
    error = np.sqrt(own.sum(axis=0)) / len(curves)
    largest = _residual_critical(residual, n, n_replicates, alpha, entropy)
    half = largest * error if np.isfinite(largest) else np.full_like(error, np.nan)
    return {
        "mean_curve": estimate,
        "mean_curve_band": np.stack([estimate - half, estimate + half], axis=-1),
    }


def _residual_critical(
    residual: Floats, n: Floats, n_replicates: int, alpha: float, entropy: int
) -> float:
    """Return the value that the largest studentized mean over levels of signed residual runs seldom exceeds."""
    n_tasks, n_runs, _ = residual.shape
    varies = residual.any(axis=(0, 1))
    residual, squares = residual[..., varies], (residual[..., varies] ** 2).sum(axis=1)
    once = 1 / n[:, 0]
    square = np.sqrt(1 / (n * n * (n - 1)))[..., np.newaxis]
    whole = (squares / (n * (n - 1))).sum(axis=0)
    rng = make_generator(np.random.SeedSequence(entropy, spawn_key=(n_tasks, n_runs)))
    largest = []
    for start in range(0, n_replicates, _REPLICATES):
        bits = rng.integers(0, 2, (n_tasks, _REPLICATES, n_runs), np.int8)[
            :, : n_replicates - start
        ]
        sums = (1.0 - 2.0 * bits) @ residual  # (task, replicate, level)
        mean = np.tensordot(once, sums, 1)
        sums *= square
        variance = whole - np.einsum("trl,trl->rl", sums, sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = mean**2 / np.where(variance <= _ROUNDING * whole, 0.0, variance)
        largest.append(np.where(np.isnan(t), 0.0, t).max(axis=-1, initial=0.0))
    return float(np.sqrt(_seldom_exceeded(np.concatenate(largest), alpha)))
