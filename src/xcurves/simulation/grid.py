"""The grid of a generator's settings: their labels, and what identifies a combination of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np

from xcurves.core import labels
from xcurves.simulation.kinds import TYPE_I_ERROR

_TAKEN = labels.RESERVED | TYPE_I_ERROR.reserved() | {"rng", "replication", "n_datasets"}


def cell_number(cell: Mapping[str, Any]) -> int:
    """Return a checksum of one combination of settings, the same in any grid, for seeds."""
    return crc32(json.dumps(cell, sort_keys=True, default=_plain).encode())


def cell_name(cell: Mapping[str, Any]) -> str:
    """Return a combination of settings as messages begin: "n_runs 5, factor 0: "."""
    said = ", ".join(f"{name} {_label(value)}" for name, value in cell.items())
    return f"{said}: " if said else ""


def check_settings(settings: Mapping[str, Sequence[Any]] | None) -> dict[str, list[Any]]:
    """Return the settings as lists of distinct values, under names that can be dims."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise TypeError(
            f"settings must map names to lists of values; got {labels.shown(settings)}. Try {{'n_runs': [5, 10]}}"
        )
    checked = {}
    for name, values in settings.items():
        if name in _TAKEN:
            raise ValueError(
                f"settings must not have the name {name!r}, which results use. Rename the generator's keyword"
            )
        if isinstance(values, str) or np.ndim(np.asarray(values, dtype=object)) == 0:
            raise TypeError(f"settings[{name!r}] must be a list of values; got {labels.shown(values)}. Try a list")
        checked[str(name)] = list(values)
        known = [_label(value) for value in checked[str(name)]]
        if not known or len(set(known)) < len(known):
            raise ValueError(f"settings[{name!r}] must be different values, at least one; got {known}")
    return checked


def setting_labels(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return labels of a setting's values: the numbers themselves, else all as strings."""
    numbers = all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in values)
    return np.array([_plain(value) for value in values] if numbers else [_label(value) for value in values])


def _label(value: Any) -> str:
    """Return the label of a value: that of sizes is 15/5."""
    return "/".join(map(str, value)) if isinstance(value, list | tuple | np.ndarray) else str(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else _label(value) if not isinstance(value, Real) else value
