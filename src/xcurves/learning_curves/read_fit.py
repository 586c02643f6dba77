"""What other methods read from the result of a fit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.kernels import powerlaw, refits
from xcurves.kernels.learning import Model
from xcurves.kernels.moments import Floats
from xcurves.learning_curves.options import spread

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
_PLACES = {False: [0, 1, 2], True: [0, 1, 2, 5]}  # of θ among the parameters


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


def place_of(fit: xr.Dataset, reference: Any) -> int:
    """Return the place of the algorithm that others are compared with."""
    if "algorithm" not in fit.dims:
        raise ValueError("fit has no dim 'algorithm'; learners are its labels. Rename: fit.rename(model='algorithm')")
    known = labels.words(fit["algorithm"])
    try:
        is_there = reference in fit.indexes["algorithm"]
    except TypeError:  # of what has no hash, such as a tuple of lists
        is_there = False
    if not is_there:
        raise ValueError(
            f"reference must be an algorithm of the fit; got {labels.shown(reference)}. It has {', '.join(known)}"
            f"{labels.did_you_mean(reference, fit['algorithm'].to_numpy().tolist())}"
        )
    if len(known) < 2:
        raise ValueError(f"fit has one algorithm, {known[0]}; a comparison needs two. Fit them in one array")
    return fit.indexes["algorithm"].to_list().index(reference)


def label_of(reference: Any) -> Any:
    """Return a label as a plain value."""
    return reference if isinstance(reference, str) else np.asarray(reference).item()


def task_dims_of(fit: xr.Dataset) -> tuple[Hashable, ...]:
    """Return the dims of the curves of a fit."""
    return labels.task_dims(fit["error_at_n"])


def task_coords(fit: xr.Dataset) -> dict[Hashable, xr.DataArray]:
    """Return the coordinates of the tasks of a fit."""
    dims = set(task_dims_of(fit))
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
    """Return θ, N and what else `curves_of_fit` reads, dims (..., *core)."""
    dims = task_dims_of(fit)
    lead = {dim: fit.sizes[dim] for dim in dims}
    names = ["error_at_n", "data_reliance", "gamma", "delta"]
    if "delta" not in fit.data_vars:
        fit = fit.assign(delta=xr.zeros_like(fit["gamma"]))
    theta = fit[names].to_array(THETA).transpose(*dims, THETA)
    parts = [fit[name].transpose(*dims, *core) for name, core in _CORE.items()]
    return [
        theta.drop_vars(list(theta.coords)),
        spread(fit["at"], lead),
        *(each.drop_vars(list(each.coords)) for each in parts),
    ]


class Read(NamedTuple):
    """What `curves_of` gave to a block, tasks on the first axis; folds of the sizes that the law is fitted to."""

    curves: powerlaw.Curves
    folds: Floats
    sd: Floats
    at_bound: NDArray[np.bool_]


def curves_of_fit(arrays: Sequence[Floats], model: Model, *, known: bool) -> Read:
    """Return what `curves_of` gave to a kernel."""
    theta, at, *found = arrays
    covariance, folds, sd, means, fitted_from, error, error_law, n_cuts, at_bound = found
    bound = at_bound > 0
    used = np.where(model.n >= fitted_from[:, np.newaxis], folds, 0.0)
    curves = powerlaw.Curves(
        theta,
        theta_covariance(covariance, quadratic=model.quadratic),
        at,
        model.degrees(used, known=known, at_bound=bound),
        powerlaw.last_fall(model.n, means, folds > 0),
        refits.spread(error, n_cuts),
        refits.spread(error_law, n_cuts),
    )
    return Read(curves, used, sd, bound)


def theta_covariance(covariance: Floats, *, quadratic: bool) -> Floats:
    """Cut the covariance of θ, shape (curve, 4, 4), from that of the parameters."""
    places = np.array(_PLACES[quadratic])
    found = np.zeros((len(covariance), 4, 4))
    kept = slice(len(places))
    found[:, kept, kept] = covariance[:, places[:, np.newaxis], places]
    return found
