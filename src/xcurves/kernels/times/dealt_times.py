"""The randomization test of a time: whole runs dealt anew, exactly along the pieces of a mean curve.

A deal g counts where N_g² V_0 - N_0² V_g (N linear, V quadratic) is not negative; in equal groups, where N_g² - N_0² is
not. In Bernstein's basis coefficients bound values: only what may change sign, where it may change the answer, is
solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BPoly, PPoly

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.plans import TIE, RunPlan

_HELD = 2**19  # coefficients held at once
_ROUNDING = (
    64 * np.finfo(float).eps
)  # of a mean, relative to the largest of its numbers


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
            runs_or_differences = runs - others[:, np.newaxis]
            compared_with = np.zeros(0)
            centre = 0.0
        else:
            runs_or_differences = runs
            compared_with = others
            centre = others.mean()

        # the mean is linear between levels: where it has unlike signs at both, it is 0 in between
        mean = runs_or_differences.mean(axis=0) - centre
        before = np.flatnonzero(mean[1:] * mean[:-1] < 0)
        slope = np.diff(mean)[before]
        zeros = u[before] - mean[before] * np.diff(u)[before] / slope
        wanted = [u, zeros]
        if u[0] <= at <= u[-1]:
            wanted.append(np.array([at]))
        levels = np.unique(np.concatenate(wanted))
        if len(levels) == 1:
            levels = np.repeat(levels, 2)  # one piece, of length 0

        curves = np.array([np.interp(levels, u, run) for run in runs_or_differences])
        n = curves.mean(axis=0) - centre
        largest = np.abs(curves).max(axis=0) + np.abs(compared_with).max(initial=0.0)
        n[np.abs(n) <= _ROUNDING * largest] = 0.0
        fixed = np.broadcast_to(
            compared_with[:, np.newaxis], (len(compared_with), len(levels))
        )
        pool = np.concatenate([curves, fixed]) - centre
        return cls(levels, n, pool, len(curves), plan)

    def polynomials(self, pieces: slice) -> Iterator[Floats]:
        """Yield polynomials, 0 or more where deals count: their coefficients, shape (coefficient, deal, piece)."""
        levels = slice(pieces.start, pieces.stop + 1)
        pool = self.pool[:, levels]
        observed = (1 - TIE) / (1 + TIE) * _products(self.n[levels], self.n[levels])
        unequal: _UnequalGroups | None = None
        if not self.plan.paired and self.size != len(pool) - self.size:
            unequal = _UnequalGroups.of(pool, self.size)

        for labels in self.plan.blocks():
            # of a pair: whether the run stays
            of_runs = labels[:, : self.size] if self.plan.paired else labels
            is_first = of_runs == 0
            width = max(1, _HELD // (5 * pool.shape[1]))
            for some in stretches(len(is_first), width):
                yield self._compare(
                    is_first[some].astype(float), pool, observed, unequal
                )

    def _compare(
        self,
        mine: Floats,
        pool: Floats,
        observed: Floats,
        unequal: _UnequalGroups | None,
    ) -> Floats:
        """Return the polynomials of deals that give the first group the curves with a 1 in `mine`, (deal, curve)."""
        # |T_g| >= |T_0|, T = N / √V, where N_g² V_0 - N_0² V_g >= 0, and with ties where the second term is less by
        # (1 - TIE) / (1 + TIE). N is linear in a piece, V quadratic.
        total = pool.sum(axis=0)
        n_a = mine @ pool
        if self.plan.paired:
            # those that stay less those that turn their sign
            n = (2 * n_a - total) / self.size
        else:
            n = n_a / self.size - (total - n_a) / (len(pool) - self.size)
        squares = _products(n, n)
        threshold = observed[:, np.newaxis]
        if unequal is not None:
            v_0, v_g = unequal.variances(mine, n_a)
            squares = _product(squares, v_0[:, np.newaxis])
            threshold = _product(threshold, v_g)
        # Otherwise groups are equal, or pairs: all squares and sums together stay, so that the variance falls as N²
        # rises, and T² rises with it. N_g² >= N_0² decides.
        squares -= threshold
        # the observed one counts everywhere, whatever rounding says
        squares[:, mine[:, : self.size].all(axis=1)] = 1
        return squares

    def bounds(self) -> tuple[Index, Index, Index]:
        """Return how many deals count everywhere in each piece, how many may somewhere, and how many at each level."""
        # A polynomial lies between its least and its largest Bernstein coefficient; the first and the last of them are
        # its values at the ends of the piece.
        always, some = np.full((2, len(self.u) - 1), self.plan.besides)
        level = np.full(len(self.u), self.plan.besides)
        for coefficients in self.polynomials(slice(0, len(self.u) - 1)):
            met = coefficients >= 0
            always += np.count_nonzero(met.all(axis=0), axis=0)
            some += np.count_nonzero(met.any(axis=0), axis=0)
            at_starts = np.count_nonzero(met[0], axis=0)
            at_last = np.count_nonzero(met[-1, :, -1])
            level += np.append(at_starts, at_last)
        # T_0 = 0 there, which all reach
        level[self.n == 0] = self.plan.n_total
        return always, some, level

    def steps(self, piece: int) -> tuple[Floats, Index]:
        """Return where the number of deals that count changes in a piece, from its start, and the number from there."""
        of_piece = self.polynomials(slice(piece, piece + 1))
        coefficients = np.concatenate([block[..., 0] for block in of_piece], axis=1)
        met = coefficients >= 0
        always = met.all(axis=0)
        may_change = met.any(axis=0) & ~always
        begins, ends = _not_negative(coefficients[:, may_change])
        where = np.append(begins, ends)
        change = np.repeat([1, -1], len(begins))

        # stretches are closed: at one place those that begin come first
        order = np.lexsort([-change, where])
        running = np.append(0, change[order].cumsum())
        count = running + np.count_nonzero(always) + self.plan.besides
        length = np.diff(self.u)[piece]
        places = self.u[piece] + length * np.append(0.0, where[order])
        return places, np.minimum(count, self.plan.n_total)


class _UnequalGroups(NamedTuple):
    """What the variances of deals into groups of unlike size are made of, in the pieces of a pool."""

    squares: Floats  # (coefficient, curve, piece): of each curve
    v_0: Floats  # (coefficient, piece): the variance as observed
    total: Floats  # (level,): the sum of all curves
    size: int
    others: int

    @classmethod
    def of(cls, pool: Floats, size: int) -> _UnequalGroups:
        total = pool.sum(axis=0)
        others = len(pool) - size
        # about the mean of the runs: their sum is then 0
        rest = pool[:size] - pool[:size].mean(axis=0)
        of_runs = _products(rest, rest).sum(axis=1)
        # what the runs are compared with is the same at every level
        of_others = pool[size:, 0].var(ddof=1) / others
        v_0 = _variance(of_runs, 0 * total, size) + of_others
        return cls(_products(pool, pool), v_0, total, size, others)

    def variances(self, mine: Floats, n_a: Floats) -> tuple[Floats, Floats]:
        """Return the variances as observed, and of deals, whose first groups have the sums `n_a`."""
        squares_a = np.einsum("gj,cjk->cgk", mine, self.squares)
        squares_b = self.squares.sum(axis=1, keepdims=True) - squares_a
        v_g = _variance(squares_a, n_a, self.size)
        v_g += _variance(squares_b, self.total - n_a, self.others)
        return self.v_0, v_g


def _variance(squares: Floats, n: Floats, size: int) -> Floats:
    """Return the variance of a mean of `size` curves, (Σy² - (Σy)² / size) / (size (size - 1)), of both sums."""
    return np.asarray((squares - _products(n, n) / size) / (size * (size - 1)))


def _products(a: Floats, b: Floats) -> Floats:
    """Return Bernstein coefficients of the products of linear functions, given their values at levels."""
    # ((1-h) a + h a') ((1-h) b + h b') = (1-h)² ab + 2h(1-h) (ab' + a'b) / 2 + h² a'b'
    start = a[..., :-1] * b[..., :-1]
    middle = (a[..., :-1] * b[..., 1:] + a[..., 1:] * b[..., :-1]) / 2
    end = a[..., 1:] * b[..., 1:]
    return np.stack([start, middle, end])


def _product(a: Floats, b: Floats) -> Floats:
    """Return Bernstein coefficients of the product of two quadratics."""
    # Basis functions are C(2, i) h^i (1-h)^(2-i): the product of two is that of i + j, of degree 4, by a ratio.
    product = np.zeros((5, *np.broadcast_shapes(a.shape, b.shape)[1:]))
    for i in range(3):
        for j in range(3):
            ratio = comb(2, i) * comb(2, j) / comb(4, i + j)
            product[i + j] += ratio * a[i] * b[j]
    return product


def _not_negative(bernstein: Floats) -> Floats:
    """Return where polynomials, shape (coefficient, polynomial), begin and end not to be negative in [0, 1]."""
    if not bernstein.size:
        return np.zeros((2, 0))
    # One after the other: of polynomials side by side SciPy leaves out a root that the one before has too.
    numbers = np.arange(bernstein.shape[1] + 1.0)
    one_by_one = PPoly.from_bernstein_basis(BPoly(bernstein, numbers))
    roots = one_by_one.roots(discontinuity=False, extrapolate=False)
    breaks = np.union1d(one_by_one.x, roots)
    ends = np.stack([breaks[:-1], breaks[1:]])
    middle = ends.mean(axis=0)
    # polynomial i stands from i to i + 1
    return np.asarray((ends - np.floor(middle))[:, one_by_one(middle) >= 0])


def dealt_times(
    u: Floats, runs: Floats, others: Floats, at: float, plan: RunPlan, alpha: float
) -> tuple[float, float, int, float]:
    """Return the hull of the places of a mean curve at which p > alpha, as `mean_curves.Hull`, and the p of one place.

    `runs` (run, level) at the levels `u` are compared with the numbers `others`; the p-value is that of the place `at`.
    """
    deals = DealtRuns.of(u, runs, others, at, plan)
    counted = _Counted(deals, *deals.bounds(), cache(deals.steps))
    # p > alpha where more than so many deals count; the product may round down (.29 · 100 does)
    most = np.floor(alpha * plan.n_total + 1e-9)
    begins, ends = counted.accepted(most)

    # Where nothing is accepted the level lies after the curve, or before it.
    lower = begins.min(initial=deals.u[-1])
    upper = ends.max(initial=deals.u[0])
    order = begins.argsort()
    reached = np.maximum.accumulate(ends[order])
    gap = int((begins[order][1:] > reached[:-1] * (1 + 1e-12)).any())

    # Beyond the curve nothing is rejected unless the curve shows that side at its end.
    below, above = plan.n_total, plan.n_total
    if deals.n[0] < 0:
        below = int(counted.level[0])
    if deals.n[-1] > 0:
        above = int(counted.level[-1])
    if below > most:
        lower = -np.inf
    if above > most:
        upper = np.inf
    return lower, upper, gap, counted.pvalue(at, below, above)


class _Counted(NamedTuple):
    """How many deals count along a mean curve."""

    deals: DealtRuns
    always: Index  # (piece,): everywhere in it
    some: Index  # (piece,): at most, at any place in it
    level: Index  # (level,)
    steps: Callable[[int], tuple[Floats, Index]]  # where the number changes in a piece

    def accepted(self, most: float) -> tuple[Floats, Floats]:
        """Return where stretches begin and end, in no order, in which more than `most` deals count."""
        u = self.deals.u
        whole = self.always > most
        points = u[self.level > most]
        begins = [points, u[:-1][whole]]
        ends = [points, u[1:][whole]]
        # only pieces whose bounds leave it open are solved
        for piece in np.flatnonzero((self.some > most) & ~whole).tolist():
            places, count = self.steps(piece)
            begins.append(places[count > most])
            ends.append(np.append(places[1:], u[piece + 1])[count > most])
        return np.concatenate(begins), np.concatenate(ends)

    def pvalue(self, at: float, below: int, above: int) -> float:
        """Return the smallest alpha whose hull leaves out a place, given how many count before and after the curve."""
        u = self.deals.u
        # of the place itself, where it is beyond the curve
        there = 0
        if at < u[0]:
            there = below
        elif at > u[-1]:
            there = above
        # the hull leaves it out if all of one side is rejected
        before = self.largest(u <= at, max(there, below))
        after = self.largest(u >= at, max(there, above))
        return min(before, after) / self.deals.plan.n_total

    def largest(self, side: Bools, least: int) -> int:
        """Return the largest number of deals that count at some place of a side, at least `least`."""
        best = max(least, self.level[side].max(initial=0))
        # Those with the largest bound first: when a bound is not above the best, neither are those behind it.
        pieces = np.flatnonzero(side[:-1] & side[1:])
        order = np.argsort(-self.some[pieces], kind="stable")
        for piece in pieces[order].tolist():
            if self.some[piece] <= best:
                break
            _, count = self.steps(piece)
            best = max(best, count.max())
        return int(best)
