"""What an archive keeps: attributes that no reader interprets, refusals of what it would not give back, and a digest.

The digest is the same whatever the format, the engine and the dtype that it chooses. Attributes that readers of netCDF
interpret are stored under other names, so that no value changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import xarray as xr

NAME, BEGINS = "xcurves_digest", "sha256:"  # of the root's attribute: a flipped bit cannot hide both
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


def check_storable(groups: Mapping[str, xr.Dataset]) -> None:
    """Refuse names, attributes and dtypes that an archive would not give back."""
    for path, dataset in groups.items():
        for name in [*filter(None, path.split("/")), *dataset.variables, *dataset.dims]:
            if not isinstance(name, str) or not name or name[0] == "." or "/" in name:
                raise ValueError(f"name {name!r} cannot be that of a group or variable in a file. Rename it")
        _check_attrs("", dataset.attrs)
        for name, variable in dataset.variables.items():
            _check_attrs(f" of {name!r}", variable.attrs)
            if not isinstance(variable.dtype, np.dtype):
                raise TypeError(
                    f"variable {name!r} is {variable.dtype}, which no file keeps. Convert: data[{name!r}].astype(str)"
                )
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
        if not isinstance(value, str | bytes) and np.ndim(value) and np.size(value) == 1:
            raise ValueError(
                f"attrs[{name!r}]{whose} is {value!r}, which netCDF makes a scalar. Use {np.ravel(value)[0]}"
            )


def content_of(groups: Mapping[str, xr.Dataset]) -> dict[str, str]:
    """Return a digest of every group, variable and attribute, by the words that name it in a message."""
    content = {}
    for path, dataset in groups.items():
        where = "" if path == "/" else f" in group {path!r}"
        content[f"group {path!r}"] = ""
        content |= {f"attrs[{name!r}]{where}": _of_attr(value) for name, value in dataset.attrs.items()}
        for name, variable in dataset.variables.items():
            content[f"variable {name!r}{where}"] = _of_values(variable, is_coord=name in dataset.coords)
            of_it = {f"attrs[{each!r}] of {name!r}{where}": _of_attr(value) for each, value in variable.attrs.items()}
            content |= of_it
    return content


def digest_of(content: Mapping[str, str]) -> str:
    """Return the digest of a whole archive."""
    return BEGINS + hashlib.sha256(repr(sorted(content.items())).encode()).hexdigest()


def check_digest(groups: Mapping[str, xr.Dataset]) -> None:
    """Remove the digest from the attributes of the root, and refuse an archive that is not as it was written."""
    attrs = groups["/"].attrs
    marks = [name for name, value in attrs.items() if name == NAME or str(value).startswith(BEGINS)]
    recorded = {name: attrs.pop(name) for name in marks}
    if recorded and recorded != {NAME: digest_of(content_of(groups))}:
        raise ValueError("its content is not what was written: it was damaged, or changed later")


def _of_values(variable: xr.Variable, *, is_coord: bool) -> str:
    values = variable.to_numpy()
    kind = "text" if values.dtype.kind in "OUST" else "int" if values.dtype.kind in "iu" else values.dtype.kind
    digest = hashlib.sha256(repr((is_coord, variable.dims, values.shape, kind)).encode())
    if kind == "text":
        for value in values.ravel().tolist():
            text = (value.decode() if isinstance(value, bytes) else str(value)).encode("utf-8", "surrogatepass")
            digest.update(f"{len(text)} {isinstance(value, str | bytes)} ".encode() + text)
    else:
        plain = values.astype({"int": "<i8", "f": "<f8"}.get(kind, values.dtype), copy=False)
        if kind == "f" and np.isnan(plain).any():
            plain = np.where(np.isnan(plain), np.nan, plain)  # of all NaNs one
        digest.update(np.ascontiguousarray(plain).data)
    return digest.hexdigest()


def _of_attr(value: Any) -> str:
    """Return an attribute as text: engines turn bytes into text, numbers into others and lists of one into scalars."""
    plain = value.decode() if isinstance(value, bytes) else value
    if isinstance(plain, str):
        return repr(plain)
    listed = [str(each) if isinstance(each, str) else float(each) for each in np.ravel(plain).tolist()]
    return repr(listed[0] if len(listed) == 1 else listed)
