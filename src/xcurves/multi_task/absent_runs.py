"""Runs that some algorithms have in a task and others lack."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.driver import is_lazy
from xcurves.core.refusal import UNSAID, Cure, Refusal, Words, shown
from xcurves.say.numbers import listed, number

MANY = 50  # tasks beyond which those that an algorithm lacks are counted, not named
_NAMED = 3  # largest lacks
_FEW = 6  # algorithms that are selected in a command
_SEVERAL = 6  # tasks of an algorithm from which it should share some: fewer have no p


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


def refuse_strangers(curves: xr.DataArray, dim: str) -> None:
    """Refuse an algorithm that has several tasks of its own and none in common with any other."""
    if is_lazy(curves):
        return
    others = [each for each in curves.dims if each not in (dim, "algorithm")]
    has = curves.notnull().any(others).transpose(dim, "algorithm").to_numpy().astype(float)  # for a fast product
    common = has.T @ has
    n_own = np.diagonal(common).copy()
    np.fill_diagonal(common, 0.0)
    alone = (n_own >= _SEVERAL) & (common.max(axis=1, initial=0.0) == 0)
    if len(n_own) < 2 or not alone.any():
        return
    names = curves["algorithm"].to_numpy().tolist()
    tasks = curves[dim].to_numpy().tolist()
    first = int(alone.argmax())
    # the one that has most is what the stranger should match
    other = int(np.argmax(np.where(np.arange(len(n_own)) == first, -1, n_own)))
    noun = labels.noun(dim)
    own, theirs = (shown(tasks[int(has[:, each].argmax())]) for each in (first, other))
    raise Refusal(
        "curves",
        UNSAID,
        f"algorithm {shown(names[first])} has {number(n_own[first])} {noun}s, of "
        f"which 0 are common with any other algorithm: its own is called {own}, one of "
        f"{shown(names[other])} {theirs}",
        Cure(f"Give the same {noun} the same label", *_without(curves, names[first])),
    )


def _without(curves: xr.DataArray, stranger: object) -> Iterator[Words | str]:
    """Yield how an algorithm is left out: in the shell the others are selected, if they are few."""
    others = [name for name in curves["algorithm"].to_numpy().tolist() if name != stranger]
    column = str(curves["algorithm"].attrs.get("long_name", "algorithm"))
    selected = ""
    if len(others) <= _FEW:
        options = [f"--select {quote(f'{column}={name}')}" for name in others]
        selected = f", or leave it out: {' '.join(options)}"
    yield Words(f", or leave it out: curves.drop_sel(algorithm={shown(stranger)})", selected)
