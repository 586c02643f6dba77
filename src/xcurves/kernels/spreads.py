"""Quantiles of the ratio of sample spreads under equal normal spread."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np
import scipy

_NODES = 400


@lru_cache(maxsize=1024)
def ratio_quantile(sizes: tuple[int, ...], probability: float) -> float:
    """Return a quantile of the ratio of the largest to the smallest standard deviation of normal samples.

    Samples of `sizes` 2 or more come from normal distributions of equal spread. With ``F_i`` the distribution of the
    variance of sample ``i``, the ratio of variances is at most ``r`` with probability
    ``Σ_i ∫ Π_{j≠i} [F_j(r F_i⁻¹(p)) - F_j(F_i⁻¹(p))] dp`` over ``p`` from 0 to 1.
    """
    counts = Counter(size - 1 for size in sizes)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    p = (nodes + 1) / 2

    def excess(log_ratio: float) -> float:
        total = 0.0
        for smallest, count in counts.items():
            x = 2 * scipy.special.gammaincinv(smallest / 2, p) / smallest
            product = np.ones(_NODES)
            for df, n in counts.items():
                upper, lower = (scipy.special.gammainc(df / 2, df * at / 2) for at in (x * np.exp(log_ratio), x))
                product *= (upper - lower) ** (n - (df == smallest))
            total += count * float(weights @ product) / 2
        return total - probability

    return float(np.exp(scipy.optimize.brentq(excess, 1e-6, 60, xtol=1e-10) / 2))
