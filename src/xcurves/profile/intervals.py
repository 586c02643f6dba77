"""Intervals of training, given as edges or as a pandas IntervalIndex."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import labels, validation

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
        levels = levels[..., np.newaxis, :]
        return np.asarray(
            (self.start[:, np.newaxis] <= levels) & (levels < self.stop[:, np.newaxis])
        )

    def coords(self) -> dict[Hashable, Any]:
        """Return the coordinates of the dim `interval`."""
        return {
            "interval": np.arange(len(self.left)),
            "interval_left": ("interval", self.left),
            "interval_right": ("interval", self.right),
        }


def check_intervals(
    intervals: Intervals | None, training: NDArray[np.float64]
) -> Stretches:
    """Return the intervals that edges or an IntervalIndex define; none for None."""
    if intervals is None or isinstance(intervals, pd.IntervalIndex):
        index = pd.IntervalIndex([]) if intervals is None else intervals
        (left, right), closed = _check_index(index), str(index.closed)
    else:
        edges = _check_edges(intervals)
        left, right, closed = edges[:-1], edges[1:], "left"
    start = training.searchsorted(
        left, "left" if closed in ("left", "both") else "right"
    )
    stop = training.searchsorted(
        right, "right" if closed in ("right", "both") else "left"
    )
    if not isinstance(intervals, pd.IntervalIndex):
        stop[-1:] = training.searchsorted(right[-1:], "right")
    return Stretches(left, right, start, stop)


def _check_edges(edges: Any) -> NDArray[np.float64]:
    values = validation.numbers_of(edges)
    if values is None:
        raise TypeError(
            f"intervals must be edges or a pandas.IntervalIndex; got {labels.shown(edges)}. {_CURE}"
        )
    if values.ndim != 1 or values.size < 2:
        raise ValueError(
            f"intervals must have at least two edges; got {labels.shown(edges)}. {_CURE}"
        )
    if np.isnan(values).any():
        raise ValueError(
            f"intervals must have edges that are numbers; got {values.tolist()}. {_CURE}"
        )
    falls = np.flatnonzero(np.diff(values) <= 0)
    if falls.size:
        place = falls[0]
        raise ValueError(
            f"intervals must have increasing edges; got {values[place + 1]:g} after {values[place]:g}. Sort them"
        )
    return values


def _check_index(
    index: pd.IntervalIndex,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if len(index) and index.left.dtype.kind not in "iuf":
        raise TypeError(f"intervals must be of numbers; got {index.dtype}. {_CURE}")
    if index.hasnans:
        raise ValueError(
            "intervals must not be missing; got NaN. Drop it: intervals.dropna()"
        )
    got = f"got {', '.join(map(str, index))}"
    if index.is_overlapping:
        raise ValueError(
            f"intervals must not overlap; {got}. Give intervals that do not"
        )
    if not index.is_monotonic_increasing:
        raise ValueError(
            f"intervals must be increasing; {got}. Sort: intervals.sort_values()"
        )
    return index.left.to_numpy(np.float64), index.right.to_numpy(np.float64)
