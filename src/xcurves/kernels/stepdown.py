"""Step-down adjustment for a family of tests, from a whole table or from its parts, one after the other.

Westfall & Young (1993), Algorithm 2.8: a member is compared with the largest shuffled value of the members that are
observed no larger than it, and its count is at least that of every larger member. In other words, a shuffle counts
against a member observed at ``x`` if some member is observed at ``low <= x`` and has a shuffled value ``high >= x``. So
it suffices to keep, for each shuffle, the union of the intervals from ``low`` to ``high``, which are few. The unions of
parts of a family are joined to that of the whole family, so no whole table is sorted or computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import TIE

_LONG = 256  # shuffles for which a call for each member costs less than numpy's accumulate


class Unions(NamedTuple):
    """Unions of closed intervals, one for each shuffle: disjoint, and in order.

    Attributes
    ----------
    shuffle : ndarray of int, shape (interval,)
        The shuffle that has the interval.
    low, high : ndarray, shape (interval,)
        Its ends, `low` less `TIE`.
    """

    shuffle: NDArray[np.intp]
    low: Floats
    high: Floats


NONE = Unions(np.empty(0, np.intp), np.empty(0), np.empty(0))


def stepdown_counts(table: Floats, observed: Floats) -> Floats:
    """Return the counts of families, shape (task, member), from all shuffled values, shape (task, member, shuffle)."""
    order, _, reached = _running_max(table, observed)
    counts = np.count_nonzero(reached, axis=-1)
    counts = np.maximum.accumulate(counts[:, ::-1], axis=-1)[:, ::-1]
    adjusted = np.empty(observed.shape)
    np.put_along_axis(adjusted, order, counts, axis=-1)
    return adjusted


def unions(table: Floats, observed: Floats) -> Unions:
    """Return the unions of one family, `observed` of shape (member,), from shuffled values, shape (member, shuffle)."""
    order, reach, reached = (each[0] for each in _running_max(table[np.newaxis], observed[np.newaxis]))
    low = observed[order] - TIE
    apart = reach[:-1] < low[1:, np.newaxis]  # a member and the next larger one
    begins, ends = reached.copy(), reached
    begins[1:] &= apart
    ends[:-1] &= apart
    shuffle, first = _by_shuffle(begins)
    _, last = _by_shuffle(ends)
    return Unions(shuffle, low[first], reach[last, shuffle])


def join_unions(parts: Sequence[Unions]) -> Unions:
    """Return the unions of a family from those of its parts."""
    shuffle, low, high = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort([low, shuffle])
    shuffle, low, high = shuffle[order], low[order], high[order]
    by_end = high.argsort(kind="stable")
    rank = np.empty_like(by_end)
    rank[by_end] = np.arange(len(by_end))
    farthest = np.maximum.accumulate(shuffle * len(rank) + rank) % max(len(rank), 1)  # up to here in the shuffle
    high = high[by_end[farthest]]
    begins = np.ones(len(order), bool)
    begins[1:] = (shuffle[1:] > shuffle[:-1]) | (low[1:] > high[:-1])
    return Unions(shuffle[begins], low[begins], high[np.roll(begins, -1)])


def count_reached(family: Unions, observed: Floats) -> Floats:
    """Return how many shuffles reach each observed value, shape (member,); of larger members nothing is known."""
    order = observed.argsort()
    low = observed[order] - TIE
    begun = np.bincount(np.searchsorted(low, family.low, side="left"), minlength=len(low) + 1)
    ended = np.bincount(np.searchsorted(low, family.high, side="right"), minlength=len(low) + 1)
    counts = np.empty(observed.shape)
    counts[order] = (begun - ended).cumsum()[:-1]
    return counts


def reached_at_least(counts: Floats, observed: Floats, n_resamples: int) -> Floats:
    """Return, for every number of shuffles, the largest observed value that at least so many reach; -inf if none.

    The shape is (1 + shuffles,). For a family of two parts, take the elementwise maximum of both.
    """
    highest = np.full(1 + n_resamples, -np.inf)
    np.maximum.at(highest, counts.astype(np.intp), observed)
    return np.maximum.accumulate(highest[::-1])[::-1]


def count_from(highest: Floats, observed: Floats) -> Floats:
    """Return the counts of members, shape (member,), from what `reached_at_least` returned for their family."""
    return np.asarray(len(highest) - 1.0 - np.searchsorted(highest[::-1], observed))


def _by_shuffle(marked: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the shuffles and members that are marked, shape (member, shuffle), shuffle after shuffle."""
    member, shuffle = np.divmod(np.flatnonzero(marked), marked.shape[1])
    order = shuffle.argsort(kind="stable")
    return shuffle[order], member[order]


def _running_max(table: Floats, observed: Floats) -> tuple[NDArray[np.intp], Floats, NDArray[np.bool_]]:
    """Return the order of the members from small to large; in it, the largest value so far, and whether it reaches."""
    order = observed.argsort(axis=-1, kind="stable")
    low = np.take_along_axis(observed, order, axis=-1) - TIE
    reach = table[np.arange(len(table))[:, np.newaxis], order]  # whole rows: faster than take_along_axis
    if reach.shape[-1] < _LONG:
        np.maximum.accumulate(reach, axis=1, out=reach)
    else:
        for smaller, member in pairwise(np.moveaxis(reach, 1, 0)):
            np.maximum(smaller, member, out=member)
    return order, reach, reach >= low[..., np.newaxis]
