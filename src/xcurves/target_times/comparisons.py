"""The kernels of `speedup`: every algorithm against the reference, in each task and over tasks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core.driver import Group
from xcurves.kernels import dealt_times, hitting_times, mean_curves, plans
from xcurves.kernels.engine import holm
from xcurves.kernels.hitting_times import medians
from xcurves.kernels.mean_curves import NO_CURVE, MeanCurve, Tracks
from xcurves.kernels.moments import Floats
from xcurves.target_times.mean_time_to_target import BY_DESIGN, Reading, Readings, times_of, times_to_target
from xcurves.target_times.text import Reason

DRAWN = 64  # levels of the mean curves that results keep

Reasons = NDArray[np.intp]


class Options(NamedTuple):
    """What the kernels of `speedup` are told."""

    reading: Reading | None  # None where times are given
    reference: int  # index among the algorithms in the order of their labels
    fixed_target: bool  # not the reference's last mean
    randomized: bool
    families: NDArray[np.intp] | None  # of the tasks, where these are joined


class LogTimes(NamedTuple):
    """Weighted logarithms of times, whose sums are the logarithms of ratios."""

    track: Tracks
    rows: NDArray[np.intp]  # of `track`, shape (task, algorithm, time)
    weight: Floats  # shape (time,)
    offset: Floats  # that sums are added to, shape (task, algorithm)

    def geometric_means(self, owner: NDArray[np.intp], alpha: float) -> tuple[Floats, Floats]:
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


class Ratios(NamedTuple):
    """Ratios of the reference's times to others, shape (task, algorithm), however they were found."""

    reason: Reasons
    low: Floats  # between which they are known to lie; NaN where nothing is known
    high: Floats
    found: dict[str, Any]  # other variables
    log_times: LogTimes | None = None  # what claims about these tasks are made of


def speedup_kernel(group: Group, *, options: Options) -> dict[str, Any]:
    """Compare every algorithm with the reference, in each task by itself or over tasks that are joined."""
    made = (_of_times if options.reading is None else _of_curves)(group, options)
    found = {"pvalue": np.full(made.reason.shape, np.nan), "reason": made.reason} | made.found
    found["speedup"] = np.where(made.reason == Reason.ESTIMATED, made.low, np.nan)
    if options.families is None:
        p = found["pvalue"]
        # No p by design is outside the family, no p by outcome counts as 1.
        adjusted = holm(np.where(np.isnan(p) & ~np.isin(made.reason, BY_DESIGN), 1.0, p))
        return found | {"pvalue_adjusted": np.where(np.isnan(p), np.nan, adjusted)}
    lead = group.data[0].shape[:2]
    of_tasks = {name: f"task_{name}" for name in ("speedup", "speedup_ci", "pvalue", "speedup_gap")}
    found = {of_tasks.get(name, name): value.reshape(*lead, *value.shape[1:]) for name, value in found.items()}
    return found | _claims(made, lead, options.families, group)


def _of_curves(group: Group, options: Options) -> Ratios:
    """Compare mean curves, by the target or the last level of the reference."""
    assert options.reading is not None
    cells, reference = Readings(group, options.reading), options.reference
    reason = np.where(cells.reason == Reason.ESTIMATED, cells.reason[:, [reference]], cells.reason)
    reason[(cells.n_runs == 0) | (cells.n_runs[:, [reference]] == 0)] = Reason.NOT_COMPARED
    reason[:, reference] = Reason.NOT_COMPARED
    made = (_by_target if options.fixed_target else _by_last_level)(cells, reason, options, group)
    made.found["reference_level"] = cells.as_scores(made.found["reference_level"])
    made.found.update(cells.ranges(reference), **(_drawn(cells, reference) if options.families is None else {}))
    unbounded = np.isin([made.low, made.high], (0, np.inf)).all(axis=0)
    return made._replace(low=np.where(unbounded, np.nan, made.low), high=np.where(unbounded, np.nan, made.high))


def _drawn(cells: Readings, reference: int) -> dict[str, Any]:
    """Return mean curves at equal steps of all that is read, for pictures."""
    n_tasks, n = cells.reason.shape
    ends = np.array([curve.u[[0, -1]] for curve in cells.curves]).reshape(n_tasks, n, 2)
    u = np.linspace(np.fmin.reduce(ends[..., 0], axis=1), np.fmax.reduce(ends[..., 1], axis=1), DRAWN, axis=-1)
    means = [
        np.interp(u[row // n], curve.u, curve.runs.mean(axis=0), left=np.nan, right=np.nan)
        for row, curve in enumerate(cells.curves)
    ]
    scores = cells.as_scores(np.reshape(means, (n_tasks, n, DRAWN)))
    return {
        "mean_curve": scores,
        "reference_curve": scores[:, reference],
        "curve_training": np.exp(u) if cells.log else u,
    }


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(numerator / denominator)


def _by_last_level(cells: Readings, reason: Reasons, options: Options, group: Group) -> Ratios:
    """Compare with the mean score of the reference at the last level that all of its runs have."""
    n = reason.shape[1]
    others = cells.curves[options.reference :: n]
    last = [curve.runs[:, -1] for curve in others]
    level, horizon = np.array([each.mean() for each in last]), np.array([curve.u[-1] for curve in others])
    errors = np.array([each.var(ddof=1) / len(each) for each in last])
    best = np.array([curve.runs.mean(axis=0).max() for curve in others])
    end = np.exp(horizon) if cells.log else horizon
    reason[(reason == Reason.ESTIMATED) & (end == 0)[:, np.newaxis]] = Reason.LAST_LEVEL_OF_THE_REFERENCE_IS_0
    compared = reason == Reason.ESTIMATED
    curves = [curve if there else NO_CURVE for curve, there in zip(cells.curves, compared.flat, strict=True)]
    if group.context.paired:
        of_runs = [last[row // n] if there else np.nan for row, there in enumerate(compared.flat)]
        track = mean_curves.tracks(curves, of_runs, log=cells.log)
    else:
        df = np.array([len(each) - 1 for each in last])
        track = mean_curves.tracks(
            curves, np.repeat(level, n).tolist(), np.repeat(errors, n), np.repeat(df, n), log=cells.log
        )
    times = times_of(track, reason, group.context.alpha)
    pvalue = mean_curves.pvalue_of(track, np.repeat(horizon, n)).reshape(reason.shape)
    found = {"time": times.time, "time_ci": times.interval, "speedup_gap": times.gap, "pvalue": pvalue}
    if options.randomized:
        found |= _dealt(compared, curves, last, horizon, group)
        found["time_ci"] = track.training(found["time_ci"])
    found |= {
        "speedup_ci": _ratio(end[:, np.newaxis, np.newaxis], found["time_ci"][..., ::-1]),
        "reference_level": level,
        "reference_time": end,
        "reference_falls": best > level + np.sqrt(errors),
    }
    with np.errstate(divide="ignore"):
        offset = np.repeat(np.log(end)[:, np.newaxis], n, axis=1)
    log_times = LogTimes(track, np.arange(len(curves)).reshape(*reason.shape, 1), np.array([-1.0]), offset)
    low, high = (_ratio(end[:, np.newaxis], each) for each in (times.high, times.low))
    return Ratios(times.reason, low, high, found, log_times)


def _dealt(
    compared: NDArray[np.bool_], curves: list[MeanCurve], last: list[Floats], horizon: Floats, group: Group
) -> dict[str, Any]:
    """Return what the randomization test says in place of Welch's, the limits of times in u."""
    alpha, shape = group.context.alpha, compared.shape
    ends, pvalue = np.full((*shape, 2), np.nan), np.full(shape, np.nan)
    gap, n_resamples = np.zeros((2, *shape), np.int64)
    for cell in np.argwhere(compared).tolist():
        task, a = cell
        curve = curves[task * shape[1] + a]
        plan = group.context.plan((len(curve.runs), len(last[task])))
        dealt = dealt_times.dealt_times(curve.u, curve.runs, last[task], float(horizon[task]), plan, alpha)
        ends[task, a], pvalue[task, a] = (dealt.lower, dealt.upper), dealt.pvalue
        gap[task, a], n_resamples[task, a] = dealt.gap, plan.n_resamples
    return {"time_ci": ends, "pvalue": pvalue, "speedup_gap": gap, "n_resamples": n_resamples}


def _by_target(cells: Readings, reason: Reasons, options: Options, group: Group) -> Ratios:
    """Compare the times at which mean curves reach a target."""
    shape, reference, alpha = reason.shape, [options.reference], group.context.alpha
    track, times = times_to_target(cells, alpha)
    why_b = times.reason[:, reference]
    why_b = np.where(why_b == Reason.ESTIMATED, why_b, why_b + 2)  # of the reference
    reachable = np.maximum(cells.best, cells.best[:, reference]) >= 0
    told = (reason == Reason.ESTIMATED) & reachable
    reason = np.where((reason == Reason.ESTIMATED) & ~reachable, Reason.NO_RUN_REACHES_IT, reason)
    reason = np.where(told, np.where(times.reason == Reason.ESTIMATED, why_b, times.reason), reason)
    half = times_of(track, cells.reason, alpha / 2).interval  # Bonferroni, of two times
    ends = _ratio(half[:, reference], half[..., ::-1])
    ends = np.where(told[..., np.newaxis], np.where(np.isnan(ends), [0.0, np.inf], ends), np.nan)
    rows = np.arange(reason.size).reshape(shape)
    log_times = LogTimes(
        track,
        np.stack(np.broadcast_arrays(rows, rows[:, reference]), axis=-1),
        np.array([-1.0, 1.0]),
        np.zeros(shape),
    )
    pvalue, estimated = np.full(shape, np.nan), reason == Reason.ESTIMATED
    number = np.where(estimated, np.cumsum(estimated).reshape(shape) - 1, -1)
    ends[estimated], pvalue[estimated] = log_times.geometric_means(number, alpha)
    found = {
        "speedup_ci": ends,
        "speedup_gap": np.zeros(shape),
        "pvalue": pvalue,
        "time": times.time,
        "time_ci": times.interval,
        "reference_time": times.time[:, options.reference],
        "reference_time_ci": times.interval[:, options.reference],
        "reference_level": np.zeros(len(reason)),  # of scores less their target
        "reference_falls": np.zeros(len(reason)),
    }
    low, high = _ratio(times.low[:, reference], times.high), _ratio(times.high[:, reference], times.low)
    return Ratios(reason, np.where(told, low, np.nan), np.where(told, high, np.nan), found, log_times)


def _of_times(group: Group, options: Options) -> Ratios:
    """Compare medians of given times, shape (..., algorithm, run), beside which their budgets may stand."""
    times, budget = (each.reshape(-1, *each.shape[-2:]) for each in group.data)
    check_times(times)
    time = medians(times)
    # A time that is not reached is at least its budget, of which 0 is all that is known where there is none.
    last = medians(np.where(np.isinf(times), np.nan_to_num(budget, nan=0.0), times))
    least, reached = np.where(np.isinf(time), last, time), ~np.isinf(time)
    time_b, least_b, reached_b = (each[:, [options.reference]] for each in (time, least, reached))
    reason = np.where(
        reached,
        np.where(reached_b, Reason.ESTIMATED, Reason.NOT_REACHED_BY_THE_REFERENCE_WITHIN_ITS_BUDGET),
        Reason.NOT_REACHED_WITHIN_ITS_BUDGET,
    )
    reason[np.isnan(time) | np.isnan(time_b)] = Reason.NOT_COMPARED
    reason[:, options.reference] = Reason.NOT_COMPARED
    told = (reason != Reason.NOT_COMPARED) & (reached | reached_b)
    low, high = (np.where(told, _ratio(*each), np.nan) for each in ((least_b, time), (time_b, least)))
    n_runs = np.count_nonzero(~np.isnan(times), axis=-1)
    return Ratios(reason, low, high, {"time": time, "reference_time": time_b[:, 0], "n_runs": n_runs})


def check_times(times: Floats) -> None:
    """Refuse times before 0, of which ratios say nothing."""
    if (times < 0).any():
        raise ValueError(f"times must not be negative; got {np.nanmin(times):g}. Subtract where they begin")


def _claims(made: Ratios, lead: tuple[int, ...], families: NDArray[np.intp], group: Group) -> dict[str, Any]:
    """Return the variables of both claims about tasks that are joined, of `lead`, shape (benchmark, task)."""
    alpha, (n_benchmarks, _), n = group.context.alpha, lead, made.reason.shape[1]
    shape = (n_benchmarks, n)
    ends, pvalues = np.full((*shape, 2, 2), np.nan), np.full((*shape, 2), np.nan)
    if made.log_times is not None:  # for these tasks, where none lacks an estimate
        reason = made.reason.reshape(*lead, n)
        compared = reason != Reason.NOT_COMPARED
        estimated = compared.any(axis=1) & (~compared | (reason == Reason.ESTIMATED)).all(axis=1)
        number = np.cumsum(estimated).reshape(n_benchmarks, 1, n) - 1
        owner = np.where(compared & estimated[:, np.newaxis], number, -1).reshape(-1, n)
        ends[estimated, 0], pvalues[estimated, 0] = made.log_times.geometric_means(owner, alpha)
    plan = plans.plan_flips(int(families.max()) + 1, None, group.context.entropy)
    with np.errstate(divide="ignore"):
        bounds = np.log([made.low, made.high]).reshape(2, *lead, n)
    low, high = bounds.swapaxes(-1, -2).reshape(2, -1, lead[1])
    random = hitting_times.over_tasks(low, high, families, plan, alpha)
    ends[..., 1, :], pvalues[..., 1] = np.exp(random.interval).reshape(*shape, 2), random.pvalue.reshape(shape)
    present = ~np.isnan(low)
    n_families = np.sum([present[:, families == family].any(axis=1) for family in range(plan.n_families)], axis=0)
    # A p that can never be small enough is outside the family; one that is lacking by outcome counts as 1.
    reachable = np.where(2.0 ** (1 - n_families.reshape(shape)) > alpha, np.nan, pvalues[..., 1])
    lacking = np.isnan(pvalues[..., 0])
    counted = np.where(lacking & present.any(axis=1).reshape(shape), 1.0, pvalues[..., 0])
    return {
        "speedup": np.exp(random.mean).reshape(shape),
        "speedup_ci": ends,
        "pvalue": pvalues,
        "pvalue_adjusted": np.stack([np.where(lacking, np.nan, holm(counted)), holm(reachable)], axis=-1),
        "median_speedup": np.exp(random.median).reshape(shape),
        "median_speedup_ci": np.exp(random.median_interval).reshape(*shape, 2),
        "n_tasks": present.sum(axis=1).reshape(shape),
        "n_censored": (present & (low != high)).sum(axis=1).reshape(shape),
    }
