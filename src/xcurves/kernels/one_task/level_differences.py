"""Differences of all pairs of groups at all levels together, by the largest T² over pairs and levels.

T² is that of residuals, runs less the mean of their group: those are exchangeable whatever the differences are, so that
one critical value makes bands of all differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Bools, Floats
from xcurves.kernels.one_task.level_tests import centre_groups, f_of
from xcurves.kernels.resampling.assignments import Labels
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches
from xcurves.kernels.resampling.engine import group_sums, label_batches, n_rare
from xcurves.kernels.resampling.plans import TIE, Plan, RunPlan


class LevelDifferences(NamedTuple):
    """The differences of all pairs of groups at all levels."""

    largest: Floats  # (task, reassignment): the largest T² of the residuals, which are exchangeable
    difference: Floats  # (task, pair, level)
    variance: Floats  # of these; NaN where the runs of a group have equal scores


def level_differences(curves: Floats, plan: RunPlan) -> LevelDifferences:
    """Compare the groups of complete curves, shape (task, curve, level)."""
    from_first = curves - curves[:, :1]
    means = np.stack(
        [from_first[:, plan.observed == group].mean(axis=1) for group in range(len(plan.sizes))],
        axis=1,
    )
    residuals = from_first - means[:, plan.observed]

    # Of two groups of one size T² is F, which rises with R: of scaled numbers a reassignment takes one sum.
    if len(plan.sizes) == 2 and plan.sizes[0] == plan.sizes[1]:
        largest = _largest_of_two(residuals, plan)
    else:
        by_level = np.ascontiguousarray(np.moveaxis(residuals, 1, 2))
        largest = _largest_over_levels(by_level, plan, _largest_squares)

    pairs = combinations(range(len(plan.sizes)), 2)
    differences = [means[:, a] - means[:, b] for a, b in pairs]
    variances = _variances_of_pairs(residuals, plan)
    return LevelDifferences(largest, np.stack(differences, axis=1), variances)


def _largest_of_two(residuals: Floats, plan: RunPlan) -> Floats:
    """Return the largest T² over levels of two groups of one size, shape (task, reassignment)."""
    size = plan.sizes[0]
    centred = centre_groups(residuals, plan.sizes, paired=plan.paired)
    by_level = np.moveaxis(centred, 1, 2)
    # Numbers of two groups of l add up to 0, so that s_1² / l + s_2² / l = 2 s_1² / l: with their squares adding up to
    # 2 / l the square of the sum is R = SS / (SS + error).
    length = np.sqrt((by_level**2).sum(axis=-1, keepdims=True) * size / 2)
    nothing = np.zeros(by_level.shape)
    scaled = np.divide(by_level, length, out=nothing, where=length > 0)
    largest_share = _largest_over_levels(scaled, plan, _shares_of_two)

    df_error = size - 1 if plan.paired else 2 * (size - 1)
    without_error = largest_share > 1 - TIE
    return f_of(np.where(without_error, 1.0, largest_share), (1, df_error))


def _largest_over_levels(
    by_level: Floats,
    plan: RunPlan,
    statistics: Callable[[Floats, RunPlan], Iterator[Floats]],
) -> Floats:
    """Return the largest of statistics over levels, (task, reassignment), of numbers (task, level, curve)."""
    n_tasks, n_levels, n_curves = by_level.shape
    largest = np.zeros((n_tasks, plan.n_resamples))
    # An eighth of a cache for the numbers leaves room for their sums.
    width = min(n_levels, rows_that_fit(8 * n_tasks * n_curves, CACHE // 8))
    for levels in stretches(n_levels, width):
        start = 0
        for of_batch in statistics(by_level[:, levels], plan):
            stop = start + of_batch.shape[-1]
            so_far = largest[:, start:stop]
            np.maximum(so_far, of_batch.max(axis=1), out=so_far)
            start = stop
    return largest


def _variances_of_pairs(residuals: Floats, plan: RunPlan) -> Floats:
    """Return the variances of the differences of means, shape (task, pair, level)."""
    groups = np.split(residuals, np.cumsum(plan.sizes)[:-1], axis=1)
    variances = []
    for a, b in combinations(groups, 2):
        # Paired, the spread is that of the differences within runs.
        squares = [(a - b) ** 2] if plan.paired else [a**2, b**2]
        variance = np.zeros(())
        with np.errstate(divide="ignore", invalid="ignore"):
            for of_group in squares:
                n_runs = of_group.shape[1]
                variance = variance + of_group.sum(axis=1) / (n_runs * (n_runs - 1))
        # Runs with equal scores give no estimate of their spread.
        is_known = a.any(axis=1) & b.any(axis=1) & (variance > 0)
        variances.append(np.where(is_known, variance, np.nan))
    return np.stack(variances, axis=1)


def are_equivalent(differences: LevelDifferences, plan: Plan, alpha: float, margin: float) -> Bools:
    """Return whether the intervals of all differences lie within the margin, shape (task, level)."""
    # |difference| + critical √variance <= margin
    with np.errstate(divide="ignore", invalid="ignore"):
        room = (margin - np.abs(differences.difference)) / np.sqrt(differences.variance)
    # a pair of unknown variance has no interval: nothing is shown
    is_unknown = np.isnan(differences.variance)
    least_room = np.where(is_unknown, -np.inf, room).min(axis=1)
    is_inside = _critical_difference(differences, plan, alpha) <= least_room
    return np.asarray(is_inside & np.isfinite(least_room))


def bands(differences: LevelDifferences, plan: Plan, alpha: float) -> Floats:
    """Return bands of all differences at all levels together, shape (task, pair, level, 2); infinite with few runs."""
    critical = _critical_difference(differences, plan, alpha)[..., np.newaxis]
    half = critical * np.sqrt(differences.variance)
    middle = differences.difference
    return np.stack([middle - half, middle + half], axis=-1)


def _critical_difference(differences: LevelDifferences, plan: Plan, alpha: float) -> Floats:
    """Return the critical value of the largest |T| of each task, shape (task, 1), infinite if no assignment is rare."""
    rare = n_rare(plan, alpha)
    if rare == 0:
        return np.full((len(differences.largest), 1), np.inf)
    place = -min(rare, differences.largest.shape[1])
    return np.sqrt(np.partition(differences.largest, place)[:, [place]])


def _shares_of_two(scaled: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield R of two groups of one size l, (task, level, reassignment): numbers add up to 0, their squares to 2 / l."""
    for sums in group_sums(scaled.reshape(1, -1, scaled.shape[-1]), plan):
        yield np.square(sums, out=sums).reshape(*scaled.shape[:2], -1)


def _largest_squares(residuals: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield the largest T² of all pairs of groups, shape (task, level, reassignment); 0 without a difference."""
    n_pairs = len(plan.sizes) * (len(plan.sizes) - 1) // 2
    # the squares and variances of a pair, of which one after the other is used: as if all were held
    bytes_each = 16 * math.prod(residuals.shape[:2]) * n_pairs
    of_pairs = _pairs_within if plan.paired else _pairs_between
    for _, labels in label_batches(plan, rows_that_fit(bytes_each, CACHE)):
        largest = np.zeros((*residuals.shape[:2], len(labels)))
        for square, variance in of_pairs(residuals, labels, plan.sizes):
            # infinite where groups without variance differ
            with np.errstate(divide="ignore"):
                np.divide(square, variance, out=square, where=square > 0)
            np.maximum(largest, square, out=largest)
        yield largest


def _pairs_between(residuals: Floats, labels: Labels, sizes: tuple[int, ...]) -> Iterator[tuple[Floats, Floats]]:
    """Yield the squared difference of means and its variance, (task, level, reassignment), of every pair of groups."""
    # Sums and variances of a group once, for all its pairs.
    members = [(labels == group).T.astype(float) for group in range(len(sizes))]
    sums = [residuals @ member for member in members]
    squared = residuals**2
    squares = [squared @ member for member in members]
    variances = [_variance(*of_group) for of_group in zip(sums, squares, sizes, strict=True)]
    for a, b in combinations(range(len(sizes)), 2):
        difference = sums[a] / sizes[a] - sums[b] / sizes[b]
        yield difference**2, variances[a] + variances[b]


def _pairs_within(residuals: Floats, labels: Labels, sizes: tuple[int, ...]) -> Iterator[tuple[Floats, Floats]]:
    """Yield the same for pairs of matched groups, from the differences within their runs."""
    n_groups, n_runs = len(sizes), sizes[0]
    # Which of the curves of a run each group takes: the inverse of the run's labels.
    taken = labels.reshape(len(labels), n_groups, n_runs).argsort(axis=1)
    # (task, level, reassignment, group, run)
    dealt = residuals[..., taken * n_runs + np.arange(n_runs)]
    for a, b in combinations(range(n_groups), 2):
        within_runs = dealt[..., a, :] - dealt[..., b, :]
        total = within_runs.sum(axis=-1)
        squares = np.einsum("...r,...r->...", within_runs, within_runs)
        yield (total / n_runs) ** 2, _variance(total, squares, n_runs)


def _variance(total: Floats, squares: Floats, size: int) -> Floats:
    """Return the variance of a mean of `size` values from their sum and sum of squares; infinite for one value."""
    # so that T is 0, and never the largest
    if size == 1:
        return np.full_like(total, np.inf)
    return np.maximum(squares - total**2 / size, 0.0) / (size * (size - 1))
