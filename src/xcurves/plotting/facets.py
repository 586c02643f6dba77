"""Panels: which labels have one, and what it is called."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Generic

import numpy as np
import xarray as xr

from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.schema import Picture, ResultKind, View
from xcurves.core.validation import Labelled
from xcurves.pictures.curves import in_panels
from xcurves.results import ask

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


def split(data: Labelled, dims: Sequence[Hashable]) -> Iterator[Panel[Labelled]]:
    """Yield what each panel shows, in C order over the dims; a dim of algorithms or pairs keeps its one label."""
    n_panels = prod(data.sizes[dim] for dim in dims)
    for places in product(*(range(data.sizes[dim]) for dim in dims)):
        part = data
        label_of_dim: dict[Hashable, Any] = {}
        for dim, place in zip(dims, places, strict=True):
            label_of_dim[dim] = part[dim][place].item()
            if dim in _KEPT:
                part = part.isel({dim: [place]})
            else:
                part = part.isel({dim: place}).drop_vars([dim], errors="ignore")
        yield Panel(_title(label_of_dim, n_panels), part)


def pictures_of_view(
    kind: ResultKind, view: View, data: xr.Dataset, dims: Sequence[Hashable], method: str
) -> tuple[list[Picture], list[str]]:
    """Return what the panels of a view along dims show, and their titles; `method` is what asks for them."""
    panels = list(split(data, dims))
    pictures = [ask(kind, panel.data, view.drawing.picture, method) for panel in panels]
    return in_panels(pictures, [panel.title for panel in panels])


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
