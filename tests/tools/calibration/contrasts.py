"""Claims of the tests and intervals of contrasts and of pairs."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

import xcurves
from calibration.claims import AT_MOST, EXACT, Claim, Simulation, fails, missed, near
from calibration.randomization import BLOCK, MAIN, simulated

FEW = 79  # intervals take time: 80 with the observed one, and .05 on two sides is 2 of 80 on each


def contrast(data, *, truth=0.0, alternative="two-sided", paired=False, rng=None):
    """The p of a contrast of two algorithms, and whether its interval misses the truth."""
    # all of 8 matched runs: 79 drawn ones would be too much the same for a block
    several = 256 if paired else FEW
    result = xcurves.contrast(
        data,
        {"a1": 1, "a2": -1},
        alternative=alternative,
        paired=paired,
        n_resamples=several,
        rng=rng,
    )
    if truth:
        return {"interval": missed(result.estimate_ci, truth)}
    if alternative != "two-sided":
        return {"p": result.pvalue}
    return {"p": result.pvalue, "interval": missed(result.estimate_ci, 0.0)}


def bound(data, *, alternative, rng=None):
    """Whether the one end of a one-sided interval misses."""
    result = xcurves.contrast(data, {"a1": 1, "a2": -1}, alternative=alternative, n_resamples=FEW, rng=rng)
    return {"interval": missed(result.estimate_ci, 0.0)}


def exponential(n_datasets, *, spread, n_runs, rng):
    """Scores with exponential offsets of mean 0."""
    values = (rng.exponential(size=(n_datasets, 2, max(n_runs), 1)) - 1) * np.array(spread)[:, None, None]
    coords = {
        "algorithm": ["a1", "a2"],
        "run": np.arange(max(n_runs)),
        "training": [1.0],
    }
    present = np.arange(max(n_runs)) < np.array(n_runs)[:, None]
    return xr.DataArray(values, coords, ("replication", *coords)).where(
        xr.DataArray(present, dims=["algorithm", "run"])
    )


def _contrast(setting, generator, claims, short=300, **options):
    return Simulation(
        "Contrast",
        setting,
        generator,
        partial(contrast, **options),
        claims,
        short=short,
        block=BLOCK,
    )


BOTH = {"p": EXACT, "interval": EXACT}
SIGNS = Claim(12 / 256, 12 / 256)  # six of all 256 on each side
CONTRASTS = [
    _contrast(
        "no difference, 8 v 8, beside a third far away",
        partial(simulated, n_runs=8, n_algorithms=3),
        BOTH,
    ),
    *(
        _contrast(
            f"no difference, 8 v 8, {side}",
            partial(simulated, n_runs=8),
            {"p": EXACT},
            alternative=side,
        )
        for side in ("less", "greater")
    ),
    *(
        Simulation(
            "Contrast",
            f"no difference, 8 v 8, interval of {side}",
            partial(simulated, n_runs=8),
            partial(bound, alternative=side),
            {"interval": EXACT},
            short=300,
            block=BLOCK,
        )
        for side in ("less", "greater")
    ),
    _contrast(
        "no difference, 8 matched runs, all 256 assignments: 12/256 is the level",
        partial(simulated, n_runs=8, shared=4),
        {"p": SIGNS, "interval": SIGNS},
        paired=True,
    ),
    _contrast(
        "a difference of 10, 8 v 8",
        partial(simulated, n_runs=8, algorithm_effect=MAIN),
        {"interval": EXACT},
        truth=MAIN,
    ),
    _contrast(
        "a difference of 10, 8 matched runs, all 256 assignments",
        partial(simulated, n_runs=8, shared=4, algorithm_effect=MAIN),
        {"interval": SIGNS},
        truth=MAIN,
        paired=True,
    ),
    *(
        _contrast(
            f"spread 1 v 4, {sizes[0]} v {sizes[1]}",
            partial(simulated, n_runs=sizes, noise=(1, 4)),
            {"p": claim, "interval": claim},
        )
        for sizes, claim in (
            ((10, 10), near(0.045, 0.08)),
            ((15, 5), near(0.05, 0.18)),
            ((5, 15), near(0.01, 0.05)),
            ((60, 20), near(0.045, 0.07)),
        )
    ),
    *(
        _contrast(
            f"exponential scores, spread 1 v 4, {sizes[0]} v {sizes[1]}",
            partial(exponential, spread=(1, 4), n_runs=sizes),
            {"p": fails(least), "interval": fails(least)},
        )
        for sizes, least in (((10, 10), 0.07), ((15, 5), 0.13), ((8, 2), 0.15))
    ),
]


def pairwise(data, *, paired=False, rng=None):
    """Holm's p of the equal pair and of any equal pair, and the interval of the equal one."""
    result = xcurves.pairwise(data, n_resamples=FEW, paired=paired, rng=rng)
    adjusted = result.pvalue_adjusted
    equal = {"pair": "a2 - a3"}
    return {
        "algorithm, adjusted, the equal pair": adjusted.sel(effect="algorithm", **equal, drop=True),
        "interaction, adjusted, any pair": adjusted.sel(effect="interaction", drop=True).min("pair"),
        "interval of the equal pair": missed(result.difference_ci.sel(**equal, drop=True), 0.0),
    }


def unadjusted(data, *, paired=False, rng=None):
    """Each pair by itself, and the interval of a pair that differs."""
    result = xcurves.pairwise(data, n_resamples=FEW, paired=paired, rng=rng)
    alone = result.pvalue.sel(effect="interaction", drop=True)
    return {
        "algorithm, unadjusted, the equal pair": result.pvalue.sel(effect="algorithm", pair="a2 - a3", drop=True),
        "interaction, unadjusted, one pair": alone.sel(pair="a1 - a2", drop=True),
        "interaction, unadjusted, any pair": alone.min("pair"),
        "interval of a pair that differs": missed(result.difference_ci.sel(pair="a1 - a2", drop=True), MAIN),
    }


HOLM = {
    "algorithm, adjusted, the equal pair": AT_MOST,
    "interaction, adjusted, any pair": AT_MOST,
    "interval of the equal pair": EXACT,
}
ALONE = {
    "algorithm, unadjusted, the equal pair": EXACT,
    "interaction, unadjusted, one pair": EXACT,
    "interaction, unadjusted, any pair": fails(0.07),
    "interval of a pair that differs": EXACT,
}


def _pairs(setting, procedure, claims, **options):
    make = partial(simulated, n_algorithms=3, algorithm_effect=MAIN, **options)
    return Simulation("Pairwise (Holm)", setting, make, procedure, claims, short=200, block=BLOCK)


PAIRS = [
    _pairs("7 v 7 v 7, one far away", pairwise, HOLM, n_runs=7),
    _pairs("7 v 7 v 7, one far away, pair by pair", unadjusted, ALONE, n_runs=7),
    _pairs(
        "9 matched runs of three, one far away",
        partial(pairwise, paired=True),
        HOLM,
        n_runs=9,
        shared=4,
    ),
    _pairs(
        "9 matched runs of three, pair by pair",
        partial(unadjusted, paired=True),
        ALONE,
        n_runs=9,
        shared=4,
    ),
]

SIMULATIONS = [*PAIRS, *CONTRASTS]
