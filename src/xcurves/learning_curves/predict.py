"""What a learning curve predicts for other training sizes."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, validation
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.refusal import Refusal, Verbatim
from xcurves.core.run_checks import Context
from xcurves.kernels.intervals import t_quantile
from xcurves.kernels.laws import powerlaw, wls
from xcurves.kernels.laws.learning import Fit, Model, Sizes
from xcurves.learning_curves import fitted_curves as curves
from xcurves.learning_curves import kinds
from xcurves.learning_curves.error_rates import (
    At,
    bare,
    check_labels,
    check_n,
    check_positive,
)

Rule = Literal["combined", "power-law", "last-fall", "linear"]


def predict(
    fit: xr.Dataset,
    n: At,
    *,
    rule: Rule = "combined",
    reference: Hashable | None = None,
) -> xr.Dataset:
    r"""Predict the error at other training sizes.

    Parameters
    ----------
    fit : Dataset
        What `fit_power_law` returned.
    n : float, sequence or DataArray
        Training sizes, in the unit of `training`; a DataArray on further dims of `fit` has one for each curve, such as
        ``4 * fit["at"]``.
    rule : {"combined", "power-law", "last-fall", "linear"}
        The geometric mean of the fitted curve and of the last fall, see Notes; one of the two; or the rule of Eq. 1
        of Hoiem et al., linear in :math:`n^{-1/2}`, that e_N and β_N give. Fits with a free asymptote have the
        fitted curve in place of the first and the third.
    reference : label, optional
        The algorithm to which differences of the others are given, instead of its own predictions.

    Returns
    -------
    Dataset
        With the further dims of `fit` in front, in its unit: `prediction` (n), `prediction_ci` (n, ci_bound);
        `prediction_by_law` and `prediction_ci_given_law`, of the fitted curve alone; `prediction_ci_given_gamma`, if γ
        is known too; `prediction_last_fall`; `change` (n) and `change_ci` (n, ci_bound), the predicted error less that
        at the size N, the coordinate `at`; `change_ratio` and `change_ratio_ci`, the one over the other; with
        `reference` `difference` (n) and `difference_ci` (n, ci_bound), to the prediction for the reference; and
        `extrapolated` (n), 1 for sizes beyond four times the largest, or below a quarter of the smallest, that the
        curve was fitted to. Of a DataArray there is no dim n; the coordinate n has the size of each curve. For pictures
        `mean_error` and `fitted` (training), of the fit.

    Raises
    ------
    AttributeError
        If `fit` is a result of another method.
    ValueError, TypeError
        If `fit` is no result, sizes are not positive numbers, or rule or reference is unknown.

    Notes
    -----
    With f the fitted curve, N the largest size and :math:`d = \max(0, \log_2 n / N)`,

    .. math:: \ln g(n) = \ln \bar e_N + \min(s, 0) \log_2 \frac{n}{N}, \quad
              \ln c(n) = (1 - u) \ln f(n) + u \ln g(n), \quad u = \min(d, 1) / 2

    s being the slope of the logarithms of the mean errors, an octave, from the size nearest to N/2 to N: g repeats the
    last fall, c is the law within the data and the geometric mean of both from 2N on. On 1,832 published learning
    curves, cut at a quarter of their largest size, c is nearer than either at 2N and 4N.

    .. math:: c(n) e^{\pm H}, \quad H^2 = ((1 - u) t\, se / f)^2 + z^2 \rho^2 d
              + \left( \tfrac{z}{1.96} \tfrac{1}{3} \ln \frac{c(n)}{f(N)} \right)^2

    where the last two terms stand beyond N: ρ, the backtest error of `fit_power_law` with one more cut of 2 %, and a
    third of the predicted change. The interval of "power-law" is the same with f in place of c and ρ by
    `backtest_error_law`; that of "last-fall" goes from no change to twice the fall; that of "linear" is symmetric, as
    is that of fits with a free asymptote, which is the law's own.

    Intervals are for the expected error, not for that of one more training. `prediction_ci_given_gamma` are the paper's
    bounds (Eq. 3), which take γ as known and are too narrow away from the data. Whether more data lower the error is
    read off `change_ratio_ci`, not off `prediction_ci`: errors at n and at N are estimated from the same folds and vary
    together. Intervals of differences take the learners as independent. All are by the standard errors of the fit; for
    bootstrap intervals give `fit_power_law` the sizes as `predict_at`.

    References
    ----------
    .. [1] Hoiem, D., Gupta, T., Li, Z. & Shlapentokh-Rothman, M. (2021). Learning curves for analysis of deep networks.
       Proc. 38th Int. Conf. on Machine Learning, PMLR 139, 4287-4296.

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> errors = xr.DataArray(
    ...     [40.5, 32.9, 27.9, 24.6], {"training": [50, 100, 200, 400]}, ["training"], attrs={"units": "%"}
    ... )
    >>> fit = xcurves.fit_power_law(errors, sigma_hat_sq=20)
    >>> more = xcurves.predict(fit, [800, 1600, 3200])
    >>> more.prediction.round(1).values.tolist()
    [22.0, 19.9, 18.2]
    >>> more.change.round(1).values.tolist()
    [-2.6, -4.6, -6.3]
    >>> more.extrapolated.values.tolist()
    [0, 0, 1]
    """
    kinds.FIT_POWER_LAW.check(fit, "fit")
    validation.check_choice("rule", rule, powerlaw.RULES)
    own = []  # sizes of each curve, where they have their own
    sizes = None
    if isinstance(n, xr.DataArray):
        own = [_check_sizes_of(fit, n)]
    else:
        sizes = check_n("n", n)
    chosen, others, when = fit, [], []
    if reference is not None:
        chosen, against = curves.beside_reference(fit, reference)
        others = curves.curves_of(against)
        when = ["reference"]
        own = [each.sel(algorithm=chosen["algorithm"]) if "algorithm" in each.indexes else each for each in own]
    first, *parts = curves.curves_of(chosen)
    how = curves.rule_of(fit, rule)
    kernel = partial(
        _predict_group,
        model=curves.model_of(fit),
        sizes=sizes,
        rule=how,
        known=fit.attrs["variances"] == "known",
    )
    result = per_task(
        kinds.PREDICT,
        kernel,
        first,
        *parts,
        *others,
        *(bare(each) for each in own),
        context=Context.of(first, confidence_level=fit.attrs["confidence_level"], core=("training",)),
        core=("training",),
        sizes={"n": 1 if sizes is None else len(sizes)},
        when=when,
        attrs={
            "rule": how["method"],
            "units": fit.attrs["units"],
            "asymptote": fit.attrs["asymptote"],
            "reference": reference,
        },
        units=curves.rate_units(first.attrs.get("units", "1"), fit),
    )
    # What the picture shows beside the predictions; a fit of which they were dropped predicts as well.
    measured = [name for name in ("mean_error", "fitted") if name in chosen.variables]
    result = result.assign({name: bare(chosen[name]) for name in measured})
    attrs = {"long_name": "training size", **curves.size_units(fit)}
    if not own:
        return result.assign_coords(n=("n", sizes, attrs))
    return result.isel(n=0).assign_coords(n=(own[0].dims, own[0].data, attrs))


def _check_sizes_of(fit: xr.Dataset, n: xr.DataArray) -> xr.DataArray:
    """Return a size for each curve, on some of the dims of tasks."""
    dims = labels.task_dims(fit["error_at_n"])
    if n.dtype.kind not in "iuf" or not set(n.dims) <= set(dims):
        raise Refusal(
            "n",
            Verbatim(f"dims {n.dims}"),
            f"must be sizes on further dims of the fit, {dims}",
            "Select one",
        )
    check_labels("n", n, fit["error_at_n"], "the fit")
    values = n.to_numpy()
    # NaN: a curve without errors
    check_positive("n", values[~np.isnan(values)], "A curve has no value there")
    return n.astype(np.float64)


def _predict_group(
    group: Group,
    *,
    model: Model,
    sizes: Floats | None,
    rule: dict[str, Any],
    known: bool,
) -> dict[str, Floats]:
    """Predict, given what `curves_of` returns, of a reference too if there is one, and sizes of curves."""
    arrays, alpha = list(group.data), group.context.alpha
    n = sizes
    if n is None:
        n = arrays.pop()[:, np.newaxis]
    found = []
    for fitted, named in curves.read(arrays, model, known=known):
        folds, of_fold = named["n_folds"], named["error_sd"] ** 2
        of_mean = of_fold / np.maximum(folds, 1)
        last = np.take_along_axis(of_mean, powerlaw.last_of(folds > 0)[:, np.newaxis], axis=1)[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            noise = np.sqrt(last) / np.exp(fitted.fall.log_error)
        # else only residuals tell it
        noise = np.where((model.weights != "relative") & np.isfinite(noise), noise, 0.0)
        weights = wls.size_weights(model.weights, folds, of_fold)
        fit = Fit(fitted.theta, weights, of_fold, named["asymptote_at_bound"] > 0)
        given_gamma = model.covariance(fitted.at, Sizes(folds, folds, folds), fit, given_gamma=True)
        law, slopes = powerlaw.law_of(fitted, n, rule["method"])
        half = t_quantile(alpha, np.array(np.inf)) * np.sqrt(powerlaw.variance(slopes, given_gamma))
        bounds = powerlaw.around(law, half)
        if rule["nonnegative"]:
            bounds = np.clip(bounds, 0, rule["cap"])
        found.append(powerlaw.predict_errors(fitted, n, alpha, noise=noise, **rule))
        found[-1]["prediction_ci_given_gamma"] = bounds
    if len(found) == 1:
        return found[0]
    return found[0] | powerlaw.differences(*found)
