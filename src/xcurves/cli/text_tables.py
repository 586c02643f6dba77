"""Tables as plain text: whole, aligned at the decimal point, both ends of an interval in one column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import floor, isfinite, isnan, log10, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core.refusal import escape_controls
from xcurves.core.wording import decimals_of, number, p_text, rounded, rounds_to_zero

_GAP = "  "  # between columns
_YES = {True: "yes", False: ""}
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
    ``attrs["interval"]``. The estimate in the column before it has the decimals that the interval supports. The
    footnote ``attrs["note"]`` stands below.
    """
    columns = [*_index_columns(table), *_value_columns(table)]
    widths = [max(len(column.heading), *map(len, column.cells), 0) for column in columns]
    lines = [_line([column.heading for column in columns], columns, widths)]
    lines += [_line([column.cells[row] for column in columns], columns, widths) for row in range(len(table))]
    if "note" in table.attrs:
        lines.append(str(table.attrs["note"]))
    return "\n".join(lines)


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    """Return a row of a table, each cell as wide as its column."""
    padded = []
    for cell, column, width in zip(cells, columns, widths, strict=True):
        if column.is_number:
            padded.append(cell.rjust(width))
        else:
            padded.append(cell.ljust(width))
    return _GAP.join(padded).rstrip()


def _index_columns(table: pd.DataFrame) -> list[Column]:
    """Return the columns of labels; a label of an outer level that is that of the row above is left blank."""
    index = table.index
    if isinstance(index, pd.RangeIndex) and index.name is None:
        return []
    rows: list[tuple[Any, ...]] = [(key,) for key in index]
    if index.nlevels > 1:
        rows = list(index)
    columns = []
    for level, name in enumerate(index.names):
        heading = ""
        if name is not None:
            heading = _words(name)
        cells = [_label(row[level]) for row in rows]
        is_outer = level < index.nlevels - 1
        if is_outer:
            cells = _without_repeats(cells, [row[: level + 1] for row in rows])
        columns.append(Column(heading, cells, is_number=False))
    return columns


def _without_repeats(cells: list[str], keys: list[Any]) -> list[str]:
    """Return cells, blank where the key is that of the row above."""
    shown = list(cells)
    for row in range(1, len(cells)):
        if keys[row] == keys[row - 1]:
            shown[row] = ""
    return shown


def _label(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return number(float(value), 6)
    return escape_controls(str(value))


def _words(name: object) -> str:
    return escape_controls(str(name)).replace("_", " ")


def _value_columns(table: pd.DataFrame) -> list[Column]:
    names = [str(name) for name in table.columns]
    columns: list[Column] = []
    estimates = [nan] * len(table)  # the last numbers that have an interval
    for index, name in enumerate(names):
        following = names[index + 1 : index + 3]
        has_interval = len(following) == 2 and following[0].endswith("lower")
        # The upper end stands in the column of the lower one.
        if name.endswith("upper"):
            continue
        if name.endswith("lower"):
            columns.append(_interval_column(table, name, estimates))
        elif has_interval and not _is_p(name):
            estimates, lower, upper = (_floats(table[each]) for each in (name, *following))
            cells = _estimates(estimates, lower, upper)
            columns.append(Column(_words(name), cells))
        else:
            columns.append(_plain_column(name, table[name]))
    return columns


def _interval_column(table: pd.DataFrame, lower_name: str, estimates: list[float]) -> Column:
    """Return the column of both ends of an interval, which the name of its lower end begins with."""
    heading = str(table.attrs.get("interval", "interval"))
    # There an end of 0 was set by the test of the pair.
    is_open = "together" in heading
    prefix = lower_name.removesuffix("lower").replace("_", " ").strip()
    if prefix:
        heading += f", {prefix}"
    lower = _floats(table[lower_name])
    upper = _floats(table[lower_name.replace("lower", "upper")])
    return Column(heading, _intervals(estimates, lower, upper, is_open=is_open))


def _floats(column: pd.Series[Any]) -> list[float]:
    return [float(value) for value in column]


def _plain_column(name: str, values: pd.Series[Any]) -> Column:
    """Return a column without an interval: p-values, yes or nothing, whole numbers, numbers, or text."""
    heading = _words(name)
    if _is_p(name):
        return Column(heading, aligned(_known_cells(values, p_text)))
    if pd.api.types.is_bool_dtype(values):
        return Column(heading, [_YES[bool(value)] for value in values], is_number=False)
    if pd.api.types.is_integer_dtype(values):
        return Column(heading, _known_cells(values, "{:,}".format))

    known = [value for value in values if not _is_blank(value)]
    if not all(isinstance(value, float | int | np.number) for value in known):
        return Column(heading, [_label(value) for value in values], is_number=False)
    decimals = _decimals_of_column([float(value) for value in known])
    cells = _known_cells(values, lambda value: rounded(value, decimals, 4))
    return Column(heading, aligned(cells))


def _known_cells(values: Iterable[Any], text: Callable[[Any], str]) -> list[str]:
    """Return each value as text, nothing where it is blank."""
    cells = []
    for value in values:
        if _is_blank(value):
            cells.append("")
        else:
            cells.append(text(value))
    return cells


def _is_p(name: str) -> bool:
    return name == "p" or name.startswith(("p_", "p ")) or name.endswith("_p")


def _is_blank(value: Any) -> bool:
    return bool(isinstance(value, str) and not value) or bool(pd.isna(value))


def _decimals_of_column(values: Sequence[float]) -> int | None:
    """Return how many decimals all numbers of a column have; None where they differ too much for that."""
    finite = [value for value in values if isfinite(value)]
    sizes = [abs(value) for value in finite if value != 0]
    if not sizes or max(sizes) > _WIDEST * min(sizes):
        return None
    if all(size == round(size) for size in sizes):
        return 0
    # Digits by which rows differ are shown, unless they are as good as equal.
    spread = max(finite) - min(finite)
    if spread <= 1e-4 * max(sizes):
        spread = max(sizes)
    return max(0, _DIGITS - 1 - floor(log10(spread)))


def _estimates(values: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> list[str]:
    """Return estimates with the decimals that their intervals support."""
    cells = []
    for value, low, high in zip(values, lower, upper, strict=True):
        cell = ""
        if not isnan(value):
            cell = rounded(value, decimals_of(low, high, value))
        cells.append(cell)
    return aligned(cells)


def _intervals(
    estimates: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    is_open: bool,
) -> list[str]:
    """Return intervals, their ends aligned with those of other rows; one end of 0 may be open."""
    lows, words, highs = [], [], []
    for estimate, low, high in zip(estimates, lower, upper, strict=True):
        low_text, word, high_text = _interval_parts(low, high, estimate)
        decimals = decimals_of(low, high, estimate)
        if is_open and estimate > 0 and low >= 0 and rounds_to_zero(low, decimals):
            low_text = "more than 0"
        if is_open and estimate < 0 and high <= 0 and rounds_to_zero(high, decimals):
            high_text = "less than 0"
        lows.append(low_text)
        words.append(word)
        highs.append(high_text)
    width = max(map(len, words), default=0)
    parts = zip(aligned(lows), words, aligned(highs), strict=True)
    return [f"{low}{word.ljust(width)}{high}" for low, word, high in parts]


def _interval_parts(low: float, high: float, estimate: float) -> tuple[str, str, str]:
    """Return the lower end of an interval, the word between, and the upper end."""
    decimals = decimals_of(low, high, estimate)
    if isnan(low) or isnan(high):
        return "", "", ""
    if not isfinite(low) and not isfinite(high):
        return "unbounded", "", ""
    if not isfinite(low):
        return "at most", " ", rounded(high, decimals)
    if not isfinite(high):
        return f"at least {rounded(low, decimals)}", "", ""
    return rounded(low, decimals), " to ", rounded(high, decimals)


def aligned(cells: Sequence[str]) -> list[str]:
    """Return texts of one width with their decimal points below each other."""
    split = [cell.partition(".") for cell in cells]
    before = max((len(whole) for whole, _, _ in split), default=0)
    after = max((len(point + rest) for _, point, rest in split), default=0)
    return [whole.rjust(before) + (point + rest).ljust(after) for whole, point, rest in split]
