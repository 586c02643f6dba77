"""Which columns, or dims, of the input are what: taken from the options, recognised, or asked for in one message."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from shlex import join
from textwrap import shorten
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from xcurves.cli.options import program
from xcurves.core.direction import looks_like_score
from xcurves.core.labels import DIMS, did_you_mean
from xcurves.core.names import dim_of
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.frames.finder import read_frame
from xcurves.frames.questions import ask
from xcurves.frames.reading import Doubt, Reading
from xcurves.frames.wide_columns import Pattern
from xcurves.frames.wide_tables import listed, wide_pattern

NO_TRAINING = "none"  # of --training: scores have no training
_NAME = "name"  # the column of logs that name their runs
_PATTERN = "--names '{algorithm}-{run}'"
_WIDEST = 40  # letters of a value that a message shows
_NOTHING = {
    "algorithm": "no column could be the algorithm, with a label for each of two or more: add one",
    "run": "rows repeat and no column tells the runs apart: add one, such as seed",
    "score": "no column of numbers could be the score: add one",
}


class Table(NamedTuple):
    """A tidy frame, the column of its scores if it is known, those of dims and tasks, and how that was read."""

    frame: pd.DataFrame
    value: str | None
    columns: dict[str, str]
    how_read: str = ""  # once names are
    reading: Reading | None = None  # then too


def read_names(table: Table, options: argparse.Namespace) -> Table:
    """Return a table with the columns of its score, dims and tasks; ask for all that cannot be told at once."""
    if table.how_read:
        return table
    frame = table.frame
    given = _given(table, options)
    _check_given(frame, options)
    reading = read_frame(frame, given)
    if reading.algorithm == _NAME and reading.run is None and options.algorithm is None:
        called = frame[_NAME].iloc[0]
        raise Refusal(
            "",
            UNSAID,
            f"runs of {options.archive} are called {called!r}",
            f"Say how such names are made: {_PATTERN}",
        )
    # Columns may be scores of algorithms, unless rows are or the score is given.
    is_long = reading.score is not None and reading.score not in frame
    pattern = None
    if not is_long and "score" not in given:
        pattern = wide_pattern(frame, given)
    if pattern is not None and (reading.doubt or "{run}" in pattern.text):
        raise Refusal("", UNSAID, _ask_of_columns(pattern, options))
    if reading.doubt is not None:
        if not reading.doubt.choices:
            raise _impossible(frame, reading.doubt, options)
        raise ask(reading.doubt, given)

    columns = {}
    for dim in DIMS:
        name = getattr(reading, dim)
        if name is not None:
            columns[dim] = name
    columns |= {name: name for name in reading.tasks}
    said = reading.said
    if reading.matched and getattr(options, "paired", False) is None:
        said += f"; runs are {reading.matched}s, compared as matched (else: --not-paired)"
    return Table(reading.frame, reading.score, columns, said, reading)


def _given(table: Table, options: argparse.Namespace) -> dict[str, Any]:
    """Return what options and the source say of the names."""
    given: dict[str, Any] = {}
    for dim in DIMS:
        asked = getattr(options, dim)
        if dim == "training" and asked == NO_TRAINING and asked not in table.frame:
            given[dim] = None
        elif asked is not None:
            given[dim] = asked
    tasks = [name for name in table.columns if name not in DIMS]
    if tasks:
        given["tasks"] = tasks
    if options.task_groups is not None:
        given["passage"] = options.task_groups
    given["missing_scores"] = options.missing_scores
    if options.value:
        given["score"] = options.value[0]
    elif table.value is not None:
        given["score"] = table.value
    return given


def _check_given(frame: pd.DataFrame, options: argparse.Namespace) -> None:
    """Refuse an option that names no column."""
    asked = {"value": options.value or [], "extra": options.extra}
    for dim in DIMS:
        asked[dim] = listed(getattr(options, dim))
    for option, names in asked.items():
        for name in names:
            if name not in frame and (option, name) != ("training", NO_TRAINING):
                raise not_found(f"--{option} {name} is no column of ARCHIVE", name, frame.columns)


def not_found(refusal: str, name: str, known: Iterable[Any], other_names: Iterable[str] = ()) -> KeyError:
    """Return the error about a name that is unknown: the names that are known, and the nearest."""
    listed = ", ".join(map(repr, known))
    near = did_you_mean(name, [*other_names, *known])
    return KeyError(f"{refusal}. It has {listed}{near}")


def _impossible(frame: pd.DataFrame, doubt: Doubt, options: argparse.Namespace) -> Refusal:
    """Return the error about what no column can be."""
    lacking = [name for name, columns in doubt.unknown.items() if not columns]
    why = _why_impossible(frame, lacking or ["run"], options)
    return Refusal("", UNSAID, f"{options.archive}: {why}")


def _why_impossible(frame: pd.DataFrame, impossible: Sequence[str], options: argparse.Namespace) -> str:
    """Return what no column can be, and what to do."""
    if "score" in impossible:
        why = _text_among_numbers(frame)
        if why:
            return why
    lacking = "; ".join(_NOTHING[name] for name in impossible)
    if "score" in impossible:
        lacking += _nearest_text(frame)
    n_columns = sum(pd.api.types.is_float_dtype(frame[name]) for name in frame)
    if impossible == ["algorithm"] and n_columns > 1:
        command = command_with(options, ["--columns", "{algorithm}"])
        return f"{lacking}, or, if columns are the algorithms, type: {command}"
    return lacking


def _ask_of_columns(pattern: Pattern, options: argparse.Namespace) -> str:
    """Return that columns seem to be scores of algorithms or runs, and the whole command that reads them so."""
    things = "algorithms and runs"
    if "{run}" not in pattern.text:
        things = "algorithms"
    elif "{algorithm}" not in pattern.text:
        things = "runs"
    added = ["--columns", pattern.text]
    if pattern.scores:
        added += ["--value", pattern.scores[0]]
    command = command_with(options, added)
    return f"{options.archive} has columns that seem to be scores of {things}. Type, if this is right: {command}"


def _text_among_numbers(frame: pd.DataFrame) -> str:
    """Return which column would be numbers but for a few rows, "" if none."""
    for name in frame.select_dtypes(exclude="number"):
        numbers = pd.to_numeric(frame[name], errors="coerce")
        strange = frame[name][numbers.isna() & frame[name].notna()]
        if 0 < len(strange) < len(frame) / 2:
            rows = f"{len(strange):,} rows"
            if len(strange) == 1:
                rows = "a row"
            first = f"{strange.iloc[0]!r} in row {strange.index[0]}"
            return f"the column {name} has text in {rows}, first {first}. Correct it, or leave it empty for a gap"
    return ""


def _nearest_text(frame: pd.DataFrame) -> str:
    """Return which column of text is nearest to a score, with one of its values, "" if none."""
    texts: list[tuple[bool, bool, str, str]] = []
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        values = frame[name].dropna().astype(str)
        if dim_of(name) is None and len(values):
            first = values.iloc[0]
            begins = re.match(r"\W*\d", first) is not None
            texts.append((looks_like_score(name), begins, str(name), first))
    if not texts:
        return ""

    # by its name first, then by values that begin as numbers do; of several the first
    _, _, name, first = max(texts, key=lambda text: text[:2])
    shown = repr(shorten(first, _WIDEST, placeholder=" ..."))
    return (
        f", or write the column {name!r} as numbers: it has text, such as {shown}. "
        "A number has a point and no unit, 0.5"
    )


def command_with(options: argparse.Namespace, added: Sequence[str]) -> str:
    """Return the command as it was given with further options, as a shell takes it."""
    given: list[str] = getattr(options, "given", [str(options.archive)])
    return f"{program()} {join([*given, *added])}"


def rename_dims(opened: xr.Dataset, options: argparse.Namespace) -> tuple[xr.Dataset, str]:
    """Return variables with the dims that options name, or whose names are recognised, as dims; and what was said."""
    renamed: dict[str, str] = {}
    for dim in DIMS:
        asked = getattr(options, dim)
        if asked is not None and asked in opened.dims:
            renamed[asked] = dim
    recognised: dict[str, str] = {}
    for name in map(str, opened.dims):
        usual = dim_of(name)
        taken = {*opened.dims, *renamed.values(), *recognised.values()}
        if usual in DIMS and usual not in taken:
            recognised[name] = usual
    renamed |= {name: dim for name, dim in recognised.items() if name not in renamed}
    renamed = {name: dim for name, dim in renamed.items() if name != dim}
    if not renamed:
        return opened, ""
    readings = ", ".join(f"{dim} = {name}" for name, dim in renamed.items())
    return opened.rename(renamed), f"read as {readings}"
