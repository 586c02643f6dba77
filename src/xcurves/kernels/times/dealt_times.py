"""The randomization test of a time: whole runs dealt anew, exactly along the pieces of a mean curve.

A deal g counts where N_g² V_0 - N_0² V_g (N linear, V quadratic) is not negative; in equal groups, where N_g² - N_0² is
not. In Bernstein's basis coefficients bound values: only what may change sign, where it may change the answer, is
solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly, PPoly

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.plans import TIE, RunPlan

_HELD = 2**19  # coefficients held at once
_ROUNDING = 64 * np.finfo(float).eps


class DealtRuns(NamedTuple):
    """Curves that are dealt anew, about the mean of what the first of them are compared with: sums are small there."""

    u: Floats  # levels, between which the mean does not change sign
    n: Floats  # N of the runs there, exactly 0 where it is so but for rounding
    pool: Floats  # (curve, level): the runs, of paired plans differences, then the numbers they are compared with
    size: int  # the number of runs
    plan: RunPlan

    @classmethod
    def of(
        cls, u: Floats, runs: Floats, others: Floats, at: float, plan: RunPlan
    ) -> DealtRuns:
        """Add the place that is asked for, and those where the mean difference is 0, to the levels."""
        if plan.paired:
            runs, others = runs - others[:, np.newaxis], np.zeros(0)
        centre = others.mean() if others.size else 0.0
        mean = runs.mean(axis=0) - centre
        turns = np.flatnonzero(mean[1:] * mean[:-1] < 0)
        zeros = u[turns] - mean[turns] * np.diff(u)[turns] / np.diff(mean)[turns]
        wanted = np.unique(
            np.concatenate([u, zeros, [at] if u[0] <= at <= u[-1] else []])
        )
        wanted = np.repeat(wanted, 2) if len(wanted) == 1 else wanted
        runs = np.array([np.interp(wanted, u, run) for run in runs])
        n = runs.mean(axis=0) - centre
        n[
            np.abs(n)
            <= _ROUNDING * (np.abs(runs).max(axis=0) + np.abs(others).max(initial=0.0))
        ] = 0.0
        fixed = np.broadcast_to(others[:, np.newaxis], (len(others), len(wanted)))
        return cls(wanted, n, np.concatenate([runs, fixed]) - centre, len(runs), plan)

    def polynomials(self, pieces: slice) -> Iterator[Floats]:
        """Yield polynomials, 0 or more where deals count: their coefficients, shape (coefficient, deal, piece)."""
        size, paired = self.size, self.plan.paired
        levels = slice(pieces.start, pieces.stop + 1)
        pool, n0 = self.pool[:, levels], self.n[levels]
        others, total = len(pool) - size, pool.sum(axis=0)

        def variance(squares: Floats, n: Floats, size: int) -> Floats:
            return np.asarray((squares - _products(n, n) / size) / (size * (size - 1)))

        for labels in self.plan.blocks():
            # of a pair: whether the run stays
            first = (labels[:, :size] if paired else labels) == 0
            for some in stretches(len(first), max(1, _HELD // (5 * pool.shape[1]))):
                mine = first[some].astype(float)
                n_a = mine @ pool
                n = (
                    (2 * n_a - total) / size
                    if paired
                    else n_a / size - (total - n_a) / others
                )
                made, observed = (
                    _products(n, n),
                    (1 - TIE) / (1 + TIE) * _products(n0, n0)[:, np.newaxis],
                )
                if not paired and size != others:  # otherwise T² rises with N²
                    rest, squares = (
                        pool[:size] - pool[:size].mean(axis=0),
                        _products(pool, pool),
                    )
                    v0 = (
                        variance(_products(rest, rest).sum(axis=1), 0 * n0, size)
                        + pool[size:, 0].var(ddof=1) / others
                    )
                    q_a = np.einsum("gj,cjk->cgk", mine, squares)
                    v = variance(q_a, n_a, size)
                    v += variance(
                        squares.sum(axis=1, keepdims=True) - q_a, total - n_a, others
                    )
                    made, observed = (
                        _product(made, v0[:, np.newaxis]),
                        _product(observed, v),
                    )
                made -= observed
                made[:, mine[:, :size].all(axis=1)] = (
                    1  # the observed one counts everywhere, whatever rounding says
                )
                yield made

    def bounds(self) -> tuple[Index, Index, Index]:
        """Return how many deals count everywhere in each piece, how many may somewhere, and how many at each level."""
        always, some = np.full((2, len(self.u) - 1), self.plan.besides)
        level = np.full(len(self.u), self.plan.besides)
        for each in self.polynomials(slice(0, len(self.u) - 1)):
            met = each >= 0
            always += np.count_nonzero(met.all(axis=0), axis=0)
            some += np.count_nonzero(met.any(axis=0), axis=0)
            level += np.append(
                np.count_nonzero(met[0], axis=0), np.count_nonzero(met[-1, :, -1])
            )
        level[self.n == 0] = self.plan.n_total
        return always, some, level

    def steps(self, piece: int) -> tuple[Floats, Index]:
        """Return where the number of deals that count changes in a piece, from its start, and the number from there."""
        every = np.concatenate(
            [each[..., 0] for each in self.polynomials(slice(piece, piece + 1))], axis=1
        )
        always = (every >= 0).all(axis=0)
        begins, ends = _not_negative(every[:, (every >= 0).any(axis=0) & ~always])
        where, change = np.append(begins, ends), np.repeat([1, -1], len(begins))
        # stretches are closed: at one place those that begin come first
        order = np.lexsort([-change, where])
        count = (
            np.append(0, change[order].cumsum())
            + np.count_nonzero(always)
            + self.plan.besides
        )
        places = self.u[piece] + np.diff(self.u)[piece] * np.append(0.0, where[order])
        return places, np.minimum(count, self.plan.n_total)


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
    """Return where polynomials, shape (coefficient, polynomial), begin and end not to be negative in [0, 1]."""
    if not bernstein.size:
        return np.zeros((2, 0))
    # One after the other: of polynomials side by side SciPy leaves out a root that the one before has too.
    every = PPoly.from_bernstein_basis(
        BPoly(bernstein, np.arange(bernstein.shape[1] + 1.0))
    )
    breaks = np.union1d(every.x, every.roots(discontinuity=False, extrapolate=False))
    ends = np.stack([breaks[:-1], breaks[1:]])
    middle = ends.mean(axis=0)
    return np.asarray((ends - np.floor(middle))[:, every(middle) >= 0])


def dealt_times(
    u: Floats, runs: Floats, others: Floats, at: float, plan: RunPlan, alpha: float
) -> tuple[float, float, int, float]:
    """Return the hull of the places of a mean curve at which p > alpha, as `mean_curves.Hull`, and the p of one place.

    `runs` (run, level) at the levels `u` are compared with the numbers `others`; the p-value is that of the place `at`.
    """
    deals = DealtRuns.of(u, runs, others, at, plan)
    u, n, most, steps = (
        deals.u,
        deals.n,
        np.floor(alpha * plan.n_total + 1e-9),
        cache(deals.steps),
    )
    always, some, level = deals.bounds()
    whole = always > most
    begins, ends = [u[level > most], u[:-1][whole]], [u[level > most], u[1:][whole]]
    for piece in np.flatnonzero((some > most) & ~whole).tolist():
        places, count = steps(piece)
        begins.append(places[count > most])
        ends.append(np.append(places[1:], u[piece + 1])[count > most])
    first, gap = np.concatenate(begins), 0
    # Where nothing is accepted the level lies after the curve, or before it.
    lower, upper = first.min(initial=u[-1]), np.concatenate(ends).max(initial=u[0])
    order = first.argsort()
    reached = np.maximum.accumulate(np.concatenate(ends)[order])
    gap = int((first[order][1:] > reached[:-1] * (1 + 1e-12)).any())
    below = level[0] if n[0] < 0 else plan.n_total
    above = level[-1] if n[-1] > 0 else plan.n_total
    beyond = 0
    if at < u[0]:
        beyond = below
    elif at > u[-1]:
        beyond = above

    def largest(side: NDArray[np.bool_], end: int) -> int:
        """Return the largest number of deals that count at some place of a side, and beyond it."""
        best = max(beyond, end, level[side].max(initial=0))
        mine = np.flatnonzero(side[:-1] & side[1:])
        for piece in mine[np.argsort(-some[mine], kind="stable")].tolist():
            if some[piece] <= best:
                break
            best = max(best, steps(piece)[1].max())
        return int(best)

    pvalue = min(largest(u <= at, below), largest(u >= at, above)) / plan.n_total
    return (
        -np.inf if below > most else lower,
        np.inf if above > most else upper,
        gap,
        pvalue,
    )
