"""The difference of two algorithms over given tasks, by dealing whole runs anew within every task by itself.

``Δ = Σ w_t d_t, T = Δ / sqrt(Σ w_t² v_t), R = Σ w_t (d_t - Δ)² / Σ w_t v_t`` (Janssen 1997, see `contrasts`), R of
numbers less Δ. Numbers are (pair, task, run), runs in front and NaN behind, as many of all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xcurves.array_types import Floats
from xcurves.kernels.differences import shifted_contrasts
from xcurves.kernels.differences.task_plans import DealPlan, TaskCells
from xcurves.kernels.differences.task_ranks import RankTest
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
    """The numbers of tasks with the same numbers of runs, from which those of a deal follow."""

    cells: TaskCells
    turned: float  # what a label of 1 takes from the part of a curve in s, which is 1 otherwise
    u: Floats  # (member, curve, pair): less the estimate, centred within the task; paired: differences
    shift: Floats  # (curve,): what a shift of 1 takes from each
    weights: Floats  # (member,), of the tasks
    of_sum: float  # d is of_sum s, s the sum of what is dealt to the first (paired: less those turned)
    of_all: float  # v is of_all Q + of_squares q - of_square s²
    of_squares: float
    of_square: float


class Sums(NamedTuple):
    """What is needed of deals, each of shape (deal, pair), or (deal, 1) where it is the same for all pairs."""

    n: Floats  # estimate, e its slope by a shift
    e: Floats
    v0: Floats  # variance, with v1 and v2 by a shift: see `ShiftedContrast`
    v1: Floats
    v2: Floats
    spread: Floats  # numerator of R
    within: Floats  # its denominator


def task_differences(x: Floats, y: Floats, *, paired: bool) -> tuple[Floats, Floats]:
    """Return differences of means, 0 where they round, and squared standard errors of tasks, NaN if unknown."""
    (m, mean_x, var_x), (n, mean_y, var_y) = _moments(x), _moments(y)
    d, v = mean_x - mean_y, var_x / m + var_y / n
    if paired:
        m, d, square = _moments(x - y)
        v = square / m
    with np.errstate(invalid="ignore"):
        return np.where(
            np.abs(d) <= _ROUNDING * np.maximum(np.abs(mean_x), np.abs(mean_y)), 0.0, d
        ), v


def uncertainty(x: Floats, y: Floats, *, paired: bool) -> Floats:
    """Return the sum over samples of (s² / l)² / (l - 1) of every task: half the variance of its squared error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            sum(
                (square / n) ** 2 / (n - 1)
                for n, _, square in map(_moments, [x - y] if paired else [x, y])
            )
        )


def _moments(u: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, mean and variance along the last axis without NaN."""
    present = ~np.isnan(u)
    count = np.count_nonzero(present, axis=-1).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(present, u, 0.0).sum(axis=-1) / count
        rest = np.where(present, u - mean[..., np.newaxis], 0.0)
        return (
            count,
            mean,
            np.where(count > 1, (rest**2).sum(axis=-1) / (count - 1), np.nan),
        )


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
    width = rows_that_fit(
        max(32 * plan.n_resamples, 8 * min(plan.rows, plan.n_resamples) * x.shape[1])
    )
    if len(x) > width:
        more: dict[str, Any] = {"margin": margin, "sign": sign, "ranks": ranks}
        return in_stretches(
            lambda some: task_effect_tests(
                x[some], y[some], weights, plan, alpha, progress, **more
            ),
            len(x),
            width,
        )
    d, v = task_differences(x, y, paired=plan.paired)
    tasks = np.concatenate([cells.tasks for cells in plan.cells])
    w = weights[tasks]
    estimate = weighted_sum(d[:, tasks], w)
    error = np.sqrt(v[:, tasks] @ w**2)
    parts = [
        _numbers_of(x, y, weights, cells, estimate, paired=plan.paired)
        for cells in plan.cells
    ]
    rank_test = RankTest(x, y, weights, plan) if ranks and not plan.paired else None
    kept = []
    for _, labels in label_batches(plan, plan.rows, progress):
        kept.append(_sums(parts, labels))
        if rank_test:
            rank_test.add(labels)
    observed, sums = (
        _sums(parts, plan.observed),
        Sums(*(np.concatenate(each) for each in zip(*kept, strict=True))),
    )
    count, ratio, ratio_count, rounding = _counts(parts, observed, sums, estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where((estimate == 0) & (error == 0), 0.0, estimate / error)
    found = {
        "difference": estimate,
        "statistic": statistic,
        "pvalue": plan.pvalue(count),
        "interaction": ratio,
        "interaction_pvalue": np.where(
            np.isnan(ratio), np.nan, plan.pvalue(ratio_count)
        ),
    }
    if len(tasks) < 2:
        found["interaction"] = found["interaction_pvalue"] = np.full(len(x), np.nan)
    scale = np.sqrt(np.where(observed.v0[0] <= rounding, 0.0, observed.v0[0]))
    unit = np.where(scale > 0, scale, np.nan)
    # where runs do not differ in any task there is no interval
    varies = np.flatnonzero(scale > 0)
    mean, variance, linear = (
        np.ascontiguousarray((each / unit**power).T[varies])
        for each, power in ((sums.n, 1), (sums.v0, 2), (sums.v1, 1))
    )
    shifted = shifted_contrasts.ShiftedContrast(
        mean, variance, linear, sums.e[:, 0], sums.v2[:, 0], np.ones(len(varies))
    )
    scan = any(may_leave_gaps(cells.n_a, cells.n_b) for cells in plan.cells)
    mosts = [n_rare(plan, each) for each in np.atleast_1d(alpha).tolist()]
    ends = np.full((len(x), len(mosts), 2), np.nan)
    if mosts:
        ends[varies] = np.moveaxis(
            shifted_contrasts.hull(shifted, plan.besides, mosts, scan=scan), 0, 1
        )
    ends = estimate[:, np.newaxis, np.newaxis] + scale[:, np.newaxis, np.newaxis] * ends
    if margin is not None:
        turned = shifted._replace(
            mean=sign * shifted.mean, linear=sign * shifted.linear
        )
        own, error = sign * estimate[varies], scale[varies]
        count, distance = shifted_contrasts.not_below(
            turned, -(margin + own) / error, plan.n_total, mosts[0]
        )
        found["margin_pvalue"], found["margin_limit"] = np.full((2, len(x)), np.nan)
        found["margin_pvalue"][varies], found["margin_limit"][varies] = (
            count / plan.n_total,
            own - error * distance,
        )
    found["difference_ci"] = ends if np.ndim(alpha) else ends[:, 0]
    return found | (rank_test.found if rank_test else {})


def weighted_sum(d: Floats, weights: Floats) -> Floats:
    """Return the sum of weighted differences, 0 where it is a rounding error of its terms; NaN terms are left out."""
    terms = np.nan_to_num(d * weights)
    total = terms.sum(axis=-1)
    return np.where(np.abs(total) <= _ROUNDING * np.abs(terms).sum(axis=-1), 0.0, total)


def _numbers_of(
    x: Floats,
    y: Floats,
    weights: Floats,
    cells: TaskCells,
    estimate: Floats,
    *,
    paired: bool,
) -> TaskNumbers:
    tasks, m, n, _ = cells
    w = weights[tasks]
    if paired:
        u = x[:, tasks, :m] - y[:, tasks, :m] - estimate[:, np.newaxis, np.newaxis]
        u = np.moveaxis(u, 0, -1)
        return TaskNumbers(
            cells,
            2.0,
            u,
            np.ones(m),
            w,
            1 / m,
            1 / (m * (m - 1)),
            0.0,
            1 / (m * m * (m - 1)),
        )
    u = np.concatenate(
        [x[:, tasks, :m] - estimate[:, np.newaxis, np.newaxis], y[:, tasks, :n]],
        axis=-1,
    )
    u = u - u.mean(axis=-1, keepdims=True)
    of_a, of_b = 1 / (m * (m - 1)), 1 / (n * (n - 1))
    shift = np.repeat([1.0, 0.0], [m, n]) - m / (m + n)
    u = np.moveaxis(u, 0, -1)
    return TaskNumbers(
        cells, 1.0, u, shift, w, 1 / m + 1 / n, of_b, of_a - of_b, of_a / m + of_b / n
    )


def _sums(parts: Sequence[TaskNumbers], labels: Labels) -> Sums:
    """Return the sums of a block of deals."""
    by_part = []
    for part in parts:
        mine = part.cells.of(labels)
        width = rows_that_fit(8 * len(labels) * mine.shape[-1])
        for some in stretches(mine.shape[1], width):
            deals = np.subtract(
                1.0,
                part.turned * mine[:, some].swapaxes(0, 1),
                order="C",
                dtype=np.float64,
            )
            by_part.append(
                _sums_of_part(
                    part._replace(u=part.u[some], weights=part.weights[some]), deals
                )
            )
    sums = Sums(*(sum(each[1:], start=each[0]) for each in zip(*by_part, strict=True)))
    whole = sums.v2 <= _ROUNDING * sum(
        part.of_all * (part.shift @ part.shift) * (part.weights**2).sum()
        for part in parts
    )
    # whole tasks are exchanged
    v1, v2 = (np.where(whole, 0.0, sums.v1), np.where(whole, 0.0, sums.v2))
    return sums._replace(v1=v1, v2=v2, spread=sums.spread - sums.n**2)


def _sums_of_part(part: TaskNumbers, deals: Floats) -> Sums:
    """Return the share of some tasks of the sums; `spread` is about 0 yet."""
    _, _, u, shift, w, of_sum, of_all, of_squares, of_square = part
    w2 = w**2
    s, c = deals @ u, deals @ shift
    once = np.tensordot(w, s, 1)
    within = -of_square * np.tensordot(w, s * s, 1)
    v0 = -of_square * np.tensordot(w2, s * s, 1)
    v1 = 2 * of_square * np.einsum("tbp,tb->bp", s, w2[:, np.newaxis] * c)
    v2 = -of_square * (w2 @ c**2)
    products = (
        u * u,
        -2 * u * shift[:, np.newaxis],
        np.broadcast_to((shift * shift)[:, np.newaxis], (*u.shape[:2], 1)),
    )
    within += of_all * np.tensordot(w, products[0].sum(axis=1), 1)
    v0, v1 = (
        v + of_all * np.tensordot(w2, each.sum(axis=1), 1)
        for v, each in zip((v0, v1), products[:2], strict=True)
    )
    v2 = v2[:, np.newaxis] + of_all * np.tensordot(w2, products[2].sum(axis=1), 1)
    if of_squares:
        within += of_squares * np.tensordot(w, deals @ products[0], 1)
        v0, v1, v2 = (
            v + of_squares * np.tensordot(w2, deals @ each, 1)
            for v, each in zip((v0, v1, v2), products, strict=True)
        )
    spread = of_sum**2 * np.tensordot(w, s * s, 1)
    return Sums(
        of_sum * once, of_sum * (w @ c)[:, np.newaxis], v0, v1, v2, spread, within
    )


def _counts(
    parts: Sequence[TaskNumbers], observed: Sums, sums: Sums, estimate: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return how many deals reach the observed T, R, how many reach R, and what is a rounding error of V."""
    shift = -estimate  # from the numbers less the estimate to the numbers as they are
    squares = [
        (part.of_all + abs(part.of_squares))
        * ((part.u + part.shift[:, np.newaxis] * estimate) ** 2).sum(axis=1)
        for part in parts
    ]
    rounding = _ROUNDING * sum(
        (part.weights**2) @ each for part, each in zip(parts, squares, strict=True)
    )
    of_within = _ROUNDING * sum(
        part.weights @ each for part, each in zip(parts, squares, strict=True)
    )

    def squared(sums: Sums) -> tuple[Floats, Floats]:
        """Return the square of Δ and its variance, 0 where it is a rounding error."""
        variance = sums.v0 + shift * (sums.v1 + shift * sums.v2)
        return (sums.n - shift * sums.e) ** 2, np.where(
            variance <= rounding, 0.0, variance
        )

    square, variance = squared(observed)
    count = np.count_nonzero(
        ratio_reaches(*squared(sums), np.where(estimate == 0, 0.0, square), variance),
        axis=0,
    )
    own, within = (
        np.where(each.within <= of_within, 0.0, each.within)
        for each in (observed, sums)
    )
    reached = sums.spread * own * (1 + TIE) >= observed.spread * within * (1 - TIE)
    reached &= (within > 0) | (sums.spread > of_within)  # 0 / 0 does not reach
    with np.errstate(divide="ignore", invalid="ignore"):
        return (
            count,
            (observed.spread / own)[0],
            np.count_nonzero(reached, axis=0),
            rounding,
        )
