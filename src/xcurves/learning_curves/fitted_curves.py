"""What other methods read from the result of a fit, and what its curves predict."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.driver import Group, Job, compute
from xcurves.core.run_checks import Context
from xcurves.core.schema import Layout
from xcurves.kernels import powerlaw, refits, wls
from xcurves.kernels.learning import Model
from xcurves.kernels.moments import Floats
from xcurves.learning_curves.curvefit import FAR, far
from xcurves.learning_curves.error_rates import bare, on_dims

THETA = "_xcurves_theta"  # no dim of a task has this name
_CORE: dict[str, tuple[str, ...]] = {
    "covariance": ("param", "cov_param"),
    "n_folds": ("training",),
    "error_sd": ("training",),
    "mean_error": ("training",),
    "fitted_from": (),
    "backtest_error": (),
    "backtest_error_law": (),
    "n_cuts": (),
    "asymptote_at_bound": (),
}
N_PARTS = 2 + len(_CORE)  # arrays that `curves_of` returns
_SHOWN: dict[str, tuple[str, ...]] = {
    "prediction": ("n",),
    "prediction_ci": ("n", "ci_bound"),
    "change_ratio": ("n",),
    "change_ratio_ci": ("n", "ci_bound"),
}


def check_fit(fit: xr.Dataset) -> None:
    """Refuse a fit of which a selection left out variables or labels that are no tasks."""
    cure = "Select along tasks only, before the prediction"
    for name in ("error_at_n", "data_reliance", "gamma", "at", *_CORE):
        if name not in fit:
            raise ValueError(f"fit has no variable {name!r}, which a selection left out. {cure}")
        lost = [dim for dim in _CORE.get(name, ()) if dim not in fit[name].dims]
        if lost:
            raise ValueError(f"fit has no dim {lost[0]!r}, which a selection left out. {cure}")
    taken = [name for name in ("ci_bound", "n") if name in fit.coords and name not in fit.dims]
    if taken:
        raise ValueError(f"fit has a selection of {taken[0]!r}. {cure}")
    least = 4 + ("delta" in fit.data_vars)
    for dim in ("param", "cov_param"):
        if fit.sizes[dim] < least:
            raise ValueError(f"fit has {fit.sizes[dim]} labels of {dim!r}; a whole one has {least} or more. {cure}")


def beside_reference(fit: xr.Dataset, reference: Any) -> tuple[xr.Dataset, xr.Dataset]:
    """Return the curves of all learners but the reference, and as often that of the reference."""
    if "algorithm" not in fit.dims:
        raise ValueError("fit has no dim 'algorithm'; learners are its labels. Rename: fit.rename(model='algorithm')")
    known = fit["algorithm"].to_numpy().tolist()
    if not isinstance(reference, Hashable) or reference not in known:
        raise ValueError(
            f"reference must be an algorithm of the fit; got {labels.shown(reference)}. It has "
            f"{', '.join(map(repr, known))}{labels.did_you_mean(reference, known)}"
        )
    if len(known) < 2:
        raise ValueError(f"fit has one algorithm, {known[0]!r}; a comparison needs two. Fit them in one array")
    place = known.index(reference)
    others = [i for i in range(len(known)) if i != place]
    return fit.isel(algorithm=others), fit.isel(algorithm=[place] * len(others))


def task_sizes(fit: xr.Dataset) -> dict[Hashable, int]:
    """Return the dims of the curves of a fit, with their sizes."""
    return {dim: fit.sizes[dim] for dim in labels.task_dims(fit["error_at_n"])}


def size_units(given: xr.DataArray | xr.Dataset) -> dict[str, str]:
    """Return the attribute that says the unit of training sizes, if they have one."""
    return {"units": str(given["training"].attrs["units"])} if "units" in given["training"].attrs else {}


def rate_units(rate: str, given: xr.DataArray | xr.Dataset) -> dict[str, str]:
    """Return the units of results of learning curves, by those of errors and training sizes."""
    training = size_units(given).get("units", "1")
    size = "size" if training == "1" else training
    powers = {"eta": f"{rate} {size}^-gamma", "delta": f"{rate} {size}^(-2 gamma)"}
    return {"rate": rate, "training": training, **powers}


def model_of(fit: xr.Dataset) -> Model:
    """Return the model that was fitted, as far as it takes to read its result."""
    gamma, bounded = fit.attrs["gamma"], fit.attrs["asymptote"] == "nonnegative"
    exponent = None if gamma == "search" else float(gamma)
    n, weights = fit["training"].to_numpy(), fit.attrs["weights"]
    return Model(n, exponent, "delta" in fit.data_vars, weights, nonnegative=bounded)


def curves_of(fit: xr.Dataset) -> list[xr.DataArray]:
    """Return θ, with the coordinates, units and history of the fit, N, and what else `curves_of_fit` reads."""
    lead = task_sizes(fit)
    whole = fit if "delta" in fit.data_vars else fit.assign(delta=xr.zeros_like(fit["gamma"]))
    theta = whole[["error_at_n", "data_reliance", "gamma", "delta"]].to_array(THETA).transpose(*lead, THETA)
    of_tasks = {name: coord for name, coord in fit.coords.items() if set(coord.dims) <= set(lead)}
    theta = xr.DataArray(theta.variable, of_tasks, attrs=fit["error_at_n"].attrs)
    if "history" in fit.attrs:
        theta.attrs["history"] = fit.attrs["history"]
    parts = [fit[name].transpose(*lead, *core) for name, core in _CORE.items()]
    return [theta, *(each.drop_vars(list(each.coords)) for each in (on_dims(fit["at"], lead), *parts))]


class Read(NamedTuple):
    """What `curves_of` gave to a block, tasks on the first axis; folds of the sizes that the law is fitted to."""

    curves: powerlaw.Curves
    folds: Floats
    sd: Floats
    at_bound: NDArray[np.bool_]


def curves_of_fit(arrays: Sequence[Floats], model: Model, *, known: bool) -> Read:
    """Return what `curves_of` gave to a kernel."""
    theta, at, of_parameters, folds, sd, means, fitted_from, error, error_law, n_cuts, at_bound = arrays
    bound = at_bound > 0
    used = np.where(model.n >= fitted_from[:, np.newaxis], folds, 0.0)
    theirs = [0, 1, 2, *[5] * model.quadratic]  # of θ among the parameters
    covariance = np.zeros((len(theta), 4, 4))
    covariance[:, : len(theirs), : len(theirs)] = of_parameters[:, theirs][:, :, theirs]
    curves = powerlaw.Curves(
        theta,
        covariance,
        at,
        model.degrees(used, known=known, at_bound=bound),
        powerlaw.last_fall(model.n, means, folds > 0),
        refits.backtest_spread(error, n_cuts),
        refits.backtest_spread(error_law, n_cuts),
    )
    return Read(curves, used, sd, bound)


def prediction_options(fit: xr.Dataset, n: Floats | None, method: str) -> dict[str, Any]:
    """Return the options of `predict_group`; without `n`, each curve has a size of its own."""
    model = model_of(fit)
    rule = powerlaw.rule_of(method, model.nonnegative)
    cap = {"percent": 100.0, "fraction": 1.0}.get(fit.attrs["units"], np.inf)
    return {"model": model, "n": n, "rule": rule, "known": fit.attrs["variances"] == "known", "cap": cap}


def predict_group(
    group: Group, *, model: Model, n: Floats | None, rule: str, known: bool, cap: float
) -> dict[str, Floats]:
    """Predict, given what `curves_of` returns, of a reference too if there is one, and sizes of curves."""
    parts = list(group.data)
    n = parts.pop().reshape(-1, 1) if n is None else n[np.newaxis]
    reads = (curves_of_fit(parts[i : i + N_PARTS], model, known=known) for i in range(0, len(parts), N_PARTS))
    found = [_predicted(read, n, model, rule, cap, group.context.alpha) for read in reads]
    return found[0] if len(found) == 1 else found[0] | powerlaw.differences(*found)


def _predicted(read: Read, n: Floats, model: Model, rule: str, cap: float, alpha: float) -> dict[str, Floats]:
    """Return the predictions of curves with what is known of them."""
    options: dict[str, Any] = {"nonnegative": model.nonnegative, "cap": cap, "noise": _noise(read, model)}
    found = powerlaw.predict_errors(read.curves, n, alpha, method=rule, **options)
    law, slopes = powerlaw.law_of(read.curves, n, rule)
    stderr = np.sqrt(powerlaw.variance(slopes, _given_gamma(read, model)))
    interval = powerlaw.around(law, powerlaw.t_quantile(alpha, np.array(np.inf)) * stderr)
    found["prediction_ci_given_gamma"] = np.clip(interval, 0, cap) if model.nonnegative else interval
    found["extrapolated"] = far(n, read.folds, model.n).astype(float)
    return found


def _noise(read: Read, model: Model) -> Floats:
    """Return the standard error of the logarithm of the last mean error, 0 where only residuals tell it."""
    last = np.arange(len(read.folds)), powerlaw.last_of(read.folds > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = read.sd[last] / np.sqrt(read.folds[last]) / np.exp(read.curves.fall.log_error)
    return np.where((model.weights != "relative") & np.isfinite(noise), noise, 0.0)


def _given_gamma(read: Read, model: Model) -> Floats:
    """Return the paper's covariance of θ, which takes γ as known."""
    theta, at = read.curves.theta, read.curves.at
    weights = np.where(read.folds > 0, wls.size_weights(model.weights, read.folds, read.sd**2), 0.0)
    of_means = read.sd**2 / np.maximum(read.folds, 1)
    options: dict[str, Any] = {"quadratic": model.quadratic, "at_bound": read.at_bound}
    return wls.covariance(theta, model.n, at, weights, of_means, gamma_free=False, **options)


def predicted_curves(fit: xr.Dataset, sizes: Floats | None) -> xr.Dataset:
    """Return predictions with their intervals, at sizes for a picture or, with None, at 4N, for words."""
    size = FAR * fit["training"].where(fit["n_folds"] > 0).max("training")
    theta, *parts = curves_of(fit)
    own = [on_dims(bare(size), task_sizes(fit))] if sizes is None else []
    job = Job(
        name="predict",
        kernel=predict_group,
        options=prediction_options(fit, sizes, "combined"),
        context=Context.of(theta, confidence_level=fit.attrs["confidence_level"], core=(THETA,)),
        layout=Layout(_SHOWN, {"n": 1 if sizes is None else len(sizes), "ci_bound": 2}),
        core=(THETA,),
    )
    found = xr.Dataset(compute(job, theta, *parts, *own), {**theta.coords, "ci_bound": list(labels.CI_BOUNDS)})
    return found if sizes is not None else found.isel(n=0).assign(size=size.variable)
