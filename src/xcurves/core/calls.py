"""How functions are called: as methods of `.curves`, of modules that are imported then, with an unknown option.

Declarations, of kinds and of sources, name the functions of many modules, of which a program calls few. They import
these modules for type checkers, and run `later` instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

if TYPE_CHECKING:
    from xcurves.core.refusal import WrongType

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
    from xcurves.core.labels import did_you_mean  # which importing xcurves does without
    from xcurves.core.refusal import WrongType

    cure = did_you_mean(option, known).removeprefix(". ")
    if not cure and len(known) < 2:
        cure = "It has none"
    elif not cure:
        cure = f"It has {', '.join(known[1:])}"
    return WrongType(option, value, f"{option}= is no option of {function}()", cure)


class Later:
    """A module of functions, which is imported when one of them is called."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def function(*args: Any, **options: Any) -> Any:
            return getattr(import_module(self._module), name)(*args, **options)

        function.__module__ = self._module
        function.__name__ = function.__qualname__ = name
        return function


def later(package: str, *modules: str) -> list[Later]:
    """Return modules of a package, none of them imported."""
    return [Later(f"{package}.{module}") for module in modules]
