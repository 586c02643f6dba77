"""Tables to print: columns of a result as a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.labels import CI_BOUNDS, escape_controls


def cell_text(value: float) -> str:
    """Return a number of a printed table: four significant digits, and whole numbers up to 10 digits in full."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e10 else f"{value:.4g}"


def without_controls(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose labels and texts have controls as escapes."""

    def cell(value: object) -> object:
        return escape_controls(value) if isinstance(value, str) else value

    table = table.rename(index=cell).rename_axis(index=cell)
    return table.assign(**{str(name): column.map(cell) for name, column in table.items() if column.dtype.kind == "O"})


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


def turned_pairs(
    result: xr.Dataset, size: xr.DataArray, signed: Sequence[str], shares: Sequence[str] = ()
) -> xr.Dataset:
    """Return pairs each turned so that its `size` is positive, with their labels as coordinate `pair_turned`.

    The variables `signed` change their sign, of `shares` what is left of 1 remains. Pairs stay if there is a
    reference or a margin.
    """
    if "pair" not in size.dims:
        return result.assign_coords(pair_turned="")
    lower = (size < 0) & (not {"reference", "margin"} & set(result.attrs))
    found = {}
    for name in {*signed, *shares} & set(result.data_vars):
        value = other = result[name]
        if "ci_bound" in value.dims:
            other = value.isel(ci_bound=slice(None, None, -1)).assign_coords(ci_bound=value["ci_bound"])
        found[name] = value.where(~lower, 1 - other if name in shares else -other)
    # Arrays of numpy's own text: pandas' strings hold no lone surrogate.
    a, b, pairs = (result[name].to_numpy().astype(str) for name in ("algorithm_a", "algorithm_b", "pair"))
    between = pairs[0].removeprefix(a[0]).removesuffix(b[0]) if len(pairs) else ""
    turned = xr.DataArray(np.char.add(np.char.add(b, between), a), dims="pair")
    names = turned.where(lower, xr.DataArray(pairs, dims="pair"))
    return result.assign(found).assign_coords(pair_turned=names.drop_vars("pair", errors="ignore"), _lower=lower)


def pairs_by_size(
    result: xr.Dataset, size: xr.DataArray, signed: Sequence[str], shares: Sequence[str] = ()
) -> xr.Dataset:
    """Return the pairs of one task, turned, the largest first."""
    found = turned_pairs(result, size, signed, shares).isel(pair=np.argsort(-np.abs(size.to_numpy()), kind="stable"))
    lower, a, b = (found[name].to_numpy() for name in ("_lower", "algorithm_a", "algorithm_b"))
    return found.drop_vars(["pair_turned", "_lower"]).assign_coords(
        algorithm_a=("pair", np.where(lower, b, a)),
        algorithm_b=("pair", np.where(lower, a, b)),
        pair=found["pair_turned"].to_numpy(),
    )


def frame_of_pairs(columns: Mapping[str, xr.DataArray], size: xr.DataArray, names: xr.DataArray) -> pd.DataFrame:
    """Join columns of turned pairs to a frame, in each task the largest first."""
    frame = frame_of(columns, ["pair"])
    if "pair" not in size.dims:
        return frame
    whole = xr.broadcast(abs(size), names, *columns.values())[:2]
    size_of, shown = (each.transpose(*frame.index.names).to_numpy().ravel() for each in whole)
    levels = [frame.index.get_level_values(level) for level in range(frame.index.nlevels - 1)]
    index = [*levels, pd.Index(shown, name="pair", dtype=object)]
    frame.index = pd.MultiIndex.from_arrays(index) if levels else index[0]
    return frame.iloc[np.lexsort((-size_of, np.arange(len(frame)) // size.sizes["pair"]))]
