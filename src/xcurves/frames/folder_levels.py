"""What levels of folders are: the run, the algorithm, the task; asked where they can be read in several ways."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from xcurves.core.doubts import Choice, Doubtful, how_many, of_paths, runs_each
from xcurves.core.names import NUMBERED

_NAMES = ("task", "algorithm", "run")
_RUN = re.compile(r"(?:(?:seed|run|rep|trial|fold|version|s|r)[-_= ]?)?\d+", re.IGNORECASE)
_WHOLE = re.compile(r"\d+")
_RUN_NAME = re.compile(r"[a-z]+-[a-z]+-\d+", re.IGNORECASE)  # that Weights & Biases makes: dashing-sunset-12
# Names of folders that are no algorithm's.
_OF_PLACE = re.compile(
    r"logs?|runs?|outputs?|multirun|results?|version_\d+|checkpoint-\d+|"
    r"train|training|eval|evaluation|test|val|valid|validation|dev|"
    r"\d{4}-?\d{2}-?\d{2}.*|\d{2}[-:]\d{2}[-:]\d{2}|(?=.*\d)[0-9a-f]{7,}",
    re.IGNORECASE,
)
_MARKS = ("__", "_", "-", ".")  # between parts of names, the longest first
_ENVIRONMENT = re.compile(r".*-v\d+", re.IGNORECASE)  # CartPole-v1
_ALGORITHM, _TASK = "{algorithm}", "{task}"


class Levels(NamedTuple):
    """Labels of runs that folders give.

    Attributes
    ----------
    labels : DataFrame
        A row for each run.
    names : list of str
        What each level of the path is, as `folders` takes it; empty where names of folders are cut.
    said : str
        How they were found.
    names_algorithms : bool
        Whether the level of algorithms has labels that can be theirs.
    """

    labels: pd.DataFrame
    names: list[str]
    said: str
    names_algorithms: bool


def labels_of(places: Sequence[tuple[str, ...]], root: str, *, asks_of_parts: bool = True) -> Levels | None:
    """Return the labels that folders give to runs; None if they give none.

    `asks_of_parts`: names that cross two parts are asked about, which one is the task; no, where algorithms are known.
    """
    if len({len(place) for place in places}) != 1 or not places[0]:
        return None
    levels = [list(level) for level in zip(*places, strict=True)]
    if len(levels) == 1:
        return _of_names(levels[0], root, asks_of_parts=asks_of_parts)
    kept = _kept(levels)
    numbers = [index for index in kept if all(map(_RUN.fullmatch, levels[index]))]
    of_runs = [index for index in kept if are_run_names(levels[index])]
    if of_runs:
        run = of_runs[-1]
        kept = [index for index in kept if index not in numbers and index not in of_runs]
        kept.append(run)
    elif numbers:
        varied = [index for index in numbers if len(set(levels[index])) > 1]
        run = (varied or numbers)[-1]
        _ask_of_numbers(levels, kept, varied, root)
        # version_0 below the seeds says nothing
        kept = [index for index in kept if index != run and (index not in numbers or index in varied)]
        kept.append(run)
    if len(kept) not in (2, 3):
        return None
    names = _NAMES[-len(kept) :]
    labels = pd.DataFrame({name: levels[index] for name, index in zip(names, kept, strict=True)})
    of_level = {index: name for name, index in zip(names, kept, strict=True)}
    every = _named(of_level, len(levels))
    if asks_of_parts and every == list(_NAMES[1:]):
        _ask_of_parts(labels, "/{run}", root)
    said = f"levels of the path are {', '.join(names)}"
    if kept != sorted(kept):
        said = f"levels of the path are {', '.join(name for name in every if name in names)}"
    return Levels(labels, every, said, _can_be_algorithms(labels))


def _kept(levels: Sequence[Sequence[str]]) -> list[int]:
    """Return the levels that tell runs apart, with the task if there is one only."""
    kept = list(range(len(levels)))
    while len(kept) > 2 and len(set(levels[kept[-1]])) == 1 and not re.search(r"\d", levels[kept[-1]][0]):
        kept.pop()
    # one folder logs, or eval, that all runs are in says nothing
    of_place = [index for index in kept if len(set(levels[index])) == 1 and _OF_PLACE.fullmatch(levels[index][0])]
    if len(kept) > 2:
        kept = [index for index in kept if index not in of_place or _RUN.fullmatch(levels[index][0])]
    while len(kept) > 3 and len(set(levels[kept[0]])) == 1:
        kept.pop(0)
    if len(kept) > 3:
        kept = [index for index in kept if len(set(levels[index])) > 1]
    return kept


def _of_names(names: Sequence[str], root: str, *, asks_of_parts: bool) -> Levels | None:
    """Return the labels of names that have an algorithm and a number."""
    parts = [NUMBERED.fullmatch(name) for name in names]
    if not all(parts):
        return None
    labels = pd.DataFrame([part.groupdict() for part in parts if part])
    # Names that have a word of their own each, as those that Weights & Biases makes, name runs and no algorithm.
    if labels["algorithm"].is_unique or labels.duplicated().any():
        return None
    marks = sorted({part.string[part.end("algorithm") : part.start("run")] for part in parts if part})
    if asks_of_parts and len(marks) == 1:
        _ask_of_parts(labels, f"{marks[0]}{{run}}", root)
    return Levels(labels, [], "names are algorithm and run", _can_be_algorithms(labels))


def _can_be_algorithms(labels: pd.DataFrame) -> bool:
    """Return whether labels can be those of algorithms: two or more, each of several runs or tasks, and of no place."""
    counts = labels["algorithm"].value_counts()
    of_place = any(_OF_PLACE.fullmatch(str(label)) for label in counts.index)
    return len(counts) > 1 and bool((counts > 1).all()) and not of_place


def _ask_of_numbers(
    levels: Sequence[Sequence[str]],
    kept: Sequence[int],
    numbers: Sequence[int],
    root: str,
) -> None:
    """Ask what a second level of whole numbers is: tasks, or part of the algorithm."""
    if len(numbers) < 2:
        return
    *others, run = numbers
    others = [index for index in others if len(set(levels[index])) > 1 and all(map(_WHOLE.fullmatch, levels[index]))]
    rest = [index for index in kept if index != run and index not in others]
    if not others or len(rest) != 1:
        return
    number, name = others[-1], rest[0]
    as_task = {number: "task", name: "algorithm", run: "run"}
    as_part = {number: "number", name: "name", run: "run"}
    n_names, n_numbers = len(set(levels[name])), len(set(levels[number]))
    pairs = list(zip(levels[name], levels[number], strict=True))
    sizes = pd.Series(pairs).value_counts()
    each = runs_each(int(sizes.min()), int(sizes.max()))
    choices = (
        Choice(
            {"folders": _named(as_task, len(levels))},
            f"{how_many(n_names, 'algorithm')}, {how_many(n_numbers, 'task')}, {each}",
        ),
        Choice(
            {"folders": _named(as_part, len(levels)), "algorithm": ["name", "number"]},
            f"{how_many(len(sizes), 'algorithm')}, one task, {each}",
        ),
    )
    raise of_paths(
        f"{root}: two levels of folders are whole numbers, such as {levels[number][0]!r}",
        choices,
        root,
    )


def _named(of_level: dict[int, str], n_levels: int) -> list[str]:
    """Return a name for each level of folders."""
    return [of_level.get(index, f"folder{index + 1}") for index in range(n_levels)]


def are_run_names(labels: Sequence[str]) -> bool:
    """Return whether labels are names of runs that Weights & Biases makes, all different: they say no algorithm."""
    return len(labels) > 1 and len(set(labels)) == len(labels) and all(map(_RUN_NAME.fullmatch, labels))


def _ask_of_parts(labels: pd.DataFrame, end: str, root: str) -> None:
    """Ask which of two parts of names is the algorithm, where each label of one is with each label of the other.

    `labels` has what stands for the algorithm and the run; `end` is the pattern of names after the algorithm.
    """
    names = labels["algorithm"].astype(str)
    for mark in _MARKS:
        parts = names.str.split(mark, expand=True, regex=False)
        if parts.isna().any(axis=None) or (parts == "").any(axis=None):
            continue
        varied = [place for place in range(parts.shape[1]) if len(parts[place].unique()) > 1]
        if len(varied) != 2 or not _is_crossed(parts[varied]):
            continue
        raise _question_of_parts(parts, varied, mark, labels, end, root)


def _is_crossed(parts: pd.DataFrame) -> bool:
    """Return whether each label of one column is with each of the other."""
    one, other = (parts[place].nunique() for place in parts)
    return len(parts.drop_duplicates()) == one * other


def _question_of_parts(
    parts: pd.DataFrame,
    varied: Sequence[int],
    mark: str,
    labels: pd.DataFrame,
    end: str,
    root: str,
) -> Doubtful:
    """Return the question which part is the algorithm, with each reading."""
    first, second = varied
    n_runs = labels.groupby("algorithm")["run"].nunique()
    runs = runs_each(int(n_runs.min()), int(n_runs.max()))
    orders = [(first, second), (second, first)]
    if all(map(_ENVIRONMENT.fullmatch, parts[first])):
        orders.reverse()
    choices = []
    for algorithm, task in orders:
        named = [str(parts[place].iloc[0]) for place in parts]
        named[algorithm], named[task] = _ALGORITHM, _TASK
        n_algorithms, n_tasks = parts[algorithm].nunique(), parts[task].nunique()
        compares = f"{how_many(n_algorithms, 'algorithm')}, {how_many(n_tasks, 'task')}, {runs}"
        choices.append(Choice({"names": mark.join(named) + end}, compares))
    compares = f"{how_many(labels['algorithm'].nunique(), 'algorithm')}, one task, {runs}"
    choices.append(Choice({"names": _ALGORITHM + end}, compares))
    one, other = (repr(str(parts[place].iloc[0])) for place in varied)
    return of_paths(f"{root}: names do not say whether {one} or {other} is the algorithm or the task", choices, root)
