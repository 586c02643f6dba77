"""Folders of logs: what the names of a log's folders say about its run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core import provenance

FOLDERS = ("algorithm", "run")


class Run(NamedTuple):
    """The rows of one run, and what of its logs could not be read."""

    rows: pd.DataFrame
    left_out: str = ""


def files_below(root: str | Path) -> list[Path]:
    """Return all files below a folder in order, or the file itself."""
    root = Path(root)
    if root.is_file():
        return [root]
    if not root.exists():
        raise FileNotFoundError(f"path {str(root)!r} does not exist. Check the path")
    return [path for path in sorted(root.rglob("*")) if path.is_file()]


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
    return join_runs([run.rows.assign(**of) for run, of in zip(runs, named, strict=True) if len(run.rows)], names)


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
            "Name a column for each, such as folders=('task', 'algorithm', 'run')"
        )
    return dict(zip(names, parts, strict=True))


def join_runs(frames: Iterable[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Put frames below each other, the named columns first and as numbers where they are."""
    whole = pd.concat(frames, ignore_index=True)
    columns = {name: whole_numbers(whole[name]) for name in names}
    return whole.assign(**columns)[[*names, *(column for column in whole if column not in names)]]


def whole_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return labels as whole numbers if all are, each written in one way; otherwise as they are."""
    words = column.unique()
    decimal = all(isinstance(word, str) and word.isdecimal() for word in words)
    return column.astype(np.int64) if decimal and len({int(word) for word in words}) == len(words) else column


def merge_steps(rows: pd.DataFrame, step: str = "step") -> pd.DataFrame:
    """Merge the rows of a run at one step, each of which has some of the metrics, unless a metric is there twice."""
    if rows[step].is_unique or (rows.groupby(step).count() > 1).drop(columns="epoch", errors="ignore").any(axis=None):
        return rows
    return rows.groupby(step, sort=False).first().reset_index()[list(rows)]
