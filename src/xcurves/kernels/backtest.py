"""How well learning curves predict their own last octaves, and intervals of predictions widened by it.

A curve is fitted to its sizes up to a cut and compared with its errors at all later ones. The squared log errors,
each divided by the octaves between, are summarised by ρ: the log error at one octave beyond the data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels import powerlaw
from xcurves.kernels.learning import Model, Sizes
from xcurves.kernels.moments import Floats

_FEWEST = 4  # sizes up to a cut
_CUTS = 6  # half octaves
_DENSE = 1.5  # sizes per octave from which cuts are half an octave apart
_LEAST_HORIZON = 0.5  # octaves
_BLOCK = 4096  # refits at once


def cuts(n: Floats, present: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the places of the last sizes of backtests, shape (curve, cut); -1 where there is none.

    Cuts are the sizes nearest, in logarithms, to N / 2^{j/2}, j = 1..6, with N the largest size, or to N / 2^j,
    j = 1..3, of curves with less than 1.5 sizes per octave. Each keeps four sizes and leaves one out.
    """
    octaves = np.log2(n)
    first, last = present.argmax(axis=1), present.shape[1] - 1 - present[:, ::-1].argmax(axis=1)
    n_sizes = present.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        dense = (n_sizes - 1) / (octaves[last] - octaves[first]) >= _DENSE
    step = np.where(dense, 0.5, 1.0)[:, np.newaxis] * np.arange(1, _CUTS + 1)
    distance = np.abs(octaves - (octaves[last][:, np.newaxis] - step)[..., np.newaxis])  # (curve, cut, size)
    nearest = np.where(present[:, np.newaxis], distance, np.inf).argmin(axis=-1)
    kept = np.take_along_axis(np.cumsum(present, axis=1), nearest, axis=1)
    repeated = np.zeros(nearest.shape, dtype=bool)
    repeated[:, 1:] = nearest[:, 1:] == nearest[:, :-1]  # nearest never rises with j
    used = (kept >= _FEWEST) & (nearest < last[:, np.newaxis]) & ~repeated & (step <= _CUTS / 2)
    return np.where(used, nearest, -1)


def backtest_error(model: Model, at: Floats, sizes: Sizes) -> Floats:
    """Return ρ, shape (curve,): the root mean squared log error of refits at later sizes, per root octave.

    ρ² is the mean over cuts of the mean over later sizes of r² / max(h, 1/2), r the log of the error over the refitted
    curve, h the octaves since the cut. NaN for curves without a cut, infinite where a refitted curve is not positive.
    """
    present = sizes.folds > 0
    places = cuts(model.n, present)
    curve, cut = np.nonzero(places >= 0)
    if not curve.size:
        return np.full(len(at), np.nan)
    squares = np.concatenate(
        [
            _squares(model, at[some], sizes.take(some), places[some, j])
            for start in range(0, len(curve), _BLOCK)
            for some, j in [(curve[start : start + _BLOCK], cut[start : start + _BLOCK])]
        ]
    )
    known = ~np.isnan(squares)
    counts, totals = (np.bincount(curve[known], weights, minlength=len(at)) for weights in (None, squares[known]))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt(totals / counts))


def _squares(model: Model, at: Floats, sizes: Sizes, last: NDArray[np.intp]) -> Floats:
    """Return the mean of r² / max(h, 1/2) over the sizes behind `last`, shape (curve,)."""
    place = np.arange(len(model.n))
    later = (place > last[:, np.newaxis]) & (sizes.folds > 0) & (sizes.means > 0)
    theta = replace(model, rescaled=False).fit(at, sizes.where(place <= last[:, np.newaxis])).theta
    fitted = powerlaw.values(theta, model.n, at)
    horizon = np.maximum(np.log2(model.n / model.n[last][:, np.newaxis]), _LEAST_HORIZON)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_error = np.where(fitted > 0, np.log(sizes.means / fitted), np.inf)
        terms = np.where(later, log_error**2 / horizon, 0.0)
        return np.asarray(terms.sum(axis=1) / later.sum(axis=1))


def widened(estimates: Floats, interval: Floats, spread: Floats, cap: float = np.inf) -> Floats:
    """Return intervals widened in logarithms, shape (..., 2): by the root of the sum of squared half widths.

    Parameters
    ----------
    estimates : ndarray, shape (...)
    interval : ndarray, shape (..., 2)
        Bounds by the law alone.
    spread : ndarray, shape (...)
        Half width in logarithms of what is to be added.
    cap : float
        The largest possible upper bound.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.hypot(np.log(interval / estimates[..., np.newaxis]), spread[..., np.newaxis])
        return np.asarray(np.minimum(estimates[..., np.newaxis] * np.exp(half * np.array([-1.0, 1.0])), cap))


def horizon(n: Floats, largest: Floats) -> Floats:
    """Return the octaves by which `n`, shape (n,) or (curve, n), exceeds the largest size; 0 for sizes within."""
    return np.asarray(np.maximum(np.log2(n / largest[:, np.newaxis]), 0.0))
