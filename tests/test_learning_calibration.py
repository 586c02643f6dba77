"""Coverage of intervals over 1,000 simulated learning curves, and the paper's experiment with four points."""

import warnings

import numpy as np
import pytest
from scipy import stats

import xcurves
from strategies import make_errors, simulate_errors

N = 1000


@pytest.fixture(scope="module", params=[(16, 8, 4, 2, 1), (10, 8, 4, 2, 1)], ids=["16 folds", "10 folds"])
def simulated(request):
    return simulate_errors(N, 2021, request.param)


def fit(errors, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some exponents are at the edge
        return xcurves.fit_power_law(errors, **options)


def coverage(interval, truth, names=("error_at_n", "data_reliance")):
    """Return the share of intervals (task, param, ci_bound) that hold the truth."""
    low, high = (interval.sel(param=list(names), ci_bound=bound).to_numpy() for bound in ("lower", "upper"))
    return ((low <= truth) & (truth <= high)).mean(axis=0)


def at_least(share):
    """The least count of N, as a share, that a coverage of `share` gives with 99.9 % probability."""
    return stats.binom.ppf(0.001, N, share) / N


def test_default_intervals_cover(simulated):
    errors, truth = simulated
    found = coverage(fit(errors).estimate_ci, truth[:, :2])
    assert (found >= 0.92).all(), found
    assert (found >= at_least(0.94)).all(), found


def test_bootstrap_intervals_cover(simulated):
    errors, truth = simulated
    found = coverage(fit(errors, n_resamples=399, rng=1).estimate_ci, truth[:, :2])
    assert (found >= 0.92).all(), found
    assert (found >= at_least(0.93)).all(), found


def test_the_paper_s_conditional_bounds_do_not(simulated):
    errors, truth = simulated
    result = fit(errors)
    names = ["error_at_n", "data_reliance"]
    half = 1.96 * result.stderr_given_gamma.sel(param=names)
    found = (abs(result[names].to_array("param").transpose(..., "param") - truth[:, :2]) <= half).mean("task")
    assert found.sel(param="error_at_n") < 0.92
    assert found.sel(param="data_reliance") < 0.5


def test_predictions_within_four_times_the_data_cover(simulated):
    errors, truth = simulated
    n = np.array([100.0, 1600.0])
    error, reliance, gamma = truth.T[..., np.newaxis]
    true = error - reliance * ((n / 400) ** gamma - 1) / (2 * gamma)
    for options in ({}, {"n_resamples": 199, "rng": 1}):
        interval = fit(errors, predict_at=n, **options).prediction_ci
        low, high = (interval.sel(ci_bound=bound).to_numpy() for bound in ("lower", "upper"))
        found = ((low <= true) & (true <= high)).mean(axis=0)
        assert (found >= at_least(0.92)).all(), (options, found)


def test_four_sampled_points_leave_error_and_reliance_stable_and_the_asymptote_not():
    """Figures 2 and 9: one point each at 50, 100, 200 and 400, drawn and fitted 100 times.

    The curve is that of Table 3 for the same classifier (no pretraining, fine-tuned, Places365); the spread of folds is
    not printed there, and taken here as that of the CIFAR-100 classifier.
    """
    n = np.array([50.0, 100, 200, 400])
    alpha, eta, gamma = 33.16, 117.45, -0.26
    rng = np.random.default_rng(9)
    sd = np.sqrt(0.02 + 12.65 / n)
    points = alpha + eta * n**gamma + sd * rng.normal(size=(100, 1, 4))
    result = fit(make_errors(points, n, draw=np.arange(100)), sigma_hat_sq=12.65)
    spread = {name: result[name].std().item() for name in ("error_at_n", "data_reliance", "alpha", "gamma")}
    assert spread["error_at_n"] < 0.5
    assert spread["data_reliance"] < 2.5
    assert spread["alpha"] > 2 * spread["data_reliance"]
    assert spread["alpha"] > 10 * spread["error_at_n"]
