"""The mean difference over tasks like those at hand, by flipping the signs of whole tasks, or of families of tasks.

Every family has a number ``x``, the sum of its tasks' weighted differences, and a weight ``W``. The test statistic is

    T = Σ x / sqrt(F / (F - 1) (Σ x² - (Σ x)² / F)),

which rises with ``R = (Σ x)² / (F Σ x²)``, whose denominator no flip changes. One vector of flips serves all pairs of
algorithms and all levels. The test is exact for independent differences that are symmetric about 0. Its interval is
that of the subset means (Hartigan 1969, doi:10.1080/01621459.1969.10501057).

Numbers are of shape (member, family); a family that a member does not have is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import DEFAULT_RESAMPLES, EXACT_LIMIT, TIE

_HELD = 2**21  # doubles of sums held at once
_ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True)
class FlipPlan:
    """The flips that all tests evaluate.

    Attributes
    ----------
    n_families : int
        Number of families.
    exact : bool
        Whether every flip is evaluated once.
    n_flips : int
        Number of flips evaluated.
    entropy : int
        Seed of the random flips.
    """

    n_families: int
    exact: bool
    n_flips: int
    entropy: int

    @property
    def n_total(self) -> int:
        """Denominator of the p-value: all flips, or the random ones and the observed one."""
        return self.n_flips if self.exact else self.n_flips + 1

    def signs(self, rows: int) -> Iterator[Floats]:
        """Yield signs, shape (at most rows, family): the same, in the same order, for any number of rows."""
        rng = np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(self.n_families,)))
        for start in range(0, self.n_flips, rows):
            stop = min(start + rows, self.n_flips)
            if self.exact:
                bits = np.arange(start, stop)[:, np.newaxis] >> np.arange(self.n_families) & 1
            else:
                bits = rng.integers(0, 2, (stop - start, self.n_families))
            yield np.where(bits, -1.0, 1.0)


def plan_flips(n_families: int, n_resamples: int | None, entropy: int = 0) -> FlipPlan:
    """Plan flips: all of them if their number is within the ceiling, else random ones; see `plan_shuffles`."""
    exact = 2**n_families <= (EXACT_LIMIT if n_resamples is None else n_resamples)
    n_random = DEFAULT_RESAMPLES if n_resamples is None else n_resamples
    return FlipPlan(n_families, exact, 2**n_families if exact else n_random, entropy)


def flip_statistic(x: Floats) -> Floats:
    """Return T, shape (member,); infinite if all families have the same number, NaN of less than two families."""
    n = np.count_nonzero(~np.isnan(x), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = _ratio(np.nansum(x, axis=-1), x)
        t = np.sign(np.nansum(x, axis=-1)) * np.sqrt((n - 1) * ratio / np.where(ratio > 1 - _ROUNDING, 0.0, 1 - ratio))
    return np.where(n < 2, np.nan, np.where(ratio == 0, 0.0, t))


def _ratio(total: Floats, x: Floats) -> Floats:
    """Return R of flipped sums, shape (..., member); 0 where all numbers are 0."""
    scale = np.count_nonzero(~np.isnan(x), axis=-1) * np.nansum(x**2, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(scale > 0, total**2 / scale, 0.0)


def pvalues(x: Floats, plan: FlipPlan, family: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return p-values, and p-values adjusted by step-down max-|T| over the members numbered `family`, shape (member,).

    Members of unlike numbers of families are compared by P(t > |T|). The p-value of a member of less than two families
    is NaN, the adjusted one that of a member outside `family` too.
    """
    present = ~np.isnan(x)
    n = np.count_nonzero(present, axis=-1)
    family = family[n[family] > 1]
    alike = len(set(n[family].tolist())) < 2
    filled = np.where(present, x, 0.0)
    observed = _ratio(filled.sum(axis=-1), x)
    size = _size(observed[family], n[family], alike=alike)
    order = size.argsort(kind="stable")
    counts, reached = np.zeros(len(x)), np.zeros(len(family))
    for signs in plan.signs(max(1, _HELD // max(1, sum(x.shape)))):
        ratio = _ratio(signs @ filled.T, x) + TIE
        counts += np.count_nonzero(ratio >= observed, axis=0)
        largest = _size(np.minimum(ratio[:, family], 1.0), n[family], alike=alike)[:, order]
        np.maximum.accumulate(largest, axis=1, out=largest)
        reached += np.count_nonzero(largest >= size[order], axis=0)
    more = plan.n_total - plan.n_flips
    adjusted = np.full(len(x), np.nan)
    adjusted[family[order]] = (np.maximum.accumulate(reached[::-1])[::-1] + more) / plan.n_total
    return np.where(n > 1, (counts + more) / plan.n_total, np.nan), adjusted


def _size(ratio: Floats, n: Floats, *, alike: bool) -> Floats:
    """Return R, or if the numbers of families differ -log P(|t| > |T|), which rises with it."""
    if alike:
        return ratio.copy()
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(scipy.special.betainc((n - 1) / 2, 0.5, np.maximum(1 - ratio, 0.0))))


def flip_intervals(x: Floats, weights: Floats, plan: FlipPlan, alpha: float) -> Floats:
    """Return the interval of the weighted mean of every member, shape (member, 2), infinite where no p is so small.

    `x` are sums of weighted differences, `weights` those of their weights, positive, both NaN for absent families.
    """
    if plan.exact:
        return np.array([_exact_interval(*each, alpha) for each in zip(x, weights, strict=True)]).reshape(-1, 2)
    width = max(1, _HELD // plan.n_flips)
    starts = range(0, len(x), width)
    parts = [_drawn_intervals(x[s : s + width], weights[s : s + width], plan, alpha) for s in starts]
    return np.concatenate([np.empty((0, 2)), *parts])


def _drawn_intervals(x: Floats, weights: Floats, plan: FlipPlan, alpha: float) -> Floats:
    """Return the intervals from random flips: of each the means of the flipped and of the other families."""
    rare = int(np.floor(alpha * plan.n_total + 1e-9))
    if rare == 0:
        return np.tile([-np.inf, np.inf], (len(x), 1))
    numbers, of_families = (np.nan_to_num(each).T for each in (x, weights))
    low, high = np.empty((plan.n_flips, len(x))), np.empty((plan.n_flips, len(x)))
    rows = max(1, _HELD // sum(x.shape))
    for number, signs in enumerate(plan.signs(rows)):
        flipped = (signs < 0).astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            one = (flipped @ numbers) / (flipped @ of_families)
            other = ((1 - flipped) @ numbers) / ((1 - flipped) @ of_families)
        none = ~np.isfinite(one + other)
        block = slice(number * rows, number * rows + len(signs))
        low[block] = np.where(none, -np.inf, np.minimum(one, other))
        high[block] = np.where(none, np.inf, np.maximum(one, other))
    low.partition(rare - 1, axis=0)
    high.partition(len(high) - rare, axis=0)
    return np.stack([low[rare - 1], high[len(high) - rare]], axis=-1)


def _exact_interval(x: Floats, weights: Floats, alpha: float) -> Floats:
    """Return the interval from the means of all subsets of one member's families."""
    present = ~np.isnan(x)
    rare = int(np.floor(alpha * 2 ** np.count_nonzero(present) + 1e-9)) // 2
    if rare == 0:
        return np.array([-np.inf, np.inf])
    means = _subset_sums(x[present])[1:] / _subset_sums(weights[present])[1:]
    means.partition((rare - 1, len(means) - rare))
    return means[[rare - 1, len(means) - rare]]


def _subset_sums(numbers: Floats) -> Floats:
    sums = np.zeros(2 ** len(numbers))
    for place, number in enumerate(numbers):
        np.add(sums[: 2**place], number, out=sums[2**place : 2 ** (place + 1)])
    return sums
