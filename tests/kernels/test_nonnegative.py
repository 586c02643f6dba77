"""Asymptotes of 0 or more and relative weights against SciPy's bounded least squares, one γ and one curve at a time."""

import numpy as np
import pytest

import oracles_powerlaw as oracle
from xcurves.kernels.laws import powerlaw, wls
from xcurves.kernels.laws.learning import Model, Sizes

N = np.array([30.0, 55, 100, 210, 390, 800])
ALPHA, GAMMA, ETA_AT_N = 3, 2, 4


def simulate(n_curves, seed, noise=0.03):
    """Power laws with asymptotes near 0, so that about half of the fits have a negative one."""
    rng = np.random.default_rng(seed)
    alpha, gamma, eta = rng.uniform([0, -0.8, 10], [2, -0.1, 40], (n_curves, 3)).T[..., np.newaxis]
    return (alpha + eta * (N / N[-1]) ** gamma) * (1 + noise * rng.normal(size=(n_curves, len(N))))


def sizes_of(means, **known):
    return Sizes(np.ones_like(means), means, np.full_like(means, np.nan), **known)


def fitted(means, **options):
    model = Model(N, nonnegative=True, **options)
    at = np.full(len(means), N[-1])
    sizes = sizes_of(means)
    return model, model.fit(at, sizes), sizes, at


@pytest.mark.parametrize("quadratic", [False, True])
def test_a_given_exponent_is_fitted_as_by_bounded_least_squares(quadratic):
    means = simulate(40, 0)
    _, fit, _, at = fitted(means, gamma=-0.3, weights="uniform", quadratic=quadratic)
    assert 5 < fit.at_bound.sum() < 35
    for i in range(40):
        x, _ = oracle.bounded(N, means[i], np.ones_like(N), -0.3, (1, 2) if quadratic else (1,))
        found = powerlaw.parameters(fit.theta, at)[i]
        np.testing.assert_allclose(found[[ALPHA, ETA_AT_N]] * [1, N[-1] ** -0.3], x[:2], rtol=1e-7, atol=1e-9)
        assert fit.at_bound[i] == (x[0] == 0)


@pytest.mark.plain(1)
@pytest.mark.parametrize("quadratic", [False, True])
def test_the_criterion_of_every_exponent_is_that_of_bounded_fits(quadratic):
    """The searched γ by a loop over the grid, with the criterion of the paper."""
    means, weights = (
        simulate(15, 1),
        np.random.default_rng(2).uniform(0.5, 3, (15, len(N))),
    )
    found = wls.search_exponents(N, weights, means, 5.0, nonnegative=True, quadratic=quadratic)
    for i in range(15):
        powers = (1, 2) if quadratic else (1,)
        criteria = [oracle.bounded(N, means[i], weights[i], g, powers)[1] + 5 * abs(g + 0.5) for g in oracle.GRID]
        assert criteria[oracle.GRID.index(found[i])] == pytest.approx(min(criteria), rel=1e-9)


def test_relative_fits_are_those_of_bounded_fits_one_by_one():
    means = simulate(25, 3)
    model, fit, sizes, at = fitted(means, weights="relative")
    covariance = model.covariance(at, sizes, fit)
    assert 3 < fit.at_bound.sum() < 22
    for i in range(25):
        gamma, x, squares = oracle.relative(N, means[i])
        found = powerlaw.parameters(fit.theta, at)[i]
        assert found[GAMMA] == gamma
        np.testing.assert_allclose(found[[ALPHA, ETA_AT_N]] * [1, N[-1] ** gamma], x, rtol=1e-7, atol=1e-9)
        slopes = [(N / N[-1]) ** gamma, x[1] * (N / N[-1]) ** gamma * np.log(N / N[-1])]
        # e_N = alpha + x_1
        slopes = np.column_stack(([np.ones_like(N)] if x[0] > 0 else []) + slopes)
        degrees = len(N) - slopes.shape[1]
        expected = squares / degrees * np.linalg.inv(slopes.T @ np.diag(means[i] ** -2) @ slopes)
        to_theta = np.array([1.0, 1.0, 0.0]) if x[0] > 0 else np.array([1.0, 0.0])
        np.testing.assert_allclose(covariance[i, 0, 0], to_theta @ expected @ to_theta, rtol=1e-6)
        np.testing.assert_allclose(covariance[i, 2, 2], expected[-1, -1], rtol=1e-6)
        assert model.degrees(sizes.folds, known=False, at_bound=fit.at_bound)[i] == degrees


def test_curves_of_other_sizes_in_one_block_are_fitted_as_alone():
    means = simulate(12, 4)
    holes = np.arange(len(N)) != np.arange(12)[:, np.newaxis] % len(N)
    model = Model(N, nonnegative=True, weights="relative")
    at = np.full(12, N[-1])
    together = model.fit(at, sizes_of(means).where(holes))
    for i in range(12):
        alone = Model(N[holes[i]], nonnegative=True, weights="relative")
        fit = alone.fit(at[:1], sizes_of(means[i : i + 1, holes[i]]))
        np.testing.assert_allclose(together.theta[i], fit.theta[0], rtol=1e-9)
        assert together.at_bound[i] == fit.at_bound[0]


@pytest.mark.slow
def test_very_noisy_curves_are_weighted_by_the_fitted_curve():
    """The weights of the fit are those that the fit itself gives, so that another round changes nothing."""
    means = np.abs(simulate(60, 5, noise=0.45))
    _, fit, _, at = fitted(means, weights="relative")
    noisy = 0
    for i in range(60):
        gamma, x, squares = oracle.relative(N, means[i])
        if np.sqrt(squares / (len(N) - 3 + (x[0] == 0))) <= 0.2:
            assert fit.theta[i, GAMMA] == gamma
            continue
        curve = powerlaw.curve(fit.theta[i : i + 1], N, at[i : i + 1])[0]
        # rises from below 0, which weights by the curve do not allow
        if (curve <= 0).any():
            assert fit.theta[i, GAMMA] == gamma
            continue
        again, y, _ = oracle.relative(N, means[i], weights=curve**-2)
        stable = again == fit.theta[i, GAMMA]
        noisy += stable
        if stable:
            np.testing.assert_allclose(y[0] + y[1] * (N / N[-1]) ** again, curve, rtol=1e-6)
    assert noisy >= 20


def test_errors_are_nowhere_negative():
    means = simulate(400, 6, noise=0.1)
    _, fit, _, at = fitted(means, weights="relative")
    assert (powerlaw.curve(fit.theta, np.geomspace(N[-1], 1e9, 40), at) >= 0).all()
    assert (powerlaw.parameters(fit.theta, at)[:, ALPHA] >= -1e-12).all()


def test_exact_power_laws_are_found():
    gammas = np.array([-0.07, -0.37, -0.5, -0.93])
    for alpha in (0.0, 5.0):
        _, fit, _, _ = fitted(alpha + 20 * (N / N[-1]) ** gammas[:, np.newaxis], weights="relative")
        np.testing.assert_array_equal(fit.theta[:, GAMMA], gammas)


def test_covariances_at_the_bound_are_those_of_numerical_derivatives():
    means = simulate(80, 7, noise=0.1)
    model, fit, sizes, at = fitted(means, weights="uniform", quadratic=True, sigma_hat_sq=20.0)
    found = model.covariance(at, sizes, fit)
    at_bound = np.flatnonzero(fit.at_bound)
    assert at_bound.size > 5
    for i in at_bound[:5]:
        _, _, gamma, _, eta, delta = powerlaw.parameters(fit.theta, at)[i]
        eta_n, delta_n = eta * at[i] ** gamma, delta * at[i] ** (2 * gamma)

        def curve(p, n):
            return p[0] * (n / at[0]) ** p[2] + p[1] * (n / at[0]) ** (2 * p[2])

        free, steps = np.array([eta_n, delta_n, gamma]), 1e-6 * np.eye(3)
        slopes = np.column_stack([(curve(free + s, N) - curve(free - s, N)) / 2e-6 for s in steps])
        operator = np.linalg.solve(slopes.T @ slopes, slopes.T)
        expected = operator @ np.diag(fit.variance[i]) @ operator.T
        of_error = np.array([1.0, 1.0, 0.0])
        np.testing.assert_allclose(found[i, 0, 0], of_error @ expected @ of_error, rtol=1e-4)
        np.testing.assert_allclose(found[i, 2, 2], expected[2, 2], rtol=1e-4)
        of_reliance = np.array([-2 * gamma, -4 * gamma, -2 * (eta_n + 2 * delta_n)])
        np.testing.assert_allclose(found[i, 1, 1], of_reliance @ expected @ of_reliance, rtol=1e-4)


def test_given_variances_that_are_too_small_are_multiplied_by_chi_square_over_df():
    means = simulate(20, 8)
    for factor, raised in ((0.01, True), (100.0, False)):
        variance = (factor * means) ** 2
        sizes, at = sizes_of(means, variance=variance), np.full(20, N[-1])
        fit = Model(N, nonnegative=True, weights="variance", rescaled=True).fit(at, sizes)
        plain = Model(N, nonnegative=True, weights="variance").fit(at, sizes)
        chi_square = ((means - powerlaw.curve(fit.theta, N, at)) ** 2 / variance).sum(axis=1)
        scale = np.maximum(chi_square / (len(N) - 3 + fit.at_bound), 1)
        np.testing.assert_allclose(fit.variance, plain.variance * scale[:, np.newaxis])
        assert (scale > 1).any() == raised


def test_single_folds_at_the_bound_have_one_degree_more():
    found = Model(N, nonnegative=True).degrees(np.ones((2, len(N))), known=False, at_bound=np.array([False, True]))
    np.testing.assert_array_equal(found, [len(N) - 3, len(N) - 2])
