"""The subcommands `sequential` and `gate`: look at the runs so far, and say what is shown or kept, and what to run."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr

import xcurves
from xcurves.cli.curves_asked import curves_of_options, with_direction
from xcurves.cli.options import NONE, Parser, add_direction, not_found, program
from xcurves.cli.outputs import DONE, NOT_BETTER, UNDECIDED, UNEXPECTED, text_of_json
from xcurves.cli.run_log import RunLog, naming_rows, numbered
from xcurves.cli.score_options import filled
from xcurves.cli.sources import Table, open_archive, read_as, read_names, select
from xcurves.core.atomic_write import atomic_write
from xcurves.core.names import is_clock, is_step
from xcurves.core.refusal import UNSAID, Missing, Refusal
from xcurves.core.validation import check_confidence_level, check_total
from xcurves.looks import ledger
from xcurves.looks.sequential_text import planned_without_rejection
from xcurves.reporting.answer import of_words, to_dict
from xcurves.say.numbers import joined

_OF_DECISION = {"kept": DONE, "dropped": NOT_BETTER, "run_more": UNDECIDED, "waiting": UNDECIDED}
_MOST = 10**6  # runs, algorithms and reassignments of a plan
_SEQUENTIAL = """Compare algorithms after every batch of runs, with a p-value that may be read after each.

Prints what is shown, what is still open, and what to run next. The number of looks and the sizes of the batches are
fixed before the first result."""
_GATE = """Keep or drop a candidate: is it better than the champion, or what must be run before one can say?

PATH has a row for each run, or each score of a run, in the order in which they were made. Candidates are judged one
after the other; each that is kept is the next champion. Prints the decision about the last one that is not judged yet,
or else about the last."""
EPILOG = f"""exit status:
%s
  2  options or input that cannot be used; the message says what to do
  {UNDECIDED}  %s
  {UNEXPECTED}  an unexpected error; --traceback shows where

example, %s"""


_MORE = "more runs are needed: those that `next`, `runs` of --json names"


class Command(NamedTuple):
    """A subcommand: what parses its options, and what looks at the runs and returns the exit status."""

    parser: Callable[[], argparse.ArgumentParser]
    run: Callable[[argparse.Namespace], int]


def _sequential_parser() -> argparse.ArgumentParser:
    """Return the parser of `sequential`."""
    epilog = EPILOG % (
        f"  {DONE}  every pair is decided, or the last look is done",
        _MORE,
        "a log with the columns agent, seed, step, return and batch (1, 2, ...):\n"
        "  %(prog)s log.csv --value return --algorithm agent --run seed --training step --look batch --looks 6",
    )
    log = "log of all runs so far: a table or an archive; without it, say what the planned looks could show"
    made = Parser(f"{program()} sequential", _SEQUENTIAL, epilog, log)
    plan = made.add_argument_group("the plan")
    plan.add_argument("--looks", type=int, required=True, metavar="K", help="number of looks planned")
    batches = plan.add_mutually_exclusive_group(required=True)
    batches.add_argument(
        "--look",
        metavar="NAME",
        help="column, or coordinate of runs, with the batch of a run",
    )
    batches.add_argument(
        "--batch-size",
        type=int,
        metavar="N",
        help="runs in a batch, in the order of their labels",
    )
    words = "without PATH: how many algorithms (default: %(default)s)"
    plan.add_argument("--algorithms", type=int, default=2, metavar="M", help=words)
    plan.add_argument(
        "--spending",
        choices=("square", "linear"),
        default="square",
        help="(default %(default)s)",
    )
    plan.add_argument("--reference", metavar="ALGORITHM", help="compare the others with this one only")
    add_shared(made, plan, task="dim of tasks that are tested together", default=9999)
    return made


def _gate_parser() -> argparse.ArgumentParser:
    """Return the parser of `gate`."""
    epilog = EPILOG % (
        f"  {DONE}  the candidate is kept\n  {NOT_BETTER}  it is dropped",
        _MORE,
        "a log with the columns candidate and score, a failed run with the score -inf:\n"
        "  %(prog)s runs.csv --baseline main --ledger gate.json",
    )
    log = "log of all runs so far: a table or an archive"
    made = Parser(f"{program()} gate", _GATE, epilog, log)
    plan = made.add_argument_group("the plan, fixed before the first result")
    add = plan.add_argument
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
    task = "column or dim of tasks, over which each run is averaged"
    add_shared(made, plan, task=task, default=None)
    return made


def add_shared(
    made: Parser,
    plan: argparse._ArgumentGroup,
    *,
    task: str | None,
    default: int | None,
    ledger: Path | None = None,
) -> None:
    """Add the options of subcommands that look; `default` is the number of reassignments, None all up to a million."""
    if task is not None:
        plan.add_argument("--task", metavar="NAME", help=task)
    plan.add_argument(
        "--final",
        action="store_const",
        const="final",
        help="compare scores at the last level (default: their mean)",
    )
    usual = default or "all up to 1e6, else 9,999"
    plan.add_argument(
        "--n-resamples",
        type=int,
        default=default,
        metavar="Z",
        help=f"most reassignments (default: {usual})",
    )
    add_direction(made)
    add = made.add_argument_group("what is written").add_argument
    words = "file of the plan and the runs so far: read, checked (another past is refused) and replaced"
    if ledger is not None:
        words += f" (default: {ledger})"
    add("--ledger", type=Path, default=ledger, metavar="FILE", help=words)


def _run_sequential(options: argparse.Namespace) -> int:
    """Look once; return the exit status."""
    if options.archive is None:
        planned = _planned(options)
        options.answers.append(of_words(planned))
        print(planned)
        return DONE
    opened = _opened(options, "curves")
    previous = earlier(options)
    curves, which_end = with_direction(_with_looks(opened, options), options)
    same = "spending task reference n_resamples confidence_level rng"
    result = xcurves.sequential(
        filled(curves, options),
        n_looks=options.looks,
        training_weights=options.final,
        previous=previous,
        **{name: getattr(options, name) for name in same.split()},
    ).compute()
    sentences = xcurves.summary(result)
    if which_end:
        sentences = f"{which_end}\n\n{sentences}"
    _answer(to_dict(result), sentences, options)
    if (result["undecided"] == 1).any():
        return UNDECIDED
    return DONE


def _run_gate(options: argparse.Namespace) -> int:
    """Judge the candidates; return the exit status of the decision."""
    if options.archive is None:
        raise Refusal("path", UNSAID, "PATH is missing", "Name the log of all runs so far")
    numbers, how_read, log = _scores(options)
    scores, which_end = with_direction(numbers, options)
    if options.higher_is_better is False:
        which_end = "lower is better"
    _, *made = how_read.split("; ")
    if which_end:
        how_read += f", {which_end}"
    previous = earlier(options)
    same = "baseline level margin start refresh share_failed task n_resamples confidence_level rng"
    with naming_rows(log):
        result = xcurves.gate(
            filled(scores, options),
            candidates=options.candidate,
            looks=run_numbers(options.looks),
            training_weights=options.final,
            previous=previous,
            **{name: getattr(options, name) for name in same.split()},
        )
    answer = to_dict(result)
    if answer["reading"] is not None:
        answer["reading"]["made"] = list(dict.fromkeys([*made, *answer["reading"]["made"]]))
    _answer(answer, f"{how_read}\n\n{xcurves.summary(result)}", options)
    return _OF_DECISION[answer["next"]["decision"]]


COMMANDS = {
    "sequential": Command(_sequential_parser, _run_sequential),
    "gate": Command(_gate_parser, _run_gate),
}


def _opened(options: argparse.Namespace, what: str) -> Table | xr.Dataset:
    """Return what is in the archive, which must be no analysis."""
    opened = open_archive(options)
    if isinstance(opened, xr.DataTree):
        raise Refusal(
            "path",
            str(options.archive),
            f"{options.archive} holds an analysis, not {what}",
            "Name the archive it was made from",
        )
    return opened


def _only_curves(opened: Table | xr.Dataset, options: argparse.Namespace, what: str) -> xr.DataArray:
    """Return the curves of the one value that a test has."""
    curves, *more = [curves for _, curves in curves_of_options(opened, options)]
    if more:
        raise Refusal(
            "value",
            UNSAID,
            f"--value is given {1 + len(more)} times; {what} has one",
            "Name one",
        )
    return curves


def earlier(options: argparse.Namespace) -> Path | None:
    """Return the ledger, if there is one already; refuse a file that is none."""
    path: Path | None = options.ledger
    if path is None or not path.exists():
        return None
    ledger.read(path, "--ledger")
    return path


def _answer(answer: dict[str, Any], sentences: str, options: argparse.Namespace) -> None:
    """Keep an answer in the ledger, and print its sentences."""
    keep(answer, options)
    options.answers.append(answer)
    print(sentences)


def keep(answer: dict[str, Any], options: argparse.Namespace) -> None:
    """Keep an answer in the ledger, if there is one."""
    if options.ledger:
        text = f"{text_of_json(answer)}\n"
        atomic_write(
            options.ledger,
            lambda path: path.write_text(text, encoding="utf-8"),
            is_own=_is_ledger,
        )


def _is_ledger(path: Path) -> bool:
    """Return whether a file is one that these commands wrote."""
    try:
        ledger.read(path)
    except ValueError:
        return False
    return True


def _planned(options: argparse.Namespace) -> str:
    """Return which of the planned looks could show a difference."""
    if options.batch_size is None:
        raise Refusal(
            "path",
            UNSAID,
            "PATH is missing",
            "Name the log, or plan without one: --batch-size N",
        )
    for name, least, most in (
        ("looks", 1, 1000),
        ("batch_size", 1, _MOST),
        ("algorithms", 2, _MOST),
        ("n_resamples", 1, _MOST),
    ):
        option = f"--{name.replace('_', '-')}"
        check_total(option, getattr(options, name), least=least, most=most)
    n_looks, size, n_algorithms = options.looks, options.batch_size, options.algorithms
    n_pairs = n_algorithms * (n_algorithms - 1) // 2
    if options.reference:
        n_pairs = n_algorithms - 1
    alpha = check_confidence_level(options.confidence_level)
    blind = planned_without_rejection([size] * n_looks, n_pairs, options.spending, options.n_resamples, alpha)
    lines = [
        f"Planned: {n_looks} looks, {size} runs of each of {n_algorithms} algorithms in a batch, {n_looks * size} of "
        "each at most."
    ]
    if blind:
        lines.append(f"At look {joined(list(map(str, blind)))} no pair could be shown to differ, whatever its scores.")
    if len(blind) < n_looks:
        lines.append(f"From look {len(blind) + 1} on, a pair can be shown to differ.")
    return "\n".join(lines)


def _with_looks(opened: Table | xr.Dataset, options: argparse.Namespace) -> xr.DataArray:
    """Return the curves of what was selected, with the look of every run."""
    look = options.look
    if look and isinstance(opened, Table) and look not in opened.frame:
        raise not_found("look", look, f"is no column of {options.archive}", look, opened.frame)
    selected = select(opened, options)
    log = selected
    run = options.run or "run"
    if isinstance(selected, Table):
        frame = selected.frame
        if look:
            frame = frame.drop(columns=look)  # batches are no scores
        named = read_names(selected._replace(frame=frame), options)
        run = named.columns.get("run", run)
        log = named
    curves = _only_curves(log, options, "a sequential test")
    if options.batch_size is not None:
        return xcurves.assign_looks(curves, options.batch_size)
    if isinstance(selected, Table):
        return xcurves.assign_looks(curves, selected.frame.set_index(run)[look])
    if look not in curves.coords:
        raise Missing(
            "look",
            look,
            f"is no coordinate of {options.archive}",
            "Say how many runs: --batch-size 5",
        )
    if look == "look":
        return curves
    return curves.rename({look: "look"})


def run_numbers(given: str) -> list[int]:
    """Return the numbers of runs of the looks."""
    try:
        return [int(each) for each in given.split(",")]
    except ValueError:
        raise Refusal("looks", given, "must be numbers of runs", "Such as 1,2,4,8") from None


def _scores(options: argparse.Namespace) -> tuple[xr.DataArray, str, RunLog]:
    """Return the scores of all runs, numbered in the order of the log, how they are read, and which rows they are."""
    opened = select(_opened(options, "scores"), options)
    log = RunLog()
    if isinstance(opened, Table):
        if options.training is None and any(map(is_clock, opened.frame)) and not any(map(is_step, opened.frame)):
            options.training = NONE  # rows of a log without steps are runs, whatever their time
        opened, log = numbered(opened, options)
    named, how_read = read_as(opened, options)
    scores = _only_curves(named, options, "a gate")
    if not isinstance(opened, Table):
        return scores, how_read or f"read from {options.archive}", log

    if "training" not in opened.columns:
        scores = scores.isel(training=0, drop=True)
    # A candidate that is named has no runs at first.
    order = dict.fromkeys([*opened.frame[opened.columns["algorithm"]], *(options.candidate or [])])
    return scores.reindex(algorithm=list(order)), how_read, log
