"""Counts of rejections: on the grid of their settings, and as rates with exact intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.kernels import ecdf
from xcurves.simulation.grid import grid_coords


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


def rates(counted: xr.Dataset, error: float) -> dict[str, xr.Variable]:
    """Return the rates of rejections with their intervals, from counts of rejections and of p-values.

    With them, the expected runs of a test that is looked at several times.
    """
    dims = counted["rejected"].dims
    rejected, tried = (counted[name].to_numpy() for name in ("rejected", "tried"))
    bounds = np.stack(ecdf.clopper_pearson(rejected, tried, error), axis=-1)
    bounds[tried == 0] = np.nan
    return {
        "rate": xr.Variable(dims, rejected / np.where(tried > 0, tried, np.nan)),
        "rate_ci": xr.Variable((*dims, "ci_bound"), bounds),
        "n_replications": xr.Variable(dims, tried),
        **({"expected_runs": counted["runs"].variable} if "runs" in counted else {}),
    }


def warn_of_missing(counted: xr.Dataset) -> None:
    """Warn once that p-values are missing."""
    undefined = counted["undefined"]
    if "error_term" in undefined.dims:  # Welch's statistic has no interaction, and none of paired runs
        undefined = undefined.where((undefined["error_term"] != "welch") | (counted["tried"] > 0), 0)
    missing = undefined.to_numpy().ravel()
    names = labels.task_names(counted["undefined"], ())
    provenance.warn_of(
        missing > 0,
        names,
        lambda i: f"p is NaN in {missing[i]} data sets, which are not counted; rate is of the others",
        "settings",
    )
