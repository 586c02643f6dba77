"""A method that calls a public function with the object of its accessor."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

P = ParamSpec("P")
Given = TypeVar("Given")
Returned = TypeVar("Returned")


class method(Generic[Given, P, Returned]):  # used like a decorator
    """A method of an accessor: the function that `load` returns, without its first parameter.

    Nothing is imported before the method is used. Editors, mypy and `help` see the function's own signature and
    docstring.
    """

    def __init__(self, load: Callable[[], Callable[Concatenate[Given, P], Returned]]) -> None:
        self._load = load
        self._call: Any = None

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, accessor: None, owner: type) -> Callable[Concatenate[Any, P], Returned]: ...
    @overload
    def __get__(self, accessor: object, owner: type) -> Callable[P, Returned]: ...
    def __get__(self, accessor: Any, owner: type) -> Callable[..., Returned]:
        if self._call is None:
            function = self._load()

            @wraps(
                # a partial would show the first parameter in jedi and IPython
                function
            )
            def call(accessor: Any, /, *args: P.args, **kwargs: P.kwargs) -> Returned:
                return function(accessor._data, *args, **kwargs)

            call.__qualname__ = f"{owner.__qualname__}.{self._name}"
            self._call = call
        found: Callable[..., Returned] = self._call.__get__(accessor, owner)
        return found
