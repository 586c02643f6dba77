"""Runs that are going on: the curve of each as far as it is, of which only files that changed are read again."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import readers
from xcurves.array_types import Floats
from xcurves.cli.curves_asked import read_curves, where_from, with_direction
from xcurves.cli.options import NONE
from xcurves.cli.sources import Table, labelled, read_names, select, table_of
from xcurves.core import direction
from xcurves.core.known import RUN_PATH
from xcurves.core.labels import DIMS, EVALUATION, extra_dims
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.validation import NO_TRAINING
from xcurves.frames.reading import Reading
from xcurves.frames.run_labels import LABELS
from xcurves.readers.growing import Files, GrowingLogs, NewRows
from xcurves.reporting.answer import reading_of

Cell = tuple[str, str]  # a task, "" where there is one, and an algorithm

_FIRST_ROWS = 100_000  # of all runs together, by which columns are recognised
_TASK = "task"


class RunName(NamedTuple):
    """The labels of a run, as texts."""

    task: str
    algorithm: str
    run: str

    @property
    def cell(self) -> Cell:
        """Its task and its algorithm."""
        return self.task, self.algorithm

    @property
    def words(self) -> str:
        """The run as a line names it."""
        return " ".join(filter(None, self))


class RunCurve(NamedTuple):
    """The scores of a run at its levels so far, and the files that it is read from."""

    levels: Floats
    scores: Floats
    files: Files


class _Roles(NamedTuple):
    """Which columns are what, and whether each file can be read by itself."""

    by_file: bool
    score: str
    columns: tuple[tuple[str, str], ...]


class WatchedRuns:
    """The runs in logs that are still written.

    Attributes
    ----------
    curves : dict
        From the name of each run to its curve so far.
    introduction : list of str
        The lines that say where the rows come from, and which column is what.
    higher_is_better : bool
        Which end of the scores is better.
    is_assumed : bool
        Whether nothing says that it is.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        besides: Sequence[str] = readers.TABLES_OF_SCORES if options.columns else ()
        self.curves: dict[RunName, RunCurve] = {}
        self.introduction: list[str] = []
        self.higher_is_better = True
        self.is_assumed = False
        self._options = options
        self._logs = GrowingLogs(
            options.archive,
            options.source,
            options.folders,
            options.names,
            decimal=options.decimal,
            max_expanded=options.max_expanded,
            besides=besides,
        )
        self._first: dict[Files, pd.DataFrame] = {}
        self._roles: _Roles | None = None
        self._attrs: dict[Hashable, Any] = {}  # of the rows that were read last: they know of all runs
        self._labels: dict[str, tuple[str, ...]] = {}  # of each path; a new run may change those of others
        self._reading = Reading(pd.DataFrame())

    def refresh(self) -> bool:
        """Read what changed since the last time; return whether anything did."""
        if not self._logs.has_changed() and not self._logs.unread:
            return False
        try:
            with warnings.catch_warnings(action="ignore"):  # what is said of files at every look
                return self._read_changes()
        except (Refusal, OSError):
            self._logs.start_again()
            raise

    def _read_changes(self) -> bool:
        new = list(self._logs.changed())
        before, labels = self._roles, self._labels
        if self._keep_first_rows(new):
            self._roles = self._find_roles()
        if self._roles is None:
            return False
        is_relabelled = any(self._labels.get(path, label) != label for path, label in labels.items())
        if before is not None and (is_relabelled or self._roles != before or not self._roles.by_file):
            self._logs.forget()
            new = list(self._logs.changed())
            self.curves = {}
        if not self._roles.by_file:
            new = [_one_part(new)]
        self._forget_what_is_gone()
        while new:
            self._take(new.pop(0))
        return True

    @property
    def unread(self) -> Mapping[Files, str]:
        """The files that cannot be read now, and why."""
        return self._logs.unread

    def written(self, name: RunName) -> float:
        """Return when the files of a run were written last, in seconds."""
        return self._logs.written.get(self.curves[name].files, 0.0)

    @property
    def training(self) -> str:
        """What the levels of training are called, "" where there is none."""
        return self._reading.training or ""

    @property
    def score(self) -> str:
        """What the scores are called."""
        return str(self._reading.score)

    @property
    def reading(self) -> dict[str, Any]:
        """Which column is what, as answers have it."""
        end: direction.End = "higher" if self.higher_is_better else "lower"
        return reading_of(self._reading.as_json(self._reading.made), end, is_assumed=self.is_assumed)

    @property
    def noun(self) -> str:
        """What the dim of tasks is called."""
        return str(self._reading.tasks[0]) if len(self._reading.tasks) == 1 else _TASK

    def table(self, picked: Mapping[Cell, Sequence[str]], ends: Mapping[str, float]) -> Table:
        """Return the scores of the runs that were picked, numbered from 1 in each cell, up to a level of each task."""
        reading = self._reading
        has_tasks = bool(reading.tasks)
        columns = {"algorithm": "algorithm", "run": "run"}
        if reading.training is not None:
            columns["training"] = reading.training
        if has_tasks:
            columns[self.noun] = self.noun
        rows = [self._rows(cell, names, ends[cell[0]], columns) for cell, names in picked.items()]
        frame = pd.concat(rows, ignore_index=True)
        frame.attrs = dict(reading.frame.attrs)
        numbered = replace(
            reading,
            frame=frame,
            algorithm="algorithm",
            run="run",
            tasks=(self.noun,) if has_tasks else (),
            passage=None,
            matched="",
            numbered=False,
            coords=(),
            state=None,
        )
        return Table(frame, reading.score, columns, self.introduction[-1], numbered)

    def _rows(self, cell: Cell, names: Sequence[str], end: float, columns: Mapping[str, str]) -> pd.DataFrame:
        """Return the scores of runs of one algorithm in one task, one in each row."""
        parts = []
        for number, run in enumerate(names, 1):
            curve = self.curves[RunName(*cell, run)]
            kept = curve.levels <= end
            rows: dict[str, object] = {"algorithm": cell[1], "run": number, self.score: curve.scores[kept]}
            if "training" in columns:
                rows[columns["training"]] = curve.levels[kept]
            if self.noun in columns:
                rows[self.noun] = cell[0]
            parts.append(pd.DataFrame(rows))
        return pd.concat(parts, ignore_index=True)

    # which column is what

    def _keep_first_rows(self, new: Sequence[NewRows]) -> bool:
        """Keep the first rows of each run, by which columns are recognised; return whether there are new ones."""
        most = max(2, _FIRST_ROWS // max(len(self._logs.files), 1))
        changed = False
        for part in new:
            self._attrs = dict(part.frame.attrs)
            bounds = np.flatnonzero(np.diff(part.number, prepend=-1, append=-1))
            for begin, end in pairwise(bounds.tolist()):
                files = part.files[part.number[begin]]
                rows = part.frame.iloc[begin : min(end, begin + most)]
                before = self._first.get(files)
                if before is None or len(before) < min(len(rows), most):
                    self._first[files] = rows.copy()
                    changed = True
        return changed

    def _find_roles(self) -> _Roles:
        """Recognise the columns by the first rows of all runs; ask where that is not clear."""
        first = list(self._first.values())
        read = pd.concat(first, ignore_index=True)
        read.attrs = dict(self._attrs)
        frame = labelled(read, self._options)
        if RUN_PATH in read:
            names = frame[[name for name in LABELS if name in frame]].astype(str)
            self._labels = dict(zip(read[RUN_PATH], names.itertuples(index=False, name=None), strict=True))
        named = read_names(self._selected(frame, self._options), self._options)
        assert named.reading is not None
        values = self._options.value or [named.value]
        if len(values) > 1:
            raise Refusal("value", UNSAID, f"--value is given {len(values)} times; watch has one", "Name one")
        self.introduction = [*where_from(frame), named.how_read]
        self._reading = replace(named.reading, score=str(values[0]))
        columns = tuple((dim, name) for dim, name in named.columns.items())
        by_file = {values[0], *named.columns.values()} <= set(frame) and not self._options.columns
        if by_file:
            labels = [name for dim, name in columns if dim != "training"]
            of_files = pd.Series(np.repeat(np.arange(len(first)), [len(rows) for rows in first]))
            by_file = not labels or bool(of_files.groupby([frame[name] for name in labels]).nunique().max() <= 1)
        return _Roles(by_file, str(values[0]), columns)

    @staticmethod
    def _selected(frame: pd.DataFrame, options: argparse.Namespace, *, may_lack: bool = False) -> Table:
        table = select(table_of(frame, options), options, may_lack=may_lack)
        assert isinstance(table, Table)
        return table

    def _typed(self) -> argparse.Namespace:
        """Return options that name all columns that were recognised: a part of the runs need not say which is what."""
        assert self._roles is not None
        columns = dict(self._roles.columns)
        typed = {dim: columns.get(dim) for dim in DIMS}
        typed["training"] = columns.get("training", NONE)
        extra = [name for dim, name in columns.items() if dim not in DIMS]
        return argparse.Namespace(**vars(self._options) | typed | {"extra": extra, "value": [self._roles.score]})

    # the curves

    def _take(self, part: NewRows) -> None:
        """Take the curves of runs that changed in the place of those before."""
        assert self._roles is not None
        options, files_of = self._options, {}
        part = part._replace(frame=labelled(part.frame, options))
        if self._roles.by_file:
            options = self._typed()
            files_of = self._files_of(part)
        table = self._selected(part.frame, options, may_lack=True)
        if table.frame.empty:
            return
        named = read_names(table, options)
        has_training = named.reading is not None and named.reading.training is not None
        curves = read_curves(named, self._roles.score, options, own_levels=has_training)
        directed, _ = with_direction(curves, options)
        self.higher_is_better = direction.find(directed).higher
        self.is_assumed = bool(direction.assumed_in(directed))
        every = tuple(file for files in self._logs.files for file in files)
        for name, levels, scores in _each_run(curves):
            self.curves[name] = RunCurve(levels, scores, files_of.get(name, every))

    def _files_of(self, part: NewRows) -> dict[RunName, Files]:
        """Return the files of each run of a part in which each run has its own."""
        assert self._roles is not None
        columns = dict(self._roles.columns)
        tasks = [name for dim, name in columns.items() if dim not in DIMS]
        names = [*tasks, *(columns[dim] for dim in ("algorithm", "run") if dim in columns)]
        labels = part.frame[names].assign(_number=part.number).drop_duplicates()
        found = {}
        for *row, number in labels.itertuples(index=False, name=None):
            of_tasks = ", ".join(map(str, row[: len(tasks)]))
            rest = dict(zip([dim for dim in ("algorithm", "run") if dim in columns], row[len(tasks) :], strict=True))
            name = RunName(of_tasks, str(rest.get("algorithm", 0)), str(rest.get("run", 0)))
            found[name] = part.files[number]
        return found

    def _forget_what_is_gone(self) -> None:
        there = set(self._logs.files)
        self._first = {files: rows for files, rows in self._first.items() if files in there}
        assert self._roles is not None
        if self._roles.by_file:
            self.curves = {name: curve for name, curve in self.curves.items() if curve.files in there}


def _one_part(new: Sequence[NewRows]) -> NewRows:
    """Return the rows of all runs together."""
    frame = pd.concat([part.frame for part in new], ignore_index=True)
    frame.attrs = dict(new[0].frame.attrs)
    return NewRows(frame, [], [])


def _each_run(curves: xr.DataArray) -> Iterator[tuple[RunName, Floats, Floats]]:
    """Yield the name of each run that has a score, its levels and its scores."""
    last = EVALUATION if EVALUATION in curves.dims else "training"
    ordered = curves.transpose(*extra_dims(curves), "algorithm", "run", last)
    values = ordered.to_numpy()
    levels = np.zeros(values.shape)
    if NO_TRAINING not in curves.attrs:
        levels = np.broadcast_to(ordered["training"].transpose(..., last).to_numpy(), values.shape)
    labels = [ordered[dim].to_numpy().tolist() for dim in ordered.dims[:-1]]
    for place in np.argwhere(~np.isnan(values).all(axis=-1)).tolist():
        row = tuple(place)
        kept = ~np.isnan(values[row])
        *of_tasks, algorithm, run = (str(each[index]) for each, index in zip(labels, row, strict=True))
        yield RunName(", ".join(of_tasks), algorithm, run), levels[row][kept], values[row][kept]
