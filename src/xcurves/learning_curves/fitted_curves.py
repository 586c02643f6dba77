"""What other methods read from the result of a fit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, provenance
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.kernels.laws import powerlaw, refits
from xcurves.kernels.laws.learning import Model
from xcurves.learning_curves.error_rates import on_dims

_READ: dict[str, tuple[str, ...]] = {  # what later methods read from fitted curves: core dims of variables
    "mean_error": ("training",),
    "n_folds": ("training",),
    "error_sd": ("training",),
    "error_at_n": (),
    "data_reliance": (),
    "gamma": (),
    "at": (),
    "covariance": ("param", "cov_param"),
    "fitted_from": (),
    "backtest_error": (),
    "backtest_error_law": (),
    "n_cuts": (),
    "asymptote_at_bound": (),
}


def variables_of_fit(
    fit: xr.Dataset, variables: Mapping[str, tuple[str, ...]], like: str, n_params: int
) -> list[xr.DataArray]:
    """Return variables of a fit, dims (*tasks, *core), the first with the history of the fit and the units of `like`.

    Core dims are renamed: those of the result may have the same names.
    """
    lost = [name for name in variables if name not in fit]
    lost += [dim for core in variables.values() for dim in core if dim not in fit.dims]
    if lost or min(fit.sizes["param"], fit.sizes["cov_param"]) < n_params:
        what = (lost or ["param"])[0]
        raise Refusal(
            "fit",
            UNSAID,
            f"has not all of {what!r}, which a selection left out",
            "Select tasks only before this call",
        )
    (name, core), *others = variables.items()
    first = fit[name].transpose(..., *core).unify_chunks()
    about = {"history": fit.attrs.get("history"), "units": fit[like].attrs.get("units")}
    first.attrs = {name: each for name, each in about.items() if each}
    first = first.drop_vars([name for name in labels.RESERVED if name in first.coords and name not in first.dims])
    bare = ((xr.DataArray(fit.variables[name].transpose(..., *core)), core) for name, core in others)
    return [
        first,
        *(each.rename({dim: f"_{dim}" for dim in core}) for each, core in bare),
    ]


def beside_reference(fit: xr.Dataset, reference: Any) -> tuple[xr.Dataset, xr.Dataset]:
    """Return the curves of all learners but the reference, and as often that of the reference."""
    if "algorithm" not in fit.dims:
        raise Refusal(
            "fit",
            UNSAID,
            "has no dim 'algorithm'; learners are its labels",
            "Rename: fit.rename(model='algorithm')",
        )
    known = fit["algorithm"].to_numpy().tolist()
    if not isinstance(reference, Hashable) or reference not in known:
        raise Refusal(
            "reference",
            reference,
            "must be an algorithm of the fit",
            f"It has {', '.join(map(repr, known))}{labels.did_you_mean(reference, known)}",
        )
    if len(known) < 2:
        raise Refusal(
            "fit",
            UNSAID,
            f"has one algorithm, {known[0]!r}; a comparison needs two",
            "Fit them in one array",
        )
    place = known.index(reference)
    others = [i for i in range(len(known)) if i != place]
    # The others keep their colours although the reference is gone.
    fit = labels.with_color_index(fit)
    return fit.isel(algorithm=others), fit.isel(algorithm=[place] * len(others))


def size_units(given: xr.DataArray | xr.Dataset) -> dict[str, str]:
    """Return the attribute that says the unit of training sizes, if they have one."""
    attrs = given["training"].attrs
    if "units" not in attrs:
        return {}
    return {"units": str(attrs["units"])}


def rate_units(rate: str, given: xr.DataArray | xr.Dataset) -> dict[str, str]:
    """Return the units of results of learning curves, by those of errors and training sizes."""
    training = size_units(given).get("units", "1")
    size = training
    if training == "1":
        size = "size"
    powers = {"eta": f"{rate} {size}^-gamma", "delta": f"{rate} {size}^(-2 gamma)"}
    return {"rate": rate, "training": training, **powers}


def model_of(fit: xr.Dataset) -> Model:
    """Return the model that was fitted, as far as it takes to read its result."""
    exponent = None
    if fit.attrs["gamma"] != "search":
        exponent = float(fit.attrs["gamma"])
    return Model(
        fit["training"].to_numpy(),
        exponent,
        quadratic="delta" in fit.data_vars,
        weights=fit.attrs["weighting"],
        nonnegative=fit.attrs["asymptote"] == "nonnegative",
    )


def curves_of(fit: xr.Dataset) -> list[xr.DataArray]:
    """Return what `read` reads from a fit, dims (..., training) first."""
    if "delta" in fit.data_vars:
        return variables_of_fit(fit, _READ | {"delta": ()}, "error_at_n", 6)
    return variables_of_fit(fit, _READ, "error_at_n", 5)


def read(arrays: Sequence[Floats], model: Model, *, known: bool) -> list[tuple[powerlaw.Curves, dict[str, Floats]]]:
    """Return curves, tasks on the first axis, and all variables by their names, of each fit of which there are arrays.

    `n_folds` is that of the sizes that the law is fitted to.
    """
    names = list(_READ)
    in_theta = [0, 1, 2]  # where e_N, β_N, γ and δ stand among the parameters
    if model.quadratic:
        names.append("delta")
        in_theta.append(5)
    found = []
    for start in range(0, len(arrays), len(names)):
        named = dict(zip(names, arrays[start:], strict=False))
        has = named["n_folds"] > 0
        named["n_folds"] = np.where(model.n >= named["fitted_from"][:, np.newaxis], named["n_folds"], 0.0)
        gamma = named["gamma"]
        theta = [
            named["error_at_n"],
            named["data_reliance"],
            gamma,
            named.get("delta", np.zeros_like(gamma)),
        ]
        covariance = np.zeros((len(gamma), 4, 4))
        covariance[:, : len(in_theta), : len(in_theta)] = named["covariance"][:, in_theta][:, :, in_theta]
        degrees = model.degrees(named["n_folds"], known=known, at_bound=named["asymptote_at_bound"] > 0)
        fall = powerlaw.last_fall(model.n, named["mean_error"], has)
        rho, rho_law = (refits.backtest_spread(named[f"backtest_error{of}"], named["n_cuts"]) for of in ("", "_law"))
        at, smallest = named["at"], named["fitted_from"]
        curves = powerlaw.Curves(
            np.stack(theta, axis=-1),
            covariance,
            at,
            degrees,
            fall,
            rho,
            rho_law,
            smallest,
        )
        found.append((curves, named))
    return found


def rule_of(fit: xr.Dataset, method: str = "combined") -> dict[str, Any]:
    """Return the options by which errors are predicted from a fit."""
    nonnegative = fit.attrs["asymptote"] == "nonnegative"
    cap = {"percent": 100.0, "fraction": 1.0}.get(fit.attrs["units"], np.inf)
    return {
        "method": powerlaw.rule_of(method, nonnegative),
        "nonnegative": nonnegative,
        "cap": cap,
    }


def with_more_data(fit: xr.Dataset, times: float) -> dict[str, Floats]:
    """Return what a fit predicts for so many times the largest size of each curve, `n`, curves on the first axis."""
    first, *others = curves_of(fit)
    tasks = dict(list(first.sizes.items())[:-1])
    whole = [on_dims(each, tasks | dict(each.sizes)).to_numpy() for each in (first, *others)]
    arrays = [each.reshape(-1, *each.shape[len(tasks) :]) for each in whole]
    ((curves, _),) = read(arrays, model_of(fit), known=fit.attrs["variances"] == "known")
    n = times * curves.fall.largest[:, np.newaxis]
    found = powerlaw.predict_errors(curves, n, provenance.alpha_of(fit), **rule_of(fit))
    return {name: each[:, 0] for name, each in {"n": n, **found}.items()}
