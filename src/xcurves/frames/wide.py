"""Wide tables, with a column for each algorithm, run or task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_hashable, is_list_like

from xcurves.core import provenance
from xcurves.core.direction import MADE_NAME, SCORE
from xcurves.core.known import known_of
from xcurves.core.labels import DIMS
from xcurves.core.names import FOLD, compiled, dim_of, is_checkpoint, join_labels, short_name, whole_numbers
from xcurves.core.refusal import UNSAID, Cure, Missing, Refusal, Text, Words, WrongType, give, shown
from xcurves.frames.reading import OF_FRAME, THE_FRAME, no_column
from xcurves.frames.roles import is_mostly_measured
from xcurves.frames.wide_columns import (
    summary_columns,
    with_means_of_cells,
    without_summaries,
    without_text_summaries,
)

Columns = str | Mapping[str, Any]
VALUE = "{value}"
_ROW, _COLUMN, _VALUE = "_xcurves_row", "_xcurves_column", "_xcurves_value"  # no column has these names


_OF_FOLDS = re.compile(r"(?:fold|split|resample)[-_ ]?\{run", re.IGNORECASE)


def to_long(
    frame: pd.DataFrame,
    value: str,
    columns: str | Mapping[str, Sequence[str]],
    dims: Mapping[str, str | None],
    kept: Sequence[str] = (),
) -> pd.DataFrame:
    """Return one row for each score of a table whose columns are algorithms, runs or tasks.

    `columns` is a pattern, or maps one dim to columns; `dims` has the column of each dim, those of tasks under their
    own names; columns of `kept`, of dims and of text hold no scores.
    """
    if isinstance(columns, str) and "run" not in dims and _OF_FOLDS.search(columns) and FOLD not in frame:
        dims = {**dims, "run": FOLD}
    used = [name for name in [*dims.values(), *kept] if name is not None]
    frame = without_text_summaries(with_means_of_cells(frame))
    parts = parts_of(frame, columns, used)
    frame = without_summaries(frame, list(parts.index))
    made = {part: dims.get(part) or part for part in parts.columns}
    rest = [name for name in frame if name not in [*parts.index, *_sums_beside(frame, columns, parts, used)]]
    taken = [name for name in (value, *made.values()) if name in rest]
    if taken:
        raise Refusal(
            "columns",
            columns,
            Text(f"makes a column {taken[0]!r}, which ", THE_FRAME, " has"),
            _cure_of_taken(taken[0], is_score=taken[0] == value),
        )
    long = frame.melt(rest, list(parts.index), var_name=_COLUMN, value_name=_VALUE).rename(columns={_VALUE: value})
    labels = parts.rename(columns=made).apply(whole_numbers).loc[long.pop(_COLUMN)].reset_index(drop=True)
    tidy = pd.concat([labels, long], axis=1)
    tidy.attrs = dict(frame.attrs)
    return tidy


def _sums_beside(frame: pd.DataFrame, columns: Columns, parts: pd.DataFrame, used: Sequence[str]) -> list[Any]:
    """Return the columns of numbers that fit a pattern and hold no part: those that sum up others."""
    if not isinstance(columns, str) or "{" not in columns:
        return []
    pattern = compiled(columns, "columns")
    rest = [name for name in frame.select_dtypes("number") if name not in used and name not in parts.index]
    return [name for name in rest if pattern.fullmatch(str(name))]


def _cure_of_taken(name: str, *, is_score: bool) -> Cure:
    """Return how columns can be read where one has the name of what is made of the others."""
    drop = Words(f"drop it: frame.drop(columns={name!r})", "leave it out")
    if is_score:
        return Cure("Call the scores otherwise, ", give(value="measured"), ", or ", drop)
    return Cure("Rename it, or ", drop)


def as_asked(
    frame: pd.DataFrame,
    values: Sequence[str],
    columns: Columns,
    dims: Mapping[str, str | None],
    extra: Sequence[str] = (),
) -> tuple[pd.DataFrame, list[str]]:
    """Return one row for each score of a table whose columns are asked for, and the names of the scores.

    `values` are those that are named, none for what the pattern says, or for no name; `extra` are columns of tasks.
    """
    # Columns that are named like runs, training or tasks hold no scores.
    others = [name for name in map(str, frame) if name not in extra]
    kept = [*extra, *(name for name in others if dim_of(name) is not None or is_checkpoint(name))]
    has_values = isinstance(columns, str) and VALUE in columns
    if len(values) < 2 and not has_values:
        if values:
            return to_long(frame, values[0], columns, dims, kept), [values[0]]
        return of_nameless(frame, columns, dims, kept), [known_of(frame).title or SCORE]
    names = list(values) or values_in(frame, str(columns))
    return to_long_of_values(frame, names, columns, dims, kept), names


def of_nameless(
    frame: pd.DataFrame,
    columns: str | Mapping[str, Sequence[str]],
    dims: Mapping[str, str | None],
    kept: Sequence[str] = (),
) -> pd.DataFrame:
    """Return one row for each score, as `to_long` does, of a table whose scores only its file names, if anything."""
    title = known_of(frame).title
    long = to_long(frame, title or SCORE, columns, dims, kept)
    if not title:
        long.attrs[MADE_NAME] = SCORE
    return long


def of_each_value(frame: pd.DataFrame, values: Sequence[str], columns: Columns) -> dict[str, tuple[pd.DataFrame, Any]]:
    """Return for each of several scores the table without the columns of the others, and which columns hold it.

    `columns` is a pattern with the part ``{value}``, or maps each score to a pattern or to a mapping of one dim.
    """
    columns_of = _columns_of_values(values, columns)
    held: dict[str, list[Any]] = {}
    # Of two scores that a name could begin with, accuracy and accuracy_top5, it is of the longer.
    for value in sorted(values, key=len, reverse=True):
        taken = [name for names in held.values() for name in names]
        left = frame.drop(columns=taken)
        held[value] = list(parts_of(left, columns_of[value], ()).index)
    every = [name for names in held.values() for name in names]
    return {
        value: (
            frame.drop(columns=[name for name in every if name not in held[value]]),
            columns_of[value],
        )
        for value in values
    }


def _columns_of_values(values: Sequence[str], columns: Columns) -> dict[str, Any]:
    """Return the pattern, or the mapping, of each score."""
    if isinstance(columns, str) and (VALUE in columns or len(values) == 1):
        return {value: columns.replace(VALUE, value) for value in values}
    if isinstance(columns, str):
        raise Refusal(
            "columns",
            columns,
            f"does not say which of {len(values)} scores a column holds",
            f"Say it with a part {VALUE}, such as '{columns}_{VALUE}'",
        )
    if not isinstance(columns, Mapping):
        raise WrongType(
            "columns",
            columns,
            "must be a pattern or map names to columns",
            f"Try '{{algorithm}}_{VALUE}'",
        )
    if set(columns) == set(values):
        return dict(columns)
    if len(values) == 1:
        return {values[0]: columns}
    raise Refusal(
        "columns",
        columns,
        f"must map each of {shown(list(values))} to a pattern",
        f"Try '{{algorithm}}_{VALUE}'",
    )


def values_in(frame: pd.DataFrame, columns: str) -> list[str]:
    """Return the scores that names of columns say, by a pattern with the part ``{value}``."""
    return list(dict.fromkeys(_of_pattern(frame, columns, ())["value"]))


def to_long_of_values(
    frame: pd.DataFrame,
    values: Sequence[str],
    columns: Columns,
    dims: Mapping[str, str | None],
    kept: Sequence[str] = (),
) -> pd.DataFrame:
    """Return one row, with a column for each of several scores, of a table whose columns hold one each."""
    numbered = frame.assign(**{_ROW: np.arange(len(frame))})
    tables = [
        to_long(table, value, of_value, dims, [*kept, _ROW])
        for value, (table, of_value) in of_each_value(numbered, values, columns).items()
    ]
    joined = tables[0]
    for other in tables[1:]:
        joined = joined.merge(other, how="outer", on=[name for name in joined if name in other])
    joined.attrs = dict(frame.attrs)
    return joined.drop(columns=_ROW)


def refuse_duplicates(frame: pd.DataFrame) -> None:
    """Refuse a frame in which two columns have one name."""
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise Refusal(
            "frame",
            UNSAID,
            f"frame has several columns {twice!r}",
            "Rename all but one",
        )


def with_joined(frame: pd.DataFrame, columns: Sequence[str], argument: str = "algorithm") -> tuple[str, pd.DataFrame]:
    """Return the name of a new column, the labels of several joined, and the frame with it."""
    missing = [name for name in columns if name not in frame]
    if missing:
        raise no_column(argument, missing[0], frame)
    name = ", ".join(map(short_name, columns))
    return name, frame.assign(**{name: join_labels(frame, columns)})


def shared_pattern(names: Sequence[str], dim: str) -> str:
    """Return the pattern that names of columns have, such as seed{run}."""
    # What all begin with, up to a digit: the first and the last name of all differ earliest.
    prefix = ""
    for a, b in zip(min(names), max(names), strict=False):
        if a != b or a.isdecimal():
            break
        prefix += a
    # Of a name that is the prefix itself nothing would be left.
    if any(len(name) <= len(prefix) for name in names):
        prefix = ""
    return f"{prefix}{{{dim}}}"


def parts_of(frame: pd.DataFrame, columns: Columns, used: Sequence[str]) -> pd.DataFrame:
    """Return the labels of each column that holds scores, a row for each."""
    refuse_duplicates(frame)
    if isinstance(columns, str) and "{" not in columns:
        return _of_mapping(frame, {"algorithm": [name.strip() for name in columns.split(",")]})
    if isinstance(columns, str):
        return _of_pattern(frame, columns, used)
    if isinstance(columns, Mapping):
        return _of_mapping(frame, columns)
    raise WrongType("columns", columns, "must be a pattern or a mapping", "Try '{algorithm}'")


def _of_mapping(frame: pd.DataFrame, columns: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    dims, listed = list(columns), [each for each in columns.values() if is_list_like(each)]
    if len(dims) != 1 or not isinstance(dims[0], str) or not listed:
        raise WrongType(
            "columns",
            columns,
            "must map one dim to names of columns",
            "Try '{algorithm}'",
        )
    names = list(listed[0])
    unknown = next((name for name in names if not is_hashable(name) or name not in frame), None)
    if not names:
        raise Refusal("columns", columns, "names no column", "Try '{algorithm}'")
    if unknown is not None:
        raise no_column("columns", unknown, frame)
    if len(set(names)) < len(names):
        raise Refusal("columns", columns, "names a column twice", "Leave one out")
    return pd.DataFrame({dims[0]: [str(name) for name in names]}, index=names)


def strange_cells(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the cells of a column that are no numbers."""
    return column[pd.to_numeric(column, errors="coerce").isna() & column.notna()]


def with_text(strange: pd.Series[Any]) -> Refusal:
    """Return the error about a column that would be numbers but for some cells."""
    rows = f"{len(strange):,} rows"
    if len(strange) == 1:
        rows = "a row"
    first = f"{strange.iloc[0]!r} in row {strange.index[0]}"
    reason = Text(OF_FRAME, f"the column {strange.name} has text in {rows}, first {first}")
    return Refusal("frame", UNSAID, reason, "Correct it, or leave it empty for a gap")


def _of_pattern(frame: pd.DataFrame, columns: str, used: Sequence[str]) -> pd.DataFrame:
    """Return what each column that fits says, a row for each."""
    pattern = compiled(columns, "columns")
    free = [name for name in frame.select_dtypes("number") if name not in used]
    summaries = summary_columns(free)
    if summaries:
        listed = ", ".join(map(repr, summaries))
        provenance.warn(f"columns left out, as they sum up others: {listed}")
        free = [name for name in free if name not in summaries]
    parts_of = {}
    for name in free:
        match = pattern.fullmatch(str(name))
        if match:
            parts_of[name] = match.groupdict()
    for name in map(str, frame):
        if name not in used and pattern.fullmatch(name) and is_mostly_measured(frame, name):
            raise with_text(strange_cells(frame[name]))
    if not parts_of:
        known = ", ".join(map(repr, frame.columns))
        raise Missing("columns", columns, "fits no column of numbers", f"The frame has {known}")
    unusual = [part for part in pattern.groupindex if part in DIMS and part in frame]
    if unusual:
        raise Refusal(
            "columns",
            columns,
            f"says {unusual[0]}, and so does the column of that name",
            "Rename it",
        )
    return pd.DataFrame(list(parts_of.values()), index=list(parts_of))
