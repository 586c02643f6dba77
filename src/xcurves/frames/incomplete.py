"""Runs that lack some of the training levels of their task: left out."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core import (
    labels,
    matched_runs,
    provenance,
    run_checks,
)
from xcurves.core.refusal import (
    UNSAID,
    Refusal,
)
from xcurves.core.validation import check_curves


def drop_incomplete(curves: xr.DataArray) -> xr.DataArray:
    """Leave out the runs that lack some of their task's training levels.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. A task's levels are those that any of its runs has.

    Returns
    -------
    DataArray, dims as `curves`
        The same scores with incomplete runs NaN along all of `training`, like an absent run; of folds, those that any
        algorithm lacks in all algorithms. ``attrs["history"]`` names
        them; not for dask-backed curves, which stay lazy.

    Raises
    ------
    ValueError, TypeError
        If every run of a task is incomplete (dask-backed curves get an absent task instead); if dims or coordinates
        are not as described.

    Warns
    -----
    UserWarning
        If an algorithm is left without any run in a task. Not for dask-backed curves.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> scores = xr.DataArray(
    ...     [[[1.0, 2.0], [3.0, 5.0]], [[1.0, np.nan], [4.0, 4.0]]],
    ...     dims=("algorithm", "run", "training"),
    ...     coords={"algorithm": ["a", "b"], "run": [0, 1], "training": [0, 1]},
    ... )
    >>> print(scores.curves.drop_incomplete().attrs["history"])
    drop_incomplete(): algorithm 'b', run 0 (lacks 1 of 2 training levels)
    """
    curves = check_curves(curves)
    is_scored = curves.notnull()
    is_there = is_scored.any("training")
    n_levels = is_scored.any(["algorithm", "run"]).sum("training")
    lacking = (n_levels - is_scored.sum("training")).where(is_there, 0)
    complete = curves.where(lacking == 0)
    if matched_runs.MATCHED in curves["run"].attrs:
        # A fold that one algorithm lacks has no partner in the others.
        alone = matched_runs.lacking(complete).any("algorithm")
        complete = complete.where(~alone)
    if curves.chunks is not None:
        return provenance.record(complete, "drop_incomplete()")

    # Of every run, shape (task, algorithm, run): how many levels it lacks, and whether it is left.
    names = labels.task_names(curves)
    algorithms = labels.words(curves["algorithm"])
    runs = labels.words(curves["run"])
    missing, before = (
        array.transpose(..., "algorithm", "run").to_numpy().reshape(len(names), len(algorithms), len(runs))
        for array in (lacking, is_there)
    )
    left = before & (missing == 0)
    emptied_tasks = np.flatnonzero(before.any(axis=(1, 2)) & ~left.any(axis=(1, 2)))
    if emptied_tasks.size:
        raise Refusal(
            "curves",
            UNSAID,
            f"{names[emptied_tasks[0]]}every run is incomplete",
            run_checks.cure_incomplete(curves),
        )
    gone = np.argwhere(before.any(axis=2) & ~left.any(axis=2))
    if len(gone):
        emptied = "; ".join(f"{names[task]}algorithm {algorithms[i]}" for task, i in gone)
        provenance.warn(f"drop_incomplete() leaves no run of {emptied}")
    n_levels_of_task = n_levels.to_numpy().ravel()
    lines = [
        f"{names[task]}algorithm {algorithms[i]}, run {runs[j]} "
        f"(lacks {missing[task, i, j]} of {n_levels_of_task[task]} training levels)"
        for task, i, j in np.argwhere(missing)
    ]
    if matched_runs.MATCHED in curves["run"].attrs and alone.any():
        of_tasks = [dim for dim in alone.dims if dim != "run"]
        dropped = curves["run"].to_numpy()[alone.any(of_tasks).to_numpy()]
        what = curves["run"].attrs[matched_runs.MATCHED]
        lines.append(f"{what} {', '.join(map(str, dropped))} in every algorithm")
    return provenance.record(complete, f"drop_incomplete(): {'; '.join(lines) or 'dropped nothing'}")
