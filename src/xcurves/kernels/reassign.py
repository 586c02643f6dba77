"""SS_algorithm and SS_interaction under every reassignment of a plan, many at a time.

There are four ways to compute the same sums. The choice depends only on the design and the plan, never on the number
of tasks, so that the numbers of a task do not depend on other tasks:

* a 0/1 matrix of group members, sparse for three groups or more, times the features of the curves (few levels or few
  groups);
* a sparse matrix of pairs of curves that share a group times their co-moments (many levels, many tasks);
* for more than a thousand curves: the sums over the groups of a block, with few levels by a factor of the co-moments;
* for all splits into two groups: the sums over all subsets of each half of the curves, combined by matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.assignments import first_members
from xcurves.kernels.many_curves import sparse_members, sums_over_groups
from xcurves.kernels.moments import Floats, is_factor
from xcurves.kernels.shuffles import Order, Plan
from xcurves.kernels.sums import AnovaDesign

Progress = Callable[[Iterable[int]], Iterable[int]]

_PAIR_COST = 8  # of one entry of the sparse product, in multiply-adds of the dense one
_MAX_HALF = 16  # curves of which all subsets are tabulated
_AT_ONCE = 2**17  # splits combined at once
_PAIRS_AT_ONCE = 2**19
_PANEL = 2**23  # doubles of intermediate sums held at once


def shuffled_sums(design: AnovaDesign, plan: Plan, batch: int | None, progress: Progress) -> Iterator[Floats]:
    """Yield the sums of squares of all reassignments, in arrays of shape (effect, task, shuffle).

    `batch` bounds the shuffles in one array; `progress` wraps the numbers of the plan's blocks.
    """
    if by_splits(plan):
        yield from _all_splits(design, min(batch or _AT_ONCE, _AT_ONCE), progress)
        return
    if plan.large:
        yield from _large(design, plan, batch, progress)
        return
    n_curves, n_pairs = sum(plan.sizes), sum(size * (size + 1) // 2 for size in plan.sizes)
    by_pairs = _PAIR_COST * n_pairs < n_curves * (len(plan.sizes) - 1) * (1 + _rank(design))
    evaluate = _by_pairs(design) if by_pairs else _by_members(design)
    rows = max(1, _PAIRS_AT_ONCE // n_pairs) if by_pairs else len(plan.sizes) * _PAIRS_AT_ONCE
    rows = min(rows, batch or rows)
    for number in progress(range(plan.n_blocks)):
        order = plan.block(number)
        for start in range(0, len(order), rows):
            yield evaluate(order[start : start + rows])


def panel_width(design: AnovaDesign, plan: Plan) -> int:
    """Return how many tasks may be evaluated together for their intermediate sums to stay small."""
    if by_splits(plan):
        return _PANEL // (16 * min(_AT_ONCE, plan.n_assignments))
    return _PANEL // (plan.rows * sum(design.sizes) * len(design.sizes))


def by_splits(plan: Plan) -> bool:
    """Return whether to tabulate subsets: two groups, few enough curves, and work enough for the tables."""
    half = -(-sum(plan.sizes) // 2)
    two_groups = plan.exact and not plan.paired and len(plan.sizes) == 2
    return two_groups and half <= _MAX_HALF and 2**half <= 1024 + 4 * plan.n_assignments


def _rank(design: AnovaDesign) -> int:
    return min(sum(design.sizes), design.n_levels) - 1


def _features(design: AnovaDesign) -> Floats:
    """Return features whose squared group sums add up to the effects: first algorithm's, then interaction's.

    Shape (task, curve, 1 + rank). The others are a factor of the co-moments, so that SS_interaction is a sum of
    squares and nothing cancels.
    """
    algorithm = np.sqrt(design.n_levels) * design.means[..., np.newaxis]
    if is_factor(design.comoment):
        return np.concatenate([algorithm, design.comoment], axis=-1)
    rank = _rank(design)
    values, vectors = np.linalg.eigh(design.comoment)  # in ascending order
    scale = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis, values.shape[-1] - rank :]
    return np.concatenate([algorithm, vectors[..., vectors.shape[-1] - rank :] * scale], axis=-1)


def _by_members(design: AnovaDesign) -> Callable[[Order], Floats]:
    """Sum features over the members of each group; of two groups, the second's sum is minus the first's."""
    features, sizes = _features(design), np.array(design.sizes)
    if len(sizes) == 2:
        features *= np.sqrt((1 / sizes).sum())
        first = np.ones(1, np.int64)
        return lambda order: _squares((first_members(order, design.sizes[0]) @ features)[:, np.newaxis], first)
    by_curve = _beside(features)
    shape = (len(sizes), len(features), -1)

    def evaluate(order: Order) -> Floats:
        sums = (sparse_members(order, design.sizes) @ by_curve).reshape(len(order), *shape)
        return _squares(sums.transpose(2, 1, 0, 3), sizes)

    return evaluate


def _large(design: AnovaDesign, plan: Plan, batch: int | None, progress: Progress) -> Iterator[Floats]:
    """Sum features over the groups of many curves; of two groups, the second's sum is minus the first's."""
    features = _features(design)
    by_curve = _beside(features)
    sizes = np.array(design.sizes)
    rows = batch or plan.rows
    for number in progress(range(plan.n_blocks)):
        sums = sums_over_groups(plan, number, by_curve)
        sums = sums.reshape(*sums.shape[:2], len(features), -1).transpose(2, 1, 0, 3)
        found = _squares(sums, sizes) if len(sizes) > 2 else (1 / sizes).sum() * _squares(sums, np.ones(1, np.int64))
        yield from (found[..., start : start + rows] for start in range(0, found.shape[-1], rows))


def _beside(features: Floats) -> Floats:
    """Put the features of all tasks beside each other, shape (curve, task and feature)."""
    return np.ascontiguousarray(features.transpose(1, 0, 2)).reshape(features.shape[1], -1)


def _squares(sums: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Turn sums of features, shape (task, group, shuffle, feature), into sums of squares of the effects."""
    algorithm = sums[..., 0] ** 2
    interaction = np.einsum("tgsf,tgsf->tgs", sums[..., 1:], sums[..., 1:])
    return np.stack([(part / sizes[:, np.newaxis]).sum(axis=1) for part in (algorithm, interaction)])


def _by_pairs(design: AnovaDesign) -> Callable[[Order], Floats]:
    """Sum co-moments over the pairs of curves that share a group, each curve with itself included."""
    n_tasks, n_curves = design.means.shape
    sizes = np.array(design.sizes)
    starts = np.cumsum((0, *sizes[:-1]))
    corners = [np.triu_indices(size) for size in sizes]
    first = np.concatenate([pair[0] + start for pair, start in zip(corners, starts, strict=True)]).astype(np.int32)
    second = np.concatenate([pair[1] + start for pair, start in zip(corners, starts, strict=True)]).astype(np.int32)
    weight = np.concatenate([np.where(a == b, 1.0, 2.0) / size for (a, b), size in zip(corners, sizes, strict=True)])
    means = np.sqrt(design.n_levels) * np.ascontiguousarray(design.means.T)
    comoment = design.comoment
    comoment = comoment @ comoment.swapaxes(-1, -2) if is_factor(comoment) else comoment
    products = np.ascontiguousarray(comoment.reshape(n_tasks, -1).T)

    ones, weights = _Repeated(np.ones(n_curves)), _Repeated(weight)

    def evaluate(order: Order) -> Floats:
        curve = order.astype(np.int32)
        rows = len(curve)
        groups = _sparse(ones(rows), curve, np.add.outer(n_curves * np.arange(rows), starts), n_curves)
        algorithm = ((groups @ means).reshape(rows, len(sizes), n_tasks) ** 2 / sizes[:, np.newaxis]).sum(axis=1)
        pair = np.take(curve, first, axis=1)
        pair *= np.int32(n_curves)
        pair += np.take(curve, second, axis=1)
        pairs = _sparse(weights(rows), pair, len(weight) * np.arange(rows), n_curves**2)
        return np.stack([algorithm.T, (pairs @ products).T])

    return evaluate


class _Repeated:
    """A row repeated as often as asked, kept from one block to the next."""

    def __init__(self, row: Floats) -> None:
        self.row = row
        self.kept = row

    def __call__(self, rows: int) -> Floats:
        """Return the row, repeated `rows` times."""
        if len(self.kept) < rows * len(self.row):
            self.kept = np.tile(self.row, rows)
        return self.kept[: rows * len(self.row)]


def _sparse(
    data: Floats, columns: NDArray[np.int32], row_starts: NDArray[np.int64], width: int
) -> scipy.sparse.csr_matrix:
    """Make a CSR matrix whose rows start at `row_starts` in `data` and `columns`."""
    pointers = np.append(row_starts.ravel(), len(data)).astype(np.int32)
    return scipy.sparse.csr_matrix((data, columns.ravel(), pointers), shape=(row_starts.size, width), copy=False)


def _all_splits(design: AnovaDesign, at_once: int, progress: Progress) -> Iterator[Floats]:
    """Evaluate every distinct split of the curves into two groups, for equal groups only one of each pair."""
    # The other group's sum is minus the first's.
    features = np.sqrt(sum(1 / size for size in design.sizes)) * _features(design)
    n_curves, n_first = features.shape[1], design.sizes[0]
    half = n_curves // 2
    left, right = subset_sums(features[:, :half]), subset_sums(features[:, half:])
    n_left, n_right = popcounts(half), popcounts(n_curves - half)
    # With equal groups the first curve is in the first group.
    allowed = np.arange(len(n_left)) % 2 == 1 if len(set(design.sizes)) == 1 else np.ones(len(n_left), bool)
    for n_chosen in progress(range(max(0, n_first - int(n_right.max())), min(half, n_first) + 1)):
        some = left[:, (n_left == n_chosen) & allowed]
        others = right[:, n_right == n_first - n_chosen]
        columns = min(others.shape[1], at_once)
        rows = max(1, at_once // columns)
        for row in range(0, some.shape[1], rows):
            for column in range(0, others.shape[1], columns):
                yield _combine(some[:, row : row + rows], others[:, column : column + columns])


def subset_sums(features: Floats) -> Floats:
    """Sum the features over every subset of the curves, shape (task, 2**curve, feature); bit j is curve j."""
    sums = np.zeros((len(features), 1, features.shape[-1]))
    for curve in range(features.shape[1]):
        sums = np.concatenate([sums, sums + features[:, curve, np.newaxis]], axis=1)
    return sums


def popcounts(n_bits: int) -> NDArray[np.int64]:
    """Return the number of bits set in every mask of `n_bits`, in the order of `subset_sums`."""
    counts = np.zeros(1, np.int64)
    for _ in range(n_bits):
        counts = np.concatenate([counts, counts + 1])
    return counts


def _combine(left: Floats, right: Floats) -> Floats:
    """Return the squared sums of all pairs of a left and a right subset, shape (effect, task, pair)."""
    found = np.empty((2, *left.shape[:2], right.shape[1]))
    algorithm, interaction = found
    np.add(left[:, :, np.newaxis, 0], right[:, np.newaxis, :, 0], out=algorithm)
    algorithm *= algorithm
    a, b = left[..., 1:], right[..., 1:]
    np.matmul(2 * a, b.swapaxes(-1, -2), out=interaction)
    interaction += np.einsum("tsf,tsf->ts", a, a)[:, :, np.newaxis]
    interaction += np.einsum("tsf,tsf->ts", b, b)[:, np.newaxis]
    return found.reshape(2, len(left), -1)
