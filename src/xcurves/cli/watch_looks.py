"""The looks of `watch`: which runs each takes, what they show, and the ledger that a later start goes on from."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

import xcurves
from xcurves.cli import outputs
from xcurves.cli.curves_asked import curves_of_options, with_direction
from xcurves.cli.looks import earlier, keep, run_numbers
from xcurves.cli.outputs import DONE, NOT_BETTER, UNDECIDED
from xcurves.cli.score_options import filled
from xcurves.cli.watch_progress import Leader, Progress, Taken
from xcurves.cli.watched import RunName, WatchedRuns
from xcurves.core.refusal import UNSAID, Cure, Refusal, Text
from xcurves.core.run_checks import RunError
from xcurves.core.validation import check_confidence_level
from xcurves.kernels.looks.sequential_pvalues import Spending
from xcurves.looks import ledger
from xcurves.looks.sequential_text import planned_without_rejection
from xcurves.reporting.answer import to_dict
from xcurves.say.numbers import count, joined, number

_KEY = "watch"  # of what a ledger holds besides
_SPENDING: Spending = "square"


class Looks:
    """The looks that are planned and those that are done.

    Attributes
    ----------
    sizes : list of int
        Complete runs of every algorithm at each look.
    n_done : int
        Looks that are done, repeated after a start.
    taken : Taken, optional
        What the looks so far fixed.
    answer : dict, optional
        What the latest look says, for programs; `sentences` has the same for people.
    has_budget : bool
        Whether it is said where runs end.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.sizes = run_numbers(options.looks)
        if self.sizes != sorted(set(self.sizes)) or self.sizes[0] < 1:
            raise Refusal("looks", options.looks, "must be numbers of runs that rise", "Such as 2,4,8")
        self.taken = _taken_before(options, self.sizes)
        self.answer: dict[str, Any] | None = None
        self.sentences = ""
        self.n_done = 0
        self.has_budget = options.budget is not None
        self._options = options

    def compare(self, runs: WatchedRuns, progress: Progress) -> None:
        """Take the looks that are due; after a start, those of the ledger first."""
        if self.taken is not None and self.answer is None:
            n_before = self.sizes.index(max(map(len, self.taken.runs.values()))) + 1
            self._take(runs, self.taken, n_before)
        wanted = self.wanted(progress)
        if self.status is not None or len(progress.algorithms) < 2 or not wanted:
            return
        n_ready = min(progress.n_complete(name) for name in wanted)
        n_due = sum(size <= n_ready for size in self.sizes)
        if n_due > self.n_done:
            self._take(runs, self._picked(progress, wanted, self.sizes[n_due - 1]), n_due)

    def planned(self, progress: Progress) -> list[str]:
        """Return the sentence about looks that can show nothing whatever the scores, if the plan has some."""
        n_algorithms = len(progress.algorithms)
        if n_algorithms < 2:
            return []
        blind = planned_without_rejection(
            np.diff(self.sizes, prepend=0).tolist(),
            n_algorithms * (n_algorithms - 1) // 2,
            _SPENDING,
            self._options.n_resamples,
            check_confidence_level(self._options.confidence_level),
            n_tasks=len(progress.tasks),
        )
        if not blind:
            return []
        of = f"Of {count(n_algorithms, 'algorithm')}"
        if len(blind) == len(self.sizes):
            return [f"{of} no look can show that one is better, whatever the scores: plan more runs with --looks"]
        first = len(blind) + 1
        return [
            f"{of} none can be shown to be better before look {first}, of {self.sizes[first - 1]} runs, whatever the "
            "scores"
        ]

    def wanted(self, progress: Progress) -> list[str]:
        """Return the algorithms that need more runs: those with an undecided pair, before the first look all."""
        if self.answer is None:
            return progress.algorithms
        return [name for name in progress.algorithms if self.answer["next"]["runs"].get(name)]

    def missing(self, progress: Progress) -> dict[str, int]:
        """Return how many more complete runs of each algorithm the next look takes."""
        if self.status is not None:
            return {}
        lacking = {name: self.sizes[self.n_done] - progress.n_complete(name) for name in self.wanted(progress)}
        return {name: n for name, n in lacking.items() if n > 0}

    @property
    def status(self) -> int | None:
        """The exit status, None where it is not clear and a look is left."""
        if self.answer is None:
            return None
        names = [self._options.better]
        if self._options.better is None:
            names = [each["name"] for each in self.answer["algorithms"]]
        found = {outputs.status_of_better(self.answer, name) for name in names}
        if DONE in found:
            return DONE
        if self._options.better is not None and NOT_BETTER in found:
            return NOT_BETTER
        if self.n_done == len(self.sizes):
            return UNDECIDED
        return None

    @property
    def shown(self) -> dict[str, list[str]]:
        """From each algorithm to those that it is shown to be better than."""
        found: dict[str, list[str]] = {}
        if self.answer is not None:
            for pair in self.answer["pairs"]:
                if pair["shown"]:
                    found.setdefault(pair["first"], []).append(pair["second"])
        return found

    def _picked(self, progress: Progress, wanted: Sequence[str], size: int) -> Taken:
        """Return the runs of a look: those of earlier looks, then others in the order of their labels."""
        before = self.taken.runs if self.taken is not None else {}
        picked = {}
        for task in progress.tasks:
            for name in progress.algorithms:
                old = before.get((task, name), [])
                new = [run for run in progress.complete.get((task, name), []) if run not in old]
                most = size if name in wanted else len(old)
                picked[task, name] = [*old, *new][:most]
        return Taken(picked, progress.ends)

    def _take(self, runs: WatchedRuns, taken: Taken, n_done: int) -> None:
        """Compare the runs of a look, and keep what it says in the ledger."""
        options = self._options
        if options.better is not None:
            outputs.check_name(options.better, sorted({algorithm for _, algorithm in taken.runs}))
        gone = [name for name in taken.names if name not in runs.curves]
        if gone:
            cure = f"Put it back, or begin anew with another file than {options.ledger}"
            raise Refusal("path", UNSAID, f"run {gone[0].words}, which was compared, is gone", cure)
        (curves,) = (each for _, each in curves_of_options(runs.table(taken.runs, taken.ends), options))
        directed, _ = with_direction(curves, options)
        batches = 1 + np.searchsorted(self.sizes, directed["run"].to_numpy())
        numbered = filled(directed.assign_coords(look=("run", batches)), options)
        try:
            result = xcurves.sequential(
                numbered,
                n_looks=len(self.sizes),
                task=runs.noun if len(taken.ends) > 1 else None,
                training_weights=options.final,
                previous=earlier(options),
                spending=_SPENDING,
                n_resamples=options.n_resamples,
                confidence_level=options.confidence_level,
                rng=options.rng,
            ).compute()
        except RunError as error:
            raise _by_label(error, taken) from None
        answer = to_dict(result)
        answer["algorithms"] = _means(numbered, final=options.final, higher_is_better=runs.higher_is_better)
        answer["reading"] = runs.reading
        answer["ledger"][_KEY] = taken.as_json(self.sizes)
        for name in ("by_task", "run_at_most", "details"):  # batches like the latest, which the next is not
            del answer["next"][name]
        keep(answer, options)
        self.taken, self.answer, self.n_done = taken, answer, n_done
        self.sentences = xcurves.summary(result)


def rows_of(leaders: Sequence[Leader]) -> list[dict[str, Any]]:
    """Return algorithms as answers have them."""
    unknown = {"ci": None, "place": None, "may_be_best": None}
    return [
        {"name": name, "mean": mean if math.isfinite(mean) else None, "n_runs": n_runs} | unknown
        for name, mean, n_runs in leaders
    ]


def _means(curves: xr.DataArray, *, final: str | None, higher_is_better: bool) -> list[dict[str, Any]]:
    """Return the algorithms that were compared, the best first, with the means of their runs."""
    numbers = curves.isel(training=-1) if final else curves.mean("training")
    tasks = [dim for dim in numbers.dims if dim not in ("algorithm", "run")]
    means = numbers.mean("run").mean(tasks).sortby(lambda each: each, ascending=not higher_is_better)
    n_runs = numbers.notnull().sum("run").min(tasks).sel(algorithm=means["algorithm"])
    columns = (each.to_numpy().tolist() for each in (means["algorithm"], means, n_runs))
    return rows_of([Leader(str(name), mean, n) for name, mean, n in zip(*columns, strict=True)])


def _taken_before(options: argparse.Namespace, sizes: Sequence[int]) -> Taken | None:
    """Return what the ledger says of earlier looks; refuse another plan."""
    if earlier(options) is None:
        return None
    record = json.loads(options.ledger.read_text(encoding="utf-8"))["ledger"].get(_KEY)
    if record is None:
        cure = "Name the file that watch wrote, or a new one"
        raise Refusal("ledger", str(options.ledger), "must be of watch, not of another command", cure)
    if record["looks"] != list(sizes):
        words = ",".join(map(str, record["looks"]))
        raise Refusal("looks", options.looks, f"must stay as it was at the first look, {words}", ledger.BEFORE)
    ends = {str(task): float(level) for task, level in record["levels"].items()}
    if options.budget is not None and set(ends.values()) != {options.budget}:
        levels = joined([number(level) for level in ends.values()])
        raise Refusal("budget", options.budget, f"must stay as it was at the first look, {levels}", ledger.BEFORE)
    return Taken({(task, algorithm): names for task, algorithm, names in record["runs"]}, ends)


def _by_label(error: RunError, taken: Taken) -> Refusal:
    """Return what is wrong with a run by its label: runs are numbered in the order in which they were compared."""
    argument, (algorithm, place), reason, cure = error.args
    named = [RunName(*cell, runs[int(place) - 1]).words for cell, runs in taken.runs.items() if cell[1] == algorithm]
    who = f"run {named[0]}"
    if len(named) > 1:
        who = f"one of the runs {joined(named)}"
    return Refusal(argument, UNSAID, Text(who, *reason[1:]), Cure(*cure))
