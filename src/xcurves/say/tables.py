"""The columns of a table as its readers see them: headings in words, both ends of an interval in one column.

What the command line, a page and a paper print of a table is made of these columns; they differ in layout only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import floor, isfinite, isnan, log10, nan
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core.refusal import escape_controls
from xcurves.say.numbers import decimals_of, interval_parts, number, p_text, rounded

Role = Literal["label", "number", "p", "interval", "text"]
Cell = tuple[str, ...]  # one text, or the parts of an interval: low, a word, high

_YES = {True: "yes", False: ""}
_DIGITS = 3  # significant ones of the range of a column without an interval
_WIDEST = 100  # largest over smallest number of a column whose numbers have the same decimals
_WORDS = {
    "random": "tasks like these",
    "fixed": "these tasks",
    "p_interaction": "p of changes",
    "prob_greater": "P(first is better)",
    "prob_greater_p": "its p",
    "speedup": "speed-up",
    "speedup_90": "speed-up to 90 %",
    "task_sd": "SD over tasks",
    "p_adjusted": "p, adjusted",
    "score_mean": "mean",
    "score_median": "median",
    "score_std": "SD",
}
# columns of counts that readers see as one, "6/0/2", by the name of the first
_JOINED = {
    "win": ("win/tie/loss", ("win", "tie", "loss")),
    "win_shown": ("win/loss shown", ("win_shown", "loss_shown")),
}


class Column(NamedTuple):
    """A column of a table: its heading, its cells, what it holds, and the name of the (first) column it is made of."""

    heading: str
    cells: list[Cell]
    role: Role
    name: str

    @property
    def is_number(self) -> bool:
        """Whether its cells are aligned as numbers are."""
        return self.role in ("number", "p", "interval")

    @property
    def texts(self) -> list[str]:
        """Its cells, each as one text."""
        return ["".join(cell) for cell in self.cells]


def columns_of(table: pd.DataFrame, decimals: int | None = None) -> list[Column]:
    """Return the columns of a table, those of its labels first.

    Columns "lower" and "upper", or with these at the end of their names, are one column, headed by
    ``attrs["interval"]``. The estimate in the column before it has the decimals that the interval supports, or as many
    as are given.
    """
    return [*_label_columns(table), *_value_columns(table, decimals)]


def as_written(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as its readers see it, a text in each cell, labels in columns too."""
    columns = columns_of(table)
    texts = pd.DataFrame(dict(enumerate(column.texts for column in columns)), index=range(len(table)))
    return texts.set_axis([column.heading for column in columns], axis="columns")


def in_words(name: object) -> str:
    """Return the name of a column as its readers see it."""
    text = str(name)
    known = _WORDS.get(text)
    if known is not None:
        return known
    for claim in ("random", "fixed"):
        if text.startswith(f"{claim}_"):
            return f"{text.removeprefix(f'{claim}_')}, {_WORDS[claim]}"
    return escape_controls(text).replace("_", " ")


def _label_columns(table: pd.DataFrame) -> list[Column]:
    index = table.index
    if isinstance(index, pd.RangeIndex) and index.name is None:
        return []
    rows: list[tuple[Any, ...]] = list(index) if isinstance(index, pd.MultiIndex) else [(key,) for key in index]
    columns = []
    for level, name in enumerate(index.names):
        heading = "" if name is None else escape_controls(str(name)).replace("_", " ")
        columns.append(Column(heading, [(label_text(row[level]),) for row in rows], "label", str(name or "")))
    return columns


def label_text(value: Any) -> str:
    """Return a label as text, a number in six digits."""
    if isinstance(value, float | np.floating):
        return number(float(value), 6)
    return escape_controls(str(value))


def _value_columns(table: pd.DataFrame, decimals: int | None) -> list[Column]:
    names = [str(name) for name in table.columns]
    columns: list[Column] = []
    estimates = [nan] * len(table)  # the last numbers that have an interval
    inside = {name for _, joined in _JOINED.values() if joined[0] in names for name in joined[1:]}
    for place, name in enumerate(names):
        if name in inside:
            continue
        following = names[place + 1 : place + 3]
        has_interval = len(following) == 2 and following[0].endswith("lower")
        # The upper end stands in the column of the lower one.
        if name.endswith("upper"):
            continue
        if name.endswith("lower"):
            columns.append(_interval_column(table, name, estimates, decimals))
        elif name in _JOINED:
            head, joined = _JOINED[name]
            rows = zip(*(table[each] for each in joined), strict=True)
            columns.append(Column(head, [("/".join(number(n) for n in row),) for row in rows], "text", name))
        elif has_interval and not is_p(name):
            estimates, lower, upper = (_floats(table[each]) for each in (name, *following))
            cells = _estimates(estimates, lower, upper, decimals)
            columns.append(Column(in_words(name), cells, "number", name))
        else:
            columns.append(_plain_column(name, table[name], decimals))
    return columns


def _interval_column(table: pd.DataFrame, lower_name: str, estimates: list[float], decimals: int | None) -> Column:
    """Return the column of both ends of an interval, which the name of its lower end begins with."""
    heading = str(table.attrs.get("interval", "interval"))
    prefix = lower_name.removesuffix("lower").rstrip("_ ")
    if prefix:
        heading += f", {in_words(prefix)}"
    lower = _floats(table[lower_name])
    upper = _floats(table[lower_name.replace("lower", "upper")])
    # There an end was set by the test of the pair.
    null = float(table.attrs.get("null", 0)) if "note" in table.attrs else None
    cells: list[Cell] = []
    for low, high, estimate in zip(lower, upper, estimates, strict=True):
        supported = decimals_of(low, high, estimate) if decimals is None else decimals
        cells.append(interval_parts(low, high, supported, estimate=estimate, null=null))
    return Column(heading, cells, "interval", lower_name)


def _floats(column: pd.Series[Any]) -> list[float]:
    return [float(value) for value in column]


def _plain_column(name: str, values: pd.Series[Any], decimals: int | None) -> Column:
    """Return a column without an interval: p-values, yes or nothing, whole numbers, numbers, or text."""
    heading = in_words(name)
    if is_p(name):
        return Column(heading, _known_cells(values, p_text), "p", name)
    if pd.api.types.is_bool_dtype(values):
        return Column(heading, [(_YES[bool(value)],) for value in values], "text", name)
    if pd.api.types.is_integer_dtype(values):
        return Column(heading, _known_cells(values, number), "number", name)

    known = [value for value in values if not _is_blank(value)]
    if not all(isinstance(value, float | int | np.number) for value in known):
        return Column(heading, [(label_text(value),) for value in values], "text", name)
    if decimals is None:
        decimals = _decimals_of_column([float(value) for value in known])
    shown = decimals
    return Column(heading, _known_cells(values, lambda value: rounded(value, shown, 4)), "number", name)


def _known_cells(values: Iterable[Any], text: Callable[[Any], str]) -> list[Cell]:
    """Return each value as text, nothing where it is blank."""
    return [("",) if _is_blank(value) else (text(value),) for value in values]


def is_p(name: str) -> bool:
    """Return whether a column is of p-values by its name."""
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


def _estimates(
    values: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    decimals: int | None,
) -> list[Cell]:
    """Return estimates with the decimals that their intervals support."""
    cells: list[Cell] = []
    for value, low, high in zip(values, lower, upper, strict=True):
        supported = decimals_of(low, high, value) if decimals is None else decimals
        cells.append(("",) if isnan(value) else (rounded(value, supported),))
    return cells
