"""Draw panels in a new figure, or one in given Axes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core.axes import longest_line, wrapped
from xcurves.plotting.facets import Grid, arrange
from xcurves.plotting.names import LETTER, name_curves
from xcurves.plotting.room import LARGEST, most_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text


_SMALL = 3.0  # inches of a panel with few ticks
_FEW_TICKS = 4
_SHORT = 0.4  # of the size of a cell: a label that surely fits


class Canvas(NamedTuple):
    """Where to draw: given Axes, or a figure with panels along dims."""

    ax: Axes | None = None
    col: Hashable | None = None
    row: Hashable | None = None
    col_wrap: int | None = None
    figsize: tuple[float, float] | None = None

    def grid(self, dims: Sequence[Hashable], sizes: Sequence[int]) -> Grid:
        """Return rows and columns for the panels of dims of these sizes."""
        return arrange(sizes or [1], list(dims) == [self.row], self.col_wrap, most_columns(self.figsize))


class Cell(NamedTuple):
    """A panel: its title and what draws it."""

    title: str
    draw: Callable[[Axes], object]


def draw_cells(
    cells: Sequence[Cell | None],
    grid: Grid,
    size: tuple[float, float],
    canvas: Canvas,
    *,
    shared: Literal["none", "all", "col"] = "none",
    named: xr.DataArray | xr.Dataset | None = None,
    title: str = "",
) -> Axes | NDArray[Any]:
    """Draw each cell in its panel, and name curves once, without those of `named`, which titles name."""
    if canvas.ax is not None:
        panels = _draw_all(cells, _given_axes(canvas, len(cells)))
        name_curves(panels, known=_names(named), width=None)
        return canvas.ax
    with grid.letters(size):
        axes = grid.axes(size, sharex=shared != "none" and shared, sharey=shared == "all")
        letters = 72 / (LETTER * _points(axes[0]))
        panels = _draw_all(cells, axes, letters * size[0] / grid.n_columns)
        for ax in panels:
            _thin_ticks(ax, size[0] / grid.n_columns, size[1] / grid.n_rows)
        _label_outer(axes, cells, grid, shared=shared != "none")
        if title:
            _add_title(panels, wrapped(title, letters / 1.2 * size[0]))
        name_curves(panels, known=_names(named), width=LARGEST if canvas.figsize is None else size[0])
        _fit_labels(panels, size[0] / grid.n_columns, size[1] / grid.n_rows)
    return axes.item() if len(axes) == 1 else grid.shaped(axes)


def check_figsize(figsize: Any) -> tuple[float, float] | None:
    """Return the width and height of a figure."""
    if figsize is None:
        return None
    try:
        width, height = (float(inches) for inches in figsize)
    except (TypeError, ValueError):
        raise TypeError(f"figsize must be two numbers; got {figsize!r}. Give inches: figsize=(6.5, 4)") from None
    if not 0.5 <= min(width, height) <= max(width, height) <= 200:
        raise ValueError(f"figsize must be from 0.5 to 200 inches; got {figsize!r}. Usual: figsize=(6.5, 4)")
    return width, height


def _given_axes(canvas: Canvas, n_panels: int) -> NDArray[Any]:
    ax = canvas.ax
    if not hasattr(ax, "set_xscale"):
        got = type(ax).__name__
        raise TypeError(f"ax must be a matplotlib Axes; got {got}. Make one: fig, ax = matplotlib.pyplot.subplots()")
    if canvas.figsize is not None:
        raise ValueError(f"figsize is of a new figure; got {canvas.figsize} with ax. Leave one of them out")
    if n_panels > 1:
        raise ValueError(f"ax is one Axes; got {n_panels} panels. Select a task, give view=, or leave ax out")
    return np.array([ax])


def _draw_all(cells: Sequence[Cell | None], axes: NDArray[Any], letters: float = np.inf) -> list[Axes]:
    """Draw cells in Axes, and remove those of no cell; a line of a title has so many letters."""
    panels = []
    for cell, ax in zip(cells, axes, strict=True):
        if cell is None:
            ax.remove()
            continue
        cell.draw(ax)
        if cell.title:
            ax.set_title(wrapped(cell.title, letters), fontsize="medium")
        panels.append(ax)
    return panels


def _names(named: xr.DataArray | xr.Dataset | None) -> set[str]:
    """Return the names of algorithms and pairs that titles have."""
    dims = ("algorithm", "pair")
    found = [] if named is None else [named[dim].to_numpy() for dim in dims if dim in named.coords]
    return {str(name) for names in found for name in np.ravel(names)}


def _thin_ticks(ax: Axes, wide: float, high: float) -> None:
    """Give small panels few ticks."""
    from matplotlib.ticker import AutoLocator

    for axis, inches in ((ax.xaxis, wide), (ax.yaxis, high)):
        if inches < _SMALL and isinstance(axis.get_major_locator(), AutoLocator):
            ax.locator_params(axis.axis_name, nbins=_FEW_TICKS)  # type: ignore[arg-type]  # "x" or "y"


def _label_outer(axes: NDArray[Any], cells: Sequence[Cell | None], grid: Grid, *, shared: bool) -> None:
    """Label the axes of panels on the left and at the bottom only, where those beside and above have the same label."""
    for place, (ax, cell) in enumerate(zip(axes, cells, strict=True)):
        if cell is None:
            continue
        left = axes[place - 1] if place % grid.n_columns else None
        below = place + grid.n_columns
        if left is not None and left.yaxis.label.get_text() == ax.get_ylabel():
            ax.yaxis.label.set_visible(False)
        if below < len(axes) and cells[below] and axes[below].get_xlabel() == ax.get_xlabel():
            ax.xaxis.label.set_visible(False)
        elif shared:
            ax.tick_params(labelbottom=True)


def _points(ax: Axes) -> float:
    return float(ax.xaxis.label.get_fontsize())


def _fit_labels(panels: Sequence[Axes], wide: float, high: float) -> None:
    """Write labels of axes that are longer than their panel is high, or than there is room below it, in lines."""
    figure: Any = panels[0].figure
    for ax in _with_long(panels, "yaxis", high):
        _break(ax.yaxis.label, ax.bbox.height / ax.yaxis.label.get_window_extent().height)
    for ax in _with_long(panels, "xaxis", wide):
        middle = (ax.bbox.x0 + ax.bbox.x1) / 2
        room = min(2 * middle, 2 * (figure.bbox.width - middle), _between(panels))
        _break(ax.xaxis.label, room / ax.xaxis.label.get_window_extent().width)


def _between(panels: Sequence[Axes]) -> float:
    """Return the smallest distance between columns of panels, in pixels."""
    return float(np.diff(np.unique([float(round(ax.bbox.x0)) for ax in panels])).min(initial=np.inf))


def _with_long(panels: Sequence[Axes], axis: str, inches: float) -> list[Axes]:
    """Return the panels with a label that may be too long for a cell; they have their sizes then."""
    labels = [(ax, getattr(ax, axis).label) for ax in panels]
    found = [ax for ax, label in labels if label.get_visible() and _inches(label) > _SHORT * inches]
    if found:
        found[0].figure.draw_without_rendering()  # type: ignore[union-attr]  # whole
    return found


def _break(label: Text, share: float) -> None:
    """Write a label in lines of at most such a share of its length."""
    if share < 1:
        label.set_text(wrapped(label.get_text(), share * longest_line([label.get_text()])))


def _inches(label: Text) -> float:
    """Return about how long a label is."""
    return longest_line([label.get_text()]) * LETTER * float(label.get_fontsize()) / 72


def _add_title(panels: Sequence[Axes], title: str) -> None:
    """Add a title, above all panels if there are several."""
    if len(panels) == 1:
        panels[0].set_title(panels[0].get_title() or title)
    else:
        panels[0].figure.suptitle(title, fontsize="large")
