"""Sums of features, shape (task, feature, curve), and their squares over groups; `engine` chooses among the ways.

Of two groups only the first is summed: features that add up to 0 have minus that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.assignments import Labels
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches

# At least in a product: with fewer it takes several times as long for each.
_FEATURES = 64


def squares_over_groups(features: Floats, labels: Labels, sizes: tuple[int, ...], out: Floats | None = None) -> Floats:
    """Return ``Σ_g s_g² / l_g`` of centred features, shape (task, feature, reassignment), in parts that fit a cache."""
    if out is None:
        out = np.empty((*features.shape[:2], len(labels)))
    if len(sizes) == 2:
        write_squares = _by_difference(labels, sizes)
    else:
        write_squares = _in_order(labels, sizes)
    # The sums of a part are still in the cache when they are squared.
    bytes_of_sums = 8 * len(labels) * len(features) * len(sizes)
    width = max(_FEATURES, rows_that_fit(bytes_of_sums, CACHE))
    for some in stretches(features.shape[1], width):
        write_squares(features[:, some], out[:, some])
    return out


def _by_difference(labels: Labels, sizes: tuple[int, ...]) -> Callable[[Floats, Floats], None]:
    """Return what writes the squares of two groups, by dense products with the members of the second."""
    # s_1 = -s_2, so that s_1² / l_1 + s_2² / l_2 = (1 / l_1 + 1 / l_2) s_2². Sparse products take 3.5 times as long.
    second = labels.astype(np.float64).T
    scale = sum(1 / size for size in sizes)

    def square(features: Floats, out: Floats) -> None:
        np.square(features @ second, out=out)
        out *= scale

    return square


def _in_order(labels: Labels, sizes: tuple[int, ...]) -> Callable[[Floats, Floats], None]:
    """Return what writes them by sparse products: a curve is added to one group only."""
    add = sums_of_groups(orders_of(labels), sizes, 1 / np.sqrt(sizes))

    def square(features: Floats, out: Floats) -> None:
        squares = np.square(add(features))
        # group after group, so that rounding does not depend on the number of tasks
        total = squares[:, 0]
        for of_group in range(1, len(sizes)):
            total += squares[:, of_group]
        out[...] = total.transpose(1, 2, 0)

    return square


def sums_of_groups(order: NDArray[Any], sizes: tuple[int, ...], weights: Floats) -> Callable[[Floats], Floats]:
    """Return what sums features by the weights of groups, (reassignment, group, task, feature), in sparse products."""
    n_curves = sum(sizes)
    # A row of the matrix for each group of each reassignment: the curves of a group stand beside each other in the
    # order, so that the order itself is the list of columns.
    starts = np.cumsum((0, *sizes[:-1]))
    entries = np.tile(np.repeat(weights, sizes), len(order))
    groups = _sparse(entries, order, starts, n_curves)

    def add(features: Floats) -> Floats:
        # Rows of a curve in one piece: a sparse product adds whole rows.
        by_curve = np.ascontiguousarray(features.transpose(2, 0, 1))
        sums = np.asarray(groups @ by_curve.reshape(n_curves, -1))
        return sums.reshape(len(order), len(sizes), *features.shape[:2])

    return add


def squares_of_pairs(alone: Floats, comoment: Floats, labels: Labels, sizes: tuple[int, ...]) -> Floats:
    """Return ``Σ_g s_g² / l_g``, (2, task, reassignment): of `alone`, (task, 1, curve), and by pairs of co-moments."""
    order = orders_of(labels).astype(np.int32)
    sums = sums_of_groups(order, sizes, 1 / np.sqrt(sizes))(alone)
    of_alone = (sums[..., 0] ** 2).sum(axis=1).T

    # Σ_g Σ_{j,j'∈g} C_jj' / l_g is linear in the co-moments: with these as rows, task beside task, one sparse product
    # serves all tasks. Numbers of pairs are those of the flattened matrix, j N + j'.
    first, second, weight = _pairs_of(sizes)
    pairs = order.take(first, axis=1)
    pairs *= np.int32(order.shape[1])
    pairs += order.take(second, axis=1)
    by_pair = np.ascontiguousarray(comoment.reshape(len(comoment), -1).T)
    entries = np.tile(weight, len(pairs))
    all_pairs = _sparse(entries, pairs, np.zeros(1, np.intp), len(by_pair))
    return np.stack([of_alone, (all_pairs @ by_pair).T])


@lru_cache(maxsize=8)
def _pairs_of(sizes: tuple[int, ...]) -> tuple[Index, Index, Floats]:
    """Return the pairs of places in groups one after the other, each once, and the weights of their products."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    first, second = np.nonzero(np.triu(group[:, np.newaxis] == group))
    # co-moments are symmetric: a pair of two curves stands for (j, j') and (j', j)
    multiple = np.where(first == second, 1.0, 2.0)
    return first, second, multiple / np.array(sizes)[group[first]]


def _sparse(data: Floats, columns: NDArray[Any], starts: NDArray[Any], width: int) -> scipy.sparse.csr_matrix:
    """Return a sparse matrix with several rows for each row of `columns`, which begin at `starts` in it."""
    n_rows, length = columns.shape
    begins = np.add.outer(length * np.arange(n_rows), starts)
    # Of one type with the columns, so that SciPy has nothing to convert, which would copy.
    pointers = np.append(begins, columns.size).astype(columns.dtype)
    return scipy.sparse.csr_matrix((data, columns.ravel(), pointers), (n_rows * len(starts), width), copy=False)


def orders_of(labels: Labels) -> Index:
    """Return the curves of every reassignment group after group, in each by number, shape as `labels`."""
    # stable: the curves of a group are added in one order, so that a sum is always rounded alike
    return np.asarray(labels.argsort(axis=-1, kind="stable"))
