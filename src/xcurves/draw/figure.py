"""Panels in a new figure, or one in given Axes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.schema import Picture
from xcurves.draw.canvas import Canvas, check_axes
from xcurves.draw.curve_names import name_curves, name_curves_of_given
from xcurves.draw.drawn_names import wrapped, write_label
from xcurves.draw.fitted import (
    LETTER,
    fit_labels,
    fit_ticks_and_rows,
    label_outer,
    lay_out,
    missing_inches,
    thin_labels,
    thin_ticks,
    wrap_labels,
)
from xcurves.draw.look import ASKED, import_pyplot, slot_of, take_dpi
from xcurves.draw.room import LARGEST, Room, inches_up
from xcurves.draw.shapes import draw_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OF_TICKS = 0.9  # of the size of letters of labels
_OF_TITLE = 1.2
# below so many rows there is one, whose panel is so many inches high
_ONE_ROW, _HIGH_OF_ROW = (1.6, 0.4)
_TRIES = 8  # of larger figures, until one has room
_LEAST_OF_GIVEN = 0.38  # of the width of Axes that are not ours, for the panel
_NOTHING_LEFT = "constrained_layout not applied"  # of panels without room beside their words
_MORE = 0.5  # inches that each of them then lacks


class Cell(NamedTuple):
    """A panel: its title and what it shows."""

    title: str
    picture: Picture


def draw_panels(
    cells: Sequence[Cell],
    room: Room,
    canvas: Canvas,
    refuse: Callable[[Room | None], Refusal],
    *,
    named: Collection[str] = (),
    by_column: bool = False,
    title: str = "",
) -> Axes | NDArray[Any]:
    """Draw each cell in its panel, and name curves once, but for those of `named`, which titles name.

    `refuse` says why the panels have no room, given one in which they have. Panels share both scales with `named`, that
    of x `by_column`.
    """
    if canvas.ax is not None:
        check_axes(canvas)
        take_dpi(canvas.ax.get_figure(root=True))
        with _letters_of_given(canvas.ax, canvas.fontsize):
            _draw_cell(cells[0], canvas.ax)
            wrap_labels(canvas.ax)
            name_curves_of_given(canvas.ax, named, canvas)
            thin_labels(np.array([canvas.ax]))
        _check_room(canvas.ax)
        canvas.ax.figure.stale = True
        return canvas.ax
    draw = partial(_draw, cells, canvas=canvas, named=named, by_column=by_column, title=title)
    if room.asked is None:
        if not room.is_large:
            raise refuse(room.nearest())
        panels = draw(room)
    else:
        panels = _draw_in_asked(draw, room, refuse)
    panels[0].figure.stale = True  # it is laid out, not drawn
    if len(panels) > 1:
        return room.grid.shaped(panels)
    only: Axes = panels.item()
    return only


def _draw_in_asked(
    draw: Callable[[Room], NDArray[Any]], room: Room, refuse: Callable[[Room | None], Refusal]
) -> NDArray[Any]:
    """Draw panels in a figure of the size that is asked for; refuse it by one that was drawn and is large enough."""
    fitting = room if room.is_large else room.nearest()
    for _ in range(_TRIES):
        if fitting is None:
            break
        panels, missing = _measured(draw, fitting)
        if fitting is room and not any(missing):
            return panels
        import_pyplot().close()  # the newest
        if not any(missing):
            raise refuse(fitting)
        fitting = fitting.larger_by(missing)
    raise refuse(None)


def _measured(draw: Callable[[Room], NDArray[Any]], room: Room) -> tuple[NDArray[Any], tuple[float, float]]:
    """Draw panels, and return them with the inches that their figure lacks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", _NOTHING_LEFT)
        try:
            panels = draw(room)
        except UserWarning as warning:
            if not re.match(_NOTHING_LEFT, str(warning)):
                raise
            return np.array([]), (_MORE * room.grid.n_columns, _MORE * room.grid.n_rows)
    return panels, missing_inches(panels, room.grid.n_columns)


def _draw(
    cells: Sequence[Cell], room: Room, *, canvas: Canvas, named: Collection[str], by_column: bool, title: str
) -> NDArray[Any]:
    """Draw cells in a new figure and return its panels."""
    size, grid = room.size, room.grid
    with grid.letters(size, canvas.fontsize):
        share_x: Any = "col" if by_column else False
        if named:
            share_x = "all"
        highs = room.heights(size)
        panels = grid.axes(size, sharex=share_x, sharey=bool(named), height_ratios=highs)
        if room.asked is not None:
            panels[0].figure.set_gid(ASKED)
        letters = 72 / (LETTER * float(panels[0].xaxis.label.get_fontsize()))  # in an inch
        wide = size[0] / grid.n_columns
        for place, (cell, ax) in enumerate(zip(cells, panels, strict=True)):
            _draw_cell(cell, ax, letters * wide)
            thin_ticks(ax, wide, highs[place // grid.n_columns])
        label_outer(panels, grid.n_columns, shared=bool(share_x))
        _add_title(panels, cells, title, letters / _OF_TITLE * size[0])
        name_curves(panels, named, canvas, grid, size[0] if room.asked else LARGEST)
        fit_labels(panels, wide, size[1] / grid.n_rows)
        fit_ticks_and_rows(panels)
        if 0 < room.rows < _ONE_ROW and grid.n_rows == 1 and room.asked is None:
            _lower(panels)
    return panels


def _check_room(ax: Axes) -> None:
    """Refuse Axes that are not ours if names leave the panel little of their width; name a figure that is wide enough.

    Only a layout engine makes room for names, and so makes panels small.
    """
    figure: Any = ax.figure
    slot = slot_of(ax)
    if slot is None or figure.get_layout_engine() is None:
        return
    lay_out(figure)
    wide = float(ax.bbox.width) / figure.dpi
    if wide >= _LEAST_OF_GIVEN * slot[0]:
        return
    high = figure.bbox.height / figure.dpi
    enough = figure.bbox.width / figure.dpi * 2 * (slot[0] - wide) / slot[0]  # half is left for the panel
    reason = f"has {wide:.1f} of its {slot[0]:.1f} inches left beside names"
    size = f"figsize=({inches_up(enough):g}, {inches_up(high):g})"
    raise Refusal("ax", UNSAID, reason, f"Make a figure of {size}, or give shorter names: labels={{...}}")


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
