"""Attributes that readers of netCDF interpret are stored under other names, so that no value changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import xarray as xr

_PREFIX = "xcurves_literal_"
_ACTED_ON = frozenset(
    (
        *("add_offset", "dtype", "missing_value", "scale_factor", "valid_max", "valid_min", "valid_range"),
        *("ancillary_variables", "bounds", "calendar", "cell_measures", "coordinates", "formula_terms", "grid_mapping"),
        *("CLASS", "DIMENSION_LABELS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST"),  # of HDF5
    )
)
_STORED = (str, bytes, int, float, np.number, np.ndarray, list, tuple)


def protect(dataset: xr.Dataset) -> xr.Dataset:
    """Return a Dataset whose attributes no reader interprets."""
    return _rename(dataset, lambda name, value: f"{_PREFIX}{name}" if _is_acted_on(name, value) else name)


def restore(dataset: xr.Dataset) -> xr.Dataset:
    """Return the Dataset that `protect` was given."""
    return _rename(dataset, lambda name, _: name.removeprefix(_PREFIX))


def _is_acted_on(name: str, value: Any) -> bool:
    is_date = name == "units" and isinstance(value, str) and "since" in value
    return is_date or name in _ACTED_ON or name.startswith(("_", _PREFIX))


def _rename(dataset: xr.Dataset, renamed: Callable[[str, Any], Hashable]) -> xr.Dataset:
    dataset = dataset.copy(deep=False)
    owners: list[xr.Dataset | xr.Variable] = [dataset, *dataset.variables.values()]
    for owner in owners:
        owner.attrs = {renamed(str(name), value): value for name, value in owner.attrs.items()}
    return dataset


def check_storable(groups: dict[str, xr.Dataset]) -> None:
    """Refuse names, attributes and dtypes that an archive would not give back."""
    for path, dataset in groups.items():
        for name in [*filter(None, path.split("/")), *dataset.variables, *dataset.dims]:
            if not isinstance(name, str) or not name or name[0] == "." or "/" in name:
                raise ValueError(f"name {name!r} cannot be that of a group or variable in a file. Rename it")
        _check_attrs("", dataset.attrs)
        for name, variable in dataset.variables.items():
            _check_attrs(f" of {name!r}", variable.attrs)
            if variable.dtype.kind in "mM":
                cure = " / np.timedelta64(1, 's')" if variable.dtype.kind == "m" else ".astype(str)"
                raise TypeError(
                    f"variable {name!r} is {variable.dtype}, which a file holds as numbers of some unit. Convert it: "
                    f"data[{name!r}]{cure}"
                )


def _check_attrs(whose: str, attrs: Mapping[Any, Any]) -> None:
    for name, value in attrs.items():
        if isinstance(value, bool | np.bool_) or not isinstance(value, _STORED):
            raise TypeError(f"attrs[{name!r}]{whose} is {value!r}, which netCDF cannot hold. Use text or a number")
