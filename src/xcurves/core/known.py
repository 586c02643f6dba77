"""What a source knows of the columns of its frame: what readers tell, and frames use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Literal

import pandas as pd
import xarray as xr
from numpy.typing import NDArray


class Find(Enum):
    """The one value that stands for what is found by looking."""

    FIND = "..."

    def __repr__(self) -> str:
        return self.value


FIND: Literal[Find.FIND] = Find.FIND
# the levels that runs are brought to, and how a run gets a score at one
On = Literal["intersection", "union", "final"] | Sequence[float] | NDArray[Any] | xr.DataArray
AlignMethod = Literal["previous", "linear", "nearest", "mean"]
# what several rows of one run at one level become
Duplicates = Literal["raise", "first", "last", "mean", "purge", "runs"]
ATTRS = "xcurves"  # the attr of a frame that has it, as plain JSON
SAMPLER = "sampler"  # the attr of a frame of trials that says what chose them
RUN_PATH = "run_path"  # the column that says which of several runs below a folder a row is of


@dataclass(frozen=True)
class Places:
    """Where runs lie below a folder, and what their configurations say: all that is known of who they are.

    Attributes
    ----------
    root : str
        The folder.
    log : str
        The path of a log below it, of a run that is not in a folder of a folder if there is one.
    pattern : str
        How such paths may be made, as `names` of `readers.read` says it.
    paths : sequence of str
        The path of each run below the root: folders, or the name of its file; parts are parted by a slash.
    settings : mapping
        From the columns of configurations to their value in each run.
    said : str
        What was taken of what lies there.
    are_files : bool
        Whether paths end in the names of files.
    """

    root: str
    log: str
    pattern: str
    paths: Sequence[str]
    settings: Mapping[str, Sequence[Any]]
    said: str = ""
    are_files: bool = False


@dataclass(frozen=True)
class Known:
    """What is known of columns before any name is looked at.

    Attributes
    ----------
    source : str
        What wrote the rows.
    training, score : str, optional
        Columns of the training levels and of the scores.
    lower_is_better : bool, optional
        Whether a low score is a good one; None where the source does not say.
    metric : str, optional
        The column that says which score a row has.
    extra : sequence of str
        Columns of tasks.
    rival : str, optional
        A column that may name the algorithms as well as the column `algorithm`.
    places : Places, optional
        Of runs whose labels nobody named.
    title : str
        What a file is called, if that is the name of a score: of one that no column names.
    """

    source: str = ""
    training: str | None = None
    score: str | None = None
    lower_is_better: bool | None = None
    metric: str | None = None
    extra: Sequence[str] = ()
    rival: str | None = None
    places: Places | None = None
    title: str = ""

    def told(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with this in its attrs."""
        told = asdict(self) | {"extra": list(self.extra)}
        if self.places is not None:  # pandas copies attrs again and again: a text is copied at once
            told["places"] = json.dumps(told["places"], default=str)
        frame.attrs[ATTRS] = {name: each for name, each in told.items() if each not in (None, [], "")}
        return frame


def known_of(frame: pd.DataFrame) -> Known:
    """Return what the attrs of a frame say of the columns that it has: what is said of others holds no longer."""
    told: Any = frame.attrs.get(ATTRS, {})
    if not isinstance(told, Mapping):
        return Known()
    score = _present(frame, told.get("score"))
    lower = told.get("lower_is_better")
    if score is None or not isinstance(lower, bool):
        lower = None
    extra = told.get("extra", ())
    if not isinstance(extra, list | tuple):
        extra = ()
    tasks = [str(name) for name in extra if _present(frame, name) is not None]
    return Known(
        str(told.get("source", "")),
        _present(frame, told.get("training")),
        score,
        lower,
        _present(frame, told.get("metric")),
        tasks,
        _present(frame, told.get("rival")),
        _places_of(frame, told.get("places")),
        str(told.get("title", "")),
    )


def _places_of(frame: pd.DataFrame, told: object) -> Places | None:
    """Return where the runs of a frame with the column of their paths lie, None if that is not said."""
    if RUN_PATH not in frame or not isinstance(told, str):
        return None
    try:
        return Places(**json.loads(told))
    except (ValueError, TypeError):  # of another version, or written by others
        return None


def _present(frame: pd.DataFrame, name: Any) -> str | None:
    """Return the name of a column if the frame has it."""
    if isinstance(name, str) and name in frame:
        return name
    return None
