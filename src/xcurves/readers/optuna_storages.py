"""Storages of Optuna in files: SQLite databases, of which a copy is read, and journals."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from xcurves.core import provenance
from xcurves.core.names import seeds_in
from xcurves.core.refusal import Refusal
from xcurves.core.validation import existing_path
from xcurves.readers.log_files import (
    has_sqlite_rows,
    needed,
    parsing,
    whole_lines,
)
from xcurves.readers.open_files import (
    beginning,
    check_database,
    check_tables,
    connect,
    copy_database,
    database_address,
    is_database,
    read_bytes,
)

_STUDY_NAME = re.compile(r'"study_name": ?("(?:[^"\\\\]|\\\\.)*")')  # in a journal

_WRONG = {  # what is wrong with a database in which a query finds a row
    "a trial has no number": "SELECT 1 FROM trials WHERE typeof(number) <> 'integer' OR number < 0",
    "two trials of a study have one number": "SELECT 1 FROM trials GROUP BY study_id, number HAVING count(*) > 1",
    "a study has no direction": "SELECT 1 FROM studies WHERE study_id NOT IN (SELECT study_id FROM study_directions)",
    "a finished trial has no value": "SELECT 1 FROM trials WHERE state = 'COMPLETE' "
    "AND trial_id NOT IN (SELECT trial_id FROM trial_values)",
    "a value is no number": "SELECT 1 FROM trial_values WHERE typeof(value) IN ('text', 'blob')",
    "a parameter is no number": "SELECT 1 FROM trial_params WHERE typeof(param_value) NOT IN ('real', 'integer')",
    "a parameter has no name": "SELECT 1 FROM trial_params WHERE typeof(param_name) <> 'text' OR param_name = ''",
    "a reported value is no number": "SELECT 1 FROM trial_intermediate_values "
    "WHERE typeof(intermediate_value) IN ('text', 'blob')",
}


class _Study(NamedTuple):
    """What is read of a study in a file, which is closed then."""

    directions: list[Any]
    trials: list[Any]
    system_attrs: dict[str, Any]
    place: str


def stored_studies(path: Path) -> dict[str, Any]:
    """Return all studies of a storage in a file."""
    optuna = needed("optuna", "optuna")
    existing_path(path)
    with parsing(path, "storage of Optuna"):
        if not is_database(path):
            return _read(_journal(path), path)
        with database_address(path) as address, TemporaryDirectory() as folder:
            check_tables(address, _tables())
            check_database(address)
            copy = Path(folder, "copy.db")
            copy_database(address, copy)
            return _from_database(optuna, copy, path)


def _tables() -> list[str]:
    """Return the tables that Optuna reads."""
    from optuna.storages._rdb.models import BaseModel

    return ["alembic_version", *BaseModel.metadata.tables]


def _check_rows(path: Path) -> None:
    """Raise which rows Optuna does not write, such as trials of no study: it would read past them or fail."""
    with closing(connect(path.as_uri())) as database:
        for table, _, belongs_to, _ in database.execute("PRAGMA foreign_key_check"):
            raise ValueError(f"a row of {table} belongs to none of {belongs_to}")
        for what, query in _WRONG.items():
            if database.execute(f"{query} LIMIT 1").fetchone():
                raise ValueError(what)


def _from_database(optuna: Any, copy: Path, path: Path) -> dict[str, Any]:
    """Read a copy of the database at a path."""
    storage = optuna.storages.RDBStorage(
        f"sqlite:///{copy}",
        skip_compatibility_check=True,
        skip_table_creation=True,
    )
    try:
        version = storage.get_current_version()
        if version != storage.get_head_version():
            raise Refusal(
                "path",
                str(path),
                f"{path} is of another version of Optuna ({version}); {optuna.__version__} reads "
                f"{storage.get_head_version()}",
                "Copy it and run: optuna storage upgrade --storage sqlite:///COPY",
            )
        _check_rows(copy)
        return _read(storage, path)
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _journal(path: Path) -> Any:
    """Return the storage that the lines of a journal make, in memory."""
    from optuna.storages import JournalStorage

    lines, cut = whole_lines(read_bytes(path), path)
    if cut:
        provenance.warn(cut)
    # has the two methods of a backend
    operations: Any = _Lines([json.loads(line) for line in lines.splitlines()])
    return JournalStorage(operations)


class _Lines:
    """The operations of a journal."""

    def __init__(self, operations: list[dict[str, Any]]) -> None:
        self.operations = operations

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:
        return self.operations[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        raise NotImplementedError("a journal is only read")


def _read(storage: Any, path: Path) -> dict[str, Any]:
    """Return the studies of a storage, read whole."""
    return {
        study.study_name: _Study(
            study.directions,
            storage.get_all_trials(study._study_id),
            study.system_attrs,
            f"{path}: ",
        )
        for study in storage.get_all_studies()
    }


def _is_journal(path: Path) -> bool:
    return beginning(path, 200).startswith(b'{"op_code":')


def has_curves(path: Path) -> bool:
    """Return whether trials reported values, and are what a study compares, not a study one of several searches."""
    if _is_journal(path):
        data = read_bytes(path)
        has_values = b'"intermediate_value":' in data
        names = [json.loads(name) for name in _STUDY_NAME.findall(data.decode(errors="replace"))]
    else:
        has_values = has_sqlite_rows(path, "studies", "trials", "trial_intermediate_values")
        names = []
        if has_values:
            with database_address(path) as address, closing(connect(address)) as database:
                names = [str(name) for (name,) in database.execute("SELECT study_name FROM studies")]
    return has_values and seeds_in(names) is None


def has_trials(path: Path) -> bool:
    """Return whether a file holds trials of studies."""
    return _is_journal(path) or has_sqlite_rows(path, "studies", "trials")
