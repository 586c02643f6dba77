"""Folders of logs: what the names of a log's folders say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd


def find_logs(root: str | Path, is_log: Callable[[Path], bool], what: str) -> dict[Path, list[Path]]:
    """Return the logs in each folder below `root`, folders and logs in order."""
    root = Path(root)
    if not root.is_dir():
        raise NotADirectoryError(f"root {str(root)!r} is no folder. Name the one that holds the runs' folders")
    found: dict[Path, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and is_log(path):
            found.setdefault(path.parent, []).append(path)
    if not found:
        raise FileNotFoundError(f"root {str(root)!r} holds no {what}. Check the path")
    return found


def check_folders(folders: str | Sequence[str]) -> list[str]:
    """Return the column names of folder levels."""
    names = [folders] if isinstance(folders, str) else list(folders)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"folders must name a column for each level of folders, each once; got {names}")
    return names


def name_folders(root: str | Path, folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Return what the names of the folders from `root` down to a log's own say."""
    parts = folder.relative_to(root).parts
    if len(parts) != len(names):
        raise ValueError(
            f"folders={list(names)} names {len(names)} levels of folders below root; {str(Path(*parts))!r} has "
            f"{len(parts)}. Name a column for each, such as folders=('task', 'algorithm', 'run')"
        )
    return dict(zip(names, parts, strict=True))


def join(frames: Iterable[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Put frames below each other, folders first; folder names that are all whole numbers become numbers."""
    whole = pd.concat(frames, ignore_index=True)
    for name in names:
        words = whole[name].unique()
        if all(word.isdecimal() for word in words) and len({int(word) for word in words}) == len(words):
            whole[name] = whole[name].astype(np.int64)
    return whole[[*names, *(column for column in whole if column not in names)]]
