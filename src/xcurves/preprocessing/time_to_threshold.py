"""The training that each run takes to reach a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance, run_checks, validation
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.core.validation import check_curves
from xcurves.kernels import thresholds
from xcurves.preprocessing.normalization import Reference, check_reference, say_reference


def time_to_threshold(
    curves: xr.DataArray, threshold: Reference, *, sustained: int = 1, higher_is_better: bool = True
) -> xr.DataArray:
    r"""Return the training level at which each run first reaches a threshold.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. Every run has all levels of its task, or none.
    threshold : float or DataArray
        Score to be reached: one for all, or one for each task, labelled like `curves`.
    sustained : int, default 1
        Number of levels in a row, from that one on, at which the score must meet the threshold.
    higher_is_better : bool, default True
        If False, a score meets the threshold if it is not above it.

    Returns
    -------
    DataArray, dims (..., algorithm, run)
        Times in units of training: a level of the task's grid, +inf where a run never reaches the threshold, NaN where
        there is no run. Lazy if `curves` is. The step is recorded in ``attrs["history"]``.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if a run lacks levels of its task or has infinite scores, if a task has
        fewer than `sustained` levels, or if `threshold` lacks a label or is not finite.

    See Also
    --------
    performance_cdf : The share of runs that have reached the threshold, by training.
    compare_distributions : Which algorithm reaches it first more often.

    Notes
    -----
    With the levels :math:`t_1 < \dots < t_k` of a task, scores :math:`y_j`, threshold τ and s levels in a row,

    .. math:: T = \min\{t_j : y_j, \dots, y_{j+s-1} \ge \tau\}, \quad T = \infty \text{ if there is none.}

    A time is always a level of the grid. Runs that never reach the threshold take longer than the budget, but it is not
    known by how much: compare times by ranks, medians and shares, not by means. Low times are better: use
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
    >>> scores.curves.time_to_threshold(5.0).to_numpy()
    array([[10., inf]])
    >>> scores.curves.time_to_threshold(5.0, sustained=2).to_numpy()
    array([[30., inf]])
    """
    curves = check_curves(curves)
    validation.check_flag("higher_is_better", higher_is_better)
    if not isinstance(sustained, Integral) or isinstance(sustained, bool) or sustained < 1:
        raise ValueError(
            f"sustained must be a whole number from 1; got {labels.shown(sustained)}. 1: the first time counts"
        )
    extra = labels.extra_dims(curves)
    of_task = curves.isel(dict.fromkeys(labels.DIMS, 0), drop=True)
    wanted = check_reference(of_task, "threshold", threshold).broadcast_like(of_task).transpose(*extra)
    block = _TimeBlock(
        layout=Layout({"time": ("algorithm", "run")}, {dim: curves.sizes[dim] for dim in ("algorithm", "run")}),
        names=labels.task_names(curves),
        algorithms=labels.words(curves["algorithm"]),
        runs=labels.words(curves["run"]),
        levels=curves["training"].to_numpy(),
        sustained=int(sustained),
        higher=bool(higher_is_better),
    )
    whole = curves if curves.chunks is None else curves.chunk(dict.fromkeys(labels.DIMS, -1))
    packed = apply_block(block, [whole, wanted], [list(labels.DIMS), []], block.layout.length)
    coords = curves.drop_vars("training").coords
    kept = {name: coord for name, coord in coords.items() if "training" not in coord.dims}
    times = xr.DataArray(block.layout.unpack(packed)["time"], kept, name="time_to_threshold")
    times = times.transpose(*extra, "algorithm", "run").assign_attrs(_attrs(curves, threshold, block))
    said = f"time_to_threshold(threshold={say_reference(threshold)}, sustained={sustained}"
    return provenance.record(times, f"{said}, higher_is_better={higher_is_better})")


@dataclass(frozen=True)
class _TimeBlock:
    """Times of the runs of a block of tasks, each task on its own grid."""

    layout: Layout
    names: list[str]
    algorithms: list[str]
    runs: list[str]
    levels: Floats
    sustained: int
    higher: bool

    def __call__(self, scores: Floats, threshold: Floats, numbers: Any) -> Floats:
        """Return times, given scores, shape (..., algorithm, run, training), and thresholds and numbers of tasks."""
        tasks = scores.reshape(numbers.size, -1, scores.shape[-1])
        names = [self.names[number] for number in numbers.ravel()]
        grid, present = run_checks.check_scores(tasks, names, self.algorithms, self.runs)
        n_levels = grid.sum(axis=-1)
        for task in np.flatnonzero((n_levels > 0) & (n_levels < self.sustained))[:1]:
            raise ValueError(
                f"{names[task]}sustained={self.sustained} is more than its {n_levels[task]} training levels. "
                f"Give at most {n_levels[task]}"
            )
        tau = np.broadcast_to(threshold, numbers.shape).reshape(-1, 1, 1)
        met = np.asarray(tasks >= tau if self.higher else tasks <= tau)
        flat = (-1, scores.shape[-1])
        on_grid = np.broadcast_to(grid[:, np.newaxis], met.shape).reshape(flat)
        times = thresholds.first_level(met.reshape(flat), on_grid, self.levels, self.sustained)
        times = np.where(present, times.reshape(present.shape), np.nan)
        return self.layout.pack({"time": times}, numbers.shape)


def _attrs(curves: xr.DataArray, threshold: Reference, block: _TimeBlock) -> dict[str, Any]:
    """Return what the times are, in the unit of training, and the history of the curves."""
    units = curves["training"].attrs.get("units")
    side = "at least" if block.higher else "at most"
    during = f" at {block.sustained} levels in a row" * (block.sustained > 1)
    attrs = {
        "long_name": f"training until the score is {side} {say_reference(threshold)}{during}",
        "comment": "infinite where the threshold is never reached",
    }
    kept = {name: curves.attrs[name] for name in ("source", "history") if name in curves.attrs}
    return attrs | ({"units": units} if units else {}) | kept
