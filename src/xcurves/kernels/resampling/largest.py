"""The largest of many numbers, row by row: those behind a place of `numpy.partition`, sooner."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_LONG = 2**12  # numbers of a row, of fewer of which all are partitioned
_FEW = 1 / 8  # share of them that is asked for, beyond which all are partitioned
_STRIDE = 16  # one of so many is looked at first

Scalar = TypeVar("Scalar", np.float32, np.float64)


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
