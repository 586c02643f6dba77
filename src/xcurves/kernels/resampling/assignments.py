"""Every distinct assignment of curves to groups: how many there are, and their labels in lexicographic order.

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

Labels = NDArray[np.signedinteger]  # int8, or int16 of more than 127 groups


def label_type(n_labels: int) -> type[np.signedinteger]:
    """Return the type of so many labels."""
    if n_labels <= 127:
        return np.int8
    return np.int16


def bits_of(index: Index, n: int) -> Labels:
    """Return the lowest bits of numbers, shape (*index, n)."""
    return (index[..., np.newaxis] >> np.arange(n) & 1).astype(np.int8)


def count_assignments(
    sizes: tuple[int, ...], *, paired: bool = False, labelled: bool = False
) -> int:
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


def assignments(
    sizes: tuple[int, ...], labelled: bool, wanted: slice | None = None
) -> Labels:
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


def _may_take_a_curve(
    sizes: tuple[int, ...], counts: Index, labelled: bool
) -> NDArray[np.bool_]:
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
            untouched = [
                size for size, left in zip(sizes, free, strict=True) if size == left
            ]
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
