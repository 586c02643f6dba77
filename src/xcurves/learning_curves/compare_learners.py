"""Learners compared by their learning curves."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, give, shown
from xcurves.core.run_checks import Context
from xcurves.kernels.laws import compare, powerlaw
from xcurves.kernels.laws.learning import Model
from xcurves.kernels.laws.powerlaw import Curves
from xcurves.kernels.resampling.batches import in_stretches
from xcurves.learning_curves import fitted_curves as curves
from xcurves.learning_curves import kinds
from xcurves.learning_curves.error_rates import bare, check_n
from xcurves.learning_curves.text import STRETCH

_AT_ONCE = 512  # pairs of curves
# these of θ
_COMBINED = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0]])


def compare_learners(fit: xr.Dataset, *, reference: Hashable | None = None, at: float | None = None) -> xr.Dataset:
    r"""Compare every algorithm's learning curve with that of a reference.

    Parameters
    ----------
    fit : Dataset
        What `fit_power_law` returned, with a dim `algorithm`, not quadratic.
    reference : label, optional
        The algorithm to compare with, by default the first.
    at : float, optional
        The size N at which errors are compared, up to the largest one; by default that of the fit, the smaller one of
        the two where it differs. For sizes beyond, see `predict`.

    Returns
    -------
    Dataset
        For every other algorithm, with the further dims of `fit` in front: `difference` (param) to the reference, first
        minus reference, `difference_ci` (param, ci_bound), by itself, and `difference_ci_simultaneous` (param,
        ci_bound), for all algorithms together, in the unit of `fit`, of ``error_at_n``, ``data_reliance`` and
        ``large_sample_error`` (e_N - β_N); `equal_from` and `equal_to` (crossing), the sizes between which no
        difference is shown, among those at which both curves were measured, NaN where there are none; `crossing_size`
        (crossing), where the curves cross there, NaN unless differences of opposite signs are shown on the two sides,
        which makes `equal_from` to `equal_to` its interval; `data_multiplier`, `data_multiplier_ci` (ci_bound) and
        `data_multiplier_ci_simultaneous` (ci_bound), how many times N the reference needs to reach the algorithm's
        error at N, NaN where its curve does not fall (β_N ≤ 0) or levels off above that error;
        `data_multiplier_extrapolated`, 1 where so many are beyond four times the largest size measured for the
        reference, or below a quarter of the smallest. The coordinate `at` is N. If an algorithm or the reference has no
        curve, or none up to N, everything is NaN; if the errors of either are all equal, so is everything but the
        difference of errors.

    Raises
    ------
    AttributeError
        If `fit` is a result of another method.
    ValueError, TypeError
        If `fit` is no result, there is no such algorithm or no other one, the fit is quadratic, or `at` is beyond the
        largest size.

    Notes
    -----
    With b the algorithm and a the reference,

    .. math:: d = \frac{1}{N} \left( \frac{e_b(N) - \alpha_a}{\eta_a} \right)^{1 / \gamma_a}

    "Augmentation is worth 1.8 times the data" [1]_. Where that error is near the reference's asymptote d changes fast
    with both curves: NaN takes the cases where d would be largest, and the interval holds for the others only roughly.
    Intervals take the two curves as independent, by the standard errors of the fits and Welch's degrees of freedom, for
    d in its logarithm, where d N is beyond the reference's largest size widened by its backtest, see `predict`. Folds
    or test images that learners share make true intervals of differences narrower.

    Of K algorithms beside the reference, intervals for all of them together are at the level α/K. A difference is shown
    at a size if that interval there does not hold 0. It is for that size by itself: of two equal learners about one
    pair in six is shown to differ at some size, one in a hundred is said to cross, one in fifty with free asymptotes.
    Of more than two stretches of sizes without a shown difference the last ones are joined.

    References
    ----------
    .. [1] Hoiem, D., Gupta, T., Li, Z. & Shlapentokh-Rothman, M. (2021). Learning curves for analysis of deep networks.
       Proc. 38th Int. Conf. on Machine Learning, PMLR 139, 4287-4296.

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> errors = xr.DataArray(
    ...     [[40.5, 32.9, 27.9, 24.6], [36.1, 29.8, 25.7, 23.0]],
    ...     {"algorithm": ["plain", "augmented"], "training": [50, 100, 200, 400]},
    ...     ["algorithm", "training"],
    ...     attrs={"units": "%"},
    ... )
    >>> fit = xcurves.fit_power_law(errors, sigma_hat_sq=20)
    >>> versus = xcurves.compare_learners(fit, reference="plain")
    >>> versus.data_multiplier.round(2).values.tolist()
    [1.58]
    """
    kinds.FIT_POWER_LAW.check(fit, "fit")
    if reference is None and "algorithm" in fit.indexes:
        reference = fit.indexes["algorithm"][0]
    chosen, against = curves.beside_reference(fit, reference)
    if "delta" in fit.data_vars:
        raise Refusal(
            "fit",
            UNSAID,
            "is quadratic; learners are compared by power laws",
            Cure("Fit with ", give(quadratic=False)),
        )
    first, *parts = curves.curves_of(chosen)
    where = _size_of(chosen, against, at)
    if at is not None:
        at = where.item()  # a list of one size is that size
    kernel = partial(
        _compare_group,
        model=curves.model_of(fit),
        known=fit.attrs["variances"] == "known",
        n_comparisons=chosen.sizes["algorithm"],
    )
    return per_task(
        kinds.COMPARE_LEARNERS,
        kernel,
        first,
        *parts,
        *curves.curves_of(against),
        where,
        context=Context.of(first, confidence_level=fit.attrs["confidence_level"], core=("training",)),
        core=("training",),
        sizes={"crossing": 2},
        attrs={"reference": reference, "at": at, "units": fit.attrs["units"]},
        coords={"at": where.variable},
        units=curves.rate_units(first.attrs.get("units", "1"), fit),
    )


def _size_of(chosen: xr.Dataset, against: xr.Dataset, at: float | None) -> xr.DataArray:
    """Return the size N at which learners are compared: as given, or the smaller one of those that the fit states."""
    if at is None:
        theirs = bare(against["at"].drop_vars("algorithm", errors="ignore"))
        return bare(chosen["at"]).clip(max=theirs)
    size = check_n("at", at)
    largest = chosen["training"].to_numpy()[-1]
    if len(size) > 1 or size[0] > largest:
        raise Refusal(
            "at",
            at,
            f"must be one size up to the largest measured one, {largest:g}",
            Cure(
                f"For the difference at any size: predict(fit, {shown(at)}, ",
                give(reference=Verbatim("")),
                "...)",
            ),
        )
    return xr.DataArray(size[0])


def _compare_group(group: Group, *, model: Model, known: bool, n_comparisons: int) -> dict[str, Floats]:
    """Compare, given what `curves_of` returns for the learners, then for the reference, and N; not all at once."""

    def compared(some: slice) -> dict[str, Floats]:
        *parts, at = (each[some] for each in group.data)
        (ours, _), (theirs, _) = curves.read(parts, model, known=known)
        return _compare(
            ours,
            theirs,
            at,
            group.context.alpha,
            n_comparisons,
            widened=model.nonnegative,
        )

    return in_stretches(compared, len(group.tasks), _AT_ONCE)


def _compare(
    ours: Curves,
    theirs: Curves,
    at: Floats,
    alpha: float,
    n_comparisons: int,
    *,
    widened: bool,
) -> dict[str, Floats]:
    """Compare curves at N; differences of sizes where both were measured, worth in data by the reference's curve."""
    low = np.maximum(ours.smallest, theirs.smallest)
    high = np.minimum(ours.fall.largest, theirs.fall.largest)
    learner, reference = (compare.restated(each, at) for each in (ours, theirs))
    beyond = ~(at <= high)
    learner.theta[beyond] = np.nan
    unknown = beyond | np.isnan(ours.theta[:, powerlaw.GAMMA] + theirs.theta[:, powerlaw.GAMMA])
    apart = unknown | ~(low <= high)
    low, high = np.where(apart, 1.0, low), np.where(apart, 2.0, high)
    of_all = alpha / n_comparisons
    stretches = compare.equal_sizes(learner, reference, low, high, of_all)
    difference = (learner.theta - reference.theta)[:, :2] @ _COMBINED[:, :2].T
    difference[unknown, 1:] = np.nan
    variances = np.stack([powerlaw.variance(_COMBINED, each.covariance) for each in (learner, reference)])
    own, together = (
        powerlaw.around(difference, compare.half_width(learner, reference, variances, level))
        for level in (alpha, of_all)
    )
    return {
        "difference": difference,
        "difference_ci": own,
        "difference_ci_simultaneous": together,
        **{n: np.where(apart[:, np.newaxis], np.nan, size) for n, size in zip(STRETCH, stretches, strict=True)},
        **_multipliers(learner, reference, unknown, (alpha, of_all), widened),
    }


def _multipliers(
    learner: Curves,
    reference: Curves,
    unknown: NDArray[np.bool_],
    alphas: tuple[float, float],
    widened: bool,
) -> dict[str, Floats]:
    """Return how many times the data the learner is worth, with intervals in logarithms, by itself and of all."""
    at, error = learner.at, powerlaw.ERROR
    log = compare.log_multiplier(reference.theta, np.where(unknown, np.nan, learner.theta[:, error]))
    there = (at * np.exp(log))[:, np.newaxis]
    slopes = powerlaw.gradient(reference.theta, there, at)
    of_reference = powerlaw.variance(slopes, reference.covariance)[:, 0]
    of_errors = np.stack([learner.covariance[:, error, error], of_reference])
    steepness = np.abs(powerlaw.log_slope(reference.theta, there, at)[:, 0])
    octaves = np.maximum(np.log2(there / reference.fall.largest[:, np.newaxis]), 0.0)
    top = powerlaw.values(reference.theta, reference.fall.largest[:, np.newaxis], at)
    reached = powerlaw.values(reference.theta, there, at)

    def interval(alpha: float) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log(reached / top)
            added = reached * powerlaw.added_width(alpha, reference.rho_law, octaves, change)
        known = compare.half_width(learner, reference, of_errors, alpha)
        half = np.hypot(known, widened * added[:, 0])
        return np.exp(powerlaw.around(log, half / steepness))

    own, together = (interval(alpha) for alpha in alphas)
    return {
        "data_multiplier": np.exp(log),
        "data_multiplier_ci": own,
        "data_multiplier_ci_simultaneous": together,
        "data_multiplier_extrapolated": reference.far(there)[:, 0],
    }
