"""The coordinate that says in which batch each run was made; what earlier looks saw, which no later one changes."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, validation
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, WrongType, call, shown
from xcurves.core.validation import check_curves
from xcurves.kernels.looks.sequential_pvalues import Spending
from xcurves.looks import ledger

SPENDINGS = ("square", "linear")
_BY_RUN = "Give the batch of every run: assign_looks({run: batch, ...})"


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
        computed for it. Or the batch of every run, as a mapping or as a column of the log with the run as index,
        ``log.set_index("seed")["batch"]``: whole numbers from 1, also as text, dates, or ordered categories.
    n_looks : int, optional
        Number of looks that are planned, stored in the attrs of the coordinate with `spending` and `by` if that is a
        number. `sequential` takes it from there and refuses another one.
    spending : {"square", "linear"}, optional
        As for `sequential`.

    Returns
    -------
    DataArray
        As `curves`, with an integer coordinate `look` of `run`.

    Raises
    ------
    ValueError, TypeError
        If a run has no batch, or several, or different ones in several algorithms; if labels or batches have no order
        of their own; if the curves store another plan; if the last batch of `by` runs is not complete; if an algorithm
        has no scores of a run between others.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> looks = scores.curves.assign_looks(5, n_looks=4)
    >>> looks.look.values.tolist(), looks.look.attrs["n_looks"]
    ([1, 1, 1, 1, 1, 2, 2, 2, 2, 2], 4)
    """
    # What the other dims are matters only to the test of the looks.
    core = ["algorithm", "run"]
    if isinstance(curves, xr.DataArray) and "training" in curves.dims:
        core.append("training")
    checked = check_curves(curves, core)
    plan: dict[str, Any] = {}
    if isinstance(by, Mapping | pd.Series):
        values = _by_column(checked, pd.Series(by))
    else:
        plan["batch_size"] = validation.check_total("by", by, "assign_looks(5); or give the batch of every run")
        values = _by_number(checked, plan["batch_size"])
    if n_looks is not None:
        plan["n_looks"] = validation.check_total("n_looks", n_looks, "2 to 20")
    if spending is not None:
        plan["spending"] = validation.check_choice("spending", spending, SPENDINGS)
    if "look" in curves.coords:
        check_stored(curves["look"].attrs, plan)
    return curves.assign_coords({"look": ("run", values, {"long_name": "number of the look"} | plan)})


def _by_column(curves: xr.DataArray, column: pd.Series[Any]) -> NDArray[np.int64]:
    """Return the numbers of batches that are whole numbers, ordered categories or dates."""
    first = column[~column.index.duplicated()]
    others = column[column.to_numpy() != first.reindex(column.index).to_numpy()]
    if len(others):
        run = others.index[0]
        raise Refusal(
            "by",
            run,
            f"by has batches {first[run]} and {others.iloc[0]} of run {run}",
            "Give runs of different batches different labels",
        )
    batches = first.reindex(curves["run"].to_numpy())
    lacking = batches.index[batches.isna()].tolist()
    if lacking:
        raise Refusal(
            "by",
            lacking[0],
            f"by has no batch of run {lacking[0]!r} ({len(lacking)} in all)",
            "Add it",
        )
    if isinstance(batches.dtype, pd.CategoricalDtype) and batches.dtype.ordered:
        return np.asarray(batches.cat.codes + 1, dtype=np.int64)
    if batches.dtype.kind == "M":
        return np.asarray(pd.factorize(batches, sort=True)[0] + 1, dtype=np.int64)
    numbers = pd.to_numeric(batches.astype(str), errors="coerce")
    strange = batches[numbers.isna() | (numbers % 1 != 0)]
    if len(strange):
        raise Refusal(
            "by",
            strange.iloc[0],
            "must have batches that are whole numbers, dates or ordered categories",
            "Say their order: pd.Categorical(batch, ['pilot', 'main'], ordered=True)",
        )
    if numbers.min() < 1:
        raise Refusal(
            "by",
            numbers.min(),
            f"by has batch {numbers.min():g}; batches are numbered from 1",
            f"Add {1 - numbers.min():g} to all",
        )
    return numbers.to_numpy(np.int64)


def _by_number(curves: xr.DataArray, size: int) -> NDArray[np.int64]:
    """Return the numbers of batches of so many runs each, in the order of the labels of runs."""
    if curves["run"].dtype.kind not in "iuf":
        raise Refusal(
            "curves",
            Verbatim(f"{labels.words(curves['run'])[0]}: texts have no order that stays when runs are added"),
            f"run labels must be numbers for batches of {size}",
            _BY_RUN,
        )
    order = np.argsort(curves["run"].to_numpy())
    scored = curves.notnull().any([dim for dim in curves.dims if dim not in ("algorithm", "run")])
    present = scored.transpose("algorithm", "run").to_numpy()[:, order]
    values = _numbered(
        present,
        size,
        labels.words(curves["algorithm"]),
        labels.words(curves["run"][order]),
    )
    return np.asarray(values[order.argsort()])


def _numbered(present: NDArray[np.bool_], size: int, algorithms: list[str], runs: list[str]) -> NDArray[np.intp]:
    """Return the batch of each run, `present` of shape (algorithm, run), which must be that of all algorithms."""
    number = present.cumsum(axis=1)
    n_runs = number[:, -1:]
    gaps = np.argwhere(~present & (number > 0) & (number < n_runs))
    if len(gaps):
        a, run = gaps[0]
        raise Refusal(
            "curves",
            UNSAID,
            f"run {runs[run]} of algorithm {algorithms[a]} has no score, and later runs have: did "
            "it crash? Give it the score that a crash is worth",
            f"Or: {_BY_RUN}",
        )
    incomplete = np.flatnonzero(n_runs[:, 0] % size)
    if incomplete.size:
        a = incomplete[0]
        over = n_runs[a, 0] % size
        raise Refusal(
            "curves",
            UNSAID,
            f"algorithm {algorithms[a]} has {n_runs[a, 0]} runs, the last batch {over} of {size}",
            f"Run {size - over} more, or leave them out",
        )
    looks = np.where(present, (number - 1) // size + 1, 0)
    values = looks.max(axis=0)
    elsewhere = np.argwhere(present & (looks != values))
    if len(elsewhere):
        a, run = elsewhere[0]
        raise Refusal(
            "curves",
            UNSAID,
            f"run {runs[run]} would be in look {looks[a, run]} of algorithm {algorithms[a]}, "
            f"but in look {values[run]} of another",
            _BY_RUN,
        )
    # A run that no algorithm has is of some batch too.
    return np.asarray(np.maximum(values, 1))


def check_stored(stored: Mapping[Any, Any], plan: Mapping[str, Any]) -> None:
    """Refuse a plan other than the one that curves store."""
    for name, value in plan.items():
        if stored.get(name, value) != value:
            raise Refusal(
                name,
                value,
                f"must be {stored[name]!r}, which the curves store as planned",
                ledger.BEFORE,
            )


def check_looks(curves: xr.DataArray, look: Hashable, n_looks: int) -> None:
    """Refuse curves without a whole number from 1 to `n_looks` for every run."""
    if not isinstance(look, Hashable) or look not in curves.coords or curves[look].dims != ("run",):
        raise Refusal(
            "look",
            UNSAID,
            f"must be a coordinate of run; curves has no {shown(look)} on dim 'run'",
            Cure("Five runs at a time: ", call("da.curves.assign_looks", 5)),
        )
    values = curves[look].to_numpy()
    if values.dtype.kind not in "iu":
        raise WrongType(
            "look",
            Verbatim(f"dtype {values.dtype}"),
            "must have whole numbers",
            f"Convert: da.assign_coords({look}=da.{look}.astype(int))",
        )
    wrong = values[(values < 1) | (values > n_looks)]
    if wrong.size:
        raise Refusal(
            "look",
            Verbatim(wrong[0]),
            f"must lie between 1 and n_looks={n_looks}",
            ledger.BEFORE,
        )
    missing = np.setdiff1d(np.arange(1, values.max()), values)
    if missing.size:
        raise Refusal(
            "look",
            UNSAID,
            f"{missing[0]} has no run, but look {values.max()} has",
            "Give those of earlier looks too",
        )


def check_previous(
    previous: xr.Dataset | str | os.PathLike[str],
    result: xr.Dataset,
    curves: xr.DataArray,
    look: str,
) -> None:
    """Refuse a result, and the curves that it is of, with other runs or another plan than an earlier look."""
    before = ledger.check_previous(previous, ledger.of_looks)
    looks = dict(
        zip(
            ledger.label_words(curves["run"]),
            curves[look].to_numpy().tolist(),
            strict=True,
        )
    )
    ledger.refuse_changes(
        before,
        ledger.of_looks(result),
        lambda _, run: looks[run] > before.n_done,
        "the earlier look",
        f" {before.n_done}",
    )
