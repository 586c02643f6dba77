"""Rows and columns of wide tables that sum up the others, averages, ranks, totals: no tasks and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.names import words_of

_ROWS = frozenset(["average", "avg", "mean", "rank", "total", "median", "std"])
_COUNTS = ("w/t/l", "w/d/l", "win/tie/loss")
_COLUMNS = frozenset(["average", "avg", "mean", "overall"])
_OF_ALL = _COLUMNS | {"score", "scores", "accuracy", "acc", "all", "tasks", "total"}  # words beside those
_FEWEST = 3  # rows above a mean of them


def summary_columns(scores: Sequence[Any]) -> list[Any]:
    """Return the columns that bear the name of a summary, beside two others."""
    found = [name for name in scores if _COLUMNS & set(words_of(name)) and _OF_ALL.issuperset(words_of(name))]
    if len(scores) - len(found) < 2:
        return []
    return found


def n_rows_of_scores(frame: pd.DataFrame, scores: Sequence[Any]) -> int:
    """Return how many rows of a wide table are left without those that sum up others."""
    return len(frame) - len(_summary_rows(frame, scores))


def without_text_summaries(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without last rows such as W/T/L whose text makes text of columns of numbers; they are said."""
    texts = list(frame.select_dtypes(exclude=["number", "bool"]))
    n_rows, left_out = len(frame), list[str]()
    while n_rows > 1 and (label := _label(frame[texts].iloc[n_rows - 1].tolist())):
        n_rows -= 1
        left_out.insert(0, label)
    if not left_out:
        return frame
    kept = frame.iloc[:n_rows].copy()
    numbers = {name: pd.to_numeric(kept[name], errors="coerce") for name in texts}
    made = {name: column for name, column in numbers.items() if (column.notna() == kept[name].notna()).all()}
    made = {name: column for name, column in made.items() if column.notna().any()}
    if not made:
        return frame
    provenance.warn(f"left out, as they sum up other rows: {', '.join(left_out)}")
    for name, column in made.items():
        kept[name] = column
    kept.attrs = frame.attrs
    return kept


def without_summaries(frame: pd.DataFrame, scores: Sequence[Any]) -> pd.DataFrame:
    """Return a wide table without last rows that sum up those above, by their name or their means; they are said."""
    left_out = _summary_rows(frame, scores)
    if not left_out:
        return frame
    provenance.warn(f"left out, as they sum up other rows: {', '.join(left_out)}")
    kept = frame.iloc[: len(frame) - len(left_out)].copy()
    for name in scores:
        kept[name] = pd.to_numeric(kept[name])
    kept.attrs = frame.attrs
    return kept


def _summary_rows(frame: pd.DataFrame, scores: Sequence[Any]) -> list[str]:
    """Return what the last rows that sum up those above are called."""
    texts = [name for name in frame.select_dtypes(exclude=["number", "bool"]) if name not in scores]
    values = frame[list(scores)].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    n_rows = len(frame)
    found: list[str] = []
    while n_rows > 1:
        label = _label(frame[texts].iloc[n_rows - 1].tolist())
        if not label and not _are_means(values[:n_rows]):
            break
        n_rows -= 1
        found.insert(0, label or f"row {n_rows + 1}, the means of those above")
    return found


def _label(cells: Sequence[Any]) -> str:
    """Return the cell that names a summary, "" if none does."""
    for cell in map(str, cells):
        if cell.strip().casefold() in _COUNTS or _ROWS & set(words_of(cell)):
            return repr(cell)
    return ""


def _are_means(values: NDArray[np.float64]) -> bool:
    """Return whether the last row of scores is the mean of the others, within rounding of its own digits."""
    *above, last = values
    if len(above) < _FEWEST or len(last) < 2 or not np.isfinite(values).all():
        return False
    if (np.asarray(above) == above[0]).all():
        return False
    half = [0.5 * 10.0 ** -_decimals(number) for number in last]
    distance = np.abs(last - np.mean(above, axis=0))
    return bool((distance <= np.asarray(half) * (1 + 1e-9)).all())


def _decimals(number: float) -> int:
    """Return how many digits are written behind the point, at least one."""
    digits = repr(float(number)).partition("e")[0].partition(".")[2]
    return max(len(digits), 1)
