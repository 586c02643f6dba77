"""What cannot be told of a wide table: which of its columns are algorithms, and whether its rows are tasks or runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from xcurves.core.direction import looks_like_score
from xcurves.core.doubts import MOST, Choice, how_many, runs_each
from xcurves.core.names import dim_of, names_in, words_of
from xcurves.frames.reading import Doubt
from xcurves.frames.score_columns import NO_NAME, n_labels, names_score, says_statistic
from xcurves.frames.wide import Columns, as_asked
from xcurves.frames.wide_columns import fitting_pattern, runs_pattern
from xcurves.frames.wide_summaries import n_rows_of_scores, summary_columns
from xcurves.frames.wide_tables import columns_in

ROW = "row"  # the column of the names or numbers of rows, where it is named and no column says it
_ABOUT = names_in("delta diff gain p ci lo hi std ratio count")  # words of columns about others


def with_rows(frame: pd.DataFrame, named: Sequence[Any]) -> pd.DataFrame:
    """Return a frame with a column `row`, where it is named: its first column if that has no name, or else numbers."""
    if ROW in frame or not any(isinstance(name, str) and name == ROW for name in named):
        return frame
    if len(frame.columns) and frame.columns[0] in NO_NAME:
        made = frame.rename(columns={frame.columns[0]: ROW})
    else:
        made = frame.assign(**{ROW: range(1, len(frame) + 1)})
    made.attrs = frame.attrs
    return made


def as_rows(
    frame: pd.DataFrame,
    columns: Columns | None,
    values: Sequence[str],
    dims: Mapping[str, Any],
    kept: Sequence[str],
) -> tuple[pd.DataFrame, list[str]]:
    """Return a row for each score of a table, as a call names its columns, and the scores that were made of columns.

    `dims` has what was given of algorithm, run and training; `kept` are columns of tasks and coordinates.
    """
    run = dims.get("run")
    runs = run if isinstance(run, list | tuple) else [run]
    tidy = with_rows(frame, [*runs, *kept])
    if columns is None:
        return tidy, []
    single = {dim: column for dim, column in dims.items() if isinstance(column, str)}
    return as_asked(tidy, values, columns, single, kept)


def doubt_of_columns(frame: pd.DataFrame, known: Mapping[str, Any]) -> Doubt | None:
    """Return what cannot be told of a table with a column for each algorithm, None if all can or if it is none."""
    if "score" in known or "score" in frame or "algorithm" in known:
        return None
    free = [name for name in map(str, frame.columns) if name not in columns_in(known)]
    named = [name for name in free if dim_of(name) is not None]
    numbers = [str(name) for name in frame[free].select_dtypes("number") if name not in (*named, *NO_NAME)]
    about = [name for name in numbers if _ABOUT & set(words_of(name))]
    scores = [name for name in numbers if name not in about and pd.api.types.is_float_dtype(frame[name])]
    are_whole = not scores
    if are_whole:
        scores = [name for name in numbers if name not in about]
    scores = [name for name in scores if name not in summary_columns(scores)]
    rest = [name for name in free if name not in (*numbers, *named, *NO_NAME)]
    if not are_whole:
        rest += [name for name in numbers if name not in (*scores, *about, *summary_columns(numbers))]
    pattern = fitting_pattern(scores, names_score)
    is_plain = pattern is not None and pattern.text == "{algorithm}"
    named_otherwise = any(map(looks_like_score, scores)) or sum(map(says_statistic, scores)) > 1
    if len(scores) < 2 or not is_plain or named_otherwise:
        return None
    rows = _rows_of(frame, known, named, rest)
    if rows is None:
        return None
    runs = [name for name in named if dim_of(name) == "run"]
    numbered = runs_pattern(scores)
    if numbered is not None and not runs and "run" not in known and not about:
        return _doubt_of_numbers(scores, numbered, rows[0])
    columns: list[list[str]] = [[]]
    if about or are_whole:
        columns = [scores]
    if about and not are_whole:
        columns.append([*scores, *about])
    if columns == [[]] and rows == [{}]:
        return None
    n_rows = n_rows_of_scores(frame, scores)
    choices = [
        Choice(_columns(those) | of_rows, _compared(len(those or scores), n_rows, of_rows))
        for those, of_rows in product(columns, rows)
    ]
    return Doubt({}, tuple(choices[:MOST]), _question(about, are_whole, rows))


def _doubt_of_numbers(scores: Sequence[str], pattern: str, of_rows: Mapping[str, Any]) -> Doubt:
    """Return what to ask where names of columns end in 1, 2, ...: runs, or versions of an algorithm."""
    n_algorithms = len({re.sub(r"\d+$", "", name) for name in scores})
    n_runs = len(scores) // n_algorithms
    choices = (
        Choice({"columns": pattern, **of_rows}, f"{how_many(n_algorithms, 'algorithm')}, {runs_each(n_runs, n_runs)}"),
        Choice({**_columns(scores), **of_rows}, f"{how_many(len(scores), 'algorithm')}, one run each"),
    )
    return Doubt({}, choices, f"does not say whether numbers at the end of columns such as {scores[0]} are runs")


def _rows_of(
    frame: pd.DataFrame,
    known: Mapping[str, Any],
    named: Sequence[str],
    rest: Sequence[str],
) -> list[dict[str, Any]] | None:
    """Return what rows could be, nothing to say where a column says it; None if the table is no wide one."""
    if named or known.get("run") is not None or known.get("tasks"):
        return [{}] if not rest else None
    if len(rest) > 1:
        return None
    label = ROW
    if rest:
        (label,) = rest
        if n_labels(frame[label]) < len(frame):
            return None
    return [{"tasks": [label]}, {"run": label}]


def _columns(names: Sequence[str]) -> dict[str, Any]:
    """Return the argument that names columns of algorithms, none for all."""
    if not names:
        return {}
    if any("," in name for name in names):
        return {"columns": {"algorithm": list(names)}}
    return {"columns": ",".join(names)}


def _compared(n_algorithms: int, n_rows: int, rows: Mapping[str, Any]) -> str:
    of_algorithms = how_many(n_algorithms, "algorithm")
    if "tasks" in rows:
        return f"{of_algorithms}, {how_many(n_rows, 'task')}, one run each"
    if "run" in rows:
        return f"{of_algorithms}, one task, {runs_each(n_rows, n_rows)}"
    return f"{of_algorithms}, {how_many(n_rows, 'row')} each"


def _question(about: Sequence[str], are_whole: bool, rows: Sequence[Mapping[str, Any]]) -> str:
    asked = []
    if about:
        asked.append(f"whether {', '.join(about)} {'is an algorithm' if len(about) == 1 else 'are algorithms'}")
    elif are_whole:
        asked.append("whether columns are algorithms")
    if rows != [{}]:
        asked.append("whether rows are tasks or runs")
    return f"does not say {' and '.join(asked)}"
