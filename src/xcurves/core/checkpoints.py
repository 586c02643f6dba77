"""Numbered trials that are run once each, in parallel if wanted, and kept in an archive that survives a killed process.

A *trial* is a function of its index that returns named numbers and texts. It must depend on nothing else: whatever it
draws comes from ``stream(entropy, index)``. Then any trial can be run again alone, and it does not matter which trials
are run, in what order, or in how many sessions.

An *archive* is the folder of `xcurves.core.checkpoint_files`. One process at a time writes to it.

    outcomes = run_trials(trial, 1000, path="archive", settings={"seed": 0})
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core.checkpoint_files import ERROR, Archive, Record, Settings, Value, alone, error_text, text_of
from xcurves.core.progress import progress_bar

Trial = Callable[[int], Mapping[str, Any]]


def stream(entropy: int, *index: int) -> np.random.SeedSequence:
    """Return the seed sequence of one trial, a child of that of the whole simulation, or a child of it."""
    return np.random.SeedSequence(entropy, spawn_key=index)


def run_trials(
    trial: Trial,
    n_trials: int,
    *,
    path: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    n_jobs: int = 1,
    batch: int = 1,
    progress: bool = False,
    check: Callable[[xr.Dataset], None] | None = None,
) -> xr.Dataset:
    """Run the trials that the archive lacks, and return all.

    Parameters
    ----------
    trial : callable
        From the index of a trial, 0 to `n_trials` - 1, to a mapping from names to numbers, truth values (1 or 0), texts
        or None; of anything else the text is kept. An exception is recorded as the text `error` of this trial; a trial
        may also return one.
    n_trials : int
        Total number of trials, including those in the archive.
    path : path, optional
        Folder of the archive, made if it is not there. By default nothing is kept.
    settings : mapping, optional
        Numbers and texts on which trials depend. An archive made with different ones is refused.
    n_jobs : int, default 1
        Trials run at once, by joblib if more than 1; -1 for all processors.
    batch : int, default 1
        Trials written at once. If the work is killed, trials in flight and those of an unfinished batch are run again.
    progress : bool, default False
        Show a tqdm bar (extra ``progress``).
    check : callable, optional
        Called with the trials that the archive has, before others are run; it may refuse them by raising.

    Returns
    -------
    Dataset
        Dim `run`, the indices. A variable for every name that a trial returned: float64 if all that is there is
        numbers, with NaN where a trial has none; else text, "" where a trial has none. `error` is always there, "" for
        trials that went well.

    Raises
    ------
    TypeError
        If `settings` are not numbers and texts by name.
    ValueError
        If `n_trials` is less than 1 or than the archive holds, if the archive was made with other settings or is being
        written by another process, or if one of its files cannot be read.
    ImportError
        If `n_jobs` or `progress` asks for joblib or tqdm, which are not installed.

    Examples
    --------
    >>> def trial(index):
    ...     return {"half": index / 2}
    >>> run_trials(trial, 3)["half"].values
    array([0. , 0.5, 1. ])
    """
    n_trials, batch = _at_least_1("n_trials", n_trials), _at_least_1("batch", batch)
    folder = None if path is None else Path(path)
    batch = n_trials if folder is None else batch  # nothing is written
    with alone(folder):
        archive = Archive(folder, {} if settings is None else settings)
        if archive.done and max(archive.done) >= n_trials:
            raise ValueError(
                f"n_trials must be at least {max(archive.done) + 1}, as the archive {folder} has so many; "
                f"got {n_trials}. To have the first ones, select them: result.isel(run=slice({n_trials}))"
            )
        if archive.done and check is not None:
            check(archive.read())
        wanted = [index for index in range(n_trials) if index not in archive.done]
        waiting: dict[int, Record] = {}
        bar = progress_bar(progress, "trials", "trial")
        for index, record in bar(_attempts(trial, wanted, n_jobs), total=len(wanted)):
            waiting[index] = record
            if len(waiting) == batch:
                archive.append(waiting)
                waiting = {}
        archive.append(waiting)
        archive.merge()
        return archive.read()


def _at_least_1(name: str, value: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number; got {value!r}. Say how many")
    if value < 1:
        raise ValueError(f"{name} must be at least 1; got {value}. Say how many")
    return int(value)


def _attempts(trial: Trial, wanted: Sequence[int], n_jobs: int) -> Iterable[tuple[int, Record]]:
    """Yield indices with what their trials returned, in the order in which they end."""
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number from 1, or -1 for all processors; got {n_jobs!r}")
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
        return {check_name(name): plain(value) for name, value in trial(index).items()}
    except Exception as error:
        return {ERROR: plain(error_text(error))}


@lru_cache
def check_name(name: object) -> str:
    """Return a name that a variable next to `run` can have, in memory and in a file."""
    good = isinstance(name, str) and name not in ("", "run") and name == name.strip() and name.isprintable()
    if not good or "/" in str(name):
        raise ValueError(f"a trial's values need names, not 'run' and without '/'; got {name!r}. Rename it")
    return str(name)


def plain(value: object) -> Value:
    """Return what a file can hold: a number, None, or the text of anything else."""
    if value is None or type(value) is float:
        return value
    if isinstance(value, Real | np.bool_):
        return float(value)
    return str(value).encode(errors="replace").decode().replace("\0", "")


def same(one: Value, other: Value) -> bool:
    """Whether two values, texts or numbers, are the same up to rounding, which differs between machines."""
    if isinstance(one, str) or isinstance(other, str):
        return text_of(one) == text_of(other)
    a, b = (np.nan if value is None else value for value in (one, other))
    return bool(np.isclose(a, b, rtol=1e-9, atol=0, equal_nan=True))
