"""Input of the command line: tables, archives and folders of logs, what is selected of them, and how it is read."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves import readers
from xcurves.archive import read as read_archive
from xcurves.archive_formats import engine_to_read
from xcurves.cli.options import NONE, SUBCOMMANDS, not_found
from xcurves.core import labels, matched_runs
from xcurves.core.known import known_of
from xcurves.core.labels import DIMS
from xcurves.core.names import dims_called
from xcurves.core.refusal import Refusal, Text, of_path
from xcurves.core.validation import existing_path, nearest_path
from xcurves.frames.finder import read_settled
from xcurves.frames.reading import Reading
from xcurves.frames.run_labels import with_labels
from xcurves.frames.wide_tables import as_rows
from xcurves.readers.open_files import expanding_to
from xcurves.say.numbers import listed

EXAMPLE = "benchmark"
# of an archive even if it is empty or damaged
_SUFFIXES = (".nc", ".h5netcdf", ".nc4", ".zarr")
_SHOWN = 12  # labels


class Table(NamedTuple):
    """A tidy frame, the column of its scores if it is known, those of dims and tasks, and how that was read."""

    frame: pd.DataFrame
    value: str | None
    columns: dict[str, str]
    how_read: str = ""  # once names are
    reading: Reading | None = None  # then too


def is_archive(path: Path) -> bool:
    """Return whether a path is that of an archive, which may be empty or damaged."""
    try:
        return bool(engine_to_read(path))
    except ValueError:
        return path.suffix in _SUFFIXES


def open_archive(options: argparse.Namespace) -> Table | xr.Dataset | xr.DataTree:
    """Open what the options name: an archive, or logs that a reader knows."""
    path = options.archive
    if path is None:
        from xcurves import tutorial

        return tutorial.open_dataset(EXAMPLE)
    if not path.exists():
        raise Refusal("path", str(path), Text(of_path(path), " does not exist"), nearest_path(path, SUBCOMMANDS))
    existing_path(path)
    if is_archive(path):
        return read_archive(path)
    # A pattern of columns is of the file as it is.
    besides: Sequence[Any] = ()
    if options.columns:
        besides = readers.TABLES_OF_SCORES
    with expanding_to(options.max_expanded):
        source = readers.recognize(path, options.source, besides=besides)
    how = {
        "folders": options.folders,
        "names": options.names,
        "max_expanded": options.max_expanded,
        "decimal": options.decimal,
    }
    return table_of(readers.read(path, source=source.name, **how), options)


def table_of(frame: pd.DataFrame, options: argparse.Namespace) -> Table:
    """Return what was read, with the columns that options name."""
    frame = _as_asked(labelled(frame, options), options)
    columns = {dim: getattr(options, dim) for dim in DIMS if isinstance(getattr(options, dim), str)}
    tasks = _tasks_of(frame, options)
    if tasks:
        tasks = [*known_of(frame).extra, *tasks]
    columns |= {name: name for name in tasks if name not in (*DIMS, *columns.values())}
    return Table(frame, None, columns)


def labelled(frame: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    """Return a frame whose runs have labels in place of paths, unless options name the column of paths."""
    return with_labels(frame, [*(getattr(options, dim) for dim in DIMS), options.extra, options.task_groups])


def _tasks_of(frame: pd.DataFrame, options: argparse.Namespace) -> list[str]:
    """Return the columns of tasks that are named, none of `--extra none`."""
    return [name for name in options.extra if name != NONE or name in frame]


def _as_asked(frame: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    """Return a frame in which wide columns are rows, as options ask."""
    dims = {dim: given for dim in DIMS if (given := getattr(options, dim)) is not None}
    kept = [*_tasks_of(frame, options), *filter(None, [getattr(options, "by", None)])]
    long, made = as_rows(frame, options.columns, options.value or [], dims, kept)
    if options.value is None and len(made) == 1:
        options.value = made
    return long


def select(opened: Table | xr.Dataset, options: argparse.Namespace, *, may_lack: bool = False) -> Table | xr.Dataset:
    """Return the rows of a table, or the labels of dims, that `--select` names; a part of a table may lack some."""
    selections: dict[str, list[str]] = {}
    for each in options.select:
        name, _, label = each.partition("=")
        if not (name and label):
            raise Refusal(
                "select",
                each,
                f"--select {each}: say NAME=LABEL, such as --select task=Hopper",
            )
        selections.setdefault(name, []).append(label)
    where = options.archive or EXAMPLE
    if not isinstance(opened, Table):
        # Before anything is left out: colours are those of the whole archive.
        opened = labels.with_color_index(opened)
        dims = {dim: getattr(options, dim) or dim for dim in DIMS}
        for name, labels_of in selections.items():
            dim = _known(name, labels_of, opened.dims, dims, f"dim of {where}")
            opened = opened.isel({dim: matching(name, labels_of, opened[dim].to_numpy())})
        return opened
    frame = opened.frame
    for name, labels_of in selections.items():
        column = _known(name, labels_of, frame.columns, opened.columns, f"column of {where}")
        frame = frame[matching(name, labels_of, frame[column].to_numpy(), may_lack=may_lack)]
    return opened._replace(frame=frame)


def _known(
    name: str,
    wanted: list[str],
    known: Iterable[Any],
    renamed: dict[str, str],
    what: str,
) -> str:
    """Return the column, or the dim, of a name."""
    column = renamed.get(name, name)
    if column not in known:
        raise not_found(
            "select",
            f"{name}={wanted[0]}",
            f"--select {name}={wanted[0]}: {column!r} is no {what}",
            name,
            known,
            renamed,
        )
    return column


def matching(name: str, wanted: Sequence[str], values: NDArray[Any], *, may_lack: bool = False) -> NDArray[np.bool_]:
    """Return which values are among the labels that are wanted, written alike or equal as numbers."""
    known = {str(value): value for value in dict.fromkeys(values.tolist())}
    chosen = np.zeros(len(values), dtype=np.bool_)
    for label in wanted:
        equal: Any = label
        if values.dtype.kind in "iuf":
            equal = pd.to_numeric(label, errors="coerce")
        is_wanted = values == known.get(label, equal)
        if not np.any(is_wanted) and not may_lack:
            near = labels.did_you_mean(label, known)
            raise Refusal(
                "select",
                f"{name}={label}",
                f"--select {name}={label}: there is none",
                f"{name} has {listed(known, _SHOWN)}{near}",
            )
        chosen |= is_wanted
    return chosen


def read_as(opened: Table | xr.Dataset, options: argparse.Namespace) -> tuple[Table | xr.Dataset, str]:
    """Return what was selected with its names known, and one line that says how it is read."""
    if isinstance(opened, Table):
        table = read_names(opened, options)
        return table, table.how_read
    asked = {dim: getattr(options, dim) for dim in DIMS if isinstance(getattr(options, dim), str)}
    renamed = dims_called(list(map(str, opened.dims)), asked)
    if not renamed:
        return opened, ""
    readings = ", ".join(f"{dim} = {name}" for name, dim in renamed.items())
    return opened.rename(renamed), f"read as {readings}"


def read_names(table: Table, options: argparse.Namespace) -> Table:
    """Return a table with the columns of its score, dims and tasks; ask for all that cannot be told at once."""
    if table.how_read:
        return table
    given = _given(table, options)
    reading = read_settled(table.frame, given, given)
    columns = {dim: getattr(reading, dim) for dim in DIMS if getattr(reading, dim) is not None}
    columns |= {name: name for name in reading.tasks}
    said = reading.said
    if reading.matched and getattr(options, "paired", False) is None:
        said += f"; runs are {reading.matched}s, compared as matched (else: --not-paired)"
    repeated = matched_runs.columns_of_repeats(reading.made)
    if repeated:
        said += f"; repeats are not independent (one run a fold: --run {repeated[-1]} --duplicates mean)"
    return Table(reading.frame, reading.score, columns, said, reading)


def _given(table: Table, options: argparse.Namespace) -> dict[str, Any]:
    """Return what options and the source say of the names."""
    given: dict[str, Any] = {}
    for dim in DIMS:
        asked = getattr(options, dim)
        if dim != "run" and asked == NONE and asked not in table.frame:
            given[dim] = None
        elif asked is not None:
            given[dim] = asked
    tasks = [name for name in table.columns if name not in DIMS]
    if tasks or options.extra:
        given["tasks"] = tasks
    if options.task_groups is not None:
        given["passage"] = options.task_groups
    if getattr(options, "by", None) is not None:  # which commands of single comparisons do without
        given["coords"] = [options.by]
    given["missing_scores"] = options.missing_scores
    given["duplicates"] = options.duplicates
    given["higher_is_better"] = options.higher_is_better
    if options.value:
        given["score"] = options.value[0]
    elif table.value is not None:
        given["score"] = table.value
    return given
