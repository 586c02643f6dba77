"""The command line of all experiments: it writes a file whose attrs have the command that repeats it, and more."""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr


def run(
    make: Callable[..., xr.Dataset],
    arguments: Sequence[str] | None = None,
    *,
    module: str,
    description: str | None,
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    unrecorded: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write what `make(seed=..., **options)` returns as netCDF, with the command that repeats it in its attrs.

    `options` are further options, each with what ``argparse.add_argument`` needs and a default; `dest` names the
    keyword argument of `make`, if it has another name. Those that are `unrecorded` change no number.
    """
    recorded: dict[str, Mapping[str, Any]] = {
        "seed": {"type": int, "default": seed, "help": "seed of all random streams (default %(default)s)"},
        **(options or {}),
    }
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("path", type=Path, help="netCDF file to write")
    for name, option in [*recorded.items(), *(unrecorded or {}).items()]:
        parser.add_argument(_flag(name), **option)
    given = vars(parser.parse_args(arguments))
    path: Path = given.pop("path")
    if not path.parent.is_dir():
        parser.error(f"path {path}: there is no folder {path.parent}. Make it, or name another")
    values = {name: given[option.get("dest", name)] for name, option in recorded.items()}
    changed = {name: value for name, value in values.items() if name == "seed" or value != recorded[name]["default"]}
    command = " ".join([parser.prog, path.name, *(f"{_flag(name)} {_text(value)}" for name, value in changed.items())])
    try:
        made = make(**given)
    except (ValueError, TypeError, ImportError) as error:
        parser.error(str(error))
    made.assign_attrs(command=command).to_netcdf(path, engine="scipy")


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
