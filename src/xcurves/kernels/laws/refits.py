"""Learning curves fitted again: to their first sizes, to predict the last octaves, and to redrawn errors.

Backtests compare fits up to a cut with later errors. The bootstrap draws a normal mean and a chi-squared variance of
each size, by seed, place and number of folds only: a curve's replicates do not depend on its neighbours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.kernels.laws import powerlaw
from xcurves.kernels.laws.learning import Fit, Model, Sizes
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.plans import make_generator

_FEWEST = 4  # sizes up to a cut
_CUTS = 6  # half octaves
_DENSE = 1.5  # sizes per octave from which cuts are half an octave apart
_LEAST_HORIZON = 0.5  # octaves; errors right behind a cut would count without bound
_BLOCK = 4096  # refits at once
_ALWAYS = 0.02  # log error of one more cut, which also serves where no cut is possible
_LEAST_USED = 5  # sizes of a fit, however few octaves they span
_NEAR = 0.95  # sizes a little below the first octave are used


class Backtest(NamedTuple):
    """Root mean squared log errors of refits at later sizes, per root octave, (curve,), NaN or inf if unknown."""

    combined: Floats
    law: Floats
    last_fall: Floats
    n_cuts: NDArray[np.intp]


def used_sizes(n: Floats, present: NDArray[np.bool_], octaves: float | None) -> NDArray[np.bool_]:
    """Return which sizes a law is fitted to: those of the last octaves, five at least, shape (curve, size)."""
    if octaves is None:
        return present
    largest = np.where(present, n, -np.inf).max(axis=1, keepdims=True)
    # how many there are from each size on
    from_last = np.cumsum(present[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(present & ((n >= _NEAR * largest / 2**octaves) | (from_last <= _LEAST_USED)))


def cuts(n: Floats, present: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the places of the last sizes of backtests, shape (curve, cut); -1 where there is none."""
    # Those nearest to N / 2^{j/2}, j = 1..6, or to N / 2^j of sparse curves, that keep four sizes and leave one out.
    octaves = np.log2(n)
    first = present.argmax(axis=1)
    last = powerlaw.last_of(present)
    n_sizes = present.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # sparse curves have no sizes for cuts half an octave apart
        dense = (n_sizes - 1) / (octaves[last] - octaves[first]) >= _DENSE
    step = np.where(dense, 0.5, 1.0)[:, np.newaxis] * np.arange(1, _CUTS + 1)
    # (curve, cut, size)
    distance = np.abs(octaves - (octaves[last][:, np.newaxis] - step)[..., np.newaxis])
    nearest = np.where(present[:, np.newaxis], distance, np.inf).argmin(axis=-1)
    kept = np.take_along_axis(np.cumsum(present, axis=1), nearest, axis=1)
    repeated = np.zeros(nearest.shape, dtype=bool)
    repeated[:, 1:] = nearest[:, 1:] == nearest[:, :-1]  # nearest never rises with j
    # within three octaves of the end in either case
    used = (kept >= _FEWEST) & (nearest < last[:, np.newaxis]) & ~repeated & (step <= _CUTS / 2)
    return np.where(used, nearest, -1)


def backtest(model: Model, at: Floats, sizes: Sizes, octaves: float | None) -> Backtest:
    """Return the backtest errors of the combined rule, of the law and of the last fall."""
    if model.weights == "relative":
        # no relative weight of an error of 0
        sizes = sizes.where(sizes.means > 0)
    places = cuts(model.n, sizes.folds > 0)
    curve, cut = np.nonzero(places >= 0)
    rules = len(Backtest._fields) - 1
    squares = np.empty((rules, len(curve)))
    # every cut of every curve is a curve of its own
    for some in stretches(len(curve), _BLOCK):
        these = curve[some]
        squares[:, some] = _errors_of_cuts(model, at[these], sizes.take(these), places[these, cut[some]], octaves)
    # rules are compared on the same cuts
    known = ~np.isnan(squares).any(axis=0)
    counts = np.bincount(curve[known], minlength=len(at))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [np.sqrt(np.bincount(curve[known], each[known], len(at)) / counts) for each in squares]
    return Backtest(found[0], found[1], found[2], counts)


def backtest_spread(error: Floats, n_cuts: NDArray[np.intp] | Floats) -> Floats:
    """Return ρ, by which intervals are widened: backtest errors with one more cut of 2 %, shape (curve,)."""
    # Few cuts may all be close by chance; where there is none, this one is all that is assumed.
    total = np.where(n_cuts > 0, n_cuts * error**2, 0.0)
    return np.asarray(np.sqrt((total + _ALWAYS**2) / (n_cuts + 1)))


def _errors_of_cuts(
    model: Model,
    at: Floats,
    sizes: Sizes,
    last: NDArray[np.intp],
    octaves: float | None,
) -> Floats:
    """Return the mean of r² / max(h, 1/2) over the sizes behind `last` by each rule, shape (rule, curve)."""
    place = np.arange(len(model.n))
    later = (place > last[:, np.newaxis]) & (sizes.folds > 0) & (sizes.means > 0)
    # As if the curve ended at the cut: its own last octaves, its own last fall.
    before = sizes.where(place <= last[:, np.newaxis])
    used = before.where(used_sizes(model.n, before.folds > 0, octaves))
    # rescaling changes variances, not curves
    theta = replace(model, rescaled=False).fit(at, used).theta
    law = powerlaw.values(theta, model.n, at)
    fall = powerlaw.last_fall(model.n, before.means, before.folds > 0)
    octave = np.log2(model.n / fall.largest[:, np.newaxis])
    last_fall = fall.values(octave)
    horizon = np.maximum(octave, _LEAST_HORIZON)
    found = []
    for predicted in (powerlaw.combine(law, last_fall, octave), law, last_fall):
        with np.errstate(divide="ignore", invalid="ignore"):
            # infinite where the law is not positive
            log_error = np.log(sizes.means / np.maximum(predicted, 0.0))
            terms = np.where(later, log_error**2 / horizon, 0.0)
            found.append(terms.sum(axis=1) / later.sum(axis=1))
    return np.stack(found)


def normal_draws(entropy: int, n_resamples: int, n_sizes: int) -> Floats:
    """Return standard normal draws that all curves share, shape (resample, size)."""
    return make_generator([entropy, 0]).normal(size=(n_resamples, n_sizes))


def variance_ratios(entropy: int, n_resamples: int, folds: Floats) -> Floats:
    """Return redrawn by true sample variance, shape (curve, resample, size); 1 for less than two folds."""
    found = np.ones((len(folds), n_resamples, folds.shape[1]))
    for size, column in enumerate(folds.T):
        for count in np.unique(column[column > 1]).astype(int).tolist():
            rng = make_generator([entropy, 1, size, count - 1])
            found[column == count, :, size] = rng.chisquare(count - 1, n_resamples) / (count - 1)
    return found


def refit_percentiles(
    model: Model,
    at: Floats,
    sizes: Sizes,
    fit: Fit,
    n: Floats,
    entropy: int,
    n_resamples: int,
    alpha: float,
) -> tuple[Floats, Floats]:
    """Return percentile intervals of the parameters, shape (curve, 6, 2), and of the curve at sizes `n`."""
    # With the prior on γ, replicates would vary less than fits do: intervals cover .84 to .93 instead of .93 to .94.
    refitted = replace(model, strength=0.0)
    standard = normal_draws(entropy, n_resamples, len(model.n))
    expected = powerlaw.curve(fit.theta, model.n, at)
    targets = np.full((len(at), 6, 2), np.nan), np.full((len(at), len(n), 2), np.nan)
    known = np.flatnonzero(~np.isnan(fit.theta).any(axis=1))  # a flat curve has no exponent
    for block in stretches(len(known), max(1, _BLOCK // n_resamples)):
        some = known[block]
        folds, variance = sizes.folds[some][:, np.newaxis], fit.variance[some][:, np.newaxis]
        # means and variances of normal errors, drawn independently: no errors of single folds are needed
        ratio = variance_ratios(entropy, n_resamples, sizes.folds[some])
        means = expected[some][:, np.newaxis] + standard * np.sqrt(variance / np.maximum(folds, 1))
        every = (
            np.broadcast_to(folds, ratio.shape),
            np.where(folds > 0, means, 0.0),
            variance * ratio,
        )
        counts, redrawn, spread = (each.reshape(-1, each.shape[-1]) for each in every)
        drawn = Sizes(counts, redrawn, spread, None if sizes.variance is None else spread)
        where = np.repeat(at[some], n_resamples)
        theta = refitted.fit(where, drawn).theta
        found = powerlaw.parameters(theta, where), powerlaw.curve(theta, n, where)
        for target, values in zip(targets, found, strict=True):
            replicates = values.reshape(len(folds), n_resamples, values.shape[-1])
            target[some] = np.moveaxis(np.quantile(replicates, [alpha / 2, 1 - alpha / 2], axis=1), 0, -1)
    return targets
