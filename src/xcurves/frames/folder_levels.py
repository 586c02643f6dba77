"""What levels of folders are: the run, the algorithm, the task; asked where they can be read in several ways."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core.doubts import MOST, Choice, Doubtful, of_paths
from xcurves.core.names import ENVIRONMENT, FOLD, KNOWN_ENVIRONMENT, NUMBERED, RUN_LABEL, numbered_runs
from xcurves.frames.path_levels import Paths
from xcurves.frames.reading import columns_in, compared
from xcurves.say.numbers import listed

_NAMES = ("task", "algorithm", "run")
_WHOLE = re.compile(r"\d+")
_HASH = r"(?=.*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*"
_RUN_NAME = re.compile(r"[a-z]+-[a-z]+-\d+", re.IGNORECASE)  # that Weights & Biases makes: dashing-sunset-12
# Names of folders that are no algorithm's.
_OF_PLACE = re.compile(
    r"logs?|runs?|outputs?|multirun|results?|version_\d+|checkpoint-\d+|"
    r"train|training|eval|evaluation|test|val|valid|validation|dev|"
    r"\d{4}-?\d{2}-?\d{2}.*|\d{2}[-:_]\d{2}[-:_]\d{2}|[A-Z][a-z]{2}\d{2}_\d{2}-\d{2}-\d{2}.*|"
    rf"(?:slurm|jobid|job|pid)[-_]?\d+|{_HASH}",
    re.IGNORECASE,
)
_MARKS = ("__", "_", "-", ".")  # between parts of names, the longest first
_ALGORITHM, _TASK = "{algorithm}", "{task}"


class Levels(NamedTuple):
    """Labels of runs that folders give.

    Attributes
    ----------
    labels : DataFrame
        A row for each run.
    said : str
        How they were found.
    names_algorithms : bool
        Whether the level of algorithms has labels that can be theirs.
    """

    labels: pd.DataFrame
    said: str
    names_algorithms: bool


def labels_of(paths: Paths, *, asks_of_parts: bool = True, has_places: bool = True) -> Levels | None:
    """Return the labels that folders give to runs; None if they give none.

    `asks_of_parts`: names that cross two parts are asked about, which one is the task; no, where algorithms are known.
    `has_places`: folders of dates or hashes may tell runs apart; no, where a configuration says who each run is.
    """
    levels = paths.levels
    kept = _telling(levels, _kept(levels, paths.fold), has_places=has_places)
    of_names = None
    if len(kept) == 1:
        of_names = _of_names(paths, kept[0], asks_of_parts=asks_of_parts)
    elif kept:
        of_names = _of_last_level(paths, kept, asks_of_parts=asks_of_parts)
    if len(kept) < 2 or of_names is not None:
        return of_names
    run = _level_of_runs(levels, kept, is_needed="run" not in paths.said)
    kept = [index for index in kept if index == run or not _says_nothing(levels, index, kept)]
    _ask_of_others(paths, kept, run)
    # version_0 below the seeds says nothing
    others = [index for index in kept if index != run and not (_is_number(levels[index]) and _is_same(levels[index]))]
    _ask_of_order(paths, others, run)
    names = [name for name in _NAMES[:2] if name not in paths.said]
    if not 0 < len(others) <= len(names) or of_place(levels[others[-1]]):
        return None
    of_level = dict(zip(others, names[-len(others) :], strict=True))
    if len(of_level) == 2 and _are_environments(levels[others[1]]) and not _are_environments(levels[others[0]]):
        of_level = {others[0]: "algorithm", others[1]: "task"}
    if run is not None:
        of_level[run] = "run"
    found = _levels(paths, of_level)
    if asks_of_parts and len(others) == 1 and "algorithm" in found.labels:
        return _with_tasks(paths, others[0], of_level, found)
    return found


def _levels(paths: Paths, of_level: Mapping[int, str]) -> Levels:
    """Return the labels of some levels, which are named by dims, and of folds."""
    named = {name: index for index, name in of_level.items()}
    if paths.fold is not None:
        named[FOLD] = paths.fold
    dims = [name for name in (*_NAMES, FOLD) if name in named]
    labels = pd.DataFrame({name: paths.levels[named[name]] for name in dims})
    every = [name for name in paths.named(of_level) if name in dims]
    said = f"levels of the path are {', '.join(every)}"
    if len(every) == 1:
        said = f"names of the path are {every[0]}s"
    return Levels(labels, said, _can_be_algorithms(labels, paths.said))


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
    return all(map(ENVIRONMENT.fullmatch, level))


def _level_of_runs(levels: Sequence[Sequence[str]], kept: Sequence[int], *, is_needed: bool) -> int | None:
    """Return the level of runs: the last of their names or of numbers that vary, else the last of dates or hashes.

    If there is none, it is the last level, where one `is_needed`.
    """
    kinds = [are_run_names, lambda level: _is_number(level) and not _is_same(level), _tells_runs]
    if is_needed:
        kinds.append(_is_number)
    for is_kind in kinds:
        found = [index for index in kept if is_kind(levels[index])]
        if found:
            return found[-1]
    return kept[-1] if is_needed else None


def _tells_runs(level: Sequence[str]) -> bool:
    """Return whether a level of dates, times or hashes has several labels."""
    return of_place(level) and not _is_same(level)


def _telling(levels: Sequence[Sequence[str]], kept: Sequence[int], *, has_places: bool) -> list[int]:
    """Return levels without those of dates or hashes that say nothing: runs are known, or names have their numbers."""
    placed = [index for index in kept if of_place(levels[index]) and not _is_same(levels[index])]
    rest = [index for index in kept if index not in placed]
    if placed and rest and (not has_places or (len(rest) == 1 and numbered_runs(levels[rest[0]]) is not None)):
        return rest
    return list(kept)


def _kept(levels: Sequence[Sequence[str]], fold: int | None) -> list[int]:
    """Return the levels that tell runs apart, with the task if there is one only, without that of folds."""
    kept = [index for index in range(len(levels)) if index != fold]
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


def _of_names(paths: Paths, index: int, *, asks_of_parts: bool) -> Levels | None:
    """Return the labels of the names of a level: an algorithm and a number, or what rows do not say."""
    names = paths.levels[index]
    if "algorithm" in paths.said:
        is_run = _is_number(names)
        dim = "run" if is_run else "task"
        return None if dim in paths.said else _levels(paths, {index: dim})
    labels = _of_each(numbered_runs, names)
    # Names that have a word of their own each, as those that Weights & Biases makes, name runs and no algorithm.
    if labels is None or len(labels.drop_duplicates()) == labels["algorithm"].nunique():
        if _is_number(names) or _is_same(names) or of_place(names) or are_run_names(names):
            return None
        found = _levels(paths, {index: "algorithm"})
        if asks_of_parts:  # how many runs an algorithm has may be said by rows
            several = paths._replace(said=paths.said | {"run"})
            found = _with_tasks(several, index, {index: "algorithm"}, found)
        return found if "run" in paths.said else None
    parts = zip(names, labels["algorithm"], labels["run"], strict=True)
    if paths.fold is not None:
        labels[FOLD] = paths.levels[paths.fold]
    marks = sorted({name[len(algorithm) : -len(run)] for name, algorithm, run in parts})
    found = Levels(labels, f"names are {listed(list(labels))}", _can_be_algorithms(labels, paths.said))
    if asks_of_parts and len(marks) == 1:
        return _with_tasks(paths, index, {index: f"{_ALGORITHM}{marks[0]}{{run}}"}, found)
    return found


def _of_last_level(paths: Paths, kept: Sequence[int], *, asks_of_parts: bool) -> Levels | None:
    """Return the labels of names of algorithm and run below folders that all share; ask about those below others."""
    levels, last = paths.levels, kept[-1]
    varied = [index for index in kept[:-1] if not _is_same(levels[index])]
    labels = _of_each(_split if varied else numbered_runs, levels[last])
    if labels is None or _is_number(levels[last]) or not _can_be_algorithms(labels, paths.said):
        return None
    if not varied:
        return _of_names(paths, last, asks_of_parts=asks_of_parts)
    parts = pd.DataFrame({0: levels[varied[-1]], 1: labels["algorithm"]})
    if len(varied) > 1 or of_place(levels[varied[0]]) or not _is_crossed(parts):
        return None
    raise _question_of_names(paths, varied[0], last, labels)


def _of_each(
    labels_of_names: Callable[[Sequence[str]], pd.DataFrame | None], names: Sequence[str]
) -> pd.DataFrame | None:
    """Return the labels of names of which some are the same, a row each."""
    each = list(dict.fromkeys(names))
    labels = labels_of_names(each)
    return None if labels is None else labels.set_index(pd.Index(each)).loc[list(names)].reset_index(drop=True)


def _split(names: Sequence[str]) -> pd.DataFrame | None:
    """Return the algorithm and the run of each name, as each algorithm has the same runs."""
    parts = [NUMBERED.fullmatch(name) for name in names]
    if not all(parts):
        return None
    labels = pd.DataFrame([part.groupdict() for part in parts if part])
    return labels if _is_crossed(labels) else None


def _question_of_names(paths: Paths, above: int, below: int, labels: pd.DataFrame) -> Doubtful:
    """Return the question what names with a number are below folders: algorithms, tasks, or runs of the folder."""
    folder, name = paths.levels[above][0], paths.levels[below][0]
    mark = name[len(labels["algorithm"].iloc[0]) : -len(labels["run"].iloc[0])]
    every = labels.assign(folder=paths.levels[above])
    orders = [("{task}", _ALGORITHM), (_ALGORITHM, "{task}")]
    if _are_environments(labels["algorithm"].tolist()):
        orders.reverse()
    choices = []
    for upper, lower in orders:
        named = every.set_axis([lower[1:-1], "run", upper[1:-1]], axis=1)
        choices += paths.choices({above: upper, below: f"{lower}{mark}{{run}}"}, _compared(paths, named))
    what = f"folders do not say whether {folder!r} or {labels['algorithm'].iloc[0]!r} is the algorithm or the task"
    return of_paths(f"{paths.root}: {what}", choices[:MOST], paths.root)


def _can_be_algorithms(labels: pd.DataFrame, said: Collection[str]) -> bool:
    """Return whether labels can be those of algorithms: two or more, each of several runs or tasks, and of no place."""
    if "algorithm" not in labels:
        return False
    counts = labels["algorithm"].value_counts()
    are_several = "run" in said or bool((counts > 1).all())
    return len(counts) > 1 and are_several and not of_place(list(map(str, counts.index)))


def _ask_of_others(paths: Paths, kept: Sequence[int], run: int | None) -> None:
    """Ask what a further level is that varies and is of whole numbers, or of dates, hashes or checkpoints."""
    levels = paths.levels
    varied = [index for index in kept if index != run and not _is_same(levels[index])]
    numbers = [index for index in varied if all(map(_WHOLE.fullmatch, levels[index]))]
    others = [*numbers, *(index for index in varied if of_place(levels[index]))]
    rest = [index for index in kept if index != run and index not in others and not _is_number(levels[index])]
    if run is None or not others or len(rest) > 1 or (not rest and not numbers):
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
    raise _question_of_levels(paths, readings, what)


def _ask_of_order(paths: Paths, others: Sequence[int], run: int | None) -> None:
    """Ask which of two levels of names is the task, where each label of one is with each label of the other.

    Names below others that tell runs apart alone may be runs too.
    """
    levels = paths.levels
    names_run = run is not None and not (_is_number(levels[run]) or of_place(levels[run]) or are_run_names(levels[run]))
    two = [*others, run] if run is not None and names_run and len(others) == 1 else list(others)
    if len(two) != 2 or "algorithm" in paths.said:
        return
    above, below = two
    parts = pd.DataFrame({index: levels[index] for index in (above, below)})
    if _is_same(levels[above]) or _is_same(levels[below]) or not _is_crossed(parts):
        return
    if any(_are_environments(level) or of_place(level) for level in (levels[above], levels[below])):
        return
    readings = [{above: first, below: last} for first, last in (_NAMES[:2], _NAMES[1::-1])]
    if below == run:
        readings.append({above: "algorithm", below: "run"})
    elif run is not None:
        readings = [{**each, run: "run"} for each in readings]
    what = f"folders do not say whether {levels[above][0]!r} or {levels[below][0]!r} is the algorithm or the task"
    raise _question_of_levels(paths, [(dict(sorted(each.items())), {}) for each in readings], what)


def _question_of_levels(
    paths: Paths, readings: Sequence[tuple[dict[int, str], dict[str, Any]]], question: str
) -> Doubtful:
    """Return the question what levels are, with the readings in which several algorithms are compared, if there are."""
    fitting, choices = list[Choice](), list[Choice]()
    for of_level, columns in readings:
        every = of_level if paths.fold is None else {**of_level, paths.fold: FOLD}
        labels = pd.DataFrame({name: paths.levels[index] for index, name in every.items()})
        made = paths.choices(of_level, _compared(paths, labels, **columns), **columns)
        choices += made
        if len(labels[columns.get("algorithm", ["algorithm"])].drop_duplicates()) > 1:
            fitting += made
    return of_paths(f"{paths.root}: {question}", (fitting or choices)[:MOST], paths.root)


def _compared(paths: Paths, labels: pd.DataFrame, **columns: Any) -> str:
    """Return what labels of runs compare; runs that rows tell apart are not counted."""
    runs = [name for name in ("run", FOLD) if name in labels]
    known: dict[str, Any] = {"algorithm": ["algorithm"], "run": runs} | columns
    known["tasks"] = [name for name in labels if name not in columns_in(known)]
    words = compared(labels, known)
    return words if known["run"] or "run" not in paths.said else words.removesuffix(", one run each")


def are_run_names(labels: Sequence[str]) -> bool:
    """Return whether labels are names of runs that Weights & Biases makes, all different: they say no algorithm."""
    return len(labels) > 1 and len(set(labels)) == len(labels) and all(map(_RUN_NAME.fullmatch, labels))


def _with_tasks(paths: Paths, index: int, of_level: Mapping[int, str], found: Levels) -> Levels:
    """Return levels with the tasks that names of algorithms have in them, if each algorithm is with each task.

    Environments of Gymnasium are tasks; which of two other parts is, is asked. `of_level` says what levels are; that
    of `index` is the algorithm, or a pattern of algorithm and run.
    """
    labels = found.labels
    names = labels["algorithm"].astype(str)
    for mark in _MARKS:
        parts = names.str.split(mark, expand=True, regex=False)
        if parts.isna().any(axis=None) or (parts == "").any(axis=None):
            continue
        varied = [place for place in range(parts.shape[1]) if len(parts[place].unique()) > 1]
        if len(varied) != 2 or not _is_crossed(parts[varied]):
            continue
        rest = [place for place in varied if not all(map(KNOWN_ENVIRONMENT.fullmatch, parts[place]))]
        if len(rest) != 1 or "task" in labels:
            raise _question_of_parts(paths, index, of_level, labels, parts, varied, mark)
        (task,) = set(varied) - set(rest)
        labels = labels.assign(task=parts[task], algorithm=parts[rest[0]])
        dims = [name for name in (*_NAMES, FOLD) if name in labels]
        return Levels(labels[dims], f"names are {listed(dims)}", _can_be_algorithms(labels, paths.said))
    return found


def _is_crossed(parts: pd.DataFrame) -> bool:
    """Return whether each label of one column is with each of the other."""
    one, other = (parts[place].nunique() for place in parts)
    return len(parts.drop_duplicates()) == one * other


def _question_of_parts(
    paths: Paths,
    index: int,
    of_level: Mapping[int, str],
    labels: pd.DataFrame,
    parts: pd.DataFrame,
    varied: Sequence[int],
    mark: str,
) -> Doubtful:
    """Return the question which part is the algorithm, with each reading."""
    pattern = of_level[index] if "{" in of_level[index] else _ALGORITHM
    orders = [tuple(varied), tuple(varied[::-1])]
    if _are_environments(parts[varied[0]].tolist()):
        orders.reverse()
    choices = []
    for algorithm, task in orders:
        named = [str(parts[place].iloc[0]) for place in parts]
        named[algorithm], named[task] = _ALGORITHM, _TASK
        cut = labels.assign(algorithm=parts[algorithm], task=parts[task])
        text = pattern.replace(_ALGORITHM, mark.join(named))
        choices += paths.choices({**of_level, index: text}, _compared(paths, cut))
    choices += paths.choices({**of_level, index: pattern}, _compared(paths, labels))
    one, other = (repr(str(parts[place].iloc[0])) for place in varied)
    what = f"names do not say whether {one} or {other} is the algorithm or the task"
    return of_paths(f"{paths.root}: {what}", choices[:MOST], paths.root)
