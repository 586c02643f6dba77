"""Backtests and widened intervals against plain loops over curves and cuts."""

import numpy as np
import pytest
from scipy import stats

import oracles_powerlaw as oracle
from xcurves.kernels import backtest, powerlaw
from xcurves.kernels.learning import Model, Sizes

GRIDS = {
    "one size an octave": 2.0 ** np.arange(4, 12),
    "two": 20 * 2.0 ** (np.arange(12) / 2),
    "uneven": np.array([10.0, 12, 15, 40, 41, 42, 90, 300, 310, 500, 505]),
    "too few": np.array([10.0, 30, 100, 400]),
}


def simulate(n, n_curves, seed=0):
    rng = np.random.default_rng(seed)
    alpha, gamma = rng.uniform([0, -0.8], [30, -0.1], (n_curves, 2)).T[..., np.newaxis]
    return (alpha + 20 * (n / n[-1]) ** gamma) * np.exp(0.03 * rng.normal(size=(n_curves, len(n))))


def sizes_of(means, present=True):
    present = np.broadcast_to(present, means.shape)
    return Sizes(present.astype(float), np.where(present, means, 0.0), np.full_like(means, np.nan))


def refit(n, means, later):
    gamma, x, _ = oracle.relative(n, means)
    return x[0] + x[1] * (later / n[-1]) ** gamma


@pytest.mark.parametrize("grid", GRIDS)
def test_cuts_are_those_of_a_plain_loop(grid):
    n = GRIDS[grid]
    found = backtest.cuts(n, np.ones((1, len(n)), dtype=bool))[0]
    assert [n[place] for place in found if place >= 0] == oracle.cuts(n)
    assert (grid == "too few") == (oracle.cuts(n) == [])


def test_cuts_of_curves_with_other_sizes_are_each_its_own():
    n = GRIDS["two"]
    present = np.random.default_rng(1).random((200, len(n))) < 0.7
    for places, has in zip(backtest.cuts(n, present), present, strict=True):
        assert [n[place] for place in places if place >= 0] == (oracle.cuts(n[has]) if has.sum() > 1 else [])


@pytest.mark.parametrize("grid", GRIDS)
def test_backtest_error_is_that_of_refits_one_by_one(grid):
    n = GRIDS[grid]
    means = simulate(n, 6)
    present = np.ones(means.shape, dtype=bool)
    present[np.arange(3), [1, 2, -1]] = False
    model = Model(n, weights="relative", nonnegative=True)
    found = backtest.backtest_error(model, np.full(6, n[-1]), sizes_of(means, present))
    for i in range(6):
        expected = oracle.backtest(n[present[i]], means[i, present[i]], refit)
        np.testing.assert_allclose(found[i], expected, rtol=1e-6)


def test_folds_are_refitted_with_their_own_variance():
    """ρ of errors with folds is that of the fit of the sizes up to the cut, whose variances are estimated anew."""
    n = GRIDS["one size an octave"]
    rng = np.random.default_rng(3)
    folds = np.broadcast_to([8.0, 8, 6, 4, 4, 2, 2, 1], (5, 8))
    means, spread = simulate(n, 5), np.where(folds > 1, rng.uniform(0.1, 2, folds.shape), np.nan)
    found = backtest.backtest_error(Model(n), np.full(5, n[-1]), Sizes(folds, means, spread))
    for i in range(5):
        terms = []
        for cut in oracle.cuts(n):
            k = int((n <= cut).sum())
            part = Sizes(folds[i : i + 1, :k], means[i : i + 1, :k], spread[i : i + 1, :k])
            theta = Model(n[:k]).fit(n[-1:], part).theta
            logs = np.log(means[i, k:] / powerlaw.curve(theta, n[k:], n[-1:])[0])
            terms.append(np.mean(logs**2 / np.maximum(np.log2(n[k:] / cut), 0.5)))
        np.testing.assert_allclose(found[i], np.sqrt(np.mean(terms)), rtol=1e-9)


def test_an_exact_power_law_predicts_its_own_octaves():
    n = GRIDS["two"]
    means = 5 + 20 * (n / n[-1]) ** np.array([[-0.3], [-0.7]])
    model = Model(n, weights="relative", nonnegative=True)
    assert (backtest.backtest_error(model, np.full(2, n[-1]), sizes_of(means)) < 1e-6).all()


def test_a_curve_that_levels_off_suddenly_does_not():
    n = GRIDS["two"]
    means = np.maximum(60 * (n / n[0]) ** -0.5, 20)[np.newaxis]
    model = Model(n, weights="relative", nonnegative=True)
    assert backtest.backtest_error(model, n[-1:], sizes_of(means))[0] > 0.1


def test_widened_intervals_add_squares_of_half_widths_in_logarithms():
    estimates = np.array([10.0, 20])
    law = estimates[:, np.newaxis] * np.exp(np.array([[-0.3, 0.3], [-0.1, 0.2]]))
    found = backtest.widened(estimates, law, np.array([0.4, 0.0]), cap=22.0)
    np.testing.assert_allclose(found[0], [10 * np.exp(-0.5), 10 * np.exp(0.5)])
    np.testing.assert_allclose(found[1], [20 * np.exp(-0.1), 22.0])
    assert backtest.widened(estimates[:1], np.array([[0.0, 12.0]]), np.array([0.1]))[0, 0] == 0


def test_horizon_is_in_octaves_beyond_the_largest_size():
    np.testing.assert_allclose(
        backtest.horizon(np.array([50.0, 100, 400]), np.array([100.0, 50])), [[0, 0, 2], [0, 1, 3]]
    )


@pytest.mark.parametrize("true_alpha", [0.0, 1.0, 10.0])
def test_widened_intervals_hold_the_error_of_a_power_law_at_four_times_the_data(true_alpha):
    n = 100 * 2.0 ** (np.arange(9) / 2)
    rng, n_curves = np.random.default_rng(5), 400
    expected = true_alpha + (10 - true_alpha) * (np.append(n, 4 * n[-1]) / n[-1]) ** -0.4
    means = expected[:-1] * np.exp(0.02 * rng.normal(size=(n_curves, len(n))))
    model, at, sizes = Model(n, weights="relative", nonnegative=True), np.full(n_curves, n[-1]), sizes_of(means)
    fit = model.fit(at, sizes)
    where = 4 * n[-1:]
    curve = powerlaw.curve(fit.theta, where, at)
    slopes = powerlaw.gradient(fit.theta, where, at)
    half = np.sqrt(powerlaw.variance(slopes, model.covariance(at, sizes, fit))) / curve
    half *= stats.t.ppf(0.975, model.degrees(sizes.folds, known=False, at_bound=fit.at_bound))[:, np.newaxis]
    law = curve[..., np.newaxis] * np.exp(half[..., np.newaxis] * [-1, 1])
    rho = backtest.backtest_error(model, at, sizes)[:, np.newaxis]
    interval = backtest.widened(curve, law, stats.norm.ppf(0.975) * rho * np.sqrt(2))
    held = ((interval[:, 0, 0] <= expected[-1]) & (expected[-1] <= interval[:, 0, 1])).sum()
    assert held >= stats.binom.ppf(0.001, n_curves, 0.93)
