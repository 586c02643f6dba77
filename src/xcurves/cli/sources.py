"""Input of the command line: tables, archives and folders of logs, read into labelled curves."""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves import readers, tutorial
from xcurves.archive import read as read_archive
from xcurves.core import labels
from xcurves.core.archive_formats import engine_to_read
from xcurves.core.labels import DIMS
from xcurves.core.run_checks import FRACTIONS
from xcurves.core.wording import listed
from xcurves.preprocessing.alignment import align, drop_incomplete
from xcurves.preprocessing.columns import usual_columns
from xcurves.preprocessing.frames import to_dataarray
from xcurves.preprocessing.grids import On

EXAMPLE = "benchmark"
_SUFFIXES = (".nc", ".h5netcdf", ".nc4", ".zarr")  # of an archive even if it is empty or damaged
_SHOWN = 12  # labels
_MOST = 10**7  # levels
_NAMED = ("intersection", "union", "final")


class Table(NamedTuple):
    """A tidy frame, the column of its scores if it is known, and those of dims and tasks."""

    frame: pd.DataFrame
    value: str | None
    columns: dict[str, str]


def open_archive(options: argparse.Namespace) -> Table | xr.Dataset | xr.DataTree:
    """Open what the options name: an archive, or logs that a reader knows."""
    path = options.archive
    if path is None:
        return tutorial.open_dataset(EXAMPLE)
    if not path.exists():
        raise FileNotFoundError(f"ARCHIVE {path} does not exist. Check the path")
    try:
        is_archive = bool(engine_to_read(path))
    except ValueError:
        is_archive = path.suffix in _SUFFIXES
    if is_archive:
        return read_archive(path)
    source = readers.recognize(path, options.source)
    frame = readers.read(path, source=source.name, folders=options.folders, names=options.names)
    has_training = source.training in frame or source.name == "table"
    usual = {"algorithm": "algorithm", "run": "run", "training": source.training if has_training else None}
    columns: dict[str, str] = {dim: name for dim in DIMS if (name := getattr(options, dim) or usual[dim])}
    named = options.folders or re.findall(r"{(\w+)", options.names or "")
    tasks = [*(name for name in (*named, *source.extra) if name in frame), *options.extra]
    columns |= {name: name for name in tasks if name not in (*DIMS, *columns.values())}
    return Table(frame, source.value, columns)


def select(opened: Table | xr.Dataset, options: argparse.Namespace) -> Table | xr.Dataset:
    """Return the rows of a table, or the labels of dims, that `--select` names."""
    selections: dict[str, list[str]] = {}
    for each in options.select:
        name, _, label = each.partition("=")
        if not (name and label):
            raise ValueError(f"--select {each}: say NAME=LABEL, such as --select task=Hopper")
        selections.setdefault(name, []).append(label)
    if not isinstance(opened, Table):
        dims = {dim: getattr(options, dim) or dim for dim in DIMS}
        for name, labels_of in selections.items():
            dim = _known(name, labels_of, opened.dims, dims, "dim")
            opened = opened.isel({dim: matching(name, labels_of, opened[dim].to_numpy())})
        return opened
    frame = opened.frame
    for name, labels_of in selections.items():
        column = _known(name, labels_of, frame.columns, opened.columns, "column")
        frame = frame[matching(name, labels_of, frame[column].to_numpy())]
    for column in {"tag", "metric"} & set(frame) - set(opened.columns.values()):
        names = list(map(str, frame[column].unique()))
        if "value" in frame and len(names) > 1:
            raise ValueError(f"ARCHIVE has {len(names)} {column}s. Name one: --select {column}={'|'.join(names)}")
    return opened._replace(frame=frame)


def _known(name: str, wanted: list[str], known: Iterable[Any], renamed: dict[str, str], what: str) -> str:
    """Return the column, or the dim, of a name."""
    column = renamed.get(name, name)
    if column not in known:
        raise not_found(f"--select {name}={wanted[0]}: {column!r} is no {what} of ARCHIVE", name, known, renamed)
    return column


def not_found(said: str, name: str, known: Iterable[Any], other_names: Iterable[str] = ()) -> KeyError:
    """Return the error about a name that is unknown: the names that are known, and the nearest."""
    has = ", ".join(map(repr, known))
    return KeyError(f"{said}. It has {has}{labels.did_you_mean(name, [*other_names, *known])}")


def curves_of_options(opened: Table | xr.Dataset, options: argparse.Namespace) -> Iterator[tuple[str, xr.DataArray]]:
    """Yield the curves that the options ask for of what was selected, with the name of each."""
    how: dict[str, Any] = {"method": options.method, "tolerance": options.tolerance}
    if options.align is None and set(how.values()) != {None}:
        raise ValueError("--method and --tolerance are for --align LEVELS. Say them: --align 0,1000,2000")
    grid = {} if options.align in (None, "budget") else {"on": parse_levels(options.align), **how}
    values = _could_be_scores(opened)
    if not options.value and len(values) != 1:
        what, choice = "column" if isinstance(opened, Table) else "variable", "|".join(map(quote, values))
        raise ValueError(f"the archive has {len(values)} {what}s that could be scores. Name one: --value {choice}")
    for value in options.value or values:
        curves = _read_curves(opened, value, options, grid)
        if options.align == "budget":
            curves = align(curves, FRACTIONS, relative_to="budget", **how)
        if options.align and not curves.notnull().any():
            raise ValueError(f"--align {options.align} leaves no score of any run. Name levels that runs reach")
        curves = _without_empty_tasks(curves, value)
        yield value, drop_incomplete(curves) if options.drop_incomplete else curves


def _could_be_scores(opened: Table | xr.Dataset) -> list[str]:
    if isinstance(opened, xr.Dataset):
        return list(map(str, opened.data_vars))
    if opened.value:
        return [opened.value]
    frame, columns = opened.frame, opened.columns
    unnamed = usual_columns(frame, [dim for dim in DIMS if columns.get(dim) not in frame])
    rest = frame.drop(columns=[*columns.values(), *unnamed.values()], errors="ignore")
    return list(map(str, rest.select_dtypes("number") if len(rest.columns) > 1 else rest))


def _read_curves(
    opened: Table | xr.Dataset, value: str, options: argparse.Namespace, grid: dict[str, Any]
) -> xr.DataArray:
    if isinstance(opened, Table):
        dims: dict[str, Any] = {dim: opened.columns.get(dim) for dim in DIMS}
        extra = [name for name in opened.columns if name not in DIMS]
        return to_dataarray(opened.frame, value, **dims, extra=extra, duplicates=options.duplicates, **grid)
    if value not in opened:
        raise not_found(f"--value {value} is no variable of ARCHIVE", value, opened.data_vars)
    curves = opened[value]
    named = {getattr(options, dim): dim for dim in DIMS if getattr(options, dim) != dim}
    curves = curves.rename({name: dim for name, dim in named.items() if name in curves.dims})
    return align(curves, **grid) if grid else curves


def _without_empty_tasks(curves: xr.DataArray, value: str) -> xr.DataArray:
    """Drop labels of extra dims without a score, with a warning."""
    for dim in labels.extra_dims(curves):
        kept = curves.dropna(dim, how="all")
        if 0 < kept.sizes[dim] < curves.sizes[dim]:
            left = listed(curves[dim].drop_sel({dim: kept[dim]}).to_numpy())
            warnings.warn(f"--value {value}: left out {dim} without any score: {left}", UserWarning, stacklevel=2)
            curves = kept
    return curves


def matching(name: str, wanted: Sequence[str], values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are among the labels that are wanted, written alike or equal as numbers."""
    known = {str(value): value for value in dict.fromkeys(values.tolist())}
    chosen = np.zeros(len(values), dtype=np.bool_)
    for label in wanted:
        number = pd.to_numeric(label, errors="coerce") if values.dtype.kind in "iuf" else label
        found = values == known.get(label, number)
        if not np.any(found):
            near = labels.did_you_mean(label, known)
            raise ValueError(f"--select {name}={label}: there is none. {name} has {listed(known, _SHOWN)}{near}")
        chosen |= found
    return chosen


def parse_levels(given: str) -> On:
    """Return the levels that `--align` names: a word, a list, or START:STOP:STEP with STOP in it."""
    if given in _NAMED:
        return given  # type: ignore[return-value]  # one of its literals
    try:
        if ":" not in given:
            return [float(level) for level in given.split(",")]
        # In decimal digits: the levels of 0:1:.1 are those that a table has, and the last is 1.
        start, stop, step = map(Decimal, given.split(":"))
        if step > 0 and 0 <= (stop - start) / step < _MOST:
            return [float(start + number * step) for number in range(int((stop - start) / step) + 1)]
    except (ValueError, ArithmeticError):
        pass
    raise ValueError(
        f"--align takes {', '.join(_NAMED)}, budget, levels such as 0,1000,5000, or START:STOP:STEP; got {given!r}. "
        "Put ARCHIVE before the options"
    )
