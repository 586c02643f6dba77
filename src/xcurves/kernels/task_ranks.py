"""P(X > Y) over given tasks: the weighted mean of each task's, studentized, by dealing runs anew within every task.

    θ = Σ w_t θ_t,   T = (θ - 1/2) / sqrt(Σ w_t² (s²(placements of a) / l_a + s²(placements of b) / l_b))

The placement of a run is the share of the other algorithm's runs below it, ties half (Brunner & Munzel 2000,
doi:10.1002/(SICI)1521-4036(200001)42:1<17::AID-BIMJ17>3.0.CO;2-U). Deals are taken of the runs in ascending order, so
that pairs without ties share their null distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.task_deals import DealPlan, TaskDeals, all_deals, reaches

_ROUNDING = 1e-13


class _Ties(NamedTuple):
    """First and last place of the runs that tie with the run at each place, shape (member, place)."""

    first: NDArray[np.intp]
    last: NDArray[np.intp]

    @property
    def none(self) -> bool:
        """Whether no runs tie."""
        return bool((self.first == self.last).all())


class RankTest:
    """Counts of the deals whose T is at least the observed one, of pairs with the same numbers of runs.

    `x` and `y` are of shape (pair, task, run), a task's runs in front; `weights` of shape (task,).
    """

    def __init__(self, x: Floats, y: Floats, weights: Floats, plan: DealPlan) -> None:
        self.task_sets = plan.task_sets
        self.weights = [weights[task_set.tasks] for task_set in plan.task_sets]
        self.patterns: dict[bytes, tuple[list[_Ties], list[int]]] = {}
        observed = []
        for number in range(len(x)):
            ordered = [_in_order(x[number, s.tasks, : s.n_a], y[number, s.tasks, : s.n_b]) for s in self.task_sets]
            ties = [each for _, each in ordered]
            key = b"".join(each.first.tobytes() for each in ties)
            self.patterns.setdefault(key, (ties, []))[1].append(number)
            observed.append(self._over_tasks([TaskDeals(deal[:, np.newaxis], None) for deal, _ in ordered], ties))
        self.theta, self.variance = np.array(observed)[..., 0].T
        self.count = np.zeros(len(x))

    def _over_tasks(self, deals: Sequence[TaskDeals], ties: Sequence[_Ties]) -> tuple[Floats, Floats]:
        """Return θ and its variance, shape (deal,)."""
        theta, variance = np.zeros(1), np.zeros(1)
        for deal, own, w, task_set in zip(deals, ties, self.weights, self.task_sets, strict=True):
            for some in deal.slices():
                if own.none and deal.numbers is not None:
                    of_task, of_error = (each[deal.numbers[some]] for each in _without_ties(task_set.n_a, task_set.n_b))
                else:
                    ties_in = _Ties(own.first[some], own.last[some])
                    of_task, of_error = _thetas(deal.rows[some].astype(float), ties_in, task_set.n_a, task_set.n_b)
                theta, variance = theta + w[some] @ of_task, variance + w[some] ** 2 @ of_error
        return theta, variance

    def add(self, deals: Sequence[TaskDeals]) -> None:
        """Count a block of deals."""
        own = _square(self.theta)
        for ties, pairs in self.patterns.values():
            theta, variance = self._over_tasks(deals, ties)
            hits = reaches(_square(theta)[:, np.newaxis], variance[:, np.newaxis], own[pairs], self.variance[pairs])
            self.count[pairs] += np.count_nonzero(hits, axis=0)

    def found(self, plan: DealPlan) -> dict[str, Floats]:
        """Return the numbers of every pair, shape (pair,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(_square(self.theta) == 0, 0.0, (self.theta - 0.5) / np.sqrt(self.variance))
        return {
            "prob_greater": self.theta,
            "prob_greater_statistic": statistic,
            "prob_greater_pvalue": (self.count + plan.n_total - plan.n_deals) / plan.n_total,
        }


def thetas(x: Floats, y: Floats) -> Floats:
    """Return P(X > Y) + P(X = Y) / 2 of samples of shape (..., run), NaN where runs are absent; NaN without runs."""
    m, n = (np.count_nonzero(~np.isnan(each), axis=-1) for each in (x, y))
    a, b = x[..., :, np.newaxis], y[..., np.newaxis, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(((a > b) + (a == b) / 2).sum(axis=(-2, -1)) / (m * n))


def _square(theta: Floats) -> Floats:
    """Return the square of the distance from 1/2, 0 where it is a rounding error."""
    distance = theta - 0.5
    return np.where(np.abs(distance) <= _ROUNDING, 0.0, distance**2)


def _in_order(x: Floats, y: Floats) -> tuple[NDArray[np.int8], _Ties]:
    """Return which places, in ascending order of both samples, are of the first; and the ties."""
    both = np.concatenate([x, y], axis=-1)
    order = both.argsort(axis=-1, kind="stable")
    values = np.take_along_axis(both, order, axis=-1)
    new = np.ones(values.shape, bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    place = np.arange(values.shape[1])
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    ends = np.roll(new, -1, axis=1)
    last = np.minimum.accumulate(np.where(ends, place, len(place))[:, ::-1], axis=1)[:, ::-1]
    return (order < x.shape[-1]).astype(np.int8), _Ties(first, last)


@lru_cache(maxsize=16)
def _without_ties(m: int, n: int) -> tuple[Floats, Floats]:
    """Return θ and its variance of all deals of runs that do not tie, shape (deal,)."""
    places = np.arange(m + n)[np.newaxis]
    theta, variance = _thetas(all_deals(m, n)[np.newaxis].astype(float), _Ties(places, places), m, n)
    return theta[0], variance[0]


def _thetas(deals: Floats, ties: _Ties, m: int, n: int) -> tuple[Floats, Floats]:
    """Return θ of every task and its variance, shape (member, deal).

    All sums are of halves of whole numbers, so a variance of 0 is exactly 0.
    """
    of_first = deals.cumsum(axis=-1)
    of_second = np.arange(1.0, m + n + 1) - of_first
    below_first, below_second = (_midway(each, ties) for each in (of_second, of_first))
    a, b = deals * below_first, (1 - deals) * below_second
    wins, losses = a.sum(axis=-1), b.sum(axis=-1)
    of_a = (m * np.einsum("...i,...i", a, a) - wins**2) / (m * m * (m - 1) * n * n)
    of_b = (n * np.einsum("...i,...i", b, b) - losses**2) / (n * n * (n - 1) * m * m)
    return wins / (m * n), of_a + of_b


def _midway(upto: Floats, ties: _Ties) -> Floats:
    """Return how many of a sample stand below each place, of those that tie with it half."""
    if ties.none:
        return upto  # at a place of the other sample nothing is added
    before = np.pad(upto, ((0, 0), (0, 0), (1, 0)))
    first, last = (np.broadcast_to(each[:, np.newaxis], upto.shape) for each in ties)
    return (np.take_along_axis(before, first, axis=-1) + np.take_along_axis(upto, last, axis=-1)) / 2
