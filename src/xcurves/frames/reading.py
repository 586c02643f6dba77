"""One reading: which column of a frame is what, what was made of it, what is not used, and what cannot be told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from xcurves.core.doubts import Choice
from xcurves.core.refusal import Words

# The arguments of roles, in the order of a call.
ARGUMENTS = {
    "score": "value",
    "algorithm": "algorithm",
    "run": "run",
    "training": "training",
    "tasks": "extra",
}
THE_FRAME = Words("the frame", "ARCHIVE")
OF_FRAME = Words("", "ARCHIVE: ")  # before what is said of a frame
_MOST = 6  # columns that a message names


@dataclass(frozen=True)
class Doubt:
    """What could not be told of a frame, with all readings that fit."""

    unknown: Mapping[str, Sequence[str]]  # from a role to the columns that it could be
    choices: tuple[Choice, ...]
    question: str = ""  # in words, where it is no choice of columns


@dataclass(frozen=True)
class Reading:
    """Which column of a frame is what.

    Attributes
    ----------
    frame : DataFrame
        The frame, with the columns that were made: labels of several columns joined, numbers of rows as runs.
    algorithm, run, training, score : str, optional
        Columns; None where there is none.
    tasks : tuple of str
        Columns of tasks that have several labels, or that were given.
    passage : str, optional
        The column of what items belong to.
    matched : str
        "fold" where runs are the folds of a data set, "" else.
    others : tuple of str
        Further columns that could be the score.
    made : tuple of str
        What was made, joined or left out, in words.
    doubt : Doubt, optional
        What could not be told.
    numbered : bool
        Whether runs are numbered by the order of rows.
    coords : tuple of str
        Columns that are coordinates of runs.
    state : str, optional
        The column that says which runs failed.
    given : mapping
        What was said, by role or argument, which proposed calls repeat: of joined labels their columns.
    """

    frame: pd.DataFrame
    algorithm: str | None = None
    run: str | None = None
    training: str | None = None
    score: str | None = None
    tasks: tuple[str, ...] = ()
    passage: str | None = None
    matched: str = ""
    others: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    doubt: Doubt | None = None
    numbered: bool = False
    coords: tuple[str, ...] = ()
    state: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> Mapping[str, Sequence[str]]:
        """From each role that could not be told to the columns that it could be."""
        if self.doubt is None:
            return {}
        return self.doubt.unknown

    @property
    def as_json(self) -> str:
        """Which column was what, as curves keep it in attrs."""
        kept = {
            "algorithm": self.algorithm,
            "run": self.run,
            "training": self.training,
            "tasks": list(self.tasks),
            "score": self.score,
            "left_out": list(self.others),
            "made": list(self.made),
        }
        return json.dumps(kept)

    @property
    def said(self) -> str:
        """One line: ``read as algorithm = algo, run = seed, training = env_steps, task = env, score = return``."""
        named = {
            "algorithm": self.algorithm,
            "run": self.run,
            "training": self.training,
        }
        parts = [f"{dim} = {name}" for dim, name in named.items() if name is not None]
        parts += [f"task = {name}" for name in self.tasks]
        if self.training is None:
            parts.append("no training")
        if self.score is not None:
            parts.append(f"score = {self.score}")
            if self.others:
                shown = [*self.others[:4], *["..."] * (len(self.others) > 4)]
                parts[-1] += f" (not {', '.join(shown)})"
        return "; ".join([f"read as {', '.join(parts)}", *self.made])


def either(columns: Sequence[str]) -> str:
    """Return columns joined by "or", the rest of many counted."""
    words = list(columns[:_MOST])
    if len(columns) > _MOST:
        words.append(f"{len(columns) - _MOST} more")
    return " or ".join(words)
