"""Bars below curves in matplotlib: where pairs are shown to differ, in axes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.draw.look import OWN, width_of
from xcurves.draw.ticks import rescale
from xcurves.pictures.curves import PairBars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _GAP = (0.055, 0.06)  # of the height of the panel: a bar, and the space above all
_SMALL, _OF_TICKS = (0.8, 0.9)  # of the size of letters of labels
_LETTER = 0.55  # width of a letter, of its height
_MOST_WIDE = 0.5  # of the width of a panel with all beside it, for names of pairs
_DOTS = 34.0  # points in front of a name
_LEAST_CURVES = 90.0  # points of the width of curves and their numbers
_DARK = "0.25"


def draw_pair_bars(ax: Axes, bars: Sequence[PairBars], xscale: str | None) -> None:
    """Draw a row for each pair, in figures of our own where names of pairs have room."""
    figure: Any = ax.figure
    points = float(ax.xaxis.label.get_fontsize())
    letters = _SMALL * points
    longest = max(len(pair.name) for pair in bars)
    wide, names = width_of(ax), _LETTER * letters * longest
    if figure.get_gid() != OWN or names > min(_MOST_WIDE * wide, wide - _DOTS - _LEAST_CURVES):
        return
    high = _ROW * len(bars)
    below = ax.inset_axes((0, -high - _GAP, 1, high))
    for row, pair in enumerate(bars):
        below.hlines(np.full(len(pair.low), row), pair.low, pair.high, color=_DARK, linewidth=2.5, gid="bars")
        _name(below, row, pair, letters)
    rescale(below, xscale)
    below.set(xlim=ax.get_xlim(), ylim=(len(bars) - 0.5, -0.5), yticks=[])
    below.spines["left"].set_visible(False)
    below.set_ylabel("shown", rotation=0, ha="right", va="center", fontsize=letters)
    below.tick_params(labelsize=_OF_TICKS * points)
    ax.tick_params(labelbottom=False)
    below.set_xlabel(ax.get_xlabel())
    ax.set_xlabel("")


def _name(below: Axes, row: int, pair: PairBars, letters: float) -> None:
    """Write beside a row of bars which of two is better: "● > ● SVM over decision tree"."""
    look: dict[str, Any] = {
        "xycoords": below.get_yaxis_transform(),
        "textcoords": "offset points",
        "va": "center",
        "fontsize": letters,
    }
    better, other = pair.colors
    below.annotate("●", (1, row), (8, 0), ha="center", color=better, **look)
    below.annotate(">", (1, row), (13, 0), color=_DARK, **look)
    below.annotate("●", (1, row), (25, 0), ha="center", color=other, **look)
    below.annotate(pair.name, (1, row), (_DOTS, 0), color=_DARK, **look)
