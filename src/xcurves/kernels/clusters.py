"""Clusters: stretches of neighbouring levels whose F is above a threshold, and the sum of F over each (its mass).

doi:10.1016/j.jneumeth.2007.03.024 (Maris & Oostenveld). A level whose R = SS / (SS + error SS) exceeds the threshold
by no more than `TIE` is not above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import TIE

Df = tuple[float, float]


def share_of(f: float, df: Df) -> float:
    """Return R of a ratio F."""
    return df[0] * f / (df[1] + df[0] * f)


def f_of(share: Floats, df: Df) -> Floats:
    """Return F of shares R, infinite where nothing is left for the error."""
    f = np.full(np.shape(share), np.inf)
    np.divide(share * (df[1] / df[0]), 1 - share, out=f, where=share < 1)
    return f


def find_clusters(share: Floats, threshold: Floats, df: Df) -> tuple[Floats, Floats]:
    """Find the clusters of shares, shape (task, level), numbered from 1; NaN outside.

    Also return the mass of each level's cluster, from shares less `TIE`; NaN outside.
    """
    above = share > threshold + TIE  # False for NaN
    starts = above & ~np.pad(above, ((0, 0), (1, 0)))[:, :-1]
    number = starts.cumsum(axis=-1)
    place = number + (share.shape[-1] + 1) * np.arange(len(share))[:, np.newaxis]
    f = np.where(above, f_of(share - TIE, df), 0.0)
    mass = np.bincount(place.ravel(), f.ravel())[place]
    return np.where(above, number, np.nan), np.where(above, mass, np.nan)


class Masses(NamedTuple):
    """The cluster masses of every shuffle in a stretch of levels; all of shape (task, shuffle).

    Attributes
    ----------
    largest : ndarray
        Largest mass of a cluster, 0 if there is none.
    first, last : ndarray
        Mass of the cluster that reaches the first level, and the last; 0 if none does.
    whole : ndarray of bool
        Whether one cluster contains all levels: every level is above its threshold.
    """

    largest: Floats
    first: Floats
    last: Floats
    whole: NDArray[np.bool_]


def shuffled_masses(table: Floats, threshold: Floats, df: Df) -> Masses:
    """Return the masses of shuffled shares, shape (task, level, shuffle), for thresholds, shape (task, level)."""
    n_tasks, n_levels, n_resamples = table.shape
    above = np.moveaxis(table > threshold[..., np.newaxis] + TIE, 1, 2)
    place = np.flatnonzero(above)  # shuffle by shuffle, level after level
    found = [np.zeros(n_tasks * n_resamples) for _ in range(3)]
    whole = np.zeros(n_tasks * n_resamples, bool)
    if place.size:
        row, level = np.divmod(place, n_levels)
        begins = np.flatnonzero((level == 0) | (np.diff(place, prepend=-2) > 1))
        owner = row[begins]
        task, shuffle = np.divmod(row, n_resamples)
        mass = np.add.reduceat(f_of(table[task, level, shuffle], df), begins)
        at_first, at_last = level[begins] == 0, level[np.append(begins[1:], len(place)) - 1] == n_levels - 1
        np.maximum.at(found[0], owner, mass)
        found[1][owner[at_first]] = mass[at_first]
        found[2][owner[at_last]] = mass[at_last]
        whole[owner[at_first & at_last]] = True
    return Masses(*(each.reshape(n_tasks, n_resamples) for each in (*found, whole)))


def join_masses(before: Masses, after: Masses) -> Masses:
    """Return the masses in two stretches, one after the other."""
    return Masses(
        np.maximum(np.maximum(before.largest, after.largest), before.last + after.first),
        before.first + np.where(before.whole, after.first, 0.0),
        after.last + np.where(after.whole, before.last, 0.0),
        before.whole & after.whole,
    )


def count_at_least(null: Floats, observed: Floats) -> Floats:
    """Return how many null values, shape (task, shuffle), are at least each observed one, shape (task, level)."""
    n_levels = observed.shape[-1]
    order = np.concatenate([observed, null], axis=-1).argsort(axis=-1, kind="stable")  # ties: the observed first
    from_null = order >= n_levels
    task, place = np.nonzero(~from_null)
    below = np.empty(observed.shape, np.int64)
    below[task, order[task, place]] = from_null.cumsum(axis=-1)[task, place]
    return np.asarray(null.shape[-1] - below, float)
