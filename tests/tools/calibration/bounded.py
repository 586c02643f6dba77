"""Claims of learning curves as they are fitted by default: an asymptote of 0 or more, and backtests that widen."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

import xcurves
from calibration.claims import Claim, Simulation, missed, near
from calibration.learning import N

ERROR = 10.0  # e_N
ALPHAS = (0.0, 0.1, 1.0)
OCTAVES = 4
TIMES = (2, 4)


def law(n, alpha, gamma):
    """The power law of this asymptote through e_N at the largest size."""
    return alpha + (ERROR - alpha) * (n / n[-1]) ** gamma[:, np.newaxis]


def singles(n_datasets, *, alpha, per_octave, rng):
    """One error at each size over four octaves, with relative noise of two per cent."""
    n = 2.0 ** (np.arange(OCTAVES * per_octave + 1) / per_octave)
    gamma = rng.uniform(-0.7, -0.2, n_datasets)
    values = law(n, alpha, gamma) * np.exp(0.02 * rng.normal(size=(n_datasets, len(n))))
    return _labelled(values, n, gamma)


def folds(n_datasets, *, alpha, rng):
    """Folds 16, 8, 4, 2, 1 with variances as in the other simulations of folds."""
    gamma, slope = rng.uniform([-0.7, 5], [-0.2, 30], (n_datasets, 2)).T
    sd = np.sqrt(0.02 + slope[:, np.newaxis] / N)[:, np.newaxis]
    values = law(N, alpha, gamma)[:, np.newaxis] + sd * rng.normal(size=(n_datasets, 16, len(N)))
    values[:, np.arange(16)[:, np.newaxis] >= 400 / N] = np.nan
    return _labelled(np.maximum(values, 0), N, gamma)


def _labelled(values, n, gamma):
    dims = ("replication", "run", "training")[:: 1 if values.ndim == 3 else 2]
    return xr.DataArray(
        values,
        {"training": n, "gamma": ("replication", gamma)},
        dims,
        attrs={"units": "%"},
    )


def fitted(data, *, alpha, rng=None):
    """Intervals of e_N, and of predictions by the law alone and widened."""
    n, gamma = data.training.to_numpy(), data.gamma.to_numpy()
    at = [times * n[-1] for times in TIMES]
    fit = xcurves.fit_power_law(data.drop_vars("gamma"), predict_at=at)
    truth = law(np.array([*at, n[-1]]), alpha, gamma)
    true = [xr.DataArray(each, dims="replication") for each in truth.T]
    found = {"error_at_n": missed(fit.estimate_ci.sel(param="error_at_n", drop=True), true[-1])}
    for name, how in (
        ("prediction_ci_given_law", "by the law"),
        ("prediction_ci", "widened"),
    ):
        for i, times in enumerate(TIMES):
            found[f"error at {times}N, {how}"] = missed(fit[name].isel(n=i, drop=True), true[i])
    return found


def _simulation(alpha, setting, make):
    law = dict.fromkeys(ROWS[:3], near(0.01, 0.12))
    return Simulation(
        "Power law, asymptote 0 or more",
        f"{setting}, α = {alpha:g} %",
        partial(make, alpha=alpha),
        partial(fitted, alpha=alpha),
        law | dict.fromkeys(ROWS[3:], Claim(0, 0.07)),
        short=1_000,
    )


ROWS = (
    "error_at_n",
    *(f"error at {times}N, {how}" for how in ("by the law", "widened") for times in TIMES),
)
SIMULATIONS = [
    _simulation(alpha, setting, make)
    for setting, make in (
        ("5 sizes, noise 2 %", partial(singles, per_octave=1)),
        ("9 sizes, noise 2 %", partial(singles, per_octave=2)),
        ("folds 16 8 4 2 1", folds),
    )
    for alpha in ALPHAS
]
