"""Ragged runs to a common training grid, and incomplete runs left out."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves import labels, outcomes
from xcurves.arrays import check_curves

_SHOWN = 20


def align(curves: xr.DataArray, on: Literal["intersection"] = "intersection") -> xr.DataArray:
    """Keep, task by task, the training levels that all of the task's runs have.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. A run that is NaN along all of `training` is absent and has no say.
    on : {"intersection"}
        The grid: the levels that every run of the task has.

    Returns
    -------
    DataArray, dims (..., algorithm, run, training)
        The same scores, NaN outside the task's grid, without the levels that are in no task's grid. What was dropped
        stands in ``attrs["history"]``. Dask-backed curves stay lazy, but the grid is computed at once.

    Raises
    ------
    ValueError
        If a task keeps fewer than two levels; the message names the algorithms whose grids do not meet.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> scores = xr.DataArray(
    ...     [[[1.0, 2.0, 3.0, 5.0]], [[1.0, np.nan, 4.0, 4.0]]],
    ...     dims=("algorithm", "run", "training"),
    ...     coords={"algorithm": ["a", "b"], "run": [0], "training": [0, 1, 2, 4]},
    ... )
    >>> aligned = scores.curves.align("intersection")
    >>> aligned.training.to_numpy()
    array([0., 2., 4.])
    >>> print(aligned.attrs["history"])
    align(on='intersection'): kept 3 of 4 training levels, dropped 1: 1
    """
    curves = check_curves(curves)
    if on != "intersection":
        raise ValueError(f"on must be 'intersection'; got {on!r}")
    has = curves.notnull()
    present = has.any("training")
    in_any = has.any(["algorithm", "run"])
    shared = ((has | ~present) & in_any).all(["algorithm", "run"])
    grids = xr.Dataset({"known": in_any, "shared": shared}).compute()
    names = labels.task_names(curves)
    levels = curves["training"].to_numpy()
    kept, known = (grids[name].to_numpy().reshape(len(names), -1) for name in ("shared", "known"))
    apart = np.flatnonzero((kept.sum(axis=1) < 2) & (known.sum(axis=1) > kept.sum(axis=1)))
    for task in apart[:1]:
        where = dict(zip(labels.extra_dims(curves), np.unravel_index(task, shared.shape[:-1]), strict=True))
        others = "; ".join(names[other].removesuffix(": ") for other in apart[1:])
        also = f". The same holds for {others}" if others else ""
        raise ValueError(f"{names[task]}{_grids_apart(has.isel(where).compute(), levels[kept[task]])}{also}")
    lines = [name + _dropped(levels, known[t], kept[t]) for t, name in enumerate(names) if (known[t] & ~kept[t]).any()]
    aligned = curves.where(grids["shared"]).isel(training=kept.any(axis=0))
    return _record(aligned, f"align(on={on!r}): {'; '.join(lines) or 'dropped nothing'}")


def _dropped(levels: NDArray[np.float64], known: NDArray[np.bool_], kept: NDArray[np.bool_]) -> str:
    gone = [f"{level:.12g}" for level in levels[known & ~kept]]
    shown = ", ".join(gone if len(gone) <= _SHOWN else [*gone[: _SHOWN - 1], "...", gone[-1]])
    return f"kept {kept.sum()} of {known.sum()} training levels, dropped {len(gone)}: {shown}"


def _grids_apart(has: xr.DataArray, shared: NDArray[np.float64]) -> str:
    """Say which algorithms of a task, `has` of dims (algorithm, run, training), share fewer than two levels."""
    present = has.any("training")
    grids = ((has | ~present).all("run") & present.any("run")).transpose("algorithm", "training").to_numpy()
    names = labels.words(has["algorithm"])
    there = np.flatnonzero(present.any("run").to_numpy())
    alone = [names[i] for i in there if grids[i].sum() < 2]
    pairs = [f"{names[i]} and {names[j]}" for i, j in combinations(there, 2) if (grids[i] & grids[j]).sum() < 2]
    if alone:
        who = f"the runs of {', '.join(alone)} do not meet"
    elif pairs:
        who = f"the grids of {'; '.join(pairs)} do not meet"
    else:
        who = f"the grids of {', '.join(names[i] for i in there)} do not meet together"
    at = f" ({', '.join(f'{level:g}' for level in shared)})" if shared.size else ""
    count = "1 common training level" if shared.size == 1 else f"{shared.size} common training levels"
    return f"on='intersection' leaves {count}{at}: {who}. Compare algorithms that were scored at the same levels"


def drop_incomplete(curves: xr.DataArray) -> xr.DataArray:
    """Leave out the runs that lack some of their task's training levels.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. A task's levels are those that any of its runs has.

    Returns
    -------
    DataArray, dims as `curves`
        The same scores with incomplete runs NaN along all of `training`, which is how an absent run looks. Which ones
        stands in ``attrs["history"]``; not for dask-backed curves, which stay lazy.

    Raises
    ------
    ValueError
        If every run of a task is incomplete (dask-backed curves get an absent task instead).

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
    has = curves.notnull()
    n_levels = has.any(["algorithm", "run"]).sum("training")
    lacking = (n_levels - has.sum("training")).where(has.any("training"), 0).transpose(..., "algorithm", "run")
    complete = curves.where(lacking == 0)
    if curves.chunks is not None:
        return _record(complete, "drop_incomplete()")
    names = labels.task_names(curves)
    missing = lacking.to_numpy().reshape(len(names), curves.sizes["algorithm"], curves.sizes["run"])
    here = has.any("training").transpose(..., "algorithm", "run").to_numpy().reshape(missing.shape)
    for task in np.flatnonzero(here.any(axis=(1, 2)) & (here == (missing > 0)).all(axis=(1, 2))):
        raise ValueError(
            f"{names[task]}every run is incomplete. Bring runs to common levels: .curves.align('intersection')"
        )
    algorithms, runs = labels.words(curves["algorithm"]), labels.words(curves["run"])
    emptied = np.argwhere(here.any(axis=2) & (here == (missing > 0)).all(axis=2))
    if len(emptied):
        gone = "; ".join(f"{names[task]}algorithm {algorithms[i]}" for task, i in emptied)
        outcomes.warn(f"drop_incomplete() leaves no run of {gone}")
    of = n_levels.to_numpy().ravel()
    lines = [
        f"{names[task]}algorithm {algorithms[i]}, run {runs[j]} "
        f"(lacks {missing[task, i, j]} of {of[task]} training levels)"
        for task, i, j in np.argwhere(missing)
    ]
    return _record(complete, f"drop_incomplete(): {'; '.join(lines) or 'dropped nothing'}")


def _record(curves: xr.DataArray, step: str) -> xr.DataArray:
    """Add a step to the history of the curves."""
    steps = [curves.attrs["history"]] if "history" in curves.attrs else []
    return curves.assign_attrs(history="\n".join([*steps, step]))
