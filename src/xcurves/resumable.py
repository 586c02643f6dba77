"""Numbered trials that are run once each, side by side if wanted, and kept in an archive that survives being killed.

A *trial* is a function of its index that returns named numbers and texts. It must depend on nothing else: whatever it
draws comes from ``stream(entropy, index)``. Then any trial can be run again alone, and it does not matter which trials
are run, in what order, or in how many sittings.

An *archive* is a folder of netCDF files, each with some of the trials. A file is written beside its place and renamed,
so that it is there whole or not at all. Many small files are merged into one now and then; a trial that stands in two
files, because the work was killed between merging and deleting, counts once.

    outcomes = run_trials(trial, 1000, path="archive", settings={"seed": 0})
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from xcurves import labels

Value = float | int | str | None
Record = Mapping[str, Value]
Trial = Callable[[int], Record]
Settings = Mapping[str, float | int | str]

ERROR = "error"
_MANY = 32  # files that are merged into one


def stream(entropy: int, index: int) -> np.random.SeedSequence:
    """Return the seed sequence of one trial, a child of that of the whole study."""
    return np.random.SeedSequence(entropy, spawn_key=(index,))


def run_trials(
    trial: Trial,
    n_trials: int,
    *,
    path: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    n_jobs: int = 1,
    batch: int = 1,
    progress: bool = False,
) -> xr.Dataset:
    """Run the trials that the archive lacks, and return all.

    Parameters
    ----------
    trial : callable
        From the index of a trial, 0 to `n_trials` - 1, to a mapping from names to numbers, texts or None (of anything
        else the text is kept). An exception is recorded as the text `error` of this trial; a trial may also return one.
    n_trials : int
        How many trials there shall be, those in the archive included.
    path : path, optional
        Folder of the archive, made if it is not there. By default nothing is kept.
    settings : mapping, optional
        Numbers and texts on which trials depend. An archive made with other ones is refused.
    n_jobs : int, default 1
        Trials run at once, by joblib if more than 1; -1 for all processors.
    batch : int, default 1
        Trials written at once. If the work is killed, trials in flight and those of an unfinished batch are run again.
    progress : bool, default False
        Show a tqdm bar (extra ``progress``).

    Returns
    -------
    Dataset
        Dim `run`, the indices. A variable for every name that a trial returned: float64 if all that is there is
        numbers, with NaN where a trial has none; else text, "" where a trial has none. `error` is always there, "" for
        trials that went well.

    Raises
    ------
    ValueError
        If `n_trials` is less than 1 or than the archive holds, if the archive was made with other settings, or if one
        of its files cannot be read.

    Examples
    --------
    >>> def trial(index):
    ...     return {"half": index / 2}
    >>> run_trials(trial, 3)["half"].values
    array([0. , 0.5, 1. ])
    """
    n_trials, batch = _at_least_1("n_trials", n_trials), _at_least_1("batch", batch)
    archive = Archive(path, settings or {})
    if archive.done and max(archive.done) >= n_trials:
        raise ValueError(
            f"n_trials must be at least {max(archive.done) + 1}, as the archive {archive.path} has so many; "
            f"got {n_trials}. To have the first ones, select them: result.isel(run=slice({n_trials}))"
        )
    wanted = [index for index in range(n_trials) if index not in archive.done]
    waiting: dict[int, Record] = {}
    for index, record in _bar(_attempts(trial, wanted, n_jobs), wanted, progress):
        waiting[index] = record
        if len(waiting) == batch:
            archive.append(waiting)
            waiting = {}
    archive.append(waiting)
    archive.merge()
    return archive.read()


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
        self._attrs = {"settings": json.dumps(dict(settings), sort_keys=True)}
        self._parts: list[xr.Dataset] = []
        self._files: list[Path] = []
        if self.path is not None:
            self.path.mkdir(parents=True, exist_ok=True)
            for stray in self.path.glob("*.tmp"):
                stray.unlink()
            for file in sorted(self.path.glob("*.nc")):
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
        """Make one file of all that hold few trials, if there are as many of them as that."""
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
                file.unlink()

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
            if ours.get(name) != theirs.get(name):
                raise ValueError(
                    f"the archive {self.path} was made with {_said(name, theirs)}, not with {_said(name, ours)}. "
                    "Give another path, or the same settings"
                )
        return part


def _at_least_1(name: str, value: int) -> int:
    count = labels.check_count(name, value)
    if count is None:
        raise TypeError(f"{name} must be a whole number; got None. Say how many")
    return count


def _attempts(trial: Trial, wanted: Sequence[int], n_jobs: int) -> Iterable[tuple[int, Record]]:
    """Yield indices with what their trials returned, in the order in which they end."""
    if n_jobs == 1:
        return ((index, _attempt(trial, index)) for index in wanted)
    try:
        from joblib import Parallel, delayed
    except ImportError:
        raise ImportError("n_jobs other than 1 needs joblib. Install it: pip install 'xcurves[sklearn]'") from None
    calls = (delayed(_numbered)(trial, index) for index in wanted)
    found: Iterator[tuple[int, Record]] = Parallel(n_jobs, return_as="generator_unordered")(calls)
    return found


def _numbered(trial: Trial, index: int) -> tuple[int, Record]:
    return index, _attempt(trial, index)


def _attempt(trial: Trial, index: int) -> Record:
    try:
        return {name: _plain(value) for name, value in trial(index).items()}
    except Exception as error:
        return {ERROR: _plain(error_text(error))}


def _plain(value: object) -> Value:
    """Return what a file can hold: a number, None, or the text of anything else."""
    if value is None or isinstance(value, Real):
        return None if value is None else float(value)
    return str(value).encode(errors="replace").decode().replace("\0", "")


def error_text(error: Exception) -> str:
    """Return an exception as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _bar(attempts: Iterable[tuple[int, Record]], wanted: Sequence[int], progress: bool) -> Iterable[tuple[int, Record]]:
    if not labels.check_flag("progress", progress):
        return attempts
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm. Install it: pip install 'xcurves[progress]'") from None
    bar: Iterable[tuple[int, Record]] = tqdm(attempts, total=len(wanted), desc="trials", unit="trial", leave=False)
    return bar


def _column(values: Sequence[Value]) -> np.ndarray[Any, Any]:
    """Return numbers as floats, anything with a text in it as texts."""
    if any(isinstance(value, str) for value in values):
        return _texts(values)
    return np.array([np.nan if value is None else value for value in values], float)


def _text(value: float | None) -> str:
    """Return a number as text, the same for 5 and 5.0, and "" for none."""
    if value is None or np.isnan(value):
        return ""
    return repr(float(value)).removesuffix(".0")


def _joined(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put parts together by index; a column of numbers joins one of texts as texts."""
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
    return np.array([value if isinstance(value, str) else _text(value) for value in values], dtype=object)


def _complete(outcomes: xr.Dataset) -> xr.Dataset:
    """Return outcomes with texts of their own length, with errors even if there are none, without settings."""
    columns = {str(name): outcomes[name].to_numpy() for name in outcomes.data_vars}
    columns[ERROR] = _texts(_piece(outcomes, ERROR))
    plain = {name: column.astype(str) if column.dtype == object else column for name, column in columns.items()}
    return xr.Dataset({name: ("run", column) for name, column in plain.items()}, {"run": outcomes["run"]})


def _read(file: Path) -> xr.Dataset:
    """Read a file whole; one that was cut off fails in many ways."""
    try:
        with xr.open_dataset(BytesIO(file.read_bytes()), engine="scipy") as part:
            found = part.load()
        found.attrs["settings"]
    except Exception as error:
        raise ValueError(
            f"{file} cannot be read ({error_text(error)}); it may be truncated. Delete it: its trials will be run again"
        ) from None
    return found


def _said(name: str, settings: Mapping[str, Any]) -> str:
    return f"{name} = {settings[name]!r}" if name in settings else f"no {name}"
