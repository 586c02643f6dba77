"""The coordinate that says in which batch each run was made."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, validation
from xcurves.core.validation import check_curves


def assign_looks(
    curves: xr.DataArray,
    by: int | Mapping[Any, Any] | pd.Series[Any],
    *,
    n_looks: int | None = None,
    name: str = "look",
) -> xr.DataArray:
    """Say in which batch every run was made, for `sequential`.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores of all runs so far.
    by : int, mapping or Series
        So many runs of every algorithm at a time, in the order of `run`, for which dask arrays are computed; or the
        batch of every run: a mapping of run labels to batches, or a column of the log with the run as index,
        ``log.set_index("seed")["batch"]``. Batches are whole numbers from 1, or other values in sorted order, such as
        dates.
    n_looks : int, optional
        Number of looks that are planned, for `analyze`: it is kept in the attrs of the coordinate, and `sequential` is
        a part of the analysis.
    name : str, default "look"
        Name of the coordinate.

    Returns
    -------
    DataArray
        As `curves`, with an integer coordinate of `run`.

    Raises
    ------
    ValueError, TypeError
        If a run has no batch, or several; if the last batch of `by` runs is not complete, since a batch that grows
        after a look is none; or if runs of several algorithms with one label would fall in different batches.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> scores.curves.assign_looks(5).look.values.tolist()
    [1, 1, 1, 1, 1, 2, 2, 2, 2, 2]
    """
    checked = check_curves(curves)
    if not isinstance(name, str) or name in ("", *checked.dims):
        raise TypeError(f"name must be that of no dim of curves; got {labels.shown(name)}. Try 'look'")
    if isinstance(by, Mapping | pd.Series):
        values = _by_column(checked, pd.Series(by))
    elif isinstance(by, Integral) and not isinstance(by, bool) and by > 0:
        values = _by_number(checked, int(by))
    else:
        raise TypeError(
            f"by must be a number of runs, a mapping or a Series; got {labels.shown(by)}. Try assign_looks(5)"
        )
    planned = validation.check_count("n_looks", n_looks)
    attrs = {"long_name": "number of the look"} | ({} if planned is None else {"n_looks": planned})
    return curves.assign_coords({name: ("run", values, attrs)})


def _by_column(curves: xr.DataArray, batches: pd.Series[Any]) -> NDArray[np.int64]:
    first = batches[~batches.index.duplicated()]
    strange = batches[batches.to_numpy() != first.reindex(batches.index).to_numpy()]
    if len(strange):
        run = strange.index[0]
        both = " and ".join(map(str, (first[run], strange.iloc[0])))
        raise ValueError(f"by has batches {both} of run {run}. Give runs of different batches different labels")
    runs = curves["run"].to_numpy().tolist()
    missing = [run for run in runs if run not in first.index or pd.isna(first[run])]
    if missing:
        raise ValueError(f"by has no batch of run {missing[0]!r} ({len(missing)} in all). Add it")
    values = first.loc[runs]
    if pd.api.types.is_integer_dtype(values):
        if values.min() < 1:
            raise ValueError(f"batches are numbered from 1; got {values.min()}. Add {1 - values.min()} to all")
        return np.asarray(values.to_numpy(), dtype=np.int64)
    return np.asarray(np.unique(values.to_numpy(), return_inverse=True)[1] + 1, dtype=np.int64)


def _by_number(curves: xr.DataArray, size: int) -> NDArray[np.int64]:
    other = [dim for dim in curves.dims if dim not in ("algorithm", "run")]
    present = curves.notnull().any(other).transpose("algorithm", "run").to_numpy()
    looks = np.where(present, (present.cumsum(axis=1) - 1) // min(size, curves.sizes["run"]) + 1, 0)
    runs, algorithms = labels.words(curves["run"]), labels.words(curves["algorithm"])
    for row, algorithm in enumerate(algorithms):
        n_over = int(present[row].sum()) % size
        if n_over:
            raise ValueError(
                f"algorithm {algorithm} has {int(present[row].sum())} runs, the last batch {n_over} of {size}. Run "
                f"{size - n_over} more, or leave them out"
            )
    values = looks.max(axis=0)
    for row, column in np.argwhere(present & (looks != values))[:1]:
        raise ValueError(
            f"run {runs[column]} would be in look {looks[row, column]} of algorithm {algorithms[row]}, but in look "
            f"{values[column]} of another. Give the batch of every run: assign_looks({{run: batch, ...}})"
        )
    return np.asarray(np.maximum(values, 1), dtype=np.int64)


def check_looks(curves: xr.DataArray, look: Hashable, n_looks: int) -> None:
    """Refuse curves without a whole number from 1 to `n_looks` for every run."""
    if not isinstance(look, Hashable) or look not in curves.coords or curves[look].dims != ("run",):
        raise ValueError(
            f"look must be a coordinate of run; curves has no {labels.shown(look)} on dim 'run'. Five runs at a time: "
            "da.curves.assign_looks(5)"
        )
    values = curves[look].to_numpy()
    if values.dtype.kind not in "iu":
        raise TypeError(
            f"look must have whole numbers; got dtype {values.dtype}. "
            f"Convert: da.assign_coords({look}=da.{look}.astype(int))"
        )
    if values.min() < 1 or values.max() > n_looks:
        wrong = values.min() if values.min() < 1 else values.max()
        raise ValueError(
            f"look must lie between 1 and n_looks={n_looks}; got {wrong}. The number of looks is planned before the "
            "first one"
        )
