"""Functions of modules that are imported when one of their functions is called.

Declarations, of kinds and of sources, name the functions of many modules, of which a program calls few. They import
these modules for type checkers, and run `later` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


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
