"""What cannot be told of a frame, as one question with all readings that fit; a shell asks it with options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xcurves.core.doubts import Choice, Doubtful, asked
from xcurves.core.known import FIND
from xcurves.core.refusal import Proposal, Text, Words, call, give
from xcurves.frames.reading import ARGUMENTS, Doubt

_MOST = 6  # columns that a message names


def unknown_words(doubt: Doubt) -> str:
    """Return what could not be told: "which column is the run (seed or rep)"."""
    if doubt.question:
        return doubt.question
    unknown = [f"the {role} ({either(columns)})" for role, columns in doubt.unknown.items()]
    return f"does not say which column is {' and '.join(unknown)}"


def either(columns: Sequence[str]) -> str:
    """Return columns joined by "or", the rest of many counted."""
    words = list(columns[:_MOST])
    if len(columns) > _MOST:
        words.append(f"{len(columns) - _MOST} more")
    return " or ".join(words)


def ask(doubt: Doubt, given: Mapping[str, Any]) -> Doubtful:
    """Return the error that asks: each reading that fits as a call, with what it compares."""
    question = Text(Words("the frame", "ARCHIVE"), f" {unknown_words(doubt)}")
    return asked("frame", question, [_proposal(given, choice) for choice in doubt.choices])


def _proposal(given: Mapping[str, Any], choice: Choice) -> Proposal:
    """Return the call that settles a doubt, with what was given before."""
    said = {role: column for role, column in given.items() if column is not FIND}
    said |= dict(choice.columns)
    options = {argument: _plain(said[role]) for role, argument in ARGUMENTS.items() if role in said}
    options |= {name: column for name, column in said.items() if name not in (*ARGUMENTS, "select")}
    rows = "frame"
    if "select" in said:
        column, _, label = said["select"].partition("=")
        rows = f"frame[frame[{column!r}] == {label!r}]"
    settles = {ARGUMENTS.get(role, role): column for role, column in choice.columns.items()}
    return Proposal(call(f"{rows}.curves.to_dataarray", **options), give(**settles), choice.compares)


def _plain(columns: Any) -> Any:
    """Return one column by itself, several as a list."""
    if isinstance(columns, str) or columns is None:
        return columns
    names = list(columns)
    if len(names) == 1:
        return names[0]
    return names
