"""Times at which runs reach a target, performance profiles of them (Dolan & Moré 2002), and ratios of times over tasks.

Intervals of ratios combine by root sum of squares (MOVER; Zou & Donner 2008, doi:10.1002/sim.3095). Bounds of logs of
ratios, low and high, are equal where known, infinite where nothing bounds them there, NaN where a task says nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels import mean_curves, task_flips
from xcurves.kernels.mean_curves import Tracks
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import FlipPlan, halve, stretches

_AT_ONCE = 2**21  # evaluations of all runs of a batch


def first_level(met: NDArray[np.bool_], known: NDArray[np.bool_], levels: Floats, sustained: int) -> Floats:
    """Return the first level of `sustained` known evaluations in a row that are met, (..., evaluation); else inf."""
    n = met.shape[-1]
    lead, met, known, levels = met.shape[:-1], met.reshape(-1, n), known.reshape(-1, n), levels.reshape(-1, n)
    times = np.empty(len(met))
    for part in stretches(len(times), max(1, _AT_ONCE // n)):
        own = known[part]
        place = np.cumsum(own, axis=-1)
        unmet = np.where(own & ~met[part], place, n + 1)
        unmet[:, -1] = np.minimum(unmet[:, -1], place[:, -1] + 1)  # after the last evaluation none is met
        unmet = np.minimum.accumulate(unmet[:, ::-1], axis=-1)[:, ::-1]
        long = own & (unmet - place >= sustained)
        first = np.take_along_axis(levels[part], long.argmax(axis=-1)[:, np.newaxis], axis=-1)[:, 0]
        times[part] = np.where(long.any(axis=-1), first, np.inf)
    return times.reshape(lead)


def medians(times: Floats) -> Floats:
    """Return medians along the last axis, NaN where all are; the middle two are averaged, infinite if either is."""
    ordered = np.sort(times, axis=-1)  # NaN last
    n = np.count_nonzero(~np.isnan(times), axis=-1)[..., np.newaxis]
    low = np.take_along_axis(ordered, np.maximum(n - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ordered, n // 2, axis=-1)
    return np.asarray((low + high)[..., 0] / 2)


def ratios(times: Floats, bases: NDArray[np.intp] | None, tau_max: float) -> Floats:
    """Return times over the best, (..., task, algorithm); variants and their `bases` gate each other (AlgoPerf)."""
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
    """Return the share of each task in a score: the area under its profile, trapezoidal with so many `points`."""
    if points is None:
        return np.asarray(np.maximum(0.0, (tau_max - found) / (tau_max - 1)))
    tau = np.linspace(1.0, tau_max, points)
    weight = np.full(points, 1 / (points - 1))
    weight[[0, -1]] /= 2
    return np.asarray((found[..., np.newaxis] <= tau) @ weight)


def bootstrap_scores(
    times: Floats, bases: NDArray[np.intp] | None, tau_max: float, points: int | None, n_draws: int, entropy: int
) -> Floats:
    """Return scores, (draw, algorithm), of runs of times (task, algorithm, run) drawn with replacement."""
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(11,)))
    drawn = np.full((n_draws, *times.shape), np.nan)
    n_runs = np.count_nonzero(~np.isnan(times), axis=-1)
    ordered = np.sort(times, axis=-1)
    for cell in zip(*np.nonzero(n_runs), strict=True):
        picked = rng.integers(n_runs[cell], size=(n_draws, n_runs[cell]))
        drawn[(slice(None), *cell, slice(n_runs[cell]))] = ordered[cell][picked]
    found = ratios(medians(drawn), bases, tau_max)
    return np.asarray(contributions(found, tau_max, points).mean(axis=-2))


class TaskRatios(NamedTuple):
    """Claims about tasks like these, on the scale of logarithms, each of shape (algorithm,) or (algorithm, 2)."""

    mean: Floats
    interval: Floats
    pvalue: Floats
    median: Floats
    median_interval: Floats


def over_tasks(low: Floats, high: Floats, families: NDArray[np.intp], plan: FlipPlan, alpha: float) -> TaskRatios:
    """Return the mean by flips of whole tasks or families, and the median of tasks, of bounds (algorithm, task)."""
    present = ~np.isnan(low)
    n_tasks = np.count_nonzero(present, axis=-1)
    weight = np.where(present, 1 / np.maximum(n_tasks, 1)[:, np.newaxis], np.nan)
    of_families = _family_sums(weight, families, plan.n_units)
    bounds = [_family_sums(weight * each, families, plan.n_units) for each in (low, high)]
    known = [np.where(np.isnan(each), 0.0, np.abs(each)).max(axis=-1) < np.inf for each in bounds]
    finite = [np.where(mine[:, np.newaxis], each, np.nan) for each, mine in zip(bounds, known, strict=True)]
    means = [np.where(n_tasks > 0, np.nansum(each, axis=-1), np.nan) for each in finite]
    pvalues = [task_flips.pvalues(each, plan, 0.0)[0] for each in finite]  # not adjusted
    ends = [task_flips.flip_intervals(each, of_families, plan, alpha)[0, :, side] for side, each in enumerate(finite)]
    ends = [np.where(mine, end, bound) for end, mine, bound in zip(ends, known, (-np.inf, np.inf), strict=True)]
    exact = (np.where(present, low == high, True)).all(axis=-1) & (n_tasks > 0)
    # A bound shows what it is the worst case of: "later" if even the upper bounds are, "sooner" if even the lower are.
    later = np.where(known[1] & (means[1] < 0), pvalues[1], 1.0)
    sooner = np.where(known[0] & (means[0] > 0), pvalues[0], 1.0)
    single = np.count_nonzero(~np.isnan(of_families), axis=-1) < 2
    pvalue = np.where(single, np.nan, np.where(exact, pvalues[0], np.minimum(later, sooner)))
    interval = np.where((n_tasks > 0)[:, np.newaxis], np.stack(ends, axis=-1), np.nan)
    middle, median_interval = _medians(low, high, alpha)
    if plan.n_units < len(families):  # tasks of a family are no draws of their own
        middle, median_interval = np.full_like(middle, np.nan), np.full_like(median_interval, np.nan)
    return TaskRatios(np.where(exact, means[0], np.nan), interval, pvalue, middle, median_interval)


def _family_sums(x: Floats, families: NDArray[np.intp], n_families: int) -> Floats:
    """Return sums over families, shape (algorithm, family), NaN where a family has no task."""
    known = ~np.isnan(x)
    sums, counts = np.zeros((2, n_families, len(x)))
    np.add.at(sums, families, np.where(known, x, 0.0).T)
    np.add.at(counts, families, known.T)
    return np.where(counts > 0, sums, np.nan).T


def _medians(low: Floats, high: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return medians over tasks, NaN where bounds leave them open, and exact intervals of order statistics."""
    least, most = medians(low), medians(high)
    n = np.count_nonzero(~np.isnan(low), axis=-1)
    order = scipy.stats.binom.ppf(alpha / 2, n, 0.5)
    order = np.nan_to_num(order + (scipy.stats.binom.cdf(order, n, 0.5) <= alpha / 2)).astype(int)  # from 1; 0: none
    ends = (np.pad(np.sort(low), ((0, 0), (1, 0)), constant_values=-np.inf), order), (-np.sort(-high), order - 1)
    lower, upper = (np.take_along_axis(each, place[:, np.newaxis], axis=-1)[:, 0] for each, place in ends)
    interval = np.stack([lower, np.where(order > 0, upper, np.inf)], axis=-1)
    return np.where(least == most, least, np.nan), np.where(n[:, np.newaxis] > 0, interval, np.nan)


_LEAST, _LARGEST = -60.0, 200.0  # powers of two between which critical values are looked for


class Combination(NamedTuple):
    """Weighted sums of logarithms of times, each of shape (sum,)."""

    estimate: Floats
    lower: Floats
    upper: Floats
    pvalue: Floats


def combine_times(track: Tracks, owner: NDArray[np.intp], weight: Floats, offset: Floats, alpha: float) -> Combination:
    """Return offset + Σ weight · log time of the tracks that each sum owns, with intervals and p-values."""
    n = len(offset)
    u, point = mean_curves.first_crossing(track)
    log_time = track.log_training(u)
    error, df = mean_curves.slope_error(track, point)
    error = np.abs(weight) * error * (1.0 if track.log else 1 / np.maximum(u, np.finfo(float).tiny))
    estimate = offset + np.bincount(owner, weight * log_time, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        joint = np.bincount(owner, error**2, n) ** 2 / np.bincount(owner, error**4 / df, n)
    least = np.full(n, np.inf)
    np.minimum.at(least, owner, df)
    joint = np.where(np.isfinite(joint), joint, least)  # without spread

    def reach(critical: Floats) -> tuple[Floats, Floats]:
        hull = mean_curves.hull_by_statistic(track, critical[owner])
        below = log_time - track.log_training(hull.lower)
        above = track.log_training(hull.upper) - log_time
        up, down = np.where(weight > 0, (above, below), (below, above))
        return np.sqrt(np.bincount(owner, (weight * down) ** 2, n)), np.sqrt(np.bincount(owner, (weight * up) ** 2, n))

    down, up = reach(scipy.special.stdtrit(joint, 1 - alpha / 2))

    def covers(power: Floats) -> NDArray[np.bool_]:
        below, above = reach(2.0**power)
        return np.where(estimate < 0, estimate + above >= 0, estimate - below <= 0)

    high, _ = halve(covers, np.full(n, _LARGEST), np.full(n, _LEAST), 64)
    pvalue = np.where(high > _LARGEST - 1, 0.0, 2 * scipy.special.stdtr(joint, -(2.0**high)))
    return Combination(estimate, estimate - down, estimate + up, np.where(estimate == 0, 1.0, pvalue))
