"""Weighted means over tasks, or families of them: their errors and intervals, and of one more value.

``x`` has the sums of a family's weighted numbers, (member, family), NaN if absent, and ``weights`` those of the
weights, of sum one.
"""

from __future__ import annotations

import numpy as np

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.intervals import student, wilson
from xcurves.kernels.resampling.plans import TIE

_SAME = 1e-15  # of sums of squares: what is left when equal numbers are taken from each other
_MOST_ANSWERS = 8  # of a task, of which scores may be the shares
_FEWEST_NEW = 5  # tasks whose differences say something of one more
_FEWEST_DISTINCT = 4  # of these differences that are not the same
_SOME = 64  # values, among which so many mostly are


def error_over_families(x: Floats, weights: Floats) -> Floats:
    """Return the standard errors of weighted means over families, shape (member,); NaN of a single family."""
    # sqrt(F / (F - 1) Σ (x - n Δ)²), n the weight of the family and Δ the mean
    n_families = np.count_nonzero(~np.isnan(x), axis=-1)
    mean = np.nansum(x, axis=-1, keepdims=True)
    squares = np.nansum((x - weights * mean) ** 2, axis=-1)
    is_rounding = squares <= _SAME * np.nansum(x**2, axis=-1)
    squares = np.where(is_rounding, 0.0, squares)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = n_families / (n_families - 1) * squares
    return np.asarray(np.sqrt(np.where(n_families > 1, variance, np.nan)))


def means_over_families(x: Floats, weights: Floats, alpha: float, *, of_shares: bool) -> Floats:
    """Return intervals of weighted means over families like these, shape (member, 2).

    They are Student's, NaN where nothing varies; of shares Wilson's, of as many numbers as have such an error.
    """
    mean = np.nansum(x, axis=-1)
    error = error_over_families(x, weights)
    n_families = np.count_nonzero(~np.isnan(x), axis=-1).astype(float)
    if of_shares:
        share = np.clip(mean, 0.0, 1.0)  # a sum of weights may be above 1 by rounding
        with np.errstate(divide="ignore", invalid="ignore"):
            n_effective = share * (1 - share) / error**2
        n_effective = np.where(error == 0, n_families, n_effective)
        return np.stack(wilson(share, n_effective, alpha), axis=-1)

    return student(mean, np.where(error > 0, error, np.nan), n_families - 1, alpha)


def are_shares(scores: Floats) -> bool:
    """Return whether all scores are 0 or 1, or all are the shares of equally many answers, of a few; NaN are none."""
    known = scores[~np.isnan(scores)]
    if not known.size or known.min() < 0 or known.max() > 1:
        return False
    for n_answers in range(1, _MOST_ANSWERS + 1):
        successes = n_answers * known
        if np.abs(successes - np.rint(successes)).max() <= TIE:
            return True
    return False


def one_more_value(values: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return intervals of one more of exchangeable values, (member, value), and their levels, shape (member,).

    From the j-th smallest to the j-th largest value. NaN where fewer than five are known, or than four are distinct.
    """
    # One more value has each of T + 1 ranks with the same probability: 2 j of them are outside.
    n = np.count_nonzero(~np.isnan(values), axis=-1)
    rank = np.maximum(1, np.floor(alpha / 2 * (n + 1) + 1e-9).astype(np.intp))
    is_known = n >= _FEWEST_NEW
    is_known[is_known] = _have_distinct(values[is_known], n[is_known])
    ends, level = np.full((len(values), 2), np.nan), np.full(len(values), np.nan)
    for number in np.unique(n[is_known]).tolist():
        members = np.flatnonzero(is_known & (n == number))
        j = int(rank[members[0]])
        # half the time of a sort; NaN last
        at = [j - 1, number - j]
        ends[members] = np.partition(values[members], at, axis=-1)[:, at]
        level[members] = 1 - 2 * j / (number + 1)
    return ends, level


def _have_distinct(values: Floats, n: Index) -> Bools:
    """Return whether so many of `n` values, (member, value), differ by more than rounding from all below them."""
    # Between two of some values that are n times as far apart there is such a step among all: few need a sort.
    largest = np.fmax.reduce(np.abs(values), axis=-1, initial=0.0)
    is_enough = _n_steps(values[:, :_SOME], n * TIE * largest) >= _FEWEST_DISTINCT - 1
    others = np.flatnonzero(~is_enough)
    is_enough[others] = _n_steps(values[others], TIE * largest[others]) >= _FEWEST_DISTINCT - 1
    return np.asarray(is_enough)


def _n_steps(values: Floats, least: Floats) -> Index:
    """Return how many values are further than that from the next one below, NaN are none."""
    gaps = np.diff(np.sort(values, axis=-1), axis=-1)
    return np.asarray(np.count_nonzero(gaps > least[:, np.newaxis], axis=-1))
