"""The fit of learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.core.driver import Group
from xcurves.core.run_checks import Context
from xcurves.kernels import powerlaw, refits, wls
from xcurves.kernels.learning import Fit, Model, Sizes
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import in_stretches
from xcurves.kernels.powerlaw import t_quantile
from xcurves.learning_curves import error_rates
from xcurves.learning_curves.error_rates import Unit, turn_accuracy

_CLEAR_RISE = 5.0  # standard errors
_RELIABLE = 5  # degrees of freedom of a noise that is relied on
_NAMED = 3  # curves named for a reason
PARAMETERS = ("error_at_n", "data_reliance", "gamma", "alpha", "eta", "delta")
_FLAGS = {"gamma_at_edge", "asymptote_at_bound", "at_extrapolated", "extrapolated", "n_cuts", "n_sizes_used"}
_PREDICTED = ("prediction", "prediction_ci", "prediction_ci_given_law")
_ALPHA = PARAMETERS.index("alpha")
_BLOCK = 1024  # curves at once, which bounds the memory
FAR = 4.0  # so many times the largest size is the paper's limit of extrapolation
FITTED, NO_ERRORS, FEW_SIZES, ONE_FOLD, NO_SPREAD, BAD_STANDARD_ERROR, ZERO_ERROR, RISING, BEYOND = range(9)
REASONS = {
    NO_ERRORS: "no errors",
    FEW_SIZES: "too few sizes",
    ONE_FOLD: "one fold at every size",
    NO_SPREAD: "no spread between folds",
    BAD_STANDARD_ERROR: "standard error not positive",
    ZERO_ERROR: "error not positive",
    RISING: "rising errors",
    BEYOND: "at is beyond the largest size",
}


def parameters_of(model: Model) -> tuple[str, ...]:
    """Return the names of the parameters of a model."""
    return PARAMETERS if model.quadratic else PARAMETERS[:-1]


@dataclass(frozen=True)
class Fitter:
    """How learning curves are fitted: errors in, results out, percent in between."""

    model: Model
    by_curve: bool  # curves with one fold at every size have relative weights
    eager: bool  # refuse errors of which no curve can be fitted
    unit: Unit
    known: bool
    predict_at: Floats
    n_resamples: int
    octaves: float | None

    def __call__(self, group: Group) -> dict[str, Floats]:
        """Fit tasks, given errors, shape (task, fold, size), N, and the standard errors and folds of means."""
        errors, at, *aggregates = group.data

        def fit(some: slice) -> dict[str, Floats]:
            given = [each[some] for each in aggregates]
            return self._tasks(errors[some], at[some], given, group.names[some], group)

        out = in_stretches(fit, len(errors), _BLOCK)
        reasons = out["unfit"].astype(np.int8)
        if self.eager and (reasons != FITTED).all():
            sizes = self._sizes(errors, aggregates, group.names)
            for model, tasks in self._models(sizes):
                used = sizes.where(refits.used_sizes(model.n, sizes.folds > 0, self.octaves)).take(tasks)
                refuse_unfit(model, used, self.unit, [group.names[task] for task in tasks], reasons[tasks])
        return out

    def _tasks(
        self, errors: Floats, at: Floats, aggregates: Sequence[Floats], names: Sequence[str], group: Group
    ) -> dict[str, Floats]:
        """Return the variables of tasks, NaN and 0 for those that cannot be fitted."""
        error_rates.check_values(errors, self.unit, names)
        sizes = self._sizes(errors, aggregates, names)
        out = group.layout.blank(len(names))
        for name in out.keys() & _FLAGS:
            out[name][:] = 0
        has = sizes.folds > 0
        out["n_folds"] = sizes.folds
        out["mean_error"] = np.where(has, sizes.means, np.nan) / self.unit.percent
        used = sizes.where(refits.used_sizes(self.model.n, has, self.octaves))
        for model, tasks in self._models(sizes):
            beyond = at[tasks] > np.where(has[tasks], model.n, -np.inf).max(axis=1)
            reasons = unfit(model, used.take(tasks), known=self._known(model), beyond=beyond)
            out["unfit"][tasks] = reasons
            fitted = tasks[reasons == FITTED]
            if not fitted.size:
                continue
            found = self._fit(model, at[fitted], used.take(fitted), sizes.take(fitted), group.context)
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
        has = ~np.isnan(means)
        for task, size in np.argwhere(has & ~((counted >= 1) & (counted % 1 == 0)))[:1]:
            got = f"{counted[task, size]:g}"
            raise ValueError(f"{names[task]}n_folds must be whole and at least 1; got {got}. Correct it")
        folds = np.where(has, counted, 0.0)
        variance = np.where(has, folds * (given * self.unit.percent) ** 2, 1.0)
        variance = np.where(has & ~(given > 0), np.nan, variance)
        means = np.where(has, means * self.unit.percent, 0.0)
        return Sizes(folds, means, np.where(folds > 1, variance, np.nan), variance)

    def _fit(self, model: Model, at: Floats, sizes: Sizes, every: Sizes, context: Context) -> dict[str, Floats]:
        """Fit tasks that can be fitted to the sizes that are used; backtests know every size."""
        fit = model.fit(at, sizes)
        estimates = powerlaw.parameters(fit.theta, at)
        estimates[fit.at_bound, _ALPHA] = 0
        covariance = model.covariance(at, sizes, fit)
        by_theta = powerlaw.jacobian(fit.theta, at)
        of_parameters = by_theta @ covariance @ by_theta.swapaxes(-1, -2)
        given_gamma = powerlaw.variance(by_theta, model.covariance(at, sizes, fit, given_gamma=True))
        degrees = model.degrees(sizes.folds, known=self._known(model), at_bound=fit.at_bound)
        quantile = t_quantile(context.alpha, degrees)
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
        bounds = None
        if self.n_resamples:
            draws = refits.Draws(context.entropy, self.n_resamples, len(model.n))
            found["estimate_ci"], bounds = refits.refit_percentiles(
                model, at, sizes, fit, self.predict_at, draws, context.alpha
            )
        if len(self.predict_at):
            fall = powerlaw.last_fall(model.n, sizes.means, sizes.folds > 0)
            rho, rho_law = (refits.backtest_spread(each, tested.n_cuts) for each in (tested.combined, tested.law))
            curves = powerlaw.Curves(fit.theta, covariance, at, degrees, fall, rho, rho_law)
            rule = powerlaw.rule_of("combined", model.nonnegative)
            options: dict[str, Any] = {"method": rule, "nonnegative": model.nonnegative, "cap": self.unit.cap}
            found |= powerlaw.predict_errors(curves, self.predict_at, context.alpha, law_bounds=bounds, **options)
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
        found = {name: np.asarray(values / divisors.get(name, 1.0)) for name, values in found.items()}
        n_parameters = len(parameters_of(self.model))
        for name in ("stderr", "stderr_given_gamma"):
            found[name] = (found[name] / by_parameter)[:, :n_parameters]
        found["estimate_ci"] = (found["estimate_ci"] / by_parameter[:, np.newaxis])[:, :n_parameters]
        covariance = found["covariance"] / np.multiply.outer(by_parameter, by_parameter)
        found["covariance"] = covariance[:, :n_parameters, :n_parameters]
        return found


def far(n: Floats, folds: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Return which sizes `n` are beyond 4 times the largest, or below a quarter of the smallest, measured size."""
    has = folds > 0
    low = np.where(has, sizes, np.inf).min(axis=1, keepdims=True)
    high = np.where(has, sizes, -np.inf).max(axis=1, keepdims=True)
    return np.asarray(has.any(axis=1, keepdims=True) & ((n > FAR * high) | (n < low / FAR)))


def unfit(model: Model, sizes: Sizes, *, known: bool, beyond: NDArray[np.bool_] | None = None) -> NDArray[np.int8]:
    """Return why curves cannot be fitted, shape (curve,): 0 for those that can, else a key of `REASONS`."""
    has = sizes.folds > 0
    n_sizes = has.sum(axis=1)
    variance = model.known_variance(sizes)
    by_variance = model.weights in ("variance-folds", "variance")
    cases = {
        NO_ERRORS: n_sizes == 0,
        FEW_SIZES: n_sizes < model.n_sizes_needed,
        BAD_STANDARD_ERROR: (has & ~((variance > 0) & (variance < np.inf))).any(axis=1) & (sizes.variance is not None),
        ONE_FOLD: np.isnan(variance).any(axis=1) & by_variance,
        NO_SPREAD: (has & (variance <= 0)).any(axis=1) & by_variance,
        ZERO_ERROR: (has & (sizes.means <= 0)).any(axis=1) & (model.weights == "relative"),
        RISING: _rising(model, sizes, variance, known=known),
        BEYOND: np.zeros(len(has), dtype=bool) if beyond is None else beyond,
    }
    return np.select(list(cases.values()), list(cases), FITTED).astype(np.int8)


def _rising(model: Model, sizes: Sizes, variance: Floats, *, known: bool) -> NDArray[np.bool_]:
    """Return which curves clearly rise: from first to last by more than noise can, or, of unknown noise, at every size.

    A noise estimated from hardly any folds is not relied on alone: there the curve must rise at every size as well.
    """
    has = sizes.folds > 0
    before = np.maximum.accumulate(np.where(has, sizes.means, -np.inf), axis=1)[:, :-1]
    rises = (~has[:, 1:] | (sizes.means[:, 1:] > before)).all(axis=1)
    first, last = has.argmax(axis=1), powerlaw.last_of(has)
    task = np.arange(len(has))
    of_mean = variance / np.maximum(sizes.folds, 1)
    with np.errstate(invalid="ignore"):
        noise = np.sqrt(of_mean[task, first] + of_mean[task, last])
    rise = sizes.means[task, last] - sizes.means[task, first]
    reliable = model.degrees(sizes.folds, known=known) >= _RELIABLE
    reliable &= model.weights != "relative"
    clear = (rise > _CLEAR_RISE * noise) & (reliable | rises)
    return np.asarray((first < last) & (clear | (np.isnan(noise) & rises)))


def refuse_unfit(model: Model, sizes: Sizes, unit: Unit, names: Sequence[str], reasons: NDArray[np.int8]) -> None:
    """Refuse the first curve that cannot be fitted, if there is one, and say why and what helps."""
    for task in np.flatnonzero(reasons > NO_ERRORS)[:1]:
        raise ValueError(names[task] + _explain(model, sizes.take(np.array([task])), unit, int(reasons[task])))


def _explain(model: Model, sizes: Sizes, unit: Unit, reason: int) -> str:
    """Return why the one curve cannot be fitted, and what helps."""
    has = sizes.folds[0] > 0
    first, last = np.flatnonzero(has)[[0, -1]]
    if reason == FEW_SIZES:
        fewer = "Add sizes" if model.gamma is not None and not model.quadratic else "Add sizes, or fix gamma=-0.5"
        return f"errors has {has.sum()} training sizes; this curve needs {model.n_sizes_needed}. {fewer}"
    if reason == ONE_FOLD:
        return (
            f"errors has one fold at every size, so weights={model.weights!r} has no variance to go by. "
            "Give sigma_hat_sq, or fit with weights='relative'"
        )
    if reason == NO_SPREAD:
        return (
            "errors do not vary between folds and sigma0_sq is 0: weights are infinite. "
            "Give a positive sigma0_sq, or fit with weights='relative'"
        )
    if reason == BAD_STANDARD_ERROR:
        return (
            "standard_error must be positive and finite where errors are. "
            "Mask errors where it is not, or leave standard_error out"
        )
    if reason == ZERO_ERROR:
        place = int(np.flatnonzero(has & (sizes.means[0] <= 0))[0])
        return (
            f"errors has {sizes.means[0, place] / unit.percent:.4g} at size {model.n[place]:g}; relative weights need "
            "errors above 0. Mask it, or fit with asymptote='free', weights='uniform'"
        )
    if reason == BEYOND:
        return (
            f"at is beyond the largest size, {model.n[last]:g}; a law alone says too little there. "
            "Fit with at='largest' and call predict(fit, n), which widens its intervals"
        )
    begin, end = sizes.means[0, [first, last]] / unit.percent
    turned = f". If this is accuracy, turn it: {turn_accuracy(unit)}" if unit.name != "loss" else ". A loss must fall"
    return f"errors rise with training, from {begin:.4g} to {end:.4g}{turned}"


def of_all(found: Mapping[str, Floats], some: NDArray[np.intp], n_tasks: int) -> dict[str, Floats]:
    """Return what was found of some tasks for all of them: NaN, or 0 of flags and counts, for the others."""
    out = {}
    for name, values in found.items():
        nothing = np.nan if values.dtype.kind == "f" else 0.0
        out[name] = np.full((n_tasks, *values.shape[1:]), nothing)
        out[name][some] = values
    return out


def say_unfit(unfit: NDArray[np.int8], names: Sequence[str], reasons: Mapping[int, str], thing: str) -> list[str]:
    """Return how many curves or laws are not fitted, and which ones for which reason."""
    count = int((unfit != FITTED).sum())
    if not count:
        return []
    if len(unfit) == 1:
        return [f"{reasons[int(unfit[0])]}; the result is NaN"]
    said = []
    for code, reason in reasons.items():
        theirs = [names[i].removesuffix(": ") for i in np.flatnonzero(unfit == code).tolist()]
        if theirs:
            more = f" and {len(theirs) - _NAMED} more" if len(theirs) > _NAMED else ""
            said.append(f"{reason} ({'; '.join(theirs[:_NAMED])}{more})")
    return [f"{count} of {len(unfit)} {thing}s are not fitted and NaN: {', '.join(said)}"]
