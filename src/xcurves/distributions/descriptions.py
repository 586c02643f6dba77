"""The performance distributions of many groups of trials: estimates and their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats, Ints
from xcurves.core import magnitudes
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.run_checks import equal_rows
from xcurves.distributions.trials import Failed, bounds_beside_failed, check_trials
from xcurves.kernels import intervals
from xcurves.kernels.distributions import bootstrap, ecdf
from xcurves.kernels.distributions.summaries import Summaries
from xcurves.kernels.resampling.batches import in_stretches

Interval = Literal["exact", "percentile", "bca"]
# statistics without options
_OF_ONE = ("score_mean", "score_median", "score_std", "iqm", "optimality_gap")
# statistics that failed trials leave as they are
_OF_RANKS = ("score_median", "prob_above", "partial_mean_above")
_AT_ONCE = 2**19  # trials and results of groups that are described at once


@dataclass(frozen=True, kw_only=True)
class Distributions:
    """What is computed for every group of trials, and how intervals are made."""

    # strata, units in a stratum, trials in a unit: the core dims are reshaped to these
    shape: tuple[int, int, int]
    stratified: bool
    by_unit: bool  # units of several trials are resampled
    wanted: Summaries
    scores_at: Floats
    probabilities: Floats
    failed: Failed
    bounds: tuple[float, float]  # smallest and largest possible score
    tolerance: float | None
    interval: Interval
    simultaneous: bool  # `bands_along_training` makes the intervals of statistics, of all training levels together
    n_resamples: int
    alpha: float
    entropy: int

    def __call__(self, group: Group) -> dict[str, NDArray[Any]]:
        """Describe groups of trials, shape (task, *core), not too many at once."""
        trials = group.data[0].reshape(-1, *self.shape)
        counted = self.counted(group)
        n_results = len(self.probabilities) + len(self.scores_at) + self.wanted.length
        at_once = max(1, _AT_ONCE // (trials[0].size + 4 * n_results))

        def describe(some: slice) -> dict[str, NDArray[Any]]:
            return self._describe(trials[some], counted[some], group.names[some])

        return in_stretches(describe, len(trials), at_once)

    def counted(self, group: Group) -> Bools:
        """Return which strata count in each task, shape (task, stratum): those that are not left out."""
        n_strata = self.shape[0]
        if not self.stratified:
            return np.ones((len(group.names), n_strata), bool)
        return np.asarray(group.data[1].reshape(-1, n_strata))

    @property
    def weighted(self) -> Summaries:
        """Return the statistics of trials with weights."""
        return replace(self.wanted, weighted=True)

    def _describe(self, trials: Floats, counted: Bools, names: list[str]) -> dict[str, NDArray[Any]]:
        x = np.sort(trials.reshape(len(trials), -1), axis=-1)
        n = ecdf.count_up_to(x, np.array([[np.inf]]))[:, 0]
        check_trials(x, n, names, self.failed, self.bounds)
        infinite = np.asarray(np.isinf(x).any(axis=-1))
        if infinite.any() and self.interval == "bca":
            raise Refusal(
                "interval",
                UNSAID,
                f"{names[int(infinite.argmax())]}interval='bca' needs finite scores; there is one of "
                f"{self.failed.score:g}",
                "Use 'exact' or 'percentile'",
            )
        described = self._estimates_and_intervals(trials, x, n, counted, names)
        if infinite.any() and not self.failed.is_time:
            self._count_failed(described, trials, x, n, counted, names)
        described["share_infinite"] = np.isinf(x).sum(axis=-1) / np.maximum(n, 1)
        for name in _OF_ONE:
            if described[name].size:
                described[name] = described[name][:, 0]
        return described

    def _count_failed(
        self, described: dict[str, Floats], trials: Floats, x: Floats, n: Ints, counted: Bools, names: list[str]
    ) -> None:
        """Let failed trials count as the end of the bounds in means, or make means of them NaN; ranks stay."""
        intervals = described["statistic_ci"]
        of_means = {name: columns for name, columns in self.wanted.places.items() if name not in _OF_RANKS}
        end = self.bounds[1]
        if self.failed.score < 0:
            end = self.bounds[0]
        if np.isfinite(end):
            bounded = self._estimates_and_intervals(
                np.where(trials == self.failed.score, end, trials),
                np.where(x == self.failed.score, end, x),
                n,
                counted,
                names,
            )
            for name, columns in of_means.items():
                described[name] = bounded[name]
                intervals[:, columns] = bounded["statistic_ci"][:, columns]
        for name, columns in of_means.items():
            unknown = ~np.isfinite(described[name])
            described[name][unknown] = np.nan
            intervals[:, columns][unknown] = np.nan

    def _estimates_and_intervals(
        self, trials: Floats, x: Floats, n: Ints, counted: Bools, names: list[str]
    ) -> dict[str, NDArray[Any]]:
        """Return estimates and intervals of groups of trials, sorted in `x`."""
        sums = ecdf.CentredSums(x, n)
        n_units = self._count_units(trials, counted, n)
        described = self._estimates(x, sums)
        unlike = _have_unlike_strata(trials)
        if unlike.any():
            self._weigh(described, trials, np.flatnonzero(unlike))
        if self.interval == "exact":
            described |= self._exact(x, sums)
        else:
            described |= self._resampled(trials, x, n_units, names)

        # A spread that is unknown has no interval.
        of_spread = described["statistic_ci"][:, self.wanted.places["score_std"]]
        of_spread[np.isnan(described["score_std"])] = np.nan
        for values in described.values():
            values[n_units == 0] = np.nan
        counts = {"n_trials": n, "n_units": n_units, "strata_unlike": unlike}
        return described | counts

    def _count_units(self, trials: Floats, counted: Bools, n: Ints) -> Ints:
        """Return the number of units in the smallest stratum that counts; without strata and units, that of trials."""
        if not (self.stratified or self.by_unit):
            return n
        units = trials
        if not self.by_unit:
            units = trials.reshape(*trials.shape[:2], -1, 1)
        present = ~np.isnan(units).all(axis=-1)
        n_units = np.count_nonzero(present, axis=-1)
        some = counted.any(axis=-1)
        smallest = np.where(counted, n_units, n_units.max(initial=0)).min(axis=-1)
        return np.where(some, smallest, 0)

    def _weigh(self, described: dict[str, Floats], trials: Floats, tasks: Ints) -> None:
        """Let the strata of some tasks weigh alike in statistics, quantiles and the CDF."""
        places = self.wanted.places
        n_points = len(self.scores_at)
        for alike, present in self._alike(trials, tasks):
            x, order, design = self._pool(alike, trials, present)
            once = np.ones((1, sum(design.sizes)), np.int64)
            cumulative = design.cumulative(once, order)
            statistics = self.weighted.resampled(x, cumulative)[:, 0]
            for name, columns in places.items():
                described[name][alike] = statistics[:, columns]
            points = bootstrap.resampled_points(x, cumulative, self.scores_at, self.probabilities)[:, 0]
            described["cdf"][alike] = points[:, :n_points]
            described["score_quantile"][alike] = points[:, n_points:]

    def _estimates(self, x: Floats, sums: ecdf.CentredSums) -> dict[str, Floats]:
        """Return statistics, quantiles and the CDF of sorted trials."""
        some = np.maximum(sums.n, 1)
        statistics = self.wanted.observe(x, sums)
        estimates = {name: statistics[:, columns] for name, columns in self.wanted.places.items()}
        ranks = ecdf.quantile_ranks(self.probabilities, sums.n)
        estimates["score_quantile"] = ecdf.value_at(x, ranks, some)
        at_most = ecdf.count_up_to(x, self.scores_at[np.newaxis])
        estimates["cdf"] = at_most / some[:, np.newaxis]
        return estimates

    def _exact(self, x: Floats, sums: ecdf.CentredSums) -> dict[str, Floats]:
        """Return intervals for independent trials of any distribution."""
        n = sums.n
        some = np.maximum(n, 1)[:, np.newaxis]
        at_most = ecdf.count_up_to(x, self.scores_at[np.newaxis])

        # Order statistics limit quantiles, the last of which is the median.
        probabilities = np.append(self.probabilities, 0.5)
        ranks = ecdf.order_statistics(probabilities, n, self.alpha)
        ends = np.stack([ecdf.value_at(x, rank, n) for rank in ranks], axis=-1)
        quantiles = np.clip(ends, *bounds_beside_failed(x, self.bounds))

        statistic_ci = self._statistic_bounds(x, sums)
        statistic_ci[:, self.wanted.places["score_median"]] = quantiles[:, -1:]
        statistic_ci[:, self.wanted.places["prob_above"]] = _binomial_interval(self._count_met(x, n), some, self.alpha)
        intervals = {
            "statistic_ci": statistic_ci,
            "score_quantile_ci": quantiles[:, :-1],
            "cdf_ci": _binomial_interval(at_most, some, self.alpha),
            "cdf_band": np.stack(ecdf.limits_at(at_most, n, self.alpha), axis=-1),
        }
        if self.tolerance is not None:
            intervals |= self._tolerance(x, n, self.tolerance)
        return intervals

    def _statistic_bounds(self, x: Floats, sums: ecdf.CentredSums) -> Floats:
        """Return intervals of statistics by the band of the CDF, which groups of as many trials share."""
        n = sums.n
        intervals = np.full((len(x), self.wanted.length, 2), np.nan)
        for size in np.unique(n[n > 0]).tolist():
            alike = n == size
            if alike.all() and size == x.shape[1]:
                trials, sums_of_alike = x, sums
            else:
                trials = x[alike, :size]
                sums_of_alike = ecdf.CentredSums(trials, n[alike])
            intervals[alike] = self.wanted.bounds(trials, sums_of_alike, self.alpha, *self.bounds)
        return intervals

    def _count_met(self, x: Floats, n: Ints) -> Ints:
        """Count the trials that meet each threshold."""
        thresholds = self.wanted.thresholds[np.newaxis]
        if self.wanted.higher:
            some = np.maximum(n, 1)[:, np.newaxis]
            return np.asarray(some - ecdf.count_up_to(x, thresholds, "below"))
        return ecdf.count_up_to(x, thresholds, "up to")

    def _tolerance(self, x: Floats, n: Ints, share: float) -> dict[str, Floats]:
        """Return the interval of order statistics that holds a share of trials, and the score that it reaches."""
        low, high, one_sided = ecdf.tolerance_ranks(share, n, self.alpha)
        # Where lower is better, the score that is reached is counted from the other end; 0: there is none.
        reached = one_sided
        if not self.wanted.higher:
            reached = np.where(one_sided > 0, n + 1 - one_sided, 0)
        ranks = np.stack([low, high, reached], axis=-1)
        values = np.where(ranks > 0, ecdf.value_at(x, ranks, n), np.nan)
        needed = np.full(len(n), float(ecdf.trials_for_tolerance(share, self.alpha)))
        return {"tolerance": values[:, :2], "tolerance_lower": values[:, 2], "tolerance_n": needed}

    def _resampled(self, trials: Floats, x: Floats, n_units: NDArray[np.intp], names: list[str]) -> dict[str, Floats]:
        """Return bootstrap intervals; those of F and F⁻¹ of single trials as the limit of infinitely many resamples."""
        magnitudes.check_size(x, names, "scores")
        lengths = {
            "statistic_ci": self.wanted.length,
            "cdf_ci": len(self.scores_at),
            "score_quantile_ci": len(self.probabilities),
        }
        intervals = {name: np.full((len(x), length, 2), np.nan) for name, length in lengths.items()}
        # One unit has no spread.
        spread = np.flatnonzero(n_units > 1)
        for tasks, present in self._alike(trials, spread):
            of_tasks = self._bootstrap(tasks, trials, present)
            for name, values in of_tasks.items():
                intervals[name][tasks] = values
        return intervals

    def _by_unit(self, trials: Floats) -> Floats:
        """Return trials by unit, shape (task, stratum, unit, trial); single ones are in order, absent ones last."""
        if self.by_unit:
            return trials
        return np.sort(trials.reshape(len(trials), self.shape[0], -1, 1), axis=2)

    def _alike(self, trials: Floats, tasks: Ints) -> Iterator[tuple[Ints, Bools]]:
        """Yield some of the tasks in which the same trials are present, and these, shape (stratum, unit, trial)."""
        if not tasks.size:
            return
        present = ~np.isnan(self._by_unit(trials[tasks]))
        for equal in equal_rows(present.reshape(len(present), -1)):
            yield tasks[equal], present[equal[0]]

    def _pool(self, tasks: Ints, trials: Floats, present: Bools) -> tuple[Floats, Ints, bootstrap.BootstrapDesign]:
        """Return the sorted trials of tasks that are `present`, the order that sorts them, and how they are drawn."""
        units = present.any(axis=-1)
        sizes = tuple(int(size) for size in units.sum(axis=-1) if size)
        n_trials = present.sum(axis=(1, 2))
        n_trials = n_trials[n_trials > 0]

        # The unit of each trial; single trials of one stratum need none.
        unit_of_trial = None
        if len(sizes) > 1 or self.by_unit:
            number = (np.cumsum(units) - 1).reshape(units.shape)[..., np.newaxis]
            unit_of_trial = np.broadcast_to(number, present.shape)[present]
        design = bootstrap.BootstrapDesign(
            sizes, unit_of_trial, self.n_resamples, self.entropy, weighted=bool((n_trials != n_trials[0]).any())
        )
        pool = self._by_unit(trials[tasks])[:, present]
        order = np.argsort(pool, axis=-1, kind="stable")
        return np.take_along_axis(pool, order, axis=-1), order, design

    def _bootstrap(self, tasks: Ints, trials: Floats, present: Bools) -> dict[str, Floats]:
        """Return intervals of tasks in which the same trials are `present`, shape (stratum, unit, trial)."""
        x, order, design = self._pool(tasks, trials, present)
        wanted = self.wanted
        if design.weighted:
            wanted = self.weighted
        make_intervals = partial(bootstrap.bootstrap_intervals, x, order, design, alpha=self.alpha)

        intervals = {}
        if not self.simultaneous:
            intervals["statistic_ci"] = make_intervals(wanted.resampled, wanted.length, bca=self.interval == "bca")
        n_points = len(self.scores_at)
        if self.by_unit or design.weighted:
            points = partial(bootstrap.resampled_points, points=self.scores_at, probabilities=self.probabilities)
            both = make_intervals(points, n_points + len(self.probabilities), bca=False)
            intervals["cdf_ci"] = both[:, :n_points]
            intervals["score_quantile_ci"] = both[:, n_points:]
        else:
            by_stratum = self._by_unit(trials[tasks])[..., 0]
            some = present.any(axis=(1, 2))
            sizes = np.array(design.sizes)
            intervals |= self._limits(x, by_stratum[:, some], sizes)
        return intervals

    def _limits(self, x: Floats, by_stratum: Floats, sizes: Ints) -> dict[str, Floats]:
        """Return the limits of intervals of F and F⁻¹ for infinitely many resamples."""
        n_tasks, n_strata, _ = by_stratum.shape
        rows = by_stratum.reshape(n_tasks * n_strata, -1)

        def at_most(z: Floats) -> Ints:
            """Count the trials of each stratum, shape (task, point, stratum)."""
            counts = ecdf.count_up_to(rows, np.repeat(z, n_strata, axis=0))
            return counts.reshape(n_tasks, n_strata, -1).swapaxes(1, 2)

        def at_most_trial(ranks: Ints) -> Ints:
            return np.stack([at_most(np.take_along_axis(x, rank - 1, axis=-1)) for rank in ranks])

        points = at_most(np.broadcast_to(self.scores_at, (n_tasks, len(self.scores_at))))
        ranks = ecdf.quantile_ranks(self.probabilities, np.full(n_tasks, x.shape[-1]))
        limits = bootstrap.quantile_limits(ranks, sizes, at_most_trial, self.alpha)
        quantiles = np.stack([np.take_along_axis(x, limit - 1, axis=-1) for limit in limits], axis=-1)
        of_cdf = bootstrap.cdf_limits(points, sizes, self.alpha)
        return {"cdf_ci": np.stack(of_cdf, axis=-1), "score_quantile_ci": quantiles}


def _have_unlike_strata(trials: Floats) -> Bools:
    """Return which tasks have strata of unlike numbers of trials, shape (task,); strata without trials are left out."""
    sizes = np.count_nonzero(~np.isnan(trials), axis=(2, 3))
    most = sizes.max(axis=-1)
    return np.asarray(((sizes > 0) & (sizes < most[:, np.newaxis])).any(axis=-1))


def _binomial_interval(successes: Ints, n: Ints, alpha: float) -> Floats:
    """Return exact intervals of shares, their ends in the last dim."""
    return np.stack(intervals.clopper_pearson(successes, n, alpha), axis=-1)
