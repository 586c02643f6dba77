"""The curves that options ask for of what was selected: scores at common levels, without what has none."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pandas as pd
import xarray as xr

import xcurves
from xcurves.cli.options import WORST, command_with, needs_filling, not_found
from xcurves.cli.sources import Table, read_as
from xcurves.core import direction, labels, short_runs, validation
from xcurves.core.known import On
from xcurves.core.labels import DIMS, did_you_mean
from xcurves.core.refusal import UNSAID, Cure, Refusal, call, give
from xcurves.core.run_checks import FRACTIONS
from xcurves.core.validation import check_curves
from xcurves.frames.make_curves import curves_of
from xcurves.frames.reading import Reading
from xcurves.frames.rows import unscored
from xcurves.frames.to_curves import as_found
from xcurves.say.numbers import listed

_MOST = 10**7  # levels
_MOST_STEPS = 10_000  # of a budget
_NAMED = ("intersection", "union", "final")


def where_from(frame: pd.DataFrame) -> list[str]:
    """Return the lines that say where rows come from: the source, and what names their runs."""
    lines = [f"Source: {frame.attrs['source']}"]
    if "named_by" in frame.attrs:
        lines.append(f"Runs: {frame.attrs['named_by']}")
    return lines


def curves_of_options(opened: Table | xr.Dataset, options: argparse.Namespace) -> Iterator[tuple[str, xr.DataArray]]:
    """Yield the curves that the options ask for of what was selected, with the name of each."""
    how: dict[str, Any] = {"method": options.method, "tolerance": options.tolerance}
    _check_runs_short(options)
    if options.align is None and set(how.values()) != {None}:
        raise Refusal(
            "method",
            options.method,
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
        curves = read_curves(named, value, options, own_levels=options.align is not None)
        # Scores without training have no levels.
        if options.align is not None and validation.NO_TRAINING not in curves.attrs:
            curves = _aligned(curves, how, options)
        if options.align and not curves.notnull().any():
            raise Refusal(
                "align",
                options.align,
                f"--align {options.align} leaves no score of any run",
                "Name levels that runs reach",
            )
        curves = _without_empty_tasks(curves, value)
        if options.drop_incomplete:
            curves = xcurves.drop_incomplete(curves)
        yield value, curves


def _only_score(opened: Table | xr.Dataset, options: argparse.Namespace) -> str:
    """Return the name of the scores; ask which of several variables it is."""
    if isinstance(opened, Table):
        return str(opened.value)
    names = list(map(str, opened.data_vars))
    if not names:
        raise Refusal(
            "path",
            str(options.archive),
            f"{options.archive} has no variable that could be scores",
        )
    if len(names) > 1:
        command = command_with(options, ["--value", names[0]])
        raise Refusal(
            "path",
            str(options.archive),
            f"{options.archive} has {len(names)} variables that could be scores, {listed(names)}",
            f"Type one: {command}",
        )
    return names[0]


def read_curves(
    opened: Table | xr.Dataset,
    value: str,
    options: argparse.Namespace,
    *,
    own_levels: bool,
) -> xr.DataArray:
    """Return one of several scores as curves, each run at its own levels or all at the union of them."""
    if isinstance(opened, xr.Dataset):
        if value not in opened:
            raise not_found("value", value, f"is no variable of {options.archive}", value, opened.data_vars)
        if options.missing_scores == "failed":
            raise Refusal(
                "missing_scores",
                options.missing_scores,
                f"--missing-scores failed is for rows of a table, and {options.archive} has none",
                "Leave it out; of runs that end early say what they are with --runs-short",
            )
        from xcurves.core.task_dims import with_training  # which tables do without

        return with_training(opened[value], options.extra)

    dims: dict[str, Any] = {dim: opened.columns.get(dim) for dim in DIMS}
    # Without training there are no levels, and a row is a run.
    how: dict[str, Any] = {}
    if dims["training"] and own_levels:  # the levels of all runs may be too many for one array
        how = {"levels": "run"}
    # Which failure is the worst score depends on the direction.
    how |= {
        "duplicates": options.duplicates,
        "resumed": options.resumed,
        "missing_scores": options.missing_scores,
        "higher_is_better": options.higher_is_better,
    }
    known = opened.reading or Reading(opened.frame)
    reading = replace(
        known,
        frame=opened.frame,
        score=value,
        made=(*known.made, *_warn_of_unscored(opened, value, options)),
        tasks=tuple(name for name in opened.columns if name not in DIMS),
        **dims,
    )
    return as_found(curves_of(reading, **how), reading, DIMS, is_said=True)


def _check_runs_short(options: argparse.Namespace) -> None:
    """Refuse what is said of short runs where no common levels are taken."""
    if options.runs_short is not None and options.align is None:
        raise Refusal(
            "runs_short",
            options.runs_short,
            f"--runs-short {options.runs_short} is for common training levels",
            Cure("Say which: ", give(on="intersection", runs_short=options.runs_short)),
        )


def with_direction(curves: xr.DataArray, options: argparse.Namespace) -> tuple[xr.DataArray, str]:
    """Return curves of known direction, and the words for it: where lower is better, or where nothing says which is."""
    if options.higher_is_better is not None:
        curves, _ = direction.resolved(curves, options.higher_is_better)
        return curves, ""
    found = direction.find(curves)
    why = found.why(curves).replace(direction.ATTRS, str(options.archive))
    curves = direction.settled(curves, "command line")
    if not found.higher:
        return curves, f"{why} (else: --higher-is-better)"
    if direction.assumed_in(curves):
        return curves, f"{why} (else: --lower-is-better)"
    return curves, ""


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
                xcurves.align(curves, **given)
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
    aligned = xcurves.align(curves, **given)
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
    reason, cure = short_runs.ask(short_runs.ends_of(checked), cures, last=short_runs.LAST)
    if reason:
        raise Refusal("curves", UNSAID, reason, cure)


def _cures_of_short_runs(
    options: argparse.Namespace,
) -> dict[short_runs.RunsShort, Cure]:
    """Return the options that say what short runs are, with what a failed run then needs."""
    cures = dict(short_runs.OPTIONS)
    if needs_filling(options):
        filled = call(".curves.fill_failed", WORST)
        cures["failed"] = Cure(give(runs_short="failed").then(filled))
    return cures


def _warn_of_unscored(table: Table, value: str, options: argparse.Namespace) -> list[str]:
    """Return which runs have no score, and warn of them: to leave out those that failed would reward failing."""
    has_states = table.reading is not None and table.reading.state is not None
    said = unscored(table.frame, value, table.columns)
    if not said or has_states or options.missing_scores == "failed":
        return []
    failed = "they failed"
    if "training" not in table.columns:
        failed = "such runs failed"
    elif said.startswith("1 "):
        failed = "it failed"
    cure = "--missing-scores failed --fill-failed worst"
    warnings.warn(f"--value {value}: {said}. If {failed}: {cure}", UserWarning, stacklevel=2)
    return [said]


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


def steps_of_budget(given: str | None) -> int:
    """Return at how many fractions of the budget `--align budget[:N]` asks for scores; 0 for anything else."""
    name, colon, number = (given or "").partition(":")
    if name != "budget":
        return 0
    if not colon:
        return FRACTIONS
    if not number.isdecimal() or not 0 < int(number) <= _MOST_STEPS:
        raise Refusal(
            "align",
            given,
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
        "align",
        given,
        f"--align takes {', '.join(_NAMED)}, budget[:N], levels such as 0,1000,5000, or START:STOP:STEP; got {given!r}",
        did_you_mean(given, (*_NAMED, "budget")).removeprefix(". ") or "Put PATH before the options",
    )
