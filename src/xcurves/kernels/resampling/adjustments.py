"""Adjusted p-values of families of tests, and which algorithms such tests leave as possibly best.

`step_down` is by the smallest p (Westfall & Young 1993). Every test has its own p under every reassignment, the share
of reassignments whose statistic is at least as large. A reassignment counts against a test if any test that is not more
significant has as small a p in it. So tests of unlike distributions, such as differences that few large tasks make up,
do not hide each other, as they do in the largest statistic. With few reassignments p are coarse: between equal ones a
second value decides, of which the larger is the more significant (the order is lexicographic). Its arrays are (data
set, member); statistics of reassignments, the observed one among them, are (data set, reassignment).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.plans import TIE

_LEVEL_TIE = 1e-12  # of a p-value and the level, which both are rounded
# of `largest_of`
_LONG = 2**12  # numbers of a row, of fewer of which all are partitioned
_FEW = 1 / 8  # share of them that is asked for, beyond which all are partitioned
_STRIDE = 17  # one of so many is looked at first: odd, as numbers of subsets are in the order of binary numbers
_FEW_STEPS = 50  # that are compared with every number, one after the other: for more a search is faster

Scalar = TypeVar("Scalar", np.float32, np.float64)


def holm(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Holm's step-down; NaN stays and does not count."""
    rank = _ranks(pvalues)
    # The smallest of n p-values is multiplied by n, the next one by n - 1, and so on. NaN comes last in the order: its
    # factors are 0 or less, and what they give is replaced in the end.
    n_left = _count_known(pvalues) - rank
    raised = np.sort(pvalues, axis=-1) * np.sort(n_left, axis=-1)[..., ::-1]
    # none is smaller than one before it
    adjusted = np.minimum(np.maximum.accumulate(raised, axis=-1), 1.0)
    return _in_first_order(adjusted, rank, pvalues)


def bonferroni(pvalues: Floats) -> Floats:
    """Multiply p-values along the last axis by their number (Bonferroni); NaN stays and does not count."""
    return np.minimum(pvalues * _count_known(pvalues), 1.0)


def benjamini_hochberg(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Benjamini & Hochberg's step-up (1995); NaN stays and does not count."""
    place = np.arange(1, pvalues.shape[-1] + 1)
    raised = np.sort(pvalues, axis=-1) * _count_known(pvalues) / place
    # none is larger than one behind it; fmin, as NaN stands behind all
    adjusted = np.fmin.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    return _in_first_order(np.minimum(adjusted, 1.0), _ranks(pvalues), pvalues)


def _count_known(pvalues: Floats) -> Index:
    """Return how many p-values there are, (..., 1): only these are tests of the family."""
    return np.asarray(np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True))


def _ranks(pvalues: Floats) -> Index:
    """Return the place of each p-value in ascending order, from 0."""
    # the order of an order
    return np.asarray(pvalues.argsort(axis=-1).argsort(axis=-1))


def _in_first_order(in_order: Floats, rank: Index, pvalues: Floats) -> Floats:
    """Return values that are given in ascending order of the p-values in the order of these; NaN stays."""
    as_given = np.take_along_axis(in_order, rank, axis=-1)
    return np.where(np.isnan(pvalues), np.nan, as_given)


def may_be_best(
    pairs: NDArray[np.intp],
    difference: Floats,
    pvalue_adjusted: Floats,
    n_algorithms: int,
    alpha: float,
) -> Floats:
    """Return 1 for every algorithm over which no other is shown to score higher, else 0; NaN if that leaves none."""
    best = np.full(n_algorithms, np.nan)  # stays NaN without any comparison
    best[pairs[~np.isnan(difference)]] = 1.0
    # a NaN p-value shows nothing, so that it excludes nobody
    is_shown = pvalue_adjusted <= alpha + _LEVEL_TIE
    lower = np.where(difference > 0, pairs[:, 1], pairs[:, 0])
    best[lower[is_shown]] = 0.0

    # Pairs over different tasks can form a circle, in which each is shown to be lower than another: no answer.
    if not (best == 1).any():
        return np.full(n_algorithms, np.nan)
    return best


ADJUSTMENTS = {"holm": holm, "bonferroni": bonferroni}


def largest_of(values: NDArray[Scalar], size: int) -> NDArray[Scalar]:
    """Return the `size` largest numbers along the last axis, the smallest of them first; NaN count as largest.

    Values may be put in another order.
    """
    n = values.shape[-1]
    if n < _LONG or size > _FEW * n:
        values.partition(n - size, axis=-1)
        return values[..., n - size :]

    # Numbers below a floor are left out first, which some of the numbers say: half the time where one of twenty
    # is asked for. A floor that proves too high is not used.
    some = values[..., ::_STRIDE].copy()
    expected = some.shape[-1] * size / n
    place = max(0, some.shape[-1] - math.ceil(expected + 5 * math.sqrt(expected)))
    some.partition(place, axis=-1)
    floors = some[..., place]
    out = np.empty((*values.shape[:-1], size), values.dtype)
    for row in np.ndindex(values.shape[:-1]):
        numbers = values[row]
        # NaN are not below it
        beyond = numbers.compress(~(numbers < floors[row]))
        if len(beyond) < size:
            beyond = numbers
        beyond.partition(len(beyond) - size)
        out[row] = beyond[len(beyond) - size :]
    return out


def count_reached(values: Floats, observed: Floats) -> Floats:
    """Return how many statistics, shape (data set, reassignment), are at least the observed one, up to a tie."""
    return np.asarray(np.count_nonzero(values + TIE >= observed[:, np.newaxis], axis=-1), float)


def step_down(
    values_of: Callable[[Index], Floats],
    counts: Floats,
    second: Floats,
    statistic_at: Callable[[Index, Floats], Floats],
) -> Floats:
    """Return how many reassignments count against each member, shape (data set, member).

    Parameters
    ----------
    values_of : function of indices, shape (data set,)
        Statistics of a member of each data set.
    counts : ndarray, shape (data set, member)
        How many reassignments reach the observed statistic.
    second : ndarray, shape (data set, member)
        What decides between equal counts; the larger is the more significant.
    statistic_at : function of indices, shape (data set,), and of values like `second`, shape (data set, step)
        The statistic of a member at which it has the second value.
    """
    # From the least significant member to the most: at step s all members of steps >= s are left, and a reassignment
    # counts against the member of step s if any of these is as significant in it, that is, if the first step that any
    # of them reaches is s or an earlier one.
    n_sets, n_members = counts.shape
    rows = np.arange(n_sets)
    order = np.lexsort((-second, counts), axis=-1)  # the most significant first
    step_counts = np.take_along_axis(counts, order, axis=-1)
    step_seconds = np.take_along_axis(second, order, axis=-1)

    reached = np.empty(counts.shape)
    # in each reassignment the first step that any member left reaches: none at first
    earliest: Index | None = None
    for step in range(n_members - 1, -1, -1):
        member = order[:, step]
        values = values_of(member)
        # Steps behind this one are less significant than the member itself: nothing is asked of them any more.
        least = _least_values(
            values,
            step_counts[:, : step + 1],
            statistic_at(member, step_seconds[:, : step + 1]),
        )
        first_step = _first_step(values, least)
        if earliest is None:
            earliest = first_step
        else:
            earliest = np.minimum(earliest, first_step)
        reached[rows, member] = np.count_nonzero(earliest <= step, axis=-1)

    # A test is not rejected before all that are more significant.
    by_step = np.take_along_axis(reached, order, axis=-1)
    adjusted = np.empty(counts.shape)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(by_step, axis=-1), axis=-1)
    return adjusted


def _least_values(values: Floats, counts: Floats, statistic: Floats) -> Floats:
    """Return the least statistics that are as significant as each step, shape (data set, step); inf if none is.

    A statistic is as significant as a step if fewer than its `counts` reach it, or as many and it is at least
    `statistic`.
    """
    # In ascending order the c statistics that reach the least wanted one stand behind n - c others. Where the one just
    # below ties with it more than c would reach: the least one wanted is the first beyond all that tie with that one.
    ordered = np.sort(values, axis=-1)
    n_below = values.shape[-1] - counts.astype(np.intp)
    highest_below = np.take_along_axis(ordered, np.maximum(n_below - 1, 0), axis=-1)
    beyond_ties = _places(ordered, highest_below + TIE, "right")
    first = np.where(n_below > 0, beyond_ties, 0)

    # Where exactly c reach it the second value decides: if it is too small there, it takes the next larger statistic.
    # Infinite ones at the end stand for "none".
    ended = np.concatenate([ordered, np.full((len(ordered), 1), np.inf)], axis=-1)
    least = np.take_along_axis(ended, first, axis=-1)
    as_many = _places(ordered, least - TIE, "left") == n_below
    next_least = np.take_along_axis(ended, _places(ordered, least + TIE, "right"), axis=-1)
    return np.where(as_many & (least + TIE < statistic), next_least, least)


def _first_step(values: Floats, least: Floats) -> Index:
    """Return the first step that each statistic reaches, the number of steps if none, (data set, reassignment).

    The least values fall from step to step.
    """
    # With the running minimum they fall in spite of rounding: the steps that are not reached come first.
    n_steps = least.shape[-1]
    falling = np.minimum.accumulate(least, axis=-1)
    if n_steps <= _FEW_STEPS:
        n_missed = np.zeros(values.shape, np.uint8)
        for each in falling.T:
            n_missed += values < each[:, np.newaxis]
        return n_missed.astype(np.intp)
    # least values that rise, from the last step to the first, are searched
    return np.asarray(n_steps - _places(falling[:, ::-1], values, "right"))


def _places(ordered: Floats, values: Floats, side: Literal["left", "right"]) -> Index:
    """Return where values stand in ordered ones, row by row."""
    by_row = [np.searchsorted(row, values_of_row, side) for row, values_of_row in zip(ordered, values, strict=True)]
    return np.array(by_row, np.intp).reshape(values.shape)
