"""The training that each run takes to reach a target."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import provenance, validation
from xcurves.core.validation import check_curves
from xcurves.kernels import hitting_times
from xcurves.kernels.moments import Floats
from xcurves.preprocessing.budgets import LAST_LEVEL
from xcurves.preprocessing.normalization import Reference, check_reference, say_reference


def time_to_target(
    curves: xr.DataArray, target: Reference, *, sustained: int = 1, higher_is_better: bool = True
) -> xr.DataArray:
    r"""Return the training level at which each run first reaches a target.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. Every run is read by itself: levels that others have are no levels of its own.
        Runs with levels of their own, dims (..., algorithm, run, evaluation), as ``to_dataarray(levels="run")`` makes
        them, need no common grid.
    target : float or DataArray
        Score to be reached: one for all, or one for each task, labelled like `curves`.
    sustained : int, default 1
        Number of evaluations in a row, from that one on, at which the score must meet the target.
    higher_is_better : bool, default True
        If False, a score meets the target if it is not above it.

    Returns
    -------
    DataArray, dims (..., algorithm, run)
        Times in units of training: a level of the run, +inf where it does not reach the target within its budget, NaN
        where there is no run. The coordinate `budget` has the last level of each run. Lazy if `curves` is. The step is
        recorded in ``attrs["history"]``.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if `sustained` is more than the number of levels, or if `target` lacks
        a label or is not finite.

    Notes
    -----
    With the levels :math:`t_1 < \dots < t_k` of a run, scores :math:`y_j`, target c and s evaluations in a row,

    .. math:: T = \min\{t_j : y_j, \dots, y_{j+s-1} \ge c\}, \quad T = \infty \text{ if there is none.}

    A noisy run reaches a target early, the earlier the more often it is evaluated: compare times of runs that were
    evaluated alike, or mean curves (`speedup`). Runs that do not reach the target take longer than their budget, but it
    is not known by how much: compare times by ranks, medians and shares, not by means. Low times are better: use
    ``higher_is_better=False`` in methods that have this option.

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
    validation.check_flag("higher_is_better", higher_is_better)
    last = str(curves.dims[-1])
    validation.check_total("sustained", sustained, "1", most=curves.sizes[last])
    levels, scores = curves["training"].variable, curves.drop_vars("training")
    core = ["algorithm", "run", last]
    of_task = scores.isel(dict.fromkeys(core, 0), drop=True)
    wanted = check_reference(of_task, "target", target)
    times, budget = xr.apply_ufunc(
        _times,
        scores,
        wanted,
        levels,
        input_core_dims=[core, [], core if levels.ndim > 1 else [last]],
        output_core_dims=[core[:2], core[:2]],
        kwargs={"sustained": int(sustained), "higher": bool(higher_is_better)},
        dask="parallelized",
        output_dtypes=[np.float64, np.float64],
        dask_gufunc_kwargs={"allow_rechunk": True},
    )
    units = curves["training"].attrs.get("units")
    of_training = {"units": units} if units else {}
    side = "at least" if higher_is_better else "at most"
    during = f" at {sustained} evaluations in a row" * (sustained > 1)
    kept = {name: curves.attrs[name] for name in ("source", "history") if name in curves.attrs}
    attrs: dict[str, Any] = {
        "long_name": f"training until the score is {side} {say_reference(target)}{during}",
        "comment": "infinite where the target is not reached within the budget",
    }
    times = times.transpose(..., *core[:2]).rename("time_to_target").assign_attrs(attrs | of_training | kept)
    known = budget.transpose(..., *core[:2]).variable
    known.attrs = {"long_name": LAST_LEVEL} | of_training
    said = f"time_to_target(target={say_reference(target)}, sustained={sustained}, higher_is_better={higher_is_better})"
    return provenance.record(times.assign_coords(budget=known), said)


def _times(scores: Floats, target: Floats, levels: Floats, sustained: int, higher: bool) -> tuple[Floats, Floats]:
    """Return times and budgets, shape (..., algorithm, run)."""
    own = np.broadcast_to(levels, scores.shape)
    known = ~np.isnan(scores)
    c = np.asarray(target)[..., np.newaxis, np.newaxis, np.newaxis]
    met = known & (scores >= c if higher else scores <= c)
    flat = (-1, scores.shape[-1])
    times = hitting_times.first_level(met.reshape(flat), known.reshape(flat), own.reshape(flat), sustained)
    present = known.any(axis=-1)
    budget = np.where(known, own, -np.inf).max(axis=-1)
    return np.where(present, times.reshape(present.shape), np.nan), np.where(present, budget, np.nan)
