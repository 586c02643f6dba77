"""Calls of public functions with an option that they do not have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from xcurves.core.labels import did_you_mean

P = ParamSpec("P")
Returned = TypeVar("Returned")


def names_options(function: Callable[P, Returned]) -> Callable[P, Returned]:
    """Return a function whose error about an unknown option names the nearest one, or all where none is near."""
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Returned:
        unknown = [name for name in kwargs if name not in known]
        if unknown:
            raise TypeError(_without(function.__name__, unknown[0], known))
        return function(*args, **kwargs)

    return call


def _without(function: str, option: str, known: list[str]) -> str:
    """Return the message about an option that a function does not have."""
    near = did_you_mean(option, known)
    refusal = f"{function}() has no option {option!r}"
    if near:
        return f"{refusal}{near}"
    if len(known) < 2:
        return f"{refusal}. It has none"
    return f"{refusal}. It has {', '.join(known[1:])}"
