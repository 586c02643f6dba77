"""The forest of pairs: a row for each, grouped by the better algorithm, with the numbers of the table beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.plotting.drawn_names import wrapped
from xcurves.plotting.interval_rows import IntervalGroup, draw_intervals
from xcurves.plotting.look import Style, slot_of, style_in
from xcurves.say.numbers import decimals_of, p_text, rounded
from xcurves.say.pairs import (
    PairRow,
    between,
    heading,
    keeps_direction,
    most_ahead,
    rows_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 45  # pairs that have a row each; of more those of the best
COLUMNS = "forest_columns"  # the attr of a result with the columns that were asked for
NAMES_OF_COLUMNS = ("estimate", "interval", "p")
_DROPPED_FIRST = ("interval", "estimate", "p")  # where a panel that is not ours is narrow
_LEAST_LETTER = 5.5  # points
_PITCH = 1.3  # height of a line, of that of its letters
_OF_LABEL = 40  # letters in a line of the label, which has room below the columns too
_OF_COLUMNS = 34  # letters of amount, interval and p with their spaces, at least
_APART = 3  # letters that the space before a column takes
_GREY = "0.6"
_LETTER = 0.64  # width of a letter, of its height
_SPACE = 7  # points between two columns
_FEW = 24  # rows whose letters have the usual size
_ABOVE, _BELOW = "> 0", "< 0"  # ends that the test set to 0


Column = tuple[str, list[str]]  # heading and texts


class Line(NamedTuple):
    """A line of the forest: the name of a group, or a pair."""

    label: str
    algorithm: str
    row: PairRow | None


def forest_lines(displayed: xr.Dataset, *, of_best: bool = False) -> list[Line]:
    """Return the lines of the displayed pairs of one task, grouped by the better algorithm, the one ahead on top.

    Of very many pairs, or if it is asked for, those of the best algorithm only.
    """
    rows = rows_of(displayed)
    if len(rows) > MOST_ROWS or (of_best and not keeps_direction(displayed)):
        best = most_ahead(rows)
        rows = [row for row in rows if best in row[:2]]
    if keeps_direction(displayed) or len(rows) == 1:
        word = f" {between(displayed)} "
        if keeps_direction(displayed):
            word = " − "
        return [Line(f"{row.better}{word}{row.other}", row.better, row) for row in rows]
    lines = []
    left = list(dict.fromkeys(name for row in rows for name in row[:2]))
    order = []
    while left:  # the one that is most ahead of those that are left
        first = most_ahead(row for row in rows if {*row[:2]} <= {*left}) or left[0]
        order.append(first)
        left.remove(first)
    for name in order:
        own = sorted((row for row in rows if row.better == name), key=lambda row: row.amount)
        if own:
            lines.append(Line(name, name, None))
            lines += [Line(f"{between(displayed)} {row.other}", name, row) for row in own]
    return lines


def n_forest_lines(displayed: xr.Dataset) -> float:
    """Return how many lines the forest has, its headings included; a single pair is as low as can be."""
    n_lines = len(forest_lines(displayed))
    if n_lines == 1:
        return 1.5
    return n_lines + 1.2


def n_forest_letters(displayed: xr.Dataset) -> float:
    """Return how many letters stand beside the forest, in names and in columns of numbers."""
    lines = forest_lines(displayed)
    of_names = max((len(line.label) for line in lines), default=0)
    columns = _columns(lines, _heading(displayed))
    of_columns = sum(_APART + max(map(len, [name, *texts])) for name, texts in columns.values())
    return of_names + max(_OF_COLUMNS, of_columns)


def draw_forest_of_pairs(ax: Axes, result: xr.Dataset, displayed: xr.Dataset, xlabel: str) -> None:
    """Draw the displayed pairs of a result: amount, interval and p of each, shown ones in the colour of the better.

    In Axes that are not ours it takes no more room than these have: of too many pairs it draws those of the best, and
    leaves columns out until the panel has half of the width.
    """
    lines = forest_lines(displayed)
    room = _room(ax)
    if room is not None and len(lines) > room.lines:
        n_pairs = sum(line.row is not None for line in lines)
        lines = forest_lines(displayed, of_best=True)
        n_drawn = sum(line.row is not None for line in lines)
        if n_drawn < n_pairs:
            xlabel += f"\n{n_drawn} of {n_pairs} pairs"
    ax.axvline(0, color="0.35", linewidth=1)
    draw_intervals(
        ax,
        [_interval(place, line, _color(result, line)) for place, line in enumerate(lines) if line.row],
    )
    size = 0.833 * float(ax.xaxis.label.get_fontsize())
    if len(lines) > _FEW:
        size *= 0.833
    if room is not None:
        size = min(size, room.letter(len(lines)))
    columns = _columns(lines, _heading(result))
    asked = result.attrs.get(COLUMNS)
    if asked is not None:
        columns = {name: columns[name] for name in NAMES_OF_COLUMNS if name in asked}
    elif room is not None:
        columns = room.that_fit(columns, lines, size)
    ax.set_yticks(range(len(lines)), [line.label for line in lines], fontsize=size)
    for label, line in zip(ax.get_yticklabels(), lines, strict=True):
        if line.row is None:
            label.set_color(_color(result, line))
            label.set_fontweight("bold")
        else:
            label.set_color(_ink(line.row))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    # The headings of columns stand in the free row on top, below a title.
    ax.set_ylim(len(lines) - 0.5, -1.5)
    ax.grid(axis="x", color="0.9")
    ax.set_xlabel(wrapped(xlabel, _OF_LABEL))
    _write_columns(ax, lines, columns.values(), size)
    ax.yaxis.set_gid(_flag_of(displayed, lines))


def _flag_of(displayed: xr.Dataset, lines: Sequence[Line]) -> str:
    """Return the flag of the caption: pairs below headings, as they are named, or one."""
    if keeps_direction(displayed):
        return "named pairs"
    if any(line.row is None for line in lines):
        return "pairs"
    return "one pair"


def _color(result: xr.Dataset, line: Line) -> str:
    """Return the colour of the better algorithm of a line."""
    if "algorithm" not in result.dims:
        return "black"
    names = [str(name) for name in result["algorithm"].to_numpy().tolist()]
    if line.algorithm not in names:
        return "black"
    return style_in(result.isel(algorithm=names.index(line.algorithm))).color


def _ink(row: PairRow) -> str:
    if row.shown:
        return "black"
    return "0.45"


def _interval(place: int, line: Line, color: str) -> IntervalGroup:
    """Return the interval of a pair, in colour and filled where it is shown."""
    row = line.row
    assert row is not None
    y, amount, low, high = (np.array([float(value)]) for value in (place, row.amount, row.low, row.high))
    if row.shown:
        style, flag = Style(color, "-", "o"), "shown"
    else:
        style, flag = Style(_GREY, "-", "o"), None
    return IntervalGroup(y, amount, low, high, style, row.shown, flag)


def _heading(result: xr.Dataset) -> str:
    """Return the heading of the column of intervals."""
    return heading(result).replace(" together", "")


class _Room(NamedTuple):
    """How much room Axes that are not ours have, in points."""

    width: float
    height: float

    @property
    def lines(self) -> int:
        """How many lines of the smallest letters it has room for, headings of columns and the label below included."""
        return int(self.height / (_LEAST_LETTER * _PITCH)) - 5

    def letter(self, n_lines: int) -> float:
        """Return the largest letters of so many lines."""
        return max(_LEAST_LETTER, self.height / (_PITCH * (n_lines + 5)))

    def that_fit(self, columns: Mapping[str, Column], lines: Sequence[Line], size: float) -> dict[str, Column]:
        """Return the columns that leave the panel half of the width beside the names of pairs."""
        kept = dict(columns)
        names = max((len(line.label) for line in lines), default=0) * _LETTER * size
        for name in _DROPPED_FIRST:
            if names + sum(_width(column, size) for column in kept.values()) <= self.width / 2:
                break
            kept.pop(name)
        return kept


def _room(ax: Axes) -> _Room | None:
    """Return the room of Axes in a figure that is not ours."""
    slot = slot_of(ax)
    if slot is None:
        return None
    width, height = slot
    return _Room(72 * width, 72 * height)


def _width(column: Column, size: float) -> float:
    """Return the width of a column with the space in front of it, in points."""
    name, texts = column
    return _SPACE + _LETTER * size * max(map(len, [name, *texts]))


def _columns(lines: Sequence[Line], what: str) -> dict[str, Column]:
    """Return the headings and the texts of the columns beside the forest; `what` is the heading of the intervals."""
    decimals = _common_decimals(lines)
    amounts, intervals, p = [], [], []
    for line in lines:
        amounts.append(_amount(line.row, decimals))
        intervals.append(_limits(line.row, decimals))
        p.append("")
        if line.row is not None:
            p[-1] = p_text(line.row.p)
    return {"estimate": ("by", amounts), "interval": (what, intervals), "p": ("p", p)}


def _write_columns(ax: Axes, lines: Sequence[Line], columns: Iterable[Column], size: float) -> None:
    """Write amount, interval and p at the right of the panel, in columns of text."""
    right = 0.0
    look: dict[str, Any] = {
        "xycoords": ax.get_yaxis_transform(),
        "textcoords": "offset points",
        "ha": "right",
        "va": "center",
        "fontsize": size,
        "annotation_clip": False,
    }
    for name, texts in columns:
        right += _width((name, texts), size)
        ax.annotate(name, (1, -1), (right, 0), color="0.35", **look)
        for index, (line, text) in enumerate(zip(lines, texts, strict=True)):
            if line.row is not None:
                color = _ink(line.row)
                written = ax.annotate(text, (1, index), (right, 0), color=color, **look)
                if text.startswith(_ABOVE) or text.endswith(_BELOW):
                    written.set_gid("open end")


def _common_decimals(lines: Sequence[Line]) -> int | None:
    """Return the decimals of all numbers: as many as the narrowest interval supports."""
    own = [decimals_of(line.row.low, line.row.high, line.row.amount) for line in lines if line.row is not None]
    return max((each for each in own if each is not None), default=None)


def _amount(row: PairRow | None, decimals: int | None) -> str:
    if row is None or np.isnan(row.amount):
        return ""
    return rounded(row.amount, decimals)


def _limits(row: PairRow | None, decimals: int | None) -> str:
    """Return the interval in a column: an end that a test set to 0 is "> 0"."""
    if row is None or np.isnan(row.low):
        return ""
    low, high = rounded(row.low, decimals), rounded(row.high, decimals)
    if row.shown and row.low == 0:
        low = _ABOVE
    if row.shown and row.high == 0:
        high = _BELOW
    return f"{low} to {high}"
