"""Performance distributions and their peers.

rliable draws its replicates one by one, so its time is in proportion to their number; it is timed for fewer and scaled.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import scipy
import xarray as xr

import xcurves  # noqa: F401  # registers .curves
from xcurves.array_types import Floats

N_TRIALS = 3_000_000
POINTS = np.linspace(-3, 3, 101)
PROBABILITIES = np.arange(1, 100) / 100
TAU = np.linspace(0, 2, 101)
N_TASKS, N_ALGORITHMS, N_RUNS = 26, 5, 10
REPLICATES = 50_000
# of the replicates, one in so many is drawn by rliable
PROFILE_SHARE, IQM_SHARE = (500, 10)
POOL = {"dim": ("task", "run"), "strata": "task", "interval": "percentile", "rng": 0}


@cache
def trials(n_trials: int = N_TRIALS) -> xr.DataArray:
    """Return two algorithms with very many trials, as in the paper's second experiment."""
    values = np.random.default_rng(0).normal(size=(2, n_trials))
    return xr.DataArray(
        values,
        {"algorithm": ["a", "b"], "run": np.arange(n_trials)},
        ("algorithm", "run"),
    )


@cache
def benchmark_scores() -> xr.DataArray:
    """Return normalized scores of a benchmark of 26 tasks."""
    values = np.random.default_rng(0).gamma(2, 0.3, size=(N_ALGORITHMS, N_TASKS, N_RUNS))
    coords = {
        "algorithm": list("abcde"),
        "task": np.arange(N_TASKS),
        "run": np.arange(N_RUNS),
    }
    return xr.DataArray(values, coords, list(coords))


# --- xcurves ---


def describe(scores: xr.DataArray) -> xr.Dataset:
    """Make everything that `performance_cdf` has: 101 points of the CDF, 99 of the inverse, intervals, statistics."""
    return scores.curves.performance_cdf(scores_at=POINTS)


def profile(scores: xr.DataArray) -> xr.Dataset:
    """Make profiles with 95 % bands, and statistics with intervals from 9,999 resamples besides."""
    return scores.curves.performance_cdf(**POOL, scores_at=TAU)


def aggregate(scores: xr.DataArray) -> xr.Dataset:
    """Make the IQM with a stratified interval from 50,000 resamples, and the other statistics besides."""
    return scores.isel(algorithm=[0]).curves.performance_cdf(**POOL, n_resamples=REPLICATES)


# --- peers: CDF at points and inverse CDF at probabilities, shape (algorithm, point) each ---


def statsmodels_cdf(scores: xr.DataArray) -> Floats:
    """Make `ECDF` and look 101 points up."""
    from statsmodels.distributions.empirical_distribution import ECDF

    return np.array([ECDF(row)(POINTS) for row in scores.to_numpy()])


def statsmodels_both(scores: xr.DataArray) -> tuple[Floats, Floats]:
    """Make `ECDF` and its inverse, as statsmodels inverts it."""
    from statsmodels.distributions.empirical_distribution import (
        ECDF,
        monotone_fn_inverter,
    )

    made = [
        (ecdf(POINTS), monotone_fn_inverter(ecdf, row)(PROBABILITIES))
        for row in scores.to_numpy()
        for ecdf in [ECDF(row)]
    ]
    cdf, inverse = zip(*made, strict=True)
    return np.array(cdf), np.array(inverse)


def scipy_cdf(scores: xr.DataArray) -> Floats:
    """Make `scipy.stats.ecdf` and look 101 points up."""
    return np.array([scipy.stats.ecdf(row).cdf.evaluate(POINTS) for row in scores.to_numpy()])


def matrices(scores: xr.DataArray) -> dict[str, Floats]:
    """Return scores as rliable takes them: for each algorithm a matrix of runs by tasks."""
    return {
        name: scores.sel(algorithm=name).transpose("run", "task").to_numpy() for name in scores.algorithm.to_numpy()
    }


def rliable_profile(scores: xr.DataArray, replicates: int = REPLICATES // PROFILE_SHARE) -> Any:
    """Make profiles by `create_performance_profile`."""
    from rliable import library

    return library.create_performance_profile(matrices(scores), TAU, reps=replicates)


def rliable_iqm(scores: xr.DataArray, replicates: int = REPLICATES // IQM_SHARE) -> Any:
    """Make the IQM and its interval by `get_interval_estimates`."""
    from rliable import library, metrics

    one = matrices(scores.isel(algorithm=[0]))
    return library.get_interval_estimates(one, lambda each: np.array([metrics.aggregate_iqm(each)]), reps=replicates)


def has_rliable() -> bool:
    """Return whether rliable can be imported; with recent pandas its dependency arch cannot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import rliable.library  # noqa: F401
        except Exception:  # whatever keeps it from being imported
            return False
    return True
