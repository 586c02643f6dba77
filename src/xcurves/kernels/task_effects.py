"""The difference of two algorithms over given tasks, by dealing whole runs anew within every task by itself.

With ``d_t`` the difference of a task's means, ``v_t`` the squared standard error and weights that sum to one,

    Δ = Σ w_t d_t,   T = Δ / sqrt(Σ w_t² v_t),   R = Σ w_t (d_t - Δ)² / Σ w_t v_t

are recomputed for every deal: T of the numbers as they are, R of the numbers less Δ from the first algorithm's.
Studentizing keeps the test asymptotically right when variances differ (Janssen 1997,
doi:10.1016/S0167-7152(97)00043-6). All sums are quadratic in a common shift, so the interval of T comes from the same
pass.

Numbers are of shape (pair, task, run), a task's runs in front and NaN behind; all pairs have the same numbers of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from xcurves.kernels import task_intervals
from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import TIE
from xcurves.kernels.task_deals import DEALS_AT_ONCE, DealPlan, TaskDeals, TaskSet, reaches
from xcurves.kernels.task_ranks import RankTest

_ROUNDING = 64 * np.finfo(float).eps
_HELD = 2**23  # doubles kept of all deals at once


DealProgress = Callable[..., Iterable[list[TaskDeals]]]


def _no_bar(blocks: Iterable[list[TaskDeals]], **_: int) -> Iterable[list[TaskDeals]]:
    return blocks


class TaskSetNumbers(NamedTuple):
    """The numbers of a set of tasks, from which those of a deal follow.

    With ``z = u - δ shift``, ``s`` its sum over a deal, ``q`` that of its squares and ``Q`` the sum of all squares, the
    difference of a task is ``of_sum · s`` and its squared standard error
    ``of_all · Q + of_squares · q - of_square · s²``.

    Attributes
    ----------
    u : ndarray, shape (member, curve, pair)
        Numbers less the estimate from the first algorithm's, centred within the task; paired: differences within runs.
    shift : ndarray, shape (curve,)
        What a shift of 1 takes from each.
    weights : ndarray, shape (member,)
        Of the tasks.
    of_sum, of_all, of_squares, of_square : float
        See above.
    """

    u: Floats
    shift: Floats
    weights: Floats
    of_sum: float
    of_all: float
    of_squares: float
    of_square: float


class Sums(NamedTuple):
    """What is needed of deals, each of shape (deal, pair), or (deal, 1) where it is the same for all pairs.

    Attributes
    ----------
    n, e, v0, v1, v2 : ndarray
        Estimate and variance as functions of a further shift, see `task_intervals.Shifted`.
    spread, within : ndarray
        Numerator and denominator of R.
    """

    n: Floats
    e: Floats
    v0: Floats
    v1: Floats
    v2: Floats
    spread: Floats
    within: Floats


def differences(x: Floats, y: Floats, *, paired: bool) -> tuple[Floats, Floats]:
    """Return the difference of the means of every task and its squared standard error, NaN where that is unknown."""
    if paired:
        count, mean, square = _moments(x - y)
        return mean, square / count
    (m, mean_x, var_x), (n, mean_y, var_y) = _moments(x), _moments(y)
    return mean_x - mean_y, var_x / m + var_y / n


def _moments(u: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, mean and variance along the last axis without NaN."""
    present = ~np.isnan(u)
    count = np.count_nonzero(present, axis=-1).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(present, u, 0.0).sum(axis=-1) / count
        rest = np.where(present, u - mean[..., np.newaxis], 0.0)
        return count, mean, np.where(count > 1, (rest**2).sum(axis=-1) / (count - 1), np.nan)


def task_effect_tests(
    x: Floats, y: Floats, weights: Floats, plan: DealPlan, alpha: float, progress: DealProgress = _no_bar
) -> dict[str, Floats]:
    """Test the difference over the tasks of every pair, each task with two runs or more of both algorithms.

    `weights`, shape (task,), sum to one over the plan's tasks; `progress` wraps blocks of deals.

    Returns
    -------
    dict of ndarray, shape (pair,)
        `difference`, `statistic`, `pvalue`, `difference_ci` (pair, 2), `interaction` (R), `interaction_pvalue`,
        and, unless paired, `prob_greater`, `prob_greater_statistic`, `prob_greater_pvalue`.
    """
    width = max(1, _HELD // (4 * plan.n_deals))
    parts = [
        _evaluate(x[start : start + width], y[start : start + width], weights, plan, alpha, progress)
        for start in range(0, len(x), width)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _evaluate(
    x: Floats, y: Floats, weights: Floats, plan: DealPlan, alpha: float, progress: DealProgress
) -> dict[str, Floats]:
    d, v = differences(x, y, paired=plan.paired)
    tasks = np.concatenate([task_set.tasks for task_set in plan.task_sets])
    w = weights[tasks]
    estimate, error = d[:, tasks] @ w, np.sqrt(v[:, tasks] @ w**2)
    parts = [_part(x, y, weights, task_set, estimate, paired=plan.paired) for task_set in plan.task_sets]
    observed = _sums(parts, plan.observed())
    tests = _Tests(parts, observed, estimate)
    ranks = None if plan.paired else RankTest(x, y, weights, plan)
    kept = []
    for deals in progress(plan.blocks(), total=-(-plan.n_deals // DEALS_AT_ONCE)):
        sums = _sums(parts, deals)
        tests.add(sums)
        kept.append(task_intervals.ShiftedTasks(*sums[:5]))
        if ranks:
            ranks.add(deals)
    more = plan.n_total - plan.n_deals
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where((estimate == 0) & (error == 0), 0.0, estimate / error)
    found = {
        "difference": estimate,
        "statistic": statistic,
        "pvalue": (tests.count + more) / plan.n_total,
        "interaction": tests.ratio,
        "interaction_pvalue": np.where(np.isnan(tests.ratio), np.nan, (tests.ratio_count + more) / plan.n_total),
    }
    if len(tasks) < 2:
        found["interaction"] = found["interaction_pvalue"] = np.full(len(x), np.nan)
    shifted = task_intervals.ShiftedTasks(*(np.concatenate(each) for each in zip(*kept, strict=True)))
    most = np.floor(alpha * plan.n_total + 1e-9) - more
    scale = np.sqrt(observed.v0[0])
    ends = [_interval(shifted, column, scale[column], most) for column in range(len(x))]
    found["difference_ci"] = estimate[:, np.newaxis] + np.array(ends)
    return found | (ranks.found(plan) if ranks else {})


def _interval(shifted: task_intervals.ShiftedTasks, column: int, scale: float, most: float) -> Floats:
    """Return the ends of one pair's interval, measured from the estimate; NaN if runs do not differ in any task."""
    if scale == 0:
        return np.full(2, np.nan)
    n, e, v0, v1, v2 = (each[:, min(column, each.shape[1] - 1)] for each in shifted)
    own = task_intervals.ShiftedTasks(n / scale, e, v0 / scale**2, v1 / scale, v2)
    return scale * task_intervals.hull(own, most)


def _part(
    x: Floats, y: Floats, weights: Floats, task_set: TaskSet, estimate: Floats, *, paired: bool
) -> TaskSetNumbers:
    tasks, m, n = task_set
    w = weights[tasks]
    if paired:
        u = x[:, tasks, :m] - y[:, tasks, :m] - estimate[:, np.newaxis, np.newaxis]
        return TaskSetNumbers(
            np.moveaxis(u, 0, -1), np.ones(m), w, 1 / m, 1 / (m * (m - 1)), 0.0, 1 / (m * m * (m - 1))
        )
    u = np.concatenate([x[:, tasks, :m] - estimate[:, np.newaxis, np.newaxis], y[:, tasks, :n]], axis=-1)
    u = u - u.mean(axis=-1, keepdims=True)
    of_a, of_b = 1 / (m * (m - 1)), 1 / (n * (n - 1))
    shift = np.repeat([1.0, 0.0], [m, n]) - m / (m + n)
    return TaskSetNumbers(np.moveaxis(u, 0, -1), shift, w, 1 / m + 1 / n, of_b, of_a - of_b, of_a / m + of_b / n)


def _sums(parts: Sequence[TaskSetNumbers], deals: Sequence[TaskDeals]) -> Sums:
    """Return the sums of a block of deals."""
    by_part = [
        _sums_of_part(part._replace(u=part.u[some], weights=part.weights[some]), deal.rows[some].astype(float))
        for part, deal in zip(parts, deals, strict=True)
        for some in deal.slices()
    ]
    sums = Sums(*(sum(each[1:], start=each[0]) for each in zip(*by_part, strict=True)))
    whole = sums.v2 <= _ROUNDING * sum(
        part.of_all * (part.shift @ part.shift) * (part.weights**2).sum() for part in parts
    )
    v1, v2 = np.where(whole, 0.0, sums.v1), np.where(whole, 0.0, sums.v2)  # whole tasks are exchanged
    return sums._replace(v1=v1, v2=v2, spread=sums.spread - sums.n**2)


def _sums_of_part(part: TaskSetNumbers, deals: Floats) -> Sums:
    """Return the share of a set of tasks of the sums; `spread` is about 0 yet."""
    u, shift, w, of_sum, of_all, of_squares, of_square = part
    w2 = w**2
    s, c = deals @ u, deals @ shift
    once, within, v0 = _over_tasks(w, s), -of_square * _over_tasks(w, s * s), -of_square * _over_tasks(w2, s * s)
    v1 = 2 * of_square * np.einsum("tbp,tb->bp", s, w2[:, np.newaxis] * c)
    v2 = -of_square * (w2 @ c**2)
    products = u * u, -2 * u * shift[:, np.newaxis], np.broadcast_to((shift * shift)[:, np.newaxis], (*u.shape[:2], 1))
    within += of_all * _over_tasks(w, products[0].sum(axis=1))
    v0, v1 = (v + of_all * _over_tasks(w2, each.sum(axis=1)) for v, each in zip((v0, v1), products[:2], strict=True))
    v2 = v2[:, np.newaxis] + of_all * _over_tasks(w2, products[2].sum(axis=1))
    if of_squares:
        within += of_squares * _over_tasks(w, deals @ products[0])
        v0, v1, v2 = (
            v + of_squares * _over_tasks(w2, deals @ each) for v, each in zip((v0, v1, v2), products, strict=True)
        )
    spread = of_sum**2 * _over_tasks(w, s * s)
    return Sums(of_sum * once, of_sum * (w @ c)[:, np.newaxis], v0, v1, v2, spread, within)


def _over_tasks(weights: Floats, values: Floats) -> Floats:
    """Return the weighted sum over the first axis."""
    return np.tensordot(weights, values, 1)


class _Tests:
    """Counts of the deals whose T or R is at least the observed one."""

    def __init__(self, parts: Sequence[TaskSetNumbers], observed: Sums, estimate: Floats) -> None:
        self.shift = -estimate  # from the numbers less the estimate to the numbers as they are
        squares = [
            (part.of_all + abs(part.of_squares)) * ((part.u + part.shift[:, np.newaxis] * estimate) ** 2).sum(axis=1)
            for part in parts
        ]
        self.rounding = _ROUNDING * sum((p.weights**2) @ each for p, each in zip(parts, squares, strict=True))
        self.within_rounding = _ROUNDING * sum(p.weights @ each for p, each in zip(parts, squares, strict=True))
        self.observed = self._squared(observed)
        self.spread, self.within = observed.spread[0], self._within(observed)[0]
        self.count = np.zeros(len(estimate))
        self.ratio_count = np.zeros(len(estimate))

    def _squared(self, sums: Sums) -> tuple[Floats, Floats]:
        """Return the square of Δ and its variance, 0 where it is a rounding error."""
        variance = sums.v0 + self.shift * (sums.v1 + self.shift * sums.v2)
        return (sums.n - self.shift * sums.e) ** 2, np.where(variance <= self.rounding, 0.0, variance)

    def _within(self, sums: Sums) -> Floats:
        return np.where(sums.within <= self.within_rounding, 0.0, sums.within)

    def add(self, sums: Sums) -> None:
        """Count a block of deals."""
        self.count += np.count_nonzero(reaches(*self._squared(sums), *self.observed), axis=0)
        within = self._within(sums)
        reached = sums.spread * self.within * (1 + TIE) >= self.spread * within * (1 - TIE)
        self.ratio_count += np.count_nonzero(reached, axis=0)

    @property
    def ratio(self) -> Floats:
        """The observed R."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.spread / self.within)
