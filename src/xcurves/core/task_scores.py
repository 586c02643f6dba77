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
    tied: Bools  # not shown to be worse than the best
    any_shown: bool  # whether anything is shown to be worse than the best of its task
    compared: str | None  # the only algorithm that others are compared with
    mean_over_tasks: Floats  # shape (algorithm)
    rank: Floats  # mean rank, shape (algorithm)
    confidence_level: float
