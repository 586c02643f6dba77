"""Between which places an algorithm is, by which pairs are shown to differ; and mean ranks."""

from __future__ import annotations

import numpy as np

from xcurves.array_types import Bools, Floats, Index

_LEVEL_TIE = 1e-12  # of a p-value and the level, which both are rounded
_SAME = 1e-14  # relative, of means that tie


def places(pairs: Index, difference: Floats, pvalue_adjusted: Floats, has: Bools, alpha: float) -> Floats:
    """Return the first and the last place of every algorithm, 1 the best, shape (algorithm, 2).

    Behind all that are shown to be better, before all that are shown to be worse, of those that `has` scores. NaN
    where algorithms form a circle, in which each is shown to be better than another.
    """
    n_algorithms = len(has)
    shown = pvalue_adjusted <= alpha + _LEVEL_TIE
    better = np.where(difference > 0, pairs[:, 0], pairs[:, 1])[shown]
    worse = np.where(difference > 0, pairs[:, 1], pairs[:, 0])[shown]
    is_better = np.zeros((n_algorithms, n_algorithms), bool)
    is_better[better, worse] = True
    first = 1.0 + is_better.sum(axis=0)
    last = np.count_nonzero(has) - is_better.sum(axis=1)
    found = np.stack([first, last], axis=-1)

    # who is better than whom by any number of steps: each product doubles the number
    reaches = is_better.astype(np.float32)
    for _ in range(n_algorithms.bit_length()):
        reaches = np.minimum(reaches + reaches @ reaches, 1.0)
    found[(np.diagonal(reaches) > 0) | ~has] = np.nan
    return found


def ranks(means: Floats, sign: int) -> Floats:
    """Return the ranks of algorithms in tasks, shape (task, algorithm), 1 the best; equal ones share theirs."""
    # 1 is the largest sign × mean; neighbours in order tie, and so do theirs
    upward = -sign * means
    order = np.argsort(upward, axis=-1, kind="stable")
    ordered = np.take_along_axis(upward, order, axis=-1)
    begins = np.ones(ordered.shape, bool)
    higher, lower = ordered[:, :-1], ordered[:, 1:]
    size = np.maximum(np.abs(higher), np.abs(lower))
    size[np.isinf(size)] = 0.0
    # of runs that failed all are equal
    with np.errstate(invalid="ignore"):
        is_tie = (lower == higher) | (lower - higher <= _SAME * size)
    begins[:, 1:] = ~is_tie
    place = np.broadcast_to(np.arange(ordered.shape[-1]), ordered.shape)
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=-1)
    ends = np.roll(begins, -1, axis=-1)
    ends[:, -1] = True
    behind = np.where(ends, place, place.shape[-1])[:, ::-1]
    last = np.minimum.accumulate(behind, axis=-1)[:, ::-1]
    out = np.empty(ordered.shape)
    np.put_along_axis(out, order, (first + last) / 2 + 1, axis=-1)
    return out
