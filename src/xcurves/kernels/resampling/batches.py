"""Batches: how many rows of numbers are held at once, and how a range is cut into such stretches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xcurves.array_types import Floats

# Bytes of the numbers that a kernel holds at once, beside the data and the result.
MEMORY = 2**25
# Bytes that fit into a core's cache: numbers that several steps read one after the other are cut into such parts.
CACHE = 2**20


def rows_that_fit(bytes_each: int, within: int | None = None) -> int:
    """Return how many rows of so many bytes are held at once: the one budget of memory of all kernels."""
    # `MEMORY` is looked up at each call, not bound as a default, so that tests can lower it. One row always fits:
    # a kernel can do no less than one.
    return max(1, (within or MEMORY) // max(1, bytes_each))


def stretches(n: int, width: int) -> list[slice]:
    """Return slices of at most `width` that make up a range of `n`."""
    return [slice(start, min(start + width, n)) for start in range(0, n, width)]


def in_stretches(evaluate: Callable[[slice], dict[str, Floats]], n: int, width: int) -> dict[str, Floats]:
    """Return the arrays of a function of stretches of the first axis, one after the other."""
    first, *others = stretches(n, width)
    of_first = evaluate(first)
    if not others:
        return of_first

    # Filled in stretch by stretch: joined at the end, all arrays would be there twice.
    whole = {name: np.empty((n, *values.shape[1:]), values.dtype) for name, values in of_first.items()}
    for name, values in of_first.items():
        whole[name][first] = values
    for stretch in others:
        for name, values in evaluate(stretch).items():
            whole[name][stretch] = values
    return whole
