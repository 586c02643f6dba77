"""Pictures of results: the panels of their views, and what these show."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import xarray as xr
from numpy.typing import NDArray

from xcurves.core import validation
from xcurves.core.schema import Picture, ResultKind, View
from xcurves.draw.canvas import Canvas, styled
from xcurves.draw.drawn_names import drawable
from xcurves.draw.figure import Cell, draw_panels
from xcurves.draw.room import FEW, Grid, Room
from xcurves.draw.rows import with_texts_below
from xcurves.pictures.curves import CurvesPicture
from xcurves.pictures.rows import RowsPicture
from xcurves.pictures.styles import with_dashes
from xcurves.plotting.facets import check_dims, names_in, pictures_of_view
from xcurves.plotting.views import checked_columns, chosen_views, of_claim, without_bands
from xcurves.results import prepare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS_OF_CURVES = 9  # as high as a picture of curves
# that are drawn each in a panel, where a view has one for many
_MOST_TASKS, _MOST_PANELS = (4, 30)


class _Drawn(NamedTuple):
    """A view with the dims of its panels, their titles, and what they show."""

    view: View
    dims: list[Hashable]
    titles: list[str]
    pictures: list[Picture]
    of_many: bool = False  # whether all tasks are in one panel

    @property
    def apart(self) -> list[Hashable]:
        """The dims whose labels have a panel each because they are too many for one."""
        return [dim for dim, most in self.view.panels.items() if most > 1 and dim in self.dims]

    @property
    def rows(self) -> float:
        """How many rows a panel has at most, 0 if it lists nothing."""
        return max(picture.n_rows for picture in self.pictures)

    @property
    def columns(self) -> float:
        """How many columns a panel has at most, 0 if it lists nothing."""
        return max(picture.n_columns for picture in self.pictures)

    @property
    def cells(self) -> list[Cell]:
        """What draws each panel."""
        return [Cell(title, picture) for title, picture in zip(self.titles, self.pictures, strict=True)]


def plot_result(
    data: xr.Dataset,
    view: str | None,
    canvas: Canvas,
    claim: str | None,
    options: Mapping[str, Any],
) -> Axes | NDArray[Any]:
    """Draw the views of a result that are asked for, or that suit it."""
    kind, data = prepare(data)
    names = chosen_views(kind, data, view, claim, options)
    views = [kind.views[name] for name in names]
    if claim is not None:
        data = of_claim(data, views[0].drawing.claims, claim)
    if "band" in options:
        data = without_bands(kind, data)
    scales = {
        name: validation.check_choice(name, options[name], ["linear", "log"])
        for name in ("xscale", "yscale")
        if name in options
    }
    columns = checked_columns(options["columns"]) if "columns" in options else None
    data = drawable(styled(data, canvas))
    if options.get("linestyles"):
        data = with_dashes(data)

    drawn = [_drawn(kind, each, data, canvas, columns, scales) for each in views]
    room = replace(_room(drawn, data, canvas), tall=all(each.view.drawing.tall for each in drawn))
    drawn, room = _with_texts_below(drawn, room)
    first = drawn[0]
    fewest = min(range(len(drawn)), key=lambda place: len(drawn[place].titles))
    sizes = {dim: data.sizes[dim] for dim in drawn[fewest].dims}
    canvas.check_one(sizes, names[fewest] if len(names) > 1 else None)
    overlaid = _overlaid(first, data, room.columns)
    fewer: Sequence[Hashable] = []
    if overlaid is None:
        fewer = first.dims or kind.panel_dims(data)
    title = options.get("title", "")
    if not title and first.view.drawing.title is not None:
        title = first.view.drawing.title(data)
    return draw_panels(
        [cell for each in drawn for cell in each.cells],
        room,
        canvas,
        partial(room.refusal, names[0], first.dims, overlaid, {dim: data.sizes[dim] for dim in fewer}, "table"),
        named=names_in(data) if first.apart else (),
        by_column=len(names) > 1 and room.grid.n_rows > 1 and not any(each.rows for each in drawn),
        title=title,
    )


def _drawn(
    kind: ResultKind,
    view: View,
    data: xr.Dataset,
    canvas: Canvas,
    columns: Collection[str] | None,
    scales: Mapping[str, str],
) -> _Drawn:
    """Return the pictures of the panels of a view, with the columns and scales asked for."""
    view, dims, of_many = _panels_of(kind, view, data, canvas)
    pictures, titles = pictures_of_view(kind, view, data, dims, "plot")
    if columns is not None:
        pictures = [each.with_columns(columns) if isinstance(each, RowsPicture) else each for each in pictures]
    pictures = [each.with_scales(**scales) if isinstance(each, CurvesPicture) else each for each in pictures]
    return _Drawn(view, dims, titles, pictures, of_many)


def _panels_of(kind: ResultKind, view: View, data: xr.Dataset, canvas: Canvas) -> tuple[View, list[Hashable], bool]:
    """Return the view to draw, the dims of its panels, and whether all are in one panel, as where there are many."""
    dims = kind.panels_of(view, data)
    of_tasks = [dim for dim in dims if dim not in view.panels]
    if canvas.ax is not None and not view.many:
        dims = of_tasks
    n_tasks, n_panels = (prod(data.sizes[dim] for dim in each) for each in (of_tasks, dims))

    is_asked = canvas.col is not None or canvas.row is not None
    is_many = n_tasks > _MOST_TASKS or n_panels > _MOST_PANELS
    if canvas.ax is not None:
        is_many = n_panels > 1
    if view.many and is_many and not is_asked:
        return view.many, [], True
    return view, check_dims(dims, canvas.col, canvas.row, "result"), False


def _with_texts_below(drawn: list[_Drawn], room: Room) -> tuple[list[_Drawn], Room]:
    """Return views in a figure of a size that is asked for: texts that would take half of its width go below rows."""
    if room.asked is None:
        return drawn, room
    wide = room.asked[0] / room.grid.n_columns
    below = [each._replace(pictures=[with_texts_below(picture, wide) for picture in each.pictures]) for each in drawn]
    rows = [each.rows for each in below]
    by_row = tuple(rows) if room.by_row else ()
    return below, replace(room, rows=max(room.rows, *rows), by_row=by_row)


def _room(drawn: Sequence[_Drawn], data: xr.Dataset, canvas: Canvas) -> Room:
    """Return the panels of all views in their grid."""
    rows = [each.rows for each in drawn]
    columns = max(each.columns for each in drawn)
    most = max(rows)
    if most and 0 in rows:
        most = max(most, _ROWS_OF_CURVES)

    if len(drawn) == 1:
        dims = drawn[0].dims
        grid = canvas.grid(dims, [data.sizes[dim] for dim in dims])
        room = Room(grid, most, columns, canvas.figsize)
        is_free = canvas.col is None and canvas.row is None
        if grid.two_dims and is_free and (canvas.col_wrap or not room.is_large):
            return Room(canvas.grid([], [grid.n_panels]), most, columns, canvas.figsize)
        return room

    n_cells = sum(len(each.titles) for each in drawn)
    n_panels = {len(each.titles) for each in drawn}
    if drawn[0].of_many or len(n_panels) > 1:
        grid = canvas.grid([], [n_cells])
        if n_cells == len(drawn):
            grid = Grid(1, n_cells, n_cells)
        return Room(grid, most, columns, canvas.figsize)

    # Each view has a row of panels, as high as it needs.
    by_row = tuple(rows) if len(set(rows)) > 1 else ()
    grid = Grid(len(drawn), n_cells // len(drawn), n_cells, two_dims=True)
    return Room(grid, most, columns, canvas.figsize, by_row)


def _overlaid(first: _Drawn, data: xr.Dataset, columns: float) -> str | None:
    """Return the dim of which fewer labels make a view readable, if there is one."""
    if "pair" in data.dims and (columns or "pair" in first.dims):
        dim: Hashable = "pair"
    elif first.apart:
        dim = first.apart[0]
    else:
        return None
    if dim in FEW and data.sizes[dim] <= FEW[dim]:
        return None
    return str(dim)
