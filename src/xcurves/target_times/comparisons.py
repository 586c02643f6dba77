"""The kernels of `speedup`: every algorithm against the reference, in each task and over tasks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core.driver import Group
from xcurves.kernels import dealt_times, hitting_times, mean_curves, plans
from xcurves.kernels.engine import holm
from xcurves.kernels.hitting_times import medians
from xcurves.kernels.mean_curves import MeanCurve, Tracks
from xcurves.kernels.moments import Floats
from xcurves.target_times.mean_time_to_target import (
    BY_DESIGN,
    NO_CURVE,
    Reading,
    Readings,
    times_of,
    times_to_target,
)
from xcurves.target_times.text import Reason

DRAWN = 64  # places of a mean curve that results keep


class Options(NamedTuple):
    """What the kernels of `speedup` are told."""

    reading: Reading | None  # None where times are given
    reference: int  # index among the algorithms in the order of their labels
    fixed_target: bool  # not the reference's last mean
    randomized: bool
    families: NDArray[np.intp] | None  # of the tasks, where these are joined


class LogTimes(NamedTuple):
    """What claims about these tasks sum: logarithms of estimated times, each with its weight in its comparison."""

    track: Tracks
    row: NDArray[np.intp]  # of `track`
    weight: Floats
    cell: NDArray[np.intp]  # task and algorithm of the comparison, shape (2, time)
    offset: Floats  # that sums are added to, shape (task, algorithm)


# Variables; bounds of log ratios, shape (2, task, algorithm), NaN where a task says nothing; log times.
Comparisons = tuple[dict[str, Any], Floats, LogTimes]


def speedup_kernel(group: Group, *, options: Options) -> dict[str, Any]:
    """Compare every algorithm with the reference, in each task by itself or over tasks that are joined."""
    if options.reading is None:
        return _of_times(group, options)
    cells = Readings(group, options.reading)
    compared = _by_target if options.fixed_target else _by_last_level
    found, bounds, log_times = compared(cells, options, group)
    found["reference_level"] = cells.as_scores(found["reference_level"])
    found |= cells.ranges(options.reference)
    if options.families is None:
        p, reason = found["pvalue"], found["reason"]
        # No p by design is outside the family, no p by outcome counts as 1.
        adjusted = holm(np.where(np.isnan(p) & ~np.isin(reason, BY_DESIGN), 1.0, p))
        return found | _steps(cells, options.reference) | {"pvalue_adjusted": np.where(np.isnan(p), np.nan, adjusted)}
    shape = group.data[0].shape[:2]
    fixed = _fixed_claims(found["reason"], log_times, shape[0], group.context.alpha)
    found = {name: value.reshape(*shape, *value.shape[1:]) for name, value in found.items()}
    own = {f"task_{name}": found.pop(name) for name in ("speedup", "speedup_ci", "pvalue", "speedup_gap")}
    return found | own | _claims(bounds.reshape(2, *shape, -1), options.families, group, fixed)


def _steps(cells: Readings, reference: int) -> dict[str, Any]:
    """Return mean curves at equal steps of their range, for pictures."""
    drawn: Floats = np.full((2, *cells.reason.shape, DRAWN), np.nan)
    x, y = drawn
    for task, a in np.ndindex(cells.reason.shape):
        curve = cells.curves[task][a]
        x[task, a] = np.linspace(curve.u[0], curve.u[-1], DRAWN)
        y[task, a] = np.interp(x[task, a], curve.u, curve.runs.mean(axis=0))
    found = {"curve": cells.as_scores(y), "curve_training": np.exp(x) if cells.log else x}
    of_reference = {f"reference_{name}": each[:, reference] for name, each in found.items()}
    return {f"mean_{name}": each for name, each in found.items()} | of_reference


def _reasons(cells: Readings, reference: int) -> NDArray[np.intp]:
    """Return why nothing can be compared, as far as that is known before a mean is read."""
    reason = np.where(cells.reason == Reason.ESTIMATED, cells.reason[:, [reference]], cells.reason)
    reason[(cells.n_runs == 0) | (cells.n_runs[:, [reference]] == 0)] = Reason.NOT_COMPARED
    reason[:, reference] = Reason.NOT_COMPARED
    return reason


def _log(x: Any) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(x))


def _log_ratios(low: Floats, high: Floats, reference: tuple[Floats, Floats]) -> Floats:
    """Return between which logarithms the ratio of the reference's time to another lies, given that of both times."""
    with np.errstate(invalid="ignore"):
        return np.stack([_log(reference[0]) - _log(high), _log(reference[1]) - _log(low)])


def _unless_open(bounds: Floats) -> Floats:
    """Let tasks in which nothing bounds the ratio say nothing."""
    return np.where(np.isinf(bounds).all(axis=0), np.nan, bounds)


def _by_last_level(cells: Readings, options: Options, group: Group) -> Comparisons:
    """Compare with the mean score of the reference at the last level that all of its runs have."""
    reason, reference = _reasons(cells, options.reference), options.reference
    others = [of_task[reference] for of_task in cells.curves]
    last = [curve.runs[:, -1] for curve in others]
    level, horizon = np.array([each.mean() for each in last]), np.array([curve.u[-1] for curve in others])
    errors = np.array([each.var(ddof=1) / len(each) for each in last])
    best = np.array([curve.runs.mean(axis=0).max() for curve in others])
    end = np.exp(horizon) if cells.log else horizon
    reason[(reason == Reason.ESTIMATED) & (end == 0)[:, np.newaxis]] = Reason.AT_ZERO
    compared, n = reason == Reason.ESTIMATED, reason.shape[1]
    curves = [cells.curves[task][a] if compared[task, a] else NO_CURVE for task, a in np.ndindex(reason.shape)]
    if group.context.paired:
        of_runs = [last[row // n] if there else np.nan for row, there in enumerate(compared.flat)]
        track = mean_curves.tracks(curves, of_runs, log=cells.log)
    else:
        df = [len(each) - 1 for each in last]
        track = mean_curves.tracks(
            curves, np.repeat(level, n).tolist(), np.repeat(errors, n), np.repeat(df, n), log=cells.log
        )
    times = times_of(track, reason, group.context.alpha)
    pvalue = mean_curves.pvalue_of(track, np.repeat(horizon, n)).reshape(reason.shape)
    found = {"time": times.time, "time_ci": times.interval, "speedup_gap": times.gap, "pvalue": pvalue}
    if options.randomized:
        found |= _dealt(compared, curves, last, horizon, group)
        found["time_ci"] = track.training(found["time_ci"])
    of_reference = end[:, np.newaxis]
    with np.errstate(divide="ignore", over="ignore"):
        found["speedup"] = np.where(np.isfinite(times.time), of_reference / times.time, np.nan)
        found["speedup_ci"] = (of_reference[..., np.newaxis] / found["time_ci"])[..., ::-1]
    found |= {"reference_level": level, "reference_time": end, "reference_falls": best > level + np.sqrt(errors)}
    row = np.flatnonzero(times.reason == Reason.ESTIMATED)
    offset = np.where(compared, _log(of_reference), 0.0)
    log_times = LogTimes(track, row, np.full(len(row), -1.0), np.array(np.divmod(row, n)), offset)
    bounds = _unless_open(_log_ratios(times.low, times.high, (of_reference, of_reference)))
    return found | {"reason": times.reason}, bounds, log_times


def _dealt(
    compared: NDArray[np.bool_], curves: list[MeanCurve], last: list[Floats], horizon: Floats, group: Group
) -> dict[str, Any]:
    """Return what the randomization test says in place of Welch's, the limits of times in u."""
    alpha, shape = group.context.alpha, compared.shape
    ends, pvalue = np.full((*shape, 2), np.nan), np.full(shape, np.nan)
    gap, n_resamples = np.zeros((2, *shape), np.int64)
    for row in np.flatnonzero(compared).tolist():
        task, a = divmod(row, shape[1])
        plan = group.context.plan((len(curves[row].runs), len(last[task])))
        most, at = float(np.floor(alpha * plan.n_total + 1e-9)), float(horizon[task])
        time = dealt_times.DealtTime.of(curves[row].u, curves[row].runs, last[task], at, plan)
        dealt = dealt_times.dealt_times(time, at, most)
        ends[task, a], pvalue[task, a] = (dealt.lower, dealt.upper), dealt.pvalue
        gap[task, a], n_resamples[task, a] = dealt.gap, plan.n_resamples
    return {"time_ci": ends, "pvalue": pvalue, "speedup_gap": gap, "n_resamples": n_resamples}


def _by_target(cells: Readings, options: Options, group: Group) -> Comparisons:
    """Compare the times at which mean curves reach a target."""
    reason, reference, alpha = _reasons(cells, options.reference), options.reference, group.context.alpha
    times = times_to_target(cells, alpha)
    time_b, ends_b, low_b, high_b = (
        each[:, [reference]] for each in (times.time, times.interval, times.low, times.high)
    )
    why_b = times.reason[:, [reference]]
    why_b = np.where(why_b == Reason.ESTIMATED, why_b, why_b + 2)  # of the reference
    beyond = np.maximum(cells.best, cells.best[:, [reference]]) < 0
    told = (reason == Reason.ESTIMATED) & ~beyond
    reason = np.where((reason == Reason.ESTIMATED) & beyond, Reason.BEYOND, reason)
    reason = np.where(told, np.where(times.reason == Reason.ESTIMATED, why_b, times.reason), reason)
    bounds = np.where(told, _unless_open(_log_ratios(times.low, times.high, (low_b, high_b))), np.nan)
    half = times_of(times.track, cells.reason, alpha / 2).interval  # Bonferroni, of two times
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = half[:, [reference]] / half[..., ::-1]
    ends = np.where(told[..., np.newaxis], np.where(np.isnan(ends), [0.0, np.inf], ends), np.nan)
    row, n = np.flatnonzero(reason == Reason.ESTIMATED), reason.shape[1]
    cell, weight, offset = np.array(np.divmod(row, n)), np.tile([-1.0, 1.0], len(row)), np.zeros(reason.shape)
    pairs = np.stack([row, cell[0] * n + reference], axis=1).ravel()
    owner = np.repeat(np.arange(len(row)), 2)
    made = hitting_times.combine_times(times.track.take(pairs), owner, weight, np.zeros(len(row)), alpha)
    ratio, pvalue = np.full((2, *reason.shape), np.nan)
    ratio[*cell], pvalue[*cell] = np.exp(made.estimate), made.pvalue
    ends[*cell] = np.exp(np.stack([made.lower, made.upper], axis=-1))
    found = {
        "speedup": ratio,
        "speedup_ci": ends,
        "speedup_gap": np.zeros(reason.shape),
        "pvalue": pvalue,
        "time": times.time,
        "time_ci": times.interval,
        "reference_time": time_b[:, 0],
        "reference_time_ci": ends_b[:, 0],
        "reference_level": np.zeros(len(reason)),  # of scores less their target
        "reference_falls": np.zeros(len(reason)),
        "reason": reason,
    }
    return found, bounds, LogTimes(times.track, pairs, weight, np.repeat(cell, 2, axis=1), offset)


def _fixed_claims(
    reason: NDArray[np.intp], log_times: LogTimes, n_benchmarks: int, alpha: float
) -> tuple[Floats, Floats]:
    """Return intervals and p for these tasks, shape (benchmark, algorithm, ...), NaN where one is not estimated."""
    of_claims = reason.reshape(n_benchmarks, -1, reason.shape[-1])
    n_compared = np.count_nonzero(of_claims != Reason.NOT_COMPARED, axis=1)
    estimated = np.isin(of_claims, (Reason.ESTIMATED, Reason.NOT_COMPARED)).all(axis=1) & (n_compared > 0)
    ends, pvalues = np.full((*estimated.shape, 2), np.nan), np.full(estimated.shape, np.nan)
    task, algorithm = log_times.cell
    claim = np.array([task // of_claims.shape[1], algorithm])  # of each time
    kept = estimated[*claim]
    claim = claim[:, kept]
    number = np.cumsum(estimated.ravel()).reshape(estimated.shape) - 1
    weight = log_times.weight[kept] / n_compared[*claim]
    offset = (log_times.offset.reshape(of_claims.shape).sum(axis=1) / np.maximum(n_compared, 1))[estimated]
    track = log_times.track.take(log_times.row[kept])
    found = hitting_times.combine_times(track, number[*claim], weight, offset, alpha)
    ends[estimated] = np.exp(np.stack([found.lower, found.upper], axis=-1))
    pvalues[estimated] = found.pvalue
    return ends, pvalues


def _claims(
    bounds: Floats, families: NDArray[np.intp], group: Group, fixed: tuple[Floats, Floats] | None = None
) -> dict[str, Any]:
    """Return the variables of both claims, given bounds of log ratios, shape (2, benchmark, task, algorithm)."""
    alpha = group.context.alpha
    low, high = np.moveaxis(bounds, -1, -2)
    present, shape = ~np.isnan(low), low.shape[:2]
    plan = plans.plan_flips(int(families.max()) + 1, None, group.context.entropy)
    flat = (-1, low.shape[-1])
    random = hitting_times.over_tasks(low.reshape(flat), high.reshape(flat), families, plan, alpha)
    ends, pvalues = np.full((*shape, 2, 2), np.nan), np.full((*shape, 2), np.nan)
    ends[:, :, 1], pvalues[..., 1] = np.exp(random.interval).reshape(*shape, 2), random.pvalue.reshape(shape)
    if fixed is not None:
        ends[:, :, 0], pvalues[..., 0] = fixed
    of_families = [present[..., families == family].any(axis=-1) for family in range(plan.n_families)]
    # A p that can never be small enough is outside the family; one that is lacking by outcome counts as 1.
    reachable = np.where(2.0 ** (1 - np.sum(of_families, axis=0)) > alpha, np.nan, pvalues[..., 1])
    lacking = np.isnan(pvalues[..., 0])
    counted = np.where(lacking & present.any(axis=-1), 1.0, pvalues[..., 0])
    return {
        "speedup": np.exp(random.mean).reshape(shape),
        "speedup_ci": ends,
        "pvalue": pvalues,
        "pvalue_adjusted": np.stack([np.where(lacking, np.nan, holm(counted)), holm(reachable)], axis=-1),
        "median_speedup": np.exp(random.median).reshape(shape),
        "median_speedup_ci": np.exp(random.median_interval).reshape(*shape, 2),
        "n_tasks": present.sum(axis=-1),
        "n_censored": (present & (low != high)).sum(axis=-1),
    }


def _of_times(group: Group, options: Options) -> dict[str, Any]:
    """Compare medians of given times, shape (..., algorithm, run), beside which their budgets may stand."""
    times, *budgets = group.data
    check_times(times)
    time = medians(times)
    # A time that is not reached is at least its budget, of which 0 is all that is known where there is none.
    budget = np.nan_to_num(budgets[0], nan=0.0) if budgets else 0.0
    last = medians(np.where(np.isinf(times), budget, times))
    low, reached = np.where(np.isinf(time), last, time), ~np.isinf(time)
    time_b, low_b, reached_b = (each[..., [options.reference]] for each in (time, low, reached))
    reason = np.where(reached, np.where(reached_b, Reason.ESTIMATED, Reason.REFERENCE_NOT_REACHED), Reason.NOT_REACHED)
    reason[np.isnan(time) | np.isnan(time_b)] = Reason.NOT_COMPARED
    reason[..., options.reference] = Reason.NOT_COMPARED
    n_runs = np.count_nonzero(~np.isnan(times), axis=-1)
    found = {"time": time, "reference_time": time_b[..., 0], "reason": reason, "n_runs": n_runs}
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(reason == Reason.ESTIMATED, time_b / time, np.nan)
    if options.families is None:
        return found | {"speedup": ratio}
    nothing = (reason == Reason.NOT_COMPARED) | ~(reached | reached_b)
    bounds = np.where(nothing, np.nan, _log_ratios(low, time, (low_b, time_b)))
    return found | {"task_speedup": ratio} | _claims(bounds, options.families, group)


def check_times(times: Floats) -> None:
    """Refuse times before 0, of which ratios say nothing."""
    if (times < 0).any():
        raise ValueError(f"times must not be negative; got {np.nanmin(times):g}. Subtract where they begin")
