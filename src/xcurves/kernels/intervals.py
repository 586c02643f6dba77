"""Limits of a probability from counted successes, exact or Wilson's; Student's interval of a mean, Welch's of two.

Welch (1947), doi:10.1093/biomet/34.1-2.28; Satterthwaite (1946), doi:10.2307/3002019.
"""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.plans import TIE


def clopper_pearson(k: Index, n: Index, alpha: float) -> tuple[Floats, Floats]:
    """Return exact limits of a probability from `k` successes in `n` trials."""
    k, n = np.broadcast_arrays(k, n)
    # Few pairs (k, n) are distinct, and the inverse takes long: each is computed once. In base (largest n) + 1 the
    # two are digits of one number.
    base = n.max(initial=0) + 1
    codes, place = np.unique(n * base + k, return_inverse=True)
    trials, successes = np.divmod(codes, base)

    # The lower limit p has P(at least k successes) = α/2, and P(X >= k) is the beta distribution function I_p(k,
    # n - k + 1); the upper one P(at most k) = α/2, and P(X <= k) is 1 - I_p(k + 1, n - k).
    inverse = scipy.special.betaincinv
    lower = inverse(np.maximum(successes, 1), trials - successes + 1, alpha / 2)
    upper = inverse(successes + 1, np.maximum(trials - successes, 1), 1 - alpha / 2)

    # Without a success, or without a failure, nothing bounds p on that side: `maximum` only keeps the inverse defined.
    lower = np.where(successes == 0, 0.0, lower)
    upper = np.where(successes == trials, 1.0, upper)
    return lower[place].reshape(k.shape), upper[place].reshape(k.shape)


def wilson(share: Floats, n: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return Wilson's limits of a probability (1927) from a share of `n` trials, which need not be a whole number."""
    # the p with |share - p| <= z sqrt(p (1 - p) / n)
    z = scipy.special.ndtri(1 - alpha / 2)
    scale = 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / scale
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / scale
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def t_quantile(alpha: float, degrees: Floats) -> Floats:
    """Return the two-sided quantile of Student's t, of the normal distribution for infinite degrees."""
    # few, and a quantile is slow
    distinct, place = np.unique(degrees, return_inverse=True)
    finite = np.where(np.isinf(distinct), 1.0, distinct)
    quantiles = scipy.special.stdtrit(finite, 1 - alpha / 2)
    quantiles[np.isinf(distinct)] = scipy.special.ndtri(1 - alpha / 2)
    return np.asarray(quantiles[place].reshape(np.shape(degrees)))


def student(estimate: Floats | float, error: Floats | float, degrees: Floats, alpha: float) -> Floats:
    """Return Student's intervals of estimates with these standard errors, shape (..., 2)."""
    half = t_quantile(alpha, degrees) * error
    return np.stack([estimate - half, estimate + half], axis=-1)


def satterthwaite(variance: Floats, squares: Floats) -> Floats:
    """Return the degrees of freedom of a sum of squared errors v; `squares` is the sum of the v² / df."""
    # Those of a χ² with the mean and the variance of the sum; NaN where nothing varies.
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(variance**2 / squares)


def mean_interval(runs: Floats, alpha: float) -> tuple[float, Floats]:
    """Return the mean of runs with Student's interval; NaN for fewer than two, or where none differs."""
    if not len(runs):
        return np.nan, np.full(2, np.nan)
    squared_error, df = _squared_error(runs)
    mean = float(runs.mean())
    if not squared_error > 0:
        return mean, np.full(2, np.nan)
    return mean, student(mean, np.sqrt(squared_error), np.array(df), alpha)


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
    df = satterthwaite(np.array(v + w), np.array(v**2 / df_v + w**2 / df_w))
    return difference, student(difference, np.sqrt(v + w), df, alpha)


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
