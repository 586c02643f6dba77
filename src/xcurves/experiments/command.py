"""The command line of all experiments: it writes a file whose attrs have the command that repeats it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr


def run(
    make: Callable[..., xr.Dataset],
    arguments: Sequence[str] | None = None,
    *,
    module: str,
    description: str | None,
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write what `make(seed=..., **options)` returns as netCDF, with the command that repeats it in its attrs.

    `options` are further keyword arguments of `make`, each with what ``argparse.add_argument`` needs and a default.
    """
    options = options or {}
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("path", type=Path, help="netCDF file to write")
    parser.add_argument("--seed", type=int, default=seed, help="seed of all random streams (default %(default)s)")
    for name, option in options.items():
        parser.add_argument(_flag(name), **option)
    given = vars(parser.parse_args(arguments))
    path: Path = given.pop("path")
    check_folder(parser, path)
    changed = {name: value for name, value in given.items() if name == "seed" or value != options[name]["default"]}
    command = " ".join([parser.prog, path.name, *(f"{_flag(name)} {_text(value)}" for name, value in changed.items())])
    try:
        made = make(**given)
    except (ValueError, TypeError, ImportError) as error:
        parser.error(str(error))
    made.assign_attrs(command=command).to_netcdf(path, engine="scipy")


def check_folder(parser: argparse.ArgumentParser, path: Path) -> None:
    """End before the computation if the file cannot be written."""
    if not path.parent.is_dir():
        parser.error(f"path {path}: there is no folder {path.parent}. Make it, or name another")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
