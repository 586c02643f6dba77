"""Pairs of performance distributions in a block of tasks, in memory or in a dask worker."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from xcurves.core.packing import Floats, Layout
from xcurves.kernels import ecdf, shuffles, twosample
from xcurves.kernels.adjustments import ADJUSTMENTS
from xcurves.kernels.shuffles import DEFAULT_RESAMPLES


@dataclass(frozen=True)
class PairBlock:
    """All pairs in a block of tasks; core dims are reshaped to `shape`, the numbers of strata and of trials."""

    layout: Layout
    names: list[str]
    algorithms: list[str]
    shape: tuple[int, int]
    stratified: bool
    probabilities: Floats
    n_resamples: int | None
    paired: bool
    correction: str
    alpha: float
    entropy: int

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Places of the algorithms of each pair."""
        return list(combinations(range(len(self.algorithms)), 2))

    def __call__(self, scores: Floats, numbers: NDArray[np.int64]) -> Floats:
        """Compare pairs in tasks, given scores, shape (..., algorithm, *core), and numbers, shape (...)."""
        trials = scores.reshape(numbers.size, len(self.algorithms), *self.shape)
        names = [self.names[number] for number in numbers.ravel()]
        for task, algorithm, *_ in np.argwhere(np.isneginf(trials))[:1]:
            raise ValueError(
                f"{names[task]}algorithm {self.algorithms[algorithm]} has scores of -inf. "
                "Mask them as missing: scores.where(np.isfinite(scores))"
            )
        out = self.layout.blank(len(names))
        pooled = trials.reshape(*trials.shape[:2], -1)
        x = np.sort(pooled, axis=-1)
        n = np.count_nonzero(~np.isnan(pooled), axis=-1)
        out["n_trials"][:] = n
        share = np.count_nonzero(np.isposinf(x), axis=-1) / np.where(n > 0, n, np.nan)
        for column, (a, b) in enumerate(self.pairs):
            found = self._quantiles(x[:, a], x[:, b], n[:, a], n[:, b])
            found |= {"share_infinite_a": share[:, a].copy(), "share_infinite_b": share[:, b].copy()}
            if self.stratified:
                found |= self._by_stratum(trials[:, a], trials[:, b])
                for values in found.values():
                    values[found["n_units"] == 0] = np.nan
                found["n_units"] = np.nan_to_num(found["n_units"])
            else:
                self._check_paired(pooled[:, a], pooled[:, b], names, (a, b))
                found |= self._distances(pooled[:, a], pooled[:, b])
            for name in self.layout.dims.keys() & found.keys():
                out[name][:, column] = found[name]
        if not self.stratified:
            out["ks_pvalue_adjusted"] = ADJUSTMENTS[self.correction](out["ks_pvalue"])
        return self.layout.pack(out, numbers.shape)

    def _check_paired(self, x: Floats, y: Floats, names: list[str], pair: tuple[int, int]) -> None:
        one_sided = (np.isnan(x) != np.isnan(y)) & self.paired
        for task in np.flatnonzero(one_sided.any(axis=-1))[:1]:
            a, b = (self.algorithms[i] for i in pair)
            raise ValueError(
                f"{names[task]}paired=True needs every trial in every algorithm; {one_sided[task].sum()} of "
                f"{a} and {b} have no partner. Select the common runs, or use paired=False"
            )

    def _quantiles(self, x: Floats, y: Floats, m: NDArray[np.int64], n: NDArray[np.int64]) -> dict[str, Floats]:
        """Return differences of inverse CDFs of sorted trials and their band, half of alpha for each sample."""
        first, second = (self._with_band(*each) for each in ((x, m), (y, n)))
        with np.errstate(invalid="ignore"):  # of two trials that are infinite: no difference, and no limit of one
            ends = [first[1] - second[2], first[2] - second[1]]
            found = {
                "quantile_difference": first[0] - second[0],
                "quantile_difference_band": np.stack(
                    [np.where(np.isnan(end), limit, end) for end, limit in zip(ends, (-np.inf, np.inf), strict=True)],
                    axis=-1,
                ),
            }
        for values in found.values():
            values[(m == 0) | (n == 0)] = np.nan
        return found

    def _with_band(self, x: Floats, n: NDArray[np.int64]) -> list[Floats]:
        some = np.maximum(n, 1)[:, np.newaxis]
        epsilon = ecdf.dkw(some, self.alpha / 2)
        ranks = [ecdf.quantile_ranks(self.probabilities, n)]
        shifted = ecdf.whole((self.probabilities + epsilon * np.array([[[-1]], [[1]]])) * some, some)
        ranks += list(np.ceil(shifted).astype(np.int64))
        return [ecdf.value_at(x, rank, some[:, 0]) for rank in ranks]

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
        above, below = twosample.gaps(merged)
        per = np.where(known, m * n, 1)
        reach = ecdf.dkw(m, self.alpha / 2) + ecdf.dkw(n, self.alpha / 2)
        first, second = above / per > reach, below / per > reach
        gap = np.maximum(above, below)
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
            "ks_statistic": np.where(known, gap / per, np.nan),
            "ks_pvalue": pvalue,
        }

    def _paired_pvalue(self, merged: twosample.Merged, gap: NDArray[np.int64]) -> Floats:
        pvalue = np.full(len(gap), np.nan)
        present = merged.m[:, 0]
        for size in np.unique(present[present > 0]):
            tasks = np.flatnonzero(present == size)
            plan = shuffles.plan_shuffles((int(size),) * 2, self.n_resamples, paired=True, entropy=self.entropy)
            pvalue[tasks] = twosample.paired_ks_pvalue(twosample.select(merged, tasks, int(size)), gap[tasks], plan)
        return pvalue
