"""The sequential test of a pair of algorithms: p-values and boundary at every look, and shifts not rejected by it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Floats, Index
from xcurves.kernels.differences.group_sequential import (
    INFINITE,
    BatchedRuns,
    Terms,
    centre_batches,
    normal_scale,
    squared_range,
    studentized_difference,
    studentized_terms,
)
from xcurves.kernels.differences.sequential_pvalues import (
    LEVEL_TIE,
    SmallPvalues,
    nested_pvalues,
    small_pvalues,
    tie_ranks,
)
from xcurves.kernels.differences.task_plans import Look

# ranges of the numbers at which a shift that is not rejected never will be
_FAR = 2.0**20
_WIDE = 2.0**4  # ranges of the numbers at which the search for an end begins
_PRECISION = 2.0**-30  # of an end, in ranges of the numbers
_TRIALS = 3  # before the bracket is halved
_NOISE = 4  # standard errors by which random assignments may exceed the share spent on enumerated ones
_GROWTH = 1.1  # times the p-values that usually have to be known
_FEW = 30  # assignments more at every look
_SAME = 1e-8  # relative rounding
_WINDOW = 8  # the assignments that matter are kept for shifts within an eighth of the distance from the centre


def sequential_tests(
    u: Floats,
    look: Index,
    looks: list[Look],
    share: Floats,
    alpha: float,
    *,
    n_intervals: int = 1,
) -> dict[str, Floats]:
    """Test a pair, `u` (2, task, run) by `look`, at every look: arrays (look,), and intervals, (look, 2).

    `n_intervals` is of how many pairs all intervals together hold; 0: none are sought.
    """
    runs = centre_batches(u, look, looks)
    found = studentized_terms(runs, looks)
    out = {
        name: np.full(len(looks), np.nan)
        for name in ("statistic", "pvalue", "critical_value", "pvalue_stagewise")
    }
    q = np.full(1, np.inf)
    for k, each in enumerate(looks):
        before = q if each.parent is None else q[each.parent]
        now = found[k]
        t = None if now is None else studentized_difference(runs, looks, now, k)
        ranks = None if t is None else tie_ranks(t)
        q = (
            before
            if ranks is None or not each.cells
            else nested_pvalues(ranks, before, share[k] * len(before))
        )
        out["pvalue"][k] = min(q[0], 1.0)
        crossed = before <= alpha + LEVEL_TIE
        least = q <= alpha + LEVEL_TIE
        crossing = (
            np.inf if t is None else t.min(initial=np.inf, where=least & ~crossed)
        )
        out["critical_value"][k] = np.inf if crossing >= INFINITE else crossing
        out["pvalue_stagewise"][k] = 1.0
        if t is not None and ranks is not None:
            out["statistic"][k] = np.inf if t[0] >= INFINITE else t[0]
            out["pvalue_stagewise"][k] = np.count_nonzero(
                crossed | (ranks >= ranks[0])
            ) / len(t)
    out["difference"] = runs.difference
    out["scale"] = normal_scale(runs)
    if n_intervals:
        new = [
            terms if look.cells else None
            for terms, look in zip(found, looks, strict=True)
        ]
        out["difference_ci"] = sequential_limits(
            ShiftedRuns(runs, looks, new, share, alpha)
        )
        out["difference_ci_simultaneous"] = out["difference_ci"]
        if n_intervals > 1:
            together = ShiftedRuns(runs, looks, new, share, alpha / n_intervals)
            out["difference_ci_simultaneous"] = sequential_limits(together)
    return out


class _Part(NamedTuple):
    """The assignments that matter at one look, for some shifts."""

    rows: Index  # their numbers
    before: Index  # where each one's parent is in the part of the look before, or its length
    terms: Terms | None  # of these assignments; None where there is nothing to test
    most: int  # more than this have a statistic larger than those of all that were left out
    limit: float  # p-values of assignments that the next part leaves out are larger, here and before


@dataclass
class ShiftedRuns:
    """The test of a pair after the first algorithm's numbers are lowered by a shift."""

    runs: BatchedRuns
    looks: list[Look]
    terms: list[Terms | None]  # at every look; None where there is nothing new to test
    share: Floats
    alpha: float

    def __post_init__(self) -> None:
        exact = np.array([look.exact for look in self.looks])
        tested = np.array([terms is not None for terms in self.terms])
        last = np.maximum.accumulate(np.where(tested, np.arange(len(tested)), -1))
        last = np.append(-1, last[:-1])
        # by the last look with something to test
        self.spent = np.where(last < 0, 0.0, self.share[last])
        # By how many standard errors more random assignments may be rejected than enumerated ones at that look.
        self.noise = np.where((last >= 0) & exact[last] & ~exact, _NOISE, 0.0)

    @cached_property
    def enough(self) -> Floats:
        """Return up to which p-values usually have to be known at every look, less from look to look."""
        n = np.array([look.n_total for look in self.looks])
        share = self.share[: len(self.looks)]
        out = self.alpha + _FEW / (share * n)
        # less leaves none to spare
        spare = self.noise**2 * self.spent / ((share - self.spent) ** 2 * n)
        out[:-1] = np.maximum(out[:-1], spare[1:])
        return np.maximum.accumulate(out[::-1])[::-1]

    def spare(self, k: int, known: float) -> int:
        """Return how many assignments may reach a statistic without any p-value above `known` deciding."""
        n = self.looks[k].n_total
        if np.isinf(known):
            return n
        # as many at most have an earlier p-value up to `known`
        spent = known * float(self.spent[k]) * n
        return math.floor(
            known * float(self.share[k]) * n
            - spent
            - float(self.noise[k]) * math.sqrt(spent)
        )

    def after(
        self, found: SmallPvalues, shift: float, k: int, part: _Part
    ) -> SmallPvalues | None:
        """Return the p-values of look `k`, of its part, from those of the look before; None if parts are too small."""
        q = np.append(found.q, np.inf)[part.before]
        if part.terms is None:
            return found._replace(q=q)
        spare = self.spare(k, found.known)
        if spare < 0:
            return None
        t = studentized_difference(self.runs, self.looks, part.terms, k, shift)
        budget, alpha = self.share[k] * self.looks[k].n_total, self.alpha + LEVEL_TIE
        found = small_pvalues(
            t, q, found.known, budget, alpha, spare, part.most, part.limit
        )
        return found if found.known > alpha else None


@dataclass
class Nearby:
    """Evaluates shifts near each other, with the assignments that matter for all of a window of shifts."""

    test: ShiftedRuns
    low: float = np.inf  # of the window
    high: float = -np.inf
    # Times the usual number of assignments: more once that did not do.
    growth: float = 0.0
    parts: list[_Part] = field(default_factory=list)  # until the last look asked for
    # of all assignments at that look: where in the part each is
    place: Index = field(default_factory=lambda: np.zeros(1, np.intp))
    # a bound of its p-values until then
    least: Floats = field(default_factory=lambda: np.full(1, np.inf))
    # by shift: the number of looks evaluated, and what the last of them said
    known: dict[float, tuple[int, SmallPvalues]] = field(default_factory=dict)

    def decide(self, shift: float, k: int, width: float) -> SmallPvalues:
        """Return which assignments are rejected at look `k`; a new window reaches `width` to both sides."""
        if not self.low <= shift <= self.high:
            self._move(shift - width, shift + width, growth=_GROWTH)
        while (found := self._evaluate(shift, k)) is None:
            self._move(self.low, self.high, growth=2 * self.growth)
        below, above = (
            int(self.parts[k].rows[place]) if place >= 0 else -1 for place in found[2:]
        )
        return found._replace(below=below, above=above)

    def _move(self, low: float, high: float, *, growth: float) -> None:
        self.low, self.high, self.growth, self.parts, self.known = (
            low,
            high,
            growth,
            [],
            {},
        )
        self.place, self.least = np.zeros(1, np.intp), np.full(1, np.inf)

    def _evaluate(self, shift: float, k: int) -> SmallPvalues | None:
        """Go on from the look until which a shift is known."""
        start, found = self.known.get(
            shift, (0, SmallPvalues(np.full(1, np.inf), np.inf, -1, -1))
        )
        for number in range(start, k + 1):
            if number == len(self.parts):
                self.parts.append(self._next())
            following = self.test.after(found, shift, number, self.parts[number])
            if following is None:
                return None
            found = following
        self.known[shift] = k + 1, found
        return found

    def _next(self) -> _Part:
        """Return the assignments that matter at the next look, and the observed one."""
        k, test = len(self.parts), self.test
        look = test.looks[k]
        found = test.terms[k]
        limit = self.growth * test.enough[k]
        before, least = self.place, self.least
        if look.parent is not None:
            before, least = before[look.parent], least[look.parent]
        most, tops = look.n_total, np.zeros(0, np.intp)
        if found is not None:
            budget = test.share[k] * most
            most = min(int(limit * budget) + 1, most)
            tops, larger = self._tops(found, k, most)
            least = least.copy()
            least[tops] = np.minimum(least[tops], (larger + 1) / budget)
            tops = tops[larger <= most]
        keep = least <= limit
        keep[tops] = keep[0] = True
        rows = np.flatnonzero(keep)
        self.place, self.least = np.full(len(keep), len(rows)), least
        self.place[rows] = np.arange(len(rows))
        whole = most == look.n_total
        return _Part(
            rows,
            before[rows],
            found and found.take(rows),
            most,
            np.inf if whole else limit,
        )

    def _tops(self, found: Terms, k: int, most: int) -> tuple[Index, Index]:
        """Return assignments, and to each at least how many (up to `most`) have a larger T all over the window."""
        least, largest = squared_range(self.test.runs, found, k, self.low, self.high)
        place = max(len(least) - 1 - most, 0)
        tops = np.flatnonzero(
            largest >= (1 - _SAME) * np.partition(least, place)[place]
        )
        ordered = np.sort((1 - _SAME) * least[tops])
        return tops, len(tops) - ordered.searchsorted(largest[tops], side="right")


def sequential_limits(test: ShiftedRuns) -> Floats:
    """Return the hull of the shifts not rejected by each look and all before, (look, 2), NaN where all are."""
    out = np.full((len(test.looks), 2), np.nan)
    ends = [-np.inf, np.inf]
    in_between, *outwards = (Nearby(test) for _ in range(3))
    for k, found in enumerate(test.terms):
        if found is not None:
            centre = float(np.clip(found.d[0, 0] / found.d[1, 0], ends[0], ends[1]))
            at_centre = in_between.decide(centre, k, test.runs.range[k] / _WINDOW**2)
            if at_centre.rejected:
                break
            ends = [
                _End(nearby, found, k, centre, centre, end, at_centre).find()
                for nearby, end in zip(outwards, ends, strict=True)
            ]
        out[k] = ends
    return out


@dataclass
class _End:
    """The search for one end at look `k`, between a shift that is not rejected and the end at the look before."""

    nearby: Nearby
    terms: Terms
    k: int
    centre: float
    inside: float
    outside: float
    boundary: SmallPvalues  # what the test said where it was evaluated last

    def find(self) -> float:
        """Return the end, not rejected itself: that of the look before where this look does not reject it either."""
        before, unit = self.outside, self.nearby.test.runs.range[self.k]
        side = np.sign(before - self.centre)
        if before == self.centre:
            return before
        if not self._at(
            self.centre + side * _FAR * unit if np.isinf(before) else before
        ).rejected:
            return before
        distance = _WIDE * unit  # the outermost of distances that are halved
        while np.isinf(before) and self._at(self.centre + side * distance).rejected:
            distance /= 2
        return self._close_in(side * _PRECISION * unit / 3)

    def _at(self, shift: float) -> SmallPvalues:
        """Evaluate a shift, and put it into the bracket."""
        self.boundary = self.nearby.decide(
            shift, self.k, abs(shift - self.centre) / _WINDOW
        )
        if self.boundary.rejected:
            self.outside = shift
        else:
            self.inside = shift
        return self.boundary

    def _close_in(self, step: float) -> float:
        """Try where T of the observed assignment crosses the boundary; halve the bracket where that does not help."""
        width, trials = abs(self.outside - self.inside), 0
        while abs(self.outside - self.inside) > 3 * abs(step):
            crossing = self._crossing()
            if (
                crossing is not None
                and self._at(crossing + step).rejected
                and self.boundary.above == 0
            ):
                self._at(crossing - step)
            trials += 1
            if trials == _TRIALS and abs(self.outside - self.inside) > width / 2:
                self._at((self.inside + self.outside) / 2)
            if trials == _TRIALS:
                width, trials = abs(self.outside - self.inside), 0
        return self.inside

    def _crossing(self) -> float | None:
        """Return the shift nearest to the last one where T equals that of the assignment next to the boundary."""
        other, at = (
            (self.boundary.below, self.outside)
            if self.boundary.rejected
            else (self.boundary.above, self.inside)
        )
        if other < 1:
            return None
        d, v = self.terms.d[:, [0, other]], self.terms.v[:, [0, other]]
        # polynomials in the distance from `at`, whose small roots are exact
        d = np.array([d[0] - at * d[1], -d[1]])
        v = np.array([v[0] - at * (2 * v[1] - at * v[2]), 2 * (at * v[2] - v[1]), v[2]])
        square = np.array([d[1] ** 2, 2 * d[0] * d[1], d[0] ** 2])
        # of the quartic D_0² V_g - D_g² V_0
        roots = np.roots(
            np.convolve(square[:, 0], v[::-1, 1])
            - np.convolve(square[:, 1], v[::-1, 0])
        )
        roots = (
            at
            + roots.real[
                np.abs(roots.imag) <= 1e-6 * self.nearby.test.runs.range[self.k]
            ]
        )
        low, high = sorted((self.inside, self.outside))
        roots = roots[(roots > low) & (roots < high)]
        return float(roots[np.abs(roots - at).argmin()]) if roots.size else None
