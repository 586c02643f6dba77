"""Cells of text that are numbers as people write them: marks of thousands and decimals, units, marks of a gap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import numpy as np
import pandas as pd

from xcurves.core.direction import says_higher
from xcurves.core.names import dim_of, is_checkpoint, is_clock, is_step
from xcurves.core.refusal import UNSAID, Choices, Refusal, give
from xcurves.core.validation import check_choice

Decimal = Literal[",", "."]
_GAPS = frozenset(["", "-", "--", "–", "—", "?", "n.a.", "n/a", "na", "nan", "none", "null"])
_PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?inf(?:inity)?", re.IGNORECASE)
_NAME = re.compile(r"[-+]?0\d+")
_DECIMAL_COMMA = re.compile(r"[-+]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d+(?:e[-+]?\d+)?", re.IGNORECASE)
# Of three digits each: of the mark, and where it is no decimal mark for sure.
_GROUPS = {
    ",": re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"),
    ".": re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+"),
}
_SURE = {
    ",": re.compile(r"[^,]*,(?:\d{3}\.|\d{3},).*"),
    ".": re.compile(r"[^.]*\.\d{3}\..*"),
}
_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "m": 60.0,
    "min": 60.0,
    "mins": 60.0,
    "h": 3600.0,
    "hr": 3600.0,
    "hrs": 3600.0,
    "d": 86400.0,
}
# A small m is minutes.
_MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
_NUMBER_AND_UNIT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))\s*([A-Za-zµ%]+(?:/[A-Za-z]+)?)")
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)")
_decimal: ContextVar[Decimal | None] = ContextVar("decimal", default=None)


@contextmanager
def decimal_mark(decimal: Decimal | None) -> Iterator[None]:
    """Read commas in numbers as this mark: "," of decimals, "." where they are of thousands, None as cells say."""
    if decimal is not None:
        check_choice("decimal", decimal, (",", "."))
    token = _decimal.set(decimal)
    try:
        yield
    finally:
        _decimal.reset(token)


def as_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in which columns of text are numbers where every cell is one, or the mark of a gap.

    A column is judged by its own cells, all of them: those of every file of a folder.
    """
    made: dict[Any, pd.Series[Any]] = {}
    units = dict[str, str](rows.attrs.get("units", {}))
    for name in rows.select_dtypes(exclude=["number", "bool", "datetime"]):
        if dim_of(name) not in (None, "training"):
            continue  # labels stay what they are: an algorithm may be called none, or 70M
        column = rows[name]
        texts = _texts(column.unique())
        if texts is None:
            continue
        gaps = {text for text in texts.values() if text.casefold() in _GAPS}
        cells = sorted({*texts.values()} - gaps)
        if not cells or any(map(_NAME.fullmatch, cells)):
            continue  # 01 is the name of something
        if is_step(name) or is_checkpoint(name):
            plain = _without_word(cells)
            texts = {cell: plain.get(text, text) for cell, text in texts.items()}
            cells = list(map(plain.__getitem__, cells))
        numbers = _numbers(cells, str(name))
        if numbers is None and _measures(name, column):
            numbers, unit = with_one_unit(cells)
            if unit:
                units[str(name)] = unit
        if numbers is None:
            continue
        known = dict(zip(cells, numbers, strict=True)) | dict.fromkeys(gaps, np.nan)
        number_of = {cell: known[text] for cell, text in texts.items()}
        made[name] = pd.to_numeric(column.map(number_of))
    changed = rows.assign(**made) if made else rows
    if units:
        changed.attrs = rows.attrs | {"units": units}
    return changed


def _without_word(cells: Sequence[str]) -> dict[str, str]:
    """Return labels of steps without the word before their number, if all have the same: step5000, epoch-3."""
    found = [re.fullmatch(r"([A-Za-z]+)[-_ ]?(\d.*)", cell) for cell in cells]
    words = {match[1] for match in found if match}
    if not all(found) or len(words) > 1:
        return {cell: cell for cell in cells}
    return {cell: match[2] for cell, match in zip(cells, found, strict=True) if match}


def _texts(cells: Iterable[Any]) -> dict[Any, str] | None:
    """Return cells as text, without missing ones; None if some are neither text nor numbers."""
    texts: dict[Any, str] = {}
    for cell in cells:
        if isinstance(cell, str):
            texts[cell] = cell.strip()
        elif isinstance(cell, bool | np.bool_):
            return None
        elif isinstance(cell, int | float | np.number):
            # Of another file, in which the column has no text.
            if cell == cell:
                texts[cell] = f"{cell:.17g}"
        elif not pd.isna(cell):
            return None
    return texts


def _numbers(cells: Sequence[str], name: str) -> list[float] | None:
    """Return cells as numbers by their marks of thousands and decimals, None where one is no number."""
    mark = _mark_of_thousands(cells, name)
    if mark is None:
        return None
    plain = cells
    if mark == ",":
        plain = [cell.replace(",", "") for cell in cells]
    elif mark == ".":
        plain = [cell.replace(".", "").replace(",", ".") for cell in cells]
    else:
        plain = [cell.replace(",", ".") for cell in cells]
    if not all(map(_PLAIN.fullmatch, plain)):
        return None
    whole = all(re.fullmatch(r"[-+]?\d{1,18}", cell) for cell in plain)
    return [int(cell) if whole else float(cell) for cell in plain]


def _mark_of_thousands(cells: Sequence[str], name: str) -> str | None:
    """Return the mark between thousands, "" if there is none, None where cells are no numbers."""
    commas = [cell for cell in cells if "," in cell]
    points = [cell for cell in cells if "," not in cell and "." in cell]
    rest = [cell for cell in cells if "," not in cell and "." not in cell]
    of_points = ""
    if points and all(map(_GROUPS["."].fullmatch, points)):
        of_points = "."
    if not commas:
        sure = any(map(_SURE["."].fullmatch, points))
        return of_points if sure else ""

    are_groups = all(map(_GROUPS[","].fullmatch, commas))
    # Points of three digits each may mark thousands beside decimal commas.
    sure = are_groups and (any(map(_SURE[","].fullmatch, commas)) or bool(points and not of_points))
    decimal = _decimal.get()
    if not are_groups or (decimal == "," and not sure):
        if not all(map(_DECIMAL_COMMA.fullmatch, commas)):
            return None
        if any("." in cell for cell in commas):
            if points and not of_points:
                return None
            of_points = "."
        return of_points
    # 900 beside 1,234 has no three decimals.
    below = bool(rest) and all(len(cell.lstrip("+-")) < 4 for cell in rest)
    # Steps are counts.
    if decimal is None and (of_points or not (sure or below or is_step(name))):
        _ask_of_commas(commas[0], name)
    return ","


def _ask_of_commas(cell: str, name: str) -> None:
    """Refuse a column whose commas are of thousands as well as of decimals."""
    raise Refusal(
        "decimal",
        UNSAID,
        f"decimal is not known: in column {name!r} each number has three digits behind one comma, first {cell!r}",
        Choices(
            f"for {cell.replace(',', '.')}, ",
            give(decimal=","),
            f"; for {cell.replace(',', '')}, ",
            give(decimal="."),
        ),
    )


def _measures(name: object, column: pd.Series[Any]) -> bool:
    """Return whether a column is measured: by its name, or as most of its cells differ. Labels may be 70M and 160M."""
    known = is_step(name) or is_clock(name) or says_higher(name) is not None
    return known or column.nunique() > max(len(column) / 2, 3)


def with_one_unit(cells: Sequence[str]) -> tuple[list[float] | None, str]:
    """Return cells such as 70.1ms, 1m 10s, 0:05:30, or 900 and 1.3K, as numbers of one unit; None if they are not."""
    times = [_seconds(cell) for cell in cells]
    if all(time is not None for time in times):
        return [time for time in times if time is not None], "s"
    counts = [_count(cell) for cell in cells]
    if all(count is not None for count in counts):
        return [count for count in counts if count is not None], ""
    parts = [_NUMBER_AND_UNIT.fullmatch(cell) for cell in cells]
    found = {part[2] for part in parts if part is not None}
    if all(parts) and len(found) == 1:
        return [float(part[1]) for part in parts if part is not None], found.pop()
    return None, ""


def _seconds(cell: str) -> float | None:
    """Return a time as seconds, None if it is none."""
    clock = _CLOCK.fullmatch(cell)
    if clock:
        return float(clock[1] or 0) * 3600 + float(clock[2]) * 60 + float(clock[3])
    parts = _NUMBER_AND_UNIT.findall(cell)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != re.sub(r"\s", "", cell):
        return None
    if any(unit not in _SECONDS for _, unit in parts):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _count(cell: str) -> float | None:
    """Return a number with or without K, M, B, G or T as a count, None if it is none."""
    if _PLAIN.fullmatch(cell):
        return float(cell)
    part = _NUMBER_AND_UNIT.fullmatch(cell)
    if part is None or part[2] not in _MULTIPLES:
        return None
    return round(float(part[1]) * _MULTIPLES[part[2]], 6)
