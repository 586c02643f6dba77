"""Sequential p-values: one randomization test looked at K times, valid whenever one stops.

``q_k(g) = min(q_{k-1}(g), r_k(g))``, r_k the least x with ``#{h: q_{k-1}(h) <= y or T_k(h) >= T_k(g)} <= y s_k B`` for
all y >= x: at most ``α s_k B`` have ``q_k <= α`` (Kim & DeMets, doi:10.1093/biomet/74.1.149; Liu & Anderson 2008).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.plans import TIE

Spending = Literal["square", "linear"]

LEVEL_TIE = 1e-12  # of a p-value and the level


def spent(spending: Spending, n_looks: int) -> Floats:
    """Return the share of the level that may be spent by each look."""
    power = {"square": 2, "linear": 1}[spending]
    return np.asarray((np.arange(1, n_looks + 1) / n_looks) ** power)


def tie_ranks(statistic: Floats) -> Index:
    """Rank from the smallest, from 0; neighbours within 1e-10 max(1, T) share a rank, and so do theirs."""
    order = statistic.argsort()
    ordered = statistic[order]
    with np.errstate(invalid="ignore"):  # inf - inf is a tie
        is_larger = ordered[1:] - ordered[:-1] > TIE * np.maximum(1.0, ordered[:-1])
    ranks = np.zeros(len(statistic), np.intp)
    ranks[order[1:]] = is_larger.cumsum()
    return ranks


def nested_pvalues(ranks: Index, before: Floats, budget: float) -> Floats:
    """Return ``q_k`` of every assignment, from ranks of the statistic, ``q_{k-1}`` and ``s_k B``."""
    order = (-ranks).argsort()  # from the largest statistic
    is_last = np.append(np.diff(ranks[order]) != 0, True)  # of those that tie
    r = np.empty(len(ranks))
    r[order] = _nested_counts(is_last, before[order], np.zeros(0), budget, 0) / budget
    return np.minimum(before, r)


def _nested_counts(last: NDArray[np.bool_], before: Floats, beyond: Floats, budget: float, least: int) -> Index:
    """Return ``r s_k B``, the largest N with ``N = #{T >= t or q_{k-1} < N / (s_k B)}``, or 0, from the largest T."""
    # `last`: whether the next statistic is smaller; `beyond`: finite q_{k-1} of smaller statistics. N never rises with
    # t: one pass from the smallest lowers it. Whole-array iterations take longer from 10 looks on.
    n, most = len(before), len(before) + len(beyond)
    values, others = (
        np.minimum(np.floor(q * budget * (1 + 1e-12) + 1e-9), most).astype(np.intp) for q in (before, beyond)
    )
    # How many assignments with smaller statistics have each value of q s_k B, and how many of them one below N.
    tally = np.bincount(others, minlength=most + 1).tolist()
    number, n_smaller = most, len(beyond) - tally[most]
    counts = [0] * n
    for place, value, ends in zip(range(n, 0, -1), values[::-1].tolist(), last[::-1].tolist(), strict=True):
        # `place` assignments have a statistic as large, if all that tie with this one stand before it.
        if ends:
            while number > place + n_smaller:
                number -= 1
                n_smaller -= tally[number]
            if number <= least:
                break
        counts[place - 1] = number
        # for the next one, whose statistic is larger, this is one of the smaller ones
        tally[value] += 1
        n_smaller += value < number
    return np.array(counts)


class SmallPvalues(NamedTuple):
    """The p-values of a look that decide which assignments are rejected then or later."""

    q: Floats  # (assignment,): 0 up to the level, inf where only known to be at least `known`
    known: float  # up to which p-values are known; 0 where not even what is rejected is
    below: int  # the assignment with the largest statistic that this look does not reject
    above: int  # of those rejected now the one with the smallest; -1 if there is none

    @property
    def rejected(self) -> bool:
        """Whether the observed assignment is rejected, at this look or before."""
        return bool(self.q[0] == 0)


def small_pvalues(
    statistic: Floats,
    before: Floats,  # `q` of the look before
    known: float,  # and `known`
    budget: float,  # ``s_k B``
    alpha: float,
    spare: int,  # up to so many with infinite `before` reach a statistic: values above `known` do not decide its r
    most: int,  # more have a statistic that is larger than those of all that were left out
    limit: float,
) -> SmallPvalues:
    """Return the p-values of a look, from the few assignments that decide, up to `limit`."""
    # From the largest statistic on. Infinite q of the look before only stand for "at least `known`": the first ones
    # that are reached may be anything, as more than `spare` are needed to decide. Up to that one all p-values are
    # exact, and its own r is a lower bound for all behind it.
    order = (-statistic).argsort()
    q = before[order]
    infinite = np.flatnonzero(np.isinf(q))
    cut = len(q)
    if spare < len(infinite):
        cut = int(infinite[spare])
    cut = min(cut, most)
    top, beyond = order[: cut + 1], q[cut + 1 :]

    t = statistic[top]
    is_last = np.append(t[:-1] - t[1:] > TIE * np.maximum(1.0, t[1:]), True)
    n_may_reject = int(np.floor(alpha * budget * (1 + 1e-12) + 1e-9))
    finite_beyond = beyond[beyond < np.inf]
    counts = _nested_counts(is_last, q[: cut + 1], finite_beyond, budget, n_may_reject)
    pvalues = before.copy()
    pvalues[top] = np.minimum(q[: cut + 1], counts / budget)
    if cut < len(q):
        known = min(limit, known, counts[-1] / budget)
    else:
        known = limit
    pvalues[pvalues >= known] = np.inf

    # Next to the boundary: a count of 0 rejects, and a q of 0 did so before.
    n_rejected = len(top) - np.count_nonzero(counts)
    rejected_now = np.flatnonzero(q[:n_rejected] > 0)
    last_rejected = int(rejected_now[-1]) if rejected_now.size else len(top)
    ends = np.flatnonzero(is_last)
    below = _first_of_ties(top, ends, int(n_rejected))
    above = _first_of_ties(top, ends, last_rejected)
    return SmallPvalues(pvalues, known, below, above)


def _first_of_ties(ordered: Index, ends: Index, place: int) -> int:
    """Return the smallest number of the assignments that share the statistic of one, -1 past the end."""
    if place >= len(ordered):
        return -1
    number = int(ends.searchsorted(place))  # of the ties, of which `ends` has the last places
    start = ends[number - 1] + 1 if number else 0
    return int(ordered[start : ends[number] + 1].min())
