"""The best of k trials drawn independently, as random search draws them: its median, its mean, and trials to match.

The best of k has the CDF F^k. Samples are rows, (row, trial), sorted, NaN at the end; ``n``, (row,), counts the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xcurves.array_types import Floats, Ints
from xcurves.kernels.distributions import ecdf
from xcurves.kernels.distributions.summaries import weighted_mean

# cumulated shares come out a little below 1/2 where they are 1/2
_ROUNDING = 1e-12


def best_medians(x: Floats, n: Ints, trials: Ints, alpha: float, *, together: bool) -> Floats:
    """Return the median best of each number of trials, (3, row, k): NaN where it is the best of all, and its limits.

    These hold for each number by itself, or for all of them together.
    """
    # F^k = 1/2 where F = 2^(-1/k): the median best of k is that quantile of the single trials.
    probabilities = 0.5 ** (1 / trials)
    if together:
        lowest, highest = ecdf.ranks_in_band(probabilities, n, alpha)
    else:
        lowest, highest = ecdf.order_statistics(probabilities, n, alpha)
    ranks = np.stack([ecdf.quantile_ranks(probabilities, n), lowest, highest])
    medians = np.stack([ecdf.value_at(x, rank, n) for rank in ranks])

    # From such k on the estimate would stay at the largest score, however many trials: n trials do not reach that far.
    medians[0, ranks[0] == n[:, np.newaxis]] = np.nan
    medians[:, n == 0] = np.nan
    return medians


def trials_to_match(x: Floats, n: Ints, other: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return how many trials have a median best as high as another's, and the ends that bands allow, (row, k, 2)."""
    # F⁻¹(p) >= z where p > F(z-), the share of trials below z, not of those up to it
    below, below_lower, below_upper = (ecdf.count_up_to(x, scores, "below") for scores in other)
    size = n[:, np.newaxis]
    # Fewest trials: the highest F⁻¹ that the band of these allows against the lowest of the other's; most: the reverse.
    shares = np.stack(
        [
            below / np.maximum(size, 1),
            ecdf.limits_at(below_lower, n, alpha).lower,
            ecdf.limits_at(below_upper, n, alpha).upper,
        ]
    )

    # 2^(-1/k) > share where k > ln(1/2) / ln(share): the next whole number. No k does if all trials are below.
    with np.errstate(divide="ignore"):  # ln 0 = -inf gives k = 1
        least = np.floor(np.log(0.5) / np.log(shares)) + 1
    needed = np.where(shares < 1, least, np.inf)
    needed[:, (n == 0) | np.isnan(other[1]).all(axis=-1)] = np.nan

    # With n - 1 trials below, only the largest score is as high: `best_medians` has no estimate there either.
    unknown = np.isnan(other[0]) | (below >= size - 1)
    estimate = np.where(unknown, np.nan, needed[0])
    return estimate, np.stack([needed[1], needed[2]], axis=-1)


def _mean_shares(n: int, k: int) -> Floats:
    """Return C(i-1, k-1)/C(n, k), the share of samples of k of n trials of which the i-th from below is the best."""
    if k > n:
        return np.full(n, np.nan)
    # From the highest on, as binomials overflow: C(n-1, k-1)/C(n, k) = k/n, and C(i-2, k-1)/C(i-1, k-1) = (i-k)/(i-1).
    i = np.arange(n, 1, -1)
    below_best = k / n * np.cumprod((i - k) / (i - 1))
    return np.concatenate([[k / n], below_best])[::-1]


def best_means(x: Floats, n: Ints, trials: Ints, alpha: float, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the mean best of each number of trials, without bias, and limits by the band of F for all together."""
    # failed trials count as the lowest score that there can be
    scores = np.where(np.isneginf(x), low, x)
    means = np.full((len(x), len(trials)), np.nan)
    limits = np.full((len(x), len(trials), 2), np.nan)
    for size in np.unique(n[n > 0]).tolist():
        rows = np.flatnonzero(n == size)
        samples = scores[rows, :size]
        band = ecdf.band(size, alpha)

        # Sums are about the middle trial: scores far from zero keep their digits.
        middle = samples[:, size // 2]
        centre = np.where(np.isfinite(middle), middle, 0.0)
        for column, k in enumerate(trials.tolist()):
            if k <= size:
                shares = _mean_shares(size, k)
                means[rows, column] = weighted_mean(samples, shares, 0.0, np.inf, centre)

            # The mean of F^k is lowest where F is highest: what F has below all trials is at `low`. For the highest
            # mean F is at its lower limits, and what these leave above all trials is at `high`.
            upper = band.upper**k
            limits[rows, column, 0] = weighted_mean(samples, np.diff(upper), upper[0], low, centre)
            lower = band.lower**k
            limits[rows, column, 1] = weighted_mean(samples, np.diff(lower), 1 - lower[-1], high, centre)
    return means, limits


def selected(scores: Floats, selection: Floats, trials: Ints, low: float = -np.inf) -> tuple[Floats, Floats]:
    """Return median and mean score of the trial that is best of k by another score, (row, k); ties are drawn."""
    medians = np.full((len(scores), len(trials)), np.nan)
    means = np.full((len(scores), len(trials)), np.nan)
    for row, (score, by) in enumerate(zip(scores, selection, strict=True)):
        # a trial without one of both scores can be neither selected nor reported
        present = ~(np.isnan(score) | np.isnan(by))
        if not present.any():
            continue
        sample = _Selected.of(score[present], by[present])
        for column, k in enumerate(trials.tolist()):
            medians[row, column] = sample.median(k)
            means[row, column] = sample.mean(k, low)
    return medians, means


class _Selected(NamedTuple):
    """Trials in ascending order of the score that is reported, with their places by the one that selects."""

    scores: Floats  # (1, trial)
    group: Ints  # which of the distinct values of the selecting score each has, ascending
    counts: Ints  # how many trials have each of these values
    ends: Ints  # how many have it or a lower one, after a 0

    @classmethod
    def of(cls, score: Floats, by: Floats) -> _Selected:
        order = score.argsort(kind="stable")
        _, group, counts = np.unique(by[order], return_inverse=True, return_counts=True)
        ends = np.concatenate([[0], np.cumsum(counts)])
        return cls(score[order][np.newaxis], group, counts, ends)

    def median(self, k: int) -> float:
        """Return the median reported score of the best of k, NaN where that is the best of all trials."""
        n = self.scores.shape[1]
        # Median rank below n, (1 - 1/n)^k >= 1/2, in whole numbers: shares would miss the tie at even n. It implies
        # k < n, which is asked first to spare the powers of large k.
        if k >= n or 2 * (n - 1) ** k < n**k:
            return np.nan
        # The best of k by selection has one of the lowest j values with (ends_j / n)^k; trials with one value share it.
        chance = (np.diff((self.ends / n) ** k) / self.counts)[self.group]
        rank = np.count_nonzero(np.cumsum(chance) < 0.5 - _ROUNDING)
        return float(self.scores[0, min(rank, n - 1)])

    def mean(self, k: int, low: float) -> float:
        """Return the mean reported score of the best of k different trials, NaN of more than there are."""
        n = self.scores.shape[1]
        if k > n:
            return np.nan
        # ranks by selection share their chances within a value, as which of its trials is drawn is left to chance
        up_to = np.concatenate([[0.0], np.cumsum(_mean_shares(n, k))])
        chance = (np.diff(up_to[self.ends]) / self.counts)[self.group]
        # without the trials that are never the best: 0 · -inf is NaN
        drawn = chance > 0
        counted = np.where(np.isneginf(self.scores), low, self.scores)[:, drawn]
        return float(weighted_mean(counted, chance[drawn], 0.0, np.inf)[0])
