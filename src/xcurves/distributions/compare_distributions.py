"""All pairs of algorithms by the distributions of their trials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats, Ints
from xcurves.core import labels, provenance, validation
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.run_checks import within_budget
from xcurves.core.validation import check_curves
from xcurves.distributions import trial_checks
from xcurves.distributions.kinds import BAND, COMPARE_DISTRIBUTIONS
from xcurves.distributions.trial_checks import HUNDREDTHS, Dims
from xcurves.distributions.trials import (
    Failed,
    check_trials,
    difference_band,
    prefixes_of,
)
from xcurves.kernels.distributions import ecdf, twosample
from xcurves.kernels.distributions.bootstrap import are_few
from xcurves.kernels.resampling import plans
from xcurves.kernels.resampling.adjustments import ADJUSTMENTS
from xcurves.kernels.resampling.batches import in_stretches
from xcurves.kernels.resampling.plans import DEFAULT_RESAMPLES

_OF_PROBABILITY = {
    "independent": "Newcombe's method 5, for distributions of similar spread",
    "strata": "percentile bootstrap within strata",
    "paired": "exact binomial (Clopper-Pearson); where runs are tied Tango's score interval",
}
_ONE = "one trial in the smallest stratum shows no spread; the interval is NaN"
_FEW = (
    "trials in the smallest stratum are few for a bootstrap: the interval is too short"
)
_SWAPS = "permutation: the two trials of a run change places, all ways or a random sample of them"
_UNKNOWN = "NaN where both are infinite: failed, or times not reached within the budget"
_AT_ONCE, _STRATIFIED = 2**20, 256  # trials, or comparisons within strata, at once
_ASSIGNMENTS = (
    "permutation, exact under ties, up to 10,000 trials in a pair or 100,000 if one has at most 500; beyond, "
    "Kolmogorov's limit, which is conservative under ties"
)


def compare_distributions(
    scores: xr.DataArray,
    *,
    dim: Dims = "run",
    n_resamples: int | None = None,
    paired: bool = False,
    correction: Literal["holm", "bonferroni"] = "holm",
    strata: Dims | None = None,
    unit: Dims | None = None,
    higher_is_better: bool = True,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Compare every pair of algorithms by the distributions of their scores over trials.

    Parameters
    ----------
    scores : DataArray, dims (..., algorithm, \*dim)
        One score for each trial, NaN where there is none. -inf (+inf where lower is better): the trial failed, and is
        worse than every finite score. +inf of `time_to_target`: the time is not reached within the budget. All dims
        but `algorithm` and `dim` broadcast.
    dim : str or sequence of str, default "run"
        What the trials are. With several dims, `strata` or `unit` says which trials are independent.
    n_resamples : int, optional
        Paired: ceiling on the number of swaps within runs, as for `randomized_anova`. With `strata`: number of
        bootstrap resamples, by default 9,999. Otherwise nothing is random and this must be left out.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms (same fold, seed or data).
    correction : {"holm", "bonferroni"}
        How p-values are adjusted for the number of pairs.
    strata : str or sequence of str, optional
        Dims of `dim` that are a fixed set of tasks. Then `prob_greater` is the mean over them of the probability within
        each, and there are no KS test, band and verdict, which are for independent trials of one distribution. ``()``:
        there are none, all trials are one pool.
    unit : sequence of str, optional
        All dims of `dim` say that every trial is independent. Average trials that are not: they have no unit here.
    higher_is_better : bool, default True
        Which infinite score says that a trial failed.
    confidence_level : float, default 0.95
        Of each interval, and of each band as a whole, for one pair; `prob_greater_ci_simultaneous` holds for all pairs.
    rng : int, Generator or None
        Seed of what is random.

    Returns
    -------
    Dataset
        With the extra dims of `scores` in front, on (pair): `prob_greater`, P(X > Y) + P(X = Y)/2 (a probability), and
        `prob_greater_ci` and, for all pairs together, `prob_greater_ci_simultaneous` (ci_bound); `quantile_difference`
        (probability 0.01 ... 0.99; first minus second, in score units) and `quantile_difference_band` (probability,
        ci_bound); `dominance` (1: the first is higher somewhere outside the band and lower nowhere; -1: so the second;
        2: each is higher somewhere; 0: none of these is shown); `ks_statistic`, `ks_pvalue` and `ks_pvalue_adjusted`.
        Coordinates: `algorithm_a`, `algorithm_b`, the shares of their trials that failed, or of times that are not
        reached, `share_infinite_a` and `share_infinite_b`, `n_trials` (algorithm), and, with strata, `n_units`: the
        trials of either in the smallest stratum. NaN (and 0) where an algorithm has no trial, or none in a stratum.
        Infinite trials are compared by rank, equal to each other; a difference of two of them is NaN.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if there are several dims and neither `strata` nor `unit`, if scores
        have the infinite value that is no failure, or if `paired` and runs do not match.

    Warns
    -----
    UserWarning
        If an algorithm has no trial, or with `strata` none in a stratum, one (the interval is NaN) or few. Not for
        dask-backed scores.

    Notes
    -----
    *prob_greater*: from independent samples Newcombe's interval (his method 5), the θ with

    .. math:: (\theta - \hat\theta)^2 \le z^2 \frac{\theta (1 - \theta)}{m n}
              \left[1 + \left(\frac{m + n}{2} - 1\right)
              \left(\frac{1 - \theta}{2 - \theta} + \frac{\theta}{1 + \theta}\right)\right]

    His variance is for distributions of similar spread: for 5 trials of N(0, 10) against 50 of N(0, 1) it covers .70.

    Paired, it is the share of runs in which the first is higher, ties half, with Clopper-Pearson limits where no run is
    tied, and otherwise those of Tango's score test of P(X > Y) - P(X < Y), which cover .95 on average and at least .91
    from ten runs. With `strata`, a percentile bootstrap within strata, as in rliable.

    *Band and verdict*: each inverse CDF lies within the band of `performance_cdf` at 1 - δ/2, both at once at the
    confidence level, and so does their difference, of paired samples too. The verdict looks at all probabilities. That
    one is not shown to be lower anywhere is no proof that it is higher everywhere.

    *KS*: the p-value is that of all assignments of trials to the two samples, exact for the ties that there are, up to
    10,000 trials in a pair, or 100,000 if one has at most 500; beyond, Kolmogorov's limit, which is conservative under
    ties. Paired, the two trials of a run change places.

    References
    ----------
    .. [1] Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the Mann-Whitney statistic.
       Part 2. Statistics in Medicine 25, 559-573. doi:10.1002/sim.2324
    .. [2] Aldor-Noiman, S. et al. (2013). The power to see: a new graphical test of normality. Am. Stat. 67, 249-260.
       doi:10.1080/00031305.2013.847865
    .. [3] Schröer, G. & Trenkler, D. (1995). Exact and randomization distributions of Kolmogorov-Smirnov tests two or
       three samples. Comput. Stat. Data Anal. 20, 185-202. doi:10.1016/0167-9473(94)00040-P
    .. [4] Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the
       paired-sample design. Stat. Med. 17, 891-908.
       doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B
    .. [5] Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical precipice. NeurIPS 34.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"].isel(training=-1)
    >>> pairs = scores.curves.compare_distributions()
    >>> pairs.pair.values.tolist()
    ['rate 0.001 - rate 0.8', 'rate 0.001 - rate 0.1', 'rate 0.8 - rate 0.1']
    >>> pairs.dominance.values.tolist()
    [0, 0, 0]
    """
    fixed = (
        "dim={rest} to compare within each {task}"
        if paired
        else "strata={task!r} if its labels are a fixed set"
    )
    design = trial_checks.check_design(
        dim, strata, unit, fixed, "dim={unit!r} of scores.mean({repeats})"
    )
    if design.units:
        raise ValueError(
            f"unit must name all dims of trials, {design.dims}, which says that every trial is independent; got "
            f"{design.units}. Average the trials of each unit: scores.mean({list(design.trials)}), dim={design.units}"
        )
    stratified, core = bool(design.strata), ("algorithm", *design.core)
    scores = check_curves(
        scores, core=core, name="scores", reserved=COMPARE_DISTRIBUTIONS.reserved()
    )
    scores, budget = within_budget(scores, core)
    scores = scores.transpose(..., *core)
    validation.check_choice("correction", correction, tuple(ADJUSTMENTS))
    pairs = labels.algorithm_pairs(scores, name="scores")
    if validation.check_flag("paired", paired) and stratified:
        raise ValueError(
            "paired=True and strata were both given; one can be. Leave out strata to compare each task"
        )
    if n_resamples is not None and not (paired or stratified):
        raise ValueError(
            f"nothing is random without paired or strata; got n_resamples={n_resamples}. Leave it out"
        )
    kernel = _PairComparison(
        failed=Failed.of(
            budget, higher=validation.check_flag("higher_is_better", higher_is_better)
        ),
        pairs=labels.pairs_in_label_order(scores),
        n_strata=prod(scores.sizes[name] for name in design.strata),
        stratified=stratified,
        n_resamples=validation.check_count("n_resamples", n_resamples),
        paired=paired,
        correction=correction,
        alpha=validation.check_confidence_level(confidence_level),
        entropy=validation.check_rng(rng, random=paired or stratified),
    )
    at = ("probability", HUNDREDTHS, {"long_name": labels.LONG_NAMES["probability"]})
    result = per_task(
        COMPARE_DISTRIBUTIONS,
        kernel,
        scores,
        context=trial_checks.context_of(
            scores,
            core,
            confidence_level,
            kernel.alpha,
            kernel.entropy,
            seeded=rng is not None,
        ),
        core=core,
        sizes={"pair": len(pairs), "probability": len(HUNDREDTHS)},
        when=["strata" if stratified else "no strata"],
        coords={**labels.pair_coords(scores), "probability": at},
        attrs={
            **design.attrs,
            "n_resamples": n_resamples,
            "paired": paired,
            "correction": correction,
        }
        | {"higher_is_better": higher_is_better},
        budget=budget,
        warn=partial(
            _warn, names=labels.task_names(scores, core), n_strata=kernel.n_strata
        ),
    )
    how = "independent"
    if stratified:
        how = "strata"
    elif paired:
        how = "paired"
    for name in ("prob_greater_ci", "prob_greater_ci_simultaneous"):
        result[name].attrs["interval"] = _OF_PROBABILITY[how]
    provenance.add_comment(result["quantile_difference"], _UNKNOWN)
    if not stratified:
        result["quantile_difference_band"].attrs["interval"] = BAND
        for name in ("ks_pvalue", "ks_pvalue_adjusted"):
            result[name].attrs["method"] = _SWAPS if paired else _ASSIGNMENTS
    return result


def _warn(result: xr.Dataset, names: list[str], n_strata: int) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first pair."""
    where = [f"{name}{pair}: " for name in names for pair in result["pair"].to_numpy()]
    none = result["prob_greater"].transpose(..., "pair").isnull().to_numpy().ravel()
    where_none = ""
    if "n_units" in result:
        where_none = " in a stratum"
    lacking = f"no trial of one of them{where_none}; the result is NaN"
    provenance.warn_of(none, where, lambda _: lacking, "comparisons")
    if "n_units" in result:
        n = result["n_units"].transpose(..., "pair").to_numpy().ravel()
        provenance.warn_of(n == 1, where, lambda _: _ONE, "pairs")
        few = (n > 1) & are_few(n * n_strata, n, stratified=True)
        provenance.warn_of(few, where, lambda pair: f"{n[pair]} {_FEW}", "pairs")


@dataclass(frozen=True, kw_only=True)
class _PairComparison:
    """How pairs of algorithms are compared."""

    failed: Failed
    pairs: NDArray[np.intp]  # the indices of both algorithms of each pair
    n_strata: int
    stratified: bool
    n_resamples: int | None
    paired: bool
    correction: str
    alpha: float
    entropy: int

    def __call__(self, group: Group) -> dict[str, NDArray[Any]]:
        """Compare pairs in tasks, given trials, shape (task, algorithm, *core), not too many at once."""
        n_tasks, n_algorithms = lead = group.data[0].shape[:2]
        trials = group.data[0].reshape(n_tasks * n_algorithms, self.n_strata, -1)
        trials = np.sort(trials, axis=-1) if self.stratified else trials[:, 0]
        x = np.sort(trials.reshape(len(trials), -1), axis=-1)
        n = np.count_nonzero(~np.isnan(x), axis=-1)
        check_trials(x, n, prefixes_of(group), self.failed)
        rows = np.stack(
            [
                np.add.outer(n_algorithms * np.arange(n_tasks), side).ravel()
                for side in self.pairs.T
            ]
        )

        def compare(some: slice) -> dict[str, Floats]:
            first, second = sides = rows[:, some]
            found = self._quantiles(*x[sides], *n[sides])
            for name, side in zip(
                ("share_infinite_a", "share_infinite_b"), sides, strict=True
            ):
                found[name] = np.isinf(x[side]).sum(axis=-1) / np.where(
                    n[side] > 0, n[side], np.nan
                )
            if self.stratified:
                return found | self._by_stratum(*trials[sides])
            apart = np.isnan(trials[first]) != np.isnan(trials[second])
            if self.paired and apart.any():
                pair = np.flatnonzero(apart.any(axis=-1))[0]
                a, b = (group.algorithms[side[pair] % n_algorithms] for side in sides)
                raise ValueError(
                    f"{group.names[first[pair] // n_algorithms]}paired=True needs every trial in every algorithm; "
                    f"{apart[pair].sum()} of {a} and {b} have no partner. Select the common runs, or use paired=False"
                )
            return found | self._distances(*trials[sides])

        at_once = _STRATIFIED if self.stratified else max(1, _AT_ONCE // x.shape[-1])
        found = in_stretches(compare, rows.shape[1], at_once)
        out = {
            name: values.reshape(n_tasks, -1, *values.shape[1:])
            for name, values in found.items()
        }
        if self.stratified:
            for values in out.values():
                values[out["n_units"] == 0] = np.nan
            out["n_units"] = np.nan_to_num(out["n_units"])
        else:
            out["ks_pvalue_adjusted"] = ADJUSTMENTS[self.correction](out["ks_pvalue"])
        return out | {"n_trials": n.reshape(lead)}

    def _quantiles(self, x: Floats, y: Floats, m: Ints, n: Ints) -> dict[str, Floats]:
        """Return differences of inverse CDFs of sorted trials and their band, half of alpha for each sample."""
        sides = []
        for each, size in ((x, m), (y, n)):
            ranks = (
                ecdf.quantile_ranks(HUNDREDTHS, size),
                *ecdf.ranks_in_band(HUNDREDTHS, size, self.alpha / 2),
            )
            sides.append(
                np.stack(
                    [ecdf.value_at(each, rank, np.maximum(size, 1)) for rank in ranks]
                )
            )
        first, second = sides
        # of two trials that are infinite there is no difference
        with np.errstate(invalid="ignore"):
            difference = first[0] - second[0]
        found = {
            "quantile_difference": difference,
            "quantile_difference_band": difference_band(first[1:], second[1:]),
        }
        for values in found.values():
            values[(m == 0) | (n == 0)] = np.nan
        return found

    def _by_stratum(self, x: Floats, y: Floats) -> dict[str, Floats]:
        """Return the probability with its interval of sorted trials, shape (comparison, stratum, trial)."""
        probability = twosample.stratified_probability(x, y)
        # for the pair by itself, and for all pairs together
        ends = np.full((2, len(x), 2), np.nan)
        # swapped samples then have exactly the complementary interval
        turned = probability < 0.5
        x, y = (
            np.where(turned[:, np.newaxis, np.newaxis], *each)
            for each in ((y, x), (x, y))
        )
        sizes = np.concatenate(
            [np.count_nonzero(~np.isnan(each), axis=-1) for each in (x, y)], axis=-1
        )
        n_units = sizes.min(axis=-1)
        known = np.flatnonzero(n_units > 1)  # one trial shows no spread
        for size in np.unique(sizes[known], axis=0):
            tasks = known[(sizes[known] == size).all(axis=-1)]
            n_resamples = self.n_resamples or DEFAULT_RESAMPLES
            for each, alpha in zip(
                ends, (self.alpha, self.alpha / len(self.pairs)), strict=True
            ):
                each[tasks] = twosample.stratified_interval(
                    x[tasks], y[tasks], n_resamples, self.entropy, alpha
                )
        ends[:, turned] = 1 - ends[:, turned, ::-1]
        own, together = ends
        return {
            "prob_greater": probability,
            "prob_greater_ci": own,
            "prob_greater_ci_simultaneous": together,
            "n_units": n_units.astype(float),
        }

    def _distances(self, x: Floats, y: Floats) -> dict[str, Floats]:
        """Return what is computed from the merged samples: the probability, the distance, and the verdict."""
        merged = twosample.merge_samples(x, y)
        m, n = merged.m[:, 0], merged.n[:, 0]
        known = (m > 0) & (n > 0)
        gap = twosample.gaps(merged)
        first, second = twosample.outside_bands(merged, self.alpha / 2)
        of_all_pairs = self.alpha / len(self.pairs)
        if self.paired:
            probability, interval = twosample.paired_probability(x, y, self.alpha)
            together = twosample.paired_probability(x, y, of_all_pairs)[1]
            pvalue = self._paired_pvalue(x, y, gap)
        else:
            probability = twosample.prob_greater(merged)
            interval, together = (
                twosample.newcombe(probability, m, n, each)
                for each in (self.alpha, of_all_pairs)
            )
            pvalue = twosample.ks_pvalue(merged, gap)
        return {
            "prob_greater": probability,
            "prob_greater_ci": interval,
            "prob_greater_ci_simultaneous": together,
            "dominance": np.where(
                known, np.where(first & second, 2, first.astype(int) - second), 0
            ).astype(float),
            "ks_statistic": np.where(known, gap / np.where(known, m * n, 1), np.nan),
            "ks_pvalue": pvalue,
        }

    def _paired_pvalue(self, x: Floats, y: Floats, gap: Ints) -> Floats:
        """Return p-values of distances of matched samples, those of equally many runs by one plan."""
        pvalue = np.full(len(gap), np.nan)
        present = ~np.isnan(x)
        n_runs = present.sum(axis=-1)
        for size in np.unique(n_runs[n_runs > 0]).tolist():
            tasks = np.flatnonzero(n_runs == size)
            merged = twosample.merge_samples(
                *(each[tasks][present[tasks]].reshape(-1, size) for each in (x, y))
            )
            plan = plans.plan_runs(
                (size, size), self.n_resamples, paired=True, entropy=self.entropy
            )
            pvalue[tasks] = twosample.paired_ks_pvalue(merged, gap[tasks], plan)
        return pvalue
