"""Ratios of times: their means over tasks, from intervals of each time or from bounds of single tasks.

Intervals of each time are combined by root sum of squares (MOVER; Zou & Donner 2008, Stat. Med. 27, 1693-1702,
doi:10.1002/sim.3095), with the degrees of freedom fixed at the estimate (Satterthwaite 1946), so that p-value and
interval agree at every level.

Some tasks bound a ratio on one side only. Every algorithm has, in each task, a lower and an upper bound of the
logarithm of its ratio, equal where it is known; -inf or inf where nothing bounds it there; NaN where the task says
nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels import mean_curves, task_flips
from xcurves.kernels.mean_curves import Tracks
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import FlipPlan


class TaskRatios(NamedTuple):
    """Claims about tasks like these, on the scale of logarithms, each of shape (algorithm,) or (algorithm, 2)."""

    mean: Floats
    interval: Floats
    pvalue: Floats
    median: Floats
    median_interval: Floats


def over_tasks(low: Floats, high: Floats, families: NDArray[np.intp], plan: FlipPlan, alpha: float) -> TaskRatios:
    """Return the mean by flips of whole tasks or families (numbered for each task), and the median of tasks.

    Bounds have shape (algorithm, task).
    """
    present = ~np.isnan(low)
    n_tasks = np.count_nonzero(present, axis=-1)
    weight = np.where(present, 1 / np.maximum(n_tasks, 1)[:, np.newaxis], np.nan)
    of_families = _sums(weight, families, plan.n_families)
    bounds = [_sums(weight * each, families, plan.n_families) for each in (low, high)]
    known = [np.where(np.isnan(each), 0.0, np.abs(each)).max(axis=-1) < np.inf for each in bounds]
    finite = [np.where(mine[:, np.newaxis], each, np.nan) for each, mine in zip(bounds, known, strict=True)]
    means = [np.where(n_tasks > 0, np.nansum(each, axis=-1), np.nan) for each in finite]
    nobody = np.zeros(0, np.intp)
    pvalues = [task_flips.pvalues(each, plan, nobody)[0] for each in finite]
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
    if plan.n_families < len(families):  # tasks of a family are no draws of their own
        middle, median_interval = np.full_like(middle, np.nan), np.full_like(median_interval, np.nan)
    return TaskRatios(np.where(exact, means[0], np.nan), interval, pvalue, middle, median_interval)


def _sums(x: Floats, families: NDArray[np.intp], n_families: int) -> Floats:
    """Return sums over families, shape (algorithm, family), NaN where a family has no task."""
    out = np.zeros((len(x), n_families))
    there = np.zeros((len(x), n_families), bool)
    for task, family in enumerate(families):
        mine = ~np.isnan(x[:, task])
        out[mine, family] += x[mine, task]
        there[mine, family] = True
    return np.where(there, out, np.nan)


def _medians(low: Floats, high: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return medians over tasks, NaN where bounds leave them open, and exact intervals of order statistics."""
    middle, interval = np.full(len(low), np.nan), np.full((len(low), 2), np.nan)
    for row, (below, above) in enumerate(zip(low, high, strict=True)):
        below, above = np.sort(below[~np.isnan(below)]), np.sort(above[~np.isnan(above)])
        n = len(below)
        if not n:
            continue
        order = int(scipy.stats.binom.ppf(alpha / 2, n, 0.5))
        order += int(scipy.stats.binom.cdf(order, n, 0.5) <= alpha / 2)  # of each end, from 1; 0: none
        interval[row] = (below[order - 1], above[n - order]) if order else (-np.inf, np.inf)
        least, most = (each[[(n - 1) // 2, n // 2]].mean() for each in (below, above))
        middle[row] = least if least == most else np.nan
    return middle, interval


_HALVINGS = 64
_LEAST, _LARGEST = -60.0, 200.0  # powers of two between which critical values are looked for


class Combination(NamedTuple):
    """Weighted sums of logarithms of times, each of shape (sum,)."""

    estimate: Floats
    lower: Floats
    upper: Floats
    pvalue: Floats


def combine(track: Tracks, owner: NDArray[np.intp], weight: Floats, offset: Floats, alpha: float) -> Combination:
    """Return offset + Σ weight · log time of the tracks that each sum owns, with intervals and p-values.

    Every track reaches its level, not at its first point. `owner` (track) numbers the sums, `offset` has one number
    for each.
    """
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
    low, high = np.full(n, _LEAST), np.full(n, _LARGEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below, above = reach(2.0**middle)
        covers = np.where(estimate < 0, estimate + above >= 0, estimate - below <= 0)
        low, high = np.where(covers, low, middle), np.where(covers, middle, high)
    pvalue = np.where(high > _LARGEST - 1, 0.0, 2 * scipy.special.stdtr(joint, -(2.0**high)))
    return Combination(estimate, estimate - down, estimate + up, np.where(estimate == 0, 1.0, pvalue))
