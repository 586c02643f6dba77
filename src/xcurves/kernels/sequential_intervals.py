"""Repeated confidence intervals: the shifts that a sequential test has not rejected by each look."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.group_sequential import Runs, Terms, studentized_difference
from xcurves.kernels.moments import Floats
from xcurves.kernels.nested_assignments import Look
from xcurves.kernels.sequential_pvalues import Boundary, boundary, small_pvalues

LEVEL_TIE = 1e-12
_FAR = 2.0**20  # ranges of the numbers at which a shift that is not rejected never will be
_WIDE = 2.0**4  # ranges of the numbers at which the search for an end begins
_PRECISION = 2.0**-30  # of an end, in ranges of the numbers
_TRIALS = 3  # before the bracket is halved
_NOISE = 1.3  # by which random assignments may exceed the share spent on enumerated ones


@dataclass(frozen=True)
class ShiftedRuns:
    """The test of a pair after the first algorithm's numbers are lowered by a shift."""

    runs: Runs
    looks: list[Look]
    terms: list[Terms | None]
    share: Floats
    alpha: float

    def boundary(self, shift: float, look: int) -> Boundary:
        """Return which assignments are rejected at a look at which there is something to test."""
        q = np.full(1, np.inf)
        for k, limit in enumerate(self._limits[look]):
            each, found = self.looks[k], self.terms[k]
            q = q if each.parent is None else q[each.parent]
            if found is not None and self.tested[k]:
                t = studentized_difference(self.runs, self.looks, found, k, shift)
                if k < look:
                    q = small_pvalues(t, q, self.share[k] * len(q), limit)
        return boundary(t, q, self.share[look] * len(q), self.alpha + LEVEL_TIE)

    @cached_property
    def tested(self) -> NDArray[np.bool_]:
        """At which looks there is something new to test."""
        return np.array([bool(each.deals) and t is not None for each, t in zip(self.looks, self.terms, strict=True)])

    @cached_property
    def _limits(self) -> list[Floats]:
        """For the decision at each look, the value up to which the p-values of every look until then matter."""
        out = []
        for last in range(len(self.looks)):
            limit = np.full(last + 1, self.alpha * (1 + 1e-9))
            for k in range(last, 0, -1):
                before = self.share[:k][self.tested[:k]]
                left = self.share[k]
                if before.size:
                    left -= before[-1] * (_NOISE if self.looks[k - 1].exact and not self.looks[k].exact else 1)
                grown = limit[k] * self.share[k] / left if left > 0 else np.inf
                limit[k - 1] = grown if self.tested[k] else limit[k]
            out.append(limit)
        return out


def sequential_limits(test: ShiftedRuns) -> Floats:
    """Return the hull of the shifts not rejected by each look, shape (look, 2), NaN where all are.

    The ends are searched between the interval of the look before and the shift at which T is 0. A look that rejects the
    shift of the interval before that is nearest to this one leaves none.
    """
    out = np.full((len(test.looks), 2), np.nan)
    low, high = -np.inf, np.inf
    for k, found in enumerate(test.terms):
        if found is not None and test.tested[k]:
            centre = float(np.clip(found.d[0, 0] / found.d[1, 0], low, high))
            at_centre = test.boundary(centre, k)
            if at_centre.rejected:
                break
            low, high = (_End(test, found, k, centre, end, centre, at_centre).find() for end in (low, high))
        out[k] = low, high
    return out


@dataclass
class _End:
    """The search for one end at look `k`, between a shift that is not rejected and the end at the look before.

    Attributes
    ----------
    inside, outside : float
        The bracket.
    shift : float
        Where the test was evaluated last.
    boundary : Boundary
        What it said.
    """

    test: ShiftedRuns
    terms: Terms
    k: int
    inside: float
    outside: float
    shift: float
    boundary: Boundary

    def find(self) -> float:
        """Return the end, not rejected itself: that of the look before where this look does not reject it either."""
        before, centre = self.outside, self.inside
        side = np.sign(before - centre)
        step = side * _PRECISION * self.test.runs.range[self.k] / 3
        if before == centre:
            return before
        if np.isinf(before):
            self.outside = centre + side * _FAR * self.test.runs.range[self.k]
            if not self._at(self.outside).rejected:
                return before
            distance = _WIDE * self.test.runs.range[self.k]  # the outermost of distances that are halved
            while self._at(centre + side * distance).rejected:
                distance /= 2
        else:
            crossing = self._crossing()
            if (crossing is None or not self._at(crossing + step).rejected) and not self._at(before).rejected:
                return before
        return self._close_in(step)

    def _at(self, shift: float) -> Boundary:
        """Evaluate a shift, and put it into the bracket."""
        self.shift, self.boundary = shift, self.test.boundary(shift, self.k)
        if self.boundary.rejected:
            self.outside = shift
        else:
            self.inside = shift
        return self.boundary

    def _close_in(self, step: float) -> float:
        """Try where T of the observed assignment crosses the boundary; halve the bracket where that does not help."""
        width, trials = self._width(), 0
        while self._width() > 3 * abs(step):
            crossing = self._crossing()
            if crossing is not None and self._at(crossing + step).rejected and self.boundary.above == 0:
                self._at(crossing - step)
            trials += 1
            if trials == _TRIALS and self._width() > width / 2:
                self._at((self.inside + self.outside) / 2)
            if trials == _TRIALS:
                width, trials = self._width(), 0
        return self.inside

    def _width(self) -> float:
        return abs(self.outside - self.inside)

    def _crossing(self) -> float | None:
        """Return the shift nearest to the last one at which T equals that of the assignment next to the boundary.

        That is a root of the quartic ``D_0² V_g - D_g² V_0``.
        """
        other = self.boundary.below if self.boundary.rejected else self.boundary.above
        if other < 1:
            return None
        d, v, at = self.terms.d[:, [0, other]], self.terms.v[:, [0, other]], self.shift
        d = np.array([d[0] - at * d[1], -d[1]])  # polynomials in the distance from `at`, whose small roots are exact
        v = np.array([v[0] - at * (2 * v[1] - at * v[2]), 2 * (at * v[2] - v[1]), v[2]])
        square = np.array([d[1] ** 2, 2 * d[0] * d[1], d[0] ** 2])
        roots = np.roots(np.convolve(square[:, 0], v[::-1, 1]) - np.convolve(square[:, 1], v[::-1, 0]))
        roots = at + roots.real[np.abs(roots.imag) <= 1e-6 * self.test.runs.range[self.k]]
        low, high = sorted((self.inside, self.outside))
        roots = roots[(roots > low) & (roots < high)]
        return float(roots[np.abs(roots - self.shift).argmin()]) if roots.size else None
