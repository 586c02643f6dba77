"""Pairs of performance distributions of many tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.core.driver import Group
from xcurves.distributions.trials import difference_band
from xcurves.kernels import ecdf, plans, twosample
from xcurves.kernels.engine import ADJUSTMENTS
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import DEFAULT_RESAMPLES


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """How pairs of algorithms are compared; the trials of each are reshaped to `shape`, of strata and trials.

    `pairs` has the indices of both algorithms of each pair.
    """

    pairs: list[list[int]]
    shape: tuple[int, int]
    stratified: bool
    probabilities: Floats
    n_resamples: int | None
    paired: bool
    correction: str
    alpha: float
    entropy: int

    def __call__(self, group: Group) -> dict[str, NDArray[Any]]:
        """Compare pairs in tasks, given trials, shape (task, algorithm, *core)."""
        trials = group.data[0].reshape(*group.data[0].shape[:2], *self.shape)
        for task, algorithm, *_ in np.argwhere(np.isneginf(trials))[:1]:
            raise ValueError(
                f"{group.names[task]}algorithm {group.algorithms[algorithm]} has scores of -inf. "
                "Mask them as missing: scores.where(np.isfinite(scores))"
            )
        pooled = trials.reshape(*trials.shape[:2], -1)
        x = np.sort(pooled, axis=-1)
        n = np.count_nonzero(~np.isnan(pooled), axis=-1)
        share = np.count_nonzero(np.isposinf(x), axis=-1) / np.where(n > 0, n, np.nan)
        columns = []
        for a, b in self.pairs:
            found = self._quantiles(x[:, a], x[:, b], n[:, a], n[:, b])
            found |= {"share_infinite_a": share[:, a].copy(), "share_infinite_b": share[:, b].copy()}
            if self.stratified:
                found |= self._by_stratum(trials[:, a], trials[:, b])
                for values in found.values():
                    values[found["n_units"] == 0] = np.nan
                found["n_units"] = np.nan_to_num(found["n_units"])
            else:
                self._check_paired(pooled[:, a], pooled[:, b], group, (a, b))
                found |= self._distances(pooled[:, a], pooled[:, b])
            columns.append(found)
        out = {name: np.stack([found[name] for found in columns], axis=1) for name in columns[0]}
        if not self.stratified:
            out["ks_pvalue_adjusted"] = ADJUSTMENTS[self.correction](out["ks_pvalue"])
        return out | {"n_trials": n}

    def _check_paired(self, x: Floats, y: Floats, group: Group, pair: Sequence[int]) -> None:
        one_sided = (np.isnan(x) != np.isnan(y)) & self.paired
        for task in np.flatnonzero(one_sided.any(axis=-1))[:1]:
            a, b = (group.algorithms[i] for i in pair)
            raise ValueError(
                f"{group.names[task]}paired=True needs every trial in every algorithm; {one_sided[task].sum()} of "
                f"{a} and {b} have no partner. Select the common runs, or use paired=False"
            )

    def _quantiles(self, x: Floats, y: Floats, m: NDArray[np.int64], n: NDArray[np.int64]) -> dict[str, Floats]:
        """Return differences of inverse CDFs of sorted trials and their band, half of alpha for each sample."""
        first, second = (self._with_band(*each) for each in ((x, m), (y, n)))
        with np.errstate(invalid="ignore"):  # of two trials that are infinite there is no difference
            difference = first[0] - second[0]
        found = {"quantile_difference": difference, "quantile_difference_band": difference_band(first[1:], second[1:])}
        for values in found.values():
            values[(m == 0) | (n == 0)] = np.nan
        return found

    def _with_band(self, x: Floats, n: NDArray[np.int64]) -> list[Floats]:
        """Return F⁻¹ of sorted trials, and the lowest and the highest that the band of F allows."""
        allowed = ecdf.ranks_in_band(self.probabilities, n, self.alpha / 2)
        ranks = (ecdf.quantile_ranks(self.probabilities, n), *allowed)
        return [ecdf.value_at(x, rank, np.maximum(n, 1)) for rank in ranks]

    def _by_stratum(self, x: Floats, y: Floats) -> dict[str, Floats]:
        x, y = np.sort(x, axis=-1), np.sort(y, axis=-1)
        probability = twosample.stratified_probability(x, y)
        interval = np.full((len(x), 2), np.nan)
        turned = probability < 0.5  # swapped samples then have exactly the complementary interval
        x, y = (np.where(turned[:, np.newaxis, np.newaxis], *each) for each in ((y, x), (x, y)))
        sizes = np.concatenate([np.count_nonzero(~np.isnan(each), axis=-1) for each in (x, y)], axis=-1)
        n_units = sizes.min(axis=-1)
        known = np.flatnonzero(n_units > 1)  # one trial shows no spread
        for size in np.unique(sizes[known], axis=0):
            tasks = known[(sizes[known] == size).all(axis=-1)]
            n_resamples = self.n_resamples or DEFAULT_RESAMPLES
            interval[tasks] = twosample.stratified_interval(x[tasks], y[tasks], n_resamples, self.entropy, self.alpha)
        interval[turned] = 1 - interval[turned, ::-1]
        return {"prob_greater": probability, "prob_greater_ci": interval, "n_units": n_units.astype(float)}

    def _distances(self, x: Floats, y: Floats) -> dict[str, Floats]:
        """Return what is computed from the merged samples: the probability, the distance, and the verdict."""
        merged = twosample.merge_samples(x, y)
        m, n = merged.m[:, 0], merged.n[:, 0]
        known = (m > 0) & (n > 0)
        gap = np.maximum(*twosample.gaps(merged))
        first, second = twosample.outside_bands(merged, self.alpha / 2)
        if self.paired:
            probability, interval = twosample.paired_probability(x, y, self.alpha)
            pvalue = self._paired_pvalue(merged, gap)
        else:
            probability = twosample.prob_greater(merged)
            interval = twosample.newcombe(probability, m, n, self.alpha)
            pvalue = twosample.ks_pvalue(merged, gap)
        return {
            "prob_greater": probability,
            "prob_greater_ci": interval,
            "dominance": np.where(known, np.where(first & second, 2, first.astype(int) - second), 0).astype(float),
            "ks_statistic": np.where(known, gap / np.where(known, m * n, 1), np.nan),
            "ks_pvalue": pvalue,
        }

    def _paired_pvalue(self, merged: twosample.Merged, gap: NDArray[np.int64]) -> Floats:
        pvalue = np.full(len(gap), np.nan)
        present = merged.m[:, 0]
        for size in np.unique(present[present > 0]):
            tasks = np.flatnonzero(present == size)
            plan = plans.plan_runs((int(size),) * 2, self.n_resamples, paired=True, entropy=self.entropy)
            pvalue[tasks] = twosample.paired_ks_pvalue(twosample.select(merged, tasks, int(size)), gap[tasks], plan)
        return pvalue
