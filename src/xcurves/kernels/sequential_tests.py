"""The sequential test of a pair of algorithms: p-values and boundary at every look, and shifts not rejected by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.group_sequential import (
    INFINITE,
    Runs,
    Terms,
    centre_batches,
    normal_scale,
    squared_range,
    studentized_difference,
    studentized_terms,
)
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import Index
from xcurves.kernels.sequential_pvalues import (
    LEVEL_TIE,
    Boundary,
    boundary,
    nested_pvalues,
    small_pvalues,
    tie_ranks,
)
from xcurves.kernels.task_plans import Look

_FAR = 2.0**20  # ranges of the numbers at which a shift that is not rejected never will be
_WIDE = 2.0**4  # ranges of the numbers at which the search for an end begins
_PRECISION = 2.0**-30  # of an end, in ranges of the numbers
_TRIALS = 3  # before the bracket is halved
_NOISE = 1.3  # by which random assignments may exceed the share spent on enumerated ones
_GROWTH = 1.04  # of the limit of p-values from a look to the look before, if nearly all of its share is spent there
_SAME = 1e-8  # relative rounding
_WINDOW = 4  # the assignments that matter are kept for shifts within a quarter of the distance from the centre
_BEYOND = 1.04  # times the distance at which an end is expected


def sequential_tests(
    u: Floats, look: Index, looks: list[Look], weights: Floats, share: Floats, alpha: float, *, interval: bool = True
) -> dict[str, Floats]:
    """Test a pair at every look.

    Parameters
    ----------
    u : ndarray, shape (2, task, run)
        Numbers of the first and of the second algorithm, NaN where a run is absent.
    look : ndarray of int, shape (run,)
        Number of each run's batch, from 0.
    looks : list of Look
        Nested assignments, made by `nest` from the numbers of runs.
    weights : ndarray, shape (task,)
        Weights of the tasks.
    share : ndarray, shape (look,)
        Share of the level spent by each look; planned looks may be more than `looks`.
    alpha : float
        Level of the boundary and of the interval.
    interval : bool
        Whether to compute the interval.

    Returns
    -------
    dict of ndarray, shape (look,)
        `statistic` and `z` (on the scale of a t statistic), NaN where a task has one run of an algorithm; `pvalue`;
        `critical_value`, infinite where no assignment crosses; `pvalue_stagewise`; `difference`; and `difference_ci`,
        shape (look, 2), if asked for: NaN where every shift is rejected.
    """
    runs = centre_batches(u, look, looks, weights)
    found = studentized_terms(runs, looks)
    out = {name: np.full(len(looks), np.nan) for name in ("statistic", "pvalue", "critical_value", "pvalue_stagewise")}
    q = np.full(1, np.inf)
    for k, each in enumerate(looks):
        before = q if each.parent is None else q[each.parent]
        now = found[k]
        t = None if now is None else studentized_difference(runs, looks, now, k)
        ranks = None if t is None else tie_ranks(t)
        q = before if ranks is None or not each.cells else nested_pvalues(ranks, before, share[k] * len(before))
        out["pvalue"][k] = min(q[0], 1.0)
        crossed = before <= alpha + LEVEL_TIE
        least = q <= alpha + LEVEL_TIE
        crossing = np.inf if t is None else t.min(initial=np.inf, where=least & ~crossed)
        out["critical_value"][k] = np.inf if crossing >= INFINITE else crossing
        out["pvalue_stagewise"][k] = 1.0
        if t is not None and ranks is not None:
            out["statistic"][k] = np.inf if t[0] >= INFINITE else t[0]
            out["pvalue_stagewise"][k] = np.count_nonzero(crossed | (ranks >= ranks[0])) / len(t)
    out["difference"] = runs.difference
    out["z"] = out["statistic"] * normal_scale(runs, looks)
    if interval:
        out["difference_ci"] = sequential_limits(ShiftedRuns(runs, looks, found, share, alpha))
    return out


class _Part(NamedTuple):
    """The assignments that matter at one look, for some shifts.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers.
    before : ndarray of int
        Where in the part of the look before each assignment's parent is, its length for those that are not in it.
    terms : Terms or None
        Those of the statistic, of these assignments, None where there is nothing to test.
    limit : float
        The value up to which p-values are computed.
    """

    rows: Index
    before: Index
    terms: Terms | None
    limit: float


@dataclass
class ShiftedRuns:
    """The test of a pair after the first algorithm's numbers are lowered by a shift.

    Attributes
    ----------
    unspent : float
        How many assignments may be left of the share of a look, as in `_limits`: more once that did not do.
    """

    runs: Runs
    looks: list[Look]
    terms: list[Terms | None]
    share: Floats
    alpha: float
    unspent: float = 2.0

    def boundary(self, shift: float, parts: list[_Part]) -> Boundary | None:
        """Return which assignments are rejected at the look of the last part, None if that needs larger limits.

        At most ``x s_{k-1} B`` assignments have ``q_{k-1} <= x``. So where those with ``q_{k-1} <= limit`` leave to
        others at most ``x (s_k - s_{k-1}) B`` of ``limit s_k B``, values of ``q_{k-1}`` above x decide nothing.
        """
        q, known, last = np.full(0, np.inf), np.inf, len(parts) - 1
        for k, part in enumerate(parts):
            q = np.append(q, np.inf)[part.before]
            if part.terms is not None:
                n = self.looks[k].n_total
                budget = self.share[k] * n
                left = part.limit * budget - np.count_nonzero(q <= part.limit)
                if known < np.inf and left > known * self._free[k] * n * (1 + _SAME):
                    return None
                t = studentized_difference(self.runs, self.looks, part.terms, k, shift)
                if k < last:
                    q = small_pvalues(t, q, budget, part.limit)
                    q[q <= self.alpha + LEVEL_TIE] = 0  # all are rejected; counts with few values converge faster
                known = part.limit if part.limit * self.share[k] < 1 else np.inf  # no p-value is larger
        found = boundary(t, q, budget, self.alpha + LEVEL_TIE)
        below, above = (int(part.rows[place]) if place >= 0 else -1 for place in found[1:])
        return Boundary(found.rejected, below, above)

    def decide(self, shift: float, look: int, parts: list[_Part]) -> Boundary:
        """Return which assignments are rejected at a look at which there is something to test."""
        while (found := self.boundary(shift, parts)) is None:
            self.unspent *= 4
            parts = self.parts(shift, shift, look)
        return found

    def parts(self, low: float, high: float, look: int) -> list[_Part]:
        """Return the assignments that matter for shifts from `low` to `high`, and the observed one."""
        out: list[_Part] = []
        place, matters = np.zeros(1, np.intp), np.zeros(1, bool)
        for k, limit in enumerate(self._limits(look)):
            each, found = self.looks[k], self.terms[k]
            before = place if each.parent is None else place[each.parent]
            matters = matters if each.parent is None else matters[each.parent]
            if self.tested[k] and found is not None:
                matters = matters | self._may_be_top(found, k, low, high, limit * self.share[k] * len(before))
            keep = matters.copy()
            keep[0] = True
            rows = np.flatnonzero(keep)
            out.append(_Part(rows, before[rows], found.take(rows) if self.tested[k] and found else None, limit))
            place = np.full(len(keep), len(rows))
            place[rows] = np.arange(len(rows))
        return out

    def _may_be_top(self, found: Terms, k: int, low: float, high: float, number: float) -> NDArray[np.bool_]:
        """Return which assignments may be among so many with the largest T, at a shift from `low` to `high`."""
        n = found.d.shape[1]
        if number < 1 - _SAME:  # no p-value is so small
            return np.zeros(n, bool)
        if number + 2 >= n:
            return np.ones(n, bool)
        least, most = squared_range(self.runs, found, k, low, high)
        place = n - int(number) - 2
        return np.asarray(most >= (1 - _SAME) * np.partition(least, place)[place])

    @cached_property
    def tested(self) -> NDArray[np.bool_]:
        """At which looks there is something new to test."""
        return np.array([bool(each.cells) and t is not None for each, t in zip(self.looks, self.terms, strict=True)])

    @cached_property
    def _free(self) -> Floats:
        """Return the share that can be spent at every look whatever was rejected before."""
        out = self.share[: len(self.looks)].copy()
        for k in range(1, len(self.looks)):
            before = self.share[:k][self.tested[:k]]
            if before.size:
                noise = _NOISE if self.looks[k - 1].exact and not self.looks[k].exact else 1
                out[k] -= before[-1] * noise
        return out

    def _limits(self, look: int) -> Floats:
        """For the decision at a look, return the value up to which the p-values of every look until then matter.

        That is enough where of the share of a look no more than `unspent` assignments are left: their number is whole,
        and that of random ones among enumerated ones varies.
        """
        limit = np.full(look + 1, self.alpha * (1 + 1e-9))
        for k in range(look, 0, -1):
            limit[k - 1] = limit[k]
            if self.tested[k]:
                free, n = self._free[k], self.looks[k - 1].n_total
                varies = self.looks[k - 1].exact and not self.looks[k].exact
                left = self.unspent * (1 + varies * np.sqrt(limit[k] * self.share[k] * n))
                enough = [limit[k] * self.share[k], max(_GROWTH * limit[k] * free, limit[k] * free + left / n)]
                most = 2 / self.share[k - 1]  # above all p-values
                limit[k - 1] = min(min(enough) / free, most) if free > 0 else most
        return limit


def sequential_limits(test: ShiftedRuns) -> Floats:
    """Return the hull of the shifts not rejected by each look, shape (look, 2), NaN where all are.

    The ends are searched between the interval of the look before and the shift at which T is 0. A look that rejects the
    shift of the interval before that is nearest to this one leaves none.
    """
    out = np.full((len(test.looks), 2), np.nan)
    low, high = -np.inf, np.inf
    for k, found in enumerate(test.terms):
        if found is not None and test.tested[k]:
            test.unspent = ShiftedRuns.unspent
            centre = float(np.clip(found.d[0, 0] / found.d[1, 0], low, high))
            at_centre = test.decide(centre, k, test.parts(centre, centre, k))
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
    window, parts, unspent : tuple of float, list of _Part, float
        The shifts for which the assignments that matter are known, these, and with what they were found.
    """

    test: ShiftedRuns
    terms: Terms
    k: int
    inside: float
    outside: float
    shift: float
    boundary: Boundary
    window: tuple[float, float] = (np.inf, -np.inf)
    parts: list[_Part] = field(default_factory=list)
    unspent: float = 0.0

    def __post_init__(self) -> None:
        self.centre = self.inside

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
            crossing = self._crossing(moving=False)
            beyond = before if crossing is None else centre + _BEYOND * (crossing - centre)
            nearer = abs(beyond - centre) < self._width()
            if not (nearer and self._at(beyond).rejected) and not self._at(before).rejected:
                return before
        return self._close_in(step)

    def _at(self, shift: float) -> Boundary:
        """Evaluate a shift, and put it into the bracket."""
        if not self.window[0] <= shift <= self.window[1] or self.unspent != self.test.unspent:
            self.unspent = self.test.unspent
            width = abs(shift - self.centre) / _WINDOW
            self.window = shift - width, shift + width
            self.parts = self.test.parts(*self.window, self.k)
        self.shift, self.boundary = shift, self.test.decide(shift, self.k, self.parts)
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

    def _crossing(self, *, moving: bool = True) -> float | None:
        """Return the shift nearest to the last one at which T equals that of the assignment next to the boundary.

        That is a root of the quartic ``D_0² V_g - D_g² V_0``. Far from the boundary the assignment next to it is often
        another one, but T there is nearly the same: then the T of this one is not `moving` with the shift.
        """
        other = self.boundary.below if self.boundary.rejected else self.boundary.above
        if other < 1:
            return None
        d, v, at = self.terms.d[:, [0, other]], self.terms.v[:, [0, other]], self.shift
        d = np.array([d[0] - at * d[1], -d[1]])  # polynomials in the distance from `at`, whose small roots are exact
        v = np.array([v[0] - at * (2 * v[1] - at * v[2]), 2 * (at * v[2] - v[1]), v[2]])
        if not moving:
            d[1:, 1], v[1:, 1] = 0, 0
        square = np.array([d[1] ** 2, 2 * d[0] * d[1], d[0] ** 2])
        roots = np.roots(np.convolve(square[:, 0], v[::-1, 1]) - np.convolve(square[:, 1], v[::-1, 0]))
        roots = at + roots.real[np.abs(roots.imag) <= 1e-6 * self.test.runs.range[self.k]]
        low, high = sorted((self.inside, self.outside))
        roots = roots[(roots > low) & (roots < high)]
        return float(roots[np.abs(roots - self.shift).argmin()]) if roots.size else None
