"""What the command line does: read, analyse, write, print."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import xarray as xr

import xcurves
from xcurves import archives
from xcurves.anova.randomized_anova import randomized_anova
from xcurves.cli.sources import EXAMPLE, Table, open_archive, read_curves
from xcurves.results import find_kind, parts_of, summary_of_part

_LONG = 24  # rows of a table that is not printed
_DIGITS = {"SS": "{:.2f}", "MS": "{:.2f}", "F": "{:.3f}", "p": "{:.4g}"}


def run(options: argparse.Namespace) -> list[Path]:
    """Do the job; return what was written."""
    _check_places(options)
    archive = open_archive(options)
    if isinstance(archive, Table):
        print(f"Source: {archive.frame.attrs['source']}\n", flush=True)
    if isinstance(archive, xr.DataTree):
        if options.include is None:
            return _report_of(archive, options)
        archive = archive["curves"].to_dataset() if "curves" in archive else xr.Dataset()
    elif isinstance(archive, xr.Dataset) and (kind := find_kind(archive)):
        raise ValueError(
            f"ARCHIVE {options.archive} holds a result of {kind.name}, not curves. "
            "Name the archive that it was made from"
        )
    written: list[Path] = []
    try:
        for value, curves in read_curves(archive, options):
            several = value if options.value and len(options.value) > 1 else None
            _analyse(curves, several, options, written)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*written) from None
    return written


def _analyse(curves: xr.DataArray, value: str | None, options: argparse.Namespace, written: list[Path]) -> None:
    """Analyse the curves of one value; add to what was written."""
    parts = options.include or (["all"] if options.report else None)
    given = {name: getattr(options, name) for name in ("paired", "n_resamples", "confidence_level", "rng")}
    given |= {"progress": _shows_progress() and curves.chunks is None}
    if value is not None:
        print(f"== {value} ==\n")
    if parts is None:
        result = randomized_anova(curves, **given).compute()
        output = archives.write(result, _output(options, "anova", value))
        print(_format(xcurves.table(result)), xcurves.summary(result), "", sep="\n\n", end="")
    else:
        include = None if "all" in parts else parts
        tree = xcurves.analyze(curves, include=include, **given)
        output = archives.write(tree, _output(options, "analysis", value))
        _print_parts(tree)
    written.append(output)
    print(f"Results: {output}")
    if options.report:
        written.append(_write_report(tree, _named(options.report, value)))


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
    stem = EXAMPLE if options.archive is None else options.archive.name.split(".")[0]
    suffix = ".nc" if what == "anova" or archives.holds_trees() else ""
    return _named(options.output or Path(f"{stem}-{what}{suffix}"), value)


def _named(path: Path, value: str | None) -> Path:
    """Return a path with the name of a value in it, if there are several."""
    return path if value is None else path.with_name(f"{path.stem}-{value.replace('/', '_')}{path.suffix}")


def _check_places(options: argparse.Namespace) -> None:
    """Refuse places where nothing can be written, before the work."""
    if options.output is None:
        _check_folder(Path(), "results are written here", "--output")
    else:
        of_parts = options.include or options.report
        may_be_folder = options.output.suffix == ".zarr" or (of_parts and not options.output.suffix)
        _check_place(options.output, "--output", options.archive, may_be_folder=may_be_folder)
    if options.report is not None:
        _check_place(options.report, "--report", options.archive, may_be_folder=False)


def _check_place(path: Path, option: str, archive: Path | None, *, may_be_folder: bool) -> None:
    """Refuse a path whose folder is missing, a folder, and the input itself."""
    said = f"{option} {path}"
    if not path.parent.is_dir():
        raise NotADirectoryError(f"{said}: there is no folder {path.parent}. Make it, or name another")
    if path.is_dir() and not may_be_folder:
        raise IsADirectoryError(f"{said} is a folder. Name a file in it")
    if archive is not None and path.exists() and archive.exists() and path.samefile(archive):
        raise ValueError(f"{said} is the archive itself. Name another file")
    _check_folder(path.parent, said, option)


def _check_folder(folder: Path, said: str, option: str) -> None:
    """Refuse a folder that cannot be written to."""
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
