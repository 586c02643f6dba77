"""Which logs below a folder are read, without copies and training beside evaluation, and of which run each is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from xcurves.core.direction import looks_like_score
from xcurves.core.doubts import Choice, how_many, of_paths
from xcurves.core.names import EVALUATED, RUN_LABEL, TRAINED, is_clock, is_step, numbered_runs
from xcurves.readers.log_files import first_of, header, in_order, run_goes_on
from xcurves.readers.open_files import read_bytes
from xcurves.readers.source import Source, path_pattern

SUFFIX = re.compile(r"(?:\.csv\.gz|\.\w+)$", re.IGNORECASE)
_WORDS = r"(?:copy|copies|backups?|bak|old|orig|original)"
# "run1 (copy)", "run1 (2)", "run1 - Copy", "run1_backup2", and folders that hold copies
_MARK = re.compile(rf"[ ._-]*\((?:{_WORDS}[ _-]?)?\d*\)|[ ._-]+{_WORDS}(?:[ ._-]?\d{{1,8}})*", re.IGNORECASE)
_ENDS_IN_MARK = re.compile(rf"(?P<name>.+?)(?:{_MARK.pattern})+(?P<suffix>(?:\.\w+)*)", re.IGNORECASE)
_HOLDS_COPIES = re.compile(rf"{_WORDS}(?:[ ._-]?\d{{1,8}})*", re.IGNORECASE)
_LONGEST = 200  # letters of a name that may be that of a copy


class Evaluated(NamedTuple):
    """The logs that are read, what was taken, and what is said of those that are not."""

    logs: list[Path]
    said: str = ""
    left_out: tuple[str, ...] = ()


class _Part(NamedTuple):
    """A log whose folder, or file, is called train, eval, test, ...: that word, and the path around it."""

    log: Path
    word: str
    around: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def is_evaluation(self) -> bool:
        return self.word.casefold() in EVALUATED


def evaluated(logs: Sequence[Path], root: Path) -> Evaluated:
    """Return the logs of evaluation where runs have those of training too; ask where they have several.

    Files train.csv and eval.csv without a score in common are parts of one log.
    """
    parts = [part for log in logs if (part := _part_of(log, root)) is not None]
    beside: dict[tuple[tuple[str, ...], ...], list[_Part]] = {}
    for part in parts:
        beside.setdefault(part.around, []).append(part)
    several = [those for those in beside.values() if len({part.word for part in those}) > 1]
    if not several or _are_of_one_log(several[0]):
        return Evaluated(list(logs))
    words = list(dict.fromkeys(part.word for those in several for part in those if part.is_evaluation))
    if len(words) != 1:
        _ask(several, root)
    (word,) = words
    trained = [part for part in parts if part.word.casefold() in TRAINED]
    left_out = tuple(
        f"{part.log} has no {word} beside and is left out" for part in trained if len(beside[part.around]) < 2
    )
    gone = {part.log for part in trained}
    others = ", ".join(sorted({part.word for part in trained}))
    return Evaluated(
        [log for log in logs if log not in gone],
        f"{word} is taken, {others} is not",
        left_out,
    )


def _part_of(log: Path, root: Path) -> _Part | None:
    """Return which part of the data a log is of, as the last folder or the file says that is called so."""
    *folders, file = log.relative_to(root).parts
    names = [*folders, file.partition(".")[0]]
    for place in range(len(names) - 1, -1, -1):
        if names[place].casefold() in EVALUATED | TRAINED:
            # Events of TensorBoard are in files of any name.
            after = tuple(folders[place + 1 :])
            if place < len(folders) and not file.startswith("events."):
                after += (file,)
            return _Part(log, names[place], (tuple(folders[:place]), after))
    return None


def _are_of_one_log(parts: Sequence[_Part]) -> bool:
    """Return whether files of one folder have no score in common."""
    if len({part.log.parent for part in parts}) > 1:
        return False
    names = [{name for name in header(part.log) if not (is_step(name) or is_clock(name))} for part in parts]
    return not set.intersection(*names)


def _ask(several: Sequence[Sequence[_Part]], root: Path) -> None:
    """Ask which part of the data is meant."""
    choices = []
    for word in dict.fromkeys(part.word for parts in several for part in parts):
        those = [part for parts in several for part in parts if part.word == word]
        choices.append(Choice({"names": _pattern_of(those, root)}, f"{how_many(len(those), 'log')} of {word}"))
    shown = " or ".join(part.word for part in several[0])
    raise of_paths(f"{root}: runs have logs of several data, {shown}", choices, str(root))


def _pattern_of(parts: Sequence[_Part], root: Path) -> str:
    """Return the pattern of the paths of the logs of a part of the data."""
    part = parts[0]
    *folders, file = part.log.relative_to(root).parts
    place = len(part.around[0])
    labels = _levels_of_labels(parts, root)
    home = root.joinpath(*(folders[level] for level in labels))
    *fields, _ = path_pattern(root, home / "log", home).split("/")
    for level, label in zip(labels, fields, strict=True):
        folders[level] = label
    if place == len(folders):
        folders.append(file)
    return "/".join(folders)


def _levels_of_labels(parts: Sequence[_Part], root: Path) -> list[int]:
    """Return the levels of folders that label runs: two at least, without the part of the data.

    A folder without a number in which all logs lie, such as "logs", is no label below the part of the data or as the
    last level; above, it may be the only task or algorithm.
    """
    place = len(parts[0].around[0])
    of_logs = [part.log.relative_to(root).parts[:-1] for part in parts]
    labels = [level for level in range(len(of_logs[0])) if level != place]
    for level in reversed(labels.copy()):
        names = {folders[level : level + 1] for folders in of_logs}
        is_same = len(names) == 1 and not re.search(r"\d", of_logs[0][level])
        if len(labels) > 2 and is_same and (level > place or level == labels[-1]):
            labels.remove(level)
    return labels


def without_copies(logs: Sequence[Path], root: Path) -> tuple[list[Path], list[str]]:
    """Return logs without those that are copies of others, and which those are.

    A copy is called so, by its file or a folder, lies beside what has the same path without such words, and has the
    same bytes or, copied while the log was written, the first of them.
    """
    known = {log.relative_to(root).parts: log for log in logs}
    kept, copies = list[Path](), list[str]()
    for parts, log in known.items():
        of = known.get(tuple(_without_mark(part) for part in parts if not _HOLDS_COPIES.fullmatch(part)))
        if of is None or of == log or not read_bytes(of).startswith(read_bytes(log)):
            kept.append(log)
        else:
            copies.append(f"{log} is a copy of {of} and is left out")
    return kept, copies


def _without_mark(name: str) -> str:
    """Return the name of a file or a folder without what says that it is a copy."""
    if len(name) > _LONGEST:
        return name
    match = _ENDS_IN_MARK.fullmatch(name)
    if match is None:
        return name
    return match["name"] + match["suffix"]


def by_place(root: Path, logs: Sequence[Path], source: Source) -> tuple[dict[tuple[str, ...], list[Path]], bool]:
    """Return the logs of each run by the folders that lead to it, and by its file where files name runs; if they do."""
    homes: dict[tuple[str, ...], list[Path]] = {}
    for log in logs:
        homes.setdefault(source.home_of(log).relative_to(root).parts, []).append(log)
    places = _with_what_goes_on(homes)
    if not _are_runs(places, source):
        return places, False
    by_file = {(*place, SUFFIX.sub("", log.name)): [log] for place, files in places.items() for log in files}
    return _with_what_goes_on(by_file), True


def _with_what_goes_on(places: Mapping[tuple[str, ...], list[Path]]) -> dict[tuple[str, ...], list[Path]]:
    """Return the logs of runs, with those beside them that go on where a run was stopped."""
    beside: dict[tuple[str, ...], set[str]] = {}
    for *above, name in filter(None, places):
        beside.setdefault(tuple(above), set()).add(name)
    found: dict[tuple[str, ...], list[Path]] = {}
    for place, files in places.items():
        goes_on = bool(place) and run_goes_on(place[-1], beside[place[:-1]])
        run = (*place[:-1], first_of(place[-1])) if goes_on else place
        found.setdefault(run, []).extend(files)
    return {place: in_order(files) for place, files in found.items()}


def _are_runs(places: Mapping[tuple[str, ...], Sequence[Path]], source: Source) -> bool:
    """Return whether files are runs, or algorithms, by themselves: numbers, or several of a folder that measure alike.

    Files of one folder that measure different things, such as train.csv and eval.csv, are of one run; so are those of
    a folder that is called like a run, unless its files must name the algorithms.
    """
    stems = [SUFFIX.sub("", log.name) for files in places.values() for log in files]
    several = [files for files in places.values() if len(files) > 1]
    if not source.has_own_files or any(
        len({SUFFIX.sub("", log.name) for log in files}) < len(files) for files in several
    ):
        return False
    if all(stem.isdecimal() for stem in stems):
        return True
    if not several or _name_runs(places):
        return False
    if any(map(looks_like_score, stems)):  # return.csv and loss.csv of a run have a value each
        return False
    return all(re.search(r"\d", stem) for stem in stems) or source.measure_alike(several[0][:2])


def _name_runs(places: Iterable[tuple[str, ...]]) -> bool:
    """Return whether folders name runs, below others or with an algorithm."""
    found = list(filter(None, places))
    if not found or all(RUN_LABEL.fullmatch(name) for place in found for name in place):
        return False
    last = [place[-1] for place in found]
    return numbered_runs(last) is not None or all(map(RUN_LABEL.fullmatch, last))
