"""What can be read in several ways: a question with each reading that fits, which Python and the shell ask alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xcurves.core.refusal import UNSAID, Cure, Proposal, Refusal, Text, Words, call, escape_controls, give

MOST = 4  # readings that a question lists


@dataclass(frozen=True)
class Choice:
    """A reading that fits: the arguments that settle it, and what is compared then."""

    columns: Mapping[str, Any]
    compares: str


class Doubtful(Refusal):
    """Input that can be read in several ways: the cure has a call for each, which the message writes one a line.

    Attributes
    ----------
    choices : list of Proposal
        The readings that fit.
    """

    @property
    def choices(self) -> list[Proposal]:
        """The readings that fit."""
        return [piece for piece in self.cure if isinstance(piece, Proposal)]

    def __str__(self) -> str:
        lines = [escape_controls(str(each)) for each in self.choices]
        which = ", if this is right"
        if len(lines) > 1:
            which = " the one that is right"
        return "\n".join([f"{escape_controls(self.problem)}. {Words('Call', 'Type')}{which}:", *lines])


def asked(argument: str, question: Text | str, proposals: Sequence[Proposal]) -> Doubtful:
    """Return the error that asks which of several readings is right."""
    return Doubtful(argument, UNSAID, question, Cure(*proposals))


def of_paths(question: str, choices: Sequence[Choice], root: str) -> Doubtful:
    """Return the error that asks what paths below a root are, with the call that reads them for each reading."""
    proposals = []
    for choice in choices:
        options = dict(choice.columns)
        how = {name: _plain(options.pop(name)) for name in ("folders", "names") if name in options}
        read = call("xcurves.readers.read", root, **how).then(call(".curves.to_dataarray", **options))
        proposals.append(Proposal(read, give(**choice.columns), choice.compares))
    return asked("path", question, proposals)


def _plain(value: Any) -> Any:
    """Return several levels as a tuple, a pattern as it is."""
    return value if isinstance(value, str) else tuple(value)


def how_many(number: int, noun: str) -> str:
    """Return a number of things in words: "one task", "3 tasks"."""
    if number == 1:
        return f"one {noun}"
    return f"{number:,} {noun}s"


def runs_each(least: int, most: int) -> str:
    """Return how many runs each group has, in words."""
    if least == most == 1:
        return "one run each"
    if least == most:
        return f"{least:,} runs each"
    return f"{least:,} to {most:,} runs each"
