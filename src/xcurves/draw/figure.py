"""Panels in a new figure, or one in given Axes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core.refusal import Refusal
from xcurves.core.schema import Picture
from xcurves.draw.canvas import Canvas, check_axes
from xcurves.draw.curve_names import name_curves, name_curves_of_given
from xcurves.draw.drawn_names import wrapped, write_label
from xcurves.draw.fitted import (
    LETTER,
    fit_labels,
    fit_rows,
    label_outer,
    lay_out,
    thin_labels,
    thin_numbers,
    thin_ticks,
    wrap_labels,
)
from xcurves.draw.look import import_pyplot
from xcurves.draw.room import LARGEST, Room
from xcurves.draw.shapes import draw_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OF_TICKS = 0.9  # of the size of letters of labels
_OF_TITLE = 1.2
# below so many rows there is one, whose panel is so many inches high
_ONE_ROW, _HIGH_OF_ROW = (1.6, 0.4)


class Cell(NamedTuple):
    """A panel: its title and what it shows."""

    title: str
    picture: Picture


def draw_panels(
    cells: Sequence[Cell],
    room: Room,
    canvas: Canvas,
    refusal: Refusal,
    *,
    named: Collection[str] = (),
    by_column: bool = False,
    title: str = "",
) -> Axes | NDArray[Any]:
    """Draw each cell in its panel, and name curves once, but for those of `named`, which titles name.

    `refusal` says why the panels have no room. Panels share both scales with `named`, that of x `by_column`.
    """
    if canvas.ax is not None:
        check_axes(canvas)
        with _letters_of_given(canvas.ax, canvas.fontsize):
            _draw_cell(cells[0], canvas.ax)
            wrap_labels(canvas.ax)
            name_curves_of_given(canvas.ax, named, canvas)
            thin_labels(np.array([canvas.ax]))
        canvas.ax.figure.stale = True
        return canvas.ax
    size, grid = room.size(), room.grid
    if size is None:
        raise refusal
    with grid.letters(size, canvas.fontsize):
        share_x: Any = "col" if by_column else False
        if named:
            share_x = "all"
        highs = room.heights(size)
        panels = grid.axes(size, sharex=share_x, sharey=bool(named), height_ratios=highs)
        letters = 72 / (LETTER * float(panels[0].xaxis.label.get_fontsize()))  # in an inch
        wide = size[0] / grid.n_columns
        for place, (cell, ax) in enumerate(zip(cells, panels, strict=True)):
            _draw_cell(cell, ax, letters * wide)
            thin_ticks(ax, wide, highs[place // grid.n_columns])
        label_outer(panels, grid.n_columns, shared=bool(share_x))
        _add_title(panels, cells, title, letters / _OF_TITLE * size[0])
        name_curves(panels, named, canvas, grid, size[0] if canvas.figsize else LARGEST)
        fit_labels(panels, wide, size[1] / grid.n_rows)
        lay_out(panels[0].figure)  # so that panels have their sizes
        thin_labels(panels)
        thin_numbers(panels)
        fit_rows(panels)
        if 0 < room.rows < _ONE_ROW and grid.n_rows == 1 and canvas.figsize is None:
            _lower(panels)
    panels[0].figure.stale = True  # it is laid out, not drawn
    if len(panels) > 1:
        return grid.shaped(panels)
    only: Axes = panels.item()
    return only


def _letters_of_given(ax: Axes, points: float | None) -> AbstractContextManager[None]:
    """Give Axes that are not ours letters of so many points, if that is asked; return a context of these letters."""
    if points is None:
        return nullcontext()
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(points)
    ax.tick_params(labelsize=_OF_TICKS * points)
    return import_pyplot().rc_context({"font.size": points})  # type: ignore[no-any-return]


def _draw_cell(cell: Cell, ax: Axes, letters: float = np.inf) -> None:
    """Draw a cell; a line of its title has so many letters."""
    if cell.title:
        write_label(ax.set_title("", fontsize="medium"), cell.title, letters)
    draw_picture(ax, cell.picture)


def _add_title(panels: NDArray[Any], cells: Sequence[Cell], title: str, letters: float) -> None:
    """Add the title of a figure, of one panel if it has no other; a line has so many letters."""
    if title and len(panels) > 1:
        panels[0].figure.suptitle(wrapped(title, letters), fontsize="large")
    elif title and not cells[0].title:
        write_label(panels[0].title, title, letters)


def _lower(panels: NDArray[Any]) -> None:
    """Make panels of one row as high as a line."""
    figure = panels[0].figure
    lay_out(figure)
    inches = max(ax.bbox.height for ax in panels) / figure.dpi
    figure.set_figheight(figure.get_figheight() + _HIGH_OF_ROW - inches)
