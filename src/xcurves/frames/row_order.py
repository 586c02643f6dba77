"""Rows that are told apart by nothing but their order: runs, or the steps of one run."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xcurves.core.doubts import Choice, how_many
from xcurves.frames.reading import Doubt, Found, as_list, compared
from xcurves.frames.roles import NO_NAME
from xcurves.frames.wide_tables import ROW

_FEWEST = 5  # rows of each algorithm, of which the order of two is hardly ever that of their scores by chance
_ORDERED = 0.9  # least rank correlation of scores and the order of rows


def doubt_of_order(found: Found) -> Doubt | None:
    """Return what to ask where rows of an algorithm are numbered anew, or their scores rise or fall all along."""
    keys = found.keys("tasks", "algorithm")
    if not keys:
        return None
    label = _label_of_rows(found, keys)
    if label is not None:
        readings: tuple[dict[str, Any], ...] = ({"tasks": [*as_list(found.roles.get("tasks")), label]}, {"run": label})
        known = found.roles | {"run": None}
        choices = [Choice(found.inferred | each, compared(found.scored, known | each)) for each in readings]
        return Doubt({}, tuple(choices), "does not say whether rows are tasks or runs")
    if not (_are_numbered(found, keys) or _are_ordered(found, keys)):
        return None
    n_steps = int(found.scored.groupby(keys, observed=True).size().max())
    of_steps = compared(found.scored, found.roles | {"run": None})
    choices = [
        Choice(found.inferred | {"training": ROW}, f"{of_steps}, at {how_many(n_steps, 'step')}"),
        Choice(found.inferred | {"run": ROW}, compared(found.frame, found.roles)),
    ]
    return Doubt({}, tuple(choices), "does not say whether rows are steps of training or runs")


def _label_of_rows(found: Found, keys: list[str]) -> str | None:
    """Return the column without a name, an index that was written, whose texts name the rows of each algorithm."""
    for name in NO_NAME:
        if name in found.scored and not pd.api.types.is_numeric_dtype(found.scored[name]):
            rows = found.scored
            if rows[name].duplicated().any() and not rows.duplicated([*keys, name]).any():
                return name
    return None


def _are_numbered(found: Found, keys: list[str]) -> bool:
    """Return whether a column without a name, an index that was written, begins anew in each of several algorithms."""
    place = found.scored.groupby(keys, observed=True).cumcount()
    return any(
        pd.api.types.is_integer_dtype(found.scored[name])
        and found.scored[name].duplicated().any()
        and bool((found.scored[name] - place).isin([0, 1]).all())
        for name in found.scored
        if name in NO_NAME
    )


def _are_ordered(found: Found, keys: list[str]) -> bool:
    """Return whether scores rise, or fall, with the order of rows in each of several algorithms."""
    score = found.roles.get("score")
    if score is None:
        return False
    by = found.scored.groupby(keys, observed=True)
    n_rows, ranks, place = by.size(), by[score].rank(), by.cumcount() + 1
    if len(n_rows) < 2 or n_rows.min() < _FEWEST:
        return False
    distance = ((ranks - place) ** 2).groupby([found.scored[name] for name in keys], observed=True).sum()
    correlation = 1 - 6 * distance / (n_rows * (n_rows**2 - 1))
    return bool((correlation >= _ORDERED).all() or (correlation <= -_ORDERED).all())
