"""The performance distribution of trials: its inverse, statistics of it, and intervals of them all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import ceil, log, prod
from numbers import Real
from typing import Any, Literal

import xarray as xr

from xcurves.core import labels, provenance, validation
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.core.validation import check_curves
from xcurves.distributions import cdf_labels, options
from xcurves.distributions.kinds import EFRON_1987, JORDAN, MASSART, PERFORMANCE_CDF
from xcurves.distributions.options import Dims, Numbers
from xcurves.distributions.training_bands import check_simultaneous, simultaneous_intervals
from xcurves.distributions.trials import DistributionBlock, Interval
from xcurves.kernels.shuffles import DEFAULT_RESAMPLES
from xcurves.kernels.summaries import Summaries


def performance_cdf(
    scores: xr.DataArray,
    *,
    dim: Dims = "run",
    scores_at: Numbers | None = None,
    probabilities: Numbers | None = None,
    cvar_level: Numbers = 0.5,
    cvar: Literal["tail-mean", "conditional"] = "tail-mean",
    iqm: Literal["trim", "fractional"] = "trim",
    threshold: Numbers | None = None,
    target: float | None = None,
    bounds: tuple[float, float] | None = None,
    higher_is_better: bool = True,
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
        One score for each trial, NaN where there is none; +inf for times that were never reached, of
        `time_to_threshold`. All dims but `dim` broadcast, `training` too.
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
    iqm : {"trim", "fractional"}
        Mean without the ⌊n/4⌋ lowest and highest trials (as in rliable), or of the middle half with fractional weights.
    threshold : float or sequence of float, optional
        Scores to be met, for `partial_mean_above` and `prob_above`.
    target : float, optional
        Score to be reached, for `optimality_gap`.
    bounds : tuple of float, optional
        Smallest and largest score that there can be, for finite-sample intervals; infinite where there is none.
    higher_is_better : bool, default True
        If not, the best share is the lowest, and a threshold or target is met from above.
    interval : {"exact", "percentile", "bca"}
        Intervals that hold for independent trials of any distribution, or bootstrap intervals.
    n_resamples : int, optional
        Number of bootstrap resamples; by default 9,999.
    strata : str or sequence of str, optional
        Dims of `dim` within whose labels the bootstrap resamples: a fixed set of tasks. ``()``: there are none, all
        trials are one pool.
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
        `partial_mean_above` (threshold) and `prob_above` (a share). With `target`: `optimality_gap`. Coordinates:
        `n_trials` (a count), `share_infinite` (the share of trials that are +inf) and, with strata or units, `n_units`
        (of the smallest stratum). The attr `interval` of each interval says what it is. Of trials that are +inf, shares
        and order statistics stand; a mean that takes one in is infinite, and `score_std` is NaN.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if there are several dims and neither `strata` nor `unit`, if scores
        are -inf, or +inf with `interval="bca"`, or if a score violates `bounds`.

    Warns
    -----
    UserWarning
        If a group has no trial, or none in a stratum (its results are NaN); for a bootstrap, if it has one unit in a
        stratum (its intervals are NaN), or few: fewer than 30 trials or units, 10 in a stratum. Not for dask-backed
        scores, where `n_trials` and `n_units` say so.

    Notes
    -----
    .. math:: F(z) = \frac{\#\{i: z_i \le z\}}{n}, \quad F^{-1}(p) = \min\{z: F(z) \ge p\}, \quad
              \mathrm{CVaR}_\alpha = \frac{1}{1 - \alpha} \int_\alpha^1 F^{-1}(p)\, dp

    *Exact* intervals are for independent trials of one distribution: Clopper-Pearson for F(z), order statistics for
    F⁻¹(p) and the median (infinite where no trial is far enough out), and a band
    :math:`F \pm \sqrt{\ln(2/\delta) / 2n}` that holds everywhere at once. Integrated between `bounds` the band gives
    finite-sample intervals for mean, IQM, CVaR and gap; without bounds only their ends that need none are finite. They
    are wide: that of the mean is up to 2ε times the range of scores, 0.27 of it for 100 trials.

    *Bootstrap* intervals are approximate and too short for few trials. At n = 10 and a nominal .95 percentile intervals
    cover .90 for the mean and .32 for CVaR at .9 of normal scores; the docs have a table. For F
    and F⁻¹ of single trials they are computed as the limit of infinitely many resamples, without resampling. Beyond
    16,384 trials in one stratum, a thousand groups of trials next to each other in order are resampled in their place;
    this changes intervals less than the random resamples do.

    *Along training*, with ``simultaneous="training"``: whole residual runs, about their stratum's mean and scaled by
    :math:`\sqrt{l / (l - 1)}`, get random signs, and every replicate is measured by its own spread about the means. In
    simulations the band of the IQM covers .95 and .96 with five runs of 10 and of 26 tasks, .91 with one group of ten.
    NaN with one trial in a stratum, where runs are too few for a finite band, and for the shares above a threshold.
    Intervals of F and F⁻¹ remain pointwise.

    Trials that share a hyper-parameter draw (or a data set, or a seed) are not independent: name the dim of the draws
    as `unit`. A pool of tasks is not one distribution: name the tasks as `strata`. Taken for independent trials, ten
    runs of each of 26 tasks that differ by three times the spread of runs have an "exact" interval of the median that
    misses that of all such tasks in .46 of cases.

    References
    ----------
    .. [1] Jordan, S. M., Cohen, D. & Thomas, P. S. Using cumulative distribution based performance analysis to
       benchmark models.
    .. [2] Massart, P. (1990). The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality. Ann. Probab. 18,
       1269-1283. doi:10.1214/aop/1176990746
    .. [3] Efron, B. (1987). Better bootstrap confidence intervals. J. Am. Stat. Assoc. 82, 171-185.
       doi:10.1080/01621459.1987.10478410
    .. [4] Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical precipice. NeurIPS 34.

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
    dims = options.check_trial_dims(dim)
    scores = check_curves(scores, core=dims, name="scores", reserved=PERFORMANCE_CDF.reserved())
    within, outer = options.check_design(dims, strata, unit, interval, n_resamples)
    training = check_simultaneous(simultaneous, scores, dims, interval, outer)
    core = [*within, *outer, *(name for name in dims if name not in (*within, *outer))]
    wanted = options.check_statistics(cvar_level, cvar, iqm, threshold, target, higher_is_better)
    at = None if scores_at is None else options.check_numbers("scores_at", scores_at)
    quantiles = options.check_probabilities(probabilities)
    block = DistributionBlock(
        layout=_layout(wanted, at, quantiles, interval, folded=bool(within or outer)),
        names=labels.task_names(scores, dims),
        shape=_folded(scores.sizes, core, within, outer),
        stratified=bool(within),
        by_unit=bool(outer),
        wanted=wanted,
        scores_at=at,
        probabilities=quantiles,
        bounds=options.check_bounds(bounds),
        interval=interval,
        simultaneous=training,
        n_resamples=validation.check_count("n_resamples", n_resamples) or DEFAULT_RESAMPLES,
        alpha=validation.check_confidence_level(confidence_level),
        entropy=validation.check_rng(0 if rng is None and interval == "exact" else rng),
    )
    packed = apply_block(block, [scores.transpose(..., *core)], [core], block.layout.length)
    attrs = provenance.result_attrs(
        PERFORMANCE_CDF.name,
        scores,
        (JORDAN, MASSART if interval == "exact" else EFRON_1987),
        block.entropy,
        confidence_level,
        dim=", ".join(dims),
        cvar=cvar,
        iqm=iqm,
        target=target,
        bounds=None if bounds is None else " to ".join(map(options.as_digits, block.bounds)),
        higher_is_better=higher_is_better,
        interval=interval,
        n_resamples=None if interval == "exact" else block.n_resamples,
        strata=", ".join(within) or None,
        unit=options.say_unit(dims, outer, unit),
        simultaneous=simultaneous,
    )
    coords: dict[Hashable, Any] = {**packed.coords, **cdf_labels.coords(block)}
    result = PERFORMANCE_CDF.dataset(block.layout.unpack(packed), coords, attrs, scores)
    cdf_labels.say_intervals(result, block)
    if training:
        result = simultaneous_intervals(result, scores, core, block)
    if scores.chunks is None:
        cdf_labels.warn_of_groups(result, block, options.empty_strata(scores, within, dims) if within else [])
    return result.set_coords([name for name in ("share_infinite", "n_trials", "n_units") if name in result])


def _layout(
    wanted: Summaries, scores_at: Floats | None, probabilities: Floats, interval: str, *, folded: bool
) -> Layout:
    """Return how the results of one task are packed; what was not asked for is not in it."""
    asked = {
        "scores_at": scores_at is not None,
        "scores_at, interval='exact'": scores_at is not None and interval == "exact",
        "threshold": len(wanted.thresholds) > 0,
        "target": len(wanted.targets) > 0,
        "strata or unit": folded,
    }
    sizes = {
        "cvar_level": len(wanted.levels),
        "threshold": len(wanted.thresholds),
        "param": wanted.length,
        "probability": len(probabilities),
        "score": 0 if scores_at is None else len(scores_at),
        "ci_bound": 2,
    }
    return PERFORMANCE_CDF.layout(sizes, *(option for option, is_asked in asked.items() if is_asked))


def _folded(
    sizes: Mapping[Hashable, int], core: Sequence[str], within: Sequence[str], outer: Sequence[str]
) -> tuple[int, int, int]:
    """Return the numbers of strata, of units in a stratum and of trials in a unit, to which the core dims fold."""
    rest = core[len(within) :]
    units, trials = (rest[: len(outer)], rest[len(outer) :]) if outer else (rest, ())
    n_strata, n_units, n_trials = (prod(sizes[name] for name in names) for names in (within, units, trials))
    return n_strata, n_units, n_trials


def trials_needed(width: float, *, confidence_level: float = 0.95) -> int:
    r"""Return how many independent trials make the band around a CDF this narrow.

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
    if not isinstance(width, Real) or not 0 < width < 1:
        raise ValueError(
            f"width must lie between 0 and 1; got {labels.shown(width)}. It is a difference of probabilities: 0.1"
        )
    return ceil(2 * log(2 / alpha) / float(width) ** 2)
