"""Assignments of curves to groups: every distinct one, in lexicographic order, and random ones, all alike likely.

Curves are numbered group after group; the label of a curve is the number of the group that it is given to.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Index
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches

Labels = NDArray[np.signedinteger]  # int8, or int16 of more than 127 groups


def label_type(n_labels: int) -> type[np.signedinteger]:
    """Return the type of so many labels."""
    if n_labels <= 127:
        return np.int8
    return np.int16


def bits_of(index: Index, n: int) -> Labels:
    """Return the lowest bits of numbers, shape (*index, n)."""
    return (index[..., np.newaxis] >> np.arange(n) & 1).astype(np.int8)


def count_assignments(sizes: tuple[int, ...], *, paired: bool = False, labelled: bool = False) -> int:
    """Return the number of distinct assignments of curves to groups of `sizes`, the observed one included."""
    if paired:
        # Each run permutes the groups by itself. A renaming of groups permutes all runs alike: if it makes no
        # difference, the first run may stay as it is.
        n_free = sizes[0] if labelled else sizes[0] - 1
        return int(math.factorial(len(sizes)) ** n_free)

    # The multinomial coefficient N! / Π l_i!, as a product of binomial ones: the places of each group's curves among
    # those of the groups up to it. Python's integers do not overflow.
    n_labelled = math.prod(map(math.comb, itertools.accumulate(sizes), sizes))
    if labelled:
        return n_labelled
    return n_labelled // _renamings(sizes)


def _renamings(sizes: tuple[int, ...]) -> int:
    """Return in how many ways groups of one size can change their names."""
    return math.prod(map(math.factorial, Counter(sizes).values()))


@lru_cache(maxsize=16)
def every_assignment(sizes: tuple[int, ...], labelled: bool) -> Labels:
    """Return the groups of curves in all assignments, in lexicographic order: the observed one first."""
    return assignments(sizes, labelled)


def assignments(sizes: tuple[int, ...], labelled: bool, wanted: slice | None = None) -> Labels:
    """Return the groups of curves in all assignments, or those of some numbers, shape (assignment, curve).

    If not labelled, of groups of one size the first in order is the one that has a curve first.
    """
    # Rows are the ways in which assignments begin, curve after curve; each goes on with every group that has room.
    labels = np.zeros((1, 0), label_type(len(sizes)))
    counts = np.zeros((1, len(sizes)), np.int64)  # curves in each group so far
    n_before = 0  # assignments whose number is lower than those of all rows
    for _ in range(sum(sizes)):
        # np.nonzero goes row by row and in each from the first group on: the order stays lexicographic.
        row, group = np.nonzero(_may_take_a_curve(sizes, counts, labelled))
        counts = counts[row]
        counts[np.arange(len(row)), group] += 1

        # Rows of which no continuation is wanted are dropped at once, so that there are never many more than wanted.
        if wanted is not None:
            ends = n_before + np.cumsum(_completions(sizes, counts, labelled))
            first = np.searchsorted(ends, wanted.start, "right")
            last = np.searchsorted(ends, wanted.stop) + 1
            if first:
                n_before = ends[first - 1]
            row, group, counts = row[first:last], group[first:last], counts[first:last]

        labels = np.column_stack([labels[row], group.astype(labels.dtype)])
    return labels


def _may_take_a_curve(sizes: tuple[int, ...], counts: Index, labelled: bool) -> NDArray[np.bool_]:
    """Return which groups may have the next curve, shape (row, group)."""
    may_take = counts < sizes
    if labelled:
        return may_take
    # Of the assignments that differ by names of groups of one size, the one in which these are opened in their order:
    # a group stays empty until every earlier one of its size has a curve.
    for group in range(1, len(sizes)):
        for earlier in range(group):
            if sizes[earlier] == sizes[group]:
                may_take[:, group] &= counts[:, earlier] > 0
    return may_take


def _completions(sizes: tuple[int, ...], counts: Index, labelled: bool) -> Index:
    """Return how many assignments begin with so many curves in each group, shape (row, group)."""
    # The number depends on the counts alone, and few of these are distinct: numbers in a mixed base tell which.
    key = counts @ np.cumprod([1, *(size + 1 for size in sizes[:-1])])
    _, first_rows, kind = np.unique(key, return_index=True, return_inverse=True)
    ways = []
    for free in np.subtract(sizes, counts[first_rows]).tolist():
        n_ways = count_assignments(tuple(free), labelled=True)
        if not labelled:
            # Groups that have a curve are told apart by it; only those without one can still change their names.
            untouched = [size for size, left in zip(sizes, free, strict=True) if size == left]
            n_ways //= _renamings(tuple(untouched))
        ways.append(n_ways)
    return np.array(ways)[kind]


def permuted_labels(index: Index, sizes: tuple[int, ...], labelled: bool) -> Labels:
    """Return the labels of permutations of the groups within each run, numbered in base (number of groups)!."""
    every_order = _permutations(len(sizes))
    n_fixed = 0 if labelled else 1  # see `count_assignments`: the first run
    place_values = len(every_order) ** np.arange(sizes[0] - n_fixed)
    digits = index[:, np.newaxis] // place_values % len(every_order)
    # number 0 of the permutations leaves a run as it is
    digits = np.pad(digits, ((0, 0), (n_fixed, 0)))
    return labels_of_runs(every_order[digits])


@lru_cache(maxsize=8)
def _permutations(n_groups: int) -> Index:
    return np.array(list(itertools.permutations(range(n_groups))), np.intp)


def labels_of_runs(permutations: Index) -> Labels:
    """Turn permutations, shape (rows, run, group), of which curve of a run each group takes, into labels."""
    # argsort inverts a permutation: from the curve of each group to the group of each curve
    labels = permutations.argsort(axis=-1).astype(label_type(permutations.shape[-1]))
    # (rows, run, curve of the run) to curves group after group
    return np.ascontiguousarray(labels.swapaxes(-1, -2)).reshape(len(permutations), -1)


def draw_partitions(rng: np.random.Generator, rows: int, sizes: tuple[int, ...]) -> Labels:
    """Draw uniform partitions: sort random keys whose low bits hold the curve, redraw ties at a boundary."""
    # Sorted by random keys, curves are in random order: the first l_1 go to the first group, and so on. With the
    # curve in the low bits one sort of whole numbers, which numpy does with SIMD, takes half the time of permuting.
    # Where the random bits of two keys tie, the curve decides: that is no random order, but it only matters where the
    # two go to different groups. A row with such a tie is drawn again.
    n_curves = sum(sizes)
    n_low_bits = max(n_curves - 1, 1).bit_length()
    dtype = _key_type(n_low_bits, n_curves, n_boundaries=len(sizes) - 1)
    begins = np.cumsum(sizes)[:-1]  # of all groups but the first
    keys = np.empty((rows, n_curves), dtype)
    todo = np.arange(rows)
    while todo.size:
        drawn = rng.integers(0, np.iinfo(dtype).max, (todo.size, n_curves), dtype, endpoint=True)
        drawn >>= dtype(n_low_bits)
        drawn <<= dtype(n_low_bits)
        drawn |= np.arange(n_curves, dtype=dtype)
        drawn.sort(axis=-1)
        keys[todo] = drawn
        random_bits = drawn >> dtype(n_low_bits)
        ties = random_bits[:, begins - 1] == random_bits[:, begins]
        todo = todo[ties.any(axis=-1)]

    curves = (keys & dtype(2**n_low_bits - 1)).astype(np.intp)
    return _labels_of_orders(curves, sizes)


def _key_type(n_low_bits: int, n_curves: int, n_boundaries: int) -> type[np.uint32] | type[np.uint64]:
    """Return the type of keys: the short one, which is sorted faster, where few rows have to be drawn again."""
    # Of N keys of b random bits, neighbours in order tie with probability about N / 2^b. Of b = 32 - n_low_bits at
    # most a quarter of the rows is drawn again if boundaries × N / 2^b <= 1/4; of up to 1,024 curves, where b is at
    # least 22, boundaries × N / 2^b <= 1023 × 1024 / 2^22 is no more than that.
    are_rare = n_boundaries * n_curves <= 2 ** (30 - n_low_bits)
    if n_low_bits <= 10 or are_rare:
        return np.uint32
    return np.uint64


def _labels_of_orders(curves: Index, sizes: tuple[int, ...]) -> Labels:
    """Return the labels of curves that are given, row by row, in the order of their groups."""
    rows, n_curves = curves.shape
    labels = np.empty(curves.shape, label_type(len(sizes)))
    groups = np.repeat(np.arange(len(sizes), dtype=labels.dtype), sizes)
    # Places in the flat array take a quarter of the time of labels[row, curve] = groups.
    cells = curves + n_curves * np.arange(rows)[:, np.newaxis]
    labels.ravel()[cells.ravel()] = np.tile(groups, rows)
    return labels


def draw_two_groups(rng: np.random.Generator, rows: int, sizes: tuple[int, ...], paired: bool) -> Labels:
    """Draw the labels of two groups; the first has the smallest of random keys, redrawn where the next one is equal."""
    n_curves, n_first = sum(sizes), sizes[0]
    if paired:
        # a coin for each run: whether its curves change places
        second = rng.integers(0, 2, (rows, n_first), np.uint8).view(np.int8)
        return np.concatenate([1 - second, second], axis=1)

    labels = np.empty((rows, n_curves), np.int8)
    todo = np.arange(rows)
    while todo.size:
        drawn_again = []
        # A third of the time of a whole block, whose memory the system takes back after each.
        for part in stretches(len(todo), rows_that_fit(16 * n_curves, CACHE)):
            numbers = todo[part]
            keys = rng.integers(0, 2**32, (len(numbers), n_curves), np.uint32)
            # To know which keys are the smallest there is no need to sort them.
            ordered = np.partition(keys, n_first - 1, axis=-1)
            last_of_first = ordered[:, n_first - 1]
            labels[numbers] = keys > last_of_first[:, np.newaxis]
            is_tied = ordered[:, n_first:].min(axis=1) == last_of_first
            drawn_again.append(numbers[is_tied])
        todo = np.concatenate(drawn_again)
    return labels


def draw_within_runs(rng: np.random.Generator, rows: int, sizes: tuple[int, ...]) -> Labels:
    """Draw, for every run, a uniform permutation of the groups."""
    n_groups, n_runs = len(sizes), sizes[0]
    groups = np.broadcast_to(np.arange(n_groups), (rows, n_runs, n_groups))
    return labels_of_runs(rng.permuted(groups, axis=-1))
