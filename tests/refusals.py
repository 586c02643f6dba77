"""What is refused, as tests check it: argument, value and cure, not the words of the message."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from xcurves import Refusal
from xcurves.core.refusal import Call, Verbatim

ANY = object()  # an argument or a value that the test does not name


@contextmanager
def refused(
    argument: object,
    value: object = ANY,
    cure: Call | str | None = None,
    *,
    names: str = "",
    kind: type[Refusal] = Refusal,
) -> Iterator[pytest.ExceptionInfo[Refusal]]:
    """Expect a refusal of an argument: `cure` is a call that it has, or words of it.

    `names` is an expression of what the message names of the data, such as a file and its line.
    """
    with pytest.raises(kind) as caught:
        yield caught
    try:
        _check(caught.value, argument, value, cure, names)
    finally:
        # its traceback has this frame: the error would stay, with the files that it holds open
        del caught


def _check(refusal: Refusal, argument: object, value: object, cure: Call | str | None, names: str) -> None:
    """Compare a refusal with what is expected of it."""
    assert argument is ANY or refusal.argument == argument, str(refusal)
    assert re.search(names, str(refusal)), str(refusal)
    if value is not ANY:
        kept = refusal.value
        assert kept is value or kept == value or (isinstance(kept, Verbatim) and kept == str(value))
    if isinstance(cure, Call):
        assert cure in refusal.cure.calls, str(refusal)
    elif cure is not None:
        assert cure in str(refusal.cure), str(refusal)


@contextmanager
def raises_other(
    kind: type[Exception] | tuple[type[Exception], ...], *, match: str
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect by its words an error that is no refusal: of another package, of a program, of a damaged archive."""
    with pytest.raises(kind, match=match) as caught:
        yield caught
    try:
        assert not isinstance(caught.value, Refusal), str(caught.value)
    finally:
        del caught
