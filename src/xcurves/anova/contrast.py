"""Planned contrasts of algorithms over a profile of training."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.anova import kinds
from xcurves.array_types import Floats
from xcurves.core import direction, provenance, run_checks, validation
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group, Reduce
from xcurves.core.labels import in_label_order
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType
from xcurves.core.run_checks import Context, as_float
from xcurves.core.validation import check_curves
from xcurves.core.weights import (
    SumOfLevels,
    TrainingWeights,
    check_training_weights,
    weights_on,
)
from xcurves.kernels.one_task import contrasts
from xcurves.kernels.one_task.shifted_contrasts import Alternative

Weights = Mapping[Any, float] | pd.Series | xr.DataArray


def contrast(
    curves: xr.DataArray,
    weights: Weights,
    *,
    training_weights: TrainingWeights = None,
    n_resamples: int | None = None,
    paired: bool = False,
    alternative: Alternative = "two-sided",
    higher_is_better: bool | None = None,
    margin: float | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Test one planned comparison of algorithms, over all of training or a profile of it.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, as for `randomized_anova`.
    weights : mapping, Series or DataArray
        Weights of the algorithms, which sum to zero; algorithms that are not named have none. A DataArray of dims
        (algorithm, training) must be separable, one profile over training times one weight per algorithm.
    training_weights : {None, "final"}, sequence or DataArray with dim training, optional
        How a curve becomes a number: the mean over its task's levels, the last of them, or weights. Nonnegative
        weights are divided by their sum: a mask gives the mean of its levels. Weights of both signs (a slope) are used
        as they are. Weights on a level that a task lacks are an error.
    n_resamples : int, optional
        Largest number of reassignments, as for `randomized_anova`. A contrast has a sign: 3 v 3 runs have 20, not 10.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms.
    alternative : {"two-sided", "less", "greater"}
        The alternative hypothesis about the contrast, as in SciPy.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    margin : float, optional
        Test too that the algorithms with positive weight are not worse by more than this, in units of the contrast.
    confidence_level : float, default 0.95
        Of the interval, which is one-sided if `alternative` is.
    rng : int, Generator or None
        Seed of the random reassignments.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front: `pvalue`, `statistic` (T), `estimate` and `estimate_ci` (ci_bound) in
        score units, `n_resamples`, `n_assignments`; and what was given, `weights` (algorithm) and
        `training_weights` (training; NaN for the mean over each task's grid). `n_runs` (algorithm), 0 where there is no
        weight. With a `margin` also `margin_pvalue`, and in score units `margin_limit`, the one-sided lower limit of
        how much better they are: p is at most ``1 - confidence_level`` where it is above ``-margin``.

    Raises
    ------
    ValueError, TypeError
        If weights do not sum to zero, are all equal, name unknown algorithms or levels, or are not separable; if an
        algorithm with a weight has fewer than two runs; and as `randomized_anova`.

    Warns
    -----
    UserWarning
        If so few reassignments exist that no p-value can reach ``1 - confidence_level``. Not for dask-backed curves.

    Notes
    -----
    Every curve is reduced to one number by the same profile, :math:`u_{ij} = \sum_h b_h y_{ijh}`, and

    .. math:: T = \frac{\sum_i a_i \bar u_i}{\sqrt{\sum_i a_i^2 s_i^2 / l_i}}

    is recomputed for each relabelling of the curves of the algorithms with a weight, and of these only; paired, it is
    the one-sample t of :math:`D_j = \sum_i a_i u_{ij}` under relabelling within runs. Exact if curves are exchangeable,
    otherwise asymptotically right, since T is studentized. From few runs it need not hold its level: with standard
    deviations 1 v 4 it rejects .06 of true nulls at a level of .05 for 10 v 10 runs, .08 for 15 v 5 and .05 for 60 v 20
    (unstudentized .21 and .004), and .10 for skewed (exponential) scores, 10 v 10, .25 for lognormal ones, 3 v 6 with
    standard deviations 3 v 1. The two-sided p is the share of
    relabellings with :math:`|T^*| \ge |T|`; twice the smaller one-sided one, as in SciPy, would reject .16 there. The
    interval goes from the smallest to the largest shift that the test does not reject; it assumes that algorithms
    differ by a shift, which the test does not. `margin_pvalue` is the largest one-sided p of all contrasts of at most
    ``-margin``, as p need not rise with the shift. Runs of algorithms without a weight are not shuffled: otherwise the
    level would depend on the scores of those algorithms.

    References
    ----------
    .. [1] Janssen, A. (1997). Studentized permutation tests for non-i.i.d. hypotheses and the generalized
       Behrens-Fisher problem. Statistics & Probability Letters 36, 9-21. doi:10.1016/S0167-7152(97)00043-6
    .. [2] Chung, E. & Romano, J. P. (2013). Exact and asymptotically robust permutation tests.
       Annals of Statistics 41, 484-507. doi:10.1214/13-AOS1090

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> late = scores.training > 2000
    >>> test = scores.curves.contrast({"rate 0.1": 1, "rate 0.8": -1}, training_weights=late, rng=0)
    >>> round(test.estimate.item(), 3)
    3.433
    >>> int(test.n_assignments)
    184756
    """
    with_training = validation.with_training(curves)
    scores = check_curves(with_training, reserved=kinds.CONTRAST.reserved())
    validation.check_choice("alternative", alternative, ("two-sided", "less", "greater"))
    over_algorithms, profile = check_weights(scores, weights, training_weights)
    context = Context.of(scores, n_resamples, paired, confidence_level, rng)
    validation.check_margin(margin)
    scores, higher_is_better = direction.resolved(scores, higher_is_better)
    sign = 1
    if not higher_is_better:
        sign = -1
    when = []
    if margin is not None:
        when.append("margin")
    attrs: dict[str, Any] = {
        "n_resamples": n_resamples,
        "paired": paired,
        "alternative": alternative,
        "higher_is_better": higher_is_better,
        "margin": margin,
    }

    # "final" is an attr; the mean over each task's grid has no weights of levels either.
    of_training = xr.Variable("training", np.full(scores.sizes["training"], np.nan))
    of_levels: Floats | str | None = None
    if isinstance(profile, xr.DataArray):
        of_training = profile.variable
        of_levels = of_training.to_numpy()
    elif profile is not None:
        of_levels = profile
        attrs["training_weights"] = profile

    # Less what all have in common: no contrast depends on it, and close numbers keep their digits.
    reduction = SumOfLevels(of_levels, centred=True, paired=context.paired)
    of_algorithms = in_label_order(over_algorithms).to_numpy()
    weighted = np.flatnonzero(of_algorithms)
    kernel = partial(
        contrast_kernel,
        reduction=reduction,
        weights=of_algorithms[weighted],
        alternative=alternative,
        margin=margin,
        sign=sign,
    )
    return per_task(
        kinds.CONTRAST,
        kernel,
        scores,
        context=context,
        when=when,
        reduce=Reduce(by=[reduction], subsets=[weighted.tolist()]),
        attrs=attrs,
        coords={
            **over_algorithms.coords,
            "training": scores["training"],
            "weights": over_algorithms.variable,
            "training_weights": of_training,
        },
        cure=with_training,
        warn=partial(_warn_of_contrast, context=context),
    )


def _warn_of_contrast(result: xr.Dataset, context: Context) -> None:
    """Warn of tasks whose intervals have no end, as no shift at all is rejected."""
    n_resamples = result["n_resamples"].to_numpy().ravel()
    has_no_end = (abs(result["estimate_ci"]) == np.inf).all("ci_bound")
    unbounded = has_no_end.to_numpy().ravel() & (n_resamples > 0)
    why = f"reassignments allow no p of {context.alpha:g} or below, and the interval is unbounded"
    provenance.warn_of(unbounded, context.names, lambda task: f"{n_resamples[task]} {why}")


def contrast_kernel(
    group: Group,
    *,
    reduction: SumOfLevels,
    weights: Floats,
    alternative: Alternative,
    margin: float | None,
    sign: int,
) -> dict[str, Any]:
    """Test the contrast in alike tasks."""
    context = group.context
    numbers = reduction.numbers(group)[:, group.curves]
    run_checks.check_contrasted(
        group.present,
        group.names[0],
        group.algorithms,
        context.runs,
        paired=context.paired,
    )
    plan = context.plan(group.sizes, labelled=True)
    design = contrasts.ContrastDesign(numbers, group.sizes, weights, context.paired)
    tests = contrasts.contrast_tests(design, plan, alternative, context.alpha)
    tests.pop("estimate_ci_gap")

    # The margin is of how much worse, whichever end of the scores is better.
    if margin is not None:
        upward = design._replace(u=sign * numbers)
        tests |= contrasts.margin_tests(upward, plan, margin, context.alpha)
    return {
        **tests,
        "n_resamples": plan.n_resamples,
        "n_assignments": as_float(plan.n_assignments),
    }


def check_weights(
    curves: xr.DataArray, weights: Weights, training_weights: TrainingWeights
) -> tuple[xr.DataArray, xr.DataArray | str | None]:
    """Return weights on (algorithm) that sum to zero, and those of training levels."""
    if isinstance(weights, xr.DataArray) and "training" in weights.dims:
        if training_weights is not None:
            raise Refusal(
                "training_weights",
                UNSAID,
                "is given twice: weights has a training dim",
                "Leave one out",
            )
        weights, training_weights = _separate(weights)
    if not isinstance(weights, xr.DataArray | Mapping | pd.Series):
        kind = type(weights).__name__
        raise WrongType(
            "weights",
            Verbatim(kind),
            "must map algorithms to weights",
            "Try {'a': 1, 'b': -1}",
        )
    over_algorithms = weights_on(curves, "algorithm", weights, "weights")
    values = over_algorithms.to_numpy()
    if np.ptp(values) == 0:
        raise Refusal(
            "weights",
            Verbatim(f"{values[0]:g} for every algorithm"),
            "must not be all equal",
            "Name two that differ",
        )
    if abs(values.sum()) > 1e-9 * np.abs(values).sum():
        raise Refusal(
            "weights",
            Verbatim(f"{values.sum():g}"),
            "must sum to zero over algorithms",
            "Subtract the mean",
        )
    return over_algorithms, check_training_weights(curves, training_weights)


def _separate(weights: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Split weights on (algorithm, training) into their two factors."""
    if set(weights.dims) != {"algorithm", "training"} or weights.dtype.kind not in "biuf":
        raise Refusal(
            "weights",
            Verbatim(f"{weights.dtype} on {weights.dims}"),
            "must be numbers with the dim 'algorithm', or with 'training' too",
            "Try {'a': 1, 'b': -1}",
        )
    both = weights.transpose("algorithm", "training").fillna(0)
    # The profile over training is that of the algorithm with the largest weights.
    sizes = (both**2).sum("training").to_numpy()
    largest = both.isel(algorithm=int(sizes.argmax()), drop=True)
    norm = (largest**2).sum().item()
    over_algorithms = (both * largest).sum("training") / (norm or 1.0)
    if abs(both - over_algorithms * largest).max() > 1e-9 * abs(both).max():
        raise Refusal(
            "weights",
            UNSAID,
            "are not separable: all algorithms must share one profile over training, up to sign and size",
            "Test one contrast for each profile",
        )
    return over_algorithms, largest
