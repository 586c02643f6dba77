"""What the command line reads: tables, archives and folders of logs, each brought to labelled curves."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import tutorial
from xcurves.archive import read as read_archive
from xcurves.cli.selection import matching, parse_levels, parse_selections
from xcurves.core import labels
from xcurves.core.labels import DIMS
from xcurves.preprocessing.alignment import align, drop_incomplete
from xcurves.preprocessing.frames import to_dataarray

EXAMPLE = "tictactoe"
_TABLES = (".csv", ".csv.gz")
_CHART = " - "


class Table(NamedTuple):
    """A tidy frame, and what its columns are if no option says so."""

    frame: pd.DataFrame
    value: str | None = None
    training: str = "training"
    extra: Sequence[str] = ()


def open_archive(options: argparse.Namespace) -> Table | xr.Dataset | xr.DataTree:
    """Open what the options name, whatever it is."""
    path: Path | None = options.archive
    if path is None:
        return tutorial.open_dataset(EXAMPLE)
    if not path.exists():
        raise FileNotFoundError(f"ARCHIVE {path} does not exist")
    if path.name.endswith(_TABLES):
        return _read_table(path, options)
    if path.is_dir():
        for pattern, read in _FOLDERS.items():
            if next(path.rglob(pattern), None):
                return read(path, options.folders or ["algorithm", "run"])
    try:
        return read_archive(path)
    except ValueError as error:
        raise ValueError(f"{error} (a table must end in {' or '.join(_TABLES)})") from error


def read_curves(archive: Table | xr.Dataset, options: argparse.Namespace) -> Iterator[tuple[str, xr.DataArray]]:
    """Yield the curves that the options ask for, with the name of each."""
    read: Callable[[str], xr.DataArray]
    if isinstance(archive, Table):
        table = archive._replace(frame=_select_rows(archive, options))
        taken = _columns(table, options).values()
        values = [table.value] if table.value else [str(name) for name in table.frame if name not in taken]
        kind, read = "column", partial(_from_table, table, options)
    else:
        values = [str(name) for name in archive.data_vars]
        kind, read = "variable", partial(_from_dataset, archive, options)
    for value in options.value or [_only(kind, values)]:
        curves = _without_empty_tasks(read(value), value, partial(_scored, archive, value))
        yield value, drop_incomplete(curves) if options.drop_incomplete else curves


def _read_table(path: Path, options: argparse.Namespace) -> Table:
    try:
        head = pd.read_csv(path, nrows=0).columns.tolist()
        if len(head) > 1 and all(_CHART in column for column in head[1:]):
            return _read_chart(path, options.names)
        return Table(pd.read_csv(path, low_memory=False))
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"ARCHIVE {path} is empty. Write it again, or name another") from error
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"ARCHIVE {path} is no CSV that can be read: {error}") from error


def _read_chart(path: Path, pattern: str) -> Table:
    from xcurves.readers import wandb

    frame = wandb.chart(path)
    parts = frame["name"].str.extract(f"^(?:{pattern})$")
    strange = frame["name"][parts.isna().any(axis=1)]
    if len(strange) or not {"algorithm", "run"} <= set(parts):
        told = f"{strange.iloc[0]!r} does not match" if len(strange) else "it names no algorithm and run"
        raise ValueError(f"--names {pattern}: {told}. Say how names of runs are made: (?P<algorithm>...)(?P<run>...)")
    runs = parts["run"].astype(int) if parts["run"].str.isdecimal().all() else parts["run"]
    metrics = [str(name) for name in frame.columns[2:]]
    training = str(frame.columns[1])
    return Table(frame.assign(**{**parts, "run": runs}).drop(columns="name"), _one_of(metrics), training)


def _read_monitor(path: Path, folders: list[str]) -> Table:
    from xcurves.readers import monitor

    return Table(monitor.episodes(path, folders=folders), "return", "step", _tasks(folders))


def _read_events(path: Path, folders: list[str]) -> Table:
    from xcurves.readers import tensorboard

    return Table(tensorboard.scalars(path, folders=folders), "value", "step", _tasks(folders))


_FOLDERS: dict[str, Callable[[Path, list[str]], Table]] = {
    "*monitor.csv": _read_monitor,
    "*tfevents*": _read_events,
}


def _tasks(folders: Sequence[str]) -> list[str]:
    return [name for name in folders if name not in DIMS]


def _one_of(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _only(kind: str, names: Sequence[str]) -> str:
    if len(names) != 1:
        raise ValueError(
            f"the archive has {len(names)} {kind}s that could be scores. Name one: --value {'|'.join(names)}"
        )
    return names[0]


def _columns(table: Table, options: argparse.Namespace) -> dict[str, str]:
    """Return the column of each dim."""
    usual = {"algorithm": "algorithm", "run": "run", "training": table.training}
    given = {dim: getattr(options, dim) or column for dim, column in usual.items()}
    renamed = {given["algorithm"], given["run"], given["training"]}
    return given | {name: name for name in [*table.extra, *options.extra] if name not in renamed}


def _select_rows(table: Table, options: argparse.Namespace) -> pd.DataFrame:
    frame, columns = table.frame, _columns(table, options)
    for name, wanted in parse_selections(options.select).items():
        column = columns.get(name, name)
        if column not in frame.columns:
            has = ", ".join(map(repr, frame.columns))
            raise KeyError(f"--select {name}={wanted[0]}: {column!r} is no column of ARCHIVE. It has {has}")
        frame = frame[matching(name, wanted, frame[column].to_numpy())]
    tags = frame["tag"].unique().tolist() if "tag" in frame and "tag" not in columns.values() else []
    if len(tags) > 1:
        raise ValueError(f"ARCHIVE has {len(tags)} tags. Name one: --select tag={'|'.join(map(str, tags))}")
    return frame


def _from_table(table: Table, options: argparse.Namespace, value: str) -> xr.DataArray:
    columns = _columns(table, options)
    dims = {dim: columns.pop(dim) for dim in DIMS}
    return to_dataarray(
        table.frame,
        value,
        **dims,
        extra=list(columns),
        on=None if options.align is None else parse_levels(options.align),
        method=options.method,
        tolerance=options.tolerance,
        duplicates=options.duplicates,
    )


def _from_dataset(dataset: xr.Dataset, options: argparse.Namespace, value: str) -> xr.DataArray:
    if value not in dataset.data_vars:
        has = ", ".join(map(repr, dataset.data_vars))
        raise KeyError(f"--value {value} is no variable of ARCHIVE. It has {has}")
    curves = dataset[value]
    named = {getattr(options, dim): dim for dim in DIMS}
    curves = curves.rename({name: dim for name, dim in named.items() if name != dim and name in curves.dims})
    for name, wanted in parse_selections(options.select).items():
        dim = named.get(name, name)
        if dim not in curves.dims:
            has = ", ".join(map(str, curves.dims))
            raise KeyError(f"--select {name}={wanted[0]}: {name!r} is no dim of {value}. It has {has}")
        curves = curves.isel({dim: np.flatnonzero(matching(name, wanted, curves[dim].to_numpy()))})
    if options.align is None:
        if options.method or options.tolerance is not None:
            raise ValueError("--method and --tolerance are for --align LEVELS. Say them: --align 0,1000,2000")
        return curves
    return align(curves, parse_levels(options.align), method=options.method, tolerance=options.tolerance)


def _scored(archive: Table | xr.Dataset, value: str, dim: str) -> set[Any]:
    """Return the labels of an extra dim that have a score of this value before runs are aligned."""
    if isinstance(archive, Table):
        return set(archive.frame.loc[archive.frame[value].notna(), dim])
    curves = archive[value]
    has = curves.notnull().any([other for other in curves.dims if other != dim])
    return set(curves[dim].to_numpy()[has.to_numpy()].tolist())


def _without_empty_tasks(curves: xr.DataArray, value: str, scored: Callable[[str], set[Any]]) -> xr.DataArray:
    """Leave out the labels of extra dims without a score: say which had none, those that `align` took it has named."""
    for dim in labels.extra_dims(curves):
        has = curves.notnull().any([other for other in curves.dims if other != dim]).to_numpy()
        if has.any() and not has.all():
            never = [label for label in curves[dim].to_numpy()[~has].tolist() if label not in scored(str(dim))]
            if never:
                told = f"--value {value}: {dim} without a score of it left out: {', '.join(map(str, never))}"
                warnings.warn(told, UserWarning, stacklevel=2)
            curves = curves.isel({dim: np.flatnonzero(has)})
    return curves
