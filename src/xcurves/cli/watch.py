"""The subcommand `watch`: look at runs that are going on when enough are complete, until it is clear who is better."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from xcurves.cli import outputs
from xcurves.cli.looks import EPILOG, Command, add_shared
from xcurves.cli.options import Parser, program
from xcurves.cli.outputs import DONE, NOT_BETTER
from xcurves.cli.watch_lines import Line, line_of
from xcurves.cli.watch_looks import Looks
from xcurves.cli.watch_progress import leaders, progress_of
from xcurves.cli.watched import WatchedRuns
from xcurves.core.doubts import Doubtful
from xcurves.core.refusal import UNSAID, Refusal, Text, of_path
from xcurves.core.validation import nearest_path
from xcurves.reporting.answer import of_words

_WATCH = """Watch runs that are going on, and say who leads, shown or not, until it is clear.

Reads DIR again and again, only the files that changed, and prints a line when something changed. Algorithms are
compared when each has as many complete runs as a planned look takes; p may be read at every look. A run is complete
that reaches the last level of the longest run of its task, or --budget, and was not written to since --every seconds.
Runs that are going on are named, and are not compared. A run that crashed counts as going on: start it again."""
_EXAMPLE = """event files, CSV or other logs in runs/ALGORITHM/SEED, eight runs of each at most:
  %(prog)s runs/ --every 60 --looks 2,4,8"""


def _parser() -> argparse.ArgumentParser:
    """Return the parser of `watch`."""
    statuses = [
        f"  {DONE}  one is shown to be better than every other; with --better NAME: NAME is",
        f"  {NOT_BETTER}  with --better only: it is shown not to be",
    ]
    epilog = EPILOG % ("\n".join(statuses), "the last look is done and neither is shown", _EXAMPLE)
    made = Parser(f"{program()} watch", _WATCH, epilog, "folder, or file, of logs that are still written", "DIR")
    words = "seconds between two readings (%(default)s)"
    made.add_argument("--every", type=float, default=60.0, metavar="S", help=words)
    words = "let the exit status say whether this one is shown to be better than every other: 0 yes, 1 no, 3 neither"
    made.add_argument("--better", metavar="ALGORITHM", help=words)
    plan = made.add_argument_group("the plan, fixed before the first result")
    words = "complete runs of every algorithm at each look (%(default)s)"
    plan.add_argument("--looks", default="2,4,8", metavar="N,N,...", help=words)
    words = "level of training at which a run is complete, and up to which it is compared (default: the last level of "
    words += "the longest run of its task, fixed at the first look)"
    plan.add_argument("--budget", type=float, metavar="LEVEL", help=words)
    add_shared(made, plan, task=None, default=9999, ledger=Path("xcurves-watch.json"))
    return made


def _run_watch(options: argparse.Namespace) -> int:
    """Watch until it is clear or the last look is done; return the exit status."""
    watch = Watch(options)
    try:
        while watch.looks.status is None:
            watch.refresh()
            if watch.looks.status is None:
                time.sleep(options.every)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*[path for path in [options.ledger] if watch.looks.n_done]) from None
    print(f"\n{watch.looks.sentences}", flush=True)
    return watch.looks.status


COMMANDS = {"watch": Command(_parser, _run_watch)}


class Watch:
    """Runs that are going on, the looks at them, and what was said."""

    def __init__(self, options: argparse.Namespace) -> None:
        _check(options)
        self.looks = Looks(options)
        self._options = options
        self._runs = WatchedRuns(options)
        self._said: object = None
        self._introduction: list[str] = []

    def refresh(self) -> None:
        """Read what changed, take the looks that are due, and say what is new."""
        try:
            self._runs.refresh()
        except (Refusal, OSError) as error:
            # Logs may be read later, an option that was typed is what it is.
            if isinstance(error, Doubtful) or str(error).split()[0] in self._options.given:
                raise
            said = f"not read now: {error}"
            self._say(Line(said, of_words(said), said))
            return
        progress = progress_of(self._runs, self.looks.taken, self._options)
        self._introduce([*self._runs.introduction, *self.looks.planned(progress)])
        self.looks.compare(self._runs, progress)
        progress = progress_of(self._runs, self.looks.taken, self._options)
        self._say(line_of(self._runs, self.looks, progress, leaders(self._runs, progress, self._options)))

    def _introduce(self, lines: list[str]) -> None:
        """Print those lines that are new of what stands before the first look: how runs are read, and the plan."""
        new = [line for line in lines if line not in self._introduction]
        self._introduction = lines
        if new:
            print(*new, sep="\n", flush=True)

    def _say(self, line: Line) -> None:
        """Say a line, if it is new: as a sentence, or as an object."""
        if line.key == self._said:
            return
        self._said = line.key
        print(f"{time.strftime('%H:%M:%S')} {line.text}", flush=True)
        self._options.answers[:] = [line.answer]
        outputs.print_at_once(line.answer, self._options)


def _check(options: argparse.Namespace) -> None:
    """Refuse what cannot be watched."""
    if options.archive is None:
        raise Refusal("path", UNSAID, "DIR is missing", "Name the folder of the runs")
    if not options.every > 0:
        raise Refusal("every", options.every, "must be above 0", "Give seconds")
    if not options.archive.exists():
        path = options.archive
        raise Refusal("path", str(path), Text(of_path(path), " does not exist"), nearest_path(path))
    if options.ledger.resolve().is_relative_to(options.archive.resolve()):
        cure = "Name a place elsewhere: --ledger ../xcurves-watch.json"
        raise Refusal("ledger", str(options.ledger), "must not be in DIR, whose files are logs", cure)
