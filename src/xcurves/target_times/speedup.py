"""How much sooner an algorithm reaches a score than a reference, in each task and over tasks.

In kernels arrays have an item for each cell, the algorithms of a task one after the other, where no other shape is
given. Ratios are known to lie between `low` and `high`, NaN where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import prod
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.array_types import Floats, Index
from xcurves.core import labels, validation
from xcurves.core.driver import Group, is_lazy, per_task
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.kernels.resampling import plans
from xcurves.kernels.resampling.adjustments import holm
from xcurves.kernels.resampling.plans import EXACT_LIMIT
from xcurves.kernels.times import dealt_times, hitting_times, mean_curves
from xcurves.kernels.times.hitting_times import LogTimes, medians
from xcurves.kernels.times.mean_curves import NO_CURVE, MeanCurve
from xcurves.multi_task.options import TaskGroups, check_task, check_task_groups
from xcurves.preprocessing.normalization import Reference, say_reference
from xcurves.target_times.kinds import EACH_SPEEDUP, SPEEDUP
from xcurves.target_times.mean_time_to_target import (
    Readings,
    curves_and_target,
    times_of,
    times_to_target,
)
from xcurves.target_times.text import Reason, described

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


def speedup(
    curves: xr.DataArray,
    *,
    reference: Hashable,
    target: Reference | None = None,
    higher_is_better: bool = True,
    paired: bool = False,
    ratio_test: Literal["welch", "randomization"] = "welch",
    training_scale: Literal["linear", "log"] = "linear",
    task: str | Sequence[str] | None = None,
    task_groups: TaskGroups | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Return how much sooner each algorithm reaches a score than the reference, with an interval.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training) or (..., algorithm, run, evaluation)
        Scores, NaN where a run was not evaluated. Every run is read between its own levels; none need be common
        (``to_dataarray(levels="run")``). Or times, dims (..., algorithm, run), +inf where a run did not reach its
        target, as `time_to_target` returns them: ratios of medians.
    reference : label
        The algorithm that the others are compared with.
    target : float or DataArray, optional
        Score to be reached: one for all, or one for each task. None: the mean score of the reference at the last level
        that all of its runs have.
    higher_is_better : bool, default True
        If False, low scores are good ones.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms; only without `target`.
    ratio_test : {"welch", "randomization"}
        What rejects ratios to the last level: Welch's t test, or whole runs dealt anew, which is exact with equal
        spread, skewed runs included, and needs 4 v 4 runs for intervals of 0.95.
    training_scale : {"linear", "log"}
        Whether runs are linear in training or in its logarithm between their levels.
    task : str or sequence of str, optional
        A dim of tasks, or several, over which there is one answer, the geometric mean. None: each task by itself.
    task_groups : str, sequence or DataArray, optional
        Families of tasks that resemble each other: a coordinate of the tasks, or a label for each.
    confidence_level : float, default 0.95
        Of each interval.
    rng : int, Generator or None
        Seed of random reassignments, where all are too many.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front and all algorithms but the reference. Ratios, above 1 where the
        algorithm is sooner: `speedup` (algorithm), `speedup_ci` (algorithm, ci_bound), by itself,
        `speedup_ci_simultaneous` (algorithm, ci_bound), for all comparisons together; `speedup_gap` (algorithm), 1
        where the interval holds ratios that are rejected. `pvalue`, `pvalue_adjusted` (algorithm), by Holm. Without
        `target`, to the level at which the reference had 90 % of its rise: `rise_speedup` (algorithm),
        `rise_speedup_ci` (algorithm, ci_bound), for all comparisons together, `rise_time` (algorithm), `rise_level`,
        `rise_reference_time`; NaN where it does not rise, or runs are paired. In units of training: `time`,
        `training_last` (algorithm), `time_ci` (algorithm, ci_bound), `reference_time`, and with `target`
        `reference_time_ci` (ci_bound). In units of the scores: `reference_level`; `score_best` (algorithm), of any run;
        at 64 levels `mean_curve` (algorithm, evaluation), `reference_curve`, `curve_training` (evaluation).
        `reference_falls`, 1 where the reference has been better before its last level; `reason` (algorithm), why there
        is no estimate. Counts: `n_runs`, `n_ended_early`, `n_resamples` (algorithm). With `task`, intervals, `pvalue`
        and `pvalue_adjusted` have the claims along `task_effect`: "fixed", for these tasks, with p by Holm, and
        "random", for tasks like these, with p by step-down min-p over algorithms; `median_speedup` (algorithm),
        `median_speedup_ci` (algorithm, ci_bound), `n_tasks`, `n_censored` (algorithm), and of each task `task_speedup`,
        `task_pvalue`, `task_speedup_gap` (algorithm, task), `task_speedup_ci` (algorithm, task, ci_bound), beside its
        times, levels and reasons.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described; if levels are negative (or 0 and the scale "log"); if scores are
        infinite; if `paired` and runs are lacking, or a `target` is given.

    Warns
    -----
    UserWarning
        If no run reaches the target, runs end earlier than others of their algorithm, which cuts its curve, or the
        reference has been better before its last level.

    Notes
    -----
    With mean curves :math:`\mu`, the last level ``T`` of the reference B and :math:`\mu_A(x) = \mu_B(T)`, the speed-up
    of A is :math:`r = T/x`. A ratio is rejected where

    .. math:: \frac{\bar y_A(x) - \bar y_B(T)}{\sqrt{v_A(x) + v_B(T)}}, \quad x = T / r,

    is too large for Satterthwaite's degrees of freedom; the interval is the hull of all that are not, exactly, open to
    one side where a curve ends first. With a target the limits of both log times are combined by root sum of squares
    (Zou & Donner 2008), as are those of all tasks for the claim about these tasks. The claim about tasks like these
    flips the signs of tasks' log ratios; a task in which one of the two does not reach the score bounds the mean on one
    side. With a decaying learning rate a curve that is read early understates what a shorter schedule would reach.

    References
    ----------
    .. [1] Fieller, E. C. (1954). Some problems in interval estimation. J. R. Stat. Soc. B 16, 175-185.
       doi:10.1111/j.2517-6161.1954.tb00159.x
    .. [2] Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures: A general approach.
       Stat. Med. 27, 1693-1702. doi:10.1002/sim.3095
    .. [3] Hartigan, J. A. (1969). Using subsample values as typical values. J. Am. Stat. Assoc. 64, 1303-1317.
       doi:10.1080/01621459.1969.10501057

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> slow = scores["algorithm"].to_numpy()[0]
    >>> answer = scores.curves.speedup(reference=slow, target=0.9)
    >>> answer.speedup.dims, slow in answer.algorithm
    (('algorithm',), False)
    """
    validation.check_array("curves", curves)
    of_times = "training" not in curves.dims and labels.EVALUATION not in curves.dims
    names = ("algorithm", "run") if of_times else labels.DIMS
    curves = check_curves(
        curves, names, own_levels=not of_times, reserved=SPEEDUP.reserved()
    )
    groups, joined = None, []
    if task is not None:
        curves, task = check_task(curves, task)
        groups, joined = check_task_groups(curves, task, task_groups), [task]
    elif task_groups is not None:
        raise ValueError(
            "task_groups are families of tasks that are joined. Name the dim of tasks: task='task'"
        )
    _check_options(curves, reference, target, paired, ratio_test, of_times)
    data, core, options = curves_and_target(
        curves, target, training_scale, higher=higher_is_better, joined=joined
    )
    compare: Callable[..., Compared] = of_given_times if of_times else to_target
    if target is None and not of_times:
        compare, options = (
            to_last_level,
            options | {"randomized": ratio_test == "randomization"},
        )
    when = ["task"]
    if target is None and not of_times and not joined:
        when.append("last")
    order = np.sort(curves["algorithm"].to_numpy()).tolist()
    families = None if groups is None else np.array(groups.numbers)
    needs_none = ratio_test == "welch" and (
        families is None or 2 ** len(set(families)) <= EXACT_LIMIT
    )
    result = per_task(
        SPEEDUP if joined else EACH_SPEEDUP,
        speedup_kernel,
        *data,
        context=Context.of(
            data[0],
            None,
            paired,
            confidence_level,
            rng,
            random=not needs_none,
            core=core,
        ),
        core=core,
        joined=task,
        when=when,
        sizes={labels.EVALUATION: DRAWN},
        options=options
        | {
            "compare": compare,
            "reference": order.index(reference),
            "families": families,
        },
        attrs={
            "reference": reference,
            "target": None if target is None else say_reference(target),
            "higher_is_better": higher_is_better,
            "paired": paired,
            "ratio_test": ratio_test,
            "training_scale": training_scale,
            "of_times": True if of_times else None,
            **({} if groups is None else {"task": task, "task_groups": groups.name}),
        },
        coords=None if groups is None else groups.coord,
    )
    result = result.drop_vars("training", errors="ignore").drop_sel(
        algorithm=[reference]
    )
    return described(result, lazy=is_lazy(curves))


def _check_options(
    curves: xr.DataArray,
    reference: Hashable,
    target: Reference | None,
    paired: bool,
    ratio_test: str,
    of_times: bool,
) -> None:
    labels.algorithm_pairs(curves, reference)
    if reference is None:
        raise ValueError(
            f"reference must be an algorithm; got None. Name one: {curves['algorithm'].to_numpy()[0]!r}"
        )
    validation.check_flag("paired", paired)
    validation.check_choice("ratio_test", ratio_test, ("welch", "randomization"))
    for said, other in (
        ("paired=True", paired),
        ("ratio_test='randomization'", ratio_test == "randomization"),
    ):
        if target is not None and other:
            raise ValueError(
                f"{said} has no target: two times are read at different levels. Leave target= out"
            )
    if of_times and (target is not None or paired):
        what = "target" if target is not None else "paired"
        raise ValueError(
            f"{what} is an option of curves; these are times, without training. Leave {what}= out"
        )


def speedup_kernel(
    group: Group,
    *,
    compare: Callable[..., Compared],
    reference: int,
    families: Index | None,
    **options: Any,
) -> dict[str, Any]:
    """Compare every algorithm with the reference, in each task by itself or over the tasks of `families`."""
    shape = group.data[0].shape[: 2 if families is None else 3]
    # of the reference in the task of each cell
    cells = np.arange(reference, prod(shape), shape[-1]).repeat(shape[-1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found, log_times = compare(group, cells, **options)
    found = {
        name: value.reshape(*shape, *value.shape[1:]) for name, value in found.items()
    }
    if families is None:
        p = found["pvalue"]
        # No p by design is outside the family, no p by outcome counts as 1.
        adjusted = holm(
            np.where(np.isnan(p) & ~np.isin(found["reason"], BY_DESIGN), 1.0, p)
        )
        found["pvalue_adjusted"] = np.where(np.isnan(p), np.nan, adjusted)
    else:
        found = {
            name: value
            for name, value in found.items()
            if not name.startswith(("rise_", "speedup_ci_"))
        }
        for name in ("speedup", "speedup_ci", "pvalue", "speedup_gap"):
            found[f"task_{name}"] = found.pop(name, np.nan)
        found |= _claims(found, log_times, families, group.context)
    of_tasks = [
        name
        for name, dims in group.layout.dims.items()
        if name in found and "algorithm" not in dims
    ]
    return found | {
        name: found[name].take(reference, len(shape) - 1) for name in of_tasks
    }


def _of_curves(cells: Readings, reference: Index) -> tuple[dict[str, Any], Index]:
    """Return what results have of all curves, and why cells are not compared."""
    reason = np.where(
        cells.reason == Reason.ESTIMATED, cells.reason[reference], cells.reason
    )
    reason[(cells.n_runs == 0) | (cells.n_runs[reference] == 0)] = Reason.NOT_COMPARED
    reason[reference] = Reason.NOT_COMPARED
    ends = np.array([curve.u[[0, -1]] for curve in cells.curves]).reshape(
        -1, cells.n_algorithms, 2
    )
    u = np.linspace(
        np.fmin.reduce(ends[..., 0], axis=1),
        np.fmax.reduce(ends[..., 1], axis=1),
        DRAWN,
        axis=-1,
    )
    u = u.repeat(cells.n_algorithms, axis=0)
    means = [
        np.interp(at, curve.u, curve.runs.mean(axis=0), left=np.nan, right=np.nan)
        for at, curve in zip(u, cells.curves, strict=True)
    ]
    scores = cells.sign * np.array(means)
    drawn = {
        "mean_curve": scores,
        "reference_curve": scores,
        "curve_training": np.exp(u) if cells.log else u,
    }
    return cells.ranges(np.maximum(cells.best, cells.best[reference])) | drawn, reason


def _together(skipped: Index, n_algorithms: int, alpha: float) -> Floats:
    """Return the level of intervals that hold for all comparisons of a task together, one for each cell."""
    counted = ~np.isin(skipped, BY_DESIGN).reshape(-1, n_algorithms)
    n_comparisons = np.maximum(counted.sum(axis=-1), 1)
    return np.asarray(alpha / n_comparisons.repeat(n_algorithms))


def _ratios(
    skipped: Index, own: dict[str, Any], other: dict[str, Any]
) -> dict[str, Any]:
    """Return ratios of times, their bounds, and why there is none, given what both times lie between."""
    of_other = np.where(
        other["reason"] == Reason.ESTIMATED, Reason.ESTIMATED, other["reason"] + 2
    )
    of_both = np.where(own["reason"] == Reason.ESTIMATED, of_other, own["reason"])
    reason = np.where(skipped == Reason.ESTIMATED, of_both, skipped)
    low, high = other["low"] / own["high"], other["high"] / own["low"]
    neither = np.isinf(own["high"]) & np.isinf(other["high"])
    silent = (
        neither
        | ((low == high) & np.isin(low, (0, np.inf)))
        | (skipped != Reason.ESTIMATED)
    )
    low, high = np.where(silent, np.nan, [low, high])
    speedup = np.where(reason == Reason.ESTIMATED, low, np.nan)
    return {"reason": reason, "speedup": speedup, "low": low, "high": high}


def to_last_level(
    group: Group, reference: Index, *, log: bool, sign: float, randomized: bool
) -> Compared:
    """Compare with the mean score of the reference at the last level that all of its runs have."""
    cells = Readings(group, log, sign)
    found, skipped = _of_curves(cells, reference)
    others = [cells.curves[row] for row in reference]
    last = [curve.runs[:, -1] for curve in others]
    level, horizon = (
        np.array([each.mean() for each in last]),
        np.array([curve.u[-1] for curve in others]),
    )
    error = np.array([each.var(ddof=1) / len(each) for each in last])
    end = np.exp(horizon) if log else horizon
    skipped[(skipped == Reason.ESTIMATED) & (end == 0)] = (
        Reason.LAST_LEVEL_OF_THE_REFERENCE_IS_0
    )
    compared = skipped == Reason.ESTIMATED
    curves = [
        curve if there else NO_CURVE
        for curve, there in zip(cells.curves, compared, strict=True)
    ]
    if group.context.paired:
        of_runs = [
            each if there else np.nan
            for each, there in zip(last, compared, strict=True)
        ]
        track = mean_curves.tracks(curves, of_runs, log=log)
    else:
        track = mean_curves.tracks(
            curves, level.tolist(), error, [len(each) - 1 for each in last], log=log
        )
    alpha = group.context.alpha
    of_all = _together(skipped, cells.n_algorithms, alpha)
    found |= times_of(track, skipped, alpha)
    times_together = times_of(track, skipped, of_all)["time_ci"]
    found["pvalue"] = mean_curves.pvalue_of(track, horizon)
    if randomized:
        found |= _dealt(
            compared, curves, last, horizon, group.context, np.full(len(curves), alpha)
        )
        found["time_ci"] = track.training(found["time_ci"])
        together = _dealt(compared, curves, last, horizon, group.context, of_all)
        times_together = track.training(together["time_ci"])
    found |= _ratios(
        skipped, found, {"low": end, "high": end, "reason": np.zeros_like(skipped)}
    )
    found |= {
        "speedup_ci": end[:, np.newaxis] / found["time_ci"][:, ::-1],
        "speedup_ci_simultaneous": end[:, np.newaxis] / times_together[:, ::-1],
        "reference_level": sign * level,
        "reference_time": end,
        "reference_falls": np.array([curve.runs.mean(axis=0).max() for curve in others])
        > level + np.sqrt(error),
    }
    found |= _to_most_of_rise(cells, reference, skipped, of_all, group)
    return found, LogTimes(
        track, np.arange(len(curves))[:, np.newaxis], np.array([-1.0]), np.log(end)
    )


def _to_most_of_rise(
    cells: Readings, reference: Index, skipped: Index, of_all: Floats, group: Group
) -> dict[str, Floats]:
    """Compare the times to the level at which the reference had most of its rise, where curves are not yet flat."""
    means = [cells.curves[row].runs.mean(axis=0) for row in reference]
    level = np.array([mean[0] + MOST_OF_RISE * (mean[-1] - mean[0]) for mean in means])
    rises = np.array([mean[-1] > mean[0] for mean in means])
    if group.context.paired:  # the ratio of two times of matched runs has no interval
        rises = np.zeros_like(rises)
    cells = cells.with_target(np.where(rises, level, np.inf))
    found, _ = _at_level(
        cells,
        reference,
        np.where(rises, skipped, Reason.NOT_COMPARED),
        group.context.alpha,
        of_all,
    )
    return {
        "rise_speedup": found["speedup"],
        "rise_speedup_ci": np.where(
            rises[:, np.newaxis], found["speedup_ci_simultaneous"], np.nan
        ),
        "rise_time": np.where(rises, found["time"], np.nan),
        "rise_reference_time": np.where(rises, found["reference_time"], np.nan),
        "rise_level": np.where(rises, cells.sign * level, np.nan),
    }


def _dealt(
    compared: Index,
    curves: list[MeanCurve],
    last: list[Floats],
    horizon: Floats,
    context: Context,
    alpha: Floats,
) -> dict[str, Floats]:
    """Return what the randomization test says in place of Welch's, the limits of times in u, by levels of cells."""
    rows = np.full((len(curves), 5), [np.nan, np.nan, 0, np.nan, 0])
    for row in np.flatnonzero(compared).tolist():
        curve = curves[row]
        plan = context.plan((len(curve.runs), len(last[row])))
        dealt = dealt_times.dealt_times(
            curve.u, curve.runs, last[row], horizon[row], plan, alpha[row]
        )
        rows[row] = *dealt, plan.n_resamples
    return {
        "time_ci": rows[:, :2],
        "speedup_gap": rows[:, 2],
        "pvalue": rows[:, 3],
        "n_resamples": rows[:, 4],
    }


def to_target(group: Group, reference: Index, *, log: bool, sign: float) -> Compared:
    """Compare the times at which mean curves reach a target."""
    cells, alpha = Readings(group, log, sign), group.context.alpha
    found, skipped = _of_curves(cells, reference)
    beyond = np.maximum(cells.best, cells.best[reference]) < cells.target
    skipped[(skipped == Reason.ESTIMATED) & beyond] = Reason.NO_RUN_REACHES_IT
    compared, log_times = _at_level(
        cells, reference, skipped, alpha, _together(skipped, cells.n_algorithms, alpha)
    )
    return found | compared, log_times


def _at_level(
    cells: Readings, reference: Index, skipped: Index, alpha: float, of_all: Floats
) -> tuple[dict[str, Any], LogTimes]:
    """Compare the times at which mean curves reach the target of their cells; `of_all` are levels for all together."""
    track, times = times_to_target(cells, alpha)
    found = times | _ratios(
        skipped, times, {name: each[reference] for name, each in times.items()}
    )
    rows = np.stack([np.arange(len(reference)), reference], axis=-1)
    log_times = LogTimes(track, rows, np.array([-1.0, 1.0]), np.zeros(len(reference)))
    estimated = np.flatnonzero(found["reason"] == Reason.ESTIMATED)
    pvalue = np.full(len(reference), np.nan)
    levels = alpha, of_all[estimated]
    own, pvalue[estimated] = log_times.geometric_means(
        estimated, np.arange(len(estimated)), *levels
    )
    ends = [
        _one_sided(track, cells, reference, skipped, level) for level in (alpha, of_all)
    ]
    for each, known in zip(ends, own, strict=True):
        each[estimated] = known
    found |= {
        "speedup_ci": ends[0],
        "speedup_ci_simultaneous": ends[1],
        "pvalue": pvalue,
        "speedup_gap": np.zeros(len(reference)),
        "reference_time": times["time"],
        "reference_time_ci": times["time_ci"],
        "reference_level": cells.sign * cells.target,
        "reference_falls": np.zeros(len(reference)),
    }
    return found, log_times


def _one_sided(
    track: mean_curves.Tracks,
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
    times, budget = (each.reshape(-1, each.shape[-1]) for each in group.data)
    check_times(times)
    time = medians(times)
    # A time that is not reached is at least its budget, of which 0 is all that is known where there is none.
    last = medians(np.where(np.isinf(times), np.nan_to_num(budget, nan=0.0), times))
    own = np.where(
        np.isinf(time), Reason.NOT_REACHED_WITHIN_ITS_BUDGET, Reason.ESTIMATED
    )
    known = {"low": np.where(np.isinf(time), last, time), "high": time, "reason": own}
    skipped = np.where(
        np.isnan(time) | np.isnan(time[reference]),
        Reason.NOT_COMPARED,
        Reason.ESTIMATED,
    )
    skipped[reference] = Reason.NOT_COMPARED
    found = _ratios(
        skipped, known, {name: each[reference] for name, each in known.items()}
    ) | {
        "pvalue": np.full(len(time), np.nan),
        "time": time,
        "reference_time": time,
        "n_runs": np.count_nonzero(~np.isnan(times), axis=-1),
    }
    return found, None


def check_times(times: Floats) -> None:
    """Refuse times before 0, of which ratios say nothing."""
    if (times < 0).any():
        raise ValueError(
            f"times must not be negative; got {np.nanmin(times):g}. Subtract where they begin"
        )


def _claims(
    found: dict[str, Any], log_times: LogTimes | None, families: Index, context: Context
) -> dict[str, Any]:
    """Return the variables of both claims, given those of the cells of joined tasks, (benchmark, task, algorithm)."""
    reason = found["reason"]
    over = (len(reason), reason.shape[-1])
    ends, together = np.full((2, *over, 2, 2), np.nan)
    pvalues = np.full((*over, 2), np.nan)
    present = ~np.isnan(found["low"])
    if log_times is not None:  # for these tasks, where none lacks an estimate
        compared = reason != Reason.NOT_COMPARED
        estimated = compared.any(axis=1) & (
            ~compared | (reason == Reason.ESTIMATED)
        ).all(axis=1)
        cells = np.flatnonzero(compared & estimated[:, np.newaxis])
        number = np.broadcast_to(
            np.cumsum(estimated).reshape(len(reason), 1, -1) - 1, reason.shape
        )
        n_comparisons = np.broadcast_to(
            present.any(axis=1).sum(axis=-1, keepdims=True), estimated.shape
        )[estimated]
        alphas = context.alpha, context.alpha / n_comparisons
        made, pvalues[estimated, 0] = log_times.geometric_means(
            cells, number.ravel()[cells], *alphas
        )
        ends[estimated, 0], together[estimated, 0] = made
    plan = plans.plan_flips(int(families.max()) + 1, None, context.entropy)
    bounds = (
        np.array([found["low"], found["high"]])
        .swapaxes(-1, -2)
        .reshape(2, -1, len(families))
    )
    random, n_families = hitting_times.over_tasks(
        bounds, families, plan, context.alpha, over[-1]
    )
    random = {
        name: each.reshape(*over, *each.shape[1:]) for name, each in random.items()
    }
    ends[..., 1, :], pvalues[..., 1] = random["speedup_ci"], random["pvalue"]
    together[..., 1, :] = random["speedup_ci_simultaneous"]
    # A fixed p that is lacking by outcome counts as 1; a random one that can never be small is outside the family.
    lacking = np.isnan(pvalues[..., 0])
    counted = np.where(lacking & present.any(axis=1), 1.0, pvalues[..., 0])
    reachable = 2.0 ** (1 - n_families.reshape(over)) <= context.alpha
    adjusted = np.where(reachable, random["pvalue_adjusted"], np.nan)
    return random | {
        "speedup_ci": ends,
        "speedup_ci_simultaneous": together,
        "pvalue": pvalues,
        "pvalue_adjusted": np.stack(
            [np.where(lacking, np.nan, holm(counted)), adjusted], axis=-1
        ),
        "n_tasks": present.sum(axis=1),
        "n_censored": (present & (found["low"] != found["high"])).sum(axis=1),
    }
