"""Bootstrap intervals: exact limits of the percentile method where they exist, else resampled counts of trials.

A resample is how often each trial of a sorted sample is in it; each stratum is resampled by itself, by whole *units*.
Bands over all training levels are from whole residual curves with random signs, studentized by their spread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index, Ints
from xcurves.kernels.distributions import ecdf
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches
from xcurves.kernels.resampling.plans import make_generator

Observe = Callable[[Floats], Floats]
_SORTED = 2**18  # scores of replicates that are sorted at once
_REPLICATES = 128  # of a mean curve whose signs are drawn at once
_ROUNDING = 64 * np.finfo(float).eps  # of sums of residuals, relative
# measured coverage falls short with fewer trials, or units of a stratum: a warning says so
_FEW, _FEW_IN_STRATUM = 30, 10
_AT_ONCE = 2**17  # counts of trials in one block of resamples
_HELD = 2**22  # statistics of resamples held at once
_TIE = 1e-12  # rounding of probabilities, and of statistics by their range

Statistics = Callable[[Floats, Floats], Floats]


def are_few(n_trials: Ints, n_units: Ints, stratified: bool) -> Bools:
    """Return whether there are so few trials, or units in the smallest stratum, that a bootstrap gives a warning."""
    if stratified:
        return (n_trials < _FEW) | (n_units < _FEW_IN_STRATUM)
    return np.asarray(n_units < _FEW)


@dataclass(frozen=True)
class BootstrapDesign:
    """How resamples are drawn."""

    # units in each stratum; they are numbered stratum after stratum
    sizes: tuple[int, ...]
    # of each trial; None: trials are units of one stratum, whose order does not matter
    unit: Ints | None
    n_resamples: int
    entropy: int
    # whether strata weigh alike: with unlike numbers of trials these have unlike weights
    weighted: bool = False

    def block(self, number: int, rows: int) -> Ints:
        """Return how often each unit is in the resamples of a block, shape (resample, unit)."""
        rng = make_generator(np.random.SeedSequence(self.entropy, spawn_key=(*self.sizes, number)))
        sizes = np.array(self.sizes)
        starts = np.cumsum(sizes) - sizes
        n_units = int(sizes.sum())
        # One count over all resamples: unit u of resample i has the number u + i n_units.
        counts = np.zeros(rows * n_units, np.int64)
        # strata of one size are drawn together
        for size in np.unique(sizes):
            first = starts[sizes == size] + n_units * np.arange(rows)[:, np.newaxis]
            # two bytes a draw suffice for most samples
            dtype = np.uint16 if size < 2**16 else np.int64
            drawn = rng.integers(size, size=(*first.shape, size), dtype=dtype)
            numbers = (drawn + first[..., np.newaxis]).ravel()
            counts += np.bincount(numbers, minlength=len(counts))
        return counts.reshape(rows, n_units)

    def cumulative(self, counts: Ints, order: Ints) -> Floats:
        """Return cumulative counts of trials in `order` of score, shape (task or 1, resample, trial)."""
        # All tasks share the draws. Where the order of units does not matter, trials are numbered by rank: one array
        # serves all tasks.
        if self.unit is None:
            return np.cumsum(counts, axis=-1, dtype=np.float64)[np.newaxis]
        of_units: Ints | Floats = counts
        if self.weighted:
            of_units = counts * self._weights(counts, self.unit)
        by_trial = of_units.T[self.unit[order]].swapaxes(-1, -2)
        return np.cumsum(by_trial, axis=-1, dtype=np.float64)

    def _weights(self, counts: Ints, unit: Ints) -> Floats:
        """Return the weight of each trial of a unit, shape (resample, unit), of which a resample of n has n in all."""
        sizes = np.array(self.sizes)
        per_unit = np.bincount(unit, minlength=counts.shape[1])
        drawn = np.add.reduceat(counts * per_unit, np.cumsum(sizes) - sizes, axis=1)
        # n / (G n_g), with the trials that the resample has
        weights = drawn.sum(axis=1, keepdims=True) / (len(sizes) * drawn)
        return np.asarray(np.repeat(weights, sizes, axis=1))


def resample(x: Floats, order: Ints, design: BootstrapDesign, statistics: Statistics) -> Floats:
    """Return `statistics`, of sorted trials and cumulative counts, of all resamples: (task, resample, statistic)."""
    rows = max(1, min(_AT_ONCE // x.shape[-1], design.n_resamples))
    if design.unit is None:
        width = len(x)
    else:
        width = max(1, 2**20 // (rows * x.shape[-1]))  # counts differ by task
    tasks = stretches(len(x), width)

    parts = []
    for number, some in enumerate(stretches(design.n_resamples, rows)):
        counts = design.block(number, some.stop - some.start)
        of_tasks = [statistics(x[part], design.cumulative(counts, order[part])) for part in tasks]
        parts.append(np.concatenate(of_tasks))
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
    intervals = []
    for tasks in stretches(len(x), max(1, _HELD // (design.n_resamples * length))):
        drawn = resample(x[tasks], order[tasks], design, statistics)
        if bca:
            tails = _bca_tails(drawn, x[tasks], order[tasks], design, statistics, alpha)
        else:
            tails = np.array([alpha / 2, 1 - alpha / 2])
        intervals.append(bootstrap_percentiles(drawn, tails))
    return np.concatenate(intervals)


def bootstrap_percentiles(drawn: Floats, tails: Floats) -> Floats:
    """Return percentiles over resamples, linear between them; `tails` has shape (..., 2), by task and statistic."""
    # as `np.quantile`, which cannot have tails that differ by statistic
    ordered = np.sort(drawn, axis=1)
    n_tasks, n_resamples, n_statistics = ordered.shape
    by_statistic = np.broadcast_to(tails, (n_tasks, n_statistics, 2)).swapaxes(1, 2)
    place = by_statistic * (n_resamples - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, n_resamples - 1)
    low = np.take_along_axis(ordered, below, axis=1)
    high = np.take_along_axis(ordered, above, axis=1)
    with np.errstate(invalid="ignore"):  # of two infinite neighbours
        between = low + (place - below) * (high - low)
    is_low = (high == low) | (place == below)
    return np.asarray(np.where(is_low, low, between).swapaxes(1, 2))


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

    # z0, the normal quantile of the share of resamples below the estimate. Ties count half, as many resamples of few
    # trials give the estimate again, up to rounding; a share of 0 or 1 would be infinite.
    spread = np.ptp(drawn, axis=1, keepdims=True)
    slack = 4 * np.finfo(float).eps * np.abs(observed) + _TIE * spread
    below = (drawn < observed - slack).mean(axis=1)
    tied = (np.abs(drawn - observed) <= slack).mean(axis=1)
    edge = 1 / (2 * drawn.shape[1])
    share = np.clip(below + tied / 2, edge, 1 - edge)
    bias = scipy.special.ndtri(share)[..., np.newaxis]

    # Φ(z0 + (z0 + z) / (1 - a (z0 + z))), a the acceleration
    acceleration = _jackknife_skewness(x, order, design, statistics)[..., np.newaxis]
    normal = bias + scipy.special.ndtri(np.array([alpha / 2, 1 - alpha / 2]))
    tails = scipy.special.ndtr(bias + normal / (1 - acceleration * normal))
    # infinite influences have no skewness, and NaN is no place among resamples
    return np.where(np.isnan(tails), 0.5, tails)


def _jackknife_skewness(x: Floats, order: Ints, design: BootstrapDesign, statistics: Statistics) -> Floats:
    """Return the skewness of the jackknife's influences over 6, units of a stratum about their own mean."""
    sizes = np.array(design.sizes)
    n_units = int(sizes.sum())
    rows = max(1, _AT_ONCE // x.shape[-1])
    without = []
    for some in stretches(n_units, rows):
        # one unit left out in turn
        left_out = np.eye(some.stop - some.start, n_units, some.start, dtype=np.int64)
        without.append(statistics(x, design.cumulative(1 - left_out, order)))
    jackknife = np.concatenate(without, axis=1)

    starts = np.cumsum(sizes) - sizes
    mean = np.add.reduceat(jackknife, starts, axis=1) / sizes[:, np.newaxis]
    apart = np.repeat(mean, sizes, axis=1) - jackknife
    # without its factor, units of small strata would count too much beside those of large ones
    influence = np.repeat((sizes - 1) / sizes, sizes)[:, np.newaxis] * apart
    squares = (influence**2).sum(axis=1)
    cubes = (influence**3).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(squares > 0, cubes / (6 * squares**1.5), 0.0)


def cdf_limits(counts: Ints, sizes: Ints, alpha: float) -> tuple[Floats, Floats]:
    """Return the percentile limits of F(z) for infinitely many resamples, of `counts` up to z, (..., stratum)."""
    # The count up to z of a resample is binomial in each stratum, with the share of its trials there: percentiles are
    # those of the sum, no resample is drawn.
    n = int(sizes.sum())
    lower_tail, upper_tail = alpha / 2, 1 - alpha / 2
    if len(sizes) == 1:
        share = counts[..., 0] / n
        lower = scipy.stats.binom.ppf(lower_tail, n, share) / n
        return lower, scipy.stats.binom.ppf(upper_tail, n, share) / n

    flat = counts.reshape(-1, len(sizes))
    limits = np.empty((2, len(flat)))
    for some in stretches(len(flat), max(1, _HELD // (n + 1))):
        cumulative = np.cumsum(sum_of_binomials(flat[some], sizes), axis=-1)
        for end, tail in zip(limits, (lower_tail, upper_tail), strict=True):
            # the smallest count whose probability reaches the tail
            end[some] = np.count_nonzero(cumulative < tail - _TIE, axis=-1) / n
    shape = counts.shape[:-1]
    return limits[0].reshape(shape), limits[1].reshape(shape)


def quantile_limits(ranks: Ints, sizes: Ints, counts_at: Callable[[Ints], Ints], alpha: float) -> tuple[Ints, Ints]:
    """Return the ranks of the percentile limits of F⁻¹ for infinitely many resamples; `counts_at` a rank."""
    # F*⁻¹ of a resample is at most the trial of rank r where its count up to that trial is at least the wanted
    # rank. A limit is the smallest r for which that has a probability of at least the tail.
    n = int(sizes.sum())
    tails = (alpha / 2, 1 - alpha / 2)
    if len(sizes) == 1:
        # P(Bin(n, q) >= rank) is the incomplete beta function at q = r / n: inverted
        limits = []
        for tail in tails:
            share = scipy.special.betaincinv(ranks, n - ranks + 1, tail)
            limit = np.ceil(n * share - n * _TIE)
            limits.append(np.clip(limit, 1, n).astype(np.int64))
        return limits[0], limits[1]

    # r decides how many trials of each stratum are up to it: found by halving, both limits at once
    wanted = np.stack([ranks, ranks])
    least = np.array(tails)[:, np.newaxis, np.newaxis] - _TIE
    low = np.ones_like(wanted)
    high = np.full_like(wanted, n)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        reached = _at_least(counts_at(middle), sizes, wanted) >= least
        low = np.where(reached | (low == high), low, middle + 1)
        high = np.where(reached, middle, high)
    return high[0], high[1]


def _at_least(counts: Ints, sizes: Ints, rank: Ints) -> Floats:
    """Return P(n F* >= rank), computed in pieces."""
    flat = counts.reshape(-1, len(sizes))
    least = rank.ravel()
    n = int(sizes.sum())
    probability = np.empty(least.shape)
    for some in stretches(len(flat), max(1, _HELD // (n + 1))):
        is_reached = np.arange(n + 1) >= least[some, np.newaxis]
        mass = sum_of_binomials(flat[some], sizes)
        probability[some] = np.where(is_reached, mass, 0.0).sum(axis=-1)
    return probability.reshape(rank.shape)


def sum_of_binomials(counts: Ints, sizes: Ints) -> Floats:
    """Return the distribution of Σ Bin(size, count / size) over strata, shape (row, 0 .. Σ sizes), by FFT."""
    # The transform of Bin(m, p) at the frequency j is (1 + p (w - 1))^m, w = exp(-2πij / (n + 1)); that of the sum is
    # the product over strata. As logarithm and angle it is a sum, in which strata of one size and count stand together.
    n = int(sizes.sum())
    frequencies = np.arange((n + 1) // 2 + 1)  # the others mirror them, as masses are real
    rotation = np.exp(-2j * np.pi * frequencies / (n + 1))
    log_modulus = np.zeros((len(counts), len(rotation)))
    angle = np.zeros_like(log_modulus)
    for size in np.unique(sizes):
        of_size = counts[:, sizes == size]
        distinct, index = np.unique(of_size, return_inverse=True)
        # how many strata of each row have each distinct count: one count over all rows
        n_distinct = len(distinct)
        row = np.arange(len(counts))[:, np.newaxis]
        cells = (index.reshape(of_size.shape) + n_distinct * row).ravel()
        occurring = np.bincount(cells, minlength=n_distinct * len(counts))
        times = occurring.reshape(len(counts), n_distinct).astype(float)

        factor = 1 + (distinct / size)[:, np.newaxis] * (rotation - 1)
        with np.errstate(divide="ignore"):
            # not -inf for a factor of 0: times 0 it would be NaN
            log_factor = np.maximum(size * np.log(np.abs(factor)), -1e4)
        log_modulus += times @ log_factor
        angle += times @ (size * np.angle(factor))
    mass = np.fft.irfft(np.exp(log_modulus + 1j * angle), n + 1, axis=-1)
    return np.maximum(mass, 0.0)


def resampled_points(x: Floats, cumulative: Floats, points: Floats, probabilities: Floats) -> Floats:
    """Return F at points, and F⁻¹ at probabilities, of resamples of sorted trials."""
    n_tasks = len(x)
    total = cumulative[..., -1:]
    # F at points: the count up to as many trials as the sample has there
    padded = np.concatenate([np.zeros_like(total), cumulative], axis=-1)
    by_task = np.broadcast_to(padded, (n_tasks, *padded.shape[1:]))
    up_to = ecdf.count_up_to(x, points[np.newaxis])[:, np.newaxis]
    share = np.take_along_axis(by_task, up_to, axis=-1) / total

    # F⁻¹: the first trial up to which the wanted rank is counted, of p = 0 the first that is drawn
    values = []
    for p in probabilities:
        rank = np.maximum(p * total - _TIE * total, _TIE * total)
        index = np.count_nonzero(cumulative < rank, axis=-1)
        of_tasks = np.broadcast_to(index, (n_tasks, index.shape[1]))
        values.append(np.take_along_axis(x, of_tasks, axis=-1))
    return np.concatenate([share, np.stack(values, axis=-1)], axis=-1)


def statistic_bands(
    x: Floats,
    sizes: Index,
    observe: Observe,
    n_replicates: int,
    alpha: float,
    entropy: int,
) -> Floats:
    """Return bands of what `observe` returns of curves (level, trial) by stratum: (level, statistic, 2), or NaN.

    `observe` gets samples of all trials, shape (sample, trial), stratum after stratum. Strata weigh alike.
    """
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    member = (stratum[:, np.newaxis] == np.arange(len(sizes))).astype(float)
    means = (x @ member / sizes)[:, stratum]
    # residuals from a mean of n trials are too small by √((n - 1) / n)
    residual = (x - means) * np.sqrt(sizes / (sizes - 1))[stratum]
    # means of equal scores round
    largest_score = np.abs(x).max(axis=-1, keepdims=True)
    residual[np.abs(residual) <= _ROUNDING * largest_score] = 0.0

    estimate = observe(x)
    deviation = np.empty(estimate.shape)
    largest = np.zeros((n_replicates, estimate.shape[1]))
    # Residuals count as much as they do in the mean of strata; 1 where strata are alike.
    weight = (len(stratum) / (len(sizes) * sizes))[stratum]
    # so that (signed sum of residuals)² / n is a square of a product
    per_root = member / np.sqrt(sizes)
    for part in stretches(len(x), max(1, _HELD // (n_replicates * estimate.shape[1]))):
        drawn, spread = _replicates(
            means[part],
            residual[part],
            weight,
            per_root,
            observe,
            n_replicates,
            entropy,
        )
        # Studentized: by the deviation over replicates, times how wide each replicate is.
        deviation[part] = drawn.std(axis=0)
        scale = deviation[part] * spread[..., np.newaxis]
        apart = np.abs(drawn - drawn.mean(axis=0))
        differs = apart > _ROUNDING * np.abs(drawn).max(axis=0)
        with np.errstate(divide="ignore"):
            t = np.divide(apart, scale, out=np.zeros_like(apart), where=differs)
        np.maximum(largest, t.max(axis=1), out=largest)

    # The largest over levels: the band holds at all of them at once.
    critical = _seldom_exceeded(largest, alpha)
    half = np.where(np.isfinite(critical), critical, np.nan) * deviation
    half[~residual.any(axis=-1)] = np.nan  # levels without spread
    return np.stack([estimate - half, estimate + half], axis=-1)


def _replicates(
    means: Floats,
    residual: Floats,
    weight: Floats,
    member: Floats,
    observe: Observe,
    n_replicates: int,
    entropy: int,
) -> tuple[Floats, Floats]:
    """Return statistics of replicates, shape (replicate, level, statistic), and their relative spread."""
    n_levels, n_trials = means.shape
    rows = max(1, _SORTED // (n_trials * n_levels))
    whole = ((weight * residual) ** 2).sum(axis=-1)
    rng = make_generator(np.random.SeedSequence(entropy, spawn_key=(n_trials, member.shape[1])))
    statistics = []
    spreads = []
    for some in stretches(n_replicates, rows):
        # one sign for all levels of a trial: whole curves are mirrored
        n_drawn = some.stop - some.start
        bits = rng.integers(0, 2, (n_drawn, 1, n_trials), np.int8)
        signed = (1.0 - 2.0 * bits) * residual
        observed = observe((means + signed).reshape(-1, n_trials))
        statistics.append(observed.reshape(n_drawn, n_levels, -1))

        # Squares about the means of strata, Σ (w r)² - Σ_s (Σ_s ± w r)² / n_s, by those of the sample
        signed *= weight
        left = whole - ((signed @ member) ** 2).sum(axis=-1)
        share = left / np.where(whole > 0, whole, 1)
        spreads.append(np.sqrt(np.where(left > _ROUNDING * whole, share, 0.0)))
    return np.concatenate(statistics), np.concatenate(spreads)


def _seldom_exceeded(largest: Floats, alpha: float) -> Floats:
    """Return the ceil((1 - alpha)(n + 1))-th smallest of n replicates, along the first axis; infinite beyond them."""
    # of n + 1 exchangeable values, the observed one among them, at most α (n + 1) are above it
    place = int(np.ceil((1 - alpha) * (len(largest) + 1) - 1e-9)) - 1
    if place >= len(largest):
        return np.full(largest.shape[1:], np.inf)
    return np.asarray(np.partition(largest, place, axis=0)[place])


def mean_curve(curves: Floats, n_replicates: int, alpha: float, entropy: int) -> dict[str, Floats]:
    """Return an algorithm's mean curve over tasks, of curves (task, run, level), and its band; NaN of few runs."""
    present = ~np.isnan(curves[..., 0])
    n = np.count_nonzero(present, axis=1)[:, np.newaxis]
    filled = np.where(present[..., np.newaxis], curves, 0.0)
    means = filled.sum(axis=1) / n
    estimate = means.mean(axis=0)
    if (n < 2).any():
        # the variance of a task is not known
        half = np.full_like(estimate, np.nan)
    else:
        residual = np.where(present[..., np.newaxis], filled - means[:, np.newaxis], 0.0)
        # of the mean over tasks: √(Σ_t s_t² / n_t) / T
        variances = (residual**2).sum(axis=1) / (n * (n - 1))
        error = np.sqrt(variances.sum(axis=0)) / len(curves)
        critical = _residual_critical(residual, n, n_replicates, alpha, entropy)
        half = critical * error if np.isfinite(critical) else error * np.nan
    return {
        "mean_curve": estimate,
        "mean_curve_band": np.stack([estimate - half, estimate + half], axis=-1),
    }


def residual_critical(residual: Floats, n_replicates: int, alpha: float, entropy: int) -> Floats:
    """Return the critical value of the band of each mean, of residual runs (mean, run, level) that are all there."""
    _, n_runs, n_levels = residual.shape
    n = np.full((1, 1), n_runs)
    width = rows_that_fit(_REPLICATES * n_levels * residual.itemsize, CACHE)
    found = [
        _residual_critical(residual[part, np.newaxis], n, n_replicates, alpha, entropy)
        for part in stretches(len(residual), width)
    ]
    return np.concatenate(found)


def _residual_critical(residual: Floats, n: Floats, n_replicates: int, alpha: float, entropy: int) -> Floats:
    """Return the value that the largest studentized mean over levels of signed residual runs seldom exceeds.

    `residual` has shape (..., task, run, level), and the means in front have their signs in common.
    """
    # With S_t the signed sum of the n_t residuals of a task, t² of a replicate is (Σ_t S_t / n_t)² over
    #     Σ_t (Σ r² - S_t² / n_t) / (n_t (n_t - 1)) = Σ_t Σ r² / (n_t (n_t - 1)) - Σ_t S_t² / (n_t² (n_t - 1)),
    # of which the first sum does not depend on signs. The number of tasks, squared, is in both and left out.
    n_tasks, n_runs, _ = residual.shape[-3:]
    varies = residual.any(axis=tuple(range(residual.ndim - 1)))
    varying = residual[..., varies]
    squares = (varying**2).sum(axis=-2)
    per_run = 1 / n[:, 0]
    root_weight = np.sqrt(1 / (n * n * (n - 1)))[..., np.newaxis]
    whole = (squares / (n * (n - 1))).sum(axis=-2)[..., np.newaxis, :]
    rng = make_generator(np.random.SeedSequence(entropy, spawn_key=(n_tasks, n_runs)))
    largest = []
    for start in range(0, n_replicates, _REPLICATES):
        # whole blocks are drawn: the first replicates do not depend on how many there are
        bits = rng.integers(0, 2, (n_tasks, _REPLICATES, n_runs), np.int8)
        used = bits[:, : n_replicates - start]
        sums = (1.0 - 2.0 * used) @ varying  # (..., task, replicate, level)
        mean = np.tensordot(per_run, sums, (0, -3))
        sums *= root_weight
        variance = whole - np.einsum("...trl,...trl->...rl", sums, sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = mean**2 / np.where(variance <= _ROUNDING * whole, 0.0, variance)
        largest.append(np.where(np.isnan(t), 0.0, t).max(axis=-1, initial=0.0))
    replicates_first = np.moveaxis(np.concatenate(largest, axis=-1), -1, 0)
    return np.sqrt(_seldom_exceeded(replicates_first, alpha))
