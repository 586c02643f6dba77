"""Claims of the intervals of rates, and of the runs needed."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

from calibration.claims import AT_MOST, Simulation, missed, near, outside
from xcurves.simulation import counts as rejections
from xcurves.simulation.runs_needed import _first

SIZES = np.array([4, 5, 7, 10, 15, 20])
POWERS = np.array([0.42, 0.55, 0.7, 0.83, 0.95, 0.99])  # 0.8 is reached from 10 runs on
CLOSE = np.array([0.5, 0.7, 0.78, 0.8, 0.82, 0.85])  # and so here, by a hair
TRUE = 10.0


def counts(n_datasets, *, true_rates, rng):
    """How many of 1,000 data sets each a test of known power rejects."""
    values = rng.binomial(1000, true_rates, (n_datasets, len(true_rates)))
    return xr.DataArray(values, {"n_runs": SIZES}, ("replication", "n_runs"))


def planned(data, *, true_rates, rng=None):
    """The intervals of the rates and both ends of that of the runs needed."""
    tried = xr.full_like(data, 1000)
    found = rejections.rates(xr.Dataset({"rejected": data, "tried": tried}), 0.05)
    interval = xr.DataArray(found["rate_ci"], {"ci_bound": ["lower", "upper"]})
    low, high = (
        xr.DataArray(_first(interval.sel(ci_bound=bound).to_numpy(), 0.8, SIZES.tolist()), dims="replication")
        for bound in ("upper", "lower")  # a higher rate needs fewer runs
    )
    truth = xr.DataArray(true_rates, dims="n_runs")
    return {
        "rate": missed(interval, truth).isel(n_runs=3, drop=True),
        "runs needed": outside(~(low <= TRUE) | (high < TRUE)),
    }


SIMULATIONS = [
    Simulation(
        "Simulations",
        name,
        partial(counts, true_rates=powers),
        partial(planned, true_rates=powers),
        {"rate": AT_MOST, "runs needed": claim},
        short=1_000,
    )
    for name, powers, claim in (
        ("power known, 1,000 data sets", POWERS, AT_MOST),
        ("power known, near the wanted one, 1,000 data sets", CLOSE, near(0, 0.06)),
    )
]
