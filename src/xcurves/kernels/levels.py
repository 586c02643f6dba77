"""Randomization level by level, and over all levels at once: pointwise, largest-F and cluster-mass tests.

All is done on the scale of R = SS / (SS + error SS), which rises with F and stays finite. What there is to share out at
a level does not change when curves are reassigned; so with curves scaled to a unit sum of squares at every level, a
shuffled R is a sum of squares of ``groups - 1`` contrasts of them. Of the table of levels by shuffles no more than a
block of levels is ever held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels import clusters
from xcurves.kernels.assignments import Assignments
from xcurves.kernels.moments import Floats
from xcurves.kernels.null import TIE
from xcurves.kernels.reassign import Progress
from xcurves.kernels.shuffles import Plan

_HELD = 2**22  # doubles of the table of levels by shuffles held at once
_LONG = 512  # shuffles for which a call for each level costs less than numpy's accumulate

Order = NDArray[np.intp]
Blocks = Iterable[tuple[slice, Floats]]


class Design(NamedTuple):
    """What the randomization of levels needs.

    Attributes
    ----------
    curves : ndarray, shape (task, level, curve)
        Curves, group after group, centred at every level (within runs too if paired) and scaled to a unit sum of
        squares; zero at levels where all scores are equal.
    share : ndarray, shape (task, level)
        Observed R; NaN where all scores are equal.
    weights : ndarray, shape (task, interval, level)
        Share of each level in the sum of squares of an interval; NaN in an interval that has none.
    df : tuple of float
        Degrees of freedom of F: between groups, and of the error.
    """

    curves: Floats
    share: Floats
    weights: Floats
    df: clusters.Df


class Rules(NamedTuple):
    """How to judge: the level alpha, step-down or not, the F of a cluster (None: each level's critical value)."""

    alpha: float
    step_down: bool
    threshold: float | None


def panel_width(plan: Plan, n_levels: int, n_intervals: int) -> int:
    """Return how many tasks may be evaluated together for their tables to be one block."""
    return max(1, _HELD // (plan.n_shuffles * max(n_levels, n_intervals)))


def evaluate(
    design: Design,
    assignments: Assignments,
    rules: Rules,
    progress: Progress = lambda blocks: blocks,
) -> dict[str, Floats]:
    """Compare the observed shares with those of every reassignment of the plan.

    Returns
    -------
    dict of ndarray
        On (task, level): `pvalue`, `pvalue_adjusted`, `critical` and `critical_simultaneous` (the R above which a
        level is significant by itself, or as one of all), `cluster` (numbered from 1) and `cluster_pvalue`; on (task,
        interval): `interval_pvalue` and `interval_pvalue_adjusted`.
    """
    plan = assignments.plan
    n_tail = min(int(np.floor(rules.alpha * plan.n_total + 1e-9)) + plan.exact, plan.n_shuffles)
    observed = np.nan_to_num(design.share)  # where all scores are equal, every shuffled R is zero as well
    weights = np.nan_to_num(design.weights)
    count, critical = np.empty(observed.shape), np.empty(observed.shape)
    limit = critical  # above it levels form a cluster
    if rules.threshold is not None:
        limit = np.full_like(critical, clusters.share_of(rules.threshold, design.df))
    largest = np.zeros((len(observed), plan.n_shuffles))
    intervals = np.zeros((*weights.shape[:2], plan.n_shuffles))
    masses = clusters.Masses(len(observed), plan.n_shuffles, design.df)
    tables = _Tables(design.curves, assignments, progress)
    for levels, table in tables.blocks():
        count[:, levels] = _at_least(table, observed[:, levels])
        critical[:, levels] = _critical(table, n_tail)
        np.maximum(largest, table.max(axis=1), out=largest)
        masses.add(table, limit[:, levels])
        intervals += weights[..., levels] @ table
    of_intervals = (weights * observed[:, np.newaxis]).sum(axis=-1)
    cluster, mass = clusters.find(design.share, limit, design.df)
    if rules.step_down:
        adjusted = _step_down(tables.blocks, observed)
        interval_adjusted = _step_down(partial(_one_block, intervals), of_intervals)
    else:
        adjusted = clusters.count_at_least(largest, observed - TIE)
        interval_adjusted = clusters.count_at_least(intervals.max(axis=1, initial=0.0), of_intervals - TIE)
    no_interval = np.isnan(design.weights).all(axis=-1)
    counts = {
        "pvalue": (count, np.isnan(design.share)),
        "pvalue_adjusted": (adjusted, np.isnan(design.share)),
        "cluster_pvalue": (clusters.count_at_least(masses.largest, mass), np.isnan(mass)),
        "interval_pvalue": (_at_least(intervals, of_intervals), no_interval),
        "interval_pvalue_adjusted": (interval_adjusted, no_interval),
    }
    return {
        "critical": critical,
        "critical_simultaneous": _critical(largest[:, np.newaxis], n_tail),
        "cluster": cluster,
        **{name: np.where(missing, np.nan, _pvalue(found, plan)) for name, (found, missing) in counts.items()},
    }


def _pvalue(count: Floats, plan: Plan) -> Floats:
    """Turn counts of shuffles at least as large into p-values; the observed assignment is one of them."""
    return np.asarray(np.maximum(count + (not plan.exact), 1) / plan.n_total)


def _at_least(table: Floats, observed: Floats) -> Floats:
    """Return how many shuffled values, shape (..., shuffle), are at least the observed ones, ties included."""
    return np.asarray(np.count_nonzero(table >= (observed - TIE)[..., np.newaxis], axis=-1), float)


def _critical(table: Floats, n_tail: int) -> Floats:
    """Return the `n_tail`-th largest of the shuffled values; 1 if there is none, for no R is above that."""
    if n_tail == 0:
        return np.ones(table.shape[:-1])
    return np.partition(table, table.shape[-1] - n_tail, axis=-1)[..., -n_tail]


def _step_down(blocks: Callable[[Order], Blocks], observed: Floats) -> Floats:
    """Return the counts of Westfall & Young's step-down from the largest of a family to its smallest.

    A member is compared with the largest of those that are no larger than it, and has no smaller count than those
    above it. `blocks` gives tables of the members in a given order, in blocks.
    """
    order = observed.argsort(axis=-1, kind="stable")
    ascending = np.take_along_axis(observed, order, axis=-1)
    count = np.empty(observed.shape)
    running = np.zeros(())
    for members, table in blocks(order):
        np.maximum(table[:, 0], running, out=table[:, 0])
        _accumulate(table)
        running = table[:, -1].copy()
        count[:, members] = _at_least(table, ascending[:, members])
    count = np.maximum.accumulate(count[:, ::-1], axis=-1)[:, ::-1]
    adjusted = np.empty_like(count)
    np.put_along_axis(adjusted, order, count, axis=-1)
    return adjusted


def _accumulate(table: Floats) -> None:
    """Replace every member's values by the largest up to it, in place."""
    if table.shape[-1] < _LONG:
        np.maximum.accumulate(table, axis=1, out=table)
        return
    for member in range(1, table.shape[1]):
        np.maximum(table[:, member - 1], table[:, member], out=table[:, member])


def _one_block(table: Floats, order: Order) -> Blocks:
    """Return a table of a few members in a given order, as the only block if there are any."""
    return [(slice(None), _reordered(table, order))] if order.size else []


def _reordered(table: Floats, order: Order) -> Floats:
    return table[np.arange(len(table))[:, np.newaxis], order]  # whole rows: faster than take_along_axis


class _Tables:
    """The shuffled shares of some tasks in blocks of levels."""

    def __init__(self, curves: Floats, assignments: Assignments, progress: Progress) -> None:
        self.curves = curves
        self.assignments = assignments
        self.progress = progress
        self.width = max(1, _HELD // (len(curves) * assignments.plan.n_shuffles))
        self.whole: Floats | None = None  # a table of one block is not made twice

    def blocks(self, order: Order | None = None) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of the levels and their shares, shape (task, level, shuffle); `order` is (task, level)."""
        n_levels = self.curves.shape[1]
        for start in self.progress(range(0, n_levels, self.width)):
            levels = slice(start, start + self.width)
            if order is None:
                table = _shares(self.curves[:, levels], self.assignments)
                self.whole = table if n_levels <= self.width else None
            elif self.whole is None:
                table = _shares(_reordered(self.curves, order[:, levels]), self.assignments)
            else:
                table = _reordered(self.whole, order)
            yield levels, table


def _shares(curves: Floats, assignments: Assignments) -> Floats:
    """Return the shuffled R of scaled curves, shape (task, level, curve), as (task, level, shuffle)."""
    sizes = np.array(assignments.plan.sizes)
    complete, _ = np.linalg.qr(np.column_stack([np.sqrt(sizes), np.eye(len(sizes))[:, 1:]]))
    contrasts = complete[:, 1:].T / np.sqrt(sizes)  # of the groups; over the curves orthonormal, and free of the mean
    flat = curves.reshape(-1, curves.shape[-1])
    table = np.empty((len(flat), assignments.plan.n_shuffles))
    for shuffles, groups in assignments.batches():
        first, *others = [contrast[groups].T for contrast in contrasts]
        for start in range(0, len(flat), assignments.width):
            some = slice(start, start + assignments.width)
            rows, part = flat[some], table[some, shuffles]
            sums = rows @ first
            np.multiply(sums, sums, out=part)
            for other in others:
                sums = rows @ other
                sums *= sums
                part += sums
    return table.reshape(*curves.shape[:2], -1)
