"""Power by number of runs: rates that do not fall, and the number of runs that reaches a power."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xcurves.kernels.ecdf import quantile_ranks
from xcurves.kernels.moments import Floats


def isotonic(rates: Floats) -> Floats:
    """Return the nearest rates that do not fall along the last axis (least squares): isotonic regression."""
    known = np.nan_to_num(rates)
    n = rates.shape[-1]
    sums = np.concatenate([np.zeros((*rates.shape[:-1], 1)), known.cumsum(axis=-1)], axis=-1)
    i, k = np.arange(n)[:, np.newaxis], np.arange(n)
    means = (sums[..., 1:][..., np.newaxis, :] - sums[..., :-1, np.newaxis]) / np.maximum(k - i + 1, 1)
    lowest = np.minimum.accumulate(np.where(k >= i, means, np.inf)[..., ::-1], axis=-1)[..., ::-1]
    fitted = np.maximum.accumulate(np.where(k >= i, lowest, -np.inf), axis=-2)
    return np.where(np.isnan(rates), np.nan, np.diagonal(fitted, axis1=-2, axis2=-1))


def first_reaching(rates: Floats, power: float, n_runs: Sequence[int]) -> Floats:
    """Return the smallest number of runs from which on rates, shape (..., n_runs), reach the power.

    It is infinite where none does, and NaN where no number of runs gives a p-value.
    """
    missed = ~(rates >= power)
    first = np.where(missed.any(axis=-1), len(n_runs) - missed[..., ::-1].argmax(axis=-1), 0)
    found = np.append(np.array(n_runs, dtype=np.float64), np.inf)[first]
    return np.where(np.isnan(rates).all(axis=-1), np.nan, found)


def quantile(numbers: Floats, probability: float) -> Floats:
    """Return the smallest of the numbers along the first axis up to which such a share of them lies; NaN stays."""
    rank = quantile_ranks(np.array([probability]), np.array([len(numbers)])).item()
    found: Floats = np.sort(numbers, axis=0)[rank - 1]
    return found
