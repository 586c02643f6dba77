"""A folder with a file for each run, or for each task, as one Dataset."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

_LABELS = ("algorithm", "run", "task")
_SUFFIXES = (".nc", ".zarr")
_IN_PATH = re.compile(r"([A-Za-z_]\w*)=([^=,/]+)")
_MOVE = "Move it to another folder"


def combine_run_files(folder: Path, read: Callable[[Path], xr.Dataset]) -> xr.Dataset:
    """Return the runs of all files of a folder, joined along their labels."""
    names = _find(folder)
    numeric = _numeric_labels(names)
    files = {name: _with_labels(read(folder / name), folder / name, _labels_in(name), numeric) for name in names}
    first = names[0]
    described = {name: _describe(data) for name, data in files.items()}
    for name, each in described.items():
        for what, found in each.items():
            if found != described[first][what]:
                usual = described[first][what]
                raise ValueError(f"path {str(folder / name)!r}: its {what}: {found}; of {first}: {usual}. {_MOVE}")
    dims = _label_dims(files[first])
    _check_no_run_is_twice(folder, files, dims)
    combined = _concatenate(folder, list(files.values()), dims).transpose(*dims, ...)
    closing = ExitStack()
    for data in files.values():
        closing.callback(data.close)
    combined.set_close(closing.close)
    return combined


def _find(folder: Path) -> list[str]:
    """Return the files and stores in a folder by name, without hidden ones and what is within a store."""
    found = [path.relative_to(folder) for suffix in _SUFFIXES for path in folder.rglob(f"*{suffix}")]
    names = [
        path.as_posix()
        for path in found
        if not any(part.startswith(".") for part in path.parts)
        and not any(parent.suffix == ".zarr" for parent in path.parents)
    ]
    if not names:
        raise ValueError(f"path {str(folder)!r} is no zarr store and has no .nc file and no .zarr store. Name another")
    return sorted(names)


def _labels_in(name: str) -> dict[str, str]:
    return dict(_IN_PATH.findall(name.removesuffix(Path(name).suffix)))


def _numeric_labels(names: Iterable[str]) -> set[str]:
    """Return the labels of paths that are whole numbers in all of them; 01 and 1 are text, and differ."""
    pairs = {pair for name in names for pair in _labels_in(name).items()}
    is_text = {label for label, value in pairs if not (value.isdecimal() and str(int(value)) == value)}
    return {label for label, _ in pairs} - is_text


def _with_labels(data: xr.Dataset, path: Path, in_path: dict[str, str], numeric: set[str]) -> xr.Dataset:
    """Return the Dataset of a file with its labels as dims."""
    for dim in dict.fromkeys([*_LABELS, *in_path]):
        found: list[Any] = []
        if dim in in_path:
            found.append(int(in_path[dim]) if dim in numeric else in_path[dim])
        if dim in _LABELS and dim in data.attrs:
            found += np.ravel(data.attrs[dim]).tolist()
            data = data.copy(deep=False)
            del data.attrs[dim]
        if dim in data.coords:
            found += data[dim].to_numpy().ravel().tolist()
        needs_one = bool(found) and (dim not in data.dims or dim in in_path)
        if needs_one and len({str(label) for label in found}) > 1:
            raise ValueError(
                f"path {str(path)!r}: its path, attributes and coordinates differ in {dim}: {found[0]!r} and "
                f"{found[-1]!r}. Rename it"
            )
        if found and dim not in data.dims:
            data = data.drop_vars(dim, errors="ignore").expand_dims({dim: found[-1:]})
    lacks = [dim for dim in ("algorithm", "run") if dim not in data.dims or dim not in data.coords]
    if lacks:
        raise ValueError(
            f"path {str(path)!r}: no coordinate, attribute or part of its path says its {lacks[0]}. Rename it to "
            "something like algorithm=sac,run=3.nc"
        )
    return data


def _describe(data: xr.Dataset) -> dict[str, str]:
    """Return a description that is the same for all files of one experiment."""
    variables = sorted(data.data_vars.items(), key=lambda item: str(item[0]))
    labels = [(str(dim), data[dim]) for dim in sorted(map(str, data.dims)) if dim in data.coords]
    return {
        "experiment": str(data.attrs.get("experiment", "not named")),
        "variables": ", ".join(str(name) for name, _ in variables),
        "dims": ", ".join(f"{name} {sorted(map(str, values.dims))}" for name, values in variables),
        "labels": ", ".join(f"{dim} of {'text' if each.dtype.kind in 'OUST' else 'numbers'}" for dim, each in labels),
        "units": ", ".join(f"{name} {each.attrs.get('units', 'none')}" for name, each in [*variables, *labels]),
    }


def _label_dims(data: xr.Dataset) -> list[str]:
    """Return the dims along which files are joined, `run` last."""
    dims = sorted(str(dim) for dim in data.dims if dim != "training" and dim in data.coords)
    return sorted(dims, key=lambda dim: ("algorithm", "run").index(dim) + 1 if dim in ("algorithm", "run") else 0)


def _check_no_run_is_twice(folder: Path, files: dict[str, xr.Dataset], dims: Sequence[str]) -> None:
    owners: dict[tuple[Any, ...], str] = {}
    for name, data in files.items():
        for run in product(*(data[dim].to_numpy().tolist() for dim in dims)):
            if owners.setdefault(run, name) != name:
                both = ", ".join(f"{dim} {label!r}" for dim, label in zip(dims, run, strict=True))
                raise ValueError(f"path {str(folder)!r}: {owners[run]} and {name} both hold {both}. Remove one of them")


def _concatenate(folder: Path, files: Sequence[xr.Dataset], dims: Sequence[str]) -> xr.Dataset:
    """Join files along the first of the dims, after those with the same labels are joined along the others."""
    if len(files) == 1:
        return files[0]
    groups: dict[tuple[Any, ...], list[xr.Dataset]] = {}
    for data in files:
        groups.setdefault(tuple(data[dims[0]].to_numpy().tolist()), []).append(data)
    parts = [_concatenate(folder, groups[labels], dims[1:]) for labels in sorted(groups)]
    if len(parts) == 1:
        return parts[0]
    labels = [label for each in groups for label in each]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(
            f"path {str(folder)!r}: some files hold {dims[0]} {twice!r} alone and some with others. Write one file for "
            f"each {dims[0]}"
        )
    options: dict[str, Any] = {"data_vars": "all", "coords": "different", "compat": "equals", "join": "outer"}
    return xr.concat(parts, dims[0], combine_attrs="drop_conflicts", **options)
