"""Files of logs: damaged ones, databases, CSV (read only if every row has all fields), and logs that go on with others.

Logs go on with others that they are called like: progress_resumed.csv.
"""

from __future__ import annotations

import csv
import re
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core.names import NUMBERED, RUN_LABEL
from xcurves.core.refusal import Refusal
from xcurves.readers.open_files import (
    check_tables,
    connect,
    database_address,
    first_lines,
    is_database,
)

_LATER = re.compile(r"(?P<name>.+?)[ ._-]+(?:resumed?|restarted?|continued?)(?:[ ._-]?\d{1,4})?", re.IGNORECASE)
_LONGEST = 200  # letters of a name


class Run(NamedTuple):
    """The rows of one run, and what of its logs could not be read."""

    rows: pd.DataFrame
    left_out: str = ""


@contextmanager
def parsing(path: Path, what: str) -> Iterator[None]:
    """Say in one line which file it is, whatever parsing a damaged or hostile one raises."""
    try:
        yield
    except (Refusal, ImportError, FileNotFoundError, IsADirectoryError, UserWarning):
        raise  # warnings of our own may be errors
    except Exception as error:  # parsers of JSON, YAML, npz and events raise many kinds, RecursionError among them
        why = shorten(str(error), 120, placeholder=" ...") or type(error).__name__
        raise Refusal(
            "path",
            str(path),
            f"{path} is cut short, damaged or no {what}: {why}",
            "Copy it again, or remove it",
        ) from None


def needed(module: str, reader: str, package: str = "") -> Any:
    """Import a module of a package that a reader needs."""
    try:
        return import_module(module)
    except ImportError:
        cure = f"Install it: pip install 'xcurves[{reader}]'"
        raise ImportError(f"readers.{reader} needs {package or reader}. {cure}") from None


def check_cells(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return rows if each cell is one number or text that a file can hold."""
    objects = [name for name in rows if rows[name].dtype == object]
    for name in objects:
        for value in rows[name]:
            is_text = isinstance(value, str) and value.encode(errors="ignore").decode() == value
            is_number = value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64)
            if not is_text and not is_number:
                raise Refusal(
                    "path",
                    str(path),
                    f"{path}: {str(name)[:60]!r} has {repr(value)[:40]}; a cell is one number or text",
                    "Remove it",
                )
    return rows


def has_sqlite_rows(path: Path, *tables: str) -> bool:
    """Return whether a file is an SQLite database in which each of these tables has a row."""
    if not is_database(path):
        return False
    try:
        with database_address(path) as address:
            check_tables(address, tables)
            with closing(connect(address)) as database:
                return all(database.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() for table in tables)
    except (
        sqlite3.Error,
        # of something else than a table, and of a damaged name in a message of SQLite
        ValueError,
    ):
        return False


def header(path: Path) -> list[str]:
    """Return the names in the first line of a CSV file; none if it is no text."""
    try:
        return next(csv.reader(first_lines(path)), [])
    except (OSError, EOFError, ValueError, csv.Error, zlib.error):
        return []


def whole_lines(data: bytes, path: Path) -> tuple[bytes, str]:
    """Return the lines of a log that have an end, and what to say of the last one if it has none."""
    whole, end, cut = data.rpartition(b"\n")
    return whole + end, say_cut(path, cut.decode(errors="replace"))


def say_cut(path: Path, cut: str) -> str:
    """Return what to say of a last line that has no end, nothing if it has one."""
    if not cut:
        return ""
    return f"{path}: the last line is cut short and left out: {cut[:60]!r}"


def first_of(name: str) -> str:
    """Return the name of the folder or file that another one goes on with, by its name; else its own."""
    match = _LATER.fullmatch(name[:_LONGEST])
    return match["name"] if match else name


def run_goes_on(name: str, others: Collection[str]) -> bool:
    """Return whether a folder or file goes on with a run that one of the others is called like."""
    first = first_of(name)
    is_run = RUN_LABEL.fullmatch(first) or NUMBERED.fullmatch(first)
    return first != name and first in others and is_run is not None


def in_order(files: Sequence[Path]) -> list[Path]:
    """Return the logs of a run, those that go on with others after them."""
    return sorted(files, key=lambda file: sum(map(len, _parts(file))) if is_later(file) else 0)


def is_later(file: Path) -> bool:
    """Return whether a log is called like one that goes on with another."""
    return _first(file) != _parts(file)


def one_after_another(tables: Sequence[pd.DataFrame], files: Sequence[Path]) -> tuple[list[pd.DataFrame], list[Path]]:
    """Return the rows of logs that go on with others below theirs, and the first log of each."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, file in enumerate(files):
        groups.setdefault(_first(file), []).append(place)
    joined, firsts = list[pd.DataFrame](), list[Path]()
    for first, *later in groups.values():
        firsts.append(files[first])
        rows = tables[first]
        if later:
            attrs = rows.attrs
            rows = pd.concat([rows, *(tables[place] for place in later)], ignore_index=True)
            rows.attrs = attrs
        joined.append(rows)
    return joined, firsts


def _parts(file: Path) -> tuple[str, str]:
    return file.parent.name, file.name.removesuffix("".join(file.suffixes))


def _first(file: Path) -> tuple[str, str]:
    folder, stem = _parts(file)
    return first_of(folder), first_of(stem)
