"""Backtests and widened intervals against plain loops over curves and cuts."""

import numpy as np
import pytest
from scipy import stats

import oracles_powerlaw as oracle
from xcurves.kernels.laws import powerlaw, refits
from xcurves.kernels.laws.learning import Model, Sizes

GRIDS = {
    "one size an octave": 2.0 ** np.arange(4, 12),
    "two": 20 * 2.0 ** (np.arange(12) / 2),
    "uneven": np.array([10.0, 12, 15, 40, 41, 42, 90, 300, 310, 500, 505]),
    "too few": np.array([10.0, 30, 100, 400]),
}


def bounded(n):
    return Model(n, weights="relative", nonnegative=True)


def simulate(n, n_curves, seed=0):
    rng = np.random.default_rng(seed)
    alpha, gamma = rng.uniform([0, -0.8], [30, -0.1], (n_curves, 2)).T[..., np.newaxis]
    return (alpha + 20 * (n / n[-1]) ** gamma) * np.exp(0.03 * rng.normal(size=(n_curves, len(n))))


def sizes_of(means, present=True):
    present = np.broadcast_to(present, means.shape)
    return Sizes(
        present.astype(float),
        np.where(present, means, 0.0),
        np.full_like(means, np.nan),
    )


@pytest.mark.parametrize("grid", GRIDS)
def test_cuts_are_those_of_a_plain_loop(grid):
    n = GRIDS[grid]
    found = refits.cuts(n, np.ones((1, len(n)), dtype=bool))[0]
    assert [n[place] for place in found if place >= 0] == oracle.cuts(n)
    assert (grid == "too few") == (oracle.cuts(n) == [])


def test_cuts_of_curves_with_other_sizes_are_each_its_own():
    n = GRIDS["two"]
    present = np.random.default_rng(1).random((200, len(n))) < 0.7
    for places, has in zip(refits.cuts(n, present), present, strict=True):
        assert [n[place] for place in places if place >= 0] == (oracle.cuts(n[has]) if has.sum() > 1 else [])


@pytest.mark.plain(1)
@pytest.mark.parametrize("grid", GRIDS)
def test_backtest_errors_are_those_of_refits_one_by_one(grid):
    n = GRIDS[grid]
    means = simulate(n, 4)
    present = np.ones(means.shape, dtype=bool)
    present[np.arange(3), [1, 2, -1]] = False
    found = refits.backtest(bounded(n), np.full(4, n[-1]), sizes_of(means, present), 3.0)
    for i in range(4):
        here = n[present[i]], means[i, present[i]]
        rules = {
            "combined": oracle.combined,
            "law": oracle.refit_last,
            "last_fall": oracle.last_fall,
        }
        for rule, predict in rules.items():
            np.testing.assert_allclose(
                getattr(found, rule)[i],
                oracle.backtest(*here, predict),
                rtol=1e-6,
                err_msg=rule,
            )
        assert found.n_cuts[i] == len(oracle.cuts(here[0]))


def test_all_sizes_are_used_where_no_octaves_are_said():
    n = GRIDS["two"]
    means = simulate(n, 3)
    found = refits.backtest(bounded(n), np.full(3, n[-1]), sizes_of(means), None)
    np.testing.assert_allclose(found.law, [oracle.backtest(n, each, oracle.refit) for each in means], rtol=1e-6)


def test_folds_are_refitted_with_their_own_variance():
    """ρ of errors with folds is that of the fit of the sizes up to the cut, whose variances are estimated anew."""
    n = GRIDS["one size an octave"]
    rng = np.random.default_rng(3)
    folds = np.broadcast_to([8.0, 8, 6, 4, 4, 2, 2, 1], (5, 8))
    means, spread = (
        simulate(n, 5),
        np.where(folds > 1, rng.uniform(0.1, 2, folds.shape), np.nan),
    )
    found = refits.backtest(Model(n), np.full(5, n[-1]), Sizes(folds, means, spread), None).law
    for i in range(5):
        terms = []
        for cut in oracle.cuts(n):
            k = int((n <= cut).sum())
            part = Sizes(folds[i : i + 1, :k], means[i : i + 1, :k], spread[i : i + 1, :k])
            theta = Model(n[:k]).fit(n[-1:], part).theta
            logs = np.log(means[i, k:] / powerlaw.curve(theta, n[k:], n[-1:])[0])
            terms.append(np.mean(logs**2 / np.maximum(np.log2(n[k:] / cut), 0.5)))
        np.testing.assert_allclose(found[i], np.sqrt(np.mean(terms)), rtol=1e-9)


def test_one_more_cut_of_two_per_cent_is_counted():
    found = refits.backtest_spread(np.array([0.1, 0.1, np.nan]), np.array([1, 3, 0]))
    np.testing.assert_allclose(found, [np.sqrt(0.0104 / 2), np.sqrt(0.0304 / 4), 0.02])


@pytest.mark.parametrize("octaves", [None, 1.0, 3.0])
def test_a_law_is_fitted_to_the_last_octaves_and_five_sizes_at_least(octaves):
    rng = np.random.default_rng(2)
    for n in GRIDS.values():
        present = rng.random((50, len(n))) < 0.8
        for used, has in zip(refits.used_sizes(n, present, octaves), present, strict=True):
            expected = list(n[has]) if octaves is None or not has.any() else oracle.last_octaves(n[has], octaves)
            assert n[used].tolist() == expected


def test_an_exact_power_law_predicts_its_own_octaves():
    n = GRIDS["two"]
    means = 5 + 20 * (n / n[-1]) ** np.array([[-0.3], [-0.7]])
    assert (refits.backtest(bounded(n), np.full(2, n[-1]), sizes_of(means), None).law < 1e-6).all()


def test_a_curve_that_levels_off_suddenly_does_not():
    n = GRIDS["two"]
    means = np.maximum(60 * (n / n[0]) ** -0.5, 20)[np.newaxis]
    assert refits.backtest(bounded(n), n[-1:], sizes_of(means), None).law[0] > 0.1


@pytest.mark.parametrize("true_alpha", [0.0, 1.0, 10.0])
def test_widened_intervals_hold_the_error_of_a_power_law_at_four_times_the_data(
    true_alpha,
):
    n = 100 * 2.0 ** (np.arange(9) / 2)
    rng, n_curves = np.random.default_rng(5), 400
    expected = true_alpha + (10 - true_alpha) * (np.append(n, 4 * n[-1]) / n[-1]) ** -0.4
    means = expected[:-1] * np.exp(0.02 * rng.normal(size=(n_curves, len(n))))
    at, sizes = np.full(n_curves, n[-1]), sizes_of(means)
    used = sizes.where(refits.used_sizes(n, sizes.folds > 0, 3.0))
    fit = bounded(n).fit(at, used)
    tested = refits.backtest(bounded(n), at, sizes, 3.0)
    curves = powerlaw.Curves(
        fit.theta,
        bounded(n).covariance(at, used, fit),
        at,
        bounded(n).degrees(used.folds, known=False, at_bound=fit.at_bound),
        powerlaw.last_fall(n, means, sizes.folds > 0),
        *(refits.backtest_spread(each, tested.n_cuts) for each in (tested.combined, tested.law)),
        np.full(len(at), n[0]),
    )
    found = powerlaw.predict_errors(curves, 4 * n[-1:], 0.05, method="combined", nonnegative=True, cap=np.inf)
    low, high = found["prediction_ci"][:, 0].T
    held = ((low <= expected[-1]) & (expected[-1] <= high)).sum()
    assert held >= stats.binom.ppf(0.001, n_curves, 0.93)
