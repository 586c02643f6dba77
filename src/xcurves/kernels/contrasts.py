"""Studentized contrasts of curves reduced to one number each, by relabelling them.

With weights ``a_i`` that sum to zero over algorithms and a number ``u_ij`` for every run,

    T = Σ a_i ū_i / sqrt(Σ a_i² s_i² / l_i)

is recomputed for every reassignment; paired, ``D_j = Σ a_i u_ij`` and ``T = D̄ / (s_D / √l)``. Studentizing keeps the
test asymptotically right when variances differ (Janssen 1997, doi:10.1016/S0167-7152(97)00043-6). The interval is that
of all shifts that the test does not reject, where a shift δ moves algorithm ``i`` by ``δ a_i / Σ a²``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import Order, Plan

Alternative = Literal["two-sided", "less", "greater"]

_TIE = 1e-10
_DUST = 64 * np.finfo(float).eps
_PANEL = 2**19  # doubles of sums held at once
_KEPT = 2**23  # places in orders kept from one panel of tasks to the next
_STEPS = 60  # of doubling, then of halving, towards an end of an interval


class Sums(NamedTuple):
    """Sums over each group of a reassignment, from which T follows for any shift.

    Attributes
    ----------
    u, uu, uc : ndarray, shape (task, shuffle, group)
        Sums of the numbers, of their squares, and of their products with the direction of the shift.
    c, cc : ndarray, shape (shuffle, group)
        Sums of that direction and of its squares.
    """

    u: Floats
    uu: Floats
    uc: Floats
    c: Floats
    cc: Floats


class Design(NamedTuple):
    """Numbers `u`, shape (task, curve), of groups of `sizes` curves with `weights`; curves stand group after group."""

    u: Floats
    sizes: tuple[int, ...]
    weights: Floats
    paired: bool

    @property
    def groups(self) -> tuple[Floats, Floats]:
        """Weights and sizes of what is averaged: the groups, or the differences within runs."""
        if self.paired:
            return np.ones(1), np.array([float(self.sizes[0])])
        return self.weights, np.array(self.sizes, float)


def evaluate(design: Design, plan: Plan, alternative: Alternative, alpha: float) -> dict[str, Floats]:
    """Test the contrast in every task.

    Returns
    -------
    dict of ndarray, shape (task,)
        `statistic`, `pvalue`, `estimate`; and `estimate_ci`, shape (task, 2), infinite where the test rejects no shift.
    """
    scale, largest = _power_of_two(np.abs(design.u).max(axis=-1)), _power_of_two(np.abs(design.weights).max())
    design = design._replace(u=design.u / scale[:, np.newaxis], weights=design.weights / largest)
    design = design._replace(u=_centre(design))
    width = max(1, _PANEL // (plan.n_shuffles * len(design.sizes)))
    starts = range(0, len(design.u), width)
    kept = list(plan.blocks()) if plan.n_shuffles * design.u.shape[-1] <= _KEPT else None
    panels = [
        _evaluate(design._replace(u=design.u[s : s + width]), plan, kept or plan.blocks(), alternative, alpha)
        for s in starts
    ]
    found = {name: np.concatenate([panel[name] for panel in panels]) for name in panels[0]}
    found["estimate"] *= scale * largest
    found["estimate_ci"] *= (scale * largest)[:, np.newaxis]
    return found


def _power_of_two(sizes: Floats) -> Floats:
    """Return a power of two of the size of each number, to divide by without rounding; 1 for 0."""
    return np.ldexp(1.0, np.frexp(np.where(sizes > 0, sizes, 1.0))[1])


def _centre(design: Design) -> Floats:
    """Centre the curves of a task on their mean, or if paired those of a run, which leaves every contrast."""
    if not design.paired:
        return np.asarray(design.u - design.u.mean(axis=-1, keepdims=True))
    u = design.u.reshape(len(design.u), len(design.sizes), design.sizes[0])
    return np.asarray((u - u.mean(axis=1, keepdims=True)).reshape(design.u.shape))


def _evaluate(
    design: Design, plan: Plan, orders: Iterable[Order], alternative: Alternative, alpha: float
) -> dict[str, Floats]:
    observed = _sums(design, np.arange(design.u.shape[-1])[np.newaxis])
    parts = [_sums(design, order) for order in orders]
    null = Sums(*(np.concatenate(each, axis=-2) for each in zip(*parts, strict=True)))
    nothing = np.zeros(len(design.u))
    less, greater = _counts(design, plan, observed, null, nothing)
    one_sided = {"less": less, "greater": greater, "two-sided": 2 * np.minimum(less, greater)}
    statistic, estimate, _ = (each[:, 0] for each in _statistic(design, observed, nothing))
    pvalue = np.minimum(one_sided[alternative] / plan.n_total, 1.0)
    tail = alpha / 2 if alternative == "two-sided" else alpha
    most = np.floor(tail * plan.n_total + 1e-9)
    unbounded = np.full(len(design.u), np.inf)
    if min(design.groups[1]) < 2:
        most = 0.0  # no spread to judge a shift by
    ends = [
        -unbounded if alternative == "less" else _end(design, plan, observed, null, most, -1),
        unbounded if alternative == "greater" else _end(design, plan, observed, null, most, 1),
    ]
    return {
        "statistic": statistic,
        "pvalue": np.where(np.isnan(statistic), np.nan, pvalue),
        "estimate": estimate,
        "estimate_ci": np.stack(ends, axis=-1),
    }


def _sums(design: Design, order: Order) -> Sums:
    """Sum over the groups of every reassignment in a block."""
    direction = np.repeat(design.weights / (design.weights**2).sum(), design.sizes)
    u, c = design.u[:, order], direction[order]
    if design.paired:
        shape = (len(order), len(design.sizes), design.sizes[0])
        u = np.einsum("tsgj,g->tsj", u.reshape(-1, *shape), design.weights)
        c = np.einsum("sgj,g->sj", c.reshape(shape), design.weights)
        starts = np.zeros(1, np.intp)
    else:
        starts = np.cumsum((0, *design.sizes[:-1]))
    return Sums(*(np.add.reduceat(each, starts, axis=-1) for each in (u, u * u, u * c, c, c * c)))


def _statistic(design: Design, sums: Sums, shift: Floats) -> tuple[Floats, Floats, Floats]:
    """Return T, the estimate and its standard error, shape (task, shuffle), after a shift, shape (task,).

    The largest number of a task is about 1, so that spreads and estimates below `_DUST` are rounding errors.
    """
    weights, sizes = design.groups
    by = shift[:, np.newaxis, np.newaxis]
    u = sums.u - by * sums.c
    squares = sums.uu - by * (2 * sums.uc - by * sums.cc)
    spread = squares - u**2 / sizes
    rounding = sum(design.sizes) * np.finfo(float).eps * squares + _DUST**2 * (1 + by**2)
    spread = np.where(spread <= rounding, 0.0, spread)
    estimate = (weights * u / sizes).sum(axis=-1)
    estimate = np.where(np.abs(estimate) <= _DUST * (1 + np.abs(by[..., 0])), 0.0, estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((weights**2 * spread / (sizes - 1) / sizes).sum(axis=-1))
        return estimate / error, estimate, error


def _counts(design: Design, plan: Plan, observed: Sums, null: Sums, shift: Floats) -> tuple[Floats, Floats]:
    """Count the reassignments with T at most, and at least, the observed, after a shift; 0 / 0 counts as a tie."""
    t = _statistic(design, observed, shift)[0]
    slack = np.where(np.isinf(t), 0.0, _TIE * (1 + np.abs(t)))
    shuffled = _statistic(design, null, shift)[0]
    above = np.count_nonzero(shuffled > t + slack, axis=-1)
    below = np.count_nonzero(shuffled < t - slack, axis=-1)
    return plan.n_total - above, plan.n_total - below


def _end(design: Design, plan: Plan, observed: Sums, null: Sums, most: float, side: int) -> Floats:
    """Return the end of the interval below (-1) or above (+1) the estimate: the last shift that is not rejected."""
    n_tasks = len(design.u)
    if most < 1:
        return np.full(n_tasks, side * np.inf)
    _, estimate, scale = (each[:, 0] for each in _statistic(design, observed, np.zeros(n_tasks)))

    def hits(sums: Sums, distance: Floats) -> NDArray[np.bool_]:
        """Return which reassignments speak for a shift at that distance, shape (task, shuffle)."""
        shift = estimate + side * distance
        t = _statistic(design, observed, shift)[0]
        slack = np.where(np.isinf(t), 0.0, _TIE * (1 + np.abs(t)))
        shuffled = _statistic(design, sums, shift)[0]
        return np.asarray(~(shuffled > t + slack) if side > 0 else ~(shuffled < t - slack))

    def rejected(distance: Floats) -> NDArray[np.bool_]:
        count = plan.n_total - plan.n_shuffles + np.count_nonzero(hits(null, distance), axis=-1)
        return np.asarray(count <= most)

    outside = scale.copy()
    for _ in range(_STEPS):
        inside = ~rejected(outside) & (scale > 0)
        if not inside.any():
            break
        outside = np.where(inside, 2 * outside, outside)
    bounded = rejected(outside)

    def halve(kept: Floats, outside: Floats, *, prune: bool) -> tuple[Floats, Floats]:
        """Close in on the end; if `prune`, forget reassignments that say the same at both ends of what is left."""
        sums, decided = null, np.full(n_tasks, plan.n_total - plan.n_shuffles)
        for step in range(_STEPS):
            if prune and step % 4 == 0 and sums.c.shape[0] > 1000:
                here, there = hits(sums, kept), hits(sums, outside)
                open_ = (here != there).any(axis=0)
                decided = decided + np.count_nonzero(here[:, ~open_], axis=-1)
                sums = Sums(*(each[..., open_, :] for each in sums))
            middle = (kept + outside) / 2
            out = decided + np.count_nonzero(hits(sums, middle), axis=-1) <= most
            kept, outside = np.where(out, kept, middle), np.where(out, middle, outside)
        return kept, outside

    start = np.zeros(n_tasks), outside
    kept, beyond = halve(*start, prune=True)
    if (rejected(kept) | ~rejected(beyond))[bounded & (scale > 0)].any():  # some reassignment changed its mind twice
        kept, _ = halve(*start, prune=False)
    return np.where(bounded | (scale == 0), estimate + side * kept, side * np.inf)


def holm(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Holm's step-down; NaN stays and does not count."""
    rank = pvalues.argsort(axis=-1).argsort(axis=-1)
    left = np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True) - rank
    raised = np.sort(pvalues, axis=-1) * np.sort(left, axis=-1)[..., ::-1]
    adjusted = np.minimum(np.maximum.accumulate(raised, axis=-1), 1.0)
    return np.where(np.isnan(pvalues), np.nan, np.take_along_axis(adjusted, rank, axis=-1))


def bonferroni(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by their number; NaN stays and does not count."""
    return np.minimum(pvalues * np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True), 1.0)
