"""Repeated confidence intervals: the shifts that a sequential test has not rejected by each look."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.group_sequential import Runs, Terms, statistic
from xcurves.kernels.moments import Floats
from xcurves.kernels.nested_assignments import Look
from xcurves.kernels.sequential_pvalues import small_pvalues

LEVEL_TIE = 1e-12
_FAR = 2.0**20  # ranges of the numbers at which a shift that is not rejected never will be
_WIDE = 2.0**6  # ranges of the numbers at which the search for an end begins
_PRECISION = 2.0**-24  # ranges of the numbers
_NOISE = 1.3  # by which random assignments may exceed the share spent on enumerated ones


@dataclass(frozen=True)
class Shifted:
    """The test of a pair after the first algorithm's numbers are lowered by a shift."""

    runs: Runs
    looks: list[Look]
    terms: list[Terms | None]
    share: Floats
    alpha: float

    def is_rejected(self, shift: float, look: int) -> bool:
        """Return whether a shift is rejected at a look or before."""
        q = np.full(1, np.inf)
        for k, limit in enumerate(self._limits[look]):
            each, found = self.looks[k], self.terms[k]
            q = q if each.parent is None else q[each.parent]
            if found is not None and each.deals:
                t = statistic(self.runs, self.looks, found, k, shift)
                q = small_pvalues(t, q, self.share[k] * len(q), limit)
        return bool(q[0] <= self.alpha + LEVEL_TIE)

    @cached_property
    def tested(self) -> NDArray[np.bool_]:
        """At which looks there is something new to test."""
        return np.array([bool(each.deals) and t is not None for each, t in zip(self.looks, self.terms, strict=True)])

    @cached_property
    def range(self) -> float:
        """Largest range of the numbers of a batch."""
        return max((float(np.ptp(z, axis=-1).max()) for each in self.runs.z for z in each), default=0.0)

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


def intervals(test: Shifted) -> Floats:
    """Return the hull of the shifts not rejected by each look, shape (look, 2), NaN where all are.

    The ends are searched between the interval of the look before and the shift at which T is 0. A look that rejects the
    shift of the interval before that is nearest to this one leaves none.
    """
    out = np.full((len(test.looks), 2), np.nan)
    low, high = -np.inf, np.inf
    for k, found in enumerate(test.terms):
        if found is not None and test.tested[k]:
            centre = float(np.clip(found.d[0, 0] / found.d[1, 0], low, high))
            if test.is_rejected(centre, k):
                break
            low, high = (_end(test, k, centre, end) for end in (low, high))
        out[k] = low, high
    return out


def _end(test: Shifted, k: int, centre: float, before: float) -> float:
    """Return the end at look `k`, between a shift that is not rejected and the end at the look before."""
    if before == centre or not test.is_rejected(_bounded(test, centre, before), k):
        return before
    inside, outside = centre, before
    if np.isinf(before):
        inside, outside = _bracket(test, k, centre, np.sign(before))
    while abs(outside - inside) > _PRECISION * test.range:
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if test.is_rejected(middle, k) else (middle, outside)
    return outside


def _bounded(test: Shifted, centre: float, end: float) -> float:
    return end if np.isfinite(end) else centre + np.sign(end) * _FAR * test.range


def _bracket(test: Shifted, k: int, centre: float, side: float) -> tuple[float, float]:
    """Return a shift that is not rejected and a farther one that is: the outermost of shifts in steps of half."""
    outside = centre + side * _FAR * test.range
    distance = _WIDE * test.range
    while test.is_rejected(centre + side * distance, k):
        outside = centre + side * distance
        distance /= 2
    return centre + side * distance, outside
