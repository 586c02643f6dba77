"""Panels: which labels have one, in how many rows and columns, of which size."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import product
from math import ceil, prod, sqrt
from typing import Any, Generic

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core.axes import MOST_CURVES, say_task
from xcurves.core.schema import ResultKind, View
from xcurves.core.validation import Labelled

LARGEST = 14.0  # inches, of a figure in either way
_KEPT = ("algorithm", "pair", "param")  # dims whose one label stays in a panel
_SPELLED = 12  # panels whose titles have the names of dims
_WIDE, _HIGH = 5.0, 3.2  # inches of a panel that has room
_LEAST_WIDE, _LEAST_HIGH = 1.85, 1.4  # inches of a panel that can be read
_IN_A_ROW = 3  # panels, where there are few
_AROUND, _ROW, _LEAST_ROW = 0.9, 0.26, 0.16  # height in inches of the margins around rows, and of a row
_BESIDE, _COLUMN, _LEAST_COLUMN = 1.8, 0.4, 0.22  # width in inches of what is beside cells, and of a column


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

    def letters(self, size: tuple[float, float]) -> AbstractContextManager[None]:
        """Return a context in which letters suit the panels of a figure."""
        points = float(np.clip(2.4 * size[0] / self.n_columns, 6.5, 10))
        return import_pyplot().rc_context({"font.size": points})  # type: ignore[no-any-return]

    def axes(self, size: tuple[float, float], **options: Any) -> NDArray[Any]:
        """Return new axes, shape (panel,)."""
        pyplot = import_pyplot()
        shape = (self.n_rows, self.n_columns)
        _, axes = pyplot.subplots(*shape, figsize=size, squeeze=False, layout="constrained", **options)
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
    return plt


def dims_with_panels(kind: ResultKind, view: View, data: xr.Dataset) -> list[Hashable]:
    """Return the dims of which each label has a panel of its own in a view."""
    own = [dim for dim in view.panels if data.sizes.get(dim, 1) > 1]
    many = [view.overlaid] if data.sizes.get(view.overlaid, 0) > MOST_CURVES else []
    return [*kind.panel_dims(data), *own, *many]


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
            here = here.isel({dim: [at]}) if dim in _KEPT else here.isel({dim: at}).drop_vars([dim])
        tasks = {dim: label for dim, label in said.items() if dim not in _KEPT}
        few = prod(data.sizes[dim] for dim in dims) <= _SPELLED and tasks
        names = [str(label) for dim, label in said.items() if dim != "param"]  # of which the axis has a label
        panels.append(Panel(say_task(tasks) if few and len(tasks) == len(said) else ", ".join(names), here))
    return panels


def arrange(sizes: Sequence[int], by_row: bool, col_wrap: int | None) -> Grid:
    """Return rows and columns for panels of dims of these sizes: one dim is wrapped, the first of two has rows."""
    n = prod(sizes)
    if len(sizes) == 2:
        return Grid(sizes[0], sizes[1], n, two_dims=True)
    if by_row:
        return Grid(n, 1, n)
    n_columns = col_wrap or (n if n <= _IN_A_ROW else ceil(sqrt((1.2 if n <= 20 else 0.8) * n)))
    return Grid(ceil(n / n_columns), min(n, n_columns), n)


def figure_size(grid: Grid, rows: float, columns: float) -> tuple[float, float] | None:
    """Return the width and height of a figure whose panels have so many rows and columns, None if it has no room."""
    wide = min(max(_WIDE, _BESIDE + _COLUMN * columns), LARGEST / grid.n_columns)
    around = _BESIDE if columns else _AROUND
    high = min(_HIGH, 0.5 * wide + 0.7) if not rows else max(_LEAST_HIGH, around + _ROW * rows)
    high = min(high, LARGEST / grid.n_rows)
    least_wide = max(_LEAST_WIDE * (grid.n_panels > 1), _BESIDE + _LEAST_COLUMN * columns if columns else 0)
    least_high = max(_LEAST_HIGH * (not rows), around + _LEAST_ROW * rows if rows else 0)
    return None if wide < least_wide or high < least_high else (wide * grid.n_columns, high * grid.n_rows)


def largest(count: Callable[[xr.Dataset], float] | None, panels: Sequence[Panel[xr.Dataset]]) -> float:
    """Return the largest number of rows, or of columns, that a panel has."""
    return max(count(panel.data) for panel in panels) if count else 0.0
