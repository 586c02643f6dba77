"""The randomization test of a time: whole runs dealt anew, exactly along the pieces of a mean curve.

A deal g counts where N_g² V_0 - N_0² V_g (N linear, V quadratic) is not negative; in equal groups, where N_g - |N_0| or
-N_g - |N_0| is not. In Bernstein's basis coefficients bound values: only what may change sign, where it may change the
answer, is solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly, PPoly

from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import TIE, RunPlan, stretches

_HELD = 2**22  # coefficients held at once
_ROUNDING = 64 * np.finfo(float).eps


class Dealt(NamedTuple):
    """What a randomization test says: the hull of what it does not reject (as `mean_curves.Hull`), and its p-value."""

    lower: float
    upper: float
    gap: int
    pvalue: float


class DealtRuns(NamedTuple):
    """Curves that are dealt anew, about the mean of what the first of them are compared with: sums are small there."""

    u: Floats  # levels, between which the mean does not change sign
    n: Floats  # N of the runs there, exactly 0 where it is so but for rounding
    pool: Floats  # (curve, level): the runs, of paired plans differences, then the numbers they are compared with
    size: int  # the number of runs
    plan: RunPlan

    @classmethod
    def of(cls, u: Floats, runs: Floats, others: Floats, at: float, plan: RunPlan) -> DealtRuns:
        """Add the place that is asked for, and those where the mean difference is 0, to the levels."""
        if plan.paired:
            runs, others = runs - others[:, np.newaxis], np.zeros(0)
        centre = others.mean() if others.size else 0.0
        mean = runs.mean(axis=0) - centre
        turns = np.flatnonzero(mean[1:] * mean[:-1] < 0)
        zeros = u[turns] - mean[turns] * np.diff(u)[turns] / np.diff(mean)[turns]
        wanted = np.unique(np.concatenate([u, zeros, [at] if u[0] <= at <= u[-1] else []]))
        wanted = np.repeat(wanted, 2) if len(wanted) == 1 else wanted
        runs = np.array([np.interp(wanted, u, run) for run in runs])
        n = runs.mean(axis=0) - centre
        n[np.abs(n) <= _ROUNDING * (np.abs(runs).max(axis=0) + np.abs(others).max(initial=0.0))] = 0.0
        fixed = np.broadcast_to(others[:, np.newaxis], (len(others), len(wanted)))
        return cls(wanted, n, np.concatenate([runs, fixed]) - centre, len(runs), plan)

    def polynomials(self, pieces: slice) -> Iterator[Sequence[Floats]]:
        """Yield polynomials, 0 or more where deals count: their coefficients, each of shape (polynomial, piece)."""
        size, paired = self.size, self.plan.paired
        levels = slice(pieces.start, pieces.stop + 1)
        pool, n0 = self.pool[:, levels], self.n[levels]
        others, total = len(pool) - size, pool.sum(axis=0)
        least = np.sqrt((1 - TIE) / (1 + TIE)) * np.abs(n0)

        def spread(q: Floats, n: Floats, size: int) -> Floats:
            return np.asarray((q - _products(n, n) / size) / (size * (size - 1)))

        for labels in self.plan.blocks():
            first = (labels[:, :size] if paired else labels) == 0  # of a pair: whether the run stays
            for some in stretches(len(first), max(1, _HELD // (5 * pool.shape[1]))):
                mine = first[some].astype(float)
                observed = mine[:, :size].all(axis=1)  # counts everywhere, whatever rounding says
                n_a = mine @ pool
                n = (2 * n_a - total) / size if paired else n_a / size - (total - n_a) / others
                if paired or size == others:  # T² increases with N²
                    for sign in (1, -1):
                        made = sign * n - least
                        made[observed] = sign
                        yield made[:, :-1], made[:, 1:]
                    continue
                rest, squares = pool[:size] - pool[:size].mean(axis=0), _products(pool, pool)
                v0 = (
                    spread(_products(rest, rest).sum(axis=1, keepdims=True), 0 * n0[np.newaxis], size)
                    + pool[size:, 0].var(ddof=1) / others
                )
                q_a = np.einsum("gj,cjk->cgk", mine, squares)
                v = spread(q_a, n_a, size) + spread(squares.sum(axis=1, keepdims=True) - q_a, total - n_a, others)
                made = (1 + TIE) * _product(_products(n, n), v0) - (1 - TIE) * _product(
                    _products(n0[np.newaxis], n0[np.newaxis]), v
                )
                made[:, observed] = 1
                yield tuple(made)

    def bounds(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return how many deals count everywhere in each piece, how many may somewhere, and how many at each level."""
        always, some = np.zeros((2, len(self.u) - 1), np.intp)
        level = np.zeros(len(self.u), np.intp)
        for each in self.polynomials(slice(0, len(self.u) - 1)):
            met = np.array([coefficient >= 0 for coefficient in each])
            always += np.count_nonzero(met.all(axis=0), axis=0)
            some += np.count_nonzero(met.any(axis=0), axis=0)
            level += np.append(np.count_nonzero(met[0], axis=0), np.count_nonzero(met[-1, :, -1]))
        level[self.n == 0] = self.plan.n_resamples
        return always, some, level

    def steps(self, piece: int) -> tuple[Floats, NDArray[np.intp]]:
        """Return where the number of deals that count changes in a piece, and the number from there on."""
        always, undecided = 0, []
        for each in self.polynomials(slice(piece, piece + 1)):
            coefficients = np.array(each)[..., 0]
            all_met, met = (coefficients >= 0).all(axis=0), (coefficients >= 0).any(axis=0)
            always += int(all_met.sum())
            undecided.append(coefficients[:, met & ~all_met])
        begins, ends = _not_negative(np.concatenate(undecided, axis=1))
        where, change = np.append(begins, ends), np.repeat([1, -1], len(begins))
        order = np.lexsort([-change, where])  # stretches are closed: at one place those that begin come first
        count = np.append(0, change[order].cumsum()) + always
        return np.append(0.0, where[order]), np.minimum(count, self.plan.n_resamples)


def _products(a: Floats, b: Floats) -> Floats:
    """Return Bernstein coefficients of the products of linear functions, given their values at levels."""
    middle = (a[..., :-1] * b[..., 1:] + a[..., 1:] * b[..., :-1]) / 2
    return np.stack([a[..., :-1] * b[..., :-1], middle, a[..., 1:] * b[..., 1:]])


def _product(a: Floats, b: Floats) -> Floats:
    """Return Bernstein coefficients of the product of two quadratics."""
    out = np.zeros((5, *np.broadcast_shapes(a.shape, b.shape)[1:]))
    for i in range(3):
        for j in range(3):
            out[i + j] += comb(2, i) * comb(2, j) / comb(4, i + j) * a[i] * b[j]
    return out


def _not_negative(bernstein: Floats) -> Floats:
    """Return where polynomials, shape (degree + 1, polynomial), begin and end not to be negative in [0, 1]."""
    if len(bernstein) == 2:  # twice as fast as roots of piecewise polynomials
        at_0, root = bernstein[0] >= 0, bernstein[0] / (bernstein[0] - bernstein[1])
        return np.stack([np.where(at_0, 0.0, root), np.where(at_0, root, 1.0)])
    powers = PPoly.from_bernstein_basis(BPoly(bernstein[:, np.newaxis], [0.0, 1.0]))
    roots = powers.roots(discontinuity=False, extrapolate=False)
    n = np.array([len(each) for each in roots])
    breaks, first = np.concatenate(roots), n.cumsum() - n
    starts, stops = np.insert(breaks, first, 0.0), np.insert(breaks, first + n, 1.0)
    values = np.polyval(powers.c[:, 0].repeat(n + 1, axis=1), (starts + stops) / 2)
    inside = (values >= 0) & (stops > starts)
    return np.stack([starts[inside], stops[inside]])


def dealt_times(u: Floats, runs: Floats, others: Floats, at: float, plan: RunPlan, alpha: float) -> Dealt:
    """Return the hull of the places at which p > alpha, and the p-value of the place `at`, of a mean curve.

    `runs` (run, level) at the levels `u` are compared with the numbers `others`.
    """
    deals = DealtRuns.of(u, runs, others, at, plan)
    u, n, most = deals.u, deals.n, np.floor(alpha * plan.n_total + 1e-9)
    more = plan.n_total - plan.n_resamples
    always, some, level = (each + more for each in deals.bounds())

    @cache
    def steps(piece: int) -> tuple[Floats, NDArray[np.intp]]:
        if always[piece] == some[piece]:
            return np.zeros(1), always[[piece]]
        h, count = deals.steps(piece)
        return h, count + more

    accepted = [(u[k], u[k]) for k in np.flatnonzero(level > most)]
    for piece in np.flatnonzero(some > most).tolist():
        h, count = (np.zeros(1), always[[piece]]) if always[piece] > most else steps(piece)
        places = u[piece] + (u[piece + 1] - u[piece]) * np.append(h, 1.0)
        accepted += zip(places[:-1][count > most], places[1:][count > most], strict=True)
    lower, upper, gap = _hull(accepted, u)
    below, above = level[0] if n[0] < 0 else plan.n_total, level[-1] if n[-1] > 0 else plan.n_total
    beyond = below if at < u[0] else above if at > u[-1] else 0

    def largest(side: NDArray[np.bool_], end: int) -> int:
        """Return the largest number of deals that count at some place of a side, and beyond it."""
        best = max(beyond, end, level[side].max(initial=0))
        mine = np.flatnonzero(side[:-1] & side[1:])
        for piece in mine[np.argsort(-some[mine], kind="stable")].tolist():
            if some[piece] <= best:
                break
            best = max(best, steps(piece)[1].max())
        return int(best)

    return Dealt(
        lower=-np.inf if below > most else lower,
        upper=np.inf if above > most else upper,
        gap=gap,
        pvalue=min(largest(u <= at, below), largest(u >= at, above)) / plan.n_total,
    )


def _hull(accepted: list[tuple[float, float]], u: Floats) -> tuple[float, float, int]:
    """Return the hull of closed stretches and whether they leave gaps; after or before the curve if there is none."""
    if not accepted:
        return float(u[-1]), float(u[0]), 0
    begins, ends = np.array(sorted(accepted)).T
    reached = np.maximum.accumulate(ends)
    return float(begins[0]), float(reached[-1]), int((begins[1:] > reached[:-1] * (1 + 1e-12)).any())
