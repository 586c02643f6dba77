"""What a terminal can show besides text: bars of intervals where it is wide, and colours."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from math import isfinite, isinf, isnan
from typing import NamedTuple, TextIO

_LEAST, _MOST = 16, 40  # letters of a bar
_GAP = "  "
_BOLD, _MARKED, _END = "\x1b[1m", "\x1b[32m", "\x1b[0m"


class Terminal(NamedTuple):
    """What is printed to: letters in a line, 0 where no bars are drawn, and whether there are colours."""

    width: int = 0
    has_colours: bool = False

    def heading(self, text: str) -> str:
        """Return a line that stands out."""
        return f"{_BOLD}{text}{_END}" if self.has_colours else text

    def marked(self, text: str) -> str:
        """Return the bar of what is shown, or may be best."""
        return f"{_MARKED}{text}{_END}" if self.has_colours else text


PLAIN = Terminal()  # a file or a pipe


class Interval(NamedTuple):
    """An estimate with both ends, and whether it is one to look at."""

    low: float
    estimate: float
    high: float
    is_marked: bool


def terminal_of(stream: TextIO) -> Terminal:
    """Return what a stream can show; colours are left out where NO_COLOR is set."""
    if not stream.isatty():
        return PLAIN
    width = 0
    if str(stream.encoding).lower().replace("-", "") == "utf8":
        width = shutil.get_terminal_size().columns
    has_colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    return Terminal(width, has_colours)


def with_bars(lines: Sequence[str], rows: Sequence[Interval], terminal: Terminal, origin: float | None) -> list[str]:
    """Return the lines of a table, the heading first, with a bar behind each row if there is room."""
    widest = max(map(len, lines))
    width = min(_MOST, terminal.width - widest - len(_GAP))
    scale = _scale(rows, origin)
    if width < _LEAST or scale is None:
        return list(lines)
    heading, *below = lines
    drawn = [heading]
    for line, row in zip(below, rows, strict=True):
        bar = _bar(row, scale, width, origin).rstrip()
        if row.is_marked:
            bar = terminal.marked(bar)
        drawn.append(f"{line.ljust(widest)}{_GAP}{bar}".rstrip())
    return drawn


def _scale(rows: Sequence[Interval], origin: float | None) -> tuple[float, float] | None:
    """Return the ends of all bars, None where they would have no length."""
    ends = [end for row in rows for end in row[:3] if isfinite(end)]
    if origin is not None:
        ends.append(origin)
    if not ends or min(ends) == max(ends):
        return None
    return min(ends), max(ends)


def _bar(row: Interval, scale: tuple[float, float], width: int, origin: float | None) -> str:
    """Return an interval as a bar: a line between its ends, arrows where it has none, and a point."""
    first, last = scale

    def place(value: float) -> int:
        return round((min(max(value, first), last) - first) / (last - first) * (width - 1))

    letters = [" "] * width
    if not isnan(row.low) and not isnan(row.high):
        low, high = place(row.low), place(row.high)
        letters[low : high + 1] = "─" * (high + 1 - low)
        letters[low] = "◂" if isinf(row.low) else "├"
        letters[high] = "▸" if isinf(row.high) else "┤"
    if origin is not None:
        letters[place(origin)] = {" ": "│", "─": "┼"}.get(letters[place(origin)], letters[place(origin)])
    if isfinite(row.estimate):
        letters[place(row.estimate)] = "●"
    return "".join(letters)
