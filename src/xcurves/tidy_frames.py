"""Curves and results as tidy frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.labels import (
    DIMS,
    EVALUATION,
    native_labels,
    without_color_index,
)
from xcurves.core.refusal import Refusal, WrongType
from xcurves.core.schema import PAIR_COORDS
from xcurves.core.validation import has_own_levels
from xcurves.frames.columns import usual_columns
from xcurves.results import find_kind, prepare

_DESCRIBED = ("units", "long_name")
_NO_ROWS = "resample"  # the null distribution is no part of a frame


def to_frame(data: xr.DataArray | xr.Dataset) -> pd.DataFrame:
    """Turn curves or a result into a tidy frame.

    Parameters
    ----------
    data : DataArray or Dataset
        Curves, or what `to_dataset` or a method of curves returned; lazy ones are computed.

    Returns
    -------
    DataFrame
        Of curves, one row for each task, algorithm, run and training level, gaps too, so that `to_dataarray` gives
        back the same; labels that are not in sorted order are categories in theirs. Of a result, a row for each task
        and each combination of the labels that its kind declares as rows. Variables with further dims have a column
        ``variable_label`` for each label; the null distribution is left out. Units, names and attrs are in
        ``frame.attrs``.

    Raises
    ------
    ValueError, TypeError
        If `data` is neither curves nor a result.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> frame = scores.curves.to_frame()
    >>> frame.shape
    (240, 4)
    >>> result = scores.curves.randomized_anova(rng=0).curves.to_frame()
    >>> result[["effect", "error_term", "f", "pvalue"]].round(3)
            effect  error_term      f  pvalue
    0    algorithm      pooled  1.265   0.411
    1    algorithm  split_plot  0.926   0.408
    2    algorithm       welch  0.963   0.399
    3  interaction      pooled  0.834   0.551
    4  interaction  split_plot  0.879   0.551
    5  interaction       welch    NaN     NaN
    """
    if not isinstance(data, xr.DataArray | xr.Dataset):
        raise WrongType(
            "data",
            type(data),
            "must be a DataArray or a Dataset",
            "Give curves or a result",
        )
    if isinstance(data, xr.DataArray):
        return _curves_frame(data.to_dataset(name=data.name or "score").assign_attrs(data.attrs))
    if find_kind(data) is None and set(DIMS) & set(data.dims):
        return _curves_frame(data)
    kind, result = prepare(data)
    dims = (*kind.task_dims(result), *(dim for dim in kind.rows if dim in result.dims))
    for name, coord in result.coords.items():
        _check_text(name, np.atleast_1d(coord).tolist())
    return _described_frame(_columns_by_label(result, dims), dims, result.attrs)


def no_frame_method(frame: Any, name: str) -> str:
    """Return the message for a method that frames do not have: the call that makes curves of these columns."""
    named = {dim: dim for dim in DIMS} | usual_columns(frame.columns, DIMS)
    value = next(
        (str(column) for column in reversed(list(frame.columns)) if column not in named.values()),
        "score",
    )
    renamed = "".join(f", {dim}={column!r}" for dim, column in named.items() if column != dim)
    return (
        f"a DataFrame has no .curves.{name}; curves have. "
        f"Make them: frame.curves.to_dataarray({value!r}{renamed}).curves.{name}()"
    )


def _curves_frame(data: xr.Dataset) -> pd.DataFrame:
    known = (*DIMS, EVALUATION)
    dims = [
        *(dim for dim in data.dims if dim not in known),
        *(dim for dim in known if dim in data.dims),
    ]
    for dim in dims:
        labels = data[dim].to_numpy().tolist()
        if pd.isna(labels).any() or len(set(labels)) < len(labels):
            cure = f"Number them: assign_coords({dim}=range({len(labels)}))"
            raise Refusal("data", labels[:5], f"{dim} labels must be there and differ", cure)
        _check_text(dim, labels)
    data = without_color_index(native_labels(data))
    frame = _described_frame(data, dims, data.attrs)
    if has_own_levels(data):
        labelled = [*dims[:-1], "training"]
        dims = dims[:-1]
        rows = frame.dropna(subset="training").drop(columns=EVALUATION)
        frame = rows[[*labelled, *rows.columns.difference(labelled, sort=False)]].reset_index(drop=True)
    for dim in dims:
        values = pd.Index(data[dim].to_numpy())
        if not values.is_monotonic_increasing:
            frame[dim] = pd.Categorical(frame[dim], values)
    return frame


def _check_text(name: Hashable, labels: Sequence[Any]) -> None:
    """Refuse labels with half of a pair of surrogates."""
    try:
        "".join(label for label in labels if isinstance(label, str)).encode()
    except UnicodeEncodeError:
        raise Refusal(
            str(name),
            labels[:5],
            f"{name} labels must be text that can be encoded",
            f"Number them: assign_coords({name}=range({len(labels)}))",
        ) from None


def _columns_by_label(result: xr.Dataset, dims: Sequence[Hashable]) -> xr.Dataset:
    """Make a variable for each label of the dims that have no rows."""
    columns = {}
    result = without_color_index(result).reset_coords()
    words = {dim: [str(label) for label in result[dim].to_numpy()] for dim in result.dims}
    for name in result.data_vars:
        # a Variable: a DataArray of each column would look for its coords
        variable = result.variables[name]
        others = [dim for dim in variable.dims if dim not in dims]
        # the names of columns say the pair
        if _NO_ROWS in others or (others and name in PAIR_COORDS):
            continue
        for place in product(*(range(variable.sizes[dim]) for dim in others)):
            chosen = dict(zip(others, place, strict=True))
            label = "_".join([str(name), *(words[dim][i] for dim, i in chosen.items())])
            columns[label] = variable.isel(chosen)
    return xr.Dataset(columns, {dim: result[dim] for dim in dims if dim in result.coords})


def _described_frame(data: xr.Dataset, dims: Sequence[Hashable], attrs: Mapping[Hashable, Any]) -> pd.DataFrame:
    if dims:
        frame = data.to_dataframe([str(dim) for dim in dims]).reset_index()
    else:
        frame = pd.DataFrame({name: [variable.to_numpy().item()] for name, variable in data.variables.items()})
    told = {name: data.variables[name].attrs for name in frame if name in data.variables}
    described = {key: {name: of[key] for name, of in told.items() if key in of} for key in _DESCRIBED}
    frame.attrs = {name: value for name, value in attrs.items() if name not in _DESCRIBED} | described
    return frame
