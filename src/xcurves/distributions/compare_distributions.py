"""All pairs of algorithms by the distributions of their trials."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Literal

import xarray as xr

from xcurves.core import direction, labels, provenance, validation
from xcurves.core.driver import per_task
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, give
from xcurves.core.run_checks import within_budget
from xcurves.core.validation import check_curves
from xcurves.distributions import kinds, trial_checks
from xcurves.distributions.pair_comparison import PairComparison
from xcurves.distributions.trial_checks import HUNDREDTHS, Design, Dims
from xcurves.distributions.trials import Failed
from xcurves.kernels.distributions.bootstrap import are_few
from xcurves.kernels.resampling.adjustments import ADJUSTMENTS

_OF_PROBABILITY = {
    "independent": "Newcombe's method 5, for distributions of similar spread",
    "strata": "percentile bootstrap within strata",
}
_ONE = "one trial in the smallest stratum shows no spread; the interval is NaN"
_FEW = "trials in the smallest stratum are few for a bootstrap: the interval is too short"
_UNKNOWN = "NaN where both are infinite: failed, or times not reached within the budget"
_ASSIGNMENTS = (
    "permutation, exact under ties, up to 10,000 trials in a pair or 100,000 if one has at most 500; beyond, "
    "Kolmogorov's limit, which is conservative under ties"
)


def compare_distributions(
    scores: xr.DataArray,
    *,
    dim: Dims = "run",
    n_resamples: int | None = None,
    correction: Literal["holm", "bonferroni"] = "holm",
    strata: Dims | None = None,
    unit: Dims | None = None,
    higher_is_better: bool | None = None,
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
        With `strata`: number of bootstrap resamples, by default 9,999. Otherwise nothing is random and this must be
        left out.
    correction : {"holm", "bonferroni"}
        How p-values are adjusted for the number of pairs.
    strata : str or sequence of str, optional
        Dims of `dim` that are a fixed set of tasks. Then `prob_greater` is the mean over them of the probability within
        each, and there are no KS test, band and verdict, which are for independent trials of one distribution. ``()``:
        there are none, all trials are one pool.
    unit : sequence of str, optional
        All dims of `dim` say that every trial is independent. Average trials that are not: they have no unit here.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does. Says which infinite score is a failed
        trial.
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
        If dims or options are not as described, if there are several dims and neither `strata` nor `unit`, or if scores
        have the infinite value that is no failure.

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

    With `strata`, a percentile bootstrap within strata, as in rliable.

    *Band and verdict*: each inverse CDF lies within the band of `performance_cdf` at 1 - δ/2, both at once at the
    confidence level, and so does their difference, also where runs are matched over algorithms. The verdict looks at
    all probabilities. That one is not shown to be lower anywhere is no proof that it is higher everywhere.

    *Matched runs* (same fold, seed or data): the intervals of `prob_greater` and the KS test are for independent
    samples. Ask `contrast` with ``paired=True`` about the difference of means.

    *KS*: the p-value is that of all assignments of trials to the two samples, exact for the ties that there are, up to
    10,000 trials in a pair, or 100,000 if one has at most 500; beyond, Kolmogorov's limit, which is conservative under
    ties.

    References
    ----------
    .. [1] Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the Mann-Whitney statistic.
       Part 2. Statistics in Medicine 25, 559-573. doi:10.1002/sim.2324
    .. [2] Aldor-Noiman, S. et al. (2013). The power to see: a new graphical test of normality. Am. Stat. 67, 249-260.
       doi:10.1080/00031305.2013.847865
    .. [3] Schröer, G. & Trenkler, D. (1995). Exact and randomization distributions of Kolmogorov-Smirnov tests two or
       three samples. Comput. Stat. Data Anal. 20, 185-202. doi:10.1016/0167-9473(94)00040-P
    .. [4] Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical precipice. NeurIPS 34.

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
    design = _check_design(dim, strata, unit)
    stratified = bool(design.strata)
    core = ("algorithm", *design.core)
    checked = check_curves(
        scores,
        core=core,
        name="scores",
        reserved=kinds.COMPARE_DISTRIBUTIONS.reserved(),
        named=design.dims,
    )
    checked, higher_is_better = direction.resolved(checked, higher_is_better)
    checked, budget = within_budget(checked, core)
    trials = checked.transpose(..., *core)
    validation.check_choice("correction", correction, tuple(ADJUSTMENTS))
    pairs = labels.algorithm_pairs(trials, name="scores")
    n_resamples = validation.check_count("n_resamples", n_resamples)
    if n_resamples is not None and not stratified:
        raise Refusal(
            "scores",
            UNSAID,
            f"nothing is random without strata; got n_resamples={n_resamples}",
            "Leave it out",
        )
    kernel = PairComparison(
        failed=Failed.of(budget, higher=higher_is_better),
        pairs=labels.pairs_in_label_order(trials),
        n_strata=prod(trials.sizes[name] for name in design.strata),
        stratified=stratified,
        n_resamples=n_resamples,
        correction=correction,
        alpha=validation.check_confidence_level(confidence_level),
        entropy=validation.check_rng(rng, random=stratified),
    )
    when = "no strata"
    if stratified:
        when = "strata"
    at = ("probability", HUNDREDTHS, {"long_name": labels.LONG_NAMES["probability"]})
    result = per_task(
        kinds.COMPARE_DISTRIBUTIONS,
        kernel,
        trials,
        context=trial_checks.context_of(
            trials,
            core,
            confidence_level,
            kernel.alpha,
            kernel.entropy,
            seeded=rng is not None,
        ),
        core=core,
        sizes={"pair": len(pairs), "probability": len(HUNDREDTHS)},
        when=[when],
        coords={**labels.pair_coords(trials), "probability": at},
        attrs={
            **design.attrs,
            "n_resamples": n_resamples,
            "correction": correction,
            "higher_is_better": higher_is_better,
        },
        budget=budget,
        warn=partial(_warn, names=labels.task_names(trials, core), n_strata=kernel.n_strata),
    )
    _describe_intervals(result, stratified=stratified)
    return result


def _check_design(dim: Dims, strata: Dims | None, unit: Dims | None) -> Design:
    """Return what the dims of trials are; there are no units of several trials."""
    design = trial_checks.check_design(
        dim,
        strata,
        unit,
        "strata={task!r} if its labels are a fixed set",
        "dim={unit!r} of scores.mean({repeats})",
    )
    if design.units:
        raise Refusal(
            "unit",
            Verbatim(design.units),
            f"must name all dims of trials, {design.dims}, which says that every trial is independent",
            Cure(
                f"Average the trials of each unit: scores.mean({list(design.trials)}), ",
                give(dim=design.units),
            ),
        )
    return design


def _describe_intervals(result: xr.Dataset, *, stratified: bool) -> None:
    """Say in the attrs of a result how its intervals and p-values are made."""
    how = "independent"
    if stratified:
        how = "strata"
    for name in ("prob_greater_ci", "prob_greater_ci_simultaneous"):
        result[name].attrs["interval"] = _OF_PROBABILITY[how]
    provenance.add_comment(result["quantile_difference"], _UNKNOWN)
    if not stratified:
        result["quantile_difference_band"].attrs["interval"] = kinds.BAND
        result["ks_pvalue"].attrs["method"] = _ASSIGNMENTS
        result["ks_pvalue_adjusted"].attrs["method"] = _ASSIGNMENTS


def _warn(result: xr.Dataset, names: list[str], n_strata: int) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first pair."""
    pairs = [f"{name}{pair}: " for name in names for pair in result["pair"].to_numpy()]
    none = result["prob_greater"].transpose(..., "pair").isnull().to_numpy().ravel()
    if "n_units" not in result:
        lacking = "no trial of one of them; the result is NaN"
        provenance.warn_of(none, pairs, lambda _: lacking, "comparisons")
        return

    lacking = "no trial of one of them in a stratum; the result is NaN"
    provenance.warn_of(none, pairs, lambda _: lacking, "comparisons")
    n = result["n_units"].transpose(..., "pair").to_numpy().ravel()
    provenance.warn_of(n == 1, pairs, lambda _: _ONE, "pairs")
    few = (n > 1) & are_few(n * n_strata, n, stratified=True)
    provenance.warn_of(few, pairs, lambda pair: f"{n[pair]} {_FEW}", "pairs")
