"""Logs that are still written: files that changed since the last look are read again, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xcurves import readers
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.readers import logs
from xcurves.readers.cells import Decimal, as_numbers, decimal_mark
from xcurves.readers.open_files import expanding_to
from xcurves.readers.source import Source

Files = tuple[Path, ...]  # of a run
State = tuple[tuple[int, int], ...]  # when each file was written last, and its size

_BATCH = 100_000  # rows that are in memory at once


class NewRows(NamedTuple):
    """All rows of some runs, after their labels, and the files of these runs."""

    frame: pd.DataFrame
    files: list[Files]  # of each row: those at its place of `number`
    number: list[int]


class GrowingLogs:
    """The logs at a path, as `readers.read` reads them, in parts.

    Attributes
    ----------
    unread : dict
        From the files of a run that could not be read, as they are being written, to why.
    written : dict
        From the files of each run to when they were written last, in seconds.
    """

    def __init__(
        self,
        path: Path,
        source: str | None = None,
        folders: Sequence[str] | None = None,
        names: str | None = None,
        *,
        decimal: Decimal | None = None,
        max_expanded: float = 1e9,
        besides: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.unread: dict[Files, str] = {}
        self.written: dict[Files, float] = {}
        self._asked = source
        self._names = (folders, names)
        self._decimal = decimal
        self._max_expanded = max_expanded
        self._besides = besides
        self._seen: dict[Path, tuple[int, int]] = {}
        self._read: dict[Files, State] = {}
        self._source: Source | None = None
        self._runs = logs.Runs(pd.DataFrame(), [])

    def has_changed(self) -> bool:
        """Look at the files again; return whether one changed, came or went since the last time that this was asked."""
        before = self._seen
        self._seen = {file: _state(file) for file in logs.files_below(self.path, *self._hidden)}
        if before.keys() != self._seen.keys():
            self._source = None
        return before != self._seen

    def forget(self) -> None:
        """Take all files as changed."""
        self._read = {}

    def start_again(self) -> None:
        """Look at all files as if there had been none before."""
        self._read, self._seen = {}, {}

    def changed(self) -> Iterator[NewRows]:
        """Yield the rows of runs of which a file changed since they were yielded, in parts."""
        with expanding_to(self._max_expanded), decimal_mark(self._decimal):
            if self._source is None:
                self._find_runs()
            new, n_rows, placed = dict[int, pd.DataFrame](), 0, False
            for number, files in self._numbered():
                state = tuple(self._seen.get(file, (0, 0)) for file in files)
                if self._read.get(files) == state:
                    continue
                rows, is_placed = self._rows_of(number, files)
                if rows is None:
                    continue
                self._read[files] = state
                new[number] = rows
                n_rows += len(rows)
                placed = placed or is_placed
                if n_rows > _BATCH:
                    yield self._joined(new, are_placed=placed)
                    new, n_rows = {}, 0
            if new:
                yield self._joined(new, are_placed=placed)

    @property
    def files(self) -> list[Files]:
        """The files of each run."""
        return [tuple(files) for files in self._runs.files]

    @property
    def _hidden(self) -> list[str]:
        if self._source is not None:
            return [self._source.hidden]
        return [source.hidden for source in readers.SOURCES]

    def _find_runs(self) -> None:
        """Find which runs there are, and forget those of which the labels changed."""
        source = readers.recognize(self.path, self._asked, besides=self._besides)
        before = dict(zip(self.files, _labels_of(self._runs), strict=True))
        if not source.reads_whole(self.path):
            runs = logs.find_runs(self.path, source, *self._names)
        else:
            every = logs.find_logs(self.path, source)
            runs = logs.Runs(pd.DataFrame(index=[0]), [every])
        self._source, self._runs = source, runs
        for files, labels in zip(self.files, _labels_of(runs), strict=True):
            if before.get(files) != labels:
                self._read.pop(files, None)
        self._read = {files: self._read[files] for files in self.files if files in self._read}

    def _numbered(self) -> list[tuple[int, Files]]:
        for files in self.files:
            self.written[files] = max(self._seen.get(file, (0, 0))[0] for file in files) / 1e9
        return list(enumerate(self.files))

    def _rows_of(self, number: int, files: Files) -> tuple[pd.DataFrame | None, bool]:
        """Return the rows of a run, None if its files cannot be read now."""
        assert self._source is not None
        self.unread.pop(files, None)
        try:
            if self._source.reads_whole(self.path):
                return readers.read_known(self.path, self._source, *self._names), False
            run = logs.rows_of_run(self.path, self._source, self._runs, number)
        except (Refusal, OSError) as error:  # a line is half written, or the file is gone
            if self._source.reads_whole(self.path) or len(self._runs.files) == 1:
                raise
            self.unread[files] = str(error)
            return None, False
        return run.rows, run.are_placed

    def _joined(self, new: dict[int, pd.DataFrame], *, are_placed: bool) -> NewRows:
        """Return rows of runs as `read` does, and which run each is of."""
        assert self._source is not None
        if self._source.reads_whole(self.path):
            frame = next(iter(new.values()))
        else:
            frame = logs.join_runs(self.path, self._source, self._runs, new, are_placed=are_placed)
        frame = readers.told(as_numbers(frame), self._source, *self._names)
        if len(frame) != sum(map(len, new.values())):
            raise Refusal("path", UNSAID, f"{self.path} has rows that are of no file", "Read it whole")
        files = [tuple(self._runs.files[number]) for number in new]
        number = [place for place, rows in enumerate(new.values()) for _ in range(len(rows))]
        return NewRows(frame, files, number)


def _state(file: Path) -> tuple[int, int]:
    """Return when a file was written last, in ns, and its size; zeros of one that is gone."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _labels_of(runs: logs.Runs) -> list[dict[Any, Any]]:
    """Return the labels of each run."""
    if runs.labels.columns.empty:  # of which old versions of pandas make no records
        return [{}] * len(runs.labels)
    return runs.labels.to_dict("records")
