"""Clusters: stretches of neighbouring levels whose F is above a threshold, and the sum of F over each (its mass).

doi:10.1016/j.jneumeth.2007.03.024 (Maris & Oostenveld). Levels whose R = SS / (SS + error SS) is within a hair of the
threshold are not above it.
"""

from __future__ import annotations

import numpy as np

from xcurves.kernels.moments import Floats
from xcurves.kernels.null import TIE

Df = tuple[float, float]


def share_of(f: float, df: Df) -> float:
    """Return R of a ratio F."""
    return df[0] * f / (df[1] + df[0] * f)


def f_of(share: Floats, df: Df) -> Floats:
    """Return F of shares R, infinite where nothing is left for the error."""
    f = np.full(np.shape(share), np.inf)
    np.divide(share * (df[1] / df[0]), 1 - share, out=f, where=share < 1)
    return f


def find(share: Floats, threshold: Floats, df: Df) -> tuple[Floats, Floats]:
    """Find the clusters of shares, shape (task, level), numbered from 1; NaN outside.

    Beside them the mass of each level's cluster, less what ties allow, also NaN outside.
    """
    above = share > threshold + TIE  # NaN is not
    starts = above & ~np.pad(above, ((0, 0), (1, 0)))[:, :-1]
    number = starts.cumsum(axis=-1)
    place = number + (share.shape[-1] + 1) * np.arange(len(share))[:, np.newaxis]
    f = np.where(above, f_of(share - TIE, df), 0.0)
    mass = np.bincount(place.ravel(), f.ravel())[place]
    return np.where(above, number, np.nan), np.where(above, mass, np.nan)


class Masses:
    """The largest cluster mass of every shuffle, from blocks of neighbouring levels that come one after the other."""

    def __init__(self, n_tasks: int, n_shuffles: int, df: Df) -> None:
        self.df = df
        self.largest = np.zeros((n_tasks, n_shuffles))
        self.open = np.zeros(n_tasks * n_shuffles)  # of the clusters that reach the end of the last block

    def add(self, table: Floats, threshold: Floats) -> None:
        """Take in shares, shape (task, level, shuffle), with the levels' thresholds, shape (task, level)."""
        n_levels = table.shape[1]
        above = np.moveaxis(table > threshold[..., np.newaxis] + TIE, 1, 2)
        place = np.flatnonzero(above)  # shuffle by shuffle, level after level
        row, level = np.divmod(place, n_levels)
        first = np.flatnonzero((level == 0) | (np.diff(place, prepend=-2) > 1))
        still_open, self.open = self.open, np.zeros_like(self.open)
        if not place.size:
            return
        task, shuffle = np.divmod(row, table.shape[2])
        mass = np.add.reduceat(f_of(table[task, level, shuffle], self.df), first)
        owner = row[first]
        mass += np.where(level[first] == 0, still_open[owner], 0.0)
        np.maximum.at(self.largest.reshape(-1), owner, mass)
        ends = level[np.append(first[1:], len(place)) - 1] == n_levels - 1
        self.open[owner[ends]] = mass[ends]


def count_at_least(null: Floats, observed: Floats) -> Floats:
    """Return how many null values, shape (task, shuffle), are at least each observed one, shape (task, level)."""
    n_levels = observed.shape[-1]
    order = np.concatenate([observed, null], axis=-1).argsort(axis=-1, kind="stable")  # of equals, the observed first
    from_null = order >= n_levels
    task, place = np.nonzero(~from_null)
    below = np.empty(observed.shape, np.int64)
    below[task, order[task, place]] = from_null.cumsum(axis=-1)[task, place]
    return np.asarray(null.shape[-1] - below, float)
