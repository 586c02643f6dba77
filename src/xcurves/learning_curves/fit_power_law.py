"""Learning curves as extended power laws of the training size."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.run_checks import Context
from xcurves.kernels.laws import wls
from xcurves.learning_curves import error_rates as checks
from xcurves.learning_curves import kinds
from xcurves.learning_curves.curvefit import (
    Fitter,
    parameters_of,
    refuse_unfit,
    say_unfit,
)
from xcurves.learning_curves.error_rates import Asymptote, At, Gamma, Weighting
from xcurves.learning_curves.fitted_curves import rate_units, size_units
from xcurves.learning_curves.unfit_curves import FITTED, REASONS

# a fit is their argument
_RESERVED = kinds.FIT_POWER_LAW.reserved() | kinds.PREDICT.reserved() | kinds.COMPARE_LEARNERS.reserved()
_MOST_RESAMPLES = 1_000_000  # their draws are held at once
_CHECK_VARIANCES = (
    "folds vary otherwise than sigma0_sq + sigma_hat_sq / n says, so intervals may be wrong. "
    "Compare errors.std('run') with error_sd, and set sigma0_sq"
)


def fit_power_law(
    errors: xr.DataArray,
    *,
    at: float | Literal["largest"] | xr.DataArray = "largest",
    units: Literal["percent", "fraction", "loss"] | None = None,
    gamma: Gamma = "search",
    quadratic: bool = False,
    asymptote: Asymptote = "nonnegative",
    weighting: Weighting | None = None,
    octaves: float | Literal["auto"] | None = "auto",
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
        Test errors in percent or fractions, or losses. `training` is the training size; `run`, if present, holds the
        folds, NaN where a size has fewer. Further dims (algorithm, task) broadcast, each curve with its own sizes.
    at : float, "largest" or DataArray, default "largest"
        The size N at which error and data-reliance are stated: the largest size of each curve, one number, or one for
        each label of some further dims; none beyond the largest, where `predict` tells the error.
    units : {"percent", "fraction", "loss"}, optional
        The unit of errors, if ``errors.attrs["units"]`` does not say it. Units that are no rate are those of a loss,
        which has no upper end.
    gamma : float or "search", default "search"
        The exponent; by default that of -0.99, -0.98, ..., -0.01 that fits best, see Notes.
    quadratic : bool, default False
        Add a term δ n^(2γ).
    asymptote : {"nonnegative", "free"}
        Whether the asymptotic error α is at least 0, or as least squares gives it, as in the paper.
    weighting : {"variance-folds", "variance", "relative", "uniform"}, optional
        1 / (F_i σ_i²), 1 / σ_i², 1 / ē_i² or 1 for an error at size i, which has F_i folds of the mean ē_i. By default
        "variance-folds" for curves of which a size has folds, "variance" with `standard_error`, else "relative".
    octaves : float or None
        The law is fitted to the sizes of so many last octaves, five sizes at least, or, with None, to all. By default 3
        with a nonnegative asymptote, None with a free one, as in the paper.
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
        Number of bootstrap refits; with it intervals are percentiles of these. None are made, unlike elsewhere, since
        the intervals of the fit need none.
    confidence_level : float, default 0.95
        Of each interval.
    rng : int, Generator or None
        Seed of the bootstrap.

    Returns
    -------
    Dataset
        With the further dims of `errors` in front, rates in the unit of `errors`: `error_at_n` (e_N) and
        `data_reliance` (β_N) at the coordinate `at`; `gamma`, `alpha`, `eta`, with `quadratic` also `delta`;
        `backtest_error`, `backtest_error_law`, `backtest_error_last_fall`, `n_cuts`, `n_sizes_used` and
        `asymptote_at_bound`, see Notes. On (param), which lists the parameters: `estimate_ci` (param, ci_bound),
        `stderr`, `stderr_given_gamma`, and `covariance` (param, cov_param). On (training): `fitted`, `error_sd` (σ_i),
        `n_folds`. Scalars: `r_squared` (of mean errors), `objective` (G, Eq. 2). With `predict_at`, on (n):
        `prediction`, `prediction_ci` and `prediction_ci_given_law` (n, ci_bound), `extrapolated`. The coordinates
        beside: `mean_error` (training); `gamma_at_edge`, 1 where γ is -0.99 or -0.01, the ends of the grid;
        `at_extrapolated`, 1 where N lies below a quarter of the smallest size of a curve that is used; `fitted_from`,
        the smallest of these; `unfit`, why a curve is NaN, 0 for fitted ones. A curve whose errors are all equal has γ,
        α, η NaN.

    Raises
    ------
    ValueError, TypeError
        If dims, coordinates or options are not as described; if the unit is in doubt; if errors are called accuracy;
        if no curve can be fitted, because of too few sizes, one fold everywhere with weights by variance, errors of 0
        with relative weights, or errors that clearly rise.

    Warns
    -----
    UserWarning
        If training is called, or measured in, epochs, steps or iterations: the progress of one run is no curve over
        data sizes. Once, not for dask-backed errors: which curves are not fitted, and why; where γ is at the edge of
        the grid or cannot be identified; where variances of folds contradict `sigma0_sq`, σ̂² being estimated
        (chi-square, p < 0.001 over all).

    Notes
    -----
    .. math:: e(n) = \alpha + \eta n^\gamma, \quad e_N = \alpha + \eta N^\gamma, \quad
              \beta_N = -2 \eta \gamma N^\gamma

    with weights from :math:`\sigma_i^2 = \sigma_0^2 + \hat\sigma^2 / n_i` and γ minimising the weighted sum of squares
    plus :math:`\lambda |\gamma + 0.5|` [1]_. The fit is done in percent, whatever the units, since these constants are;
    :math:`\hat\sigma^2` is not let fall below 0.

    e_N - β_N is the error of endless data, by the linear rule. What more data give is told by `predict`.

    *Sizes.* By default the law is fitted to the sizes of the last three octaves, n ≥ 0.95 N/8 with N the largest size
    of a curve, but to five sizes at least: real curves are rarely one power law from the first to the last octave. α, η
    and γ hold for these sizes only; the others enter nothing but earlier backtests.

    *Asymptote.* Where least squares gives α < 0 at an exponent, α is 0 there and η alone is fitted. The covariance is
    then that of η and γ; α has no standard error.

    *Relative weights.* γ minimises :math:`k \ln S + \lambda |\gamma + 0.5|` with k sizes and the weighted sum of
    squares S; variances are S over its degrees of freedom. They need a size more than there are parameters. Where the
    noise is above a fifth of the curve, weights are those of the fitted curve.

    *Backtest.* The curve is cut at N/2^{j/2}, j = 1, ..., 6, as far as four sizes are left (N/2^j, j = 1, 2, 3, with
    less than 1.5 sizes per octave), everything is fitted anew to the sizes up to the cut, and
    r = ln(error / prediction) taken at all later sizes, h octaves further: the square of `backtest_error` is the mean
    over cuts of the mean over sizes of :math:`r^2 / \max(h, 1/2)`; NaN where no cut is possible. A curve with more
    than 0.1 misses its own last octaves by more than 10 % an octave. `backtest_error_law` and
    `backtest_error_last_fall` are those of the two rules that `predict` combines.

    *Intervals.* The paper's variances are conditional on γ, `stderr_given_gamma`: intervals by them cover e_N in .89
    and β_N in .37 of simulated cases, not .95. Those of `estimate_ci` take γ as estimated too (the sandwich with the
    derivative by γ), by Student's t with :math:`\sum (F_i - 1)` degrees of freedom, residual ones with relative weights
    or where uniform weights leave nothing else, and normal where variances were given; standard errors that are given
    are multiplied by :math:`\sqrt{\chi^2 / df}` where that exceeds 1. Predictions and their intervals are those of
    `predict`. The bootstrap redraws means and variances of every size from the fitted curve, and refits without the
    prior. None of them knows the error that the test set itself brings, which all folds share: 28 % on 10,000 images is
    uncertain by 0.45.

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
    [19.81]
    """
    checks.check_no_progress(errors)
    core = core_dims(errors)
    errors = validation.check_curves(errors, core=core, name="errors", reserved=_RESERVED)
    unit = checks.check_unit(errors, units)
    checks.refuse_accuracy(errors, unit)
    aggregates = checks.check_aggregates(errors, standard_error, n_folds, sigma_hat_sq, unit)
    where = checks.check_at(errors, labels.extra_dims(errors, core), at)
    one_fold = n_folds is None or (not is_lazy(xr.DataArray(n_folds)) and bool(np.all(xr.DataArray(n_folds) == 1)))
    scheme = weighting
    if scheme is None:
        scheme = _default_weighting(errors, unit, standard_error, n_folds, sigma_hat_sq)
    given: dict[str, Any] = {
        "gamma": gamma,
        "quadratic": validation.check_flag("quadratic", quadratic),
        "asymptote": asymptote,
        "weighting": scheme,
        "sigma0_sq": sigma0_sq,
        "sigma_hat_sq": sigma_hat_sq,
        "prior_strength": prior_strength,
    }
    model = checks.check_model(checks.check_sizes(errors, unit), unit, **given)
    last_octaves = checks.check_octaves(octaves, asymptote)
    rescaled = standard_error is not None and one_fold
    fitter = Fitter(
        model=replace(model, rescaled=rescaled),
        by_curve=weighting is None and scheme == "variance-folds" and not aggregates and sigma_hat_sq is None,
        unit=unit,
        known=sigma_hat_sq is not None or rescaled,
        predict_at=np.empty(0) if predict_at is None else checks.check_n("predict_at", predict_at),
        n_resamples=validation.check_total("n_resamples", n_resamples, "0 or 999", least=0, most=_MOST_RESAMPLES),
        octaves=last_octaves,
    )
    folded = errors
    if "run" not in errors.dims:
        folded = errors.expand_dims("run", axis=-2)
    folded = folded.rename(run="_fold")
    params = list(parameters_of(model))
    coords: dict[Hashable, Any] = {
        "param": params,
        "cov_param": params,
        "at": xr.Variable(where.dims, where.data),
    }
    if predict_at is not None:
        coords["n"] = (
            "n",
            fitter.predict_at,
            {"long_name": "training size", **size_units(errors)},
        )
    when = []
    if model.quadratic:
        when.append("quadratic")
    if predict_at is not None:
        when.append("predict_at")
    attrs: dict[str, Any] = {
        "units": unit.name,
        **given,
        "octaves": "all" if last_octaves is None else last_octaves,
        "variances": "known" if fitter.known and scheme != "relative" else "estimated",
        "n_resamples": n_resamples,
    }
    if not isinstance(at, xr.DataArray):
        attrs = {"at": at, **attrs}
    of_folds = None
    if not aggregates and not fitter.known and scheme != "relative":
        of_folds = folded
    return per_task(
        kinds.FIT_POWER_LAW,
        fitter,
        folded,
        where,
        *aggregates,
        context=Context.of(
            errors,
            confidence_level=confidence_level,
            rng=rng,
            random=n_resamples > 0,
            core=core,
        ),
        core=("_fold", "training"),
        sizes={
            "param": len(params),
            "cov_param": len(params),
            "n": len(fitter.predict_at),
        },
        when=when,
        attrs=attrs,
        coords=coords,
        units=rate_units(unit.written, errors) | {"objective": "percent^2" if scheme == "uniform" else "1"},
        warn=partial(_warn_of_fits, names=labels.task_names(errors, core), folded=of_folds),
    )


def core_dims(errors: object) -> tuple[str, ...]:
    """Return the core dims of errors: the folds too, where there are any."""
    if "run" in getattr(errors, "dims", ()):
        return ("run", "training")
    return ("training",)


def _default_weighting(
    errors: xr.DataArray,
    unit: checks.Unit,
    standard_error: xr.DataArray | None,
    n_folds: int | xr.DataArray | None,
    sigma_hat_sq: float | None,
) -> Weighting:
    """Return how sizes are weighted where nobody says it: by what is known of the variance of their means."""
    if standard_error is not None and n_folds is None:
        return "variance"
    has_variance = sigma_hat_sq is not None or errors.sizes.get("run", 1) > 1
    if n_folds is not None or (has_variance and unit.name != "loss"):
        return "variance-folds"
    return "relative"


def _warn_of_fits(result: xr.Dataset, names: Sequence[str], folded: xr.DataArray | None) -> None:
    """Give one warning of all in a computed result that a reader would not expect; refuse one without a fit."""
    gamma, unfit, edge = (result[name].to_numpy().ravel() for name in ("gamma", "unfit", "gamma_at_edge"))
    fitted = unfit == FITTED
    if not fitted.any():
        refuse_unfit(unfit, names)
    cases = {
        "errors are all equal: gamma cannot be identified and is NaN": np.isnan(gamma) & fitted,
        "gamma is {gamma:g}, the edge of the grid: the curve may not be a power law": edge != 0,
    }
    if folded is not None:
        folds, _, spread = wls.size_statistics(folded.to_numpy().reshape(-1, *folded.shape[-2:]))
        pvalue = wls.variance_pvalue(folds, spread, result["error_sd"].to_numpy().reshape(folds.shape) ** 2)
        cases[_CHECK_VARIANCES] = (pvalue < 0.001 / len(folds)) & fitted
    said = say_unfit(unfit, names, REASONS, "curve")
    for words, affected in cases.items():
        if not affected.any():
            continue
        first = int(affected.argmax())
        sentence = names[first] + words.format(gamma=gamma[first])
        if affected.sum() > 1:
            sentence += f" (in {affected.sum()} curves)"
        said.append(sentence)
    if said:
        provenance.warn("; ".join(said))
