"""The fit of learning curves, and which curves are not fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core.jobs import Group, Layout
from xcurves.core.refusal import UNSAID, Refusal, Verbatim
from xcurves.core.run_checks import Context
from xcurves.kernels.intervals import t_quantile
from xcurves.kernels.laws import powerlaw, refits, wls
from xcurves.kernels.laws.learning import Model, Sizes
from xcurves.kernels.resampling.batches import in_stretches
from xcurves.learning_curves.error_rates import Unit, check_values
from xcurves.learning_curves.unfit_curves import (
    BAD_STANDARD_ERROR,
    BEYOND,
    CURES,
    FEW_SIZES,
    FITTED,
    NO_ERRORS,
    NO_SPREAD,
    ONE_FOLD,
    REASONS,
    RISING,
    ZERO_ERROR,
)

_CLEAR_RISE = 5.0  # standard errors
_RELIABLE = 5  # degrees of freedom of a noise that is relied on
_NAMED = 3  # curves named for a reason
PARAMETERS = ("error_at_n", "data_reliance", "gamma", "alpha", "eta", "delta")
_ALPHA = PARAMETERS.index("alpha")
_COUNTS = {
    "gamma_at_edge",
    "asymptote_at_bound",
    "at_extrapolated",
    "extrapolated",
    "n_cuts",
    "n_sizes_used",
}
# those that are 0 where nothing is fitted
_COUNTS |= {"at_bound", "ratio_extrapolated"}
_BLOCK = 1024  # curves at once, which bounds the memory


@dataclass(frozen=True)
class Fitter:
    """How learning curves are fitted: errors in, results out, all in the unit of the errors."""

    model: Model
    by_curve: bool  # curves with one fold at every size have relative weights
    unit: Unit
    known: bool
    predict_at: Floats
    n_resamples: int
    octaves: float | None

    def __call__(self, group: Group) -> dict[str, Floats]:
        """Fit tasks, given errors, shape (task, fold, size), N, and the standard errors and folds of means."""
        return in_stretches(lambda some: self._tasks(group, some), len(group.names), _BLOCK)

    def _tasks(self, group: Group, some: slice) -> dict[str, Floats]:
        """Return the variables of tasks, NaN and 0 for those that cannot be fitted."""
        errors, at, *aggregates = (each[some] for each in group.data)
        names, n = group.names[some], self.model.n
        check_values(errors, self.unit, names)
        sizes = _of_aggregates(errors[:, 0], aggregates, names) if aggregates else Sizes(*wls.size_statistics(errors))
        has = sizes.folds > 0
        out = blank(group.layout, len(names))
        out["n_folds"], out["mean_error"] = (
            sizes.folds,
            np.where(has, sizes.means, np.nan),
        )
        used = sizes.where(refits.used_sizes(n, has, self.octaves))
        beyond = at > np.where(has, n, -np.inf).max(axis=1)
        single = self.by_curve & ~(sizes.folds > 1).any(axis=1)
        for model, theirs in (
            (self.model, ~single),
            (replace(self.model, weights="relative"), single),
        ):
            tasks = np.flatnonzero(theirs)
            reasons = unfit(model, used.take(tasks), known=self._known(model), beyond=beyond[tasks])
            out["unfit"][tasks] = reasons
            fitted = tasks[reasons == FITTED]
            if fitted.size:
                put(
                    out,
                    fitted,
                    self._fit(
                        model,
                        at[fitted],
                        used.take(fitted),
                        sizes.take(fitted),
                        group.context,
                    ),
                )
        return out

    def _known(self, model: Model) -> bool:
        return self.known and model.weights != "relative"

    def _fit(self, model: Model, at: Floats, sizes: Sizes, every: Sizes, context: Context) -> dict[str, Floats]:
        """Fit tasks that can be fitted to the sizes that are used; backtests know every size."""
        fit, has = model.fit(at, sizes), sizes.folds > 0
        estimates = powerlaw.parameters(fit.theta, at)
        estimates[fit.at_bound, _ALPHA] = 0
        covariance = model.covariance(at, sizes, fit)
        by_theta = powerlaw.jacobian(fit.theta, at)
        of_parameters = by_theta @ covariance @ by_theta.swapaxes(-1, -2)
        given_gamma = powerlaw.variance(by_theta, model.covariance(at, sizes, fit, given_gamma=True))
        degrees = model.degrees(sizes.folds, known=self._known(model), at_bound=fit.at_bound)
        stderr = np.sqrt(np.maximum(np.diagonal(of_parameters, axis1=1, axis2=2), 0.0))
        interval = powerlaw.around(estimates, t_quantile(context.alpha, degrees)[:, np.newaxis] * stderr)
        tested = refits.backtest(model, at, every, self.octaves)
        law_bounds = None
        if self.n_resamples:
            interval, law_bounds = refits.refit_percentiles(
                model,
                at,
                sizes,
                fit,
                self.predict_at,
                context.entropy,
                self.n_resamples,
                context.alpha,
            )
        if model.nonnegative:
            rates = [0, _ALPHA]  # error_at_n and alpha
            interval[:, rates] = np.clip(interval[:, rates], 0.0, self.unit.cap)
        fitted = powerlaw.values(fit.theta, model.n, at)
        gamma, residuals = (
            fit.theta[:, powerlaw.GAMMA],
            np.where(has, sizes.means - fitted, 0.0),
        )
        of_param = {
            "estimate_ci": interval,
            "stderr": stderr,
            "stderr_given_gamma": np.sqrt(np.maximum(given_gamma, 0.0)),
        }
        for each in of_param.values():
            each[fit.at_bound, _ALPHA] = np.nan
        of_param["covariance"] = of_parameters[..., : len(parameters_of(model))]
        fall = powerlaw.last_fall(model.n, every.means, every.folds > 0)
        smallest = np.where(has, model.n, np.inf).min(axis=1)
        rho, rho_law = (refits.backtest_spread(each, tested.n_cuts) for each in (tested.combined, tested.law))
        curves = powerlaw.Curves(fit.theta, covariance, at, degrees, fall, rho, rho_law, smallest)
        return {
            **dict(zip(PARAMETERS, estimates.T, strict=True)),
            **{name: each[:, : len(parameters_of(model))] for name, each in of_param.items()},
            "backtest_error": tested.combined,
            "backtest_error_law": tested.law,
            "backtest_error_last_fall": tested.last_fall,
            "n_cuts": tested.n_cuts,
            "asymptote_at_bound": fit.at_bound,
            "fitted": np.where(has, fitted, np.nan),
            "r_squared": wls.r_squared(sizes.folds, sizes.means, fitted),
            "objective": wls.objective(sizes.folds, sizes.spread, fit.weights, residuals),
            "error_sd": np.where(has, np.sqrt(fit.variance), np.nan),
            "gamma_at_edge": (model.gamma is None) & np.isin(gamma, wls.GAMMAS[[0, -1]]),
            "fitted_from": smallest,
            "n_sizes_used": has.sum(axis=1),
            "at_extrapolated": curves.far(at[:, np.newaxis])[:, 0],
            **powerlaw.predict_errors(
                curves,
                self.predict_at,
                context.alpha,
                method=powerlaw.rule_of("combined", model.nonnegative),
                nonnegative=model.nonnegative,
                cap=self.unit.cap,
                law_bounds=law_bounds,
            ),
        }


def blank(layout: Layout, n_tasks: int) -> dict[str, Floats]:
    """Return the variables of tasks of which nothing is known: NaN, or 0 of flags and counts."""
    variables = layout.blank(n_tasks)
    for name in variables.keys() & _COUNTS:
        variables[name] = np.nan_to_num(variables[name])
    return variables


def put(out: Mapping[str, Floats], some: NDArray[np.intp], found: Mapping[str, Floats]) -> None:
    """Put what was found of some tasks among the variables of all."""
    for name in out.keys() & found.keys():
        out[name][some] = found[name]


def parameters_of(model: Model) -> tuple[str, ...]:
    """Return the names of the parameters of a model."""
    if model.quadratic:
        return PARAMETERS
    return PARAMETERS[:-1]


def _of_aggregates(means: Floats, aggregates: Sequence[Floats], names: Sequence[str]) -> Sizes:
    """Return what is known of every size from means, their standard errors and numbers of folds."""
    standard_error, counts = aggregates
    has = ~np.isnan(means)
    is_count = (counts >= 1) & (counts % 1 == 0)
    wrong = np.argwhere(has & ~is_count)
    if len(wrong):
        task, size = wrong[0]
        got = f"{counts[task, size]:g}"
        raise Refusal(
            "curves",
            Verbatim(f"{got}"),
            f"{names[task]}n_folds must be whole and at least 1",
            "Correct it",
        )
    folds = np.where(has, counts, 0.0)
    variance = np.where(has, np.where(standard_error > 0, folds * standard_error**2, np.nan), 1.0)
    return Sizes(
        folds,
        np.where(has, means, 0.0),
        np.where(folds > 1, variance, np.nan),
        variance,
    )


def unfit(model: Model, sizes: Sizes, *, known: bool, beyond: NDArray[np.bool_] | None = None) -> NDArray[np.int8]:
    """Return why curves cannot be fitted, shape (curve,): 0 for those that can, else a key of `REASONS`."""
    has = sizes.folds > 0
    n_sizes = has.sum(axis=1)
    variance = model.known_variance(sizes)
    if beyond is None:
        beyond = np.zeros(len(has), dtype=bool)
    by_variance = model.weights in ("variance-folds", "variance")
    cases = {
        NO_ERRORS: n_sizes == 0,
        FEW_SIZES: n_sizes < model.n_sizes_needed,
        BAD_STANDARD_ERROR: (has & ~((variance > 0) & (variance < np.inf))).any(axis=1) & (sizes.variance is not None),
        ONE_FOLD: np.isnan(variance).any(axis=1) & by_variance,
        NO_SPREAD: (has & (variance <= 0)).any(axis=1) & by_variance,
        ZERO_ERROR: (has & (sizes.means <= 0)).any(axis=1) & (model.weights == "relative"),
        RISING: _rising(model, sizes, variance, known=known),
        BEYOND: beyond,
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


def refuse_unfit(reasons: NDArray[np.int8], names: Sequence[str]) -> None:
    """Refuse the first curve that has errors and cannot be fitted, if there is one, and say why and what helps."""
    refused = np.flatnonzero(reasons > NO_ERRORS)
    if refused.size:
        task = refused[0]
        why = int(reasons[task])
        raise Refusal("curves", UNSAID, f"{names[task]}{REASONS[why]}", CURES[why])


def say_unfit(
    unfit: NDArray[np.int8],
    names: Sequence[str],
    reasons: Mapping[int, str],
    thing: str,
) -> list[str]:
    """Return how many curves or laws are not fitted, and which ones for which reason."""
    count = int((unfit != FITTED).sum())
    if not count:
        return []
    if len(unfit) == 1:
        return [f"{reasons[int(unfit[0])]}; the result is NaN"]
    said = []
    for code, reason in reasons.items():
        theirs = [names[i].removesuffix(": ") for i in np.flatnonzero(unfit == code).tolist()]
        if not theirs:
            continue
        which = "; ".join(theirs[:_NAMED])
        if len(theirs) > _NAMED:
            which += f" and {len(theirs) - _NAMED} more"
        said.append(f"{reason} ({which})")
    return [f"{count} of {len(unfit)} {thing}s are not fitted and NaN: {', '.join(said)}"]
