"""The best of k trials drawn independently, as random search draws them: its median, its mean, and trials to match.

The best of k has the CDF F^k. Samples are rows, (row, trial), sorted, NaN at the end; ``n``, (row,), counts the others.
"""

from __future__ import annotations

import numpy as np

from xcurves.array_types import Floats, Ints
from xcurves.kernels.distributions import ecdf
from xcurves.kernels.distributions.summaries import weighted_mean


def best_medians(
    x: Floats, n: Ints, trials: Ints, alpha: float, *, together: bool
) -> Floats:
    """Return the median best of each number of trials, (3, row, k): NaN where it is the best of all, and its limits.

    These hold for each number by itself, or for all of them together.
    """
    p = 0.5 ** (1 / trials)
    ends = (
        ecdf.ranks_in_band(p, n, alpha)
        if together
        else ecdf.order_statistics(p, n, alpha)
    )
    ranks = np.stack([ecdf.quantile_ranks(p, n), *ends])
    medians = np.stack([ecdf.value_at(x, rank, n) for rank in ranks])
    medians[0, ranks[0] == n[:, np.newaxis]] = np.nan
    medians[:, n == 0] = np.nan
    return medians


def trials_to_match(
    x: Floats, n: Ints, other: Floats, alpha: float
) -> tuple[Floats, Floats]:
    """Return how many trials have a median best as high as another's, and the ends that bands allow, (row, k, 2)."""
    below = np.stack([ecdf.count_up_to(x, each, "below") for each in other])
    lower, upper = (ecdf.limits_at(counts, n, alpha) for counts in below[1:])
    reached = np.stack(
        [below[0] / np.maximum(n, 1)[:, np.newaxis], lower.lower, upper.upper]
    )
    with np.errstate(divide="ignore"):  # the smallest k with 2^(-1/k) > share
        found = np.where(
            reached < 1, np.floor(np.log(0.5) / np.log(reached)) + 1, np.inf
        )
    unknown = np.isnan(other[0]) | (below[0] >= n[:, np.newaxis] - 1)
    found[:, (n == 0) | np.isnan(other[1]).all(axis=-1)] = np.nan
    return np.where(unknown, np.nan, found[0]), np.stack([found[1], found[2]], axis=-1)


def _mean_shares(n: int, k: int) -> Floats:
    """Return C(i-1, k-1)/C(n, k), the share of samples of k of n trials of which the i-th from below is the best."""
    i = np.arange(n, 1, -1)
    return (
        np.concatenate([[k / n], k / n * np.cumprod((i - k) / (i - 1))])[::-1]
        if k <= n
        else np.full(n, np.nan)
    )


def best_means(
    x: Floats, n: Ints, trials: Ints, alpha: float, low: float, high: float
) -> tuple[Floats, Floats]:
    """Return the mean best of each number of trials, without bias, and limits by the band of F for all together."""
    # failed trials count as the lowest score that there can be
    x = np.where(np.isneginf(x), low, x)
    means = np.full((len(x), len(trials)), np.nan)
    ends = np.full((len(x), len(trials), 2), np.nan)
    for size in np.unique(n[n > 0]).tolist():
        rows = np.flatnonzero(n == size)
        own, limits = x[rows, :size], ecdf.band(size, alpha)
        centre = np.where(np.isfinite(own[:, size // 2]), own[:, size // 2], 0.0)
        for place, k in enumerate(trials.tolist()):
            if k <= size:
                means[rows, place] = weighted_mean(
                    own, _mean_shares(size, k), 0.0, np.inf, centre
                )
            upper, lower = limits.upper**k, limits.lower**k
            ends[rows, place, 0] = weighted_mean(
                own, np.diff(upper), upper[0], low, centre
            )
            ends[rows, place, 1] = weighted_mean(
                own, np.diff(lower), 1 - lower[-1], high, centre
            )
    return means, ends


def selected(
    scores: Floats, selection: Floats, trials: Ints, low: float = -np.inf
) -> tuple[Floats, Floats]:
    """Return median and mean score of the trial that is best of k by another score, (row, k); ties are drawn."""
    found = np.full((2, len(scores), len(trials)), np.nan)
    for row, (score, by) in enumerate(zip(scores, selection, strict=True)):
        present = ~(np.isnan(score) | np.isnan(by))
        n = int(present.sum())
        if n == 0:
            continue
        order = score[present].argsort(kind="stable")
        ordered = score[present][order][np.newaxis]
        _, group, counts = np.unique(
            by[present][order], return_inverse=True, return_counts=True
        )
        ends = np.concatenate([[0], np.cumsum(counts)])
        for place, k in enumerate(trials.tolist()):
            plug_in = (np.diff((ends / n) ** k) / counts)[group]
            if k < n and 2 * (n - 1) ** k >= n**k:
                rank = np.count_nonzero(np.cumsum(plug_in) < 0.5 - 1e-12)
                found[0, row, place] = ordered[0, min(rank, n - 1)]
            if k <= n:
                up_to = np.concatenate([[0.0], np.cumsum(_mean_shares(n, k))])
                share = (np.diff(up_to[ends]) / counts)[group]
                drawn = share > 0
                counted = np.where(np.isneginf(ordered), low, ordered)[:, drawn]
                found[1, row, place] = weighted_mean(
                    counted, share[drawn], 0.0, np.inf
                )[0]
    return found[0], found[1]
