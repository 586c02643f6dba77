"""Fits, covariances, backtests and allocations of scaling laws against SciPy and plain loops."""

import itertools

import numpy as np
import pytest
import scipy.optimize

import oracles_scaling as oracle
from xcurves.kernels.laws import scaling_intervals as intervals
from xcurves.kernels.laws import scaling_law
from xcurves.kernels.laws.scaling_law import Runs

TRUE = np.array([1.8, 400.0, 2000.0, 0.34, 0.37])


def suite(seed=0, noise=0.01, shape=(6, 6)):
    n, d = (each.ravel() for each in np.meshgrid(np.geomspace(1e7, 1e9, shape[0]), np.geomspace(1e9, 1e11, shape[1])))
    rng = np.random.default_rng(seed)
    loss = oracle.law(TRUE, n, d) * np.exp(noise * rng.standard_t(3, size=len(n)))
    return n, d, loss


def whole(n, d, loss, delta=None):
    return intervals.know(Runs(n, d), loss[np.newaxis], np.ones((1, len(n)), bool), delta)


def half(found, name):
    """Half the interval of a logarithm."""
    return np.log(found[f"{name}_ci"][..., 1] / found[name])


@pytest.mark.plain(1)
@pytest.mark.parametrize("delta", [None, 0.005, np.inf])
def test_a_fit_is_that_of_scipy_from_many_starts(delta):
    n, d, loss = suite()
    known, law, _, _ = whole(n, d, loss, delta)
    expected, objective, width = oracle.fit(n, d, loss, delta)
    np.testing.assert_allclose(law.delta, width, rtol=1e-6)
    assert law.objective[0] <= objective * (1 + 1e-7)
    np.testing.assert_allclose(law.objective, objective, rtol=1e-6)
    np.testing.assert_allclose(known.estimate[0], expected, rtol=2e-3)


def test_an_exact_law_is_found_to_the_last_digits():
    n, d, loss = suite(noise=0)
    known, law, _, _ = whole(n, d, loss)
    np.testing.assert_allclose(known.estimate[0], TRUE, rtol=1e-7)
    assert law.delta[0] == np.inf


def test_coefficients_are_those_of_scipy_s_nonnegative_least_squares():
    rng = np.random.default_rng(1)
    columns, wanted = rng.normal(size=(200, 12, 3)), rng.normal(size=(200, 12))
    gram = np.einsum("lki,lkj->ijl", columns, columns)
    gain, found = scaling_law.nonnegative(gram, np.einsum("lki,lk->il", columns, wanted))
    for i in range(200):
        expected, norm = scipy.optimize.nnls(columns[i], wanted[i])
        if expected.any():
            np.testing.assert_allclose(found[:, i], expected, atol=1e-10)
            np.testing.assert_allclose((wanted[i] ** 2).sum() - gain[i], norm**2, atol=1e-10)


def test_laws_together_are_each_as_alone():
    n, d, _ = suite()
    losses = np.stack([suite(seed)[2] for seed in range(5)])
    present = np.random.default_rng(0).random(losses.shape) < 0.8
    losses = np.where(present, losses, np.nan)
    found = intervals.know(Runs(n, d), losses, present, None)
    for i, has in enumerate(present):
        alone = whole(n[has], d[has], losses[i, has])
        for name in ("estimate", "covariance", "rho", "nu_exponent", "nu_n", "extent"):
            np.testing.assert_allclose(
                getattr(found[0], name)[i],
                getattr(alone[0], name)[0],
                rtol=2e-5,
                err_msg=name,
            )


@pytest.mark.parametrize("zero", [0, 1, 2])
def test_a_term_that_the_losses_do_not_have_is_zero(zero):
    n, d, _ = suite()
    truth = np.where(np.arange(5) == zero, 0.0, TRUE)
    rising = {0: 1.0, 1: (n / 1e8) ** 0.02, 2: (d / 1e10) ** 0.02}[zero]
    loss = (oracle.law(truth, n, d) - 0.3 * (zero == 0)) * rising
    known = whole(n, d, loss)[0]
    assert known.estimate[0, zero] == 0
    assert (zero == 0) or np.isnan(known.estimate[0, 2 + zero])
    assert np.isnan(intervals.exponent(known.estimate))[0] == (zero > 0)


def test_covariance_backtest_and_half_widths_are_those_of_plain_loops():
    n, d, loss = suite(3, shape=(5, 5))
    known, law, _, ahead = whole(n, d, loss)
    p = known.estimate[0]
    np.testing.assert_allclose(known.covariance[0], oracle.covariance(p, n, d, loss, law.delta[0]), rtol=2e-4)
    rho, nu_a, nu_n = oracle.backtest(n, d, loss, p)
    np.testing.assert_allclose(
        [known.rho[0], known.nu_exponent[0], known.nu_n[0]],
        [rho, nu_a, nu_n],
        rtol=2e-3,
    )
    for size, tokens in [(1e8, 1e10), (7e9, 1e10), (1e9, 1e13)]:
        found = intervals.loss(known, np.array([[size]]), np.array([[tokens]]), 0.05)
        np.testing.assert_allclose(found["prediction"], oracle.law(p, size, tokens))
        expected = oracle.half_width(p, known.covariance[0], n, d, loss, known.rho[0], size, tokens)
        np.testing.assert_allclose(half(found, "prediction"), expected, rtol=1e-5)
    last = oracle.cuts(n, d)[-1]
    np.testing.assert_allclose(
        ahead[0, ~last],
        oracle.law(oracle.fit(n[last], d[last], loss[last])[0], n[~last], d[~last]),
        rtol=1e-3,
    )


def of_two_sizes():
    """Twelve runs of two model sizes, and four later ones of a third."""
    n, d = (np.array(each) for each in zip(*itertools.product([1e7, 3e7], np.geomspace(1e8, 1e9, 6)), strict=True))
    n, d = np.append(n, [3e9] * 4), np.append(d, np.geomspace(1e9, 1e10, 4))
    return (
        n,
        d,
        oracle.law(TRUE, n, d) * np.exp(0.01 * np.random.default_rng(0).normal(size=16)),
    )


def test_runs_of_few_sizes_are_no_cut():
    n, d, _ = of_two_sizes()
    _, kept = intervals._cuts(Runs(n, d), np.ones((1, 16), bool))
    assert all(len(set(n[each])) >= 3 for each in kept)
    assert len(kept) == len(oracle.cuts(n, d))


@pytest.mark.slow
def test_runs_of_two_sizes_fit_every_exponent_alike():
    """SciPy's minimum is the same at any α, and what it predicts for a third size is not."""
    n, d, loss = (each[:12] for each in of_two_sizes())
    fits = [oracle.fit(n, d, loss, alpha=alpha) for alpha in (0.3, 0.6, 1.2, 2.4)]
    np.testing.assert_allclose([objective for _, objective, _ in fits], fits[0][1], rtol=1e-6)
    assert np.ptp([np.log(oracle.law(law, 3e9, 1e10)) for law, _, _ in fits]) > 0.2


def test_the_optimum_is_where_the_loss_is_lowest():
    n, d, loss = suite()
    known = whole(n, d, loss)[0]
    p, step = known.estimate[0], 1e-6
    for product in (1e18, 1e23):
        found = intervals.allocation(known, 0.05, np.array([product]))
        np.testing.assert_allclose(np.log(found["n_opt"]), oracle.best_size(p, product), atol=1e-4)
        np.testing.assert_allclose(found["n_opt"] * found["d_opt"], product)
        np.testing.assert_allclose(found["loss_at_optimum"], oracle.law(p, found["n_opt"], found["d_opt"]))
        slopes = []
        for i in range(5):
            ends = [p * (1 + sign * step * (np.arange(5) == i)) for sign in (1, -1)]
            slopes.append(
                np.diff([intervals.log_optimum(end[np.newaxis], product).item() for end in ends[::-1]])[0]
                / (2 * step * p[i])
            )
        sd = np.sqrt(np.array(slopes) @ known.covariance[0] @ slopes)
        octaves = max(1, np.log2(product / (n * d).max()))
        t = intervals.t_quantile(0.05, known.degrees)
        expected = np.hypot(t * sd, 1.959964 * known.nu_n * np.sqrt(octaves))
        np.testing.assert_allclose(half(found, "n_opt")[0], expected, rtol=1e-4)


def test_the_multiplier_and_its_ends_solve_their_equations():
    one, other = (whole(*suite(seed)[:2], suite(seed)[2] * factor)[0] for seed, factor in ((0, 1.0), (1, 1.02)))
    product = np.array([1e20])
    centre, ends = (each[0, 0] for each in intervals.multiplier(one, other, product, 0.05))
    for times, expected in ((centre, 0.0), *((end, 1.0) for end in ends)):
        a, b = (intervals.allocation(each, 0.05, product * x) for each, x in ((one, 1), (other, times)))
        apart = np.abs(np.log(a["loss_at_optimum"] / b["loss_at_optimum"]))
        width = np.hypot(half(a, "loss_at_optimum"), half(b, "loss_at_optimum"))
        np.testing.assert_allclose(apart, expected * width, rtol=1e-6, atol=1e-12)
    assert ends[0] < centre < ends[1]
    better = one._replace(estimate=one.estimate - [1.0, 0, 0, 0, 0])
    assert all(np.isnan(each).all() for each in intervals.multiplier(better, other, np.array([1e40]), 0.05))
