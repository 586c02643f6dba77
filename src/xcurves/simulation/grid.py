"""The grid of a generator's settings: its cells, their labels, and what identifies them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np

from xcurves.core import labels
from xcurves.simulation.kinds import TYPE_I_ERROR

GridSettings = Mapping[str, Sequence[Any]]
_TAKEN = labels.RESERVED | TYPE_I_ERROR.reserved() | {"rng", "replication", "n_datasets"}


@dataclass(frozen=True)
class GridCell:
    """One combination of settings."""

    settings: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What identifies the cell in any grid."""
        return json.dumps(self.settings, sort_keys=True, default=_plain)

    @property
    def number(self) -> int:
        """A checksum of the text, for seeds."""
        return crc32(self.text.encode())

    @property
    def name(self) -> str:
        """How it is called in messages: "n_runs 5, factor 0: "."""
        said = ", ".join(f"{name} {_label(value)}" for name, value in self.settings.items())
        return f"{said}: " if said else ""


def cells_of(settings: GridSettings) -> list[GridCell]:
    """Return the cells of a grid in C order; one without settings if there are none."""
    return [GridCell(dict(zip(settings, values, strict=True))) for values in product(*settings.values())]


def check_settings(settings: GridSettings | None) -> dict[str, list[Any]]:
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


def grid_coords(settings: GridSettings) -> dict[str, np.ndarray[Any, Any]]:
    """Return labels for the settings' dims: the numbers or strings themselves, else all as strings."""
    return {name: _labels(values) for name, values in settings.items()}


def _labels(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    numbers = all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in values)
    return np.array([_plain(value) for value in values] if numbers else [_label(value) for value in values])


def _label(value: Any) -> str:
    """Return the label of a value: that of sizes is 15/5."""
    return "/".join(map(str, value)) if isinstance(value, list | tuple | np.ndarray) else str(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else _label(value) if not isinstance(value, Real) else value
