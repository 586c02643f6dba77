"""What a learning curve predicts for other training sizes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.core import provenance, validation
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.kernels import powerlaw, wls
from xcurves.kernels.learning import Model
from xcurves.learning_curves.curvefit import around, far, fitted_at, t_quantile
from xcurves.learning_curves.fit_result import rate_units, size_units
from xcurves.learning_curves.kinds import FIT_POWER_LAW, PREDICT
from xcurves.learning_curves.options import At, check_n, spread

Rule = Literal["power-law", "linear"]

_THETA = "_xcurves_theta"  # no dim of a task has this name
CURVE_DIMS: list[list[str]] = [["param", "cov_param"], [_THETA], [], ["training"], ["training"]]
_CORE: dict[str, tuple[str, ...]] = {
    "covariance": ("param", "cov_param"),
    "n_folds": ("training",),
    "error_sd": ("training",),
}
_ERROR_ALONE = np.array([1.0, 0.0, 0.0, 0.0])  # the derivatives of e(N) by θ
_PLACES = {False: [0, 1, 2], True: [0, 1, 2, 5]}  # of θ among the parameters


def predict(fit: xr.Dataset, n: At, *, method: Rule = "power-law") -> xr.Dataset:
    r"""Predict the error at other training sizes.

    Parameters
    ----------
    fit : Dataset
        What `fit_power_law` returned.
    n : float or sequence
        Training sizes, in the unit of `training`.
    method : {"power-law", "linear"}
        The fitted curve, or the rule of Eq. 1, linear in :math:`n^{-1/2}`, that e_N and β_N give.

    Returns
    -------
    Dataset
        With the further dims of `fit` in front, in its unit: `prediction` (n), `prediction_ci` (n, ci_bound),
        `prediction_ci_given_gamma` (n, ci_bound); `change` (n) and `change_ci` (n, ci_bound), the predicted error less
        that at the size N, the coordinate `at`; and `extrapolated` (n), 1 for sizes beyond four times the largest, or
        below a quarter of the smallest, that was measured.

    Raises
    ------
    AttributeError
        If `fit` is a result of another method.
    ValueError, TypeError
        If `fit` is no result, sizes are not positive numbers, or the method is unknown.

    Notes
    -----
    .. math:: \hat e(n) = \alpha + \eta n^\gamma \quad \text{or} \quad
              \tilde e(dN) = e_N + (1 / \sqrt d - 1) \beta_N

    Intervals are for the expected error, not for that of one more training, and by the linear rule for that rule's
    value: they know nothing of the curvature it leaves out. `prediction_ci_given_gamma` are the paper's bounds
    (Eq. 3), which take γ as known and are too narrow away from the data. Whether more data lower the error is read off
    `change_ci`, not off `prediction_ci`: errors at n and at N are estimated from the same folds and vary together. All
    are by the standard errors of the fit; for bootstrap intervals give `fit_power_law` the sizes as `predict_at`.

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
    [22.3, 20.8, 19.7]
    >>> more.change.round(1).values.tolist()
    [-2.3, -3.8, -4.8]
    >>> more.extrapolated.values.tolist()
    [0, 0, 1]
    """
    FIT_POWER_LAW.check(fit, "fit")
    validation.check_choice("method", method, ("power-law", "linear"))
    sizes = check_n("n", n)
    block = _PredictBlock(model_of(fit), sizes, method, provenance.alpha_of(fit), known=variances_known(fit))
    packed = apply_block(block, curves_of(fit), CURVE_DIMS, block.layout.length)
    coords = {**task_coords(fit), "n": ("n", sizes, {"long_name": "training size", **size_units(fit)})}
    attrs = provenance.result_attrs(
        PREDICT.name, fit, PREDICT.references, 0, 1 - block.alpha, method=method, units=unit_of(fit)
    )
    units = rate_units(fit["error_at_n"].attrs.get("units", "1"), fit)
    return PREDICT.dataset(block.layout.unpack(packed), coords, attrs, fit["error_at_n"], units)


def task_coords(fit: xr.Dataset) -> dict[Hashable, xr.DataArray]:
    """Return the coordinates of the tasks of a fit."""
    dims = set(FIT_POWER_LAW.task_dims(fit))
    return {name: coord for name, coord in fit.coords.items() if set(coord.dims) <= dims}


def model_of(fit: xr.Dataset) -> Model:
    """Return the model that was fitted, as far as it takes to read its result."""
    gamma = fit.attrs.get("gamma", "search")
    exponent = None if gamma == "search" else float(gamma)
    weights = fit.attrs.get("weights", "variance-folds")
    return Model(fit["training"].to_numpy(), exponent, "delta" in fit.data_vars, weights)


def variances_known(fit: xr.Dataset) -> bool:
    """Return whether variances were given, not estimated."""
    return bool(fit.attrs.get("variances") == "known")


def unit_of(fit: xr.Dataset) -> str:
    """Return whether rates are in percent or fractions."""
    return str(fit.attrs.get("units", "percent"))


def curves_of(fit: xr.Dataset) -> list[xr.DataArray]:
    """Return covariance, θ, N, folds and σ_i of fitted curves, dims (..., *CURVE_DIMS)."""
    dims = FIT_POWER_LAW.task_dims(fit)
    lead = {dim: fit.sizes[dim] for dim in dims}
    names = ["error_at_n", "data_reliance", "gamma", "delta"]
    if "delta" not in fit.data_vars:
        fit = fit.assign(delta=xr.zeros_like(fit["gamma"]))
    parts = {name: (*dims, *core) for name, core in _CORE.items()}
    covariance, folds, sd = (fit[name].transpose(*order) for name, order in parts.items())
    theta = fit[names].to_array(_THETA).transpose(*dims, _THETA)
    bare = [each.drop_vars(list(each.coords)) for each in (covariance, theta, folds, sd)]
    return [bare[0], bare[1], spread(fit["at"], lead), bare[2], bare[3]]


def theta_covariance(covariance: Floats, *, quadratic: bool) -> Floats:
    """Cut the covariance of θ, shape (curve, 4, 4), from that of the parameters."""
    places = np.array(_PLACES[quadratic])
    found = np.zeros((len(covariance), 4, 4))
    kept = slice(len(places))
    found[:, kept, kept] = covariance[:, places[:, np.newaxis], places]
    return found


@dataclass(frozen=True)
class _PredictBlock:
    """Predictions of a block of tasks."""

    model: Model
    n: Floats
    method: str
    alpha: float
    known: bool

    @property
    def layout(self) -> Layout:
        return PREDICT.layout({"n": len(self.n), "ci_bound": 2})

    def __call__(self, *arrays: Any) -> Floats:
        """Predict, given what `curves_of` returns and the numbers of tasks."""
        *parts, numbers = arrays
        covariance, theta, at, folds, sd = (each.reshape(numbers.size, *each.shape[numbers.ndim :]) for each in parts)
        quadratic = self.model.quadratic
        prediction, slopes = self._by_method(theta, at)
        quantile = t_quantile(self.alpha, self.model.degrees(folds, known=self.known))[:, np.newaxis]
        weights = wls.size_weights(self.model.weights, folds, sd**2)
        of_means = sd**2 / np.maximum(folds, 1)
        given = wls.covariance(theta, self.model.n, at, weights, of_means, gamma_free=False, quadratic=quadratic)
        free = theta_covariance(covariance, quadratic=quadratic)
        slopes_of_change = slopes - _ERROR_ALONE
        change = prediction - theta[:, powerlaw.ERROR, np.newaxis]
        widths = [quantile * np.sqrt(powerlaw.variance(each, free)) for each in (slopes, slopes_of_change)]
        normal = t_quantile(self.alpha, np.array([np.inf]))
        widths.append(normal * np.sqrt(powerlaw.variance(slopes, given)))
        out = {
            "prediction": prediction,
            "prediction_ci": around(prediction, widths[0]),
            "prediction_ci_given_gamma": around(prediction, widths[2]),
            "change": change,
            "change_ci": around(change, widths[1]),
            "extrapolated": far(self.n, folds, self.model.n).astype(float),
        }
        return self.layout.pack(out, numbers.shape)

    def _by_method(self, theta: Floats, at: Floats) -> tuple[Floats, Floats]:
        """Return predictions, shape (curve, n), and their derivatives by θ, shape (curve, n, 4)."""
        if self.method == "power-law":
            return fitted_at(theta, self.n, at), powerlaw.gradient(theta, self.n, at)
        fall = 1 / np.sqrt(self.n / at[:, np.newaxis]) - 1  # Eq. 1
        error, reliance = theta[:, powerlaw.ERROR, np.newaxis], theta[:, powerlaw.RELIANCE, np.newaxis]
        slopes = np.zeros((*fall.shape, 4))
        slopes[..., powerlaw.ERROR], slopes[..., powerlaw.RELIANCE] = 1, fall
        return np.asarray(error + fall * reliance), slopes
