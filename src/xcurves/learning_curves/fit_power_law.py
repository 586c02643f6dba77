"""Learning curves as extended power laws of the training size."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance, validation
from xcurves.core.task_blocks import apply_block
from xcurves.core.validation import check_curves
from xcurves.learning_curves import error_rates, fit_result
from xcurves.learning_curves.curvefit import FitBlock
from xcurves.learning_curves.kinds import COMPARE_LEARNERS, FIT_POWER_LAW, PREDICT
from xcurves.learning_curves.options import (
    At,
    Gamma,
    Weighting,
    check_aggregates,
    check_at,
    check_model,
    check_n,
    check_resamples,
    is_one,
    spread,
)

_RESERVED = FIT_POWER_LAW.reserved() | PREDICT.reserved() | COMPARE_LEARNERS.reserved()  # a fit is their argument


def fit_power_law(
    errors: xr.DataArray,
    *,
    at: float | xr.DataArray | None = None,
    units: Literal["percent", "fraction"] | None = None,
    gamma: Gamma = "search",
    quadratic: bool = False,
    weights: Weighting = "variance-folds",
    sigma0_sq: float = 0.02,
    sigma_hat_sq: float | None = None,
    standard_error: xr.DataArray | None = None,
    n_folds: int | xr.DataArray | None = None,
    prior_strength: float = 5.0,
    predict_at: At | None = None,
    n_resamples: int = 0,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Fit learning curves: error as a power law of the training size, with error and data-reliance at one size.

    Parameters
    ----------
    errors : DataArray, dims (..., training) or (..., run, training)
        Test errors in percent or fractions. `training` is the training size; `run`, if present, holds the folds, NaN
        where a size has fewer. Further dims (algorithm, task) broadcast, each curve with its own sizes.
    at : float or DataArray, optional
        The size N at which error and data-reliance are stated, one number or one for each label of some further dims.
        By default the largest size of the array.
    units : {"percent", "fraction"}, optional
        The unit of errors, if ``errors.attrs["units"]`` does not say it.
    gamma : float or "search", default "search"
        The exponent; by default that of -0.99, -0.98, ..., -0.01 that fits best, see Notes.
    quadratic : bool, default False
        Add a term δ n^(2γ).
    weights : {"variance-folds", "variance", "uniform"}
        1 / (F_i σ_i²), 1 / σ_i² or 1 for an error at size i, which has F_i folds.
    sigma0_sq : float, default 0.02
        Variance of errors at infinite size, in percent², whatever the units.
    sigma_hat_sq : float, optional
        Part of the variance that falls with size, σ_i² = sigma0_sq + sigma_hat_sq / n_i, in percent² times size; by
        default it is estimated from the folds. Needed if every size has one fold and weights are not uniform.
    standard_error : DataArray, optional
        Standard errors of `errors`, in their unit, which are then means over folds.
    n_folds : int or DataArray, optional
        Number of folds behind each mean, with `standard_error`. Without it weights are 1 / standard_error², the
        "variance" scheme, and the result says so.
    prior_strength : float, default 5
        Weight λ of the prior on γ.
    predict_at : float or sequence, optional
        Sizes at which to predict errors.
    n_resamples : int, default 0
        Number of bootstrap refits; with it intervals are percentiles of these.
    confidence_level : float, default 0.95
        Of each interval.
    rng : int, Generator or None
        Seed of the bootstrap.

    Returns
    -------
    Dataset
        With the further dims of `errors` in front, rates in the unit of `errors`: `error_at_n` (e_N) and
        `data_reliance` (β_N) at the coordinate `at`; `gamma`, `alpha`, `eta`, with `quadratic` also `delta`. On
        (param), which lists these: `estimate_ci` (param, ci_bound), `stderr`, `stderr_given_gamma`, and `covariance`
        (param, cov_param). On (training): `fitted`, `error_sd` (σ_i), `n_folds`. Scalars: `r_squared` (of mean errors),
        `objective` (G, Eq. 2), `gamma_at_edge` (-1 or 1 where γ is the steepest or flattest of the grid, else 0).
        With `predict_at`, on (n): `prediction`, `prediction_ci` (n, ci_bound), `extrapolated`. The coordinates beside:
        `mean_error` (training), and `at_extrapolated`, 1 where N lies beyond four times the largest, or below a quarter
        of the smallest, size of a curve. A curve without errors is NaN; one whose errors are all equal has γ, α, η NaN.

    Raises
    ------
    ValueError, TypeError
        If dims, coordinates or options are not as described; if the unit is in doubt; if errors are called accuracy or
        clearly rise; if a curve has fewer sizes than parameters, or one fold everywhere and no `sigma_hat_sq`; if
        standard errors are not positive.

    Warns
    -----
    UserWarning
        If γ is at the edge of the grid, cannot be identified, or a curve has no errors; if the variances of folds
        contradict `sigma0_sq` where σ̂² is estimated (chi-square, p < 0.001 over all). Not for dask-backed errors.

    Notes
    -----
    .. math:: e(n) = \alpha + \eta n^\gamma, \quad e_N = \alpha + \eta N^\gamma, \quad
              \beta_N = -2 \eta \gamma N^\gamma

    with weights from :math:`\sigma_i^2 = \sigma_0^2 + \hat\sigma^2 / n_i` and γ minimising the weighted sum of squares
    plus :math:`\lambda |\gamma + 0.5|` [1]_. The fit is done in percent, whatever the units, since these constants are;
    :math:`\hat\sigma^2` is not let fall below 0.

    Four times the data lower the error by about β_N / 2; e_N - β_N is the error of endless data, by the linear rule.

    *Intervals.* The paper's variances are conditional on γ, `stderr_given_gamma`: intervals by them cover e_N in .89
    and β_N in .36 of simulated cases, not .95. Those of `estimate_ci` take γ as estimated too (the sandwich with the
    derivative by γ), by Student's t with :math:`\sum (F_i - 1)` degrees of freedom, normal where variances were
    given, and residual ones where uniform weights leave nothing else. The bootstrap redraws means and variances of
    every size from the fitted curve, and refits without the prior. None of them knows the error that the test set
    itself brings, which all folds share: 28 % on 10,000 images is uncertain by 0.45.

    References
    ----------
    .. [1] Hoiem, D., Gupta, T., Li, Z. & Shlapentokh-Rothman, M. (2021). Learning curves for analysis of deep networks.
       Proc. 38th Int. Conf. on Machine Learning, PMLR 139, 4287-4296.

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> errors = xr.DataArray(
    ...     [[40.2, 33.1, 27.9, 24.6], [41.5, 32.2, 28.3, None], [40.9, 33.0, None, None]],
    ...     {"run": range(3), "training": [50, 100, 200, 400]},
    ...     attrs={"units": "%"},
    ... ).astype(float)
    >>> fit = xcurves.fit_power_law(errors)
    >>> round(fit.error_at_n.item(), 2), round(fit.data_reliance.item(), 2), fit.gamma.item()
    (24.6, 7.95, -0.58)
    >>> fit.curves.predict(1600).prediction.round(2).values.tolist()
    [20.82]
    """
    core = core_dims(errors)
    errors = check_curves(errors, core=core, name="errors", reserved=_RESERVED)
    unit = error_rates.check_unit(errors, units)
    error_rates.refuse_accuracy(errors, unit)
    aggregates = check_aggregates(errors, standard_error, n_folds, sigma_hat_sq, unit)
    extra: dict[Any, int] = {dim: errors.sizes[dim] for dim in labels.extra_dims(errors, core)}
    where = check_at(errors, list(extra), at)
    known = standard_error is not None and (n_folds is None or is_one(n_folds))
    lone = standard_error is not None and n_folds is None and weights == "variance-folds"
    given: dict[str, Any] = {
        "gamma": gamma,
        "quadratic": validation.check_flag("quadratic", quadratic),
        "weights": "variance" if lone else weights,
        "sigma0_sq": sigma0_sq,
        "sigma_hat_sq": sigma_hat_sq,
        "prior_strength": prior_strength,
    }
    block = FitBlock(
        names=labels.task_names(errors, core),
        model=check_model(error_rates.check_sizes(errors), **given),
        unit=unit,
        known=sigma_hat_sq is not None or known,
        predict_at=np.empty(0) if predict_at is None else check_n("predict_at", predict_at),
        n_resamples=check_resamples(n_resamples),
        entropy=validation.check_rng(0 if rng is None and not n_resamples else rng),
        alpha=validation.check_confidence_level(confidence_level),
    )
    folded = errors if "run" in errors.dims else errors.expand_dims("run", axis=-2)
    arrays = [folded, spread(where, extra), *aggregates]
    core_of = [("run", "training"), (), *[("training",)] * len(aggregates)]
    packed = apply_block(block, arrays, core_of, block.layout.length)
    attrs = provenance.result_attrs(
        FIT_POWER_LAW.name,
        errors,
        FIT_POWER_LAW.references,
        block.entropy,
        confidence_level,
        **({} if at is None or isinstance(at, xr.DataArray) else {"at": at}),
        units=unit.name,
        **given,
        variances="known" if block.known else "estimated",
        n_resamples=n_resamples,
    )
    result = fit_result.assemble(packed, block, errors, where, attrs)
    if errors.chunks is None:
        fit_result.warn(result, block, None if aggregates or block.known else folded)
    return result


def core_dims(errors: object) -> tuple[str, ...]:
    """Return the core dims of errors: the folds too, where there are any."""
    return ("run", "training") if "run" in getattr(errors, "dims", ()) else ("training",)
