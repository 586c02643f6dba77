"""Compare machine-learning algorithms by their performance curves.

Importing this package registers ``.curves`` on xarray DataArrays, Datasets and DataTrees and on pandas DataFrames. A
method's own modules are imported when it is first used. Editors and type checkers read ``__init__.pyi``.
"""

from importlib import import_module
from typing import Any

from xcurves import accessors as _accessors  # noqa: F401  # registers .curves
from xcurves import public_names as _names

__all__ = sorted(
    [
        *_names.KINDS,
        *_names.FUNCTIONS,
        *_names.ERRORS,
        *_names.MODULES,
        *_names.VALUES,
    ]
)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used; importing all of them takes half as long as importing xarray."""
    if name == "__version__":
        return import_module("importlib.metadata").version("xcurves")
    if name in _names.MODULES:
        return import_module(f"xcurves.{name}")
    error = _names.ERRORS.get(name)
    if error is not None:
        return getattr(import_module(f"xcurves.{error.module}"), name)
    if name in _names.VALUES:
        return getattr(import_module(f"xcurves.{_names.VALUES[name]}"), name)
    public = (_names.KINDS | _names.FUNCTIONS).get(name)
    if public is None:
        where = _names.ELSEWHERE.get(name)
        hint = f". Call {where}" if where is not None else ""
        raise AttributeError(f"module 'xcurves' has no attribute {name!r}{hint}")
    from xcurves.core.calls import names_options

    found = names_options(getattr(import_module(f"xcurves.{public.module}"), name))
    found.__module__ = "xcurves"  # where pickle finds it
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
