"""The performance distributions of many groups of trials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil, log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Ints
from xcurves.core import failed_runs, scales, validation
from xcurves.core.jobs import Group
from xcurves.core.run_checks import equal_rows
from xcurves.kernels.distributions import bootstrap, ecdf
from xcurves.kernels.distributions.summaries import Summaries
from xcurves.kernels.resampling import binomial_limits
from xcurves.kernels.resampling.batches import in_stretches

Interval = Literal["exact", "percentile", "bca"]
# statistics without options
_OF_ONE = ("score_mean", "score_median", "score_std", "iqm", "optimality_gap")
# statistics that failed trials leave as they are
_OF_RANKS = ("score_median", "prob_above", "partial_mean_above")
_FRACTIONS = 20  # of a budget, that advice names at most
_AT_ONCE = 2**19  # trials and results of groups that are described at once


def check_trials(
    x: Floats,
    n: Ints,
    names: list[str],
    failed: Failed,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> None:
    """Refuse sorted trials, shape (group, trial), that are too large, outside the bounds, or wrongly infinite."""
    failed_runs.refuse_wrong(x, failed.score, names)
    first = ecdf.count_up_to(x, np.array([[-np.inf]]))[:, 0]
    last = ecdf.count_up_to(x, np.array([[np.inf]]), "below")[:, 0]
    some = last > first
    least, most = ecdf.value_at(x, np.stack([first + 1, last], axis=-1), n).T
    scales.check_size(np.stack([least, most], axis=-1), names, "scores", 1e300)
    low, high = bounds
    never = np.zeros(len(x), bool)
    if failed.is_time:  # a time that was not reached lies beyond every bound
        never = (last < n) & (high < np.inf)
    outer = np.flatnonzero(never | (some & ((least < low) | (most > high))))
    if outer.size:
        group = outer[0]
        outside = least[group] if least[group] < low else most[group]
        if never[group]:
            outside = np.inf
        raise ValueError(
            f"{names[group]}bounds are {low:g} to {high:g}, but there is a score of {outside:g}. "
            "Give bounds that contain all possible scores, or leave them out"
        )


def bounds_beside_failed(
    x: Floats, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the bounds of quantiles of each row, shape (row, 1, 1), infinite where trials of it are."""
    low = np.where(np.isneginf(x).any(axis=-1), -np.inf, bounds[0])
    high = np.where(np.isposinf(x).any(axis=-1), np.inf, bounds[1])
    return low[:, np.newaxis, np.newaxis], high[:, np.newaxis, np.newaxis]


def prefixes_of(group: Group) -> list[str]:
    """Return the prefix of messages about each algorithm of each task."""
    tasks = [f"{name.removesuffix(': ')}, " if name else "" for name in group.names]
    return [
        f"{task}algorithm {algorithm}: "
        for task in tasks
        for algorithm in group.algorithms
    ]


def difference_band(first: Floats, second: Floats) -> Floats:
    """Return the limits of differences, given those of both, shape (2, ...); of two infinite ends none."""
    with np.errstate(invalid="ignore"):
        low, high = first[0] - second[1], first[1] - second[0]
    return np.stack(
        [np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)],
        axis=-1,
    )


@dataclass(frozen=True)
class Failed:
    """Which infinite score trials may have."""

    score: float
    is_time: bool  # of times that were not reached, not of failed runs

    @classmethod
    def of(cls, budget: object, *, higher: bool) -> Failed:
        """Return the score of failed runs, or inf of times that have a budget."""
        return (
            cls(np.inf, True)
            if budget is not None
            else cls(failed_runs.failed_score(higher), False)
        )


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
    simultaneous: bool  # `bands` makes the intervals of statistics, of all training levels together
    n_resamples: int
    alpha: float
    entropy: int

    def __call__(self, group: Group) -> dict[str, NDArray[Any]]:
        """Describe groups of trials, shape (task, *core), not too many at once."""
        trials = group.data[0].reshape(-1, *self.shape)
        width = trials[0].size + 4 * (
            len(self.probabilities) + len(self.scores_at) + self.wanted.length
        )
        rows = max(1, _AT_ONCE // width)
        return in_stretches(
            lambda part: self._describe(trials[part], group.names[part]),
            len(trials),
            rows,
        )

    def bands(self, group: Group) -> dict[str, Floats]:
        """Return bands of the statistics of groups of trials, shape (task, training, *core)."""
        trials = group.data[0].reshape(*group.data[0].shape[:2], self.shape[0], -1)
        out = np.full((*trials.shape[:2], self.wanted.length, 2), np.nan)

        def observe(x: Floats, n: Ints) -> Floats:
            return self.wanted.observe(x, ecdf.CentredSums(x, n))

        for own, values, name in zip(trials, out, group.names, strict=True):
            has = ~np.isnan(own)
            known = has.any(axis=-1).all(axis=-1)
            present = has[known.argmax()]
            if (has[known] != present).any():
                n_levels = min(_FRACTIONS, own.shape[0])
                raise ValueError(
                    f"{name}simultaneous='training' needs every trial at every training level; some lack levels. Bring "
                    f"them to common levels: .curves.align('intersection') or .curves.align({n_levels}, "
                    "relative_to='budget')"
                )
            sizes = present.sum(axis=-1)
            if np.isinf(own).any():
                raise ValueError(
                    f"{name}simultaneous='training' needs finite scores; some are {own[np.isinf(own)][0]:g}. Leave "
                    "simultaneous out, or say what failed runs count as: .curves.fill_failed('worst')"
                )
            if known.any() and sizes.min() > 1:
                values[known] = bootstrap.statistic_bands(
                    own[known][:, present],
                    sizes,
                    observe,
                    self.n_resamples,
                    self.alpha,
                    self.entropy,
                )
        return {"statistic_ci": out}

    def _describe(self, trials: Floats, names: list[str]) -> dict[str, NDArray[Any]]:
        x = np.sort(trials.reshape(len(trials), -1), axis=-1)
        n = ecdf.count_up_to(x, np.array([[np.inf]]))[:, 0]
        check_trials(x, n, names, self.failed, self.bounds)
        infinite = np.asarray(np.isinf(x).any(axis=-1))
        if infinite.any() and self.interval == "bca":
            raise ValueError(
                f"{names[int(infinite.argmax())]}interval='bca' needs finite scores; there is one of "
                f"{self.failed.score:g}. Use 'exact' or 'percentile'"
            )
        found = self._found(trials, x, n, names)
        if infinite.any() and not self.failed.is_time:
            self._count_failed(found, trials, x, n, names)
        found["share_infinite"] = np.isinf(x).sum(axis=-1) / np.maximum(n, 1)
        found |= {name: found[name][:, 0] for name in _OF_ONE if found[name].size}
        return found

    def _count_failed(
        self,
        found: dict[str, Floats],
        trials: Floats,
        x: Floats,
        n: Ints,
        names: list[str],
    ) -> None:
        """Let failed trials count as the end of the bounds in means, or make means of them NaN; ranks stay."""
        end = self.bounds[0 if self.failed.score < 0 else 1]
        of_means = {
            name: place
            for name, place in self.wanted.places.items()
            if name not in _OF_RANKS
        }
        if np.isfinite(end):
            counted = np.where(trials == self.failed.score, end, trials)
            of_counted = self._found(
                counted, np.where(x == self.failed.score, end, x), n, names
            )
            for name, place in of_means.items():
                found[name] = of_counted[name]
                found["statistic_ci"][:, place] = of_counted["statistic_ci"][:, place]
        for name, place in of_means.items():
            unknown = ~np.isfinite(found[name])
            found[name][unknown] = np.nan
            found["statistic_ci"][:, place][unknown] = np.nan

    def _found(
        self, trials: Floats, x: Floats, n: Ints, names: list[str]
    ) -> dict[str, NDArray[Any]]:
        """Return estimates and intervals of groups of trials, sorted in `x`."""
        sums = ecdf.CentredSums(x, n)
        found = self._estimates(x, sums)
        present = ~np.isnan(
            trials if self.by_unit else trials.reshape(*trials.shape[:2], -1, 1)
        )
        smallest = np.count_nonzero(present.any(axis=-1), axis=-1).min(axis=-1)
        n_units = np.asarray(smallest) if self.stratified or self.by_unit else n
        found |= (
            self._exact(x, sums)
            if self.interval == "exact"
            else self._resampled(trials, x, n_units, names)
        )
        found["statistic_ci"][:, self.wanted.places["score_std"]][
            np.isnan(found["score_std"])
        ] = np.nan
        for values in found.values():
            values[n_units == 0] = np.nan
        return found | {"n_trials": n, "n_units": n_units}

    def _estimates(self, x: Floats, sums: ecdf.CentredSums) -> dict[str, Floats]:
        n, statistics = sums.n, self.wanted.observe(x, sums)
        found = {
            name: statistics[:, place] for name, place in self.wanted.places.items()
        }
        found["score_quantile"] = ecdf.value_at(
            x, ecdf.quantile_ranks(self.probabilities, n), np.maximum(n, 1)
        )
        found["cdf"] = (
            ecdf.count_up_to(x, self.scores_at[np.newaxis])
            / np.maximum(n, 1)[:, np.newaxis]
        )
        return found

    def _exact(self, x: Floats, sums: ecdf.CentredSums) -> dict[str, Floats]:
        """Return intervals for independent trials of any distribution."""
        n = sums.n
        some = np.maximum(n, 1)[:, np.newaxis]
        at_most = ecdf.count_up_to(x, self.scores_at[np.newaxis])
        ranks = ecdf.order_statistics(np.append(self.probabilities, 0.5), n, self.alpha)
        low, high = bounds_beside_failed(x, self.bounds)
        quantiles = np.clip(
            np.stack([ecdf.value_at(x, rank, n) for rank in ranks], axis=-1), low, high
        )
        statistic = np.full((len(x), self.wanted.length, 2), np.nan)
        for size in np.unique(n[n > 0]).tolist():
            tasks = n == size
            whole = tasks.all() and size == x.shape[1]
            own = (
                (x, sums)
                if whole
                else (x[tasks, :size], ecdf.CentredSums(x[tasks, :size], n[tasks]))
            )
            statistic[tasks] = self.wanted.bounds(*own, self.alpha, *self.bounds)
        statistic[:, self.wanted.places["score_median"]] = quantiles[:, -1:]
        met = ecdf.count_up_to(
            x,
            self.wanted.thresholds[np.newaxis],
            "below" if self.wanted.higher else "up to",
        )
        met = some - met if self.wanted.higher else met
        shares = self.wanted.places["prob_above"]
        statistic[:, shares] = np.stack(
            binomial_limits.clopper_pearson(met, some, self.alpha), axis=-1
        )
        tolerance = (
            {} if self.tolerance is None else self._tolerance(x, n, self.tolerance)
        )
        return tolerance | {
            "statistic_ci": statistic,
            "score_quantile_ci": quantiles[:, :-1],
            "cdf_ci": np.stack(
                binomial_limits.clopper_pearson(at_most, some, self.alpha), axis=-1
            ),
            "cdf_band": np.stack(ecdf.limits_at(at_most, n, self.alpha), axis=-1),
        }

    def _tolerance(self, x: Floats, n: Ints, share: float) -> dict[str, Floats]:
        """Return the interval of order statistics that holds a share of trials, and the score that it reaches."""
        low, high, least = ecdf.tolerance_ranks(share, n, self.alpha)
        least = least if self.wanted.higher else np.where(least > 0, n + 1 - least, 0)
        ranks = np.stack([low, high, least], axis=-1)
        values = np.where(ranks > 0, ecdf.value_at(x, ranks, n), np.nan)
        needed = np.full(len(n), float(ecdf.trials_for_tolerance(share, self.alpha)))
        return {
            "tolerance": values[:, :2],
            "tolerance_lower": values[:, 2],
            "tolerance_n": needed,
        }

    def _resampled(
        self, trials: Floats, x: Floats, n_units: NDArray[np.intp], names: list[str]
    ) -> dict[str, Floats]:
        """Return bootstrap intervals; those of F and F⁻¹ of single trials as the limit of infinitely many resamples."""
        scales.check_size(x, names, "scores")
        lengths = {"statistic_ci": self.wanted.length, "cdf_ci": len(self.scores_at)}
        lengths["score_quantile_ci"] = len(self.probabilities)
        found = {
            name: np.full((len(x), length, 2), np.nan)
            for name, length in lengths.items()
        }
        if not self.by_unit:
            trials = np.sort(trials.reshape(len(trials), self.shape[0], -1, 1), axis=2)
        present = ~np.isnan(trials)
        for equal in equal_rows(present.reshape(len(present), -1)):
            tasks = equal[n_units[equal] > 1]  # one unit has no spread
            if tasks.size:
                for name, values in self._bootstrap(
                    trials[tasks], present[tasks[0]]
                ).items():
                    found[name][tasks] = values
        return found

    def _bootstrap(
        self, trials: Floats, present: NDArray[np.bool_]
    ) -> dict[str, Floats]:
        """Return intervals of tasks in which the same trials are `present`, shape (stratum, unit, trial)."""
        units = present.any(axis=-1)
        sizes = tuple(int(size) for size in units.sum(axis=-1) if size)
        number = np.broadcast_to(
            (np.cumsum(units) - 1).reshape(units.shape)[..., np.newaxis], present.shape
        )
        single = len(sizes) == 1 and not self.by_unit
        design = bootstrap.BootstrapDesign(
            sizes, None if single else number[present], self.n_resamples, self.entropy
        )
        pool = trials[:, present]
        order = np.argsort(pool, axis=-1, kind="stable")
        x = np.take_along_axis(pool, order, axis=-1)
        intervals = partial(
            bootstrap.bootstrap_intervals, x, order, design, alpha=self.alpha
        )
        found = {}
        if not self.simultaneous:
            bca = self.interval == "bca"
            found["statistic_ci"] = intervals(
                self.wanted.resampled, self.wanted.length, bca=bca
            )
        if self.by_unit:
            points = partial(
                bootstrap.resampled_points,
                points=self.scores_at,
                probabilities=self.probabilities,
            )
            both = intervals(
                points, len(self.scores_at) + len(self.probabilities), bca=False
            )
            found["cdf_ci"], found["score_quantile_ci"] = np.split(
                both, [len(self.scores_at)], axis=1
            )
        else:
            by_stratum = trials[..., 0][:, units.any(axis=-1)]
            found["cdf_ci"], found["score_quantile_ci"] = self._limits(
                x, by_stratum, np.array(sizes)
            )
        return found

    def _limits(
        self, x: Floats, by_stratum: Floats, sizes: Ints
    ) -> tuple[Floats, Floats]:
        """Return the limits of intervals of F and F⁻¹ for infinitely many resamples."""
        n_tasks, n_strata, _ = by_stratum.shape
        rows = by_stratum.reshape(n_tasks * n_strata, -1)

        def at_most(z: Floats) -> Ints:
            """Count the trials of each stratum, shape (task, point, stratum)."""
            counts = ecdf.count_up_to(rows, np.repeat(z, n_strata, axis=0))
            return counts.reshape(n_tasks, n_strata, -1).swapaxes(1, 2)

        def at_most_trial(ranks: Ints) -> Ints:
            return np.stack(
                [at_most(np.take_along_axis(x, rank - 1, axis=-1)) for rank in ranks]
            )

        points = at_most(
            np.broadcast_to(self.scores_at, (n_tasks, len(self.scores_at)))
        )
        ranks = ecdf.quantile_ranks(self.probabilities, np.full(n_tasks, x.shape[-1]))
        limits = bootstrap.quantile_limits(ranks, sizes, at_most_trial, self.alpha)
        quantiles = np.stack(
            [np.take_along_axis(x, limit - 1, axis=-1) for limit in limits], axis=-1
        )
        return np.stack(
            bootstrap.cdf_limits(points, sizes, self.alpha), axis=-1
        ), quantiles


def trials_needed(width: float, *, confidence_level: float = 0.95) -> int:
    r"""Return how many independent trials make the Dvoretzky-Kiefer-Wolfowitz band around a CDF this narrow.

    The band of `performance_cdf` is narrower than that in the tails, and up to a fifth wider in the middle.

    Parameters
    ----------
    width : float
        Distance of the band's upper from its lower edge, a share in (0, 1).
    confidence_level : float, default 0.95
        Of the band as a whole.

    Returns
    -------
    int
        The smallest n with :math:`2 \sqrt{\ln(2/\delta) / 2n}` at most `width`.

    Raises
    ------
    ValueError
        If `width` or `confidence_level` is not between 0 and 1.

    References
    ----------
    .. [1] Massart, P. (1990). The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality. Ann. Probab. 18,
       1269-1283. doi:10.1214/aop/1176990746

    Examples
    --------
    >>> import xcurves
    >>> xcurves.trials_needed(0.1)
    738
    """
    alpha = validation.check_confidence_level(confidence_level)
    width = validation.check_share("width", width, "0.1, a difference of probabilities")
    return ceil(2 * log(2 / alpha) / width**2)
