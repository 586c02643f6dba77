"""Counts of rejections: on the grid of their settings, and as rates with exact intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from xcurves import labels, outcomes
from xcurves.kernels import ecdf
from xcurves.study.grid import grid_coords

_CLOPPER_PEARSON = "Clopper & Pearson (1934), Biometrika 26, 404-413, doi:10.1093/biomet/26.4.404"
REFERENCES = f"{outcomes.REFERENCES['anova']}; {_CLOPPER_PEARSON}"
LONG_NAMES = {
    "rate": "share of data sets in which the test rejects",
    "rate_ci": "exact binomial interval of the rate",
    "n_replications": "number of data sets with a p-value",
}


def on_grid(counted: Sequence[xr.Dataset], settings: Mapping[str, Sequence[Any]]) -> xr.Dataset:
    """Put the counts of every cell where its settings are, dims (*settings, ...)."""
    coords = grid_coords(settings)
    flat = xr.concat(counted, "_cell", coords="minimal", compat="override")
    shape = [len(values) for values in coords.values()]
    variables = {
        name: (
            (*coords, *variable.dims[1:]),
            variable.transpose("_cell", ...).to_numpy().reshape((*shape, *variable.shape[1:])),
        )
        for name, variable in flat.data_vars.items()
    }
    return xr.Dataset(variables, {**flat.coords, **coords})


def rates(counted: xr.Dataset, error: float) -> dict[str, xr.DataArray]:
    """Return the described variables of a result from counts of rejections and of p-values."""
    rejected, tried = counted["rejected"], counted["tried"]
    low, high = ecdf.clopper_pearson(rejected.to_numpy(), tried.to_numpy(), error)
    interval = xr.concat([rejected.copy(data=low), rejected.copy(data=high)], "ci_bound").transpose(..., "ci_bound")
    interval = interval.where(tried > 0)
    found = {
        "rate": rejected / tried.where(tried > 0),
        "rate_ci": interval.assign_coords(ci_bound=list(labels.CI_BOUNDS)),
        "n_replications": tried,
    }
    for name, variable in found.items():
        variable.attrs = {"long_name": LONG_NAMES[name], "units": "1"}
    return found


def warn_of_missing(counted: xr.Dataset) -> None:
    """Say once that p-values are missing."""
    missing = counted["undefined"].to_numpy().ravel()
    names = labels.task_names(counted["undefined"], ())
    outcomes.warn_of(
        missing > 0,
        names,
        lambda i: f"p is NaN in {missing[i]} data sets, which are not counted; rate is of the others",
        "settings",
    )
