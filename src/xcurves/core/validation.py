"""Validation of options and of arrays: every `check_*` returns what it checked."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core.dim_advice import cure_dims
from xcurves.core.labels import DIMS, RESERVED, did_you_mean, pick_one, shown

LARGEST = 1e140  # of numbers as options: their squares do not overflow
Rng = int | np.random.Generator | None
Labelled = TypeVar("Labelled", xr.DataArray, xr.Dataset)

_ASKED_FIRST = ("run", "algorithm", "training")
_AT_ONCE = 2**20  # levels


def check_confidence_level(confidence_level: float) -> float:
    """Return alpha = 1 - confidence_level in decimal digits: 1 - 0.9 is not 0.1 in binary."""
    if not isinstance(confidence_level, Real) or not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie between 0 and 1; got {shown(confidence_level)}. Usual: 0.95")
    return round(1 - float(confidence_level), 12) or float(1 - Decimal(repr(float(confidence_level))))


def check_alpha(alpha: float) -> float:
    """Return a significance level."""
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {shown(alpha)}. Usual: 0.05")
    return float(alpha)


def check_count(name: str, value: int | None, least: int = 1, most: int = 10**12) -> int | None:
    """Return a whole number from `least` to `most`, or None."""
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number or None; got {shown(value)}. Leave it out for the default")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {value}. Leave it out for the default")
    if value > most:
        raise ValueError(f"{name} must be at most {most:,}; got {shown(value)}. Leave it out for the default")
    return int(value)


def check_total(name: str, value: int, usual: str = "1000", *, least: int = 1, most: int = 10**12) -> int:
    """Return a whole number for which None has no meaning."""
    if check_count(name, value, least, most) is None:
        raise ValueError(f"{name} must be a whole number; got None. Usual: {usual}")
    return int(value)


def check_number(name: str, value: float) -> float:
    """Return a finite number."""
    number = float(value) if isinstance(value, float | np.floating) else value  # one of a short dtype has no 1e140
    odd = not isinstance(value, Real) or isinstance(value, bool | np.timedelta64)
    if odd or number != number or abs(number) == np.inf:
        raise ValueError(f"{name} must be a finite number; got {shown(value)}")
    if abs(number) > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST:g} in size; got {shown(value)}. Rescale it, and the scores")
    return float(value)


def check_flag(name: str, value: bool) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {shown(value)}")
    return bool(value)


def check_choice(name: str, value: str, choices: Sequence[str]) -> str:
    """Return one of the choices."""
    if not isinstance(value, str) or value not in choices:
        said = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}" if choices[1:] else repr(choices[0])
        raise ValueError(f"{name} must be {said}; got {shown(value)}{did_you_mean(value, choices)}")
    return value


def check_function(name: str, value: Any) -> Any:
    """Return what can be called."""
    if not callable(value):
        raise TypeError(
            f"{name} must be a function; got {shown(value)}. Give the function itself: xcurves.randomized_anova"
        )
    return value


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return a path."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a string or a Path; got {shown(path)}. Give the name of a file")
    return Path(path)


def check_rng(rng: Rng) -> int:
    """Return the seed of a plan: a given int itself, else one that is drawn from the generator."""
    if isinstance(rng, Integral) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"rng must not be negative; got {rng}. Give a whole number from 0, a Generator or None")
        return int(rng)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a whole number, a numpy Generator or None; got {shown(rng)}. Try rng=0")
    return int(np.random.default_rng(rng).integers(2**63))


def check_array(name: str, array: xr.DataArray) -> xr.DataArray:
    """Return an array of numbers whose size is known."""
    if isinstance(array, xr.Dataset):
        raise TypeError(f"{name} must be a DataArray; got a Dataset. {pick_one(array)}")
    if not isinstance(array, xr.DataArray):
        raise TypeError(
            f"{name} must be an xarray.DataArray; got {type(array).__name__}. Make one: df.curves.to_dataarray(...)"
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numeric; got dtype {array.dtype}. Convert: {name}.astype(float)")
    for dim, size in array.sizes.items():
        if size != size:
            raise ValueError(f"{name} has unknown chunks along {dim!r}. Find them: {name}.data.compute_chunk_sizes()")
    return array


def numbers_of(values: Any) -> NDArray[np.float64] | None:
    """Return numbers of any shape, None if they are none."""
    try:
        numbers = np.asarray(values)
    except (TypeError, ValueError):  # such as lists of different lengths
        return None
    return numbers.astype(np.float64) if numbers.dtype.kind in "biuf" else None


def check_curves(
    curves: xr.DataArray,
    core: Sequence[str] = DIMS,
    name: str = "curves",
    *,
    levels: bool = True,
    reserved: Collection[str] = (),
) -> xr.DataArray:
    """Return the array as float64, the core dims of a method last, with checked coordinates.

    `name` is that of the argument, `reserved` the names of the variables of the result. Dims that are not core
    broadcast; of those, algorithm, run and training are checked like the core ones where they are present. Without
    `levels` training loses its coordinate once that is checked: hundreds of millions of levels, given as a
    pandas.RangeIndex, then take no memory.
    """
    check_array(name, curves)
    _check_dims(curves, core, name, RESERVED.union(reserved))
    curves = native_labels(curves)
    values: dict[str, NDArray[Any]] = {
        dim: _check_labels(curves, dim) for dim in ("algorithm", "run") if dim in curves.dims
    }
    if "training" in (core if "training" not in curves.coords else curves.dims):
        _check_levels(curves, name)
        if levels:
            values["training"] = curves.coords.variables["training"].to_numpy().astype(np.float64)
        else:
            curves = curves.drop_vars("training")
    known = curves.coords.variables
    changed = {
        dim: (dim, checked, known[dim].attrs if dim in known else {})
        for dim, checked in values.items()
        if dim not in known or known[dim].dtype != checked.dtype
    }
    # Assigning, transposing or casting without need would be most of the cost of this check.
    curves = curves.assign_coords(changed) if changed else curves
    curves = curves if curves.dims[-len(core) :] == tuple(core) else curves.transpose(..., *core)
    return curves if curves.dtype == np.float64 else curves.astype(np.float64)


def native_labels(data: Labelled) -> Labelled:
    """Return the data with labels of numpy in the machine's byte order: pandas cannot look up others."""
    known = data.coords.variables
    foreign = [dim for dim in data.dims if dim in known and not getattr(known[dim].dtype, "isnative", False)]
    native = {dim: (dim, _native(known[dim].to_numpy(), known[dim].dtype), known[dim].attrs) for dim in foreign}
    return data.assign_coords(native) if native else data


def _native(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    of_numpy = isinstance(dtype, np.dtype)
    return values.astype(values.dtype.newbyteorder("=")) if of_numpy else np.array(values.tolist())


def _check_dims(curves: xr.DataArray, core: Sequence[str], name: str, reserved: Collection[str]) -> None:
    dims = tuple(map(str, curves.dims))
    for needed in sorted(core, key=_ASKED_FIRST.index) if set(core) <= set(DIMS) else core:
        if needed not in dims:
            raise ValueError(f"dims must include {needed!r}; got {dims}. {cure_dims(curves, core, needed)}")
    lasting = {str(coord) for coord, each in curves.coords.variables.items() if not set(each.dims) & set(core)}
    taken = sorted(lasting.union(dims).intersection(reserved))
    if taken:
        cure = ", ".join(f"{each}='{each}_'" for each in taken)
        raise ValueError(f"{name} has the name {taken[0]!r}, which is reserved for results. Rename: da.rename({cure})")
    for dim, size in curves.sizes.items():
        if not isinstance(dim, str):
            raise TypeError(f"dims must have texts as names; got {dim!r}. Rename: da.rename({{{dim!r}: 'task'}})")
        if size == 0:
            raise ValueError(f"{name} is empty: dim {dim!r} has length 0. Check the selection that made it")


def _check_labels(curves: xr.DataArray, name: str) -> NDArray[Any]:
    """Return labels that are unique, and all strings or all numbers."""
    mixed = f"{name} labels must be all strings or all numbers; got"
    if isinstance(curves.xindexes.get(name), xr.indexes.PandasMultiIndex):
        raise TypeError(f"{mixed} a MultiIndex. Number them: da.reset_index({name!r}, drop=True)")
    known = curves.coords.variables
    labels = known[name].values if name in known else np.arange(curves.sizes[name])
    as_strings = f"Convert: da.assign_coords({name}=da.{name}.astype(str))"
    if labels.dtype.kind in "OT":
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        if len(kinds) > 1 and kinds != ["float", "int"]:
            raise TypeError(f"{mixed} {' and '.join(kinds)}. {as_strings}")
        labels = np.array(labels.tolist())
    if labels.dtype.kind not in "Uiuf":
        raise TypeError(f"{mixed} dtype {labels.dtype}. {as_strings}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"{name} labels must be finite; got {labels[~np.isfinite(labels)][0]}. {as_strings}")
    if (labels[1:] > labels[:-1]).all():
        return labels  # all differ; found without sorting
    values, counts = np.unique(labels, return_counts=True)
    if len(values) < len(labels):
        repeated = values[counts > 1].tolist()
        raise ValueError(
            f"{name} labels must be unique; got {repeated[0]!r} {counts[counts > 1][0]} times. "
            f"Number them: da.assign_coords({name}=range(da.sizes[{name!r}]))"
        )
    return labels


def _check_levels(curves: xr.DataArray, name: str) -> None:
    """Refuse training levels that are not finite, strictly increasing amounts."""
    if "training" not in curves.coords:
        raise ValueError(
            f"{name} has no training coordinate. Say the amounts of training: da.assign_coords(training=[...])"
        )
    levels = curves.coords.variables["training"]
    units = str(levels.attrs.get("units", levels.encoding.get("units", "")))
    if levels.dtype.kind == "m":
        raise TypeError(
            f"training must be numeric; got {levels.dtype}. Convert, here to hours: "
            "da.assign_coords(training=da.training / np.timedelta64(1, 'h'))"
        )
    index = curves.xindexes["training"].to_pandas_index() if "training" in curves.xindexes else None
    if index is not None and index.nlevels > 1:
        cure = "da.reset_index('training', drop=True).assign_coords(training=[...])"
        raise TypeError(f"training must be numeric; got a MultiIndex. Say the amounts of training: {cure}")
    of_cftime = type(levels.to_numpy()[0]).__module__.startswith("cftime") if levels.dtype.kind == "O" else False
    dated = levels.dtype.kind == "M" or of_cftime
    if dated or " since " in units:
        got = levels.dtype if dated else f"units {units!r}"
        seconds = "(da.training - da.training[0]) / np.timedelta64(1, 's')"
        cure = f"Convert, here to seconds: da.assign_coords(training={seconds})" if dated else "Name another unit"
        raise TypeError(f"training must be an amount, not a date; got {got}. {cure}")
    if levels.dtype.kind not in "iuf":
        try:
            levels.to_numpy().astype(np.float64)
            cure = "Convert: da.assign_coords(training=da.training.astype(float))"
        except (TypeError, ValueError):
            cure = "Say the amounts of training: da.assign_coords(training=[...])"
        raise TypeError(f"training must be numeric; got dtype {levels.dtype}. {cure}")
    if isinstance(index, pd.RangeIndex) and (index.step > 0 or len(index) == 1):
        return  # a range needs no memory, and stays one
    values = levels.values
    for start in range(0, len(values), _AT_ONCE):
        _check_increasing(values[start : start + _AT_ONCE + 1].astype(np.float64))


def _check_increasing(levels: NDArray[np.float64]) -> None:
    if not np.isfinite(levels).all():
        raise ValueError(
            f"training must be finite; got {levels[~np.isfinite(levels)][0]}. "
            "Drop it: da.isel(training=np.isfinite(da.training))"
        )
    falls = np.flatnonzero(levels[1:] <= levels[:-1])
    if falls.size:
        before, after = levels[falls[0]], levels[falls[0] + 1]
        cure = "da.drop_duplicates('training')" if before == after else "da.sortby('training')"
        raise ValueError(f"training must be strictly increasing; got {after:g} after {before:g}. Correct it: {cure}")
