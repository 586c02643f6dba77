"""Copies of logs, by their paths and their bytes: what an archive or a desktop copied is read once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from xcurves.readers.open_files import read_bytes

_WORDS = r"(?:copy|copies|backups?|bak|old|orig|original)"
# "run1 (copy)", "run1 (2)", "run1 - Copy", "run1_backup2", and folders that hold copies
_MARK = re.compile(rf"[ ._-]*\((?:{_WORDS}[ _-]?)?\d*\)|[ ._-]+{_WORDS}(?:[ ._-]?\d{{1,8}})*", re.IGNORECASE)
_ENDS_IN_MARK = re.compile(rf"(?P<name>.+?)(?:{_MARK.pattern})+(?P<suffix>(?:\.\w+)*)", re.IGNORECASE)
_HOLDS_COPIES = re.compile(rf"{_WORDS}(?:[ ._-]?\d{{1,8}})*", re.IGNORECASE)
_LONGEST = 200  # letters of a name that may be that of a copy


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
