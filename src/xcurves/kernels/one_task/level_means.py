"""The mean of an algorithm's runs at each level that all of them have, and the ends of a band around it."""

from __future__ import annotations

import numpy as np

from xcurves.array_types import Floats
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.intervals import student

_LEAST_RUNS = 4  # of a band for all levels together


def smoothed(scores: Floats, weight: float) -> Floats:
    """Return the exponential mean of each run so far, without the pull of a start at 0; the last axis is levels.

    s_i = w s_{i-1} + (1 - w) x_i, divided by 1 - w^i. Levels without a score, NaN, stay so and do not count.
    """
    if weight == 0:
        return scores
    found = np.full(scores.shape, np.nan)
    for row in np.ndindex(scores.shape[:-1]):
        known = ~np.isnan(scores[row])
        found[row][known] = _smoothed_run(scores[row][known], weight)
    return found


def _smoothed_run(scores: Floats, weight: float) -> Floats:
    mean = 0.0
    found = np.empty_like(scores)
    for place, score in enumerate(scores.tolist(), 1):
        mean = weight * mean + (1 - weight) * score
        found[place - 1] = mean / (1 - weight**place)
    return found


def at_even_levels(levels: Floats, scores: Floats, n_levels: int) -> tuple[Floats, Floats]:
    """Return even levels, and the runs there, of runs that have their own levels, shape (run, evaluation).

    Elsewhere than between the last start and the first end of runs, a mean would be that of fewer of them.
    """
    known = ~np.isnan(scores)
    of_runs = [(level[there], run[there]) for level, run, there in zip(levels, scores, known, strict=True)]
    low = max(level[0] for level, _ in of_runs)
    high = min(level[-1] for level, _ in of_runs)
    grid = np.array([])
    if low < high:
        grid = np.linspace(low, high, n_levels)
    elif low == high:
        grid = np.array([low])
    return grid, np.array([np.interp(grid, *run) for run in of_runs])


def band_ends(
    runs: Floats,
    band: str | None,
    alpha: float,
    n_resamples: int = 0,
    entropy: int = 0,
) -> Floats:
    """Return the ends of a band of the mean of runs, shape (run, level): (level, 2), NaN where there is none."""
    n_runs, n_levels = runs.shape
    none = np.full((n_levels, 2), np.nan)
    if n_runs < 2 or n_levels == 0 or band is None:
        return none
    if band == "simultaneous":
        if n_runs < _LEAST_RUNS:
            return none
        found = bootstrap.mean_curve(runs[np.newaxis], n_resamples, alpha, entropy)["mean_curve_band"]
        if not np.isfinite(found).all():  # too few runs for this confidence level
            return none
        return found

    # each level by itself
    mean = runs.mean(axis=0)
    sd: Floats = runs.std(axis=0, ddof=1)
    error = sd / np.sqrt(n_runs)
    if band == "pointwise":
        return student(mean, error, np.array(n_runs - 1), alpha)
    half = error
    if band == "sd":
        half = sd
    return np.stack([mean - half, mean + half], axis=-1)
