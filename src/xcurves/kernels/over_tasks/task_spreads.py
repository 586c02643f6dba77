"""How much true differences vary over tasks, or families of tasks, and in which share of them the first is better."""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.array_types import Floats, Index
from xcurves.kernels.intervals import clopper_pearson, satterthwaite

_MANY = 1e14  # degrees of freedom of F that stand for infinitely many


def spread_of_truth(d: Floats, v: Floats, uncertainty: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return the standard deviation of true differences of pairs, its interval, and the share of noise.

    That is the part of the variance between tasks that is due to the runs. NaN of a single task.
    """
    # S² = var(d) has the mean τ² + v̄, v̄ the mean squared error of the d: S² / (τ² + v̄) is about F distributed, with T -
    # 1 degrees of freedom and those of v̄, (Σ v)² over the sum of (s² / l)² / (l - 1) (Satterthwaite). So the ends of τ²
    # are S² / F quantile - v̄; upwards not below what S² = v̄ gives.
    count = np.count_nonzero(~np.isnan(d), axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(d, axis=-1) / count
        noise = np.nansum(v, axis=-1) / count
        deviations = d - mean[:, np.newaxis]
        df_tasks = np.where(count > 1, count - 1, np.nan)
        variance = np.nansum(deviations**2, axis=-1) / df_tasks
        # 0 / 0 of errors that are exactly 0
        df_noise = np.fmin(satterthwaite(noise * count, uncertainty), _MANY)
        upper = scipy.special.fdtri(count - 1.0, df_noise, 1 - alpha / 2)
        lower = scipy.special.fdtri(count - 1.0, df_noise, alpha / 2)
        low = variance / upper - noise
        high = np.maximum(variance, noise) / lower - noise
        noise_share = np.minimum(noise / variance, 1.0)
    squares = np.stack([variance - noise, low, high], axis=-1)
    spreads = np.sqrt(np.maximum(squares, 0.0))
    return spreads[..., 0], spreads[..., 1:], noise_share


def share_positive(positive: Index, negative: Index, alpha: float) -> tuple[Floats, Floats]:
    """Return the share of positive numbers, of so many that are not 0, and Clopper & Pearson's interval."""
    n = positive + negative
    share = positive / np.where(n > 0, n, np.nan)
    limits = np.stack(clopper_pearson(positive, n, alpha), axis=-1)
    return share, np.where(n[:, np.newaxis] > 0, limits, np.nan)
