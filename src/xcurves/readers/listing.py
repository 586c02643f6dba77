"""What can be read, as a table for the shell and for the docs; and the sources that are nearest to a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from xcurves.readers.logs import Source

_NEAREST = 3


def command_of(source: Source) -> str:
    """Return the command that reads logs of a source."""
    return f"xcurves {source.example or ('FILE' if source.single else 'FOLDER')}"


def as_text(sources: Sequence[Source]) -> str:
    """Return a table of sources for the shell: name, what it is, which files, and the command."""
    rows = [(each.name, f"{each.what}: {each.logs}", command_of(each)) for each in sources]
    width = max(len(name) for name, *_ in rows)
    return "\n".join(f"{name:<{width}}  {what}\n{'':<{width}}  {command}" for name, what, command in rows)


def as_markdown(sources: Sequence[Source]) -> str:
    """Return the same table for the docs."""
    lines = [
        f"| `{each.name}` | {each.what} | {each.logs} | `{command_of(each)}` |".replace("*", r"\*") for each in sources
    ]
    return "\n".join(["| source | what | files | command |", "|---|---|---|---|", *lines])


def say_nothing_found(path: str | Path, files: Sequence[Path], sources: Sequence[Source]) -> str:
    """Return that nothing is recognised, what there is, and the nearest sources, in at most 300 characters."""
    endings = Counter(file.suffix or file.name for file in files)
    has = ", ".join(f"{count} {ending[:12]}" for ending, count in endings.most_common(3)) or "no files"
    near = ", ".join(repr(each.name) for each in _nearest(files, sources))
    what = "is nothing that is recognised" if Path(path).is_file() else f"holds nothing that is recognised ({has})"
    cures = f"Nearest: {near}, as source=. A log needs a step or a score in each row or line"
    return f"path {str(path)!r} {what}. {cures}; all that can be read: python -m xcurves sources"


def _nearest(files: Sequence[Path], sources: Sequence[Source]) -> list[Source]:
    """Return the sources whose files end like these; otherwise those of any table."""
    endings = {file.suffix for file in files if file.suffix}
    near = [each for each in sources if any(ending in each.logs for ending in endings)]
    general = [each for each in sources if each.name in ("rows", "table", "text")]
    return [*near, *(each for each in general if each not in near)][:_NEAREST]
