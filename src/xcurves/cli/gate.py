"""The subcommand `gate`: keep or drop a candidate, or say which runs to make."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

import xcurves
from xcurves.cli.names import Table
from xcurves.cli.options import Parser, add_direction, program
from xcurves.cli.run_log import RunLog, numbered
from xcurves.cli.scales import filled, with_direction
from xcurves.cli.sources import curves_of_options, open_archive, read_as, select
from xcurves.core import labels
from xcurves.core.atomic_write import atomic_write
from xcurves.core.result_frames import bounds
from xcurves.core.run_checks import RunError
from xcurves.looks import ledger
from xcurves.looks.gate import ledger_of
from xcurves.looks.gate_replay import DECISIONS
from xcurves.looks.gate_text import current

STATUS = {"kept": 0, "dropped": 1, "run_more": 3, "waiting": 3}
UNEXPECTED = 4  # exit status: 1 is a decision
_OF_CANDIDATE = (
    "n_runs",
    "n_runs_champion",
    "runs_to_make",
    "runs_to_make_champion",
    "n_failed",
    "difference",
    "pvalue",
)
_DESCRIPTION = """Keep or drop a candidate: is it better than the champion, or what must be run before one can say?

ARCHIVE has a row for each run, or each score of a run, in the order in which they were made. Candidates are judged one
after the other; each that is kept is the next champion. Prints the decision about the last one that is not judged yet,
or else about the last."""
_EPILOG = f"""exit status:
  0  the candidate is kept
  1  it is dropped
  3  more runs are needed: those that `runs_to_make` of --json names
  2  options or input that cannot be used; the message says what to do
  {UNEXPECTED}  an unexpected error; --traceback shows where

example, a log with the columns candidate and score, a failed run with the score -inf:
  %(prog)s runs.csv --baseline main --ledger gate.json"""


def gate_parser() -> argparse.ArgumentParser:
    """Return the parser of the subcommand."""
    made = Parser(
        f"{program()} gate",
        _DESCRIPTION,
        _EPILOG,
        "log of all runs so far: a table or an archive",
    )
    add = made.add_argument_group(
        "the plan, fixed before the first result"
    ).add_argument
    add("--baseline", required=True, metavar="NAME", help="the first champion")
    words = "a candidate; may be repeated, in their order (default: all others, in the order of the log)"
    add("--candidate", action="append", metavar="NAME", help=words)
    add(
        "--looks",
        default="1,2,4,8",
        metavar="N,N,...",
        help="runs of a candidate at each look (%(default)s)",
    )
    words = "how often a candidate that is no better may be kept (%(default)s)"
    add("--level", type=float, default=0.2, metavar="P", help=words)
    words = "by how much it must be better; below 0, by how much it may be worse (%(default)s)"
    add("--margin", type=float, default=0.0, metavar="M", help=words)
    add(
        "--start",
        type=int,
        metavar="N",
        help="runs of the baseline at the first look (4, or the last look)",
    )
    words = "run the champion again for every N-th candidate that it meets; 0: never (%(default)s)"
    add("--refresh", type=int, default=2, metavar="N", help=words)
    words = "share of the runs at a look that may fail (%(default)s)"
    add("--share-failed", type=float, default=0.0, metavar="S", help=words)
    add(
        "--task",
        metavar="NAME",
        help="column or dim of tasks, over which each run is averaged",
    )
    add(
        "--final",
        action="store_true",
        help="compare scores at the last level (default: their mean)",
    )
    add_direction(made)
    add(
        "--n-resamples",
        type=int,
        metavar="Z",
        help="most reassignments (default: all up to 1e6, else 9,999)",
    )
    add = made.add_argument_group("what is written").add_argument
    words = "file of the plan and the runs so far: read, checked (another past is refused) and replaced"
    add("--ledger", type=Path, metavar="FILE", help=words)
    add(
        "--json", action="store_true", help="print one JSON object instead of sentences"
    )
    return made


def run_gate(options: argparse.Namespace) -> int:
    """Judge the candidates; return the exit status of the decision."""
    if options.archive is None:
        raise ValueError("ARCHIVE is missing. Name the log of all runs so far")
    numbers, how_read, log = _scores(options)
    scores, which_end = with_direction(numbers, options)
    if options.higher_is_better is False:
        which_end = "lower is better"
    if which_end:
        how_read += f", {which_end}"
    training_weights: Literal["final"] | None = None
    if options.final:
        training_weights = "final"
    previous = None
    if options.ledger and options.ledger.exists():
        ledger.read(options.ledger, "--ledger")
        previous = options.ledger
    same = (
        "baseline",
        "level",
        "margin",
        "start",
        "refresh",
        "share_failed",
        "n_resamples",
        "confidence_level",
        "rng",
    )
    with _naming_rows(log):
        result = xcurves.gate(
            filled(scores, options),
            candidates=options.candidate,
            looks=_looks(options.looks),
            task=options.task,
            training_weights=training_weights,
            previous=previous,
            **{name: getattr(options, name) for name in same},
        )
    answer = as_json(result, how_read)
    text = json.dumps(answer, allow_nan=False)
    if options.ledger:
        atomic_write(
            options.ledger,
            lambda path: path.write_text(f"{text}\n", encoding="utf-8"),
            is_own=_is_ledger,
        )
    if options.json:
        print(text)
    else:
        print(f"{how_read}\n\n{xcurves.summary(result)}")
    return STATUS[answer["decision"]]


@contextmanager
def _naming_rows(log: RunLog) -> Iterator[None]:
    """Say of which rows errors and warnings about runs are."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    except RunError as error:
        raise ValueError(log.say_error(error)) from None
    except ValueError as error:
        raise ValueError(log.say_of_runs(str(error))) from None
    for each in caught:
        words = str(each.message)
        if isinstance(each.message, Warning):
            words = log.say_warning(each.message)
        warnings.warn(words, UserWarning, stacklevel=2)


def _is_ledger(path: Path) -> bool:
    """Return whether a file is one that this command wrote."""
    try:
        ledger.read(path)
    except ValueError:
        return False
    return True


def _looks(given: str) -> list[int]:
    """Return the numbers of runs of the looks."""
    try:
        return [int(each) for each in given.split(",")]
    except ValueError:
        raise ValueError(
            f"--looks takes numbers of runs, such as 1,2,4,8; got {given!r}"
        ) from None


def _scores(options: argparse.Namespace) -> tuple[xr.DataArray, str, RunLog]:
    """Return the scores of all runs, numbered in the order of the log, how they are read, and which rows they are."""
    opened = open_archive(options)
    if isinstance(opened, xr.DataTree):
        raise ValueError(
            f"ARCHIVE {options.archive} holds an analysis, not scores. Name the archive it was made from"
        )
    opened = select(opened, options)
    log = RunLog()
    if isinstance(opened, Table):
        opened, log = numbered(opened, options)
    named, how_read = read_as(opened, options)
    scores, *more = [curves for _, curves in curves_of_options(named, options)]
    if more:
        raise ValueError(
            f"--value is given {1 + len(more)} times; a gate has one. Name one"
        )
    if not isinstance(opened, Table):
        return scores, how_read or f"read from {options.archive}", log

    if "training" not in opened.columns:
        scores = scores.isel(training=0, drop=True)
    # A candidate that is named has no runs at first.
    order = dict.fromkeys(
        [*opened.frame[opened.columns["algorithm"]], *(options.candidate or [])]
    )
    return scores.reindex(algorithm=list(order)), how_read, log


def as_json(result: xr.Dataset, how_read: str) -> dict[str, Any]:
    """Return what a script needs, with null for numbers that are unknown or infinite."""
    candidates = [
        _of_candidate(judged) for judged in labels.each_of(result, "candidate")
    ]
    now = candidates[current(result)]
    to_make = {
        now["candidate"]: now["runs_to_make"],
        now["champion"]: now["runs_to_make_champion"],
    }
    return {
        "decision": now["decision"],
        "candidate": now["candidate"],
        "runs_to_make": {name: n for name, n in to_make.items() if n},
        "champion": result.attrs["champion"],
        "progress": _plain(result["progress"]),
        "progress_ci": [_plain(end) for end in bounds(result["progress_ci"]).values()],
        "candidates": candidates,
        "read_as": how_read,
        "summary": xcurves.summary(result),
        "past": ledger_of(result).as_json(),
    }


def _of_candidate(judged: xr.Dataset) -> dict[str, Any]:
    """Return what is said of one candidate."""
    ends = bounds(judged["difference_ci"]).values()
    return {
        "candidate": str(judged["candidate"].item()),
        "decision": DECISIONS[int(judged["decision"])],
        "champion": str(judged["champion"].item()),
        **{name: _plain(judged[name]) for name in _OF_CANDIDATE},
        "difference_ci": [_plain(end) for end in ends],
    }


def _plain(value: xr.DataArray) -> int | float | None:
    """Return a number of JSON."""
    number: int | float = value.item()
    if np.isfinite(number):
        return number
    return None
