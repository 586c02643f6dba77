"""Two learning curves against each other: where they differ, cross, and how much data one is worth in the other's.

Curves are θ = (e_N, β_N, γ, 0) at a common N; see `kernels.powerlaw`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xcurves.array_types import Bools, Floats
from xcurves.kernels.intervals import satterthwaite, t_quantile
from xcurves.kernels.laws import powerlaw
from xcurves.kernels.laws.powerlaw import Curves
from xcurves.kernels.resampling.shifts import halve

_HALVINGS = 40  # of an interval in ln n, which leave 2^-40 of it
_ROUNDED = 1 + 1e-12  # relative rounding of exp(log(n))
_POINTS = 97  # sizes at which the sign of the difference is looked at


def curve_difference(one: Curves, other: Curves, n: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return the difference of curves at sizes `n` and half its interval, (curve, n)."""
    errors = []
    variances = []
    for curves in (one, other):
        errors.append(powerlaw.values(curves.theta, n, curves.at))
        gradient = powerlaw.gradient(curves.theta, n, curves.at)
        variances.append(powerlaw.variance(gradient, curves.covariance))
    half = half_width(one, other, np.stack(variances), alpha)
    return errors[0] - errors[1], half


def half_width(one: Curves, other: Curves, variances: Floats, alpha: float) -> Floats:
    """Return half the intervals of differences of curves, by variances of both, (2, curve, ...), and by Welch."""
    # learners are trained apart: variances add up
    degrees = np.stack([one.degrees, other.degrees])
    # transposed, as the axes that curves lack are the last
    degrees_there = np.broadcast_to(degrees.T, variances.T.shape).T
    quantile = t_quantile(alpha, welch(variances, degrees_there))
    return np.asarray(quantile * np.sqrt(variances.sum(axis=0)))


def restated(curves: Curves, at: Floats) -> Curves:
    """Return curves with error and data-reliance at other sizes N, shape (curve,), and their covariance there."""
    # From N to N' error is e(N') and data-reliance, -2 η γ N^γ, is β (N' / N)^γ; γ stays, and δ is 0.
    reliance = curves.theta[:, powerlaw.RELIANCE]
    gamma = curves.theta[:, powerlaw.GAMMA]
    log = np.log(at / curves.at)
    growth = np.exp(gamma * log)
    sizes = at[:, np.newaxis]
    theta = curves.theta.copy()
    theta[:, powerlaw.ERROR] = powerlaw.values(curves.theta, sizes, curves.at)[:, 0]
    theta[:, powerlaw.RELIANCE] = reliance * growth

    # derivatives of the new θ, in rows, by the old one
    slopes = np.broadcast_to(np.eye(4), curves.covariance.shape).copy()
    by_theta = powerlaw.gradient(curves.theta, sizes, curves.at)
    slopes[:, powerlaw.ERROR] = by_theta[:, 0]
    slopes[:, powerlaw.RELIANCE, powerlaw.RELIANCE] = growth
    slopes[:, powerlaw.RELIANCE, powerlaw.GAMMA] = theta[:, powerlaw.RELIANCE] * log

    # At the same N nothing changes, also where no exponent is known: γ is NaN there.
    same = at == curves.at
    theta[same] = curves.theta[same]
    slopes[same] = np.eye(4)
    covariance = slopes @ curves.covariance @ slopes.swapaxes(-1, -2)
    return curves._replace(theta=theta, covariance=covariance, at=at)


def equal_sizes(one: Curves, other: Curves, low: Floats, high: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return from `low` to `high` where no difference is shown and where curves cross, (curve, 2); NaN: nowhere."""

    def shown(log: Floats) -> Floats:
        """Return the sign of the differences that are shown at sizes exp(log), 0 where none is."""
        difference, half = curve_difference(one, other, np.exp(log), alpha)
        return np.where(np.abs(difference) > half, np.sign(difference), 0.0)

    def sign(log: Floats) -> Floats:
        difference, _ = curve_difference(one, other, np.exp(log), alpha)
        return np.sign(difference)

    log_low = np.log(low)[:, np.newaxis]
    log_high = np.log(high)[:, np.newaxis]
    grid = log_low + (log_high - log_low) * np.linspace(0, 1, _POINTS)
    signs = _signs_between(shown(grid))

    # Stretches without a shown difference are numbered as they begin. Two curves of power laws cross twice at most:
    # what comes after the first stretch is one, from its first to its last size.
    equal = signs == 0
    before = np.pad(equal, ((0, 0), (1, 0)))[:, :-1]
    number = np.cumsum(equal & ~before, axis=1)
    known = ~np.isnan(one.theta[:, powerlaw.ERROR] + other.theta[:, powerlaw.ERROR])
    stretches = [_stretch(equal & there, signs, grid, shown, sign, known) for there in (number == 1, number >= 2)]
    begin, end, crossing = (np.exp(np.stack(part, axis=1)) for part in zip(*stretches, strict=True))

    # Ends of the sizes that are looked at stand as given: exp(log(n)) is not n.
    smallest = low[:, np.newaxis]
    largest = high[:, np.newaxis]
    begin = np.where(begin <= smallest * _ROUNDED, smallest, begin)
    end = np.where(end >= largest / _ROUNDED, largest, end)
    return begin, end, crossing


def _signs_between(at_points: Floats) -> Floats:
    """Return signs at points of a grid and between neighbours, in turn: (curve, 2 points - 1)."""
    # Between two points of one sign that sign is shown, between others somewhere none.
    left = at_points[:, :-1]
    right = at_points[:, 1:]
    signs = np.zeros((len(at_points), 2 * at_points.shape[1] - 1))
    signs[:, ::2] = at_points
    signs[:, 1::2] = np.where(right == left, right, 0.0)
    return signs


def _stretch(
    inside: Bools,
    signs: Floats,
    grid: Floats,
    shown: Callable[[Floats], Floats],
    sign: Callable[[Floats], Floats],
    known: Bools,
) -> tuple[Floats, Floats, Floats]:
    """Return in ln n where a stretch without a shown difference begins and ends, and the crossing, shape (curve,)."""
    curve = np.arange(len(inside))
    last = inside.shape[1] - 1
    there = inside.any(axis=1) & known
    first = inside.argmax(axis=1)
    final = last - inside[:, ::-1].argmax(axis=1)
    before = np.where(first > 0, signs[curve, np.maximum(first - 1, 0)], 0.0)
    after = np.where(final < last, signs[curve, np.minimum(final + 1, last)], 0.0)

    # A stretch that does not begin or end with the grid does so between two of its points: the numbers of `signs` are
    # odd there, 2 p + 1 between points p and p + 1.
    left = np.clip((first - 1) // 2, 0, _POINTS - 2)
    right = np.clip(final // 2, 0, _POINTS - 2)
    begin = _last_of(before, shown, grid[curve, left], grid[curve, left + 1])
    begin = np.where(first > 0, begin, grid[:, 0])
    # the same from above, mirrored
    mirrored = _last_of(after, lambda log: shown(-log), -grid[curve, right + 1], -grid[curve, right])
    end = np.where(final < last, -mirrored, grid[:, -1])

    # with one sign on both sides they need not cross
    crosses = before * after < 0
    crossing = np.where(crosses, _last_of(before, sign, begin, end), np.nan)
    return (
        np.where(there, begin, np.nan),
        np.where(there, end, np.nan),
        np.where(there, crossing, np.nan),
    )


def _last_of(sign: Floats, sign_at: Callable[[Floats], Floats], left: Floats, right: Floats) -> Floats:
    """Return up to where from `left` to `right` the sign is this one, by halving."""

    def has_sign(log: Floats) -> Bools:
        return np.asarray(sign_at(log[:, np.newaxis])[:, 0] == sign)

    inner, outer = halve(has_sign, left, right, _HALVINGS)
    return (inner + outer) / 2


def log_multiplier(reference: Floats, errors: Floats) -> Floats:
    """Return ln d such that the reference curve has these errors, (curve,), at d N; NaN where it never has."""
    gamma = reference[:, powerlaw.GAMMA]
    reliance = reference[:, powerlaw.RELIANCE]
    # With δ = 0, e(d N) = e_N - β_N (d^γ - 1) / 2γ: solved for d^γ - 1. At -1 and below no d has it.
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = reference[:, powerlaw.ERROR] - errors
        change = gamma * 2 * lead / reliance
        exists = (reliance > 0) & (change > -1)
        return np.asarray(np.where(exists, np.log1p(change) / gamma, np.nan))


def welch(variances: Floats, degrees: Floats) -> Floats:
    """Return the degrees of freedom of a sum of estimated variances, both of shape (2, ...)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = (variances**2 / degrees).sum(axis=0)
    found = satterthwaite(variances.sum(axis=0), squares)
    # known variances: x / 0, or 0 / 0 where they are 0
    return np.where(np.isinf(degrees).all(axis=0), np.inf, found)
