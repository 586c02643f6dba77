"""The paths of runs, cut into levels, and the arguments of `readers.read` that say what each level is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xcurves.core.doubts import Choice
from xcurves.core.names import are_folds

FOLD = "fold"
Readings = Sequence[tuple[Mapping[str, Any], str]]  # arguments, and what they mean
AS_THEY_ARE: Readings = (({}, ""),)
# the name and the number of a fold at the end of a name: tree_fold0
_ENDS_IN_FOLD = re.compile(
    r"(?P<name>.+?)(?P<mark>[-_. ]*fold[-_= ]?|[-_. ]+(?:cv|split|resample)[-_= ]?)(?P<fold>\d+)", re.IGNORECASE
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
        return [
            Choice({**self.naming(of_level), **columns, **more}, ", ".join(filter(None, [compares, words])))
            for more, words in self.readings
        ]

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
    levels = [list(level) for level in zip(*places, strict=True)]
    marks = [*["/"] * (len(levels) - 1), ""]
    ends = [_ENDS_IN_FOLD.fullmatch(name) for name in levels[-1]]
    found = [end for end in ends if end]
    if len(found) == len(ends) and len({end["mark"] for end in found}) == 1 and len({end["fold"] for end in found}) > 1:
        levels[-1:] = [[end["name"] for end in found], [end["fold"] for end in found]]
        marks[-1:] = [found[0]["mark"], ""]
    fold = next((index for index, level in enumerate(levels) if len(set(level)) > 1 and are_folds(level)), None)
    if len(levels) > len(places[0]):
        fold = len(levels) - 1
    if fold is not None:
        said |= {"run"}
    return Paths(levels, marks, root, are_files, said, fold, readings)
