"""Long lines with no more levels than a picture has columns of pixels; what is to be seen stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.pictures.curves import Line


def extremes(levels: Floats, values: Floats, n_columns: int, scale: str = "linear") -> NDArray[np.int64]:
    """Return the indices to draw of a long curve: the lowest and the highest value of each column of pixels.

    `levels` are sorted; columns are equally wide on an axis of this scale.
    """
    n = len(levels)
    if n <= 2 * n_columns:
        return np.arange(n)
    column = _columns(levels, n_columns, scale)

    # Sorted by column, then by value, the first of a column is its lowest and the last its highest.
    order = np.lexsort((values, column))
    ends = np.flatnonzero(np.diff(column[order]))
    lowest = order[np.concatenate([[0], ends + 1])]
    highest = order[np.concatenate([ends, [n - 1]])]
    return np.unique(np.concatenate([[0], lowest, highest, [n - 1]]))


def _columns(levels: Floats, n_columns: int, scale: str) -> NDArray[np.int64]:
    """Return the column of pixels of each level; on a log axis, levels up to 0 are in the first."""
    at = levels
    if scale != "linear" and levels[-1] > 0:
        at = np.log(np.maximum(levels, levels[levels > 0][0]))
    width = at[-1] - at[0]
    if width == 0:
        return np.zeros(len(levels), np.int64)
    column: NDArray[np.int64] = np.floor((at - at[0]) / width * n_columns).astype(np.int64)
    return np.minimum(column, n_columns - 1)


def thinned(line: Line, n_columns: int, *scales: str) -> Line:
    """Return a line with the levels to draw in so many columns of pixels, on axes of each of these scales."""
    kept = _kept(line.x, line.y, n_columns, scales)
    runs = []
    for levels, scores in line.runs:
        own = _kept(levels, scores, n_columns, scales)
        runs.append((levels[own], scores[own]))
    low, high = line.low, line.high
    if low.size:
        low, high = low[kept], high[kept]
    return replace(line, runs=runs, x=line.x[kept], y=line.y[kept], low=low, high=high)


def thinned_bands(line: Line, n_columns: int, *scales: str) -> list[tuple[Floats, Floats, Floats]]:
    """Return the levels, the lower and the upper ends of each stretch of a band, for so many columns of pixels.

    A column has the lowest lower end and the highest upper end, at its first level; the last one at its last.
    """
    drawn = [(line.x[part], line.low[part], line.high[part]) for part in line.stretches]
    return [_thinned_stretch(*part, n_columns, scales) for part in drawn]


def _thinned_stretch(
    levels: Floats, low: Floats, high: Floats, n_columns: int, scales: Sequence[str]
) -> tuple[Floats, Floats, Floats]:
    if len(levels) <= 2 * n_columns:
        return levels, low, high
    starts = {0}
    for scale in scales or ["linear"]:
        column = _columns(levels, n_columns, scale)
        starts |= set((np.flatnonzero(np.diff(column)) + 1).tolist())
    first = np.array(sorted(starts))
    at = levels[first]
    at[-1] = levels[-1]
    return at, np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)


def _kept(levels: Floats, values: Floats, n_columns: int, scales: Sequence[str]) -> NDArray[np.int64]:
    found = [extremes(levels, values, n_columns, scale) for scale in scales or ["linear"]]
    return np.unique(np.concatenate(found))
