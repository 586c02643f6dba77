"""P(X > Y) over given tasks, θ = Σ w_t θ_t, studentized by placements, by dealing runs anew within every task.

Placements: Brunner & Munzel 2000, doi:10.1002/(SICI)1521-4036(200001)42:1<17::AID-BIMJ17>3.0.CO;2-U. One sort of the
runs of a task serves all deals: with R runs of both below a place and S of the first, they are R - S and S.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.over_tasks.task_plans import TABLED, DealPlan, TaskCells
from xcurves.kernels.resampling.assignments import Labels, every_assignment
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches
from xcurves.kernels.resampling.engine import ratio_reaches

_ROUNDING = 1e-13  # of θ, a weighted sum of numbers up to 1
_SAME = 64 * np.finfo(float).eps  # of a task's largest number: runs that differ by no more tie
Table = tuple[Floats, Floats]  # θ and its variance, (task, deal)
# of alike tasks: labels, and their rows in `every_assignment`
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


@dataclass
class _Pattern:
    """Pairs whose runs tie at the same places: θ of a deal of places is the same in all of them."""

    ties: list[_Ties]  # of alike tasks
    tables: list[Table | None]  # θ and its variance of all deals, once they are needed
    pairs: list[int] = field(default_factory=list)


class RankTest:
    """Counts of the deals whose T is at least the observed one, of pairs (pair, task, run) alike in numbers of runs."""

    def __init__(self, x: Floats, y: Floats, weights: Floats, plan: DealPlan) -> None:
        self.plan = plan
        self.weights = [weights[cells.tasks] for cells in plan.cells]
        self.patterns: dict[bytes, _Pattern] = {}
        observed = []
        for pair in range(len(x)):
            ordered = [
                _in_order(x[pair, cells.tasks, : cells.n_a], y[pair, cells.tasks, : cells.n_b]) for cells in plan.cells
            ]
            pattern = self._pattern_of([ties for _, ties in ordered])
            pattern.pairs.append(pair)
            labels: Deals = [(1 - first[np.newaxis], None) for first, _ in ordered]
            observed.append(self._over_tasks(labels, pattern))
        self.theta, self.variance = np.array(observed)[..., 0].T
        self.count = np.zeros(len(x))

    def _pattern_of(self, ties: list[_Ties]) -> _Pattern:
        """Return the pattern of these ties, which other pairs may have had."""
        key = b"".join(of_tasks.first.tobytes() for of_tasks in ties)
        if key not in self.patterns:
            self.patterns[key] = _Pattern(ties, [None] * len(ties))
        return self.patterns[key]

    def _over_tasks(self, deals: Deals, pattern: _Pattern) -> tuple[Floats, Floats]:
        """Return θ and its variance, shape (deal,)."""
        theta, variance = np.zeros(1), np.zeros(1)
        for number, (labels, rows) in enumerate(deals):
            table = None
            if rows is not None:
                table = self._table(pattern, number)
            if rows is None or table is None:
                cells = self.plan.cells[number]
                of_task, of_error = _thetas(labels, pattern.ties[number], cells.n_a, cells.n_b)
            else:
                of_task, of_error = (_look_up(column, rows) for column in table)
            w = self.weights[number]
            theta = theta + w @ of_task
            variance = variance + w**2 @ of_error
        return theta, variance

    def _table(self, pattern: _Pattern, number: int) -> Table | None:
        """Return θ and its variance of all deals of each task, if that is less work than of the plan's deals."""
        if pattern.tables[number] is not None:
            return pattern.tables[number]
        _, m, n, _ = self.plan.cells[number]
        ties = pattern.ties[number]
        if ties.none:
            pattern.tables[number] = _without_ties(m, n)
            return pattern.tables[number]
        every_deal = every_assignment((m, n), True)
        if len(every_deal) <= self.plan.n_resamples:
            of_tasks = (len(every_deal), len(ties.first), m + n)
            labels = np.broadcast_to(every_deal[:, np.newaxis], of_tasks)
            pattern.tables[number] = _thetas(labels, ties, m, n)
        return pattern.tables[number]

    def add(self, labels: Labels) -> None:
        """Count a block of deals."""
        observed_square = _squared_distance(self.theta)
        deals: Deals = []
        for cells in self.plan.cells:
            of_places = self._of_places(cells, labels)
            deals.append((of_places, _rows_of_deals(cells, of_places)))
        for pattern in self.patterns.values():
            theta, variance = self._over_tasks(deals, pattern)
            # T² = (θ - 1/2)² over its variance
            reached = ratio_reaches(
                _squared_distance(theta)[:, np.newaxis],
                variance[:, np.newaxis],
                observed_square[pattern.pairs],
                self.variance[pattern.pairs],
            )
            self.count[pattern.pairs] += np.count_nonzero(reached, axis=0)

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
            t = (self.theta - 0.5) / np.sqrt(self.variance)
        statistic = np.where(_squared_distance(self.theta) == 0, 0.0, t)
        return {
            "prob_greater": self.theta,
            "prob_greater_statistic": statistic,
            "prob_greater_pvalue": self.plan.pvalue(self.count),
        }


def _look_up(column: Floats, rows: Index) -> Floats:
    """Return the rows of a table, (task, deal), or of one that all tasks share."""
    if len(column) == 1:
        return np.asarray(column[0][rows])
    return np.take_along_axis(column, rows, axis=1)


def thetas(x: Floats, y: Floats) -> Floats:
    """Return P(X > Y) + P(X = Y) / 2 of samples of shape (..., run), NaN where runs are absent; NaN without runs."""
    m = np.count_nonzero(~np.isnan(x), axis=-1)
    n = np.count_nonzero(~np.isnan(y), axis=-1)
    is_first, ties = _in_order(x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1]))
    # Below a run of the first sample stand runs of both, ties and itself half: all m of them have m² / 2 of their own
    # sample below, so that the rest are wins over the other.
    place = np.arange(x.shape[-1] + y.shape[-1])
    is_run = place < (m + n).reshape(-1, 1)  # NaN comes last
    n_below = (is_first * is_run * ties.below).sum(axis=-1)
    wins = n_below.reshape(m.shape) - m**2 / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(wins / (m * n))


def placement_errors(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return θ of samples of shape (..., run), its squared error by placements, and Σ v² / (l - 1) of both samples."""
    rounding = _SAME * np.fmax(
        np.fmax.reduce(np.abs(x), axis=-1, initial=0.0),
        np.fmax.reduce(np.abs(y), axis=-1, initial=0.0),
    )
    with np.errstate(invalid="ignore"):
        apart = x[..., :, np.newaxis] - y[..., np.newaxis, :]
        is_tie = np.abs(apart) <= rounding[..., np.newaxis, np.newaxis]
        is_known = ~np.isnan(apart)
        wins = np.where(is_tie, 0.5, apart > 0) * is_known

    # The placement of a run is the share of the other sample that it beats; those of y are taken from 1, which is the
    # same.
    variance, squares = np.zeros((2, *x.shape[:-1]))
    with np.errstate(invalid="ignore", divide="ignore"):
        for axis in (-1, -2):
            counted = np.count_nonzero(is_known, axis=axis)
            n = np.count_nonzero(counted, axis=-1)
            placements = np.where(counted > 0, wins.sum(axis=axis) / counted, 0.0)
            mean = placements.sum(axis=-1) / n
            apart_from_mean = np.where(counted > 0, placements - mean[..., np.newaxis], 0.0)
            error = (apart_from_mean**2).sum(axis=-1) / (n - 1) / n
            variance = variance + error
            squares = squares + error**2 / (n - 1)
    return mean, variance, squares


def _squared_distance(theta: Floats) -> Floats:
    """Return the square of the distance from 1/2, 0 where it is a rounding error."""
    distance = theta - 0.5
    return np.where(np.abs(distance) <= _ROUNDING, 0.0, distance**2)


def _in_order(x: Floats, y: Floats) -> tuple[NDArray[np.int8], _Ties]:
    """Return which places, in ascending order of both samples, are of the first; and the ties, up to rounding."""
    both = np.concatenate([x, y], axis=-1)
    order = both.argsort(axis=-1, kind="stable")
    values = np.take_along_axis(both, order, axis=-1)
    # neighbours tie, and so do theirs
    begins_ties = np.ones(values.shape, bool)
    rounding = _SAME * np.fmax.reduce(np.abs(values), axis=1, initial=0.0)
    with np.errstate(invalid="ignore"):
        # NaN ties with nothing
        begins_ties[:, 1:] = ~(np.diff(values, axis=1) <= rounding[:, np.newaxis])

    # The nearest begin at or before a place, and the nearest end at or behind it; the first place is a begin, which
    # rolled makes the last one an end.
    place = np.arange(values.shape[1])
    first = np.maximum.accumulate(np.where(begins_ties, place, 0), axis=1)
    ends_ties = np.roll(begins_ties, -1, axis=1)
    ends = np.where(ends_ties, place, len(place))
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return (order < x.shape[-1]).astype(np.int8), _Ties(first, last)


@lru_cache(maxsize=16)
def _without_ties(m: int, n: int) -> Table:
    """Return θ and its variance of all deals of runs that do not tie, shape (1, deal)."""
    places = np.arange(m + n)[np.newaxis]
    every_deal = every_assignment((m, n), True)[:, np.newaxis]
    return _thetas(every_deal, _Ties(places, places), m, n)


@lru_cache(maxsize=16)
def _row_by_code(m: int, n: int) -> NDArray[np.int32]:
    """Return the number in `every_assignment` of a row with ones at the curves j, by the sum of 2^j."""
    every_deal = every_assignment((m, n), True)
    codes = every_deal @ (1 << np.arange(m + n))
    row = np.zeros(2 ** (m + n), np.int32)
    row[codes] = np.arange(len(every_deal))
    return row


def _rows_of_deals(cells: TaskCells, labels: Labels) -> Index | None:
    """Return the numbers of deals in `every_assignment`, shape (member, deal); None where there are too many."""
    n_curves = cells.n_a + cells.n_b
    if n_curves > TABLED:
        return None
    # curve by curve: a product would turn all labels into integers of the codes' size first
    codes = np.zeros(labels.shape[:2], np.int32)
    for curve in range(n_curves):
        codes += labels[..., curve] * np.int32(1 << curve)
    return _row_by_code(cells.n_a, cells.n_b)[codes.T].astype(np.intp)


def _thetas(labels: Labels, ties: _Ties, m: int, n: int) -> Table:
    """Return θ of tasks and its variance, (member, deal), of labels (deal, member, curve): 0 is exactly 0."""
    n_deals, n_members, n_curves = labels.shape
    sums = np.empty((3, n_members, n_deals))
    for member in range(n_members):
        of_member = _Ties(ties.first[member], ties.last[member])
        # counts of 4 bytes
        for some in stretches(n_deals, rows_that_fit(4 * n_curves, CACHE)):
            is_first = 1 - labels[some, member]
            sums[:, member, some] = _placement_sums(is_first, of_member)

    # The placement of a run is the share of the other sample below it: those of the first add up to W / n, those of the
    # second to (m n - W) / m, W the wins. With s² their variances, θ has s_a² / m + s_b² / n, and s_a² / m is
    # (Σ r² - W² / m) / n² / (m (m - 1)), r the ranks n times as large. In whole numbers, so that 0 is exactly 0.
    wins, squares_a, squares_b = sums
    of_a = (m * squares_a - wins**2) / (m * m * (m - 1) * n * n)
    of_b = (n * squares_b - (m * n - wins) ** 2) / (n * n * (n - 1) * m * m)
    return wins / (m * n), of_a + of_b


def _placement_sums(is_first: NDArray[np.int8], ties: _Ties) -> tuple[Floats, Floats, Floats]:
    """Return the sum of the placements of the first sample and the sums of squares of both, of one task."""
    # Runs of the first sample up to each place and before it; among ties up to the last and before the first of them.
    up_to = is_first.cumsum(axis=-1, dtype=np.int32)
    before = up_to - is_first
    if not ties.none:
        up_to, before = up_to[:, ties.last], before[:, ties.first]

    # The mean of the two counts ties half, and the run itself; the second's are what is left of all below.
    of_first = (up_to + before) / 2
    of_second = ties.below - of_first
    first = is_first.astype(float)
    wins = first * of_second
    squares_a = np.einsum("di,di->d", wins, of_second)
    squares_b = np.einsum("di,di->d", (1 - first) * of_first, of_first)
    return wins.sum(axis=-1), squares_a, squares_b
