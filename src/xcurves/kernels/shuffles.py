"""Plans: which reassignments of whole curves to algorithms a randomization test evaluates.

A plan is made once, from the numbers of runs, and yields blocks of *orders*: arrays of shape
``(block, curve)`` whose rows are permutations of the curves ``0 .. N-1``. Consecutive slices of a row, of
the lengths ``sizes``, are the groups of that reassignment. Block ``b`` is the same wherever and in whatever
order the blocks are asked for.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

EXACT_LIMIT = 1_000_000
DEFAULT_RESAMPLES = 9_999
TIE = 1e-10  # statistics of reassignments that agree so closely are equal but for rounding
SHUFFLES_AT_ONCE = 1_024
FEW = 1_024  # curves, up to which a block has BLOCK rows
_CACHE = 2**18  # curves of all rows of a block, where they are more
_KEPT = 2**26  # bytes of orders or members kept

Order = NDArray[np.intp]


@dataclass(frozen=True)
class Plan:
    """The reassignments that one test evaluates.

    Attributes
    ----------
    sizes : tuple of int
        Number of curves in each group; the curves are numbered group after group.
    paired : bool
        Permute groups within each run (curve ``j`` of every group) instead of all curves.
    labelled : bool
        Count assignments that differ only by a renaming of groups as different: needed for directional
        statistics, not for F ratios.
    n_assignments : int
        Number of distinct assignments, the observed one included.
    exact : bool
        Whether every distinct assignment is evaluated once.
    n_resamples : int
        Number of assignments evaluated: `n_assignments` if exact, else the number of random draws.
    entropy : int
        Seed of the random blocks.
    """

    sizes: tuple[int, ...]
    paired: bool
    labelled: bool
    n_assignments: int
    exact: bool
    n_resamples: int
    entropy: int

    @property
    def n_total(self) -> int:
        """Denominator of the p-value: all assignments, or the random ones and the observed one."""
        return self.n_resamples if self.exact else self.n_resamples + 1

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_resamples // self.rows)

    @property
    def rows(self) -> int:
        """Number of reassignments in a block."""
        n_curves = sum(self.sizes)
        return SHUFFLES_AT_ONCE if self.exact or n_curves <= FEW else max(1, _CACHE // n_curves)

    @property
    def large(self) -> bool:
        """Whether there are so many curves that the members of two groups are drawn rather than orders."""
        return not self.exact and sum(self.sizes) > FEW

    def blocks(self) -> Iterator[Order]:
        """Yield every block in turn."""
        return map(self.block, range(self.n_blocks))

    def block(self, number: int) -> Order:
        """Return block `number`, shape (at most `rows`, curve)."""
        if number not in self._orders:
            order = self._make_block(number)
            if 2 * self.n_resamples * sum(self.sizes) > _KEPT:
                return order
            self._orders[number] = order.astype(np.min_scalar_type(sum(self.sizes)))
        return self._orders[number].astype(np.intp)

    def _make_block(self, number: int) -> Order:
        start = number * self.rows
        stop = min(start + self.rows, self.n_resamples)
        if self.exact:
            return self._enumeration.orders(np.arange(start, stop))
        if self.large and len(self.sizes) == 2:
            return _orders_of_members(self.first_group(number), self.paired)
        draw = _draw_within_runs if self.paired else _draw_partitions
        return draw(self._rng(number), stop - start, self.sizes)

    def first_group(self, number: int) -> NDArray[np.bool_]:
        """Return which curves are in the first of two groups in block `number`, shape (row, curve), of a large plan."""
        if number not in self._kept:
            rows = min(self.rows, self.n_resamples - number * self.rows)
            members = _draw_members(self._rng(number), rows, self.sizes, self.paired)
            if self.n_resamples * sum(self.sizes) > 8 * _KEPT:
                return members
            self._kept[number] = np.packbits(members, axis=-1)
        return np.unpackbits(self._kept[number], axis=-1, count=sum(self.sizes)).view(np.bool_)

    def _rng(self, number: int) -> np.random.Generator:
        seed = np.random.SeedSequence(self.entropy, spawn_key=(self.paired, *self.sizes, number))
        return np.random.default_rng(seed)

    @cached_property
    def _orders(self) -> dict[int, NDArray[np.unsignedinteger]]:
        """The blocks that were asked for, if all take little memory: several statistics need them."""
        return {}

    @cached_property
    def _kept(self) -> dict[int, NDArray[np.uint8]]:
        """The members of blocks that were asked for, eight in a byte: several statistics need them."""
        return {}

    @cached_property
    def _enumeration(self) -> _Partitions | _RunPermutations:
        kind = _RunPermutations if self.paired else _Partitions
        return kind(self.sizes, self.labelled)


def plan_shuffles(
    sizes: tuple[int, ...],
    n_resamples: int | None,
    *,
    paired: bool = False,
    labelled: bool = False,
    allow_exact: bool = True,
    work: int = 1,
    entropy: int = 0,
) -> Plan:
    """Plan the test of groups of `sizes` curves: exact if there are at most `n_resamples` assignments, else random.

    `n_resamples` is the largest number; None means exact up to `EXACT_LIMIT` evaluations, of which every
    assignment takes `work`, else `DEFAULT_RESAMPLES` random ones, or fewer if fewer exist.
    """
    n_assignments = count_assignments(sizes, paired=paired, labelled=labelled)
    ceiling = max(EXACT_LIMIT // work, DEFAULT_RESAMPLES) if n_resamples is None else n_resamples
    exact = allow_exact and n_assignments <= ceiling
    n_random = DEFAULT_RESAMPLES if n_resamples is None else n_resamples
    return Plan(sizes, paired, labelled, n_assignments, exact, n_assignments if exact else n_random, entropy)


def count_assignments(sizes: tuple[int, ...], *, paired: bool = False, labelled: bool = False) -> int:
    """Return the number of distinct assignments of curves to groups of `sizes`, the observed one included."""
    if paired:
        return int(math.factorial(len(sizes)) ** (sizes[0] if labelled else sizes[0] - 1))
    count = math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))
    alike = 1 if labelled else math.prod(map(math.factorial, Counter(sizes).values()))
    return count // alike


def _draw_partitions(rng: np.random.Generator, rows: int, sizes: tuple[int, ...]) -> Order:
    """Draw uniform partitions: sort random keys whose low bits hold the curve, redraw ties at a boundary."""
    n_curves = sum(sizes)
    bits = max(n_curves - 1, 1).bit_length()
    rare = (len(sizes) - 1) * n_curves <= 2 ** (30 - bits)  # are ties at a boundary
    dtype = np.uint32 if bits <= 10 or rare else np.uint64
    last = np.cumsum(sizes)[:-1]
    keys = np.empty((rows, n_curves), dtype)
    todo = np.arange(rows)
    while todo.size:
        drawn = rng.integers(0, np.iinfo(dtype).max, (todo.size, n_curves), dtype, endpoint=True)
        drawn >>= dtype(bits)
        drawn <<= dtype(bits)
        drawn |= np.arange(n_curves, dtype=dtype)
        drawn.sort(axis=-1)
        keys[todo] = drawn
        high = drawn >> dtype(bits)
        todo = todo[(high[:, last - 1] == high[:, last]).any(axis=-1)]
    return (keys & dtype(2**bits - 1)).astype(np.intp)


def _draw_members(rng: np.random.Generator, rows: int, sizes: tuple[int, ...], paired: bool) -> NDArray[np.bool_]:
    """Draw the first of two groups: the smallest of random keys, redrawn where the next one is equal."""
    n_curves = sum(sizes)
    if paired:
        first = rng.integers(0, 2, (rows, sizes[0]), np.uint8).view(np.bool_)
        return np.concatenate([first, ~first], axis=1)
    members = np.empty((rows, n_curves), np.bool_)
    todo = np.arange(rows)
    while todo.size:
        keys = rng.integers(0, 2**32, (todo.size, n_curves), np.uint32)
        last = np.partition(keys, sizes[0] - 1, axis=-1)[:, sizes[0] - 1, np.newaxis]
        members[todo] = keys <= last
        todo = todo[members[todo].sum(axis=-1) > sizes[0]]
    return members


def _orders_of_members(first: NDArray[np.bool_], paired: bool) -> Order:
    """Turn members of the first of two groups, shape (rows, curve), into orders; paired ones stay in order of runs."""
    if not paired:
        return np.asarray((~first).argsort(axis=-1, kind="stable"))
    n_runs = first.shape[1] // 2
    groups = np.stack([~first[:, :n_runs], first[:, :n_runs]], axis=-1).astype(np.intp)
    return _orders_of_runs(groups)


def _draw_within_runs(rng: np.random.Generator, rows: int, sizes: tuple[int, ...]) -> Order:
    """Draw, for every run, a uniform permutation of the groups."""
    n_groups, n_runs = len(sizes), sizes[0]
    groups = np.broadcast_to(np.arange(n_groups), (rows, n_runs, n_groups))
    return _orders_of_runs(rng.permuted(groups, axis=-1))


def _orders_of_runs(permutations: NDArray[np.intp]) -> Order:
    """Turn permutations of the groups, shape (rows, run, group), into orders of the curves."""
    rows, n_runs, n_groups = permutations.shape
    curves = permutations * n_runs + np.arange(n_runs)[:, np.newaxis]
    return np.asarray(curves.swapaxes(-1, -2).reshape(rows, n_groups * n_runs))


class _RunPermutations:
    """All permutations of the groups within each run, numbered in base (number of groups)!."""

    def __init__(self, sizes: tuple[int, ...], labelled: bool) -> None:
        self.table = np.array(list(itertools.permutations(range(len(sizes)))), np.intp)
        self.n_fixed = 0 if labelled else 1  # F ignores labels: the first run stays as it is
        self.n_runs = sizes[0]

    def orders(self, index: NDArray[np.intp]) -> Order:
        """Return the orders of the assignments numbered `index`."""
        power = len(self.table) ** np.arange(self.n_runs - self.n_fixed)
        digits = index[:, np.newaxis] // power % len(self.table)
        fixed = np.zeros((len(index), self.n_fixed), np.intp)
        return _orders_of_runs(self.table[np.concatenate([fixed, digits], axis=1)])


class _Partitions:
    """All partitions of the curves into groups, numbered in lexicographic order of the curves' groups.

    The curves are placed one after the other. A state is the number of free places in each group; a table
    holds, for every state and group, how many partitions follow when the next curve is placed there. Unless
    labelled, of several groups of one size that are still empty only the first may take a curve.
    """

    def __init__(self, sizes: tuple[int, ...], labelled: bool) -> None:
        self.sizes = sizes
        numbers = {sizes: 0}
        states = [sizes]
        successors: list[list[int]] = []
        for state in states:  # the list grows during the loop
            row = []
            for group, free in enumerate(state):
                alike = (other for other in range(group) if sizes[other] == sizes[group])
                skipped = not labelled and free == sizes[group] and any(state[o] == sizes[o] for o in alike)
                if free == 0 or skipped:
                    row.append(-1)
                    continue
                after = (*state[:group], free - 1, *state[group + 1 :])
                if after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                row.append(numbers[after])
            successors.append(row)
        self.next = np.array(successors)
        following = [0] * len(states)
        for number in range(len(states) - 1, -1, -1):  # a state's successors are numbered after it
            following[number] = sum(following[s] for s in successors[number] if s >= 0) or 1
        self.count = np.where(self.next >= 0, np.array(following)[self.next], 0)

    def orders(self, index: NDArray[np.intp]) -> Order:
        """Return the orders of the assignments numbered `index`."""
        rest = index.copy()
        state = np.zeros_like(rest)
        labels = np.empty((len(index), sum(self.sizes)), np.int16)
        for curve in range(labels.shape[1]):
            upto = self.count[state].cumsum(axis=-1)
            group = (rest[:, np.newaxis] >= upto).sum(axis=-1)
            rest -= np.take_along_axis(upto, group[:, np.newaxis], -1)[:, 0] - self.count[state, group]
            labels[:, curve] = group
            state = self.next[state, group]
        return np.asarray(labels.argsort(axis=-1, kind="stable"))
