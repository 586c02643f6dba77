"""A folder of netCDF files that keeps numbered trials, also when the process is killed.

Each file has some of the trials. It is written under another name and renamed, so that it is complete or absent.
Many small files are merged into one now and then; a trial that is in two files, because the work was killed between
merging and deleting, counts once. Files of other names in the folder are left alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

Value = float | str | None
Record = Mapping[str, Value]
Settings = Mapping[str, float | int | str]

ERROR = "error"
_MANY = 32  # files that are merged into one
_LONGEST = 500  # text of an error
_NAME = "[0-9]" * 8 + "*-" + "[0-9]" * 8 + "*"


@contextmanager
def alone(path: Path | None) -> Iterator[None]:
    """Lock the archive against other writers, where the system can; the lock ends with the process."""
    if path is None:
        yield
        return
    path.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl

        folder = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):  # Windows has no such locks
        yield
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        raise ValueError(
            f"the archive {path} is being written by another process. Wait until it ends, or give another path"
        ) from None
    except OSError:  # some network drives have no locks either
        pass
    try:
        yield
    finally:
        os.close(folder)


class Archive:
    """Trials that were run so far, in memory and, if there is a path, on disk.

    Attributes
    ----------
    path : Path or None
        Its folder.
    done : set of int
        Indices of its trials.
    """

    def __init__(self, path: str | os.PathLike[str] | None, settings: Settings) -> None:
        self.path = None if path is None else Path(path)
        self.done: set[int] = set()
        self._attrs = {"settings": _as_json(settings)}
        self._parts: list[xr.Dataset] = []
        self._files: list[Path] = []
        if self.path is not None:
            self.path.mkdir(parents=True, exist_ok=True)
            for stray in self.path.glob(f"{_NAME}.tmp"):
                stray.unlink()
            for file in sorted(self.path.glob(f"{_NAME}.nc")):
                self._add(self._checked(file), file)
            self.merge()

    def append(self, records: Mapping[int, Record]) -> None:
        """Add trials; when this returns they are on disk."""
        if not records:
            return
        index = np.array(sorted(records))
        rows = [records[each] for each in index]
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: ("run", _column([row.get(name) for row in rows])) for name in names}
        part = xr.Dataset(columns, {"run": index}, self._attrs)
        self._add(part, self._write(part))
        if len(self._files) >= 2 * _MANY:
            self.merge(_MANY)

    def read(self) -> xr.Dataset:
        """Return all trials, by index."""
        return _complete(_joined(self._parts))

    def merge(self, least: int = 2) -> None:
        """Merge the files that hold few trials, if there are many."""
        small = [i for i, part in enumerate(self._parts) if part.sizes["run"] < _MANY or least == 2]
        if self.path is None or len(small) < least:
            return
        old = [self._files[i] for i in small]
        merged = _joined([self._parts[i] for i in small])
        self._parts = [part for i, part in enumerate(self._parts) if i not in small]
        self._files = [file for file in self._files if file not in old]
        self._add(merged, self._write(merged))
        for file in old:
            if file not in self._files:
                file.unlink(missing_ok=True)

    def _add(self, part: xr.Dataset, file: Path | None) -> None:
        self.done.update(part["run"].to_numpy().tolist())
        self._parts.append(part)
        if file is not None:
            self._files.append(file)

    def _write(self, part: xr.Dataset) -> Path | None:
        if self.path is None:
            return None
        file = self.path / f"{part['run'].values[0]:08d}-{part['run'].values[-1]:08d}.nc"
        beside = file.with_suffix(".tmp")
        part.to_netcdf(beside, engine="scipy")
        beside.replace(file)
        return file

    def _checked(self, file: Path) -> xr.Dataset:
        part = _read(file)
        theirs, ours = (json.loads(attrs["settings"]) for attrs in (part.attrs, self._attrs))
        for name in [*ours, *theirs]:
            if json.dumps(ours.get(name)) != json.dumps(theirs.get(name)) and ours.get(name) != theirs.get(name):
                raise ValueError(
                    f"the archive {self.path} was made with {_said(name, theirs)}, not with {_said(name, ours)}. "
                    "Give another path, or the same settings"
                )
        return part


def error_text(error: Exception) -> str:
    """Return an exception as one short line: every text of a variable takes as much room as the longest."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _column(values: Sequence[Value]) -> np.ndarray[Any, Any]:
    """Return a column of numbers as floats, any other as texts."""
    if any(isinstance(value, str) for value in values):
        return _texts(values)
    return np.array([np.nan if value is None else value for value in values], float)


def text_of(value: Value) -> str:
    """Return a number as text, the same for 5 and 5.0, "" for none, and a text itself."""
    if isinstance(value, str):
        return value
    return "" if value is None or np.isnan(value) else repr(float(value)).removesuffix(".0")


def _joined(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put parts together by index; a column of numbers joins one of texts as texts."""
    parts = sorted(parts, key=lambda part: int(part.variables["run"].values[0]))  # indices rise in every part
    run = np.concatenate([part["run"].to_numpy() for part in parts]).astype(np.int64)
    index, first = np.unique(run, return_index=True)
    columns = {}
    for name in dict.fromkeys(name for part in parts for name in part.data_vars):
        pieces = [_piece(part, str(name)) for part in parts]
        if any(piece.dtype.kind not in "fi" for piece in pieces):
            pieces = [_texts(piece) for piece in pieces]
        columns[name] = ("run", np.concatenate(pieces)[first])
    return xr.Dataset(columns, {"run": index}, parts[0].attrs)


def _piece(part: xr.Dataset, name: str) -> np.ndarray[Any, Any]:
    return part[name].to_numpy() if name in part else np.full(part.sizes["run"], np.nan)


def _texts(values: Iterable[Value]) -> np.ndarray[Any, Any]:
    return np.array([text_of(value) for value in values], dtype=object)


def _complete(outcomes: xr.Dataset) -> xr.Dataset:
    """Return outcomes with texts of their own length, with errors even if there are none, without settings."""
    columns = {str(name): outcomes[name].to_numpy() for name in outcomes.data_vars}
    columns[ERROR] = _texts(columns.pop(ERROR, _piece(outcomes, ERROR)))
    plain = {name: column.astype(str) if column.dtype == object else column for name, column in columns.items()}
    return xr.Dataset({name: ("run", column) for name, column in plain.items()}, {"run": outcomes["run"]})


def _read(file: Path) -> xr.Dataset:
    """Read a file completely; a truncated one fails in many ways."""
    try:
        with xr.open_dataset(BytesIO(file.read_bytes()), engine="scipy") as part:
            found = part.load()
        found.attrs["settings"]
    except Exception as error:
        raise ValueError(
            f"{file} cannot be read ({error_text(error)}); it may be truncated. Delete it: its trials will be run again"
        ) from None
    return found


def _as_json(settings: Settings) -> str:
    if not isinstance(settings, Mapping):
        raise TypeError(f"settings must map names to numbers and texts; got {settings!r}. Try settings={{'task': 'a'}}")
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}
    for name, value in plain.items():
        if not isinstance(name, str) or not isinstance(value, float | int | str):
            raise TypeError(f"settings must map names to numbers and texts; got {name!r}: {value!r}. Name it by a text")
    return json.dumps(plain, sort_keys=True)


def _said(name: str, settings: Mapping[str, Any]) -> str:
    return f"{name} = {settings[name]!r}" if name in settings else f"no {name}"
