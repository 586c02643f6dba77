"""A training grid on which ragged curves all have a score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.ragged import Rows, at_levels

MOST = 20  # levels of a grid
_BINS = 10  # least number of bins for means
_COVERED = 0.9  # least share of the common range that round levels must cover
_STEPS = (1.0, 2.0, 2.5, 5.0)  # times a power of ten


class CommonGrid(NamedTuple):
    """Evenly spaced levels from `start` to `stop`, and the method by which curves get a score there."""

    start: float
    stop: float
    n: int
    method: str

    @property
    def levels(self) -> Floats:
        """The levels."""
        return np.linspace(self.start, self.stop, self.n)


def find_common_grid(rows: Rows, n_curves: int) -> CommonGrid | None:
    """Return a grid within the range of all curves with a row, with about as many levels; None if there is none.

    With means of bins if each curve has two scores in each bin, otherwise with linear interpolation.
    """
    present, first, last = ranges(rows)
    low, high = first.max(), last.min()
    if not low < high:
        return None
    inside = (rows.level >= low) & (rows.level <= high)
    n_least = int(np.bincount(rows.curve[inside], minlength=n_curves)[present].min())
    wanted = min(max(n_least, 2), MOST)
    means = [grid for grid in (_round(low, high, n, "mean") for n in (MOST, _BINS)) if grid and grid.n >= _BINS]
    tries = [*means, _round(low, high, wanted, "linear"), CommonGrid(float(low), float(high), wanted, "linear")]
    return next((each for each in tries if each is not None and _fits(rows, present, n_curves, each)), None)


def ranges(rows: Rows) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the curves that have rows, and the first and the last level of each."""
    starts = np.flatnonzero(np.diff(rows.curve, prepend=-1))
    ends = np.append(starts[1:], len(rows.curve)) - 1
    return rows.curve[starts], rows.level[starts], rows.level[ends]


def _round(low: float, high: float, n: int, method: str) -> CommonGrid | None:
    """Return round levels within a range, at most `n` and as many as possible."""
    power = 10.0 ** np.floor(np.log10((high - low) / n))
    for step in (factor * power * scale for scale in (0.1, 1.0, 10.0) for factor in _STEPS):
        places = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
        # The first bin of means has all scores up to its level, which lies within the range.
        places = (places[0] + (method == "mean" and places[0] * step <= low), places[1])
        count = int(places[1] - places[0]) + 1
        if count <= n:
            start, stop = (float(f"{place * step:.12g}") for place in places)
            wide = stop - start >= _COVERED * (high - low)
            return CommonGrid(start, stop, count, method) if count > 1 and (wide or method == "mean") else None
    return None


def _fits(rows: Rows, present: NDArray[np.int64], n_curves: int, grid: CommonGrid) -> bool:
    """Return whether every curve has a score at every level, and for means at least two scores in every bin."""
    if np.isnan(at_levels(rows, n_curves, grid.levels, grid.method, None)[present]).any():
        return False
    if grid.method != "mean":
        return True
    bins = rows.curve * (grid.n + 1) + np.searchsorted(grid.levels, rows.level)
    counts = np.bincount(bins, minlength=n_curves * (grid.n + 1)).reshape(n_curves, -1)
    return bool((counts[present, :-1] >= 2).all())
