"""What is refused, as data: the argument, the value received, the reason, and the cure, written for each audience."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from numbers import Number
from pathlib import Path
from typing import Any, NamedTuple, Self

_UNSHOWN = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ufffe\\uffff\\ud800-\\udfff]")
_LONGEST = 120  # letters of a value in a message
_MOST = 100  # elements of a value that is kept


def shown(value: object) -> str:
    """Return what was given as messages write it, in one short line."""
    line = " ".join(repr(value).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def escape_controls(words: str) -> str:
    """Return words with control characters, changes of direction and lone surrogates written as escapes."""
    return _UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode(), words)


class Verbatim(str):
    """A text that messages write as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


UNSAID = Verbatim("")  # the value of a refusal whose reason says what was received
# What a method is given beside its options; a reason names it itself.
DATA = frozenset(
    [
        "curves",
        "data",
        "dims",
        "frame",
        "path",
        "result",
        "scores",
        "times",
        "trials",
    ]
)


@dataclass(frozen=True)
class Call:
    """A call that cures, or, without a name, arguments of the call that was refused."""

    name: str = ""  # as it is written before the parentheses: ".curves.align"
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    next: Call | None = None  # that follows on what this one returns

    def then(self, following: Call) -> Call:
        """Return this call, followed by another one on what it returns."""
        if self.next is not None:
            following = self.next.then(following)
        return replace(self, next=following)

    def __str__(self) -> str:
        return _audience.get().call(self)


def call(name: str, *arguments: Any, **options: Any) -> Call:
    """Return a call, such as ``call(".curves.align", 20)``."""
    return Call(name, arguments, tuple(options.items()))


def give(**options: Any) -> Call:
    """Return arguments of the call that was refused, such as ``give(n_resamples=999)``."""
    return Call(options=tuple(options.items()))


class Words(NamedTuple):
    """Words about code, and those for readers who write none: PATH in these is the path that they typed."""

    python: str
    shell: str

    def __str__(self) -> str:
        return _audience.get().words(self)


def of_path(path: Path | str) -> Words:
    """Return a path as messages begin with it; who types it in a shell knows that it is one."""
    return Words(f"path {str(path)!r}", str(path))


class Proposal(NamedTuple):
    """A call that settles a question, the arguments that do so, and what is compared then."""

    call: Call
    settles: Call
    compares: str

    def __str__(self) -> str:
        return f"{_audience.get().proposal(self)}  # {self.compares}"


Piece = str | Call | Words | Proposal


class Text(tuple[Piece, ...]):
    """Words with calls between them."""

    __slots__ = ()

    def __new__(cls, *pieces: Piece) -> Self:
        """Take the pieces in their order."""
        return super().__new__(cls, pieces)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    @property
    def calls(self) -> list[Call]:
        """The calls in these words."""
        calls = [piece.call if isinstance(piece, Proposal) else piece for piece in self]
        return [call for call in calls if isinstance(call, Call)]

    def __str__(self) -> str:
        return "".join(map(str, self))


class Cure(Text):
    """What to do instead."""

    __slots__ = ()


class Choices(Cure):
    """What to do instead, where one of several calls is right: each stands behind the words that say when."""

    __slots__ = ()


class Audience:
    """How readers of Python read arguments and calls; the shell has its own."""

    def argument(self, name: str, value: object = UNSAID) -> str:
        """Return an argument, with its value where that is said."""
        if _is_unsaid(value):
            return name
        return f"{name}={shown(value)}"

    def call(self, call: Call) -> str:
        """Return a call, or arguments of one."""
        written = [_literal(each) for each in call.arguments]
        written += [f"{name}={_literal(value)}" for name, value in call.options]
        text = ", ".join(written)
        if call.name:
            text = f"{call.name}({text})"
        if call.next is not None:
            text += self.call(call.next)
        return text

    def words(self, words: Words) -> str:
        """Return words of which there are two kinds."""
        return words.python

    def proposal(self, proposal: Proposal) -> str:
        """Return how a question is settled, in whole."""
        return self.call(proposal.call)


PYTHON = Audience()
_audience: ContextVar[Audience] = ContextVar("audience", default=PYTHON)


@contextmanager
def written_for(audience: Audience) -> Iterator[None]:
    """Write arguments and calls in messages and sentences for an audience."""
    token = _audience.set(audience)
    try:
        yield
    finally:
        _audience.reset(token)


class Refusal(ValueError):
    """What cannot be computed: of which argument, which value, why, and what to do instead.

    Parameters
    ----------
    argument : str
        The argument, "" if it is none.
    value : object
        What was received. Of a large or unusual object its description.
    reason : str or Text
        What is wrong. After "must ..." the message says what was received; other reasons of an option follow on
        its name and value, and those of data are whole sentences.
    cure : Cure or str
        What to do; `cure.calls` are the calls and arguments in it.

    Examples
    --------
    >>> import xcurves
    >>> curves = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> try:
    ...     curves.curves.pairwise(n_resamples=0)
    ... except xcurves.Refusal as refusal:
    ...     print(refusal.argument, refusal.value)
    n_resamples 0
    """

    def __init__(
        self,
        argument: str,
        value: object,
        reason: Text | str,
        cure: Cure | str = "",
    ) -> None:
        if not isinstance(cure, Cure):
            cure = Cure(cure) if cure else Cure()
        super().__init__(argument, _kept(value), reason, cure)

    @property
    def argument(self) -> str:
        """The argument that is refused, "" if it is none."""
        return str(self.args[0])

    @property
    def value(self) -> Any:
        """What was received."""
        return self.args[1]

    @property
    def reason(self) -> str:
        """What is wrong."""
        return str(self.args[2])

    @property
    def cure(self) -> Cure:
        """What to do."""
        cure: Cure = self.args[3]
        return cure

    def __str__(self) -> str:
        if self.cure:
            return escape_controls(f"{self.problem}. {self.cure}")
        return escape_controls(self.problem)

    @property
    def problem(self) -> str:
        """What the message says without the cure: the reason, with the argument and the value."""
        audience = _audience.get()
        is_rule = "must " in self.reason
        # What is wrong with a file begins with its path, and may be a rule of a parser: that message is whole.
        file = (f"{self.value} ", f"{self.value}: ")
        says_path = self.argument == "path" and self.reason.startswith(file)
        unsaid = _is_unsaid(self.value) or says_path
        written = audience.argument(self.argument)
        names_itself = (
            self.reason.startswith((self.argument, written, "--"))
            or f"{self.argument}=" in self.reason
            or (written != self.argument and f"{written} " in self.reason)
        )
        is_of_data = self.argument in DATA and not self.reason.startswith("must ")
        if names_itself or is_of_data:
            head = self.reason
        elif unsaid or is_rule:
            head = f"{written} {self.reason}"
        else:
            return f"{audience.argument(self.argument, self.value)} {self.reason}"
        if is_rule and not unsaid:
            head += f"; got {shown(self.value)}"
        return head


class WrongType(Refusal, TypeError):
    """A value of a type that an argument does not take."""


class Missing(Refusal, KeyError):
    """A name that is not there."""


def _is_unsaid(value: object) -> bool:
    return isinstance(value, Verbatim) and not value


def _literal(value: object) -> str:
    if isinstance(value, Call):
        return PYTHON.call(value)
    return repr(value)


def _kept(value: object) -> object:
    """Return a value that can be pickled: one of few plain objects as it is, of others what messages write."""
    if value is None or isinstance(value, str | bytes | Number):
        return value
    if isinstance(value, type):
        return Verbatim(value.__name__)
    if not isinstance(value, list | tuple) or len(value) > _MOST:
        return Verbatim(shown(value))
    if all(_is_plain(each) for each in value):
        return value
    return Verbatim(shown(value))


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | bytes | Number)
