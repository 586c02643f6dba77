"""Curves with different training levels, in rows, and their scores at the levels of a grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

METHODS = ("previous", "linear", "nearest", "mean")


class Rows(NamedTuple):
    """Scores of ragged curves, in the order of curves and then of levels, one row for a curve and level, no NaN."""

    curve: NDArray[np.int64]
    level: NDArray[np.float64]
    score: NDArray[np.float64]


def rows_of(scores: NDArray[np.float64], levels: NDArray[np.float64]) -> Rows:
    """Return the rows of dense curves, `scores` of shape (curve, level) with NaN for gaps."""
    curve, level = np.nonzero(~np.isnan(scores))
    return Rows(curve, levels[level], scores[curve, level])


class Neighbours(NamedTuple):
    """For every curve and grid level, the nearest rows on both sides and their distances (inf: none)."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    behind: NDArray[np.float64]
    ahead: NDArray[np.float64]


def at_levels(
    rows: Rows, n_curves: int, grid: NDArray[np.float64], method: str | None, tolerance: float | None
) -> NDArray[np.float64]:
    """Return scores of shape (curve, level) at the levels of a grid, NaN where a curve has none."""
    if method is None:
        return _exact(rows, n_curves, grid)
    if not len(rows.level):
        return np.full((n_curves, len(grid)), np.nan)
    if method == "mean":
        return _means(rows, n_curves, grid, tolerance or 0.0)
    near = _neighbours(rows, n_curves, grid)
    within = np.finfo(np.float64).max if tolerance is None else tolerance
    if method == "nearest":
        known = np.minimum(near.behind, near.ahead) <= within
        return np.where(known, rows.score[np.where(near.ahead < near.behind, near.after, near.before)], np.nan)
    inside = np.isfinite(near.behind + near.ahead)  # not past an end of the curve
    if method == "previous":
        return np.where(inside & (near.behind <= within), rows.score[near.before], np.nan)
    known = inside & (np.maximum(near.behind, near.ahead) <= within)
    return np.where(known, _between(rows.score, near), np.nan)


def _exact(rows: Rows, n_curves: int, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    place = np.minimum(np.searchsorted(grid, rows.level), len(grid) - 1)
    hit = grid[place] == rows.level
    scores = np.full((n_curves, len(grid)), np.nan)
    scores[rows.curve[hit], place[hit]] = rows.score[hit]
    return scores


def _bins(rows: Rows, n_curves: int, grid: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each row's bin, flat over curves, and the number of rows in every bin, shape (curve, level + 1).

    Bin b holds levels from above grid[b - 1] up to and including grid[b]; the last holds those past the grid.
    """
    flat = rows.curve * (len(grid) + 1) + np.searchsorted(grid, rows.level)
    counts = np.bincount(flat, minlength=n_curves * (len(grid) + 1))
    return flat, counts.reshape(n_curves, len(grid) + 1)


def _neighbours(rows: Rows, n_curves: int, grid: NDArray[np.float64]) -> Neighbours:
    _, counts = _bins(rows, n_curves, grid)
    totals = counts.sum(axis=1, keepdims=True)
    up_to = counts.cumsum(axis=1)[:, :-1]
    first = totals.cumsum(axis=0) - totals
    before = np.maximum(first + up_to - 1, 0)
    behind = np.where(up_to > 0, grid - rows.level[before], np.inf)
    after = np.where(behind == 0, before, np.minimum(first + up_to, len(rows.level) - 1))
    ahead = np.where((up_to < totals) | (behind == 0), rows.level[after] - grid, np.inf)
    return Neighbours(before, after, behind, ahead)


def _between(scores: NDArray[np.float64], near: Neighbours) -> NDArray[np.float64]:
    """Interpolate between neighbours; infinite where one is, so that a later check finds it."""
    low, high = scores[near.before], scores[near.after]
    with np.errstate(invalid="ignore"):
        share = np.where(near.behind > 0, near.behind / (near.behind + near.ahead), 0.0)
        made = np.where(share > 0, low + share * (high - low), low)
    return np.where(np.isnan(made), np.inf, made)


def _means(rows: Rows, n_curves: int, grid: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """Return the mean of each bin that has scores and whose end the curve reaches."""
    flat, counts = _bins(rows, n_curves, grid)
    sums = np.bincount(flat, rows.score, minlength=counts.size).reshape(counts.shape)
    ends = np.full((n_curves, 1), -np.inf)
    ends[rows.curve, 0] = rows.level  # the last one written is the highest
    reached = (counts[:, :-1] > 0) & (grid <= ends + tolerance)
    means = sums[:, :-1] / np.maximum(counts[:, :-1], 1)
    return np.where(reached, np.where(np.isnan(means), np.inf, means), np.nan)
