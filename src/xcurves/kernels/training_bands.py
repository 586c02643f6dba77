"""Bands of statistics of trials that hold at all training levels together.

Whole residual curves, about the mean of their stratum and scaled by ``sqrt(l / (l - 1))``, get random signs; each
replicate has the statistics of the means plus these residuals. The half-width of the
band, in standard deviations of replicates, is a quantile of the largest deviation over levels, where every replicate is
divided by its own spread about the means of strata.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.ecdf import Ints
from xcurves.kernels.moments import Floats

Observe = Callable[[Floats, Ints], Floats]
_AT_ONCE = 2**18  # scores of replicates that are sorted at once
_HELD = 2**22  # statistics of replicates held at once
_ROUNDING = 64 * np.finfo(float).eps


def statistic_bands(
    x: Floats, sizes: NDArray[np.intp], observe: Observe, n_replicates: int, alpha: float, entropy: int
) -> Floats:
    """Return bands of statistics, shape (level, statistic, 2); NaN where runs are too few for a finite one.

    Parameters
    ----------
    x : ndarray, shape (level, trial)
        Complete curves, stratum after stratum.
    sizes : ndarray of int
        Trials of each stratum, two or more.
    observe : function
        Of sorted samples, shape (sample, trial), and their sizes; returns shape (sample, statistic).
    """
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    member = (stratum[:, np.newaxis] == np.arange(len(sizes))).astype(float)
    means = (x @ member / sizes)[:, stratum]
    residual = (x - means) * np.sqrt(sizes / (sizes - 1))[stratum]
    estimate = observe(np.sort(x, axis=-1), np.full(len(x), x.shape[1]))
    n_levels = max(1, _HELD // (n_replicates * estimate.shape[1]))
    deviation, largest = np.empty(estimate.shape), np.zeros((n_replicates, estimate.shape[1]))
    for start in range(0, len(x), n_levels):
        part = slice(start, start + n_levels)
        drawn, spread = _replicates(
            means[part], residual[part], member / np.sqrt(sizes), observe, n_replicates, entropy
        )
        deviation[part] = drawn.std(axis=0)
        scale = deviation[part] * spread[..., np.newaxis]
        apart = np.abs(drawn - drawn.mean(axis=0))
        some = apart > _ROUNDING * np.abs(drawn).max(axis=0)
        with np.errstate(divide="ignore"):
            t = np.divide(apart, scale, out=np.zeros_like(apart), where=some)
        np.maximum(largest, t.max(axis=1), out=largest)
    place = int(np.ceil((1 - alpha) * (n_replicates + 1) - 1e-9)) - 1
    critical = (
        np.partition(largest, place, axis=0)[place] if place < n_replicates else np.full(largest.shape[1], np.inf)
    )
    half = np.where(np.isfinite(critical), critical, np.nan) * deviation
    return np.stack([estimate - half, estimate + half], axis=-1)


def _replicates(
    means: Floats, residual: Floats, member: Floats, observe: Observe, n_replicates: int, entropy: int
) -> tuple[Floats, Floats]:
    """Return statistics of replicates, shape (replicate, level, statistic), and their relative spread."""
    n_levels, n_trials = means.shape
    rows = max(1, _AT_ONCE // (n_trials * n_levels))
    whole = (residual**2).sum(axis=-1)
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(n_trials, member.shape[1])))
    statistics, spreads = [], []
    for start in range(0, n_replicates, rows):
        signs = 1.0 - 2.0 * rng.integers(0, 2, (min(rows, n_replicates - start), 1, n_trials), np.int8)
        signed = signs * residual
        sample = np.sort((means + signed).reshape(-1, n_trials), axis=-1)
        statistics.append(observe(sample, np.full(len(sample), n_trials)).reshape(len(signed), n_levels, -1))
        left = whole - ((signed @ member) ** 2).sum(axis=-1)
        spreads.append(np.sqrt(np.where(left > _ROUNDING * whole, left / np.where(whole > 0, whole, 1), 0.0)))
    return np.concatenate(statistics), np.concatenate(spreads)
