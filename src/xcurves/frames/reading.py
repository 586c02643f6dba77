"""One reading: which column of a frame is what, what was made, what cannot be told, and the calls that settle it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import pandas as pd

from xcurves.core.doubts import Choice
from xcurves.core.labels import did_you_mean
from xcurves.core.refusal import Missing, Proposal, Text, Words, call, give

# The arguments of roles, in the order of a call.
ARGUMENTS = {
    "score": "value",
    "algorithm": "algorithm",
    "run": "run",
    "training": "training",
    "tasks": "extra",
}
NAME = "name"  # the column of logs that name their runs
THE_FRAME = Words("the frame", "ARCHIVE")
OF_FRAME = Words("", "ARCHIVE: ")  # before what is said of a frame
_MOST_OF_ROLE, _MOST = 6, 20  # columns that a message names: those a role could be, and of a frame


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
    def has_names_of_runs(self) -> bool:
        """Whether the algorithm is the column of logs that name their runs, and no column is the run."""
        return self.algorithm == NAME and self.run is None

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
    words = list(columns[:_MOST_OF_ROLE])
    if len(columns) > _MOST_OF_ROLE:
        words.append(f"{len(columns) - _MOST_OF_ROLE} more")
    return " or ".join(words)


def no_column(argument: str, name: Any, frame: pd.DataFrame, cure: str | None = None) -> Missing:
    """Return that a frame has no column of a name: those it has, and the nearest of them or another cure."""
    reason = Text("is no column of ", THE_FRAME)
    has = [repr(each) for each in frame.columns[:_MOST]]
    if len(frame.columns) > _MOST:
        has.append("...")
    if cure is None:
        cure = did_you_mean(name, frame.columns)
    return Missing(argument, name, reason, f"It has {', '.join(has)}{cure}")


def proposal(said: Mapping[str, Any], choice: Choice) -> Proposal:
    """Return the call that settles a question, with the columns of roles that were said before.

    A choice may select rows: "select" has a column and one of its labels.
    """
    chosen = {ARGUMENTS.get(role, role): column for role, column in choice.columns.items()}
    every = {ARGUMENTS.get(role, role): column for role, column in said.items()} | chosen
    rows = "frame"
    if "select" in chosen:
        column, label = every.pop("select")
        rows = f"frame[frame[{column!r}] == {label!r}]"
        chosen["select"] = f"{column}={_typed(label)}"
    named = [argument for argument in ARGUMENTS.values() if argument in every]
    others = [argument for argument in every if argument not in named]
    options = {argument: _plain(every[argument]) for argument in [*named, *others]}
    return Proposal(call(f"{rows}.curves.to_dataarray", **options), give(**chosen), choice.compares)


def _typed(label: object) -> str:
    """Return a label as it is typed."""
    if isinstance(label, Real) and not isinstance(label, bool):
        return f"{float(label):.12g}"
    return str(label)


def _plain(columns: Any) -> Any:
    """Return one column by itself, several as a list."""
    if not isinstance(columns, list | tuple):
        return columns
    names = list(columns)
    if len(names) == 1:
        return names[0]
    return names
