"""Two learning curves against each other: where they cross, and how much data one is worth in terms of the other.

Curves are θ = (e_N, β_N, γ, 0) at a common N; see `kernels.powerlaw`.
"""

from __future__ import annotations

import numpy as np

from xcurves.kernels import powerlaw
from xcurves.kernels.moments import Floats

_HALVINGS = 70  # of an interval in ln n, down to the last digit
REACH = 1e6  # crossings are sought so far below the smallest and above the largest size


def crossings(one: Floats, other: Floats, at: Floats, low: Floats, high: Floats) -> Floats:
    """Return the sizes, shape (curve, 2), at which curves are equal, between `low` / REACH and `high` * REACH.

    In ln n the difference of two power laws has at most one extremum, so on either side of it at most one zero. NaN
    where there is none; in ascending order.
    """
    start, end = np.log(low / at / REACH), np.log(high / at * REACH)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = one[:, powerlaw.GAMMA] - other[:, powerlaw.GAMMA]
        turn = np.log(other[:, powerlaw.RELIANCE] / one[:, powerlaw.RELIANCE]) / gap
    turn = np.where(np.isnan(turn), start, np.clip(turn, start, end))
    with np.errstate(invalid="ignore"):
        found = np.stack([_zero(one, other, *ends) for ends in ((start, turn), (turn, end))], axis=1)
    return at[:, np.newaxis] * np.exp(np.sort(found, axis=1))


def _difference(one: Floats, other: Floats, log: Floats) -> Floats:
    """Return the difference of curves at the size N exp(log)."""
    ratio, unit = np.exp(log)[:, np.newaxis], np.ones_like(log)  # e(n) depends on n / N only
    return np.asarray((powerlaw.curve(one, ratio, unit) - powerlaw.curve(other, ratio, unit))[:, 0])


def _zero(one: Floats, other: Floats, left: Floats, right: Floats) -> Floats:
    """Return where the difference changes sign between ends, by halving; NaN where it does not."""
    sign = np.sign(_difference(one, other, left))
    changes = sign * np.sign(_difference(one, other, right)) < 0
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        before = np.sign(_difference(one, other, middle)) == sign
        left, right = np.where(before, middle, left), np.where(before, right, middle)
    return np.where(changes, (left + right) / 2, np.nan)


def log_multiplier(reference: Floats, errors: Floats) -> Floats:
    """Return ln d such that the reference curve has these errors, shape (curve,), at d N.

    NaN where it never has, or does not fall.
    """
    gamma, reliance = reference[:, powerlaw.GAMMA], reference[:, powerlaw.RELIANCE]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = gamma * 2 * (reference[:, powerlaw.ERROR] - errors) / reliance  # (n / N)^γ − 1
        return np.asarray(np.where((reliance > 0) & (ratio > -1), np.log1p(ratio) / gamma, np.nan))


def welch(variances: Floats, degrees: Floats) -> Floats:
    """Return the degrees of freedom of a sum of estimated variances, both of shape (2, ...)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = variances.sum(axis=0) ** 2 / (variances**2 / degrees).sum(axis=0)
    return np.where(np.isinf(degrees).all(axis=0), np.inf, found)
