"""Pictures of curves and of results: which views there are, and which panels they have."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels as labels_of
from xcurves.core import run_checks, validation
from xcurves.core.axes import MOST_CURVES, drawable
from xcurves.core.schema import ResultKind, View
from xcurves.core.validation import check_curves
from xcurves.plotting import curves
from xcurves.plotting.facets import (
    Grid,
    Panel,
    arrange,
    check_dims,
    dims_with_panels,
    figure_size,
    largest,
    split,
)  # fmt: skip
from xcurves.plotting.look import Look
from xcurves.plotting.panels import Canvas, Cell, check_figsize, draw_cells
from xcurves.results import ask, kind_of, parts_of, prepare, views_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 10**6  # resamples of a band, which are held in memory


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
    labels: Mapping[Any, str] | None = None,
    order: Sequence[Any] | None = None,
    n_resamples: int | None = None,
    confidence_level: float | None = None,
    rng: validation.Rng = None,
) -> Axes | NDArray[Any]:
    """Draw curves, or a result.

    Parameters
    ----------
    data : DataArray, dims (..., algorithm, run, training), Dataset or DataTree
        Curves, what a method returned, or a whole analysis, with at most two extra dims.
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
    labels : mapping, optional
        What to write in place of labels of algorithms, pairs and tasks.
    order : sequence, optional
        The algorithms to draw, in this order; they keep their colours. Of pairs, those of two such algorithms.
    n_resamples, confidence_level : int and float, optional
        Of curves: number of resamples and confidence level of the bands; 2,000 and 0.95 if left out.
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
        there, or if an option of curves is given with a result.
    ModuleNotFoundError
        If matplotlib (extra ``plot``) is not installed.

    Warns
    -----
    UserWarning
        If an algorithm has runs in a task, but no level that all of them have.

    Notes
    -----
    An algorithm has the same colour, line and marker in every picture, by its position in the `algorithm`
    coordinate. ``order=["sac", "td3"]`` draws some of them, with the same colours. Of more than eight algorithms or
    pairs, curves have a panel each. Up to four curves are named at their ends, others in a legend beside the panels.

    Of curves: ``"runs"``, each run as a thin line up to its last level; the mean of an algorithm's runs as a thick
    line; around it the percentile interval of the mean when whole runs are resampled, for each level by itself. Both
    are drawn at the levels that all runs of the algorithm have in the task: beyond them the mean would be that of
    some runs only. A single run has no band. With few runs bootstrap intervals are too short: conclude from tests.

    Of `randomized_anova`: ``"f"``, each F ratio over its critical value, with both error terms, on the null
    distribution where `keep_null` kept it; of more than four tasks, a row for each task. Of `pairwise` and `contrast`:
    ``"difference"`` and ``"estimate"``, with their intervals, with arrows for unbounded sides, and p.

    Of `ss_profile`: ``"fraction"``, the share of each level in the observed simple sum of squares, shaded where chance
    gives as much (which may be more than 1), with a bar under the levels that differ by `pvalue_adjusted`; and
    ``"cumulative"``, the running sums of the three profiles. Both by default; of more than four tasks, a row of cells
    for each task.

    Of `fit_power_law`, all algorithms on one Axes: ``"curve"`` (the default), error against n^-0.5, where an exponent
    of -0.5 gives a straight line, with n in parentheses, mean errors as circles, intervals of the curve, and a bar at
    four times the largest measured size; and ``"scatter"``, error against data-reliance, with intervals.

    Of `performance_cdf`, algorithms in one panel: ``"inverse_cdf"`` (score against probability, with pointwise
    intervals; the default), ``"cdf"`` and ``"profile"`` (share of trials at or below, or above, a score, with the band
    or, of a bootstrap, pointwise intervals), ``"statistics"`` (a panel for each, with intervals as far as they are
    finite; on one Axes, those on the scale of scores). Of `compare_distributions`: ``"prob_greater"`` (the default)
    and ``"quantile_difference"``.

    Of `type_i_error`, `power` and `runs_needed`: ``"rate"``, the share of rejections against the first
    setting that varies, with exact intervals, and the nominal level, or the power wanted, dotted.

    Of an analysis, `view` names the group to draw; by default all groups that have a picture are drawn, below each
    other, tasks side by side.

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
    canvas = Canvas(ax, col, row, validation.check_count("col_wrap", col_wrap), check_figsize(figsize))
    look = Look(colors, labels, order)
    of_curves: dict[str, Any] = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
    if isinstance(data, xr.DataTree):
        return _plot_tree(data, view, canvas, look, of_curves)
    if not isinstance(data, xr.Dataset):
        return _plot_curves(data, view, canvas, look, **of_curves)
    for name, value in of_curves.items():
        if value is not None:
            raise ValueError(f"{name} is for pictures of curves; a result has its own. Leave it out")
    return _plot_result(data, view, canvas, look)


def _plot_tree(
    tree: xr.DataTree, view: str | None, canvas: Canvas, look: Look, of_curves: dict[str, Any]
) -> Axes | NDArray[Any]:
    group = tree.children.get("curves")
    arrays = [] if group is None else list(group.to_dataset().data_vars.values())
    parts: dict[str, Any] = dict(zip(["curves"], arrays, strict=False))
    parts |= {name: part for name, part in parts_of(tree).items() if kind_of(part).views}
    options = {**canvas._asdict(), **look._asdict()}
    if view is not None:
        _check_view(parts, (), view)
        return plot(parts[view], **options, **(of_curves if view == "curves" else {}))
    if canvas.ax is not None:
        raise ValueError(
            f"ax is one Axes; got {len(parts)} groups. Name one, view={next(iter(parts))!r}, or leave ax out"
        )

    def cell(name: str, panel: Panel[Any]) -> Cell:
        more = of_curves if name == "curves" else {}
        shown = None if name == "curves" else _default_views(kind_of(panel.data))[0]
        return Cell(panel.title or name, lambda ax: plot(panel.data, shown, ax=ax, **look._asdict(), **more))

    columns: dict[str, list[Any]] = {name: split(part, _tree_dims(part)) for name, part in parts.items()}
    n_columns = max(map(len, columns.values()))
    if n_columns > 1:
        grid = Grid(len(parts), n_columns, len(parts) * n_columns, two_dims=True)
        columns = {name: [*own, *[None] * (n_columns - len(own))] for name, own in columns.items()}
    else:
        grid = arrange([len(parts)], by_row=False, col_wrap=canvas.col_wrap)
    size = figure_size(grid, 0, 0)
    if size is None:
        raise ValueError(
            f"an analysis of {n_columns} tasks has no room in one figure. Name a group, view={next(iter(parts))!r}, "
            "or select a task"
        )
    cells = [panel and cell(name, panel) for name, own in columns.items() for panel in own]
    return draw_cells(cells, grid, size, canvas)


def _tree_dims(part: xr.DataArray | xr.Dataset) -> list[Hashable]:
    """Return the dims of tasks of a part of an analysis that have panels."""
    if isinstance(part, xr.DataArray):
        return list(labels_of.extra_dims(part))
    return [dim for dim in kind_of(part).panel_dims(part) if dim != "algorithm"]


def _plot_curves(
    data: xr.DataArray,
    view: str | None,
    canvas: Canvas,
    look: Look,
    n_resamples: int | None,
    confidence_level: float | None,
    rng: validation.Rng,
) -> Axes | NDArray[Any]:
    _check_view(("runs",), ("runs",), view)
    array = check_curves(data).compute()
    run_checks.check_drawable(array)
    band = curves.Band(
        validation.check_count("n_resamples", n_resamples, most=_MOST) or curves.N_RESAMPLES,
        validation.check_confidence_level(0.95 if confidence_level is None else confidence_level),
        validation.check_rng(rng),
    )
    array = drawable(look.of(array))
    many = ["algorithm"] * (array.sizes["algorithm"] > MOST_CURVES and canvas.ax is None)
    dims = check_dims([*labels_of.extra_dims(array), *many], canvas.col, canvas.row, "curves")
    grid = arrange([array.sizes[dim] for dim in dims] or [1], canvas.by_row(dims), canvas.col_wrap)
    size = figure_size(grid, 0, 0)
    if size is None and canvas.ax is None and canvas.figsize is None:
        cure = _no_room("runs", grid, dims, "algorithm" if many else None, [] if many else dims)
        raise ValueError(f"{cure}; .curves.to_frame() has all numbers")
    cells = [Cell(panel.title, partial(curves.draw_curves, panel.data, band=band)) for panel in split(array, dims)]
    apart: dict[str, Any] = {"shared": "all", "named": array} if many else {}
    axes = draw_cells(cells, grid, size or (0, 0), canvas, **apart)
    curves.warn_of_no_mean(array)
    return axes


def _plot_result(data: xr.Dataset, view: str | None, canvas: Canvas, look: Look) -> Axes | NDArray[Any]:
    kind, data = prepare(data)
    views = views_of(kind)
    names = _check_view(views, _default_views(kind), view)
    data = drawable(look.of(data))
    drawn = [_panels(kind, views[name], data, canvas) for name in names]
    dims, panels = drawn[0][1:]
    if len(names) == 1:
        grid = arrange([data.sizes[dim] for dim in dims] or [1], canvas.by_row(dims), canvas.col_wrap)
    elif drawn[0][0] in views.values():
        grid = Grid(len(names), len(panels), len(names) * len(panels), two_dims=True)
    else:
        grid = Grid(1, len(names), len(names))  # of many tasks
    rows, columns = (max(largest(getattr(each[0], what), each[2]) for each in drawn) for what in ("rows", "columns"))
    size = figure_size(grid, rows, columns)
    if size is None and grid.two_dims and len(names) == 1 and canvas.col is None and canvas.row is None:
        grid = arrange([grid.n_panels], by_row=False, col_wrap=canvas.col_wrap)
        size = figure_size(grid, rows, columns)
    if size is None and canvas.ax is None and canvas.figsize is None:
        of_pairs = "pair" in data.dims and (columns or "pair" in dims)
        overlaid = "pair" if of_pairs else drawn[0][0].overlaid if drawn[0][0].overlaid in dims else None
        cure = _no_room(names[0], grid, dims, overlaid, [] if overlaid else dims or kind.panel_dims(data))
        raise ValueError(f"{cure}; .curves.table() has all numbers")
    cells = [Cell(panel.title, _drawing(kind, view, panel.data)) for view, _, own in drawn for panel in own]
    shared = drawn[0][0].overlaid in dims
    title = drawn[0][0].title
    return draw_cells(
        cells,
        grid,
        size or (0, 0),
        canvas,
        shared="all" if shared else "col" if len(names) > 1 and grid.n_rows > 1 else "none",
        named=data if shared else None,
        title=title(data) if title else "",
    )


def _panels(
    kind: ResultKind, view: View, data: xr.Dataset, canvas: Canvas
) -> tuple[View, list[Hashable], list[Panel[xr.Dataset]]]:
    """Return the view to draw, the dims of its panels, and what they show: all in one panel where there are many."""
    dims = dims_with_panels(kind, view, data)
    if canvas.ax is not None:
        dims = [dim for dim in dims if dim not in (view.overlaid, *view.panels)] if not view.many else dims
    n_panels = int(np.prod([data.sizes[dim] for dim in dims]))
    asked = canvas.col is not None or canvas.row is not None
    if view.many and not asked and n_panels > (1 if canvas.ax is not None else view.most_panels):
        return view.many, [], [Panel("", data)]
    dims = check_dims(dims, canvas.col, canvas.row, "result")
    return view, dims, split(data, dims)


def _drawing(kind: ResultKind, view: View, result: xr.Dataset) -> Any:
    return lambda ax: ask(kind, result, lambda result: view.draw(result, ax), "plot")


def _no_room(view: str, grid: Grid, dims: Sequence[Hashable], overlaid: str | None, tasks: Sequence[Hashable]) -> str:
    """Return why a view cannot be read, and what to select so that it can."""
    what = f"{grid.n_panels} panels ({' × '.join(map(str, dims))})" if dims else "so many rows and columns"
    few = {"algorithm": "8 algorithms: order=[...]", "pair": "4 algorithms: order=[...]"}
    chosen = [f"at most {few[overlaid]}"] if overlaid in few else []
    slices = [f"{dim}=slice({1 if dim == 'param' else 4})" for dim in tasks if dim not in few]
    chosen += [f".isel({', '.join(slices)})"] if slices else []
    return f"view {view!r} of {what} cannot be read in a figure of 14 by 14 inches. Select {' or '.join(chosen)}"


def _default_views(kind: ResultKind) -> tuple[str, ...]:
    return tuple(name for name, view in kind.views.items() if view.default)


def _check_view(views: Collection[str], default: tuple[str, ...], view: str | None) -> tuple[str, ...]:
    if view is None:
        return default
    if not isinstance(view, str) or view not in views:
        raise ValueError(
            f"view must be one of {', '.join(map(repr, views))}; got {labels_of.shown(view)}"
            f"{labels_of.did_you_mean(view, views)}"
        )
    return (view,)
