"""What a kind of log declares: its name, how it is recognised, and how it is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

_SQLITE = b"SQLite format 3\0"  # the first bytes of a database, in which MLflow and Optuna keep runs


class Run(NamedTuple):
    """The rows of one run, and what of its logs could not be read."""

    rows: pd.DataFrame
    left_out: str = ""


class Source(NamedTuple):
    """A kind of log.

    `is_log` takes a file and returns whether it is one. Either `read_run` takes the logs of one run, and the names of
    folders or files say which run that is; or `read_all` takes the path of a file or a folder, and logs name their
    runs themselves. A `single` file holds all runs and is not looked for in folders. `value`, `training` and `extra`
    are the columns of the scores, of training and of tasks in the frame. `also_writes` names sources whose files are
    often beside.
    """

    name: str
    what: str
    is_log: Callable[[Path], bool]
    read_run: Callable[[Sequence[Path]], Run] | None = None
    read_all: Callable[[str | Path], pd.DataFrame] | None = None
    logs: str = ""
    units: Mapping[str, str] = {}
    long_names: Mapping[str, str] = {}
    single: bool = False
    value: str | None = None
    training: str | None = "step"
    extra: tuple[str, ...] = ()
    also_writes: tuple[str, ...] = ()


def check_named(argument: str, given: Any, what: str, example: str) -> Mapping[str, Any]:
    """Return what is given by the names of algorithms."""
    if not isinstance(given, Mapping) or not given or not all(isinstance(name, str) for name in given):
        got = type(given).__name__
        raise TypeError(f"{argument} must map names of algorithms to {what}; got {got}. Name it: {{{example}}}")
    return given


class LogError(ValueError):
    """A log that cannot be read; the message names the file and the cure."""


@contextmanager
def parsing(path: Path, what: str) -> Iterator[None]:
    """Say in one line which file it is, whatever parsing a damaged or hostile one raises."""
    try:
        yield
    except (LogError, ImportError, FileNotFoundError):
        raise
    except Exception as error:  # parsers of JSON, YAML, npz and events raise many kinds, RecursionError among them
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise LogError(f"{path} is cut short, damaged or no {what}: {why}. Copy it again, or remove it") from None


def check_cells(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return rows if each cell is one number or text that a file can hold."""
    for name, column in rows.items():
        for value in column if column.dtype == object else ():
            if isinstance(value, str):
                good = value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
            else:
                good = value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64)
            if not good:
                kind = (
                    "text that cannot be encoded"
                    if isinstance(value, str)
                    else f"a cell of type {type(value).__name__}"
                )
                kind = "a whole number of over 64 bits" if isinstance(value, int) else kind
                raise LogError(f"{path}: {name!r} has {kind}; a cell is one number or text. Correct or remove it")
    return rows


def has_sqlite_rows(path: Path, *tables: str) -> bool:
    """Return whether a file is an SQLite database in which each of these tables has a row."""
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return False
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            return all(database.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() for table in tables)
    except sqlite3.Error:
        return False
