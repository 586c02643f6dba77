"""How algorithms compare with the reference in each task: to its last score, to a target, or by given times.

Arrays have an item for each cell, the algorithms of a task one after the other, where no other shape is given;
`reference` has the cell of the reference in the task of each. Ratios are known to lie between `low` and `high`, NaN
where nothing is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xcurves.array_types import Floats, Index
from xcurves.core.jobs import Group
from xcurves.core.refusal import Refusal, Verbatim
from xcurves.kernels.times import curve_tracks
from xcurves.kernels.times.curve_tracks import NO_CURVE
from xcurves.kernels.times.hitting_times import LogTimes, medians
from xcurves.target_times.mean_time_to_target import (
    Readings,
    times_of,
    times_to_target,
)
from xcurves.target_times.reasons import Reason

MOST_OF_RISE = 0.9  # of the reference, from its first to its last level
DRAWN = 64  # levels of the mean curves that results keep
# whatever the scores are
BY_DESIGN = (
    Reason.FEWER_THAN_TWO_RUNS,
    Reason.NO_LEVELS_IN_COMMON,
    Reason.LAST_LEVEL_OF_THE_REFERENCE_IS_0,
    Reason.NOT_COMPARED,
)
# variables, and what claims about these tasks are made of
Compared = tuple[dict[str, Any], LogTimes | None]


def to_last_level(group: Group, reference: Index, *, log: bool, sign: float) -> Compared:
    """Compare with the mean score of the reference at the last level that all of its runs have."""
    cells = Readings(group, log, sign)
    variables, skipped = _of_curves(cells, reference)
    others = [cells.curves[row] for row in reference]
    last = [curve.runs[:, -1] for curve in others]
    level = np.array([scores.mean() for scores in last])
    error = np.array([scores.var(ddof=1) / len(scores) for scores in last])
    horizon = np.array([curve.u[-1] for curve in others])
    end = horizon
    if log:
        end = np.exp(horizon)

    # A time of 0 has no ratios.
    is_at_zero = (skipped == Reason.ESTIMATED) & (end == 0)
    skipped[is_at_zero] = Reason.LAST_LEVEL_OF_THE_REFERENCE_IS_0
    compared = skipped == Reason.ESTIMATED
    curves = list(cells.curves)
    for row in np.flatnonzero(~compared):
        curves[row] = NO_CURVE

    # Welch's test of the two means, which also says whether there is an estimate.
    n_free = [len(scores) - 1 for scores in last]
    track = curve_tracks.tracks(curves, level.tolist(), error, n_free, log=log)
    alpha = group.context.alpha
    of_all = _together(skipped, cells.n_algorithms, alpha)
    variables |= times_of(track, skipped, alpha)
    times_together = times_of(track, skipped, of_all)["time_ci"]
    variables["pvalue"] = curve_tracks.pvalue_of(track, horizon)

    variables |= _ratios(skipped, variables, {"low": end, "high": end, "reason": np.zeros_like(skipped)})
    best_mean = np.array([curve.runs.mean(axis=0).max() for curve in others])
    variables |= {
        "speedup_ci": end[:, np.newaxis] / variables["time_ci"][:, ::-1],
        "speedup_ci_simultaneous": end[:, np.newaxis] / times_together[:, ::-1],
        "reference_level": sign * level,
        "reference_time": end,
        "reference_falls": best_mean > level + np.sqrt(error),
    }
    variables |= _to_most_of_rise(cells, reference, skipped, of_all, group)
    rows = np.arange(len(curves))[:, np.newaxis]
    return variables, LogTimes(track, rows, np.array([-1.0]), np.log(end))


def _of_curves(cells: Readings, reference: Index) -> tuple[dict[str, Any], Index]:
    """Return what results have of all curves, and why cells are not compared."""
    reason = np.where(cells.reason == Reason.ESTIMATED, cells.reason[reference], cells.reason)
    reason[(cells.n_runs == 0) | (cells.n_runs[reference] == 0)] = Reason.NOT_COMPARED
    reason[reference] = Reason.NOT_COMPARED

    # The curves of a task are drawn at the same levels, from its first to its last.
    ends = np.array([curve.u[[0, -1]] for curve in cells.curves])
    ends = ends.reshape(-1, cells.n_algorithms, 2)
    first = np.fmin.reduce(ends[..., 0], axis=1)
    last = np.fmax.reduce(ends[..., 1], axis=1)
    u = np.linspace(first, last, DRAWN, axis=-1).repeat(cells.n_algorithms, axis=0)
    means = [
        np.interp(at, curve.u, curve.runs.mean(axis=0), left=np.nan, right=np.nan)
        for at, curve in zip(u, cells.curves, strict=True)
    ]
    scores = cells.sign * np.array(means)
    drawn = {
        "mean_curve": scores,
        "reference_curve": scores,
        "curve_training": cells.training(u),
    }
    best = np.maximum(cells.best, cells.best[reference])
    return cells.ranges(best) | drawn, reason


def _together(skipped: Index, n_algorithms: int, alpha: float) -> Floats:
    """Return the level of intervals that hold for all comparisons of a task together, one for each cell."""
    counted = ~np.isin(skipped, BY_DESIGN).reshape(-1, n_algorithms)
    n_comparisons = np.maximum(counted.sum(axis=-1), 1)
    return np.asarray(alpha / n_comparisons.repeat(n_algorithms))


def _ratios(skipped: Index, own: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return ratios of times, their bounds, and why there is none, given what both times lie between."""
    of_other = np.where(other["reason"] == Reason.ESTIMATED, Reason.ESTIMATED, other["reason"] + 2)
    of_both = np.where(own["reason"] == Reason.ESTIMATED, of_other, own["reason"])
    reason = np.where(skipped == Reason.ESTIMATED, of_both, skipped)

    # Where neither time is reached, or one is 0, the ratio may be anything.
    low = other["low"] / own["high"]
    high = other["high"] / own["low"]
    neither = np.isinf(own["high"]) & np.isinf(other["high"])
    is_no_ratio = (low == high) & np.isin(low, (0, np.inf))
    silent = neither | is_no_ratio | (skipped != Reason.ESTIMATED)
    low, high = np.where(silent, np.nan, [low, high])
    speedup = np.where(reason == Reason.ESTIMATED, low, np.nan)
    return {"reason": reason, "speedup": speedup, "low": low, "high": high}


def _to_most_of_rise(
    cells: Readings, reference: Index, skipped: Index, of_all: Floats, group: Group
) -> dict[str, Floats]:
    """Compare the times to the level at which the reference had most of its rise, where curves are not yet flat."""
    means = [cells.curves[row].runs.mean(axis=0) for row in reference]
    level = np.array([mean[0] + MOST_OF_RISE * (mean[-1] - mean[0]) for mean in means])
    rises = np.array([mean[-1] > mean[0] for mean in means])
    compared, _ = _at_level(
        cells.with_target(np.where(rises, level, np.inf)),
        reference,
        np.where(rises, skipped, Reason.NOT_COMPARED),
        group.context.alpha,
        of_all,
    )
    ends = compared["speedup_ci_simultaneous"]
    return {
        "rise_speedup": compared["speedup"],
        "rise_speedup_ci": np.where(rises[:, np.newaxis], ends, np.nan),
        "rise_time": np.where(rises, compared["time"], np.nan),
        "rise_reference_time": np.where(rises, compared["reference_time"], np.nan),
        "rise_level": np.where(rises, cells.sign * level, np.nan),
    }


def to_target(group: Group, reference: Index, *, log: bool, sign: float) -> Compared:
    """Compare the times at which mean curves reach a target."""
    cells = Readings(group, log, sign)
    alpha = group.context.alpha
    of_curves, skipped = _of_curves(cells, reference)
    beyond = np.maximum(cells.best, cells.best[reference]) < cells.target
    skipped[(skipped == Reason.ESTIMATED) & beyond] = Reason.NO_RUN_REACHES_IT
    of_all = _together(skipped, cells.n_algorithms, alpha)
    compared, log_times = _at_level(cells, reference, skipped, alpha, of_all)
    return of_curves | compared, log_times


def _at_level(
    cells: Readings, reference: Index, skipped: Index, alpha: float, of_all: Floats
) -> tuple[dict[str, Any], LogTimes]:
    """Compare the times at which mean curves reach the target of their cells; `of_all` are levels for all together."""
    track, times = times_to_target(cells, alpha)
    times_of_reference = {name: values[reference] for name, values in times.items()}
    variables = times | _ratios(skipped, times, times_of_reference)

    # Two log times, each with its limits, make one interval of their ratio.
    rows = np.stack([np.arange(len(reference)), reference], axis=-1)
    log_times = LogTimes(track, rows, np.array([-1.0, 1.0]), np.zeros(len(reference)))
    estimated = np.flatnonzero(variables["reason"] == Reason.ESTIMATED)
    pvalue = np.full(len(reference), np.nan)
    (by_itself, together), pvalue[estimated] = log_times.geometric_means(
        estimated, np.arange(len(estimated)), alpha, of_all[estimated]
    )
    ends = _one_sided(track, cells, reference, skipped, alpha)
    ends[estimated] = by_itself
    ends_together = _one_sided(track, cells, reference, skipped, of_all)
    ends_together[estimated] = together
    variables |= {
        "speedup_ci": ends,
        "speedup_ci_simultaneous": ends_together,
        "pvalue": pvalue,
        "speedup_gap": np.zeros(len(reference)),
        "reference_time": times["time"],
        "reference_time_ci": times["time_ci"],
        "reference_level": cells.sign * cells.target,
        "reference_falls": np.zeros(len(reference)),
    }
    return variables, log_times


def _one_sided(
    track: curve_tracks.Tracks,
    cells: Readings,
    reference: Index,
    skipped: Index,
    alpha: float | Floats,
) -> Floats:
    """Return what two intervals of times leave of their ratio, where there is no estimate: Bonferroni, of two times."""
    half = times_of(track, cells.reason, alpha / 2)["time_ci"]
    ends = half[reference] / half[:, ::-1]
    ends = np.where(np.isnan(ends), [0.0, np.inf], ends)
    ends[skipped != Reason.ESTIMATED] = np.nan
    return ends


def of_given_times(group: Group, reference: Index) -> Compared:
    """Compare medians of given times, shape (..., algorithm, run), beside which their budgets may stand."""
    times, budget = (array.reshape(-1, array.shape[-1]) for array in group.data)
    check_times(times)
    time = medians(times)
    reached = ~np.isinf(time)
    # A time that is not reached is at least its budget, of which 0 is all that is known where there is none.
    last = medians(np.where(np.isinf(times), np.nan_to_num(budget, nan=0.0), times))
    known = {
        "low": np.where(reached, time, last),
        "high": time,
        "reason": np.where(reached, Reason.ESTIMATED, Reason.NOT_REACHED_WITHIN_ITS_BUDGET),
    }
    known_of_reference = {name: values[reference] for name, values in known.items()}

    lacks_one = np.isnan(time) | np.isnan(time[reference])
    skipped = np.where(lacks_one, Reason.NOT_COMPARED, Reason.ESTIMATED)
    skipped[reference] = Reason.NOT_COMPARED
    variables = _ratios(skipped, known, known_of_reference)
    variables |= {
        "pvalue": np.full(len(time), np.nan),
        "time": time,
        "reference_time": time,
        "n_runs": np.count_nonzero(~np.isnan(times), axis=-1),
    }
    return variables, None


def check_times(times: Floats) -> None:
    """Refuse times before 0, of which ratios say nothing."""
    if (times < 0).any():
        raise Refusal(
            "times",
            Verbatim(f"{np.nanmin(times):g}"),
            "must not be negative",
            "Subtract where they begin",
        )
