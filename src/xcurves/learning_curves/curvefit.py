"""The fit of a block of learning curves, which runs wherever the block is: in memory or in a dask worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.core.packing import Floats, Layout
from xcurves.kernels import powerlaw, refit, wls
from xcurves.kernels.learning import Fit, Model, Sizes
from xcurves.learning_curves import error_rates
from xcurves.learning_curves.kinds import FIT_POWER_LAW

PARAMETERS = ("error_at_n", "data_reliance", "gamma", "alpha", "eta", "delta")
_FLAGS = ("gamma_at_edge", "at_extrapolated", "extrapolated")
_BLOCK = 1024  # curves at once, which bounds the memory
_FAR = 4.0  # so many times the largest size is the paper's limit of extrapolation


@dataclass(frozen=True)
class FitBlock:
    """Learning curves of a block of tasks: errors in, packed results out, percent in between."""

    names: list[str]
    model: Model
    unit: error_rates.Unit
    known: bool
    predict_at: Floats
    n_resamples: int
    entropy: int
    alpha: float

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return PARAMETERS if self.model.quadratic else PARAMETERS[:-1]

    @property
    def layout(self) -> Layout:
        """Layout of the results."""
        n_parameters = len(self.parameters)
        sizes = {"param": n_parameters, "cov_param": n_parameters, "ci_bound": 2}
        sizes |= {"training": len(self.model.n), "n": len(self.predict_at)}
        asked = ["quadratic"] * self.model.quadratic + ["predict_at"] * bool(len(self.predict_at))
        return FIT_POWER_LAW.layout(sizes, *asked)

    def __call__(self, errors: Floats, at: Floats, *others: Any) -> Floats:
        """Fit tasks, given errors, shape (..., run, size), N, the standard errors and folds of means, and numbers."""
        *aggregates, numbers = others
        count, n_sizes = numbers.size, len(self.model.n)
        errors = errors.reshape(count, -1, n_sizes)
        at = np.broadcast_to(at, numbers.shape).ravel().astype(np.float64)
        aggregates = [each.reshape(count, n_sizes) for each in aggregates]
        names = [self.names[number] for number in numbers.ravel()]
        packed = np.empty((count, self.layout.length))
        for start in range(0, count, _BLOCK):
            some = slice(start, start + _BLOCK)
            found = self._tasks(errors[some], at[some], [each[some] for each in aggregates], names[some])
            packed[some] = self.layout.pack(found, [len(names[some])])
        return packed.reshape(*numbers.shape, -1)

    def _tasks(self, errors: Floats, at: Floats, aggregates: Sequence[Floats], names: list[str]) -> dict[str, Floats]:
        """Return the variables of tasks, NaN and 0 for those without errors."""
        error_rates.check_values(errors, self.unit, names)
        sizes = self._sizes(errors, aggregates, names)
        error_rates.check_fittable(self.model, sizes, self.model.known_variance(sizes), names)
        out = self.layout.blank(len(names))
        for name in _FLAGS:
            if name in out:
                out[name][:] = 0
        out["n_folds"] = sizes.folds
        tasks = np.flatnonzero(sizes.folds.any(axis=1))
        if tasks.size:
            found = self._fit(at[tasks], sizes.take(tasks), [names[task] for task in tasks])
            for name in out.keys() & found.keys():
                out[name][tasks] = found[name]
        return out

    def _sizes(self, errors: Floats, aggregates: Sequence[Floats], names: Sequence[str]) -> Sizes:
        """Return what is known of every size, in percent."""
        if not aggregates:
            return Sizes(*wls.measure(errors * self.unit.percent))
        given, counted = aggregates
        means = errors[:, 0]
        error_rates.check_standard_errors(given, means, counted, names)
        has = ~np.isnan(means)
        folds = np.where(has, counted, 0.0)
        variance = np.where(has, folds * (given * self.unit.percent) ** 2, 1.0)
        means = np.where(has, means * self.unit.percent, 0.0)
        return Sizes(folds, means, np.where(folds > 1, variance, np.nan), variance)

    def _fit(self, at: Floats, sizes: Sizes, names: Sequence[str]) -> dict[str, Floats]:
        """Fit tasks that have errors."""
        model = self.model
        fit = model.fit(at, sizes)
        error_rates.refuse_rising(model, sizes, self.unit, names, known=self.known)
        estimates = powerlaw.parameters(fit.theta, at)
        covariance = model.covariance(at, sizes, fit)
        by_theta = powerlaw.jacobian(fit.theta, at)
        of_parameters = by_theta @ covariance @ by_theta.swapaxes(-1, -2)
        given_gamma = powerlaw.variance(by_theta, model.covariance(at, sizes, fit, given_gamma=True))
        quantile = t_quantile(self.alpha, model.degrees(sizes.folds, known=self.known))
        stderr = np.sqrt(np.diagonal(of_parameters, axis1=1, axis2=2))
        found = {
            "estimate_ci": around(estimates, quantile[:, np.newaxis] * stderr),
            "stderr": stderr,
            "stderr_given_gamma": np.sqrt(given_gamma),
            "covariance": of_parameters,
            **self._quality(at, sizes, fit),
            **self._predict(at, sizes, fit, covariance, quantile),
        }
        if self.n_resamples:
            draws = refit.Draws(self.entropy, self.n_resamples, len(model.n))
            intervals, bounds = refit.percentiles(model, at, sizes, fit, self.predict_at, draws, self.alpha)
            found |= {"estimate_ci": intervals, "prediction_ci": bounds}
        return self._in_its_unit(found | dict(zip(PARAMETERS, estimates.T, strict=True)))

    def _quality(self, at: Floats, sizes: Sizes, fit: Fit) -> dict[str, Floats]:
        """Return how well the curves fit, and what is to be kept in mind of them."""
        has = sizes.folds > 0
        fitted = fitted_at(fit.theta, self.model.n, at)
        apart = np.where(has, sizes.means - fitted, 0.0)
        gamma = fit.theta[:, powerlaw.GAMMA]
        searched = self.model.gamma is None
        steep, flat = (searched & (gamma == edge) for edge in (wls.GAMMAS[0], wls.GAMMAS[-1]))
        return {
            "fitted": np.where(has, fitted, np.nan),
            "mean_error": np.where(has, sizes.means, np.nan),
            "r_squared": wls.r_squared(sizes.folds, sizes.means, fitted),
            "objective": wls.objective(sizes.folds, sizes.spread, fit.weights, apart),
            "error_sd": np.where(has, np.sqrt(fit.variance), np.nan),
            "gamma_at_edge": flat.astype(float) - steep,
            "at_extrapolated": far(at[:, np.newaxis], sizes.folds, self.model.n)[:, 0].astype(float),
        }

    def _predict(self, at: Floats, sizes: Sizes, fit: Fit, covariance: Floats, quantile: Floats) -> dict[str, Floats]:
        n = self.predict_at
        prediction = fitted_at(fit.theta, n, at)
        stderr = np.sqrt(powerlaw.variance(powerlaw.gradient(fit.theta, n, at), covariance))
        return {
            "prediction": prediction,
            "prediction_ci": around(prediction, quantile[:, np.newaxis] * stderr),
            "extrapolated": far(n, sizes.folds, self.model.n).astype(float),
        }

    def _in_its_unit(self, found: dict[str, Floats]) -> dict[str, Floats]:
        """Turn what is in percent into the unit that came in."""
        percent = self.unit.percent
        by_parameter = np.array([1.0 if name == "gamma" else percent for name in PARAMETERS])
        divisors: dict[str, Any] = dict(zip(PARAMETERS, by_parameter, strict=True))
        divisors |= dict.fromkeys(("fitted", "mean_error", "error_sd", "prediction", "prediction_ci"), percent)
        divisors |= dict.fromkeys(("stderr", "stderr_given_gamma"), by_parameter)
        divisors |= {
            "estimate_ci": by_parameter[:, np.newaxis],
            "covariance": np.multiply.outer(by_parameter, by_parameter),
        }
        kept = slice(len(self.parameters))
        cuts: dict[str, Any] = dict.fromkeys(("stderr", "stderr_given_gamma", "estimate_ci"), np.s_[:, kept])
        cuts["covariance"] = np.s_[:, kept, kept]
        return {
            name: np.asarray(values / divisors.get(name, 1.0))[cuts.get(name, ...)] for name, values in found.items()
        }


def t_quantile(alpha: float, degrees: Floats) -> Floats:
    """Return the two-sided quantile of Student's t, of the normal distribution for infinite degrees."""
    finite = np.where(np.isinf(degrees), 1.0, degrees)
    normal = scipy.special.ndtri(1 - alpha / 2)
    return np.asarray(np.where(np.isinf(degrees), normal, scipy.special.stdtrit(finite, 1 - alpha / 2)))


def around(estimates: Floats, half_widths: Floats) -> Floats:
    """Return the bounds of symmetric intervals, on a new last axis."""
    return np.stack([estimates - half_widths, estimates + half_widths], axis=-1)


def fitted_at(theta: Floats, n: Floats, at: Floats) -> Floats:
    """Return the curve at sizes, the constant where no exponent is known."""
    known = ~np.isnan(theta[:, powerlaw.GAMMA, np.newaxis])
    return np.where(known, powerlaw.curve(theta, n, at), theta[:, powerlaw.ERROR, np.newaxis])


def far(n: Floats, folds: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Return which sizes `n` are beyond 4 times the largest, or below a quarter of the smallest, measured size."""
    has = folds > 0
    low = np.where(has, sizes, np.inf).min(axis=1, keepdims=True)
    high = np.where(has, sizes, -np.inf).max(axis=1, keepdims=True)
    return np.asarray(has.any(axis=1, keepdims=True) & ((n > _FAR * high) | (n < low / _FAR)))
