"""The mean of an algorithm's runs at each level that all of them have, and the ends of a band around it."""

from __future__ import annotations

import numpy as np

from xcurves.array_types import Bools, Floats
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.intervals import student

_LEAST_RUNS = 4  # of a band for all levels together


def smoothed(scores: Floats, weight: float) -> Floats:
    """Return the exponential mean of each run so far, without the pull of a start at 0; the last axis is levels.

    s_i = w s_{i-1} + (1 - w) x_i, divided by 1 - w^i. Levels without a score, NaN, stay so and do not count.
    """
    if weight == 0:
        return scores
    known = ~np.isnan(scores)
    share = 1 - weight ** known.cumsum(axis=-1)
    found = np.full(scores.shape, np.nan)
    mean = np.zeros(scores.shape[:-1])
    for level in range(scores.shape[-1]):
        here = known[..., level]
        mean = np.where(here, weight * mean + (1 - weight) * scores[..., level], mean)
        np.divide(mean, share[..., level], out=found[..., level], where=here)
    return found


def at_even_levels(levels: Floats, scores: Floats, n_levels: int) -> tuple[Floats, Floats]:
    """Return even levels, and the runs there, of runs that have their own levels, shape (..., run, evaluation).

    Elsewhere than between the last start and the first end of runs, a mean would be that of fewer of them.
    """
    known = ~np.isnan(scores)
    # levels that a run has come first
    order = np.argsort(~known, axis=-1, kind="stable")
    n_known = known.sum(axis=-1)
    levels, scores = (np.take_along_axis(each, order, axis=-1) for each in (levels, scores))
    levels = np.where(np.arange(levels.shape[-1]) < n_known[..., np.newaxis], levels, np.inf)

    there = n_known > 0
    last = np.take_along_axis(levels, np.maximum(n_known - 1, 0)[..., np.newaxis], axis=-1)[..., 0]
    low = np.where(there, levels[..., 0], -np.inf).max(axis=-1)
    high = np.where(there, last, np.inf).min(axis=-1)
    with np.errstate(invalid="ignore"):  # of algorithms without runs, whose ends are infinite
        grid = np.linspace(low, high, n_levels, axis=-1)
    grid[low > high] = np.nan
    grid[low == high, 1:] = np.nan
    grid[~there.any(axis=-1)] = np.nan
    return grid, _read_at(levels, scores, n_known, grid[..., np.newaxis, :])


def _read_at(levels: Floats, scores: Floats, n_known: Floats, grid: Floats) -> Floats:
    """Return scores on the lines between the first `n_known` levels of each run, at levels between its ends."""
    grid = np.broadcast_to(grid, (*levels.shape[:-1], grid.shape[-1]))
    n_levels = levels.shape[-1]
    # Sorted together, each level of the grid has as many levels of the run before it as there are up to it.
    order = np.argsort(np.concatenate([levels, grid], axis=-1), axis=-1, kind="stable")
    is_level = order < n_levels
    before = np.empty(order.shape, np.int64)
    np.put_along_axis(before, order, is_level.cumsum(axis=-1), axis=-1)
    last = np.maximum(n_known - 1, 0)[..., np.newaxis]
    left = np.clip(before[..., n_levels:] - 1, 0, last)
    right = np.minimum(left + 1, last)

    x0, x1 = (np.take_along_axis(levels, place, axis=-1) for place in (left, right))
    y0, y1 = (np.take_along_axis(scores, place, axis=-1) for place in (left, right))
    with np.errstate(invalid="ignore"):  # of absent runs
        run = x1 - x0
        slope = np.divide(y1 - y0, run, out=np.zeros_like(run), where=run > 0)
        return np.where(n_known[..., np.newaxis] > 0, slope * (grid - x0) + y0, np.nan)


def means_with_bands(
    runs: Floats,
    band: str | None,
    alpha: float,
    n_resamples: int = 0,
    entropy: int = 0,
) -> tuple[Floats, Floats]:
    """Return means of runs, shape (..., run, level), at levels that all have, and the ends of bands (..., level, 2).

    Ends are NaN where there is none.
    """
    there = np.asarray(~np.isnan(runs).all(axis=-1))
    n_runs = there.sum(axis=-1)
    shared = ~(np.isnan(runs) & there[..., np.newaxis]).any(axis=-2) & (n_runs > 0)[..., np.newaxis]
    used = there[..., np.newaxis] & shared[..., np.newaxis, :]
    n = np.maximum(n_runs, 1)[..., np.newaxis]
    mean = np.where(shared, np.where(used, runs, 0.0).sum(axis=-2) / n, np.nan)
    if band is None:
        return mean, np.full((*mean.shape, 2), np.nan)
    residual = np.where(used, runs - mean[..., np.newaxis, :], 0.0)
    sd = np.sqrt((residual**2).sum(axis=-2) / np.maximum(n - 1, 1))
    error = np.where(n > 1, sd, np.nan) / np.sqrt(n)
    if band == "pointwise":  # each level by itself
        return mean, student(mean, error, np.maximum(n - 1, 1), alpha)
    if band == "simultaneous":
        half = error * _critical(residual, there, alpha, n_resamples, entropy)[..., np.newaxis]
    elif band == "sd":
        half = np.where(n > 1, sd, np.nan)
    else:
        half = error
    return mean, np.stack([mean - half, mean + half], axis=-1)


def _critical(residual: Floats, there: Bools, alpha: float, n_resamples: int, entropy: int) -> Floats:
    """Return the factor of the standard errors in a band for all levels together; NaN where runs are too few for it."""
    n_runs = there.sum(axis=-1)
    critical = np.full(n_runs.shape, np.nan)
    # runs that are there come first
    order = np.argsort(~there, axis=-1, kind="stable")
    # Algorithms with equally many runs have the same signs.
    for n in np.unique(n_runs[n_runs >= _LEAST_RUNS]).tolist():
        alike = n_runs == n
        runs = np.take_along_axis(residual[alike], order[alike][:, :n, np.newaxis], axis=-2)
        critical[alike] = bootstrap.residual_critical(runs, n_resamples, alpha, entropy)
    return np.where(np.isfinite(critical), critical, np.nan)
