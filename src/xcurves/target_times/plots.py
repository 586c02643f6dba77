"""Pictures of times, speed-ups and performance profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.labels import REFERENCE_COLOR, each_of
from xcurves.multi_task.plots import RowsOfTasks, draw_by_task, lines_of_tasks
from xcurves.plotting.drawn_names import list_rows, wrapped
from xcurves.plotting.interval_rows import IntervalGroup, draw_intervals
from xcurves.plotting.look import BLACK, Style, bounds_of, style_in, style_of
from xcurves.say.numbers import label_of, number
from xcurves.target_times.display import DISPLAYED, displayed, is_one_sided

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY = "0.55"
_TICKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.8, 1, 1.25, 1.5, 2, 4, 8, 16)
_FINE = (0.95, 0.96, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.04, 1.05)


def against(result: xr.Dataset) -> str:
    """Return what is compared, over the picture."""
    return f"against {result.attrs['reference']}"


def _each_algorithm(result: xr.Dataset) -> list[xr.Dataset]:
    """Return what is said of each algorithm, of the only one too."""
    whole = result if "algorithm" in result.dims else result.expand_dims("algorithm")
    return list(each_of(whole, "algorithm"))


def draw_times(result: xr.Dataset, ax: Axes) -> None:
    """Draw the time of each algorithm in its row."""
    groups, every = [], _each_algorithm(result)
    for row, one in enumerate(every):
        low, high = one["time_ci"].to_numpy()
        reached, start = bool(np.isfinite(one["time"])), low if low > 0 else -np.inf
        # to which a curve is known to stay below
        value = one["time" if reached else "training_last"].item()
        y, x, lower, upper = np.array([[row], [value], [start], [high if reached else value]], float)
        groups.append(IntervalGroup(y, x, lower, upper, style_in(one), filled=reached))
    draw_intervals(ax, groups)
    list_rows(ax, [str(one["algorithm"].item()) for one in every])
    ax.set_xlabel(wrapped(label_of(result["time"])))
    ax.grid(axis="x", alpha=0.3)


def has_curves(result: xr.Dataset) -> bool:
    """Return whether the result has mean curves."""
    return "mean_curve" in result


def draw_levels(result: xr.Dataset, ax: Axes) -> None:
    """Draw mean curves, and when each reaches the level with its interval."""
    level, last = (
        result["reference_level"].item(),
        float(result["curve_training"].max()),
    )
    of_reference = _style_of_reference(result)
    parts = [(result, "reference_", "reference_curve", of_reference, 9, 0.15)]
    parts += [(one, "", "mean_curve", style_in(one), 5, 0.35) for one in _each_algorithm(result)]
    for one, which, curve, style, width, alpha in parts:
        name = f"{one.attrs['reference']} (reference)" if which else str(one["algorithm"].item())
        ax.plot(
            one["curve_training"],
            one[curve],
            color=style.color,
            linestyle=style.linestyle,
            label=name,
        )
        time, (low, high) = (
            one[f"{which}time"].item(),
            one[f"{which}time_ci"].to_numpy(),
        )
        if np.isfinite(low):
            ax.hlines(
                level,
                low,
                min(high, last),
                color=style.color,
                linewidth=width,
                alpha=alpha,
            )
        if np.isfinite(time):
            size = 6
            if which:
                size = 9
            ax.plot(time, level, style.marker, color=style.color, markersize=size, zorder=4)
    ax.axhline(level, color="0.6", linewidth=1, linestyle="--")
    _draw_rise(result, parts, ax)
    ax.set_xlabel(label_of(result["time"].assign_attrs(long_name="training")))
    ax.set_ylabel(wrapped(label_of(result["mean_curve"])))
    ax.grid(alpha=0.3)


def _style_of_reference(result: xr.Dataset) -> Style:
    """Return the style that the reference has beside the others in every picture."""
    if REFERENCE_COLOR not in result.coords:
        return BLACK
    return style_of(int(result[REFERENCE_COLOR].item()))


def _draw_rise(
    result: xr.Dataset,
    parts: list[tuple[xr.Dataset, str, str, Style, int, float]],
    ax: Axes,
) -> None:
    """Draw the level where the reference had 90 % of its rise too, if a speed-up to its last level is open."""
    if "rise_level" not in result or not np.isfinite(result["rise_level"]):
        return
    if not any(is_one_sided(one[DISPLAYED]) for one in _each_algorithm(displayed(result))):
        return
    level = result["rise_level"].item()
    ax.axhline(level, color="0.6", linewidth=1, linestyle=":")
    ax.annotate(
        "90 % of the rise",
        (1, level),
        (-2, -2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize="small",
        color="0.4",
    )
    for one, which, _, style, _, _ in parts:
        time = one[f"rise_{which}time"].item()
        if np.isfinite(time):
            ax.plot(
                time,
                level,
                style.marker,
                color=style.color,
                markersize=5,
                markerfacecolor="white",
                zorder=4,
            )


def speedup_rows(result: xr.Dataset) -> float:
    """Return how many rows the speed-ups take."""
    n = result.sizes.get("algorithm", 1)
    return 0.75 * lines_of_tasks(result, n) if "task_speedup" in result else n


def draw_speedups(result: xr.Dataset, ax: Axes) -> None:
    """Draw speed-ups in rows on a logarithmic axis; over tasks each task, and both claims as diamonds."""
    every = _each_algorithm(displayed(result))
    if "task_speedup" in result:
        draw_by_task(ax, map(_rows_of_speedup, every), result.attrs["task"])
    else:
        ax.axvline(0, color="0.6", linewidth=1)
        rows = [_logs(one["speedup"], one[DISPLAYED], style_in(one), row) for row, one in enumerate(every)]
        draw_intervals(ax, [group for groups in rows for group in groups])
        list_rows(ax, [str(one["algorithm"].item()) for one in every])
        ax.grid(axis="x", alpha=0.3)
    fine = max(map(abs, ax.get_xlim())) < np.log2(1.06)
    low, high = np.exp2(ax.get_xlim())
    ticks = [each for each in (_FINE if fine else _TICKS) if low <= each <= high]
    ax.set_xticks(np.log2(ticks), [number(each) for each in ticks], fontsize="small")
    ax.set_xlabel(f"speed-up over {result.attrs['reference']}")


def _rows_of_speedup(one: xr.Dataset) -> RowsOfTasks:
    """Return the tasks of an algorithm, the largest speed-up first."""
    task = str(one.attrs["task"])
    own = one if task in one["task_speedup"].dims else one.expand_dims(task)
    own = own.isel({task: np.argsort(-np.nan_to_num(own["task_speedup"].to_numpy(), nan=-1), kind="stable")})
    claims = [one.sel(task_effect=claim) for claim in one["task_effect"]]
    return RowsOfTasks(
        own[task].to_numpy().tolist(),
        _logs(
            own["task_speedup"],
            own["task_speedup_ci"],
            Style(_GREY, "-", "o"),
            np.arange(float(own.sizes[task])),
        ),
        {str(c["task_effect"].item()): _logs(c["speedup"], c[DISPLAYED], Style("black", "-", "D"), 0) for c in claims},
        str(one["algorithm"].item()),
        style_in(one).color,
    )


def _logs(value: xr.DataArray, bounds: xr.DataArray, style: Style, rows: Floats | int) -> list[IntervalGroup]:
    """Return intervals of logarithms; one without an estimate hangs on the end that it has."""
    y = np.atleast_1d(np.asarray(rows, float))
    with np.errstate(divide="ignore"):
        x, low, high = np.log2(np.vstack([np.atleast_1d(value), bounds_of(bounds).reshape(2, -1)]))
    bare = np.isnan(x)
    x = np.where(
        bare,
        np.where(np.isfinite(high), high, np.where(np.isfinite(low), low, np.nan)),
        x,
    )
    return [
        IntervalGroup(y[mine], x[mine], low[mine], high[mine], which)
        for mine, which in ((~bare, style), (bare, style._replace(marker="|")))
        if mine.any()
    ]


def draw_profiles(result: xr.Dataset, ax: Axes) -> None:
    """Draw the share of tasks within each factor of the best, a step curve for each algorithm."""
    for one in sorted(_each_algorithm(result), key=lambda one: -one["score"].item()):
        style = style_in(one)
        label = f"{one['algorithm'].item()} ({number(one['score'].item(), 2)})"
        ax.step(
            one["tau"],
            one["share"],
            where="post",
            color=style.color,
            linestyle=style.linestyle,
            label=label,
        )
    ax.set_ylim(0, 1.02)
    ax.set_xlim(1, float(result["tau"].max()))
    ax.set_xlabel("time as a multiple of the best")
    ax.set_ylabel(f"share of {result.attrs['task']}s")
    ax.grid(alpha=0.3)
