"""What is found of a frame: the columns of its roles so far, and what they would compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from xcurves.core.doubts import how_many, runs_each
from xcurves.core.names import is_item
from xcurves.frames.wide_tables import as_list, columns_in

if TYPE_CHECKING:
    from xcurves.frames.unnamed import Unnamed

ROLES = ("algorithm", "run", "training", "score", "tasks")


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
    numbered: bool = False
    state: str | None = None
    unnamed: Unnamed | None = None  # columns of unknown names that could be runs or steps
    settings: tuple[str, ...] = ()  # columns of a grid that tells rows of a run apart
    inferred: dict[str, Any] = field(default_factory=dict)  # what is said with each reading of these
    constant: tuple[str, ...] = ()  # columns that are the same in all rows of a task

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
            counts = pairs.groupby(groups, observed=True).size()
    each = runs_each(int(counts.min()), int(counts.max()))
    return f"{how_many(n_algorithms, 'algorithm')}, {how_many(n_tasks, 'task')}, {each}"


def repeats(frame: pd.DataFrame, known: Mapping[str, Any]) -> bool:
    """Return whether rows with a score repeat a run at a level."""
    rows = with_score(frame, known)
    keys = keys_of(known, "tasks", "algorithm", "run", "training")
    if not keys or (known.get("run") is None and known.get("training") is None):
        return False
    return bool(rows.duplicated(keys).any())
