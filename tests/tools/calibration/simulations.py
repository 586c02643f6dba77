"""Claims of the intervals of rates, and of the runs needed."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np
import xarray as xr
from scipy import stats

import xcurves
from calibration.claims import AT_MOST, Simulation, labelled, missed, near, outside
from xcurves.planning import replications

SIZES = np.array([4, 5, 7, 10, 15, 20])
POWERS = np.array([0.42, 0.55, 0.7, 0.83, 0.95, 0.99])
ASSURED = "assured number too small (0.2 by design)"
TRIED = np.array([4, 5, 7, 10, 15, 20, 30, 40])  # what runs_needed tries


def counts(n_datasets, *, true_rates, rng):
    """How many of 1,000 data sets each a test of known power rejects."""
    values = rng.binomial(1000, true_rates, (n_datasets, len(true_rates)))
    return xr.DataArray(values, {"n_runs": SIZES}, ("replication", "n_runs"))


def rate(data, *, true_rates, rng=None):
    """The interval of a rate."""
    tried = xr.full_like(data, 1000)
    found = replications.rates(xr.Dataset({"rejected": data, "tried": tried}), 0.05)
    interval = xr.DataArray(found["rate_ci"], {"ci_bound": ["lower", "upper"]})
    return {"rate": missed(interval, xr.DataArray(true_rates, dims="n_runs")).isel(n_runs=3, drop=True)}


def t_test(data):
    """Student's t of two algorithms at one level: fast, and of known power."""
    values = data.to_numpy()[..., 0]
    n = values.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):  # drawn runs may be all alike
        t = -np.diff(values.mean(axis=-1))[:, 0] / np.sqrt(values.var(axis=-1, ddof=1).sum(axis=-1) / n)
    return xr.DataArray(2 * stats.t.sf(abs(t), 2 * n - 2), dims="replication")


def right_number(difference):
    """The smallest number tried that has a power of 0.8, by the noncentral t distribution."""
    df, shift = 2 * TRIED - 2, difference * np.sqrt(TRIED / 2)
    critical = stats.t.ppf(0.975, df)
    power = stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)
    return float(TRIED[power >= 0.8][0])


def pilots(n_datasets, *, n_pilots, difference, shape="normal", rng):
    """Pilot runs of two algorithms, the first better by the difference at one level; "failing": a tenth of its runs."""
    draw = rng.standard_exponential if shape == "exponential" else rng.normal
    values = draw(size=(n_datasets, 2, n_pilots, 1)) + np.array([difference, 0])[:, None, None]
    if shape == "failing":
        values[:, 0] += 6 * (0.1 - (rng.random((n_datasets, n_pilots, 1)) < 0.1))
    return labelled(values, algorithm=["a", "b"], run=np.arange(n_pilots), training=[1.0])


@cache
def simulated_number(difference, shape):
    """The smallest number tried that has a power of 0.8, by 20,000 data sets of each."""
    made = partial(pilots, 20_000, difference=difference, shape=shape, rng=np.random.default_rng(0))
    return float(next(n for n in TRIED if (t_test(made(n_pilots=n)) <= 0.05).mean() >= 0.8))


def assured(data, *, difference, shape, rng=None):
    """Whether the assured number is too small."""
    return {ASSURED: planned(data, right=simulated_number(difference, shape), rng=rng)[ASSURED]}


def planned(data, *, right, rng=None):
    """Whether the interval misses the right number, and whether the assured number is too small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a power that is not reached
        plans = [
            xcurves.runs_needed(
                one,
                test=t_test,
                n_runs=(4, 5, 7, 10, 15, 20, 30, 40),
                n_replications=10,
                rng=rng + place,
            )
            for place, one in enumerate(data)
        ]
    found = xr.concat(plans, "replication")
    return {
        "runs_needed_ci": missed(found.runs_needed_ci, right),
        ASSURED: outside(found.runs_needed_assured < right),
    }


def _planned(n_pilots, difference, interval, assured):
    right = right_number(difference)
    return Simulation(
        "Runs needed",
        f"{n_pilots} pilots of each, {right:g} runs are right",
        partial(pilots, n_pilots=n_pilots, difference=difference),
        partial(planned, right=right),
        {"runs_needed_ci": interval, ASSURED: assured},
        short=15,
        full=1_000,
        block=5,
    )


SIMULATIONS = [
    Simulation(
        "Simulations",
        "power known, 1,000 data sets",
        partial(counts, true_rates=POWERS),
        partial(rate, true_rates=POWERS),
        {"rate": AT_MOST},
        short=1_000,
    ),
    _planned(10, 1.0, near(0.02, 0.1), near(0.15, 0.3)),
    _planned(10, 1.5, near(0.02, 0.1), near(0.15, 0.3)),
    _planned(5, 1.0, near(0.03, 0.2), near(0.15, 0.35)),
    *(
        Simulation(
            "Runs needed, scores that are not normal",
            f"10 pilots of each, {setting}",
            partial(pilots, n_pilots=10, difference=difference, shape=shape),
            partial(assured, difference=difference, shape=shape),
            {ASSURED: near(0.3, 0.5)},
            short=15,
            full=2_000,
            block=5,
        )
        for setting, shape, difference in (
            ("exponential", "exponential", 1.0),
            ("a tenth of the runs of one fails", "failing", 1.5),
        )
    ),
]
