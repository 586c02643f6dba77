"""What the command line does: read, analyse, write, print."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import xarray as xr

import xcurves
from xcurves import archive
from xcurves.anova.randomized_anova import randomized_anova
from xcurves.cli.sources import EXAMPLE, Table, curves_of_options, open_archive
from xcurves.core.tables import cell_text
from xcurves.reporting import page
from xcurves.results import find_kind, parts_of, summary_of_part

_EXAMPLE_PARTS = ("across_tasks", "profile_across_tasks")
_LONG = 24  # rows; longer tables are not printed
_ENDINGS = re.compile(r"(?i)(?:\.csv\.gz|\.csv|\.nc|\.zarr)$")


class Outputs(NamedTuple):
    """What is written of each value of the scores, and where."""

    options: argparse.Namespace
    what: str
    parts: Sequence[str] | None
    output: Path
    report: Path | None

    @classmethod
    def of(cls, options: argparse.Namespace) -> Outputs:
        """Return what options ask for: an ANOVA, an analysis, or the answer over the tasks of the example."""
        asked = options.include or ["all"]
        parts = None if "all" in asked else asked
        if options.archive is None and options.include is None:
            what, parts, page = "across_tasks", _EXAMPLE_PARTS, Path(f"{EXAMPLE}.html")
        else:
            what, page = "analysis" if options.include or options.report else "anova", None
        stem = EXAMPLE if options.archive is None else _ENDINGS.sub("", options.archive.resolve().name)
        return cls(options, what, parts, options.output or Path(f"{stem}-{what}.nc"), options.report or page)

    def of_value(self, value: str) -> Outputs:
        """Return the job of one of several values, whose name is part of the paths; of the only one, the same."""
        if not self.options.value or len(self.options.value) < 2:
            return self
        ending = value.replace("/", "_")
        report = self.report and self.report.with_stem(f"{self.report.stem}-{ending}")
        return self._replace(output=self.output.with_stem(f"{self.output.stem}-{ending}"), report=report)


def run_job(options: argparse.Namespace) -> list[Path]:
    """Do the job; return what was written."""
    job = Outputs.of(options)
    _check_places(job)
    opened = open_archive(options)
    if isinstance(opened, Table):
        print(f"Source: {opened.frame.attrs['source']}\n", flush=True)
    if isinstance(opened, xr.DataTree) and options.include is None:
        if not options.report:
            raise ValueError(
                f"ARCHIVE {options.archive} holds an analysis. Make its page: --report page.html, or analyse its "
                "curves again: --include all"
            )
        if options.output:
            said = "ARCHIVE is an analysis already. Leave it out, or say --include"
            raise ValueError(f"--output {options.output}: {said}")
        return [_write_report(opened, options.report)]
    if isinstance(opened, xr.DataTree):
        opened = opened["curves"].to_dataset() if "curves" in opened else xr.Dataset()
    elif isinstance(opened, xr.Dataset) and (kind := find_kind(opened)):
        raise ValueError(
            f"ARCHIVE {options.archive} holds a result of {kind.name}, not curves. "
            "Name the archive that it was made from"
        )
    written: list[Path] = []
    try:
        for value, curves in curves_of_options(opened, options):
            if job.of_value(value) is not job:
                print(f"== {value} ==\n")
            _analyse(curves, job.of_value(value), written)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*written) from None
    return written


def _analyse(curves: xr.DataArray, job: Outputs, written: list[Path]) -> None:
    """Analyse the curves of one value; add to what was written."""
    given = {name: getattr(job.options, name) for name in ("paired", "n_resamples", "confidence_level", "rng")}
    if job.what == "anova":
        result = randomized_anova(curves, **given).compute()
        archive.write(result, job.output)
        print(xcurves.summary(result), _format(xcurves.table(result)), "", sep="\n\n", end="")
    else:
        tree = xcurves.analyze(curves, include=job.parts, **given)
        archive.write(tree[job.what].to_dataset() if job.what == "across_tasks" else tree, job.output)
        for part, result in parts_of(tree).items():
            table = xcurves.table(result)
            shown = [_format(table)] if len(table) <= _LONG else []
            print(f"-- {part.replace('_', ' ')} --", summary_of_part(result), *shown, "", sep="\n\n", end="")
        if "left_out" in tree.attrs:
            print(f"Left out:\n{tree.attrs['left_out']}\n")
    written.append(job.output)
    print(f"Results: {job.output}")
    if job.report:
        written.append(_write_report(tree, job.report))


def _write_report(tree: xr.DataTree, path: Path) -> Path:
    xcurves.report(tree, path)
    print(f"Report: {path}")
    return path


def _check_places(job: Outputs) -> None:
    """Before the work, refuse paths that cannot be written, and a path that is given twice."""
    given = job.options.archive
    taken: dict[str, str] = {}
    writable = partial(archive.check_writable, is_tree=job.what == "analysis")
    for value in job.options.value or [""]:
        own = job.of_value(value)
        for option, path, check in (("output", own.output, writable), ("report", own.report, page.check_replaceable)):
            if path is None:
                continue
            said = f"--{option}{'' if own is job else f' for --value {value}'}"
            if given is not None and _real_path(path) == _real_path(given):
                raise ValueError(f"{said} {path} is the archive itself. Name another file")
            if other := taken.get(_real_path(path)):
                raise ValueError(f"{said} would write {path}, and so would {other}. Name another, or run one at a time")
            taken[_real_path(path)] = said
            try:
                check(path)
            except (OSError, ImportError) as error:
                raise type(error)(str(error).replace(f"path {str(path)!r}", f"{said} {path}", 1)) from error


def _real_path(path: Path) -> str:
    """Return the same path for all names of one file."""
    return os.path.normcase(os.path.realpath(path))


def _format(table: pd.DataFrame) -> str:
    """Return a table as text."""
    return table.to_string(float_format=cell_text, na_rep="")
