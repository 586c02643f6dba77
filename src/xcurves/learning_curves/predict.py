"""What a learning curve predicts for other training sizes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance, validation
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.kernels import powerlaw, wls
from xcurves.kernels.backtest import horizon
from xcurves.kernels.learning import Model, t_quantile
from xcurves.learning_curves.curvefit import far, largest
from xcurves.learning_curves.fit_result import rate_units, size_units
from xcurves.learning_curves.intervals import ERROR_ALONE, around, backtest_half_width, of_prediction, of_ratio
from xcurves.learning_curves.kinds import FIT_POWER_LAW, PREDICT
from xcurves.learning_curves.options import At, bare, check_n, like, spread

Rule = Literal["power-law", "linear"]

_THETA = "_xcurves_theta"  # no dim of a task has this name
CURVE_DIMS: list[list[str]] = [["param", "cov_param"], [_THETA], [], ["training"], ["training"], [], []]
_CORE: dict[str, tuple[str, ...]] = {
    "covariance": ("param", "cov_param"),
    "n_folds": ("training",),
    "error_sd": ("training",),
    "backtest_error": (),
    "asymptote_at_bound": (),
}
_PLACES = {False: [0, 1, 2], True: [0, 1, 2, 5]}  # of θ among the parameters


def predict(fit: xr.Dataset, n: At, *, method: Rule = "power-law") -> xr.Dataset:
    r"""Predict the error at other training sizes.

    Parameters
    ----------
    fit : Dataset
        What `fit_power_law` returned.
    n : float, sequence or DataArray
        Training sizes, in the unit of `training`; a DataArray on further dims of `fit` has one for each curve, such as
        ``4 * fit["at"]``.
    method : {"power-law", "linear"}
        The fitted curve, or the rule of Eq. 1, linear in :math:`n^{-1/2}`, that e_N and β_N give.

    Returns
    -------
    Dataset
        With the further dims of `fit` in front, in its unit: `prediction` (n), `prediction_ci` (n, ci_bound);
        `prediction_ci_given_law`, if the curve is a power law, and `prediction_ci_given_gamma`, if γ is known too;
        `change` (n) and `change_ci` (n, ci_bound), the predicted error less that at the size N, the coordinate `at`;
        `change_ratio` and `change_ratio_ci`, the one over the other; and `extrapolated` (n), 1 for sizes beyond four
        times the largest, or below a quarter of the smallest, that was measured. Of a DataArray there is no dim n; the
        coordinate n has the size of each curve.

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
    value: they know nothing of the curvature it leaves out. `prediction_ci` and `change_ratio_ci` are in logarithms and
    widened beyond the largest size by how badly the curve predicts its own last octaves, see `fit_power_law`; that of a
    free asymptote, of `change` and of the linear rule are symmetric, those of `change` and of the linear rule widened
    likewise. `prediction_ci_given_gamma` are the paper's bounds (Eq. 3), which take γ as known and are too narrow away
    from the data. Whether more data lower the error is read off `change_ratio_ci`, not off `prediction_ci`: errors at n
    and at N are estimated from the same folds and vary together. All are by the standard errors of the fit; for
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
    [22.3, 20.8, 19.7]
    >>> more.change.round(1).values.tolist()
    [-2.3, -3.8, -4.8]
    >>> more.extrapolated.values.tolist()
    [0, 0, 1]
    """
    FIT_POWER_LAW.check(fit, "fit")
    validation.check_choice("method", method, ("power-law", "linear"))
    dims = FIT_POWER_LAW.task_dims(fit)
    sizes = check_sizes_of(fit, dims, n) if isinstance(n, xr.DataArray) else check_n("n", n)
    by_curve = isinstance(sizes, xr.DataArray)
    given = [spread(sizes, {dim: fit.sizes[dim] for dim in dims})] if isinstance(sizes, xr.DataArray) else []
    fixed = None if isinstance(sizes, xr.DataArray) else sizes
    block = _PredictBlock(model_of(fit), fixed, method, provenance.alpha_of(fit), variances_known(fit), cap_of(fit))
    packed = apply_block(block, [*curves_of(fit), *given], CURVE_DIMS + [[]] * by_curve, block.layout.length)
    about = {"long_name": "training size", **size_units(fit)}
    coords = {**task_coords(fit), "n": sizes.variable if isinstance(sizes, xr.DataArray) else ("n", sizes)}
    attrs = provenance.result_attrs(
        PREDICT.name,
        fit,
        PREDICT.references,
        0,
        1 - block.alpha,
        method=method,
        units=unit_of(fit),
        asymptote=asymptote_of(fit),
    )
    units = rate_units(fit["error_at_n"].attrs.get("units", "1"), fit)
    variables = block.layout.unpack(packed)
    if by_curve:
        variables = {name: variable.isel(n=0) for name, variable in variables.items()}
    result = PREDICT.dataset(variables, coords, attrs, fit["error_at_n"], units)
    result["n"].attrs = about
    return result


def check_sizes_of(fit: xr.Dataset, dims: Sequence[Hashable], n: xr.DataArray) -> xr.DataArray:
    """Return a size for each curve, on some of the dims of tasks."""
    if n.dtype.kind not in "iuf" or not set(n.dims) <= set(dims):
        raise ValueError(f"n must be sizes on further dims of the fit, {tuple(dims)}; got dims {n.dims}. Select one")
    like(fit["error_at_n"], n, "n")
    values = n.to_numpy()
    check_n("n", np.unique(values[~np.isnan(values)]))  # NaN: a curve without errors
    return bare(n.astype(np.float64))


def task_coords(fit: xr.Dataset) -> dict[Hashable, xr.DataArray]:
    """Return the coordinates of the tasks of a fit."""
    dims = set(FIT_POWER_LAW.task_dims(fit))
    return {name: coord for name, coord in fit.coords.items() if set(coord.dims) <= dims}


def model_of(fit: xr.Dataset) -> Model:
    """Return the model that was fitted, as far as it takes to read its result."""
    gamma = fit.attrs.get("gamma", "search")
    exponent = None if gamma == "search" else float(gamma)
    weights = fit.attrs.get("weights", "variance-folds")
    bounded = asymptote_of(fit) == "nonnegative"
    return Model(fit["training"].to_numpy(), exponent, "delta" in fit.data_vars, weights, nonnegative=bounded)


def asymptote_of(fit: xr.Dataset) -> str:
    """Return whether the asymptotic error is nonnegative or free."""
    return str(fit.attrs.get("asymptote", "nonnegative"))


def cap_of(fit: xr.Dataset) -> float:
    """Return the largest possible error in the unit of the fit."""
    return {"percent": 100.0, "fraction": 1.0}.get(unit_of(fit), np.inf)


def variances_known(fit: xr.Dataset) -> bool:
    """Return whether variances were given, not estimated."""
    return bool(fit.attrs.get("variances") == "known")


def unit_of(fit: xr.Dataset) -> str:
    """Return whether errors are in percent, fractions or losses."""
    return str(fit.attrs.get("units", "percent"))


def curves_of(fit: xr.Dataset) -> list[xr.DataArray]:
    """Return covariance, θ, N, folds, σ_i, ρ and whether α is at its bound, dims (..., *CURVE_DIMS)."""
    dims = FIT_POWER_LAW.task_dims(fit)
    lead = {dim: fit.sizes[dim] for dim in dims}
    names = ["error_at_n", "data_reliance", "gamma", "delta"]
    if "delta" not in fit.data_vars:
        fit = fit.assign(delta=xr.zeros_like(fit["gamma"]))
    parts = [fit[name].transpose(*dims, *core) for name, core in _CORE.items()]
    theta = fit[names].to_array(_THETA).transpose(*dims, _THETA)
    covariance, *others = [each.drop_vars(list(each.coords)) for each in (parts[0], theta, *parts[1:])]
    return [covariance, others[0], spread(fit["at"], lead), *others[1:]]


class Read(NamedTuple):
    """What `curves_of` gave to a block, tasks on the first axis."""

    covariance: Floats
    theta: Floats
    at: Floats
    folds: Floats
    sd: Floats
    rho: Floats
    at_bound: NDArray[np.bool_]


def read_curves(arrays: Sequence[Floats], n_tasks: int, n_lead: int) -> Read:
    """Return what `curves_of` gave to a block."""
    *found, at_bound = (each.reshape(n_tasks, *each.shape[n_lead:]) for each in arrays)
    covariance, theta, at, folds, sd, rho = found
    return Read(covariance, theta, at, folds, sd, rho, at_bound > 0)


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
    n: Floats | None  # None: a size for each curve comes with it
    method: str
    alpha: float
    known: bool
    cap: float

    @property
    def layout(self) -> Layout:
        return PREDICT.layout({"n": 1 if self.n is None else len(self.n), "ci_bound": 2})

    def __call__(self, *arrays: Any) -> Floats:
        """Predict, given what `curves_of` returns, sizes of curves, if each has its own, and the numbers of tasks."""
        *parts, numbers = arrays
        n = parts.pop().reshape(-1, 1) if self.n is None else self.n[np.newaxis]
        covariance, theta, at, folds, sd, rho, at_bound = read_curves(parts, numbers.size, numbers.ndim)
        quadratic, in_logs = self.model.quadratic, self.model.nonnegative
        prediction, slopes = self._by_method(theta, at, n)
        quantile = t_quantile(self.alpha, self.model.degrees(folds, known=self.known, at_bound=at_bound))
        free = theta_covariance(covariance, quadratic=quadratic)
        extra = backtest_half_width(self.alpha, rho, horizon(n, largest(folds, self.model.n))) * in_logs
        in_logs = in_logs and self.method == "power-law"
        interval, law = of_prediction(prediction, slopes, free, quantile, extra, self.cap, in_logs=in_logs)
        error = theta[:, powerlaw.ERROR]
        slopes_of_change = slopes - ERROR_ALONE
        half = quantile[:, np.newaxis] * np.sqrt(powerlaw.variance(slopes_of_change, free))
        change = prediction - error[:, np.newaxis]
        if self.model.nonnegative and not in_logs:
            interval = around(prediction, np.hypot((law[..., 1] - law[..., 0]) / 2, extra * prediction))
            prediction, interval, law = (np.clip(each, 0.0, self.cap) for each in (prediction, interval, law))
        ratio, ratio_interval = of_ratio(prediction, slopes, error, free, quantile, extra)
        given_gamma = t_quantile(self.alpha, np.array(np.inf)) * np.sqrt(
            powerlaw.variance(slopes, self._given_gamma(theta, at, folds, sd, at_bound))
        )
        out = {
            "prediction": prediction,
            "prediction_ci": interval,
            "prediction_ci_given_law": law,
            "prediction_ci_given_gamma": around(prediction, given_gamma),
            "change": change,
            "change_ci": around(change, np.hypot(half, extra * prediction)),
            "change_ratio": ratio,
            "change_ratio_ci": ratio_interval,
            "extrapolated": far(n, folds, self.model.n).astype(float),
        }
        return self.layout.pack(out, numbers.shape)

    def _given_gamma(self, theta: Floats, at: Floats, folds: Floats, sd: Floats, at_bound: NDArray[np.bool_]) -> Floats:
        """Return the paper's covariance of θ, which takes γ as known."""
        weights = wls.size_weights(self.model.weights, folds, sd**2)
        of_means = sd**2 / np.maximum(folds, 1)
        quadratic = self.model.quadratic
        return wls.covariance(
            theta, self.model.n, at, weights, of_means, gamma_free=False, quadratic=quadratic, at_bound=at_bound
        )

    def _by_method(self, theta: Floats, at: Floats, n: Floats) -> tuple[Floats, Floats]:
        """Return predictions, shape (curve, n), and their derivatives by θ, shape (curve, n, 4)."""
        if self.method == "power-law":
            return powerlaw.values(theta, n, at), powerlaw.gradient(theta, n, at)
        fall = 1 / np.sqrt(n / at[:, np.newaxis]) - 1  # Eq. 1
        error, reliance = theta[:, powerlaw.ERROR, np.newaxis], theta[:, powerlaw.RELIANCE, np.newaxis]
        slopes = np.zeros((*fall.shape, 4))
        slopes[..., powerlaw.ERROR], slopes[..., powerlaw.RELIANCE] = 1, fall
        return np.asarray(error + fall * reliance), slopes
