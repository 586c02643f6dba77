"""Bands that hold at all training levels together, from whole residual curves with random signs.

Statistics of trials: residuals about the mean of their stratum are scaled by ``sqrt(l / (l - 1))``; each replicate has
the statistics of the means plus these residuals. The half-width of the band, in standard deviations of replicates, is a
quantile of the largest deviation over levels, where every replicate is divided by its own spread about the means of
strata.

An algorithm's mean over given tasks: residuals are those about their task's mean; every replicate is studentized by its
own standard error, and the band is as many standard errors wide as the largest over levels seldom exceeds.
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
_REPLICATES = 128  # of a mean curve whose signs are drawn at once
_ROUNDING = 64 * np.finfo(float).eps


def statistic_bands(
    x: Floats, sizes: NDArray[np.intp], observe: Observe, n_replicates: int, alpha: float, entropy: int
) -> Floats:
    """Return bands of statistics, shape (level, statistic, 2).

    NaN where runs are too few for a finite one, and at levels at which all runs of each stratum share a score.

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
    residual[np.abs(residual) <= _ROUNDING * np.abs(x).max(axis=-1, keepdims=True)] = 0.0  # means of equal scores round
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
    critical = _critical(largest, alpha)
    half = np.where(np.isfinite(critical), critical, np.nan) * deviation
    half[~residual.any(axis=-1)] = np.nan
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


def _critical(largest: Floats, alpha: float) -> Floats:
    """Return the ceil((1 - alpha)(n + 1))-th smallest of n replicates, along the first axis; infinite beyond them."""
    place = int(np.ceil((1 - alpha) * (len(largest) + 1) - 1e-9)) - 1
    if place >= len(largest):
        return np.full(largest.shape[1:], np.inf)
    return np.asarray(np.partition(largest, place, axis=0)[place])


def mean_curve(curves: Floats, n_replicates: int, alpha: float, entropy: int) -> dict[str, Floats]:
    """Return an algorithm's mean curve over tasks and its band.

    Parameters
    ----------
    curves : ndarray, shape (task, run, level)
        A task's runs in front and NaN behind.

    Returns
    -------
    dict of ndarray
        `mean_curve`, shape (level,), and `mean_curve_band`, shape (level, 2): NaN where a task has one run, or where
        tasks and runs are so few that the band would be infinite.
    """
    present = ~np.isnan(curves[..., 0])
    n = np.count_nonzero(present, axis=1)[:, np.newaxis]
    filled = np.where(present[..., np.newaxis], curves, 0.0)
    means = filled.sum(axis=1) / n
    estimate = means.mean(axis=0)
    if (n < 2).any():
        return {"mean_curve": estimate, "mean_curve_band": np.full((len(estimate), 2), np.nan)}
    residual = np.where(present[..., np.newaxis], filled - means[:, np.newaxis], 0.0)
    own = (residual**2).sum(axis=1) / (n * (n - 1))
    error = np.sqrt(own.sum(axis=0)) / len(curves)
    largest = _residual_critical(residual, n, n_replicates, alpha, entropy)
    half = largest * error if np.isfinite(largest) else np.full_like(error, np.nan)
    return {"mean_curve": estimate, "mean_curve_band": np.stack([estimate - half, estimate + half], axis=-1)}


def _residual_critical(residual: Floats, n: Floats, n_replicates: int, alpha: float, entropy: int) -> float:
    """Return the value that the largest studentized mean over levels of signed residual runs seldom exceeds."""
    n_tasks, n_runs, _ = residual.shape
    varies = residual.any(axis=(0, 1))
    residual, squares = residual[..., varies], (residual[..., varies] ** 2).sum(axis=1)
    once, square = 1 / n[:, 0], np.sqrt(1 / (n * n * (n - 1)))[..., np.newaxis]
    whole = (squares / (n * (n - 1))).sum(axis=0)
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(n_tasks, n_runs)))
    largest = []
    for start in range(0, n_replicates, _REPLICATES):
        bits = rng.integers(0, 2, (n_tasks, _REPLICATES, n_runs), np.int8)[:, : n_replicates - start]
        sums = (1.0 - 2.0 * bits) @ residual  # (task, replicate, level)
        mean = np.tensordot(once, sums, 1)
        sums *= square
        variance = whole - np.einsum("trl,trl->rl", sums, sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = mean**2 / np.where(variance <= _ROUNDING * whole, 0.0, variance)
        largest.append(np.where(np.isnan(t), 0.0, t).max(axis=-1, initial=0.0))
    return float(np.sqrt(_critical(np.concatenate(largest), alpha)))
