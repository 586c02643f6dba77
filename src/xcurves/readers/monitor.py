"""Episodes that the Monitor of Stable-Baselines3 logged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from xcurves.readers import csvfile, paths
from xcurves.readers.source import Source

_NAMES = {"r": "return", "l": "episode_length", "t": "time"}


def training_episodes(root: str | Path, *, folders: str | Sequence[str] = paths.FOLDERS) -> pd.DataFrame:
    r"""Read all ``monitor.csv`` files below a folder, in which each run has a folder.

    Parameters
    ----------
    root : path
        Folder of the runs' folders, or one file. Several files in one folder (``0.monitor.csv``, ``1.monitor.csv``) are
        parallel environments of one run; their episodes are put in the order of time.
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
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If a file is no Monitor log, if a row has more or fewer fields than its header, if no file has an episode, or if
        `folders` does not fit.

    Warns
    -----
    UserWarning
        If the last line of a file is cut short, or a run has no episode; these are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xcurves.readers import monitor
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> (root / "sac" / "0").mkdir(parents=True)
    >>> text = '#{"t_start": 0.0, "env_id": "Hopper-v4"}\nr,l,t\n10.0,20,0.5\n12.0,30,0.9\n'
    >>> _ = (root / "sac" / "0" / "monitor.csv").write_text(text)
    >>> monitor.training_episodes(root)[["algorithm", "run", "step", "return"]]
      algorithm  run  step  return
    0       sac    0    20    10.0
    1       sac    0    50    12.0
    """
    frame = paths.read_runs(root, _is_log, "monitor.csv", folders, _run)
    frame.attrs = {
        "units": {"step": "steps", "episode_length": "steps", "time": "s"},
        "long_name": {"return": "episode return", "step": "environment steps", "time": "time since the run began"},
        "source": f"Stable-Baselines3 Monitor logs {paths.where(root)}",
    }
    return frame


def _is_log(path: Path) -> bool:
    return path.name.endswith("monitor.csv")


def _run(files: Sequence[Path]) -> paths.Run:
    """Return the episodes of one run, of parallel environments in the order of time."""
    logs = [_read(path) for path in files]
    rows = logs[0].rows if len(logs) == 1 else pd.concat([log.rows for log in logs], ignore_index=True)
    if len(logs) > 1:
        rows["time"] += rows["began"] - rows["began"].min()
        rows = rows.sort_values("time", kind="stable", ignore_index=True)
    del rows["began"]
    rows.insert(1, "episode", range(1, len(rows) + 1))
    rows.insert(2, "step", rows["episode_length"].cumsum())
    return paths.Run(rows, "; ".join(log.left_out for log in logs if log.left_out))


def _read(path: Path) -> paths.Run:
    """Return the episodes of one file, with `began`, the time at which it was begun."""
    header, _, table = csvfile.read_bytes(path).partition(b"\n")
    try:
        about = json.loads(header.removeprefix(b"#"))
        began, env = float(about["t_start"]), about.get("env_id")
    except (ValueError, TypeError, KeyError):
        shown = header[:60].decode(errors="replace")
        raise ValueError(
            f"{path} is no Monitor log: its first line must be a JSON header with t_start; got {shown!r}"
        ) from None
    whole, cut = csvfile.split_cut_line(table)
    rows = csvfile.parse(whole, path, first_line=2, skipinitialspace=True)
    try:
        numbers = {column: pd.to_numeric(rows.pop(name)) for name, column in _NAMES.items()}
        if any(column.isna().any() for column in numbers.values()):
            raise ValueError("a row lacks r, l or t")
    except (ValueError, KeyError) as error:
        raise ValueError(f"{path} is no Monitor log of columns r, l, t: {error}. Correct or remove it") from None
    others = {str(name): rows[name] for name in rows}
    episodes = pd.DataFrame({"env": env} | numbers | others | {"began": began}, index=rows.index)
    return paths.Run(episodes, f"{path}: the last line is cut short and left out: {cut!r}" if cut else "")


SOURCE = Source(
    "monitor",
    "a folder of Stable-Baselines3's monitor.csv",
    _is_log,
    training_episodes,
    by_folders=True,
    value="return",
    also_writes=("evaluations", "tensorboard"),
)
