"""What the command line does: read, analyse, write, print."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import xarray as xr

import xcurves
from xcurves import archive
from xcurves.anova.randomized_anova import randomized_anova
from xcurves.cli.sources import EXAMPLE, Table, open_archive, read_curves
from xcurves.reporting import page
from xcurves.results import find_kind, parts_of, summary_of_part

_EXAMPLE_PARTS = ("across_tasks", "profile_across_tasks")
_LONG = 24  # rows; longer tables are not printed
_ENDINGS = re.compile(r"(?i)(?:\.csv\.gz|\.csv|\.nc|\.zarr)$")
_DIGITS = {"SS": "{:.2f}", "MS": "{:.2f}", "F": "{:.3f}", "p": "{:.4g}"}


def run_job(options: argparse.Namespace) -> list[Path]:
    """Do the job; return what was written."""
    _check_places(options)
    opened = open_archive(options)
    if isinstance(opened, Table):
        print(f"Source: {opened.frame.attrs['source']}\n", flush=True)
    if isinstance(opened, xr.DataTree):
        if options.include is None:
            return _report_of(opened, options)
        opened = opened["curves"].to_dataset() if "curves" in opened else xr.Dataset()
    elif isinstance(opened, xr.Dataset) and (kind := find_kind(opened)):
        raise ValueError(
            f"ARCHIVE {options.archive} holds a result of {kind.name}, not curves. "
            "Name the archive that it was made from"
        )
    written: list[Path] = []
    try:
        for value, curves in read_curves(opened, options):
            several = value if options.value and len(options.value) > 1 else None
            _analyse(curves, several, options, written)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*written) from None
    return written


def _analyse(curves: xr.DataArray, value: str | None, options: argparse.Namespace, written: list[Path]) -> None:
    """Analyse the curves of one value; add to what was written."""
    given = {name: getattr(options, name) for name in ("paired", "n_resamples", "confidence_level", "rng")}
    given |= {"progress": _shows_progress() and curves.chunks is None}
    if value is not None:
        print(f"== {value} ==\n")
    what, report = _what(options), _report(options)
    if what == "anova":
        result = randomized_anova(curves, **given).compute()
        output = archive.write(result, _output(options, what, value))
        print(_format(xcurves.table(result)), xcurves.summary(result), "", sep="\n\n", end="")
    else:
        tree = xcurves.analyze(curves, include=_parts(options), **given)
        kept = tree[what].to_dataset() if what == "across_tasks" else tree
        output = archive.write(kept, _output(options, what, value))
        _print_parts(tree)
    written.append(output)
    print(f"Results: {output}")
    if report:
        written.append(_write_report(tree, _named(report, value)))


def _what(options: argparse.Namespace) -> str:
    """Return what is written: an ANOVA, an analysis, or the answer over the tasks of the example."""
    if options.archive is None and options.include is None:
        return "across_tasks"
    return "analysis" if options.include or options.report else "anova"


def _parts(options: argparse.Namespace) -> Sequence[str] | None:
    """Return the parts of the analysis, None for all."""
    if _what(options) == "across_tasks":
        return _EXAMPLE_PARTS
    parts = options.include or ["all"]
    return None if "all" in parts else parts


def _report(options: argparse.Namespace) -> Path | None:
    """Return where the page goes, if there is one."""
    of_example = Path(f"{EXAMPLE}.html") if _what(options) == "across_tasks" else None
    return options.report or of_example


def _report_of(tree: xr.DataTree, options: argparse.Namespace) -> list[Path]:
    """Make the page of an analysis that was made before."""
    if not options.report:
        raise ValueError(
            f"ARCHIVE {options.archive} holds an analysis. Make its page: --report page.html, or analyse its curves "
            "again: --include all"
        )
    if options.output:
        raise ValueError(f"--output {options.output}: ARCHIVE is an analysis already. Leave it out, or say --include")
    return [_write_report(tree, options.report)]


def _write_report(tree: xr.DataTree, path: Path) -> Path:
    xcurves.report(tree, path)
    print(f"Report: {path}")
    return path


def _output(options: argparse.Namespace, what: str, value: str | None) -> Path:
    stem = EXAMPLE if options.archive is None else _ENDINGS.sub("", options.archive.resolve().name)
    return _named(options.output or Path(f"{stem}-{what}.nc"), value)


def _named(path: Path, value: str | None) -> Path:
    """Return a path with the name of a value in it, if there are several."""
    return path if value is None else path.with_name(f"{path.stem}-{value.replace('/', '_')}{path.suffix}")


def _check_places(options: argparse.Namespace) -> None:
    """Before the work, refuse paths that cannot be written, and a path that is given twice."""
    values = options.value if options.value and len(options.value) > 1 else [None]
    what, report = _what(options), _report(options)
    taken: dict[str, str] = {}
    for value in values:
        for option, path, check in (
            ("--output", _output(options, what, value), partial(archive.check_writable, is_tree=what == "analysis")),
            ("--report", report and _named(report, value), page.check_replaceable),
        ):
            if path is None:
                continue
            said = option if value is None else f"{option} for --value {value}"
            if options.archive is not None and _key(path) == _key(options.archive):
                raise ValueError(f"{said} {path} is the archive itself. Name another file")
            other = taken.setdefault(_key(path), said)
            if other != said or (value is not None and values.count(value) > 1):
                raise ValueError(f"{said} would write {path}, and so would {other}. Name another, or run one at a time")
            _check_folder(path.parent, f"{said} {path}", option)
            try:
                check(path)
            except (OSError, ImportError) as error:
                raise type(error)(str(error).replace(f"path {str(path)!r}", f"{said} {path}", 1)) from error


def _key(path: Path) -> str:
    """Return the same path for all names of one file."""
    return os.path.normcase(os.path.realpath(path))


def _check_folder(folder: Path, said: str, option: str) -> None:
    """Refuse a folder that is not there or cannot be written to."""
    if not folder.is_dir():
        raise NotADirectoryError(f"{said}: there is no folder {folder}. Make it, or name another")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise PermissionError(
            f"{said}: nothing can be written to the folder {folder} ({why}). Name another by {option}"
        ) from error


def _shows_progress() -> bool:
    return sys.stderr.isatty() and find_spec("tqdm") is not None


def _print_parts(tree: xr.DataTree) -> None:
    for part, result in parts_of(tree).items():
        table = xcurves.table(result)
        shown = [_format(table)] if len(table) <= _LONG else []
        print(f"-- {part.replace('_', ' ')} --", *shown, summary_of_part(result), "", sep="\n\n", end="")
    if "left_out" in tree.attrs:
        print(f"Left out:\n{tree.attrs['left_out']}\n")


def _format(table: pd.DataFrame) -> str:
    """Return a table as text."""
    form = {name: _cell(_DIGITS[str(name)]) for name in table if name in _DIGITS}
    return table.to_string(formatters=form, float_format="{:.4g}".format, na_rep="")


def _cell(form: str) -> Callable[[object], str]:
    """Return what writes a cell: a number in digits, "" for a blank one."""
    return lambda value: form.format(value) if isinstance(value, float) and value == value else ""
