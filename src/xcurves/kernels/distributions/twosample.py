"""Two samples: which is greater how often, and the Kolmogorov-Smirnov distance with its permutation distribution.

Samples are rows of shape (task, trial), missing trials NaN; the first has ``m`` trials, the second ``n``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Ints
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.distributions.ecdf import limits_at
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.shifts import halve

# An exact p takes m + n steps, each over min(m, n) + 1 probabilities. A step over fewer than so many counts as much as
# one over so many: its calls take the time. At more work p is Kolmogorov's limit.
EXACT_WORK = 50_000_000
FEW_TRIALS = 500

_HELD = 2**20  # numbers held at once


class Merged(NamedTuple):
    """Both samples in one ascending order, shape (task, trial)."""

    order: Ints  # indices of the trials in the concatenated samples
    # whether the next trial is greater: only there can distribution functions be compared
    end: Bools
    k: Ints  # how many trials of the first sample are up to each place
    j: Ints  # how many of the second
    m: Ints  # (task, 1), as n: numbers of trials
    n: Ints


def count_trials(x: Floats) -> Ints:
    """Return the number of trials along the last axis."""
    return np.asarray(np.count_nonzero(~np.isnan(x), axis=-1))


def merge_samples(x: Floats, y: Floats) -> Merged:
    """Put the trials of two samples into one order."""
    both = np.concatenate([x, y], axis=-1)
    order = both.argsort(axis=-1, kind="stable")
    values = np.take_along_axis(both, order, axis=-1)

    # NaN are last in the order and are unequal to what is before: the last trial that is there ends a block too.
    present = ~np.isnan(values)
    end = present.copy()
    end[:, :-1] &= values[:, 1:] != values[:, :-1]

    m = count_trials(x)[:, np.newaxis]
    n = count_trials(y)[:, np.newaxis]
    k = np.cumsum((order < x.shape[-1]) & present, axis=-1, dtype=np.int64)
    places = np.arange(1, k.shape[-1] + 1)
    return Merged(order, end, k, places - k, m, n)


def prob_greater(merged: Merged) -> Floats:
    """Return P(X > Y) + P(X = Y) / 2, shape (task,): the area below the second's CDF over the first's."""
    # Counts as they were at the last end of a block: they rise at ends only, by all trials of the block.
    k = np.maximum.accumulate(np.where(merged.end, merged.k, 0), axis=-1)
    j = np.maximum.accumulate(np.where(merged.end, merged.j, 0), axis=-1)
    first_in_block = np.diff(k, prepend=0)
    second_in_block = np.diff(j, prepend=0)

    # each X of a block wins over the Y before it and ties with the Y in it
    won_over = j - second_in_block / 2
    wins = (first_in_block * won_over).sum(axis=-1)
    n_pairs = (merged.m * merged.n)[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN of no trials
        return np.asarray(wins / n_pairs)


def newcombe(probability: Floats, m: Ints, n: Ints, alpha: float) -> Floats:
    """Return Newcombe's (2006) interval by his method 5, (task, 2): θ within z errors by Hanley & McNeil's variance."""
    # That variance is [θ(1 - θ) + (m - 1)(Q1 - θ²) + (n - 1)(Q2 - θ²)] / mn, Q1 = θ / (2 - θ), Q2 = 2θ² / (1 + θ), with
    #     Q1 - θ² = θ(1 - θ) (1 - θ) / (2 - θ),  Q2 - θ² = θ(1 - θ) θ / (1 + θ).
    # Method 5 takes the mean of m - 1 and n - 1 for both, so that X and Y can change places.
    z = -scipy.special.ndtri(alpha / 2)
    mean_size_less_one = (m + n) / 2 - 1

    def is_kept(theta: Floats) -> Bools:
        shapes = (1 - theta) / (2 - theta) + theta / (1 + theta)
        variance = theta * (1 - theta) * (1 + mean_size_less_one * shapes) / (m * n)
        return np.asarray((theta - probability) ** 2 <= z**2 * variance)

    # The estimate is kept, and 0 and 1, with a variance of 0, are not, unless they are the estimate.
    ends = [np.where(probability == end, end, halve(is_kept, probability, end)[1]) for end in (0.0, 1.0)]
    unknown = np.isnan(probability)[:, np.newaxis]
    return np.where(unknown, np.nan, np.stack(ends, axis=-1))


def gaps(merged: Merged) -> Ints:
    """Return m n times the greatest distance of the distribution functions, shape (task,)."""
    # |k / m - j / n| in whole numbers: equal distances are then equal
    apart = np.abs(merged.j * merged.m - merged.k * merged.n)
    apart[~merged.end] = 0
    return np.asarray(apart.max(axis=-1))


def outside_bands(merged: Merged, alpha: float) -> tuple[Bools, Bools]:
    """Return whether the first, and the second, is higher at some score: its CDF's band is below the other's."""
    # beyond the last trial of a task j goes on counting NaN
    up_to_k = np.minimum(merged.k, merged.m)
    up_to_j = np.minimum(merged.j, merged.n)
    x = limits_at(up_to_k, merged.m[:, 0], alpha)
    y = limits_at(up_to_j, merged.n[:, 0], alpha)
    first_higher = merged.end & (x.upper < y.lower)
    second_higher = merged.end & (y.upper < x.lower)
    return np.asarray(first_higher.any(axis=-1)), np.asarray(second_higher.any(axis=-1))


def ks_pvalue(merged: Merged, gap: Ints) -> Floats:
    """Return P(D >= D observed), (task,), all assignments being equally likely: exact, or of many Kolmogorov's."""
    pvalue = np.full(len(gap), np.nan)
    sizes = np.column_stack([merged.m, merged.n])
    for m, n in np.unique(sizes[(sizes > 0).all(axis=-1)], axis=0):
        tasks = np.flatnonzero((sizes == (m, n)).all(axis=-1))
        # The distance does not change if the samples change places: the smaller one is counted, which is shorter.
        fewer, more = int(min(m, n)), int(max(m, n))
        if int(m + n) * max(fewer, FEW_TRIALS) > EXACT_WORK:
            distance = gap[tasks] / (m * n)
            pvalue[tasks] = scipy.special.kolmogorov(distance * np.sqrt(m * n / (m + n)))
            continue
        for part in stretches(len(tasks), max(1, int(_HELD // (fewer + 1)))):
            some = tasks[part]
            pvalue[some] = _lattice_paths(merged.end[some, : m + n], gap[some], fewer, more)
    return pvalue


def _lattice_paths(end: Bools, gap: Ints, m: int, n: int) -> Floats:
    """Add up the probabilities of paths from (0, 0) to (m, n), m <= n, that reach the gap at a block's end."""
    # An assignment is a path: a step to the right for a trial of the first sample, so that after `step` trials k are of
    # the first and step - k of the second. mass[k] is the probability to be there without having reached the gap.
    k = np.arange(m + 1)
    mass = np.zeros((len(gap), m + 1))
    mass[:, 0] = 1.0
    reached = np.zeros(len(gap))
    for step in range(1, m + n + 1):
        # Of the trials left m - k are of the first sample and n - (step - 1 - k) of the second; that is negative
        # only where no path is.
        left = m + n - step + 1
        right = mass * ((m - k) / left)
        mass *= np.maximum(n - (step - 1 - k), 0) / left
        mass[:, 1:] += right[:, :-1]

        # Ties have no order: within a block distribution functions are not compared. Paths that reach the gap end.
        distance = np.abs((step - k) * m - k * n)
        far = end[:, step - 1, np.newaxis] & (distance >= gap[:, np.newaxis])
        reached += np.where(far, mass, 0.0).sum(axis=-1)
        mass[far] = 0.0
    return np.minimum(reached, 1.0)  # rounding exceeds it


def stratified_probability(x: Floats, y: Floats) -> Floats:
    """Return the mean over strata of P(X > Y) + P(X = Y) / 2, of trials of shape (task, stratum, trial)."""
    beats, m, n = _comparisons(x, y)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_strata = beats.sum(axis=(-1, -2)) / (m * n)
        return np.asarray(of_strata.mean(axis=-1))


def stratified_interval(x: Floats, y: Floats, n_resamples: int, entropy: int, alpha: float) -> Floats:
    """Return the bootstrap interval of that mean, (task, 2), of sorted trials of strata of the same sizes."""
    # places that are NaN in all strata are left out
    x = x[..., : count_trials(x).max()]
    y = y[..., : count_trials(y).max()]

    # The mean over strata of Σ_ij beats_ij / mn. A resample has trial i of the first so many times, u_i, and j of the
    # second w_j times: its mean is Σ_ij u_i beats_ij w_j of these shares, two products of matrices a stratum.
    beats, m, n = _comparisons(x, y)
    shares = beats / (m * n)[..., np.newaxis, np.newaxis] / m.shape[-1]

    # two seeds: the samples are drawn independently
    first = _StratifiedDraws.of(m[0], x.shape[-1], n_resamples, entropy)
    second = _StratifiedDraws.of(n[0], y.shape[-1], n_resamples, entropy + 1)
    rows = max(1, _HELD // (8 * first.there.size * y.shape[-1]))
    drawn = []
    for number, some in enumerate(stretches(n_resamples, rows)):
        count = some.stop - some.start
        # (task, stratum, resample, trial of the second)
        wins = first.weights(number, count) @ shares
        drawn.append((wins * second.weights(number, count)).sum(axis=(1, -1)))

    means = np.concatenate(drawn, axis=-1)[..., np.newaxis]
    tails = np.array([alpha / 2, 1 - alpha / 2])
    return bootstrap.bootstrap_percentiles(means, tails)[:, 0]


class _StratifiedDraws(NamedTuple):
    """How often the trials of each stratum are drawn."""

    design: bootstrap.BootstrapDesign
    there: Bools  # (stratum, trial): the units of the design in their order

    @classmethod
    def of(cls, sizes: Ints, width: int, n_resamples: int, entropy: int) -> _StratifiedDraws:
        design = bootstrap.BootstrapDesign(tuple(int(size) for size in sizes), None, n_resamples, entropy)
        return cls(design, np.arange(width) < np.array(design.sizes)[:, np.newaxis])

    def weights(self, number: int, count: int) -> Floats:
        """Return the counts of one block of resamples, shape (stratum, resample, trial)."""
        weights = np.zeros((count, *self.there.shape))
        weights[:, self.there] = self.design.block(number, count)
        return weights.swapaxes(0, 1)


def _comparisons(x: Floats, y: Floats) -> tuple[Floats, Ints, Ints]:
    """Return 1, 1/2 or 0 where X is greater, equal or less or missing, (..., trial, trial), and numbers of trials."""
    first, second = x[..., :, np.newaxis], y[..., np.newaxis, :]
    beats = (first > second) + (first == second) / 2
    m = count_trials(x)
    n = count_trials(y)
    return beats, m, n
