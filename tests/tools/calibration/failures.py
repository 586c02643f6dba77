"""Claims about scores of which some are failures: -inf, worse than all others."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr
from scipy import stats

import xcurves
from calibration.claims import AT_MOST, Simulation, labelled, missed, near

FAR = 1e9  # stands for infinite ends and truths, which then can be compared
TRIALS = np.arange(1, 31)
AT = np.array([0.05, 0.3, 0.7])


def runs_that_fail(n_datasets, *, shares, n, rng):
    """Two algorithms with normal scores, of which a share of the runs of each fails."""
    values = rng.normal(size=(n_datasets, 2, n))
    failed = rng.random(values.shape) < np.array(shares)[:, np.newaxis]
    return labelled(np.where(failed, -np.inf, values), algorithm=["a", "b"], run=np.arange(n))


def quantiles(share, p):
    """F⁻¹ of such scores: failures first, then those of the normal distribution."""
    with np.errstate(invalid="ignore"):
        normal = stats.norm.ppf((p - share) / (1 - share))
    return np.where(p <= share, -np.inf, normal)


def holds(interval, truth, dim):
    """Whether intervals miss at a label of `dim`; infinite truths must lie in them too."""
    return missed(interval.clip(-FAR, FAR), xr.DataArray(truth, dims=dim).clip(-FAR, FAR))


def of_failures(data, *, shares, rng=None):
    """The probability of scoring higher, quantiles and their differences, and the best of some trials."""
    both = xcurves.compare_distributions(data).squeeze("pair", drop=True)
    of_a = xcurves.performance_cdf(data.isel(algorithm=0), probabilities=AT)
    best = xcurves.tuning_curve(data.isel(algorithm=[0]), n_trials=TRIALS).squeeze("algorithm", drop=True)
    p, (a, b) = both.probability.to_numpy(), shares
    wins = (1 - a) * b + (1 - a) * (1 - b) / 2 + a * b / 2
    with np.errstate(invalid="ignore"):  # two failures have no difference
        apart = quantiles(a, p) - quantiles(b, p)
    known = np.flatnonzero(~np.isnan(apart))
    band = both.quantile_difference_band.drop_vars("probability").isel(probability=known)
    single = holds(of_a.score_quantile_ci.drop_vars("probability"), quantiles(a, AT), "probability")
    medians = holds(
        best.best_median_band.drop_vars("trials"),
        quantiles(a, 0.5 ** (1 / TRIALS)),
        "trials",
    )
    return {
        "P(X > Y)": missed(both.prob_greater_ci, wins),
        "differences of quantiles, all": holds(band, apart[known], "probability").min("probability"),
        **{f"{at:g} quantile": single.isel(probability=place) for place, at in enumerate(AT)},
        "median best of k, all k": medians.min("trials"),
    }


def _simulation(shares, n):
    rows = (
        "differences of quantiles, all",
        *(f"{at:g} quantile" for at in AT),
        "median best of k, all k",
    )
    return Simulation(
        "Distribution, runs that failed",
        f"{shares[0]:g} and {shares[1]:g} of {n} runs",
        partial(runs_that_fail, shares=shares, n=n),
        partial(of_failures, shares=shares),
        {"P(X > Y)": near(0.02, 0.08), **dict.fromkeys(rows, AT_MOST)},
        short=500,
    )


SIMULATIONS = [_simulation(shares, n) for shares in ((0.1, 0.1), (0.5, 0.5), (0.1, 0.5)) for n in (10, 50)]
