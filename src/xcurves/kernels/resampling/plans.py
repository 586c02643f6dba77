"""Plans: which reassignments a randomization test evaluates, as blocks of labels, shape (reassignment, curve).

Curves are numbered group after group. One rule each says how many (`ceiling`), seeds and keeps a block (`Plan.block`).
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.batches import CACHE, MEMORY, rows_that_fit, stretches

EXACT_LIMIT = 1_000_000
DEFAULT_RESAMPLES = 9_999
TIE = 1e-10  # statistics of reassignments that agree so closely are equal but for rounding
BLOCK = 1_024  # reassignments in a block
FEW = 1_024  # units, up to which a block has that many reassignments
KEPT = 2**26  # bytes of labels kept
_MAX_HALF = 16  # curves of which all subsets are tabulated

Labels = NDArray[np.signedinteger]  # int8, or int16 of more than 127 groups


def ceiling(
    n_assignments: int, n_resamples: int | None, *, work: int = 1
) -> tuple[bool, int]:
    """Return whether all assignments are evaluated, of so much `work` each, and how many are; None: `EXACT_LIMIT`."""
    most = (
        max(EXACT_LIMIT // work, DEFAULT_RESAMPLES)
        if n_resamples is None
        else n_resamples
    )
    if n_assignments <= most:
        return True, n_assignments
    return False, DEFAULT_RESAMPLES if n_resamples is None else n_resamples


def generator(entropy: int, *key: int) -> np.random.Generator:
    """Return the generator of a plan's random numbers for one key: numbers of runs, then the number of the block."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))


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
        return (
            BLOCK
            if self.exact or self.n_units <= FEW
            else rows_that_fit(4 * self.n_units, CACHE)
        )

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
        labels = (
            self.enumerate(np.arange(start, stop))
            if self.exact
            else self.draw(number, stop - start)
        )
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
        return np.repeat(np.arange(len(self.sizes)), self.sizes).astype(
            label_type(len(self.sizes))
        )

    @cached_property
    def unlabelled(self) -> RunPlan:
        """The same exact plan with one of all assignments that differ only by a renaming of groups."""
        return plan_runs(self.sizes, self.n_resamples, paired=self.paired)

    @property
    def has_tables(self) -> bool:
        """Whether splits come from tables of subsets: 92,378 of 10 v 10 curves take 2 ms, where labels take 30."""
        half = -(-self.n_units // 2)
        two_groups = self.exact and not self.paired and len(self.sizes) == 2
        return (
            two_groups
            and half <= _MAX_HALF
            and 2**half <= 1024 + 4 * self.n_assignments
        )

    def enumerate(self, index: Index) -> Labels:
        """Return the labels of the distinct assignments numbered `index`, shape (index, curve)."""
        if self.paired:
            return _permuted_labels(index, self.sizes, self.labelled)
        # 7 times as fast as block by block
        if self.n_assignments * self.n_units <= MEMORY:
            return every_assignment(self.sizes, self.labelled)[index]
        return _assignments(self.sizes, self.labelled, slice(index[0], index[-1] + 1))

    def draw(self, number: int, rows: int) -> Labels:
        """Draw the labels of random block `number`, shape (rows, curve)."""
        rng = generator(self.entropy, self.paired, *self.sizes, number)
        if self.n_units > FEW and len(self.sizes) == 2:
            # 3 times as fast as whole partitions (21 ms for 75 in an ANOVA of 2 × 2,000 runs, 1,000 reassignments).
            return _draw_two_groups(rng, rows, self.sizes, self.paired)
        return (_draw_within_runs if self.paired else _draw_partitions)(
            rng, rows, self.sizes
        )


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
    exact, n = ceiling(n_assignments, n_resamples, work=work)
    if exact and not allow_exact:
        exact, n = False, DEFAULT_RESAMPLES if n_resamples is None else n_resamples
    return RunPlan(
        sizes=sizes,
        paired=paired,
        labelled=labelled,
        n_assignments=n_assignments,
        exact=exact,
        n_resamples=n,
        entropy=entropy,
    )


def count_assignments(
    sizes: tuple[int, ...], *, paired: bool = False, labelled: bool = False
) -> int:
    """Return the number of distinct assignments of curves to groups of `sizes`, the observed one included."""
    if paired:
        return int(
            math.factorial(len(sizes)) ** (sizes[0] if labelled else sizes[0] - 1)
        )
    count = math.prod(map(math.comb, itertools.accumulate(sizes), sizes))
    alike = 1 if labelled else math.prod(map(math.factorial, Counter(sizes).values()))
    return count // alike


@dataclass(frozen=True, kw_only=True)
class FlipPlan(Plan):
    """Signs of families of tasks, the units, the same for all pairs of algorithms and all levels."""

    n_families: int

    @property
    def n_units(self) -> int:
        """Number of families."""
        return self.n_families

    def enumerate(self, index: Index) -> Labels:
        """Return the flips numbered `index`, shape (index, family)."""
        return bits_of(index, self.n_units)

    def draw(self, number: int, rows: int) -> Labels:
        """Draw the flips of random block `number`: all blocks are parts of one stream."""
        rng = generator(self.entropy, self.n_units)
        before = number * self.rows * self.n_units
        rng.bit_generator.advance(before // 2)  # type: ignore[attr-defined]  # two labels for a step of PCG64
        rng.integers(0, 2, before % 2)
        return rng.integers(0, 2, (rows, self.n_units)).astype(np.int8)


def plan_flips(n_families: int, n_resamples: int | None, entropy: int = 0) -> FlipPlan:
    """Plan flips: all of them if they are within the `ceiling`, else random ones."""
    exact, n = ceiling(2**n_families, n_resamples)
    return FlipPlan(n_families=n_families, exact=exact, n_resamples=n, entropy=entropy)


def bits_of(index: Index, n: int) -> Labels:
    """Return the lowest bits of numbers, shape (*index, n)."""
    return (index[..., np.newaxis] >> np.arange(n) & 1).astype(np.int8)


def label_type(n_labels: int) -> type[np.signedinteger]:
    """Return the type of so many labels."""
    return np.int8 if n_labels <= 127 else np.int16


@lru_cache(maxsize=16)
def every_assignment(sizes: tuple[int, ...], labelled: bool) -> Labels:
    """Return the groups of curves in all assignments, in lexicographic order: the observed one first."""
    return _assignments(sizes, labelled)


def _assignments(
    sizes: tuple[int, ...], labelled: bool, some: slice | None = None
) -> Labels:
    """Return the groups of curves in all or some assignments, shape (assignment, curve).

    If not labelled, of groups of one size the first in order is the one that has a curve first.
    """
    labels, counts = (
        np.zeros((1, 0), label_type(len(sizes))),
        np.zeros((1, len(sizes)), np.int64),
    )
    before = 0  # assignments that begin as none of the rows does
    for _ in range(sum(sizes)):
        fits = counts < sizes
        for group in range(1, 1 if labelled else len(sizes)):
            for earlier in range(group):
                if sizes[earlier] == sizes[group]:
                    fits[:, group] &= counts[:, earlier] > 0
        row, group_of = np.nonzero(fits)
        counts = counts[row]
        counts[np.arange(len(row)), group_of] += 1
        if some is not None:
            ends = before + np.cumsum(_completions(sizes, counts, labelled))
            first, last = (
                np.searchsorted(ends, some.start, "right"),
                np.searchsorted(ends, some.stop) + 1,
            )
            before = ends[first - 1] if first else before
            row, group_of, counts = (
                row[first:last],
                group_of[first:last],
                counts[first:last],
            )
        labels = np.column_stack([labels[row], group_of.astype(labels.dtype)])
    return labels


def _completions(sizes: tuple[int, ...], counts: Index, labelled: bool) -> Index:
    """Return how many assignments begin with so many curves in each group, shape (row, group)."""
    key = counts @ np.cumprod([1, *(size + 1 for size in sizes[:-1])])
    _, first, kind = np.unique(key, return_index=True, return_inverse=True)
    ways = []
    for free in np.subtract(sizes, counts[first]).tolist():
        untouched = Counter(
            size for size, left in zip(sizes, free, strict=True) if size == left
        )
        alike = 1 if labelled else math.prod(map(math.factorial, untouched.values()))
        ways.append(count_assignments(tuple(free), labelled=True) // alike)
    return np.array(ways)[kind]


def _draw_partitions(
    rng: np.random.Generator, rows: int, sizes: tuple[int, ...]
) -> Labels:
    """Draw uniform partitions: sort random keys whose low bits hold the curve, redraw ties at a boundary."""
    n_curves = sum(sizes)
    bits = max(n_curves - 1, 1).bit_length()
    rare = (len(sizes) - 1) * n_curves <= 2 ** (30 - bits)  # are ties at a boundary
    dtype = np.uint32 if bits <= 10 or rare else np.uint64
    last = np.cumsum(sizes)[:-1]
    keys = np.empty((rows, n_curves), dtype)
    todo = np.arange(rows)
    while todo.size:
        drawn = rng.integers(
            0, np.iinfo(dtype).max, (todo.size, n_curves), dtype, endpoint=True
        )
        drawn >>= dtype(bits)
        drawn <<= dtype(bits)
        drawn |= np.arange(n_curves, dtype=dtype)
        drawn.sort(axis=-1)
        keys[todo] = drawn
        high = drawn >> dtype(bits)
        todo = todo[(high[:, last - 1] == high[:, last]).any(axis=-1)]
    places = (keys & dtype(2**bits - 1)).astype(np.intp)
    places += n_curves * np.arange(rows)[:, np.newaxis]
    labels = np.empty(keys.shape, label_type(len(sizes)))
    groups = np.repeat(np.arange(len(sizes), dtype=labels.dtype), sizes)
    # takes a quarter of the time of labels[row, place] = groups
    labels.ravel()[places.ravel()] = np.tile(groups, rows)
    return labels


def _draw_two_groups(
    rng: np.random.Generator, rows: int, sizes: tuple[int, ...], paired: bool
) -> Labels:
    """Draw the labels of two groups; the first has the smallest of random keys, redrawn where the next one is equal."""
    n_curves, n_first = sum(sizes), sizes[0]
    if paired:
        second = rng.integers(0, 2, (rows, n_first), np.uint8).view(np.int8)
        return np.concatenate([1 - second, second], axis=1)
    labels = np.empty((rows, n_curves), np.int8)
    todo = np.arange(rows)
    while todo.size:
        ties = []
        # A third of the time of a whole block, whose memory the system takes back after each.
        for part in stretches(len(todo), rows_that_fit(16 * n_curves, CACHE)):
            some = todo[part]
            keys = rng.integers(0, 2**32, (len(some), n_curves), np.uint32)
            ordered = np.partition(keys, n_first - 1, axis=-1)
            last = ordered[:, n_first - 1]
            labels[some] = keys > last[:, np.newaxis]
            ties.append(some[ordered[:, n_first:].min(axis=1) == last])
        todo = np.concatenate(ties)
    return labels


def _draw_within_runs(
    rng: np.random.Generator, rows: int, sizes: tuple[int, ...]
) -> Labels:
    """Draw, for every run, a uniform permutation of the groups."""
    n_groups, n_runs = len(sizes), sizes[0]
    groups = np.broadcast_to(np.arange(n_groups), (rows, n_runs, n_groups))
    return _labels_of_runs(rng.permuted(groups, axis=-1))


def _labels_of_runs(permutations: Index) -> Labels:
    """Turn permutations, shape (rows, run, group), of which curve of a run each group takes, into labels."""
    labels = permutations.argsort(axis=-1).astype(label_type(permutations.shape[-1]))
    return np.ascontiguousarray(labels.swapaxes(-1, -2)).reshape(len(permutations), -1)


@lru_cache(maxsize=8)
def _permutations(n_groups: int) -> Index:
    return np.array(list(itertools.permutations(range(n_groups))), np.intp)


def _permuted_labels(index: Index, sizes: tuple[int, ...], labelled: bool) -> Labels:
    """Return the labels of permutations of the groups within each run, numbered in base (number of groups)!."""
    # F ignores labels: the first run stays as it is
    table, n_fixed = (_permutations(len(sizes)), 0 if labelled else 1)
    digits = (
        index[:, np.newaxis] // len(table) ** np.arange(sizes[0] - n_fixed) % len(table)
    )
    return _labels_of_runs(table[np.pad(digits, ((0, 0), (n_fixed, 0)))])
