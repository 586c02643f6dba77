"""Intervals of training, given as edges or as a pandas IntervalIndex."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, validation

Intervals = Sequence[float] | NDArray[np.float64] | pd.IntervalIndex
_CURE = "Try edges, [0, 1000, 5000], or pd.IntervalIndex.from_tuples([(0, 1000), (2000, 5000)])"


@dataclass(frozen=True)
class Stretches:
    """Intervals of training: their ends, and the indices of the first level in each and of the first one after it."""

    left: NDArray[np.float64]
    right: NDArray[np.float64]
    closed: str
    start: NDArray[np.intp]
    stop: NDArray[np.intp]

    def __len__(self) -> int:
        """Return the number of intervals."""
        return len(self.left)

    def hold(self, levels: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which intervals contain levels of given indices, shape (..., level), as (..., interval, level)."""
        levels = levels[..., np.newaxis, :]
        return np.asarray((self.start[:, np.newaxis] <= levels) & (levels < self.stop[:, np.newaxis]))

    def coords(self, training: xr.DataArray) -> dict[Hashable, Any]:
        """Return the coordinates of the dim `interval`."""
        units = str(training.attrs.get("units", "1"))
        ends = {"left": "the left end belongs to it", "right": "the right end belongs to it"}
        ends |= {"both": "both ends belong to it", "neither": "neither end belongs to it"}
        ends["edges"] = "the left end belongs to it, and the right one of the last"
        coords: dict[Hashable, Any] = {"interval": np.arange(len(self))}
        for side, values in (("left", self.left), ("right", self.right)):
            attrs = {"long_name": f"{side} end of the interval ({ends[self.closed]})", "units": units}
            coords[f"interval_{side}"] = ("interval", values, attrs)
        return coords

    def names(self) -> list[str]:
        """Return the names of intervals in messages."""
        opening = "[" if self.closed in ("edges", "left", "both") else "("
        closing = ["]" if self.closed in ("right", "both") else ")"] * len(self)
        if self.closed == "edges":
            closing[-1] = "]"
        ends = zip(self.left, self.right, closing, strict=True)
        return [f"interval {opening}{left:g}, {right:g}{end}" for left, right, end in ends]


def check_intervals(intervals: Intervals | None, training: NDArray[np.float64]) -> Stretches:
    """Return the intervals that edges or an IntervalIndex define; none for None."""
    if intervals is None:
        intervals = pd.IntervalIndex([])
    if isinstance(intervals, pd.IntervalIndex):
        left, right, closed = _check_index(intervals)
    else:
        edges = _check_edges(intervals)
        left, right, closed = edges[:-1], edges[1:], "edges"
    start = training.searchsorted(left, "left" if closed in ("left", "both", "edges") else "right")
    stop = training.searchsorted(right, "right" if closed in ("right", "both") else "left")
    if closed == "edges":
        stop[-1:] = training.searchsorted(right[-1:], "right")
    return Stretches(left, right, closed, start, stop)


def _check_edges(edges: Any) -> NDArray[np.float64]:
    values = validation.numbers_of(edges)
    if values is None:
        raise TypeError(f"intervals must be edges or a pandas.IntervalIndex; got {labels.shown(edges)}. {_CURE}")
    if values.ndim != 1 or values.size < 2:
        raise ValueError(f"intervals must have at least two edges; got {labels.shown(edges)}. {_CURE}")
    if np.isnan(values).any():
        raise ValueError(f"intervals must have edges that are numbers; got {values.tolist()}. {_CURE}")
    for place in np.flatnonzero(np.diff(values) <= 0)[:1]:
        raise ValueError(
            f"intervals must have increasing edges; got {values[place + 1]:g} after {values[place]:g}. Sort them"
        )
    return values


def _check_index(index: pd.IntervalIndex) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    if len(index) and index.left.dtype.kind not in "iuf":
        raise TypeError(f"intervals must be of numbers; got {index.dtype}. {_CURE}")
    if index.hasnans:
        raise ValueError("intervals must not be missing; got NaN. Drop it: intervals.dropna()")
    got = f"got {', '.join(map(str, index))}"
    if index.is_overlapping:
        raise ValueError(f"intervals must not overlap; {got}. Give intervals that do not")
    if not index.is_monotonic_increasing:
        raise ValueError(f"intervals must be increasing; {got}. Sort: intervals.sort_values()")
    return index.left.to_numpy(np.float64), index.right.to_numpy(np.float64), str(index.closed)
