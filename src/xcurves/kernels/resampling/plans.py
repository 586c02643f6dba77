"""Plans: which reassignments a randomization test evaluates, as blocks of labels, shape (reassignment, curve).

Curves are numbered group after group. One rule each says how many (`ceiling`), seeds and keeps a block (`Plan.block`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.assignments import (
    Labels,
    assignments,
    bits_of,
    count_assignments,
    draw_partitions,
    draw_two_groups,
    draw_within_runs,
    every_assignment,
    label_type,
    permuted_labels,
)
from xcurves.kernels.resampling.batches import CACHE, MEMORY, rows_that_fit

# Up to so many assignments all are evaluated by default: 10 v 10 curves have 92,378, which take milliseconds.
EXACT_LIMIT = 1_000_000
# Random reassignments by default: with the observed one 10,000, so that p-values are round numbers.
DEFAULT_RESAMPLES = 9_999
TIE = 1e-10  # statistics of reassignments that agree so closely are equal but for rounding
BLOCK = 1_024  # reassignments in a block
FEW = 1_024  # units, up to which a block has that many reassignments
KEPT = 2**26  # bytes of labels kept
_WORD = 64  # labels of flips in a random number


def ceiling(n_assignments: int, n_resamples: int | None, *, work: int = 1) -> tuple[bool, int]:
    """Return whether all assignments are evaluated, of so much `work` each, and how many are; None: `EXACT_LIMIT`."""
    if n_resamples is not None:
        exact = n_assignments <= n_resamples
        return exact, n_assignments if exact else n_resamples

    # However much work each is: all assignments are better than as many random ones.
    most = max(EXACT_LIMIT // work, DEFAULT_RESAMPLES)
    exact = n_assignments <= most
    return exact, n_assignments if exact else DEFAULT_RESAMPLES


def generator(entropy: int, *key: int) -> np.random.Generator:
    """Return the generator of a plan's random numbers for one key: numbers of runs, then the number of the block."""
    # A key for each block: it is the same whichever blocks are drawn before it, and on whichever worker.
    return make_generator(np.random.SeedSequence(entropy, spawn_key=key))


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """The reassignments that one test evaluates."""

    exact: bool  # whether every distinct assignment is evaluated once
    n_resamples: int  # assignments evaluated: all if exact, else random draws
    entropy: int = 0  # seed of the random blocks

    @property
    @abstractmethod
    def n_units(self) -> int:
        """Number of units that have a label."""

    @property
    def n_total(self) -> int:
        """Denominator of the p-value: all assignments, or the random ones and the observed one."""
        return self.n_resamples + self.besides

    @property
    def besides(self) -> int:
        """How many assignments no block has: if random, the observed one."""
        return 0 if self.exact else 1

    def pvalue(self, count: Floats) -> Floats:
        """Return the p-value where so many assignments of the blocks reach the observed statistic."""
        return (count + self.besides) / self.n_total

    @abstractmethod
    def enumerate(self, index: Index) -> Labels:
        """Return the labels of the distinct assignments numbered `index`, shape (index, unit)."""

    @abstractmethod
    def draw(self, number: int, rows: int) -> Labels:
        """Draw the labels of random block `number`, shape (rows, unit)."""

    @property
    def rows(self) -> int:
        """Number of reassignments in a block."""
        if self.exact:
            return max(BLOCK, rows_that_fit(8 * self.n_units, CACHE))
        if self.n_units <= FEW:
            return BLOCK
        # keys of 4 bytes, of as many reassignments as a cache has room for
        return rows_that_fit(4 * self.n_units, CACHE)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_resamples // self.rows)

    def blocks(self) -> Iterator[Labels]:
        """Yield every block in turn."""
        return map(self.block, range(self.n_blocks))

    def block(self, number: int) -> Labels:
        """Return block `number`, shape (at most `rows`, unit), not to be written to."""
        if number in self._kept:
            return self._kept[number]

        start = number * self.rows
        stop = min(start + self.rows, self.n_resamples)
        if self.exact:
            labels = self.enumerate(np.arange(start, stop))
        else:
            labels = self.draw(number, stop - start)

        # One plan serves all tasks of its numbers of runs, panel after panel: blocks are kept unless they are large,
        # and nobody may change what the next one reads.
        labels.flags.writeable = False
        if self.n_resamples * self.n_units * labels.itemsize <= KEPT:
            self._kept[number] = labels
        return labels

    @cached_property
    def _kept(self) -> dict[int, Labels]:
        return {}


@dataclass(frozen=True, kw_only=True)
class RunPlan(Plan):
    """Whole runs dealt anew to groups: among all curves, or if paired the curves of each run among the groups."""

    sizes: tuple[int, ...]  # number of curves in each group
    paired: bool = False  # permute groups within each run, curve j of every group
    # assignments that differ by a renaming of groups differ: for directional statistics, not for F
    labelled: bool = False
    n_assignments: int  # distinct ones, the observed one included

    @property
    def n_units(self) -> int:
        """Number of curves."""
        return sum(self.sizes)

    @property
    def observed(self) -> Labels:
        """The group of every curve as observed, shape (curve,)."""
        groups = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return groups.astype(label_type(len(self.sizes)))

    @cached_property
    def unlabelled(self) -> RunPlan:
        """The same exact plan with one of all assignments that differ only by a renaming of groups."""
        return plan_runs(self.sizes, self.n_resamples, paired=self.paired)

    def enumerate(self, index: Index) -> Labels:
        """Return the labels of the distinct assignments numbered `index`, shape (index, curve)."""
        if self.paired:
            return permuted_labels(index, self.sizes, self.labelled)
        # 7 times as fast as block by block
        if self.n_assignments * self.n_units <= MEMORY:
            return every_assignment(self.sizes, self.labelled)[index]
        return assignments(self.sizes, self.labelled, slice(index[0], index[-1] + 1))

    def draw(self, number: int, rows: int) -> Labels:
        """Draw the labels of random block `number`, shape (rows, curve)."""
        rng = generator(self.entropy, self.paired, *self.sizes, number)
        if self.n_units > FEW and len(self.sizes) == 2:
            # 3 times as fast as whole partitions (21 ms for 75 in an ANOVA of 2 × 2,000 runs, 1,000 reassignments).
            return draw_two_groups(rng, rows, self.sizes, self.paired)
        if self.paired:
            return draw_within_runs(rng, rows, self.sizes)
        return draw_partitions(rng, rows, self.sizes)


def plan_runs(
    sizes: tuple[int, ...],
    n_resamples: int | None,
    *,
    paired: bool = False,
    labelled: bool = False,
    allow_exact: bool = True,
    work: int = 1,
    entropy: int = 0,
) -> RunPlan:
    """Plan the test of groups of `sizes` curves: all assignments if they are within the `ceiling`, else random ones."""
    n_assignments = count_assignments(sizes, paired=paired, labelled=labelled)
    exact, n_evaluated = ceiling(n_assignments, n_resamples, work=work)
    if exact and not allow_exact:
        exact = False
        n_evaluated = DEFAULT_RESAMPLES if n_resamples is None else n_resamples
    return RunPlan(
        sizes=sizes,
        paired=paired,
        labelled=labelled,
        n_assignments=n_assignments,
        exact=exact,
        n_resamples=n_evaluated,
        entropy=entropy,
    )


@dataclass(frozen=True, kw_only=True)
class FlipPlan(Plan):
    """Signs of families of tasks, the units, the same for all pairs of algorithms and all levels."""

    n_families: int
    most: int | None  # the ceiling on flips that was asked for

    @property
    def n_units(self) -> int:
        """Number of families."""
        return self.n_families

    def of(self, n_families: int) -> FlipPlan:
        """Return the plan of so many of the families by themselves, by the same rule."""
        return plan_flips(n_families, self.most, self.entropy)

    def enumerate(self, index: Index) -> Labels:
        """Return the flips numbered `index`, shape (index, family)."""
        return bits_of(index, self.n_units)

    def draw(self, number: int, rows: int) -> Labels:
        """Draw the flips of random block `number`: all blocks are parts of one stream."""
        return self.draw_from(number * self.rows, rows).view(np.int8)

    def draw_from(self, first: int, rows: int) -> NDArray[np.uint8]:
        """Draw so many random flips from number `first` on, shape (rows, family): they do not depend on the batch."""
        # A bit of 64 for each label takes a fifth of the time of a number for each. PCG64 makes a word in a step.
        n_words = -(-self.n_units // _WORD)
        rng = generator(self.entropy, self.n_units)
        rng.bit_generator.advance(first * n_words)  # type: ignore[attr-defined]  # PCG64 has it
        shape = (rows, n_words)
        words = rng.integers(0, 2**_WORD - 1, shape, np.uint64, endpoint=True)
        as_bytes = words.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(as_bytes, axis=1, count=self.n_units, bitorder="little")


def plan_flips(n_families: int, n_resamples: int | None, entropy: int = 0) -> FlipPlan:
    """Plan flips: all of them if they are within the `ceiling`, else random ones."""
    exact, n_evaluated = ceiling(2**n_families, n_resamples)
    return FlipPlan(
        n_families=n_families,
        most=n_resamples,
        exact=exact,
        n_resamples=n_evaluated,
        entropy=entropy,
    )


Seed = np.random.SeedSequence | Sequence[int]


@dataclass
class Watch:
    """Whether random numbers are drawn while it watches."""

    drawn: bool = False


# those that watch at this moment, the outermost first
_watches: ContextVar[tuple[Watch, ...]] = ContextVar("watches", default=())


def make_generator(seed: Seed) -> np.random.Generator:
    """Return a generator; every random number of a kernel is from one that is made here."""
    note_draw()
    return np.random.default_rng(seed)


def note_draw() -> None:
    """Tell all who watch that random numbers are drawn, or may be drawn later."""
    for watch in _watches.get():
        watch.drawn = True


@contextmanager
def watched() -> Iterator[Watch]:
    """Watch whether random numbers are drawn in this block."""
    watch = Watch()
    token = _watches.set((*_watches.get(), watch))
    try:
        yield watch
    finally:
        _watches.reset(token)
