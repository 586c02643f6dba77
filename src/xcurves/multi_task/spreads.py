"""How much runs differ in one task and in another."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core.packing import Floats

UNLIKE = 10.0  # times that runs may differ more in one task than in another


def run_sd(result: xr.Dataset) -> xr.DataArray:
    """Return how much runs differ in each task, the mean over pairs of the root mean square of both spreads."""
    counts = result["n_runs"].where(result["n_runs"] > 0)
    a, b = (_of(counts, result[side]) for side in ("algorithm_a", "algorithm_b"))
    return (result["task_stderr"] / np.sqrt(1 / a + 1 / b)).mean("pair")


def _of(counts: xr.DataArray, algorithms: xr.DataArray) -> xr.DataArray:
    """Return the counts of one algorithm of every pair, by place: pandas finds no label with a lone surrogate."""
    names = counts["algorithm"].to_numpy().tolist()
    places = [names.index(label) for label in algorithms.to_numpy().tolist()]
    return counts.isel(algorithm=xr.DataArray(places, dims=algorithms.dims))


def task_spread_ratio(result: xr.Dataset) -> Floats:
    """Return how many times as much runs differ in one task as in another, of tasks in which they do."""
    sd = run_sd(result)
    task = result.attrs["task"]
    return np.asarray((sd.max(task) / sd.where(sd > 0).min(task)).fillna(1.0))
