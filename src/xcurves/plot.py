"""Pictures of results: which views there are, and a panel for each view and task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves import labels
from xcurves.plots import distribution, learning, profile, study
from xcurves.plots.axes import Family, new_axes, say_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAMILIES: Mapping[str, Family] = {
    "ss_profile": profile.FAMILY,
    "fit_power_law": learning.FIT,
    "performance_cdf": distribution.PERFORMANCE_CDF,
    "compare_distributions": distribution.COMPARE_DISTRIBUTIONS,
    "study": study.STUDY,
    "runs_needed": study.STUDY,
}


def plot(result: xr.Dataset, view: str | None = None, *, ax: Axes | None = None) -> Axes | NDArray[Any]:
    """Draw a result.

    Parameters
    ----------
    result : Dataset
        What a method returned, with at most one extra dim.
    view : str, optional
        What to draw, see Notes.
    ax : matplotlib.axes.Axes, optional
        Where to draw it: one view of one task. By default a new figure, with a row for each view and a column for
        each label of the extra dim.

    Returns
    -------
    Axes, or ndarray of Axes
        One panel's Axes, else those of all panels, as `matplotlib.pyplot.subplots` returns them.

    Raises
    ------
    AttributeError
        If there is no picture of this kind of result.
    ValueError
        If the view is unknown, if there is more than one extra dim, or if several panels are asked of one Axes.
    ModuleNotFoundError
        If matplotlib (extra ``plot``) is not installed.

    Notes
    -----
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

    Of `study.type_i_error`, `study.power` and `runs_needed`: ``"rate"``, the share of rejections against the first
    setting that varies, with exact intervals, and the nominal level, or the power wanted, dotted.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> axes = scores.curves.ss_profile(n_resamples=199, rng=0).curves.plot("fraction")
    >>> axes.get_xlabel(), axes.get_xscale()
    ('training (games)', 'symlog')
    """
    kind = labels.kind_of(result)
    if kind not in _FAMILIES:
        raise AttributeError(labels.no_method(result, "plot"))
    family = _FAMILIES[kind]
    views = _check_view(family, view)
    overlaid = family.together(result)
    facets = [dim for dim in labels.task_dims(result) if dim not in overlaid]
    if len(facets) > 1:
        raise ValueError(
            f"result has the extra dims {tuple(facets)}; one can be drawn. Select: result.isel({facets[0]}=0)"
        )
    tasks = [result.isel({dim: [i]}) for dim in facets for i in range(result.sizes[dim])] or [result]
    if ax is not None and len(views) * len(tasks) > 1:
        raise ValueError(
            f"ax is one Axes; got {len(views)} views of {len(tasks)} tasks. Select a task, give view=, or leave ax out"
        )
    axes = new_axes(len(views), len(tasks), sharex=len(views) > 1 and "col") if ax is None else np.array([[ax]])
    for column, task in zip(axes.T, tasks, strict=True):
        for panel, name in zip(column, views, strict=True):
            family.views[name](task.squeeze(facets, drop=True), panel)
        for panel in column[:-1]:
            panel.set_xlabel("")
        if facets:
            column[0].set_title(say_task({dim: task[dim].item() for dim in facets}))
    return axes.item() if axes.size == 1 else axes.squeeze()


def _check_view(family: Family, view: str | None) -> tuple[str, ...]:
    if view is None:
        return family.default
    if view not in family.views:
        raise ValueError(f"view must be one of {', '.join(map(repr, family.views))}; got {view!r}")
    return (view,)
