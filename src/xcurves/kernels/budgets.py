"""Curves at fractions of their task's budget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats

_ROUNDING = 1e-12


def at_fractions(curves: Floats, grid: NDArray[np.bool_], levels: Floats, fractions: Floats) -> Floats:
    """Interpolate curves between the levels of their task's grid, at fractions of its last level.

    Parameters
    ----------
    curves : ndarray, shape (task, algorithm, run, level)
        NaN at levels outside the grid.
    grid : ndarray of bool, shape (task, level)
        The levels of each task.
    levels, fractions : ndarray, shape (level,) and (fraction,)

    Returns
    -------
    ndarray, shape (task, algorithm, run, fraction)
        NaN where a fraction lies below the first level of the task.
    """
    out = np.full((*curves.shape[:3], len(fractions)), np.nan)
    kinds, kind = np.unique(grid, axis=0, return_inverse=True)
    for number, own in enumerate(kinds):
        if own.any():
            tasks, places = np.flatnonzero(kind.ravel() == number), np.flatnonzero(own)
            out[tasks] = _between(curves[tasks][..., places], levels[places], fractions * levels[places[-1]])
    return out


def _between(curves: Floats, levels: Floats, wanted: Floats) -> Floats:
    """Interpolate complete curves at levels, NaN below the first."""
    near = np.abs(wanted[:, np.newaxis] - levels).argmin(axis=1)
    slack = _ROUNDING * np.abs(levels).max()
    wanted = np.where(np.abs(wanted - levels[near]) <= slack, levels[near], wanted)  # 0.1 · 30 is not 3
    right = np.clip(np.searchsorted(levels, wanted), min(1, len(levels) - 1), len(levels) - 1)
    left = np.maximum(right - 1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(right > left, (wanted - levels[left]) / (levels[right] - levels[left]), 0.0)
    between = curves[..., left] + share * (curves[..., right] - curves[..., left])
    between = np.where(share == 1, curves[..., right], between)
    return np.where(wanted < levels[0], np.nan, between)
