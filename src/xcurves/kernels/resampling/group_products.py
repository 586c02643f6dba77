"""Sums of features, shape (task, feature, curve), and their squares over groups; `engine` chooses among the ways.

Of two groups only the first is summed: features that add up to 0 have minus that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.assignments import Labels
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches
from xcurves.kernels.resampling.plans import RunPlan

DENSE = 6  # groups up to which squares take dense products: by them a profile of 28 takes three times as long
# At least in a product: with fewer it takes several times as long for each.
_FEATURES = 64


def squares_over_groups(
    features: Floats, labels: Labels, sizes: tuple[int, ...], out: Floats | None = None
) -> Floats:
    """Return ``Σ_g s_g² / l_g`` of centred features, shape (task, feature, reassignment), in parts that fit a cache."""
    found = np.empty((*features.shape[:2], len(labels))) if out is None else out
    width = max(
        _FEATURES, rows_that_fit(8 * len(labels) * len(features) * len(sizes), CACHE)
    )
    square = (
        _by_contrasts(labels, sizes)
        if len(sizes) <= DENSE
        else _in_order(labels, sizes)
    )
    for some in stretches(features.shape[1], width):
        square(features[:, some], found[:, some])
    return found


@lru_cache(maxsize=64)
def _contrasts(sizes: tuple[int, ...]) -> Floats:
    """Return orthonormal contrasts of the groups, each divided by the root of its size, shape (contrast, group)."""
    complete, _ = np.linalg.qr(
        np.column_stack([np.sqrt(sizes), np.eye(len(sizes))[:, 1:]])
    )
    return np.asarray(complete[:, 1:].T / np.sqrt(sizes))


def _by_contrasts(
    labels: Labels, sizes: tuple[int, ...]
) -> Callable[[Floats, Floats], None]:
    """Return what writes the squares by orthonormal contrasts of the groups, one less than these."""
    if len(sizes) == 2:
        return partial(
            _by_difference, labels.astype(np.float64).T, sum(1 / size for size in sizes)
        )
    weights = [contrast.take(labels).T for contrast in _contrasts(sizes)]

    def square(features: Floats, out: Floats) -> None:
        np.square(features @ weights[0], out=out)
        for each in weights[1:]:
            sums = features @ each
            sums *= sums
            out += sums

    return square


def _by_difference(second: Floats, scale: float, features: Floats, out: Floats) -> None:
    """Write the squares of two groups, given which curves are in the second."""
    np.square(features @ second, out=out)
    out *= scale


def _in_order(
    labels: Labels, sizes: tuple[int, ...]
) -> Callable[[Floats, Floats], None]:
    """Return what writes them by sparse products: a curve is added to one group only."""
    add = sums_of_groups(orders_of(labels), sizes, 1 / np.sqrt(sizes))

    def square(features: Floats, out: Floats) -> None:
        sums = add(features)
        out[...] = np.einsum("sgtf,sgtf->tfs", sums, sums)

    return square


def sums_of_groups(
    order: NDArray[Any], sizes: tuple[int, ...], weights: Floats
) -> Callable[[Floats], Floats]:
    """Return what sums features by the weights of groups, (reassignment, group, task, feature), in sparse products."""
    starts = np.cumsum((0, *sizes[:-1]))
    groups = _sparse(
        np.tile(np.repeat(weights, sizes), len(order)), order, starts, sum(sizes)
    )

    def add(features: Floats) -> Floats:
        by_curve = np.ascontiguousarray(features.transpose(2, 0, 1)).reshape(
            sum(sizes), -1
        )
        return np.asarray(groups @ by_curve).reshape(
            len(order), len(sizes), *features.shape[:2]
        )

    return add


def squares_of_pairs(
    alone: Floats, comoment: Floats, labels: Labels, sizes: tuple[int, ...]
) -> Floats:
    """Return ``Σ_g s_g² / l_g``, (2, task, reassignment): of `alone`, (task, 1, curve), and by pairs of co-moments."""
    order, (first, second, weight) = (
        orders_of(labels).astype(np.int32),
        _pairs_of(sizes),
    )
    sums = sums_of_groups(order, sizes, 1 / np.sqrt(sizes))(alone)
    pairs = order.take(first, axis=1)
    pairs *= np.int32(order.shape[1])
    pairs += order.take(second, axis=1)
    by_pair = np.ascontiguousarray(comoment.reshape(len(comoment), -1).T)
    of_pairs = (
        _sparse(np.tile(weight, len(pairs)), pairs, np.zeros(1, np.intp), len(by_pair))
        @ by_pair
    )
    return np.stack([(sums[..., 0] ** 2).sum(axis=1).T, of_pairs.T])


@lru_cache(maxsize=8)
def _pairs_of(sizes: tuple[int, ...]) -> tuple[Index, Index, Floats]:
    """Return the pairs of places in groups one after the other, each once, and the weights of their products."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    first, second = np.nonzero(np.triu(group[:, np.newaxis] == group))
    return (
        first,
        second,
        np.where(first == second, 1.0, 2.0) / np.array(sizes)[group[first]],
    )


def _sparse(
    data: Floats, columns: NDArray[Any], starts: NDArray[Any], width: int
) -> scipy.sparse.csr_matrix:
    """Return a sparse matrix with several rows for each row of `columns`, which begin at `starts` in it."""
    n_rows, length = columns.shape
    pointers = np.append(
        np.add.outer(length * np.arange(n_rows), starts), columns.size
    ).astype(columns.dtype)
    return scipy.sparse.csr_matrix(
        (data, columns.ravel(), pointers), (n_rows * len(starts), width), copy=False
    )


def orders_of(labels: Labels) -> Index:
    """Return the curves of every reassignment group after group, in each by number, shape as `labels`."""
    return np.asarray(labels.argsort(axis=-1, kind="stable"))


def subset_sums(features: Floats) -> Floats:
    """Sum features over every subset of the curves, shape (..., subset); bit j of its number is curve j."""
    sums = np.zeros((*features.shape[:-1], 2 ** features.shape[-1]))
    for curve, half in enumerate(2 ** np.arange(features.shape[-1])):
        np.add(
            sums[..., :half],
            features[..., curve, np.newaxis],
            out=sums[..., half : 2 * half],
        )
    return sums


def subset_tables(
    features: Floats,
    plan: RunPlan,
    most: int,
    progress: Callable[[range], Any] = lambda numbers: numbers,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield sums over subsets of the first and of the last half of the curves that make up first groups together.

    At most so many pairs of a left and a right subset are in two tables.
    """
    n_curves, n_first = features.shape[-1], plan.sizes[0]
    half = n_curves // 2
    left, right = subset_sums(features[..., :half]), subset_sums(features[..., half:])
    n_left, n_right = (
        np.bitwise_count(np.arange(2**n)) for n in (half, n_curves - half)
    )
    # then the first curve stays in the first group
    alike = not plan.labelled and plan.sizes[0] == plan.sizes[1]
    allowed = np.arange(len(n_left)) % 2 == 1 if alike else np.ones(len(n_left), bool)
    for n_chosen in progress(
        range(max(0, n_first - int(n_right.max())), min(half, n_first) + 1)
    ):
        some, others = (
            left[..., (n_left == n_chosen) & allowed],
            right[..., n_right == n_first - n_chosen],
        )
        columns = min(others.shape[-1], most)
        for rows in stretches(some.shape[-1], most // columns):
            for part in stretches(others.shape[-1], columns):
                yield some[..., rows], others[..., part]


def squares_of_tables(left: Floats, right: Floats) -> Floats:
    """Return ``|a + b|² = |a|² + 2 ab + |b|²`` of all pairs: of the first feature, then of the others together."""
    first = left[:, 0, :, np.newaxis] + right[:, 0, np.newaxis]
    first *= first
    a, b = left[:, 1:], right[:, 1:]
    rest = np.matmul(2 * a.swapaxes(1, 2), b)
    rest += np.einsum("tfs,tfs->ts", a, a)[..., np.newaxis]
    rest += np.einsum("tfs,tfs->ts", b, b)[:, np.newaxis]
    return np.stack([first, rest]).reshape(2, len(left), -1)
