"""Moments of level-centred curves: the sufficient statistics of the randomized ANOVA, in one pass over the curves.

Packed moments of stretches of training merge exactly (Chan, Golub & LeVeque, doi:10.1080/00031305.1983.10483115).
Where levels are fewer than curves a factor replaces co-moments: no array grows with the square of the curves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.kernels.resampling.batches import stretches

_CACHE = 2**18  # doubles that fit comfortably into a core's cache: 2 MiB
# Levels in a block at least, so that very many curves do not make blocks of a few levels each.
_FEWEST_LEVELS = 64


class Moments(NamedTuple):
    """Sufficient statistics of tasks with ``N`` curves each."""

    n_levels: Floats  # (...): levels at which any curve has a value
    level_mean: Floats  # (...): of the pool's mean curve
    level_ss: Floats  # its sum of squared deviations
    # (..., N): values of a curve; infinite if one is, see `count_levels`
    counts: Floats
    means: Floats  # (..., N), of level-centred curves
    comoment: Floats  # (..., N, N), products of centred curves; or a factor (..., N, r)


def pack(moments: Moments) -> Floats:
    """Put moments into one array, shape (..., 3 + 2 N + N²) or, with a factor, (..., 3 + 2 N + N r)."""
    lead = moments.n_levels.shape
    return np.concatenate([part.reshape(*lead, -1) for part in moments], axis=-1)


def unpack_moments(packed: Floats, n_curves: int) -> Moments:
    """Unpack what `pack` returned."""
    # All parts are views of `packed`: `_measure_block` writes through them.
    level_numbers = packed[..., 0], packed[..., 1], packed[..., 2]
    counts = packed[..., 3 : 3 + n_curves]
    means = packed[..., 3 + n_curves : 3 + 2 * n_curves]
    flat = packed[..., 3 + 2 * n_curves :]
    # the second axis tells co-moments (N) from a factor of them (r)
    comoment = flat.reshape(*flat.shape[:-1], n_curves, flat.shape[-1] // n_curves)
    return Moments(*level_numbers, counts, means, comoment)


def is_factor(comoment: Floats) -> bool:
    """Return whether a factor of the co-moments is given, shape (..., N, r), rather than these."""
    # No flag is needed: a factor is only made where it has fewer columns than curves.
    return bool(comoment.shape[-1] < comoment.shape[-2])


def factor_of(comoment: Floats, rank: int) -> Floats:
    """Return a factor of co-moments of a known rank, shape (..., N, rank), so that sums of squares do not cancel."""
    # C = V Λ Vᵀ = F Fᵀ with F = V √Λ. Beyond the rank eigenvalues are 0 but for rounding, which may be negative: only
    # the largest are taken, eigh has them in ascending order.
    values, vectors = np.linalg.eigh(comoment)
    first = values.shape[-1] - rank
    largest = np.maximum(values[..., np.newaxis, first:], 0.0)
    return np.asarray(vectors[..., first:] * np.sqrt(largest))


def trace(comoment: Floats) -> Floats:
    """Return the trace of co-moments, given as they are or by a factor."""
    if is_factor(comoment):
        # tr F Fᵀ is the sum of the squares of all entries
        return np.asarray(np.einsum("...nr,...nr->...", comoment, comoment))
    return np.asarray(np.trace(comoment, axis1=-2, axis2=-1))


def of_curves(moments: Moments, curves: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
    """Return means, co-moments and magnitude (the mean curve's sum of squares, for each curve) of present curves."""
    # of huge scores that are all alike; others are refused
    with np.errstate(over="ignore"):
        pool_ss = moments.n_levels * moments.level_mean**2 + moments.level_ss
    comoment = moments.comoment.take(curves, axis=1)
    if not is_factor(moments.comoment):
        comoment = comoment.take(curves, axis=2)
    elif not is_factor(comoment):
        # So many curves are absent that those left are no more than the columns of the factor.
        comoment = comoment @ comoment.swapaxes(-1, -2)
    return moments.means.take(curves, axis=1), comoment, len(curves) * pool_ss


def count_levels(curves: Floats) -> Floats:
    """Return how many levels each curve has; -inf or inf where it has such a score, NaN where it has both.

    Counts of stretches of training add up to that of the whole.
    """
    counts: Floats = np.count_nonzero(~np.isnan(curves), axis=-1).astype(np.float64)
    # inf + -inf is NaN, and stays so in sums over stretches
    with np.errstate(invalid="ignore"):
        counts += np.where(np.isneginf(curves).any(axis=-1), -np.inf, 0.0)
        counts += np.where(np.isposinf(curves).any(axis=-1), np.inf, 0.0)
    return counts


def packed_size(n_curves: int, rank: int | None = None) -> int:
    """Return the length of the packed moments of `n_curves` curves; `rank` is that of a factor, if there is one."""
    n_columns = n_curves if rank is None else rank
    return 3 + 2 * n_curves + n_curves * n_columns


def measure_moments(curves: Floats, *, factored: bool = False) -> Moments:
    """Return the moments of curves, shape (task, curve, training), made in blocks that fit the cache."""
    n_tasks, n_curves, n_levels = curves.shape
    rank = n_levels - 1 if factored else None  # `_without_sum` leaves one column out
    packed = np.empty((n_tasks, packed_size(n_curves, rank)))

    # Short curves: many tasks in a block. Long ones: one task in stretches of training, which are merged. Factors do
    # not add up: they are made of all levels at once.
    n_together = max(1, _CACHE // (n_curves * n_levels))
    width = n_levels if factored else max(_FEWEST_LEVELS, _CACHE // n_curves)
    # the caller refuses infinite and huge scores
    with np.errstate(over="ignore", invalid="ignore"):
        for some in stretches(n_tasks, n_together):
            parts = [_measure_block(curves[some, :, levels], factored) for levels in stretches(n_levels, width)]
            packed[some] = parts[0]
            if len(parts) > 1:
                packed[some] = merge_moments(np.stack(parts, axis=-2), n_curves)
    return unpack_moments(packed, n_curves)


def merge_moments(packed: Floats, n_curves: int) -> Floats:
    """Merge packed moments of disjoint stretches of training, shape (..., stretch, P) to (..., P)."""
    # Chan, Golub & LeVeque: with n_p levels in stretch p, m̄ = Σ n_p m_p / n, and co-moments about m̄ are those within
    # stretches plus Σ n_p (m_p - m̄)(m_p - m̄)ᵀ: deviations are squared, never sums subtracted.
    part = unpack_moments(packed, n_curves)
    n_levels = part.n_levels.sum(axis=-1)
    # a stretch without levels has weight 0, and so have all where there are none
    weight = part.n_levels / np.maximum(n_levels, 1)[..., np.newaxis]

    # of the pool's mean curve
    level_mean = (weight * part.level_mean).sum(axis=-1)
    shift = part.level_mean - level_mean[..., np.newaxis]
    level_ss = (part.level_ss + part.n_levels * shift**2).sum(axis=-1)
    with np.errstate(invalid="ignore"):  # of both infinities in one curve
        counts = part.counts.sum(axis=-2)

    # of the curves
    means = (weight[..., np.newaxis] * part.means).sum(axis=-2)
    moved = part.means - means[..., np.newaxis, :]
    between = (moved * part.n_levels[..., np.newaxis]).swapaxes(-1, -2) @ moved
    comoment = part.comoment.sum(axis=-3) + between
    return pack(Moments(n_levels, level_mean, level_ss, counts, means, comoment))


def _measure_block(curves: Floats, factored: bool) -> Floats:
    """Reduce curves, those with absent ones (NaN along training), or levels that no curve has, pattern by pattern."""
    # Without gaps first, as most tasks have none; a NaN or an infinite score shows in the mean over the levels.
    packed = _measure_whole(curves, factored)
    gaps = np.flatnonzero(~np.isfinite(packed[:, 1]))
    if gaps.size == 0:
        return packed

    # Absent curves and levels count as 0 in sums.
    packed[gaps] = 0.0
    moments = unpack_moments(packed, curves.shape[1])  # views
    moments.counts[gaps] = count_levels(curves[gaps])

    # Tasks with the same curves and levels are reduced together, as curves without gaps.
    has_value = ~np.isnan(curves[gaps])
    patterns, pattern_of_gap = np.unique(
        np.hstack([has_value.any(axis=2), has_value.any(axis=1)]),
        axis=0,
        return_inverse=True,
    )
    for number, pattern in enumerate(patterns):
        tasks = gaps[pattern_of_gap.ravel() == number]
        present, levels = np.split(pattern, [curves.shape[1]])
        if not levels.any():
            continue
        part = _measure_whole(curves[np.ix_(tasks, present, levels)], factored)
        reduced = unpack_moments(part, int(present.sum()))
        packed[tasks, :3] = part[:, :3]
        moments.means[np.ix_(tasks, present)] = reduced.means
        # a factor has fewer columns of fewer levels, co-moments a column for each curve
        columns = np.arange(reduced.comoment.shape[2]) if factored else present
        moments.comoment[np.ix_(tasks, present, columns)] = reduced.comoment
    return packed


def _measure_whole(curves: Floats, factored: bool) -> Floats:
    """Reduce curves without gaps."""
    n_levels = curves.shape[-1]
    # Differences from one curve are exact where curves are close (Sterbenz): equal curves give exact zeros,
    # and an offset of 1e9 loses no precision.
    apart = np.subtract(curves, curves[:, :1], order="C")
    means = apart.mean(axis=-1)

    # the pool's mean curve, back on the scale of the scores
    pool = curves[:, 0] + apart.mean(axis=1)
    level_mean = pool.mean(axis=-1)
    level_ss = ((pool - level_mean[:, np.newaxis]) ** 2).sum(axis=-1)

    # Curves less their means, then levels less those of the pool: in a factor the numbers themselves (those of a curve
    # still add up to 0), in co-moments their rows and columns, which is the same and less work for long curves.
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
    # A reflection keeps products of rows. The one that takes e = (1, ..., 1) / √k to the first axis is x - 2 v (v·x) /
    # |v|², v = e - (1, 0, ..., 0). Rows add up to 0: e·x = 0 and v·x = -x_1; |v|² = 2 - 2/√k. Of the other columns, in
    # which v is 1/√k, x_i + 2 x_1 / √k / (2 - 2/√k) = x_i + x_1 / (√k - 1) is left; the first becomes e·x = 0.
    k = rows.shape[-1]
    if k == 1:
        return rows[..., 1:]
    return np.asarray(rows[..., 1:] + rows[..., :1] / (np.sqrt(k) - 1))
