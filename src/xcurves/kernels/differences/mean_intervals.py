"""Student's interval of a mean, and Welch's of a difference of two (1947, doi:10.1093/biomet/34.1-2.28)."""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.array_types import Floats
from xcurves.kernels.resampling.plans import TIE


def mean_with_interval(runs: Floats, alpha: float) -> tuple[float, Floats]:
    """Return the mean of runs with Student's interval; NaN for fewer than two, or where none differs."""
    if not len(runs):
        return np.nan, np.full(2, np.nan)
    squared_error, df = _squared_error(runs)
    return _around(float(runs.mean()), squared_error, df, alpha)


def welch_interval(some: Floats, others: Floats, alpha: float) -> tuple[float, Floats]:
    """Return the difference of the means of two groups of runs with Welch's interval, NaN as for a mean."""
    if not min(len(some), len(others)):
        return np.nan, np.full(2, np.nan)
    difference = float(some.mean() - others.mean())
    v, df_v = _squared_error(some)
    w, df_w = _squared_error(others)
    # NaN of a single run, too, is not above 0
    if not v + w > 0:
        return difference, np.full(2, np.nan)
    # Welch & Satterthwaite: those of a χ² with the mean and the variance of v + w
    df = (v + w) ** 2 / (v**2 / df_v + w**2 / df_w)
    return _around(difference, v + w, df, alpha)


def _squared_error(runs: Floats) -> tuple[float, float]:
    """Return the squared standard error of a mean with its degrees of freedom."""
    if len(runs) < 2:
        return np.nan, np.nan
    variance = float(runs.var(ddof=1))
    df = len(runs) - 1.0
    # runs that only differ by rounding say nothing of a spread
    if variance <= (TIE * np.abs(runs).max()) ** 2:
        return 0.0, df
    return variance / len(runs), df


def _around(
    estimate: float, squared_error: float, df: float, alpha: float
) -> tuple[float, Floats]:
    """Return an estimate with the interval of t around it, NaN where its error is unknown or 0."""
    if not squared_error > 0:
        return estimate, np.full(2, np.nan)
    half = float(scipy.special.stdtrit(df, 1 - alpha / 2) * np.sqrt(squared_error))
    return estimate, np.array([estimate - half, estimate + half])
