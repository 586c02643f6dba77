"""Which logs are of one run: those of a folder, or a file by itself, with those that go on with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from xcurves.core.direction import looks_like_score
from xcurves.core.names import RUN_LABEL, numbered_runs
from xcurves.readers.resumed import first_of, in_order, run_goes_on
from xcurves.readers.source import Source

SUFFIX = re.compile(r"(?:\.csv\.gz|\.\w+)$", re.IGNORECASE)


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
