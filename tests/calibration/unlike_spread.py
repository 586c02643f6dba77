"""Claims where one algorithm is more variable than the others: F, Welch's statistic, pairs and contrasts."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

import xcurves
from calibration.claims import Claim, Simulation, fails, missed, near
from calibration.randomization import BLOCK, RESAMPLES


def unlike(n_datasets, *, n_runs, spread, rng):
    """Normal scores of equal means at one level; `n_runs` and `spread` have a number for each algorithm."""
    values = rng.normal(size=(n_datasets, len(n_runs), max(n_runs), 1)) * np.array(spread)[:, None, None]
    for algorithm, runs in enumerate(n_runs):
        values[:, algorithm, runs:] = np.nan
    coords = {
        "algorithm": [f"a{i}" for i in range(len(n_runs))],
        "run": np.arange(max(n_runs)),
        "training": [1.0],
    }
    return xr.DataArray(values, coords, ("replication", *coords))


def level(data, *, rng=None):
    """The p of the algorithm effect by F and by Welch's statistic."""
    p = xcurves.randomized_anova(data, n_resamples=RESAMPLES, rng=rng).pvalue.sel(effect="algorithm", drop=True)
    return {f"algorithm, {term}": p.sel(error_term=term, drop=True) for term in ("split_plot", "welch")}


def pair(data, *, rng=None):
    """The p of the pair's difference, whether its interval misses 0, and whether the two disagree without a gap."""
    found = xcurves.pairwise(data, n_resamples=RESAMPLES, rng=rng).isel(pair=0, drop=True)
    p, outside = found.pvalue.sel(effect="algorithm", drop=True), missed(found.difference_ci, 0.0)
    disagrees = ((p <= 0.05 + 1e-12) != (outside == 0)) & (found.difference_ci_gap == 0)
    return {"algorithm": p, "interval": outside, "p and interval disagree": 1.0 - disagrees}


def _unlike(family, setting, procedure, claims, short, **options):
    return Simulation(family, setting, partial(unlike, **options), procedure, claims, short=short, block=BLOCK)


def _anova(n_algorithms, n_runs, f, w, spread=4.0):
    sizes = (n_runs,) * n_algorithms if isinstance(n_runs, int) else n_runs
    spreads = (spread,) + (1.0,) * (len(sizes) - 1)
    return _unlike(
        "Unlike spread",
        f"one sd {spread:g} times the others', {' v '.join(map(str, sizes))}",
        level,
        {"algorithm, split_plot": f, "algorithm, welch": w},
        1_000,
        n_runs=sizes,
        spread=spreads,
    )


NEVER = Claim(0, 0)
SIMULATIONS = [
    _anova(2, 10, near(0.04, 0.09), near(0.04, 0.09)),
    _anova(3, 5, fails(0.08), near(0.05, 0.13)),
    _anova(5, 5, fails(0.1), near(0.06, 0.13)),
    _anova(5, 30, fails(0.08), near(0.04, 0.08)),
    _anova(10, 5, fails(0.1), near(0.05, 0.14)),
    _anova(10, 10, fails(0.1), near(0.04, 0.11)),
    _anova(2, (15, 5), near(0, 0.03), near(0.03, 0.09), spread=4.0),
    _anova(2, (5, 15), fails(0.18), near(0.05, 0.13), spread=4.0),
    _anova(2, (20, 60), fails(0.18), near(0.035, 0.075), spread=4.0),
    *(
        _unlike(
            "Pairs of unlike spread",
            f"sd {spread[0]:g} v {spread[1]:g}, {sizes[0]} v {sizes[1]}",
            pair,
            {"algorithm": claim, "interval": claim, "p and interval disagree": NEVER},
            500,
            n_runs=sizes,
            spread=spread,
        )
        for sizes, spread, claim in (
            ((10, 10), (1, 4), near(0.04, 0.09)),
            ((15, 5), (1, 4), near(0.05, 0.13)),
            ((5, 15), (1, 4), near(0.03, 0.09)),
            ((60, 20), (1, 4), near(0.035, 0.08)),
        )
    ),
]
