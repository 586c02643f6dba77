"""Plans of deals: whole runs of two algorithms dealt anew to both, within every task by itself.

A plan is made once from the numbers of runs. Tasks with the same numbers stand together in a *set*. A deal of a
task is a row of numbers, one for each of its curves, those of the first algorithm in front: 1 where the curve goes to
the first algorithm and 0 where it goes to the second; paired, one number for each run: -1 where the two curves of the
run change places and 1 where they do not. Block ``b`` is the same wherever and in whatever order the blocks are asked
for, and does not depend on the algorithms compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import DEFAULT_RESAMPLES, EXACT_LIMIT, TIE

DEALS_AT_ONCE = 1_024
_HELD = 2**22  # doubles of deals at once
_TABLED = 20  # curves of which all deals are tabulated


class TaskSet(NamedTuple):
    """Tasks whose two algorithms have `n_a` and `n_b` runs.

    Attributes
    ----------
    tasks : ndarray of int, shape (member,)
        Places of the tasks.
    n_a, n_b : int
        Numbers of runs.
    """

    tasks: NDArray[np.intp]
    n_a: int
    n_b: int


class TaskDeals(NamedTuple):
    """Deals of the tasks of a set.

    Attributes
    ----------
    rows : ndarray of int, shape (member, deal, curve)
        The deals.
    numbers : ndarray of int, shape (member, deal), optional
        Their places in `all_deals` of the set, where they are drawn from there.
    """

    rows: NDArray[np.int8]
    numbers: NDArray[np.intp] | None

    def slices(self) -> Iterator[slice]:
        """Yield slices of tasks whose deals, as floats, fit into a bounded part of memory."""
        step = max(1, _HELD // self.rows[0].size)
        for start in range(0, len(self.rows), step):
            yield slice(start, start + step)


@dataclass(frozen=True)
class DealPlan:
    """The deals that one test evaluates.

    Attributes
    ----------
    runs : tuple of (int, int)
        Numbers of runs of both algorithms in each task; a task in which either has none is left out.
    paired : bool
        Exchange the two curves of a run instead of dealing all curves.
    exact : bool
        Whether every distinct deal is evaluated once.
    n_deals : int
        Number of deals evaluated.
    entropy : int
        Seed of the random blocks.
    """

    runs: tuple[tuple[int, int], ...]
    paired: bool
    exact: bool
    n_deals: int
    entropy: int

    @property
    def n_total(self) -> int:
        """Denominator of the p-value: all deals, or the random ones and the observed one."""
        return self.n_deals if self.exact else self.n_deals + 1

    @cached_property
    def task_sets(self) -> list[TaskSet]:
        """Tasks by their numbers of runs."""
        distinct = sorted({pair for pair in self.runs if min(pair) > 0})
        return [TaskSet(np.flatnonzero([each == pair for each in self.runs]), *pair) for pair in distinct]

    def observed(self) -> list[TaskDeals]:
        """Return the observed deal of every set of tasks."""
        rows = [np.ones(s.n_a, np.int8) if self.paired else _flags(s) for s in self.task_sets]
        return [
            TaskDeals(np.tile(row, (len(s.tasks), 1, 1)), None) for row, s in zip(rows, self.task_sets, strict=True)
        ]

    def blocks(self) -> Iterator[list[TaskDeals]]:
        """Yield the deals of every set of tasks, block after block."""
        for start in range(0, self.n_deals, DEALS_AT_ONCE):
            yield self._block(start, min(start + DEALS_AT_ONCE, self.n_deals))

    def _block(self, start: int, stop: int) -> list[TaskDeals]:
        if self.exact:
            return self._enumerated(np.arange(start, stop))
        return [self._drawn(task_set, start // DEALS_AT_ONCE, stop - start) for task_set in self.task_sets]

    def _enumerated(self, index: NDArray[np.int64]) -> list[TaskDeals]:
        """Return the deals numbered `index`: the deals of a task are the digits of its number."""
        out = []
        power = 1
        for task_set in self.task_sets:
            table = all_swaps(task_set.n_a) if self.paired else all_deals(task_set.n_a, task_set.n_b)
            powers = power * len(table) ** np.arange(len(task_set.tasks))
            numbers = index // powers[:, np.newaxis] % len(table)
            out.append(TaskDeals(table[numbers], numbers))
            power *= len(table) ** len(task_set.tasks)
        return out

    def _drawn(self, task_set: TaskSet, number: int, rows: int) -> TaskDeals:
        key = (self.paired, task_set.n_a, task_set.n_b, number)
        rng = np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=key))
        shape = (len(task_set.tasks), rows)
        if self.paired:
            return TaskDeals(rng.integers(0, 2, (*shape, task_set.n_a), np.int8) * 2 - 1, None)
        n_curves = task_set.n_a + task_set.n_b
        if n_curves <= _TABLED:
            table = all_deals(task_set.n_a, task_set.n_b)
            numbers = rng.integers(0, len(table), shape)
            return TaskDeals(table[numbers], numbers)
        return TaskDeals(rng.permuted(np.broadcast_to(_flags(task_set), (*shape, n_curves)), axis=-1), None)


def plan_deals(
    runs: tuple[tuple[int, int], ...], n_resamples: int | None, *, paired: bool = False, entropy: int = 0
) -> DealPlan:
    """Plan deals: all of them if their number is within the ceiling, else random ones; see `plan_shuffles`."""
    n_deals = count_deals(runs, paired=paired)
    exact = n_deals <= (EXACT_LIMIT if n_resamples is None else n_resamples)
    return DealPlan(
        runs, paired, exact, n_deals if exact else DEFAULT_RESAMPLES if n_resamples is None else n_resamples, entropy
    )


def count_deals(runs: tuple[tuple[int, int], ...], *, paired: bool = False) -> int:
    """Return the number of distinct deals, the observed one included."""
    present = [pair for pair in runs if min(pair) > 0]
    return math.prod(2**a if paired else math.comb(a + b, a) for a, b in present)


def reaches(square: Floats, variance: Floats, observed: Floats, own: Floats) -> NDArray[np.bool_]:
    """Return whether square / variance is at least observed / own, both tied within `TIE`.

    Of variance 0 the ratio is 0 if the square is, else beyond every other, the larger the square the further.
    """
    of_ratios = square * own * (1 + TIE) >= observed * variance * (1 - TIE)
    beyond = np.where(own > 0, square > 0, square * (1 + TIE) >= observed)
    return np.where(observed == 0, True, np.where(variance > 0, (own > 0) & of_ratios, beyond))


def _flags(task_set: TaskSet) -> NDArray[np.int8]:
    return np.repeat(np.array([1, 0], np.int8), [task_set.n_a, task_set.n_b])


@lru_cache(maxsize=64)
def all_deals(n_a: int, n_b: int) -> NDArray[np.int8]:
    """Return all rows of `n_a` ones and `n_b` zeros."""
    rows = np.zeros((1, 0), np.int8)
    for curve in range(1, n_a + n_b + 1):
        rows = np.concatenate([np.pad(rows, ((0, 0), (0, 1)), constant_values=bit) for bit in (1, 0)])
        ones = rows.sum(axis=1, dtype=np.int64)
        rows = rows[(ones <= n_a) & (curve - ones <= n_b)]
    return rows


def all_swaps(n_runs: int) -> NDArray[np.int8]:
    """Return all rows of signs."""
    bits = np.arange(2**n_runs)[:, np.newaxis] >> np.arange(n_runs) & 1
    return (1 - 2 * bits).astype(np.int8)
