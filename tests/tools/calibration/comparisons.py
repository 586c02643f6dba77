"""Claims of what is said of two performance distributions."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

import xcurves
from calibration.claims import (
    AT_MOST,
    Simulation,
    fails,
    labelled,
    missed,
    near,
    outside,
)


def two(n_datasets, *, m, n, spread=1.0, shift=0.0, ties=False, rng):
    """Two samples of normal scores, or of four values with ties."""
    values = np.full((n_datasets, 2, max(m, n)), np.nan)
    for place, size in enumerate((m, n)):
        drawn = rng.integers(0, 4, (n_datasets, size)) if ties else rng.normal(size=(n_datasets, size))
        values[:, place, :size] = drawn
    values[:, 0] = values[:, 0] * spread + shift
    return labelled(values, algorithm=["a", "b"], run=np.arange(max(m, n)))


def compared(data, *, rows, probability=0.5, rng=None):
    """Everything that a comparison of two samples says, if both are of one distribution or are shifted."""
    found = xcurves.compare_distributions(data).squeeze("pair", drop=True)
    missing = (
        (found.quantile_difference_band.isel(ci_bound=0) > 1e-12)
        | (found.quantile_difference_band.isel(ci_bound=1) < -1e-12)
    ).any("probability")
    known = {
        "P(X > Y)": missed(found.prob_greater_ci, probability),
        "KS": found.ks_pvalue,
        "quantile difference, everywhere": outside(missing),
        "verdict": outside(found.dominance != 0),
    }
    return {row: known[row] for row in rows}


def apart(data, *, shift, rng=None):
    """The band of quantile differences of two samples that are so far apart, and which verdict is wrong."""
    found = xcurves.compare_distributions(data).squeeze("pair", drop=True)
    return {
        "quantile difference, everywhere": missed(found.quantile_difference_band, shift).min("probability"),
        "verdict for the lower": outside((found.dominance == -1) | (found.dominance == 2)),
    }


def three(n_datasets, *, n, rng):
    """Three samples, the first far away."""
    values = rng.normal(size=(n_datasets, 3, n))
    values[:, 0] += 5
    return labelled(values, algorithm=["a", "b", "c"], run=np.arange(n))


def adjusted(data, *, rng=None):
    """Holm's p of the equal pair."""
    return {
        "KS, adjusted, the equal pair": xcurves.compare_distributions(data).ks_pvalue_adjusted.sel(
            pair="b - c", drop=True
        )
    }


def _compared(setting, claims, *, probability=0.5, short=2_000, **options):
    return Simulation(
        "Two distributions, P(X > Y)" if list(claims) == ["P(X > Y)"] else "Two distributions, tests and bands",
        setting,
        partial(two, **options),
        partial(compared, rows=list(claims), probability=probability),
        claims,
        short=short,
    )


SIMULATIONS = [
    *(
        _compared(
            f"P(X > Y) = {stats.norm.cdf(shift / np.sqrt(2)):.2g}, 10 v 10",
            {"P(X > Y)": near(0.01, 0.07)},
            m=10,
            n=10,
            shift=shift,
            probability=stats.norm.cdf(shift / np.sqrt(2)),
        )
        for shift in (0.0, 1.0, 2.7)
    ),
    *(
        _compared(
            f"spread {spread:g} v 1, {m} v {n}",
            {"P(X > Y)": claim},
            m=m,
            n=n,
            spread=spread,
        )
        for spread, m, n, claim in (
            *((1.0, m, n, near(0.04, 0.07)) for m, n in ((30, 30), (10, 100), (5, 50), (100, 10))),
            (10.0, 10, 10, near(0.06, 0.13)),
            (10.0, 30, 30, near(0.05, 0.11)),
            (10.0, 10, 100, fails(0.15)),
            (10.0, 5, 50, fails(0.2)),
            (10.0, 100, 10, near(0, 0.02)),
        )
    ),
    _compared(
        "one distribution, 12 v 12",
        {"KS": AT_MOST, "quantile difference, everywhere": AT_MOST, "verdict": AT_MOST},
        m=12,
        n=12,
    ),
    _compared(
        "one distribution, 12 v 12, four values with ties",
        {"KS": AT_MOST, "quantile difference, everywhere": AT_MOST, "verdict": AT_MOST},
        m=12,
        n=12,
        ties=True,
    ),
    _compared(
        "one distribution, 200 v 200",
        {"KS": AT_MOST, "quantile difference, everywhere": AT_MOST, "verdict": AT_MOST},
        short=200,
        m=200,
        n=200,
    ),
    Simulation(
        "Two distributions, tests and bands",
        "a shift of 1, 200 v 200",
        partial(two, m=200, n=200, shift=1.0),
        partial(apart, shift=1.0),
        {"quantile difference, everywhere": AT_MOST, "verdict for the lower": AT_MOST},
        short=300,
    ),
    Simulation(
        "Two distributions, tests and bands",
        "three samples of 20, one far away",
        partial(three, n=20),
        adjusted,
        {"KS, adjusted, the equal pair": AT_MOST},
    ),
]
