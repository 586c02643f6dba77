"""Sums of numbers over the groups of every reassignment of a plan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xcurves.kernels.assignments import first_members
from xcurves.kernels.many_curves import sparse_members, sums_over_groups
from xcurves.kernels.moments import Floats
from xcurves.kernels.reassign import by_splits, popcounts, subset_sums
from xcurves.kernels.shuffles import Plan

_AT_ONCE = 2**17  # sums, or entries of a matrix of members, held at once


def group_sums(features: Floats, plan: Plan) -> Iterator[Floats]:
    """Yield sums of features, shape (feature, curve), over groups: arrays of shape (feature, group, reassignment).

    With two groups only the first is summed.
    Exact plans of two groups are enumerated from tables of subset sums: the order of reassignments is then that of
    the tables, not of the plan's blocks.
    """
    if by_splits(plan):
        yield from (sums[:, np.newaxis] for sums in _splits(features, plan))
        return
    by_curve = np.ascontiguousarray(features.T)
    if plan.large:
        for number in range(plan.n_blocks):
            yield sums_over_groups(plan, number, by_curve).transpose(2, 1, 0)
        return
    two = len(plan.sizes) == 2
    rows = max(1, _AT_ONCE // (2 * sum(plan.sizes) if two else len(features)))
    for block in plan.blocks():
        for order in (block[start : start + rows] for start in range(0, len(block), rows)):
            if two:  # one product for each feature, so that its rounding does not depend on the other features
                yield np.matmul(features[:, np.newaxis], first_members(order, plan.sizes[0]).T)
            else:
                sums = sparse_members(order, plan.sizes) @ by_curve
                yield sums.reshape(len(order), len(plan.sizes), -1).transpose(2, 1, 0)


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
