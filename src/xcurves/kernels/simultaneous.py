"""Intervals of all pairwise differences at all levels at once, from the largest studentized difference of residuals.

If groups differ, their curves are not exchangeable, but the residuals from the group means are, if groups differ in
their means only. The critical value is that of the largest ``|T|`` over pairs and levels when the
residual curves are reassigned; ``T`` is Welch's, or if paired that of the differences within runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.assignments import Assignments, Groups
from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import Plan


def largest_differences(curves: Floats, assignments: Assignments, margin: float) -> tuple[Floats, Floats]:
    """Compare the groups of complete curves, shape (task, curve, level).

    Returns the largest T² of every reassignment, shape (task, shuffle), and by how many standard errors all differences
    may grow before one is beyond the margin, shape (task, level). For two stretches of levels together, take the
    larger T².
    """
    plan = assignments.plan
    n_tasks, _, n_levels = curves.shape
    apart = curves - curves[:, :1]
    means = np.stack([apart[:, assignments.observed == group].mean(axis=1) for group in range(len(plan.sizes))], axis=1)
    residuals = np.moveaxis(apart - means[:, assignments.observed], 1, 2)
    compare = _within_runs if plan.paired else _between_groups
    largest = np.zeros((n_tasks, plan.n_resamples))
    for level in range(0, n_levels, assignments.width):
        part = residuals[:, level : level + assignments.width]
        for shuffles, groups in assignments.batches():
            for difference, variance in compare(part, groups, plan.sizes):
                np.maximum(largest[:, shuffles], _square(difference, variance).max(axis=1), out=largest[:, shuffles])
    # Runs with equal scores give no estimate of their spread.
    spread = [residuals[..., assignments.observed == group].any(axis=-1) for group in range(len(plan.sizes))]
    room = np.full((n_tasks, n_levels), np.inf)
    own = compare(residuals, assignments.observed[np.newaxis], plan.sizes)
    for (a, b), (_, variance) in zip(combinations(range(len(plan.sizes)), 2), own, strict=True):
        known = spread[a] & spread[b] & (variance[..., 0] > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            allowed = (margin - np.abs(means[:, a] - means[:, b])) / np.sqrt(variance[..., 0])
        np.minimum(room, np.where(known, allowed, -np.inf), out=room)
    return largest, room


def are_equivalent(largest: Floats, room: Floats, plan: Plan, alpha: float) -> NDArray[np.bool_]:
    """Return whether the intervals of all differences lie within the margin, shape (task, level)."""
    n_rare = int(np.floor(alpha * plan.n_total + 1e-9))
    if n_rare == 0:
        return np.zeros(room.shape, bool)  # no assignment is rare enough
    return np.sqrt(np.partition(largest, -n_rare)[:, -n_rare])[:, np.newaxis] <= room


def _square(difference: Floats, variance: Floats) -> Floats:
    """Return T², zero where there is no difference."""
    squared = np.zeros(difference.shape)
    with np.errstate(divide="ignore"):
        return np.divide(difference**2, variance, out=squared, where=difference != 0)


def _between_groups(residuals: Floats, groups: Groups, sizes: tuple[int, ...]) -> Iterator[tuple[Floats, Floats]]:
    """Yield the difference of the means of every pair of groups, and its variance.

    `residuals` has the shape (task, level, curve), `groups` (shuffle, curve), both results (task, level, shuffle).
    """
    members = [(groups == group).T.astype(float) for group in range(len(sizes))]
    sums = [residuals @ member for member in members]
    squares = [residuals**2 @ member for member in members]
    variances = [_variance(total, square, size) for total, square, size in zip(sums, squares, sizes, strict=True)]
    for a, b in combinations(range(len(sizes)), 2):
        yield sums[a] / sizes[a] - sums[b] / sizes[b], variances[a] + variances[b]


def _within_runs(residuals: Floats, groups: Groups, sizes: tuple[int, ...]) -> Iterator[tuple[Floats, Floats]]:
    """Yield the same for pairs of matched groups, from the differences within their runs."""
    order = groups.argsort(axis=1, kind="stable").reshape(len(groups), len(sizes), sizes[0])
    order = np.take_along_axis(order, (order % sizes[0]).argsort(axis=2), axis=2)  # by run in every group
    placed = residuals[..., order]  # (task, level, shuffle, group, run)
    for a, b in combinations(range(len(sizes)), 2):
        apart = placed[..., a, :] - placed[..., b, :]
        total = apart.sum(axis=-1)
        yield total / sizes[0], _variance(total, np.einsum("...r,...r->...", apart, apart), sizes[0])


def _variance(total: Floats, squares: Floats, size: int) -> Floats:
    """Return the variance of a mean of `size` values from their sum and sum of squares; infinite for one value."""
    if size == 1:
        return np.full_like(total, np.inf)
    return np.maximum(squares - total**2 / size, 0.0) / (size * (size - 1))
