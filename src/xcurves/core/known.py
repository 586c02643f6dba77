"""What a source knows of the columns of its frame: what readers tell, and frames use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Literal

import pandas as pd


class Find(Enum):
    """The one value that stands for what is found by looking."""

    FIND = "..."

    def __repr__(self) -> str:
        return self.value


FIND: Literal[Find.FIND] = Find.FIND
# what several rows of one run at one level become
Duplicates = Literal["raise", "first", "last", "mean", "purge", "runs"]
ATTRS = "xcurves"  # the attr of a frame that has it, as plain JSON


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
        The column of a configuration that names other algorithms than folders do.
    """

    source: str = ""
    training: str | None = None
    score: str | None = None
    lower_is_better: bool | None = None
    metric: str | None = None
    extra: Sequence[str] = ()
    rival: str | None = None

    def told(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with this in its attrs."""
        told = asdict(self) | {"extra": list(self.extra)}
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
    )


def _present(frame: pd.DataFrame, name: Any) -> str | None:
    """Return the name of a column if the frame has it."""
    if isinstance(name, str) and name in frame:
        return name
    return None
