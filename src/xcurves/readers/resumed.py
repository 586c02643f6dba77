"""Logs of runs that were resumed: files and folders beside those of the run, called like them: progress_resumed.csv."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from xcurves.core.names import NUMBERED, RUN_LABEL

_LATER = re.compile(r"(?P<name>.+?)[ ._-]+(?:resumed?|restarted?|continued?)(?:[ ._-]?\d{1,4})?", re.IGNORECASE)
_LONGEST = 200  # letters of a name


def first_of(name: str) -> str:
    """Return the name of the folder or file that another one goes on with, by its name; else its own."""
    match = _LATER.fullmatch(name[:_LONGEST])
    return match["name"] if match else name


def run_goes_on(name: str, others: Collection[str]) -> bool:
    """Return whether a folder or file goes on with a run that one of the others is called like."""
    first = first_of(name)
    is_run = RUN_LABEL.fullmatch(first) or NUMBERED.fullmatch(first)
    return first != name and first in others and is_run is not None


def in_order(files: Sequence[Path]) -> list[Path]:
    """Return the logs of a run, those that go on with others after them."""
    return sorted(files, key=lambda file: sum(map(len, _parts(file))) if is_later(file) else 0)


def is_later(file: Path) -> bool:
    """Return whether a log is called like one that goes on with another."""
    return _first(file) != _parts(file)


def one_after_another(tables: Sequence[pd.DataFrame], files: Sequence[Path]) -> tuple[list[pd.DataFrame], list[Path]]:
    """Return the rows of logs that go on with others below theirs, and the first log of each."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, file in enumerate(files):
        groups.setdefault(_first(file), []).append(place)
    joined, firsts = list[pd.DataFrame](), list[Path]()
    for first, *later in groups.values():
        firsts.append(files[first])
        rows = tables[first]
        if later:
            attrs = rows.attrs
            rows = pd.concat([rows, *(tables[place] for place in later)], ignore_index=True)
            rows.attrs = attrs
        joined.append(rows)
    return joined, firsts


def _parts(file: Path) -> tuple[str, str]:
    return file.parent.name, file.name.removesuffix("".join(file.suffixes))


def _first(file: Path) -> tuple[str, str]:
    folder, stem = _parts(file)
    return first_of(folder), first_of(stem)
