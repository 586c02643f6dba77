"""Intervals of fitted and predicted errors: around estimates, or in logarithms and widened by the backtest."""

from __future__ import annotations

import numpy as np

from xcurves.core.packing import Floats
from xcurves.kernels import powerlaw
from xcurves.kernels.backtest import widened
from xcurves.kernels.learning import t_quantile

ERROR_ALONE = np.array([1.0, 0.0, 0.0, 0.0])  # the derivatives of e_N by θ
_NORMAL = np.array(np.inf)  # degrees of freedom


def around(estimates: Floats, half_widths: Floats) -> Floats:
    """Return the bounds of symmetric intervals, on a new last axis."""
    return np.stack([estimates - half_widths, estimates + half_widths], axis=-1)


def backtest_half_width(alpha: float, rho: Floats, octaves: Floats) -> Floats:
    """Return z ρ √d, shape (curve, n), for ρ of shape (curve,); an unknown ρ counts as 0."""
    known = np.where(np.isnan(rho), 0.0, rho)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        return np.where(octaves > 0, t_quantile(alpha, _NORMAL) * known * np.sqrt(octaves), 0.0)


def of_prediction(
    prediction: Floats,
    slopes: Floats,
    covariance: Floats,
    quantile: Floats,
    extra: Floats,
    cap: float,
    *,
    in_logs: bool,
) -> tuple[Floats, Floats]:
    """Return intervals of predictions, shape (curve, n, 2): with what the backtest adds, and by the law alone.

    Parameters
    ----------
    prediction : ndarray, shape (curve, n)
    slopes : ndarray, shape (curve, n, 4)
        Derivatives of the predictions by θ.
    covariance : ndarray, shape (curve, 4, 4)
    quantile : ndarray, shape (curve,)
    extra : ndarray, shape (curve, n)
        Half width in logarithms that the backtest adds.
    cap : float
        The largest possible error.
    in_logs : bool
        Else both are symmetric intervals by the law.
    """
    half = quantile[:, np.newaxis] * np.sqrt(powerlaw.variance(slopes, covariance))
    if not in_logs:
        law = around(prediction, half)
        return law, law
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(prediction > 0, half / prediction, np.nan)
        law = prediction[..., np.newaxis] * np.exp(relative[..., np.newaxis] * np.array([-1.0, 1.0]))
    return widened(prediction, law, extra, cap), np.minimum(law, cap)


def of_ratio(
    prediction: Floats, slopes: Floats, error: Floats, covariance: Floats, quantile: Floats, extra: Floats
) -> tuple[Floats, Floats]:
    """Return f(n) / e_N and its interval in logarithms, (curve, n) and (curve, n, 2); NaN where one is not > 0."""
    positive = (prediction > 0) & (error[:, np.newaxis] > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(positive, prediction / error[:, np.newaxis], np.nan)
        of_log = slopes / prediction[..., np.newaxis] - ERROR_ALONE / error[:, np.newaxis, np.newaxis]
        half = quantile[:, np.newaxis] * np.sqrt(powerlaw.variance(of_log, covariance))
    bounds = ratio[..., np.newaxis] * np.exp(half[..., np.newaxis] * np.array([-1.0, 1.0]))
    return ratio, widened(ratio, bounds, extra)
