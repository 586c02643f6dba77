"""Moments of level-centred curves: the sufficient statistics of the randomized ANOVA, in one pass over the curves.

Packed moments of stretches of training merge exactly (Chan, Golub & LeVeque, doi:10.1080/00031305.1983.10483115).
Where levels are fewer than curves a factor replaces co-moments: no array grows with the square of the curves.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats

_CACHE = 2**18  # doubles that fit comfortably into a core's cache


class Moments(NamedTuple):
    """Sufficient statistics of tasks with ``N`` curves each."""

    n_levels: Floats  # (...): levels at which any curve has a value
    level_mean: Floats  # (...): of the pool's mean curve
    level_ss: Floats  # its sum of squared deviations
    counts: (
        Floats  # (..., N): values of a curve; infinite if one is, see `count_levels`
    )
    means: Floats  # (..., N), of level-centred curves
    comoment: Floats  # (..., N, N), products of centred curves; or a factor (..., N, r)


def pack(moments: Moments) -> Floats:
    """Put moments into one array, shape (..., 3 + 2 N + N²) or, with a factor, (..., 3 + 2 N + N r)."""
    lead = moments.n_levels.shape
    return np.concatenate([part.reshape(*lead, -1) for part in moments], axis=-1)


def unpack_moments(packed: Floats, n_curves: int) -> Moments:
    """Unpack what `pack` returned."""
    counts, means, comoment = (
        packed[..., i:j] for i, j in pairwise((3, 3 + n_curves, 3 + 2 * n_curves, None))
    )
    by_curve = comoment.reshape(
        *comoment.shape[:-1], n_curves, comoment.shape[-1] // n_curves
    )
    return Moments(
        packed[..., 0], packed[..., 1], packed[..., 2], counts, means, by_curve
    )


def is_factor(comoment: Floats) -> bool:
    """Return whether a factor of the co-moments is given, shape (..., N, r), rather than these."""
    return bool(comoment.shape[-1] < comoment.shape[-2])


def factor_of(comoment: Floats, rank: int) -> Floats:
    """Return a factor of co-moments of a known rank, shape (..., N, rank), so that sums of squares do not cancel."""
    values, vectors = np.linalg.eigh(comoment)  # in ascending order
    first = values.shape[-1] - rank
    return np.asarray(
        vectors[..., first:] * np.sqrt(np.maximum(values[..., np.newaxis, first:], 0.0))
    )


def trace(comoment: Floats) -> Floats:
    """Return the trace of co-moments, given as they are or by a factor."""
    if is_factor(comoment):
        return np.asarray(np.einsum("...nr,...nr->...", comoment, comoment))
    return np.asarray(np.trace(comoment, axis1=-2, axis2=-1))


def of_curves(
    moments: Moments, curves: NDArray[np.intp]
) -> tuple[Floats, Floats, Floats]:
    """Return means, co-moments and magnitude (the mean curve's sum of squares, for each curve) of present curves."""
    # of huge scores that are all alike; others are refused
    with np.errstate(over="ignore"):
        pool_ss = moments.n_levels * moments.level_mean**2 + moments.level_ss
    comoment = moments.comoment.take(curves, axis=1)
    if not is_factor(moments.comoment):
        comoment = comoment.take(curves, axis=2)
    elif not is_factor(comoment):  # so many curves are absent
        comoment = comoment @ comoment.swapaxes(-1, -2)
    return moments.means.take(curves, axis=1), comoment, len(curves) * pool_ss


def count_levels(curves: Floats) -> Floats:
    """Return how many levels each curve has; -inf or inf where it has such a score, NaN where it has both.

    Counts of stretches of training add up to that of the whole.
    """
    counts: Floats = np.count_nonzero(~np.isnan(curves), axis=-1).astype(np.float64)
    with np.errstate(invalid="ignore"):
        counts += np.where(np.isneginf(curves).any(axis=-1), -np.inf, 0.0)
        counts += np.where(np.isposinf(curves).any(axis=-1), np.inf, 0.0)
    return counts


def packed_size(n_curves: int, rank: int | None = None) -> int:
    """Return the length of the packed moments of `n_curves` curves; `rank` is that of a factor, if there is one."""
    return 3 + 2 * n_curves + n_curves * (n_curves if rank is None else rank)


def measure_moments(curves: Floats, *, factored: bool = False) -> Floats:
    """Reduce curves, (..., curve, training), to packed moments, in blocks that fit the cache."""
    *lead, n_curves, n_levels = curves.shape
    tasks = curves.reshape(-1, n_curves, n_levels)
    rank = n_levels - 1 if factored else None
    out = np.empty((len(tasks), packed_size(n_curves, rank)))
    n_tasks = max(1, _CACHE // (n_curves * n_levels))
    width = n_levels if factored else max(64, _CACHE // n_curves)
    # the caller refuses infinite and huge scores
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(tasks), n_tasks):
            some = tasks[start : start + n_tasks]
            parts = [
                _measure_block(some[..., h : h + width], factored)
                for h in range(0, n_levels, width)
            ]
            out[start : start + n_tasks] = (
                merge_moments(np.stack(parts, axis=-2), n_curves)
                if len(parts) > 1
                else parts[0]
            )
    return out.reshape(*lead, -1)


def merge_moments(packed: Floats, n_curves: int) -> Floats:
    """Merge packed moments of disjoint stretches of training, shape (..., stretch, P) to (..., P)."""
    part = unpack_moments(packed, n_curves)
    n_levels = part.n_levels.sum(axis=-1)
    weight = part.n_levels / np.maximum(n_levels, 1)[..., np.newaxis]
    level_mean = (weight * part.level_mean).sum(axis=-1)
    shift = part.level_mean - level_mean[..., np.newaxis]
    level_ss = (part.level_ss + part.n_levels * shift**2).sum(axis=-1)
    with np.errstate(invalid="ignore"):  # of both infinities in one curve
        counts = part.counts.sum(axis=-2)
    means = (weight[..., np.newaxis] * part.means).sum(axis=-2)
    moved = part.means - means[..., np.newaxis, :]
    between = (moved * part.n_levels[..., np.newaxis]).swapaxes(-1, -2) @ moved
    comoment = part.comoment.sum(axis=-3) + between
    return pack(Moments(n_levels, level_mean, level_ss, counts, means, comoment))


def _measure_block(curves: Floats, factored: bool) -> Floats:
    """Reduce curves, those with absent ones (NaN along training), or levels that no curve has, pattern by pattern."""
    packed = _measure_whole(curves, factored)
    gaps = np.flatnonzero(~np.isfinite(packed[:, 1]))
    if gaps.size == 0:
        return packed
    has = ~np.isnan(curves[gaps])
    packed[gaps] = 0.0
    every = unpack_moments(packed, curves.shape[1])  # views
    every.counts[gaps] = count_levels(curves[gaps])
    patterns, index = np.unique(
        np.hstack([has.any(axis=2), has.any(axis=1)]), axis=0, return_inverse=True
    )
    for number, pattern in enumerate(patterns):
        tasks, (present, levels) = (
            gaps[index.ravel() == number],
            np.split(pattern, [curves.shape[1]]),
        )
        if levels.any():
            part = _measure_whole(curves[np.ix_(tasks, present, levels)], factored)
            whole = unpack_moments(part, int(present.sum()))
            packed[tasks, :3], every.means[np.ix_(tasks, present)] = (
                part[:, :3],
                whole.means,
            )
            columns = np.arange(whole.comoment.shape[2]) if factored else present
            every.comoment[np.ix_(tasks, present, columns)] = whole.comoment
    return packed


def _measure_whole(curves: Floats, factored: bool) -> Floats:
    """Reduce curves without gaps."""
    n_levels = curves.shape[-1]
    # Differences from one curve are exact where curves are close (Sterbenz): equal curves give exact zeros,
    # and an offset of 1e9 loses no precision.
    apart = np.subtract(curves, curves[:, :1], order="C")
    means = apart.mean(axis=-1)
    pool = curves[:, 0] + apart.mean(axis=1)
    level_mean = pool.mean(axis=-1)
    level_ss = ((pool - level_mean[:, np.newaxis]) ** 2).sum(axis=-1)
    apart -= means[..., np.newaxis]
    if factored:
        comoment = _without_sum(apart - apart.mean(axis=1, keepdims=True))
    else:
        comoment = apart @ apart.swapaxes(-1, -2)
        comoment -= comoment.mean(axis=-2, keepdims=True)
        comoment -= comoment.mean(axis=-1, keepdims=True)
    counts = np.full(means.shape, float(n_levels))
    means -= means.mean(axis=-1, keepdims=True)
    return pack(Moments(counts[:, 0], level_mean, level_ss, counts, means, comoment))


def _without_sum(rows: Floats) -> Floats:
    """Reflect rows that add up to 0 so that ``(1, ..., 1) / √k`` is the first axis, and leave that column out."""
    k = rows.shape[-1]
    return (
        np.asarray(rows[..., 1:] + rows[..., :1] / (np.sqrt(k) - 1))
        if k > 1
        else rows[..., 1:]
    )
