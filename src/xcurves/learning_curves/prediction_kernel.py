"""Predictions of fitted curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.driver import Group, Job, compute
from xcurves.core.run_checks import Context
from xcurves.core.schema import Layout
from xcurves.kernels import powerlaw, wls
from xcurves.kernels.learning import Model
from xcurves.kernels.moments import Floats
from xcurves.kernels.powerlaw import t_quantile
from xcurves.learning_curves.curvefit import FAR, far
from xcurves.learning_curves.options import bare, spread
from xcurves.learning_curves.read_fit import (
    N_PARTS,
    THETA,
    Read,
    asymptote_of,
    cap_of,
    curves_of,
    curves_of_fit,
    model_of,
    task_dims_of,
    variances_known,
)


@dataclass(frozen=True)
class Predictor:
    """How curves are predicted."""

    model: Model
    n: Floats | None  # None: a size for each curve comes with it
    method: str
    alpha: float
    known: bool
    cap: float

    def __call__(self, group: Group) -> dict[str, Floats]:
        """Predict, given what `curves_of` returns and the sizes of curves, if each has its own.

        With a reference its curves come after those of the learners.
        """
        parts = list(group.data)
        n = parts.pop().reshape(-1, 1) if self.n is None else self.n[np.newaxis]
        found = [self._predicted(parts[i : i + N_PARTS], n) for i in range(0, len(parts), N_PARTS)]
        return found[0] if len(found) == 1 else found[0] | powerlaw.differences(*found)

    def _predicted(self, parts: Sequence[Any], n: Floats) -> dict[str, Floats]:
        """Return the predictions of curves with what is known of them."""
        read = curves_of_fit(parts, self.model, known=self.known)
        options: dict[str, Any] = {"nonnegative": self.model.nonnegative, "cap": self.cap, "noise": self._noise(read)}
        found = powerlaw.predict(read.curves, n, self.alpha, method=self.method, **options)
        law, slopes = powerlaw.law_of(read.curves, n, self.method)
        half = t_quantile(self.alpha, np.array(np.inf)) * np.sqrt(powerlaw.variance(slopes, self._given_gamma(read)))
        given_gamma = powerlaw.around(law, half)
        found["prediction_ci_given_gamma"] = (
            np.clip(given_gamma, 0, self.cap) if self.model.nonnegative else given_gamma
        )
        found["extrapolated"] = far(n, read.folds, self.model.n).astype(float)
        return found

    def _noise(self, read: Read) -> Floats:
        """Return the standard error of the logarithm of the last mean error, 0 where only residuals tell it."""
        place = np.arange(len(read.folds)), (read.folds > 0).shape[1] - 1 - (read.folds[:, ::-1] > 0).argmax(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            noise = read.sd[place] / np.sqrt(read.folds[place]) / np.exp(read.curves.fall.log_error)
        return np.where((self.model.weights != "relative") & np.isfinite(noise), noise, 0.0)

    def _given_gamma(self, read: Read) -> Floats:
        """Return the paper's covariance of θ, which takes γ as known."""
        theta, at = read.curves.theta, read.curves.at
        weights = np.where(read.folds > 0, wls.size_weights(self.model.weights, read.folds, read.sd**2), 0.0)
        of_means = read.sd**2 / np.maximum(read.folds, 1)
        options: dict[str, Any] = {"quadratic": self.model.quadratic, "at_bound": read.at_bound}
        return wls.covariance(theta, self.model.n, at, weights, of_means, gamma_free=False, **options)


def predict_curves(predictor: Predictor, layout: Layout, parts: Sequence[xr.DataArray]) -> dict[str, xr.Variable]:
    """Return the predictions of what `curves_of` returns, and sizes of curves."""
    job = Job(
        name="predict",
        kernel=predictor,
        context=Context.of(parts[0], core=(THETA,)),
        layout=layout,
        core=(THETA,),
    )
    return compute(job, *parts)


def predicted_curves(fit: xr.Dataset, sizes: Floats | None) -> xr.Dataset:
    """Return predictions with their intervals, at sizes for a picture or, with None, at 4N, for words."""
    names = ("prediction", "change_ratio") if sizes is None else ("prediction",)
    dims: dict[str, tuple[str, ...]] = {}
    for name in names:
        dims |= {name: ("n",), f"{name}_ci": ("n", "ci_bound")}
    layout = Layout(dims, {"n": 1 if sizes is None else len(sizes), "ci_bound": 2})
    rule = "combined" if asymptote_of(fit) == "nonnegative" else "power-law"
    predictor = Predictor(model_of(fit), sizes, rule, provenance.alpha_of(fit), variances_known(fit), cap_of(fit))
    own = [] if sizes is not None else [FAR * fit["training"].where(fit["n_folds"] > 0).max("training")]
    lead = {dim: fit.sizes[dim] for dim in task_dims_of(fit)}
    parts = [*curves_of(fit), *(spread(bare(each), lead) for each in own)]
    variables = predict_curves(predictor, layout, parts)
    coords = {name: coord for name, coord in fit.coords.items() if set(coord.dims) <= set(lead)}
    found = xr.Dataset(variables, {**coords, "ci_bound": list(labels.CI_BOUNDS)})
    return found if sizes is not None else found.isel(n=0).assign(size=own[0].variable)
