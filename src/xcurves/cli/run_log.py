"""A log whose rows come in the order in which runs were made: the numbers of the runs, and which rows are wrong."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.cli.options import command_with
from xcurves.cli.sources import Table, read_names
from xcurves.core.labels import DIMS
from xcurves.core.names import is_clock
from xcurves.core.refusal import UNSAID, Refusal, Text
from xcurves.core.run_checks import RunError, RunsWarning
from xcurves.frames.roles import UNIX, seconds_of

_RUN = "run"  # column of the number of a run of its algorithm, where the log has none
_LEAST_FALLS = 4  # of numbers that may be durations, before their order says something


@dataclass(frozen=True)
class RunLog:
    """Where the runs of each algorithm are in the log; nothing is known of an archive."""

    path: str = ""
    rows: dict[tuple[str, str], int] = field(default_factory=dict)  # the first of each
    scores: dict[int, float] = field(default_factory=dict)  # where a row is a run
    # The algorithm and the number of each run, by how messages write its labels.
    written: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def by_row(self, error: RunError) -> Refusal:
        """Return what is wrong with a run, by its row and its score."""
        argument, who, reason, cure = error.args
        who = self.written.get(who, who)
        row = self.rows.get(who)
        if row is None:
            return error
        named = f"the run of {who[0]} that begins in row {row} of {self.path}"
        if row in self.scores:
            named = f"row {row} of {self.path} ({who[0]}, score {self.scores[row]:g})"
        return RunError(argument, who, Text(named, *reason[1:]), cure)

    def say_warning(self, warning: Warning) -> str:
        """Return a warning, with rows and the score where it is about runs."""
        if not isinstance(warning, RunsWarning) or not self.scores:
            return str(warning)
        first, second = (self.rows[warning.algorithm, run] for run in warning.runs)
        whose = f"({warning.algorithm}, score {self.scores[first]:g})"
        return f"rows {first} and {second} of {self.path} {whose}{warning.what}"


@contextmanager
def naming_rows(log: RunLog) -> Iterator[None]:
    """Say of which rows errors and warnings about runs are."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    except RunError as error:
        raise log.by_row(error) from None
    for each in caught:
        words = str(each.message)
        if isinstance(each.message, Warning):
            words = log.say_warning(each.message)
        warnings.warn(words, UserWarning, stacklevel=2)


def numbered(table: Table, options: argparse.Namespace) -> tuple[Table, RunLog]:
    """Return a table whose names are known, with the runs of each algorithm numbered in their order."""
    if options.task:
        table = table._replace(columns=table.columns | {options.task: options.task})
    table = _oldest_first(_read_rows(table, options))
    columns, frame, score = table.columns, table.frame, str(table.value)
    algorithm, run = columns["algorithm"], columns.get("run")
    others = [name for name in columns if name not in (*DIMS, options.task)]
    if others:
        command = command_with(options, ["--task", others[0]])
        raise Refusal(
            "path",
            str(options.archive),
            f"{options.archive} has tasks, over which a run is averaged if they are named",
            f"Type: {command}",
        )
    if "training" not in columns and options.missing_scores != "failed":
        _refuse_empty(frame, algorithm, score, options)
    if run is not None:
        _refuse_unnamed(frame, algorithm, run, options)
    if options.duplicates == "raise":
        _refuse_repeats(table, options)

    frame = frame.assign(**{algorithm: frame[algorithm].astype(str)})
    numbers = _run_numbers(frame, algorithm, run)
    # Under the name of the runs, which messages may have.
    run = run or _RUN
    frame = frame.assign(**{run: numbers})
    first = frame.drop_duplicates([algorithm, run])
    names = zip(first[algorithm], (first[run] + 1).astype(str), strict=True)
    rows = dict(zip(names, _rows_of(first), strict=True))
    scores = {}
    if len(first) == len(frame):
        scores = dict(zip(_rows_of(frame), frame[score].tolist(), strict=True))
    made = table._replace(frame=frame, columns=columns | {"run": run})
    written = {(repr(name), str(int(number) - 1)): (name, number) for name, number in rows}
    return made, RunLog(str(options.archive), rows, scores, written)


def _read_rows(table: Table, options: argparse.Namespace) -> Table:
    """Return a table whose names are known, with a clock that each row or run has once as no training."""
    named = read_names(table, options)
    columns, frame = named.columns, named.frame
    clock = columns.get("training")
    if clock is None or options.training is not None or not is_clock(clock):
        return named
    has_run = "run" in columns
    if has_run and frame.duplicated([columns["algorithm"], columns["run"]]).any():
        return named
    others = {dim: name for dim, name in table.columns.items() if name != clock}
    bare = table._replace(frame=table.frame.drop(columns=clock), columns=others)
    again = read_names(bare, options)
    return again._replace(frame=again.frame.assign(**{clock: table.frame[clock]}))


def _rows_of(frame: pd.DataFrame) -> list[int]:
    """Return the number of each row in the log, from 1."""
    return [int(row) + 1 for row in frame.index]


def _oldest_first(table: Table) -> Table:
    """Return a table of which rows are in the order in which runs were made, if a clock says that they are reversed."""
    columns, frame = table.columns, table.frame
    of_run = [columns[dim] for dim in ("algorithm", "run") if dim in columns]
    taken = {*columns.values(), table.value}
    for name in frame:
        if name in taken or not is_clock(name):
            continue
        times = seconds_of(frame[name])
        if times.isna().any():
            continue
        began = times.groupby([frame[dim] for dim in of_run]).transform("min")
        first = frame.assign(_began=began).drop_duplicates(of_run)
        if not _is_falling(first["_began"], first[columns["algorithm"]]):
            continue
        # Of rows with the same time the lower one is the older.
        reversed_rows = began.iloc[::-1]
        order = reversed_rows.sort_values(kind="stable").index
        said = f"{table.how_read}; sorted by {name}, as the newest rows come first"
        return table._replace(frame=frame.loc[order], how_read=said)
    return table


def _is_falling(began: pd.Series[Any], algorithm: pd.Series[Any]) -> bool:
    """Return whether runs stand newest first: all of them, or those of each algorithm."""
    least = 1
    if began.abs().max() < UNIX:
        least = _LEAST_FALLS
    for steps in (began.diff(), began.groupby(algorithm, sort=False).diff()):
        if not (steps > 0).any() and (steps < 0).sum() >= least:
            return True
    return False


def _refuse_empty(frame: pd.DataFrame, algorithm: str, score: str, options: argparse.Namespace) -> None:
    """Refuse a row of a run without a score: to leave it out would reward what failed."""
    empty = frame[frame[score].isna()]
    if len(empty):
        raise Refusal(
            "frame",
            UNSAID,
            f"row {_rows_of(empty)[0]} of {options.archive}, of {empty[algorithm].iloc[0]}, has no {score}",
            "Give a failed run -inf (inf where low scores are better), say --missing-scores failed, "
            "or leave out the row of one that is not made",
        )


def _refuse_unnamed(frame: pd.DataFrame, algorithm: str, run: str, options: argparse.Namespace) -> None:
    """Refuse a row that does not say which run, or which algorithm, it is of."""
    for column in (algorithm, run):
        empty = frame[frame[column].isna()]
        if len(empty):
            raise Refusal(
                "frame",
                UNSAID,
                f"row {_rows_of(empty)[0]} of {options.archive} has no {column}",
                "Write it, or leave the row out",
            )


def _refuse_repeats(table: Table, options: argparse.Namespace) -> None:
    """Refuse rows of the same run, and level and task, of which one must be chosen."""
    frame, columns, score = table.frame, table.columns, str(table.value)
    same = list(columns.values())
    repeats = frame[frame.duplicated(same)]
    if not len(repeats) or "run" not in columns:
        return
    alike = frame[(frame[same] == repeats[same].iloc[0]).all(axis=1)]
    first, second = _rows_of(alike)[:2]
    scores = alike[score].tolist()
    what = ", ".join(f"{name} {alike[name].iloc[0]}" for name in same)
    further = ""
    if len(repeats) > 1:
        further = f" ({len(repeats)} rows repeat one)"
    command = command_with(options, ["--duplicates", "last"])
    raise Refusal(
        "path",
        str(options.archive),
        f"rows {first} and {second} of {options.archive} are both of {what}, with the scores {scores[0]:g}"
        f" and {scores[1]:g}{further}",
        f"Give each run a {columns['run']} of its own, or say which row to keep (first, last or mean). Type: {command}",
    )


def _run_numbers(frame: pd.DataFrame, algorithm: str, run: str | None) -> NDArray[np.int64]:
    """Return the number of the run of each row, in the order in which the runs of its algorithm come first."""
    if run is None:
        return np.zeros(len(frame), np.int64)
    first = frame[[algorithm, run]].drop_duplicates()
    numbers = first.groupby(algorithm, sort=False).cumcount().to_numpy()
    number_of = dict(zip(first.itertuples(index=False, name=None), numbers.tolist(), strict=True))
    rows = frame[[algorithm, run]].itertuples(index=False, name=None)
    return np.array([number_of[row] for row in rows], np.int64)
