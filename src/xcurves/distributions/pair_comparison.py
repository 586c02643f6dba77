"""How pairs of algorithms are compared by the distributions of their trials, in many tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Ints
from xcurves.core.jobs import Group
from xcurves.distributions.trial_checks import HUNDREDTHS
from xcurves.distributions.trials import (
    Failed,
    check_trials,
    difference_band,
    prefixes_of,
)
from xcurves.kernels.distributions import ecdf, twosample
from xcurves.kernels.resampling.adjustments import ADJUSTMENTS
from xcurves.kernels.resampling.batches import in_stretches
from xcurves.kernels.resampling.plans import DEFAULT_RESAMPLES

# trials, or comparisons within strata, at once
_AT_ONCE = 2**20
_STRATIFIED = 256


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    """How pairs of algorithms are compared."""

    failed: Failed
    pairs: NDArray[np.intp]  # the indices of both algorithms of each pair
    n_strata: int
    stratified: bool
    n_resamples: int | None
    correction: str
    alpha: float
    entropy: int

    def __call__(self, group: Group) -> dict[str, NDArray[Any]]:
        """Compare pairs in tasks, given trials, shape (task, algorithm, *core), not too many at once."""
        n_tasks, n_algorithms = group.data[0].shape[:2]
        by_stratum = group.data[0].reshape(n_tasks * n_algorithms, self.n_strata, -1)
        x = np.sort(by_stratum.reshape(len(by_stratum), -1), axis=-1)
        n = np.count_nonzero(~np.isnan(x), axis=-1)
        check_trials(x, n, prefixes_of(group), self.failed)

        # Rows of trials are algorithms of tasks: those of both sides of each pair of each task.
        first_of_task = n_algorithms * np.arange(n_tasks)
        first, second = (np.add.outer(first_of_task, side).ravel() for side in self.pairs.T)
        if self.stratified:
            trials = np.sort(by_stratum, axis=-1)
            at_once = _STRATIFIED
        else:
            trials = by_stratum[:, 0]
            at_once = max(1, _AT_ONCE // x.shape[-1])

        def compare(some: slice) -> dict[str, Floats]:
            a, b = first[some], second[some]
            compared = self._quantiles(x[a], x[b], n[a], n[b])
            compared["share_infinite_a"] = _share_infinite(x[a], n[a])
            compared["share_infinite_b"] = _share_infinite(x[b], n[b])
            if self.stratified:
                return compared | self._by_stratum(trials[a], trials[b])
            return compared | self._distances(trials[a], trials[b])

        compared = in_stretches(compare, len(first), at_once)
        out = {name: values.reshape(n_tasks, -1, *values.shape[1:]) for name, values in compared.items()}
        if self.stratified:
            for values in out.values():
                values[out["n_units"] == 0] = np.nan
            out["n_units"] = np.nan_to_num(out["n_units"])
        else:
            out["ks_pvalue_adjusted"] = ADJUSTMENTS[self.correction](out["ks_pvalue"])
        out["n_trials"] = n.reshape(n_tasks, n_algorithms)
        return out

    def _quantiles(self, x: Floats, y: Floats, m: Ints, n: Ints) -> dict[str, Floats]:
        """Return differences of inverse CDFs of sorted trials and their band, half of alpha for each sample."""
        first, first_band = self._inverse_cdf(x, m)
        second, second_band = self._inverse_cdf(y, n)
        # Of two trials that are infinite there is no difference.
        with np.errstate(invalid="ignore"):
            difference = first - second
        band = difference_band(first_band, second_band)
        lacking = (m == 0) | (n == 0)
        difference[lacking] = np.nan
        band[lacking] = np.nan
        return {"quantile_difference": difference, "quantile_difference_band": band}

    def _inverse_cdf(self, x: Floats, n: Ints) -> tuple[Floats, Floats]:
        """Return the inverse CDF of sorted trials, and the limits of its band, shape (2, ...)."""
        some = np.maximum(n, 1)
        estimate = ecdf.value_at(x, ecdf.quantile_ranks(HUNDREDTHS, n), some)
        limits = [ecdf.value_at(x, ranks, some) for ranks in ecdf.ranks_in_band(HUNDREDTHS, n, self.alpha / 2)]
        return estimate, np.stack(limits)

    def _by_stratum(self, x: Floats, y: Floats) -> dict[str, Floats]:
        """Return the probability with its interval of sorted trials, shape (comparison, stratum, trial)."""
        probability = twosample.stratified_probability(x, y)

        # The likelier sample is the first: samples that change places then have exactly the complementary interval.
        is_swapped = probability < 0.5
        swap = is_swapped[:, np.newaxis, np.newaxis]
        likelier = np.where(swap, y, x)
        other = np.where(swap, x, y)
        sizes = np.concatenate(
            [np.count_nonzero(~np.isnan(each), axis=-1) for each in (likelier, other)],
            axis=-1,
        )

        # For the pair by itself, and for all pairs together; one trial shows no spread.
        ends = np.full((2, len(x), 2), np.nan)
        alphas = (self.alpha, self.alpha / len(self.pairs))
        n_resamples = self.n_resamples or DEFAULT_RESAMPLES
        n_units = sizes.min(axis=-1)
        known = np.flatnonzero(n_units > 1)
        for size in np.unique(sizes[known], axis=0):
            alike = known[(sizes[known] == size).all(axis=-1)]
            for limits, alpha in zip(ends, alphas, strict=True):
                limits[alike] = twosample.stratified_interval(
                    likelier[alike], other[alike], n_resamples, self.entropy, alpha
                )
        ends[:, is_swapped] = 1 - ends[:, is_swapped, ::-1]
        return {
            "prob_greater": probability,
            "prob_greater_ci": ends[0],
            "prob_greater_ci_simultaneous": ends[1],
            "n_units": n_units.astype(float),
        }

    def _distances(self, x: Floats, y: Floats) -> dict[str, Floats]:
        """Return what is computed from the merged samples: the probability, the distance, and the verdict."""
        merged = twosample.merge_samples(x, y)
        m, n = merged.m[:, 0], merged.n[:, 0]
        known = (m > 0) & (n > 0)
        gap = twosample.gaps(merged)
        higher, lower = twosample.outside_bands(merged, self.alpha / 2)
        verdict = np.where(higher & lower, 2, higher.astype(int) - lower)
        distances = {
            "dominance": np.where(known, verdict, 0).astype(float),
            "ks_statistic": np.where(known, gap / np.where(known, m * n, 1), np.nan),
        }

        of_all_pairs = self.alpha / len(self.pairs)
        probability = twosample.prob_greater(merged)
        return distances | {
            "ks_pvalue": twosample.ks_pvalue(merged, gap),
            "prob_greater": probability,
            "prob_greater_ci": twosample.newcombe(probability, m, n, self.alpha),
            "prob_greater_ci_simultaneous": twosample.newcombe(probability, m, n, of_all_pairs),
        }


def _share_infinite(x: Floats, n: Ints) -> Floats:
    """Return the share of trials that failed, or of times that are not reached; NaN where there is none."""
    return np.asarray(np.isinf(x).sum(axis=-1) / np.where(n > 0, n, np.nan))
