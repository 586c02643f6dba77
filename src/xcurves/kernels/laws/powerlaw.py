"""The extended power law, e(n) = α + η n^γ + δ n^{2γ}, held as θ = (e_N, β_N, γ, δ), of error and data-reliance at N.

e(n) = e_N − β_N v(n) / 2 + δ (n^γ − N^γ)², v(n) = (n^γ / N^γ − 1) / γ, is well conditioned for γ near zero. Beyond the
largest size the last fall, octave by octave (a rise is not repeated), joins the law: from 2N on as geometric mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.kernels.intervals import t_quantile

ERROR, RELIANCE, GAMMA, DELTA = range(4)


def basis(n: Floats, at: Floats, gamma: Floats) -> Floats:
    """Return v(n), shape (..., size), for `at` and `gamma` of shape (...)."""
    # expm1: the difference to 1 keeps its digits for γ near 0
    exponent = gamma[..., np.newaxis]
    return np.asarray(np.expm1(exponent * np.log(n / at[..., np.newaxis])) / exponent)


def squared(v: Floats, at: Floats, gamma: Floats) -> Floats:
    """Return (n^γ − N^γ)², what δ stands before."""
    # n^γ - N^γ = γ N^γ v. No infinity: it would be NaN where δ is 0.
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(((gamma * at**gamma)[..., np.newaxis] * v) ** 2, np.finfo(float).max))


def curve(theta: Floats, n: Floats, at: Floats) -> Floats:
    """Return e(n), shape (..., size), for `theta` of shape (..., 4)."""
    gamma = theta[..., GAMMA]
    v = basis(n, at, gamma)
    error, reliance, delta = (theta[..., i, np.newaxis] for i in (ERROR, RELIANCE, DELTA))
    return np.asarray(error - reliance * v / 2 + delta * squared(v, at, gamma))


def values(theta: Floats, n: Floats, at: Floats) -> Floats:
    """Return e(n), shape (..., size), the constant e_N where no exponent is known."""
    known = ~np.isnan(theta[..., GAMMA, np.newaxis])
    return np.where(known, curve(theta, n, at), theta[..., ERROR, np.newaxis])


def gradient(theta: Floats, n: Floats, at: Floats) -> Floats:
    """Return the derivatives of e(n) by θ, shape (..., size, 4)."""
    gamma, delta, reliance = (theta[..., i, np.newaxis] for i in (GAMMA, DELTA, RELIANCE))
    log = np.log(n / at[..., np.newaxis])
    v = basis(n, at, theta[..., GAMMA])
    # dv/dγ = ((n/N)^γ ln(n/N) - v) / γ, and (n/N)^γ = 1 + γ v
    power = at[..., np.newaxis] ** gamma
    difference = power * gamma * v  # n^γ − N^γ
    slope = power * (gamma * v * np.log(n) + log)  # its derivative by γ
    by_gamma = -reliance / 2 * (log * (1 + gamma * v) - v) / gamma + 2 * delta * difference * slope
    return np.stack([np.ones_like(v), -v / 2, by_gamma, difference**2], axis=-1)


def log_slope(theta: Floats, n: Floats, at: Floats) -> Floats:
    """Return the derivative of e(n) by ln n, shape (..., size)."""
    gamma, delta, reliance = (theta[..., i, np.newaxis] for i in (GAMMA, DELTA, RELIANCE))
    # dv / d ln n = (n/N)^γ = 1 + γ v; the square's is 2 (γ N^γ v) (γ N^γ) (1 + γ v)
    v = basis(n, at, theta[..., GAMMA])
    power = at[..., np.newaxis] ** gamma
    return np.asarray((1 + gamma * v) * (-reliance / 2 + 2 * delta * gamma**2 * power**2 * v))


def parameters(theta: Floats, at: Floats) -> Floats:
    """Return e_N, β_N, γ, α, η, δ, shape (..., 6)."""
    error, reliance, gamma, delta = np.moveaxis(theta, -1, 0)
    # from β_N = -2 γ N^γ (η + 2 δ N^γ) and e_N = α + η N^γ + δ N^{2γ}
    power = at**gamma
    alpha = error + reliance / (2 * gamma) + delta * power**2
    eta = -reliance / (2 * gamma * power) - 2 * delta * power
    return np.stack([error, reliance, gamma, alpha, eta, delta], axis=-1)


def jacobian(theta: Floats, at: Floats) -> Floats:
    """Return the derivatives of `parameters` by θ, shape (..., 6, 4)."""
    _, reliance, gamma, delta = np.moveaxis(theta, -1, 0)
    power, log = at**gamma, np.log(at)
    found = np.zeros((*theta.shape[:-1], 6, 4))
    for parameter, i in ((0, ERROR), (1, RELIANCE), (2, GAMMA), (3, ERROR), (5, DELTA)):
        found[..., parameter, i] = 1
    found[..., 3, RELIANCE] = 1 / (2 * gamma)
    found[..., 3, GAMMA] = -reliance / (2 * gamma**2) + 2 * delta * power**2 * log
    found[..., 3, DELTA] = power**2
    found[..., 4, RELIANCE] = -1 / (2 * gamma * power)
    found[..., 4, GAMMA] = reliance * (1 + gamma * log) / (2 * gamma**2 * power) - 2 * delta * power * log
    found[..., 4, DELTA] = -2 * power
    return found


def variance(gradient: Floats, covariance: Floats) -> Floats:
    """Return the variance of what has this gradient, shape (..., size), θ having this covariance."""
    return np.asarray(((gradient @ covariance) * gradient).sum(axis=-1))


ERROR_ALONE = np.array([1.0, 0.0, 0.0, 0.0])  # the derivatives of e_N by θ


RULES = ("combined", "power-law", "last-fall", "linear")
FAR = 4.0  # so many times the largest size is the paper's limit of extrapolation
_NORMAL = np.array(np.inf)  # degrees of freedom
# a third of the predicted change is a half width for 95 %
_OF_CHANGE = 3 * float(t_quantile(0.05, _NORMAL))


def rule_of(method: str, nonnegative: bool) -> str:
    """Return the rule that a method stands for: the law alone where it may be negative."""
    return method if nonnegative or method == "linear" else "power-law"


class LastFall(NamedTuple):
    """The largest size, the logarithm of the mean error there, and by how much it fell an octave, shape (curve,)."""

    largest: Floats
    log_error: Floats
    slope: Floats

    def values(self, octaves: Floats, times: float = 1.0) -> Floats:
        """Return errors so many octaves beyond the largest size, shape (curve, n), the fall being taken so often."""
        return np.asarray(np.exp(self.log_error[:, np.newaxis] + times * self.slope[:, np.newaxis] * octaves))


def last_of(present: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the index of the last size that is present, shape (curve,)."""
    return np.asarray(present.shape[1] - 1 - present[:, ::-1].argmax(axis=1))


def last_fall(n: Floats, means: Floats, present: NDArray[np.bool_]) -> LastFall:
    """Return the last fall of curves, means of shape (curve, size); NaN where errors there are not positive."""
    # against the size that is nearest to half of the largest: an octave, or what is next to it
    log_n = np.where(present, np.log2(n), np.nan)
    curve = np.arange(len(means))
    last = last_of(present)
    distance = np.abs(log_n - (log_n[curve, last] - 1)[:, np.newaxis])
    distance[curve, last] = np.nan
    half = np.where(np.isnan(distance), np.inf, distance).argmin(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(np.where(present & (means > 0), means, np.nan))
        slope = (log[curve, last] - log[curve, half]) / (log_n[curve, last] - log_n[curve, half])
    # A rise is not repeated, which is all that is done about humps.
    alone = present.sum(axis=1) < 2
    # as given: exp2(log2(n)) is below n for many sizes
    largest = np.where(present.any(axis=1), n[last], np.nan)
    return LastFall(largest, log[curve, last], np.where(alone, np.nan, np.minimum(slope, 0.0)))


def combine(law: Floats, fall: Floats, octaves: Floats) -> Floats:
    """Return the prediction of both rules, shape (curve, n): the law where the last fall is not known."""
    # The law is worse than the last fall on curves of learners, better on scaling curves; their mean is best on both.
    share = _weight_of_fall(fall, octaves)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(share > 0, law ** (1 - share) * fall**share, law)


def _weight_of_fall(fall: Floats, octaves: Floats) -> Floats:
    """Return the weight of the last fall: 0 up to the largest size, a half from the double of it on."""
    return np.where(np.isfinite(fall), np.clip(octaves, 0.0, 1.0) / 2, 0.0)


class Curves(NamedTuple):
    """Fitted curves and how well each is known."""

    theta: Floats  # (curve, 4)
    covariance: Floats  # (curve, 4, 4)
    at: Floats  # (curve,): the size N
    degrees: Floats  # of freedom of the covariance
    fall: LastFall
    rho: Floats  # by how much the combined rule misses the curve's own last octaves
    rho_law: Floats  # and the law
    smallest: Floats  # size that the law is fitted to

    def far(self, n: Floats) -> NDArray[np.bool_]:
        """Return which sizes, (curve, n), are beyond 4 times the largest or below a quarter of the smallest."""
        largest = self.fall.largest[:, np.newaxis]
        return np.asarray((n > FAR * largest) | (n < self.smallest[:, np.newaxis] / FAR))


def added_width(alpha: float, rho: Floats, octaves: Floats, log_change: Floats) -> Floats:
    """Return the half width in logarithms added beyond the largest size, (curve, n), by ρ and the predicted change."""
    # backtest errors grow with the root of octaves; the change is scaled by z / 1.96, as a third is for 95 %
    z = t_quantile(alpha, _NORMAL)
    with np.errstate(invalid="ignore"):
        width = z * np.hypot(rho[:, np.newaxis] * np.sqrt(octaves), log_change / _OF_CHANGE)
    return np.where(octaves > 0, width, 0.0)


def around(estimates: Floats, half_widths: Floats) -> Floats:
    """Return the bounds of symmetric intervals, on a new last axis."""
    return np.stack([estimates - half_widths, estimates + half_widths], axis=-1)


def around_in_logs(estimates: Floats, half_widths: Floats) -> Floats:
    """Return the bounds of intervals, on a new last axis, of half widths in logarithms: one, or one of each end."""
    halves = half_widths
    if half_widths.ndim == estimates.ndim:
        halves = half_widths[..., np.newaxis]
    with np.errstate(over="ignore", invalid="ignore"):  # an endless upper end
        return np.asarray(estimates[..., np.newaxis] * np.exp(halves * np.array([-1.0, 1.0])))


def predict_errors(
    curves: Curves,
    n: Floats,
    alpha: float,
    *,
    method: str,
    nonnegative: bool,
    cap: float,
    # (curve,): standard error of the logarithm of the last mean error
    noise: Floats | None = None,
    # (curve, n, 2): intervals of the law, from a bootstrap
    law_bounds: Floats | None = None,
) -> dict[str, Floats]:
    """Return predictions at sizes `n`, (n,) or (curve, n), with intervals and the change from N.

    `method` is one of `RULES`: "power-law" or "linear" where the law may be negative.
    """
    law, slopes = law_of(curves, n, method)
    error = curves.theta[:, ERROR, np.newaxis]
    largest = curves.fall.largest[:, np.newaxis]
    octaves = np.log2(n / largest)
    beyond = np.maximum(octaves, 0.0)
    last = curves.fall.values(octaves)
    weight_of_law = np.ones(last.shape)
    if method == "combined":
        prediction = combine(law, last, beyond)
        weight_of_law -= _weight_of_fall(last, beyond)
        rho = curves.rho
    elif method == "last-fall":
        prediction = last
        rho = curves.rho_law
    else:
        prediction = law
        rho = curves.rho_law
    if nonnegative:
        prediction = np.clip(prediction, 0.0, cap)
    change = prediction - error

    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((prediction > 0) & (error > 0), prediction / error, np.nan)
        # half widths of the law, of e(n) - e_N, and of ln e(n) - ln e_N, by the derivatives of each by θ
        by_ratio = slopes / law[..., np.newaxis] - ERROR_ALONE / error[..., np.newaxis]
        quantile = t_quantile(alpha, curves.degrees)[:, np.newaxis]
        half, half_change, half_ratio = (
            quantile * np.sqrt(variance(gradient_of, curves.covariance))
            for gradient_of in (slopes, slopes - ERROR_ALONE, by_ratio)
        )

        # What the law's own variance does not hold: its misses in backtests, and a part of the predicted change.
        top = values(curves.theta, largest, curves.at)
        log_change = np.log(prediction / top)
        if method == "linear":
            log_change = np.zeros_like(log_change)
        added = added_width(alpha, rho, beyond, log_change) * nonnegative
        by_law, interval = _law_and_interval(
            law, half, prediction, weight_of_law, added, law_bounds, method, nonnegative
        )
        in_change = np.hypot(weight_of_law * half_change, added * prediction)
        change_interval = around(change, in_change)
        in_ratio = np.hypot(weight_of_law * half_ratio, added)
        ratio_interval = around_in_logs(ratio, in_ratio)
    if method == "last-fall":
        # not by the law in any part
        interval = _from_no_change_to_twice(curves.fall, octaves, alpha, noise)
        change_interval = interval - error[..., np.newaxis]
        ratio_interval = interval / error[..., np.newaxis]
    if nonnegative:
        interval = np.clip(interval, 0.0, cap)
        by_law = np.clip(by_law, 0.0, cap)
    return {
        "prediction": prediction,
        "prediction_ci": interval,
        "prediction_by_law": law,
        "prediction_ci_given_law": by_law,
        "prediction_last_fall": last,
        "change": change,
        "change_ci": change_interval,
        "change_ratio": ratio,
        "change_ratio_ci": ratio_interval,
        "extrapolated": curves.far(n),
    }


def _law_and_interval(
    law: Floats,
    half: Floats,
    prediction: Floats,
    weight_of_law: Floats,
    added: Floats,
    law_bounds: Floats | None,
    method: str,
    nonnegative: bool,
) -> tuple[Floats, Floats]:
    """Return the interval of the law by itself, and that of the prediction, both of shape (curve, n, 2)."""
    by_law = around(law, half) if law_bounds is None else law_bounds
    if not nonnegative:
        return by_law, by_law
    if method == "linear":
        # may be negative: no logarithms
        return by_law, around(prediction, np.hypot(half, added * prediction))
    # In logs, of a law that is positive. A bootstrap's ends have distances of their own.
    if law_bounds is None:
        logs = np.where(law > 0, half / law, np.nan)[..., np.newaxis]
    else:
        logs = np.abs(np.log(law_bounds / law[..., np.newaxis]))
    in_logs = np.hypot(weight_of_law[..., np.newaxis] * logs, added[..., np.newaxis])
    return around_in_logs(law, logs), around_in_logs(prediction, in_logs)


def law_of(curves: Curves, n: Floats, method: str) -> tuple[Floats, Floats]:
    """Return errors by the law or the linear rule, shape (curve, n), and their derivatives by θ, (curve, n, 4)."""
    if method != "linear":
        return values(curves.theta, n, curves.at), gradient(curves.theta, n, curves.at)
    fall = 1 / np.sqrt(n / curves.at[:, np.newaxis]) - 1  # Eq. 1, Hoiem et al.
    error = curves.theta[:, ERROR, np.newaxis]
    reliance = curves.theta[:, RELIANCE, np.newaxis]
    slopes = np.zeros((*fall.shape, 4))
    slopes[..., ERROR], slopes[..., RELIANCE] = 1, fall
    return np.asarray(error + fall * reliance), slopes


def _from_no_change_to_twice(fall: LastFall, octaves: Floats, alpha: float, noise: Floats | None) -> Floats:
    """Return the interval of the last fall: from no change to twice the fall, each end with the noise of the mean."""
    # within the data, at less than no octaves, twice the fall is the higher end
    unchanged = fall.values(octaves, 0.0)
    twice = fall.values(octaves, 2.0)
    ends = np.sort(np.stack([unchanged, twice], axis=-1), axis=-1)
    if noise is None:
        return ends
    # both ends start from the last mean error, which is in doubt by its standard error
    half = t_quantile(alpha, _NORMAL) * noise
    factors = around_in_logs(np.ones(noise.shape), half)
    return np.asarray(ends * factors[:, np.newaxis])


def differences(predicted: dict[str, Floats], reference: dict[str, Floats]) -> dict[str, Floats]:
    """Return differences of independent predictions with intervals, from the squared distances to their ends."""
    # root sum of squares of the distances that each end needs (MOVER)
    one, other = predicted["prediction"], reference["prediction"]
    (low, high), (other_low, other_high) = (
        np.moveaxis(each["prediction_ci"], -1, 0) for each in (predicted, reference)
    )
    # the difference is lowest where the first is low and the second high
    ends = [
        -np.hypot(one - low, other_high - other),
        np.hypot(high - one, other - other_low),
    ]
    difference = one - other
    return {
        "difference": difference,
        "difference_ci": difference[..., np.newaxis] + np.stack(ends, axis=-1),
    }
