"""What experiments share: checks of arguments, labels, and how this machine rounds."""

from __future__ import annotations

import importlib
import itertools
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from numbers import Integral
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core.validation import check_choice, check_number, check_total


def check_seed(seed: int) -> int:
    """Return a whole number from 0."""
    return check_total("seed", seed, "0", least=0, most=2**127)


def check_probability(name: str, value: float) -> float:
    """Return a number from 0 to 1."""
    if not 0 <= check_number(name, value) <= 1:
        raise ValueError(f"{name} must lie between 0 and 1; got {value!r}. Try 0.1")
    return float(value)


def check_chosen(name: str, chosen: Sequence[str] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the named ones of the known things, or all."""
    return {each: known[check_choice(name, each, list(known))] for each in chosen or known}


def check_rising(name: str, levels: Sequence[int], least: int = 0, why: str = "") -> list[int]:
    """Return increasing whole numbers from `least`."""
    values = list(levels) if isinstance(levels, Iterable) else []
    if not values or not all(isinstance(each, Integral) and not isinstance(each, bool) for each in values):
        raise TypeError(f"{name} must be one or more whole numbers; got {levels!r}. Try [100, 200]")
    if values[0] < least or any(later <= level for level, later in itertools.pairwise(values)):
        raise ValueError(f"{name} must increase, from at least {least}{why and ', '}{why}; got {values}. Sort them")
    return [int(value) for value in values]


def labelled(
    name: str,
    values: NDArray[np.float64],
    algorithms: Iterable[str],
    levels: Sequence[float],
    *,
    long_name: str,
    attrs: Mapping[str, Any],
    units: str = "%",
    training: str = "examples",
    algorithm: str = "learning algorithm",
    run: str = "run",
    tasks: Iterable[str] | None = None,
) -> xr.Dataset:
    """Put scores, shape (task, algorithm, run, level) or without tasks, under their names."""
    coords: dict[str, Any] = {} if tasks is None else {"task": ("task", list(tasks), {"long_name": "task"})}
    coords |= {
        "algorithm": ("algorithm", list(algorithms), {"long_name": algorithm}),
        "run": ("run", np.arange(values.shape[-2]), {"long_name": run}),
        "training": (
            "training",
            np.array(levels, float),
            {"long_name": "training", "units": training},
        ),
    }
    scores = xr.DataArray(values, coords, list(coords), attrs={"long_name": long_name, "units": units})
    # not from coords: files keep the order of variables
    return xr.Dataset({name: scores}, attrs=attrs)


def recorded(seed: int) -> int | str:
    """Return a seed as an attribute that every kind of archive can hold."""
    return seed if seed < 2**31 else str(seed)


def made_by(seed: int) -> dict[str, Any]:
    """Return the seed and the scikit-learn of an experiment, as attributes."""
    return {"seed": recorded(seed), "scikit_learn": version("scikit-learn")}


def draw_seed(rng: np.random.Generator) -> int:
    """Draw a seed for functions that take only whole numbers."""
    return int(rng.integers(2**31))


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def sklearn(module: str) -> Any:
    """Return a module of scikit-learn, which is optional."""
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "this experiment needs scikit-learn. Install it: pip install 'xcurves[sklearn]'"
        ) from error


def fingerprint() -> int:
    """Return a number that differs between machines whose sines, exponentials or matrix products round differently.

    Learning amplifies rounding errors. So a long experiment can be repeated bit for bit where this number and the
    versions of the packages are the same; elsewhere its curves differ, but have the same distribution.

    Returns
    -------
    int
        From 0 to 2**31 - 1.

    Examples
    --------
    >>> fingerprint() == fingerprint()
    True
    """
    x = np.linspace(-9, 9, 999)
    matrix = np.sin(np.arange(2500.0)).reshape(50, 50)
    # the product with a copy: that with itself has a routine of its own
    single = matrix.astype(np.float32)
    parts = [
        np.sin(x),
        np.cos(x),
        np.exp(x),
        np.log(x + 10),
        np.tanh(x),
        matrix @ matrix,
        single @ single.copy().T,
    ]
    return zlib.crc32(b"".join(part.tobytes() for part in parts)) >> 1
