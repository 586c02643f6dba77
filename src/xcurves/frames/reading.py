"""One reading: which column of a frame is what, what was made, what cannot be told, and the calls that settle it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.api.types import is_list_like

from xcurves.core.doubts import Choice, how_many, runs_each
from xcurves.core.known import FIND
from xcurves.core.labels import did_you_mean
from xcurves.core.names import is_item
from xcurves.core.refusal import Missing, Proposal, Text, Words, call, give

if TYPE_CHECKING:
    from xcurves.frames.unnamed import Unnamed

ROLES = ("algorithm", "run", "training", "score", "tasks")
# The arguments of roles, in the order of a call.
ARGUMENTS = {
    "score": "value",
    "algorithm": "algorithm",
    "run": "run",
    "training": "training",
    "tasks": "extra",
}
NAME = "name"  # the column of logs that name their runs
THE_FRAME = Words("the frame", "PATH")
OF_FRAME = Words("", "PATH: ")  # before what is said of a frame
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
    numbered_by : str
        The column of numbers of trials that tells such runs apart, "" if there is none.
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
    numbered_by: str = ""
    coords: tuple[str, ...] = ()
    state: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_names_of_runs(self) -> bool:
        """Whether the algorithm is the column of logs that name their runs, and no column is the run."""
        return self.algorithm == NAME and self.run is None

    def as_json(self, made: Sequence[str]) -> str:
        """Return which column was what, and what was made, as curves keep it in attrs."""
        kept = {
            "algorithm": self.algorithm,
            "run": self.run,
            "training": self.training,
            "tasks": list(self.tasks),
            "score": self.score,
            "left_out": list(self.others),
            "made": list(made),
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


def columns_in(known: Mapping[str, Any]) -> list[str]:
    """Return the columns of all roles that are known."""
    return [name for role in known for name in as_list(known[role])]


def as_list(given: Any) -> list[str]:
    """Return the names that are given: none, one or several."""
    if given is None:
        return []
    if isinstance(given, str) or not is_list_like(given):
        return [given]
    return list(given)


def columns_typed(typed: Sequence[Any]) -> list[str]:
    """Return the columns that are typed for roles, without what is to be found."""
    return [each for name in typed if name is not FIND for each in as_list(name)]


def either(columns: Sequence[str]) -> str:
    """Return columns joined by "or", the rest of many counted."""
    words = list(columns[:_MOST_OF_ROLE])
    if len(columns) > _MOST_OF_ROLE:
        words.append(f"{len(columns) - _MOST_OF_ROLE} more")
    return " or ".join(words)


def unknown_words(doubt: Doubt) -> str:
    """Return what could not be told: "which column is the run (seed or rep)"."""
    if doubt.question:
        return doubt.question
    unknown = [f"the {role} ({either(columns)})" for role, columns in doubt.unknown.items()]
    return f"does not say which column is {' and '.join(unknown)}"


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
    chosen = {ARGUMENTS.get(role, role): None if column == [] else column for role, column in choice.columns.items()}
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


@dataclass
class Found:
    """What is found of a frame, role by role."""

    frame: pd.DataFrame
    typed: dict[str, Any]
    roles: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    passage: str | None = None
    matched: str = ""
    joined: list[str] = field(default_factory=list)  # the columns of runs and folds that were joined unasked
    numbered: bool = False
    numbered_by: str = ""
    state: str | None = None
    unnamed: Unnamed | None = None  # columns of unknown names that could be runs or steps
    settings: tuple[str, ...] = ()  # columns of a grid that tells rows of a run apart
    inferred: dict[str, Any] = field(default_factory=dict)  # what is said with each reading of these
    constant: tuple[str, ...] = ()  # columns that are the same in all rows of a task
    cut: str = ""  # in words what the column of tasks has, where it is made of names of runs

    @property
    def used(self) -> list[str]:
        """The columns that are of a role, or that were typed."""
        used = columns_in(self.roles)
        for role in ("algorithm", "run"):
            used += as_list(self.typed.get(role))
        used += [
            *as_list(self.passage),
            *as_list(self.typed.get("coords")),
            *as_list(self.state),
        ]
        return used

    def typed_or_found(self, role: str) -> list[str]:
        """Return the columns of a role: those that were typed, of which one may be joined, or that which is found."""
        return as_list(self.typed.get(role)) or as_list(self.roles.get(role))

    def keys(self, *names: str) -> list[str]:
        """Return the columns of some roles that are known."""
        return keys_of(self.roles, *names)

    @property
    def runs(self) -> list[str]:
        """The columns that tell runs apart, none if no column names runs."""
        if self.roles.get("run") is None:
            return []
        return list(dict.fromkeys(self.keys("tasks", "algorithm", "run")))

    @property
    def items(self) -> list[str]:
        """The columns of tasks that are items."""
        return [name for name in as_list(self.roles.get("tasks")) if is_item(name)]

    @property
    def has_few_repeats(self) -> bool:
        """Whether an algorithm has several rows of some items, and one row of most."""
        algorithm = self.roles.get("algorithm")
        if not self.items:
            return False
        n_rows = self.scored.groupby(self.keys("algorithm", "tasks"), observed=True).size()
        of_algorithms = [n_rows]
        if algorithm is not None:
            of_algorithms = [each for _, each in n_rows.groupby(level=algorithm)]
        return any(each.median() == 1 < each.max() for each in of_algorithms)

    @property
    def scored(self) -> pd.DataFrame:
        """The rows that have a score."""
        return with_score(self.frame, self.roles)


def keys_of(known: Mapping[str, Any], *roles: str) -> list[str]:
    """Return the columns of some roles that are known."""
    return [name for role in roles for name in as_list(known.get(role))]


def with_score(frame: pd.DataFrame, known: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that have a score."""
    score = known.get("score")
    if score is None:
        return frame
    has_score: pd.Series[bool] = frame[score].notna()
    return frame[has_score]


def compared(frame: pd.DataFrame, known: Mapping[str, Any]) -> str:
    """Return what a reading compares: how many algorithms, tasks and runs."""
    rows = with_score(frame, known)
    n_algorithms, n_tasks = 1, 1
    groups: list[str] = []
    if known.get("algorithm") is not None:
        groups += as_list(known["algorithm"])
        n_algorithms = len(rows[groups].drop_duplicates())
    tasks = list(known.get("tasks") or ())
    if tasks:
        n_tasks = len(rows[tasks].drop_duplicates())
        groups += tasks
    runs = [*groups, *as_list(known.get("run"))]
    counts = pd.Series([1])
    if len(runs) > len(groups):
        pairs = rows[runs].drop_duplicates()
        counts = pd.Series([len(pairs)])
        if groups:
            counts = pairs.groupby(groups, observed=True, dropna=False).size()
    each = runs_each(int(counts.min()), int(counts.max()))
    return f"{how_many(n_algorithms, 'algorithm')}, {how_many(n_tasks, 'task')}, {each}"


def repeats(frame: pd.DataFrame, known: Mapping[str, Any]) -> bool:
    """Return whether rows with a score repeat a run at a level."""
    rows = with_score(frame, known)
    keys = keys_of(known, "tasks", "algorithm", "run", "training")
    if not keys or (known.get("run") is None and known.get("training") is None):
        return False
    return bool(rows.duplicated(keys).any())
