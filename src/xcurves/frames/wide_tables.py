"""Tables whose columns are scores of algorithms or runs: whether a frame is one, and how its columns are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from xcurves.core.direction import looks_like_score
from xcurves.core.names import dim_of
from xcurves.frames.score_columns import NO_NAME, names_score, says_statistic
from xcurves.frames.wide import to_long
from xcurves.frames.wide_columns import Pattern, fitting_pattern
from xcurves.frames.wide_summaries import summary_columns


def long_form(frame: pd.DataFrame, known: Mapping[str, Any]) -> tuple[pd.DataFrame, str]:
    """Return a row for each score where columns are algorithms or runs, and what is said of it; else the frame and "".

    They are taken for these where every other column names algorithms, runs, training or tasks, and none is called
    like a score or a statistic of scores. Without such columns a row is a task.
    """
    if "score" in known or "score" in frame:
        return frame, ""
    frame = _with_named_rows(frame)
    named, scores = _named_and_scores(frame, known)
    summaries = summary_columns(scores)
    if summaries:
        made, how = long_form(frame.drop(columns=summaries), known)
        if not how:
            return frame, ""
        return made, f"{how}, without {', '.join(summaries)}"
    said = any(looks_like_score(name) or says_statistic(name) for name in scores)
    free = [name for name in frame.columns if name not in columns_in(known)]
    if len(scores) < 2 or said or len(scores) + len(named) < len(free):
        return frame, ""
    found = fitting_pattern(scores, names_score)
    has_algorithm = "algorithm" in known or "algorithm" in named.values()
    if found is None or ("{algorithm}" in found.text) == has_algorithm:
        return frame, ""
    if "{run}" in found.text:
        return to_long(frame, "score", found.text, {}), f", columns are {found.text}"
    if "{algorithm}" not in found.text:
        return frame, ""
    how = f", columns are the algorithms: {', '.join(scores)}"
    if not named and not (known.get("run") or known.get("tasks")):
        return frame, ""
    return to_long(frame, "score", {"algorithm": scores}, {"algorithm": "algorithm"}), how


def wide_pattern(frame: pd.DataFrame, given: Mapping[str, Any]) -> tuple[Pattern | None, list[str]]:
    """Return the pattern of columns that are scores of algorithms or runs, and these, which may be metrics."""
    named, scores = _named_and_scores(frame, given)
    if len(scores) < 2 or any(map(says_statistic, scores)):
        return None, []
    pattern = fitting_pattern(scores, names_score)
    parts = [dim for dim in ("algorithm", "run") if pattern and f"{{{dim}}}" in pattern.text]
    if not parts or any(dim in given or dim in named.values() for dim in parts):
        return None, []
    return pattern, scores


def _named_and_scores(frame: pd.DataFrame, known: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return what columns with usual names are, and the other columns of numbers with decimals."""
    free = [name for name in frame.columns if name not in columns_in(known)]
    kinds = {name: dim_of(name) for name in free}
    named = {name: kind for name, kind in kinds.items() if kind is not None}
    scores = [name for name in free if name not in named and pd.api.types.is_float_dtype(frame[name])]
    return named, scores


def columns_in(known: Mapping[str, Any]) -> list[str]:
    """Return the columns of all roles that are known."""
    return [name for role in known for name in as_list(known[role])]


def as_list(given: Any) -> list[str]:
    """Return the names that are given: none, one or several."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    return list(given)


def _with_named_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose first column without a name, an index that was written, is the task, or is gone."""
    if not len(frame.columns):
        return frame
    first = str(frame.columns[0])
    if first not in NO_NAME or "task" in frame:
        return frame
    column = frame[frame.columns[0]]
    if pd.api.types.is_numeric_dtype(column):
        return frame.drop(columns=frame.columns[0])
    if not column.is_unique:
        return frame
    return frame.rename(columns={frame.columns[0]: "task"})
