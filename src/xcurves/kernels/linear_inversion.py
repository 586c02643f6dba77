"""Confidence limits by inverting a studentized permutation test of two equal groups, or of two within runs.

The squares of all numbers, if paired of all differences, add up to the same in every reassignment, so that
``|T_g| >= |T|`` where the contrasts have ``|N_g| >= |N|``. After a shift by ``y`` standard errors from the estimate
they are ``mean - slope y`` and ``-y``. So there is one distance on each side up to which a reassignment reaches the
observed statistic.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from xcurves.kernels.moments import Floats
from xcurves.kernels.null import UpperTail
from xcurves.kernels.shuffles import TIE

_SAME = 1e-9  # slopes as close to 1 are those of the observed assignment, or of the one with groups exchanged


def invert(
    contrasts: Iterable[tuple[Floats, Floats]], at: Floats, besides: int, most: float
) -> tuple[Floats, Floats, Floats]:
    """Return how many reassignments reach the observed statistic after a shift, and the largest distances not rejected.

    Parameters
    ----------
    contrasts : iterable of tuple of ndarray
        The mean, shape (task, reassignment), and the slope, shape (reassignment,), of some reassignments.
    at : ndarray, shape (task,)
        The shift.
    besides : int
        Number of further reassignments, which reach the observed statistic everywhere.
    most : float
        A shift is rejected if no more reassignments than this reach the observed statistic.

    Returns
    -------
    count, below, above : ndarray, shape (task,)
        The distances are infinite where no shift is rejected.
    """
    upwards = (at > 0)[:, np.newaxis]
    count = np.full(len(at), float(besides))
    n_kept = int(most) + 1 - besides
    tails = UpperTail(n_kept), UpperTail(n_kept)
    for mean, slope in contrasts:
        towards = np.copysign(slope, mean * slope)  # the slope towards 0, or away from it
        size = np.abs(mean)
        distances = [size / (1 - TIE + side * towards) for side in (-1, 1)]
        for distance, tail in zip(distances, tails, strict=True):
            distance[:, np.abs(slope) > 1 - _SAME] = np.inf
            tail.add(distance)
        count += np.count_nonzero(np.where(upwards, *distances[::-1]) >= np.abs(at)[:, np.newaxis], axis=-1)
    below, above = (tail.smallest(at.shape) if n_kept > 0 else np.full(at.shape, np.inf) for tail in tails)
    return count, below, above
