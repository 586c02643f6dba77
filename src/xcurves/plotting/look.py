"""The look of all pictures: spines, grid, letters; the widths of a paper; where names stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.array_types import Floats
from xcurves.core.axes import short_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_TEXT, WIDTH_COLUMN = 5.5, 3.25  # inches of a line of text, and of a column of two
_ROUNDS = 100  # of moving names apart
LOOK: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.35",
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "0.9",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "xtick.color": "0.35",
    "xtick.labelcolor": "0.2",
    "ytick.color": "0.35",
    "ytick.labelcolor": "0.2",
}


def letters(width: float) -> dict[str, Any]:
    """Return the look with letters that suit a panel of so many inches."""
    return LOOK | {"font.size": float(np.clip(2.4 * width, 6.5, 10))}


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


def moved_apart(heights: Floats, least: float) -> Floats:
    """Return heights of names, moved as little as they must be to stand `least` from each other."""
    order = np.argsort(heights, kind="stable")
    at = np.asarray(heights, float)[order]
    for _ in range(_ROUNDS):
        missing = least - np.diff(at)
        if (missing <= 1e-6 * least).all():
            break
        shift = np.maximum(missing, 0) / 2
        at[:-1] -= shift
        at[1:] += shift
    found = np.empty_like(at)
    found[order] = at
    return found
