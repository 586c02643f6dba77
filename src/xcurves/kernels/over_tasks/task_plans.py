"""Plans of tests over several tasks: whole runs of two algorithms dealt anew within tasks, or look after look.

A deal has a label for each curve of each task, those of the first algorithm in front, 0 where the curve goes to the
first; paired, one for each run, 1 where its curves change places. `TaskCells` say which labels belong to which tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.assignments import (
    Labels,
    bits_of,
    count_assignments,
    every_assignment,
)
from xcurves.kernels.resampling.plans import (
    BLOCK,
    FEW,
    Plan,
    ceiling,
    generator,
    make_generator,
    plan_runs,
)

TABLED = 20  # curves of which all deals are tabulated: 184,756 rows at most, of 10 v 10


class TaskCells(NamedTuple):
    """Tasks in which two algorithms have `n_a` and `n_b` runs, and which labels are theirs, task after task."""

    tasks: Index
    n_a: int
    n_b: int
    units: slice

    def of(self, labels: Labels) -> Labels:
        """Return the labels of these tasks, shape (reassignment, task, unit)."""
        return labels[:, self.units].reshape(len(labels), len(self.tasks), -1)


@dataclass(frozen=True, kw_only=True)
class DealPlan(Plan):
    """Whole runs of two algorithms dealt anew to both, within every task by itself."""

    # of both algorithms in each task; a task in which either has none is left out
    runs: tuple[tuple[int, int], ...]
    # Exchange the two curves of a run instead of dealing all curves.
    paired: bool = False
    is_turned: bool = False  # random deals are those of the pair with its algorithms the other way round

    @cached_property
    def cells(self) -> list[TaskCells]:
        """The tasks, by their numbers of runs."""
        # Tasks alike in numbers of runs are arrays without gaps, and their labels stand beside each other.
        all_cells: list[TaskCells] = []
        start = 0
        for n_a, n_b in sorted({pair for pair in self.runs if min(pair) > 0}):
            tasks = np.flatnonzero([runs == (n_a, n_b) for runs in self.runs])
            n_labels = n_a if self.paired else n_a + n_b
            stop = start + len(tasks) * n_labels
            all_cells.append(TaskCells(tasks, n_a, n_b, slice(start, stop)))
            start = stop
        return all_cells

    @property
    def n_units(self) -> int:
        """Number of labels."""
        if not self.cells:
            return 0
        return int(self.cells[-1].units.stop)

    @property
    def rows(self) -> int:
        """Number of deals in a block, whatever the number of tasks."""
        return BLOCK

    @property
    def observed(self) -> Labels:
        """The labels as observed, shape (1, unit)."""
        labels = np.zeros((1, self.n_units), np.int8)
        if self.paired:
            return labels
        for cells in self.cells:
            cells.of(labels)[..., cells.n_a :] = 1  # a view
        return labels

    @property
    def least(self) -> float:
        """The smallest p-value: where all numbers of runs are equal, a deal and its mirror have the same size of T."""
        if self.exact and (self.paired or all(a == b for a, b in self.runs)):
            return 2 / self.n_total
        return 1 / self.n_total

    def enumerate(self, index: Index) -> Labels:
        """Return the deals numbered `index`, shape (index, unit): those of the tasks are the digits of its number."""
        parts = [np.zeros((len(index), 0), np.int8)]
        for cells in self.cells:
            ways = count_deals((cells[1:3],), paired=self.paired)
            digits = index[:, np.newaxis] // ways ** np.arange(len(cells.tasks)) % ways
            if self.paired:
                labels = bits_of(digits, cells.n_a)
            else:
                labels = every_assignment(cells[1:3], True)[digits]
            parts.append(labels.reshape(len(index), -1))
            # what is left are the digits of the other tasks, in another base
            index = index // ways ** len(cells.tasks)
        return np.concatenate(parts, axis=1)

    def draw(self, number: int, rows: int) -> Labels:
        """Draw the deals of random block `number`, shape (rows, unit)."""
        draw = self._draw
        # a run whose curves change places does so in either order
        if self.is_turned and not self.paired:
            draw = self._draw_turned
        drawn = [draw(cells, number, rows).reshape(rows, -1) for cells in self.cells]
        # most often one array, which need not be copied
        if len(drawn) == 1:
            return drawn[0]
        return np.concatenate(drawn, axis=1)

    def _draw_turned(self, cells: TaskCells, number: int, rows: int) -> Labels:
        """Draw the labels of the second algorithm before the first, and name the curves and algorithms back."""
        # Of b v a the same random numbers as of a v b make the same deals, with names exchanged: what is said of a pair
        # does not depend on which of its algorithms stands first.
        n_a, n_b = cells.n_a, cells.n_b
        labels = self._draw(cells._replace(n_a=n_b, n_b=n_a), number, rows)
        of_second, of_first = labels[..., :n_b], labels[..., n_b:]
        return 1 - np.concatenate([of_first, of_second], axis=-1)

    def _draw(self, cells: TaskCells, number: int, rows: int) -> Labels:
        """Draw the labels of alike tasks, shape (rows, task, unit)."""
        tasks, n_a, n_b, _ = cells
        rng = generator(self.entropy, self.paired, n_a, n_b, number)
        shape = (len(tasks), rows)
        if self.paired:
            return 1 - rng.integers(0, 2, (*shape, n_a), np.int8).swapaxes(0, 1)
        if n_a + n_b <= TABLED:
            # one number for each deal instead of one for each curve
            table = every_assignment((n_a, n_b), True)[:, ::-1]
            return table[rng.integers(0, len(table), shape).T]
        if n_a + n_b <= FEW:
            is_first = np.repeat(np.array([1, 0], np.int8), [n_a, n_b])
            all_first = np.broadcast_to(is_first, (*shape, n_a + n_b))
            flags = rng.permuted(all_first, axis=-1)
        else:
            drawn = draw_flags(rng, len(tasks) * rows, n_a, n_a + n_b)
            flags = drawn.reshape(*shape, -1)
        return 1 - flags.swapaxes(0, 1)


def plan_deals(
    runs: tuple[tuple[int, int], ...],
    n_resamples: int | None,
    *,
    paired: bool = False,
    is_turned: bool = False,
    entropy: int = 0,
) -> DealPlan:
    """Plan deals: all of them if they are within the `ceiling`, else random ones."""
    exact, n_evaluated = ceiling(count_deals(runs, paired=paired), n_resamples)
    return DealPlan(
        runs=runs,
        paired=paired,
        is_turned=is_turned,
        exact=exact,
        n_resamples=n_evaluated,
        entropy=entropy,
    )


def least_pvalues(runs: Index, n_resamples: int | None, *, paired: bool = False) -> Floats:
    """Return the smallest p that each task allows, of numbers of runs (..., 2); NaN where one has no spread."""
    least = np.full(runs.shape[:-1], np.nan)
    has_spread = (runs > 1).all(axis=-1)
    # few numbers of runs are distinct
    for n_a, n_b in np.unique(runs[has_spread], axis=0).tolist():
        plan = plan_deals(((n_a, n_b),), n_resamples, paired=paired)
        least[has_spread & (runs == (n_a, n_b)).all(axis=-1)] = plan.least
    return least


def count_deals(runs: Sequence[tuple[int, int]], *, paired: bool = False) -> int:
    """Return the number of distinct deals, the observed one included."""
    return math.prod(count_assignments(pair, paired=paired, labelled=True) for pair in runs if min(pair) > 0)


def draw_flags(rng: np.random.Generator, rows: int, n_ones: int, n_curves: int) -> NDArray[np.int8]:
    """Draw rows with so many ones, all alike likely: bits, then drawn ones or zeros that are too many turned."""
    # Independent bits, a byte each, have about the right number of ones; no curve differs from another in that. Then
    # ones (or zeros) that are too many are turned at random places, which favours no curve either: all rows with so
    # many ones are alike likely. Of n curves about √n have to be turned.
    random_bytes = rng.integers(0, 256, (rows, n_curves), np.uint8)
    flags = (random_bytes < round(256 * n_ones / n_curves)).view(np.int8)
    excess = flags.sum(axis=-1, dtype=np.int64) - n_ones
    todo = np.flatnonzero(excess)
    while todo.size:
        # one place in each row that has too many; nothing happens where it has the other label
        place = rng.integers(0, n_curves, todo.size)
        too_many = (excess[todo] > 0).astype(np.int8)
        is_turned = flags[todo, place] == too_many
        row = todo[is_turned]
        flags[row, place[is_turned]] ^= 1
        excess[row] -= np.sign(excess[row])
        todo = todo[excess[todo] != 0]
    return flags


@dataclass(frozen=True, kw_only=True)
class Look(DealPlan):
    """Deals of the runs of one batch, each of which extends an assignment of the batches before."""

    number: int  # of the look, from 0
    # number of the assignment before that each extends; None: their own
    parent: Index | None

    @property
    def rows(self) -> int:
        """Number of deals in a block: random ones are drawn at once."""
        return BLOCK if self.exact else self.n_resamples

    @cached_property
    def labels(self) -> Labels:
        """The labels of all assignments, shape (assignment, unit), number 0 the observed one."""
        if self.exact:
            return np.concatenate(list(self.blocks()))
        return np.concatenate([self.observed, *self.blocks()])

    def _draw(self, cells: TaskCells, _: int, rows: int) -> Labels:
        """Draw labels from the table of all, or where that is long, row by row."""
        # The part of a batch is a function of the seed and of the batch: it stays when further batches come.
        tasks, n_a, n_b = cells[:3]
        seed = np.random.SeedSequence(self.entropy, spawn_key=(self.number, n_a, n_b))
        ways = count_deals([(n_a, n_b)])
        if ways <= self.n_total:
            rng = make_generator(seed)
            dtype = np.min_scalar_type(ways - 1)
            index = rng.integers(0, ways, (len(tasks), self.n_total), dtype)
            # number 0 is the observed assignment, which is not drawn
            return every_assignment((n_a, n_b), True)[index[:, 1:].T]

        entropy = int.from_bytes(seed.generate_state(4).tobytes(), "little")
        of_all_tasks = plan_runs(
            (n_a, n_b),
            len(tasks) * rows,
            labelled=True,
            allow_exact=False,
            entropy=entropy,
        )
        labels = np.concatenate(list(of_all_tasks.blocks()))
        return labels.reshape(len(tasks), rows, -1).swapaxes(0, 1)


def nest(sizes: NDArray[np.intp], n_resamples: int, entropy: int) -> list[Look]:
    """Plan nested assignments of batches with `sizes` runs, (look, task, 2): exact as long as all fit, then random."""
    looks: list[Look] = []
    n_before, exact = 1, True  # assignments of the batches so far
    for number, batch in enumerate(sizes):
        runs = tuple((int(a), int(b)) for a, b in batch)
        n_deals = count_deals(runs)
        n_evaluated = n_resamples
        if exact:  # until now
            exact, n_evaluated = ceiling(n_before * n_deals, n_resamples)
        n_assignments = n_evaluated + (not exact)  # with the observed one

        parent = None
        if exact and n_deals > 1:
            # each deal of this batch extends every assignment before
            parent = np.arange(n_assignments) // n_deals
        elif not exact and (n_before != n_assignments or number == 0):
            # Where exact gives way to random, random ones are extended; the observed one by itself. From then on, where
            # numbers are the same, each is extended once.
            parent = generator(entropy, number).integers(0, n_before, n_assignments)
            parent[0] = 0
        looks.append(
            Look(
                runs=runs,
                number=number,
                parent=parent,
                exact=exact,
                n_resamples=n_evaluated,
                entropy=entropy,
            )
        )
        n_before = n_assignments
    return looks
