"""Bisection of many brackets at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xcurves.array_types import Bools, Floats


def halve(
    kept: Callable[[Floats], Bools],
    inside: Floats,
    outside: Floats | float,
    times: int = 60,
) -> tuple[Floats, Floats]:
    """Halve brackets between values that are kept and values that are not, and return both ends."""
    # 60 halvings leave 2^-60 of the width, about 1e-18: less than doubles tell apart, unless the end is close to 0.
    for _ in range(times):
        middle = (inside + outside) / 2
        keeps = kept(middle)
        inside = np.where(keeps, middle, inside)
        outside = np.where(keeps, outside, middle)
    return inside, np.asarray(outside)
