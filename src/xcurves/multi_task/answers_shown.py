"""Scores of 0 and 1, as of answers that are wrong or right: how they are shown, in per cent."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.say.numbers import units_of

_SHOWN = "answers_shown"  # the attr of a result whose scores are in per cent for the reader
_PERCENT = "%"
_SHARES = ("1", "fraction", "dimensionless")
_WHOLE = 1e-9  # apart from whole numbers by rounding
_AT_ONCE = 1 << 16  # means


def are_answers(result: xr.Dataset) -> bool:
    """Return whether all runs of a result score 0 or 1, a share without unit: means times runs are whole numbers."""
    if "task_mean" not in result or "n_runs" not in result:
        return False
    if units_of(result["task_mean"]) not in _SHARES:
        return False
    mean, n_runs = (each.to_numpy().ravel() for each in xr.broadcast(result["task_mean"], result["n_runs"]))
    any_known = False
    # a part of millions at a time stays in the cache: a fifth of the time of all at once
    for start in range(0, len(mean), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        known = ~np.isnan(mean[part])
        n = n_runs[part][known]
        n_right = mean[part][known] * n
        # means of many runs are near whole numbers by chance
        is_whole = np.abs(n_right - np.round(n_right)) <= _WHOLE * n
        inside = (n_right >= -_WHOLE) & (n_right <= n + _WHOLE)
        if not (is_whole & inside).all():
            return False
        any_known |= bool(known.any())
    return any_known


def as_shown(result: xr.Dataset, in_score_units: Collection[str]) -> xr.Dataset:
    """Return a result as sentences, tables and pictures show it: answers in per cent, anything else as it is.

    `in_score_units` are the variables that have the unit of scores.
    """
    if not are_answers(result):
        return result
    in_percent = {
        name: (100 * result[name]).assign_attrs(result[name].attrs | {"units": _PERCENT})
        for name in in_score_units
        if name in result
    }
    shown = result.assign(in_percent)
    if "margin" in shown.attrs:
        shown.attrs["margin"] = 100 * shown.attrs["margin"]
    shown.attrs[_SHOWN] = 1
    return shown


def shows_answers(result: xr.Dataset) -> bool:
    """Return whether a result is shown in per cent of right answers."""
    return _SHOWN in result.attrs


def families_of(noun: str, groups: str | None, given: str) -> str:
    """Return what families of tasks are called: by the name of their coordinate, "passages", else "families of tasks".

    `given` is the name of a coordinate that stands for an array.
    """
    name, given = (labels.noun(each).removesuffix(" task") for each in (groups or given, given))
    if name in (given, "family", "group", "cluster"):
        return f"families of {noun}s"
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}s"
