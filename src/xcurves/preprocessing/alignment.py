"""Runs at common training levels, at those of a grid or at fractions of budgets; removal of incomplete runs."""

from __future__ import annotations

from functools import partial
from math import prod
from numbers import Integral
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, provenance, run_checks, validation
from xcurves.core.validation import check_choice, check_curves, has_own_levels
from xcurves.kernels.times import ragged
from xcurves.preprocessing import grids
from xcurves.preprocessing.grids import AlignMethod, Asked, GridLevels, On

_SHOWN = 20
_MOST = 100_000  # fractions


def align(
    curves: xr.DataArray,
    on: On | int = "intersection",
    *,
    method: AlignMethod | None = None,
    tolerance: float | None = None,
    relative_to: Literal["budget"] | None = None,
) -> xr.DataArray:
    """Bring runs to common training levels, task by task and run by run, and record what was dropped.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. A run that is NaN along all of `training` is absent and is ignored. Or runs
        with their own levels, dims (..., algorithm, run, evaluation), as ``to_dataarray(levels="run")`` makes them.
    on : {"intersection", "union", "final"}, sequence of float or int
        The grid of each task: the levels that every run of the task has; those that any has; the last level that
        every run has, for runs of different lengths; or the levels given, the same for
        all tasks. A whole number means as many equal steps of each task's budget, with ``relative_to="budget"``.
    method : {None, "previous", "linear", "nearest", "mean"}
        How a run gets a score at a level. None: only its score at exactly this level. "previous": its last score up to
        the level. "linear": linear interpolation between its neighbouring scores. "nearest": its nearest score, the
        earlier of two equally near. "mean": the mean of its scores after the previous level and up to this one; the
        first bin has all scores up to its level. A run is never extrapolated: a level before its start or after its
        end is NaN.
    tolerance : float, optional
        Largest distance from the level, in units of training. "previous": of the last score. "linear": of both
        neighbours. "nearest" (needed): of the nearest score, also for levels outside the run. "mean": from a run's
        last score to the end of its last bin, 0 if left out.
    relative_to : {None, "budget"}
        "budget": `on` is a number of equal steps, or fractions in (0, 1], of each task's budget, the last level that
        all of its runs reach; scores are interpolated linearly, and `training` has the fractions. A fraction before
        the start of some run is left out for its task.

    Returns
    -------
    DataArray, dims (..., algorithm, run, training)
        Scores at the levels of the grid; NaN at levels of other tasks' grids, and where a run has no score. Options,
        dropped levels and runs that lack levels are in ``attrs["history"]``. Dask-backed curves stay lazy (and do
        not name runs that lack levels), but a grid that has a name is computed at once.

    Raises
    ------
    ValueError, TypeError
        If an intersection has fewer than two levels, or for "final" runs have no common level; the message proposes a
        call that works. If options do not go together, or dims or coordinates are not as described.

    Warns
    -----
    UserWarning
        If some of several tasks have no common levels: they are left out (absent), and the warning names each and why.
        If runs are left without any score.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> scores = xr.DataArray(
    ...     [[[1.0, 2.0, 3.0, 5.0]], [[1.0, np.nan, 4.0, np.nan]]],
    ...     dims=("algorithm", "run", "training"),
    ...     coords={"algorithm": ["a", "b"], "run": [0], "training": [0, 1, 2, 4]},
    ... )
    >>> aligned = scores.curves.align("intersection")
    >>> aligned.training.to_numpy()
    array([0., 2.])
    >>> print(aligned.attrs["history"])
    align(on='intersection'): kept 2 of 4 training levels, dropped 2: 1, 4
    >>> held = scores.curves.align([0, 1, 2, 3], method="previous")
    >>> held.sel(algorithm="b").to_numpy()
    array([[ 1.,  1.,  4., nan]])
    >>> print(held.attrs["history"])
    align(on=[0, 1, 2, 3], method='previous'): algorithm 'b', run 0 lacks 1 of 4 training levels: 3
    >>> scores.curves.align(2, relative_to="budget").sel(algorithm="a").to_numpy()
    array([[2., 3.]])
    """
    if relative_to is not None:
        check_choice("relative_to", relative_to, ("budget",))
    if relative_to is not None or (
        isinstance(on, Integral) and not isinstance(on, bool)
    ):
        return _align_to_budgets(
            check_curves(curves, own_levels=True), on, method, tolerance
        )
    asked = grids.check_asked(on, method, tolerance)
    curves = check_curves(curves, own_levels=True)
    n_tasks = prod(curves.shape[:-3])
    grid, kept, lines = grids.choose(
        asked, partial(_levels, curves), curves, partial(_rows, curves)
    )
    aligned = _at_levels(curves, grid, asked)
    extra = labels.extra_dims(curves)
    if isinstance(asked.on, str):
        shape = [curves.sizes[dim] for dim in extra]
        aligned = aligned.where(
            xr.DataArray(kept.reshape(*shape, -1), dims=[*extra, "training"])
        )
    if curves.chunks is None and asked.may_lack:
        present = (
            curves.notnull()
            .any(str(curves.dims[-1]))
            .to_numpy()
            .reshape(n_tasks, *curves.shape[-3:-1])
        )
        scores = aligned.to_numpy().reshape(*present.shape, -1)
        lines += grids.lacking("align()", scores, grid, kept, present, curves)
    return provenance.record(
        aligned, f"align({asked}): {'; '.join(lines) or 'dropped nothing'}"
    )


def _levels(curves: xr.DataArray) -> GridLevels:
    """Return the levels of every task, in one computation."""
    n_tasks = prod(curves.shape[:-3])
    if has_own_levels(curves):
        return grids.levels_of_rows(
            _rows(curves), (n_tasks, curves.sizes["algorithm"], curves.sizes["run"])
        )
    is_scored = curves.notnull()
    in_any = is_scored.any(["algorithm", "run"])
    # A run that is absent lacks no level.
    lacks_none = is_scored | ~is_scored.any("training")
    in_all = (lacks_none & in_any).all(["algorithm", "run"])
    computed = xr.Dataset({"known": in_any, "shared": in_all}).compute()
    known, shared = (
        computed[name].to_numpy().reshape(n_tasks, -1) for name in ("known", "shared")
    )
    return GridLevels(curves["training"].to_numpy(), known, shared)


def _rows(curves: xr.DataArray) -> ragged.Rows:
    """Return curves as rows, numbered in C order."""
    shape = (-1, curves.shape[-1])
    levels = curves["training"].to_numpy()
    return ragged.rows_of(
        curves.to_numpy().reshape(shape),
        levels if levels.ndim == 1 else levels.reshape(shape),
    )


def _at_levels(curves: xr.DataArray, grid: Floats, asked: Asked) -> xr.DataArray:
    """Return scores at the levels of a grid, lazily if the curves are."""
    if asked.method is None and not has_own_levels(curves):
        return curves.reindex(training=grid)

    def block(scores: Floats, levels: Floats) -> Floats:
        rows = ragged.rows_of(
            scores.reshape(-1, scores.shape[-1]), levels.reshape(-1, scores.shape[-1])
        )
        made = ragged.at_levels(
            rows, prod(scores.shape[:-1]), grid, asked.method, asked.tolerance
        )
        return made.reshape(*scores.shape[:-1], len(grid))

    return grids.onto_levels(curves, block, grid, curves["training"].attrs)


def drop_incomplete(curves: xr.DataArray) -> xr.DataArray:
    """Leave out the runs that lack some of their task's training levels.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. A task's levels are those that any of its runs has.

    Returns
    -------
    DataArray, dims as `curves`
        The same scores with incomplete runs NaN along all of `training`, like an absent run. ``attrs["history"]`` names
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
    if curves.chunks is not None:
        return provenance.record(complete, "drop_incomplete()")

    # Of every run, shape (task, algorithm, run): how many levels it lacks, and whether it is left.
    names = labels.task_names(curves)
    algorithms = labels.words(curves["algorithm"])
    runs = labels.words(curves["run"])
    missing, before = (
        array.transpose(..., "algorithm", "run")
        .to_numpy()
        .reshape(len(names), len(algorithms), len(runs))
        for array in (lacking, is_there)
    )
    left = before & (missing == 0)
    emptied_tasks = np.flatnonzero(before.any(axis=(1, 2)) & ~left.any(axis=(1, 2)))
    if emptied_tasks.size:
        raise ValueError(
            f"{names[emptied_tasks[0]]}every run is incomplete. {run_checks.cure_incomplete(curves)}"
        )
    gone = np.argwhere(before.any(axis=2) & ~left.any(axis=2))
    if len(gone):
        emptied = "; ".join(
            f"{names[task]}algorithm {algorithms[i]}" for task, i in gone
        )
        provenance.warn(f"drop_incomplete() leaves no run of {emptied}")
    n_levels_of_task = n_levels.to_numpy().ravel()
    lines = [
        f"{names[task]}algorithm {algorithms[i]}, run {runs[j]} "
        f"(lacks {missing[task, i, j]} of {n_levels_of_task[task]} training levels)"
        for task, i, j in np.argwhere(missing)
    ]
    return provenance.record(
        complete, f"drop_incomplete(): {'; '.join(lines) or 'dropped nothing'}"
    )


def check_fractions(name: str, fractions: Any) -> list[float]:
    """Return increasing fractions of a budget; a number means equal steps."""
    if isinstance(fractions, Integral) and not isinstance(fractions, bool):
        if not 1 <= int(fractions) <= _MOST:
            raise ValueError(
                f"{name} must be from 1 to {_MOST}; got {fractions}. Usual: 20"
            )
        return [step / int(fractions) for step in range(1, int(fractions) + 1)]
    at = validation.numbers_of(fractions)
    if at is None:
        raise TypeError(
            f"{name} must be a number of fractions or a sequence; got {labels.shown(fractions)}. Usual: 20"
        )
    if (
        at.ndim != 1
        or not at.size
        or not ((at > 0) & (at <= 1)).all()
        or (np.diff(at) <= 0).any()
    ):
        raise ValueError(
            f"{name} must be increasing numbers in (0, 1]; got {labels.shown(fractions)}. Or give their number: 20"
        )
    return [float(each) for each in at]


def _align_to_budgets(
    curves: xr.DataArray,
    on: On | int,
    method: AlignMethod | None,
    tolerance: float | None,
) -> xr.DataArray:
    """Return scores at fractions of each task's budget, without those before the start of some run of the task."""
    if method not in (None, "linear"):
        raise ValueError(
            f"method={method!r} does not go with relative_to='budget'. Leave it out: scores are linear between"
        )
    at = np.array(check_fractions("on", on))
    tolerance = grids.check_asked(at, "linear", tolerance).tolerance

    def block(scores: Floats, levels: Floats) -> Floats:
        tasks = scores.reshape(-1, *scores.shape[-3:])
        own = np.broadcast_to(levels, (len(tasks), *levels.shape))
        if levels.ndim > 1:
            own = levels.reshape(tasks.shape)
        made = np.stack(
            [
                _at_fractions(*task, at, tolerance)
                for task in zip(tasks, own, strict=True)
            ]
        )
        return made.reshape(*scores.shape[:-1], len(at))

    attrs = {"long_name": "fraction of the training budget", "units": "1"}
    made = grids.onto_levels(curves, block, at, attrs, core=["algorithm", "run"])
    lines = []
    if curves.chunks is None:
        lines = _left_out(curves, made)
    step = (
        f"align(on=[{', '.join(f'{each:.6g}' for each in at)}], relative_to='budget')"
    )
    return provenance.record(
        made, f"{step}: {'; '.join(lines) or 'every task has all fractions'}"
    )


def _at_fractions(
    scores: Floats, levels: Floats, at: Floats, tolerance: float | None
) -> Floats:
    """Return one task, shape (algorithm, run, level), at fractions."""
    flat = scores.reshape(-1, scores.shape[-1])
    rows = ragged.rows_of(flat, levels.reshape(-1, scores.shape[-1]))
    out = np.full((len(flat), len(at)), np.nan)
    if len(rows.level):
        present, _, ends = ragged.ranges(rows)
        budget = ends.min()
        wanted = at * budget
        known = np.unique(rows.level)
        after = (
            np.searchsorted(known, wanted).clip(1, len(known) - 1)
            if len(known) > 1
            else np.zeros(len(at), int)
        )
        near = np.where(
            wanted - known[after - 1] < known[after] - wanted,
            known[after - 1],
            known[after],
        )
        # 0.1 · 30 is not 3
        wanted = np.where(np.abs(near - wanted) <= 1e-12 * abs(budget), near, wanted)
        if budget > 0:
            out = ragged.at_levels(rows, len(flat), wanted, "linear", tolerance)
        out[:, np.isnan(out[present]).any(axis=0)] = np.nan
    return out.reshape(*scores.shape[:2], len(at))


def _left_out(curves: xr.DataArray, made: xr.DataArray) -> list[str]:
    """Return which tasks lack fractions; warn of those that are left without any score."""
    names = labels.task_names(curves)
    there = curves.notnull().any(curves.dims[-3:]).to_numpy().reshape(len(names))
    kept = made.notnull().any(["algorithm", "run"]).to_numpy().reshape(len(names), -1)
    at = made["training"].to_numpy()
    empty = there & ~kept.any(axis=1)
    provenance.warn_of(
        empty,
        names,
        lambda _: "no fraction of its budget is one that all runs have: left out",
    )
    short = np.flatnonzero(there & ~kept.all(axis=1))
    lines = [
        f"{names[task]}without {', '.join(f'{each:.6g}' for each in at[~kept[task]])}"
        for task in short[:_SHOWN]
    ]
    return lines + (
        [f"and {len(short) - _SHOWN} more tasks lack some"]
        if len(short) > _SHOWN
        else []
    )
