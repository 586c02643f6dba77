"""The command line of all experiments: it writes a file whose attrs have the command that repeats it, and more."""

from __future__ import annotations

import argparse
import re
import zlib
from collections.abc import Callable, Collection, Sequence
from inspect import getdoc, getfile, getmodulename, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import xarray as xr


def run(
    make: Callable[..., xr.Dataset], arguments: Sequence[str] | None = None, *, unrecorded: Collection[str] = ()
) -> None:
    """Write what `make` returns as netCDF, with the command that repeats it in its attrs.

    Every parameter of `make` is an option, by its type, its default and its docstring. Those that are `unrecorded`
    change no number.
    """
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
