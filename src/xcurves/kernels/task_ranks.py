"""P(X > Y) over given tasks, θ = Σ w_t θ_t, studentized by placements, by dealing runs anew within every task.

Placements: Brunner & Munzel 2000, doi:10.1002/(SICI)1521-4036(200001)42:1<17::AID-BIMJ17>3.0.CO;2-U. One sort of the
runs of a task serves all deals: with R runs of both below a place and S of the first, they are R - S and S.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.engine import ratio_reaches
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import CACHE, Labels, rows_that_fit
from xcurves.kernels.task_plans import DealPlan

_ROUNDING = 1e-13
_SAME = 64 * np.finfo(float).eps


class _Ties(NamedTuple):
    """First and last place of the runs that tie with the run at each place, shape (member, place)."""

    first: NDArray[np.intp]
    last: NDArray[np.intp]

    @property
    def none(self) -> bool:
        """Whether no runs tie."""
        return bool((self.first == self.last).all())

    @property
    def below(self) -> Floats:
        """How many runs stand below each place, ties and the run itself half."""
        return np.asarray((self.first + self.last + 1) / 2)


class RankTest:
    """Counts of the deals whose T is at least the observed one, of pairs (pair, task, run) alike in numbers of runs."""

    def __init__(self, x: Floats, y: Floats, weights: Floats, plan: DealPlan) -> None:
        self.plan = plan
        self.weights = [weights[cells.tasks] for cells in plan.cells]
        self.patterns: dict[bytes, tuple[list[_Ties], list[int]]] = {}  # of ties: pairs with the same share all deals
        observed = []
        for number in range(len(x)):
            ordered = [_in_order(x[number, c.tasks, : c.n_a], y[number, c.tasks, : c.n_b]) for c in plan.cells]
            ties = [each for _, each in ordered]
            key = b"".join(each.first.tobytes() for each in ties)
            self.patterns.setdefault(key, (ties, []))[1].append(number)
            observed.append(self._over_tasks([1 - first[np.newaxis] for first, _ in ordered], ties))
        self.theta, self.variance = np.array(observed)[..., 0].T
        self.count = np.zeros(len(x))

    def _over_tasks(self, labels: list[Labels], ties: list[_Ties]) -> tuple[Floats, Floats]:
        """Return θ and its variance, shape (deal,)."""
        theta, variance = np.zeros(1), np.zeros(1)
        for own, each, w, cells in zip(labels, ties, self.weights, self.plan.cells, strict=True):
            of_task, of_error = _thetas(own, each, cells.n_a, cells.n_b)
            theta, variance = theta + w @ of_task, variance + w**2 @ of_error
        return theta, variance

    def add(self, labels: Labels) -> None:
        """Count a block of deals."""
        own = _squared_distance(self.theta)
        deals = [cells.of(labels) for cells in self.plan.cells]
        for ties, pairs in self.patterns.values():
            theta, variance = self._over_tasks(deals, ties)
            square = _squared_distance(theta)[:, np.newaxis]
            hits = ratio_reaches(square, variance[:, np.newaxis], own[pairs], self.variance[pairs])
            self.count[pairs] += np.count_nonzero(hits, axis=0)

    @property
    def found(self) -> dict[str, Floats]:
        """The numbers of every pair, shape (pair,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(_squared_distance(self.theta) == 0, 0.0, (self.theta - 0.5) / np.sqrt(self.variance))
        return {
            "prob_greater": self.theta,
            "prob_greater_statistic": statistic,
            "prob_greater_pvalue": self.plan.pvalue(self.count),
        }


def thetas(x: Floats, y: Floats) -> Floats:
    """Return P(X > Y) + P(X = Y) / 2 of samples of shape (..., run), NaN where runs are absent; NaN without runs."""
    m, n = (np.count_nonzero(~np.isnan(each), axis=-1) for each in (x, y))
    both = np.concatenate([x, y], axis=-1)
    first, ties = _in_order(both.reshape(-1, both.shape[-1])[:, : x.shape[-1]], y.reshape(-1, y.shape[-1]))
    known = np.arange(both.shape[-1]) < (m + n).reshape(-1, 1)  # NaN comes last
    wins = (first * known * ties.below).sum(axis=-1).reshape(m.shape) - m**2 / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(wins / (m * n))


def _squared_distance(theta: Floats) -> Floats:
    """Return the square of the distance from 1/2, 0 where it is a rounding error."""
    distance = theta - 0.5
    return np.where(np.abs(distance) <= _ROUNDING, 0.0, distance**2)


def _in_order(x: Floats, y: Floats) -> tuple[NDArray[np.int8], _Ties]:
    """Return which places, in ascending order of both samples, are of the first; and the ties, up to rounding."""
    both = np.concatenate([x, y], axis=-1)
    order = both.argsort(axis=-1, kind="stable")
    values = np.take_along_axis(both, order, axis=-1)
    new = np.ones(values.shape, bool)
    rounding = _SAME * np.fmax.reduce(np.abs(values), axis=1, initial=0.0)
    with np.errstate(invalid="ignore"):
        new[:, 1:] = ~(np.diff(values, axis=1) <= rounding[:, np.newaxis])  # NaN is new
    place = np.arange(values.shape[1])
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    ends = np.roll(new, -1, axis=1)
    last = np.minimum.accumulate(np.where(ends, place, len(place))[:, ::-1], axis=1)[:, ::-1]
    return (order < x.shape[-1]).astype(np.int8), _Ties(first, last)


def _thetas(labels: Labels, ties: _Ties, m: int, n: int) -> tuple[Floats, Floats]:
    """Return θ of tasks and its variance, (member, deal), of labels (deal, member, curve): 0 is exactly 0."""
    n_deals, n_members, n_curves = labels.shape
    found = np.empty((3, n_members, n_deals))
    rows = rows_that_fit(4 * n_curves, CACHE)
    for member in range(n_members):
        own = _Ties(ties.first[member], ties.last[member])
        for start in range(0, n_deals, rows):
            found[:, member, start : start + rows] = _placement_sums(1 - labels[start : start + rows, member], own)
    wins, squares_a, squares_b = found
    of_a = (m * squares_a - wins**2) / (m * m * (m - 1) * n * n)
    of_b = (n * squares_b - (m * n - wins) ** 2) / (n * n * (n - 1) * m * m)
    return wins / (m * n), of_a + of_b


def _placement_sums(deals: NDArray[np.int8], ties: _Ties) -> tuple[Floats, Floats, Floats]:
    """Return the sum of the placements of the first sample and the sums of squares of both, of one task."""
    upto, first = deals.cumsum(axis=-1, dtype=np.int32), deals.astype(float)
    before = upto - deals
    if not ties.none:
        upto, before = upto[:, ties.last], before[:, ties.first]
    of_first = (upto + before) / 2  # how many firsts stand below, ties half
    of_second = ties.below - of_first
    wins = first * of_second
    squares_b = np.einsum("di,di->d", (1 - first) * of_first, of_first)
    return wins.sum(axis=-1), np.einsum("di,di->d", wins, of_second), squares_b
