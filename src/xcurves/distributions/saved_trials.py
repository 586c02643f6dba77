"""Numbered trials that are run once each, in parallel if wanted, and saved so that a killed process can go on.

A batch of trials is one netCDF file in a folder, complete or absent. A trial that is in two files counts once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import validation
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType, shown

Record = Mapping[str, float | str | None]
Settings = Mapping[str, float | int | str]
Trial = Callable[[int], Mapping[str, Any]]

ERROR = "error"
_LONGEST = 500  # text of an error
_FILES = "[0-9]" * 8 + "-" + "[0-9]" * 8 + ".nc"


def run_trials(
    trial: Trial,
    n_trials: int,
    *,
    path: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    n_jobs: int = 1,
    batch: int = 1,
    progress: bool | None = None,
) -> xr.Dataset:
    """Run the trials that are not saved yet, and return all.

    Parameters
    ----------
    trial : callable
        From the index of a trial, 0 to `n_trials` - 1, to a mapping from names to numbers, truth values (1 or 0), texts
        or None; of anything else the text is kept. An exception becomes the text `error` of this trial.
    n_trials, path, settings, n_jobs, batch, progress : int, path, mapping, int, int and bool
        As for `dse`. If the work is killed, trials in flight and those of an unfinished batch are run again.

    Returns
    -------
    Dataset
        Dim `run`, the indices. A variable for every name that a trial returned: float64, NaN where a trial has none, or
        text, "" where a trial has none; and `error`, "" for trials that went well.

    Raises
    ------
    TypeError
        If `settings` are not numbers and texts by name, or `trial` is no function.
    ValueError, ImportError
        As `dse`.

    Examples
    --------
    >>> import xcurves
    >>> def trial(index):
    ...     return {"half": index / 2}
    >>> xcurves.run_trials(trial, 3)["half"].values
    array([0. , 0.5, 1. ])
    """
    check_callable(trial)
    n_trials, batch = (
        validation.check_total("n_trials", n_trials),
        validation.check_total("batch", batch),
    )
    described = {name: json.dumps(np.asarray(value).item()) for name, value in check_settings(settings).items()}
    folder = None if path is None else Path(path)
    done = {} if folder is None else _read_folder(folder, described)
    if done and max(done) >= n_trials:
        raise Refusal(
            "n_trials",
            Verbatim(n_trials),
            f"must be at least {max(done) + 1}, as {folder} has so many",
            f"To have the first ones, select them: result.isel(run=slice({n_trials}))",
        )
    wanted = [index for index in range(n_trials) if index not in done]
    waiting: dict[int, Record] = {}
    bar = validation.check_progress(progress, "trials", "trial")
    for index, record in bar(_attempts(trial, wanted, n_jobs), total=len(wanted)):
        done[index] = waiting[index] = record
        if folder is not None and (len(waiting) == batch or len(done) == n_trials):
            _write(folder, waiting, described)
            waiting = {}
    return _outcomes(done)


def check_callable(function: object) -> None:
    """Refuse what is no function."""
    if not callable(function):
        raise WrongType(
            "trials",
            function,
            f"trials are made by functions; got {shown(function)}",
            "Give the function itself, without parentheses",
        )


def check_settings(settings: Settings | None) -> Settings:
    """Return numbers and texts by name."""
    settings = {} if settings is None else settings
    if not isinstance(settings, Mapping) or not all(
        isinstance(name, str) and isinstance(value, float | int | str | np.generic) for name, value in settings.items()
    ):
        raise WrongType(
            "settings",
            settings,
            "must map names to numbers and texts",
            "Try settings={'task': 'a'}",
        )
    return settings


def _attempts(trial: Trial, wanted: Sequence[int], n_jobs: int) -> Iterable[tuple[int, Record]]:
    """Yield indices with what their trials returned, in the order in which they end."""
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise Refusal("n_jobs", n_jobs, "must be a whole number from 1, or -1 for all processors")
    if n_jobs == 1:
        return (_attempt(trial, index) for index in wanted)
    try:
        from joblib import Parallel, delayed
    except ImportError:
        raise ImportError("n_jobs other than 1 needs joblib. Install it: pip install 'xcurves[sklearn]'") from None
    calls = (delayed(_attempt)(trial, index) for index in wanted)
    found: Iterator[tuple[int, Record]] = Parallel(n_jobs, return_as="generator_unordered")(calls)
    return found


def _attempt(trial: Trial, index: int) -> tuple[int, Record]:
    try:
        record = {name: _plain(value) for name, value in trial(index).items()}
        if odd := [name for name in record if not isinstance(name, str) or name in ("", "run") or "/" in name]:
            raise Refusal(
                "curves",
                UNSAID,
                f"a trial's values need names, not 'run' and without '/'; got {odd[0]!r}",
                "Rename it",
            )
    except Exception as error:
        record = {ERROR: _plain(error_text(error))}
    return index, record


def _plain(value: object) -> float | str | None:
    """Return what a file can hold: a number, None, or the text of anything else."""
    if value is None or type(value) is float:
        return value
    if isinstance(value, Real | np.bool_):
        return float(value)
    return str(value).encode(errors="replace").decode().replace("\0", "")


def error_text(error: Exception) -> str:
    """Return an exception as one short line."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _outcomes(done: Mapping[int, Record]) -> xr.Dataset:
    """Return trials by index; a column with any text is of texts, in which 5 and 5.0 are the same."""
    table = pd.DataFrame([done[index] for index in sorted(done)], dtype=object)
    columns = {}
    for name, values in table.reindex(columns=[*table.columns.drop(ERROR, errors="ignore"), ERROR]).items():
        is_text = name == ERROR or any(isinstance(value, str) for value in values)
        plain = list(map(_text, values)) if is_text else values.tolist()
        columns[name] = ("run", np.array(plain, str if is_text else float))
    return xr.Dataset(columns, {"run": np.array(sorted(done), np.int64)})


def _text(value: float | str | None) -> str:
    if isinstance(value, str):
        return value
    return "" if pd.isnull(value) else str(value).removesuffix(".0")


def _write(folder: Path, records: Mapping[int, Record], settings: Mapping[str, str]) -> None:
    """Write a batch of trials: each as JSON, under another name until it is complete."""
    index = sorted(records)
    texts = ("run", [json.dumps(records[each]) for each in index])
    file = folder / f"{index[0]:08d}-{index[-1]:08d}.nc"
    part = file.with_suffix(f".{os.getpid()}.part")
    xr.Dataset({"trial": texts}, {"run": index}, {"settings": json.dumps(settings)}).to_netcdf(part, engine="scipy")
    part.replace(file)


def _read_folder(folder: Path, settings: Mapping[str, str]) -> dict[int, Record]:
    """Return the trials that are saved in a folder; files of other names are left alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise Refusal("path", str(folder), "is, or is in, a file", "Name a folder, which is made") from None
    done: dict[int, Record] = {}
    for file in sorted(folder.glob(_FILES)):
        try:
            with xr.open_dataset(file, engine="scipy") as opened:
                theirs = json.loads(opened.attrs["settings"])
                records = [json.loads(text) for text in opened["trial"].to_numpy().tolist()]
                done |= dict(zip(opened["run"].to_numpy().tolist(), records, strict=True))
        except Exception as error:
            why = f"({error_text(error)}); it may be truncated"
            raise Refusal(
                "path",
                str(file),
                f"{file} cannot be read {why}",
                "Delete it: its trials will be run again",
            ) from None
        for name in [*settings, *theirs]:
            made, wanted = (each.get(name, "none") for each in (theirs, settings))
            if made != wanted:
                raise Refusal(
                    "path",
                    str(folder),
                    f"the trials in {folder} were made with {name} = {made}, not {wanted}",
                    "Give another path, or the same settings",
                )
    return done
