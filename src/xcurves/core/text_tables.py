"""Tables as plain text: whole, aligned at the decimal point, both ends of an interval in one column."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, isnan, log10, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core.labels import escape_controls
from xcurves.core.wording import decimals_of, number, p_text, rounded, rounds_to_zero

_GAP = "  "  # between columns
_DIGITS = 3  # significant ones of the range of a column without an interval
# Largest over smallest number of a column whose numbers have the same decimals.
_WIDEST = 100


class Column(NamedTuple):
    """A column as text: its heading, and its cells, all of one width."""

    heading: str
    cells: list[str]
    is_number: bool = True


def as_text(table: pd.DataFrame) -> str:
    """Return a table with all of its rows and columns as text.

    Columns "lower" and "upper", or with these at the end of their names, are one column, headed by
    ``attrs["interval"]``. The estimate in the column before it has the decimals that the interval supports.
    """
    columns = [*_index_columns(table), *_value_columns(table)]
    widths = [
        max(len(column.heading), *map(len, column.cells), 0) for column in columns
    ]
    lines = [_line([column.heading for column in columns], columns, widths)]
    lines += [
        _line([column.cells[row] for column in columns], columns, widths)
        for row in range(len(table))
    ]
    return "\n".join(lines)


def _line(
    cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]
) -> str:
    padded = [
        cell.rjust(width) if column.is_number else cell.ljust(width)
        for cell, column, width in zip(cells, columns, widths, strict=True)
    ]
    return _GAP.join(padded).rstrip()


def _index_columns(table: pd.DataFrame) -> list[Column]:
    """Return the columns of labels; a label of an outer level that is that of the row above is left blank."""
    index = table.index
    if isinstance(index, pd.RangeIndex) and index.name is None:
        return []
    rows = [key if isinstance(key, tuple) else (key,) for key in index]
    columns = []
    for level, name in enumerate(index.names):
        cells, above = [], None
        for row in rows:
            is_repeated = level < index.nlevels - 1 and row[: level + 1] == above
            cells.append("" if is_repeated else _label(row[level]))
            above = row[: level + 1]
        columns.append(
            Column("" if name is None else _words(name), cells, is_number=False)
        )
    return columns


def _label(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return number(float(value), 6)
    return escape_controls(str(value))


def _words(name: object) -> str:
    return escape_controls(str(name)).replace("_", " ")


def _value_columns(table: pd.DataFrame) -> list[Column]:
    heading = str(table.attrs.get("interval", "interval"))
    # an end of 0 was set there by the test of the pair
    is_open = heading.endswith("together")
    names = [str(name) for name in table.columns]
    columns: list[Column] = []
    estimate: str | None = None  # the column whose numbers have an interval
    for place, name in enumerate(names):
        if name.endswith("upper"):
            continue
        if not name.endswith("lower"):
            following = names[place + 1 : place + 3]
            if (
                len(following) == 2
                and following[0].endswith("lower")
                and not _is_p(name)
            ):
                estimate = name
                value, lower, upper = (
                    _floats(table[each]) for each in (name, *following)
                )
                columns.append(Column(_words(name), _estimates(value, lower, upper)))
            else:
                columns.append(_plain_column(name, table[name]))
            continue
        prefix = name.removesuffix("lower").replace("_", " ").strip()
        lower, upper = (
            _floats(table[each]) for each in (name, name.replace("lower", "upper"))
        )
        of = [nan] * len(table) if estimate is None else _floats(table[estimate])
        headed = f"{heading}, {prefix}" if prefix else heading
        columns.append(Column(headed, _intervals(of, lower, upper, is_open=is_open)))
    return columns


def _floats(column: pd.Series[Any]) -> list[float]:
    return [float(value) for value in column]


def _plain_column(name: str, values: pd.Series[Any]) -> Column:
    """Return a column without an interval: p-values, yes or nothing, whole numbers, numbers, or text."""
    if _is_p(name):
        return Column(
            _words(name), aligned(["" if _is_blank(p) else p_text(p) for p in values])
        )
    if pd.api.types.is_bool_dtype(values):
        return Column(
            _words(name), ["yes" if value else "" for value in values], is_number=False
        )
    if pd.api.types.is_integer_dtype(values):
        return Column(
            _words(name), ["" if _is_blank(value) else f"{value:,}" for value in values]
        )
    known = [
        float(value)
        for value in values
        if not _is_blank(value) and isinstance(value, float | int | np.number)
    ]
    if len(known) < sum(not _is_blank(value) for value in values):
        return Column(
            _words(name), [_label(value) for value in values], is_number=False
        )
    decimals = _decimals_of_column(known)
    cells = [
        "" if _is_blank(value) else rounded(value, decimals, 4) for value in values
    ]
    return Column(_words(name), aligned(cells))


def _is_p(name: str) -> bool:
    return name == "p" or name.startswith(("p_", "p ")) or name.endswith("_p")


def _is_blank(value: Any) -> bool:
    return bool(isinstance(value, str) and not value) or bool(pd.isna(value))


def _decimals_of_column(values: Sequence[float]) -> int | None:
    """Return how many decimals all numbers of a column have; None where they differ too much for that."""
    values = [value for value in values if isfinite(value)]
    sizes = [abs(value) for value in values if value != 0]
    if not sizes or max(sizes) > _WIDEST * min(sizes):
        return None
    if all(size == round(size) for size in sizes):
        return 0
    spread = max(values) - min(values)
    of = spread if spread > 1e-4 * max(sizes) else max(sizes)
    return max(0, _DIGITS - 1 - floor(log10(of)))


def _estimates(
    values: Sequence[float], lower: Sequence[float], upper: Sequence[float]
) -> list[str]:
    cells = []
    for value, low, high in zip(values, lower, upper, strict=True):
        cells.append(
            "" if isnan(value) else rounded(value, decimals_of(low, high, value))
        )
    return aligned(cells)


def _intervals(
    of: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    is_open: bool,
) -> list[str]:
    """Return intervals, their ends aligned with those of other rows; one end of 0 may be open."""
    lows, words, highs = [], [], []
    for estimate, low, high in zip(of, lower, upper, strict=True):
        decimals = decimals_of(low, high, estimate)
        low_said, word, high_said = (
            rounded(low, decimals),
            " to ",
            rounded(high, decimals),
        )
        if isnan(low) or isnan(high):
            low_said, word, high_said = "", "", ""
        elif not isfinite(low) and not isfinite(high):
            low_said, word, high_said = "unbounded", "", ""
        elif not isfinite(low):
            low_said, word = "at most", " "
        elif not isfinite(high):
            low_said, word, high_said = f"at least {low_said}", "", ""
        if is_open and estimate > 0 and low >= 0 and rounds_to_zero(low, decimals):
            low_said = "more than 0"
        if is_open and estimate < 0 and high <= 0 and rounds_to_zero(high, decimals):
            high_said = "less than 0"
        lows.append(low_said)
        words.append(word)
        highs.append(high_said)
    width = max(map(len, words), default=0)
    parts = zip(aligned(lows), words, aligned(highs), strict=True)
    return [f"{low}{word.ljust(width)}{high}" for low, word, high in parts]


def aligned(cells: Sequence[str]) -> list[str]:
    """Return texts of one width with their decimal points below each other."""
    split = [cell.partition(".") for cell in cells]
    before = max((len(whole) for whole, _, _ in split), default=0)
    after = max((len(point + rest) for _, point, rest in split), default=0)
    return [
        whole.rjust(before) + (point + rest).ljust(after)
        for whole, point, rest in split
    ]
