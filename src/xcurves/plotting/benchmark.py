"""A benchmark in one figure: aggregates, performance profiles, probabilities of improvement, sample efficiency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, run_checks, task_dims, validation
from xcurves.core.refusal import UNSAID, Cure, Refusal, give
from xcurves.core.schema import MOST_CURVES
from xcurves.core.validation import check_curves
from xcurves.distributions.performance_cdf import performance_cdf
from xcurves.draw.canvas import Canvas, check_figsize, styled
from xcurves.draw.curve_names import in_few_lines
from xcurves.draw.drawn_names import drawable
from xcurves.draw.fitted import fit_labels, fit_ticks_and_rows, thin_ticks
from xcurves.draw.look import import_pyplot, take_dpi
from xcurves.draw.room import Grid
from xcurves.draw.shapes import draw_picture
from xcurves.frames.align import align
from xcurves.multi_task.across_tasks import across_tasks
from xcurves.multi_task.profile_across_tasks import profile_across_tasks
from xcurves.results import kind_of

_STATISTICS = ("score_median", "iqm", "score_mean", "optimality_gap")
_N_RESAMPLES = 2_000  # of the statistics
_N_SCORES = 101  # at which the profile is drawn
_SAMPLE = 2.8  # width of a line in the legend, of the height of its letters
_WIDE, _COLUMNS = 13.0, 3
_ROUNDING = 0.01  # inches
_GROWTH = (3.6, 2.2)  # of a figure, by that of one of its panels below
# inches: margins of the panels of statistics, a row of them, the panels below
_AROUND, _ROW, _BELOW = (0.9, 0.26, 4.2)


def plot_benchmark(
    curves: xr.DataArray,
    *,
    task: str = "task",
    target: float | None = None,
    figsize: tuple[float, float] | None = None,
    colors: Mapping[Any, Any] | Sequence[Any] | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> NDArray[Any]:
    """Draw the figures of rliable for a benchmark, in one figure.

    Parameters
    ----------
    curves : DataArray, dims (task, algorithm, run, training)
        Scores of several tasks on one scale: normalize scores of unlike scales first.
    task : str
        The dim of tasks; "task" is the only further dim, whatever its name.
    target : float, optional
        Score to be reached, for the optimality gap: 1 of scores that are normalized by the best known. Without it there
        is no such panel.
    figsize : (float, float), optional
        Width and height of the figure in inches.
    colors : mapping or sequence, optional
        As of `plot`. At most eight algorithms are drawn.
    n_resamples, confidence_level, rng : int, float, and int, Generator or None
        Of `performance_cdf`, `across_tasks` and `profile_across_tasks`.

    Returns
    -------
    ndarray of Axes
        Median, IQM, mean and, with a target, the optimality gap of the last scores; the performance profile; the
        probability of improvement; the sample efficiency.

    Raises
    ------
    ValueError, TypeError
        If `curves` are not of one dim of tasks or of more than eight algorithms, or if an option is not as described.
    ModuleNotFoundError
        If matplotlib (extra ``plot``) is not installed.

    Warns
    -----
    UserWarning
        If a task has few runs, as `performance_cdf`.

    Notes
    -----
    Intervals of statistics and of the profile are percentile bootstrap intervals, of runs within tasks, as in
    rliable; each score is at the last training level that all runs of its task have. Probabilities of improvement are
    means over tasks, bold where a randomization test shows them to differ from one half on these tasks. Sample
    efficiency is the mean over tasks against the share of each task's budget; its bands hold along the whole curve, and
    bars mark where a pair differs on tasks like these. Statistics are of all trials together; the median of rliable is
    that of the tasks' means. For the numbers call the three functions.

    References
    ----------
    .. [1] Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical precipice. NeurIPS 34.
       doi:10.48550/arXiv.2108.13264

    Examples
    --------
    >>> import warnings, xcurves
    >>> accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"].isel(task=slice(6), algorithm=slice(2))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # five runs are few
    ...     axes = accuracy.curves.plot_benchmark(target=100, n_resamples=99, rng=0)
    >>> [ax.get_xlabel() for ax in axes[:4]]
    ['median (%)', 'IQM (%)', 'mean (%)', 'optimality gap (%)']
    """
    import_pyplot()
    curves = check_curves(curves, named=task_dims.named_dims(task)).compute()
    task = task_dims.one_dim(curves, task)
    run_checks.check_scored(curves)
    run_checks.check_finite(curves.to_numpy(), labels.task_names(curves))
    others = [dim for dim in labels.extra_dims(curves) if dim != task]
    if others:
        raise Refusal(
            "curves",
            UNSAID,
            f"curves have a dim {others[0]!r} beside the tasks",
            f"Select: curves.isel({others[0]}=0)",
        )
    n_drawn = curves.sizes["algorithm"]
    if n_drawn > MOST_CURVES:
        raise Refusal(
            "curves",
            UNSAID,
            f"a figure has at most {MOST_CURVES} algorithms; got {n_drawn}",
            "Select some: .sel(algorithm=[...])",
        )
    options: dict[str, Any] = {
        "confidence_level": confidence_level,
        "rng": validation.check_rng(rng),
    }
    # of the one level that a task has
    last = align(curves, "final", runs_short="cut").max("training", keep_attrs=True)
    at = np.linspace(float(last.min()), float(last.max()), _N_SCORES)
    aggregates = performance_cdf(
        last, dim=(task, "run"), strata=task, interval="percentile", target=target, scores_at=at,
        n_resamples=validation.check_count("n_resamples", n_resamples) or _N_RESAMPLES, **options,
    )  # fmt: skip
    options |= {"task": task, "n_resamples": n_resamples}
    drawn: list[tuple[str, xr.Dataset]] = [
        *(("statistics", aggregates.sel(param=[name])) for name in _STATISTICS[: 3 + (target is not None)]),
        ("profile", aggregates),
        ("prob_greater", across_tasks(curves, **options)),
        ("mean_curve", profile_across_tasks(curves, **options)),
    ]
    size = check_figsize(figsize) or (_WIDE, _AROUND + _ROW * n_drawn + _BELOW)
    with Grid(1, _COLUMNS, 1).letters(size):
        axes = _new_axes(size, len(drawn) - 3, _AROUND + _ROW * n_drawn)
        for ax, (view, result) in zip(axes, drawn, strict=True):
            shown = drawable(styled(result, Canvas(colors=colors)))
            draw_picture(ax, kind_of(result).views[view].drawing.picture(shown))
        for ax in axes[1:-3]:
            ax.tick_params(labelleft=False)
        handles, names = axes[-1].get_legend_handles_labels()
        figure = axes[0].figure
        place = {"loc": "outside lower center", "frameon": False, "handlelength": _SAMPLE}
        in_few_lines(partial(figure.legend, handles, names, **place), len(names), figure.bbox.width)
        _fit(axes, size)
    _check_room(axes[-2], size)
    figure.stale = True  # it is laid out, not drawn
    return axes


def _fit(axes: NDArray[Any], size: tuple[float, float]) -> None:
    """Write labels, ticks and names in the room that they have."""
    for row in (axes[:-3], axes[-3:]):  # labels of one row end where those of the next panel begin
        for ax in row:
            thin_ticks(ax, size[0] / len(row), size[1] / 2)
        fit_labels(row, size[0] / len(row), size[1] / 2)
    fit_ticks_and_rows(axes)


def _check_room(cells: Any, size: tuple[float, float]) -> None:
    """Refuse a size in which names of rows or columns of the matrix of probabilities are over each other."""
    room = np.array([cells.bbox.width, cells.bbox.height]) / len(cells.get_xticks())
    names = [label.get_window_extent() for label in (*cells.get_xticklabels(), *cells.get_yticklabels())]
    n = len(names) // 2
    needed = np.array([max(box.width for box in names[:n]), max(box.height for box in names[n:])])
    missing = np.maximum(needed - room, 0) * n / cells.figure.dpi
    if (missing <= _ROUNDING).all():
        return
    import_pyplot().close(cells.figure)
    wide, high = np.ceil(10 * (size + _GROWTH * missing)) / 10
    raise Refusal(
        "figsize",
        size,
        "has no room for the names of the algorithms",
        Cure("Give ", give(figsize=(float(wide), float(high)))),
    )


def _new_axes(size: tuple[float, float], n_statistics: int, high: float) -> NDArray[Any]:
    """Return new axes: a row of statistics, so many inches high, and three panels below."""
    figure = import_pyplot().figure(figsize=size, layout="constrained")
    take_dpi(figure)
    above, below = figure.add_gridspec(2, 1, height_ratios=[high, max(size[1] - high, 1)])
    rows = [above.subgridspec(1, n_statistics), below.subgridspec(1, 3)]
    return np.array([figure.add_subplot(cell) for row in rows for cell in row])
