"""P(X > Y) over given tasks, θ = Σ w_t θ_t, studentized by placements, by dealing runs anew within every task.

Placements: Brunner & Munzel 2000, doi:10.1002/(SICI)1521-4036(200001)42:1<17::AID-BIMJ17>3.0.CO;2-U. One sort of the
runs of a task serves all deals: with R runs of both below a place and S of the first, they are R - S and S.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.differences.task_plans import TABLED, DealPlan, TaskCells
from xcurves.kernels.resampling.assignments import Labels, every_assignment
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit
from xcurves.kernels.resampling.engine import ratio_reaches

_ROUNDING = 1e-13
_SAME = 64 * np.finfo(float).eps
Table = tuple[Floats, Floats]
# of alike tasks: labels, and their places in `every_assignment`
Deals = list[tuple[Labels, Index | None]]


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
        self.patterns: dict[
            bytes, tuple[list[_Ties], list[Table | None], list[int]]
        ] = {}
        observed = []
        for number in range(len(x)):
            ordered = [
                _in_order(x[number, c.tasks, : c.n_a], y[number, c.tasks, : c.n_b])
                for c in plan.cells
            ]
            ties = [each for _, each in ordered]
            key = b"".join(each.first.tobytes() for each in ties)
            if key not in self.patterns:
                self.patterns[key] = ties, [None] * len(ties), []
            self.patterns[key][2].append(number)
            labels: Deals = [(1 - first[np.newaxis], None) for first, _ in ordered]
            observed.append(self._over_tasks(labels, *self.patterns[key][:2]))
        self.theta, self.variance = np.array(observed)[..., 0].T
        self.count = np.zeros(len(x))

    def _over_tasks(
        self, deals: Deals, ties: list[_Ties], tables: list[Table | None]
    ) -> tuple[Floats, Floats]:
        """Return θ and its variance, shape (deal,)."""
        theta, variance = np.zeros(1), np.zeros(1)
        for place, ((labels, numbers), own, w) in enumerate(
            zip(deals, ties, self.weights, strict=True)
        ):
            cells = self.plan.cells[place]
            if (
                numbers is not None
                and (table := self._table(tables, place, own)) is not None
            ):
                shared = len(table[0]) == 1
                of_task, of_error = (
                    each[0][numbers]
                    if shared
                    else np.take_along_axis(each, numbers, axis=1)
                    for each in table
                )
            else:
                of_task, of_error = _thetas(labels, own, cells.n_a, cells.n_b)
            theta, variance = theta + w @ of_task, variance + w**2 @ of_error
        return theta, variance

    def _table(
        self, tables: list[Table | None], place: int, ties: _Ties
    ) -> Table | None:
        """Return θ and its variance of all deals of each task, if that is less work than of the plan's deals."""
        _, m, n, _ = self.plan.cells[place]
        if tables[place] is None:
            if ties.none:
                tables[place] = _without_ties(m, n)
            elif len(every := every_assignment((m, n), True)) <= self.plan.n_resamples:
                shape = (len(every), len(ties.first), m + n)
                tables[place] = _thetas(
                    np.broadcast_to(every[:, np.newaxis], shape), ties, m, n
                )
        return tables[place]

    def add(self, labels: Labels) -> None:
        """Count a block of deals."""
        own = _squared_distance(self.theta)
        deals: Deals = []
        for cells in self.plan.cells:
            of_places = self._of_places(cells, labels)
            deals.append((of_places, _places_of_deals(cells, of_places)))
        for ties, tables, pairs in self.patterns.values():
            theta, variance = self._over_tasks(deals, ties, tables)
            square = _squared_distance(theta)[:, np.newaxis]
            hits = ratio_reaches(
                square, variance[:, np.newaxis], own[pairs], self.variance[pairs]
            )
            self.count[pairs] += np.count_nonzero(hits, axis=0)

    def _of_places(self, cells: TaskCells, labels: Labels) -> Labels:
        """Return labels of places in ascending order: any labels of curves serve, as all are alike likely.

        Of turned deals those of the curves in their other order, of which the places then have the same ones.
        """
        of_curves = cells.of(labels)
        if not self.plan.is_turned:
            return of_curves
        return np.roll(of_curves, -cells.n_a, axis=-1)

    @property
    def results(self) -> dict[str, Floats]:
        """The numbers of every pair, shape (pair,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(
                _squared_distance(self.theta) == 0,
                0.0,
                (self.theta - 0.5) / np.sqrt(self.variance),
            )
        return {
            "prob_greater": self.theta,
            "prob_greater_statistic": statistic,
            "prob_greater_pvalue": self.plan.pvalue(self.count),
        }


def thetas(x: Floats, y: Floats) -> Floats:
    """Return P(X > Y) + P(X = Y) / 2 of samples of shape (..., run), NaN where runs are absent; NaN without runs."""
    m, n = (np.count_nonzero(~np.isnan(each), axis=-1) for each in (x, y))
    both = np.concatenate([x, y], axis=-1)
    first, ties = _in_order(
        both.reshape(-1, both.shape[-1])[:, : x.shape[-1]], y.reshape(-1, y.shape[-1])
    )
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
    last = np.minimum.accumulate(np.where(ends, place, len(place))[:, ::-1], axis=1)[
        :, ::-1
    ]
    return (order < x.shape[-1]).astype(np.int8), _Ties(first, last)


@lru_cache(maxsize=16)
def _without_ties(m: int, n: int) -> Table:
    """Return θ and its variance of all deals of runs that do not tie, shape (1, deal)."""
    places = np.arange(m + n)[np.newaxis]
    return _thetas(
        every_assignment((m, n), True)[:, np.newaxis], _Ties(places, places), m, n
    )


@lru_cache(maxsize=16)
def _place_of(m: int, n: int) -> NDArray[np.int32]:
    """Return the place in `every_assignment` of a row with ones at the curves j, by the sum of 2^j."""
    every, place = every_assignment((m, n), True), np.zeros(2 ** (m + n), np.int32)
    place[every @ (1 << np.arange(m + n))] = np.arange(len(every))
    return place


def _places_of_deals(cells: TaskCells, labels: Labels) -> Index | None:
    """Return the places of deals in `every_assignment`, shape (member, deal); None where there are too many."""
    n_curves = cells.n_a + cells.n_b
    if n_curves > TABLED:
        return None
    ones = np.zeros(labels.shape[:2], np.int32)
    for curve in range(n_curves):
        ones += labels[..., curve] * np.int32(1 << curve)
    return _place_of(cells.n_a, cells.n_b)[ones.T].astype(np.intp)


def _thetas(labels: Labels, ties: _Ties, m: int, n: int) -> Table:
    """Return θ of tasks and its variance, (member, deal), of labels (deal, member, curve): 0 is exactly 0."""
    n_deals, n_members, n_curves = labels.shape
    found = np.empty((3, n_members, n_deals))
    rows = rows_that_fit(4 * n_curves, CACHE)
    for member in range(n_members):
        own = _Ties(ties.first[member], ties.last[member])
        for start in range(0, n_deals, rows):
            found[:, member, start : start + rows] = _placement_sums(
                1 - labels[start : start + rows, member], own
            )
    wins, squares_a, squares_b = found
    of_a = (m * squares_a - wins**2) / (m * m * (m - 1) * n * n)
    of_b = (n * squares_b - (m * n - wins) ** 2) / (n * n * (n - 1) * m * m)
    return wins / (m * n), of_a + of_b


def _placement_sums(
    deals: NDArray[np.int8], ties: _Ties
) -> tuple[Floats, Floats, Floats]:
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
