"""Times at which single runs reach a target, and performance profiles of times.

A profile (Dolan & Moré 2002) says how often an algorithm is within a factor of the best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats

_AT_ONCE = 2**21  # evaluations of all runs of a batch


def first_level(met: NDArray[np.bool_], known: NDArray[np.bool_], levels: Floats, sustained: int) -> Floats:
    """Return the first level of `sustained` evaluations in a row that are met, infinity where there is none.

    `met` and `known`, shape (run, evaluation), are true where a score meets the target, and where there is a score;
    `levels` has the same shape, or that of one run.
    """
    times = np.empty(len(met))
    levels = np.broadcast_to(levels, met.shape)
    rows = max(1, _AT_ONCE // met.shape[-1])
    for start in range(0, len(met), rows):
        part = slice(start, start + rows)
        place = np.cumsum(known[part], axis=-1)
        unmet = np.where(known[part] & ~met[part], place, met.shape[-1] + 1)
        unmet[:, -1] = np.minimum(unmet[:, -1], place[:, -1] + 1)  # after the last evaluation none is met
        unmet = np.minimum.accumulate(unmet[:, ::-1], axis=-1)[:, ::-1]
        long = known[part] & (unmet - place >= sustained)
        first = np.take_along_axis(levels[part], long.argmax(axis=-1)[:, np.newaxis], axis=-1)[:, 0]
        times[part] = np.where(long.any(axis=-1), first, np.inf)
    return times


def medians(times: Floats) -> Floats:
    """Return medians along the last axis, NaN where all are; the middle two are averaged, infinite if either is."""
    ordered = np.sort(times, axis=-1)  # NaN last
    n = np.count_nonzero(~np.isnan(times), axis=-1)[..., np.newaxis]
    low = np.take_along_axis(ordered, np.maximum(n - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ordered, n // 2 - (n == ordered.shape[-1]) * (n // 2 == n), axis=-1)
    return np.asarray((low + high)[..., 0] / 2)


def ratios(times: Floats, bases: NDArray[np.intp] | None, tau_max: float) -> Floats:
    """Return times over the best of all algorithms, shape (..., task, algorithm), infinite where a task is not solved.

    `bases` has the base of each task that is a held-out variant, -1 of others; those then gate each other, in
    AlgoPerf's order, and variants are left out.
    """
    times = np.where(np.isnan(times), np.inf, times)
    if bases is not None:
        variants = np.flatnonzero(bases >= 0)
        times[..., variants, :] = np.where(np.isinf(times[..., bases[variants], :]), np.inf, times[..., variants, :])
    best = times.min(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found = np.where((times == best) & np.isfinite(best), 1.0, times / best)  # the best of 0 is 0
    found = np.where(np.isnan(found), np.inf, found)
    if bases is None:
        return found
    found[found > tau_max] = np.inf
    for variant in variants:
        base = found[..., bases[variant], :]
        base[np.isinf(found[..., variant, :])] = np.inf
    return np.asarray(found[..., bases < 0, :])


def contributions(found: Floats, tau_max: float, points: int | None) -> Floats:
    """Return the share of each task in the score of each algorithm, from 0 to 1: the area under its own profile.

    With `points` the trapezoidal rule at so many values of tau.
    """
    if points is None:
        return np.asarray(np.maximum(0.0, (tau_max - found) / (tau_max - 1)))
    tau = np.linspace(1.0, tau_max, points)
    weight = np.full(points, 1 / (points - 1))
    weight[[0, -1]] /= 2
    return np.asarray((found[..., np.newaxis] <= tau) @ weight)


def share_within(found: Floats, tau: Floats) -> Floats:
    """Return the share of tasks with a ratio of at most tau, shape (algorithm, tau), given (task, algorithm)."""
    return np.asarray((found[..., np.newaxis] <= tau).mean(axis=0))


def bootstrap_scores(
    times: Floats, bases: NDArray[np.intp] | None, tau_max: float, points: int | None, n_draws: int, entropy: int
) -> Floats:
    """Return scores, shape (draw, algorithm), of runs drawn with replacement within task and algorithm.

    Times of runs have shape (task, algorithm, run), NaN where there is none.
    """
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(11,)))
    drawn = np.full((n_draws, *times.shape), np.nan)
    n_runs = np.count_nonzero(~np.isnan(times), axis=-1)
    ordered = np.sort(times, axis=-1)
    for cell in zip(*np.nonzero(n_runs), strict=True):
        picked = rng.integers(n_runs[cell], size=(n_draws, n_runs[cell]))
        drawn[(slice(None), *cell, slice(n_runs[cell]))] = ordered[cell][picked]
    found = ratios(medians(drawn), bases, tau_max)
    return np.asarray(contributions(found, tau_max, points).mean(axis=-2))
