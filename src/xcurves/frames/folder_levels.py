"""What levels of folders are: the run, the algorithm, the task; asked where they can be read in several ways."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core.doubts import Choice, Doubtful, how_many, of_paths, runs_each
from xcurves.core.names import NUMBERED, RUN_LABEL, numbered_runs
from xcurves.frames.reading import columns_in, compared

_NAMES = ("task", "algorithm", "run")
_WHOLE = re.compile(r"\d+")
_HASH = r"(?=.*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*"
_RUN_NAME = re.compile(r"[a-z]+-[a-z]+-\d+", re.IGNORECASE)  # that Weights & Biases makes: dashing-sunset-12
# Names of folders that are no algorithm's.
_OF_PLACE = re.compile(
    r"logs?|runs?|outputs?|multirun|results?|version_\d+|checkpoint-\d+|"
    r"train|training|eval|evaluation|test|val|valid|validation|dev|"
    rf"\d{{4}}-?\d{{2}}-?\d{{2}}.*|\d{{2}}[-:_]\d{{2}}[-:_]\d{{2}}|{_HASH}",
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
    of_names = _of_last_level(levels, kept, root, asks_of_parts=asks_of_parts)
    if of_names is not None:
        return of_names
    run = _level_of_runs(levels, kept)
    kept = [index for index in kept if index == run or not _says_nothing(levels, index, kept)]
    _ask_of_others(levels, kept, run, root)
    _ask_of_order(levels, kept, run, root)
    # version_0 below the seeds says nothing
    kept = [index for index in kept if index != run and not (_is_number(levels[index]) and _is_same(levels[index]))]
    kept.append(run)
    if len(kept) not in (2, 3) or of_place(levels[kept[-2]]):
        return None
    names = _NAMES[-len(kept) :]
    of_level = dict(zip(kept, names, strict=True))
    if len(kept) == 3 and _are_environments(levels[kept[1]]) and not _are_environments(levels[kept[0]]):
        of_level |= {kept[0]: "algorithm", kept[1]: "task"}
    labels = pd.DataFrame({name: levels[index] for index, name in of_level.items()})[list(names)]
    every = _named(of_level, len(levels))
    if asks_of_parts and every == list(_NAMES[1:]):
        _ask_of_parts(labels, "/{run}", root)
    said = f"levels of the path are {', '.join(name for name in every if name in names)}"
    return Levels(labels, every, said, _can_be_algorithms(labels))


def _is_same(level: Sequence[str]) -> bool:
    return len(set(level)) == 1


def _says_nothing(levels: Sequence[Sequence[str]], index: int, kept: Sequence[int]) -> bool:
    """Return whether runs are told apart without a level of dates or hashes."""
    rest = list(zip(*(levels[other] for other in kept if other != index), strict=True))
    return of_place(levels[index]) and len(kept) > 2 and len(set(rest)) == len(rest)


def _is_number(level: Sequence[str]) -> bool:
    """Return whether all labels of a level are numbers, such as 0, seed_0 or version_0."""
    return all(map(RUN_LABEL.fullmatch, level))


def of_place(level: Sequence[str]) -> bool:
    """Return whether labels of a level say where or when a run was, such as logs, eval or a date, and no algorithm."""
    return any(map(_OF_PLACE.fullmatch, level)) and not _is_number(level)


def _are_environments(level: Sequence[str]) -> bool:
    return all(map(_ENVIRONMENT.fullmatch, level))


def _level_of_runs(levels: Sequence[Sequence[str]], kept: Sequence[int]) -> int:
    """Return the level of runs: the last of their names or of numbers that vary, else the last of dates or hashes.

    If there is none, it is the last level.
    """
    kinds = (are_run_names, lambda level: _is_number(level) and not _is_same(level), _tells_runs, _is_number)
    for is_kind in kinds:
        found = [index for index in kept if is_kind(levels[index])]
        if found:
            return found[-1]
    return kept[-1]


def _tells_runs(level: Sequence[str]) -> bool:
    """Return whether a level of dates, times or hashes has several labels."""
    return of_place(level) and not _is_same(level)


def _kept(levels: Sequence[Sequence[str]]) -> list[int]:
    """Return the levels that tell runs apart, with the task if there is one only."""
    kept = list(range(len(levels)))
    while len(kept) > 2 and len(set(levels[kept[-1]])) == 1 and not re.search(r"\d", levels[kept[-1]][0]):
        kept.pop()
    # one folder logs, or eval, that all runs are in says nothing
    of_place = [index for index in kept if len(set(levels[index])) == 1 and _OF_PLACE.fullmatch(levels[index][0])]
    if len(kept) > 2:
        kept = [index for index in kept if index not in of_place or RUN_LABEL.fullmatch(levels[index][0])]
    while len(kept) > 3 and len(set(levels[kept[0]])) == 1:
        kept.pop(0)
    if len(kept) > 3:
        kept = [index for index in kept if len(set(levels[index])) > 1]
    return kept


def _of_names(names: Sequence[str], root: str, shared: str = "", *, asks_of_parts: bool) -> Levels | None:
    """Return the labels of names that have an algorithm and a number, in folders that all share."""
    labels = numbered_runs(names)
    # Names that have a word of their own each, as those that Weights & Biases makes, name runs and no algorithm.
    if labels is None or labels["algorithm"].is_unique:
        return None
    pairs = zip(names, labels["algorithm"], labels["run"], strict=True)
    marks = sorted({name[len(algorithm) : -len(run)] for name, algorithm, run in pairs})
    if asks_of_parts and len(marks) == 1:
        _ask_of_parts(labels, f"{marks[0]}{{run}}", root, shared)
    return Levels(labels, [], "names are algorithm and run", _can_be_algorithms(labels))


def _of_last_level(
    levels: Sequence[Sequence[str]], kept: Sequence[int], root: str, *, asks_of_parts: bool
) -> Levels | None:
    """Return the labels of names of algorithm and run below folders that all share; ask about those below others."""
    above, last = kept[:-1], kept[-1]
    varied = [index for index in above if not _is_same(levels[index])]
    labels = numbered_runs(levels[last]) if not varied else _split(levels[last])
    if labels is None or _is_number(levels[last]) or not _can_be_algorithms(labels):
        return None
    if not varied:
        shared = "".join(f"{level[0]}/" for level in levels[:last])
        return _of_names(levels[last], root, shared, asks_of_parts=asks_of_parts)
    parts = pd.DataFrame({0: levels[varied[-1]], 1: labels["algorithm"]})
    if len(varied) > 1 or last != len(levels) - 1 or of_place(levels[varied[0]]) or not _is_crossed(parts):
        return None
    raise _question_of_names(levels, varied[0], labels, root)


def _split(names: Sequence[str]) -> pd.DataFrame | None:
    """Return the algorithm and the run of each name of which some are the same, as each algorithm has the same runs."""
    each = list(dict.fromkeys(names))
    parts = [NUMBERED.fullmatch(name) for name in each]
    if not all(parts):
        return None
    labels = pd.DataFrame([part.groupdict() for part in parts if part])
    if not _is_crossed(labels):
        return None
    return labels.set_index(pd.Index(each)).loc[list(names)].reset_index(drop=True)


def _question_of_names(levels: Sequence[Sequence[str]], above: int, labels: pd.DataFrame, root: str) -> Doubtful:
    """Return the question what names with a number are below folders: algorithms, tasks, or runs of the folder."""
    folder, name = levels[above][0], levels[-1][0]
    mark = name[len(labels["algorithm"].iloc[0]) : -len(labels["run"].iloc[0])]
    parts = [level[0] for level in levels]
    rows = labels.rename(columns={"algorithm": "name"}).assign(folder=levels[above])
    orders = [("folder", "name", _TASK, _ALGORITHM), ("name", "folder", _ALGORITHM, _TASK)]
    if _are_environments(labels["algorithm"].tolist()):
        orders.reverse()
    choices = []
    for task, algorithm, upper, lower in orders:
        parts[above], parts[-1] = upper, f"{lower}{mark}{{run}}"
        known = {"algorithm": algorithm, "tasks": [task], "run": "run"}
        choices.append(Choice({"names": "/".join(parts)}, compared(rows, known)))
    what = f"folders do not say whether {folder!r} or {labels['algorithm'].iloc[0]!r} is the algorithm or the task"
    return of_paths(f"{root}: {what}", choices, root)


def _can_be_algorithms(labels: pd.DataFrame) -> bool:
    """Return whether labels can be those of algorithms: two or more, each of several runs or tasks, and of no place."""
    counts = labels["algorithm"].value_counts()
    return len(counts) > 1 and bool((counts > 1).all()) and not of_place(list(map(str, counts.index)))


def _ask_of_others(levels: Sequence[Sequence[str]], kept: Sequence[int], run: int, root: str) -> None:
    """Ask what a further level is that varies and is of whole numbers, or of dates, hashes or checkpoints."""
    varied = [index for index in kept if index != run and not _is_same(levels[index])]
    numbers = [index for index in varied if all(map(_WHOLE.fullmatch, levels[index]))]
    others = [*numbers, *(index for index in varied if of_place(levels[index]))]
    rest = [index for index in kept if index != run and index not in others and not _is_number(levels[index])]
    if not others or len(rest) > 1 or (not rest and not numbers):
        return
    other = others[-1]
    readings: list[tuple[dict[int, str], dict[str, Any]]] = []
    if not rest:
        readings.append(({other: "algorithm", run: "run"}, {}))
    else:
        (name,) = rest
        readings.append(({name: "algorithm", other: "task", run: "run"}, {}))
        if other in numbers:
            readings.append(({name: "name", other: "number", run: "run"}, {"algorithm": ["name", "number"]}))
            readings.append(({name: "task", other: "algorithm", run: "run"}, {}))
        elif not levels[other][0].startswith("checkpoint"):
            readings.append(({name: "algorithm", other: "folder", run: "run"}, {"run": ["folder", "run"]}))
    what = f"two levels of folders are whole numbers, such as {levels[other][0]!r}"
    if other not in numbers:
        what = f"folders such as {levels[other][0]!r} tell runs apart too, and are no algorithm"
    raise _question_of_levels(levels, readings, f"{root}: {what}", root)


def _ask_of_order(levels: Sequence[Sequence[str]], kept: Sequence[int], run: int, root: str) -> None:
    """Ask which of two levels of names is the task, where each label of one is with each label of the other."""
    if len(kept) != 3 or run not in kept[1:]:
        return
    above, below = (index for index in kept if index != run)
    parts = pd.DataFrame({index: levels[index] for index in (above, below)})
    if _is_same(levels[above]) or _is_same(levels[below]) or not _is_crossed(parts):
        return
    if any(_are_environments(level) or of_place(level) for level in (levels[above], levels[below])):
        return
    orders = ({above: first, run: "run", below: last} for first, last in (_NAMES[:2], _NAMES[1::-1]))
    one, other = ({index: of_level[index] for index in sorted(of_level)} for of_level in orders)
    what = f"folders do not say whether {levels[above][0]!r} or {levels[below][0]!r} is the algorithm or the task"
    raise _question_of_levels(levels, [(one, {}), (other, {})], f"{root}: {what}", root)


def _question_of_levels(
    levels: Sequence[Sequence[str]],
    readings: Sequence[tuple[dict[int, str], dict[str, Any]]],
    question: str,
    root: str,
) -> Doubtful:
    """Return the question what levels are, with the readings in which several algorithms are compared, if there are."""
    several, choices = list[bool](), list[Choice]()
    for of_level, columns in readings:
        labels = pd.DataFrame({name: levels[index] for index, name in of_level.items()})
        known: dict[str, Any] = {"algorithm": ["algorithm"], "run": ["run"]} | columns
        known["tasks"] = [name for name in labels if name not in columns_in(known)]
        several.append(len(labels[known["algorithm"]].drop_duplicates()) > 1)
        choices.append(Choice({"folders": _named(of_level, len(levels)), **columns}, compared(labels, known)))
    fitting = [choice for choice, has_several in zip(choices, several, strict=True) if has_several]
    return of_paths(question, fitting or choices, root)


def _named(of_level: dict[int, str], n_levels: int) -> list[str]:
    """Return a name for each level of folders."""
    return [of_level.get(index, f"folder{index + 1}") for index in range(n_levels)]


def are_run_names(labels: Sequence[str]) -> bool:
    """Return whether labels are names of runs that Weights & Biases makes, all different: they say no algorithm."""
    return len(labels) > 1 and len(set(labels)) == len(labels) and all(map(_RUN_NAME.fullmatch, labels))


def _ask_of_parts(labels: pd.DataFrame, end: str, root: str, begin: str = "") -> None:
    """Ask which of two parts of names is the algorithm, where each label of one is with each label of the other.

    `labels` has what stands for the algorithm and the run; `end` is the pattern of names after the algorithm, `begin`
    what is before it.
    """
    names = labels["algorithm"].astype(str)
    for mark in _MARKS:
        parts = names.str.split(mark, expand=True, regex=False)
        if parts.isna().any(axis=None) or (parts == "").any(axis=None):
            continue
        varied = [place for place in range(parts.shape[1]) if len(parts[place].unique()) > 1]
        if len(varied) != 2 or not _is_crossed(parts[varied]):
            continue
        raise _question_of_parts(parts, varied, mark, labels, (begin, end), root)


def _is_crossed(parts: pd.DataFrame) -> bool:
    """Return whether each label of one column is with each of the other."""
    one, other = (parts[place].nunique() for place in parts)
    return len(parts.drop_duplicates()) == one * other


def _question_of_parts(
    parts: pd.DataFrame,
    varied: Sequence[int],
    mark: str,
    labels: pd.DataFrame,
    ends: tuple[str, str],
    root: str,
) -> Doubtful:
    """Return the question which part is the algorithm, with each reading."""
    first, second = varied
    begin, end = ends
    n_runs = labels.groupby("algorithm")["run"].nunique()
    runs = runs_each(int(n_runs.min()), int(n_runs.max()))
    orders = [(first, second), (second, first)]
    if _are_environments(parts[first].tolist()):
        orders.reverse()
    choices = []
    for algorithm, task in orders:
        named = [str(parts[place].iloc[0]) for place in parts]
        named[algorithm], named[task] = _ALGORITHM, _TASK
        n_algorithms, n_tasks = parts[algorithm].nunique(), parts[task].nunique()
        compares = f"{how_many(n_algorithms, 'algorithm')}, {how_many(n_tasks, 'task')}, {runs}"
        choices.append(Choice({"names": begin + mark.join(named) + end}, compares))
    compares = f"{how_many(labels['algorithm'].nunique(), 'algorithm')}, one task, {runs}"
    choices.append(Choice({"names": begin + _ALGORITHM + end}, compares))
    one, other = (repr(str(parts[place].iloc[0])) for place in varied)
    return of_paths(f"{root}: names do not say whether {one} or {other} is the algorithm or the task", choices, root)
