"""Tables as plain text: whole, aligned at the decimal point, both ends of an interval in one column."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import pandas as pd

from xcurves.cli.terminal import PLAIN, Interval, Terminal, with_bars
from xcurves.say.tables import Cell, Column, columns_of

_GAP = "  "  # between columns


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
