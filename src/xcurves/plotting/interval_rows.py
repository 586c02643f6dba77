"""Values with their intervals, a row each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.plotting.drawn_names import list_rows
from xcurves.plotting.look import BLACK, Style, bounds_of
from xcurves.say.numbers import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class IntervalGroup(NamedTuple):
    """Values of one style with their intervals and rows, each of shape (row,); `flag` as in `caption_of`."""

    y: Floats
    value: Floats
    low: Floats
    high: Floats
    style: Style
    filled: bool = True
    flag: str | None = None


def draw_intervals(ax: Axes, groups: Iterable[IntervalGroup]) -> None:
    """Draw values with their intervals, a row each; an unbounded side ends in an arrow at the edge of the panel."""
    groups = list(groups)
    for group in groups:
        start, stop = (np.where(np.isfinite(bound), bound, group.value) for bound in (group.low, group.high))
        color = group.style.color
        ax.hlines(group.y, start, stop, color=color)
        ax.plot(group.value, group.y, group.style.marker, color=color, markersize=5, gid=group.flag,
                markerfacecolor=color if group.filled else "white")  # fmt: skip
    limits = ax.get_xlim()  # of the finite values
    for group in groups:
        for edge, marker, bound in zip(limits, "<>", (group.low, group.high), strict=True):
            here = np.isinf(bound) & np.isfinite(group.value)
            if here.any():
                look: dict[str, Any] = {"color": group.style.color, "zorder": 1.5}
                ax.hlines(group.y[here], edge, group.value[here], **look)
                ends = np.full(np.count_nonzero(here), edge)
                ax.scatter(
                    ends,
                    group.y[here],
                    s=20,
                    clip_on=False,
                    gid="arrow",
                    marker=marker,
                    **look | {"zorder": 3},
                )
    ax.set_xlim(limits)


def draw_rows(
    ax: Axes,
    names: Sequence[str],
    value: xr.DataArray,
    interval: xr.DataArray,
    *,
    at: float = 0.0,
) -> None:
    """Draw values with their intervals in named rows, beside a line at what is no difference."""
    ax.axvline(at, color="0.6", linewidth=1)
    low, high = bounds_of(interval)
    draw_intervals(
        ax,
        [IntervalGroup(np.arange(float(value.size)), value.to_numpy(), low, high, BLACK)],
    )
    list_rows(ax, names)
    ax.set_xlabel(label_of(value))
    ax.grid(axis="x", alpha=0.3)
