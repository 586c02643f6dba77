"""Runs that some algorithms have in a task and others lack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.wording import listed, number

_NAMED = 3  # largest lacks


def say_absent_runs(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield how many cells of a benchmark lack runs that another algorithm has in their task, and the largest lacks."""
    n_runs = benchmark["n_runs"]
    if set(n_runs.dims) != {task, "algorithm"}:
        return
    counts = n_runs.transpose(task, "algorithm").to_numpy()
    most = counts.max(axis=1, keepdims=True)
    lacking = most - counts
    n_lacking = int(np.count_nonzero(lacking))
    if not n_lacking:
        return
    largest = np.argsort(-lacking, axis=None, kind="stable")[: min(_NAMED, n_lacking)]
    tasks = labels.words(benchmark[task])
    algorithms = labels.words(benchmark["algorithm"])
    lacks = []
    for cell in largest.tolist():
        row, column = divmod(cell, counts.shape[1])
        lacks.append(
            f"{algorithms[column]} {lacking[row, column]} of {most[row, 0]} in {task} {tasks[row]}"
        )
    which = ""
    if n_lacking > _NAMED:
        which = "the largest lacks: "
    yield (
        f"{number(n_lacking)} of {number(counts.size)} cells of {task} and algorithm lack runs that others have: "
        f"{which}{listed(lacks)}. Runs that crashed are no missing runs: give them a failed score."
    )
