"""Runs at common training levels, at those of a grid or at fractions of budgets; removal of incomplete runs."""

from __future__ import annotations

from functools import partial
from math import prod
from numbers import Integral
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import (
    direction,
    failed_runs,
    labels,
    provenance,
    short_runs,
)
from xcurves.core.known import AlignMethod, On
from xcurves.core.short_runs import RunsShort
from xcurves.core.validation import check_choice, check_curves, has_own_levels
from xcurves.frames import grids
from xcurves.frames.budgets import at_budgets, check_budgets
from xcurves.frames.failed import count_failures, with_count
from xcurves.frames.grids import Asked, GridLevels
from xcurves.frames.run_ends import RunEnds, check_runs_short, say_short_runs
from xcurves.kernels import ragged


def align(
    curves: xr.DataArray,
    on: On | int = "intersection",
    *,
    method: AlignMethod | None = None,
    tolerance: float | None = None,
    relative_to: Literal["budget"] | None = None,
    runs_short: RunsShort | None = None,
    higher_is_better: bool | None = None,
) -> xr.DataArray:
    r"""Bring runs to common training levels, task by task and run by run, and record what was dropped.

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
    runs_short : {None, "failed", "drop", "cut"}
        What runs are that end before nine tenths of the longest run of their task. "failed": they crashed; their score
        is -inf (+inf where lower is better) at all levels after their last score, and the budget is what all other runs
        reach. "drop": they are left out. "cut": all runs of the task are compared up to where the shortest ends. None:
        the same, with a warning that names them. A run that ends with an infinite score failed, and never cuts the
        others. What becomes of short runs stands in ``attrs["history"]`` and in every summary.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does. Says which infinite score short runs get.

    Returns
    -------
    DataArray, dims (..., algorithm, run, training)
        Scores at the levels of the grid; NaN at levels of other tasks' grids, and where a run has no score. Options,
        dropped levels and runs that lack levels are in ``attrs["history"]``. Dask-backed curves stay lazy (and do
        not name runs that lack levels or are short), but a grid that has a name is computed at once. With
        ``runs_short="failed"`` the coordinate `n_failed` counts the runs that failed, as that of `fill_failed`.

    Raises
    ------
    ValueError, TypeError
        If an intersection has fewer than two levels, or for "final" runs have no common level; the message proposes a
        call that works. If options do not go together, or dims or coordinates are not as described.

    Warns
    -----
    UserWarning
        If some of several tasks have no common levels: they are left out (absent), and the warning names each and why.
        If runs are left without any score, or algorithms without any run. If runs are short, a common budget is taken
        and `runs_short` is left out.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> scores = xr.DataArray(
    ...     [[[1.0, 2.0, 3.0, 5.0]], [[1.0, np.nan, 4.0, np.nan]]],
    ...     dims=("algorithm", "run", "training"),
    ...     coords={"algorithm": ["a", "b"], "run": [0], "training": [0, 1, 2, 4]},
    ... )
    >>> aligned = scores.curves.align("intersection", runs_short="cut")
    >>> aligned.training.to_numpy()
    array([0., 2.])
    >>> print(aligned.attrs["history"].split("\n")[-1])
    align(on='intersection', runs_short='cut'): kept 2 of 4 training levels, dropped 2: 1, 4
    >>> held = scores.curves.align([0, 1, 2, 3], method="previous")
    >>> held.sel(algorithm="b").to_numpy()
    array([[ 1.,  1.,  4., nan]])
    >>> print(held.attrs["history"])
    align(on=[0, 1, 2, 3], method='previous'): algorithm 'b', run 0 lacks 1 of 4 training levels: 3
    >>> scores.curves.align(2, relative_to="budget", runs_short="cut").sel(algorithm="a").to_numpy()
    array([[2., 3.]])
    >>> scores.curves.align("intersection", runs_short="failed").sel(algorithm="b").to_numpy()
    array([[  1.,   4., -inf]])
    """
    if relative_to is not None:
        check_choice("relative_to", relative_to, ("budget",))
    of_budget = relative_to is not None or (isinstance(on, Integral) and not isinstance(on, bool))
    asked = None
    if of_budget:
        grid, tolerance = check_budgets(on, method, tolerance)
    else:
        asked = grids.check_asked(on, method, tolerance)
    has_budget = asked is None or asked.has_budget
    check_runs_short(runs_short, on, has_budget=has_budget)
    curves = check_curves(curves, own_levels=True)
    # Which infinite score is the worst matters only to runs that are made to have it.
    higher = True
    if runs_short == "failed" or higher_is_better is not None:
        curves, higher = direction.resolved(curves, higher_is_better)
    worst = failed_runs.failed_score(higher)

    # What counts as failed is marked before a budget is taken.
    ends = short_runs.ends_of(curves)
    settled = RunEnds.of(ends, runs_short, worst)
    if runs_short == "drop":
        curves = curves.where(~ends.short)
    if asked is None:
        aligned, step = at_budgets(curves, grid, tolerance, settled)
    else:
        aligned, step, settled = _at_grid(curves, asked, settled)
    aligned = say_short_runs(aligned, settled, has_budget=has_budget)
    recorded = provenance.record(aligned, step)
    if runs_short != "failed":
        return recorded
    n_failed = count_failures(recorded, abs(recorded) == np.inf)
    return with_count(recorded, n_failed, failed_runs.MARKED)


def _at_grid(curves: xr.DataArray, asked: Asked, settled: RunEnds) -> tuple[xr.DataArray, str, RunEnds]:
    """Return scores at the levels of a grid, what is recorded of it, and where runs end, if that is computed."""
    n_tasks = prod(curves.shape[:-3])
    find_levels = partial(_levels, curves, settled.after)
    if isinstance(asked.on, str) and not settled.is_known:
        # Where runs end and the levels that there are, of runs with the same levels in one computation.
        lazy = xr.Dataset(settled.ends._asdict())
        if not has_own_levels(curves):
            lazy = lazy.merge(_lazy_levels(curves, settled.after))
        found = lazy.compute()
        ends = short_runs.Ends(*(found[name] for name in short_runs.Ends._fields))
        settled = RunEnds.of(ends, settled.how, settled.worst)
        find_levels = partial(_levels, curves, settled.after)
        if not has_own_levels(curves):
            find_levels = partial(_levels_of, found)
    grid, kept, lines = grids.choose(
        asked,
        find_levels,
        curves,
        partial(_rows, curves),
        after=settled.after,
        short=settled.how,
    )
    aligned = _at_levels(curves, grid, asked)
    if not settled.is_known or settled.after.notnull().any():
        aligned = short_runs.mark(aligned, settled.after, settled.score)
    extra = labels.extra_dims(curves)
    if isinstance(asked.on, str):
        shape = [curves.sizes[dim] for dim in extra]
        aligned = aligned.where(xr.DataArray(kept.reshape(*shape, -1), dims=[*extra, "training"]))
    lines += settled.lines
    if curves.chunks is None and asked.may_lack:
        present = curves.notnull().any(str(curves.dims[-1])).to_numpy().reshape(n_tasks, *curves.shape[-3:-1])
        scores = aligned.to_numpy().reshape(*present.shape, -1)
        lines += grids.lacking("align()", scores, grid, kept, present, curves)
    step = f"align({asked}{settled.option}): {'; '.join(lines) or 'dropped nothing'}"
    return aligned, step, settled


def _levels(curves: xr.DataArray, after: xr.DataArray) -> GridLevels:
    """Return the levels of every task; a run that failed has all levels `after` one."""
    if has_own_levels(curves):
        return grids.levels_of_rows(
            _rows(curves),
            (prod(curves.shape[:-3]), *curves.shape[-3:-1]),
            after.transpose(*curves.dims[:-1]).to_numpy(),
        )
    return _levels_of(_lazy_levels(curves, after).compute())


def _lazy_levels(curves: xr.DataArray, after: xr.DataArray) -> xr.Dataset:
    """Return which levels any run of a task has, and which all have, lazily if the curves are lazy."""
    is_scored = curves.notnull()
    in_any = is_scored.any(["algorithm", "run"])
    # A run that is absent lacks no level, nor does one that failed.
    lacks_none = is_scored | ~is_scored.any("training") | (curves["training"] > after)
    in_all = (lacks_none & in_any).all(["algorithm", "run"])
    return xr.Dataset({"known": in_any, "shared": in_all})


def _levels_of(found: xr.Dataset) -> GridLevels:
    """Return levels, of all tasks in one dim."""
    known, shared = (found[name].transpose(..., "training").to_numpy() for name in ("known", "shared"))
    shape = (-1, known.shape[-1])
    return GridLevels(found["training"].to_numpy(), known.reshape(shape), shared.reshape(shape))


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
        rows = ragged.rows_of(scores.reshape(-1, scores.shape[-1]), levels.reshape(-1, scores.shape[-1]))
        made = ragged.at_levels(rows, prod(scores.shape[:-1]), grid, asked.method, asked.tolerance)
        return made.reshape(*scores.shape[:-1], len(grid))

    return grids.onto_levels(curves, block, grid, curves["training"].attrs)
