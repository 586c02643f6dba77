"""Claims of what a profile says of each level, stretch and interval."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

import xcurves
from calibration.claims import AT_MOST, EXACT, Simulation, fails, outside
from calibration.randomization import RESAMPLES, simulated

LEVELS = 8
EDGES = [1, 5, 8]
LATE = slice(5, None)


def early(n_datasets, *, n_runs, shared=0.0, rng):
    """A difference at the first half of the levels only."""
    curves = simulated(n_datasets, n_runs=n_runs, shared=shared, rng=rng)
    differs = (curves.training < 5) * xr.DataArray([20.0, 0.0], {"algorithm": curves.algorithm})
    return curves + differs


def profile_null(data, *, paired=False, rng=None):
    """Every p of a profile without any difference."""
    options = {"n_resamples": RESAMPLES, "paired": paired, "rng": rng}
    result = xcurves.ss_profile(data, intervals=EDGES, **options)
    given = xcurves.ss_profile(data, cluster_threshold=3.0, **options)
    return {
        "level, pointwise": result.pvalue.isel(training=3, drop=True),
        "any level, unadjusted": result.pvalue.min("training"),
        "any level, step-down": result.pvalue_adjusted.min("training"),
        "any stretch (clusters)": result.cluster_pvalue.fillna(1).min("training"),
        "any stretch, threshold 3": given.cluster_pvalue.fillna(1).min("training"),
        "interval": result.interval_pvalue.isel(interval=0, drop=True),
        "any interval, step-down": result.interval_pvalue_adjusted.min("interval"),
    }


def bands(data, *, paired=False, rng=None):
    """Whether the profile leaves its null bands."""
    result = xcurves.ss_profile(data, n_resamples=RESAMPLES, paired=paired, rng=rng)
    simple = result.ss.sel(effect="simple", drop=True)
    return {
        "beyond the band, one level": outside(simple > result.ss_null_upper).isel(training=3, drop=True),
        "beyond the simultaneous band, any level": outside(
            (simple > result.ss_null_upper_simultaneous).any("training")
        ),
    }


def ends(data, *, rng=None):
    """Whether the first and the last level called different are none, where all others differ."""
    last = xcurves.ss_profile(data, n_resamples=RESAMPLES, rng=rng).last_significant
    turned = data.assign_coords(training=LEVELS + 1 - data.training).sortby("training")
    first = xcurves.ss_profile(turned, n_resamples=RESAMPLES, rng=rng).first_significant
    return {
        "first_significant, too early": outside(first <= LEVELS + 1 - LATE.start),
        "last_significant, too late": outside(last >= LATE.start),
    }


def any_level(data, *, rng=None):
    """The smallest p of any level."""
    result = xcurves.ss_profile(data, n_resamples=RESAMPLES, rng=rng)
    return {"any level, step-down": result.pvalue_adjusted.min("training")}


def profile_late(data, *, paired=False, rng=None):
    """Marks where there is no difference, beside a large one."""
    options = {"n_resamples": RESAMPLES, "paired": paired, "rng": rng}
    result = xcurves.ss_profile(data, intervals=EDGES, **options)
    return {
        "any equal level, step-down": result.pvalue_adjusted.sel(training=LATE).min("training"),
        "the equal interval, step-down": result.interval_pvalue_adjusted.isel(interval=1, drop=True),
    }


def _sided(n_datasets, *, n_runs, n_algorithms=2, shared=0.0, rng):
    """A difference of just the margin, now to one side and now to the other."""
    curves = simulated(n_datasets, n_runs=n_runs, n_algorithms=n_algorithms, shared=shared, rng=rng)
    curves[:, 0] += 20 * np.resize([1, -1], LEVELS)
    return curves


def equivalence(data, *, paired=False, rng=None):
    """Whether curves are called equivalent anywhere."""
    result = xcurves.ss_profile(data, margin=20.0, paired=paired, n_resamples=RESAMPLES, rng=rng)
    return {"equivalent anywhere": outside(result.equivalent.max("training") > 0)}


NULL_ROWS = {
    "level, pointwise": EXACT,
    "any level, unadjusted": fails(0.1),
    **dict.fromkeys(
        (
            "any level, step-down",
            "any stretch (clusters)",
            "any stretch, threshold 3",
            "interval",
            "any interval, step-down",
        ),
        EXACT,
    ),
}
LATE_ROWS = {
    "any equal level, step-down": EXACT,
    "the equal interval, step-down": EXACT,
}
BANDS = dict.fromkeys(("beyond the band, one level", "beyond the simultaneous band, any level"), EXACT)
GROUPS = {  # sizes, what matched runs share, and whether they are matched
    "10 v 10": (10, 0, False),
    "15 v 5": ((15, 5), 0, False),
    "8 matched runs": (8, 4, True),
}


def _of_groups(setting, make, procedure, claims, **options):
    return [
        Simulation(
            "Profile",
            f"{setting}, {name}",
            partial(make, n_runs=sizes, shared=shared),
            partial(procedure, paired=paired),
            claims,
            **options,
        )
        for name, (sizes, shared, paired) in GROUPS.items()
    ]


SIMULATIONS = [
    *_of_groups("no difference", simulated, profile_null, NULL_ROWS),
    *_of_groups("a large difference at half of the levels", early, profile_late, LATE_ROWS),
    *_of_groups("no difference, null bands", simulated, bands, BANDS, short=1_000),
    Simulation(
        "Profile",
        "a large difference at half of the levels, 10 v 10, its ends",
        partial(early, n_runs=10),
        ends,
        dict.fromkeys(("first_significant, too early", "last_significant, too late"), EXACT),
        short=1_000,
    ),
    Simulation(
        "Profile",
        "no difference, spread 1 v 3, 15 v 5",
        partial(simulated, n_runs=(15, 5), noise=(1, 3)),
        any_level,
        {"any level, step-down": fails(0.15)},
    ),
    *(
        Simulation(
            "Profile",
            f"a difference of the margin everywhere, {name}",
            partial(_sided, n_runs=sizes, n_algorithms=m, shared=shared),
            partial(equivalence, paired=paired),
            {"equivalent anywhere": AT_MOST},
        )
        for name, sizes, m, shared, paired in (
            ("10 v 10", 10, 2, 0, False),
            ("15 v 5", (15, 5), 2, 0, False),
            ("5 v 5 v 5", 5, 3, 0, False),
            ("8 matched runs", 8, 2, 4, True),
        )
    ),
]
