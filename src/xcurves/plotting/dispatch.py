"""Pictures of curves and of results: which views there are, and a panel for each view and task."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, run_checks, validation
from xcurves.core.axes import drawable, make_room, new_axes, say_task
from xcurves.core.schema import ResultKind, View
from xcurves.core.validation import check_curves
from xcurves.plotting import curves
from xcurves.results import ask, kind_of, parts_of, prepare, views_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T_Data = TypeVar("T_Data", xr.DataArray, xr.Dataset)

_MOST = 10**6  # resamples of a band, which are held in memory
_WIDE = 4  # most panels in a row
_HEIGHT, _AROUND, _ROW = 3.2, 0.9, 0.26  # height in inches of a panel, of the margins around rows, of a row


def plot(
    data: xr.DataArray | xr.Dataset | xr.DataTree,
    view: str | None = None,
    *,
    ax: Axes | None = None,
    n_resamples: int | None = None,
    confidence_level: float | None = None,
    rng: validation.Rng = None,
) -> Axes | NDArray[Any]:
    """Draw curves, or a result.

    Parameters
    ----------
    data : DataArray, dims (..., algorithm, run, training), Dataset or DataTree
        Curves, what a method returned, or a whole analysis, with at most one extra dim.
    view : str, optional
        What to draw, see Notes.
    ax : matplotlib.axes.Axes, optional
        Where to draw it: one view of one task. By default a new figure, with a panel for each view and each label of
        the extra dim.
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
        If `data` is neither curves nor a result, if the view is unknown, if there is more than one extra dim, if
        several panels are asked of one Axes, or if an option of curves is given with a result.
    ModuleNotFoundError
        If matplotlib (extra ``plot``) is not installed.

    Warns
    -----
    UserWarning
        If an algorithm has runs in a task, but no level that all of them have.

    Notes
    -----
    An algorithm has the same colour, line and marker in every picture, by its position in the `algorithm`
    coordinate. To keep them for a selection of algorithms, keep the positions of the others:
    ``curves.sel(algorithm=["sac", "td3"]).reindex(algorithm=curves.algorithm)`` makes the others absent.

    Of curves: ``"runs"``, each run as a thin line up to its last level; the mean of an algorithm's runs as a thick
    line; around it the percentile interval of the mean when whole runs are resampled, for each level by itself. Both
    are drawn at the levels that all runs of the algorithm have in the task: beyond them the mean would be that of
    some runs only. A single run has no band. With few runs bootstrap intervals are too short: conclude from tests.

    Of `randomized_anova`: ``"f"``, each F ratio over its critical value, with both error terms, on the null
    distribution where `keep_null` kept it. Of `pairwise` and `contrast`: ``"difference"`` and ``"estimate"``, with
    their intervals, with arrows for unbounded sides, and p.

    Of `ss_profile`: ``"fraction"``, the share of each level in the observed simple sum of squares, shaded where chance
    gives as much (which may be more than 1), with a bar under the levels that differ by `pvalue_adjusted`; and
    ``"cumulative"``, the running sums of the three profiles. Both by default.

    Of `fit_power_law`, all algorithms on one Axes: ``"curve"`` (the default), error against n^-0.5, where an exponent
    of -0.5 gives a straight line, with n in parentheses, mean errors as circles, intervals of the curve, and a bar at
    four times the largest measured size; and ``"scatter"``, error against data-reliance, with intervals.

    Of `performance_cdf`, algorithms in one panel: ``"inverse_cdf"`` (score against probability, with pointwise
    intervals; the default), ``"cdf"`` and ``"profile"`` (share of trials at or below, or above, a score, with the band
    or, of a bootstrap, pointwise intervals), ``"statistics"`` (those on the scale of scores, with intervals as far as
    they are finite). Of `compare_distributions`: ``"prob_greater"`` (the default) and ``"quantile_difference"``.

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
    if isinstance(data, xr.DataTree):
        return _plot_tree(
            data, view, ax, {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
        )
    if not isinstance(data, xr.Dataset):
        return _plot_curves(data, view, ax, n_resamples, confidence_level, rng)
    for name, value in (("n_resamples", n_resamples), ("confidence_level", confidence_level), ("rng", rng)):
        if value is not None:
            raise ValueError(f"{name} is for pictures of curves; a result has its own. Leave it out")
    return _plot_result(data, view, ax)


def _plot_tree(tree: xr.DataTree, view: str | None, ax: Axes | None, of_curves: dict[str, Any]) -> Axes | NDArray[Any]:
    group = tree.children.get("curves")
    arrays = [] if group is None else list(group.to_dataset().data_vars.values())
    parts: dict[str, xr.DataArray | xr.Dataset] = dict(zip(["curves"], arrays, strict=False))
    parts |= {name: part for name, part in parts_of(tree).items() if kind_of(part).views}
    if view is not None:
        _check_view(parts, (), view)
        return plot(parts[view], ax=ax, **(of_curves if view == "curves" else {}))
    if ax is not None:
        raise ValueError(
            f"ax is one Axes; got {len(parts)} groups. Name one, view={next(iter(parts))!r}, or leave ax out"
        )
    columns = {name: _columns(part) for name, part in parts.items()}
    axes = new_axes(len(parts), max(map(len, columns.values())))
    for row, (name, tasks) in zip(axes, columns.items(), strict=True):
        for panel, (title, task) in zip(row, tasks, strict=True):
            if isinstance(task, xr.DataArray):
                plot(task, ax=panel, **of_curves)
            else:
                plot(task, _default_views(kind_of(task))[0], ax=panel)
            panel.set_title(title or name)
    make_room(axes)
    return axes.item() if axes.size == 1 else axes.squeeze()


def _columns(part: xr.DataArray | xr.Dataset) -> list[tuple[str, Any]]:
    """Return title and data of each task of a part of an analysis."""
    dims = labels.extra_dims(part) if isinstance(part, xr.DataArray) else kind_of(part).task_dims(part)
    return _tasks(part, [dim for dim in dims if dim != "algorithm"], "tree")


def _plot_curves(
    data: xr.DataArray,
    view: str | None,
    ax: Axes | None,
    n_resamples: int | None,
    confidence_level: float | None,
    rng: validation.Rng,
) -> Axes | NDArray[Any]:
    _check_view(("runs",), ("runs",), view)
    array = drawable(check_curves(data).compute())
    if np.isinf(array).any():
        raise ValueError("curves has infinite values. Mask them as missing: curves.where(np.isfinite(curves))")
    run_checks.check_largest(array.to_numpy(), labels.task_names(array))
    band = curves.Band(
        validation.check_count("n_resamples", n_resamples, most=_MOST) or curves.N_RESAMPLES,
        validation.check_confidence_level(0.95 if confidence_level is None else confidence_level),
        validation.check_rng(rng),
    )
    tasks = _tasks(array, labels.extra_dims(array), "curves")
    panels = _wrapped_axes(len(tasks)) if ax is None else _given_axes(ax, 1, len(tasks)).ravel()
    for panel, (title, task) in zip(panels, tasks, strict=True):
        curves.draw_curves(task, panel, band)
        panel.set_title(title)
    for i, panel in enumerate(panels):
        panel.set_ylabel(panel.get_ylabel() if i % _WIDE == 0 else "")
        panel.set_xlabel(panel.get_xlabel() if i + _WIDE >= len(panels) else "")
    curves.name_algorithms(array, panels[min(len(panels), _WIDE) - 1])
    if ax is None:
        make_room(panels[None])
    curves.warn_of_no_mean(array)
    return panels.item() if panels.size == 1 else panels


def _plot_result(data: xr.Dataset, view: str | None, ax: Axes | None) -> Axes | NDArray[Any]:
    kind, data = prepare(data)
    data = drawable(data)
    views = views_of(kind)
    names = _check_view(views, _default_views(kind), view)
    tasks = _tasks(data, kind.panel_dims(data), "result")
    if ax is None:
        rows = [count(data) for name in names if (count := views[name].rows)]
        height = max([_HEIGHT, *(_AROUND + _ROW * n_rows for n_rows in rows)])
        if len(names) == 1 and len(tasks) > _WIDE:
            axes = _wrapped_axes(len(tasks), height)[np.newaxis]
        else:
            axes = new_axes(len(names), len(tasks), height=height, sharex=len(names) > 1 and "col")
    else:
        axes = _given_axes(ax, len(names), len(tasks))
    for column, (title, task) in zip(axes.T, tasks, strict=True):
        for panel, name in zip(column, names, strict=True):
            _draw(kind, views[name], task, panel)
        for panel in column[:-1]:
            panel.set_xlabel("")
        column[0].set_title(title)
    if ax is None:
        make_room(_page(axes[0]) if len(names) == 1 else axes)
    return axes.item() if axes.size == 1 else axes.squeeze()


def _draw(kind: ResultKind, view: View, result: xr.Dataset, ax: Axes) -> None:
    ask(kind, result, lambda result: view.draw(result, ax), "plot")


def _default_views(kind: ResultKind) -> tuple[str, ...]:
    return tuple(name for name, view in kind.views.items() if view.default)


def _tasks(data: T_Data, dims: Sequence[Hashable], name: str) -> list[tuple[str, T_Data]]:
    """Return title and data of each panel."""
    if not dims:
        return [("", data)]
    if len(dims) > 1:
        raise ValueError(f"{name} has the extra dims {tuple(dims)}; one can be drawn. Select: {name}.isel({dims[0]}=0)")
    (dim,) = dims
    one_by_one = [data.isel({dim: i}) for i in range(data.sizes[dim])]  # with the other coordinates of the task
    titles = [say_task({dim: label}) for label in data[dim].to_numpy().tolist()]
    return list(zip(titles, [task.drop_vars([dim], errors="ignore") for task in one_by_one], strict=True))


def _given_axes(ax: Axes, n_views: int, n_tasks: int) -> NDArray[Any]:
    if not hasattr(ax, "set_xscale"):
        got = type(ax).__name__
        raise TypeError(f"ax must be a matplotlib Axes; got {got}. Make one: fig, ax = matplotlib.pyplot.subplots()")
    if n_views * n_tasks > 1:
        raise ValueError(
            f"ax is one Axes; got {n_views} views of {n_tasks} tasks. Select a task, give view=, or leave ax out"
        )
    return np.array([[ax]])


def _wrapped_axes(n_panels: int, height: float = _HEIGHT) -> NDArray[Any]:
    """Return new axes, shape (panel,), in rows that fit on a page."""
    n_columns = min(n_panels, _WIDE)
    axes = new_axes(-(-n_panels // n_columns), n_columns, height=height).ravel()
    for unused in axes[n_panels:]:
        unused.remove()
    return axes[:n_panels]


def _page(panels: NDArray[Any]) -> NDArray[Any]:
    """Return wrapped panels in their rows and columns; where there is none, the one above."""
    n_columns = min(len(panels), _WIDE)
    place = np.arange(-(-len(panels) // n_columns) * n_columns)
    return np.asarray(panels[np.where(place < len(panels), place, place - n_columns)].reshape(-1, n_columns))


def _check_view(views: Collection[str], default: tuple[str, ...], view: str | None) -> tuple[str, ...]:
    if view is None:
        return default
    if view not in views:
        raise ValueError(f"view must be one of {', '.join(map(repr, views))}; got {labels.shown(view)}")
    return (view,)
