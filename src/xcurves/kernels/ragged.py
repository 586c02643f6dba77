"""Curves with different training levels, in rows, and their scores at levels of a grid or at shares of a budget."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats

_ROUNDING = 1e-12
METHODS = ("previous", "linear", "nearest", "mean")


class Rows(NamedTuple):
    """Scores of ragged curves, in the order of curves and then of levels, one row for a curve and level, no NaN."""

    curve: NDArray[np.int64]
    level: Floats
    score: Floats


def rows_of(scores: Floats, levels: Floats) -> Rows:
    """Return the rows of curves, `scores` of shape (curve, level), NaN for gaps; `levels` alike, or (level,)."""
    curve, index = np.nonzero(~np.isnan(scores))
    of_curves = np.broadcast_to(levels, scores.shape)
    return Rows(curve, of_curves[curve, index], scores[curve, index])


def own_levels(rows: Rows, n_curves: int) -> tuple[Floats, Floats]:
    """Return scores and levels of curves, both of shape (curve, evaluation), NaN after the last of each curve."""
    counts = np.bincount(rows.curve, minlength=n_curves)
    # number of the row less that of the first row of its curve
    first = counts.cumsum() - counts
    place = np.arange(len(rows.curve)) - first[rows.curve]
    # one evaluation, of NaN, if no curve has any
    width = max(int(counts.max(initial=0)), 1)
    scores, levels = np.full((2, n_curves, width), np.nan)
    scores[rows.curve, place] = rows.score
    levels[rows.curve, place] = rows.level
    return scores, levels


def ranges(rows: Rows) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the curves that have rows, and the first and the last level of each."""
    starts = np.flatnonzero(np.diff(rows.curve, prepend=-1))
    ends = np.append(starts[1:], len(rows.curve)) - 1
    return rows.curve[starts], rows.level[starts], rows.level[ends]


def at_levels(rows: Rows, n_curves: int, grid: Floats, method: str | None, tolerance: float | None) -> Floats:
    """Return scores of shape (curve, level) at the levels of a grid, NaN where a curve has none."""
    if method is None:
        # what lies on the grid, and nothing else; levels beyond its end are compared with the last of it
        place = np.minimum(np.searchsorted(grid, rows.level), len(grid) - 1)
        hit = grid[place] == rows.level
        scores = np.full((n_curves, len(grid)), np.nan)
        scores[rows.curve[hit], place[hit]] = rows.score[hit]
        return scores
    if not len(rows.level):
        return np.full((n_curves, len(grid)), np.nan)
    if method == "mean":
        return _means(rows, n_curves, grid, tolerance or 0.0)
    # Distances to the rows on both sides decide everything else.
    before, after, behind, ahead = _neighbours(rows, n_curves, grid)
    # without tolerance any distance will do but that to no row, which is infinite
    within = float(np.finfo(np.float64).max)
    if tolerance is not None:
        within = tolerance
    if method == "nearest":
        known = np.minimum(behind, ahead) <= within
        nearest = np.where(ahead < behind, after, before)
        return np.where(known, rows.score[nearest], np.nan)
    inside = np.isfinite(behind + ahead)  # not past an end of the curve
    if method == "previous":
        return np.where(inside & (behind <= within), rows.score[before], np.nan)
    # linear between both rows
    low = rows.score[before]
    high = rows.score[after]
    with np.errstate(invalid="ignore"):
        share = np.where(behind > 0, behind / (behind + ahead), 0.0)
        # as it is at a level of its own: 0 · inf is NaN
        made = np.where(share > 0, low + share * (high - low), low)
    # Where a neighbour is infinite so is what is between: -inf if either is, a run that failed.
    worst = np.where((low == -np.inf) | (high == -np.inf), -np.inf, np.inf)
    made = np.where(np.isnan(made), worst, made)
    return np.where(inside & (np.maximum(behind, ahead) <= within), made, np.nan)


def _bins(rows: Rows, n_curves: int, grid: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each row's bin, flat over curves, and how many rows are in each: above grid[b - 1] up to grid[b]."""
    # one more bin than levels: what is above the last of them
    flat = rows.curve * (len(grid) + 1) + np.searchsorted(grid, rows.level)
    counts = np.bincount(flat, minlength=n_curves * (len(grid) + 1))
    return flat, counts.reshape(n_curves, len(grid) + 1)


def _neighbours(rows: Rows, n_curves: int, grid: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
    """Return the nearest rows on both sides of each level, (curve, level), and their distances, inf where none is."""
    _, counts = _bins(rows, n_curves, grid)
    # Rows are in the order of curves and levels: those of curves before and those up to a level say which is next.
    totals = counts.sum(axis=1, keepdims=True)
    up_to = counts.cumsum(axis=1)[:, :-1]
    first = totals.cumsum(axis=0) - totals
    before = np.maximum(first + up_to - 1, 0)
    behind = np.where(up_to > 0, grid - rows.level[before], np.inf)
    # at a level of the curve that row is on both sides
    after = np.where(behind == 0, before, np.minimum(first + up_to, len(rows.level) - 1))
    ahead = np.where((up_to < totals) | (behind == 0), rows.level[after] - grid, np.inf)
    return before, after, behind, ahead


def _means(rows: Rows, n_curves: int, grid: Floats, tolerance: float) -> Floats:
    """Return the mean of each bin that has scores and whose end the curve reaches."""
    flat, counts = _bins(rows, n_curves, grid)
    sums = np.bincount(flat, rows.score, minlength=counts.size).reshape(counts.shape)
    ends = np.full((n_curves, 1), -np.inf)
    ends[rows.curve, 0] = rows.level  # the last one written is the highest
    reached = (counts[:, :-1] > 0) & (grid <= ends + tolerance)
    # NaN where scores of a bin are -inf and inf: a run that failed
    means = sums[:, :-1] / np.maximum(counts[:, :-1], 1)
    known = np.where(np.isnan(means), -np.inf, means)
    return np.where(reached, known, np.nan)


def at_fractions(curves: Floats, levels: Floats, fractions: Floats) -> Floats:
    """Interpolate curves, (task, curve, level), at fractions of the last of their levels; NaN below the first."""
    out = np.full((*curves.shape[:2], len(fractions)), np.nan)
    # tasks with the same levels are read together
    kinds, kind = np.unique(levels, axis=0, return_inverse=True)
    for number, of_kind in enumerate(kinds):
        tasks = kind.ravel() == number
        fractions_of_last = fractions * of_kind[-1]
        # A fraction that rounding moved off a level, as 0.1 · 30 is not 3, is at the level.
        distance = np.abs(fractions_of_last[:, np.newaxis] - of_kind)
        nearest = of_kind[distance.argmin(axis=1)]
        rounding = _ROUNDING * np.abs(of_kind).max()
        is_level = np.abs(fractions_of_last - nearest) <= rounding
        wanted = np.where(is_level, nearest, fractions_of_last)

        flat = curves[tasks].reshape(-1, len(of_kind))
        read = at_levels(rows_of(flat, of_kind), len(flat), wanted, "linear", None)
        out[tasks] = read.reshape(-1, *out.shape[1:])
    return out
