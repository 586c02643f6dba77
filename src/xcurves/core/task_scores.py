"""The scores of all algorithms in all tasks, as a paper's table and a page show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats


@dataclass(frozen=True)
class TaskScores:
    """A row for each task and a column for each algorithm; arrays have shape (task, algorithm) unless said."""

    task: str  # the name of the dim of tasks
    tasks: list[str]
    algorithms: list[str]
    score: str  # as its user calls it, with its unit
    mean: Floats
    sd: Floats  # over runs
    n_runs: NDArray[np.int64]
    best: Bools
    tied: Bools  # not shown to be worse than the best, which the test could have shown
    untold: Bools  # not shown to be worse, which no scores could have shown with so few runs
    any_could: bool  # whether anything could have been shown to be worse than the best of its task
    compared: str | None  # the only algorithm that others are compared with
    mean_over_tasks: Floats  # of the tasks that each algorithm has, shape (algorithm)
    n_tasks: NDArray[np.int64]  # in which it has runs, shape (algorithm)
    rank: Floats  # mean rank, shape (algorithm)
    confidence_level: float
