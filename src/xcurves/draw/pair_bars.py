"""Bars below curves in matplotlib: where pairs are shown to differ, in axes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.draw.drawn_names import write_beside
from xcurves.draw.look import ASKED, OWN, width_of
from xcurves.draw.ticks import rescale
from xcurves.pictures.curves import PairBars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _GAP = (0.055, 0.06)  # of the height of the panel: a bar, and the space above all
_PITCH = 1.25  # least height of a row, of that of its letters
_SMALL, _OF_TICKS = (0.8, 0.9)  # of the size of letters of labels
_LETTER = 0.55  # width of a letter, of its height
_MOST_WIDE = 0.5  # of the width of a panel with all beside it, for names of pairs
_BESIDE = 4.5  # width of the numbers and the label of y, of the height of letters
_DOTS = 34.0  # points in front of a name
_DARK = "0.25"


def draw_pair_bars(ax: Axes, bars: Sequence[PairBars], xscale: str | None) -> None:
    """Draw a row for each pair, in figures of our own, its colours beside it and its name, as far as they have room."""
    figure: Any = ax.figure
    points = float(ax.xaxis.label.get_fontsize())
    letters = _SMALL * points
    room = _MOST_WIDE * width_of(ax)
    if figure.get_gid() == ASKED:  # which cannot grow
        room -= _BESIDE * points
    if figure.get_gid() not in (OWN, ASKED) or room < _DOTS:
        return
    names = [pair.name for pair in bars]
    if _DOTS + _LETTER * letters * max(map(len, names)) > room:
        names = [""] * len(bars)
    # a layout leaves the panel about two thirds of the height that it has before
    high = len(bars) * max(_ROW, _PITCH * letters / (0.65 * 72 * ax.bbox.height / figure.dpi))
    below = ax.inset_axes((0, -high - _GAP, 1, high))
    for row, (pair, name) in enumerate(zip(bars, names, strict=True)):
        below.hlines(np.full(len(pair.low), row), pair.low, pair.high, color=_DARK, linewidth=2.5, gid="bars")
        _name(below, row, pair.colors, name, letters)
    rescale(below, xscale)
    below.set(xlim=ax.get_xlim(), ylim=(len(bars) - 0.5, -0.5), yticks=[])
    below.spines["left"].set_visible(False)
    below.set_ylabel("shown", rotation=0, ha="right", va="center", fontsize=letters)
    below.tick_params(labelsize=_OF_TICKS * points)
    ax.tick_params(labelbottom=False)
    below.set_xlabel(ax.get_xlabel())
    ax.set_xlabel("")


def _name(below: Axes, row: int, colors: tuple[str, str], name: str, letters: float) -> None:
    """Write beside a row of bars which of two is better: "● > ● SVM over decision tree"."""
    better, other = colors
    write_beside(below, "●", row, 8, letters, ha="center", color=better)
    write_beside(below, ">", row, 13, letters, color=_DARK)
    write_beside(below, "●", row, 25, letters, ha="center", color=other)
    write_beside(below, name, row, _DOTS, letters, color=_DARK)
