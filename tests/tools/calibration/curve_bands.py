"""Bands of pictures of curves: the simultaneous band of an algorithm's mean curve, from a few runs."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

from calibration.claims import EXACT, Simulation, labelled, near, outside
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.one_task.level_means import means_with_bands

RESAMPLES = 999
SIMULTANEOUS, POINTWISE = "simultaneous band, any level", "pointwise band, last level"


def walks(n_datasets, *, n_runs, noise="normal", n_levels=20, rng):
    """Runs that start apart and wander: a level of their own plus a random walk, of mean 0."""
    if noise == "normal":
        start, steps = (
            rng.normal(size=(n_datasets, n_runs, 1)),
            rng.normal(size=(n_datasets, n_runs, n_levels)),
        )
    else:
        start = rng.exponential(size=(n_datasets, n_runs, 1)) - 1
        steps = rng.exponential(size=(n_datasets, n_runs, n_levels)) - 1
    coords = {"run": np.arange(n_runs), "training": np.arange(1.0, n_levels + 1)}
    return labelled(start + steps.cumsum(axis=-1), **coords)


def bands(data, *, rng=None):
    """Whether the bands of a picture leave out the true mean of 0."""
    beyond, last = [], []
    for number, runs in enumerate(data.transpose("replication", "run", "training").to_numpy()):
        entropy = 100_000 * (0 if rng is None else rng) + number
        low, high = bootstrap.mean_curve(runs[np.newaxis], RESAMPLES, 0.05, entropy)["mean_curve_band"].T
        beyond.append(bool(((low > 0) | (high < 0)).any()))
        low, high = means_with_bands(runs[:, -1:], "pointwise", 0.05)[1][0]
        last.append(bool(low > 0 or high < 0))
    return {
        SIMULTANEOUS: outside(xr.DataArray(beyond, dims="replication")),
        POINTWISE: outside(xr.DataArray(last, dims="replication")),
    }


SIMULATIONS = [
    Simulation(
        "Bands of pictures of mean curves",
        f"{noise} random walks of 20 levels, {n_runs} runs",
        partial(walks, n_runs=n_runs, noise=noise),
        bands,
        {SIMULTANEOUS: simultaneous, POINTWISE: pointwise},
        short=1_000,
    )
    for noise, simultaneous, pointwise in (
        ("normal", near(0.04, 0.06), EXACT),
        ("exponential", near(0.05, 0.08), near(0.045, 0.065)),
    )
    for n_runs in (4, 5, 8, 15)
]
