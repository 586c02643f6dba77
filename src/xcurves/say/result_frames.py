"""Columns of a result as a frame: tables to print, and a column for each label."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.labels import CI_BOUNDS, without_color_index
from xcurves.core.refusal import escape_controls
from xcurves.core.schema import PAIR_COORDS
from xcurves.core.validation import is_without_training
from xcurves.say.numbers import number
from xcurves.say.pairs import (
    TURNED,
    heading,
    lower_is_better,
    order,
    say_open_ends,
    sides_shown,
)

_NO_COLUMN = "resample"  # the null distribution is no part of a frame


def without_controls(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose labels and texts have controls as escapes."""

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        return escape_controls(value)

    labelled = table
    if not isinstance(table.index, pd.RangeIndex):
        labelled = table.rename(index=cell).rename_axis(index=cell)
    texts = {str(name): column.map(cell) for name, column in labelled.items() if column.dtype.kind == "O"}
    return labelled.assign(**texts)


def bounds(interval: xr.DataArray, prefix: str = "") -> dict[str, xr.DataArray]:
    """Return the columns of an interval, lower and upper."""
    return {f"{prefix}{bound}": interval.sel(ci_bound=bound, drop=True) for bound in CI_BOUNDS}


def columns_of_variables(
    result: xr.Dataset, variables: Mapping[str, str], *, prefixed: bool = False
) -> dict[str, xr.DataArray]:
    """Return columns of the variables, by their heads, that a result has, each with its interval if it has one.

    Of two it is that for all together. The first has no prefix in front of "lower" and "upper", unless `prefixed`.
    """
    columns: dict[str, xr.DataArray] = {}
    for head, name in variables.items():
        if name not in result or name in result.dims:
            continue
        columns[head] = result[name]
        interval = result.get(f"{name}_ci_simultaneous", result.get(f"{name}_ci"))
        if interval is not None:
            columns |= bounds(interval, f"{head}_" if prefixed else "")
            prefixed = True
    return columns


def table_of_variables(variables: Mapping[str, str], *rows: str) -> Callable[[xr.Dataset], pd.DataFrame]:
    """Return what makes a table of `columns_of_variables`, a row for each task and label of the dims `rows`."""
    return lambda result: frame_of(columns_of_variables(result, variables), rows)


def frame_of(columns: Mapping[str, xr.DataArray], last: Sequence[str] = ()) -> pd.DataFrame:
    """Join columns to a frame whose index has the task dims, then the `last`."""
    dataset = xr.Dataset({name: column.reset_coords(drop=True) for name, column in columns.items()})
    # Not in the order of the dataset's dims, which an archive may change.
    extra = list(dict.fromkeys(str(dim) for column in columns.values() for dim in column.dims if dim not in last))
    last = [dim for dim in last if dim in dataset.dims]
    if not extra and not last:
        return pd.DataFrame({name: [column.item()] for name, column in dataset.items()})
    return dataset.to_dataframe([*extra, *last])


def frame_of_pairs(columns: Mapping[str, xr.DataArray], size: xr.DataArray, names: xr.DataArray) -> pd.DataFrame:
    """Join columns of turned pairs, or of algorithms, to a frame, in each task the largest first."""
    rows = "algorithm" if "algorithm" in size.dims else "pair"
    frame = frame_of(columns, [rows])
    if rows not in size.dims:
        return frame
    n_labels = {dim: n for column in (size, names, *columns.values()) for dim, n in column.sizes.items()}
    in_rows = {dim: n_labels[dim] for dim in frame.index.names}
    sizes, pairs = (
        each.variable.set_dims(in_rows).transpose(*in_rows).to_numpy().ravel()  # type: ignore[no-untyped-call]
        for each in (abs(size), names)
    )

    # Pairs have the names of turned ones.
    last_level = pd.Index(pairs, name=rows, dtype=object)
    outer_levels = [frame.index.get_level_values(level) for level in range(frame.index.nlevels - 1)]
    frame.index = last_level
    if outer_levels:
        frame.index = pd.MultiIndex.from_arrays([*outer_levels, last_level])
    task = np.arange(len(frame)) // size.sizes[rows]
    return frame.iloc[np.lexsort((-sizes, task))]


def frame_of_displayed(displayed: xr.Dataset) -> pd.DataFrame:
    """Return pairs as they are displayed, the largest first: difference, interval, p, and where it is "shown".

    ``attrs["sides"]`` has both algorithms of each row.
    """
    columns = {
        "difference": displayed["amount"],
        **bounds(displayed["interval"]),
        "p": displayed["p"],
        "shown": displayed["shown"],
    }
    if displayed["p"].isnull().all():
        # no pair could be tested: the sentences say why
        del columns["p"]
        if not np.isfinite(displayed["interval"]).any():
            columns = {name: columns[name] for name in ("difference", "shown")}
    columns |= sides_shown(displayed)
    frame = frame_of_pairs(columns, displayed["amount"], displayed[TURNED])
    frame.attrs["sides"] = list(zip(frame.pop("first"), frame.pop("second"), strict=True))
    frame.attrs["interval"] = heading(displayed)
    note_open_ends(frame, displayed)
    return frame


def note_open_ends(frame: pd.DataFrame, *displayed: xr.Dataset, null: float = 0.0) -> None:
    """Add the footnote of ends that are "more than 0", the `null`, to the table of displayed pairs that have one."""
    note = say_open_ends(*displayed)
    if note:
        frame.attrs |= {"note": note.replace(" 0:", f" {number(null)}:"), "null": null}


def captioned(
    table: Callable[[xr.Dataset], pd.DataFrame],
    caption: str,
    scores_caption: str | None = None,
) -> Callable[[xr.Dataset], pd.DataFrame]:
    """Return what makes a table, with its caption in ``attrs["caption"]``; that of scores without training may differ.

    Where ``attrs["interval"]`` says which intervals it has, such as "95 %, all pairs together", the caption ends so,
    and with the footnote ``attrs["note"]`` if there is one. "{order}" in it is how pairs stand.
    """

    def make(result: xr.Dataset) -> pd.DataFrame:
        frame = table(result)
        of_these = caption
        if scores_caption is not None and is_without_training(result):
            of_these = scores_caption
        frame.attrs["caption"] = of_these.replace("{order}", order(result))
        if "interval" in frame.attrs:
            frame.attrs["caption"] += f" Intervals: {frame.attrs['interval']}."
        if "note" in frame.attrs:
            frame.attrs["caption"] += f" {frame.attrs['note']}"
        return frame

    return make


def frame_of_algorithms(result: xr.Dataset, columns: Mapping[str, xr.DataArray]) -> pd.DataFrame:
    """Return a row for each algorithm, in each task that with the best "mean" first, unknown ones last.

    Those that have "order", another number, stand in front and by that; it is no column. Of pairs with a reference
    only, nothing says which may be best.
    """
    known = dict(columns)
    may_be_best = known.pop("may_be_best")
    if may_be_best.notnull().any():
        known["may_be_best"] = may_be_best == 1
    frame = frame_of(known, ["algorithm"])
    sign = -1.0
    if lower_is_better(result):
        sign = 1.0
    by_mean = sign * frame["mean"].to_numpy()
    task = np.arange(len(frame)) // result.sizes["algorithm"]
    if "order" not in frame:
        return frame.iloc[np.lexsort((by_mean, task))]
    by_order = sign * frame.pop("order").to_numpy()
    return frame.iloc[np.lexsort((by_mean, by_order, task))]


def columns_by_label(result: xr.Dataset, dims: Sequence[Hashable]) -> xr.Dataset:
    """Make a variable for each label of the dims that have no rows."""
    columns = {}
    result = without_color_index(result).reset_coords()
    words = {dim: [str(label) for label in result[dim].to_numpy()] for dim in result.dims}
    for name in result.data_vars:
        # a Variable: a DataArray of each column would look for its coords
        variable = result.variables[name]
        others = [dim for dim in variable.dims if dim not in dims]
        # the names of columns say the pair
        if _NO_COLUMN in others or (others and name in PAIR_COORDS):
            continue
        for place in product(*(range(variable.sizes[dim]) for dim in others)):
            chosen = dict(zip(others, place, strict=True))
            label = "_".join([str(name), *(words[dim][i] for dim, i in chosen.items())])
            columns[label] = variable.isel(chosen)
    return xr.Dataset(columns, {dim: result[dim] for dim in dims if dim in result.coords})
