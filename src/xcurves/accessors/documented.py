"""Methods of accessors that show the docstring of the function they call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import xcurves

Method = TypeVar("Method", bound=Callable[..., Any])


class _Documented:
    """A method whose docstring is that of the public function of the same name, read at the first access."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Callable[..., Any]:
        self._method.__doc__ = getattr(xcurves, self._name).__doc__
        setattr(owner, self._name, self._method)
        found: Callable[..., Any] = getattr(owner if instance is None else instance, self._name)
        return found


def documented(method: Method) -> Method:
    """Return a method whose docstring is that of the public function of the same name."""
    return cast(Method, _Documented(method))
