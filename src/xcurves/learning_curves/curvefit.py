"""The fit of learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.core.driver import Group
from xcurves.core.schema import Layout
from xcurves.kernels import powerlaw, refits, wls
from xcurves.kernels.learning import Fit, Model, Sizes
from xcurves.kernels.moments import Floats
from xcurves.kernels.powerlaw import t_quantile
from xcurves.learning_curves import error_rates

PARAMETERS = ("error_at_n", "data_reliance", "gamma", "alpha", "eta", "delta")
_FLAGS = ("gamma_at_edge", "asymptote_at_bound", "at_extrapolated", "extrapolated", "n_cuts", "n_sizes_used")
_PREDICTED = ("prediction", "prediction_ci", "prediction_ci_given_law")
_ALPHA = PARAMETERS.index("alpha")
_BLOCK = 1024  # curves at once, which bounds the memory
FAR = 4.0  # so many times the largest size is the paper's limit of extrapolation


def parameters_of(model: Model) -> tuple[str, ...]:
    """Return the names of the parameters of a model."""
    return PARAMETERS if model.quadratic else PARAMETERS[:-1]


@dataclass(frozen=True)
class Fitter:
    """How learning curves are fitted: errors in, results out, percent in between."""

    model: Model
    by_curve: bool  # curves with one fold at every size have relative weights
    eager: bool  # refuse errors of which no curve can be fitted
    unit: error_rates.Unit
    known: bool
    predict_at: Floats
    n_resamples: int
    entropy: int
    alpha: float
    octaves: float | None

    def __call__(self, group: Group) -> dict[str, Floats]:
        """Fit tasks, given errors, shape (task, fold, size), N, and the standard errors and folds of means."""
        errors, at, *aggregates = group.data
        parts = []
        for start in range(0, len(errors), _BLOCK):
            some = slice(start, start + _BLOCK)
            given = [each[some] for each in aggregates]
            parts.append(self._tasks(errors[some], at[some], given, group.names[some], group.layout))
        out = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        if self.eager:
            self._refuse_none(errors, aggregates, out["unfit"].astype(np.int8), group.names)
        return out

    def _refuse_none(
        self, errors: Floats, aggregates: Sequence[Floats], reasons: NDArray[np.int8], names: Sequence[str]
    ) -> None:
        """Refuse errors of which no curve can be fitted."""
        if (reasons != error_rates.FITTED).all():
            sizes = self._sizes(errors, aggregates, names)
            for model, tasks in self._models(sizes):
                theirs = [names[task] for task in tasks]
                used = sizes.where(refits.used_sizes(model.n, sizes.folds > 0, self.octaves)).take(tasks)
                error_rates.refuse_unfit(model, used, self.unit, theirs, reasons[tasks])

    def _tasks(
        self, errors: Floats, at: Floats, aggregates: Sequence[Floats], names: Sequence[str], layout: Layout
    ) -> dict[str, Floats]:
        """Return the variables of tasks, NaN and 0 for those that cannot be fitted."""
        error_rates.check_values(errors, self.unit, names)
        sizes = self._sizes(errors, aggregates, names)
        out = layout.blank(len(names))
        for name in _FLAGS:
            if name in out:
                out[name][:] = 0
        has = sizes.folds > 0
        out["n_folds"] = sizes.folds
        out["mean_error"] = np.where(has, sizes.means, np.nan) / self.unit.percent
        used = sizes.where(refits.used_sizes(self.model.n, has, self.octaves))
        for model, tasks in self._models(sizes):
            beyond = at[tasks] > largest_size(sizes.folds[tasks], model.n)
            reasons = error_rates.unfit(model, used.take(tasks), known=self._known(model), beyond=beyond)
            out["unfit"][tasks] = reasons
            fitted = tasks[reasons == error_rates.FITTED]
            found = self._fit(model, at[fitted], used.take(fitted), sizes.take(fitted)) if fitted.size else {}
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

    def _fit(self, model: Model, at: Floats, sizes: Sizes, every: Sizes) -> dict[str, Floats]:
        """Fit tasks that can be fitted to the sizes that are used; backtests know every size."""
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
        tested = refits.backtest(model, at, every, self.octaves)
        found = {
            "estimate_ci": powerlaw.around(estimates, quantile[:, np.newaxis] * stderr),
            "stderr": stderr,
            "stderr_given_gamma": np.sqrt(np.maximum(given_gamma, 0.0)),
            "covariance": of_parameters,
            "backtest_error": tested.combined,
            "backtest_error_law": tested.law,
            "backtest_error_last_fall": tested.last_fall,
            "n_cuts": tested.n_cuts.astype(float),
            "asymptote_at_bound": fit.at_bound.astype(float),
            **self._quality(model, at, sizes, fit),
        }
        draws = refits.Draws(self.entropy, self.n_resamples, len(model.n)) if self.n_resamples else None
        bounds = None
        if draws:
            found["estimate_ci"], bounds = refits.refit_percentiles(
                model, at, sizes, fit, self.predict_at, draws, self.alpha
            )
        if len(self.predict_at):
            fall = powerlaw.last_fall(model.n, sizes.means, sizes.folds > 0)
            degrees = model.degrees(sizes.folds, known=known, at_bound=fit.at_bound)
            rho, rho_law = (refits.spread(each, tested.n_cuts) for each in (tested.combined, tested.law))
            curves = powerlaw.Curves(fit.theta, covariance, at, degrees, fall, rho, rho_law)
            options: dict[str, Any] = {"method": "combined", "nonnegative": model.nonnegative, "cap": self.unit.cap}
            found |= powerlaw.predict(curves, self.predict_at, self.alpha, law_bounds=bounds, **options)
            found["extrapolated"] = far(self.predict_at, sizes.folds, model.n).astype(float)
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
            "fitted_from": np.where(has, model.n, np.inf).min(axis=1),
            "n_sizes_used": has.sum(axis=1).astype(float),
            "at_extrapolated": far(at[:, np.newaxis], sizes.folds, model.n)[:, 0].astype(float),
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
