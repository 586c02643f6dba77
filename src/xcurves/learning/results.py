"""What a fitted learning curve is called, in which units, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves import labels, outcomes
from xcurves.kernels import wls
from xcurves.learning.curvefit import FitBlock

LONG_NAMES = {
    "error_at_n": "error at the size N",
    "data_reliance": "data-reliance at the size N",
    "gamma": "exponent of the learning curve",
    "alpha": "asymptotic error",
    "eta": "factor of n^gamma",
    "delta": "factor of n^(2 gamma)",
    "estimate_ci": "confidence interval of the parameter",
    "stderr": "standard error of the parameter, the exponent's uncertainty included",
    "stderr_given_gamma": "standard error of the parameter, given the exponent",
    "covariance": "covariance of the parameters, the exponent's uncertainty included",
    "fitted": "error by the learning curve",
    "r_squared": "share of the variance of the mean errors that the curve explains",
    "objective": "weighted sum of squares (Eq. 2), errors in percent",
    "error_sd": "standard deviation of the error of one fold",
    "n_folds": "number of folds",
    "gamma_at_edge": "1 where the exponent is the flattest of the grid, -1 where the steepest",
    "mean_error": "measured error, mean over folds",
    "at_extrapolated": "1 where N lies far outside the measured sizes",
    "prediction": "predicted error",
    "prediction_ci": "confidence interval of the predicted error",
    "prediction_ci_given_gamma": "confidence interval of the predicted error, given the exponent",
    "change": "predicted error less that at the size N",
    "change_ci": "confidence interval of the change of the error",
    "extrapolated": "1 where the size lies far outside the measured ones",
}
_CHECK_VARIANCES = (
    "folds vary otherwise than sigma0_sq + sigma_hat_sq / n says, so intervals may be wrong. "
    "Compare errors.std('run') with error_sd, and set sigma0_sq"
)
_PREDICTED = ("prediction", "prediction_ci", "prediction_ci_given_gamma", "change", "change_ci")
_RATES = ("error_at_n", "data_reliance", "alpha", "fitted", "mean_error", "error_sd", *_PREDICTED)


def assemble(
    packed: xr.DataArray, block: FitBlock, errors: xr.DataArray, where: xr.DataArray, attrs: dict[str, Any]
) -> xr.Dataset:
    """Cut the packed results into described variables, and say where N is."""
    variables = block.layout.unpack(packed)
    training = str(errors["training"].attrs.get("units", "1"))
    units = {
        **rate_units(block.unit.written, training),
        "objective": "percent^2" if block.model.weights == "uniform" else "1",
    }
    described = outcomes.describe(variables, LONG_NAMES, errors, units=units)
    coords: dict[Hashable, Any] = {
        **packed.coords,
        "training": errors["training"],
        "param": list(block.parameters),
        "cov_param": list(block.parameters),
        "ci_bound": list(labels.CI_BOUNDS),
        "at": (where.dims, where.to_numpy(), {"long_name": "the size N", "units": training}),
        **{name: described.pop(name) for name in ("at_extrapolated", "mean_error")},
    }
    if block.predict_at.size:
        coords["n"] = ("n", block.predict_at, {"long_name": "training size", "units": training})
    return xr.Dataset(described, coords, attrs)


def rate_units(rate: str, training: str) -> dict[str, str]:
    """Return the units of results of learning curves, by those of errors and training sizes."""
    size = "size" if training == "1" else training
    by_parameter = dict.fromkeys(("estimate_ci", "stderr", "stderr_given_gamma"), "that of param")
    return {
        **dict.fromkeys(_RATES, rate),
        "eta": f"{rate} {size}^-gamma",
        "delta": f"{rate} {size}^(-2 gamma)",
        "covariance": "that of param times that of cov_param",
        **by_parameter,
    }


def _contradicted(folded: xr.DataArray, result: xr.Dataset) -> NDArray[np.bool_]:
    """Return which curves have folds that vary otherwise than σ_i says, together at the level of 0.001."""
    folds, _, spread = wls.measure(folded.to_numpy().reshape(-1, *folded.shape[-2:]))
    expected = result["error_sd"].to_numpy().reshape(folds.shape) ** 2
    return np.asarray(wls.variance_pvalue(folds, spread, expected) < 0.001 / len(folds))


def warn(result: xr.Dataset, block: FitBlock, folded: xr.DataArray | None) -> None:
    """Say once each what in a computed result a reader would not expect, with the first task it befell."""
    gamma, edge = (result[name].to_numpy().ravel() for name in ("gamma", "gamma_at_edge"))
    empty = ~result["n_folds"].to_numpy().reshape(len(block.names), -1).any(axis=1)

    def at_edge(task: int) -> str:
        return f"gamma is {gamma[task]:g}, the edge of the grid: the curve may not be a power law"

    cases: list[tuple[NDArray[np.bool_], Callable[[int], str]]] = [
        (np.asarray(empty), lambda _: "there are no errors; the result is NaN"),
        (np.asarray(np.isnan(gamma) & ~empty), lambda _: "errors are all equal: gamma cannot be identified and is NaN"),
        (np.asarray(edge != 0), at_edge),
    ]
    if folded is not None:
        cases.append((_contradicted(folded, result), lambda _: _CHECK_VARIANCES))
    for befallen, say in cases:
        outcomes.warn_of(befallen, block.names, say, "curves")
