"""The subcommand `sequential`: look at the runs so far, and say whether more are needed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import xarray as xr

import xcurves
from xcurves.cli.names import Table, not_found, read_names
from xcurves.cli.options import Parser, add_direction, program
from xcurves.cli.scales import filled, with_direction
from xcurves.cli.sources import curves_of_options, open_archive, select
from xcurves.core import labels
from xcurves.core.validation import check_confidence_level, check_total
from xcurves.core.wording import joined
from xcurves.looks import ledger
from xcurves.looks.assign_looks import ledger_of
from xcurves.looks.sequential_text import n_done, next_batch, planned_without_rejection

MORE = 3  # exit status
_MOST = 10**6  # runs, algorithms and reassignments of a plan
_FLAGS = ("rejected", "undecided", "futile")
_OF_PAIR = (
    *(
        "pair",
        "algorithm_a",
        "algorithm_b",
        *_FLAGS,
        "pvalue",
        "pvalue_adjusted",
        "statistic",
        "critical_value",
    ),
    *("difference", "difference_ci_simultaneous", "chance", "chance_at_ci"),
)
_DESCRIPTION = """Compare algorithms after every batch of runs, with a p-value that may be read after each.

Prints what is shown, what is still open, and what to run next. The number of looks and the sizes of the batches are
fixed before the first result."""
_EPILOG = f"""exit status:
  0  every pair is decided, or the last look is done
  {MORE}  more runs are needed: those that `run_more` of --json names
  2  options or input that cannot be used; the message says what to do

example, a log with the columns agent, seed, step, return and batch (1, 2, ...):
  %(prog)s log.csv --value return --algorithm agent --run seed --training step --look batch --looks 6"""


def sequential_parser() -> argparse.ArgumentParser:
    """Return the parser of the subcommand."""
    log = "log of all runs so far: a table or an archive; without it, say what the planned looks could show"
    made = Parser(f"{program()} sequential", _DESCRIPTION, _EPILOG, log)
    plan = made.add_argument_group("the plan")
    plan.add_argument(
        "--looks", type=int, required=True, metavar="K", help="number of looks planned"
    )
    words = "what --json printed at an earlier look: another past is refused"
    plan.add_argument("--previous", type=Path, metavar="FILE", help=words)
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
    words = "without ARCHIVE: how many algorithms (default: %(default)s)"
    plan.add_argument("--algorithms", type=int, default=2, metavar="M", help=words)
    plan.add_argument(
        "--spending",
        choices=("square", "linear"),
        default="square",
        help="(default %(default)s)",
    )
    plan.add_argument(
        "--task",
        metavar="NAME",
        help="dim of tasks that are tested together (default: each by itself)",
    )
    plan.add_argument(
        "--reference", metavar="ALGORITHM", help="compare the others with this one only"
    )
    plan.add_argument(
        "--final",
        action="store_true",
        help="compare scores at the last level (default: their mean)",
    )
    plan.add_argument(
        "--n-resamples",
        type=int,
        default=9999,
        metavar="Z",
        help="(default %(default)s)",
    )
    add_direction(made)
    made.add_argument(
        "--json", action="store_true", help="print one JSON object instead of sentences"
    )
    return made


def run_sequential(options: argparse.Namespace) -> int:
    """Look once; return the exit status."""
    if options.archive is None:
        print(_planned(options))
        return 0
    opened = open_archive(options)
    if isinstance(opened, xr.DataTree):
        raise ValueError(
            f"ARCHIVE {options.archive} holds an analysis, not curves. Name the archive it was made from"
        )
    if options.previous is not None:
        ledger.read(options.previous, "--previous")
    same = (
        "previous",
        "spending",
        "task",
        "reference",
        "n_resamples",
        "confidence_level",
        "rng",
    )
    curves, which_end = with_direction(_with_looks(opened, options), options)
    training_weights: Literal["final"] | None = None
    if options.final:
        training_weights = "final"
    result = xcurves.sequential(
        filled(curves, options),
        n_looks=options.looks,
        training_weights=training_weights,
        **{name: getattr(options, name) for name in same},
    ).compute()
    if options.json:
        text = json.dumps(_as_json(result))
        # Infinite and unknown numbers are null.
        plain = json.loads(text, parse_constant=lambda _: None)
        print(json.dumps(plain, allow_nan=False))
    else:
        if which_end:
            print(f"{which_end}\n")
        print(xcurves.summary(result))
    if (result["undecided"] == 1).any():
        return MORE
    return 0


def _planned(options: argparse.Namespace) -> str:
    """Return which of the planned looks could show a difference."""
    if options.batch_size is None:
        raise ValueError(
            "ARCHIVE is missing. Name the log, or plan without one: --batch-size N"
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
    blind = planned_without_rejection(
        size, n_looks, n_pairs, options.spending, options.n_resamples, alpha
    )
    lines = [
        f"Planned: {n_looks} looks, {size} runs of each of {n_algorithms} algorithms in a batch, {n_looks * size} of "
        "each at most."
    ]
    if blind:
        lines.append(
            f"At look {joined(list(map(str, blind)))} no pair could be shown to differ, whatever its scores."
        )
    if len(blind) < n_looks:
        lines.append(f"From look {len(blind) + 1} on, a pair can be shown to differ.")
    return "\n".join(lines)


def _with_looks(
    opened: Table | xr.Dataset, options: argparse.Namespace
) -> xr.DataArray:
    """Return the curves of what was selected, with the look of every run."""
    look = options.look
    if look and isinstance(opened, Table) and look not in opened.frame:
        raise not_found(f"--look {look} is no column of ARCHIVE", look, opened.frame)
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
    curves, *more = [curves for _, curves in curves_of_options(log, options)]
    if more:
        raise ValueError(
            f"--value is given {1 + len(more)} times; a sequential test has one. Name one"
        )
    if options.batch_size is not None:
        return xcurves.assign_looks(curves, options.batch_size)
    if isinstance(selected, Table):
        return xcurves.assign_looks(curves, selected.frame.set_index(run)[look])
    if look not in curves.coords:
        raise KeyError(
            f"--look {look} is no coordinate of ARCHIVE. Say how many runs: --batch-size 5"
        )
    if look == "look":
        return curves
    return curves.rename({look: "look"})


def _as_json(result: xr.Dataset) -> dict[str, Any]:
    """Return what a script needs to continue."""
    dims = labels.task_dims(result["undecided"])
    tasks = [
        {"task": {str(dim): task[dim].item() for dim in dims}} | _json_of_task(task)
        for task in labels.tasks_of(result, "undecided")
    ]
    open_pairs = [
        {"task": task["task"], "pair": pair}
        for task in tasks
        for pair in task["undecided"]
    ]
    shown = all(pair["rejected"] for task in tasks for pair in task["pairs"])
    most = {
        name: pd.DataFrame([task[name] for task in tasks]).max()
        for name in ("run_more", "run_at_most")
    }
    decision = "last look done, not all shown"
    if open_pairs:
        decision = "more runs needed"
    elif shown:
        decision = "all shown"
    return {
        "decision": decision,
        "n_looks": result.sizes["look"],
        "undecided": open_pairs,
        **{name: sizes.astype(int).to_dict() for name, sizes in most.items()},
        "past": ledger_of(result).as_json(),
        "tasks": tasks,
        "summary": xcurves.summary(result),
    }


def _json_of_task(task: xr.Dataset) -> dict[str, Any]:
    done = n_done(task)
    latest = task.isel(look=done - 1)
    more = {str(name): size for name, size in next_batch(task).items()}
    pairs = [
        {name: pair[name].to_numpy().tolist() for name in _OF_PAIR}
        for pair in labels.each_of(latest, "pair")
    ]
    return {
        "look": done,
        "undecided": [pair["pair"] for pair in pairs if pair["undecided"] == 1],
        "run_more": more,
        "run_at_most": {
            name: n * (task.sizes["look"] - done) for name, n in more.items()
        },
        "n_runs": {
            str(a["algorithm"].item()): int(a) for a in latest["n_runs"].fillna(0)
        },
        "pairs": [pair | {name: bool(pair[name]) for name in _FLAGS} for pair in pairs],
    }
