"""What a terminal shows: tables as text, bars of their intervals where it is wide, and colours."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from math import isfinite, isinf, isnan, nan
from typing import Any, NamedTuple, TextIO

import pandas as pd

from xcurves.say.tables import Cell, Column, columns_of

_LEAST, _MOST = 16, 40  # letters of a bar
_GAP = "  "  # between columns
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


def as_text(
    table: pd.DataFrame,
    terminal: Terminal = PLAIN,
    *,
    marked: Sequence[bool] = (),
    origin: float | None = None,
) -> str:
    """Return a table with all of its rows and columns as text; the footnote ``attrs["note"]`` stands below.

    A wide terminal has a bar for each interval, those of `marked` rows in a colour, with a line at `origin`.
    """
    columns = columns_of(table)
    cells = [_laid_out(column) for column in columns]
    _blank_repeats(cells, table.index)
    widths = [max(len(column.heading), *map(len, texts), 0) for column, texts in zip(columns, cells, strict=True)]
    lines = [_line([column.heading for column in columns], columns, widths)]
    lines += [_line([texts[row] for texts in cells], columns, widths) for row in range(len(table))]
    if terminal.width:
        lines = with_bars(lines, _intervals(table, marked), terminal, origin)
    if "note" in table.attrs:
        lines.append(str(table.attrs["note"]))
    return "\n".join(lines)


def _intervals(table: pd.DataFrame, marked: Sequence[bool]) -> list[Interval]:
    """Return the first interval of each row, with the estimate before it; unknown where the table has none."""
    names = [str(name) for name in table.columns]
    place = next((place for place, name in enumerate(names) if name.endswith("lower") and place), None)
    if place is None or not names[place + 1].endswith("upper"):
        return [Interval(nan, nan, nan, is_marked=False)] * len(table)
    ends = table.iloc[:, [place, place - 1, place + 1]].to_numpy(float).tolist()
    return [
        Interval(low, estimate, high, is_marked) for (low, estimate, high), is_marked in zip(ends, marked, strict=True)
    ]


def _laid_out(column: Column) -> list[str]:
    """Return the cells of a column, numbers with their decimal points below each other."""
    if column.role == "interval":
        return _aligned_intervals(column.cells)
    if column.role in ("number", "p"):
        return aligned(column.texts)
    return column.texts


def _aligned_intervals(cells: Sequence[Cell]) -> list[str]:
    """Return intervals, both ends aligned with those of other rows."""
    lows, words, highs = ([cell[part] for cell in cells] for part in range(3))
    width = max(map(len, words), default=0)
    parts = zip(aligned(lows), words, aligned(highs), strict=True)
    return [f"{low}{word.ljust(width)}{high}" for low, word, high in parts]


def _blank_repeats(cells: list[list[str]], index: pd.Index[Any]) -> None:
    """Leave a label of an outer level blank where it is that of the row above."""
    for level in range(index.nlevels - 1):
        keys = [key[: level + 1] for key in index]
        for row in range(len(keys) - 1, 0, -1):
            if keys[row] == keys[row - 1]:
                cells[level][row] = ""


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    """Return a row of a table, each cell as wide as its column."""
    padded = []
    for cell, column, width in zip(cells, columns, widths, strict=True):
        if column.is_number:
            padded.append(cell.rjust(width))
        else:
            padded.append(cell.ljust(width))
    return _GAP.join(padded).rstrip()


def aligned(cells: Sequence[str]) -> list[str]:
    """Return texts of one width with their decimal points below each other."""
    split = [cell.partition(".") for cell in cells]
    before = max((len(whole) for whole, _, _ in split), default=0)
    after = max((len(point + rest) for _, point, rest in split), default=0)
    return [whole.rjust(before) + (point + rest).ljust(after) for whole, point, rest in split]
