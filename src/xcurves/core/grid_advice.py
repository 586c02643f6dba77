"""Advice for runs that lack levels: calls that work on the given curves."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.kernels.ecdf import Ints
from xcurves.kernels.moments import Floats
from xcurves.kernels.ragged import Rows, ranges, rows_of

FRACTIONS = 20  # of a budget, as a rule


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
    present, first, last = ranges(rows)
    task = present // (runs_of.sizes["algorithm"] * runs_of.sizes["run"])
    begun, reached = (
        np.array([function(each[task == one]) for one in np.unique(task)])
        for function, each in ((np.max, first), (np.min, last))
    )
    if (begun > reached).any():
        return _say_disjoint(int(np.unique(task)[(begun > reached).argmax()]), task, present, first, last, runs_of)
    relative = f"{'no on= and ' * frame}.curves.align({{}}, relative_to='budget')"
    if not final and ((begun <= (1 - 1 / FRACTIONS) * reached) & (reached > 0)).all():
        return f"Bring every task to fractions of its budget with {relative.format(FRACTIONS)}"
    low, high = float(begun.max()), float(reached.min())
    if low < high or (low == high and (final or high <= 0)):  # below 0 a budget has no fractions
        start, stop = (repr(end).removesuffix(".0") for end in (low, high))
        grid = f"[{stop}]" if final or low == high else f"np.linspace({start}, {stop}, {FRACTIONS})"
        call = f"on={grid}, method='linear'" if frame else f".curves.align({grid}, method='linear')"
        return f"Bring runs to levels that all reach with {call}"
    return f"Bring every task to the end of its budget with {relative.format(1)}"


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
