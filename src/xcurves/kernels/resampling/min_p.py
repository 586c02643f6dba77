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
    return np.asarray(
        np.count_nonzero(values + TIE >= observed[:, np.newaxis], axis=-1), float
    )


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
    n_sets, n_members = counts.shape
    rows = np.arange(n_sets)
    order = np.lexsort((-second, counts), axis=-1)  # the most significant first
    step_counts = np.take_along_axis(counts, order, axis=-1)
    step_seconds = np.take_along_axis(second, order, axis=-1)

    reached = np.empty(counts.shape)
    earliest: Index | None = (
        None  # the first step that any member left reaches in each reassignment
    )
    for step in range(n_members - 1, -1, -1):
        member = order[:, step]
        values = values_of(member)
        least = _least_values(
            values,
            step_counts[:, : step + 1],
            statistic_at(member, step_seconds[:, : step + 1]),
        )
        own = _first_step(values, least)
        earliest = own if earliest is None else np.minimum(earliest, own)
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
    n = values.shape[-1]
    ordered = np.sort(values, axis=-1)
    beyond = n - counts.astype(np.intp)  # statistics below, where exactly so many reach
    below = np.take_along_axis(ordered, np.maximum(beyond - 1, 0), axis=-1)
    first = np.where(beyond > 0, _places(ordered, below + TIE, "right"), 0)

    ended = np.concatenate([ordered, np.full((len(ordered), 1), np.inf)], axis=-1)
    least = np.take_along_axis(ended, first, axis=-1)
    as_many = _places(ordered, least - TIE, "left") == beyond
    next_least = np.take_along_axis(
        ended, _places(ordered, least + TIE, "right"), axis=-1
    )
    return np.where(as_many & (least + TIE < statistic), next_least, least)


def _first_step(values: Floats, least: Floats) -> Index:
    """Return the first step that each statistic reaches, the number of steps if none, (data set, reassignment).

    The least values fall from step to step.
    """
    n_steps = least.shape[-1]
    rising = np.minimum.accumulate(least, axis=-1)[:, ::-1]
    return np.asarray(n_steps - _places(rising, values, "right"))


def _places(ordered: Floats, values: Floats, side: Literal["left", "right"]) -> Index:
    """Return where values stand in ordered ones, row by row."""
    found = [
        np.searchsorted(row, each, side)
        for row, each in zip(ordered, values, strict=True)
    ]
    return np.array(found, np.intp).reshape(values.shape)
