"""What the command line does: read, analyse, write, print."""

from __future__ import annotations

import argparse
import os
import re
from itertools import product
from pathlib import Path
from typing import Any

import xarray as xr

import xcurves
from xcurves import archive
from xcurves.anova.randomized_anova import randomized_anova
from xcurves.cli.sources import EXAMPLE, Table, curves_of_options, open_archive, select
from xcurves.core.tables import cell_text
from xcurves.reporting import page
from xcurves.results import find_kind, parts_of, summary_of_part

_EXAMPLE_PARTS = ["across_tasks", "profile_across_tasks"]
_LONG = 24  # rows; longer tables are not printed
_ENDINGS = re.compile(r"(?i)(?:\.csv\.gz|\.csv|\.nc|\.zarr)$")


def run_job(options: argparse.Namespace) -> list[Path]:
    """Do the job; return what was written."""
    what = "analysis" if options.include or options.report else "anova"
    if options.archive is None and options.include is None:  # the answer over the tasks of the example
        what, options.include = "across_tasks", _EXAMPLE_PARTS
        options.report = options.report or Path(f"{EXAMPLE}.html")
    files = _files(options, what)
    opened = open_archive(options)
    if isinstance(opened, Table):
        print(f"Source: {opened.frame.attrs['source']}\n", flush=True)
    elif isinstance(opened, xr.DataTree):
        if options.include is None and (options.output or not options.report):
            said = f"ARCHIVE {options.archive} holds an analysis. Make its page: --report page.html, or analyse its "
            raise ValueError(f"{said}curves again: --include all")
        if options.include is None:
            return [_write_report(opened, options.report, interactive=options.interactive)]
        opened = opened["curves"].to_dataset() if "curves" in opened else xr.Dataset()
    elif kind := find_kind(opened):
        said = f"ARCHIVE {options.archive} holds a result of {kind.name}, not curves. "
        raise ValueError(f"{said}Name the archive that it was made from")
    written: list[Path] = []
    try:
        for value, curves in curves_of_options(select(opened, options), options):
            output, report = files.get(value, next(iter(files.values())))
            result = _result(curves, options, what)
            archive.write(result["across_tasks"].to_dataset() if what == "across_tasks" else result, output)
            written.append(output)
            _print(result, f"== {value} ==\n\n" if len(files) > 1 else "")
            print(f"Results: {output}")
            if report and isinstance(result, xr.DataTree):
                written.append(_write_report(result, report, interactive=options.interactive))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*written) from None
    return written


def _files(options: argparse.Namespace, what: str) -> dict[str, tuple[Path, Path | None]]:
    """Return the archive and the page that are written of each value; refuse what cannot be before the work."""
    stem = EXAMPLE if options.archive is None else _ENDINGS.sub("", options.archive.resolve().name)
    given = {"output": options.output or Path(f"{stem}-{what}.nc"), "report": options.report}
    values = options.value or [""]
    if len(set(values)) < len(values):
        raise ValueError(f"--value must name different scores; got {', '.join(values)}. Leave one out")
    taken = {} if options.archive is None else {os.path.realpath(options.archive): "the archive"}
    files: dict[str, Any] = {value: dict(given) for value in values}
    for value, (option, path) in product(values, given.items()):
        if path is None:
            continue
        said = f"--{option}"
        if len(values) > 1:
            path, said = path.with_stem(f"{path.stem}-{value.replace('/', '_')}"), f"{said} for --value {value}"
        said, real = f"{said} {path}", os.path.realpath(path)
        if real in taken:
            raise ValueError(f"{said} is the file of {taken[real]}. Name another, or run one at a time")
        files[value][option], taken[real] = path, said
        try:
            if option == "report":
                page.check_replaceable(path)
            else:
                archive.check_writable(path, is_tree=what == "analysis")
        except (OSError, ImportError) as error:
            raise type(error)(said + str(error).removeprefix(f"path {str(path)!r}")) from error
    return {value: (own["output"], own["report"]) for value, own in files.items()}


def _result(curves: xr.DataArray, options: argparse.Namespace, what: str) -> xr.Dataset | xr.DataTree:
    given = {name: getattr(options, name) for name in ("paired", "n_resamples", "confidence_level", "rng")}
    if what == "anova":
        return randomized_anova(curves, **given).compute()
    return xcurves.analyze(curves, include=None if "all" in (options.include or ["all"]) else options.include, **given)


def _print(result: xr.Dataset | xr.DataTree, title: str) -> None:
    """Print the sentences and the table; of an analysis those of each part, without long tables."""
    print(title, end="")
    parts = parts_of(result) if isinstance(result, xr.DataTree) else {"": result}
    for part, own in parts.items():
        table = xcurves.table(own)
        shown = [table.to_string(float_format=cell_text, na_rep="")] if len(table) <= _LONG or not part else []
        heading = [f"-- {part.replace('_', ' ')} --"] if part else []
        print(*heading, summary_of_part(own), *shown, "", sep="\n\n", end="")
    if isinstance(result, xr.DataTree) and "left_out" in result.attrs:
        print(f"Left out:\n{result.attrs['left_out']}\n")


def _write_report(tree: xr.DataTree, path: Path, *, interactive: bool) -> Path:
    xcurves.report(tree, path, interactive=interactive)
    print(f"Report: {path}")
    return path
