"""The options of the command line, with their help, and messages that name them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import join
from typing import Any, NoReturn, get_args

from xcurves.core.known import Duplicates
from xcurves.core.labels import did_you_mean, nearest
from xcurves.core.refusal import UNSAID, Missing, Refusal
from xcurves.core.run_checks import FRACTIONS
from xcurves.core.short_runs import HOW
from xcurves.kinds import PARTS

# Modules of subcommands with options of their own.
ROOMS = {"sequential": "xcurves.cli.looks", "gate": "xcurves.cli.looks", "watch": "xcurves.cli.watch"}
SUBCOMMANDS = (*ROOMS, "sources")
PAIRS = "pairs"  # of --include: all pairs of the verdict

_DESCRIPTION = """Which algorithm is better, by how much, and where? From logs to an answer, an archive and a page.

Prints who is best, a table of the algorithms, the pairs that are shown to differ, and where they do: over all tasks
if there are several. The names of columns are recognised, or asked for in one message.
Without PATH: five classifiers over sixteen tasks, whose curves come with the package."""
NONE = "none"  # of --algorithm, --training and --extra: there is none
WORST = "worst"  # of --fill-failed
_EPILOG = """examples:
  The curves that come with the package; results in benchmark-answer.nc, a page in benchmark.html:
    %(prog)s
  A table, one row per score, with columns such as agent, seed, step, task and return:
    %(prog)s returns.csv
  The same columns by names that nobody could guess, on one scale, with a picture:
    %(prog)s returns.csv --algorithm who --run n --training x --value y --extra where --normalize --figure curves.pdf
  Everything of one task, in one archive and one page; means of bins up to 1e6 steps, without runs that stopped early:
    %(prog)s returns.csv --select task=Hopper --align 1e4:1e6:1e4 --method mean --drop-incomplete --include all
  TensorBoard event files in runs/TASK/ALGORITHM/SEED:
    %(prog)s runs/ --folders task algorithm run --select tag=eval/return

subcommands, each with --help:
  sequential  runs come in batches, and after each: is it clear, or are more needed?
  gate        keep or drop one change after the other, by the exit status
  watch       runs are going on: a line when something changed, until it is clear
  sources     what can be read

how to read the answer:
  "has the highest mean" is what was measured, and may be chance. Only "shown" is a claim: p, adjusted over all pairs,
  is at most 1 - C. "may be best" are all than which none is shown to be better: with several of them it is open which
  is best. "Not shown" does not mean equal: of tasks and questions the answer says how many more would tell.
  p is for one look at finished runs; who looks again after more runs needs sequential, gate or watch.

exit status:
  0  done; with --better NAME: NAME is shown to be better than every other
  1  with --better only: it is shown not to be
  2  options or input that cannot be used; the message says what to do
  3  with --better only: neither is shown
  4  an unexpected error; --traceback shows where
  130  interrupted (Ctrl-C), 143 terminated, 141 nobody reads the output: no archive or page is left half-written

Nothing is filled, dropped or averaged unless an option asks for it. Equal calls give equal numbers."""


def program() -> str:
    """Return how the program was called: the command `xcurves`, or `python -m xcurves`."""
    if Path(sys.argv[0]).stem == "xcurves":
        return "xcurves"
    return "python -m xcurves"


def command_with(options: argparse.Namespace, added: Sequence[str]) -> str:
    """Return the command as it was given with further options, as a shell takes it."""
    given: list[str] = getattr(options, "given", [str(options.archive)])
    return f"{program()} {join([*given, *added])}"


def not_found(
    argument: str, value: object, reason: str, name: str, known: Iterable[Any], other_names: Iterable[str] = ()
) -> Missing:
    """Return the error about a name that an option has and nobody knows: the names that are known, and the nearest."""
    listed = ", ".join(map(repr, known))
    near = did_you_mean(name, [*other_names, *known])
    return Missing(argument, value, reason, f"It has {listed}{near}")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line; it has the options that name, select and align what is read."""

    def __init__(self, prog: str, description: str, epilog: str, archive: str, metavar: str = "PATH") -> None:
        form = argparse.RawDescriptionHelpFormatter
        usage = f"{prog} [{metavar}] [options]"
        super().__init__(prog, usage, description, epilog, formatter_class=form, allow_abbrev=False)
        self._given: list[str] = []
        # levels too, -5:5:1, are no options
        self._negative_number_matcher = re.compile(r"-[\d.]")
        add = self.add_argument
        add("archive", nargs="?", type=Path, metavar=metavar, help=archive)
        add(
            "--confidence-level",
            type=float,
            default=0.95,
            metavar="C",
            help="of intervals and verdicts (%(default)s)",
        )
        add(
            "--rng",
            type=int,
            default=0,
            metavar="SEED",
            help="seed of the reassignments (%(default)s)",
        )
        add(
            "--traceback",
            action="store_true",
            help="show where in the program an error arose",
        )
        add(
            "--json",
            action="store_true",
            help="print one JSON object, and nothing else, on stdout; its schema is in the docs",
        )
        words = "write the verdict, a table and the exit status as Markdown to $GITHUB_STEP_SUMMARY, or else to stdout"
        add("--github", action="store_true", help=words)
        add = self.add_argument_group(f"names in {metavar}").add_argument
        words = "column or variable of the scores; may be repeated: each has an analysis and files of its own"
        add("--value", action="append", metavar="NAME", help=words)
        words = "column or dim of algorithm, if it has another name; several columns whose labels are joined; none for "
        words += "scores of one algorithm"
        add("--algorithm", nargs="+", metavar="NAME", help=words)
        words = "column or dim of run, if it has another name; several columns whose labels are joined"
        add("--run", nargs="+", metavar="NAME", help=words)
        words = "column or dim of training, if it has another name; none for scores without training"
        add("--training", metavar="NAME", help=words)
        words = "of a wide table, which columns hold scores: svm,tree, or how they are called: {algorithm}_seed{run}"
        add("--columns", metavar="PATTERN", help=words)
        add(
            "--extra",
            nargs="+",
            action="extend",
            default=[],
            metavar="NAME",
            help="column, or columns, of tasks; none where no column is",
        )
        words = "column of what several tasks belong to: the passage of a question, the site of a station"
        add("--task-groups", metavar="NAME", help=words)
        words = f"what wrote PATH, if it is not recognised: a name that {program()} sources lists"
        add("--source", metavar="NAME", help=words)
        words = "what each level of folders names (default: algorithm run); those that are not dims are tasks"
        add("--folders", nargs="+", metavar="NAME", help=words)
        words = "in place of --folders, how the paths or names of runs are made: {algorithm}_seed{run}.csv"
        add("--names", metavar="PATTERN", help=words)
        words = "mark of decimals, where numbers such as 1,234 do not say it"
        add("--decimal", choices=(",", "."), help=words)
        words = "bytes to which a compressed log (gzip, npz) may expand (default: %(default)g)"
        add("--max-expanded", type=float, default=1e9, metavar="BYTES", help=words)
        add = self.add_argument_group("what is compared, and where").add_argument
        words = "keep this label of a dim or column: task=Hopper; may be repeated"
        add("--select", action="append", default=[], metavar="NAME=LABEL", help=words)
        words = (
            "bring runs to common training levels, task by task: intersection (those that all runs have; the default), "
            "union, final (the last that all have), a list 0,1000,5000 or START:STOP:STEP; or budget[:N], N equal "
            f"fractions of the budget of each task ({FRACTIONS})"
        )
        add("--align", nargs="?", const="intersection", metavar="LEVELS", help=words)
        words = "with --align, the score between the levels of a run; never past its ends (default: none)"
        add("--method", choices=("previous", "linear", "nearest", "mean"), help=words)
        add(
            "--tolerance",
            type=float,
            metavar="T",
            help="how far from a level --method may look",
        )
        words = (
            "what runs are that end before 90 %% of the longest of their task, said before anything is aligned: failed "
        )
        words += "(they crashed), drop (leave them out), cut (compare all runs up to there; needs --align)"
        add("--runs-short", choices=HOW, help=words)
        words = (
            "what several rows of one run at one level become; purge: a run began again there, and rows before leave; "
            "runs: several answers to an item are runs "
        )
        words += "(default %(default)s: refuse, but for equal rows and sure restarts)"
        add(
            "--duplicates",
            default="raise",
            choices=get_args(Duplicates),
            help=words,
        )
        words = "runs that go back to their first training level go on counting: 1, 2, 3, 1, 2 are 1 to 5"
        add("--resumed", action="store_true", help=words)
        words = "what rows of a table without a score mean: nothing was measured there, or the run failed "
        words += "(default: the first, but runs that end so are asked)"
        add(
            "--missing-scores",
            choices=("absent", "failed"),
            help=words,
        )
        add(
            "--drop-incomplete",
            action="store_true",
            help="leave out runs that lack training levels",
        )
        words = "what runs count as that failed, with the score -inf (inf where low is good): worst, or a number"
        add(
            "--fill-failed",
            type=_failed_score,
            metavar="SCORE",
            help=f"{words}, which later runs do not change",
        )

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an option that there is not is refused before one that is required is missed."""
        self._given = list(args)
        known = [option for option in self._option_string_actions if option.startswith("--")]
        for word in args:
            name = word.partition("=")[0]
            if name.startswith("--") and name not in ("--", *known):
                near = nearest(name, known)
                cure = near or f"It has {', '.join(known)}"
                self._refuse(Mistyped(name.removeprefix("--"), UNSAID, f"there is no option {name}", cure))
        return super().parse_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Say what argparse found in one line."""
        self._refuse(_mistyped(message, self._given))

    def _refuse(self, refusal: Mistyped) -> NoReturn:
        """Print what is wrong and where to find help."""
        if "--json" in self._given:
            from xcurves.cli.outputs import text_of_error

            print(text_of_error(refusal, argparse.Namespace()))
        told = str(refusal)
        if not told.endswith((".", "?")):
            told += "."
        self.exit(2, f"{self.prog}: {told} Help: {self.prog} --help\n")


class Mistyped(Refusal):
    """Words of a command that are no options of it; the reason is a whole sentence."""

    @property
    def problem(self) -> str:
        """The reason, which names the option."""
        return self.reason


def _mistyped(said: str, given: Sequence[str]) -> Mistyped:
    """Return what argparse said in words, with the option that it is about, its value, and the nearest right one."""
    about = re.search(r"--([\w-]+)", said)
    argument = about[1].replace("-", "_") if about else ""
    value: Any = UNSAID
    cure = ""
    wrong = re.search(r"(?:invalid \S+ value|invalid choice|got): '(.*?)'|got '(.*)'", said)
    if wrong:
        value = wrong[1] or wrong[2]
    choice = re.search(r"\(choose from (.*)\)", said)
    if choice:
        cure = nearest(value, re.findall(r"[\w-]+", choice[1]))
    extra = re.fullmatch(r"unrecognized arguments: (.*)", said)
    if extra:  # behind what is taken for PATH
        argument, value = "archive", extra[1]
        cure = nearest(given[0], SUBCOMMANDS)
    return Mistyped(argument, value, said.removeprefix("argument "), cure)


def repeats_scores(options: argparse.Namespace) -> bool:
    """Return whether scores of an earlier call must be repeated: what failed runs count as must not change then."""
    return getattr(options, "ledger", None) is not None


def needs_filling(options: argparse.Namespace) -> bool:
    """Return whether it is to be said what failed runs count as: the command takes no -inf, and nothing says it yet."""
    return not ("baseline" in options or options.fill_failed or repeats_scores(options))


def _failed_score(given: str) -> str | float:
    """Return what `--fill-failed` says that failed runs count as."""
    if given == WORST:
        return given
    try:
        return float(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"takes worst or a number; got {given!r}") from None


def add_direction(made: Parser) -> Any:
    """Add which scores are the good ones; return what adds further options about scores."""
    group = made.add_argument_group("scores")
    words = "a low score is a good one (default: by its name, such as loss or error)"
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--lower-is-better",
        action="store_false",
        default=None,
        dest="higher_is_better",
        help=words,
    )
    either.add_argument("--higher-is-better", action="store_true", default=None, help="a high one is")
    return group.add_argument


def settle(options: argparse.Namespace) -> None:
    """Make one name of a column a text; a path behind several is the archive that is missing."""
    for dim in ("algorithm", "run"):
        named = getattr(options, dim) or []
        if len(named) > 1 and options.archive is None:
            options.archive = Path(named.pop())
        if len(named) == 1:
            setattr(options, dim, named[0])


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    kinds = "netCDF file, zarr store, table (.csv, .csv.gz), or logs: a file or folder of any --source"
    made = Parser(program(), _DESCRIPTION, _EPILOG, f"{kinds}; an analysis, with --report")
    add = made.add_argument_group("what is done").add_argument
    better = add_direction(made)
    words = (
        "scale the scores of each task: minmax, its lowest to 0 and its highest to 1 (the default), or a table (.csv) "
    )
    words += "with a row for each task and the columns low and high"
    better("--normalize", nargs="?", const="minmax", metavar="HOW", help=words)
    words = f"make an analysis of the parts that fit of {', '.join(PARTS)}, or all (the default with --report)"
    words += f". {PAIRS}: all pairs of the answer, also of many algorithms, whose places are printed "
    words += "otherwise (what a critical-difference diagram shows)"
    choices = (*PARTS, "all", PAIRS)
    add("--include", nargs="+", choices=choices, metavar="PART", help=words)
    words = "what scores are called in tables, sentences and pictures (default: as their column)"
    add("--score-name", metavar="WORDS", help=words)
    words = "what one task is called, a noun: game, site (default: as the column, env of env_name)"
    add("--task-name", metavar="NOUN", help=words)
    words = "compare the others with this one only"
    add("--reference", metavar="ALGORITHM", help=words)
    words = "compare in each group of tasks too: a column that is the same in all rows of a task, such as suite"
    add("--by", metavar="NAME", help=words)
    words = "let the exit status say whether this one is shown to be better than every other: 0 yes, 1 no, 3 neither"
    add("--better", metavar="ALGORITHM", help=words)
    matched = made.add_mutually_exclusive_group()
    words = "run j is matched over algorithms: same fold, seed or data (default: where runs are folds)"
    matched.add_argument("--paired", action="store_true", default=None, help=words)
    words = "runs are not matched, even where they are folds"
    matched.add_argument("--not-paired", action="store_false", dest="paired", help=words)
    add(
        "--n-resamples",
        type=int,
        metavar="Z",
        help="most reassignments (default: all up to 1e6, else 9,999)",
    )
    add = made.add_argument_group("what is written").add_argument
    words = "archive of the results, .nc or .zarr (default: the name of PATH with -answer.nc or -analysis.nc, here)"
    add("--output", type=Path, metavar="FILE", help=words)
    add(
        "--report",
        type=Path,
        metavar="FILE",
        help="one HTML page of the analysis: tables, sentences and pictures",
    )
    add(
        "--interactive",
        action="store_true",
        help="a page whose curves and tables react to the mouse, about 6 MB",
    )
    add(
        "--figure",
        type=Path,
        metavar="FILE",
        help="the picture of the curves, of many tasks that of their differences: .pdf, .svg, .png or .eps",
    )
    return made
