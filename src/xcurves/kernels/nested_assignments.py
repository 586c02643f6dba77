"""Nested assignments: labels of two algorithms dealt within every batch of runs, look after look.

An assignment at look ``k`` extends one at look ``k - 1``, its *parent*, by labels of the runs of batch ``k``. All
assignments are enumerated while they fit, each once, number 0 the observed one; from then on they are drawn, and what
is drawn for batch ``k`` depends on the seed, on ``k`` and on the numbers of runs only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import Plan

Ints = NDArray[np.intp]

_BLOCK = 2**16  # sums of a table held at once


class NestedLabels(NamedTuple):
    """How the runs of one batch are labelled, in tasks that have the same numbers of runs in it.

    Attributes
    ----------
    tasks : ndarray of int
        Which tasks.
    n_a, n_b : int
        Numbers of runs of both algorithms.
    table : ndarray of uint8, shape (1, deal, run) or (task, assignment, run)
        1 where the run is labelled as of the first algorithm; observed, the first `n_a` runs are.
    rows : ndarray of int, shape (task, assignment), or None
        Which row of the one table an assignment takes; None where every task has its own.
    """

    tasks: Ints
    n_a: int
    n_b: int
    table: NDArray[np.uint8]
    rows: NDArray[np.unsignedinteger] | None

    def labels(self, assignments: Ints) -> NDArray[np.uint8]:
        """Return the labels in some assignments, shape (task, assignment, run)."""
        return self.table[:, assignments] if self.rows is None else self.table[0, self.rows[:, assignments]]


class Look(NamedTuple):
    """The assignments at one look.

    Attributes
    ----------
    parent : ndarray of int, shape (assignment,), or None
        Number of the assignment at the look before that each extends; None where all have their own number.
    deals : tuple of Deals
        The labels of this look's batch; empty if no task has runs of both algorithms in it.
    n_assignments : int
        How many are evaluated, the observed one included.
    exact : bool
        Whether these are all.
    """

    parent: Ints | None
    deals: tuple[NestedLabels, ...]
    n_assignments: int
    exact: bool


def nest(sizes: Ints, n_resamples: int, entropy: int) -> list[Look]:
    """Plan the assignments of batches with `sizes` runs, shape (look, task, 2).

    Exact up to the last look at which all assignments are at most `n_resamples`, then `n_resamples` random ones and
    the observed one. A batch that lacks either algorithm in a task is left out there.
    """
    looks: list[Look] = []
    count, exact = 1, True
    for number, cells in enumerate(sizes):
        groups = np.unique(cells[(cells > 0).all(axis=1)], axis=0).tolist()
        members = [np.flatnonzero((cells == group).all(axis=1)) for group in groups]
        ways = [math.comb(n_a + n_b, n_a) for n_a, n_b in groups]
        every = math.prod(way ** len(tasks) for way, tasks in zip(ways, members, strict=True))
        fits = exact and count * every <= n_resamples
        total = count * every if fits else n_resamples + 1
        parent = _parents(number, count, every, total, fits, entropy)
        place = np.arange(total) % every if fits else None
        deals = []
        for (n_a, n_b), way, tasks in zip(groups, ways, members, strict=True):
            if place is not None:
                digits = place // way ** np.arange(len(tasks))[:, np.newaxis] % way
                place = place // way ** len(tasks)
                deals.append(NestedLabels(tasks, n_a, n_b, _all_labels(n_a, n_b)[np.newaxis], _small(digits, way)))
            else:
                deals.append(_drawn(tasks, n_a, n_b, total, (entropy, number)))
        looks.append(Look(parent, tuple(deals), total, fits))
        count, exact = total, fits
    return looks


def _parents(number: int, count: int, every: int, total: int, fits: bool, entropy: int) -> Ints | None:
    if fits:
        return None if every == 1 else np.arange(total) // every
    if count == total and number > 0:
        return None
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(number,)))
    drawn = rng.integers(0, count, total)
    drawn[0] = 0
    return drawn


def _small(index: NDArray[np.integer], limit: int) -> NDArray[np.unsignedinteger]:
    return index.astype(np.min_scalar_type(limit - 1))


def _all_labels(n_a: int, n_b: int) -> NDArray[np.uint8]:
    """Return every way of labelling, the observed one first."""
    ways = math.comb(n_a + n_b, n_a)
    return _labels(Plan((n_a, n_b), False, True, ways, exact=True, n_resamples=ways, entropy=0), n_a)


def _labels(plan: Plan, n_a: int) -> NDArray[np.uint8]:
    labels = np.zeros((plan.n_resamples, sum(plan.sizes)), np.uint8)
    start = 0
    for order in plan.blocks():
        np.put_along_axis(labels[start : start + len(order)], order[:, :n_a], 1, axis=1)
        start += len(order)
    return labels


def _drawn(tasks: Ints, n_a: int, n_b: int, total: int, key: tuple[int, int]) -> NestedLabels:
    """Draw the labels of a batch: places in the table of all, or where that is long, rows of a table of their own."""
    ways = math.comb(n_a + n_b, n_a)
    seed = np.random.SeedSequence(key[0], spawn_key=(key[1], n_a, n_b))
    shape = (len(tasks), total)
    if ways <= total:
        index = np.random.default_rng(seed).integers(0, ways, shape, np.min_scalar_type(ways - 1))
        index[:, 0] = 0
        return NestedLabels(tasks, n_a, n_b, _all_labels(n_a, n_b)[np.newaxis], index)
    n_rows = len(tasks) * (total - 1)
    entropy = int.from_bytes(seed.generate_state(4).tobytes(), "little")
    table = np.zeros((len(tasks), total, n_a + n_b), np.uint8)
    table[:, 0, :n_a] = 1
    plan = Plan((n_a, n_b), False, True, ways, exact=False, n_resamples=n_rows, entropy=entropy)
    table[:, 1:] = _labels(plan, n_a).reshape(len(tasks), -1, n_a + n_b)
    return NestedLabels(tasks, n_a, n_b, table, None)


def labelled_sums(deals: NestedLabels, features: Floats) -> Floats:
    """Sum features of the runs, shape (task, feature, run), over those labelled first: (task, feature, assignment)."""
    n_tasks, n_features, n_runs = features.shape
    n_deals = deals.table.shape[1]
    sums = np.empty((n_tasks, n_features, n_deals))
    rows = max(1, _BLOCK // (n_runs * n_features))
    for start in range(0, n_deals, rows):
        part = deals.table[:, start : start + rows].astype(float)
        np.matmul(features, part.swapaxes(1, 2), out=sums[..., start : start + rows])
    if deals.rows is None:
        return sums
    return np.take_along_axis(sums, deals.rows[:, np.newaxis].astype(np.intp), axis=-1)
