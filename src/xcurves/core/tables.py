"""Tables to print: columns of a result as a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr

from xcurves.core.labels import CI_BOUNDS


def bounds(interval: xr.DataArray, prefix: str = "") -> dict[str, xr.DataArray]:
    """Return the columns of an interval, lower and upper."""
    return {f"{prefix}{bound}": interval.sel(ci_bound=bound, drop=True) for bound in CI_BOUNDS}


def frame_of(columns: Mapping[str, xr.DataArray], last: Sequence[str] = ()) -> pd.DataFrame:
    """Join columns to a frame whose index has the task dims, then the `last`."""
    dataset = xr.Dataset({name: column.reset_coords(drop=True) for name, column in columns.items()})
    # Not in the order of the dataset's dims, which an archive may change.
    extra = list(dict.fromkeys(str(dim) for column in columns.values() for dim in column.dims if dim not in last))
    last = [dim for dim in last if dim in dataset.dims]
    if not extra and not last:
        return pd.DataFrame({name: [column.item()] for name, column in dataset.items()})
    return dataset.to_dataframe([*extra, *last])
