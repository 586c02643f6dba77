"""Curves as a figure of Plotly: hover, zoom, a menu of tasks, algorithms to switch off and on."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import xarray as xr

from xcurves.core.refusal import UNSAID, Cure, Refusal, call, escape_controls
from xcurves.core.schema import ResultKind
from xcurves.core.validation import check_choice, check_curves
from xcurves.draw.interactive import interactive_figure
from xcurves.draw.interactive_curves import interactive_curves
from xcurves.draw.interactive_look import import_plotly
from xcurves.draw.saved import PAGES, check_picture, save_page
from xcurves.means.mean_curves import check_smooth, mean_curves
from xcurves.means.over_tasks import means_over_tasks
from xcurves.means.plots import pictures_of, with_plain_names
from xcurves.pictures.curves import CurvesPicture
from xcurves.pictures.styles import with_styles
from xcurves.plotting.facets import pictures_of_view
from xcurves.plotting.views import check_axes
from xcurves.results import prepare

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ALL = "all tasks"
_SCORE = re.compile(r"\bscore\b")


def explore(
    data: xr.DataArray | xr.Dataset,
    view: str | None = None,
    *,
    smooth: float = 0.0,
    save: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw curves, or a result, as an interactive figure of Plotly.

    Parameters
    ----------
    data : DataArray, dims (..., algorithm, run, training), or Dataset
        Curves, in the unit of the scores; or a result.
    view : str, optional
        Of a result: which picture, as of `plot`. By default the first that suits it.
    smooth : float, default 0
        Of curves: weight of the past, from 0 to below 1, in an exponential mean of every run over its levels, without
        the pull of a start at 0; said in the label of the axis.
    save : path, optional
        A page, ``.html``, to which the figure is written too, whole or not at all. It fits the screens of phones, and
        replaces only a page of xcurves.

    Returns
    -------
    plotly.graph_objects.Figure
        Show it as the last line of a cell. Neither this nor a page that is saved needs a network.

    Raises
    ------
    ModuleNotFoundError
        If plotly (extra ``interactive``) is not installed.
    ValueError, TypeError
        If `data` are no curves, or a result without such a picture, or if `view` or `smooth` is not as described.

    Notes
    -----
    Where the pointer is, the figure says mean, interval and number of runs of every algorithm. The legend switches an
    algorithm off and on with its band and its runs; buttons switch bands, single runs and log axes of all. Of curves of
    several tasks, a menu shows one; the first entry is the mean over all tasks at shares of each task's budget, of the
    algorithms that all tasks have. The menu goes back to all levels; what is switched off stays off.

    Bands of curves are t intervals of the mean of runs at each level by itself; those of all tasks are for these tasks,
    with degrees of freedom by Satterthwaite. They are drawn at the levels that all runs of the algorithm have in the
    task. A single run has none. Bands of results are their own; below, bars mark where pairs or levels differ.

    Lines of many levels are drawn by the lowest and the highest value of each column of pixels. With more than a
    million numbers, single runs are there for the first entry of the menu only; the title says so.

    Of rows and cells, the figure says the numbers where the pointer is; a menu shows one of several tasks.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> figure = scores.curves.explore()
    >>> [trace.name for trace in figure.data if trace.showlegend]
    ['rate 0.001', 'rate 0.8', 'rate 0.1']
    """
    import_plotly()  # what it lacks is said before any work
    path = None if save is None else check_picture(save, PAGES)
    figure = _explored(data, view, smooth)
    if path is not None:
        save_page(figure, path)
    return figure


def _explored(data: xr.DataArray | xr.Dataset, view: str | None, smooth: float) -> Figure:
    """Return the figure of curves, or of a view of a result."""
    if not isinstance(data, xr.Dataset):
        if view is not None:
            raise Refusal("view", view, "is for results; these are curves", "Leave it out")
        pictures = _pictures_of_curves(data, smooth)
        return interactive_curves(pictures, [picture.title for picture in pictures])
    if check_smooth(smooth):
        raise Refusal(
            "smooth",
            UNSAID,
            f"is for curves; got {smooth} with a result, whose bands are its own",
            "Leave it out",
        )
    kind, result = prepare(data)
    if not kind.views:
        raise Refusal("data", UNSAID, f"{kind.name} has no picture", "Its numbers: data.curves.table()")
    if view is not None:
        check_choice("view", view, list(kind.views))
    figure = _declared(kind, result, view)
    if figure is None:
        of = kind.name if view is None else f"view {view!r} of {kind.name}"
        raise Refusal("data", UNSAID, f"{of} has no picture to explore", Cure("Its pictures: ", call(".curves.plot")))
    return figure


def _pictures_of_curves(data: xr.DataArray, smooth: float) -> list[CurvesPicture]:
    """Return the picture of each task, after that of all tasks where there are several."""
    curves = check_curves(data, own_levels=True).compute()
    means = with_plain_names(mean_curves(curves, smooth=smooth))
    pictures = pictures_of(means, curves)
    if len(pictures) == 1:
        return pictures
    over = means_over_tasks(means, curves)
    if over is None:
        return pictures
    return [replace(each, title=_ALL) for each in pictures_of(over)] + pictures


def _declared(kind: ResultKind, result: xr.Dataset, view: str | None) -> Figure | None:
    """Return the figure of a view, by default of the first that declares pictures of what is there."""
    for name in list(kind.views) if view is None else [view]:
        shown = kind.views[name]
        if view is None and not shown.drawing.suits(result):
            continue
        check_axes(kind, name, result)
        dims = kind.panels_of(shown, result)
        pictures, titles = pictures_of_view(kind, shown, with_styles(result, {}), dims, "explore")
        return interactive_figure(pictures, list(map(escape_controls, titles)))
    return None
