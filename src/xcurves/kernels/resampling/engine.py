"""The loop over reassignments: *sums over groups under a plan → a statistic → how many reach it*; see also `shifts`.

What differs between tests are functions from sums to numbers. Of two groups only the first is summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import numpy as np

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.resampling import group_products
from xcurves.kernels.resampling.adjustments import largest_of
from xcurves.kernels.resampling.assignments import Labels
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches
from xcurves.kernels.resampling.moments import factor_of, is_factor
from xcurves.kernels.resampling.plans import TIE, Plan, RunPlan

DENSE = 6  # groups up to which sums take dense products: of 3 × 10 runs sparse ones take 1.7 times as long
_PAIR_COST = 8  # of an entry of a sparse product, in multiply-adds of a dense one
_LONG = 64  # reassignments for which a call for each member costs less than numpy's accumulate

Progress = Callable[[Iterable[int]], Iterable[int]]


def label_batches(plan: Plan, rows: int, progress: Progress = lambda blocks: blocks) -> Iterator[tuple[slice, Labels]]:
    """Yield which reassignments a batch of at most `rows` has, and their labels; `progress` wraps block numbers."""
    for number in progress(range(plan.n_blocks)):
        block = plan.block(number)
        first = number * plan.rows
        for some in stretches(len(block), rows):
            yield slice(first + some.start, first + some.stop), block[some]


def group_sums(features: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield sums of features, (task, feature, curve), over groups: (task, group, feature, reassignment)."""
    if len(plan.sizes) > DENSE:
        yield from _sums_by_sparse_products(features, plan)
    else:
        yield from _sums_by_dense_products(features, plan)


def _rows_of_sums(features: Floats, n_groups: int, numbers_each: int) -> int:
    """Return of how many reassignments a cache holds the sums, or the numbers that select the members of groups."""
    n_tasks, n_features, _ = features.shape
    return rows_that_fit(8 * max(n_groups * n_tasks * n_features, numbers_each), CACHE)


def _sums_by_sparse_products(features: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield sums of many groups: a curve is added to its own group only."""
    n_groups, n_curves = len(plan.sizes), features.shape[-1]
    for _, labels in label_batches(plan, _rows_of_sums(features, n_groups, n_curves)):
        order = group_products.orders_of(labels)
        add = group_products.sums_of_groups(order, plan.sizes, np.ones(n_groups))
        yield add(features).transpose(2, 1, 3, 0)


def _sums_by_dense_products(features: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield sums of few groups: products with ones for members and zeros for others."""
    n_groups = 1 if len(plan.sizes) == 2 else len(plan.sizes)
    groups = np.arange(n_groups)[:, np.newaxis, np.newaxis]
    n_flags = n_groups * features.shape[-1]
    for _, labels in label_batches(plan, _rows_of_sums(features, n_groups, n_flags)):
        members = (labels == groups).astype(np.float64)
        # One product for each task, so that its rounding does not depend on the other tasks.
        yield np.matmul(features[:, np.newaxis], members.swapaxes(1, 2))


def squared_sums(
    alone: Floats,
    comoment: Floats,
    rank: int,
    plan: RunPlan,
    progress: Progress = lambda blocks: blocks,
) -> Iterator[Floats]:
    """Yield ``Σ_g s_g² / l_g``, (2, task, reassignment): of `alone`, and over `rank` features with these co-moments."""
    if _is_less_by_pairs(plan.sizes, rank):
        yield from _squares_by_pairs(alone, comoment, plan, progress)
        return

    # With co-moments C = F Fᵀ, Σ_{j,j'∈g} C_jj' = |Σ_{j∈g} F_j|²: sums of squares over columns of F. Nothing cancels.
    factor = comoment if is_factor(comoment) else factor_of(comoment, rank)
    features = np.concatenate([alone[:, np.newaxis], factor.swapaxes(1, 2)], axis=1)
    yield from _squares_by_features(features, plan, progress)


def _is_less_by_pairs(sizes: tuple[int, ...], rank: int) -> bool:
    """Return whether summing co-moments of the pairs in groups is less work than summing features."""
    # Half the time for 50 tasks of 4 groups of 10 curves at 100 levels.
    n_pairs = sum(size * (size + 1) // 2 for size in sizes)
    return _PAIR_COST * n_pairs < sum(sizes) * (len(sizes) - 1) * rank


def _squares_by_pairs(
    alone: Floats,
    comoment: Floats,
    plan: RunPlan,
    progress: Progress,
) -> Iterator[Floats]:
    """Yield the squares from co-moments of all pairs of curves in one group."""
    products = comoment
    if is_factor(comoment):
        products = comoment @ comoment.swapaxes(-1, -2)
    n_pairs = sum(size * (size + 1) // 2 for size in plan.sizes)
    # The numbers of pairs, of 4 bytes, fill two caches: they are read once, in a sparse product.
    rows = rows_that_fit(2 * n_pairs, CACHE)
    for _, labels in label_batches(plan, rows, progress):
        yield group_products.squares_of_pairs(alone[:, np.newaxis], products, labels, plan.sizes)


def _squares_by_features(features: Floats, plan: RunPlan, progress: Progress) -> Iterator[Floats]:
    """Yield the squares from sums of features: those of the first one, then those of all others together."""
    n_tasks, n_features, n_curves = features.shape
    bytes_each = 8 * max(n_tasks * n_features, n_curves)
    rows = rows_that_fit(bytes_each, CACHE)
    for _, labels in label_batches(plan, rows, progress):
        squares = group_products.squares_over_groups(features, labels, plan.sizes)
        yield np.stack([squares[:, 0], squares[:, 1:].sum(axis=1)])


def n_rare(plan: Plan, alpha: float) -> int:
    """Return how many reassignments, the observed one included, may reach a statistic that is significant."""
    # 1e-9: alpha = .05 times 20 reassignments must be 1, whatever the product rounds to
    return int(np.floor(alpha * plan.n_total + 1e-9))


def tally(
    batches: Iterable[Floats],
    least: Floats,
    plan: Plan,
    alpha: float,
    kept: list[Floats] | None = None,
) -> tuple[Floats, Floats]:
    """Count the reassignments that are at least `least` (NaN reaches), and return the value that `n_rare` reach."""
    # Those below are counted: a comparison with NaN is false, so that NaN reaches.
    below = np.zeros(least.shape)
    # If random, the observed one is among the rare ones, but in no batch.
    tail = UpperTail(n_rare(plan, alpha) + plan.exact)
    for values in batches:
        below += np.count_nonzero(values < least[..., np.newaxis], axis=-1)
        tail.add(values)
        if kept is not None:
            kept.append(values)
    # The observed one reaches itself, whatever its own batch rounds it to.
    return np.maximum(plan.n_total - below, 1), tail.smallest(least.shape)


def ratio_reaches(
    square: Floats,
    variance: Floats,
    observed_square: Floats,
    observed_variance: Floats,
) -> Bools:
    """Return whether a ratio is at least the observed one up to `TIE`; x / 0 is beyond all others, by the square."""
    # Multiplied out, so that nothing is divided by 0; both sides have their slack.
    numbers = square * observed_variance * (1 + TIE)
    of_ratios = numbers >= observed_square * variance * (1 - TIE)
    # Without variance: beyond every observed ratio that has one; among those without one the squares decide.
    beyond = np.where(observed_variance > 0, square > 0, square * (1 + TIE) >= observed_square)
    with_variance = (observed_variance > 0) & of_ratios
    reaches = np.where(variance > 0, with_variance, beyond)
    # everything is at least 0
    return np.where(observed_square == 0, True, reaches)


def compare_with_null(
    batches: Iterable[Floats],
    least: Floats,
    plan: Plan,
    alpha: float,
    observed: Floats,
    restate: Callable[[Floats], Floats],
    *,
    keep: bool,
) -> dict[str, Floats]:
    """Compare observed F with those of reassignments, of which `batches` has what `restate` turns into F."""
    kept: list[Floats] = []
    count, critical = tally(batches, least, plan, alpha, kept if keep else None)
    pvalue = count / plan.n_total
    # binomial, of the drawn reassignments
    error = np.sqrt(pvalue * (1 - pvalue) / plan.n_resamples)
    if plan.exact:
        error = np.zeros_like(pvalue)
    tested = {
        "pvalue": pvalue,
        "pvalue_stderr": error,
        "critical_value": restate(critical),
    }
    if keep:
        null = restate(np.concatenate(kept, axis=-1))
        tested["pvalue_rank"] = rank_pvalue(observed, null)
        tested["null_distribution"] = null
    for values in tested.values():
        values[np.isnan(observed)] = np.nan
    return tested


def rank_pvalue(observed: Floats, null: Floats) -> Floats:
    """Return the paper's p = (z - rank of the null value closest to the observed one) / z; the lowest rank of ties."""
    # A finite value is infinitely far from infinite ones: beyond the largest it is the largest that is closest. Equal
    # infinities are 0 apart, though inf - inf is NaN.
    within = np.minimum(observed, null.max(axis=-1))[..., np.newaxis]
    with np.errstate(invalid="ignore"):
        distance = np.where(null == within, 0.0, np.abs(null - within))
    place = distance.argmin(axis=-1)[..., np.newaxis]
    closest = np.take_along_axis(null, place, axis=-1)
    rank = np.count_nonzero(null < closest, axis=-1) + 1
    return np.asarray((null.shape[-1] - rank) / null.shape[-1])


class UpperTail:
    """The largest values along the last axis of arrays that are added one after the other."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.parts: list[Floats] = []
        self.n_held = 0

    def add(self, values: Floats) -> None:
        """Add values; drop all but the largest when many more are held."""
        if self.size == 0:
            return
        self.parts.append(values)
        self.n_held += values.shape[-1]
        # Not at every batch: each selection goes through all that is held, and halves it at least.
        n_spare = rows_that_fit(8 * max(1, values[..., 0].size))
        if self.n_held > 2 * self.size + n_spare:
            self.parts = [self._largest().copy()]  # a view would keep it all
            self.n_held = self.size

    def _largest(self) -> Floats:
        """Return the largest values, the smallest of them first."""
        values = np.concatenate(self.parts, axis=-1)
        return largest_of(values, min(self.size, values.shape[-1]))

    def smallest(self, shape: tuple[int, ...]) -> Floats:
        """Return the smallest of the largest values; infinite if none is kept, as no value is large enough."""
        if not self.parts:
            return np.full(shape, np.inf)
        return self._largest()[..., 0].copy()


class StepDown:
    """Step-down adjustment for families of tests (Westfall & Young 1993, Algorithm 2.8), batch by batch."""

    # A reassignment counts against a member if its largest statistic among this member and all that are less
    # significant reaches the member's own: running maxima from the smallest observed statistic to the largest.

    def __init__(self, observed: Floats) -> None:
        self.order: Index = observed.argsort(axis=-1, kind="stable")
        in_order = np.take_along_axis(observed, self.order, axis=-1)
        self.least = in_order[..., np.newaxis] - TIE
        self.reached = np.zeros(observed.shape)

    def add(self, values: Floats) -> None:
        """Add the values of some reassignments, shape (task, member, reassignment)."""
        if values.shape[-1] < _LONG:
            self._add_few(values)
            return
        # whole rows: faster than take_along_axis
        largest = values[np.arange(len(values))[:, np.newaxis], self.order]
        for smaller, member in pairwise(np.moveaxis(largest, 1, 0)):
            np.maximum(smaller, member, out=member)
        self.reached += np.count_nonzero(largest >= self.least, axis=-1)

    def _add_few(self, values: Floats) -> None:
        # members beside each other: a fourth of the time of 126 splits of 10^6 levels
        for task, order in enumerate(self.order):
            largest = np.ascontiguousarray(values[task].T).take(order, axis=-1)
            np.maximum.accumulate(largest, axis=-1, out=largest)
            reaches = largest >= self.least[task, :, 0]
            self.reached[task] += np.count_nonzero(reaches, axis=0)

    @property
    def counts(self) -> Floats:
        """How many reassignments count against each member, shape (task, member)."""
        # No member has a smaller p than one that is more significant.
        counts = np.empty_like(self.reached)
        at_least = np.maximum.accumulate(self.reached[:, ::-1], axis=-1)[:, ::-1]
        np.put_along_axis(counts, self.order, at_least, axis=-1)
        return counts


def count_at_least(null: Floats, observed: Floats) -> Floats:
    """Return how many null values, shape (task, reassignment), are at least each observed one, (task, member)."""
    # sorted once for all members
    ordered = np.sort(null, axis=-1)
    below = [np.searchsorted(row, values, side="left") for row, values in zip(ordered, observed, strict=True)]
    return np.asarray(null.shape[-1] - np.array(below).reshape(observed.shape), float)
