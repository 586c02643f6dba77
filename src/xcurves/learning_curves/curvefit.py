"""The fit of a block of learning curves, which runs wherever the block is: in memory or in a dask worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.core.packing import Floats, Layout
from xcurves.kernels import powerlaw, refit, wls
from xcurves.kernels.backtest import backtest_error, horizon, widened
from xcurves.kernels.learning import Fit, Model, Sizes, t_quantile
from xcurves.learning_curves import error_rates
from xcurves.learning_curves.intervals import around, backtest_half_width, of_prediction

PARAMETERS = ("error_at_n", "data_reliance", "gamma", "alpha", "eta", "delta")
_FLAGS = ("gamma_at_edge", "asymptote_at_bound", "at_extrapolated", "extrapolated")
_PREDICTED = ("prediction", "prediction_ci", "prediction_ci_given_law")
_ALPHA = PARAMETERS.index("alpha")
_BLOCK = 1024  # curves at once, which bounds the memory
FAR = 4.0  # so many times the largest size is the paper's limit of extrapolation


def parameters_of(model: Model) -> tuple[str, ...]:
    """Return the names of the parameters of a model."""
    return PARAMETERS if model.quadratic else PARAMETERS[:-1]


@dataclass(frozen=True)
class FitBlock:
    """Learning curves of a block of tasks: errors in, packed results out, percent in between."""

    layout: Layout
    names: list[str]
    model: Model
    by_curve: bool  # curves with one fold at every size have relative weights
    eager: bool  # refuse errors of which no curve can be fitted
    unit: error_rates.Unit
    known: bool
    predict_at: Floats
    n_resamples: int
    entropy: int
    alpha: float

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
        if self.eager:
            self._refuse_none(errors, aggregates, packed)
        return packed.reshape(*numbers.shape, -1)

    def _refuse_none(self, errors: Floats, aggregates: Sequence[Floats], packed: Floats) -> None:
        """Refuse errors of which no curve can be fitted."""
        reasons = self.layout.views(packed)["unfit"].astype(np.int8)
        if (reasons != error_rates.FITTED).all():
            sizes = self._sizes(errors, aggregates, self.names)
            for model, tasks in self._models(sizes):
                names = [self.names[task] for task in tasks]
                error_rates.refuse_unfit(model, sizes.take(tasks), self.unit, names, reasons[tasks])

    def _tasks(self, errors: Floats, at: Floats, aggregates: Sequence[Floats], names: list[str]) -> dict[str, Floats]:
        """Return the variables of tasks, NaN and 0 for those that cannot be fitted."""
        error_rates.check_values(errors, self.unit, names)
        sizes = self._sizes(errors, aggregates, names)
        out = self.layout.blank(len(names))
        for name in _FLAGS:
            if name in out:
                out[name][:] = 0
        has = sizes.folds > 0
        out["n_folds"] = sizes.folds
        out["mean_error"] = np.where(has, sizes.means, np.nan) / self.unit.percent
        for model, tasks in self._models(sizes):
            reasons = error_rates.unfit(model, sizes.take(tasks), known=self._known(model))
            out["unfit"][tasks] = reasons
            fitted = tasks[reasons == error_rates.FITTED]
            found = self._fit(model, at[fitted], sizes.take(fitted)) if fitted.size else {}
            for name in out.keys() & found.keys():
                out[name][fitted] = found[name]
        return out

    def _models(self, sizes: Sizes) -> list[tuple[Model, NDArray[np.intp]]]:
        """Return the models that are fitted, each with its curves."""
        single = self.by_curve & ~(sizes.folds > 1).any(axis=1)
        pairs = ((self.model, ~single), (replace(self.model, weights="relative"), single))
        return [(model, np.flatnonzero(theirs)) for model, theirs in pairs if theirs.any()]

    def _known(self, model: Model) -> bool:
        return self.known and model.weights != "relative"

    def _sizes(self, errors: Floats, aggregates: Sequence[Floats], names: Sequence[str]) -> Sizes:
        """Return what is known of every size, rates in percent."""
        if not aggregates:
            return Sizes(*wls.size_statistics(errors * self.unit.percent))
        given, counted = aggregates
        means = errors[:, 0]
        error_rates.check_folds(counted, means, names)
        has = ~np.isnan(means)
        folds = np.where(has, counted, 0.0)
        variance = np.where(has, folds * (given * self.unit.percent) ** 2, 1.0)
        variance = np.where(has & ~(given > 0), np.nan, variance)
        means = np.where(has, means * self.unit.percent, 0.0)
        return Sizes(folds, means, np.where(folds > 1, variance, np.nan), variance)

    def _fit(self, model: Model, at: Floats, sizes: Sizes) -> dict[str, Floats]:
        """Fit tasks that can be fitted."""
        fit = model.fit(at, sizes)
        estimates = powerlaw.parameters(fit.theta, at)
        estimates[fit.at_bound, _ALPHA] = 0
        covariance = model.covariance(at, sizes, fit)
        by_theta = powerlaw.jacobian(fit.theta, at)
        of_parameters = by_theta @ covariance @ by_theta.swapaxes(-1, -2)
        given_gamma = powerlaw.variance(by_theta, model.covariance(at, sizes, fit, given_gamma=True))
        known = self._known(model)
        quantile = t_quantile(self.alpha, model.degrees(sizes.folds, known=known, at_bound=fit.at_bound))
        stderr = np.sqrt(np.maximum(np.diagonal(of_parameters, axis1=1, axis2=2), 0.0))
        rho = backtest_error(model, at, sizes)
        found = {
            "estimate_ci": around(estimates, quantile[:, np.newaxis] * stderr),
            "stderr": stderr,
            "stderr_given_gamma": np.sqrt(np.maximum(given_gamma, 0.0)),
            "covariance": of_parameters,
            "backtest_error": rho,
            "asymptote_at_bound": fit.at_bound.astype(float),
            **self._quality(model, at, sizes, fit),
        }
        draws = refit.Draws(self.entropy, self.n_resamples, len(model.n)) if self.n_resamples else None
        bounds = None
        if draws:
            found["estimate_ci"], bounds = refit.refit_percentiles(
                model, at, sizes, fit, self.predict_at, draws, self.alpha
            )
        if len(self.predict_at):
            found |= self._predict(model, at, sizes, fit, covariance, quantile, rho, bounds)
        if model.nonnegative:
            rates = [0, _ALPHA]  # error_at_n and alpha
            found["estimate_ci"][:, rates] = np.clip(found["estimate_ci"][:, rates], 0.0, self.unit.cap)
        for name in ("estimate_ci", "stderr", "stderr_given_gamma"):
            found[name][fit.at_bound, _ALPHA] = np.nan
        return self._in_its_unit(found | dict(zip(PARAMETERS, estimates.T, strict=True)))

    def _quality(self, model: Model, at: Floats, sizes: Sizes, fit: Fit) -> dict[str, Floats]:
        """Return how well the curves fit, and what a reader has to know of them."""
        has = sizes.folds > 0
        fitted = powerlaw.values(fit.theta, model.n, at)
        residuals = np.where(has, sizes.means - fitted, 0.0)
        gamma = fit.theta[:, powerlaw.GAMMA]
        at_edge = (gamma == wls.GAMMAS[0]) | (gamma == wls.GAMMAS[-1])
        return {
            "fitted": np.where(has, fitted, np.nan),
            "r_squared": wls.r_squared(sizes.folds, sizes.means, fitted),
            "objective": wls.objective(sizes.folds, sizes.spread, fit.weights, residuals),
            "error_sd": np.where(has, np.sqrt(fit.variance), np.nan),
            "gamma_at_edge": ((model.gamma is None) & at_edge).astype(float),
            "at_extrapolated": far(at[:, np.newaxis], sizes.folds, model.n)[:, 0].astype(float),
        }

    def _predict(
        self,
        model: Model,
        at: Floats,
        sizes: Sizes,
        fit: Fit,
        covariance: Floats,
        quantile: Floats,
        rho: Floats,
        bounds: Floats | None,
    ) -> dict[str, Floats]:
        """Return predictions; `bounds` are the percentiles of the bootstrap, if there is one."""
        n, cap = self.predict_at, self.unit.cap
        prediction = powerlaw.values(fit.theta, n, at)
        slopes = powerlaw.gradient(fit.theta, n, at)
        extra = backtest_half_width(self.alpha, rho, horizon(n, largest_size(sizes.folds, model.n)))
        in_logs = model.nonnegative
        interval, law = of_prediction(prediction, slopes, covariance, quantile, extra, cap, in_logs=in_logs)
        if bounds is not None:
            interval, law = (widened(prediction, bounds, extra, cap), bounds) if in_logs else (bounds, bounds)
        return {
            "prediction": prediction,
            "prediction_ci": interval,
            "prediction_ci_given_law": law,
            "extrapolated": far(n, sizes.folds, model.n).astype(float),
        }

    def _in_its_unit(self, found: dict[str, Floats]) -> dict[str, Floats]:
        """Turn what is in percent into the unit that came in."""
        percent = self.unit.percent
        by_parameter = np.array([1.0 if name == "gamma" else percent for name in PARAMETERS])
        divisors: dict[str, Any] = dict(zip(PARAMETERS, by_parameter, strict=True))
        divisors |= dict.fromkeys(("fitted", "error_sd", *_PREDICTED), percent)
        divisors |= dict.fromkeys(("stderr", "stderr_given_gamma"), by_parameter)
        divisors |= {
            "estimate_ci": by_parameter[:, np.newaxis],
            "covariance": np.multiply.outer(by_parameter, by_parameter),
        }
        kept = slice(len(parameters_of(self.model)))
        cuts: dict[str, Any] = dict.fromkeys(("stderr", "stderr_given_gamma", "estimate_ci"), np.s_[:, kept])
        cuts["covariance"] = np.s_[:, kept, kept]
        return {
            name: np.asarray(values / divisors.get(name, 1.0))[cuts.get(name, ...)] for name, values in found.items()
        }


def far(n: Floats, folds: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Return which sizes `n` are beyond 4 times the largest, or below a quarter of the smallest, measured size."""
    has = folds > 0
    low = np.where(has, sizes, np.inf).min(axis=1, keepdims=True)
    high = np.where(has, sizes, -np.inf).max(axis=1, keepdims=True)
    return np.asarray(has.any(axis=1, keepdims=True) & ((n > FAR * high) | (n < low / FAR)))


def largest_size(folds: Floats, sizes: Floats) -> Floats:
    """Return the largest measured size, shape (curve,); NaN where there is none."""
    has = folds > 0
    return np.where(has.any(axis=1), np.where(has, sizes, -np.inf).max(axis=1), np.nan)
