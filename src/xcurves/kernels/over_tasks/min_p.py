"""Adjusted p-values over a family of tests: step-down by the smallest p (Westfall & Young 1993).

Every test has its own p under every reassignment, the share of reassignments whose statistic is at least as large. A
reassignment counts against a test if any test that is not more significant has as small a p in it. So tests of unlike
distributions, such as differences that few large tasks make up, do not hide each other, as they do in the largest
statistic. With few reassignments p are coarse: between equal ones a second value decides, of which the larger is the
more significant (the order is lexicographic).

Arrays are (data set, member); statistics of reassignments, the observed one among them, are (data set, reassignment).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.plans import TIE


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
    # Least values that rise, from the last step to the first, are searched: of r steps reached, the first is number
    # (steps - r). With the running minimum they fall in spite of rounding.
    n_steps = least.shape[-1]
    rising = np.minimum.accumulate(least, axis=-1)[:, ::-1]
    return np.asarray(n_steps - _places(rising, values, "right"))


def _places(ordered: Floats, values: Floats, side: Literal["left", "right"]) -> Index:
    """Return where values stand in ordered ones, row by row."""
    by_row = [np.searchsorted(row, values_of_row, side) for row, values_of_row in zip(ordered, values, strict=True)]
    return np.array(by_row, np.intp).reshape(values.shape)
