"""Random assignments of curves to groups, all of them alike likely: one function for each design."""

from __future__ import annotations

import numpy as np

from xcurves.array_types import Index
from xcurves.kernels.resampling.assignments import (
    Labels,
    label_type,
    labels_of_runs,
)
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches


def draw_partitions(
    rng: np.random.Generator, rows: int, sizes: tuple[int, ...]
) -> Labels:
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
        drawn = rng.integers(
            0, np.iinfo(dtype).max, (todo.size, n_curves), dtype, endpoint=True
        )
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


def _key_type(
    n_low_bits: int, n_curves: int, n_boundaries: int
) -> type[np.uint32] | type[np.uint64]:
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


def draw_two_groups(
    rng: np.random.Generator, rows: int, sizes: tuple[int, ...], paired: bool
) -> Labels:
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


def draw_within_runs(
    rng: np.random.Generator, rows: int, sizes: tuple[int, ...]
) -> Labels:
    """Draw, for every run, a uniform permutation of the groups."""
    n_groups, n_runs = len(sizes), sizes[0]
    groups = np.broadcast_to(np.arange(n_groups), (rows, n_runs, n_groups))
    return labels_of_runs(rng.permuted(groups, axis=-1))
