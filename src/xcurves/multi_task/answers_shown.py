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


def are_answers(result: xr.Dataset) -> bool:
    """Return whether all runs of a result score 0 or 1, a share without unit: means times runs are whole numbers."""
    if "task_mean" not in result or "n_runs" not in result:
        return False
    if units_of(result["task_mean"]) not in _SHARES:
        return False
    mean, n_runs = xr.broadcast(result["task_mean"], result["n_runs"])
    known = mean.notnull().to_numpy()
    n_right = (mean * n_runs).to_numpy()[known]
    is_whole = np.abs(n_right - np.round(n_right)) <= _WHOLE * n_runs.to_numpy()[known]
    inside = (n_right >= -_WHOLE) & (n_right <= n_runs.to_numpy()[known] + _WHOLE)
    # means of many runs are near whole numbers by chance
    return bool(known.any() and (is_whole & inside).all())


def as_shown(result: xr.Dataset, in_score_units: Collection[str]) -> xr.Dataset:
    """Return a result as sentences, tables and pictures show it: answers in per cent, anything else as it is.

    `in_score_units` are the variables that have the unit of scores.
    """
    if not are_answers(result):
        return result
    shown = result.copy()
    for name in in_score_units:
        if name in shown:
            attrs = shown[name].attrs | {"units": _PERCENT}
            shown[name] = (100 * shown[name]).assign_attrs(attrs)
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
