"""Labelled curves as tidy frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import xarray as xr

from xcurves.core.labels import (
    DIMS,
    EVALUATION,
    native_labels,
    without_color_index,
)
from xcurves.core.refusal import Refusal
from xcurves.core.validation import has_own_levels

_DESCRIBED = ("units", "long_name")


def frame_of_curves(data: xr.Dataset) -> pd.DataFrame:
    """Return a row for each task, algorithm, run and training level of curves, gaps too."""
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
        check_text(dim, labels)
    data = without_color_index(native_labels(data))
    frame = described_frame(data, dims, data.attrs)
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


def check_text(name: Hashable, labels: Sequence[Any]) -> None:
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


def described_frame(data: xr.Dataset, dims: Sequence[Hashable], attrs: Mapping[Hashable, Any]) -> pd.DataFrame:
    """Return the variables of a Dataset as columns, with units and long names in the attrs."""
    if dims:
        frame = data.to_dataframe([str(dim) for dim in dims]).reset_index()
    else:
        frame = pd.DataFrame({name: [variable.to_numpy().item()] for name, variable in data.variables.items()})
    told = {name: data.variables[name].attrs for name in frame if name in data.variables}
    described = {key: {name: of[key] for name, of in told.items() if key in of} for key in _DESCRIBED}
    frame.attrs = {name: value for name, value in attrs.items() if name not in _DESCRIBED} | described
    return frame
