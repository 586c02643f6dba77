"""The options of the command line, with their help, and messages that name them."""

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
    %(prog)s returns.csv ... --select task=Hopper --select algorithm=sac --select algorithm=td3 --align
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
    """A parser whose errors are one line; it has the options that name, select and align what is read."""

    def __init__(self, prog: str, description: str, epilog: str, archive: str) -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, None, description, epilog, formatter_class=form, allow_abbrev=False)
        self._negative_number_matcher = re.compile(r"-[\d.]")  # levels too, -5:5:1, are no options
        self.add_argument("archive", nargs="?", type=Path, metavar="ARCHIVE", help=archive)
        said = "of intervals and verdicts (default %(default)s)"
        self.add_argument("--confidence-level", type=float, default=0.95, metavar="C", help=said)
        said = "seed of the reassignments (default %(default)s)"
        self.add_argument("--rng", type=int, default=0, metavar="SEED", help=said)
        self.add_argument("--traceback", action="store_true", help="show where in the program an error arose")
        add = self.add_argument_group("names in ARCHIVE").add_argument
        said = (
            "column or variable of the scores, needed if there are several; may be repeated: each is analysed by "
            "itself, and its name put into the names of the files that are written"
        )
        add("--value", action="append", metavar="NAME", help=said)
        for dim in DIMS:
            add(f"--{dim}", metavar="NAME", help=f"column or dim of {dim}, if it has another name")
        add("--extra", action="append", default=[], metavar="NAME", help="column of tasks; may be repeated")
        sources = ", ".join(source.name for source in SOURCES)
        add("--source", metavar="NAME", help=f"what wrote ARCHIVE, if it is not recognised: {sources}")
        said = "what each level of folders names (default: algorithm run); those that are not dims are tasks"
        add("--folders", nargs="+", metavar="NAME", help=said)
        said = (
            "how the paths of runs' folders or files below ARCHIVE are made, in place of --folders, or the names of "
            "runs in a Weights & Biases chart: {algorithm}_seed{run}.csv"
        )
        add("--names", metavar="PATTERN", help=said)
        add = self.add_argument_group("what is compared, and where").add_argument
        said = "keep this label of a dim or column: task=Hopper; may be repeated: algorithm=sac, algorithm=td3"
        add("--select", action="append", default=[], metavar="NAME=LABEL", help=said)
        said = (
            "bring runs to common training levels, task by task: intersection (those that all runs have; the default), "
            "union, final (the last that all have), a list 0,1000,5000 or START:STOP:STEP; or budget, 20 equal "
            "fractions of the budget of each task"
        )
        add("--align", nargs="?", const="intersection", metavar="LEVELS", help=said)
        said = (
            "with --align union or LEVELS, the score between the levels of a run: held, on a line, the nearest, or the "
            "mean since the level before; never past the ends of a run (default: none)"
        )
        add("--method", choices=("previous", "linear", "nearest", "mean"), help=said)
        add("--tolerance", type=float, metavar="T", help="how far from a level --method may look")
        said = "which of several rows of one run at one level to keep (default %(default)s: none, refuse)"
        add("--duplicates", default="raise", choices=("raise", "first", "last", "mean"), help=said)
        add("--drop-incomplete", action="store_true", help="leave out runs that lack training levels")

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and where to find help."""
        unknown = re.match("unrecognized arguments: (--[^ =]+)", message)
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = did_you_mean(unknown[1], self._option_string_actions) if unknown else ""
        near = did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2])) if choice else near
        self.exit(2, f"{self.prog}: {message}{near or '.'} Help: {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    kinds = "netCDF file, zarr store, table (.csv, .csv.gz), or logs: a file or folder of any --source"
    made = Parser(program(), _DESCRIPTION, _EPILOG, f"{kinds}; an analysis, with --report")
    add = made.add_argument_group("what is done").add_argument
    given = f"make an analysis of these parts: {', '.join(parts())}, or all (the default with --report)"
    said = f"{given}; a part that does not fit is left out, with a message"
    add("--include", nargs="+", choices=(*parts(), "all"), metavar="PART", help=said)
    add("--paired", action="store_true", help="run j is matched over algorithms (same fold, seed or data)")
    add("--n-resamples", type=int, metavar="Z", help="most reassignments (default: all up to 1e6, else 9,999)")
    add = made.add_argument_group("what is written").add_argument
    named = "the name of ARCHIVE with -anova.nc or -analysis.nc, here"
    add("--output", type=Path, metavar="FILE", help=f"archive of the results, .nc or .zarr (default: {named})")
    add("--report", type=Path, metavar="FILE", help="one HTML page of the analysis: tables, sentences and pictures")
    return made


def as_option(message: str, options: argparse.Namespace) -> str:
    """Return a message in one line; the argument that it begins with is written as its option."""
    first, _, rest = " ".join(message.split()).partition(" ")
    name, equals, value = first.partition("=")
    if first == "path":
        return rest.replace("'", "", 2)
    if name not in options or not (equals or rest.startswith("must ")):
        return f"{first} {rest}".strip()
    return " ".join(filter(None, [f"--{name.replace('_', '-')}", value.strip("'"), rest]))
