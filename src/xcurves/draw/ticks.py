"""Scales of axes, and ticks with few plain numbers."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

import numpy as np

from xcurves.array_types import Floats
from xcurves.say.numbers import short_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_LARGE = 10_000  # levels from here on are written short
_MOST_DECADES = 100  # of levels, beyond which margins would leave the numbers that there are
_DECADES, _NARROW = 100.0, 3.0  # ratios of ends below which a log axis has more ticks than powers of ten
_NAMED = 12  # levels that get a tick each


def scale_levels(ax: Axes, levels: Floats, kind: str) -> None:
    """Give the x axis the kind "linear", "log" or "symlog", with a tick at each of few levels that are not linear."""
    if kind == "linear":
        write_short(ax.xaxis, levels)
        return
    if kind == "log":
        ax.set_xscale("log")
        if log10(levels[-1]) - log10(levels[0]) > _MOST_DECADES:
            # a margin beyond them would end at 0 or infinity
            ax.set_xlim(levels[0], levels[-1])
    else:
        ax.set_xscale("symlog", linthresh=levels[1], linscale=0.5)
    if len(levels) <= _NAMED:
        ax.set_xticks(levels, list(map(short_level, levels)), fontsize="small")
        ax.minorticks_off()
    elif kind == "symlog":
        decades = np.arange(np.ceil(np.log10(levels[1])), np.floor(np.log10(levels[-1])) + 1)
        ax.set_xticks([0, *10**decades])


def write_short(axis: Axis, values: Floats) -> None:
    """Write the numbers of a linear axis of these values short where some are large: 20k, 1.5M."""
    from matplotlib.ticker import EngFormatter

    if np.abs(values[np.isfinite(values)]).max(initial=0) >= _LARGE:
        axis.set_major_formatter(EngFormatter(sep=""))


def rescale(ax: Axes, xscale: str | None = None, yscale: str | None = None) -> None:
    """Give axes scales; log ones have ticks at 1, 2 and 5, written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis, set_scale, scale in (
        (ax.xaxis, ax.set_xscale, xscale),
        (ax.yaxis, ax.set_yscale, yscale),
    ):
        if scale is None:
            continue
        set_scale(scale)
        if scale == "log":
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(FuncFormatter(lambda level, _: short_level(level)))
            axis.set_minor_formatter(NullFormatter())


def label_narrow(axis: Axis) -> None:
    """Give a log axis on which no power of ten may fall more ticks, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, LogLocator, NullFormatter

    if not isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
        return
    low, high = sorted(axis.get_view_interval())
    if high >= _DECADES * low:
        return
    axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5) if high > _NARROW * low else range(1, 10)))
    axis.set_major_formatter(FuncFormatter(lambda level, _: short_level(level)))
    axis.set_minor_formatter(NullFormatter())
