"""What the command line does: read, analyse, write, print."""

from __future__ import annotations

import argparse
import os
import re
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import xcurves
from xcurves import analysis, archive, kinds
from xcurves.cli import outputs
from xcurves.cli.curves_asked import curves_of_options, where_from, with_direction
from xcurves.cli.options import PAIRS
from xcurves.cli.printing import text_of
from xcurves.cli.sources import (
    EXAMPLE,
    Table,
    open_archive,
    read_as,
    select,
)
from xcurves.cli.terminal import terminal_of
from xcurves.core import direction
from xcurves.core.labels import RESERVED, extra_dims
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, of_path
from xcurves.frames.make_curves import rows_said
from xcurves.public_names import SEVERAL_TASKS
from xcurves.results import find_kind, parts_of, prepare

_ENDINGS = re.compile(r"(?i)(?:\.csv\.gz|\.csv|\.nc|\.zarr)$")


def run_job(options: argparse.Namespace) -> int:
    """Do the job; return the exit status."""
    if options.better is not None and options.reference not in (None, options.better):
        raise Refusal(
            "better",
            options.better,
            f"--better {options.better} needs its pairs, and --reference {options.reference} leaves them out",
            "Leave --reference out",
        )
    what = "answer"
    all_pairs = PAIRS in (options.include or [])
    if all_pairs:
        options.include = [name for name in options.include if name != PAIRS] or None
    if options.archive is None and options.include is None:
        options.report = options.report or Path(f"{EXAMPLE}.html")
    elif options.include or options.report:
        what = "analysis"
    files = _files(options, what)
    opened = open_archive(options)
    if isinstance(opened, xr.DataTree):
        # The page of an analysis is made of it as it is.
        if options.include is None:
            _page_of_analysis(opened, options)
            outputs.keep_answer(opened, options)
            return _status(options)
        opened = _curves_in(opened)
    _introduce(opened, options)

    named, how_read = read_as(select(opened, options), options)
    if how_read:
        print(how_read, flush=True)
    written: list[Path] = []
    try:
        for value, scores in curves_of_options(named, options):
            if len(files) > 1:
                print(f"\n== {value} ==")
            of_rows = rows_said(scores)
            outputs.check_better(options.better, scores)
            curves, how_scored = _scored(scores, options)
            how_scored = [*of_rows, *how_scored]
            if how_scored:
                print(*how_scored, sep="\n")
            if how_scored or isinstance(named, Table):
                print(flush=True)
            tree = _analysis(curves, options, what)
            files_of_value = files.get(value, next(iter(files.values())))
            written += _write(tree, files_of_value, options, what)
            outputs.keep_answer(tree, options)
            terminal = terminal_of(sys.stdout)
            how = {"all_pairs": all_pairs, "details": options.by is not None}
            print(f"{text_of(tree, _in_full(options), terminal=terminal, **how)}\n")
            for name, path in files_of_value.items():
                if path is not None:
                    print(f"{_WRITTEN[name]}: {path}")
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*written) from None
    return _status(options)


def _status(options: argparse.Namespace) -> int:
    """Return the exit status of a comparison that was made."""
    if options.better is None:
        return outputs.DONE
    return outputs.status_of_better(options.answers[0], options.better)


def _introduce(opened: Table | xr.Dataset, options: argparse.Namespace) -> None:
    """Print where a table comes from; refuse a result."""
    if isinstance(opened, Table):
        print(*where_from(opened.frame), sep="\n", flush=True)
        return
    kind = find_kind(opened)
    if kind is not None:
        raise Refusal(
            "path",
            str(options.archive),
            f"{options.archive} holds a result of {kind.name}, not curves",
            "Name the archive that it was made from",
        )


def _page_of_analysis(tree: xr.DataTree, options: argparse.Namespace) -> Path:
    """Write the page of an analysis that was opened."""
    if options.output or not options.report:
        raise Refusal(
            "path",
            str(options.archive),
            f"{options.archive} holds an analysis",
            "Make its page: --report page.html, or analyse its curves again: --include all",
        )
    return _write_report(tree, options.report, interactive=options.interactive)


def _curves_in(tree: xr.DataTree) -> xr.Dataset:
    """Return the curves of an analysis, nothing if it has none."""
    if "curves" not in tree:
        return xr.Dataset()
    return tree["curves"].to_dataset()


_WRITTEN = {"output": "Results", "report": "Report", "figure": "Picture"}
Files = dict[str, Path | None]


def _files(options: argparse.Namespace, what: str) -> dict[str, Files]:
    """Return the archive, page and picture that are written of each value; refuse what cannot be before the work."""
    stem = EXAMPLE
    taken: dict[str, str] = {}
    if options.archive is not None:
        stem = _ENDINGS.sub("", options.archive.resolve().name)
        taken[os.path.realpath(options.archive)] = "the archive"
    given = {
        "output": options.output or Path(f"{stem}-{what}.nc"),
        "report": options.report,
        "figure": options.figure,
    }
    values = options.value or [""]
    if len(set(values)) < len(values):
        raise Refusal(
            "",
            Verbatim(", ".join(values)),
            "--value must name different scores",
            "Leave one out",
        )
    files: dict[str, Files] = {value: dict(given) for value in values}
    for value, (option, path) in product(values, given.items()):
        if path is None:
            continue
        words = f"--{option}"
        if len(values) > 1:
            path = path.with_stem(f"{path.stem}-{value.replace('/', '_')}")
            words += f" for --value {value}"
        words += f" {path}"
        real = os.path.realpath(path)
        if real in taken:
            raise Refusal(
                option,
                str(path),
                f"{words} is the file of {taken[real]}",
                "Name another, or run one at a time",
            )
        files[value][option] = path
        taken[real] = words
        try:
            _check_file(option, path, what)
        except (OSError, ImportError) as error:
            reason = str(error).removeprefix(str(of_path(path)))
            raise Refusal(option, UNSAID, f"{words}{reason}") from error
    return files


def _check_file(option: str, path: Path, what: str) -> None:
    """Refuse a file that could not be written."""
    if option == "report":
        from xcurves.reporting import page

        page.check_replaceable(path)
    elif option == "output":
        archive.check_writable(path, is_tree=what == "analysis")
    else:
        from xcurves.draw import look, saved

        look.import_pyplot()
        if path.suffix.lower() not in saved.FORMATS:
            raise Refusal(
                "figure",
                UNSAID,
                f"--figure {path} must end with {', '.join(saved.FORMATS)}",
                "Name another",
            )
        if not path.resolve().parent.is_dir():
            raise FileNotFoundError(f" is in a folder that does not exist. Make it: mkdir -p {path.parent}")
        saved.check_replaceable(path)


def _scored(curves: xr.DataArray, options: argparse.Namespace) -> tuple[xr.DataArray, list[str]]:
    """Return curves with their direction and scale, and what to say of both."""
    curves, which_end = with_direction(curves, options)
    scale = ""
    if options.fill_failed is not None or options.normalize is not None:
        from xcurves.cli.score_options import filled, normalized  # which most commands do without

        curves, scale = normalized(filled(curves, options), options.normalize)
    curves = _called(curves, options)
    return curves, [line for line in (which_end, scale) if line]


def _without_slash(dim: str, curves: xr.DataArray) -> str:
    """Return a name for a dim of a configuration that the groups of an archive can have: "data" of config/data."""
    short = dim.rpartition("/")[2]
    taken = {*curves.dims, *curves.coords, *RESERVED}
    return dim.replace("/", " ") if short in taken else short


def _called(curves: xr.DataArray, options: argparse.Namespace) -> xr.DataArray:
    """Return curves of known direction whose scores and tasks are called as options say, and as no result is."""
    curves = curves.rename({dim: f"{dim}_" for dim in extra_dims(curves) if dim in RESERVED})
    curves = curves.rename({dim: _without_slash(str(dim), curves) for dim in extra_dims(curves) if "/" in str(dim)})
    if options.score_name is not None:
        higher = direction.find(curves).higher
        curves = curves.rename(options.score_name).assign_attrs({direction.HIGHER: int(higher)})
    if options.task_name is None:
        return curves
    curves = _joined_tasks(curves)
    dims = [dim for dim in extra_dims(curves) if curves.sizes[dim] > 1]
    if not dims:
        raise Refusal(
            "curves",
            UNSAID,
            f"--task-name {options.task_name} is for scores of several tasks, and these are of one",
            "Leave it out",
        )
    if options.task_name in (*curves.dims, *curves.coords):
        return curves
    return curves.rename({dims[0]: options.task_name})


def _analysis(curves: xr.DataArray, options: argparse.Namespace, what: str) -> xr.DataTree:
    """Return the analysis that is asked for, for an answer its only part."""
    given = {name: getattr(options, name) for name in ("paired", "by", "n_resamples", "confidence_level", "rng")}
    include = options.include
    if what == "answer":
        curves = _joined_tasks(curves)
        include = analysis.answering(curves)
    elif "all" in (include or ["all"]):
        include = None
    reference = _label_of(curves, options.reference)
    return xcurves.analyze(curves, include=include, reference=reference, **given)


def _label_of(curves: xr.DataArray, typed: str | None) -> Any:
    """Return the label of an algorithm that was typed: labels may be numbers."""
    for label in curves["algorithm"].to_numpy().tolist():
        if str(label) == typed:
            return label
    return typed


def _joined_tasks(curves: xr.DataArray) -> xr.DataArray:
    """Return curves whose dims of several tasks are one, their labels joined, without those of a single one beside."""
    dims = [dim for dim in extra_dims(curves) if curves.sizes[dim] > 1]
    if dims:
        curves = curves.isel({dim: 0 for dim in extra_dims(curves) if dim not in dims}, drop=True)
    if len(dims) < 2:
        return curves
    # One of the dims may name metrics, whose labels say the direction.
    higher = direction.find(curves).higher
    stacked = curves.assign_attrs({direction.HIGHER: int(higher)}).stack(_joined=dims)
    labels = [", ".join(map(str, each)) for each in stacked["_joined"].to_numpy()]
    joined: xr.DataArray = stacked.drop_vars(["_joined", *dims]).rename(_joined="task").assign_coords(task=labels)
    return joined.dropna("task", how="all").transpose("task", ...)


def _in_full(options: argparse.Namespace) -> list[str]:
    """Return the parts that were asked for by name."""
    return [name for name in options.include or [] if name != "all"]


def _write(tree: xr.DataTree, files: Files, options: argparse.Namespace, what: str) -> list[Path]:
    """Write the results, and the page and the picture where they are asked for."""
    output, report, figure = files["output"], files["report"], files["figure"]
    assert output is not None
    if what == "answer":
        archive.write(next(iter(parts_of(tree).values())), output)
    else:
        archive.write(tree, output)
    written = [output]
    if report is not None:
        xcurves.report(tree, report, interactive=options.interactive)
        written.append(report)
    if figure is not None:
        _draw(tree, figure)
        written.append(figure)
    return written


def _draw(tree: xr.DataTree, path: Path) -> None:
    """Write the picture of the curves or scores; over several tasks that of the part which has them."""
    from xcurves.draw.look import import_pyplot

    axes = np.ravel([xcurves.plot(*_first_picture(tree), save=path)])
    import_pyplot().close(axes[0].figure)


def _first_picture(tree: xr.DataTree) -> tuple[Any, str | None]:
    """Return what is drawn first, and its view."""
    parts = {name: prepare(part) for name, part in parts_of(tree).items()}
    for kind, result in parts.values():
        if kinds.OPENS.get(kind.name) == SEVERAL_TASKS and kind.part and kind.part.along:
            return result, next(iter(kind.views))
    (curves,) = tree["curves"].to_dataset().data_vars.values()
    one_task = all(curves.sizes[dim] == 1 for dim in extra_dims(curves))
    if curves.sizes["training"] > 1 or one_task:
        return curves, None
    kind, result = next(iter(parts.values()))
    return result, next(iter(kind.views))


def _write_report(tree: xr.DataTree, path: Path, *, interactive: bool) -> Path:
    xcurves.report(tree, path, interactive=interactive)
    print(f"Report: {path}")
    return path
