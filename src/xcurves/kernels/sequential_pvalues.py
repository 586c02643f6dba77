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
from xcurves.kernels.plans import TIE, Index, rows_that_fit

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


class SmallPvalues(NamedTuple):
    """The p-values of a look that decide which assignments are rejected then or later.

    Attributes
    ----------
    q : ndarray, shape (assignment,)
        ``q_k``, 0 where it is at most the level, infinite where it is only known to be at least `known`.
    known : float
        Up to which p-values are known; 0 where it is not even known which assignments are rejected.
    below, above : int
        The assignment with the largest statistic that this look does not reject, and of those that it rejects and no
        look before, the one with the smallest; -1 if there is none.
    """

    q: Floats
    known: float
    below: int
    above: int

    @property
    def rejected(self) -> bool:
        """Whether the observed assignment is rejected, at this look or before."""
        return bool(self.q[0] == 0)


def small_pvalues(
    statistic: Floats,
    before: Floats,
    known: float,
    budget: float,
    alpha: float,
    spare: int,
    most: int,
    limit: float,
) -> SmallPvalues:
    """Return the p-values of a look, from the few assignments that decide.

    Parameters
    ----------
    before, known : ndarray, float
        `q` and `known` of the look before.
    budget : float
        ``s_k B``.
    spare : int
        Where at most so many assignments with infinite `before` reach a statistic, values above `known` do not decide
        its r.
    most : int
        More assignments than this have a statistic that is larger than those of all that were left out.
    limit : float
        Up to which p-values have to be known.
    """
    order = (-statistic).argsort()
    t, q = statistic[order], before[order]
    infinite = np.isinf(q)
    cut = min(int(infinite.cumsum().searchsorted(spare + 1)), most)  # of this one and smaller ones, r has a lower bound
    top = slice(cut + 1)
    cells = np.append(False, t[:-1] - t[1:] > TIE * np.maximum(1.0, t[1:]))[top].cumsum()
    least = np.floor(q * budget * (1 + 1e-12) + 1e-9)
    rejects = int(np.floor(alpha * budget * (1 + 1e-12) + 1e-9))
    counts = _counts_above(rejects, cells, least[top], np.sort(least[~infinite]))
    stays = np.flatnonzero(counts > 0)
    new = np.flatnonzero((counts == 0) & (q[top] > 0))
    below, above = (
        int(order[top][cells == cells[some[which]]].min()) if some.size else -1
        for some, which in ((stays, 0), (new, -1))
    )
    q[top] = np.minimum(q[top], counts / budget)
    known = min(limit, known, counts[-1] / budget) if cut < len(t) else limit
    q[q >= known] = np.inf
    pvalues = np.empty(len(q))
    pvalues[order] = q
    return SmallPvalues(pvalues, known, below, above)


def _counts_above(rejects: int, cells: Index, least: Floats, finite: Floats) -> Index:
    """Return `_counts` of the largest statistics, 0 where it is at most `rejects`, without iterations.

    A number N is too large for the statistics above that of the assignment with which those with ``least >= N`` become
    N less ``#{least < N}``. With 100 looks `_counts` takes 50 iterations, five times as long.

    Parameters
    ----------
    cells : ndarray of int
        Number of the statistic, from 0 for the largest; ties have the same.
    least : ndarray
        Of the same assignments; infinite where only the statistic counts.
    finite : ndarray
        Sorted, of all assignments of which it is finite.
    """
    numbers = np.arange(rejects + 1, len(finite) + np.count_nonzero(np.isinf(least)) + 1)
    short = numbers - finite.searchsorted(numbers)
    left = np.flatnonzero(least > rejects)
    counts = np.zeros(cells[-1] + 1, np.intp)
    rows = rows_that_fit(16 * left.size)
    for some in (slice(start, start + rows) for start in range(0, len(numbers), rows)):
        reached = (least[left] >= numbers[some, np.newaxis]).cumsum(axis=1, dtype=np.int32)
        place = np.count_nonzero(reached < short[some, np.newaxis], axis=1)
        found = place < left.size
        counts[cells[left[place[found]]]] = numbers[some][found]  # of several the last, which is the largest
    return np.maximum.accumulate(counts)[cells]


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
