"""The sequential test of a pair of algorithms: p-values and boundary at every look, and shifts not rejected by it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Floats, Index
from xcurves.kernels.looks.group_sequential import (
    INFINITE,
    BatchedRuns,
    Terms,
    centre_batches,
    normal_scale,
    squared_range,
    studentized_difference,
    studentized_terms,
)
from xcurves.kernels.looks.sequential_pvalues import (
    LEVEL_TIE,
    SmallPvalues,
    nested_pvalues,
    small_pvalues,
    tie_ranks,
)
from xcurves.kernels.over_tasks.task_plans import Look

# Ranges of the numbers at which a shift that is not rejected never will be: by then T is that of the labels alone.
_FAR = 2.0**20
_WIDE = 2.0**4  # ranges of the numbers at which the search for an end begins
_PRECISION = 2.0**-30  # of an end, in ranges of the numbers
_TRIALS = 3  # of crossings, before the bracket is halved where they did not halve it
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
    terms = studentized_terms(runs, looks)
    by_look: list[_LookTest] = []
    q = np.full(1, np.inf)
    for k, plan in enumerate(looks):
        # an assignment begins with the p-value of the one before that it extends
        before = q if plan.parent is None else q[plan.parent]
        t = None
        terms_now = terms[k]
        if terms_now is not None:
            t = studentized_difference(runs, looks, terms_now, k)
        # A batch without runs of both is a look without anything new: p-values stay.
        has_new = bool(plan.cells)
        q, tested = _test_look(t, before, share[k] * len(before), alpha, has_new)
        by_look.append(tested)

    out = {name: np.array([getattr(tested, name) for tested in by_look]) for name in _LookTest._fields}
    out["difference"] = runs.difference
    out["scale"] = normal_scale(runs)
    if n_intervals:
        new_terms = [of_look if plan.cells else None for of_look, plan in zip(terms, looks, strict=True)]
        by_itself = ShiftedRuns(runs, looks, new_terms, share, alpha)
        out["difference_ci"] = sequential_limits(by_itself)
        out["difference_ci_simultaneous"] = out["difference_ci"]
        if n_intervals > 1:
            # all intervals hold together if each is at its part of the level (Bonferroni)
            together = ShiftedRuns(runs, looks, new_terms, share, alpha / n_intervals)
            out["difference_ci_simultaneous"] = sequential_limits(together)
    return out


class _LookTest(NamedTuple):
    """What is said of the observed assignment at one look."""

    statistic: float  # NaN where T is not defined
    pvalue: float
    critical_value: float  # infinite where no T crosses
    pvalue_stagewise: float


def _test_look(
    t: Floats | None, before: Floats, budget: float, alpha: float, has_new: bool
) -> tuple[Floats, _LookTest]:
    """Return the sequential p-values of all assignments at a look, and what is said of the observed one."""
    if t is None:
        return before, _LookTest(np.nan, min(before[0], 1.0), np.inf, 1.0)
    ranks = tie_ranks(t)
    q = nested_pvalues(ranks, before, budget) if has_new else before

    # The boundary is the smallest T of those that are rejected at this look; without variance T is infinite.
    crossed_before = before <= alpha + LEVEL_TIE
    crosses = (q <= alpha + LEVEL_TIE) & ~crossed_before
    boundary = t.min(initial=np.inf, where=crosses)
    # in stagewise order all that were rejected before come first, then those with a larger T now
    n_as_extreme = np.count_nonzero(crossed_before | (ranks >= ranks[0]))
    tested = _LookTest(_finite_t(t[0]), min(q[0], 1.0), _finite_t(boundary), n_as_extreme / len(t))
    return q, tested


def _finite_t(t: float) -> float:
    """Return T, infinite where there is no variance."""
    return np.inf if t >= INFINITE else t


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
        # of each look the last one before it with something to test; -1 if there is none
        latest = np.maximum.accumulate(np.where(tested, np.arange(len(tested)), -1))
        before = np.append(-1, latest[:-1])
        self.spent = np.where(before < 0, 0.0, self.share[before])
        # By how many standard errors more random assignments may be rejected than enumerated ones at that look.
        gives_way = (before >= 0) & exact[before] & ~exact
        self.noise = np.where(gives_way, _NOISE, 0.0)

    @cached_property
    def enough(self) -> Floats:
        """Return up to which p-values usually have to be known at every look, less from look to look."""
        # Those up to the level, of whose assignments a few more are known, so that a shift nearby needs no new ones.
        n = np.array([look.n_total for look in self.looks])
        share = self.share[: len(self.looks)]
        enough = self.alpha + _FEW / (share * n)
        # Less leaves none to spare at the next look: with x known there, `spare` is x n (share - spent) - noise √(x n
        # spent), which is positive from x = noise² spent / ((share - spent)² n) on.
        none_to_spare = self.noise**2 * self.spent / ((share - self.spent) ** 2 * n)
        enough[:-1] = np.maximum(enough[:-1], none_to_spare[1:])
        # a look must know what later ones need
        return np.maximum.accumulate(enough[::-1])[::-1]

    def spare(self, k: int, known: float) -> int:
        """Return how many assignments may reach a statistic without any p-value above `known` deciding."""
        n = self.looks[k].n_total
        if np.isinf(known):
            return n
        # Up to `known`, x s_k B assignments are allowed. As many as were allowed at the look before may have an earlier
        # p-value up to it, and some more where that look enumerated and this one draws: a binomial number.
        n_spent = known * float(self.spent[k]) * n
        n_by_chance = float(self.noise[k]) * math.sqrt(n_spent)
        return math.floor(known * float(self.share[k]) * n - n_spent - n_by_chance)

    def after(self, before: SmallPvalues, shift: float, k: int, part: _Part) -> SmallPvalues | None:
        """Return the p-values of look `k`, of its part, from those of the look before; None if parts are too small."""
        # a parent that was left out has a p-value beyond what is known
        q = np.append(before.q, np.inf)[part.before]
        if part.terms is None:
            return before._replace(q=q)
        spare = self.spare(k, before.known)
        if spare < 0:
            return None
        t = studentized_difference(self.runs, self.looks, part.terms, k, shift)
        budget, alpha = self.share[k] * self.looks[k].n_total, self.alpha + LEVEL_TIE
        now = small_pvalues(t, q, before.known, budget, alpha, spare, part.most, part.limit)
        # not even what is rejected is known
        if now.known <= alpha:
            return None
        return now


@dataclass
class Nearby:
    """Evaluates shifts near each other, with the assignments that matter for all of a window of shifts."""

    # With all assignments at every shift, and ends of earlier looks to 2^-12 of their width alone, six looks of ten
    # pairs take 5.1 times as long, 25 looks of one pair 2.9 times.

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
        decided = self._evaluate(shift, k)
        while decided is None:
            self._move(self.low, self.high, growth=2 * self.growth)
            decided = self._evaluate(shift, k)
        # from places in the part to numbers of assignments; -1 stays
        rows = np.append(self.parts[k].rows, -1)
        return decided._replace(below=int(rows[decided.below]), above=int(rows[decided.above]))

    def _move(self, low: float, high: float, *, growth: float) -> None:
        """Begin a window, of which nothing is known."""
        self.low, self.high = low, high
        self.growth = growth
        self.parts = []
        self.known = {}
        self.place, self.least = np.zeros(1, np.intp), np.full(1, np.inf)

    def _evaluate(self, shift: float, k: int) -> SmallPvalues | None:
        """Go on from the look until which a shift is known."""
        # before the first look one assignment, the empty one, of which nothing is rejected
        nothing = SmallPvalues(np.full(1, np.inf), np.inf, -1, -1)
        start, latest = self.known.get(shift, (0, nothing))
        for number in range(start, k + 1):
            if number == len(self.parts):
                self.parts.append(self._next())
            following = self.test.after(latest, shift, number, self.parts[number])
            if following is None:
                return None
            latest = following
        self.known[shift] = k + 1, latest
        return latest

    def _next(self) -> _Part:
        """Return the assignments that matter at the next look, and the observed one."""
        k, test = len(self.parts), self.test
        look, terms = test.looks[k], test.terms[k]
        limit = self.growth * test.enough[k]
        before, least = self.place, self.least
        if look.parent is not None:
            before, least = before[look.parent], least[look.parent]

        # r_k of an assignment is at least (the number with a larger T + 1) / s_k B. Those of which that may be small
        # all over the window are kept, and those that were small before: their q never rises.
        most, tops = look.n_total, np.zeros(0, np.intp)
        if terms is not None:
            budget = test.share[k] * look.n_total
            most = min(int(limit * budget) + 1, look.n_total)
            tops, n_larger = self._tops(terms, k, most)
            least = least.copy()
            least[tops] = np.minimum(least[tops], (n_larger + 1) / budget)
            tops = tops[n_larger <= most]
        keep = least <= limit
        keep[tops] = True
        keep[0] = True
        rows = np.flatnonzero(keep)

        self.least = least
        self.place = np.full(len(keep), len(rows))  # of those that are left out
        self.place[rows] = np.arange(len(rows))
        is_whole = most == look.n_total
        return _Part(
            rows,
            before[rows],
            terms=None if terms is None else terms.take(rows),
            most=most,
            limit=np.inf if is_whole else limit,
        )

    def _tops(self, terms: Terms, k: int, most: int) -> tuple[Index, Index]:
        """Return assignments, and to each at least how many (up to `most`) have a larger T all over the window."""
        # One whose largest T² is below the smallest of `most` + 1 others is behind all of these at every shift.
        least, largest = squared_range(self.test.runs, terms, k, self.low, self.high)
        place = max(len(least) - 1 - most, 0)
        surely_reached = (1 - _SAME) * np.partition(least, place)[place]
        tops = np.flatnonzero(largest >= surely_reached)
        ordered = np.sort((1 - _SAME) * least[tops])
        n_larger = len(tops) - ordered.searchsorted(largest[tops], side="right")
        return tops, n_larger


def sequential_limits(test: ShiftedRuns) -> Floats:
    """Return the hull of the shifts not rejected by each look and all before, (look, 2), NaN where all are."""
    out = np.full((len(test.looks), 2), np.nan)
    ends = [-np.inf, np.inf]
    # The centre and the ends move little from look to look: each has its own window of shifts.
    in_between, *outwards = (Nearby(test) for _ in range(3))
    for k, terms in enumerate(test.terms):
        if terms is not None:
            # where T = 0, within what is left by the looks before
            estimate = terms.d[0, 0] / terms.d[1, 0]
            centre = float(np.clip(estimate, ends[0], ends[1]))
            at_centre = in_between.decide(centre, k, test.runs.range[k] / _WINDOW**2)
            if at_centre.rejected:
                break
            ends = [
                _End(nearby, terms, k, centre, centre, end, at_centre).find()
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
        if before == self.centre:
            return before
        side = np.sign(before - self.centre)
        outermost = before
        if np.isinf(before):
            outermost = self.centre + side * _FAR * unit
        if not self._at(outermost).rejected:
            return before

        # Of an endless bracket an end that is not far out, by halving from `_WIDE` on.
        distance = _WIDE * unit
        while np.isinf(before) and self._at(self.centre + side * distance).rejected:
            distance /= 2
        return self._close_in(side * _PRECISION * unit / 3)

    def _at(self, shift: float) -> SmallPvalues:
        """Evaluate a shift, and put it into the bracket."""
        self.boundary = self.nearby.decide(shift, self.k, abs(shift - self.centre) / _WINDOW)
        if self.boundary.rejected:
            self.outside = shift
        else:
            self.inside = shift
        return self.boundary

    def _close_in(self, step: float) -> float:
        """Try where T of the observed assignment crosses the boundary; halve the bracket where that does not help."""
        width, n_trials = self._width, 0
        while self._width > 3 * abs(step):
            # a step behind the crossing, and if that is rejected as expected, one before it: the end is in between
            crossing = self._crossing()
            if crossing is not None:
                is_rejected = self._at(crossing + step).rejected
                if is_rejected and self.boundary.above == 0:
                    self._at(crossing - step)
            n_trials += 1
            if n_trials == _TRIALS:
                if self._width > width / 2:
                    self._at((self.inside + self.outside) / 2)
                width, n_trials = self._width, 0
        return self.inside

    @property
    def _width(self) -> float:
        return abs(self.outside - self.inside)

    def _crossing(self) -> float | None:
        """Return the shift nearest to the last one where T equals that of the assignment next to the boundary."""
        # From a rejected shift inwards the observed T falls below that of the first assignment that is not rejected,
        # from another one outwards it rises above the last one that is.
        if self.boundary.rejected:
            other, at = self.boundary.below, self.outside
        else:
            other, at = self.boundary.above, self.inside
        if other < 1:
            return None

        # D and V of both as polynomials in the distance h from `at`, whose small roots are exact: D(at) - h d[1], and
        # V(at) + 2 h (at v[2] - v[1]) + h² v[2].
        d, v = self.terms.d[:, [0, other]], self.terms.v[:, [0, other]]
        d_at, d_slope = d[0] - at * d[1], -d[1]
        v_at = v[0] - at * (2 * v[1] - at * v[2])
        v_falling = np.array([v[2], 2 * (at * v[2] - v[1]), v_at])
        square_falling = np.array([d_slope**2, 2 * d_at * d_slope, d_at**2])

        # T² of the two are equal where the quartic D_0² V_g - D_g² V_0 is 0.
        quartic = np.convolve(square_falling[:, 0], v_falling[:, 1]) - np.convolve(
            square_falling[:, 1], v_falling[:, 0]
        )
        roots = np.roots(quartic)
        is_real = np.abs(roots.imag) <= 1e-6 * self.nearby.test.runs.range[self.k]
        crossings = at + roots.real[is_real]
        low, high = sorted((self.inside, self.outside))
        inside = crossings[(crossings > low) & (crossings < high)]
        if not inside.size:
            return None
        return float(inside[np.abs(inside - at).argmin()])
