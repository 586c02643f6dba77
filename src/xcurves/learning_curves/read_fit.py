"""What other methods read from the result of a fit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.packing import Floats
from xcurves.kernels.learning import Model
from xcurves.learning_curves.options import spread

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
    """Return covariance, θ, N, folds, σ_i, ρ and whether α is at its bound, dims (..., *CURVE_DIMS)."""
    dims = task_dims_of(fit)
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


def curves_of_fit(arrays: Sequence[Floats], n_tasks: int, n_lead: int) -> Read:
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
