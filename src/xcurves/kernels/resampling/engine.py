"""The loop over reassignments: *sums over groups under a plan → a statistic → how many reach it → shifts not rejected*.

What differs between tests are functions from sums to numbers. Of two groups only the first is summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.resampling import group_products
from xcurves.kernels.resampling.assignments import Labels
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches
from xcurves.kernels.resampling.bisection import halve
from xcurves.kernels.resampling.moments import factor_of, is_factor
from xcurves.kernels.resampling.plans import TIE, Plan, RunPlan

_PAIR_COST = 8  # of an entry of a sparse product, in multiply-adds of a dense one
_LONG = 64  # reassignments for which a call for each member costs less than numpy's accumulate
# Standard errors; a shift as large that is not rejected stands for all beyond.
_FAR = 1e8
_STEPS = 60  # of bisection
_POINTS = 2**18  # evaluations of reassignments in a scan of shifts

Progress = Callable[[Iterable[int]], Iterable[int]]


def label_batches(
    plan: Plan, rows: int, progress: Progress = lambda blocks: blocks
) -> Iterator[tuple[slice, Labels]]:
    """Yield which reassignments a batch of at most `rows` has, and their labels; `progress` wraps block numbers."""
    for number in progress(range(plan.n_blocks)):
        block = plan.block(number)
        first = number * plan.rows
        for some in stretches(len(block), rows):
            yield slice(first + some.start, first + some.stop), block[some]


def group_sums(features: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield sums of features, (task, feature, curve), over groups: (task, group, feature, reassignment)."""
    n_tasks, n_features, n_curves = features.shape
    n_groups = 1 if len(plan.sizes) == 2 else len(plan.sizes)
    is_sparse = n_groups > group_products.DENSE
    rows = rows_that_fit(
        8
        * max(
            n_groups * n_tasks * n_features, n_curves * (1 if is_sparse else n_groups)
        ),
        CACHE,
    )
    if plan.has_tables:
        for left, right in group_products.subset_tables(features, plan, rows):
            sums = left[..., np.newaxis] + right[..., np.newaxis, :]
            yield sums.reshape(n_tasks, 1, n_features, -1)
        return
    groups = np.arange(n_groups)[:, np.newaxis, np.newaxis]
    for _, labels in label_batches(plan, rows):
        if is_sparse:
            order = group_products.orders_of(labels)
            sums = group_products.sums_of_groups(order, plan.sizes, np.ones(n_groups))(
                features
            )
            yield sums.transpose(2, 1, 3, 0)
            continue
        members = (labels == groups).astype(np.float64)
        # One product for each task, so that its rounding does not depend on the other tasks.
        yield np.matmul(features[:, np.newaxis], members.swapaxes(1, 2))


def squared_sums(
    alone: Floats,
    comoment: Floats,
    rank: int,
    plan: RunPlan,
    batch: int | None = None,
    progress: Progress = lambda blocks: blocks,
) -> Iterator[Floats]:
    """Yield ``Σ_g s_g² / l_g``, (2, task, reassignment): of `alone`, and over `rank` features with these co-moments."""
    n_tasks, n_curves = alone.shape
    n_pairs = sum(size * (size + 1) // 2 for size in plan.sizes)
    # Half the time for 50 tasks of 4 groups of 10 curves at 100 levels.
    by_pairs = (
        not plan.has_tables
        and _PAIR_COST * n_pairs < n_curves * (len(plan.sizes) - 1) * rank
    )
    features = alone[:, np.newaxis]
    if by_pairs:
        products = (
            comoment @ comoment.swapaxes(-1, -2) if is_factor(comoment) else comoment
        )
    else:
        factor = comoment if is_factor(comoment) else factor_of(comoment, rank)
        features = np.concatenate([features, factor.swapaxes(1, 2)], axis=1)
    if plan.has_tables:
        features *= np.sqrt(sum(1 / size for size in plan.sizes))
        for tables in group_products.subset_tables(
            features, plan, batch or CACHE // 8, progress
        ):
            yield group_products.squares_of_tables(*tables)
        return
    each = 2 * n_pairs if by_pairs else 8 * max(n_tasks * (1 + rank), n_curves)
    for _, labels in label_batches(
        plan, min(batch or plan.rows, rows_that_fit(each, CACHE)), progress
    ):
        if by_pairs:
            yield group_products.squares_of_pairs(
                features, products, labels, plan.sizes
            )
            continue
        squares = group_products.squares_over_groups(features, labels, plan.sizes)
        yield np.stack([squares[:, 0], squares[:, 1:].sum(axis=1)])


def n_rare(plan: Plan, alpha: float) -> int:
    """Return how many reassignments, the observed one included, may reach a statistic that is significant."""
    return int(np.floor(alpha * plan.n_total + 1e-9))


def tally(
    batches: Iterable[Floats],
    least: Floats,
    plan: Plan,
    alpha: float,
    kept: list[Floats] | None = None,
) -> tuple[Floats, Floats]:
    """Count the reassignments that are at least `least` (NaN reaches), and return the value that `n_rare` reach."""
    below = np.zeros(least.shape)
    tail = UpperTail(n_rare(plan, alpha) + plan.exact)
    for values in batches:
        below += np.count_nonzero(values < least[..., np.newaxis], axis=-1)
        tail.add(values)
        if kept is not None:
            kept.append(values)
    return np.maximum(plan.n_total - below, 1), tail.smallest(least.shape)


def ratio_reaches(
    square: Floats, variance: Floats, observed: Floats, own: Floats
) -> Bools:
    """Return whether square / variance is at least observed / own up to `TIE`; x / 0 is beyond all, by the square."""
    of_ratios = square * own * (1 + TIE) >= observed * variance * (1 - TIE)
    beyond = np.where(own > 0, square > 0, square * (1 + TIE) >= observed)
    return np.where(
        observed == 0, True, np.where(variance > 0, (own > 0) & of_ratios, beyond)
    )


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
    error = (
        np.zeros_like(pvalue)
        if plan.exact
        else np.sqrt(pvalue * (1 - pvalue) / plan.n_resamples)
    )
    found = {
        "pvalue": pvalue,
        "pvalue_stderr": error,
        "critical_value": restate(critical),
    }
    if keep:
        null = restate(np.concatenate(kept, axis=-1))
        found |= {"pvalue_rank": rank_pvalue(observed, null), "null_distribution": null}
    for values in found.values():
        values[np.isnan(observed)] = np.nan
    return found


def rank_pvalue(observed: Floats, null: Floats) -> Floats:
    """Return the paper's p = (z - rank of the null value closest to the observed one) / z; the lowest rank of ties."""
    within = np.minimum(observed, null.max(axis=-1))[..., np.newaxis]
    with np.errstate(invalid="ignore"):
        distance = np.where(null == within, 0.0, np.abs(null - within))
    closest = np.take_along_axis(
        null, distance.argmin(axis=-1)[..., np.newaxis], axis=-1
    )
    rank = np.count_nonzero(null < closest, axis=-1) + 1
    return np.asarray((null.shape[-1] - rank) / null.shape[-1])


class UpperTail:
    """The largest values along the last axis of arrays that are added one after the other."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.parts: list[Floats] = []
        self.held = 0

    def add(self, values: Floats) -> None:
        """Add values; drop all but the largest when many more are held."""
        if self.size == 0:
            return
        self.parts.append(values)
        self.held += values.shape[-1]
        if self.held > 2 * self.size + rows_that_fit(8 * max(1, values[..., 0].size)):
            self.parts = [self._largest().copy()]  # a view would keep it all
            self.held = self.size

    def _largest(self) -> Floats:
        """Return the largest values, the smallest of them first."""
        values = np.concatenate(self.parts, axis=-1)
        size = min(self.size, values.shape[-1])
        values.partition(values.shape[-1] - size, axis=-1)
        return values[..., -size:]

    def smallest(self, shape: tuple[int, ...]) -> Floats:
        """Return the smallest of the largest values; infinite if none is kept, as no value is large enough."""
        return self._largest()[..., 0].copy() if self.parts else np.full(shape, np.inf)


class StepDown:
    """Step-down adjustment for families of tests (Westfall & Young 1993, Algorithm 2.8), batch by batch."""

    def __init__(self, observed: Floats) -> None:
        self.order: Index = observed.argsort(axis=-1, kind="stable")
        self.least = (
            np.take_along_axis(observed, self.order, axis=-1)[..., np.newaxis] - TIE
        )
        self.reached = np.zeros(observed.shape)

    def add(self, values: Floats) -> None:
        """Add the values of some reassignments, shape (task, member, reassignment)."""
        # members beside each other: a fourth of the time of 126 splits of 10^6 levels
        if values.shape[-1] < _LONG:
            for task, (order, least) in enumerate(
                zip(self.order, self.least, strict=True)
            ):
                reach = np.ascontiguousarray(values[task].T).take(order, axis=-1)
                np.maximum.accumulate(reach, axis=-1, out=reach)
                self.reached[task] += np.count_nonzero(reach >= least[:, 0], axis=0)
            return
        # whole rows: faster than take_along_axis
        reach = values[np.arange(len(values))[:, np.newaxis], self.order]
        for smaller, member in pairwise(np.moveaxis(reach, 1, 0)):
            np.maximum(smaller, member, out=member)
        self.reached += np.count_nonzero(reach >= self.least, axis=-1)

    @property
    def counts(self) -> Floats:
        """How many reassignments count against each member, shape (task, member)."""
        counts = np.empty_like(self.reached)
        at_least = np.maximum.accumulate(self.reached[:, ::-1], axis=-1)[:, ::-1]
        np.put_along_axis(counts, self.order, at_least, axis=-1)
        return counts


def count_at_least(null: Floats, observed: Floats) -> Floats:
    """Return how many null values, shape (task, reassignment), are at least each observed one, (task, member)."""
    ordered = np.sort(null, axis=-1)
    below = [
        np.searchsorted(row, values, side="left")
        for row, values in zip(ordered, observed, strict=True)
    ]
    return np.asarray(null.shape[-1] - np.array(below).reshape(observed.shape), float)


class Test(NamedTuple):
    """A test of a shift, for `limits`."""

    # from numbers of (task, reassignment) in a flat array and their distances, or None and distances (..., task)
    reaches: Callable[[Index | None, Floats], Bools]
    shape: tuple[int, int]  # numbers of tasks and of reassignments
    besides: int  # further reassignments, which reach it everywhere
    most: float  # a shift is rejected if no more than this reach the observed statistic

    def states(self, at: Floats) -> tuple[Bools, Bools]:
        """Return which reassignments reach the statistic at distances (..., task), and which of these are kept."""
        reached = self.reaches(None, at)
        return reached, self.besides + np.count_nonzero(reached, axis=-1) > self.most


def may_leave_gaps(*sizes: float) -> bool:
    """Return whether shifts that are not rejected may lie in several pieces: seen with less than 4, or past 3:1."""
    return min(sizes) < 4 or max(sizes) > 3 * min(sizes)


def points_of_scan(n_resamples: int) -> int:
    """Return at how many shifts so many reassignments are evaluated in a scan."""
    return int(np.clip(_POINTS // n_resamples, 64, 4096))


def limits(test: Test, known: Floats, *, scan: bool) -> tuple[Floats, Bools]:
    """Return the largest distance that is not rejected (inf: all are kept), from `known` ones, and gaps in a `scan`."""
    n_tasks, n_resamples = test.shape
    inside, outside = known.copy(), np.full(n_tasks, _FAR)
    unbounded = test.states(outside)[1]
    gap = np.zeros(n_tasks, bool)
    if scan:
        number = points_of_scan(n_resamples)
        grid = np.arange(number - 1, 0, -1) / number  # from outside in
        steps = grid / (1 - grid)
    else:
        share = test.most / (test.besides + n_resamples)
        # a little inside the usual limit
        usual = np.clip(0.9 * scipy.special.ndtri(1 - share / 2), 0.1, 10)
        steps = usual * 1.25 ** np.arange(11) ** 2  # outwards
    for some in stretches(
        len(steps), rows_that_fit(16 * n_tasks * n_resamples, CACHE) if scan else 1
    ):
        at = np.tile(steps[some, np.newaxis], n_tasks)
        kept = test.states(at)[1]
        inside = np.maximum(inside, np.where(kept, at, 0.0).max(axis=0))
        outside = np.minimum(
            outside, np.where(~kept & (at > inside), at, _FAR).min(axis=0)
        )
        gap |= (~kept & (at < inside)).any(axis=0)
        if not scan and (unbounded | (outside < _FAR)).all():
            break
    inside = _bisect(test, inside, outside)
    return np.where(unbounded, np.inf, inside), gap & ~unbounded & scan


def _bisect(test: Test, inside: Floats, outside: Floats) -> Floats:
    """Halve brackets of a kept and a rejected distance; only reassignments that differ at their ends are evaluated."""
    n_tasks, n_resamples = test.shape
    begin, end = inside, outside
    at_inside, at_outside = (test.states(at)[0].ravel() for at in (inside, outside))
    cells = np.flatnonzero(at_inside != at_outside)
    task = cells // n_resamples
    base = test.besides + np.count_nonzero(
        (at_inside & at_outside).reshape(test.shape), axis=1
    )
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if not ((middle > inside) & (middle < outside)).any():
            break
        reached = test.reaches(cells, middle[task])
        kept = base + np.bincount(task, reached, n_tasks) > test.most
        inside, outside = (
            np.where(kept, middle, inside),
            np.where(kept, outside, middle),
        )
        now_inside, now_outside = (
            np.where(kept[task] == side, reached, before)
            for side, before in ((True, at_inside[cells]), (False, at_outside[cells]))
        )
        at_inside[cells], at_outside[cells] = now_inside, now_outside
        base = base + np.bincount(task, now_inside & now_outside, n_tasks)
        differ = now_inside != now_outside
        cells, task = cells[differ], task[differ]
    # One that differs within a bracket, but not at its ends, is missed: where that matters all are evaluated.
    wrong = (~test.states(inside)[1] | test.states(outside)[1]) & (inside > begin)
    if wrong.any():
        inside = np.where(
            wrong, halve(lambda at: test.states(at)[1], begin, end)[0], inside
        )
    return inside
