"""Sequential p-values: one randomization test looked at K times, valid whenever one stops.

With B nested assignments, a share ``s_k`` of the level spent by look ``k`` and ``q_0 = inf``, the p-value of assignment
``g`` at look ``k`` is ``q_k(g) = min(q_{k-1}(g), r_k(g))``, where ``r_k(g)`` is the least x such that for every x' >= x

    #{h: q_{k-1}(h) <= x' or T_k(h) >= T_k(g)} <= x' s_k B.

So at most ``α s_k B`` assignments have ``q_k <= α``, for every α at once (spending functions: Kim & DeMets 1987,
doi:10.1093/biomet/74.1.149; sequential p-values: Liu & Anderson 2008, J. Am. Stat. Assoc. 103, 1621-1630).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import TIE, Index

Spending = Literal["square", "linear"]

LEVEL_TIE = 1e-12  # of a p-value and the level
_POINTS = 501  # of the grid on which the statistic's density is carried from look to look
_HALVINGS = 50


def spent(spending: Spending, n_looks: int) -> Floats:
    """Return the share of the level that may be spent by each look."""
    return np.asarray((np.arange(1, n_looks + 1) / n_looks) ** {"square": 2, "linear": 1}[spending])


def tie_ranks(statistic: Floats) -> Index:
    """Rank from the smallest, from 0; neighbours within 1e-10 max(1, T) share a rank, and so do theirs."""
    order = statistic.argsort()
    ordered = statistic[order]
    with np.errstate(invalid="ignore"):  # inf - inf is a tie
        apart = ordered[1:] - ordered[:-1] > TIE * np.maximum(1.0, ordered[:-1])
    ranks = np.zeros(len(statistic), np.intp)
    ranks[order[1:]] = apart.cumsum()
    return ranks


def nested_pvalues(ranks: Index, before: Floats, budget: float) -> Floats:
    """Return ``q_k`` of every assignment, from ranks of the statistic, ``q_{k-1}`` and ``s_k B``."""
    return np.minimum(before, _counts(ranks, before, budget)[ranks] / budget)


def _counts(ranks: Index, before: Floats, budget: float) -> Index:
    """Return ``r s_k B`` for every rank t: the largest N with ``N = #{rank >= t or q_{k-1} < N / (s_k B)}``.

    Numbers that start above it fall to it. As N never rises with t, an assignment counts for the ranks up to its own,
    and up to the last one with ``N > q_{k-1} s_k B``.
    """
    n, n_ranks = len(ranks), int(ranks.max()) + 1
    least = np.minimum(np.floor(before * budget * (1 + 1e-12) + 1e-9), n).astype(np.intp)
    counts, total = np.full(n_ranks, n), -1
    while total != (total := int(counts.sum())):
        exceeding = n_ranks - np.bincount(counts, minlength=n + 1).cumsum()  # ranks with N above each number
        end = np.maximum(ranks + 1, exceeding[least])
        counts = n - np.bincount(end, minlength=n_ranks + 1).cumsum()[:n_ranks]
    return counts


def small_pvalues(statistic: Floats, before: Floats, budget: float, limit: float) -> Floats:
    """Return ``q_k`` of every assignment up to `limit`, infinite above, from the few assignments that matter."""
    near = _near(statistic, before, budget, limit)
    q = np.full(len(before), np.inf)
    q[near] = nested_pvalues(tie_ranks(statistic[near]), before[near], budget)
    q[q > limit] = np.inf
    return q


def _near(statistic: Floats, before: Floats, budget: float, limit: float) -> Index:
    """Return the assignments that matter for values of q_k up to `limit`, the observed one among them.

    A rank of which more than ``limit s_k B`` are at least as large has a larger r; and where
    ``#{q_{k-1} <= v} + limit s_k B <= v s_k B``, the value v decides no r up to the limit.
    """
    if not limit * budget < len(statistic):
        return np.arange(len(statistic))
    values = np.sort(before[np.isfinite(before)])
    decides = np.flatnonzero(np.arange(1, len(values) + 1) + limit * budget > values * budget)
    near = before <= (values[decides[-1]] if decides.size else 0.0)
    place = max(len(statistic) - int(limit * budget) - 2, 0)
    near |= statistic >= np.partition(statistic, place)[place]
    near[0] = True
    return np.flatnonzero(near)


class Boundary(NamedTuple):
    """Which assignments are rejected at a look: those whose statistic exceeds that of `below`.

    Attributes
    ----------
    rejected : bool
        Whether the observed assignment is rejected, at this look or before.
    below, above : int
        The assignment with the largest statistic that is not rejected, and with the smallest that is; -1 if none is.
    """

    rejected: bool
    below: int
    above: int


def boundary(statistic: Floats, before: Floats, budget: float, alpha: float) -> Boundary:
    """Return which assignments have ``q_k`` at most `alpha`."""
    near = _near(statistic, before, budget, alpha)
    ranks, q = tie_ranks(statistic[near]), before[near]
    last = np.count_nonzero(_counts(ranks, q, budget) > np.floor(alpha * budget * (1 + 1e-12) + 1e-9)) - 1
    below, above = ranks <= last, (ranks > last) & (q > alpha)
    highest, lowest = np.argmax(np.where(below, ranks, -1)), np.argmin(np.where(above, ranks, len(ranks)))
    return Boundary(
        bool(ranks[0] > last or q[0] <= alpha),
        int(near[highest]) if below.any() else -1,
        int(near[lowest]) if above.any() else -1,
    )


def futile(z: Floats, spending: Spending, alpha: float) -> Floats:
    """Return 1 where a rejection by the last look is unlikely (probability below .05) if the trend goes on, else 0.

    `z` has the statistic at every look, on the scale of a standard normal one; NaN at the last look and where it is.
    """
    n_looks = len(z)
    share = np.arange(1, n_looks + 1) / n_looks
    bound = -ndtri(alpha / 2) * last_look_factor(spending, n_looks, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.sqrt(1 - share)
        chance = ndtr((z / np.sqrt(share) - bound) / left) + ndtr((-z / np.sqrt(share) - bound) / left)
    return np.where((share < 1) & ~np.isnan(z), (chance < 0.05).astype(float), np.nan)


@lru_cache(maxsize=64)
def last_look_factor(spending: Spending, n_looks: int, alpha: float) -> float:
    """Return the last boundary of a normal statistic at K equal looks, relative to that of a single one.

    The density of the running sum is carried from look to look on a grid, and each boundary is such that the
    probability of having crossed equals the share that is spent (Armitage, McPherson & Rowe 1969, doi:10.2307/2343787).
    """
    rises = np.diff(np.concatenate([[0.0], alpha * spent(spending, n_looks)]))
    bound = -float(ndtri(rises[0] / 2))  # of the sum of k standard normal increments
    x, step = np.linspace(-bound, bound, _POINTS, retstep=True)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    weights = _simpson(step)
    for number in range(2, n_looks + 1):
        mass = density * weights
        low, high = 0.0, 12.0 * number
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            crossed = mass @ (ndtr(x - middle) + ndtr(-x - middle))
            low, high = (middle, high) if crossed > rises[number - 1] else (low, middle)
        bound = (low + high) / 2
        new, step = np.linspace(-bound, bound, _POINTS, retstep=True)
        density = np.exp(-((new[:, np.newaxis] - x) ** 2) / 2) / np.sqrt(2 * np.pi) @ mass
        x, weights = new, _simpson(step)
    return float(bound / np.sqrt(n_looks) / -ndtri(alpha / 2))


def _simpson(step: float) -> Floats:
    weights = np.full(_POINTS, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    return np.asarray(weights * step / 3)
