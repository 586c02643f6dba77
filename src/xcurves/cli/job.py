"""What the command line does: read, analyse, write, print."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
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
    """What is made of the scores, and the files that are written of one value of them."""

    what: str
    parts: Sequence[str] | None
    output: Path
    report: Path | None


def run_job(options: argparse.Namespace) -> list[Path]:
    """Do the job; return what was written."""
    outputs = {value: _outputs(options, value) for value in options.value or [""]}
    _check_places(options, outputs)
    opened = open_archive(options)
    if isinstance(opened, Table):
        print(f"Source: {opened.frame.attrs['source']}\n", flush=True)
    if isinstance(opened, xr.DataTree):
        if options.include is None:
            return [_page_of_analysis(opened, options)]
        opened = opened["curves"].to_dataset() if "curves" in opened else xr.Dataset()
    elif isinstance(opened, xr.Dataset) and (kind := find_kind(opened)):
        said = f"ARCHIVE {options.archive} holds a result of {kind.name}, not curves. "
        raise ValueError(f"{said}Name the archive that it was made from")
    written: list[Path] = []
    try:
        for value, curves in curves_of_options(opened, options):
            if len(outputs) > 1:
                print(f"== {value} ==\n")
            _analyse(curves, options, outputs.get(value, next(iter(outputs.values()))), written)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*written) from None
    return written


def _outputs(options: argparse.Namespace, value: str) -> Outputs:
    """Return what options ask for: an ANOVA, an analysis, or the answer over the tasks of the example."""
    is_example = options.archive is None and options.include is None
    what = "across_tasks" if is_example else "analysis" if options.include or options.report else "anova"
    parts = None if "all" in (options.include or ["all"]) else options.include
    stem = EXAMPLE if options.archive is None else _ENDINGS.sub("", options.archive.resolve().name)
    output = options.output or Path(f"{stem}-{what}.nc")
    report = options.report or (Path(f"{EXAMPLE}.html") if is_example else None)
    if len(options.value or []) > 1:
        output, report = (
            path and path.with_stem(f"{path.stem}-{value.replace('/', '_')}") for path in (output, report)
        )
    return Outputs(what, _EXAMPLE_PARTS if is_example else parts, output, report)


def _page_of_analysis(tree: xr.DataTree, options: argparse.Namespace) -> Path:
    if not options.report:
        said = f"ARCHIVE {options.archive} holds an analysis. Make its page: --report page.html, or analyse its "
        raise ValueError(f"{said}curves again: --include all")
    if options.output:
        raise ValueError(f"--output {options.output}: ARCHIVE is an analysis already. Leave it out, or say --include")
    return _write_report(tree, options.report)


def _analyse(curves: xr.DataArray, options: argparse.Namespace, outputs: Outputs, written: list[Path]) -> None:
    """Analyse the curves of one value; add to what was written."""
    given = {name: getattr(options, name) for name in ("paired", "n_resamples", "confidence_level", "rng")}
    if outputs.what == "anova":
        result = randomized_anova(curves, **given).compute()
        archive.write(result, outputs.output)
        print(xcurves.summary(result), _format(xcurves.table(result)), "", sep="\n\n", end="")
    else:
        tree = xcurves.analyze(curves, include=outputs.parts, **given)
        archive.write(tree["across_tasks"].to_dataset() if outputs.what == "across_tasks" else tree, outputs.output)
        for part, result in parts_of(tree).items():
            table = xcurves.table(result)
            shown = [_format(table)] if len(table) <= _LONG else []
            print(f"-- {part.replace('_', ' ')} --", summary_of_part(result), *shown, "", sep="\n\n", end="")
        if "left_out" in tree.attrs:
            print(f"Left out:\n{tree.attrs['left_out']}\n")
    written.append(outputs.output)
    print(f"Results: {outputs.output}")
    if outputs.report:
        written.append(_write_report(tree, outputs.report))


def _write_report(tree: xr.DataTree, path: Path) -> Path:
    xcurves.report(tree, path)
    print(f"Report: {path}")
    return path


def _check_places(options: argparse.Namespace, outputs: dict[str, Outputs]) -> None:
    """Before the work, refuse paths that cannot be written, and a path that is given twice."""
    taken = {} if options.archive is None else {_real_path(options.archive): "the archive"}
    if len(options.value or []) > len(outputs):
        raise ValueError(f"--value must name different scores; got {', '.join(options.value)}. Leave one out")
    for value, own in outputs.items():
        for option, path in (("output", own.output), ("report", own.report)):
            if path is None:
                continue
            said = f"--{option}{f' for --value {value}' if len(outputs) > 1 else ''} {path}"
            if other := taken.get(_real_path(path)):
                raise ValueError(f"{said} is the file of {other}. Name another, or run one at a time")
            taken[_real_path(path)] = said
            try:
                if option == "report":
                    page.check_replaceable(path)
                else:
                    archive.check_writable(path, is_tree=own.what == "analysis")
            except (OSError, ImportError) as error:
                raise type(error)(said + str(error).removeprefix(f"path {str(path)!r}")) from error


def _real_path(path: Path) -> str:
    """Return the same path for all names of one file."""
    return os.path.normcase(os.path.realpath(path))


def _format(table: pd.DataFrame) -> str:
    """Return a table as text."""
    return table.to_string(float_format=cell_text, na_rep="")
