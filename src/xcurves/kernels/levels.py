"""Randomization level by level, and over all levels at once: pointwise, largest-F and cluster-mass tests.

All is computed on the scale of R = SS / (SS + error SS), which increases with F and stays finite. The denominator does
not change when curves are reassigned: if curves are scaled to a unit sum of squares at every level, a shuffled R is a
sum of squares of ``groups - 1`` contrasts of them. Only a block of levels of the table of levels by shuffles is held at
once; the results of blocks are joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels import clusters, stepdown
from xcurves.kernels.assignments import Assignments
from xcurves.kernels.many_curves import sparse_members
from xcurves.kernels.moments import Floats
from xcurves.kernels.reassign import Progress
from xcurves.kernels.shuffles import TIE, Plan

_HELD = 2**22  # doubles of the table of levels by shuffles held at once
_FEW_GROUPS = 6  # up to which contrasts are faster than sums
_SUMMED = 64  # levels whose sums are computed at once


class ProfileDesign(NamedTuple):
    """What the randomization of levels needs.

    Attributes
    ----------
    curves : ndarray, shape (task, level, curve)
        Curves, group after group, centred at every level (within runs too if paired) and scaled to a unit sum of
        squares; zero at levels where all scores are equal.
    share : ndarray, shape (task, level)
        Observed R; NaN where all scores are equal.
    within : ndarray, shape (task, interval, level)
        Sum of squares of each level in an interval, including error; zero for other levels.
    df : tuple of float
        Degrees of freedom of F: between groups, and of the error.
    """

    curves: Floats
    share: Floats
    within: Floats
    df: clusters.Df


class Rules(NamedTuple):
    """Options of the tests: alpha, step-down or not, the F of a cluster (None: each level's critical value)."""

    alpha: float
    step_down: bool
    threshold: float | None


class Local(NamedTuple):
    """Results for each level by itself; all of shape (task, level).

    Attributes
    ----------
    share : ndarray
        Observed R; NaN where all scores are equal.
    reached : ndarray
        How many shuffles make R at least as large.
    critical, limit : ndarray
        The R above which a level is significant, and above which it is part of a cluster.
    """

    share: Floats
    reached: Floats
    critical: Floats
    limit: Floats


class Joint(NamedTuple):
    """Results for a stretch of levels together.

    Attributes
    ----------
    largest : ndarray, shape (task, shuffle)
        Largest R of the stretch.
    masses : clusters.Masses
    steps : stepdown.Unions
        Of one task, for the step-down over levels; empty if that is not asked for, or the whole table is held.
    intervals : ndarray, shape (task, interval, shuffle)
        Sums of squares between groups.
    observed, total : ndarray, shape (task, interval)
        The observed sums of squares between groups, and those with the error.
    """

    largest: Floats
    masses: clusters.Masses
    steps: stepdown.Unions
    intervals: Floats
    observed: Floats
    total: Floats


def tasks_at_once(plan: Plan, n_levels: int, n_intervals: int) -> int:
    """Return how many tasks may be evaluated together for their tables to be one block."""
    return max(1, _HELD // (plan.n_resamples * max(n_levels, n_intervals)))


def profile_tests(
    design: ProfileDesign,
    assignments: Assignments,
    rules: Rules,
    progress: Progress = lambda blocks: blocks,
) -> dict[str, Floats]:
    """Compare the observed shares with those of every reassignment of the plan: for one task, or in one table.

    Returns
    -------
    dict of ndarray
        On (task, level): `pvalue`, `pvalue_adjusted`, `critical` and `critical_simultaneous` (the R above which a
        level is significant by itself, or as one of all), `cluster` (numbered from 1) and `cluster_pvalue`; on (task,
        interval): `interval_pvalue` and `interval_pvalue_adjusted`.
    """
    plan, observed = assignments.plan, known(design.share)
    if design.share.size * plan.n_resamples <= _HELD:
        for _ in progress(range(1)):
            table = _shares(design.curves, assignments)
        local, joint = _survey(table, design, plan, rules)
        adjusted = stepdown.stepdown_counts(table, observed) if rules.step_down else adjust(observed, joint)
    else:
        starts, n_held = progress(range(0, design.share.shape[1], width(plan))), width(plan)
        parts = (_part(design, slice(start, start + n_held)) for start in starts)
        local, joint = evaluate_stretches(parts, assignments, rules)
        adjusted = adjust(observed, joint, stepdown_thresholds(observed, joint) if rules.step_down else None)
    cluster, mass = clusters.find_clusters(local.share, local.limit, design.df)
    of_levels = conclude(local, joint, adjusted, mass, plan, rules)
    return of_levels | {"cluster": cluster} | conclude_intervals(joint, plan, rules)


def width(plan: Plan) -> int:
    """Return the number of levels of one task whose table can be held."""
    return max(1, _HELD // plan.n_resamples)


def evaluate_stretches(designs: Iterable[ProfileDesign], assignments: Assignments, rules: Rules) -> tuple[Local, Joint]:
    """Evaluate consecutive stretches of the levels of one task, each small enough for its table."""
    by_level: list[Local] = []
    jointly: list[Joint] = []
    for design in designs:
        table = _shares(design.curves, assignments)
        local, joint = _survey(table, design, assignments.plan, rules)
        if rules.step_down:
            joint = joint._replace(steps=stepdown.unions(table[0], known(design.share[0])))
        by_level.append(local)
        jointly = [join_stretches([*jointly, joint])]
    return Local(*(np.concatenate(each, axis=1) for each in zip(*by_level, strict=True))), jointly[0]


def join_stretches(stretches: Sequence[Joint]) -> Joint:
    """Join the results of consecutive stretches of levels."""
    largest, masses, unions, *of_intervals = zip(*stretches, strict=True)
    return Joint(
        np.maximum.reduce(largest),
        reduce(clusters.join_masses, masses),
        stepdown.join_unions(unions),
        *(np.sum(each, axis=0) for each in of_intervals),
    )


def stepdown_thresholds(observed: Floats, joint: Joint) -> Floats:
    """Return the step function of the step-down, shape (1 + shuffle,), for all levels of one task."""
    counts = stepdown.count_reached(joint.steps, observed[0])
    return stepdown.reached_at_least(counts, observed[0], joint.largest.shape[-1])


def adjust(observed: Floats, joint: Joint, highest: Floats | None = None) -> Floats:
    """Return the counts of a single step, shape (task, level), or of the step-down with a given step function."""
    if highest is None:
        return clusters.count_at_least(joint.largest, observed - TIE)
    return stepdown.count_from(highest, observed[0])[np.newaxis]


def conclude(local: Local, joint: Joint, adjusted: Floats, mass: Floats, plan: Plan, rules: Rules) -> dict[str, Floats]:
    """Return what `profile_tests` returns on levels, from adjusted counts, cluster masses, and all levels jointly."""
    undefined = np.isnan(local.share)
    return {
        "pvalue": _pvalue(local.reached, undefined, plan),
        "pvalue_adjusted": _pvalue(adjusted, undefined, plan),
        "critical": local.critical,
        "critical_simultaneous": _critical(joint.largest[:, np.newaxis], plan, rules),
        "cluster_pvalue": _pvalue(clusters.count_at_least(joint.masses.largest, mass), np.isnan(mass), plan),
    }


def conclude_intervals(joint: Joint, plan: Plan, rules: Rules) -> dict[str, Floats]:
    """Return what `profile_tests` returns on intervals, from all levels jointly."""
    nothing = joint.total == 0
    total = np.where(nothing, 1.0, joint.total)
    table, observed = joint.intervals / total[..., np.newaxis], joint.observed / total
    if rules.step_down:
        adjusted = stepdown.stepdown_counts(table, observed)
    else:
        adjusted = clusters.count_at_least(table.max(axis=1, initial=0.0), observed - TIE)
    return {
        "interval_pvalue": _pvalue(_at_least(table, observed), nothing, plan),
        "interval_pvalue_adjusted": _pvalue(adjusted, nothing, plan),
    }


def known(share: Floats) -> Floats:
    """Return shares with 0 where all scores are equal, where every shuffled share is 0 too."""
    return np.nan_to_num(share)


def _part(design: ProfileDesign, levels: slice) -> ProfileDesign:
    return ProfileDesign(design.curves[:, levels], design.share[:, levels], design.within[..., levels], design.df)


def _survey(table: Floats, design: ProfileDesign, plan: Plan, rules: Rules) -> tuple[Local, Joint]:
    """Evaluate levels from the table of their shuffled shares, shape (task, level, shuffle)."""
    critical = limit = _critical(table, plan, rules)
    if rules.threshold is not None:
        limit = np.full_like(critical, clusters.share_of(rules.threshold, design.df))
    observed = known(design.share)
    joint = Joint(
        table.max(axis=1),
        clusters.shuffled_masses(table, limit, design.df),
        stepdown.NONE,
        design.within @ table,
        np.einsum("til,tl->ti", design.within, observed),
        design.within.sum(axis=-1),
    )
    return Local(design.share, _at_least(table, observed), critical, limit), joint


def _pvalue(count: Floats, undefined: NDArray[np.bool_], plan: Plan) -> Floats:
    """Turn counts of shuffles at least as large into p-values; the observed assignment is one of them."""
    return np.where(undefined, np.nan, np.maximum(count + (not plan.exact), 1) / plan.n_total)


def _at_least(table: Floats, observed: Floats) -> Floats:
    """Return how many shuffled values, shape (..., shuffle), are at least the observed ones, ties included."""
    return np.asarray(np.count_nonzero(table >= (observed - TIE)[..., np.newaxis], axis=-1), float)


def _critical(table: Floats, plan: Plan, rules: Rules) -> Floats:
    """Return the value that few enough of the shuffled ones exceed; 1, the largest R, if there is none."""
    n_tail = min(int(np.floor(rules.alpha * plan.n_total + 1e-9)) + plan.exact, plan.n_resamples)
    if n_tail == 0:
        return np.ones(table.shape[:-1])
    return np.partition(table, table.shape[-1] - n_tail, axis=-1)[..., -n_tail].copy()  # a view would keep it all


def _shares(curves: Floats, assignments: Assignments) -> Floats:
    """Return the shuffled R of scaled curves, shape (task, level, curve), as (task, level, shuffle)."""
    flat = curves.reshape(-1, curves.shape[-1])
    table = np.empty((len(flat), assignments.plan.n_resamples))
    fill = _fill_by_contrasts if len(assignments.plan.sizes) <= _FEW_GROUPS else _fill_by_sums
    fill(table, flat, assignments)
    return table.reshape(*curves.shape[:2], -1)


def _fill_by_contrasts(table: Floats, flat: Floats, assignments: Assignments) -> None:
    """Add up squared contrasts of groups, which are products of dense matrices."""
    sizes = np.array(assignments.plan.sizes)
    complete, _ = np.linalg.qr(np.column_stack([np.sqrt(sizes), np.eye(len(sizes))[:, 1:]]))
    contrasts = complete[:, 1:].T / np.sqrt(sizes)  # of the groups: orthonormal over the curves, orthogonal to the mean
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


def _fill_by_sums(table: Floats, flat: Floats, assignments: Assignments) -> None:
    """Add up squared sums of groups; a curve is added to one group only, however many there are."""
    sizes = assignments.plan.sizes
    weights = 1 / np.sqrt(sizes)
    for shuffles, order in assignments.orders():
        groups = sparse_members(order, sizes, weights)
        for some in (slice(start, start + _SUMMED) for start in range(0, len(flat), _SUMMED)):
            sums = (groups @ np.ascontiguousarray(flat[some].T)).reshape(len(order), len(sizes), -1)
            table[some, shuffles] = np.einsum("sgl,sgl->ls", sums, sums)
