"""The training at which mean curves reach a target, with intervals."""

from __future__ import annotations

from typing import Any

import xarray as xr

from xcurves.core import validation
from xcurves.core.driver import Group, is_lazy, per_task
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.preprocessing.normalization import Reference, say_reference
from xcurves.target_times import cautions, readings
from xcurves.target_times.kinds import MEAN_TIME_TO_TARGET
from xcurves.target_times.readings import Cells, Reading


def mean_time_to_target(
    curves: xr.DataArray,
    target: Reference,
    *,
    higher_is_better: bool = True,
    training_scale: str = "linear",
    confidence_level: float = 0.95,
) -> xr.Dataset:
    r"""Return the training at which the mean curve of each algorithm reaches a target.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training) or (..., algorithm, run, evaluation)
        Scores, NaN where a run was not evaluated. Every run is read by itself, between its own levels and not beyond
        them; runs need no common grid (``to_dataarray(levels="run")``).
    target : float or DataArray
        Score to be reached: one for all, or one for each task, labelled like `curves`.
    higher_is_better : bool, default True
        If False, the mean reaches the target where it is not above it.
    training_scale : {"linear", "log"}
        Whether runs are linear in training or in its logarithm between their levels.
    confidence_level : float, default 0.95
        Of each interval.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front, in units of training: `time` (algorithm), +inf where the mean does not
        reach the target within the budget, `time_ci` (algorithm, ci_bound), open to one side where the curve ends
        first, `training_last` (algorithm), the last level that all runs have; of scores, `score_best` (algorithm), the
        best of any run. Without unit: `time_gap` (algorithm), 1
        where some time within the interval is rejected; `reason` (algorithm), why there is no estimate. Counts:
        `n_runs`, `n_ended_early` (algorithm).

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if levels are negative (or 0 and the scale "log"), or if `target` lacks
        a label or is not finite.

    Warns
    -----
    UserWarning
        If no run of a task reaches the target; if runs of an algorithm end earlier than others, which cuts its curve.

    Notes
    -----
    With :math:`\bar y(x)` the mean of ``l`` runs at training ``x`` and :math:`s(x)` their standard deviation, the
    interval is the hull of all ``x`` that a two-sided t test with ``l - 1`` degrees of freedom does not reject,

    .. math:: t(x) = \frac{\bar y(x) - c}{s(x) / \sqrt l},

    found exactly on each piece between neighbouring levels (Fieller 1954). The true time is one ``x``, which is
    rejected with probability :math:`\alpha`, so that no correction for the number of levels is needed. With skewed runs
    intervals of 0.95 hold 0.88 to 0.90, with one run in ten failing less.

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
    curves = check_curves(curves, own_levels=True, reserved=MEAN_TIME_TO_TARGET.reserved())
    higher = validation.check_flag("higher_is_better", higher_is_better)
    taken, others, core, reading = readings.readings(curves, target, training_scale, higher=higher)
    result = per_task(
        MEAN_TIME_TO_TARGET,
        time_kernel,
        taken,
        *others,
        context=Context.of(taken, confidence_level=confidence_level, core=core),
        core=core,
        options={"reading": reading},
        attrs={
            "target": say_reference(target),
            "training_scale": training_scale,
            "higher_is_better": higher_is_better,
        },
    ).drop_vars("training")
    return cautions.described(result, lazy=is_lazy(curves))


def time_kernel(group: Group, *, reading: Reading) -> dict[str, Any]:
    """Return the times of all algorithms in all tasks."""
    cells = Cells(group, reading)
    times = readings.times_to_target(cells, group.context.alpha)
    found = {"time": times.time, "time_ci": times.interval, "time_gap": times.gap, "reason": times.reason}
    return found | cells.ranges()
