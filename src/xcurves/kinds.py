"""The list of all kinds of results.

A kind is the public function `name` in the module ``xcurves.family.name`` of `public_names.KINDS`, and its declaration
`NAME` in the module ``xcurves.family.kinds``. Nothing is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, give
from xcurves.public_names import KINDS

if TYPE_CHECKING:
    from xcurves.core.schema import ResultKind

NAMES = tuple(KINDS)  # in the order of a report
PARTS = {public.part: name for name, public in KINDS.items() if public.part}  # of a whole analysis: their kinds
OPENS = {name: public.opens for name, public in KINDS.items() if public.opens}  # a report, of one task or several
MARKS = {name: public.marked for name, public in KINDS.items() if public.marked}
_REGISTERED: dict[str, ResultKind] = {}
_FUNCTIONS: dict[str, Callable[..., Any]] = {}  # of registered kinds


@cache
def kind(name: str) -> ResultKind:
    """Return the declaration of a kind, with the sentences and the table of what it compares."""
    declared: ResultKind
    if name in _REGISTERED:
        declared = _REGISTERED[name]
    else:
        family = KINDS[name].module.partition(".")[0]
        module = import_module(f"xcurves.{family}.kinds")
        declared = getattr(module, name.upper())
    if declared.comparison is None:
        return declared
    from xcurves.say.comparing import completed  # which kinds that compare nothing do without

    return completed(declared)


def register(declared: ResultKind, function: Callable[..., Any] | None = None) -> None:
    """Add a kind that is declared outside this package: it has a table, a summary, pictures, archives and pages.

    Parameters
    ----------
    declared : ResultKind
        Its declaration. One with a `part` is a part of `analyze`, by its own name.
    function : callable, optional
        What makes its results, which `analyze` calls; a kind with a part needs it.

    Raises
    ------
    ValueError
        If there is a kind of this name already, or a part without a function.
    """
    global NAMES, PARTS
    if declared.name in NAMES:
        raise Refusal(
            "",
            UNSAID,
            f"there is a kind {declared.name!r} already",
            "Give it another name",
        )
    if declared.part is not None and function is None:
        raise Refusal(
            "",
            UNSAID,
            f"kind {declared.name!r} is a part of analyze and has no function",
            Cure("Give it: ", give(function=Verbatim(""))),
        )
    _REGISTERED[declared.name] = declared
    if function is not None:
        _FUNCTIONS[declared.name] = function
    NAMES = (*NAMES, declared.name)
    if declared.part is not None:
        PARTS = PARTS | {declared.name: declared.name}


def function(name: str) -> Callable[..., Any]:
    """Return the public function of a kind, or that of a registered one."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    module = import_module(f"xcurves.{KINDS[name].module}")
    public: Callable[..., Any] = getattr(module, name)
    return public
