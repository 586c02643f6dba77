"""Fast ways to sum features, shape (task, feature, curve), and their squares over groups; `engine` chooses among them.

Of two groups only the first is summed: features that add up to 0 have minus that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats, is_factor
from xcurves.kernels.plans import Index, Labels, RunPlan, stretches

Sums = Callable[[Labels], Floats]
Squares = Callable[[Labels, Floats], None]  # written into the second


def squares_of_contrasts(features: Floats, sizes: tuple[int, ...], width: int) -> Squares:
    """Sum squares of centred features, ``Σ_g s_g² / l_g``, by orthonormal contrasts of groups, `width` at once."""
    complete, _ = np.linalg.qr(np.column_stack([np.sqrt(sizes), np.eye(len(sizes))[:, 1:]]))
    contrasts = complete[:, 1:].T / np.sqrt(sizes)
    two = len(sizes) == 2
    if two:  # the contrast is that of the first group's sum, as the second's is minus that
        features = np.ptp(contrasts) * features

    def square(labels: Labels, out: Floats) -> None:
        weights = [(labels == 0).astype(np.float64)] if two else [contrast.take(labels) for contrast in contrasts]
        for some in stretches(features.shape[1], width):
            for number, each in enumerate(weights):
                sums = np.matmul(features[:, some], each.T)
                if number == 0:
                    np.multiply(sums, sums, out=out[:, some])
                else:
                    sums *= sums
                    out[:, some] += sums

    return square


def squares_in_order(features: Floats, sizes: tuple[int, ...], width: int) -> Squares:
    """Do the same by sparse products: a curve is added to one group only."""
    n_curves, starts = features.shape[2], np.cumsum((0, *sizes[:-1]))
    parts = [
        (some, np.ascontiguousarray(features[:, some].transpose(2, 0, 1)).reshape(n_curves, -1))
        for some in stretches(features.shape[1], width)
    ]

    def square(labels: Labels, out: Floats) -> None:
        weights = np.tile(np.repeat(1 / np.sqrt(sizes), sizes), len(labels))
        groups = _sparse(weights, orders_of(labels), starts, n_curves)
        for some, by_curve in parts:
            sums = (groups @ by_curve).reshape(len(labels), len(sizes), len(features), -1)
            out[:, some] = np.einsum("sgtf,sgtf->tfs", sums, sums)

    return square


def squares_of_pairs(alone: Floats, comoment: Floats, sizes: tuple[int, ...]) -> Sums:
    """Sum co-moments over pairs of curves that share a group, over its size; first the products of `alone`."""
    n_tasks, n_curves = alone.shape
    starts = np.cumsum((0, *sizes[:-1]))
    corners = [np.triu_indices(size) for size in sizes]
    first, second = (
        np.concatenate([pair[end] + start for pair, start in zip(corners, starts, strict=True)]).astype(np.int32)
        for end in (0, 1)
    )
    weight = np.concatenate([np.where(a == b, 1.0, 2.0) / size for (a, b), size in zip(corners, sizes, strict=True)])
    comoment = comoment @ comoment.swapaxes(-1, -2) if is_factor(comoment) else comoment
    products = np.ascontiguousarray(comoment.reshape(n_tasks, -1).T)
    means = np.ascontiguousarray(alone.T)

    def square(labels: Labels) -> Floats:
        curve = orders_of(labels).astype(np.int32)
        groups = _sparse(np.ones(curve.size), curve, starts, n_curves)
        sums = (groups @ means).reshape(len(curve), len(starts), n_tasks)
        pair = np.take(curve, first, axis=1)
        pair *= np.int32(n_curves)
        pair += np.take(curve, second, axis=1)
        pairs = _sparse(np.tile(weight, len(pair)), pair, np.zeros(1, np.intp), n_curves**2)
        return np.stack([(sums**2 / np.array(sizes)[:, np.newaxis]).sum(axis=1).T, (pairs @ products).T])

    return square


def subset_tables(
    features: Floats, plan: RunPlan, progress: Callable[[range], Any] = lambda numbers: numbers
) -> Iterator[tuple[Floats, Floats]]:
    """Yield sums over subsets of the first and of the last half of the curves that make up first groups together."""
    n_curves, n_first = features.shape[-1], plan.sizes[0]
    half = n_curves // 2
    left, right = subset_sums(features[..., :half]), subset_sums(features[..., half:])
    n_left, n_right = (np.bitwise_count(np.arange(2**n)) for n in (half, n_curves - half))
    alike = not plan.labelled and plan.sizes[0] == plan.sizes[1]  # then the first curve stays in the first group
    allowed = np.arange(len(n_left)) % 2 == 1 if alike else np.ones(len(n_left), bool)
    for n_chosen in progress(range(max(0, n_first - int(n_right.max())), min(half, n_first) + 1)):
        yield left[..., (n_left == n_chosen) & allowed], right[..., n_right == n_first - n_chosen]


def parts_of_tables(left: Floats, right: Floats, most: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield parts of two tables with at most so many pairs of a left and a right subset."""
    columns = min(right.shape[-1], most)
    for some in stretches(left.shape[-1], max(1, most // columns)):
        for others in stretches(right.shape[-1], columns):
            yield left[..., some], right[..., others]


def squares_of_tables(left: Floats, right: Floats) -> Floats:
    """Return ``|a + b|² = |a|² + 2 ab + |b|²`` of all pairs: of the first feature, then of the others together."""
    first = left[:, 0, :, np.newaxis] + right[:, 0, np.newaxis]
    first *= first
    a, b = left[:, 1:], right[:, 1:]
    rest = np.matmul(2 * a.swapaxes(1, 2), b)
    rest += np.einsum("tfs,tfs->ts", a, a)[..., np.newaxis]
    rest += np.einsum("tfs,tfs->ts", b, b)[:, np.newaxis]
    return np.stack([first, rest]).reshape(2, len(left), -1)


def orders_of(labels: Labels) -> Index:
    """Return the curves of every reassignment group after group, in each by number, shape as `labels`."""
    return np.asarray(labels.argsort(axis=-1, kind="stable"))


def _sparse(data: Floats, columns: NDArray[Any], starts: NDArray[Any], width: int) -> scipy.sparse.csr_matrix:
    """Return a sparse matrix with several rows for each row of `columns`, which begin at `starts` in it."""
    n_rows, length = columns.shape
    pointers = np.append(np.add.outer(length * np.arange(n_rows), starts), columns.size).astype(columns.dtype)
    return scipy.sparse.csr_matrix((data, columns.ravel(), pointers), (n_rows * len(starts), width), copy=False)


def subset_sums(features: Floats) -> Floats:
    """Sum features over every subset of the curves, shape (..., subset); bit j of its number is curve j."""
    sums = np.zeros((*features.shape[:-1], 2 ** features.shape[-1]))
    for curve, half in enumerate(2 ** np.arange(features.shape[-1])):
        np.add(sums[..., :half], features[..., curve, np.newaxis], out=sums[..., half : 2 * half])
    return sums
