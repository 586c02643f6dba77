"""Pictures of curves and of results: which views there are, and which panels they have."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import validation
from xcurves.core.refusal import UNSAID, Refusal, WrongType
from xcurves.draw.canvas import Canvas, check_figsize, check_fontsize, check_legend
from xcurves.draw.look import import_pyplot
from xcurves.draw.saved import check_picture, save_picture
from xcurves.plotting import curves
from xcurves.plotting.results_drawn import plot_result
from xcurves.plotting.views import check_view
from xcurves.results import kind_of, parts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# options that pictures of results can take
_OF_RESULTS = ("band", "columns", "linestyles", "xscale", "yscale", "title")


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
        Where to draw it: one panel. Axes of which names would take more than half are refused. By default a new figure,
        with a panel for each view and each task.
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
    canvas = Canvas(ax, col, row, validation.check_count("col_wrap", col_wrap), check_figsize(figsize), colors, order,
                    labels, check_legend(legend), check_fontsize(fontsize))  # fmt: skip
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
        save_picture(np.ravel([axes])[0].get_figure(root=True), path, trim=figsize is None)
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
        (name,) = check_view(parts, tuple(parts)[:1], view)
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
        check_view(("runs",), ("runs",), view)
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
    return plot_result(data, view, canvas, claim, options)


def _parts_drawn(tree: xr.DataTree) -> dict[str, Any]:
    """Return the curves and the results of an analysis that have pictures, by their groups."""
    group = tree.children.get("curves")
    arrays = [] if group is None else list(group.to_dataset().data_vars.values())
    parts: dict[str, Any] = dict(zip(["curves"], arrays, strict=False))
    return parts | {name: part for name, part in parts_of(tree).items() if kind_of(part).views}
