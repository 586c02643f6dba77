"""The result of a fit: its units, and what is warned of."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.kernels import wls
from xcurves.learning_curves.curvefit import FitBlock
from xcurves.learning_curves.kinds import FIT_POWER_LAW

_CHECK_VARIANCES = (
    "folds vary otherwise than sigma0_sq + sigma_hat_sq / n says, so intervals may be wrong. "
    "Compare errors.std('run') with error_sd, and set sigma0_sq"
)


def assemble(
    packed: xr.DataArray, block: FitBlock, errors: xr.DataArray, where: xr.DataArray, attrs: dict[str, Any]
) -> xr.Dataset:
    """Return the result of a fit from its packed variables; `where` is N."""
    coords: dict[Hashable, Any] = {
        **packed.coords,
        "training": errors["training"],
        "param": list(block.parameters),
        "cov_param": list(block.parameters),
        "at": (where.dims, where.to_numpy()),
    }
    if block.predict_at.size:
        coords["n"] = ("n", block.predict_at, {"long_name": "training size", **size_units(errors)})
    units = rate_units(block.unit.written, errors)
    units["objective"] = "percent^2" if block.model.weights == "uniform" else "1"
    result = FIT_POWER_LAW.dataset(block.layout.unpack(packed), coords, attrs, errors, units)
    return result.set_coords(["at_extrapolated", "mean_error"])


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
    folds, _, spread = wls.measure(folded.to_numpy().reshape(-1, *folded.shape[-2:]))
    expected = result["error_sd"].to_numpy().reshape(folds.shape) ** 2
    return np.asarray(wls.variance_pvalue(folds, spread, expected) < 0.001 / len(folds))


def warn(result: xr.Dataset, block: FitBlock, folded: xr.DataArray | None) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first curve."""
    gamma, edge = (result[name].to_numpy().ravel() for name in ("gamma", "gamma_at_edge"))
    empty = ~result["n_folds"].to_numpy().reshape(len(block.names), -1).any(axis=1)

    def at_edge(task: int) -> str:
        return f"gamma is {gamma[task]:g}, the edge of the grid: the curve may not be a power law"

    cases: list[tuple[NDArray[np.bool_], Callable[[int], str]]] = [
        (np.asarray(empty), lambda _: "there are no errors; the result is NaN"),
        (np.asarray(np.isnan(gamma) & ~empty), lambda _: "errors are all equal: gamma cannot be identified and is NaN"),
        (np.asarray(edge != 0), at_edge),
    ]
    if folded is not None:
        cases.append((_contradicted(folded, result), lambda _: _CHECK_VARIANCES))
    for affected, say in cases:
        provenance.warn_of(affected, block.names, say, "curves")
