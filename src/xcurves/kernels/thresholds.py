"""Times at which curves reach a threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats

_AT_ONCE = 2**21  # levels of all curves of a batch


def first_level(met: NDArray[np.bool_], grid: NDArray[np.bool_], levels: Floats, sustained: int) -> Floats:
    """Return the first level of `sustained` levels in a row that are met, infinity where there is none.

    `met` and `grid`, shape (curve, level), are true where a score meets the threshold, and at the levels of the task.
    """
    times = np.empty(len(met))
    rows = max(1, _AT_ONCE // met.shape[-1])
    for start in range(0, len(met), rows):
        part = slice(start, start + rows)
        place = np.cumsum(grid[part], axis=-1)
        unmet = np.where(grid[part] & ~met[part], place, met.shape[-1] + 1)
        unmet[:, -1] = np.minimum(unmet[:, -1], place[:, -1] + 1)  # after the last level none is met
        unmet = np.minimum.accumulate(unmet[:, ::-1], axis=-1)[:, ::-1]
        long = grid[part] & (unmet - place >= sustained)
        times[part] = np.where(long.any(axis=-1), levels[long.argmax(axis=-1)], np.inf)
    return times
