"""Studentized contrasts of curves reduced to one number each, by relabelling them.

With weights ``a_i`` that sum to zero over algorithms and a number ``u_ij`` for every run,

    T = Σ a_i ū_i / sqrt(Σ a_i² s_i² / l_i)

is recomputed for every reassignment; paired, ``D_j = Σ a_i u_ij`` and ``T = D̄ / (s_D / √l)``. Studentizing keeps the
test asymptotically right when variances differ (Janssen 1997, doi:10.1016/S0167-7152(97)00043-6). The interval is that
of all shifts that the test does not reject, where a shift δ moves algorithm ``i`` by ``δ a_i / Σ a²``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import Order, Plan

Alternative = Literal["two-sided", "less", "greater"]

_TIE = 1e-10
_DUST = 64 * np.finfo(float).eps
_PANEL = 2**16  # doubles of sums held at once
_KEPT = 2**23  # places in orders kept from one panel of tasks to the next
_PRUNE = 4  # steps after which reassignments that no longer matter are forgotten
_FEW = 64  # reassignments that are not worth the trouble
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
    width = max(1, _PANEL // (plan.n_resamples * len(design.sizes)))
    starts = range(0, len(design.u), width)
    kept = list(plan.blocks()) if plan.n_resamples * design.u.shape[-1] <= _KEPT else None
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
    statistic, estimate, error = (each[:, 0] for each in _statistic(design, observed, nothing))
    less, greater = (
        plan.n_total - plan.n_resamples + np.count_nonzero(_hits(design, observed, null, nothing, side), axis=-1)
        for side in (1, -1)
    )
    one_sided = {"less": less, "greater": greater, "two-sided": 2 * np.minimum(less, greater)}
    pvalue = np.minimum(one_sided[alternative] / plan.n_total, 1.0)
    tail = alpha / 2 if alternative == "two-sided" else alpha
    spread_known = min(design.groups[1]) >= 2
    ends = [
        _End(design, plan, observed, null, most, side, estimate, error).find()
        for side, other in ((-1, "less"), (1, "greater"))
        for most in [np.floor(tail * plan.n_total + 1e-9) if spread_known and alternative != other else 0.0]
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


def _hits(design: Design, observed: Sums, null: Sums, shift: Floats, side: int) -> NDArray[np.bool_]:
    """Return which reassignments have T at least (side -1) or at most (+1) the observed, shape (task, shuffle).

    0 / 0 counts as a tie.
    """
    t = _statistic(design, observed, shift)[0]
    slack = np.where(np.isinf(t), 0.0, _TIE * (1 + np.abs(t)))
    shuffled = _statistic(design, null, shift)[0]
    return np.asarray(~(shuffled > t + slack) if side > 0 else ~(shuffled < t - slack))


@dataclass
class _End:
    """The search for one end of an interval, below (side -1) or above (+1) the estimates.

    Attributes
    ----------
    most : float
        A shift is rejected if no more reassignments than this speak for it, the observed one included.
    estimate, scale : ndarray, shape (task,)
        Where to begin, and the first step: the standard error.
    """

    design: Design
    plan: Plan
    observed: Sums
    null: Sums
    most: float
    side: int
    estimate: Floats
    scale: Floats

    def find(self) -> Floats:
        """Return the last shift that is not rejected, infinite where none is rejected."""
        if self.most < 1:
            return np.full(len(self.scale), self.side * np.inf)
        outside = self._step_out()
        bounded = self._rejected(outside) & (self.scale > 0)
        kept, beyond = self._halve(outside, prune=True)
        twice = bounded & (self._rejected(kept) | ~self._rejected(beyond))  # some reassignment changed its mind twice
        if twice.any():
            kept = np.where(twice, self._halve(outside, prune=False)[0], kept)
        return np.where(bounded | (self.scale == 0), self.estimate + self.side * kept, self.side * np.inf)

    def _hits(self, null: Sums, distance: Floats) -> NDArray[np.bool_]:
        return _hits(self.design, self.observed, null, self.estimate + self.side * distance, self.side)

    def _rejected(self, distance: Floats) -> NDArray[np.bool_]:
        count = self.plan.n_total - self.plan.n_resamples + np.count_nonzero(self._hits(self.null, distance), axis=-1)
        return np.asarray(count <= self.most)

    def _step_out(self) -> Floats:
        """Return distances that are rejected, or very far."""
        outside = self.scale
        for _ in range(_STEPS):
            inside = ~self._rejected(outside) & (self.scale > 0)
            if not inside.any():
                break
            outside = np.where(inside, 2 * outside, outside)
        return outside

    def _halve(self, outside: Floats, *, prune: bool) -> tuple[Floats, Floats]:
        """Close in on the end; if `prune`, forget reassignments that say the same at both ends of what is left."""
        null, kept = self.null, np.zeros_like(outside)
        decided = np.full(len(outside), self.plan.n_total - self.plan.n_resamples)
        for step in range(_STEPS):
            if prune and step % _PRUNE == 0 and null.u.shape[1] > _FEW:
                null, hits = self._open(null, kept, outside)
                decided = decided + hits
            middle = (kept + outside) / 2
            out = decided + np.count_nonzero(self._hits(null, middle), axis=-1) <= self.most
            kept, outside = np.where(out, kept, middle), np.where(out, middle, outside)
        return kept, outside

    def _open(self, null: Sums, kept: Floats, outside: Floats) -> tuple[Sums, NDArray[np.intp]]:
        """Return the reassignments that differ at both ends, as many of each task, and how many of the others hit."""
        here, there = self._hits(null, kept), self._hits(null, outside)
        n_open = np.count_nonzero(here != there, axis=-1).max()
        chosen = np.argsort(here == there, axis=-1, kind="stable")[:, :n_open]
        hits = np.count_nonzero(here, axis=-1) - np.count_nonzero(np.take_along_axis(here, chosen, axis=-1), axis=-1)
        places = chosen[..., np.newaxis]
        parts = (np.take_along_axis(np.broadcast_to(each, null.u.shape), places, axis=1) for each in null)
        return Sums(*parts), hits
