"""The options of the command line, with their help."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import NoReturn

from xcurves.core.labels import DIMS, did_you_mean
from xcurves.readers import SOURCES
from xcurves.reporting.analyze import parts

_DESCRIPTION = """Compare algorithms by their performance curves, from logs to tables, sentences, an archive and a page.

Without --include: a randomized two-way analysis of variance. Whole runs are reassigned among the algorithms: the
test is valid with any dependence along a curve. Prints the ANOVA table and its meaning, and writes all results as
netCDF.
Without ARCHIVE it compares five classifiers over sixteen tasks, whose curves come with the package."""
_EPILOG = """examples:
  The curves that come with the package; results in benchmark-across_tasks.nc, a page in benchmark.html:
    %(prog)s
  A table, one row per score, with columns agent, seed, step, task and return; tasks are analysed each by itself:
    %(prog)s returns.csv --value return --algorithm agent --run seed --training step --extra task
  One task and two algorithms of it, at the levels that all runs have:
    %(prog)s returns.csv ... --select task=Hopper --select algorithm=sac,td3 --align
  Runs that logged at different levels: means of bins up to 1e6 steps, runs that stopped early left out:
    %(prog)s logs/ --align 1e4:1e6:1e4 --method mean --drop-incomplete
  Everything, in one archive and one page; then the page again from the archive:
    %(prog)s returns.csv ... --include all --output hopper.nc --report hopper.html
    %(prog)s hopper.nc --report hopper.html
  TensorBoard event files in runs/TASK/ALGORITHM/SEED:
    %(prog)s runs/ --folders task algorithm run --select tag=eval/return
  Runs come in batches, and after each: is it clear, or are more needed?
    %(prog)s sequential --help

exit status:
  0  done
  1  an unexpected error; --traceback shows where
  2  options or input that cannot be used; the message says what to do
  130  interrupted (Ctrl-C), 143 terminated, 141 nobody reads the output: no archive or page is left half-written

Nothing is filled, dropped or averaged unless an option asks for it, and the archive's history says what was.
The same input, options and --rng give the same numbers."""


def program() -> str:
    """Return how the program was called: the command `xcurves`, or `python -m xcurves`."""
    return "xcurves" if Path(sys.argv[0]).stem == "xcurves" else "python -m xcurves"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and where to find help."""
        unknown = re.match("unrecognized arguments: (--[^ =]+)", message)
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = did_you_mean(unknown[1], self._option_string_actions) if unknown else ""
        near = did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2])) if choice else near
        self.exit(2, f"{self.prog}: {message}{near or '.'} Help: {self.prog} --help\n")


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line; say so if a part stands where the archive belongs."""
    made = parser()
    for first in arguments[:1]:
        if first in parts() and not Path(first).exists():
            made.error(f"{first} is no archive but a part of an analysis: {made.prog} ARCHIVE --include {first}")
    return made.parse_args(arguments)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = Parser(
        prog=program(),
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument(
        "archive",
        nargs="?",
        type=Path,
        metavar="ARCHIVE",
        help="netCDF file, zarr store, table (.csv, .csv.gz), or logs: a file or folder of any --source; an analysis, "
        "with --report",
    )
    add_names(made)
    add_selection(made)
    _add_methods(made)
    _add_results(made)
    return made


def add_names(made: argparse.ArgumentParser) -> None:
    """Add the options that name columns, dims and folders."""
    names = made.add_argument_group("names in ARCHIVE")
    names.add_argument(
        "--value",
        action="append",
        metavar="NAME",
        help="column or variable of the scores, needed if there are several; may be repeated: each is analysed by "
        "itself, and its name put into the names of the files that are written",
    )
    for dim in DIMS:
        names.add_argument(f"--{dim}", metavar="NAME", help=f"column or dim of {dim}, if it has another name")
    names.add_argument("--extra", action="append", default=[], metavar="NAME", help="column of tasks; may be repeated")
    names.add_argument(
        "--source",
        metavar="NAME",
        help=f"what wrote ARCHIVE, if it is not recognised: {', '.join(source.name for source in SOURCES)}",
    )
    names.add_argument(
        "--folders",
        nargs="+",
        metavar="NAME",
        help="what each level of folders names (default: algorithm run); those that are not dims are tasks",
    )
    names.add_argument(
        "--names",
        metavar="REGEX",
        default=r"(?P<algorithm>.+)[-_ ](?P<run>\d+)",
        help="how the names of folders (--folders name) or of a Weights & Biases chart are made of algorithm and run "
        "(default: %(default)s)",
    )


def add_selection(made: argparse.ArgumentParser) -> None:
    """Add the options that select and align."""
    chosen = made.add_argument_group("what is compared, and where")
    chosen.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="NAME=LABEL[,LABEL...]",
        help="keep these labels of a dim or column: task=Hopper, algorithm=sac,td3, training=0:1e6; may be repeated",
    )
    chosen.add_argument(
        "--align",
        nargs="?",
        const="intersection",
        metavar="LEVELS",
        help="bring runs to common training levels, task by task: intersection (those that all runs have; the "
        "default), union, final (the last that all have), a list 0,1000,5000 or START:STOP:STEP; or budget, 20 equal "
        "fractions of the budget of each task",
    )
    chosen.add_argument(
        "--method",
        choices=("previous", "linear", "nearest", "mean"),
        help="with --align union or LEVELS, the score between the levels of a run: held, on a line, the nearest, or "
        "the mean since the level before; never past the ends of a run (default: none)",
    )
    chosen.add_argument("--tolerance", type=float, metavar="T", help="how far from a level --method may look")
    chosen.add_argument(
        "--duplicates",
        default="raise",
        choices=("raise", "first", "last", "mean"),
        help="which of several rows of one run at one level to keep (default %(default)s: none, refuse)",
    )
    chosen.add_argument("--drop-incomplete", action="store_true", help="leave out runs that lack training levels")


def _add_methods(made: argparse.ArgumentParser) -> None:
    methods = made.add_argument_group("what is done")
    methods.add_argument(
        "--include",
        nargs="+",
        choices=(*parts(), "all"),
        metavar="PART",
        help=f"make an analysis of these parts: {', '.join(parts())}, or all; a part that does not fit is left out, "
        "with a message (with --report: all)",
    )
    methods.add_argument(
        "--paired", action="store_true", help="run j is matched over algorithms (same fold, seed or data)"
    )
    methods.add_argument(
        "--n-resamples",
        type=int,
        metavar="Z",
        help="largest number of reassignments (default: all up to 1e6, else 9,999)",
    )
    methods.add_argument(
        "--confidence-level",
        type=float,
        default=0.95,
        metavar="C",
        help="of intervals and verdicts (default %(default)s)",
    )
    methods.add_argument(
        "--rng", type=int, default=0, metavar="SEED", help="seed of the reassignments (default %(default)s)"
    )


def _add_results(made: argparse.ArgumentParser) -> None:
    results = made.add_argument_group("what is written")
    results.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="archive of the results, .nc or .zarr (default: the name of ARCHIVE with -anova.nc or -analysis.nc, here)",
    )
    results.add_argument(
        "--report", type=Path, metavar="FILE", help="one HTML page of the analysis: tables, sentences and pictures"
    )
    results.add_argument("--traceback", action="store_true", help="show where in the program an error arose")
