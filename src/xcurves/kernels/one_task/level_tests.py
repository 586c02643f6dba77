"""Sums of squares level by level, and their randomization: pointwise, largest-F and cluster-mass tests.

With deviations ``d_ih`` of group means, effects are sums of ``l_i d_i d_ih`` (algorithm), ``l_i (d_ih - d_i)²``
(interaction) and both together ``l_i d_ih²`` (simple). Tests are on the scale of R = SS / (SS + error SS), whose
denominator no reassignment changes. Clusters are stretches of levels whose F is above a threshold (Maris & Oostenveld,
doi:10.1016/j.jneumeth.2007.03.024).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.kernels.resampling.batches import CACHE, MEMORY, rows_that_fit, stretches
from xcurves.kernels.resampling.engine import (
    Progress,
    StepDown,
    count_at_least,
    label_batches,
    n_rare,
)
from xcurves.kernels.resampling.group_products import squares_over_groups
from xcurves.kernels.resampling.plans import TIE, RunPlan

# Bytes up to which the table of levels by reassignments is held whole: beyond, all is computed twice, for critical
# values of a level over all reassignments, and for the largest values of a reassignment over all levels.
_TABLE = 3 * MEMORY
_ROWS = 256  # reassignments whose sums are computed at once
# Doubles of the curves that are worked on at once: half a cache, beside which the arrays made of them have room.
_PART = CACHE // 16
_FEWEST_LEVELS = 64  # of such a part, however many curves there are
_NOTHING = 1e-21  # share of the sum of squares that is only rounding error


class Levels(NamedTuple):
    """Groups of curves, reduced level by level."""

    # (task, group, level): means of the groups less that of all curves
    deviations: Floats
    simple: Floats  # (task, level): sum of squares between groups
    error: Floats  # within groups, or group by run if paired


def measure_levels(curves: Floats, sizes: tuple[int, ...], *, paired: bool) -> Levels:
    """Reduce complete curves, shape (task, curve, level), group after group, in stretches that fit the cache."""
    n_tasks, n_curves, n_levels = curves.shape
    measured = Levels(np.empty((n_tasks, len(sizes), n_levels)), *np.empty((2, n_tasks, n_levels)))
    width = min(n_levels, max(_FEWEST_LEVELS, _PART // n_curves))
    n_tasks_at_once = max(1, _PART // (n_curves * width))
    # the caller refuses infinite and huge scores
    with np.errstate(over="ignore", invalid="ignore"):
        for tasks in stretches(n_tasks, n_tasks_at_once):
            for levels in stretches(n_levels, width):
                part = (tasks, ..., levels)
                reduced = _measure_part(curves[part], sizes, paired)
                for whole, of_part in zip(measured, reduced, strict=True):
                    whole[part] = of_part
    return measured


def effects(measured: Levels, sizes: tuple[int, ...]) -> Floats:
    """Return the profiles simple, algorithm and interaction as sums of squares, shape (task, 3, level)."""
    weights = np.array(sizes, float)
    mean_deviations = measured.deviations.mean(axis=-1)  # d_i
    # Σ l_i d_i d_ih, which may be negative at a level
    algorithm = (weights * mean_deviations)[:, np.newaxis] @ measured.deviations
    rest = measured.deviations - mean_deviations[..., np.newaxis]
    interaction = np.einsum("g,tgh,tgh->th", weights, rest, rest)
    return np.stack([measured.simple, algorithm[:, 0], interaction], axis=1)


def shares(ss: Floats, everything: Floats) -> tuple[Floats, Floats]:
    """Return fractions of totals and their running sums; where all is rounding error NaN, and `ss` is set to 0."""
    total = ss.sum(axis=-1, keepdims=True)
    nothing = total <= _NOTHING * everything[:, np.newaxis, np.newaxis]
    np.copyto(ss, 0.0, where=nothing)
    fraction = ss / np.where(nothing, np.nan, total)
    return fraction, fraction.cumsum(axis=-1)


def corrected_share(simple: Floats, error: Floats, df: tuple[float, float]) -> Floats:
    """Return shares of levels less the share expected of noise; NaN where noise explains the whole sum."""
    # E s_h = true + df MS_within: noise alone gives a level a sum of squares, the more the more it spreads
    rest = simple - df[0] / df[1] * error
    total = rest.sum(axis=-1, keepdims=True)
    everything = (simple + error).sum(axis=-1, keepdims=True)
    is_more_than_noise = total > _NOTHING * everything
    return np.asarray(rest / np.where(is_more_than_noise, total, np.nan))


def centre_groups(curves: Floats, sizes: tuple[int, ...], *, paired: bool) -> Floats:
    """Subtract the mean of all curves from every level, and if paired the mean of the groups from every run."""
    # Differences from one curve are exact where curves are close (Sterbenz): equal scores give exact zeros.
    centred = np.subtract(curves, curves[:, :1], order="C")
    centred -= centred.mean(axis=1, keepdims=True)
    if paired:
        by_run = centred.reshape(len(centred), len(sizes), sizes[0], -1)  # a view
        by_run -= by_run.mean(axis=1, keepdims=True)
    return centred


def _measure_part(curves: Floats, sizes: tuple[int, ...], paired: bool) -> tuple[Floats, Floats, Floats]:
    """Return the fields of `Levels` of some tasks and levels."""
    # Means of runs round, so that a sum of squares that is zero is not: it is about eps² times what there was before.
    spread = np.zeros(())
    if paired:
        from_first = curves - curves[:, :1]
        spread = np.einsum("tnh,tnh->th", from_first, from_first)
        curves = centre_groups(curves, sizes, paired=True)
    rounding = 64 * np.finfo(float).eps ** 2 * spread

    weights = np.array(sizes, float)
    means, error = _group_means(curves, sizes)
    mean_of_all = np.einsum("g,tgh->th", weights / curves.shape[1], means)
    deviations = means - mean_of_all[:, np.newaxis]
    simple = np.einsum("g,tgh,tgh->th", weights, deviations, deviations)
    for ss in (simple, error):
        ss[ss <= rounding] = 0.0
    return deviations, simple, error


def _group_means(curves: Floats, sizes: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the means of the groups less the first curve, shape (task, group, level), and the SS within them."""
    n_tasks, _, n_levels = curves.shape
    means, within = [], np.zeros((n_tasks, n_levels))
    start = 0
    # neighbouring groups of one size together, as one array
    for size, alike in groupby(sizes):
        end = start + size * len(list(alike))
        groups = curves[:, start:end].reshape(n_tasks, -1, size, n_levels)
        # Σ (y - ȳ)² = Σ (y - y_1)² - l (ȳ - y_1)². A sum of squares about a member is at most l + 1 times the one about
        # the mean: little cancels, and no array of deviations from the mean is made.
        from_first = groups[:, :, 1:] - groups[:, :, :1]
        mean = np.add.reduce(from_first, axis=2)
        mean /= size
        within += np.einsum("tgnh,tgnh->th", from_first, from_first)
        within -= size * np.einsum("tgh,tgh->th", mean, mean)
        # in one step, so that an offset loses no precision
        mean += groups[:, :, 0] - curves[:, :1]
        means.append(mean)
        start = end
    return np.concatenate(means, axis=1), within


class ProfileDesign(NamedTuple):
    """What the randomization of levels needs."""

    curves: Floats  # (task, level, curve), by group; centred, sum of squares 1, or 0 where scores are equal
    share: Floats  # (task, level): observed R; NaN where all scores are equal
    within: Floats  # (task, interval, level): sums of squares, error too; 0 for other levels
    df: Df  # of F: between groups, and of the error


class Rules(NamedTuple):
    """Options of the tests."""

    alpha: float
    threshold: float | None  # F of a cluster; None: the critical value of each level


def profile_tests(
    design: ProfileDesign,
    plan: RunPlan,
    rules: Rules,
    progress: Progress = lambda blocks: blocks,
) -> dict[str, Floats]:
    """Compare the observed shares with those of every reassignment: by level, and by interval."""
    observed, is_undefined = np.nan_to_num(design.share), np.isnan(design.share)
    n_tasks, n_levels, _ = design.curves.shape
    critical, table = _critical_by_level(design, plan, rules, progress)

    # R = df_1 F / (df_2 + df_1 F): a threshold of F is one of R, the same at all levels.
    threshold = critical
    if rules.threshold is not None:
        between, error = design.df
        of_effect = between * rules.threshold
        threshold = np.full_like(critical, of_effect / (error + of_effect))
    cluster, mass = find_clusters(design.share, threshold, design.df)

    # R of an interval, Σ s_h / Σ (s_h + within_h), is the mean of those of its levels, weighted by their totals, which
    # no reassignment changes.
    total = design.within.sum(axis=-1)
    weights = design.within / np.where(total == 0, 1.0, total)[..., np.newaxis]
    levels = _Family(observed, plan)
    intervals = _Family((weights @ observed[..., np.newaxis])[..., 0], plan)
    masses = np.zeros((n_tasks, plan.n_resamples))
    if table is None:
        batches = _shares_by_batch(design.curves, plan, rows_that_fit(8 * n_levels))
    else:
        batches = iter([(slice(None), table)])
    for some, shuffled in batches:
        levels.add(some, shuffled)
        intervals.add(some, weights @ shuffled)
        masses[:, some] = largest_masses(shuffled, threshold, design.df)
    return {
        "pvalue": _pvalue(levels.reached, is_undefined, plan),
        "pvalue_adjusted": _pvalue(levels.adjusted, is_undefined, plan),
        "critical": critical,
        "critical_simultaneous": _critical(levels.largest[:, np.newaxis], plan, rules),
        "cluster": cluster,
        "cluster_pvalue": _pvalue(count_at_least(masses, mass), np.isnan(mass), plan),
        "interval_pvalue": _pvalue(intervals.reached, total == 0, plan),
        "interval_pvalue_adjusted": _pvalue(intervals.adjusted, total == 0, plan),
    }


def _critical_by_level(
    design: ProfileDesign,
    plan: RunPlan,
    rules: Rules,
    progress: Progress,
) -> tuple[Floats, Floats | None]:
    """Return the critical R of each level, and R of all levels and reassignments where these are held whole."""
    n_tasks, n_levels, _ = design.curves.shape
    is_whole = design.share.size * plan.n_resamples * 8 <= _TABLE
    width = n_levels
    if not is_whole:
        width = rows_that_fit(8 * n_tasks * plan.n_resamples)
    critical = np.empty(design.share.shape)
    for start in progress(range(0, n_levels, width)):
        some = slice(start, start + width)
        table = _shuffled_shares(design.curves[:, some], plan)
        critical[:, some] = _critical(table, plan, rules)
    if not is_whole:
        return critical, None
    return critical, table


def _shares_by_batch(curves: Floats, plan: RunPlan, rows: int) -> Iterator[tuple[slice, Floats]]:
    """Yield which reassignments a batch has, and their R at all levels."""
    features = curves.reshape(1, -1, curves.shape[-1])
    for some, labels in label_batches(plan, rows):
        shuffled = squares_over_groups(features, labels, plan.sizes)
        yield some, shuffled.reshape(*curves.shape[:2], -1)


class _Family:
    """Shares that are tested together, shape (task, member): how many reassignments count against each."""

    def __init__(self, observed: Floats, plan: RunPlan) -> None:
        self.observed = observed
        self.reached = np.zeros(observed.shape)
        self.largest = np.zeros((len(observed), plan.n_resamples))
        self.steps = StepDown(observed)

    def add(self, some: slice, shares: Floats) -> None:
        """Add the shares of some reassignments, shape (task, member, reassignment)."""
        self.reached += np.count_nonzero(shares >= (self.observed - TIE)[..., np.newaxis], axis=-1)
        self.largest[:, some] = shares.max(axis=1, initial=0.0)
        self.steps.add(shares)

    @property
    def adjusted(self) -> Floats:
        """How many reassignments count against each member as one of all."""
        return self.steps.counts


def _pvalue(count: Floats, undefined: NDArray[np.bool_], plan: RunPlan) -> Floats:
    """Return p-values from counts of the reassignments that are evaluated, NaN where there is nothing to test."""
    return np.where(undefined, np.nan, plan.pvalue(count))


def _critical(table: Floats, plan: RunPlan, rules: Rules) -> Floats:
    """Return the value that few enough of the shuffled ones exceed; 1, the largest R, if there is none."""
    # The largest value that is not rare. If all are enumerated it comes after `n_rare` larger ones; if random one place
    # earlier, as the observed one, to which it is compared, is in no table.
    size = min(n_rare(plan, rules.alpha) + plan.exact, plan.n_resamples)
    if size == 0:
        return np.ones(table.shape[:-1])
    return np.minimum(np.partition(table, -size)[..., -size], 1.0)


def _shuffled_shares(curves: Floats, plan: RunPlan) -> Floats:
    """Return the shuffled R of scaled curves, (task, level, reassignment), of all reassignments of the plan."""
    # Curves are scaled so that s_h + within_h = 1: Σ_g s_g² / l_g, the sum of squares between groups, is R. Levels of
    # all tasks are the features of one: they share the reassignments.
    features = curves.reshape(1, -1, curves.shape[-1])
    table = np.empty((1, features.shape[1], plan.n_resamples))
    for some, labels in label_batches(plan, _ROWS):
        squares_over_groups(features, labels, plan.sizes, table[..., some])
    return table.reshape(*curves.shape[:2], -1)


Df = tuple[float, float]


def f_of(share: Floats, df: Df) -> Floats:
    """Return F of shares R, infinite where nothing is left for the error."""
    # F = (SS / df_1) / (error / df_2) with SS / error = R / (1 - R)
    f = np.full(np.shape(share), np.inf)
    np.divide(share * (df[1] / df[0]), 1 - share, out=f, where=share < 1)
    return f


def find_clusters(share: Floats, threshold: Floats, df: Df) -> tuple[Floats, Floats]:
    """Find the clusters of shares, (task, level), numbered from 1, and the mass of each level's; NaN outside."""
    above = share > threshold + TIE  # False for NaN
    # a cluster starts where the level before is not above
    starts = above & ~np.pad(above, ((0, 0), (1, 0)))[:, :-1]
    number = starts.cumsum(axis=-1)
    # Numbers of all tasks are made distinct, for one count: no task has more clusters than levels.
    index = number + (share.shape[-1] + 1) * np.arange(len(share))[:, np.newaxis]
    # less the slack of a tie, so that a reassignment with the same scores in it reaches the mass
    f = np.where(above, f_of(share - TIE, df), 0.0)
    mass = np.bincount(index.ravel(), f.ravel())[index]
    return np.where(above, number, np.nan), np.where(above, mass, np.nan)


def largest_masses(table: Floats, threshold: Floats, df: Df) -> Floats:
    """Return the largest mass of a cluster, (task, reassignment), of a table (task, level, reassignment)."""
    n_tasks, n_levels, n_resamples = table.shape
    # Few levels are above: only these are worked on, reassignment by reassignment, level after level.
    above = np.moveaxis(table > threshold[..., np.newaxis] + TIE, 1, 2)
    index = np.flatnonzero(above)
    largest = np.zeros(n_tasks * n_resamples)
    if index.size:
        row, level = np.divmod(index, n_levels)  # row: task and reassignment
        # a cluster begins after a gap, or with a new reassignment
        begins = np.flatnonzero((level == 0) | (np.diff(index, prepend=-2) > 1))
        task, shuffle = np.divmod(row, n_resamples)
        masses = np.add.reduceat(f_of(table[task, level, shuffle], df), begins)
        np.maximum.at(largest, row[begins], masses)
    return largest.reshape(n_tasks, n_resamples)
