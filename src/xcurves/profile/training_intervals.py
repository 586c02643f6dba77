"""Intervals of training, given as edges or as a pandas IntervalIndex."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import validation
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType

Intervals = Sequence[float] | NDArray[np.float64] | pd.IntervalIndex
_CURE = "Try edges, [0, 1000, 5000], or pd.IntervalIndex.from_tuples([(0, 1000), (2000, 5000)])"


class Stretches(NamedTuple):
    """Intervals of training: their ends, and the indices of the first level in each and of the first one after it."""

    left: NDArray[np.float64]
    right: NDArray[np.float64]
    start: NDArray[np.intp]
    stop: NDArray[np.intp]

    def hold(self, levels: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which intervals contain levels of given indices, shape (..., level), as (..., interval, level)."""
        index = levels[..., np.newaxis, :]
        begun = self.start[:, np.newaxis] <= index
        ended = self.stop[:, np.newaxis] <= index
        return np.asarray(begun & ~ended)

    def coords(self) -> dict[Hashable, Any]:
        """Return the coordinates of the dim `interval`."""
        return {
            "interval": np.arange(len(self.left)),
            "interval_left": ("interval", self.left),
            "interval_right": ("interval", self.right),
        }


def check_intervals(intervals: Intervals | None, training: NDArray[np.float64]) -> Stretches:
    """Return the intervals that edges or an IntervalIndex define; none for None."""
    if intervals is None:
        no_end, no_index = np.zeros(0), np.zeros(0, np.intp)
        return Stretches(no_end, no_end, no_index, no_index)
    if isinstance(intervals, pd.IntervalIndex):
        left, right = _check_index(intervals)
        start = training.searchsorted(left, "right")
        stop = training.searchsorted(right, "left")
        if intervals.closed in ("left", "both"):
            start = training.searchsorted(left, "left")
        if intervals.closed in ("right", "both"):
            stop = training.searchsorted(right, "right")
        return Stretches(left, right, start, stop)

    # Between edges a level belongs to the interval that begins there, the last edge to the last interval.
    edges = _check_edges(intervals)
    start = training.searchsorted(edges[:-1], "left")
    stop = training.searchsorted(edges[1:], "left")
    stop[-1:] = training.searchsorted(edges[-1:], "right")
    return Stretches(edges[:-1], edges[1:], start, stop)


def _check_edges(edges: Any) -> NDArray[np.float64]:
    values = validation.numbers_of(edges)
    if values is None:
        raise WrongType("intervals", edges, "must be edges or a pandas.IntervalIndex", _CURE)
    if values.ndim != 1 or values.size < 2:
        raise Refusal("intervals", edges, "must have at least two edges", _CURE)
    if np.isnan(values).any():
        raise Refusal(
            "intervals",
            Verbatim(values.tolist()),
            "must have edges that are numbers",
            _CURE,
        )
    falls = np.flatnonzero(np.diff(values) <= 0)
    if falls.size:
        before = values[falls[0]]
        after = values[falls[0] + 1]
        raise Refusal(
            "intervals",
            Verbatim(f"{after:g} after {before:g}"),
            "must have increasing edges",
            "Sort them",
        )
    return values


def _check_index(
    index: pd.IntervalIndex,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if len(index) and index.left.dtype.kind not in "iuf":
        raise WrongType("intervals", Verbatim(index.dtype), "must be of numbers", _CURE)
    if index.hasnans:
        raise Refusal(
            "intervals",
            Verbatim("NaN"),
            "must not be missing",
            "Drop it: intervals.dropna()",
        )
    got = f"got {', '.join(map(str, index))}"
    if index.is_overlapping:
        raise Refusal(
            "intervals",
            UNSAID,
            f"must not overlap; {got}",
            "Give intervals that do not",
        )
    if not index.is_monotonic_increasing:
        raise Refusal(
            "intervals",
            UNSAID,
            f"must be increasing; {got}",
            "Sort: intervals.sort_values()",
        )
    return index.left.to_numpy(np.float64), index.right.to_numpy(np.float64)
