"""Calls of public functions with an option that they do not have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from xcurves.core.labels import did_you_mean
from xcurves.core.refusal import WrongType

P = ParamSpec("P")
Returned = TypeVar("Returned")


def names_options(function: Callable[P, Returned]) -> Callable[P, Returned]:
    """Return a function whose error about an unknown option names the nearest one, or all where none is near."""
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Returned:
        unknown = [name for name in kwargs if name not in known]
        if unknown:
            raise _refused(function.__name__, unknown[0], kwargs[unknown[0]], known)
        return function(*args, **kwargs)

    return call


def _refused(function: str, option: str, value: object, known: list[str]) -> WrongType:
    """Return the error about an option that a function does not have."""
    cure = did_you_mean(option, known).removeprefix(". ")
    if not cure and len(known) < 2:
        cure = "It has none"
    elif not cure:
        cure = f"It has {', '.join(known[1:])}"
    return WrongType(option, value, f"{option}= is no option of {function}()", cure)
