"""Limits of a probability from counted successes: exact ones, and Wilson's."""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.array_types import Floats, Index


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
