"""Aggregate curves over tasks: where two algorithms differ on tasks like those at hand, and the curve of each.

Difference: one vector of flips of whole families for all levels; p-values adjusted by step-down max-|T| over levels
(Westfall & Young 1993); the simultaneous band is that of the residuals ``x - W Δ`` under the same flips.

Curve of an algorithm, for these tasks alone: whole residual runs, about their task's mean, get random signs; every
replicate is studentized by its own standard error, and the band is as many standard errors wide as the largest over
levels seldom exceeds.
"""

from __future__ import annotations

import numpy as np

from xcurves.kernels import task_flips
from xcurves.kernels.moments import Floats
from xcurves.kernels.task_flips import FlipPlan

FEWEST_FAMILIES = 4  # of three, a band of 95 % covers 66 to 75 %
_BLOCK = 128  # replicates at once
_HELD = 2**21
_ROUNDING = 64 * np.finfo(float).eps


def profile_difference(x: Floats, weights: Floats, plan: FlipPlan, alpha: float) -> dict[str, Floats]:
    """Compare a pair at every level.

    Parameters
    ----------
    x : ndarray, shape (level, family)
        Sums over families of weighted differences.
    weights : ndarray, shape (family,)
        Sums of their weights, of 1 in all; NaN where the pair lacks the family.

    Returns
    -------
    dict of ndarray, shape (level,)
        `difference`, `statistic`, `pvalue`, `pvalue_adjusted`; and `difference_band`, shape (level, 2), NaN of fewer
        than `FEWEST_FAMILIES` families.
    """
    x = np.where(np.isnan(weights), np.nan, x)
    pvalue, adjusted = task_flips.pvalues(x, plan, np.arange(len(x)))
    estimate = np.nansum(x, axis=-1)
    n = np.count_nonzero(~np.isnan(weights))
    half = np.full(len(x), np.nan)
    if n >= FEWEST_FAMILIES:
        residual = x - weights * estimate[:, np.newaxis]
        half = critical(residual, plan, alpha) * np.sqrt(n / (n - 1) * np.nansum(residual**2, axis=-1))
    return {
        "difference": estimate,
        "statistic": task_flips.flip_statistic(x),
        "pvalue": pvalue,
        "pvalue_adjusted": adjusted,
        "difference_band": np.stack([estimate - half, estimate + half], axis=-1),
    }


def critical(residual: Floats, plan: FlipPlan, alpha: float) -> float:
    """Return the value that the largest |T| over levels exceeds in a share of at most `alpha` of the flips."""
    filled = np.nan_to_num(residual)
    n = np.count_nonzero(~np.isnan(residual[0]))
    scale = n * (filled**2).sum(axis=-1)
    some = scale > 0
    rows = max(1, _HELD // sum(residual.shape))
    largest = [(((signs @ filled[some].T) ** 2) / scale[some]).max(axis=-1, initial=0.0) for signs in plan.signs(rows)]
    ratio = _quantile(np.concatenate(largest), plan.n_total, alpha)
    rest = 1 - ratio
    return float(np.sqrt((n - 1) * ratio / rest)) if rest > _ROUNDING else np.inf


def _quantile(values: Floats, n_total: int, alpha: float) -> float:
    """Return the ceil((1 - alpha) n_total)-th smallest value; infinite if there are not so many."""
    place = int(np.ceil((1 - alpha) * n_total - 1e-9)) - 1
    return float(np.partition(values, place)[place]) if place < len(values) else np.inf


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
    for start in range(0, n_replicates, _BLOCK):
        bits = rng.integers(0, 2, (n_tasks, _BLOCK, n_runs), np.int8)[:, : n_replicates - start]
        sums = (1.0 - 2.0 * bits) @ residual  # (task, replicate, level)
        mean = np.tensordot(once, sums, 1)
        sums *= square
        variance = whole - np.einsum("trl,trl->rl", sums, sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = mean**2 / np.where(variance <= _ROUNDING * whole, 0.0, variance)
        largest.append(np.where(np.isnan(t), 0.0, t).max(axis=-1, initial=0.0))
    return float(np.sqrt(_quantile(np.concatenate(largest), n_replicates + 1, alpha)))
