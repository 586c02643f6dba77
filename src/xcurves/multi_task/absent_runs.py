"""Runs that some algorithms have in a task and others lack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.say.numbers import listed, number

MANY = 50  # tasks beyond which those that an algorithm lacks are counted, not named
_NAMED = 3  # largest lacks


def say_absent_runs(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield how many cells of a benchmark lack runs that another algorithm has in their task, and the largest lacks."""
    n_runs = benchmark["n_runs"]
    if set(n_runs.dims) != {task, "algorithm"}:
        return
    counts = n_runs.transpose(task, "algorithm").to_numpy()
    most = counts.max(axis=1, keepdims=True)
    lacking = most - counts
    if len(counts) > MANY:
        yield from _say_lacks(benchmark, counts == 0, labels.noun(task))
        lacking = np.where(counts == 0, 0, lacking)
    n_lacking = int(np.count_nonzero(lacking))
    if not n_lacking:
        return
    largest = np.argsort(-lacking, axis=None, kind="stable")[: min(_NAMED, n_lacking)]
    tasks = labels.words(benchmark[task])
    algorithms = labels.words(benchmark["algorithm"])
    lacks = []
    for cell in largest.tolist():
        row, column = divmod(cell, counts.shape[1])
        lacks.append(f"{algorithms[column]} {lacking[row, column]} of {most[row, 0]} in {task} {tasks[row]}")
    which = ""
    if n_lacking > _NAMED:
        which = "the largest lacks: "
    yield (
        f"{number(n_lacking)} of {number(counts.size)} cells of {task} and algorithm lack runs that others have: "
        f"{which}{listed(lacks)}. Runs that crashed are no missing runs: give them a failed score."
    )


def _say_lacks(benchmark: xr.Dataset, is_absent: NDArray[np.bool_], noun: str) -> Iterator[str]:
    """Yield how many of many tasks each algorithm lacks, given which has none of its runs, shape (task, algorithm)."""
    n_absent = is_absent.sum(axis=0)
    names = benchmark["algorithm"].to_numpy().tolist()
    lacks = [f"{name} lacks {number(n)}" for name, n in zip(names, n_absent, strict=True) if n]
    if lacks:
        yield (
            f"Of {number(len(is_absent))} {noun}s {listed(lacks, _NAMED)}: each pair is compared on the {noun}s that "
            "both have."
        )
