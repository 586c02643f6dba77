"""Times of runs to a target."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core import direction, provenance, validation
from xcurves.core.run_checks import LAST_LEVEL
from xcurves.core.validation import check_curves
from xcurves.frames.normalize import (
    Reference,
    check_reference,
    say_reference,
)
from xcurves.kernels.times import hitting_times


def time_to_target(
    curves: xr.DataArray,
    target: Reference,
    *,
    sustained: int = 1,
    higher_is_better: bool | None = None,
) -> xr.DataArray:
    r"""Return the training level at which each run first reaches a target.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none: levels that others have are no levels of its own. Or dims (..., algorithm,
        run, evaluation), as ``to_dataarray(levels="run")`` makes them.
    target : float or DataArray
        Score to be reached: one for all, or one for each task, labelled like `curves`.
    sustained : int, default 1
        Number of evaluations in a row, from that one on, at which the score must meet the target.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.

    Returns
    -------
    DataArray, dims (..., algorithm, run)
        Times in units of training: a level of the run, +inf where it does not reach the target within its budget, NaN
        where there is no run. The coordinate `budget` has the last level of each run. ``attrs["history"]`` has the
        step.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if `sustained` is more than the number of levels, or if `target` lacks
        a label or is not finite.

    Notes
    -----
    With the levels :math:`t_1 < \dots < t_k` of a run, scores :math:`y_j`, target c and s evaluations in a row,

    .. math:: T = \min\{t_j : y_j, \dots, y_{j+s-1} \ge c\}, \quad T = \infty \text{ if there is none.}

    A noisy run reaches a target early, the earlier the more often it is evaluated: compare runs that were evaluated
    alike, or mean curves (`speedup`). How much longer than their budget runs take is not known: compare times by ranks,
    medians and shares, with ``higher_is_better=False``.

    References
    ----------
    .. [1] Dolan, E. D. & Moré, J. J. (2002). Benchmarking optimization software with performance profiles.
       Mathematical Programming 91, 201-213. doi:10.1007/s101070100263

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> scores = xr.DataArray(
    ...     [[[1.0, 5.0, 2.0, 6.0, 7.0], [1.0, 2.0, 3.0, 3.0, 4.0]]],
    ...     dims=("algorithm", "run", "training"),
    ...     coords={"algorithm": ["a"], "run": [0, 1], "training": [0, 10, 20, 30, 40]},
    ... )
    >>> scores.curves.time_to_target(5.0).to_numpy()
    array([[10., inf]])
    >>> scores.curves.time_to_target(5.0, sustained=2).to_numpy()
    array([[30., inf]])
    """
    curves = check_curves(curves, own_levels=True)
    curves, higher_is_better = direction.resolved(curves, higher_is_better)
    last = str(curves.dims[-1])
    validation.check_total("sustained", sustained, "1", most=curves.sizes[last])
    levels = curves["training"].variable
    scores = curves.drop_vars("training")
    core = ["algorithm", "run", last]
    core_of_levels = [last]
    if levels.ndim > 1:
        core_of_levels = core
    of_task = scores.isel(dict.fromkeys(core, 0), drop=True)
    times, budget = xr.apply_ufunc(
        hitting_times.first_times,
        scores,
        check_reference(of_task, "target", target),
        levels,
        input_core_dims=[core, [], core_of_levels],
        output_core_dims=[core[:2], core[:2]],
        kwargs={"sustained": int(sustained), "higher": higher_is_better},
        dask="parallelized",
        output_dtypes=[np.float64, np.float64],
        dask_gufunc_kwargs={"allow_rechunk": True},
    )

    side = "at most"
    if higher_is_better:
        side = "at least"
    level = f"{side} {say_reference(target)}"
    if sustained > 1:
        level += f" at {sustained} evaluations in a row"
    times.attrs = {
        "long_name": f"training until the score is {level}",
        "comment": "infinite where the target is not reached within the budget",
        direction.HIGHER: 0,
    }
    budget.attrs = {"long_name": LAST_LEVEL}
    units = curves["training"].attrs.get("units")
    if units:
        times.attrs["units"] = units
        budget.attrs["units"] = units
    for name in ("source", "history"):
        if name in curves.attrs:
            times.attrs[name] = curves.attrs[name]
    step = f"time_to_target(target={say_reference(target)}, sustained={sustained}, higher_is_better={higher_is_better})"
    named = times.rename("time_to_target").assign_coords(budget=budget.variable)
    return provenance.record(named, step)
