"""When mean curves reach a level: what is read of the runs of each algorithm in each task, and times to a target."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import direction, magnitudes, run_checks, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.jobs import Group
from xcurves.core.labels import EVALUATION, in_label_order
from xcurves.core.own_levels import scores_and_levels
from xcurves.core.refusal import Cure, Refusal, Verbatim
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.frames.normalize import (
    Reference,
    check_reference,
    say_reference,
)
from xcurves.kernels.resampling.moments import count_levels
from xcurves.kernels.times import curve_tracks
from xcurves.kernels.times.curve_tracks import NO_CURVE, Tracks
from xcurves.target_times import kinds
from xcurves.target_times.reasons import Reason, described


def mean_time_to_target(
    curves: xr.DataArray,
    target: Reference,
    *,
    higher_is_better: bool | None = None,
    training_scale: Literal["linear", "log"] = "linear",
    confidence_level: float = 0.95,
) -> xr.Dataset:
    r"""Return the training at which the mean curve of each algorithm reaches a target.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training) or (..., algorithm, run, evaluation)
        Scores, NaN where a run was not evaluated. Every run is read between its own levels; none need be common
        (``to_dataarray(levels="run")``).
    target : float or DataArray
        Score to be reached: one for all, or one for each task, labelled like `curves`.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    training_scale : {"linear", "log"}
        Whether runs are linear in training or in its logarithm between their levels.
    confidence_level : float, default 0.95
        Of each interval.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front, on (algorithm), in units of training: `time`, +inf where the mean does
        not reach the target within the budget, `time_ci` (algorithm, ci_bound), open to one side where the curve ends
        first, `training_last`, which all runs have; `score_best`, of any run; `reason`, why there is no estimate.
        Counts: `n_runs`, `n_ended_early`.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if levels are negative (or 0 and the scale "log"), or if `target` lacks
        a label or is not finite.

    Warns
    -----
    UserWarning
        If no run of a task reaches the target; if runs end earlier than others, which cuts their curve.

    Notes
    -----
    With :math:`\bar y(x)` the mean of ``l`` runs at training ``x`` and :math:`s(x)` their standard deviation, the
    interval is the hull of all ``x`` that a two-sided t test with ``l - 1`` degrees of freedom does not reject,

    .. math:: t(x) = \frac{\bar y(x) - c}{s(x) / \sqrt l},

    found exactly on each piece between neighbouring levels (Fieller 1954). The true time is one ``x``: no correction
    for the number of levels is needed. With skewed runs intervals of 0.95 hold 0.88 to 0.90. Failures that did not
    occur are seen by no method: where a run in ten fails,
    intervals of 0.95 miss in 0.3 to 0.7 of studies with 3 to 10 runs.

    References
    ----------
    .. [1] Fieller, E. C. (1954). Some problems in interval estimation. J. R. Stat. Soc. B 16, 175-185.
       doi:10.1111/j.2517-6161.1954.tb00159.x

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> times = scores.curves.mean_time_to_target(0.9)
    >>> times.time.dims, bool(times.time_ci.isel(ci_bound=0).max() < times.time.max())
    (('algorithm',), True)
    """
    curves = check_curves(curves, own_levels=True, reserved=kinds.MEAN_TIME_TO_TARGET.reserved())
    if target is None:
        raise Refusal("target", target, "must be a score", "Name the one to reach")
    curves, higher_is_better = direction.resolved(curves, higher_is_better)
    data, core, options = curves_and_target(curves, target, training_scale, higher=higher_is_better)
    result = per_task(
        kinds.MEAN_TIME_TO_TARGET,
        partial(mean_time_kernel, **options),
        *data,
        context=Context.of(data[0], confidence_level=confidence_level, core=core),
        core=core,
        attrs={
            "target": say_reference(target),
            "training_scale": training_scale,
            "higher_is_better": higher_is_better,
        },
    ).drop_vars("training")
    return described(result, lazy=is_lazy(curves))


def mean_time_kernel(group: Group, *, log: bool, sign: float) -> dict[str, Any]:
    """Return the times of all algorithms in all tasks."""
    cells = Readings(group, log, sign)
    _, times = times_to_target(cells, group.context.alpha)
    variables = cells.ranges(cells.best) | times
    return {name: values.reshape(-1, cells.n_algorithms, *values.shape[1:]) for name, values in variables.items()}


def curves_and_target(
    curves: xr.DataArray,
    target: Reference | None,
    scale: str,
    *,
    higher: bool,
    joined: Sequence[str] = (),
) -> tuple[list[xr.DataArray], tuple[str, ...], dict[str, Any]]:
    """Return curves as kernels take them, their levels and targets; core dims; the options of `Readings`."""
    log = validation.check_choice("training_scale", scale, ("linear", "log")) == "log"
    if not {"training", EVALUATION} & {*curves.dims}:
        core_of_times = (*joined, "algorithm", "run")
        return _times_and_budgets(curves, core_of_times), core_of_times, {}

    scores, levels, core = scores_and_levels(curves, joined)
    of_task = scores.isel({"algorithm": 0, "run": 0, EVALUATION: 0}, drop=True)
    # Kernels without a target of the user have one of their own.
    level: Reference = 0.0
    if target is not None:
        level = target
    targets = check_reference(of_task, "target", level).broadcast_like(of_task)

    data = [scores, levels, targets.transpose(*of_task.dims)]
    sign = -1.0
    if higher:
        sign = 1.0
    return data, core, {"log": log, "sign": sign}


def _times_and_budgets(times: xr.DataArray, core: tuple[str, ...]) -> list[xr.DataArray]:
    """Return times, beside which their budgets may stand, and these, 0 where none are known."""
    bare = times.drop_vars("budget", errors="ignore").transpose(..., *core)
    budget = times.coords.get("budget", xr.DataArray(0.0)).astype(np.float64)
    budgets = budget.drop_vars("budget", errors="ignore").broadcast_like(bare)
    return [bare, in_label_order(budgets.transpose(*bare.dims), core)]


class Readings:
    """What is read of every algorithm in every task, of arrays (..., algorithm, run, evaluation).

    Lists and arrays have an item for each cell, the algorithms of a task one after the other. Scores and targets are
    times `sign`; `log` says whether curves are linear in the logarithm of training.
    """

    def __init__(self, group: Group, log: bool, sign: float) -> None:
        scores, levels, target = group.data
        self.log = log
        self.sign = sign
        self.n_algorithms = scores.shape[-3]
        self.target = sign * target.repeat(self.n_algorithms)
        _check_levels(levels, log)
        scores = sign * scores
        _check_read(scores.reshape(-1, *scores.shape[-3:]), group)

        # Levels as curves have them, of each run; a grid may be shared by all.
        if levels.ndim < scores.ndim:
            levels = np.expand_dims(levels, tuple(range(1, scores.ndim - 1)))
        u = levels
        if log:
            u = np.log(levels)
        u = np.broadcast_to(u, scores.shape)
        self.curves = [curve_tracks.curve_of_runs(u[cell], scores[cell]) for cell in np.ndindex(scores.shape[:-2])]

        numbers = [(len(curve.runs), len(curve.u), curve.n_ended_early, curve.last) for curve in self.curves]
        self.n_runs, n_levels, self.n_ended_early, self.last = np.array(numbers).T
        none = np.where(n_levels == 0, Reason.NO_LEVELS_IN_COMMON, Reason.ESTIMATED)
        self.reason = np.where(self.n_runs < 2, Reason.FEWER_THAN_TWO_RUNS, none)
        for row in np.flatnonzero(self.reason):
            self.curves[row] = NO_CURVE
        known = np.where(np.isnan(scores), -np.inf, scores)
        self.best = known.max(axis=(-2, -1)).ravel()

    def with_target(self, target: Floats) -> Readings:
        """Return the same readings with another level for each cell, higher being better."""
        other = copy(self)
        other.target = target
        return other

    def ranges(self, best: Floats) -> dict[str, Any]:
        """Return the variables that say how far runs get, and how many there are."""
        return {
            "score_best": self.sign * np.where(np.isinf(best), np.nan, best),
            "training_last": self.training(self.last),
            "n_runs": self.n_runs,
            "n_ended_early": self.n_ended_early,
        }

    def training(self, u: Floats) -> Floats:
        """Return levels in units of training, given those at which curves are linear."""
        if not self.log:
            return u
        return np.asarray(np.exp(u))


def _check_levels(levels: Floats, log: bool) -> None:
    """Refuse levels of training of which there are no ratios, or no logarithms."""
    least = np.nanmin(levels, initial=np.inf)
    if least < 0:
        raise Refusal(
            "training",
            Verbatim(f"{least:g}"),
            "must not be negative: ratios of times need a zero",
            "Subtract it",
        )
    if log and least == 0:
        raise Refusal(
            "training_scale",
            "log",
            "needs levels above 0; got 0",
            Cure(
                "Leave it out: curves.where(curves.training > 0, drop=True), or use 'linear'",
            ),
        )


def _check_read(scores: Floats, group: Group) -> None:
    """Refuse scores that are infinite or too large to be squared."""
    context = group.context
    n_tasks = len(scores)
    # Joined tasks have one name together.
    names = group.names
    if len(names) != n_tasks:
        names = [""] * n_tasks
    magnitudes.check_size(scores, names)
    counts = count_levels(scores)
    counts[np.isfinite(counts)] = 0.0  # runs may have levels of their own
    run_checks.check_runs(counts, np.zeros(n_tasks), names, context.algorithms, context.runs)


def times_of(track: Tracks, reason: NDArray[np.intp], alpha: float | Floats) -> dict[str, Any]:
    """Return when curves reach their level, NaN where nothing is read, given why some of them cannot be.

    The time is known to lie between `low` and `high`.
    """
    u, point = curve_tracks.first_crossing(track)
    hull = curve_tracks.hull_by_pvalue(track, alpha)
    ends = [track.training(hull.lower), track.training(hull.upper)]
    first, last = track.training(track.u[0]), track.training(track.u[-1])

    # A curve that is there at once may have been earlier, one that never gets there may later.
    readable = reason == Reason.ESTIMATED
    never = readable & (point < 0)
    at_once = readable & (point == 0)
    time = np.where(readable, track.training(u), np.nan)
    why = [Reason.NOT_REACHED_WITHIN_ITS_BUDGET, Reason.THERE_FROM_ITS_FIRST_LEVEL_ON]
    return {
        "time": np.where(at_once, np.nan, time),
        "time_ci": np.stack(ends, axis=-1),
        "low": np.select([at_once, never], [0.0, last], time),
        "high": np.where(at_once, first, time),
        "speedup_gap": np.where(readable, hull.gap, 0.0),
        "reason": np.select([never, at_once], why, reason),
    }


def times_to_target(cells: Readings, alpha: float) -> tuple[Tracks, dict[str, Any]]:
    """Return all curves with their times to the target, without interval in tasks where no run gets there."""
    track = curve_tracks.tracks(cells.curves, cells.target.tolist(), log=cells.log)
    times = times_of(track, cells.reason, alpha)
    best = cells.best.reshape(-1, cells.n_algorithms).max(axis=1).repeat(cells.n_algorithms)
    beyond = (best < cells.target) & (cells.reason == Reason.ESTIMATED)
    times["reason"] = np.where(beyond, Reason.NO_RUN_REACHES_IT, times["reason"])
    times["time_ci"][beyond] = np.nan
    return track, times
