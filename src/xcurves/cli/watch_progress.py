"""How far runs are that are going on: which are complete, which earlier looks took, and who leads."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xcurves.cli.watched import Cell, RunName, WatchedRuns


class Taken(NamedTuple):
    """What looks have fixed: the runs that were compared, in their order, and up to which level of each task."""

    runs: dict[Cell, list[str]]
    ends: dict[str, float]

    def has(self, name: RunName) -> bool:
        """Return whether a run was compared."""
        return name.run in self.runs.get(name.cell, ())

    @property
    def names(self) -> list[RunName]:
        """All runs that were compared."""
        return [RunName(*cell, run) for cell, names in self.runs.items() for run in names]

    def as_json(self, looks: Sequence[int]) -> dict[str, Any]:
        """Return it as a ledger holds it."""
        return {
            "looks": list(looks),
            "runs": [[*cell, names] for cell, names in self.runs.items()],
            "levels": self.ends,
        }


class Leader(NamedTuple):
    """An algorithm that has complete runs of every task, with their mean."""

    name: str
    mean: float
    n_runs: int


class Progress(NamedTuple):
    """How far the runs are."""

    algorithms: list[str]
    tasks: list[str]
    ends: dict[str, float]  # the level of each task that complete runs reach
    complete: dict[Cell, list[str]]  # in the order of their labels
    going_on: list[RunName]
    late: list[str]  # algorithms that came after the first look

    def n_complete(self, algorithm: str) -> int:
        """Return how many complete runs an algorithm has, in the task with the fewest."""
        return min((len(self.complete.get((task, algorithm), [])) for task in self.tasks), default=0)


def progress_of(runs: WatchedRuns, taken: Taken | None, options: argparse.Namespace) -> Progress:
    """Return how far the runs are; after the first look, of the algorithms and tasks that it had."""
    algorithms = sorted({name.algorithm for name in runs.curves})
    tasks = sorted({name.task for name in runs.curves})
    late: list[str] = []
    if taken is not None:
        known = list(dict.fromkeys(algorithm for _, algorithm in taken.runs))
        late = [name for name in algorithms if name not in known]
        algorithms, tasks, ends = known, list(taken.ends), dict(taken.ends)
    elif options.budget is not None:
        ends = dict.fromkeys(tasks, options.budget)
    else:
        ends = dict.fromkeys(tasks, -math.inf)
        for name, curve in runs.curves.items():
            ends[name.task] = max(ends[name.task], float(curve.levels.max()))

    complete: dict[Cell, list[str]] = {}
    going_on = []
    quiet_since = time.time() - options.every
    for name in sorted(runs.curves, key=_in_order):
        if name.algorithm not in algorithms or name.task not in ends:
            continue
        levels, end = runs.curves[name].levels, ends[name.task]
        # at the last level, the row may be half written, or the longest run may go on
        is_over = levels.max() > end or runs.written(name) <= quiet_since or (taken is not None and taken.has(name))
        if levels.min() <= end <= levels.max() and is_over:
            complete.setdefault(name.cell, []).append(name.run)
        else:
            going_on.append(name)
    return Progress(algorithms, tasks, ends, complete, going_on, late)


def leaders(runs: WatchedRuns, progress: Progress, options: argparse.Namespace) -> list[Leader]:
    """Return the algorithms that have complete runs of every task, the best first."""
    found = []
    for name in progress.algorithms:
        n_runs = progress.n_complete(name)
        if n_runs:
            of_tasks = [_mean(runs, (task, name), progress, options) for task in progress.tasks]
            found.append(Leader(name, float(np.mean(of_tasks)), n_runs))
    return sorted(found, key=lambda each: -each.mean if runs.higher_is_better else each.mean)


def _mean(runs: WatchedRuns, cell: Cell, progress: Progress, options: argparse.Namespace) -> float:
    """Return the mean of the complete runs of an algorithm in a task."""
    numbers = []
    for run in progress.complete[cell]:
        curve = runs.curves[RunName(*cell, run)]
        scores = curve.scores[curve.levels <= progress.ends[cell[0]]]
        if isinstance(options.fill_failed, float):
            scores = np.where(np.isinf(scores), options.fill_failed, scores)
        numbers.append(scores[-1] if options.final else scores.mean())
    return float(np.mean(numbers))


def _in_order(name: RunName) -> tuple[str, str, float, str]:
    """Return the order of runs: of numbers by their size."""
    try:
        size = float(name.run)
    except ValueError:
        size = math.inf
    return name.task, name.algorithm, size, name.run
