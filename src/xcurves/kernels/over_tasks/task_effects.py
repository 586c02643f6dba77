"""The difference of two algorithms over given tasks, by dealing whole runs anew within every task by itself.

``Δ = Σ w_t d_t, T = Δ / sqrt(Σ w_t² v_t), R = Σ w_t (d_t - Δ)² / Σ w_t v_t`` (Janssen 1997, see `contrasts`), R of
numbers less Δ. Numbers are (pair, task, run), runs in front and NaN behind, as many of all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Floats, Index
from xcurves.kernels.one_task import shifted_contrasts
from xcurves.kernels.over_tasks.task_plans import DealPlan, TaskCells
from xcurves.kernels.over_tasks.task_ranks import RankTest
from xcurves.kernels.resampling.assignments import Labels
from xcurves.kernels.resampling.batches import in_stretches, rows_that_fit, stretches
from xcurves.kernels.resampling.engine import (
    Progress,
    label_batches,
    n_rare,
    ratio_reaches,
)
from xcurves.kernels.resampling.plans import TIE
from xcurves.kernels.resampling.shifts import may_leave_gaps

_ROUNDING = 64 * np.finfo(float).eps


class TaskNumbers(NamedTuple):
    """The numbers of tasks with the same numbers of runs, from which those of a deal follow.

    With s the sum of the numbers dealt to the first algorithm and q that of their squares (paired: s adds the
    differences of runs, less those whose curves change places), Q that of all squares, a task has
    ``d = weight_of_sum s`` and ``v = weight_of_all_squares Q + weight_of_squares q - weight_of_sum_squared s²``.
    """

    cells: TaskCells
    taken_by_label: float  # a curve is in s once; what a label of 1 takes from that
    u: Floats  # (member, curve, pair): less the estimate, centred within the task; paired: differences
    shift: Floats  # (curve,): what a shift of 1 takes from each
    weights: Floats  # (member,), of the tasks
    weight_of_sum: float
    weight_of_all_squares: float
    weight_of_squares: float
    weight_of_sum_squared: float


class Sums(NamedTuple):
    """What is needed of deals, each of shape (deal, pair), or (deal, 1) where it is the same for all pairs."""

    n: Floats  # estimate, e its slope by a shift
    e: Floats
    v0: Floats  # variance, with v1 and v2 by a shift: see `ShiftedContrast`
    v1: Floats
    v2: Floats
    spread: Floats  # numerator of R
    within: Floats  # its denominator


def difference_of_means(mean_x: Floats, mean_y: Floats) -> Floats:
    """Return differences of means, 0 where they round."""
    return _without_rounding(mean_x - mean_y, mean_x, mean_y)


def _without_rounding(difference: Floats, mean_x: Floats, mean_y: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        largest = np.maximum(np.abs(mean_x), np.abs(mean_y))
        is_rounding = np.abs(difference) <= _ROUNDING * largest
    return np.where(is_rounding, 0.0, difference)


def task_differences(x: Floats, y: Floats, *, paired: bool) -> tuple[Floats, Floats]:
    """Return differences of means, 0 where they round, and squared standard errors of tasks, NaN if unknown."""
    m, mean_x, var_x = moments(x)
    n, mean_y, var_y = moments(y)
    if not paired:
        return difference_of_means(mean_x, mean_y), var_x / m + var_y / n
    n_runs, difference, variance = moments(x - y)
    return _without_rounding(difference, mean_x, mean_y), variance / n_runs


def uncertainty(x: Floats, y: Floats, *, paired: bool) -> Floats:
    """Return the sum over samples of (s² / l)² / (l - 1) of every task: half the variance of its squared error."""
    # of normal runs, of which s² has the variance 2 σ⁴ / (l - 1)
    samples = [x - y] if paired else [x, y]
    total = np.zeros(())
    with np.errstate(divide="ignore", invalid="ignore"):
        for n, _, variance in map(moments, samples):
            total = total + (variance / n) ** 2 / (n - 1)
    return np.asarray(total)


def moments(u: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, mean and variance along the last axis without NaN."""
    present = ~np.isnan(u)
    count = np.count_nonzero(present, axis=-1).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(present, u, 0.0).sum(axis=-1) / count
        deviations = np.where(present, u - mean[..., np.newaxis], 0.0)
        squares = (deviations**2).sum(axis=-1)
        # equal numbers, of which the mean rounds
        squares[squares <= count * (_ROUNDING * mean) ** 2] = 0.0
        variance = squares / (count - 1)
    return count, mean, np.where(count > 1, variance, np.nan)


def task_effect_tests(
    x: Floats,
    y: Floats,
    weights: Floats,
    plan: DealPlan,
    alpha: float | Sequence[float],
    progress: Progress = lambda blocks: blocks,
    *,
    margin: float | None = None,
    sign: int = 1,
    ranks: bool = True,
) -> dict[str, Floats]:
    """Test the difference over tasks of every pair, with intervals at `alpha`, `ranks` and a `margin` if asked for."""
    # What is held of a pair: some four numbers of every deal, and of one block the sums of every task.
    n_in_block = min(plan.rows, plan.n_resamples)
    width = rows_that_fit(max(32 * plan.n_resamples, 8 * n_in_block * x.shape[1]))

    def test(some: slice) -> dict[str, Floats]:
        return _test_pairs(x[some], y[some], weights, plan, alpha, progress, margin, sign, ranks)

    if len(x) <= width:
        return test(slice(None))
    return in_stretches(test, len(x), width)


def _test_pairs(
    x: Floats,
    y: Floats,
    weights: Floats,
    plan: DealPlan,
    alpha: float | Sequence[float],
    progress: Progress,
    margin: float | None,
    sign: int,
    ranks: bool,
) -> dict[str, Floats]:
    """Test pairs whose sums are held all at once."""
    differences, squared_errors = task_differences(x, y, paired=plan.paired)
    tasks = np.concatenate([cells.tasks for cells in plan.cells])
    w = weights[tasks]
    estimate = weighted_sum(differences[:, tasks], w)
    error = np.sqrt(squared_errors[:, tasks] @ w**2)

    # All deals, block by block; ranks are counted along the way, so that every deal is made once.
    numbers_of = _paired_numbers if plan.paired else _numbers
    parts = [numbers_of(x, y, weights, cells, estimate) for cells in plan.cells]
    rank_test = RankTest(x, y, weights, plan) if ranks and not plan.paired else None
    blocks = []
    for _, labels in label_batches(plan, plan.rows, progress):
        blocks.append(_sums(parts, labels))
        if rank_test is not None:
            rank_test.add(labels)
    sums = Sums(*map(np.concatenate, zip(*blocks, strict=True)))
    observed = _sums(parts, plan.observed)

    rounding, rounding_of_within = _rounding_errors(parts, estimate)
    count = _count_differences(observed, sums, estimate, rounding)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where((estimate == 0) & (error == 0), 0.0, estimate / error)
    tested = {
        "difference": estimate,
        "statistic": statistic,
        "pvalue": plan.pvalue(count),
        **_interaction_test(observed, sums, rounding_of_within, plan, len(tasks)),
    }

    # In standard errors; without a spread in any task there is no interval.
    scale = np.sqrt(np.where(observed.v0[0] <= rounding, 0.0, observed.v0[0]))
    varies = np.flatnonzero(scale > 0)
    shifted = _in_standard_errors(sums, scale, varies)
    mosts = [n_rare(plan, level) for level in np.atleast_1d(alpha).tolist()]
    ends = _intervals(shifted, plan, mosts, estimate, scale, varies)
    if margin is not None:
        tested |= _margin_test(shifted, plan, mosts[0], margin, sign, estimate, scale, varies)
    tested["difference_ci"] = ends if np.ndim(alpha) else ends[:, 0]
    if rank_test is not None:
        tested |= rank_test.results
    return tested


def _interaction_test(observed: Sums, sums: Sums, rounding: Floats, plan: DealPlan, n_tasks: int) -> dict[str, Floats]:
    """Return the observed R and its p-value, NaN of a single task."""
    if n_tasks < 2:
        nothing = np.full(observed.spread.shape[-1], np.nan)
        return {"interaction": nothing, "interaction_pvalue": nothing}
    ratio, count = _count_interactions(observed, sums, rounding)
    pvalue = np.where(np.isnan(ratio), np.nan, plan.pvalue(count))
    return {"interaction": ratio, "interaction_pvalue": pvalue}


def _in_standard_errors(sums: Sums, scale: Floats, varies: Index) -> shifted_contrasts.ShiftedContrast:
    """Return the sums of the pairs that vary, (pair, deal), in units of the observed standard error."""
    unit = np.where(scale > 0, scale, np.nan)
    # rows of a pair beside each other, as `contrasts` has them
    mean = np.ascontiguousarray((sums.n / unit).T[varies])
    variance = np.ascontiguousarray((sums.v0 / unit**2).T[varies])
    linear = np.ascontiguousarray((sums.v1 / unit).T[varies])
    # a shift by y units: the slope stays, and y² v2 has the unit of the variance
    return shifted_contrasts.ShiftedContrast(mean, variance, linear, sums.e[:, 0], sums.v2[:, 0], np.ones(len(varies)))


def _intervals(
    shifted: shifted_contrasts.ShiftedContrast,
    plan: DealPlan,
    mosts: list[int],
    estimate: Floats,
    scale: Floats,
    varies: Index,
) -> Floats:
    """Return the hulls of the shifts that more than `mosts` deals reach, shape (pair, most, 2)."""
    in_units = np.full((len(estimate), len(mosts), 2), np.nan)
    if mosts:
        scan = any(may_leave_gaps(cells.n_a, cells.n_b) for cells in plan.cells)
        hulls = shifted_contrasts.hull(shifted, plan.besides, mosts, scan=scan)
        in_units[varies] = np.moveaxis(hulls, 0, 1)
    by_pair = (slice(None), np.newaxis, np.newaxis)
    return np.asarray(estimate[by_pair] + scale[by_pair] * in_units)


def _margin_test(
    shifted: shifted_contrasts.ShiftedContrast,
    plan: DealPlan,
    most: int,
    margin: float,
    sign: int,
    estimate: Floats,
    scale: Floats,
    varies: Index,
) -> dict[str, Floats]:
    """Return the p of a difference, times the sign, of at most ``-margin``, and the lower limit of it."""
    # Of -T after a shift by -y: the numerator changes its sign, and so does what is linear in the shift.
    of_sign = shifted._replace(mean=sign * shifted.mean, linear=sign * shifted.linear)
    signed_estimate, unit = sign * estimate[varies], scale[varies]
    at = -(margin + signed_estimate) / unit
    count, distance = shifted_contrasts.not_below(of_sign, at, plan.n_total, most)

    pvalue, limit = np.full((2, len(estimate)), np.nan)
    pvalue[varies] = count / plan.n_total
    limit[varies] = signed_estimate - unit * distance
    return {"margin_pvalue": pvalue, "margin_limit": limit}


def weighted_sum(d: Floats, weights: Floats) -> Floats:
    """Return the sum of weighted differences, 0 where it is a rounding error of its terms; NaN terms are left out."""
    terms = np.nan_to_num(d * weights)
    total = terms.sum(axis=-1)
    return np.where(np.abs(total) <= _ROUNDING * np.abs(terms).sum(axis=-1), 0.0, total)


def _numbers(x: Floats, y: Floats, weights: Floats, cells: TaskCells, estimate: Floats) -> TaskNumbers:
    """Return the numbers of tasks of which all m + n curves are dealt."""
    # With Σ u_j = 0, the sum over B's runs is -s, and that of their squares Q - q:
    #     d = s / m + s / n,
    #     v = (q - s² / m) / (m (m - 1)) + (Q - q - s² / n) / (n (n - 1)),
    # from which the weights of s, Q, q and s² are read off, with 1 / (m (m - 1)) and 1 / (n (n - 1)) as of_a and of_b.
    tasks, m, n, _ = cells
    of_a, of_b = 1 / (m * (m - 1)), 1 / (n * (n - 1))
    of_first = x[:, tasks, :m] - estimate[:, np.newaxis, np.newaxis]
    u = np.concatenate([of_first, y[:, tasks, :n]], axis=-1)
    u = u - u.mean(axis=-1, keepdims=True)
    # A shift is taken from the first algorithm's runs, of which centring leaves 1 - m / (m + n).
    shift = np.repeat([1.0, 0.0], [m, n]) - m / (m + n)
    return TaskNumbers(
        cells,
        taken_by_label=1.0,
        u=np.moveaxis(u, 0, -1),
        shift=shift,
        weights=weights[tasks],
        weight_of_sum=1 / m + 1 / n,
        weight_of_all_squares=of_b,
        weight_of_squares=of_a - of_b,
        weight_of_sum_squared=of_a / m + of_b / n,
    )


def _paired_numbers(x: Floats, y: Floats, weights: Floats, cells: TaskCells, estimate: Floats) -> TaskNumbers:
    """Return the numbers of tasks of which the two curves of each run change places, or do not."""
    # s = Σ ±u_j: a label of 1 turns +1 into -1. Squares do not change: v = (Q - s² / m) / (m (m - 1)).
    tasks, m, _, _ = cells
    u = x[:, tasks, :m] - y[:, tasks, :m] - estimate[:, np.newaxis, np.newaxis]
    return TaskNumbers(
        cells,
        taken_by_label=2.0,
        u=np.moveaxis(u, 0, -1),
        shift=np.ones(m),
        weights=weights[tasks],
        weight_of_sum=1 / m,
        weight_of_all_squares=1 / (m * (m - 1)),
        weight_of_squares=0.0,
        weight_of_sum_squared=1 / (m * m * (m - 1)),
    )


def _sums(parts: Sequence[TaskNumbers], labels: Labels) -> Sums:
    """Return the sums of a block of deals."""
    by_part = []
    for part in parts:
        of_part = part.cells.of(labels)
        # as many tasks at once as there is room for their deals as floats
        width = rows_that_fit(8 * len(labels) * of_part.shape[-1])
        for some in stretches(of_part.shape[1], width):
            by_task = part.taken_by_label * of_part[:, some].swapaxes(0, 1)
            deals = np.subtract(1.0, by_task, order="C", dtype=np.float64)
            members = part._replace(u=part.u[some], weights=part.weights[some])
            by_part.append(_sums_of_part(members, deals))
    total = Sums(*(sum(field[1:], field[0]) for field in zip(*by_part, strict=True)))

    # Where in every task all curves stay, or whole samples are exchanged, no shift changes the variance.
    largest_v2 = sum(part.weight_of_all_squares * (part.shift @ part.shift) * (part.weights**2).sum() for part in parts)
    is_whole = total.v2 <= _ROUNDING * largest_v2
    return total._replace(
        v1=np.where(is_whole, 0.0, total.v1),
        v2=np.where(is_whole, 0.0, total.v2),
        # Σ w (d - Δ)² = Σ w d² - Δ², as weights add up to 1
        spread=total.spread - total.n**2,
    )


def _sums_of_part(part: TaskNumbers, deals: Floats) -> Sums:
    """Return the share of some tasks of the sums; `spread` is about 0 yet."""
    # A shift δ turns u into u - δ `shift`, and with it
    #     s into s - δ c,   c the sum of `shift` over what is dealt to the first,
    #     Q into Σ u² - 2 δ Σ u shift + δ² Σ shift², and q likewise over what is dealt:
    # so V(δ) = v0 + v1 δ + v2 δ², of which each term has a part of s², of Q and of q. `products` has the summands of
    # the last two for v0, v1 and v2.
    w, w2 = part.weights, part.weights**2
    shift = part.shift
    s, c = deals @ part.u, deals @ shift
    products = (
        part.u * part.u,
        -2 * part.u * shift[:, np.newaxis],
        np.broadcast_to((shift * shift)[:, np.newaxis], (*part.u.shape[:2], 1)),
    )

    # less (s - δ c)² = s² - 2 δ s c + δ² c²
    of_sum_squared = part.weight_of_sum_squared
    within = -of_sum_squared * np.tensordot(w, s * s, 1)
    v0 = -of_sum_squared * np.tensordot(w2, s * s, 1)
    v1 = 2 * of_sum_squared * np.einsum("tbp,tb->bp", s, w2[:, np.newaxis] * c)
    v2 = (-of_sum_squared * (w2 @ c**2))[:, np.newaxis]

    # all squares, the same in every deal
    of_all = part.weight_of_all_squares
    within += of_all * np.tensordot(w, products[0].sum(axis=1), 1)
    v0 = v0 + of_all * np.tensordot(w2, products[0].sum(axis=1), 1)
    v1 = v1 + of_all * np.tensordot(w2, products[1].sum(axis=1), 1)
    v2 = v2 + of_all * np.tensordot(w2, products[2].sum(axis=1), 1)

    # squares of what is dealt to the first: nothing of samples of one size, nor if paired
    of_squares = part.weight_of_squares
    if of_squares:
        q = deals @ products[0]
        within += of_squares * np.tensordot(w, q, 1)
        v0 = v0 + of_squares * np.tensordot(w2, q, 1)
        v1 = v1 + of_squares * np.tensordot(w2, deals @ products[1], 1)
        v2 = v2 + of_squares * np.tensordot(w2, deals @ products[2], 1)

    of_sum = part.weight_of_sum
    return Sums(
        n=of_sum * np.tensordot(w, s, 1),
        e=of_sum * (w @ c)[:, np.newaxis],
        v0=v0,
        v1=v1,
        v2=v2,
        spread=of_sum**2 * np.tensordot(w, s * s, 1),
        within=within,
    )


def _rounding_errors(parts: Sequence[TaskNumbers], estimate: Floats) -> tuple[Floats, Floats]:
    """Return up to which Σ w² v and Σ w v are only rounding errors, shape (pair,)."""
    # Relative to what their terms can add up to, of the numbers as they are: with the estimate put back.
    rounding = rounding_of_within = np.zeros(())
    for part in parts:
        as_they_are = part.u + part.shift[:, np.newaxis] * estimate
        largest_weight = part.weight_of_all_squares + abs(part.weight_of_squares)
        squares = largest_weight * (as_they_are**2).sum(axis=1)
        rounding = rounding + (part.weights**2) @ squares
        rounding_of_within = rounding_of_within + part.weights @ squares
    return _ROUNDING * rounding, _ROUNDING * rounding_of_within


def _count_differences(observed: Sums, sums: Sums, estimate: Floats, rounding: Floats) -> Floats:
    """Return how many deals reach the observed T, shape (pair,)."""
    # Sums are of numbers less the estimate; the null hypothesis is about the numbers as they are.
    shift = -estimate

    def squared(deals: Sums) -> tuple[Floats, Floats]:
        """Return the square of Δ and its variance, 0 where it is a rounding error."""
        variance = deals.v0 + shift * (deals.v1 + shift * deals.v2)
        variance = np.where(variance <= rounding, 0.0, variance)
        return (deals.n - shift * deals.e) ** 2, variance

    square, variance = squared(sums)
    observed_square, observed_variance = squared(observed)
    # an estimate that is set to 0 is reached by every deal
    observed_square = np.where(estimate == 0, 0.0, observed_square)
    reached = ratio_reaches(square, variance, observed_square, observed_variance)
    return np.asarray(np.count_nonzero(reached, axis=0))


def _count_interactions(observed: Sums, sums: Sums, rounding: Floats) -> tuple[Floats, Floats]:
    """Return the observed R, and how many deals reach it, shape (pair,)."""
    within = np.where(sums.within <= rounding, 0.0, sums.within)
    observed_within = np.where(observed.within <= rounding, 0.0, observed.within)
    # multiplied out, as in `ratio_reaches`
    numbers = sums.spread * observed_within * (1 + TIE)
    reached = numbers >= observed.spread * within * (1 - TIE)
    # 0 / 0 does not reach
    reached &= (within > 0) | (sums.spread > rounding)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (observed.spread / observed_within)[0]
    return ratio, np.asarray(np.count_nonzero(reached, axis=0))
