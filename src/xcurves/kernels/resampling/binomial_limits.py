"""Exact limits of a probability from counted successes."""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.array_types import Floats, Index


def clopper_pearson(k: Index, n: Index, alpha: float) -> tuple[Floats, Floats]:
    """Return exact limits of a probability from `k` successes in `n` trials."""
    k, n = np.broadcast_arrays(k, n)
    # few values of k are distinct
    codes, place = np.unique(n * (n.max(initial=0) + 1) + k, return_inverse=True)
    trials, successes = np.divmod(codes, n.max(initial=0) + 1)
    inverse = scipy.special.betaincinv
    lower = inverse(np.maximum(successes, 1), trials - successes + 1, alpha / 2)
    upper = inverse(successes + 1, np.maximum(trials - successes, 1), 1 - alpha / 2)
    limits = (
        np.where(successes == 0, 0.0, lower),
        np.where(successes == trials, 1.0, upper),
    )
    return limits[0][place].reshape(k.shape), limits[1][place].reshape(k.shape)
