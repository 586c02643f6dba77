"""Files of logs: what is wrong with a damaged one, databases, and CSV, read only if every row has all fields."""

from __future__ import annotations

import csv
import gzip
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

_SQLITE = b"SQLite format 3\0"  # the first bytes of a database, in which MLflow and Optuna keep runs
_TABLES = ".csv", ".csv.gz"
_GZIP = b"\x1f"  # the first byte of a file of gzip; no text begins with it


class Run(NamedTuple):
    """The rows of one run, and what of its logs could not be read."""

    rows: pd.DataFrame
    left_out: str = ""


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


def needed(module: str, reader: str, package: str = "") -> Any:
    """Import a module of a package that a reader needs."""
    try:
        return import_module(module)
    except ImportError:
        cure = f"Install it: pip install 'xcurves[{reader}]'"
        raise ImportError(f"readers.{reader} needs {package or reader}. {cure}") from None


def check_cells(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return rows if each cell is one number or text that a file can hold."""
    for name, column in rows.items():
        for value in column if column.dtype == object else ():
            is_text = isinstance(value, str) and value.encode(errors="ignore").decode() == value
            is_number = value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64)
            if not is_text and not is_number:
                raise LogError(f"{path}: {name!r} has {repr(value)[:40]}; a cell is one number or text. Remove it")
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


def is_table(path: Path) -> bool:
    """Return whether the name of a file is that of a table."""
    return path.name.lower().endswith(_TABLES)


def header(path: Path) -> list[str]:
    """Return the names in the first line of a CSV file; none if it is no text."""
    if not (is_table(path) or path.suffix == ".log"):
        return []
    try:
        with open_text(path) as lines:
            return next(csv.reader(lines), [])
    except (OSError, EOFError, ValueError, csv.Error, zlib.error):
        return []


def open_text(path: Path, errors: str = "strict") -> Any:
    """Open a file for reading its lines one by one, decompressed if it is of gzip, whatever its name."""
    with path.open("rb") as file:
        opened = gzip.open if file.read(1) == _GZIP else open
    return opened(path, "rt", encoding="utf-8-sig", errors=errors, newline="")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if it is of gzip, whatever its name."""
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise LogError(f"{path} is cut short or damaged: {error}. Copy or write it again") from None


def whole_lines(path: Path) -> tuple[bytes, str]:
    """Return the lines of a log that have an end, and what to say of the last one if it has none."""
    whole, end, cut = read_bytes(path).rpartition(b"\n")
    return whole + end, say_cut(path, cut.decode(errors="replace"))


def say_cut(path: Path, cut: str) -> str:
    """Return what to say of a last line that has no end, nothing if it has one."""
    return f"{path}: the last line is cut short and left out: {cut[:60]!r}" if cut else ""
