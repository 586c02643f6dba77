"""Confidence limits by inverting a studentized permutation test.

In a reassignment ``g`` after a shift by ``y`` standard errors from the estimate, ``T_g² = (A - B y)² / V(y)`` with a
quadratic ``V``, while the observed ``T² = y²``. So ``|T_g| >= |T|`` is the sign of a quartic in ``y``, and the
shifts that a test does not reject follow from the real roots of one quartic for each reassignment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats

Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

_FEW = 32  # crossings that are found one by one rather than narrowed down
_STEPS = 60  # of bisection, or of Newton's method
_CLOSE = 4 * np.finfo(float).eps  # steps this small, relative to their place, find a root
_DOUBLE = 1e-12  # discriminants this close to 0, relative to their terms, may stand for a double root
_SEPARATE = 1e-9  # stretches narrower than this, relative to their place, are rounding
_CACHE = 2**14  # values computed at once


class _Crossings(NamedTuple):
    """Distances where reassignments begin (change 1) or stop (-1) reaching the observed statistic, from outside in.

    Attributes
    ----------
    task, distance, change : ndarray, shape (crossing,)
    """

    task: Places
    distance: Floats
    change: Floats


class Inversion:
    """The shifts at which a test does not reject, from one quartic for each reassignment.

    Parameters
    ----------
    coefs : ndarray, shape (5, task, reassignment)
        Coefficients of the quartics in ascending order. A quartic is nonnegative where a reassignment reaches the
        observed statistic, and negative at large distances unless the last coefficient is 0.
    besides : int
        Number of further reassignments, which reach the observed statistic everywhere.
    most : float
        A shift is rejected if no more reassignments than this reach the observed statistic.
    at : ndarray, shape (task,)
        The shift that a two-sided test tests.
    line : ndarray, shape (2, task, reassignment), optional
        For a one-sided test: the estimate of the reassignment, which must also have the sign of the observed one.

    Attributes
    ----------
    count : ndarray, shape (task,)
        How many reassignments reach the observed statistic of a two-sided test at the shift asked for.
    """

    def __init__(self, coefs: Floats, besides: int, most: float, at: Floats, line: Floats | None = None) -> None:
        self.coefs, self.besides, self.most, self.line = coefs, besides, most, line
        _, self.n_tasks, n_resamples = coefs.shape
        share = most / (besides + n_resamples) / (2 if line is None else 1)
        self.start = float(np.clip(0.9 * scipy.special.ndtri(1 - share), 0.1, 10))  # a little inside the usual limit
        starts = np.full(self.n_tasks, self.start)
        powers = np.stack([at, starts, -starts], axis=-1)[..., np.newaxis] ** np.arange(5)
        self.reached = np.empty((self.n_tasks, 3, n_resamples), bool)
        self.many = np.empty((self.n_tasks, n_resamples), bool)
        width = max(1, _CACHE // self.n_tasks)
        for part in (np.s_[..., start : start + width] for start in range(0, n_resamples, width)):
            np.greater_equal(np.matmul(powers, coefs[part].transpose(1, 0, 2)), 0, out=self.reached[part])
            self.many[part] = _may_cross_again(coefs[part])
        self.count = besides + np.count_nonzero(self.reached[:, 0], axis=-1).astype(float)
        self.task, place = np.nonzero(self.many)
        self.complex = coefs[:, self.task, place]
        self.complex_line = None if line is None else line[:, self.task, place]

    def furthest(self, side: int) -> tuple[Floats, Flags]:
        """Return the largest distance below (-1) or above (+1) at which the test does not reject.

        It is infinite where the test rejects no shift on that side. The second array is True where it rejects some
        smaller distance; both have shape (task,).
        """
        crossings, n_last = self._all_crossings(side)
        last = np.zeros(self.n_tasks)
        np.maximum.at(last, crossings.task, crossings.distance)
        n_complex = np.bincount(self.task, minlength=self.n_tasks)
        unbounded = self.besides + n_last > self.most

        def others(distance: Floats) -> Floats:
            """Bound how many of those that may cross again reach the statistic at a distance or beyond."""
            return np.where(distance > last, n_last, n_complex)

        low, above, singles = self._narrow(side, unbounded, others)
        task, distance, change = (np.concatenate(each) for each in zip(singles, crossings, strict=True))
        order = np.lexsort((-change, -distance, task))
        task, distance, change = task[order], distance[order], change[order]
        before = np.cumsum(np.bincount(task, change, self.n_tasks))
        count = (above + n_last)[task] + np.cumsum(change) - np.append(0.0, before)[task]
        kept = count > self.most
        furthest = np.zeros(self.n_tasks)
        np.maximum.at(furthest, task[kept], distance[kept])
        inner = np.append(distance[1:], 0.0)
        inner[np.append(task[1:] != task[:-1], True)] = 0.0
        wide = distance - inner > _SEPARATE * (1 + distance)
        gaps = ~kept & wide & (inner > low[task]) & (distance < furthest[task])
        return np.where(unbounded, np.inf, furthest), (np.bincount(task[gaps], minlength=self.n_tasks) > 0) & ~unbounded

    def _narrow(
        self, side: int, unbounded: Flags, others: Callable[[Floats], Floats]
    ) -> tuple[Floats, Floats, _Crossings]:
        """Bracket, for quartics that cross once, the distance from which the test rejects.

        Return the distance up to which the test rejects nothing, how many cross beyond the bracket, and the crossings
        in it.
        """
        possible = ~self.many & ~unbounded[:, np.newaxis]
        if self.line is not None:
            possible &= _is_positive(self.line, side)
        beyond = self.reached[:, side] & possible  # side -1 is the last of three
        every = np.ones(self.n_tasks, bool)
        bracket = _Bracket(self.n_tasks, self.start, self.most, self.besides, others)
        outside, inside = (each[:, np.newaxis] for each in bracket.judge(np.count_nonzero(beyond, axis=-1), every))
        kept = np.flatnonzero(np.where(outside, possible & ~beyond, np.where(inside, beyond, possible)))
        task, coefs = kept // possible.shape[1], self.coefs.reshape(5, -1).take(kept, axis=1)
        for _ in range(2 * _STEPS):
            n_left = np.bincount(task, minlength=self.n_tasks)
            wide = (n_left > 0) & (~np.isfinite(bracket.high) | (n_left > _FEW))
            if not wide.any():
                break
            beyond = _value(coefs, side * bracket.trial[task]) >= 0
            outside, inside = (each[task] for each in bracket.judge(np.bincount(task, beyond, self.n_tasks), wide))
            keep = np.where(outside, ~beyond, ~inside | beyond)
            task, coefs = task[keep], coefs[:, keep]
        roots = _sign_change(_mirrored(coefs, side), bracket.low[task], bracket.high[task])
        return bracket.low, bracket.above, _Crossings(task, roots, np.ones(len(roots)))

    def _all_crossings(self, side: int) -> tuple[_Crossings, Floats | Places]:
        """Return all crossings of those that may cross again, and how many reach the statistic beyond the last."""
        coefs = _mirrored(self.complex, side)
        roots = _positive_roots(coefs)
        known = np.isfinite(roots)
        far = 2 * np.where(known, roots, 0.0).max(axis=0) + 1
        edges = np.concatenate([np.zeros((1, len(far))), np.where(known, roots, far), far[np.newaxis]])
        middles = (edges[1:] + edges[:-1]) / 2
        states = _value(coefs[:, np.newaxis], middles) >= 0
        if self.complex_line is not None:
            states &= -side * _value(self.complex_line[:, np.newaxis], side * middles) >= 0
        change = states[:-1].astype(float) - states[1:]
        which, place = np.nonzero(change)
        crossings = _Crossings(self.task[place], roots[which, place], change[which, place])
        return crossings, np.bincount(self.task, states[-1], self.n_tasks)


class _Bracket:
    """Brackets, one for each task, of the largest distance that is not rejected.

    Attributes
    ----------
    low, high : ndarray, shape (task,)
        A distance up to which nothing is rejected, and one from which everything is.
    above : ndarray, shape (task,)
        How many reassignments reach the statistic at `high`, of those that cross once.
    trial : ndarray, shape (task,)
        The next distance to evaluate.
    """

    def __init__(
        self, n_tasks: int, start: float, most: float, besides: int, others: Callable[[Floats], Floats]
    ) -> None:
        self.low, self.high = np.zeros(n_tasks), np.full(n_tasks, np.inf)
        self.trial, self.above = np.full(n_tasks, start), np.full(n_tasks, float(besides))
        self.most, self.others = most, others

    def judge(self, n_between: Floats | Places, wide: Flags) -> tuple[Flags, Flags]:
        """Return in which tasks `trial` is surely outside or inside, given how many cross between it and `high`.

        Only tasks whose bracket is `wide` go on, so that the limits of each do not depend on the others.
        """
        n_beyond = self.above + n_between
        outside = wide & (n_beyond + self.others(self.trial) <= self.most)
        inside = wide & (n_beyond > self.most)
        self.low, self.high = np.where(inside, self.trial, self.low), np.where(outside, self.trial, self.high)
        self.above = np.where(outside, n_beyond, self.above)
        following = np.where(np.isfinite(self.high), (self.low + self.high) / 2, 2 * self.trial)
        self.trial = np.where(wide, following, self.trial)
        return outside, inside


def _value(coefs: Floats, at: Floats) -> Floats:
    value = coefs[-1] * at
    for coef in coefs[-2:0:-1]:
        value += coef
        value *= at
    value += coefs[0]
    return np.asarray(value)


def _mirrored(coefs: Floats, side: int) -> Floats:
    """Return polynomials in the distance to one side, shape (coefficient, place)."""
    return np.asarray(coefs * float(side) ** np.arange(len(coefs))[:, np.newaxis])


def _may_cross_again(coefs: Floats) -> Flags:
    """Return which quartics may be zero more than once on one side of 0: those whose discriminant is not negative.

    They are nonnegative at 0 and negative at large distances: with two real roots they have one on each side.
    """
    a0, a1, a2, a3, a4 = coefs
    a0 = np.maximum(a0, 1e-10)  # ignore a double root at 0
    both = a4 * a0
    i = 12 * both
    i -= 3 * (a3 * a1)
    square = a2 * a2
    i += square
    j = 72 * both
    j += 9 * (a3 * a1)
    j -= 2 * square
    j *= a2
    j -= 27 * (a4 * (a1 * a1) + a0 * (a3 * a3))
    i *= 4 * (i * i)
    j *= j
    return np.asarray((i - j >= -_DOUBLE * (np.abs(i) + j)) | (a4 == 0))


def _is_positive(line: Floats, side: int) -> Flags:
    """Return whether an estimate has the sign of the observed one, up to where it is 0 and cannot reach that."""
    return np.asarray((-side * line[0] > 0) | ((line[0] == 0) & (line[1] <= 0)))


def _positive_roots(coefs: Floats) -> Floats:
    """Return the roots beyond 0 of ragged quartics in rising order, shape (4, place), infinite where there are fewer.

    The half line is mapped to ``w = y / (1 + y)`` in (0, 1), where the quartic times ``(1 - w)⁴`` is a quartic.
    """
    a0, a1, a2, a3, a4 = coefs
    mapped = [a0, a1 - 4 * a0, a2 - 3 * a1 + 6 * a0, a3 - 2 * a2 + 3 * a1 - 4 * a0, a4 - a3 + a2 - a1 + a0]
    roots = _roots_in_unit(np.stack(mapped))
    with np.errstate(divide="ignore"):
        return np.where(roots < 1 - _DOUBLE, roots / (1 - roots), np.inf)


def _roots_in_unit(coefs: Floats) -> Floats:
    """Return the roots in (0, 1) of polynomials in rising order, shape (degree, place), 1 where there are fewer.

    Between two roots of the derivative a polynomial has at most one.
    """
    degree, n = len(coefs) - 1, coefs.shape[1]
    if degree == 0:
        return np.empty((0, n))
    turns = _roots_in_unit(coefs[1:] * np.arange(1, degree + 1)[:, np.newaxis])
    edges = np.concatenate([np.zeros((1, n)), turns, np.ones((1, n))])
    signs = _value(coefs[:, np.newaxis], edges) >= 0
    found = np.ones((degree, n))
    which, place = np.nonzero(signs[1:] != signs[:-1])
    downwards = np.where(signs[which, place], 1.0, -1.0)
    found[which, place] = _sign_change(coefs[:, place] * downwards, edges[which, place], edges[which + 1, place])
    return np.sort(found, axis=0)


def _sign_change(coefs: Floats, low: Floats, high: Floats) -> Floats:
    """Return where ragged polynomials become negative between `low` and `high`: Newton's method, kept in a bracket."""
    slopes = coefs[1:] * np.arange(1, len(coefs))[:, np.newaxis]
    at, found = (low + high) / 2, np.zeros(len(low), bool)
    for _ in range(_STEPS):
        value = _value(coefs, at)
        inside = value >= 0
        low, high = np.where(inside, at, low), np.where(inside, high, at)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = value / _value(slopes, at)
        found |= (np.abs(step) <= _CLOSE * at) | (high - low <= _CLOSE * high)
        if found.all():
            break
        newton = at - step
        following = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        at = np.where(found, at, following)
    return np.asarray(at)
