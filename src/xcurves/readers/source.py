"""What a kind of log declares: its name, how it is recognised, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd


class Source(NamedTuple):
    """A kind of log.

    `is_log` takes a file and returns whether it is one. `read` takes the path of a file or a folder, and `folders=`
    where `by_folders`: the names of folders say what a run is. A `single` file holds all runs and is not looked for in
    folders. `value`, `training` and `extra` are the columns of the scores, of training and of tasks in the frame.
    `also_writes` names sources whose files are often beside.
    """

    name: str
    what: str
    is_log: Callable[[Path], bool]
    read: Callable[..., pd.DataFrame]
    by_folders: bool = False
    single: bool = False
    value: str | None = None
    training: str | None = "step"
    extra: tuple[str, ...] = ()
    also_writes: tuple[str, ...] = ()
