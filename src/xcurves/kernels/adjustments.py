"""p-values adjusted for the number of tests."""

from __future__ import annotations

import numpy as np

from xcurves.kernels.moments import Floats


def holm(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Holm's step-down; NaN stays and does not count."""
    rank = pvalues.argsort(axis=-1).argsort(axis=-1)
    left = np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True) - rank
    raised = np.sort(pvalues, axis=-1) * np.sort(left, axis=-1)[..., ::-1]
    adjusted = np.minimum(np.maximum.accumulate(raised, axis=-1), 1.0)
    return np.where(np.isnan(pvalues), np.nan, np.take_along_axis(adjusted, rank, axis=-1))


def bonferroni(pvalues: Floats) -> Floats:
    """Multiply p-values along the last axis by their number (Bonferroni); NaN stays and does not count."""
    return np.minimum(pvalues * np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True), 1.0)


def benjamini_hochberg(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Benjamini & Hochberg's step-up (1995); NaN stays and does not count."""
    rank = pvalues.argsort(axis=-1).argsort(axis=-1)
    count = np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True)
    raised = np.sort(pvalues, axis=-1) * count / np.arange(1, pvalues.shape[-1] + 1)
    adjusted = np.fmin.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    return np.where(np.isnan(pvalues), np.nan, np.take_along_axis(np.minimum(adjusted, 1.0), rank, axis=-1))


ADJUSTMENTS = {"holm": holm, "bonferroni": bonferroni}
