"""What can be read in several ways: a question with each reading that fits, which Python and the shell ask alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FEWEST, MOST = 1, 4  # readings that a question lists


@dataclass(frozen=True)
class Choice:
    """A reading that fits: the arguments that settle it, and what is compared then."""

    columns: Mapping[str, Any]
    compares: str


class Doubtful(ValueError):
    """Input that can be read in several ways; its message has a call for each, one a line.

    Attributes
    ----------
    question : str
        What cannot be told.
    choices : sequence of Choice
        The readings that fit.
    """

    def __init__(self, question: str, choices: Sequence[Choice], calls: Sequence[str]) -> None:
        super().__init__(question, choices, calls)
        self.question, self.choices, self.calls = question, choices, calls

    def __str__(self) -> str:
        lines = [f"{call}  # {choice.compares}" for call, choice in zip(self.calls, self.choices, strict=True)]
        what = "Call, if this is right:"
        if len(lines) > 1:
            what = "Call the one that is right:"
        return "\n".join([f"{self.question}. {what}", *lines])


def counted(number: int, noun: str) -> str:
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
