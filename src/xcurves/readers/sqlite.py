"""Which tables an SQLite file has, and how many rows: MLflow and Optuna keep their runs in such files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_MAGIC = b"SQLite format 3\0"


def has_rows(path: Path, *tables: str) -> bool:
    """Return whether a file is an SQLite database in which each of these tables has a row."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return False
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            return all(database.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() for table in tables)
    except sqlite3.Error:
        return False
