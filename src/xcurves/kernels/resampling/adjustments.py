"""Adjusted p-values of families of tests, and which algorithms such tests leave as possibly best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats


def holm(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Holm's step-down; NaN stays and does not count."""
    rank = pvalues.argsort(axis=-1).argsort(axis=-1)
    left = np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True) - rank
    raised = np.sort(pvalues, axis=-1) * np.sort(left, axis=-1)[..., ::-1]
    adjusted = np.minimum(np.maximum.accumulate(raised, axis=-1), 1.0)
    return np.where(
        np.isnan(pvalues), np.nan, np.take_along_axis(adjusted, rank, axis=-1)
    )


def bonferroni(pvalues: Floats) -> Floats:
    """Multiply p-values along the last axis by their number (Bonferroni); NaN stays and does not count."""
    return np.minimum(
        pvalues * np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True), 1.0
    )


def benjamini_hochberg(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Benjamini & Hochberg's step-up (1995); NaN stays and does not count."""
    rank = pvalues.argsort(axis=-1).argsort(axis=-1)
    count = np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True)
    raised = np.sort(pvalues, axis=-1) * count / np.arange(1, pvalues.shape[-1] + 1)
    adjusted = np.fmin.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    return np.where(
        np.isnan(pvalues),
        np.nan,
        np.take_along_axis(np.minimum(adjusted, 1.0), rank, axis=-1),
    )


def may_be_best(
    pairs: NDArray[np.intp],
    difference: Floats,
    pvalue_adjusted: Floats,
    n_algorithms: int,
    alpha: float,
) -> Floats:
    """Return 1 for every algorithm over which no other is shown to score higher, else 0; NaN if that leaves none."""
    found = np.full(n_algorithms, np.nan)
    found[pairs[~np.isnan(difference)]] = 1.0
    shown = pvalue_adjusted <= alpha + 1e-12
    lower = np.where(difference > 0, pairs[:, 1], pairs[:, 0])
    found[lower[shown]] = 0.0
    return found if (found == 1).any() else np.full(n_algorithms, np.nan)


ADJUSTMENTS = {"holm": holm, "bonferroni": bonferroni}
