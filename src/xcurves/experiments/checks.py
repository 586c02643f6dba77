"""Checks of the experiments' arguments, their labels, and optional imports."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import validation


def check_positive_count(name: str, value: int) -> int:
    """Return a whole number from 1."""
    checked = validation.check_count(name, value)
    if checked is None:
        raise TypeError(f"{name} must be a whole number; got None")
    return checked


def check_seed(seed: int) -> int:
    """Return a whole number from 0."""
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"seed must be a whole number from 0; got {seed!r}. Try seed=0")
    return int(seed)


def check_probability(name: str, value: float) -> float:
    """Return a number from 0 to 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1; got {value!r}")
    return float(value)


def check_chosen(name: str, chosen: Sequence[str] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the named ones of the known things, or all."""
    for each in chosen or ():
        if each not in known:
            raise ValueError(f"{name} must be of {', '.join(map(repr, known))}; got {each!r}")
    return {each: known[each] for each in chosen or known}


def check_levels(name: str, levels: Sequence[int], least: int = 0, why: str = "") -> list[int]:
    """Return increasing whole numbers from `least`."""
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise TypeError(f"{name} must be a sequence of whole numbers; got {levels!r}. Try [{levels}]")
    values = list(levels)
    if not values:
        raise ValueError(f"{name} is empty. Give at least one level of training")
    for value in values:
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{name} must be whole numbers; got {value!r}")
        if value < least:
            raise ValueError(f"{name} must be at least {least}{why and ', '}{why}; got {value}")
    if any(later <= level for level, later in itertools.pairwise(values)):
        raise ValueError(f"{name} must increase; got {values}. Sort them, each once")
    return [int(value) for value in values]


def labelled(
    values: NDArray[np.float64],
    algorithms: Sequence[str],
    levels: Sequence[float],
    *,
    long_name: str,
    units: str,
    training: str = "examples",
    algorithm: str = "learning algorithm",
    run: str = "run",
    tasks: Sequence[str] | None = None,
) -> xr.DataArray:
    """Put scores, shape (task, algorithm, run, level) or without tasks, under their names."""
    coords = {
        "algorithm": ("algorithm", list(algorithms), {"long_name": algorithm}),
        "run": ("run", np.arange(values.shape[-2]), {"long_name": run}),
        "training": ("training", np.array(levels, float), {"long_name": "training", "units": training}),
    }
    coords = coords if tasks is None else {"task": ("task", list(tasks), {"long_name": "task"}), **coords}
    return xr.DataArray(values, coords, list(coords), attrs={"long_name": long_name, "units": units})


def recorded(seed: int) -> int | str:
    """Return a seed as an attribute that every kind of archive can hold."""
    return seed if seed < 2**31 else str(seed)


def sklearn(module: str) -> Any:
    """Return a module of scikit-learn, which is optional."""
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "this experiment needs scikit-learn. Install it: pip install 'xcurves[sklearn]'"
        ) from error
