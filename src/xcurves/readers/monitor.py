"""Episodes that Stable-Baselines3's Monitor logged."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.readers import paths

_UNITS = {"step": "steps", "episode_length": "steps", "time": "s"}


def episodes(root: str | Path, *, folders: str | Sequence[str] = ("algorithm", "run")) -> pd.DataFrame:
    r"""Read all ``monitor.csv`` files below a folder, each of whose own folders holds one run.

    Parameters
    ----------
    root : path
        Folder of the runs' folders. Several files in one folder (``0.monitor.csv``, ``1.monitor.csv``) are parallel
        environments of one run; their episodes are put in the order of time.
    folders : str or sequence of str
        Column for each level of folders below `root`, such as ``("task", "algorithm", "run")``.

    Returns
    -------
    DataFrame
        One row per episode: the folders, `env` (as the header names it), `episode`, `step` (the sum of episode lengths
        up to its end, in steps), `return`, `episode_length` (steps), `time` (s since the run began), and other logged
        columns. Every run has steps of its own: ``to_dataarray("return", training="step", on=[...], method=...)``.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        If there is nothing to read.
    ValueError
        If a file is no Monitor log, if none has an episode, or if `folders` does not fit.

    Warns
    -----
    UserWarning
        If the last line of a file was cut short, or a file has no episode; these are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xcurves.readers import monitor
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> (root / "sac" / "0").mkdir(parents=True)
    >>> text = '#{"t_start": 0.0, "env_id": "Hopper-v4"}\nr,l,t\n10.0,20,0.5\n12.0,30,0.9\n'
    >>> _ = (root / "sac" / "0" / "monitor.csv").write_text(text)
    >>> monitor.episodes(root)[["algorithm", "run", "step", "return"]]
      algorithm  run  step  return
    0       sac    0    20    10.0
    1       sac    0    50    12.0
    """
    names = paths.check_folders(folders)
    logs = paths.find_logs(root, lambda path: path.name.endswith("monitor.csv"), "monitor.csv")
    read = {folder: [_read(path) for path in files] for folder, files in logs.items()}
    _warn_of([log for files in read.values() for log in files])
    frames = [
        _run([log for log in files if len(log.rows)]).assign(**paths.name_folders(root, folder, names))
        for folder, files in read.items()
        if any(len(log.rows) for log in files)
    ]
    if not frames:
        raise ValueError(f"root {str(root)!r}: no file has a finished episode. Train on")
    frame = paths.join(frames, names)
    frame.attrs = {
        "units": dict(_UNITS),
        "long_name": {"return": "episode return", "step": "environment steps", "time": "time since the run began"},
        "source": f"Stable-Baselines3 Monitor, {sum(map(len, logs.values()))} files below {Path(root).name}",
    }
    return frame


class _Log(NamedTuple):
    path: Path
    began: float
    env: str | None
    rows: pd.DataFrame
    cut: str


def _run(logs: Sequence[_Log]) -> pd.DataFrame:
    """Return the episodes of one run, of parallel environments in the order of time."""
    begun = min(log.began for log in logs)
    rows = pd.concat([log.rows.assign(t=log.rows["t"] + (log.began - begun), env=log.env) for log in logs])
    rows = rows if len(logs) == 1 else rows.sort_values("t", kind="stable")
    rows = rows.rename(columns={"r": "return", "l": "episode_length", "t": "time"})
    first = {"env": rows["env"], "episode": range(1, len(rows) + 1), "step": rows["episode_length"].cumsum()}
    return pd.concat([pd.DataFrame(first, index=rows.index), rows.drop(columns="env")], axis=1)


def _read(path: Path) -> _Log:
    header, _, table = path.read_text(encoding="utf-8").partition("\n")
    try:
        about = json.loads(header.removeprefix("#"))
        began, env = float(about["t_start"]), about.get("env_id")
    except (ValueError, TypeError, KeyError):
        raise ValueError(
            f"{path} is no Monitor log: its first line must be a JSON header with t_start; got {header[:60]!r}"
        ) from None
    whole, _, cut = table.rpartition("\n")
    try:
        rows = pd.read_csv(io.StringIO(whole), skipinitialspace=True)
        rows = rows.assign(**{name: pd.to_numeric(rows[name]) for name in ("r", "l", "t")})
        if rows[["r", "l", "t"]].isna().to_numpy().any():
            raise ValueError("a row lacks r, l or t")
    except (ValueError, KeyError) as error:
        raise ValueError(f"{path} is no Monitor log of columns r, l, t: {error}. Mend or remove it") from None
    return _Log(path, began, env, rows, cut)


def _warn_of(logs: Sequence[_Log]) -> None:
    """Warn once of lines cut short, and once of logs without an episode."""
    cut = np.array([bool(log.cut) for log in logs])
    paths = [str(log.path) for log in logs]
    provenance.warn_of(cut, paths, lambda i: f": the last line is cut short and left out: {logs[i].cut!r}", "files")
    empty = np.array([log.rows.empty for log in logs])
    provenance.warn_of(empty, paths, lambda _: " has no finished episode and is left out", "files")
