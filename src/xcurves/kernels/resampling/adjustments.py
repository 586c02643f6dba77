"""Adjusted p-values of families of tests, and which algorithms such tests leave as possibly best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index

_LEVEL_TIE = 1e-12  # of a p-value and the level, which both are rounded


def holm(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Holm's step-down; NaN stays and does not count."""
    rank = _ranks(pvalues)
    # The smallest of n p-values is multiplied by n, the next one by n - 1, and so on. NaN comes last in the order: its
    # factors are 0 or less, and what they give is replaced in the end.
    n_left = _count_known(pvalues) - rank
    raised = np.sort(pvalues, axis=-1) * np.sort(n_left, axis=-1)[..., ::-1]
    # none is smaller than one before it
    adjusted = np.minimum(np.maximum.accumulate(raised, axis=-1), 1.0)
    return _in_first_order(adjusted, rank, pvalues)


def bonferroni(pvalues: Floats) -> Floats:
    """Multiply p-values along the last axis by their number (Bonferroni); NaN stays and does not count."""
    return np.minimum(pvalues * _count_known(pvalues), 1.0)


def benjamini_hochberg(pvalues: Floats) -> Floats:
    """Adjust p-values along the last axis by Benjamini & Hochberg's step-up (1995); NaN stays and does not count."""
    place = np.arange(1, pvalues.shape[-1] + 1)
    raised = np.sort(pvalues, axis=-1) * _count_known(pvalues) / place
    # none is larger than one behind it; fmin, as NaN stands behind all
    adjusted = np.fmin.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    return _in_first_order(np.minimum(adjusted, 1.0), _ranks(pvalues), pvalues)


def _count_known(pvalues: Floats) -> Index:
    """Return how many p-values there are, (..., 1): only these are tests of the family."""
    return np.asarray(np.count_nonzero(~np.isnan(pvalues), axis=-1, keepdims=True))


def _ranks(pvalues: Floats) -> Index:
    """Return the place of each p-value in ascending order, from 0."""
    # the order of an order
    return np.asarray(pvalues.argsort(axis=-1).argsort(axis=-1))


def _in_first_order(in_order: Floats, rank: Index, pvalues: Floats) -> Floats:
    """Return values that are given in ascending order of the p-values in the order of these; NaN stays."""
    as_given = np.take_along_axis(in_order, rank, axis=-1)
    return np.where(np.isnan(pvalues), np.nan, as_given)


def may_be_best(
    pairs: NDArray[np.intp],
    difference: Floats,
    pvalue_adjusted: Floats,
    n_algorithms: int,
    alpha: float,
) -> Floats:
    """Return 1 for every algorithm over which no other is shown to score higher, else 0; NaN if that leaves none."""
    best = np.full(n_algorithms, np.nan)  # stays NaN without any comparison
    best[pairs[~np.isnan(difference)]] = 1.0
    # a NaN p-value shows nothing, so that it excludes nobody
    is_shown = pvalue_adjusted <= alpha + _LEVEL_TIE
    lower = np.where(difference > 0, pairs[:, 1], pairs[:, 0])
    best[lower[is_shown]] = 0.0

    # Pairs over different tasks can form a circle, in which each is shown to be lower than another: no answer.
    if not (best == 1).any():
        return np.full(n_algorithms, np.nan)
    return best


ADJUSTMENTS = {"holm": holm, "bonferroni": bonferroni}
