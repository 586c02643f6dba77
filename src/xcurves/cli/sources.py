"""Input of the command line: tables, archives and folders of logs, read into labelled curves."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves import readers, tutorial
from xcurves.archive import read as read_archive
from xcurves.archive_formats import engine_to_read
from xcurves.cli.column_names import (
    Table,
    command_with,
    not_found,
    read_names,
    rename_dims,
)
from xcurves.cli.options import WORST, repeats_scores
from xcurves.cli.scales import with_direction
from xcurves.core import direction, labels, short_runs, task_dims, validation
from xcurves.core.known import known_of
from xcurves.core.labels import DIMS
from xcurves.core.names import dim_of
from xcurves.core.refusal import UNSAID, Cure, Refusal, call, give
from xcurves.core.run_checks import FRACTIONS
from xcurves.core.validation import check_curves
from xcurves.core.wording import listed
from xcurves.frames.align import align, drop_incomplete
from xcurves.frames.grids import On
from xcurves.frames.make_curves import curves_of
from xcurves.frames.reading import Reading
from xcurves.frames.to_curves import with_found_dims
from xcurves.frames.wide import (
    VALUE,
    to_long,
    to_long_of_values,
    values_in,
)
from xcurves.readers.open_files import expanding_to

EXAMPLE = "benchmark"
# of an archive even if it is empty or damaged
_SUFFIXES = (".nc", ".h5netcdf", ".nc4", ".zarr")
_SHOWN = 12  # labels
_MOST = 10**7  # levels
_MOST_STEPS = 10_000  # of a budget
_NAMED = ("intersection", "union", "final")


def open_archive(options: argparse.Namespace) -> Table | xr.Dataset | xr.DataTree:
    """Open what the options name: an archive, or logs that a reader knows."""
    path = options.archive
    if path is None:
        return tutorial.open_dataset(EXAMPLE)
    if not path.exists():
        raise FileNotFoundError(f"ARCHIVE {path} does not exist. Check the path")
    try:
        is_archive = bool(engine_to_read(path))
    except ValueError:
        is_archive = path.suffix in _SUFFIXES
    if is_archive:
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
    frame = readers.read(path, source=source.name, **how)
    frame = _as_asked(frame, options)
    columns = {dim: getattr(options, dim) for dim in DIMS if isinstance(getattr(options, dim), str)}
    tasks = list(options.extra)
    if tasks:
        tasks = [*known_of(frame).extra, *tasks]
    columns |= {name: name for name in tasks if name not in (*DIMS, *columns.values())}
    return Table(frame, None, columns)


def _as_asked(frame: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    """Return a frame in which wide columns are rows, as options ask."""
    if options.columns:
        frame = _as_long(frame, options)
    return frame


def _as_long(frame: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    """Return a row for each score of a wide table, with a column for each of several scores."""
    dims = {dim: getattr(options, dim) for dim in DIMS if isinstance(getattr(options, dim), str)}
    # Columns that are named like runs, training or tasks hold no scores.
    kept = [
        *options.extra,
        *(name for name in frame if dim_of(name) is not None and name not in options.extra),
    ]
    if options.value is None and VALUE not in options.columns:
        options.value = ["score"]
    if options.value is not None and len(options.value) == 1 and VALUE not in options.columns:
        return to_long(frame, options.value[0], options.columns, dims, kept)
    values = options.value or values_in(frame, options.columns)
    return to_long_of_values(frame, values, options.columns, dims, kept)


def select(opened: Table | xr.Dataset, options: argparse.Namespace) -> Table | xr.Dataset:
    """Return the rows of a table, or the labels of dims, that `--select` names."""
    selections: dict[str, list[str]] = {}
    for each in options.select:
        name, _, label = each.partition("=")
        if not (name and label):
            raise Refusal(
                "",
                UNSAID,
                f"--select {each}: say NAME=LABEL, such as --select task=Hopper",
            )
        selections.setdefault(name, []).append(label)
    if not isinstance(opened, Table):
        # Before anything is left out: colours are those of the whole archive.
        opened = labels.with_color_index(opened)
        dims = {dim: getattr(options, dim) or dim for dim in DIMS}
        for name, labels_of in selections.items():
            dim = _known(name, labels_of, opened.dims, dims, "dim")
            opened = opened.isel({dim: matching(name, labels_of, opened[dim].to_numpy())})
        return opened
    frame = opened.frame
    for name, labels_of in selections.items():
        column = _known(name, labels_of, frame.columns, opened.columns, "column")
        frame = frame[matching(name, labels_of, frame[column].to_numpy())]
    for column in {source.metric for source in readers.SOURCES} & set(frame) - set(opened.columns.values()):
        names = list(map(str, frame[column].unique()))
        if "value" in frame and len(names) > 1:
            raise Refusal(
                "",
                UNSAID,
                f"ARCHIVE has {len(names)} {column}s",
                f"Name one: --select {column}={'|'.join(names)}",
            )
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
            f"--select {name}={wanted[0]}: {column!r} is no {what} of ARCHIVE",
            name,
            known,
            renamed,
        )
    return column


def read_as(opened: Table | xr.Dataset, options: argparse.Namespace) -> tuple[Table | xr.Dataset, str]:
    """Return what was selected with its names known, and one line that says how it is read."""
    if isinstance(opened, Table):
        table = read_names(opened, options)
        return table, table.how_read
    return rename_dims(opened, options)


def curves_of_options(opened: Table | xr.Dataset, options: argparse.Namespace) -> Iterator[tuple[str, xr.DataArray]]:
    """Yield the curves that the options ask for of what was selected, with the name of each."""
    how: dict[str, Any] = {"method": options.method, "tolerance": options.tolerance}
    _check_runs_short(options)
    if options.align is None and set(how.values()) != {None}:
        raise Refusal(
            "",
            UNSAID,
            "--method and --tolerance are for --align LEVELS",
            "Say them: --align 0,1000,2000",
        )
    steps = steps_of_budget(options.align)
    if steps:
        how |= {"on": steps, "relative_to": "budget"}
    elif options.align is not None:
        how["on"] = parse_levels(options.align)
    named, _ = read_as(opened, options)
    for value in options.value or [_only_score(named, options)]:
        curves = _read_curves(named, value, options)
        # Scores without training have no levels.
        if options.align is not None and validation.NO_TRAINING not in curves.attrs:
            curves = _aligned(curves, how, options)
        if options.align and not curves.notnull().any():
            raise Refusal(
                "",
                UNSAID,
                f"--align {options.align} leaves no score of any run",
                "Name levels that runs reach",
            )
        curves = _without_empty_tasks(curves, value)
        if options.drop_incomplete:
            curves = drop_incomplete(curves)
        yield value, curves


def _only_score(opened: Table | xr.Dataset, options: argparse.Namespace) -> str:
    """Return the name of the scores; ask which of several variables it is."""
    if isinstance(opened, Table):
        return str(opened.value)
    names = list(map(str, opened.data_vars))
    if not names:
        raise Refusal(
            "",
            UNSAID,
            f"ARCHIVE {options.archive} has no variable that could be scores",
        )
    if len(names) > 1:
        command = command_with(options, ["--value", names[0]])
        raise Refusal(
            "",
            UNSAID,
            f"ARCHIVE has {len(names)} variables that could be scores, {listed(names)}",
            f"Type one: {command}",
        )
    return names[0]


def _read_curves(opened: Table | xr.Dataset, value: str, options: argparse.Namespace) -> xr.DataArray:
    """Return one of several scores as curves."""
    if isinstance(opened, xr.Dataset):
        if value not in opened:
            raise not_found(f"--value {value} is no variable of ARCHIVE", value, opened.data_vars)
        if options.missing_scores == "failed":
            raise Refusal(
                "",
                UNSAID,
                "--missing-scores failed is for rows of a table, and ARCHIVE has none",
                "Leave it out; of runs that end early say what they are with --runs-short",
            )
        return task_dims.with_training(opened[value], options.extra)

    dims: dict[str, Any] = {dim: opened.columns.get(dim) for dim in DIMS}
    # Without training there are no levels, and a row is a run.
    how: dict[str, Any] = {}
    if dims["training"]:
        # The levels of all runs may be too many for one array.
        if options.align is not None:
            how = {"levels": "run"}
        if options.missing_scores != "failed":
            _warn_of_empty_runs(opened, value)
    elif options.missing_scores != "failed" and (opened.reading is None or opened.reading.state is None):
        _warn_of_gaps(opened.frame, value)

    # Which failure is the worst score depends on the direction.
    how |= {
        "duplicates": options.duplicates,
        "resumed": options.resumed,
        "missing_scores": options.missing_scores,
        "higher_is_better": options.higher_is_better,
    }
    reading = replace(
        opened.reading or Reading(opened.frame),
        frame=opened.frame,
        score=value,
        tasks=tuple(name for name in opened.columns if name not in DIMS),
        **dims,
    )
    return with_found_dims(curves_of(reading, **how), DIMS)


def _check_runs_short(options: argparse.Namespace) -> None:
    """Refuse what is said of short runs where no common levels are taken."""
    if options.runs_short is not None and options.align is None:
        raise Refusal(
            "",
            UNSAID,
            f"--runs-short {options.runs_short} is for common training levels",
            Cure("Say which: ", give(on="intersection", runs_short=options.runs_short)),
        )


def _aligned(curves: xr.DataArray, how: dict[str, Any], options: argparse.Namespace) -> xr.DataArray:
    """Return curves at common levels; ask what short runs are before they cut the others."""
    directed, _ = with_direction(curves, options)
    given: dict[str, Any] = {
        **how,
        "runs_short": options.runs_short,
        "higher_is_better": direction.find(directed).higher,
    }
    cures = _cures_of_short_runs(options)
    if how["on"] in ("intersection", "final") or "relative_to" in how:
        try:
            _ask_of_short_runs(curves, cures, options)
        except ValueError:
            # Runs that share no levels are the first thing to say: no answer would bring them together.
            with warnings.catch_warnings(action="ignore"):
                align(curves, **given)
            raise
        return _align(curves, given)
    # Levels that are named cut nothing, but short runs may lack them.
    aligned = _align(curves, given)
    del cures["cut"]
    if not options.drop_incomplete:
        _ask_of_short_runs(aligned, cures, options)
    return aligned


def _align(curves: xr.DataArray, given: dict[str, Any]) -> xr.DataArray:
    """Return curves at common levels; which end of scores is better, and what says so, is said later."""
    aligned = align(curves, **given)
    if direction.HIGHER not in curves.attrs:
        aligned.attrs.pop(direction.HIGHER, None)
    return aligned


def _ask_of_short_runs(
    curves: xr.DataArray,
    cures: dict[short_runs.RunsShort, Cure],
    options: argparse.Namespace,
) -> None:
    """Refuse runs that end early, unless it is said what they are."""
    if options.runs_short is not None:
        return
    checked = check_curves(curves, own_levels=True)
    reason, cure = short_runs.ask(short_runs.ends_of(checked), cures)
    if reason:
        raise Refusal("curves", UNSAID, reason, cure)


def _cures_of_short_runs(
    options: argparse.Namespace,
) -> dict[short_runs.RunsShort, Cure]:
    """Return the options that say what short runs are, with what a failed run then needs."""
    cures = dict(short_runs.OPTIONS)
    takes_failures = "baseline" in options
    if not (takes_failures or options.fill_failed or repeats_scores(options)):
        filled = call(".curves.fill_failed", WORST)
        cures["failed"] = Cure(give(runs_short="failed").then(filled))
    return cures


def _warn_of_empty_runs(table: Table, value: str) -> None:
    """Say which runs have rows but no score: to leave out those that failed would reward failing."""
    frame = table.frame
    dims = {dim: column for dim, column in table.columns.items() if dim != "training" and column in frame}
    if value not in frame or not dims:
        return
    # Tasks that have no score of this value at all are left out, and named, together.
    tasks = [frame[dims[dim]] for dim in dims if dim not in DIMS]
    if tasks:
        frame = frame[frame.groupby(tasks)[value].transform("count") > 0]
    has_score = frame[value].notna().groupby([frame[name] for name in dims.values()])
    empty = has_score.any().loc[lambda scored: ~scored].index.tolist()
    if not empty:
        return
    first = np.ravel(np.array(empty[:1], dtype=object)).tolist()
    name = ", ".join(f"{dim} {label!r}" for dim, label in zip(dims, first, strict=True))
    if len(empty) == 1:
        runs = f"1 run ({name}) has rows but no score, and counts as no run. If it failed"
    else:
        runs = f"{len(empty):,} runs (first {name}) have rows but no score, and count as no run. If they failed"
    warnings.warn(
        f"--value {value}: {runs}: --missing-scores failed",
        UserWarning,
        stacklevel=2,
    )


def _warn_of_gaps(frame: pd.DataFrame, value: str) -> None:
    """Say how many runs have no score: to leave out those that failed would reward failing."""
    if value not in frame:
        return
    n_gaps = int(frame[value].isna().sum())
    if n_gaps == 0:
        return
    rows = f"{n_gaps:,} rows have no score and count"
    if n_gaps == 1:
        rows = "1 row has no score and counts"
    warnings.warn(
        f"--value {value}: {rows} as no run. If such runs failed: --missing-scores failed --fill-failed worst",
        UserWarning,
        stacklevel=2,
    )


def _without_empty_tasks(curves: xr.DataArray, value: str) -> xr.DataArray:
    """Drop labels of extra dims without a score, with a warning."""
    for dim in labels.extra_dims(curves):
        kept = curves.dropna(dim, how="all")
        if 0 < kept.sizes[dim] < curves.sizes[dim]:
            left = listed(curves[dim].drop_sel({dim: kept[dim]}).to_numpy())
            warnings.warn(
                f"--value {value}: left out {dim} without any score: {left}",
                UserWarning,
                stacklevel=2,
            )
            curves = kept
    return curves


def matching(name: str, wanted: Sequence[str], values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are among the labels that are wanted, written alike or equal as numbers."""
    known = {str(value): value for value in dict.fromkeys(values.tolist())}
    chosen = np.zeros(len(values), dtype=np.bool_)
    for label in wanted:
        equal: Any = label
        if values.dtype.kind in "iuf":
            equal = pd.to_numeric(label, errors="coerce")
        is_wanted = values == known.get(label, equal)
        if not np.any(is_wanted):
            near = labels.did_you_mean(label, known)
            raise Refusal(
                "",
                UNSAID,
                f"--select {name}={label}: there is none",
                f"{name} has {listed(known, _SHOWN)}{near}",
            )
        chosen |= is_wanted
    return chosen


def steps_of_budget(given: str | None) -> int:
    """Return at how many fractions of the budget `--align budget[:N]` asks for scores; 0 for anything else."""
    name, colon, number = (given or "").partition(":")
    if name != "budget":
        return 0
    if not colon:
        return FRACTIONS
    if not number.isdecimal() or not 0 < int(number) <= _MOST_STEPS:
        raise Refusal(
            "",
            UNSAID,
            f"--align budget:N takes a whole number from 1 to {_MOST_STEPS}; got {given!r}",
            "Try budget:20",
        )
    return int(number)


def parse_levels(given: str) -> On:
    """Return the levels that `--align` names: a word, a list, or START:STOP:STEP with STOP in it."""
    if given in _NAMED:
        return given  # type: ignore[return-value]  # one of its literals
    try:
        if ":" not in given:
            return [float(level) for level in given.split(",")]
        # In decimal digits: the levels of 0:1:.1 are those that a table has, and the last is 1.
        start, stop, step = map(Decimal, given.split(":"))
        if step > 0 and 0 <= (stop - start) / step < _MOST:
            return [float(start + number * step) for number in range(int((stop - start) / step) + 1)]
    except (ValueError, ArithmeticError):
        pass
    raise Refusal(
        "",
        UNSAID,
        f"--align takes {', '.join(_NAMED)}, budget[:N], levels such as 0,1000,5000, or START:STOP:STEP; got {given!r}",
        "Put ARCHIVE before the options",
    )
