"""Pictures of curves and of results: which views there are, and which panels they have."""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import validation
from xcurves.core.refusal import UNSAID, Refusal, WrongType
from xcurves.core.schema import Picture, ResultKind, View
from xcurves.draw.drawn_names import drawable
from xcurves.draw.look import import_pyplot
from xcurves.draw.rows import with_texts_below
from xcurves.draw.saved import check_picture, save_picture
from xcurves.draw.shapes import draw_picture, draw_view
from xcurves.draw.ticks import rescale
from xcurves.pictures.curves import CurvesPicture
from xcurves.pictures.pair_rows import NAMES_OF_COLUMNS
from xcurves.pictures.rows import RowsPicture
from xcurves.pictures.styles import with_dashes
from xcurves.plotting import curves
from xcurves.plotting.facets import (
    FEW,
    Grid,
    Panel,
    Room,
    check_dims,
    split,
)
from xcurves.plotting.panels import (
    Canvas,
    Cell,
    check_figsize,
    check_fontsize,
    check_legend,
    draw_panels,
    styled,
)
from xcurves.results import ask, kind_of, parts_of, prepare, views_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TWO_LINES = 2.0  # width of a column whose name has two lines, of that of others
_ROWS_OF_NAMES = 5  # as high as long names of columns that lean
_ROWS_OF_CURVES = 9  # as high as a picture of curves
# options that pictures of results can take
_OF_RESULTS = ("band", "columns", "linestyles", "xscale", "yscale", "title")
_MOST_IN_LEGEND = 12  # algorithms: more have a panel each, or are rows
# that are drawn each in a panel, where a view has one for many
_MOST_TASKS, _MOST_PANELS = (4, 30)


def plot(
    data: xr.DataArray | xr.Dataset | xr.DataTree,
    view: str | None = None,
    *,
    ax: Axes | None = None,
    col: Hashable | None = None,
    row: Hashable | None = None,
    col_wrap: int | None = None,
    figsize: tuple[float, float] | None = None,
    colors: Mapping[Any, Any] | Sequence[Any] | None = None,
    order: Sequence[Any] | None = None,
    labels: Mapping[Any, str] | None = None,
    legend: str | None = "direct",
    runs: bool | None = None,
    band: str | None = "own",
    smooth: float | None = None,
    linestyles: bool | None = None,
    xscale: str | None = None,
    yscale: str | None = None,
    title: str | None = None,
    fontsize: float | None = None,
    n_resamples: int | None = None,
    confidence_level: float | None = None,
    claim: str | None = None,
    columns: Sequence[str] | None = None,
    save: str | os.PathLike[str] | None = None,
    rng: validation.Rng = None,
) -> Axes | NDArray[Any]:
    """Draw curves, or a result.

    Parameters
    ----------
    data : DataArray, dims (..., algorithm, run, training), Dataset or DataTree
        Curves, scores without training, what a method returned, or a whole analysis, with at most two extra dims.
    view : str, optional
        What to draw, see Notes.
    ax : matplotlib.axes.Axes, optional
        Where to draw it: one panel. By default a new figure, with a panel for each view and each task.
    col, row : hashable, optional
        Dims along whose labels panels stand beside and below each other, as in xarray.
    col_wrap : int, optional
        Most panels in a row; by default as many as make a figure of at most 14 inches in either way.
    figsize : (float, float), optional
        Width and height of the figure in inches.
    colors : mapping or sequence, optional
        Colours of algorithms or pairs, by label or in the order of algorithms.
    order : sequence, optional
        Names of algorithms in the order in which to draw and to list them, the others behind; colours stay. By default
        names of curves stand as these end, the highest first.
    labels : mapping, optional
        Other names for algorithms: ``{"sac": "SAC"}``.
    legend : {"direct", "above", "outside"} or None
        Where names stand: ``"direct"``, at the ends of curves where they have room, else above the panels or in the
        empty cell of their grid; ``"above"`` them; ``"outside"``, beside them; None: nowhere.
    runs : bool, optional
        Of curves: whether single runs are drawn; by default where an algorithm has no mean, or one run.
    band : str or None
        Of curves: ``"pointwise"``, the t interval of the mean at each level by itself (``"own"``, the default, means
        this); ``"simultaneous"``, for all levels together, from four runs on; ``"sd"``; ``"se"``; None for no band.
        Results along training or a budget have their own, which None leaves out.
    smooth : float, optional
        Of curves: weight of the past, below 1, in a debiased exponential mean of every run, before means and bands.
    linestyles : bool, optional
        Of curves, and of results with a line for each algorithm or pair: whether lines differ in their dashes too, as
        they do from the seventh algorithm on.
    xscale, yscale : {"linear", "log"}, optional
        Of curves, and of results along training, a budget or trials: scales of the axes.
    title : str, optional
        A title.
    fontsize : float, optional
        Size of the letters of labels in points; others are somewhat smaller. By default it follows from the width.
    n_resamples, confidence_level : int and float, optional
        Of curves: number of resamples of a simultaneous band, and confidence level; 2,000 and 0.95 if left out.
    claim : str, optional
        Of results over tasks: ``"random"``, tasks like these, or ``"fixed"``, these very tasks; by default as the view
        says.
    columns : sequence, optional
        Of rows of pairs: which of ``"estimate"``, ``"interval"`` and ``"p"`` stand beside them; by default all, in Axes
        of your own those that leave the panel half of the width.
    save : path, optional
        A file to which the figure is written too, ``.pdf``, ``.png``, ``.svg`` or ``.eps``: whole or not at all, its
        letters as TrueType, its size that of `figsize` where that is given. It replaces only a picture of xcurves.
    rng : int, Generator or None
        Of curves: seed of the resamples.

    Returns
    -------
    Axes, or ndarray of Axes
        The Axes of one panel, or an array of all, as `matplotlib.pyplot.subplots` returns them.

    Raises
    ------
    AttributeError
        If there is no picture of this kind of result; the message says why.
    ValueError, TypeError
        If `data` is neither curves nor a result, if the view is unknown, if there are more than two extra dims, if
        several panels are asked of one Axes, if the panels have no room in a figure, if an option names what is not
        there, or if an option is given that the view does not take.
    ModuleNotFoundError
        If matplotlib (extra ``plot``) is not installed.

    Warns
    -----
    UserWarning
        If an algorithm has runs in a task, but no level that all of them have.

    Notes
    -----
    An algorithm has the same colour, line and marker in every picture, by its position in the `algorithm` coordinate,
    or by the number that a coordinate `color_index` along it gives, which selections and results keep. Select and
    rename algorithms as any labels: ``.sel``, ``.assign_coords``. Of more than eight algorithms or pairs, curves have a
    panel each.

    Of curves: ``"runs"``, the mean of an algorithm's runs as a line; around it a band. Both are drawn at the levels
    that all runs of the algorithm have in the task: beyond them the mean would be that of some runs only. A single run
    has no band. A simultaneous band is made from residual runs with random signs.

    Of scores without training, or curves of one level: a row for each algorithm, with its runs as dots, their mean and
    its interval (`band`).

    Of a result: the views of its kind, which the gallery shows; the message for an unknown view lists them. Differences
    and intervals have arrows on unbounded sides. Of more than four tasks, many views have one panel with a row for each
    task.

    Of an analysis, `view` names the group to draw, by default that of the curves.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> scores.curves.plot(rng=0).get_xlabel()
    'training (games)'
    >>> axes = scores.curves.ss_profile(n_resamples=199, rng=0).curves.plot("fraction")
    >>> axes.get_xlabel(), axes.get_xscale()
    ('training (games)', 'symlog')
    """
    import_pyplot()  # what it lacks is said before any work
    canvas = Canvas(
        ax,
        col,
        row,
        validation.check_count("col_wrap", col_wrap),
        check_figsize(figsize),
        colors,
    )
    canvas = canvas._replace(order=order, labels=labels, legend=check_legend(legend), fontsize=check_fontsize(fontsize))
    if title is not None and not isinstance(title, str):
        raise WrongType("title", title, "must be text", "Convert: title=str(...)")
    given: dict[str, Any] = {
        "runs": runs, "smooth": smooth, "linestyles": linestyles, "xscale": xscale, "yscale": yscale, "title": title,
        "n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng,
        "columns": columns,
    }  # fmt: skip
    of_curves = {name: value for name, value in given.items() if value is not None}
    if not (isinstance(band, str) and band == "own"):
        of_curves["band"] = band
    path = None if save is None else check_picture(save)
    axes = _draw(data, view, canvas, claim, of_curves)
    if path is not None:
        save_picture(np.ravel([axes])[0].figure, path, trim=figsize is None)
    return axes


def _draw(
    data: xr.DataArray | xr.Dataset | xr.DataTree,
    view: str | None,
    canvas: Canvas,
    claim: str | None,
    options: dict[str, Any],
) -> Axes | NDArray[Any]:
    """Draw curves, scores, a result, or the part of an analysis that `view` names."""
    if isinstance(data, xr.DataTree):
        parts = _parts_drawn(data) or parts_of(data)
        (name,) = _check_view(parts, tuple(parts)[:1], view)
        return _draw(parts[name], None, canvas, claim, options)
    if not isinstance(data, xr.Dataset):
        if claim is not None:
            raise Refusal(
                "claim",
                UNSAID,
                "is for views of results over tasks; these are curves",
                "Leave claim out",
            )
        if "columns" in options:
            raise Refusal("columns", UNSAID, "columns stand beside rows of pairs; these are curves", "Leave it out")
        _check_view(("runs",), ("runs",), view)
        return curves.plot_curves(data, canvas, options)
    for name in options:
        if name not in _OF_RESULTS:
            raise Refusal(
                name,
                UNSAID,
                f"{name} is for pictures of curves, scores.curves.plot({name}=...); no view of a result takes it",
                "Leave it out",
            )
    if options.get("band") is not None:
        raise Refusal(
            "band",
            options["band"],
            "must be left out or None with a result, whose bands are its own",
        )
    return _plot_result(data, view, canvas, claim, options)


def _parts_drawn(tree: xr.DataTree) -> dict[str, Any]:
    """Return the curves and the results of an analysis that have pictures, by their groups."""
    group = tree.children.get("curves")
    arrays = [] if group is None else list(group.to_dataset().data_vars.values())
    parts: dict[str, Any] = dict(zip(["curves"], arrays, strict=False))
    return parts | {name: part for name, part in parts_of(tree).items() if kind_of(part).views}


class _Drawn(NamedTuple):
    """A view with the dims of its panels and what they show."""

    view: View
    dims: list[Hashable]
    panels: list[Panel[xr.Dataset]]
    of_many: bool = False  # whether all tasks are in one panel
    pictures: Sequence[Picture] = ()  # of each panel, where the view declares them

    @property
    def apart(self) -> list[Hashable]:
        """The dims whose labels have a panel each because they are too many for one."""
        return [dim for dim, most in self.view.panels.items() if most > 1 and dim in self.dims]

    def rows(self) -> float:
        """Return how many rows a panel has at most, 0 if it lists nothing."""
        if self.pictures:
            return max(picture.n_rows for picture in self.pictures)
        count = self.view.drawing.rows
        return 0.0 if count is None else max(count(panel.data) for panel in self.panels)

    def beside(self) -> float:
        """Return how many letters stand beside a panel at most."""
        if self.pictures:
            return max(picture.letters_beside for picture in self.pictures)
        count = self.view.drawing.beside
        return 0.0 if count is None else max(count(panel.data) for panel in self.panels)

    def columns(self) -> float:
        """Return how many columns a panel has at most, 0 if it lists nothing; names in two lines take more."""
        if self.pictures:
            return max(picture.n_columns for picture in self.pictures)
        count = self.view.drawing.columns
        if count is None:
            return 0.0
        return max(count(panel.data) * _lines_of_pairs(panel.data) for panel in self.panels)


def _legend_of(drawn: Sequence[_Drawn], data: xr.Dataset) -> tuple[str, ...]:
    """Return the names of algorithms that a legend has, if any: of views that neither list them nor part them."""
    named = [each for each in drawn if not each.rows() and not each.columns() and "algorithm" not in each.dims]
    if not named or "algorithm" not in data.dims:
        return ()
    if data.sizes["algorithm"] > _MOST_IN_LEGEND:
        return ()
    return tuple(str(name) for name in data["algorithm"].to_numpy().tolist())


def _lines_of_pairs(data: xr.Dataset) -> float:
    """Return how much wider a column is because names of pairs have two lines."""
    if "pair" not in data.coords or not any("\n" in str(name) for name in np.ravel(data["pair"])):
        return 1.0
    return _TWO_LINES


def _plot_result(
    data: xr.Dataset,
    view: str | None,
    canvas: Canvas,
    claim: str | None,
    options: Mapping[str, Any],
) -> Axes | NDArray[Any]:
    kind, data = prepare(data)
    views = views_of(kind)
    names = _check_view(views, _default_views(kind, data), view)
    for dim in views[names[0]].axes:
        if dim not in data.dims:
            raise Refusal(
                "view",
                UNSAID,
                f"{view!r} needs a result with the dim {dim!r}; got {tuple(data.dims)}",
                f"Take {kind.name} of curves",
            )
    if claim is not None:
        names = _views_with_claims(kind, names, view)
        data = _of_claim(data, views[names[0]].drawing.claims, claim)
    for option in options:
        if option != "title":
            names = _views_with_option(kind, names, view, option)
    if "band" in options:
        data = _without_bands(kind, data)
    scales = {
        name: validation.check_choice(name, options[name], ["linear", "log"])
        for name in ("xscale", "yscale")
        if name in options
    }
    columns = _checked_columns(options["columns"]) if "columns" in options else None
    data = drawable(styled(data, canvas))
    if options.get("linestyles"):
        data = with_dashes(data)

    drawn = [_with_pictures(kind, _panels(kind, views[name], data, canvas), columns, scales) for name in names]
    longest = max(len(panel.title) for each in drawn for panel in each.panels)
    beside = max(each.beside() for each in drawn)
    legend = _legend_of(drawn, data)
    room = replace(
        _room(drawn, names, data, canvas),
        title_letters=longest,
        beside=beside,
        names=legend,
        tall=all(each.view.drawing.tall for each in drawn),
    )
    drawn, room = _with_texts_below(drawn, room)
    first = drawn[0]
    fewest = min(range(len(drawn)), key=lambda place: len(drawn[place].panels))
    sizes = {dim: data.sizes[dim] for dim in drawn[fewest].dims}
    canvas.check_one(sizes, names[fewest] if len(names) > 1 else None)
    overlaid = _overlaid(first, data, room.columns)
    tasks: Sequence[Hashable] = []
    if overlaid is None:
        tasks = first.dims or kind.panel_dims(data)
    refusal = room.refusal(names[0], first.dims, overlaid, tasks, "table")

    def cell(each: _Drawn, place: int) -> Cell:
        panel = each.panels[place]

        def draw(ax: Axes) -> None:
            if each.pictures:
                draw_picture(ax, each.pictures[place])
            else:
                ask(kind, panel.data, lambda result: draw_view(ax, each.view, result), "plot")
                _rescale(ax, **scales)

        return Cell(panel.title, draw)

    title = options.get("title", "")
    if not title and first.view.drawing.title is not None:
        title = first.view.drawing.title(data)
    has_rows = any(each.rows() for each in drawn)
    return draw_panels(
        [cell(each, place) for each in drawn for place in range(len(each.panels))],
        room,
        canvas,
        refusal,
        named=data if first.apart else None,
        by_column=len(names) > 1 and room.grid.n_rows > 1 and not has_rows,
        title=title,
    )


def _rescale(ax: Axes, xscale: str | None = None, yscale: str | None = None) -> None:
    """Give axes the scales that were asked for; axes below, which mark what is shown, have that of x too."""
    rescale(ax, xscale, yscale)
    if xscale is not None:
        below: Any
        for below in ax.child_axes:
            rescale(below, xscale)
            below.set_xlim(ax.get_xlim())


def _without_bands(kind: ResultKind, data: xr.Dataset) -> xr.Dataset:
    """Return a result whose curves have no bands."""
    bands = [band for _, band in kind.curves_with_bands() if band in data]
    return data.assign({band: xr.full_like(data[band], np.nan) for band in bands})


def _with_pictures(
    kind: ResultKind,
    drawn: _Drawn,
    columns: Collection[str] | None,
    scales: Mapping[str, str],
) -> _Drawn:
    """Return a view with the pictures of its panels, where it declares them, with the columns and scales asked for."""
    make = drawn.view.drawing.picture
    if make is None:
        return drawn
    pictures = [ask(kind, panel.data, make, "plot") for panel in drawn.panels]
    if columns is not None:
        pictures = [each.with_columns(columns) if isinstance(each, RowsPicture) else each for each in pictures]
    pictures = [each.with_scales(**scales) if isinstance(each, CurvesPicture) else each for each in pictures]
    return drawn._replace(pictures=pictures)


def _with_texts_below(drawn: list[_Drawn], room: Room) -> tuple[list[_Drawn], Room]:
    """Return views in a figure of a size that is asked for: texts that would take half of its width go below rows."""
    if room.asked is None:
        return drawn, room
    wide = room.asked[0] / room.grid.n_columns
    below = [each._replace(pictures=[with_texts_below(picture, wide) for picture in each.pictures]) for each in drawn]
    rows = [each.rows() for each in below]
    by_row = tuple(rows) if room.by_row else ()
    beside = max(each.beside() for each in below)
    return below, replace(room, rows=max(room.rows, *rows), by_row=by_row, beside=beside)


def _checked_columns(columns: Any) -> list[str]:
    """Return the columns beside rows of pairs that are asked for."""
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise WrongType("columns", columns, "must be a list", "Give ['estimate', 'p']")
    for name in columns:
        validation.check_choice("columns", name, list(NAMES_OF_COLUMNS))
    return list(columns)


def _views_with_option(kind: ResultKind, names: tuple[str, ...], view: str | None, option: str) -> tuple[str, ...]:
    """Return the views to draw with an option; refuse a view that does not take it."""
    taking = [name for name, each in kind.views.items() if option in each.drawing.options]
    if view is None:
        names = tuple(name for name in names if name in taking) or tuple(taking[:1])
    if not names or any(name not in taking for name in names):
        known = f"no view of {kind.name} takes it"
        if taking:
            known = f"of {kind.name} these views take it: {', '.join(map(repr, taking))}"
        raise Refusal(
            option,
            UNSAID,
            f"{option} is for other pictures; {known}",
            "Leave it out",
        )
    return names


def _views_with_claims(kind: ResultKind, names: tuple[str, ...], view: str | None) -> tuple[str, ...]:
    """Return the views to draw of one claim; refuse a view that has none."""
    having = [name for name, each in kind.views.items() if each.drawing.claims]
    if view is None:
        names = tuple(name for name in names if name in having)
    if not names or any(name not in having for name in names):
        known = f"those with one: {', '.join(map(repr, having))}" if having else f"no view of {kind.name} has one"
        raise Refusal(
            "claim",
            UNSAID,
            f"claim is for views of results over tasks; {known}",
            "Leave claim out",
        )
    return names


def _of_claim(data: xr.Dataset, dim: str, claim: str) -> xr.Dataset:
    """Return the part of a result that is about one claim, its dim kept."""
    known = [str(label) for label in data[dim].to_numpy().tolist()]
    return data.sel({dim: [validation.check_choice("claim", claim, known)]})


def _room(drawn: Sequence[_Drawn], names: Sequence[str], data: xr.Dataset, canvas: Canvas) -> Room:
    """Return the panels of all views in their grid."""
    rows = [each.rows() for each in drawn]
    columns = max(each.columns() for each in drawn)
    most = max(rows)
    if most and 0 in rows:
        most = max(most, _ROWS_OF_CURVES)
    if columns and max(_lines_of_pairs(panel.data) for each in drawn for panel in each.panels) > 1:
        most += _ROWS_OF_NAMES

    if len(names) == 1:
        dims = drawn[0].dims
        grid = canvas.grid(dims, [data.sizes[dim] for dim in dims])
        room = Room(grid, most, columns, canvas.figsize)
        is_free = canvas.col is None and canvas.row is None
        if room.size() is None and grid.two_dims and is_free:
            return Room(canvas.grid([], [grid.n_panels]), most, columns, canvas.figsize)
        return room

    n_cells = sum(len(each.panels) for each in drawn)
    n_panels = {len(each.panels) for each in drawn}
    if drawn[0].of_many or len(n_panels) > 1:
        grid = canvas.grid([], [n_cells])
        if n_cells == len(names):
            grid = Grid(1, n_cells, n_cells)
        return Room(grid, most, columns, canvas.figsize)

    # Each view has a row of panels, as high as it needs.
    by_row = tuple(rows) if len(set(rows)) > 1 else ()
    grid = Grid(len(names), n_cells // len(names), n_cells, two_dims=True)
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


def _panels(kind: ResultKind, view: View, data: xr.Dataset, canvas: Canvas) -> _Drawn:
    """Return the view to draw, the dims of its panels, and what they show: all in one panel where there are many."""
    dims = [dim for dim in kind.panel_dims(data) if dim not in view.panels]
    n_tasks = prod(data.sizes[dim] for dim in dims)
    if canvas.ax is None or view.many:
        dims += [dim for dim, most in view.panels.items() if data.sizes.get(dim, 0) > most]
    n_panels = prod(data.sizes[dim] for dim in dims)

    is_asked = canvas.col is not None or canvas.row is not None
    is_many = n_tasks > _MOST_TASKS or n_panels > _MOST_PANELS
    if canvas.ax is not None:
        is_many = n_panels > 1
    if view.many and is_many and not is_asked:
        return _Drawn(view.many, [], [Panel("", data)], of_many=True)
    dims = check_dims(dims, canvas.col, canvas.row, "result")
    return _Drawn(view, dims, split(data, dims))


def _default_views(kind: ResultKind, data: xr.Dataset) -> tuple[str, ...]:
    """Return the views to draw where none is named: the first one if none suits, which then says why."""
    suiting = [name for name, view in kind.views.items() if view.drawing.suits(data)]
    defaults = [name for name in suiting if kind.views[name].default]
    return tuple(defaults or suiting[:1] or list(kind.views)[:1])


def _check_view(views: Collection[str], default: tuple[str, ...], view: str | None) -> tuple[str, ...]:
    if view is None:
        return default
    return (validation.check_choice("view", view, list(views)),)
