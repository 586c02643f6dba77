"""The result of a fit: its units, and what is warned of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.schema import Layout
from xcurves.kernels import wls
from xcurves.kernels.learning import Model
from xcurves.learning_curves.curvefit import Fitter, parameters_of
from xcurves.learning_curves.error_rates import FITTED, REASONS
from xcurves.learning_curves.kinds import FIT_POWER_LAW

_NAMED = 3  # curves named for a reason
_EDGE = "the edge of the grid"
_CHECK_VARIANCES = (
    "folds vary otherwise than sigma0_sq + sigma_hat_sq / n says, so intervals may be wrong. "
    "Compare errors.std('run') with error_sd, and set sigma0_sq"
)


def layout_of(model: Model, n_predicted: int) -> Layout:
    """Return how the variables of one curve are packed."""
    n_parameters = len(parameters_of(model))
    sizes = {"param": n_parameters, "cov_param": n_parameters, "ci_bound": 2}
    sizes |= {"training": len(model.n), "n": n_predicted}
    asked = ["quadratic"] * model.quadratic + ["predict_at"] * bool(n_predicted)
    return FIT_POWER_LAW.layout(sizes, *asked)


def assemble(
    variables: Mapping[str, xr.Variable],
    fitter: Fitter,
    errors: xr.DataArray,
    where: xr.DataArray,
    attrs: dict[str, Any],
) -> xr.Dataset:
    """Return the result of a fit from its variables; `where` is N."""
    coords: dict[Hashable, Any] = {
        **{name: each for name, each in errors.coords.items() if not {"run", "training"} & set(each.dims)},
        "training": errors["training"],
        "param": list(parameters_of(fitter.model)),
        "cov_param": list(parameters_of(fitter.model)),
        "at": xr.Variable(where.dims, where.data),
    }
    if fitter.predict_at.size:
        coords["n"] = ("n", fitter.predict_at, {"long_name": "training size", **size_units(errors)})
    units = rate_units(fitter.unit.written, errors)
    units["objective"] = "percent^2" if fitter.model.weights == "uniform" else "1"
    result = FIT_POWER_LAW.dataset(variables, coords, attrs, errors, units)
    return result.set_coords(["gamma_at_edge", "at_extrapolated", "mean_error", "unfit", "fitted_from"])


def size_units(given: xr.DataArray | xr.Dataset) -> dict[str, str]:
    """Return the attribute that says the unit of training sizes, if they have one."""
    return {"units": str(given["training"].attrs["units"])} if "units" in given["training"].attrs else {}


def rate_units(rate: str, given: xr.DataArray | xr.Dataset) -> dict[str, str]:
    """Return the units of results of learning curves, by those of errors and training sizes."""
    training = size_units(given).get("units", "1")
    size = "size" if training == "1" else training
    return {
        "rate": rate,
        "training": training,
        "eta": f"{rate} {size}^-gamma",
        "delta": f"{rate} {size}^(-2 gamma)",
    }


def _contradicted(folded: xr.DataArray, result: xr.Dataset) -> NDArray[np.bool_]:
    """Return which curves have folds that vary otherwise than σ_i says, together at the level of 0.001."""
    folds, _, spread = wls.size_statistics(folded.to_numpy().reshape(-1, *folded.shape[-2:]))
    expected = result["error_sd"].to_numpy().reshape(folds.shape) ** 2
    return np.asarray(wls.variance_pvalue(folds, spread, expected) < 0.001 / len(folds))


def warn_of_fits(result: xr.Dataset, names: Sequence[str], folded: xr.DataArray | None) -> None:
    """Give one warning of all in a computed result that a reader would not expect."""
    gamma, unfit, edge = (result[name].to_numpy().ravel() for name in ("gamma", "unfit", "gamma_at_edge"))
    fitted = unfit == FITTED
    said = say_unfit(unfit, names, REASONS, "curve")
    cases: list[tuple[NDArray[np.bool_], Callable[[int], str]]] = [
        (np.isnan(gamma) & fitted, lambda _: "errors are all equal: gamma cannot be identified and is NaN"),
        (edge != 0, lambda task: f"gamma is {gamma[task]:g}, {_EDGE}: the curve may not be a power law"),
    ]
    if folded is not None:
        cases.append((_contradicted(folded, result) & fitted, lambda _: _CHECK_VARIANCES))
    said += [_say(affected, names, say) for affected, say in cases if affected.any()]
    if said:
        provenance.warn("; ".join(said))


def _say(affected: NDArray[np.bool_], names: Sequence[str], say: Callable[[int], str]) -> str:
    """Return what is said of the first affected curve, and how many there are."""
    first, count = int(affected.argmax()), int(affected.sum())
    return names[first] + say(first) + (f" (in {count} curves)" if count > 1 else "")


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
