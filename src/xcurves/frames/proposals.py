"""Readings that fit, each as the whole call that settles a question."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from xcurves.core.doubts import Choice
from xcurves.core.refusal import Proposal, call, give
from xcurves.frames.reading import ARGUMENTS


def proposal(said: Mapping[str, Any], choice: Choice) -> Proposal:
    """Return the call that settles a question, with the columns of roles that were said before.

    A choice may select rows: "select" has a column and one of its labels.
    """
    chosen = {ARGUMENTS.get(role, role): column for role, column in choice.columns.items()}
    every = {ARGUMENTS.get(role, role): column for role, column in said.items()} | chosen
    rows = "frame"
    if "select" in chosen:
        column, label = every.pop("select")
        rows = f"frame[frame[{column!r}] == {label!r}]"
        chosen["select"] = f"{column}={_typed(label)}"
    named = [argument for argument in ARGUMENTS.values() if argument in every]
    others = [argument for argument in every if argument not in named]
    options = {argument: _plain(every[argument]) for argument in [*named, *others]}
    return Proposal(call(f"{rows}.curves.to_dataarray", **options), give(**chosen), choice.compares)


def _typed(label: object) -> str:
    """Return a label as it is typed."""
    if isinstance(label, Real) and not isinstance(label, bool):
        return f"{float(label):.12g}"
    return str(label)


def _plain(columns: Any) -> Any:
    """Return one column by itself, several as a list."""
    if not isinstance(columns, list | tuple):
        return columns
    names = list(columns)
    if len(names) == 1:
        return names[0]
    return names
