"""What can be read, as a table for the shell and for the docs; and the sources that are nearest to a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from xcurves.core.labels import nearest
from xcurves.core.refusal import Cure, Refusal, Text, Verbatim, Words, give, of_path
from xcurves.readers.formats import could_be_log, looks_like
from xcurves.readers.source import Source

LISTED = Words("help(xcurves.readers.read)", "python -m xcurves sources")  # what lists all sources
_NEAREST = 3
_TRIED = 5  # files


def command_of(source: Source) -> str:
    """Return the command that reads logs of a source."""
    if source.example:
        return f"xcurves {source.example}"
    if source.single:
        return "xcurves FILE"
    return "xcurves FOLDER"


def as_text(sources: Sequence[Source]) -> str:
    """Return a table of sources for the shell: name, what it is, which files, and the command."""
    rows = [(each.name, f"{each.what}: {each.logs}", command_of(each)) for each in sources]
    width = max(len(name) for name, *_ in rows)
    return "\n".join(f"{name:<{width}}  {what}\n{'':<{width}}  {command}" for name, what, command in rows)


def as_json(sources: Sequence[Source]) -> str:
    """Return the same table as one JSON object."""
    rows = [{"name": each.name, "what": each.what, "files": each.logs, "command": command_of(each)} for each in sources]
    return json.dumps({"schema": "xcurves-answer/1", "sources": rows})


def as_html(sources: Sequence[Source]) -> str:
    """Return the same table for the docs."""
    rows = "".join(
        f"<tr><td><code>{each.name}</code></td><td>{escape(each.what)}</td><td>{escape(each.logs)}</td>"
        f"<td><code>{command_of(each)}</code></td></tr>"
        for each in sources
    )
    head = "".join(f"<th>{name}</th>" for name in ("source", "what", "files", "command"))
    return f'<table class="docutils"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def unknown(source: str, known: Iterable[str]) -> Refusal:
    """Return that no source has a name, and the nearest names."""
    rule = Text("must be one that ", LISTED, " lists, such as 'table'")
    return Refusal("source", str(source)[:60], rule, nearest(source, known))


def read_by_itself(path: str | Path, found: Sequence[tuple[Path, Source]]) -> Refusal:
    """Return that a folder has files of a source that are read one at a time, with the first of them."""
    (file, source), *_ = found
    n_files = len({each for each, _ in found})
    what = f"{file.name[:40]!r} ({source.what}), which is read as a file and not in a folder"
    if n_files > 1:
        what = f"{n_files} files, such as {file.name[:40]!r} ({source.what}), that are read one at a time"
    reason = Text(of_path(path), f" holds {what}")
    return Refusal("path", str(path), reason, f"Name the file: {file}")


def nothing_found(path: str | Path, files: Sequence[Path], sources: Sequence[Source]) -> Refusal:
    """Return that nothing is recognised, what a file looks like, and the nearest sources, in at most 300 characters."""
    endings = Counter(file.suffix or file.name for file in files)
    has = ", ".join(f"{count} {ending[:12]}" for ending, count in endings.most_common(3)) or "no files"
    is_file = Path(path).is_file()
    reason = of_path(path)
    found = f" holds nothing that is recognised ({has})"
    if is_file:
        found = " is nothing that is recognised"
    cure = Cure("All that can be read: ", LISTED)

    offline = next((file for file in files if file.suffix == ".wandb"), None)
    if offline is not None:
        found = f" holds runs that Weights & Biases keeps offline ({offline.name[:40]}), which are not read"
        cure = Cure(
            "Send them, wandb sync wandb/offline-run-*, and export a chart of all as CSV",
            Words(", or read their histories: readers.wandb.run_history", ""),
        )
        return Refusal("path", str(path), Text(reason, found), cure)

    looks = [(file, looks_like(file)) for file in [*filter(could_be_log, files), *files][:_TRIED]]
    if looks:
        file, look = next((each for each in looks if each[1].format), looks[0])
        near = _nearest(look.format, sources)
        called = file.name[:40]
        if is_file:
            called = "It"
        nearest = ", ".join(repr(each.name) for each in near)
        found += f". {called} looks like {look.said}"
        asked = give(source=Verbatim(""))
        cure = Cure(f"Nearest: {nearest}, as ", asked, ". ", *cure)
    return Refusal("path", str(path), Text(reason, found), cure)


def _nearest(content: str, sources: Sequence[Source]) -> list[Source]:
    """Return three sources of files with such content, the last of no package where there is one."""
    known = [each for each in sources if content in each.formats and not (each.beside or each.header or each.line)]
    general = [each for each in sources if each.general and (content in each.formats or not known)]
    of_packages = [each for each in known if not each.general]
    n_general = min(len(general), max(1, _NEAREST - len(of_packages)))
    return [*of_packages[: _NEAREST - n_general], *general[:n_general]]
