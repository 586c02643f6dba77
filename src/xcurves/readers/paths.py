"""Folders of logs: what the names of a log's folders say about its run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.core.validation import check_path

FOLDERS = ("algorithm", "run")

_ONE_NAME = "folders=('name',), and split the names with readers.wandb_chart.split_names"
_THREE_LEVELS = "folders=('task', 'algorithm', 'run')"


class Run(NamedTuple):
    """The rows of one run, and what of its logs could not be read."""

    rows: pd.DataFrame
    left_out: str = ""


def files_below(root: str | Path) -> list[Path]:
    """Return all files below a folder in order, or the file itself.

    Hidden files and folders are left out, save those of Hydra. Links out of `root` are followed; links to what is in it
    or to a parent are not, so that no log is read twice.
    """
    root = check_path(root)
    if root.is_file():
        return [root]
    if not root.exists():
        raise FileNotFoundError(f"path {str(root)!r} does not exist. Check the path")
    home, found = Path(os.path.realpath(root)), list[Path]()
    for place, folders, names in os.walk(root, followlinks=True):
        here = Path(place)
        folders[:] = [name for name in folders if _is_looked_at(here / name, home)]
        found += [here / name for name in names if _is_looked_at(here / name, home) and (here / name).is_file()]
    return sorted(found)


def _is_looked_at(path: Path, home: Path) -> bool:
    if path.name.startswith(".") and path.name != ".hydra":
        return False
    if not path.is_symlink():
        return True
    target = Path(os.path.realpath(path))
    return not target.is_relative_to(home) and not Path(os.path.realpath(path.parent)).is_relative_to(target)


def find_logs(root: str | Path, is_log: Callable[[Path], bool], what: str) -> dict[Path, list[Path]]:
    """Return the logs in each folder below `root`, or the log that it is; folders and logs in order."""
    found: dict[Path, list[Path]] = {}
    for path in files_below(root):
        if is_log(path):
            found.setdefault(path.parent, []).append(path)
    if not found:
        raise FileNotFoundError(f"path {str(root)!r} holds no {what}. Check the path")
    return found


def read_runs(
    root: str | Path,
    is_log: Callable[[Path], bool],
    what: str,
    folders: str | Sequence[str],
    read: Callable[[list[Path]], Run],
    run_folder: Callable[[Path], Path] = lambda folder: folder,
) -> pd.DataFrame:
    """Read the logs of every run, and put them below each other with what their folders say.

    `read` takes the logs of one run; `run_folder` returns the folder of the run that a log's folder belongs to. One
    warning says what was left out.
    """
    names = check_folders(root, folders)
    logs: dict[Path, list[Path]] = {}
    for folder, found in find_logs(root, is_log, what).items():
        logs.setdefault(run_folder(folder), []).extend(found)
    named = [name_folders(root, folder, names) for folder in logs]
    runs = [read(found) for found in logs.values()]
    provenance.warn_of(
        np.array([bool(run.left_out) for run in runs]), [run.left_out for run in runs], lambda _: "", "runs"
    )
    empty = np.array([run.rows.empty for run in runs])
    if empty.all():
        raise ValueError(f"path {str(root)!r}: its {what} have no rows. Check what was logged")
    provenance.warn_of(empty, list(map(str, logs)), lambda _: " has no rows and is left out", "runs")
    kept = [(run.rows, of) for run, of in zip(runs, named, strict=True) if len(run.rows)]
    frame = pd.concat([rows for rows, _ in kept], ignore_index=True)
    twice = [name for name in names if name in frame]
    if twice:
        raise ValueError(
            f"folders={names}: a log below {str(root)!r} has a column {twice[0]!r} too. Name that level of folders "
            "otherwise, or rename the column"
        )
    usual = [name for name in frame if 2 * sum(name in rows for rows, _ in kept) > len(kept)]
    lacks = [[name for name in usual if len(run.rows) and name not in run.rows] for run in runs]
    provenance.warn_of(
        np.array(list(map(bool, lacks))),
        list(map(str, logs)),
        lambda which: f" has no column {lacks[which][0]!r}, which most have",
        "runs",
    )
    counts = [len(rows) for rows, _ in kept]
    columns = {name: pd.Series(np.repeat([of[name] for _, of in kept], counts), dtype=str) for name in names}
    return pd.concat([pd.DataFrame({name: whole_numbers(each) for name, each in columns.items()}), frame], axis=1)


def where(root: str | Path) -> str:
    """Return where logs were found, for `attrs["source"]`."""
    return f"{'in' if Path(root).is_file() else 'below'} {Path(root).name}"


def only(logs: Sequence[Path]) -> Path:
    """Return the one log of a run."""
    if len(logs) > 1:
        raise ValueError(
            f"{logs[0].parent} holds {len(logs)} logs, {logs[0].name} and {logs[1].name}: a run has one. "
            "Put each into a folder of its own"
        )
    return logs[0]


def check_folders(root: str | Path, folders: str | Sequence[str]) -> list[str]:
    """Return the column names of folder levels; none for a single file."""
    if Path(root).is_file():
        return []
    names = [folders] if isinstance(folders, str) else list(folders)
    if len(set(names)) < len(names):
        raise ValueError(f"folders must name a column for each level of folders, each once; got {names}")
    return names


def name_folders(root: str | Path, folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Return what the names of the folders from `root` down to a log's own say."""
    parts = () if Path(root).is_file() else folder.relative_to(root).parts
    if len(parts) != len(names):
        levels = f"{len(names)} level{'s' * (len(names) != 1)} of folders"
        raise ValueError(
            f"folders={list(names)} names {levels} below {str(root)!r}; {str(Path(*parts))!r} has {len(parts)}. "
            f"Name a column for each, such as {_ONE_NAME if len(parts) == 1 else _THREE_LEVELS}"
        )
    return dict(zip(names, parts, strict=True))


def whole_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return labels as whole numbers if all are, each written in one way; otherwise as they are."""
    words = column.unique()
    decimal = all(isinstance(word, str) and word.isdecimal() for word in words)
    return column.astype(np.int64) if decimal and len({int(word) for word in words}) == len(words) else column


def merge_steps(rows: pd.DataFrame, step: str = "step") -> pd.DataFrame:
    """Merge the rows of a run at one step, each of which has some of the metrics, unless a metric is there twice."""
    if rows[step].is_unique or (rows.groupby(step).count() > 1).drop(columns="epoch", errors="ignore").any(axis=None):
        return rows
    return rows.groupby(step, sort=False, dropna=False).first().reset_index()[list(rows)]
