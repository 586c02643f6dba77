"""Sums of numbers over the groups of every reassignment of a plan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xcurves.kernels.assignments import members
from xcurves.kernels.many_curves import sums_over_groups
from xcurves.kernels.moments import Floats
from xcurves.kernels.reassign import by_splits, popcounts, subset_sums
from xcurves.kernels.shuffles import Order, Plan

_AT_ONCE = 2**17  # sums, or entries of a matrix of members, held at once


def group_sums(features: Floats, plan: Plan) -> Iterator[Floats]:
    """Yield sums of features, shape (feature, curve), over groups: arrays of shape (feature, group, reassignment).

    With two groups only the first is summed. With more, the sum of the last is the total less the sums of the others.
    Exact plans of two groups are enumerated from tables of subset sums: the order of reassignments is then that of
    the tables, not of the plan's blocks.
    """
    total = features.sum(axis=-1)[:, np.newaxis]
    if by_splits(plan):
        yield from (sums[:, np.newaxis] for sums in _splits(features, plan))
        return
    if plan.large:
        for number in range(plan.n_blocks):
            yield sums_over_groups(plan, number, np.ascontiguousarray(features.T)).transpose(2, 1, 0)
        return
    rows = max(1, _AT_ONCE // (sum(plan.sizes) * len(plan.sizes)))
    for order in plan.blocks():
        for start in range(0, len(order), rows):
            yield _sums_of_orders(features, total, order[start : start + rows], plan.sizes)


def _sums_of_orders(features: Floats, total: Floats, order: Order, sizes: tuple[int, ...]) -> Floats:
    """Sum over all groups but the last by products with a 0/1 matrix of members.

    There is one product for each feature, so that its rounding does not depend on the other features.
    """
    sums = np.matmul(features[:, np.newaxis], members(order, sizes).reshape(-1, order.shape[1]).T).reshape(
        len(features), -1, len(order)
    )
    if len(sizes) == 2:
        return np.asarray(sums)
    return np.concatenate([sums, (total - sums.sum(axis=1))[:, np.newaxis]], axis=1)


def _splits(features: Floats, plan: Plan) -> Iterator[Floats]:
    """Sum over the first of two groups, in every split of a plan, shape (feature, split)."""
    n_curves, n_first = features.shape[1], plan.sizes[0]
    half = n_curves // 2
    tables = (subset_sums(part[..., np.newaxis])[..., 0] for part in (features[:, :half], features[:, half:]))
    left, right = tables
    n_left, n_right = popcounts(half), popcounts(n_curves - half)
    alike = not plan.labelled and plan.sizes[0] == plan.sizes[1]  # then the first curve stays in the first group
    allowed = np.arange(len(n_left)) % 2 == 1 if alike else np.ones(len(n_left), bool)
    for n_chosen in range(max(0, n_first - int(n_right.max())), min(half, n_first) + 1):
        some = left[:, (n_left == n_chosen) & allowed]
        others = right[:, n_right == n_first - n_chosen]
        rows = max(1, _AT_ONCE // (others.shape[1] * len(features)))
        for row in range(0, some.shape[1], rows):
            yield (some[:, row : row + rows, np.newaxis] + others[:, np.newaxis]).reshape(len(features), -1)
