"""Advice for runs that lack levels: calls that work on the given curves."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.kernels import common_grid
from xcurves.kernels.ecdf import Ints
from xcurves.kernels.moments import Floats
from xcurves.kernels.ragged import Rows, rows_of


def cure_incomplete(curves: xr.DataArray) -> str:
    """Return the calls that make the runs of every task complete, for an error message; `curves` are in memory."""
    curves = curves.transpose(..., *labels.DIMS).astype(np.float64)
    names = labels.task_names(curves)
    scores = curves.to_numpy().reshape(len(names), -1, curves.sizes["training"])
    has = ~np.isnan(scores)
    there = has.any(axis=2)
    shared = ((has | ~there[..., np.newaxis]).all(axis=1) & has.any(axis=1)).sum(axis=1)
    if (shared[there.any(axis=1)] > 1).all():
        cures = ["Bring runs to common levels with .curves.align('intersection')"]
    else:
        cures = [suggest(rows_of(scores.reshape(-1, scores.shape[-1]), curves["training"].to_numpy()), curves)]
    complete = (has.sum(axis=2) == has.any(axis=1).sum(axis=1)[:, np.newaxis]) & there
    before, left = (
        each.reshape(len(names), *curves.shape[-3:-1]).sum(axis=2)[there.any(axis=1)] for each in (there, complete)
    )
    if ((left > 0) == (before > 0)).all() and (left.max(axis=1) > 1).all():
        cures.append("leave incomplete ones out with .curves.drop_incomplete()")
    return " or ".join(cures)


def suggest(rows: Rows, runs_of: xr.DataArray, *, frame: bool = False, final: bool = False) -> str:
    """Return the call that brings ragged runs to levels within the range of all, or why there is none.

    Curves are numbered over the dims (..., algorithm, run) of `runs_of`. With `frame`, the call is given
    as options of `to_dataarray`.
    """
    per_task = runs_of.sizes["algorithm"] * runs_of.sizes["run"]
    n_curves = per_task * len(labels.task_names(runs_of))
    present, first, last = common_grid.ranges(rows)
    task = present // per_task
    begun, reached = (
        np.array([function(each[task == one]) for one in np.unique(task)])
        for function, each in ((np.max, first), (np.min, last))
    )
    if (begun > reached).any():
        return _say_disjoint(int(np.unique(task)[(begun > reached).argmax()]), task, present, first, last, runs_of)
    if final and reached.min() >= begun.max():
        return _call(f"[{_number(float(reached.min()))}]", "linear", frame)
    # One grid for tasks of similar budgets; otherwise fractions of each budget, with linear interpolation.
    found = None if final else common_grid.find_common_grid(rows, n_curves)
    if found is not None and found.stop >= reached.max() / 2:
        grid = f"np.linspace({_number(found.start)}, {_number(found.stop)}, {found.n})"
        return _call(grid, found.method, frame)
    if begun.max() <= reached.min() <= 0:  # no budget has fractions
        return _call(f"[{_number(float(reached.min()))}]", "linear", frame)
    several = not final and (begun <= (1 - 1 / common_grid.MOST) * reached).all()
    call = f".curves.align({common_grid.MOST if several else 1}, relative_to='budget')"
    return (
        f"Bring every task to {'fractions' if several else 'the end'} of its budget with {'no on= and ' * frame}{call}"
    )


def _call(grid: str, method: str, frame: bool) -> str:
    options = f"on={grid}, method={method!r}" if frame else f".curves.align({grid}, method={method!r})"
    return f"Bring runs to levels that all reach with {options}"


def _number(level: float) -> str:
    short = f"{level:.12g}"
    return short if float(short) == level else repr(level)


def _say_disjoint(which: int, task: Ints, present: Ints, first: Floats, last: Floats, runs_of: xr.DataArray) -> str:
    """Say which two runs of a task have no training in common, and how to leave one out."""
    mine = np.flatnonzero(task == which)
    early, late = mine[last[mine].argmin()], mine[first[mine].argmax()]
    dims = (*labels.extra_dims(runs_of), "algorithm", "run")
    shape = [runs_of.sizes[dim] for dim in dims]
    said, kept = [], ""
    for curve in (early, late):
        places = np.unravel_index(int(present[curve]), shape)
        at = {dim: labels.words(runs_of[dim])[place] for dim, place in zip(dims, places, strict=True)}
        said.append(", ".join(f"{dim} {label}" for dim, label in at.items()))
        kept = kept or " | ".join(f"(curves[{dim!r}] != {label})" for dim, label in at.items())
    return (
        f"No levels suit all: {said[0]} ends at {last[early]:g}, before {said[1]} begins at {first[late]:g}. "
        f"Leave one of them out: curves.where({kept})"
    )
