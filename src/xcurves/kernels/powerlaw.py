"""The extended power law and its parameters, e(n) = α + η n^γ + δ n^{2γ}.

A curve is held as θ = (e_N, β_N, γ, δ), error and data-reliance at the size N with the exponent and, unless it is
quadratic, δ = 0. With v(n) = (n^γ / N^γ − 1) / γ,

    e(n) = e_N − β_N v(n) / 2 + δ (n^γ − N^γ)²,

which stays well conditioned for γ near zero, where α and η, huge and of opposite sign, would cancel.
"""

from __future__ import annotations

import numpy as np

from xcurves.kernels.moments import Floats

ERROR, RELIANCE, GAMMA, DELTA = range(4)


def basis(n: Floats, at: Floats, gamma: Floats) -> Floats:
    """Return v(n), shape (..., size), for `at` and `gamma` of shape (...)."""
    exponent = gamma[..., np.newaxis]
    return np.asarray(np.expm1(exponent * np.log(n / at[..., np.newaxis])) / exponent)


def squared(v: Floats, at: Floats, gamma: Floats) -> Floats:
    """Return (n^γ − N^γ)², what δ stands before."""
    return np.asarray(((gamma * at**gamma)[..., np.newaxis] * v) ** 2)


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
    power = at[..., np.newaxis] ** gamma
    difference = power * gamma * v  # n^γ − N^γ
    slope = power * (gamma * v * np.log(n) + log)  # its derivative by γ
    by_gamma = -reliance / 2 * (log * (1 + gamma * v) - v) / gamma + 2 * delta * difference * slope
    return np.stack([np.ones_like(v), -v / 2, by_gamma, difference**2], axis=-1)


def log_slope(theta: Floats, n: Floats, at: Floats) -> Floats:
    """Return the derivative of e(n) by ln n, shape (..., size)."""
    gamma, delta, reliance = (theta[..., i, np.newaxis] for i in (GAMMA, DELTA, RELIANCE))
    v = basis(n, at, theta[..., GAMMA])
    power = at[..., np.newaxis] ** gamma
    return np.asarray((1 + gamma * v) * (-reliance / 2 + 2 * delta * gamma**2 * power**2 * v))


def parameters(theta: Floats, at: Floats) -> Floats:
    """Return e_N, β_N, γ, α, η, δ, shape (..., 6)."""
    error, reliance, gamma, delta = np.moveaxis(theta, -1, 0)
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
