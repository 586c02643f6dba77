"""Two learning curves against each other: where they differ, cross, and how much data one is worth in the other's.

Curves are θ = (e_N, β_N, γ, 0) at a common N; see `kernels.powerlaw`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.kernels.laws import powerlaw
from xcurves.kernels.laws.powerlaw import Curves, t_quantile
from xcurves.kernels.resampling.bisection import halve

_HALVINGS = 40  # of an interval in ln n
_ROUNDED = 1 + 1e-12  # relative rounding of exp(log(n))
_POINTS = 97  # sizes at which the sign of the difference is looked at


def curve_difference(
    one: Curves, other: Curves, n: Floats, alpha: float
) -> tuple[Floats, Floats]:
    """Return the difference of curves at sizes `n` and half its interval, (curve, n)."""
    first, second = (powerlaw.values(each.theta, n, each.at) for each in (one, other))
    variances = [
        powerlaw.variance(powerlaw.gradient(each.theta, n, each.at), each.covariance)
        for each in (one, other)
    ]
    return first - second, half_width(one, other, np.stack(variances), alpha)


def half_width(one: Curves, other: Curves, variances: Floats, alpha: float) -> Floats:
    """Return half the intervals of differences of curves, by variances of both, (2, curve, ...), and by Welch."""
    degrees = np.stack([one.degrees, other.degrees])
    degrees = np.broadcast_to(degrees.T, variances.T.shape).T
    return np.asarray(
        t_quantile(alpha, welch(variances, degrees)) * np.sqrt(variances.sum(axis=0))
    )


def restated(curves: Curves, at: Floats) -> Curves:
    """Return curves with error and data-reliance at other sizes N, shape (curve,), and their covariance there."""
    reliance, gamma = (
        curves.theta[:, powerlaw.RELIANCE],
        curves.theta[:, powerlaw.GAMMA],
    )
    log, same = np.log(at / curves.at), at == curves.at
    theta = curves.theta.copy()
    theta[:, powerlaw.ERROR] = powerlaw.values(
        curves.theta, at[:, np.newaxis], curves.at
    )[:, 0]
    theta[:, powerlaw.RELIANCE] = reliance * np.exp(gamma * log)
    slopes = np.broadcast_to(np.eye(4), curves.covariance.shape).copy()
    slopes[:, powerlaw.ERROR] = powerlaw.gradient(
        curves.theta, at[:, np.newaxis], curves.at
    )[:, 0]
    slopes[:, powerlaw.RELIANCE, powerlaw.RELIANCE] = np.exp(gamma * log)
    slopes[:, powerlaw.RELIANCE, powerlaw.GAMMA] = theta[:, powerlaw.RELIANCE] * log
    theta[same], slopes[same] = curves.theta[same], np.eye(4)
    covariance = slopes @ curves.covariance @ slopes.swapaxes(-1, -2)
    return curves._replace(theta=theta, covariance=covariance, at=at)


def equal_sizes(
    one: Curves, other: Curves, low: Floats, high: Floats, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Return from `low` to `high` where no difference is shown and where curves cross, (curve, 2); NaN: nowhere."""
    ends = (low, high)
    low, high = np.log(low), np.log(high)

    def shown(log: Floats) -> Floats:
        """Return the sign of the differences that are shown at sizes exp(log), 0 where none is."""
        found, half = curve_difference(one, other, np.exp(log), alpha)
        return np.where(np.abs(found) > half, np.sign(found), 0.0)

    def sign(log: Floats) -> Floats:
        return np.sign(curve_difference(one, other, np.exp(log), alpha)[0])

    grid = low[:, np.newaxis] + (high - low)[:, np.newaxis] * np.linspace(0, 1, _POINTS)
    at_points = shown(grid)
    # Between two points of one sign that sign is shown, between others somewhere none.
    signs = np.zeros((len(low), 2 * _POINTS - 1))
    signs[:, ::2] = at_points
    signs[:, 1::2] = np.where(
        at_points[:, 1:] == at_points[:, :-1], at_points[:, 1:], 0.0
    )
    equal = signs == 0
    number = np.cumsum(equal & ~np.pad(equal, ((0, 0), (1, 0)))[:, :-1], axis=1)
    known = ~np.isnan(one.theta[:, powerlaw.ERROR] + other.theta[:, powerlaw.ERROR])
    found = [
        _stretch(equal & in_it, signs, grid, shown, sign, known)
        for in_it in (number == 1, number >= 2)
    ]
    begin, end, crossing = (
        np.exp(np.stack(part, axis=1)) for part in zip(*found, strict=True)
    )
    # Ends of the sizes that are looked at stand as given: exp(log(n)) is not n.
    smallest, largest = (each[:, np.newaxis] for each in ends)
    begin = np.where(begin <= smallest * _ROUNDED, smallest, begin)
    end = np.where(end >= largest / _ROUNDED, largest, end)
    return begin, end, crossing


def _stretch(
    inside: NDArray[np.bool_],
    signs: Floats,
    grid: Floats,
    shown: Callable[[Floats], Floats],
    sign: Callable[[Floats], Floats],
    known: NDArray[np.bool_],
) -> tuple[Floats, Floats, Floats]:
    """Return in ln n where a stretch without a shown difference begins and ends, and the crossing, shape (curve,)."""
    curve, last = np.arange(len(inside)), inside.shape[1] - 1
    there = inside.any(axis=1) & known
    first = inside.argmax(axis=1)
    final = last - inside[:, ::-1].argmax(axis=1)
    # the grid points from which, to which the boundary is sought
    left, right = (
        np.clip(point, 0, _POINTS - 2) for point in ((first - 1) // 2, final // 2)
    )
    before = np.where(first > 0, signs[curve, np.maximum(first - 1, 0)], 0.0)
    after = np.where(final < last, signs[curve, np.minimum(final + 1, last)], 0.0)
    begin = _last_of(before, shown, grid[curve, left], grid[curve, left + 1])
    begin = np.where(first > 0, begin, grid[:, 0])
    end = -_last_of(
        after, lambda log: shown(-log), -grid[curve, right + 1], -grid[curve, right]
    )
    end = np.where(final < last, end, grid[:, -1])
    crossing = np.where(before * after < 0, _last_of(before, sign, begin, end), np.nan)
    found = [np.where(there, each, np.nan) for each in (begin, end, crossing)]
    return found[0], found[1], found[2]


def _last_of(
    sign: Floats, sign_at: Callable[[Floats], Floats], left: Floats, right: Floats
) -> Floats:
    """Return up to where from `left` to `right` the sign is this one, by halving."""
    left, right = halve(
        lambda log: sign_at(log[:, np.newaxis])[:, 0] == sign, left, right, _HALVINGS
    )
    return (left + right) / 2


def log_multiplier(reference: Floats, errors: Floats) -> Floats:
    """Return ln d such that the reference curve has these errors, (curve,), at d N; NaN where it never has."""
    gamma, reliance = reference[:, powerlaw.GAMMA], reference[:, powerlaw.RELIANCE]
    with np.errstate(divide="ignore", invalid="ignore"):
        # (n / N)^γ − 1
        ratio = gamma * 2 * (reference[:, powerlaw.ERROR] - errors) / reliance
        return np.asarray(
            np.where((reliance > 0) & (ratio > -1), np.log1p(ratio) / gamma, np.nan)
        )


def welch(variances: Floats, degrees: Floats) -> Floats:
    """Return the degrees of freedom of a sum of estimated variances, both of shape (2, ...)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = variances.sum(axis=0) ** 2 / (variances**2 / degrees).sum(axis=0)
    return np.where(np.isinf(degrees).all(axis=0), np.inf, found)
