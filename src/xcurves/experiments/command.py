"""What experiments share: checks of arguments, labels, and a command line that writes a file which says the command."""

from __future__ import annotations

import argparse
import importlib
import itertools
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from inspect import getdoc, getfile, getmodulename, signature
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import xarray as xr
from numpy.typing import NDArray


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


def check_rising(name: str, levels: Sequence[int], least: int = 0, why: str = "") -> list[int]:
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
        "training": ("training", np.array(levels, float), {"long_name": "training", "units": training}),
    }
    scores = xr.DataArray(values, coords, list(coords), attrs={"long_name": long_name, "units": units})
    return xr.Dataset({name: scores}, attrs=attrs)  # not from coords: files keep the order of variables


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


def run(
    make: Callable[..., xr.Dataset], arguments: Sequence[str] | None = None, *, unrecorded: Collection[str] = ()
) -> None:
    """Write what `make` returns as netCDF, with the command in its attrs; `unrecorded` options change no number."""
    about, hints = f"{getdoc(make)}\n", get_type_hints(make)
    told = re.findall(r"^(\w[\w, ]*) : .*\n((?: {4}.*\n)+)", about, re.MULTILINE)
    words = {name: " ".join(said.split()) for names, said in told for name in names.split(", ")}
    defaults = {name: each.default for name, each in signature(make).parameters.items()}
    defaults = {"seed": defaults["seed"], **defaults}
    prog = f"python -m xcurves.experiments.{getmodulename(getfile(make))}"
    parser = argparse.ArgumentParser(prog, description=about.split("\n")[0])
    parser.add_argument("path", type=Path, help="netCDF file to write")
    for name, default in defaults.items():
        said = words.get(name, "").replace("%", "%%")
        parser.add_argument(
            _flag(name), default=default, help=f"{said} (default %(default)s)", **_accepted(hints[name])
        )
    given = vars(parser.parse_args(arguments))
    path: Path = given.pop("path")
    if not path.parent.is_dir():
        parser.error(f"path {path}: there is no folder {path.parent}. Make it, or name another")
    recorded = {name: value for name, value in given.items() if name not in unrecorded}
    changed = [name for name, value in recorded.items() if name == "seed" or value != defaults[name]]
    command = " ".join([parser.prog, path.name, *(f"{_flag(name)} {_text(given[name])}" for name in changed)])
    try:
        made = make(**given)
    except (ValueError, TypeError, ImportError) as error:
        parser.error(str(error))
    made.assign_attrs(command=command).to_netcdf(path, engine="scipy")


def _accepted(hint: Any) -> dict[str, Any]:
    """Return how argparse reads a value of a type."""
    if isinstance(hint, UnionType):
        return _accepted(next(each for each in get_args(hint) if each is not NoneType))
    if get_origin(hint) is Sequence:
        return {"nargs": "+", **_accepted(get_args(hint)[0])}
    return {"choices": get_args(hint)} if get_origin(hint) is Literal else {"type": hint}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


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
    parts = [np.sin(x), np.cos(x), np.exp(x), np.log(x + 10), np.tanh(x), matrix @ matrix]
    parts += [part.astype(np.float32) @ part.astype(np.float32).T for part in (matrix,)]
    return zlib.crc32(b"".join(part.tobytes() for part in parts)) >> 1
