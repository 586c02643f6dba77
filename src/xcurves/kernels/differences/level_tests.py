"""Sums of squares level by level, and their randomization: pointwise, largest-F and cluster-mass tests.

With deviations ``d_ih`` of group means, effects are sums of ``l_i d_i d_ih`` (algorithm), ``l_i (d_ih - d_i)²``
(interaction) and both together ``l_i d_ih²`` (simple). Tests are on the scale of R = SS / (SS + error SS), whose
denominator no reassignment changes. Clusters are stretches of levels whose F is above a threshold (Maris & Oostenveld,
doi:10.1016/j.jneumeth.2007.03.024).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.kernels.resampling.assignments import Labels
from xcurves.kernels.resampling.batches import CACHE, MEMORY, rows_that_fit, stretches
from xcurves.kernels.resampling.engine import (
    Progress,
    StepDown,
    count_at_least,
    group_sums,
    label_batches,
    n_rare,
)
from xcurves.kernels.resampling.group_products import squares_over_groups
from xcurves.kernels.resampling.plans import TIE, Plan, RunPlan

# bytes up to which the table of levels by reassignments is held whole
_TABLE = 3 * MEMORY
_ROWS = 256  # reassignments whose sums are computed at once
_PART = CACHE // 16  # doubles of the curves that are worked on at once
_NOTHING = 1e-21  # share of the sum of squares that is only rounding error


class Levels(NamedTuple):
    """Groups of curves, reduced level by level."""

    deviations: (
        Floats  # (task, group, level): means of the groups less that of all curves
    )
    simple: Floats  # (task, level): sum of squares between groups
    error: Floats  # within groups, or group by run if paired


def measure_levels(curves: Floats, sizes: tuple[int, ...], *, paired: bool) -> Levels:
    """Reduce complete curves, shape (task, curve, level), group after group, in stretches that fit the cache."""
    n_tasks, n_curves, n_levels = curves.shape
    found = Levels(
        np.empty((n_tasks, len(sizes), n_levels)), *np.empty((2, n_tasks, n_levels))
    )
    width = min(n_levels, max(64, _PART // n_curves))
    tasks = stretches(n_tasks, max(1, _PART // (n_curves * width)))
    # the caller refuses infinite and huge scores
    with np.errstate(over="ignore", invalid="ignore"):
        for part in (
            (some, ..., levels)
            for some in tasks
            for levels in stretches(n_levels, width)
        ):
            for whole, reduced in zip(
                found, _measure_part(curves[part], sizes, paired), strict=True
            ):
                whole[part] = reduced
    return found


def effects(measured: Levels, sizes: tuple[int, ...]) -> Floats:
    """Return the profiles simple, algorithm and interaction as sums of squares, shape (task, 3, level)."""
    weights, own = np.array(sizes, float), measured.deviations.mean(axis=-1)
    algorithm = ((weights * own)[:, np.newaxis] @ measured.deviations)[:, 0]
    apart = measured.deviations - own[..., np.newaxis]
    return np.stack(
        [measured.simple, algorithm, np.einsum("g,tgh,tgh->th", weights, apart, apart)],
        axis=1,
    )


def shares(ss: Floats, everything: Floats) -> tuple[Floats, Floats]:
    """Return fractions of totals and their running sums; where all is rounding error NaN, and `ss` is set to 0."""
    total = ss.sum(axis=-1, keepdims=True)
    nothing = total <= _NOTHING * everything[:, np.newaxis, np.newaxis]
    np.copyto(ss, 0.0, where=nothing)
    fraction = ss / np.where(nothing, np.nan, total)
    return fraction, fraction.cumsum(axis=-1)


def corrected_share(simple: Floats, error: Floats, df: tuple[float, float]) -> Floats:
    """Return shares of levels less the share expected of noise; NaN where noise explains the whole sum."""
    rest = simple - df[0] / df[1] * error
    total = rest.sum(axis=-1, keepdims=True)
    return np.asarray(
        rest
        / np.where(
            total > _NOTHING * (simple + error).sum(axis=-1, keepdims=True),
            total,
            np.nan,
        )
    )


def centre_groups(curves: Floats, sizes: tuple[int, ...], *, paired: bool) -> Floats:
    """Subtract the mean of all curves from every level, and if paired the mean of the groups from every run."""
    # Differences from one curve are exact where curves are close (Sterbenz): equal scores give exact zeros.
    apart = np.subtract(curves, curves[:, :1], order="C")
    apart -= apart.mean(axis=1, keepdims=True)
    if paired:
        grid = apart.reshape(len(apart), len(sizes), sizes[0], -1)
        grid -= grid.mean(axis=1, keepdims=True)
    return apart


def _measure_part(
    curves: Floats, sizes: tuple[int, ...], paired: bool
) -> tuple[Floats, Floats, Floats]:
    spread = np.zeros(())
    if paired:
        apart = curves - curves[:, :1]
        spread = np.einsum("tnh,tnh->th", apart, apart)
        curves = centre_groups(curves, sizes, paired=True)
    weights = np.array(sizes, float)
    means, error = _group_means(curves, sizes)
    deviations = (
        means - np.einsum("g,tgh->th", weights / curves.shape[1], means)[:, np.newaxis]
    )
    simple = np.einsum("g,tgh,tgh->th", weights, deviations, deviations)
    for ss in (simple, error):
        ss[ss <= 64 * np.finfo(float).eps ** 2 * spread] = (
            0.0  # rounding errors of run means, where the sum is zero
        )
    return deviations, simple, error


def _group_means(curves: Floats, sizes: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the means of the groups less the first curve, shape (task, group, level), and the SS within them."""
    n_tasks, _, n_levels = curves.shape
    means, within = [], np.zeros((n_tasks, n_levels))
    start = 0
    for size, alike in groupby(sizes):
        end = start + size * len(list(alike))
        groups = curves[:, start:end].reshape(n_tasks, -1, size, n_levels)
        # A sum of squares about a member is at most l + 1 times the one about the mean: little cancels.
        apart = groups[:, :, 1:] - groups[:, :, :1]
        mean = np.add.reduce(apart, axis=2)
        mean /= size
        within += np.einsum("tgnh,tgnh->th", apart, apart)
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
    step_down: bool
    threshold: float | None  # F of a cluster; None: the critical value of each level


def profile_tests(
    design: ProfileDesign,
    plan: RunPlan,
    rules: Rules,
    batch: int | None = None,
    progress: Progress = lambda blocks: blocks,
) -> dict[str, Floats]:
    """Compare the observed shares with those of every reassignment: by level, and by interval."""
    observed, undefined = np.nan_to_num(design.share), np.isnan(design.share)
    n_tasks, n_levels, _ = design.curves.shape
    critical = np.empty(observed.shape)
    whole = observed.size * plan.n_resamples * 8 <= _TABLE
    width = n_levels if whole else rows_that_fit(8 * n_tasks * plan.n_resamples)
    for start in progress(range(0, n_levels, width)):
        some = slice(start, start + width)
        table = _shuffled_shares(
            design.curves[:, some], plan, min(batch or _ROWS, _ROWS)
        )
        critical[:, some] = _critical(table, plan, rules)
    limit = critical
    if rules.threshold is not None:
        between, error = design.df
        limit = np.full_like(
            critical, between * rules.threshold / (error + between * rules.threshold)
        )
    cluster, mass = find_clusters(design.share, limit, design.df)
    total = design.within.sum(axis=-1)
    of_intervals = design.within / np.where(total == 0, 1.0, total)[..., np.newaxis]
    levels = _Family(observed, plan, rules)
    intervals = _Family((of_intervals @ observed[..., np.newaxis])[..., 0], plan, rules)
    masses = np.zeros((n_tasks, plan.n_resamples))
    batches = label_batches(plan, min(batch or plan.rows, rows_that_fit(8 * n_levels)))
    of_batches = (
        (some, _shuffled_shares(design.curves, plan, len(labels), labels))
        for some, labels in batches
    )
    for some, shares in [(slice(None), table)] if whole else of_batches:
        levels.add(some, shares)
        intervals.add(some, of_intervals @ shares)
        masses[:, some] = largest_masses(shares, limit, design.df)
    return {
        "pvalue": _pvalue(levels.reached, undefined, plan),
        "pvalue_adjusted": _pvalue(levels.adjusted, undefined, plan),
        "critical": critical,
        "critical_simultaneous": _critical(levels.largest[:, np.newaxis], plan, rules),
        "cluster": cluster,
        "cluster_pvalue": _pvalue(count_at_least(masses, mass), np.isnan(mass), plan),
        "interval_pvalue": _pvalue(intervals.reached, total == 0, plan),
        "interval_pvalue_adjusted": _pvalue(intervals.adjusted, total == 0, plan),
    }


class _Family:
    """Shares that are tested together, shape (task, member): how many reassignments count against each."""

    def __init__(self, observed: Floats, plan: RunPlan, rules: Rules) -> None:
        self.observed = observed
        self.reached = np.zeros(observed.shape)
        self.largest = np.zeros((len(observed), plan.n_resamples))
        self.steps = StepDown(observed) if rules.step_down else None

    def add(self, some: slice, shares: Floats) -> None:
        """Add the shares of some reassignments, shape (task, member, reassignment)."""
        self.reached += np.count_nonzero(
            shares >= (self.observed - TIE)[..., np.newaxis], axis=-1
        )
        self.largest[:, some] = shares.max(axis=1, initial=0.0)
        if self.steps is not None:
            self.steps.add(shares)

    @property
    def adjusted(self) -> Floats:
        """How many reassignments count against each member as one of all."""
        return (
            count_at_least(self.largest, self.observed - TIE)
            if self.steps is None
            else self.steps.counts
        )


def _pvalue(count: Floats, undefined: NDArray[np.bool_], plan: RunPlan) -> Floats:
    """Return p-values from counts of the reassignments that are evaluated, NaN where there is nothing to test."""
    return np.where(undefined, np.nan, plan.pvalue(count))


def _critical(table: Floats, plan: RunPlan, rules: Rules) -> Floats:
    """Return the value that few enough of the shuffled ones exceed; 1, the largest R, if there is none."""
    size = min(n_rare(plan, rules.alpha) + plan.exact, plan.n_resamples)
    if size == 0:
        return np.ones(table.shape[:-1])
    return np.minimum(np.partition(table, -size)[..., -size], 1.0)


def _shuffled_shares(
    curves: Floats, plan: RunPlan, rows: int, labels: Labels | None = None
) -> Floats:
    """Return the shuffled R of scaled curves, (task, level, reassignment), of all the plan's or of some labels."""
    flat = curves.reshape(1, -1, curves.shape[-1])
    table = np.empty(
        (1, flat.shape[1], plan.n_resamples if labels is None else len(labels))
    )
    for some, of_some in (
        label_batches(plan, rows) if labels is None else [(slice(None), labels)]
    ):
        squares_over_groups(flat, of_some, plan.sizes, table[..., some])
    return table.reshape(*curves.shape[:2], -1)


Df = tuple[float, float]


def f_of(share: Floats, df: Df) -> Floats:
    """Return F of shares R, infinite where nothing is left for the error."""
    f = np.full(np.shape(share), np.inf)
    np.divide(share * (df[1] / df[0]), 1 - share, out=f, where=share < 1)
    return f


def find_clusters(share: Floats, threshold: Floats, df: Df) -> tuple[Floats, Floats]:
    """Find the clusters of shares, (task, level), numbered from 1, and the mass of each level's; NaN outside."""
    above = share > threshold + TIE  # False for NaN
    starts = above & ~np.pad(above, ((0, 0), (1, 0)))[:, :-1]
    number = starts.cumsum(axis=-1)
    index = number + (share.shape[-1] + 1) * np.arange(len(share))[:, np.newaxis]
    f = np.where(above, f_of(share - TIE, df), 0.0)
    mass = np.bincount(index.ravel(), f.ravel())[index]
    return np.where(above, number, np.nan), np.where(above, mass, np.nan)


def largest_masses(table: Floats, threshold: Floats, df: Df) -> Floats:
    """Return the largest mass of a cluster, (task, reassignment), of a table (task, level, reassignment)."""
    n_tasks, n_levels, n_resamples = table.shape
    above = np.moveaxis(table > threshold[..., np.newaxis] + TIE, 1, 2)
    index = np.flatnonzero(above)  # reassignment by reassignment, level after level
    largest = np.zeros(n_tasks * n_resamples)
    if index.size:
        row, level = np.divmod(index, n_levels)
        begins = np.flatnonzero((level == 0) | (np.diff(index, prepend=-2) > 1))
        task, shuffle = np.divmod(row, n_resamples)
        np.maximum.at(
            largest,
            row[begins],
            np.add.reduceat(f_of(table[task, level, shuffle], df), begins),
        )
    return largest.reshape(n_tasks, n_resamples)


class LevelDifferences(NamedTuple):
    """The differences of all pairs of groups at all levels."""

    largest: Floats  # (task, reassignment): the largest T² of the residuals, which are exchangeable
    difference: Floats  # (task, pair, level)
    variance: Floats  # of these; NaN where the runs of a group have equal scores


def level_differences(curves: Floats, plan: RunPlan) -> LevelDifferences:
    """Compare the groups of complete curves, shape (task, curve, level)."""
    n_tasks, n_curves, n_levels = curves.shape
    pairs = list(combinations(range(len(plan.sizes)), 2))
    apart = curves - curves[:, :1]
    means = np.stack(
        [
            apart[:, plan.observed == group].mean(axis=1)
            for group in range(len(plan.sizes))
        ],
        axis=1,
    )
    residuals = apart - means[:, plan.observed]
    by_level = np.ascontiguousarray(np.moveaxis(residuals, 1, 2))
    # then T² is F, which rises with R
    alike = len(pairs) == 1 and len(set(plan.sizes)) == 1
    if alike:
        scaled = np.moveaxis(
            centre_groups(residuals, plan.sizes, paired=plan.paired), 1, 2
        )
        size = np.sqrt((scaled**2).sum(axis=-1, keepdims=True) * plan.sizes[0] / 2)
        by_level = np.divide(scaled, size, out=np.zeros_like(by_level), where=size > 0)
    largest = np.zeros((n_tasks, plan.n_resamples))
    width = min(n_levels, rows_that_fit(8 * n_tasks * n_curves, CACHE // 8))
    for levels in stretches(n_levels, width):
        start = 0
        for found in (_shares_of_two if alike else _largest_squares)(
            by_level[:, levels], plan
        ):
            stop = start + found.shape[-1]
            np.maximum(
                largest[:, start:stop], found.max(axis=1), out=largest[:, start:stop]
            )
            start = stop
    if alike:
        df = (1, (plan.sizes[0] - 1) * (1 if plan.paired else 2))
        largest = f_of(np.where(largest > 1 - TIE, 1.0, largest), df)
    # Runs with equal scores give no estimate of their spread.
    groups = np.split(residuals, np.cumsum(plan.sizes)[:-1], axis=1)
    variances = []
    for a, b in combinations(groups, 2):
        squares = [((a - b) ** 2)] if plan.paired else [a**2, b**2]
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = sum(
                each.sum(axis=1) / (each.shape[1] * (each.shape[1] - 1))
                for each in squares
            )
        variances.append(
            np.where(a.any(axis=1) & b.any(axis=1) & (variance > 0), variance, np.nan)
        )
    differences = [means[:, a] - means[:, b] for a, b in pairs]
    return LevelDifferences(
        largest, np.stack(differences, axis=1), np.stack(variances, axis=1)
    )


def are_equivalent(
    found: LevelDifferences, plan: Plan, alpha: float, margin: float
) -> NDArray[np.bool_]:
    """Return whether the intervals of all differences lie within the margin, shape (task, level)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = (margin - np.abs(found.difference)) / np.sqrt(found.variance)
    known = np.where(np.isnan(found.variance), -np.inf, room).min(axis=1)
    return np.asarray(
        (_critical_difference(found, plan, alpha) <= known) & np.isfinite(known)
    )


def bands(found: LevelDifferences, plan: Plan, alpha: float) -> Floats:
    """Return bands of all differences at all levels together, shape (task, pair, level, 2); infinite with few runs."""
    half = _critical_difference(found, plan, alpha)[..., np.newaxis] * np.sqrt(
        found.variance
    )
    return np.stack([found.difference - half, found.difference + half], axis=-1)


def _critical_difference(found: LevelDifferences, plan: Plan, alpha: float) -> Floats:
    """Return the critical value of the largest |T| of each task, shape (task, 1), infinite if no assignment is rare."""
    rare = n_rare(plan, alpha)
    if rare == 0:
        return np.full((len(found.largest), 1), np.inf)
    place = -min(rare, found.largest.shape[1])
    return np.sqrt(np.partition(found.largest, place)[:, [place]])


def _shares_of_two(scaled: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield R of two groups of one size l, (task, level, reassignment): numbers add up to 0, their squares to 2 / l."""
    for sums in group_sums(scaled.reshape(1, -1, scaled.shape[-1]), plan):
        yield np.square(sums, out=sums).reshape(*scaled.shape[:2], -1)


def _largest_squares(residuals: Floats, plan: RunPlan) -> Iterator[Floats]:
    """Yield the largest T² of all pairs of groups, shape (task, level, reassignment); 0 without a difference."""
    n_pairs = len(plan.sizes) * (len(plan.sizes) - 1) // 2
    for _, labels in label_batches(
        plan, rows_that_fit(16 * math.prod(residuals.shape[:2]) * n_pairs, CACHE)
    ):
        largest = np.zeros((*residuals.shape[:2], len(labels)))
        for square, variance in (_pairs_within if plan.paired else _pairs_between)(
            residuals, labels, plan.sizes
        ):
            with np.errstate(divide="ignore"):
                np.divide(square, variance, out=square, where=square > 0)
            np.maximum(largest, square, out=largest)
        yield largest


def _pairs_between(
    residuals: Floats, labels: Labels, sizes: tuple[int, ...]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the squared difference of means and its variance, (task, level, reassignment), of every pair of groups."""
    members = [(labels == group).T.astype(float) for group in range(len(sizes))]
    sums, squares = (
        [each @ member for member in members] for each in (residuals, residuals**2)
    )
    variances = [_variance(*each) for each in zip(sums, squares, sizes, strict=True)]
    for a, b in combinations(range(len(sizes)), 2):
        yield (
            (sums[a] / sizes[a] - sums[b] / sizes[b]) ** 2,
            variances[a] + variances[b],
        )


def _pairs_within(
    residuals: Floats, labels: Labels, sizes: tuple[int, ...]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the same for pairs of matched groups, from the differences within their runs."""
    n_groups, n_runs = len(sizes), sizes[0]
    # Which of the curves of a run each group takes: the inverse of the run's labels.
    taken = labels.reshape(len(labels), n_groups, n_runs).argsort(axis=1)
    # (task, level, reassignment, group, run)
    placed = residuals[..., taken * n_runs + np.arange(n_runs)]
    for a, b in combinations(range(n_groups), 2):
        apart = placed[..., a, :] - placed[..., b, :]
        total = apart.sum(axis=-1)
        yield (
            (total / n_runs) ** 2,
            _variance(total, np.einsum("...r,...r->...", apart, apart), n_runs),
        )


def _variance(total: Floats, squares: Floats, size: int) -> Floats:
    """Return the variance of a mean of `size` values from their sum and sum of squares; infinite for one value."""
    if size == 1:
        return np.full_like(total, np.inf)
    return np.maximum(squares - total**2 / size, 0.0) / (size * (size - 1))
