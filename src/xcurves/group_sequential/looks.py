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
from xcurves.kernels.sequential_pvalues import Spending

SPENDINGS = ("square", "linear")


def assign_looks(
    curves: xr.DataArray,
    by: int | Mapping[Any, Any] | pd.Series[Any],
    *,
    n_looks: int | None = None,
    spending: Spending | None = None,
) -> xr.DataArray:
    """Say in which batch every run was made, for `sequential`.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores of all runs so far.
    by : int, mapping or Series
        So many runs of every algorithm at a time, in the order of their labels, which must be numbers; dask arrays are
        computed for it. Or the batch of every run: a mapping of run labels to batches, or a column of the log with the
        run as index, ``log.set_index("seed")["batch"]``. Batches are whole numbers from 1, also as text, dates in their
        order, or ordered categories: what a batch is called must say its place, also when more are added.
    n_looks : int, optional
        Number of looks that are planned. It is stored in the attrs of the coordinate, with `spending` and `by` if that
        is a number: then `sequential` takes it from there and refuses another one.
    spending : {"square", "linear"}, optional
        As for `sequential`.

    Returns
    -------
    DataArray
        As `curves`, with an integer coordinate `look` of `run`.

    Raises
    ------
    ValueError, TypeError
        If a run has no batch, or several; if labels or batches have no order of their own; if the curves store another
        plan; if the last batch of `by` runs is not complete, since a batch that grows after a look is none; if an
        algorithm has no scores of a run between others; or if runs of several algorithms with one label would fall in
        different batches.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> looks = scores.curves.assign_looks(5, n_looks=4)
    >>> looks.look.values.tolist(), looks.look.attrs["n_looks"]
    ([1, 1, 1, 1, 1, 2, 2, 2, 2, 2], 4)
    """
    checked = check_curves(curves)
    plan: dict[str, int | str] = {}
    if isinstance(by, Mapping | pd.Series):
        values = _by_column(checked, pd.Series(by))
    elif isinstance(by, Integral) and not isinstance(by, bool) and by > 0:
        values = _by_number(checked, int(by))
        plan["batch_size"] = int(by)
    else:
        raise TypeError(
            f"by must be a number of runs, a mapping or a Series; got {labels.shown(by)}. Try assign_looks(5)"
        )
    planned = validation.check_count("n_looks", n_looks)
    plan |= {} if planned is None else {"n_looks": planned}
    plan |= {} if spending is None else {"spending": validation.check_choice("spending", spending, SPENDINGS)}
    stored = curves["look"].attrs if "look" in curves.coords else {}
    for name, value in plan.items():
        check_stored(stored, name, value)
    return curves.assign_coords({"look": ("run", values, {"long_name": "number of the look"} | plan)})


def check_stored(stored: Mapping[Any, Any], name: str, value: Any) -> None:
    """Refuse a plan other than the one that curves store."""
    if name in stored and stored[name] != value:
        raise ValueError(
            f"{name} must be {stored[name]!r}, which the curves store as planned; got {value!r}. "
            "A plan is made before the first look"
        )


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
    numbered = _numbered(first.loc[runs])
    if numbered.min() < 1:
        raise ValueError(f"batches are numbered from 1; got {numbered.min()}. Add {1 - numbered.min()} to all")
    return numbered


def _numbered(batches: pd.Series[Any]) -> NDArray[np.int64]:
    """Return the numbers of batches that are whole numbers, ordered categories or dates."""
    if isinstance(batches.dtype, pd.CategoricalDtype) and batches.dtype.ordered:
        return np.asarray(batches.cat.codes + 1, dtype=np.int64)
    if batches.dtype.kind == "M":
        return np.asarray(pd.factorize(batches, sort=True)[0] + 1, dtype=np.int64)
    numbers = pd.to_numeric(batches.astype(str), errors="coerce")
    if (numbers.isna() | (numbers % 1 != 0)).any():
        strange = batches[numbers.isna() | (numbers % 1 != 0)].iloc[0]
        raise ValueError(
            f"batches must be whole numbers, dates or ordered categories; got {strange!r}. Say their order: "
            "pd.Categorical(batch, ['pilot', 'main'], ordered=True)"
        )
    return numbers.to_numpy(np.int64)


def _by_number(curves: xr.DataArray, size: int) -> NDArray[np.int64]:
    if curves["run"].dtype.kind not in "iuf":
        raise ValueError(
            f"run labels must be numbers for batches of {size}; got {labels.words(curves['run'])[0]}: texts have no "
            "order that stays when runs are added. Give the batch of every run: assign_looks({run: batch, ...})"
        )
    other = [dim for dim in curves.dims if dim not in ("algorithm", "run")]
    order = curves["run"].to_numpy().argsort(kind="stable")
    present = curves.notnull().any(other).transpose("algorithm", "run").to_numpy()[:, order]
    looks = np.where(present, (present.cumsum(axis=1) - 1) // min(size, curves.sizes["run"]) + 1, 0)
    runs, algorithms = np.array(labels.words(curves["run"]))[order], labels.words(curves["algorithm"])
    for row, algorithm in enumerate(algorithms):
        between = present[row].cumsum() * present[row, ::-1].cumsum()[::-1] * ~present[row]
        for column in np.flatnonzero(between)[:1]:
            raise ValueError(
                f"run {runs[column]} of algorithm {algorithm} has no score, and later runs have: did it crash? Give it "
                "the score that a crash is worth, or give the batch of every run: assign_looks({run: batch, ...})"
            )
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
    numbered = np.empty(len(order), np.int64)
    numbered[order] = np.maximum(values, 1)
    return numbered


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
    missing = sorted({*range(1, int(values.max()))} - {*values.tolist()})
    if missing:
        raise ValueError(f"look {missing[0]} has no run, but look {values.max()} has. Give those of earlier looks too")
