"""The kernels of `speedup`: every algorithm against the reference, in each task and over tasks.

Arrays have an item for each cell, the algorithms of a task one after the other, where no other shape is given.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core.driver import Group
from xcurves.kernels import dealt_times, hitting_times, mean_curves, plans
from xcurves.kernels.engine import holm
from xcurves.kernels.hitting_times import medians
from xcurves.kernels.mean_curves import NO_CURVE, MeanCurve, Tracks
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import Index
from xcurves.target_times.mean_time_to_target import Readings, times_of, times_to_target
from xcurves.target_times.text import Reason

DRAWN = 64  # levels of the mean curves that results keep
BY_DESIGN = (
    Reason.FEWER_THAN_TWO_RUNS,
    Reason.NO_LEVELS_IN_COMMON,
    Reason.LAST_LEVEL_OF_THE_REFERENCE_IS_0,
    Reason.NOT_COMPARED,
)  # whatever the scores are


class LogTimes(NamedTuple):
    """Weighted logarithms of times, whose sums are the logarithms of ratios."""

    track: Tracks
    rows: Index  # of `track`, shape (cell, time)
    weight: Floats  # shape (time,)
    offset: Floats  # that sums are added to

    def geometric_means(self, owner: Index, alpha: float) -> tuple[Floats, Floats]:
        """Return intervals and p of geometric means of the ratios with one owner; those of -1 have none."""
        mine = owner >= 0
        number = owner[mine]
        share: Floats = 1.0 / np.bincount(number)[number]
        made = hitting_times.combine_times(
            self.track.take(self.rows[mine].ravel()),
            np.repeat(number, len(self.weight)),
            np.outer(share, self.weight).ravel(),
            np.asarray(np.bincount(number, share * self.offset[mine]), float),
            alpha,
        )
        return np.exp(np.stack([made.lower, made.upper], axis=-1)), made.pvalue


class Comparison(NamedTuple):
    """How times compare with those of the reference, however they were found."""

    reason: Index
    low: Floats  # between which the ratio is known to lie; NaN where nothing is known
    high: Floats
    found: dict[str, Any]  # other variables
    of_reference: dict[str, Any]  # and those that say something of the reference
    log_times: LogTimes | None = None  # what claims about these tasks are made of


def speedup_kernel(
    group: Group, *, compare: Callable[..., Comparison], reference: int, families: Index | None, **options: Any
) -> dict[str, Any]:
    """Compare every algorithm with the reference, in each task by itself or over the tasks of `families`."""
    shape = group.data[0].shape[: 2 if families is None else 3]
    cells = np.arange(reference, prod(shape), shape[-1]).repeat(shape[-1])  # of the reference in the task of each cell
    made = compare(group, cells, **options)
    found = {"pvalue": np.full(len(cells), np.nan), "reason": made.reason} | made.found
    found["speedup"] = np.where(made.reason == Reason.ESTIMATED, made.low, np.nan)
    found = {name: value.reshape(*shape, *value.shape[1:]) for name, value in found.items()}
    for name, value in made.of_reference.items():
        found[name] = value.reshape(*shape, *value.shape[1:]).take(reference, len(shape) - 1)
    if families is None:
        p = found["pvalue"]
        # No p by design is outside the family, no p by outcome counts as 1.
        adjusted = holm(np.where(np.isnan(p) & ~np.isin(found["reason"], BY_DESIGN), 1.0, p))
        return found | {"pvalue_adjusted": np.where(np.isnan(p), np.nan, adjusted)}
    for name in ("speedup", "speedup_ci", "pvalue", "speedup_gap"):
        found[f"task_{name}"] = found.pop(name, np.nan)
    return found | _claims(made, shape, families, group)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(numerator / denominator)


def _of_curves(cells: Readings, reference: Index) -> tuple[Index, dict[str, Any], dict[str, Any]]:
    """Return why cells are not compared, and what results have of all curves and of those of the reference."""
    reason = np.where(cells.reason == Reason.ESTIMATED, cells.reason[reference], cells.reason)
    reason[(cells.n_runs == 0) | (cells.n_runs[reference] == 0)] = Reason.NOT_COMPARED
    reason[reference] = Reason.NOT_COMPARED
    ends = np.array([curve.u[[0, -1]] for curve in cells.curves]).reshape(-1, cells.n_algorithms, 2)
    u = np.linspace(np.fmin.reduce(ends[..., 0], axis=1), np.fmax.reduce(ends[..., 1], axis=1), DRAWN, axis=-1)
    u = u.repeat(cells.n_algorithms, axis=0)
    means = [
        np.interp(at, curve.u, curve.runs.mean(axis=0), left=np.nan, right=np.nan)
        for at, curve in zip(u, cells.curves, strict=True)
    ]
    scores = cells.as_scores(np.array(means))
    found = cells.ranges(np.maximum(cells.best, cells.best[reference]))
    return (
        reason,
        found | {"mean_curve": scores},
        {"reference_curve": scores, "curve_training": np.exp(u) if cells.log else u},
    )


def _known(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the bounds of ratios, NaN where they bound nothing."""
    nothing = np.isin([low, high], (0, np.inf)).all(axis=0)
    return np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)


def to_last_level(group: Group, reference: Index, *, log: bool, sign: float, randomized: bool) -> Comparison:
    """Compare with the mean score of the reference at the last level that all of its runs have."""
    cells = Readings(group, log, sign)
    reason, found, of_reference = _of_curves(cells, reference)
    others = [cells.curves[row] for row in reference]
    last = [curve.runs[:, -1] for curve in others]
    level, horizon = np.array([each.mean() for each in last]), np.array([curve.u[-1] for curve in others])
    errors = np.array([each.var(ddof=1) / len(each) for each in last])
    best = np.array([curve.runs.mean(axis=0).max() for curve in others])
    end = np.exp(horizon) if log else horizon
    reason[(reason == Reason.ESTIMATED) & (end == 0)] = Reason.LAST_LEVEL_OF_THE_REFERENCE_IS_0
    compared = reason == Reason.ESTIMATED
    curves = [curve if there else NO_CURVE for curve, there in zip(cells.curves, compared, strict=True)]
    if group.context.paired:
        track = mean_curves.tracks(
            curves, [each if there else np.nan for each, there in zip(last, compared, strict=True)], log=log
        )
    else:
        df = np.array([len(each) - 1 for each in last])
        track = mean_curves.tracks(curves, level.tolist(), errors, df, log=log)
    times = times_of(track, reason, group.context.alpha)
    found |= {"time": times.time, "time_ci": times.interval, "speedup_gap": times.gap}
    found["pvalue"] = mean_curves.pvalue_of(track, horizon)
    if randomized:
        found |= _dealt(compared, curves, last, horizon, group)
        found["time_ci"] = track.training(found["time_ci"])
    found["speedup_ci"] = _ratio(end[:, np.newaxis], found["time_ci"][:, ::-1])
    of_reference |= {
        "reference_level": cells.as_scores(level),
        "reference_time": end,
        "reference_falls": best > level + np.sqrt(errors),
    }
    with np.errstate(divide="ignore"):
        log_times = LogTimes(track, np.arange(len(curves))[:, np.newaxis], np.array([-1.0]), np.log(end))
    bounds = _known(_ratio(end, times.high), _ratio(end, times.low))
    return Comparison(times.reason, *bounds, found, of_reference, log_times)


def _dealt(
    compared: NDArray[np.bool_], curves: list[MeanCurve], last: list[Floats], horizon: Floats, group: Group
) -> dict[str, Any]:
    """Return what the randomization test says in place of Welch's, the limits of times in u."""
    ends, pvalue = np.full((len(curves), 2), np.nan), np.full(len(curves), np.nan)
    gap, n_resamples = np.zeros((2, len(curves)), np.int64)
    for row in np.flatnonzero(compared).tolist():
        curve = curves[row]
        plan = group.context.plan((len(curve.runs), len(last[row])))
        dealt = dealt_times.dealt_times(curve.u, curve.runs, last[row], horizon[row], plan, group.context.alpha)
        ends[row], gap[row], pvalue[row], n_resamples[row] = dealt[:2], dealt.gap, dealt.pvalue, plan.n_resamples
    return {"time_ci": ends, "pvalue": pvalue, "speedup_gap": gap, "n_resamples": n_resamples}


def _of_both(own: Index, of_reference: Index) -> Index:
    """Return why a ratio has no estimate: what its own time lacks, else that of the reference."""
    return np.where(own == Reason.ESTIMATED, np.where(of_reference == Reason.ESTIMATED, own, of_reference + 2), own)


def to_target(group: Group, reference: Index, *, log: bool, sign: float) -> Comparison:
    """Compare the times at which mean curves reach a target."""
    cells = Readings(group, log, sign)
    reason, found, of_reference = _of_curves(cells, reference)
    track, times = times_to_target(cells, group.context.alpha)
    readable, reachable = reason == Reason.ESTIMATED, np.maximum(cells.best, cells.best[reference]) >= 0
    told = readable & reachable
    of_both = np.where(reachable, _of_both(times.reason, times.reason[reference]), Reason.NO_RUN_REACHES_IT)
    reason = np.where(readable, of_both, reason)
    half = times_of(track, cells.reason, group.context.alpha / 2).interval  # Bonferroni, of two times
    ends = _ratio(half[reference], half[:, ::-1])
    ends = np.where(told[:, np.newaxis], np.where(np.isnan(ends), [0.0, np.inf], ends), np.nan)
    rows = np.stack([np.arange(len(reason)), reference], axis=-1)
    log_times = LogTimes(track, rows, np.array([-1.0, 1.0]), np.zeros(len(reason)))
    pvalue, estimated = np.full(len(reason), np.nan), reason == Reason.ESTIMATED
    owner = np.where(estimated, np.cumsum(estimated) - 1, -1)
    ends[estimated], pvalue[estimated] = log_times.geometric_means(owner, group.context.alpha)
    found |= {"speedup_ci": ends, "pvalue": pvalue, "speedup_gap": np.zeros(len(reason))}
    of_reference |= {
        "reference_time": times.time,
        "reference_time_ci": times.interval,
        "reference_level": cells.target,
        "reference_falls": np.zeros(len(reason)),
    }
    low, high = _known(_ratio(times.low[reference], times.high), _ratio(times.high[reference], times.low))
    low, high = (np.where(told, each, np.nan) for each in (low, high))
    return Comparison(
        reason, low, high, found | {"time": times.time, "time_ci": times.interval}, of_reference, log_times
    )


def of_given_times(group: Group, reference: Index) -> Comparison:
    """Compare medians of given times, shape (..., algorithm, run), beside which their budgets may stand."""
    times, budget = (each.reshape(-1, each.shape[-1]) for each in group.data)
    check_times(times)
    time = medians(times)
    # A time that is not reached is at least its budget, of which 0 is all that is known where there is none.
    last = medians(np.where(np.isinf(times), np.nan_to_num(budget, nan=0.0), times))
    reached = ~np.isinf(time)
    least = np.where(reached, time, last)
    own = np.where(reached, Reason.ESTIMATED, Reason.NOT_REACHED_WITHIN_ITS_BUDGET)
    reason = _of_both(own, own[reference])
    reason[np.isnan(time) | np.isnan(time[reference])] = Reason.NOT_COMPARED
    reason[reference] = Reason.NOT_COMPARED
    told = (reason != Reason.NOT_COMPARED) & (reached | reached[reference])
    low, high = (np.where(told, _ratio(*each), np.nan) for each in ((least[reference], time), (time[reference], least)))
    n_runs = np.count_nonzero(~np.isnan(times), axis=-1)
    return Comparison(reason, low, high, {"time": time, "n_runs": n_runs}, {"reference_time": time})


def check_times(times: Floats) -> None:
    """Refuse times before 0, of which ratios say nothing."""
    if (times < 0).any():
        raise ValueError(f"times must not be negative; got {np.nanmin(times):g}. Subtract where they begin")


def _claims(made: Comparison, shape: tuple[int, ...], families: Index, group: Group) -> dict[str, Any]:
    """Return the variables of both claims about joined tasks, of cells of the shape (benchmark, task, algorithm)."""
    alpha, over = group.context.alpha, (shape[0], shape[2])
    ends, pvalues = np.full((*over, 2, 2), np.nan), np.full((*over, 2), np.nan)
    if made.log_times is not None:  # for these tasks, where none lacks an estimate
        reason = made.reason.reshape(shape)
        compared = reason != Reason.NOT_COMPARED
        estimated = compared.any(axis=1) & (~compared | (reason == Reason.ESTIMATED)).all(axis=1)
        number = np.cumsum(estimated).reshape(shape[0], 1, -1) - 1
        owner = np.where(compared & estimated[:, np.newaxis], number, -1).ravel()
        ends[estimated, 0], pvalues[estimated, 0] = made.log_times.geometric_means(owner, alpha)
    plan = plans.plan_flips(int(families.max()) + 1, None, group.context.entropy)
    with np.errstate(divide="ignore"):
        bounds = np.log([made.low, made.high]).reshape(2, *shape)
    low, high = bounds.swapaxes(-1, -2).reshape(2, -1, shape[1])
    random = hitting_times.over_tasks(low, high, families, plan, alpha)
    ends[..., 1, :], pvalues[..., 1] = np.exp(random.interval).reshape(*over, 2), random.pvalue.reshape(over)
    present = ~np.isnan(low)
    n_families = np.sum([present[:, families == family].any(axis=1) for family in range(plan.n_units)], axis=0)
    # A p that can never be small enough is outside the family; one that is lacking by outcome counts as 1.
    reachable = np.where(2.0 ** (1 - n_families.reshape(over)) > alpha, np.nan, pvalues[..., 1])
    lacking = np.isnan(pvalues[..., 0])
    counted = np.where(lacking & present.any(axis=1).reshape(over), 1.0, pvalues[..., 0])
    return {
        "speedup": np.exp(random.mean).reshape(over),
        "speedup_ci": ends,
        "pvalue": pvalues,
        "pvalue_adjusted": np.stack([np.where(lacking, np.nan, holm(counted)), holm(reachable)], axis=-1),
        "median_speedup": np.exp(random.median).reshape(over),
        "median_speedup_ci": np.exp(random.median_interval).reshape(*over, 2),
        "n_tasks": present.sum(axis=1).reshape(over),
        "n_censored": (present & (low != high)).sum(axis=1).reshape(over),
    }
