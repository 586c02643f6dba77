"""The performance distribution of trials: its inverse, statistics of it, and intervals of them all."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.array_types import Bools
from xcurves.core import direction, labels, provenance, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.labels import LONG_NAMES
from xcurves.core.run_checks import within_budget
from xcurves.core.validation import check_curves
from xcurves.distributions import bands_along_training, kinds, trial_checks
from xcurves.distributions.descriptions import Distributions, Interval
from xcurves.distributions.strata import common_strata, find_left_out
from xcurves.distributions.trial_checks import Design, Dims, Numbers, as_digits
from xcurves.distributions.trials import Failed
from xcurves.kernels.distributions.bootstrap import are_few
from xcurves.kernels.resampling.plans import DEFAULT_RESAMPLES

_PAPERS: dict[str, tuple[str, ...]] = {
    "exact": (kinds.LOCAL_LEVELS, kinds.MOSCOVICH),
    "percentile": (kinds.EFRON_1987,),
    "bca": (kinds.EFRON_1987,),
}
_LIMIT = "percentile bootstrap, limit of infinitely many resamples, pointwise"
_STRATA = (
    "percentile bootstrap, pointwise: the limit of infinitely many resamples where strata have equally many trials"
)
_WHOLE_UNITS = "percentile bootstrap of whole units, pointwise"
# of the CDF, and of its inverse
_POINTWISE = {
    "exact": (
        "exact binomial (Clopper-Pearson), pointwise",
        "order statistics, pointwise",
    ),
    "limit": (_LIMIT, _LIMIT),
    "strata": (_STRATA, _STRATA),
    "unit": (_WHOLE_UNITS, _WHOLE_UNITS),
}
_OF_STATISTICS = {
    "exact": "prob_above: exact binomial (Clopper-Pearson); score_median: order statistics; score_mean, iqm, cvar, "
    "cvar_lower, optimality_gap: integral of the band of the CDF between the bounds",
    "percentile": "percentile bootstrap",
    "bca": "bias-corrected and accelerated bootstrap",
}
_FEW_IN_A_BAND = 10  # runs of one group
_SIMULTANEOUS = "random signs of residual runs, simultaneous over training"
_SHARES = ("partial_mean_above", "prob_above")  # residuals give no intervals of these
# nor of these from one group of runs: the miss rate of the worst half's is .26 where runs fail
_TAILS = ("cvar",)


def performance_cdf(
    scores: xr.DataArray,
    *,
    dim: Dims = "run",
    scores_at: Numbers | None = None,
    probabilities: Numbers | None = None,
    cvar_level: Numbers = 0.5,
    cvar: Literal["tail-mean", "conditional"] = "tail-mean",
    threshold: Numbers | None = None,
    target: float | None = None,
    bounds: tuple[float, float] | None = None,
    tolerance: float | None = None,
    higher_is_better: bool | None = None,
    interval: Interval = "exact",
    n_resamples: int | None = None,
    strata: Dims | None = None,
    unit: Dims | None = None,
    simultaneous: Literal["training"] | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Describe the distribution of scores over trials: CDF, inverse CDF, statistics, and intervals of each.

    Parameters
    ----------
    scores : DataArray, dims (..., \*dim)
        One score for each trial, NaN where there is none. -inf (+inf where lower is better): the trial failed, and is
        worse than every finite score. +inf of `time_to_target`: the time is not reached within the budget. All dims
        but `dim` broadcast, `training` too.
    dim : str or sequence of str, default "run"
        What the trials are. With several dims, `strata` or `unit` says which trials are independent.
    scores_at : sequence of float, optional
        Scores at which the CDF is wanted.
    probabilities : sequence of float, optional
        Where the inverse CDF is wanted; by default 0.01, 0.02, ..., 0.99.
    cvar_level : float or sequence of float, default 0.5
        Level α of CVaR in [0, 1): it is of the best share 1 - α, `cvar_lower` of the worst share 1 - α.
    cvar : {"tail-mean", "conditional"}
        The mean of the tail, the boundary trial weighted fractionally; or E[Z | Z >= F⁻¹(α)] as Jordan et al. print
        it, which takes the boundary trial whole.
    threshold : float or sequence of float, optional
        Scores to be met, for `partial_mean_above` and `prob_above`.
    target : float, optional
        Score to be reached, for `optimality_gap`.
    bounds : tuple of float, optional
        Smallest and largest score that there can be, for finite-sample intervals; infinite where there is none. In
        means failed trials count as the worse of them, if it is finite.
    tolerance : float, optional
        Share of trials that `tolerance` holds with the confidence level, such as 0.9; for exact intervals.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    interval : {"exact", "percentile", "bca"}
        Intervals that hold for independent trials of any distribution, or bootstrap intervals.
    n_resamples : int, optional
        Number of bootstrap resamples; by default 9,999.
    strata : str or sequence of str, optional
        Dims of `dim` within whose labels the bootstrap resamples: a fixed set of tasks, which weigh alike. One in which
        an algorithm has no trial is left out for all algorithms. ``()``: there are none, all trials are one pool.
    unit : str or sequence of str, optional
        Dims of `dim` whose labels are resampled whole: trials that share a hyper-parameter draw. All dims of `dim`:
        every trial is independent, which allows exact intervals too.
    simultaneous : {None, "training"}
        "training": the intervals of each statistic hold at all training levels together. `scores` are curves then, of
        runs that have all levels, and `interval` is "percentile".
    confidence_level : float, default 0.95
        Of each interval, and of the band as a whole.
    rng : int, Generator or None
        Seed of the resamples. An int gives the same ones each time; from a Generator the seed is drawn.

    Returns
    -------
    Dataset
        With the extra dims of `scores` in front, in score units unless said: `score_mean`, `score_median`,
        `score_std` (divisor n - 1), `iqm`, `cvar` and `cvar_lower` (cvar_level), `statistic_ci` (param, ci_bound; of
        each statistic by its name, NaN where the method has none), `score_quantile` (probability), `score_quantile_ci`.
        With `scores_at`: `cdf` (score; a share), `cdf_ci`, and `cdf_band` if `interval` is exact. With `threshold`:
        `partial_mean_above` (threshold) and `prob_above` (a share). With `target`: `optimality_gap`. With
        `tolerance`: `tolerance` (ci_bound), order statistics between which this share of all trials lies, not only of
        these; `tolerance_lower`, a score that this share reaches; NaN from too few trials; `tolerance_n` (a count), how
        many the interval needs. Coordinates: `n_trials` (a count), `share_infinite` (the share of trials that failed,
        or of times that are not reached), with strata or units `n_units` (of the smallest stratum) and with strata
        `strata_unlike` (1 where they have unlike numbers of trials). The attr `interval` of each interval says what it
        is, the attr `left_out` which strata are. Shares and order statistics, `score_median` too, take such trials
        as they are. A mean that takes one in is NaN of failed trials without a bound, infinite of times; `score_std`
        is NaN.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if there are several dims and neither `strata` nor `unit`, if scores
        have the infinite value that is no failure, or an infinite one with `interval="bca"` or `simultaneous`, or if a
        score violates `bounds`.

    Warns
    -----
    UserWarning
        If a stratum is left out; if a group has no trial, or at a training level none in a stratum (its results are
        NaN); for a bootstrap, if it has one unit in a
        stratum (its intervals are NaN), or fewer than 30 trials or units, 10 in a stratum. Not for dask-backed scores.

    Notes
    -----
    .. math:: F(z) = \frac{\#\{i: z_i \le z\}}{n}, \quad F^{-1}(p) = \min\{z: F(z) \ge p\}, \quad
              \mathrm{CVaR}_\alpha = \frac{1}{1 - \alpha} \int_\alpha^1 F^{-1}(p)\, dp

    *Exact* intervals are for independent trials of one distribution: Clopper-Pearson for F(z), order statistics for
    F⁻¹(p) and the median (infinite where no trial is far enough out), and a band that holds everywhere at once: for
    continuous scores :math:`F(z_{(i)})` is :math:`\mathrm{Beta}(i, n + 1 - i)`, and its quantiles at η/2 and 1 - η/2
    bound F at each trial, with the one η for which all bounds hold together with probability 1 - δ, or more for
    discrete scores. Beyond 20,000 trials the band is :math:`F \pm \sqrt{\ln(2/\delta) / 2n}`. Integrated between
    `bounds` it gives intervals for mean, IQM, CVaR and gap; without bounds only ends that need none are finite. They
    are wide: that of the mean of 100 uniform scores is a quarter of their range.

    *Tolerance*: the share of all trials between the order statistics :math:`z_{(r)}` and :math:`z_{(r+w)}` of n is
    :math:`\mathrm{Beta}(w, n + 1 - w)` or more; w is the smallest with :math:`P(\mathrm{Beta} \le \text{tolerance})
    \le \delta`, r = ⌊(n + 1 - w)/2⌋. Nine tenths need 46 trials at .95, and 29 for one side.

    *Bootstrap* intervals are approximate and too short for few trials: at n = 10 those for .95 cover .89 for the mean
    and .33 for CVaR at .9 of normal scores. For F and F⁻¹ of single trials they are the limit of infinitely many
    resamples.

    *Strata* weigh alike: of G strata a trial of one with :math:`n_g` trials has the weight :math:`w_i = 1/(G n_g)`, and
    :math:`F(z) = \sum_i w_i [z_i \le z]`. `score_mean` is the mean of the strata's means, `score_std` the root of
    :math:`n/(n - 1) \sum_i w_i (z_i - \bar z)^2`; where the :math:`n_g` differ, the IQM is the mean of F⁻¹ over
    (1/4, 3/4), in which trials at the quartiles count in part, and the median is the middle between both trials where F
    is 1/2. Resamples have as many trials of each stratum as there are, with these weights.

    *Along training*, with ``simultaneous="training"``: whole residual runs, about their stratum's mean and scaled by
    :math:`\sqrt{l / (l - 1)}`, get random signs, and every replicate is measured by its own spread about the means. The
    band of the IQM covers .95 and .96 with five runs of 10 and of 26 tasks, .91 with one group of ten. NaN with one
    trial in a stratum, where runs are too few or share a score, for the shares above a threshold, and from one group
    of runs for the means of tails. Intervals of F and F⁻¹ remain pointwise.

    Trials that share a hyper-parameter draw (or a data set, or a seed) are not independent: name the dim of the draws
    as `unit`. A pool of tasks is not one distribution: name the tasks as `strata`. Taken for independent, ten runs of
    each of 26 unlike tasks have an "exact" interval of the median that misses the true one in .46 of cases.

    References
    ----------
    .. [1] Jordan, S. M., Cohen, D. & Thomas, P. S. Using cumulative distribution based performance analysis to
       benchmark models.
    .. [2] Aldor-Noiman, S. et al. (2013). The power to see: a new graphical test of normality. Am. Stat. 67, 249-260.
       doi:10.1080/00031305.2013.847865
    .. [3] Moscovich, A. & Nadler, B. (2017). Fast calculation of boundary crossing probabilities for Poisson
       processes. Stat. Probab. Lett. 123, 177-182. doi:10.48550/arXiv.1503.04363
    .. [4] Efron, B. (1987). Better bootstrap confidence intervals. J. Am. Stat. Assoc. 82, 171-185.
       doi:10.1080/01621459.1987.10478410
    .. [5] Wilks, S. S. (1941). Determination of sample sizes for setting tolerance limits. Ann. Math. Stat. 12, 91-96.
       doi:10.1214/aoms/1177731788
    .. [6] Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical precipice. NeurIPS 34.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"].isel(training=-1)
    >>> cdf = scores.curves.performance_cdf(cvar_level=[0.5, 0.9], scores_at=[50, 60, 70])
    >>> cdf.score_mean.dims, cdf.cdf.dims
    (('algorithm',), ('algorithm', 'score'))
    >>> bool((cdf.cvar >= cdf.cvar_lower).all())
    True
    """
    design = _check_design(dim, strata, unit, interval)
    checked = check_curves(
        scores,
        core=design.dims,
        name="scores",
        reserved=kinds.PERFORMANCE_CDF.reserved(),
        named=design.dims,
    )
    checked, higher_is_better = direction.resolved(checked, higher_is_better)
    checked, budget = within_budget(checked, design.dims)
    trial_checks.check_resampling(design, interval, n_resamples)
    along_training = trial_checks.check_simultaneous(simultaneous, checked, design, interval)
    share = None
    if tolerance is not None:
        share = validation.check_share("tolerance", tolerance, "0.9, nine in ten trials")
        # A tolerance interval is one of order statistics.
        validation.check_choice("interval", interval, ("exact",))
    trials = checked.transpose(..., *design.core)
    beside = []
    left_out = ""
    if design.strata:
        counted = common_strata(trials, design)
        if not is_lazy(trials):
            out = find_left_out(trials, counted, design)
            left_out = str(out)
        if left_out or is_lazy(trials):
            trials = trials.where(counted).transpose(*trials.dims)
        beside.append(counted)
    wanted = trial_checks.check_statistics(cvar_level, cvar, threshold, target, higher_is_better)
    alpha = validation.check_confidence_level(confidence_level)
    at_scores = np.zeros(0)
    if scores_at is not None:
        at_scores = trial_checks.check_numbers("scores_at", scores_at)
    kernel = Distributions(
        shape=_shape_of(trials, design),
        stratified=bool(design.strata),
        by_unit=bool(design.units),
        wanted=wanted,
        scores_at=at_scores,
        probabilities=trial_checks.check_probabilities(probabilities),
        failed=Failed.of(budget, higher=wanted.higher),
        bounds=trial_checks.check_bounds(bounds),
        tolerance=share,
        interval=interval,
        simultaneous=along_training,
        n_resamples=validation.check_count("n_resamples", n_resamples) or DEFAULT_RESAMPLES,
        alpha=alpha,
        entropy=validation.check_rng(rng, random=interval != "exact"),
    )

    # What the result has depends on what was asked for.
    options = {
        "threshold": threshold,
        "target": target,
        "tolerance": tolerance,
        "scores_at": scores_at,
    }
    when = [name for name, value in options.items() if value is not None]
    if scores_at is not None and interval == "exact":
        when.append("scores_at, interval='exact'")
    if design.strata or design.units:
        when.append("strata or unit")
    if design.strata:
        when.append("strata")
    references = [kinds.JORDAN, *_PAPERS[interval]]
    if tolerance is not None:
        references.append(kinds.WILKS)
    attrs: dict[str, Any] = {
        **design.attrs,
        "cvar": cvar,
        "target": target,
        "bounds": None,
        "tolerance": share,
        "higher_is_better": higher_is_better,
        "interval": interval,
        "n_resamples": None,
        "simultaneous": simultaneous,
        "left_out": left_out or None,
    }
    if bounds is not None:
        attrs["bounds"] = " to ".join(map(as_digits, kernel.bounds))
    if interval != "exact":
        attrs["n_resamples"] = kernel.n_resamples
    coords = _coords_of(kernel, when)
    result = per_task(
        replace(kinds.PERFORMANCE_CDF, references=tuple(references)),
        kernel,
        trials,
        *beside,
        context=trial_checks.context_of(
            trials,
            design.core,
            confidence_level,
            alpha,
            kernel.entropy,
            seeded=rng is not None,
        ),
        core=design.core,
        sizes={str(name): len(values[1]) for name, values in coords.items()},
        when=when,
        coords=coords,
        attrs=attrs,
        budget=budget,
    )
    _describe_intervals(result, kernel)
    if along_training:
        bands = _simultaneous_intervals(result, trials, beside, design.core, kernel, confidence_level)
        result = result.assign(statistic_ci=bands)
    if not is_lazy(trials):
        if left_out:
            provenance.warn(f"strata={design.attrs['strata']!r}: left out for all algorithms: {left_out}. {out.cure()}")
        _warn_of_groups(result, kernel, labels.task_names(trials, design.dims))
    return result


def _check_design(dim: Dims, strata: Dims | None, unit: Dims | None, interval: str) -> Design:
    """Return what the dims of trials are; strata and units are for a bootstrap, which advice names."""
    also = ""
    if isinstance(interval, str) and interval == "exact":
        also = ", interval='percentile'"
    fixed = f"strata={{task!r}}{also} if its labels are a fixed set"
    repeated = f"unit={{unit!r}}{also}"
    return trial_checks.check_design(dim, strata, unit, fixed, repeated)


def _shape_of(trials: xr.DataArray, design: Design) -> tuple[int, int, int]:
    """Return the numbers of strata, of units in a stratum and of trials in a unit."""
    n_strata = prod(trials.sizes[name] for name in design.strata)
    n_units = prod(trials.sizes[name] for name in design.units)
    n_trials = prod(trials.sizes[name] for name in design.trials)
    if design.units:
        return n_strata, n_units, n_trials
    return n_strata, n_trials, 1


def _describe_intervals(result: xr.Dataset, kernel: Distributions) -> None:
    """Say in the attrs of a result how its intervals are made."""
    pointwise = "limit"
    if kernel.interval == "exact":
        pointwise = "exact"
    elif kernel.by_unit:
        pointwise = "unit"
    elif kernel.stratified:
        pointwise = "strata"
    of_cdf, of_quantiles = _POINTWISE[pointwise]
    of_statistics = _OF_STATISTICS[kernel.interval]
    if kernel.by_unit:
        of_statistics += " of whole units"
    how = {
        "statistic_ci": of_statistics,
        "score_quantile_ci": of_quantiles,
        "cdf_ci": of_cdf,
        "cdf_band": kinds.BAND,
    }
    for name in how.keys() & result.keys():
        result[name].attrs["interval"] = how[name]
    provenance.add_comment(
        result["score_std"],
        "NaN where a trial is infinite: failed, or a time not reached within the budget",
    )


def _simultaneous_intervals(
    result: xr.Dataset,
    trials: xr.DataArray,
    beside: Sequence[xr.DataArray],
    core: Sequence[str],
    kernel: Distributions,
    confidence_level: float,
) -> xr.DataArray:
    """Return intervals of statistics that hold at all training levels together."""
    pointwise = result["statistic_ci"]
    dims = ["training", *core]
    along = trials.transpose(..., *dims)
    if is_lazy(along):
        along = along.chunk(dict.fromkeys(dims, -1))
    var = kinds.PERFORMANCE_CDF.variables["statistic_ci"]
    of_levels = replace(var, dims=("task", "training", *var.core))
    bands = per_task(
        replace(kinds.PERFORMANCE_CDF, variables={"statistic_ci": of_levels}),
        partial(bands_along_training.bands, described=kernel),
        along,
        *beside,
        context=trial_checks.context_of(along, dims, confidence_level, kernel.alpha, kernel.entropy),
        core=dims,
        sizes={"param": kernel.wanted.length},
    )["statistic_ci"]

    # Residual runs give no intervals of some statistics.
    without: tuple[str, ...] = _SHARES
    if kernel.shape[0] == 1:
        without += _TAILS
    has_band = [not str(name).startswith(without) for name in result["param"].to_numpy()]
    in_order = pointwise.copy(data=bands.transpose(*pointwise.dims).data)
    kept = in_order.where(xr.DataArray(has_band, dims="param"))
    return kept.assign_attrs(interval=_SIMULTANEOUS)


def _coords_of(kernel: Distributions, when: Collection[str]) -> dict[Hashable, Any]:
    """Return the coordinates of what was asked for: the options `when`."""
    wanted = kernel.wanted
    marks = dict.fromkeys(["cvar", "cvar_lower"], wanted.levels)
    marks |= dict.fromkeys(["partial_mean_above", "prob_above"], wanted.thresholds)
    params = []
    for name, columns in wanted.places.items():
        if name in marks:
            params += [f"{name} {as_digits(mark)}" for mark in marks[name]]
        elif columns.stop > columns.start:
            params.append(name)
    coords = {
        "cvar_level": wanted.levels,
        "param": params,
        "probability": kernel.probabilities,
    }
    if "threshold" in when:
        coords["threshold"] = wanted.thresholds
    if "scores_at" in when:
        coords["score"] = kernel.scores_at
    return {name: (name, values, {"long_name": LONG_NAMES[name]}) for name, values in coords.items()}


def _warn_of_groups(result: xr.Dataset, kernel: Distributions, names: Sequence[str]) -> None:
    """Warn once of each thing that a reader of the result would not expect."""
    n_trials = result["n_trials"].to_numpy().ravel()
    n_units = result.get("n_units", result["n_trials"]).to_numpy().ravel()
    what = "trial"
    if kernel.by_unit:
        what = "unit"
    where = ""
    if kernel.stratified:
        where = " in the smallest stratum"

    def warn(affected: Bools, text: str) -> None:
        provenance.warn_of(affected, names, lambda _: text, "groups")

    warn(n_trials == 0, "no trial; the result is NaN")
    warn(
        (n_trials > 0) & (n_units == 0),
        "no trial in a stratum; the result is NaN",
    )
    if kernel.interval == "exact":
        return
    warn(n_units == 1, f"one {what}{where} shows no spread; the intervals are NaN")

    # Random signs of residual runs, which make bands along training, are no bootstrap.
    if kernel.simultaneous:
        few = (n_trials > 1) & (n_trials < _FEW_IN_A_BAND) & (not kernel.stratified)
        why = "runs of one group are few for a band along training, too narrow where scores are skewed or runs fail"
    else:
        few = (n_units > 1) & are_few(n_trials, n_units, kernel.stratified)
        why = f"{what}s{where} are few for a bootstrap: intervals are too short (coverage: see performance_cdf)"
    warn(few, f"{n_units[few.argmax()]} {why}")
    if kernel.simultaneous:
        alike = (n_trials > 1) & (result["score_std"] == 0).to_numpy().ravel()
        warn(alike, "all runs share a score; this level has no interval")
