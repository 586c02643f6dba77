"""The paths of runs, cut into levels, and the arguments of `readers.read` that say what each level is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xcurves.core.doubts import Choice
from xcurves.core.names import FOLD, TRIAL, are_folds

Readings = Sequence[tuple[Mapping[str, Any], str]]  # arguments, and what they mean
AS_THEY_ARE: Readings = (({}, ""),)
# What settings of searches that were tried on the same folds are, and what is compared then.
SETTINGS_ON_FOLDS: Readings = (
    ({"duplicates": "first"}, "the best setting of each, chosen on the same folds"),
    ({"run": TRIAL, "duplicates": "mean"}, "runs are settings, as if drawn at random"),
)
_STAMP = r"20\d\d-?[01]\d-?[0-3]\d(?:[-_T ]?[0-2]\d[-_:h]?[0-5]\d(?:[-_:m]?[0-5]\d)?)?"
# as the SummaryWriter of TensorBoard calls folders: the host comes next
_WRITER = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[0-3]\d_[0-2]\d-[0-5]\d-[0-5]\d"
_IN_FOLD = re.compile(  # tree_fold0
    r"(?P<one>.+?)(?P<mark>[-_. ]*fold[-_= ]?|[-_. ]+(?:cv|split|resample)[-_= ]?)(?P<other>\d+)", re.IGNORECASE
)
_JOB = r"(?:slurm|jobid|job|pid)[-_]?\d+"
# What stands before and behind a mark in names that say two things: when a run began, its job and its fold.
_BEFORE = (
    re.compile(rf"(?P<one>{_WRITER}_[^_]+)(?P<mark>_)(?P<other>(?!(?:seed|run|s|r)?[-_]?\d+$).*[^\W\d_].*)"),
    re.compile(rf"(?P<one>{_WRITER}|{_STAMP}|{_JOB})(?P<mark>[-_. ]+)(?P<other>.*[^\W\d_].*)"),
)
_BEHIND = (
    re.compile(rf"(?P<one>.*[^\W\d_].*?)(?P<mark>[-_. ]+)(?P<other>{_JOB})"),
    re.compile(rf"(?P<one>.*[^\W\d_].*?)(?P<mark>[-_. ]+)(?P<other>{_STAMP})"),
)


class Paths(NamedTuple):
    """Paths of runs, level by level.

    Attributes
    ----------
    levels : list of list of str
        The labels of each level, one for each run.
    marks : list of str
        What stands after each level: a slash, or what parts the name of a file or folder.
    root : str
        The folder in which they are.
    are_files : bool
        Whether the last level are names of files.
    said : frozenset of str
        The dims that rows, or folds, say.
    fold : int, optional
        The level of folds, if there is one.
    readings : sequence of tuple
        What rows can be, as arguments and in words, where that is asked too.
    """

    levels: list[list[str]]
    marks: list[str]
    root: str
    are_files: bool
    said: frozenset[str]
    fold: int | None = None
    readings: Readings = AS_THEY_ARE

    def choices(self, of_level: Mapping[int, str], compares: str, **columns: Any) -> list[Choice]:
        """Return what levels may be, for each reading of rows."""
        choices = []
        for more, words in self.readings:
            how = {**columns, **more}
            if "run" in more and any(name == "run" or "{run}" in name for name in of_level.values()):
                how["run"] = ["run", more["run"]]
            choices.append(Choice({**self.naming(of_level), **how}, ", ".join(filter(None, [compares, words]))))
        return choices

    def naming(self, of_level: Mapping[int, str]) -> dict[str, Any]:
        """Return the argument that says what levels are: names of dims, or patterns with names in braces."""
        if self.fold is not None:
            of_level = {self.fold: FOLD, **of_level}
        plain = not self.are_files and all(mark in "/" for mark in self.marks)
        if plain and not any("{" in name for name in of_level.values()):
            return {"folders": self.named(of_level)}
        text = ""
        for index, (level, mark) in enumerate(zip(self.levels, self.marks, strict=True)):
            name = of_level.get(index, "" if len(set(level)) == 1 else f"folder{index + 1}")
            text += (name if "{" in name else f"{{{name}}}" if name else level[0]) + mark
        return {"names": text}

    def named(self, of_level: Mapping[int, str]) -> list[str]:
        """Return a name for each level of folders."""
        if self.fold is not None:
            of_level = {self.fold: FOLD, **of_level}
        return [of_level.get(index, f"folder{index + 1}") for index in range(len(self.levels))]


def paths_of(
    places: Sequence[tuple[str, ...]],
    root: str,
    *,
    are_files: bool = False,
    said: frozenset[str] = frozenset(),
    readings: Readings = AS_THEY_ARE,
) -> Paths | None:
    """Return the levels of paths of equal depth, folds at the end of names cut off; None of others."""
    if len({len(place) for place in places}) != 1 or not places[0]:
        return None
    levels, marks, fold = list[list[str]](), list[str](), None
    for level in zip(*places, strict=True):
        parts, between, is_fold = _cut(list(level))
        levels += parts
        marks += [*between, "/"]
        if is_fold or (len(set(level)) > 1 and are_folds(level)):
            fold = len(levels) - 1
    marks[-1] = ""
    if fold is not None:
        said |= {"run"}
    return Paths(levels, marks, root, are_files, said, fold, readings)


def _cut(level: list[str]) -> tuple[list[list[str]], list[str], bool]:
    """Return the parts of names that say two things alike, the marks between them, and whether the last is a fold."""
    for pattern in (*_BEHIND, *_BEFORE, _IN_FOLD):
        found = [match for name in level if (match := pattern.fullmatch(name))]
        marks = sorted({match["mark"] for match in found})
        if len(found) < len(level) or len(marks) > 1:
            continue
        one, other = ([match[part] for match in found] for part in ("one", "other"))
        if pattern is _IN_FOLD and len(set(other)) > 1:
            return [one, other], marks, True
        if pattern in _BEFORE:
            parts, between, is_fold = _cut(other)
            return [one, *parts], [*marks, *between], is_fold
        if pattern in _BEHIND:
            parts, between, is_fold = _cut(one)  # tree_fold0_20261101
            return [*parts, other], [*between, *marks], is_fold
    return [level], [], False
