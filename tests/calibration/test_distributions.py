"""Coverage over 2,000 simulated samples, each a task of one call, within 99.9 % binomial bounds."""

import numpy as np
import pytest
import xarray as xr
from interval_coverage import DISTRIBUTIONS, coverage, describe, sample, truth
from scipy import stats

import xcurves

N = 2_000
ALPHA = 0.05
LOWEST = stats.binom.ppf(0.001, N, 1 - ALPHA) / N
SIZES = [10, 30, 100]


@pytest.fixture(scope="module", params=[*DISTRIBUTIONS, "dice"])
def distribution(request):
    return (DISTRIBUTIONS | {"dice": stats.randint(1, 7)})[request.param]


@pytest.mark.parametrize("n", SIZES)
def test_exact_intervals_of_cdf_and_quantiles_cover(distribution, n):
    p = np.array([0.02, 0.25, 0.5, 0.9])
    z = distribution.ppf(p)
    scores_at = np.unique(z)
    result = xcurves.performance_cdf(sample(distribution, n, N), scores_at=scores_at, probabilities=p)
    cdf = xr.DataArray(distribution.cdf(scores_at), dims="score")
    held = (result.cdf_ci[..., 0] <= cdf) & (result.cdf_ci[..., 1] >= cdf)
    assert (held.mean("task") >= LOWEST).all()
    quantile = xr.DataArray(z, dims="probability")
    held = (result.score_quantile_ci[..., 0] <= quantile) & (result.score_quantile_ci[..., 1] >= quantile)
    assert (held.mean("task") >= LOWEST).all()


@pytest.mark.parametrize("n", SIZES)
def test_the_band_covers_everywhere_at_once(distribution, n):
    trials = sample(distribution, n, N)
    grid = np.linspace(*distribution.ppf([0.001, 0.999]), 400)
    band = xcurves.performance_cdf(trials, scores_at=grid, probabilities=0.5).cdf_band
    cdf = xr.DataArray(distribution.cdf(grid), dims="score")
    held = ((band[..., 0] <= cdf + 1e-12) & (band[..., 1] >= cdf - 1e-12)).all("score").mean()
    assert held >= LOWEST


@pytest.mark.parametrize("n", SIZES)
def test_intervals_from_bounds_cover(n):
    """Of scores in [0, 1] all statistics that have one; they are wide, so nearly always."""
    distribution = DISTRIBUTIONS["accuracy"]
    expected = truth(distribution)
    result = describe(distribution, n, N, bounds=(0, 1))
    found = coverage(result, expected)
    without = ["score_std", "partial_mean_above"]
    assert result.statistic_ci.sel(param="score_std").isnull().all()
    assert (found.drop(without) >= LOWEST).all()


@pytest.mark.parametrize("n", [10, 100])
def test_without_bounds_the_finite_ends_cover(n):
    distribution = DISTRIBUTIONS["exponential"]
    found = coverage(describe(distribution, n, N), truth(distribution))
    assert (found.drop(["score_std", "partial_mean_above"]) >= LOWEST).all()


def test_the_bootstrap_does_not_cover_from_ten_trials():
    """The reason for its warning, and a check that a wrong interval would be seen."""
    distribution = DISTRIBUTIONS["exponential"]
    found = coverage(describe(distribution, 10, N, interval="percentile", n_resamples=499), truth(distribution))
    assert found["score_mean"] < 0.9
    assert found["cvar 0.9"] < 0.5


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.7])
def test_newcombes_interval_covers(shift):
    """.69 was the rate of others at a true .97 and ten runs."""
    rng = np.random.default_rng(int(10 * shift))
    values = rng.normal(size=(N, 2, 10))
    values[:, 0] += shift
    scores = xr.DataArray(values, {"task": np.arange(N), "algorithm": ["a", "b"]}, ("task", "algorithm", "run"))
    ci = xcurves.compare_distributions(scores).prob_greater_ci
    expected = stats.norm.cdf(shift / np.sqrt(2))
    assert ((ci[..., 0] <= expected) & (ci[..., 1] >= expected)).mean() >= LOWEST - 0.01


def test_ks_and_verdict_hold_their_level_under_ties():
    rng = np.random.default_rng(0)
    scores = xr.DataArray(
        rng.integers(0, 4, (N, 2, 12)).astype(float),
        {"task": np.arange(N), "algorithm": ["a", "b"]},
        ("task", "algorithm", "run"),
    )
    for paired in (False, True):
        result = xcurves.compare_distributions(scores, paired=paired)
        assert (result.ks_pvalue <= ALPHA + 1e-12).sum() <= stats.binom.ppf(0.999, N, ALPHA)
        assert (result.dominance != 0).sum() <= stats.binom.ppf(0.999, N, ALPHA)


def test_units_restore_the_coverage_that_shared_draws_take_away():
    """Forty draws of hyper-parameters with five trials each, nearly equal: 200 trials are worth about forty."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(N // 10, 40, 1)) + 0.3 * rng.normal(size=(N // 10, 40, 5))
    scores = xr.DataArray(values, {"task": np.arange(N // 10)}, ("task", "draw", "run"))
    options = {"dim": ("draw", "run"), "interval": "percentile", "n_resamples": 199, "rng": 0, "probabilities": 0.5}
    rates = {}
    for unit in (None, "draw"):
        ci = xcurves.performance_cdf(scores, **options, unit=unit).statistic_ci.sel(param="score_mean")
        rates[unit] = ((ci[:, 0] <= 0) & (ci[:, 1] >= 0)).mean().item()
    assert rates[None] < 0.7
    assert rates["draw"] > 0.9
