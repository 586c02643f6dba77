"""Predictions of a block of tasks, which run wherever the block is: in memory or in a dask worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.kernels import covariances, powerlaw, wls
from xcurves.kernels.backtest import horizon
from xcurves.kernels.learning import Model, t_quantile
from xcurves.learning_curves.curvefit import far, largest_size
from xcurves.learning_curves.intervals import ERROR_ALONE, around, backtest_half_width, of_prediction, of_ratio
from xcurves.learning_curves.read_fit import (
    CURVE_DIMS,
    cap_of,
    curves_of,
    curves_of_fit,
    model_of,
    theta_covariance,
    variances_known,
)


@dataclass(frozen=True)
class PredictBlock:
    """Predictions of a block of tasks."""

    layout: Layout
    model: Model
    n: Floats | None  # None: a size for each curve comes with it
    method: str
    alpha: float
    known: bool
    cap: float

    def __call__(self, *arrays: Any) -> Floats:
        """Predict, given what `curves_of` returns, sizes of curves, if each has its own, and the numbers of tasks."""
        *parts, numbers = arrays
        n = parts.pop().reshape(-1, 1) if self.n is None else self.n[np.newaxis]
        covariance, theta, at, folds, sd, rho, at_bound = curves_of_fit(parts, numbers.size, numbers.ndim)
        quadratic, in_logs = self.model.quadratic, self.model.nonnegative
        prediction, slopes = self._by_method(theta, at, n)
        quantile = t_quantile(self.alpha, self.model.degrees(folds, known=self.known, at_bound=at_bound))
        free = theta_covariance(covariance, quadratic=quadratic)
        extra = backtest_half_width(self.alpha, rho, horizon(n, largest_size(folds, self.model.n))) * in_logs
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
        of_gamma = powerlaw.variance(slopes, self._given_gamma(theta, at, folds, sd, at_bound))
        given_gamma = around(prediction, t_quantile(self.alpha, np.array(np.inf)) * np.sqrt(of_gamma))
        if self.model.nonnegative:
            given_gamma = np.clip(given_gamma, 0.0, self.cap)
        out = {
            "prediction": prediction,
            "prediction_ci": interval,
            "prediction_ci_given_law": law,
            "prediction_ci_given_gamma": given_gamma,
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
        return covariances.covariance(
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


def predicted_curves(fit: xr.Dataset, sizes: Floats) -> xr.Dataset:
    """Return the predictions of the power law at sizes, with their intervals, for a picture."""
    layout = Layout({"prediction": ("n",), "prediction_ci": ("n", "ci_bound")}, {"n": len(sizes), "ci_bound": 2})
    law = "power-law"
    block = PredictBlock(layout, model_of(fit), sizes, law, provenance.alpha_of(fit), variances_known(fit), cap_of(fit))
    packed = apply_block(block, curves_of(fit), CURVE_DIMS, layout.length)
    coords = {name: coord for name, coord in fit.coords.items() if set(coord.dims) <= set(packed.dims)}
    return xr.Dataset(layout.unpack(packed), {**coords, "ci_bound": list(labels.CI_BOUNDS)})
