"""Tidy frames, one row per score, to labelled curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.labels import DIMS

Duplicates = Literal["raise", "first", "last", "mean"]
_CHOICES = ("raise", "first", "last", "mean")


def to_dataarray(
    frame: pd.DataFrame,
    value: str,
    *,
    algorithm: str = "algorithm",
    run: str = "run",
    training: str = "training",
    extra: str | Sequence[str] = (),
    duplicates: Duplicates = "raise",
) -> xr.DataArray:
    """Turn a tidy frame, one row per score, into curves.

    Parameters
    ----------
    frame : DataFrame
        One row per score. ``frame.attrs["units"]``, if it is there, maps columns to units.
    value : str
        Column of the scores; a row without a score is a gap.
    algorithm, run, training : str
        Columns that become the dims of these names.
    extra : str or sequence of str, optional
        Columns that become further dims (tasks) under their own names.
    duplicates : {"raise", "first", "last", "mean"}
        What to do with several rows of one run at one training level: refuse, or keep which of their scores.

    Returns
    -------
    DataArray, dims (*extra, algorithm, run, training)
        Labels in sorted order (categories in theirs), so that the order of rows does not matter; NaN where the
        frame has no score. The name is `value`; every coordinate has its column's name as ``long_name`` and, where
        given, units.

    Raises
    ------
    KeyError
        If the frame lacks a column; the message lists those it has.
    TypeError
        If `value` or `training` is not numeric.
    ValueError
        If the frame is empty, if a label is missing, or if scores are repeated and `duplicates` is "raise".

    Examples
    --------
    >>> import pandas as pd, xcurves
    >>> frame = pd.DataFrame(
    ...     {"agent": ["sac", "sac", "td3"], "seed": 1, "step": [0, 100, 0], "return": [1.0, 4.0, 2.0]}
    ... )
    >>> returns = frame.curves.to_dataarray("return", algorithm="agent", run="seed", training="step")
    >>> returns.sel(algorithm="td3").to_numpy()
    array([[ 2., nan]])
    """
    taken = [name for name in _names(extra) if name in DIMS or _names(extra).count(name) > 1]
    if taken:
        raise ValueError(f"extra={taken[0]!r} is the name of another dim. Rename the column: frame.rename(columns=...)")
    columns = {
        **{name: name for name in _names(extra)},
        "algorithm": algorithm,
        "run": run,
        "training": training,
    }
    keys = list(columns.values())
    _check_frame(frame, value, columns, duplicates)
    labels = {column: _labels(frame[column]) for column in keys}
    rows = frame[[*keys, value]]
    scored = _unrepeated(rows, value, keys, duplicates)
    scores = _blank(labels)
    places = tuple(index.get_indexer(pd.Index(scored[column])) for column, index in labels.items())
    scores[places] = scored[value].to_numpy(dtype=np.float64)
    units = frame.attrs.get("units", {})
    coords = {dim: (dim, _plain(labels[column]), _attrs(column, units)) for dim, column in columns.items()}
    n_repeated = int(rows.duplicated(keys).sum())
    kept = f"kept the {duplicates} of each" if duplicates != "mean" else "took the mean of each"
    said = (
        {"history": f"to_dataarray(duplicates={duplicates!r}): {n_repeated} repeated rows, {kept}"}
        if n_repeated
        else {}
    )
    return xr.DataArray(scores, coords, list(columns), name=value, attrs=_attrs(value, units) | said)


def _blank(labels: Mapping[str, pd.Index[Any]]) -> NDArray[np.float64]:
    try:
        return np.full([len(each) for each in labels.values()], np.nan)
    except MemoryError:
        sizes = " x ".join(f"{len(each):,} {column}" for column, each in labels.items())
        raise MemoryError(
            f"curves of {sizes} do not fit in memory. Round the training levels, or select tasks"
        ) from None


def _names(extra: str | Sequence[str]) -> list[str]:
    return [extra] if isinstance(extra, str) else list(extra)


def _attrs(column: str, units: Mapping[str, str]) -> dict[str, str]:
    return {"long_name": column, **({"units": units[column]} if column in units else {})}


def _check_frame(frame: pd.DataFrame, value: str, columns: Mapping[str, str], duplicates: str) -> None:
    """Refuse a frame that cannot become curves without guessing."""
    if duplicates not in _CHOICES:
        raise ValueError(f"duplicates must be one of {', '.join(map(repr, _CHOICES))}; got {duplicates!r}")
    asked = {"value": value, **columns}
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"frame has several columns {twice!r}. Rename all but one")
    for key, column in asked.items():
        argument = key if key in ("value", *DIMS) else "extra"
        if column not in frame.columns:
            has = ", ".join(map(repr, frame.columns))
            cure = ". Make columns of the index: frame.reset_index()" if column in frame.index.names else ""
            raise KeyError(f"{argument}={column!r} is no column of the frame. It has {has}{cure}")
        if list(asked.values()).count(column) > 1:
            raise ValueError(f"{argument}={column!r} is asked for twice. Name a column of its own for every dim")
    if frame.empty:
        raise ValueError("frame has no rows. Check how it was read or selected")
    for argument in ("value", "training"):
        _check_numeric(argument, frame[asked[argument]])
    for argument, column in columns.items():
        missing = frame[column].isna()
        if missing.any():
            raise ValueError(
                f"{argument} column {column!r} has {missing.sum()} rows without a label, first row "
                f"{_plain_label(missing.idxmax())}. Drop them: frame.dropna(subset=[{column!r}])"
            )


def _check_numeric(argument: str, column: pd.Series[Any]) -> None:
    number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)
    if number and not (argument == "training" and pd.api.types.is_bool_dtype(column)):
        return
    numbers = pd.to_numeric(column.astype(str), errors="coerce")
    strange = column[numbers.isna() & column.notna()]
    first = f", first {strange.iloc[0]!r} in row {_plain_label(strange.index[0])}" if len(strange) else ""
    raise TypeError(
        f"{argument} column {column.name!r} must be numeric; got dtype {column.dtype}{first}. "
        f"Convert: pd.to_numeric(frame[{column.name!r}])"
    )


def _plain_label(label: object) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _labels(column: pd.Series[Any]) -> pd.Index[Any]:
    """Return the labels of a column: categories in their order, anything else sorted."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories: pd.Index[Any] = column.cat.remove_unused_categories().cat.categories
        return categories
    try:
        ordered: pd.Index[Any] = pd.Index(column.unique()).sort_values()
        return ordered
    except TypeError:
        kinds = sorted({type(label).__name__ for label in column})
        raise TypeError(
            f"column {column.name!r} mixes {' and '.join(kinds)}. Convert: frame[{column.name!r}].astype(str)"
        ) from None


def _plain(labels: pd.Index[Any]) -> NDArray[Any]:
    """Return labels as a numpy array that every archive can hold."""
    return labels.to_numpy(dtype=labels.dtype.numpy_dtype if hasattr(labels.dtype, "numpy_dtype") else None)


def _unrepeated(rows: pd.DataFrame, value: str, keys: list[str], duplicates: str) -> pd.DataFrame:
    """Return one score per key, of the rows that have one."""
    repeated = rows.duplicated(keys)
    if duplicates == "raise" and repeated.any():
        shown = "; ".join(str(tuple(row)) for row in rows.loc[repeated, keys].head(3).to_numpy(dtype=object).tolist())
        raise ValueError(
            f"{_count(int(repeated.sum()), 'row repeats', 'rows repeat')} a ({', '.join(keys)}), first {shown}. "
            "Name the column that tells them apart in extra=, or say which to keep: "
            "duplicates='first', 'last' or 'mean'"
        )
    scored = rows[rows[value].notna()]
    if duplicates == "mean":
        return scored.groupby(keys, sort=False, observed=True)[value].mean().reset_index()
    return scored.drop_duplicates(keys, keep="last" if duplicates == "last" else "first")
