"""Panels: which labels have one, and what it is called."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Generic

import numpy as np
import xarray as xr

from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.validation import Labelled

_KEPT = ("algorithm", "pair", "param")  # dims whose one label stays in a panel
_SPELLED = 6  # panels whose titles have the names of dims


@dataclass(frozen=True)
class Panel(Generic[Labelled]):
    """What one panel shows."""

    title: str
    data: Labelled


def check_dims(dims: Sequence[Hashable], col: Hashable, row: Hashable, name: str) -> list[Hashable]:
    """Return the dims of panels, that of rows first; refuse those that do not fit `col` and `row`."""
    for argument, dim in (("col", col), ("row", row)):
        if dim is not None and dim not in dims:
            known = "left out: there is one panel"
            if dims:
                known = f"one of {', '.join(map(repr, dims))}"
            raise Refusal(argument, dim, f"must be {known}")
    if len(dims) > 2:
        raise Refusal(
            name,
            UNSAID,
            f"{name} has the dims {tuple(dims)}; two can be drawn, as row and col",
            f"Select: {name}.isel({dims[0]}=0)",
        )
    if len(dims) == 2 and (row == dims[1] or col == dims[0]):
        return list(reversed(dims))
    return list(dims)


def split(data: Labelled, dims: Sequence[Hashable]) -> list[Panel[Labelled]]:
    """Return what each panel shows, in C order over the dims; a dim of algorithms or pairs keeps its one label."""
    n_panels = prod(data.sizes[dim] for dim in dims)
    panels = []
    for places in product(*(range(data.sizes[dim]) for dim in dims)):
        part = data
        label_of_dim: dict[Hashable, Any] = {}
        for dim, place in zip(dims, places, strict=True):
            label_of_dim[dim] = part[dim][place].item()
            if dim in _KEPT:
                part = part.isel({dim: [place]})
            else:
                part = part.isel({dim: place}).drop_vars([dim], errors="ignore")
        panels.append(Panel(_title(label_of_dim, n_panels), part))
    return panels


def _title(label_of_dim: Mapping[Hashable, Any], n_panels: int) -> str:
    """Return the title of a panel: its labels, of few tasks with the names of dims."""
    is_of_tasks = not any(dim in _KEPT for dim in label_of_dim)
    if is_of_tasks and n_panels <= _SPELLED:
        return ", ".join(f"{dim} = {label}" for dim, label in label_of_dim.items())
    # A statistic stands in the label of its axis.
    return ", ".join(str(label) for dim, label in label_of_dim.items() if dim != "param")


def names_in(data: xr.DataArray | xr.Dataset) -> set[str]:
    """Return the names of algorithms and pairs, which titles of panels have."""
    dims = [dim for dim in ("algorithm", "pair") if dim in data.coords]
    return {str(name) for dim in dims for name in np.ravel(data[dim].to_numpy())}
