"""Curves and results back to tidy frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd
import xarray as xr

from xcurves import labels

_DESCRIBED = ("units", "long_name")


def to_frame(data: xr.DataArray | xr.Dataset) -> pd.DataFrame:
    """Turn curves or a result into a tidy frame.

    Parameters
    ----------
    data : DataArray or Dataset
        Curves, or what `to_dataset` or a method of curves returned.

    Returns
    -------
    DataFrame
        Of curves, one row for each task, algorithm, run and training level, gaps too, so that `to_dataarray` gives
        back the same; labels that are not in sorted order are categories in theirs. Of `randomized_anova`, one row for
        each task, effect and error term; of `pairwise`, for each task, effect and pair; of `ss_profile`, for each task,
        effect and training level; of `compare_distributions`, for each task and pair; of `predict`, for each task and
        size; of `leave_one_size_out`, for each task and variant; of others, for each task. What has further dims is
        spread over columns ``variable_label``, but for the null distribution. Units, names and attrs stand in
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
            effect error_term      f  pvalue
    0    algorithm     pooled  1.265   0.411
    1    algorithm    stratum  0.926   0.408
    2  interaction     pooled  0.834   0.551
    3  interaction    stratum  0.879   0.551
    """
    if isinstance(data, xr.DataArray):
        return _curves_frame(data.to_dataset(name=data.name or "score"), data.attrs)
    if labels.find_kind(data) is None and set(labels.DIMS) & set(data.dims):
        return _curves_frame(data, data.attrs)
    dims = labels.row_dims(data)
    return _frame(_spread(data, dims), dims, data.attrs)


def _curves_frame(data: xr.Dataset, attrs: Mapping[Hashable, Any]) -> pd.DataFrame:
    tasks = [dim for dim in data.dims if dim not in labels.DIMS]
    dims = [*tasks, *(dim for dim in labels.DIMS if dim in data.dims)]
    frame = _frame(data, dims, attrs)
    for dim in dims:
        values = data[dim].to_numpy()
        if values.tolist() != sorted(values.tolist()):
            frame[dim] = pd.Categorical(frame[dim], values)
    return frame


def _spread(result: xr.Dataset, dims: Sequence[Hashable]) -> xr.Dataset:
    """Make a variable of its own for each label of the dims that have no rows."""
    columns = {}
    result = result.reset_coords()
    for name, variable in result.data_vars.items():
        others = [dim for dim in variable.dims if dim not in dims]
        if "shuffle" in others:
            continue
        for place in product(*(range(variable.sizes[dim]) for dim in others)):
            chosen = dict(zip(others, place, strict=True))
            words = [str(result[dim].to_numpy()[i]) for dim, i in chosen.items()]
            columns["_".join([str(name), *words])] = variable.isel(chosen, drop=True)
    spread = xr.Dataset(columns)
    return spread.drop_vars([name for name, coord in spread.coords.items() if not set(coord.dims) <= set(dims)])


def _frame(data: xr.Dataset, dims: Sequence[Hashable], attrs: Mapping[Hashable, Any]) -> pd.DataFrame:
    if dims:
        frame = data.to_dataframe([str(dim) for dim in dims]).reset_index()
    else:
        frame = pd.DataFrame({name: [variable.to_numpy().item()] for name, variable in data.variables.items()})
    carried = {name: told for name, told in attrs.items() if name not in _DESCRIBED}
    described = {key: {name: data[name].attrs[key] for name in frame if key in data[name].attrs} for key in _DESCRIBED}
    frame.attrs = dict(carried) | described
    return frame
