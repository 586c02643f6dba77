"""The randomization test of a time: whole runs dealt anew, exactly along the pieces of a mean curve.

A deal g counts where N_g² V_0 - N_0² V_g (N linear, V quadratic) is not negative, or N_g² - N_0² in equal groups. In
Bernstein's basis coefficients bound values: only what may change sign, where it may change the answer, is solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import TIE, RunPlan, stretches

_HELD = 2**22  # coefficients held at once
_POLISHED = 3  # Newton steps
_ROUNDING = 64 * np.finfo(float).eps

Stretches = tuple[Floats, Floats]
Deals = NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class DealtTime:
    """How many deals count along a mean curve."""

    u: Floats  # levels, between which the mean does not change sign
    runs: Floats  # (run, level); of paired plans differences
    others: Floats  # the numbers they are compared with
    plan: RunPlan

    @classmethod
    def of(cls, u: Floats, runs: Floats, others: Floats, at: float, plan: RunPlan) -> DealtTime:
        """Add the place that is asked for, and those where the mean difference is 0, to the levels."""
        if plan.paired:
            runs, others = runs - others[:, np.newaxis], np.zeros(0)
        mean = runs.mean(axis=0) - (0.0 if plan.paired else others.mean())
        turns = np.flatnonzero(mean[1:] * mean[:-1] < 0)
        zeros = u[turns] - mean[turns] * np.diff(u)[turns] / np.diff(mean)[turns]
        wanted = np.unique(np.concatenate([u, zeros, [at] if u[0] <= at <= u[-1] else []]))
        return cls(wanted, np.array([np.interp(wanted, u, run) for run in runs]), others, plan)

    @property
    def linear(self) -> bool:
        """Whether T² increases with N²."""
        return self.plan.paired or len(self.runs) == len(self.others)

    def observed(self) -> tuple[Floats, Floats]:
        """Return N at the levels, exactly 0 where it is so but for rounding, and V in Bernstein's basis."""
        n = self.runs.mean(axis=0) - (self.others.mean() if self.others.size else 0.0)
        size = np.abs(self.runs).max(axis=0) + np.abs(self.others).max(initial=0.0)
        n[np.abs(n) <= _ROUNDING * size] = 0.0
        rest = self.runs - self.runs.mean(axis=0)
        spread = _squared(rest).sum(axis=0) / (len(rest) * (len(rest) - 1))
        if self.others.size:
            spread = spread + self.others.var(ddof=1) / len(self.others)
        return n, spread

    def pool(self, levels: slice) -> Floats:
        """Return the curves that are dealt, shape (run, level), about the mean of the others: sums are small there."""
        runs = self.runs[:, levels]
        if not self.others.size:
            return runs
        others = np.broadcast_to(self.others[:, np.newaxis], (len(self.others), runs.shape[1]))
        return np.asarray(np.concatenate([runs, others]) - self.others.mean())

    def differences(self, levels: slice) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield batches of deals: which curves come first, their sums, and N, shape (deal, level)."""
        pool, size = self.pool(levels), len(self.runs)
        total = pool.sum(axis=0)
        rows = max(1, _HELD // (5 * pool.shape[1]))
        for labels in self.plan.blocks():
            first = (labels[:, :size] if self.plan.paired else labels) == 0  # of a pair: whether the run stays
            for some in stretches(len(first), rows):
                mine = first[some].astype(float)
                n_a = mine @ pool
                paired = self.plan.paired
                yield mine, n_a, (2 * n_a - total) / size if paired else n_a / size - (total - n_a) / len(self.others)

    def polynomials(self, pieces: slice) -> Iterator[Floats]:
        """Yield coefficients, shape (deal, piece, degree + 1), of batches of deals."""
        n0, v0 = self.observed()
        levels = slice(pieces.start, pieces.stop + 1)
        n0, v0 = n0[levels], v0[pieces]
        pool, size = self.pool(levels), len(self.runs)
        squares = _squared(pool)
        for mine, n_a, n in self.differences(levels):
            if self.linear:
                yield self._keep(mine, (1 + TIE) * _squared(n) - (1 - TIE) * _squared(n0))
                continue
            total, n_b = squares.sum(axis=0), pool.sum(axis=0) - n_a
            q_a = np.einsum("gj,jkc->gkc", mine, squares)
            v = (q_a - _squared(n_a) / size) / (size * (size - 1))
            v += (total - q_a - _squared(n_b) / len(self.others)) / (len(self.others) * (len(self.others) - 1))
            more, less = _product(_squared(n), v0), _product(_squared(n0), v)
            yield self._keep(mine, (1 + TIE) * more - (1 - TIE) * less)

    def _keep(self, first: Floats, deals: NDArray[T]) -> NDArray[T]:
        """Let the observed deal count everywhere, whatever rounding says."""
        deals[first[:, : len(self.runs)].all(axis=1)] = 1
        return deals

    def bounds(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return how many deals count everywhere in each piece, how many may somewhere, and how many at each level."""
        always, some = np.zeros((2, len(self.u) - 1), np.intp)
        level = np.zeros(len(self.u), np.intp)
        for everywhere, somewhere, met in self._by_size() if self.linear else self._by_coefficients():
            always += everywhere.sum(axis=0)
            some += somewhere.sum(axis=0)
            level += met.sum(axis=0)
        level[self.observed()[0] == 0] = self.plan.n_resamples
        return always, some, level

    def _by_size(self) -> Iterator[tuple[Deals, Deals, Deals]]:
        """Yield which deals count in all of each piece, somewhere, and at each level, where |N| alone decides."""
        least = np.sqrt((1 - TIE) / (1 + TIE)) * np.abs(self.observed()[0])
        for first, _, n in self.differences(slice(None)):
            above, below = (self._keep(first, each) for each in (n >= least, n <= -least))
            met = above | below
            yield above[:, 1:] & above[:, :-1] | below[:, 1:] & below[:, :-1], met[:, 1:] | met[:, :-1], met

    def _by_coefficients(self) -> Iterator[tuple[Deals, Deals, Deals]]:
        """Yield what `_by_size` does from bounds of the polynomials."""
        for each in self.polynomials(slice(0, len(self.u) - 1)):
            met = each >= 0
            everywhere, somewhere = (np.asarray(of(met, axis=-1)) for of in (np.all, np.any))
            yield everywhere, somewhere, np.concatenate([met[..., 0], met[:, -1:, -1]], axis=1)

    def steps(self, piece: int) -> tuple[Floats, NDArray[np.intp]]:
        """Return where the number of deals that count changes in a piece, and the number from there on."""
        always, begins, ends = 0, [], []
        for each in self.polynomials(slice(piece, piece + 1)):
            met = each[:, 0] >= 0
            always += int(met.all(axis=-1).sum())
            begin, end = _not_negative(each[:, 0][met.any(axis=-1) & ~met.all(axis=-1)])
            begins.append(begin)
            ends.append(end)
        where = np.concatenate([*begins, *ends])
        change = np.repeat([1, -1], [sum(map(len, begins)), sum(map(len, ends))])
        order = np.lexsort([-change, where])  # stretches are closed: at one place those that begin come first
        return np.append(0.0, where[order]), np.append(0, change[order].cumsum()) + always


def _squared(ends: Floats) -> Floats:
    """Return Bernstein coefficients of the squares of linear functions, given their values at levels."""
    return np.stack([ends[..., :-1] ** 2, ends[..., :-1] * ends[..., 1:], ends[..., 1:] ** 2], axis=-1)


def _product(a: Floats, b: Floats) -> Floats:
    """Return Bernstein coefficients of the product of two quadratics."""
    shape = np.broadcast_shapes(a.shape, b.shape)[:-1]
    out = np.zeros((*shape, 5))
    for i in range(3):
        for j in range(3):
            out[..., i + j] += comb(2, i) * comb(2, j) / comb(4, i + j) * a[..., i] * b[..., j]
    return out


def _not_negative(bernstein: Floats) -> Stretches:
    """Return where polynomials, shape (polynomial, degree + 1), begin and end not to be negative in [0, 1]."""
    degree = bernstein.shape[1] - 1
    powers = bernstein @ _to_powers(degree)
    roots = _roots(powers)
    breaks = np.column_stack([np.zeros(len(roots)), roots, np.ones(len(roots))])
    middle = (breaks[:, 1:] + breaks[:, :-1]) / 2
    inside = (_values_at(powers, middle) >= 0) & (breaks[:, 1:] > breaks[:, :-1])
    return breaks[:, :-1][inside], breaks[:, 1:][inside]


def _to_powers(degree: int) -> Floats:
    matrix = np.zeros((degree + 1, degree + 1))
    for i in range(degree + 1):
        for k in range(i, degree + 1):
            matrix[i, k] = comb(degree, i) * comb(degree - i, k - i) * (-1) ** (k - i)
    return matrix


def _values_at(powers: Floats, h: Floats) -> Floats:
    value = np.zeros_like(h)
    for coefficient in powers.T[::-1]:
        value = value * h + coefficient[:, np.newaxis]
    return value


def _roots(powers: Floats) -> Floats:
    """Return the real roots in [0, 1], sorted; others are 0 or 1, or where they do not change the sign."""
    degree = powers.shape[1] - 1
    largest = np.abs(powers).max(axis=1, keepdims=True)
    scaled = powers / np.where(largest > 0, largest, 1.0)
    lead = np.where(np.abs(scaled[:, -1:]) < 1e-30, 1e-30, scaled[:, -1:])
    companion = np.zeros((len(powers), degree, degree))
    companion[:, 0] = -(scaled[:, -2::-1] / lead)
    companion[:, np.arange(1, degree), np.arange(degree - 1)] = 1.0
    found = np.linalg.eigvals(companion)
    real = np.clip(found.real, 0.0, 1.0)
    slopes = powers[:, 1:] * np.arange(1, degree + 1)
    for _ in range(_POLISHED):
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.nan_to_num(_values_at(powers, real) / _values_at(slopes, real), nan=0.0, posinf=0.0, neginf=0.0)
        real = np.where(np.abs(step) < 1e-3, np.clip(real - step, 0.0, 1.0), real)
    return np.sort(real, axis=1)


class Dealt(NamedTuple):
    """What a randomization test says: the hull of what it does not reject (as `mean_curves.Hull`), and its p-value."""

    lower: float
    upper: float
    gap: int
    pvalue: float


def dealt_times(curve: DealtTime, at: float, most: float) -> Dealt:
    """Return the hull of the places at which more than `most` deals count, and the p-value of the place `at`."""
    if len(curve.u) == 1:
        curve = replace(curve, u=np.repeat(curve.u, 2), runs=np.repeat(curve.runs, 2, axis=1))
    plan, u = curve.plan, curve.u
    more = plan.n_total - plan.n_resamples
    n = curve.observed()[0]
    always, some, level = (each + more for each in curve.bounds())
    accepted = [(u[k], u[k]) for k in np.flatnonzero(level > most)]
    for piece in np.flatnonzero(some > most).tolist():
        h, count = np.array([0.0]), always[[piece]]
        if always[piece] <= most:
            h, count = curve.steps(piece)
            count = count + more
        inside = count > most
        places = u[piece] + (u[piece + 1] - u[piece]) * np.append(h, 1.0)
        accepted += zip(places[:-1][inside], places[1:][inside], strict=True)
    below = level[0] if n[0] < 0 else plan.n_total
    above = level[-1] if n[-1] > 0 else plan.n_total
    lower, upper, gap = _joined_hull(accepted, u)
    before, after = _largest_counts(curve, at, (always, some, level), (int(below), int(above)))
    return Dealt(
        lower=-np.inf if below > most else lower,
        upper=np.inf if above > most else upper,
        gap=gap,
        pvalue=min(before, after) / plan.n_total,
    )


def _joined_hull(accepted: list[tuple[float, float]], u: Floats) -> tuple[float, float, int]:
    """Return the hull of closed stretches and whether they leave gaps; after or before the curve if there is none."""
    if not accepted:
        return float(u[-1]), float(u[0]), 0
    begins, ends = np.array(sorted(accepted)).T
    reached = np.maximum.accumulate(ends)
    return float(begins[0]), float(reached[-1]), int((begins[1:] > reached[:-1] * (1 + 1e-12)).any())


def _largest_counts(
    curve: DealtTime, at: float, counts: tuple[NDArray[np.intp], ...], beyond: tuple[int, int]
) -> tuple[int, int]:
    """Return the largest number of deals that count at some place up to `at`, and from there on."""
    always, some, level = counts
    u, more = curve.u, curve.plan.n_total - curve.plan.n_resamples
    largest = []
    pieces = np.arange(len(u) - 1)
    own = beyond[0] if at < u[0] else beyond[1] if at > u[-1] else 0  # the place itself lies beyond the curve
    for side, end in ((u <= at, 0), (u >= at, 1)):
        best = max([own, beyond[end], *level[side].tolist()])
        mine = pieces[side[:-1] & side[1:]]
        for piece in mine[np.argsort(-some[mine], kind="stable")]:
            if some[piece] <= best:
                break
            if always[piece] < some[piece]:
                best = max(best, int(curve.steps(piece)[1].max()) + more)
            else:
                best = max(best, int(some[piece]))
        largest.append(best)
    return largest[0], largest[1]
