"""Panels: which labels have one, in how many rows and columns, and whether these have room in a figure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from xcurves.core.axes import OWN
from xcurves.core.validation import Labelled
from xcurves.plotting.look import letters

_KEPT = ("algorithm", "pair", "param")  # dims whose one label stays in a panel
_SPELLED = 6  # panels whose titles have the names of dims
LARGEST = 14.0  # inches, of a figure in either way
_WIDE, _HIGH = 5.0, 3.2  # inches of a panel that has room
LEAST_WIDE, _LEAST_HIGH = 1.85, 1.4  # inches of a panel that can be read
_FLAT = 4.5  # largest width of a figure, of its height
_AROUND, _ROW, _LEAST_ROW = 0.9, 0.26, 0.16  # height in inches of the margins around rows, and of a row
_BESIDE, _COLUMN, _LEAST_COLUMN = 1.8, 0.4, 0.22  # width in inches of what is beside cells, and of a column
SMALL = 0.7  # of the least sizes, where a size is asked for: its letters are small
FEW: Mapping[Hashable, int] = {"algorithm": 8, "pair": 6}  # labels that have room beside each other

Size = tuple[float, float]


@dataclass(frozen=True)
class Panel(Generic[Labelled]):
    """What one panel shows."""

    title: str
    data: Labelled


@dataclass(frozen=True)
class Grid:
    """Rows and columns of panels; `wrapped` if they follow each other in reading order."""

    n_rows: int
    n_columns: int
    n_panels: int

    two_dims: bool = False

    def letters(self, size: Size) -> AbstractContextManager[None]:
        """Return a context in which letters suit the panels of a figure."""
        return import_pyplot().rc_context(letters(size[0] / self.n_columns))  # type: ignore[no-any-return]

    def axes(self, size: Size, **options: Any) -> NDArray[Any]:
        """Return new axes, shape (panel,)."""
        pyplot = import_pyplot()
        shape = (self.n_rows, self.n_columns)
        figure, axes = pyplot.subplots(*shape, figsize=size, squeeze=False, layout="constrained", **options)
        figure.set_gid(OWN)
        axes = np.asarray(axes).ravel()
        for unused in axes[self.n_panels :]:
            unused.remove()
        for ax in axes[: self.n_panels]:
            ax.tick_params(labelsize=0.9 * pyplot.rcParams["font.size"])
        return axes[: self.n_panels]

    def shaped(self, axes: NDArray[Any]) -> NDArray[Any]:
        """Return axes in rows and columns, where panels have two dims."""
        return axes.reshape(self.n_rows, self.n_columns).squeeze() if self.two_dims else axes


def import_pyplot() -> Any:
    """Return pyplot; an error names the extra that brings it."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("plot needs matplotlib. Install it: pip install 'xcurves[plot]'") from error
    plt.draw_if_interactive()  # type: ignore[no-untyped-call]  # loads the backend, whose settings an rc_context would take back
    return plt


def check_dims(dims: Sequence[Hashable], col: Hashable, row: Hashable, name: str) -> list[Hashable]:
    """Return the dims of panels, that of rows first; refuse those that do not fit `col` and `row`."""
    for argument, dim in (("col", col), ("row", row)):
        if dim is not None and dim not in dims:
            known = f"one of {', '.join(map(repr, dims))}" if dims else "left out: there is one panel"
            raise ValueError(f"{argument} must be {known}; got {dim!r}")
    if len(dims) > 2:
        raise ValueError(
            f"{name} has the dims {tuple(dims)}; two can be drawn, as row and col. Select: {name}.isel({dims[0]}=0)"
        )
    if len(dims) == 2 and (row == dims[1] or col == dims[0]):
        return list(reversed(dims))
    return list(dims)


def split(data: Labelled, dims: Sequence[Hashable]) -> list[Panel[Labelled]]:
    """Return what each panel shows, in C order over the dims; a dim of algorithms or pairs keeps its one label."""
    panels = []
    for place in product(*(range(data.sizes[dim]) for dim in dims)):
        here, said = data, {}
        for dim, at in zip(dims, place, strict=True):
            said[dim] = here[dim][at].item()
            here = here.isel({dim: [at]}) if dim in _KEPT else here.isel({dim: at}).drop_vars([dim], errors="ignore")
        tasks = {dim: label for dim, label in said.items() if dim not in _KEPT}
        names = [str(label) for dim, label in said.items() if dim != "param"]  # of which the axis has a label
        if tasks == said and prod(data.sizes[dim] for dim in dims) <= _SPELLED:
            names = [f"{dim} = {label}" for dim, label in tasks.items()]
        panels.append(Panel(", ".join(names), here))
    return panels


@dataclass(frozen=True)
class Room:
    """The room of panels with so many rows and columns each, in a figure of the size that was asked for, if any."""

    grid: Grid
    rows: float
    columns: float
    asked: Size | None

    def size(self) -> Size | None:
        """Return the width and height of the figure, None if the panels cannot be read in it."""
        size = self.asked or self._usual()
        least = self._least()
        return None if any(each < least[way] - 1e-9 for way, each in enumerate(size)) else size

    def refusal(self, view: str, dims: Sequence[Hashable], overlaid: str | None, tasks: Sequence[Hashable]) -> str:
        """Return why a view cannot be read, and what to ask for or to select so that it can."""
        what = f"{self.grid.n_panels} panels ({' × '.join(map(str, dims))})" if dims else "so many rows and columns"
        wide, high = self.asked or (LARGEST, LARGEST)
        said = f"view {view!r} of {what} cannot be read in a figure of {wide:g} by {high:g} inches."
        if self.asked is not None and replace(self, asked=None).size() is not None:
            return f"{said} Leave figsize out, or give a larger one"
        return f"{said} Select {_selection(overlaid, tasks)}"

    def _usual(self) -> Size:
        grid = self.grid
        wide = min(max(_WIDE, _BESIDE + _COLUMN * self.columns), LARGEST / grid.n_columns)
        around = _BESIDE if self.columns else _AROUND
        high = max(_LEAST_HIGH, around + _ROW * self.rows) if self.rows else min(_HIGH, 0.5 * wide + 0.7)
        high = max(high, wide * grid.n_columns / (_FLAT * grid.n_rows))
        return wide * grid.n_columns, min(high, LARGEST / grid.n_rows) * grid.n_rows

    def _least(self) -> Size:
        """Return the width and height of the smallest figure whose panels can be read."""
        several = self.grid.n_panels > 1
        around = _BESIDE if self.columns else _AROUND
        wide = max(LEAST_WIDE * several, (_BESIDE + _LEAST_COLUMN * self.columns) * (self.columns > 0))
        high = max(_LEAST_HIGH * several, (around + _LEAST_ROW * self.rows) * (self.rows > 0))
        share = 1.0 if self.asked is None else SMALL
        return share * wide * self.grid.n_columns, share * high * self.grid.n_rows


def _selection(overlaid: str | None, tasks: Sequence[Hashable]) -> str:
    chosen = [f"at most {FEW[overlaid]} {overlaid}s: .sel({overlaid}=[...])"] if overlaid in FEW else []
    slices = [f"{dim}=slice({1 if dim == 'param' else 4})" for dim in tasks if dim not in FEW]
    return " or ".join([*chosen, *([f".isel({', '.join(slices)})"] if slices else [])])
