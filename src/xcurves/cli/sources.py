"""Input of the command line: tables, archives and folders of logs, read into labelled curves."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves import tutorial
from xcurves.archive import read as read_archive
from xcurves.core import labels
from xcurves.core.archive_formats import is_store
from xcurves.core.labels import DIMS
from xcurves.core.run_checks import FRACTIONS
from xcurves.core.wording import listed
from xcurves.preprocessing.alignment import align, drop_incomplete
from xcurves.preprocessing.columns import usual_columns
from xcurves.preprocessing.frames import to_dataarray
from xcurves.preprocessing.grids import On

EXAMPLE = "benchmark"
_FILES = (b"CDF", b"\x89HDF")  # the first bytes of netCDF
_SUFFIXES = (".nc", ".h5netcdf", ".nc4")  # of an archive even if it is empty or damaged
_SHOWN = 12
_MOST = 10**7  # levels
_NAMED = ("intersection", "union", "final")


class Table(NamedTuple):
    """A tidy frame, and the default columns of the options."""

    frame: pd.DataFrame
    value: str | None
    training: str | None
    extra: Sequence[str]


def open_archive(options: argparse.Namespace) -> Table | xr.Dataset | xr.DataTree:
    """Open what the options name: an archive, or logs that a reader knows."""
    path: Path | None = options.archive
    if path is None:
        return tutorial.open_dataset(EXAMPLE)
    if not path.exists():
        raise FileNotFoundError(f"ARCHIVE {path} does not exist")
    if path.is_dir():
        is_archive = is_store(path) or path.suffix == ".zarr"
    else:
        with path.open("rb") as file:
            is_archive = file.read(4).startswith(_FILES) or path.suffix in _SUFFIXES
    return read_archive(path) if is_archive else _read_logs(path, options)


def _read_logs(path: Path, options: argparse.Namespace) -> Table:
    """Read logs; the attrs of the frame name the source."""
    from xcurves import readers

    source = readers.recognize(path, options.source)
    frame = readers.read(path, source=source.name, folders=options.folders, names=options.names)
    named = options.folders or (list(readers.logs.compiled(options.names).groupindex) if options.names else [])
    extra = [*(name for name in named if name not in DIMS), *(name for name in source.extra if name in frame)]
    training = source.training if source.training in frame or source.name == "table" else None
    return Table(frame, source.value, training, extra)


def curves_of_options(archive: Table | xr.Dataset, options: argparse.Namespace) -> Iterator[tuple[str, xr.DataArray]]:
    """Yield the curves that the options ask for, with the name of each."""
    if isinstance(archive, Table):
        table = archive._replace(frame=select_rows(archive, options))
        columns = _columns(table, options)
        unnamed = usual_columns(table.frame, [dim for dim in DIMS if columns.get(dim) not in table.frame])
        taken = {*columns.values(), *unnamed.values()}
        rest = table.frame.drop(columns=[name for name in taken if name in table.frame])
        names = rest.select_dtypes("number").columns if len(rest.columns) > 1 else rest.columns
        values = [table.value] if table.value else [str(name) for name in names]
        kind, read = "column", partial(_from_table, table, options, columns)
    else:
        values = [str(name) for name in archive.data_vars]
        kind, read = "variable", partial(_from_dataset, archive, options)
    if not options.value and len(values) != 1:
        choice = "|".join(map(quote, values))
        raise ValueError(f"the archive has {len(values)} {kind}s that could be scores. Name one: --value {choice}")
    for value in options.value or values:
        curves = read(value)
        if options.align == "budget":
            curves = align(curves, FRACTIONS, method=options.method, tolerance=options.tolerance, relative_to="budget")
        if options.align and not curves.notnull().any():
            raise ValueError(
                f"--align {options.align} leaves no score of any run. Name levels that runs reach, --align LEVELS, and "
                "leave out those that do not with --drop-incomplete"
            )
        curves = _without_empty_tasks(curves, value)
        yield value, drop_incomplete(curves) if options.drop_incomplete else curves


def _columns(table: Table, options: argparse.Namespace) -> dict[str, str]:
    """Return the column of each dim; none of training where scores have none."""
    usual = {"algorithm": "algorithm", "run": "run", "training": table.training}
    given = {dim: getattr(options, dim) or column for dim, column in usual.items()}
    named = {dim: column for dim, column in given.items() if column is not None}
    return named | {name: name for name in [*table.extra, *options.extra] if name not in named.values()}


def select_rows(table: Table, options: argparse.Namespace) -> pd.DataFrame:
    """Return the rows that `--select` names."""
    frame, columns = table.frame, _columns(table, options)
    for name, wanted in parse_selections(options.select).items():
        column = columns.get(name, name)
        if column not in frame.columns:
            said = f"--select {name}={wanted[0]}: {column!r} is no column of ARCHIVE"
            raise not_found(said, name, frame.columns, columns)
        frame = frame[matching(name, wanted, frame[column].to_numpy())]
    for column in {"tag", "metric"} & set(frame) - set(columns.values()):
        names = frame[column].unique().tolist()
        if "value" in frame and len(names) > 1:
            raise ValueError(
                f"ARCHIVE has {len(names)} {column}s. Name one: --select {column}={'|'.join(map(str, names))}"
            )
    return frame


def not_found(said: str, name: str, known: Iterable[Any], other_names: Iterable[str] = ()) -> KeyError:
    """Return the error about a name that is unknown: the names that are known, and the nearest."""
    has = ", ".join(map(repr, known))
    return KeyError(f"{said}. It has {has}{labels.did_you_mean(name, [*other_names, *known])}")


def _from_table(table: Table, options: argparse.Namespace, columns: Mapping[str, str], value: str) -> xr.DataArray:
    dims: dict[str, Any] = {dim: columns.get(dim) for dim in DIMS}
    extra = [name for name in columns if name not in DIMS]
    to_curves = partial(to_dataarray, table.frame, value, **dims, extra=extra, duplicates=options.duplicates)
    if options.align == "budget":
        return to_curves()
    on = parse_levels(options.align) if options.align else None
    return to_curves(on=on, method=options.method, tolerance=options.tolerance)


def _from_dataset(dataset: xr.Dataset, options: argparse.Namespace, value: str) -> xr.DataArray:
    if value not in dataset.data_vars:
        raise not_found(f"--value {value} is no variable of ARCHIVE", value, dataset.data_vars)
    curves = dataset[value]
    named = {getattr(options, dim): dim for dim in DIMS}
    curves = curves.rename({name: dim for name, dim in named.items() if name != dim and name in curves.dims})
    for name, wanted in parse_selections(options.select).items():
        dim = named.get(name, name)
        if dim not in curves.dims:
            raise not_found(f"--select {name}={wanted[0]}: {name!r} is no dim of {value}", name, curves.dims)
        curves = curves.isel({dim: np.flatnonzero(matching(name, wanted, curves[dim].to_numpy()))})
    if options.align is None and (options.method or options.tolerance is not None):
        raise ValueError("--method and --tolerance are for --align LEVELS. Say them: --align 0,1000,2000")
    if options.align in (None, "budget"):
        return curves
    return align(curves, parse_levels(options.align), method=options.method, tolerance=options.tolerance)


def _without_empty_tasks(curves: xr.DataArray, value: str) -> xr.DataArray:
    """Drop labels of extra dims without a score, with a warning."""
    for dim in labels.extra_dims(curves):
        has = curves.notnull().any([other for other in curves.dims if other != dim]).to_numpy()
        if has.any() and not has.all():
            left = listed(curves[dim].to_numpy()[~has])
            warnings.warn(f"--value {value}: left out {dim} without any score: {left}", UserWarning, stacklevel=2)
            curves = curves.isel({dim: has})
    return curves


def parse_selections(given: Sequence[str]) -> dict[str, list[str]]:
    """Return what is selected by name, as it was written."""
    selections: dict[str, list[str]] = {}
    for each in given:
        name, equals, wanted = each.partition("=")
        if not (name and equals and wanted):
            raise ValueError(f"--select {each}: say NAME=LABEL, such as --select task=Hopper")
        selections.setdefault(name, []).append(wanted)
    return selections


def matching(name: str, wanted: Sequence[str], values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are among the labels that are wanted, written alike or equal as numbers."""
    chosen = np.zeros(len(values), dtype=np.bool_)
    known = {str(value): value for value in dict.fromkeys(values.tolist())}
    for label in wanted:
        as_number = label not in known and values.dtype.kind in "iuf"
        found = values == (pd.to_numeric(label, errors="coerce") if as_number else known.get(label, label))
        if not np.any(found):
            has = [*known][:_SHOWN] + ["..."] * (len(known) > _SHOWN)
            near = labels.did_you_mean(label, known)
            raise ValueError(f"--select {name}={label}: there is none. {name} has {', '.join(has)}{near}")
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
        if not (step > 0 and stop >= start and (stop - start) / step < _MOST):
            raise ValueError
        return [float(start + number * step) for number in range(int((stop - start) / step) + 1)]
    except (ValueError, ArithmeticError):
        raise ValueError(
            f"--align takes {', '.join(_NAMED)}, budget, levels such as 0,1000,5000, or START:STOP:STEP; "
            f"got {given!r}. Put ARCHIVE before the options"
        ) from None
