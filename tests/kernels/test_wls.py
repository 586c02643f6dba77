import numpy as np
import pytest
from scipy import stats

import oracles_powerlaw as oracle
from strategies import as_dict, simulate_errors
from xcurves.kernels.laws import powerlaw, wls
from xcurves.kernels.laws.learning import Model, Sizes

AT = 400.0


def fitted(errors, **options):
    values = errors.transpose(..., "run", "training").to_numpy().reshape(-1, *errors.shape[-2:])
    sizes = Sizes(*wls.size_statistics(values))
    at = np.full(len(values), AT)
    return Model(errors.training.to_numpy(), **options).fit(at, sizes), sizes, at


def test_measure_gives_means_and_sample_variances():
    errors, _ = simulate_errors(5, 0)
    folds, means, spread = wls.size_statistics(errors.to_numpy())
    np.testing.assert_array_equal(folds, errors.notnull().sum("run"))
    np.testing.assert_allclose(means, errors.mean("run"), rtol=1e-14)
    np.testing.assert_allclose(spread[:, :4], errors[..., :4].var("run", ddof=1), rtol=1e-12)
    assert np.isnan(spread[:, 4]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("quadratic", "scheme", "strength", "n_curves"),
    [
        (False, "variance-folds", 5.0, 1000),
        (False, "variance-folds", 0.0, 60),
        (False, "variance", 5.0, 60),
        (False, "uniform", 5.0, 60),
        (True, "variance-folds", 5.0, 60),
    ],
)
def test_gamma_is_that_of_a_literal_pseudo_inverse_grid_search(quadratic, scheme, strength, n_curves):
    errors, _ = simulate_errors(n_curves, 1)
    fit, _, _ = fitted(errors, quadratic=quadratic, weights=scheme, strength=strength)
    for i in range(n_curves):
        curve = as_dict(errors[i])
        _, variances = oracle.variance_model(curve)
        gamma, totals = oracle.search(curve, variances, scheme, strength, quadratic)
        found = fit.theta[i, powerlaw.GAMMA]
        if found != gamma:  # a tie to the last digits is the only excuse
            assert totals[oracle.GRID.index(found)] == pytest.approx(min(totals), rel=1e-9), i
            assert quadratic


def test_curves_of_other_sizes_in_one_block_are_fitted_as_alone():
    errors, _ = simulate_errors(40, 2)
    holes = errors.copy()
    for i in range(40):
        holes[i, :, i % 5] = np.nan
    fit, _, _ = fitted(holes)
    for i in range(40):
        alone, _, _ = fitted(holes[i : i + 1].dropna("training", how="all"))
        np.testing.assert_allclose(fit.theta[i], alone.theta[0], rtol=1e-10)


@pytest.mark.parametrize("gamma", [-0.01, -0.02, -0.5, -0.99])
@pytest.mark.parametrize("sizes", [(25, 50, 100, 200, 400), (1e5, 2e5, 4e5, 1e6), (1, 2, 3)])
def test_eta_has_twelve_digits_against_sixty(gamma, sizes):
    rng = np.random.default_rng(0)
    n = np.array(sizes, dtype=float)
    means, weights = (
        20 + 30 * rng.random((20, len(n))),
        rng.uniform(0.5, 5, (20, len(n))),
    )
    theta = wls.solve(n, np.full(20, n[-1]), weights, means, np.full(20, gamma))
    found = powerlaw.parameters(theta, np.full(20, n[-1]))
    for i in range(20):
        alpha, eta = oracle.decimal_line(sizes, means[i], weights[i], gamma)
        np.testing.assert_allclose(found[i, 3:5], [alpha, eta], rtol=1e-12)
        np.testing.assert_allclose(found[i, 0], alpha + eta * n[-1] ** gamma, rtol=1e-9)


def test_a_huge_offset_costs_only_its_own_digits():
    errors, _ = simulate_errors(20, 3)
    fit, _, _ = fitted(errors, gamma=-0.4)
    shifted, _, _ = fitted(errors + 1e6, gamma=-0.4)
    np.testing.assert_allclose(shifted.theta[:, 1], fit.theta[:, 1], rtol=1e-7)


def test_pseudo_inverse_is_numpys():
    rng = np.random.default_rng(0)
    columns, weights = (
        [rng.normal(size=(6, 7)) for _ in range(4)],
        rng.uniform(0.1, 3, (6, 7)),
    )
    found = wls.pseudo_inverse(columns, weights)
    for i in range(6):
        root = np.diag(np.sqrt(weights[i]))
        literal = np.linalg.pinv(root @ np.column_stack([column[i] for column in columns])) @ root
        np.testing.assert_allclose(found[i], literal, rtol=1e-9, atol=1e-12)


def test_dependent_columns_are_unknown():
    ones = np.ones((1, 4))
    assert np.isnan(wls.pseudo_inverse([ones, 0 * ones], ones)[0, 1]).all()


def test_covariances_are_those_of_dense_matrices():
    errors, _ = simulate_errors(10, 4)
    fit, sizes, at = fitted(errors)
    model = Model(errors.training.to_numpy())
    by_theta = powerlaw.jacobian(fit.theta, at)
    free = by_theta @ model.covariance(at, sizes, fit) @ by_theta.swapaxes(1, 2)
    given = by_theta @ model.covariance(at, sizes, fit, given_gamma=True) @ by_theta.swapaxes(1, 2)
    for i in range(10):
        curve = as_dict(errors[i])
        _, variances = oracle.variance_model(curve)
        gamma = fit.theta[i, powerlaw.GAMMA]
        (alpha, eta), covariance, _ = oracle.given_gamma(curve, gamma, variances)
        np.testing.assert_allclose(given[i, 3:5, 3:5], covariance, rtol=1e-8)
        np.testing.assert_allclose(powerlaw.parameters(fit.theta, at)[i, 3:5], [alpha, eta], rtol=1e-10)
        order = np.ix_([3, 4, 2], [3, 4, 2])
        np.testing.assert_allclose(
            free[i][order],
            oracle.sandwich(curve, (alpha, eta, gamma), variances),
            rtol=1e-6,
        )


def test_objective_is_the_literal_sum_over_folds():
    errors, _ = simulate_errors(5, 5)
    for scheme in ("variance-folds", "variance", "uniform"):
        fit, sizes, at = fitted(errors, weights=scheme)
        apart = sizes.means - powerlaw.curve(fit.theta, errors.training.to_numpy(), at)
        found = wls.objective(sizes.folds, sizes.spread, fit.weights, apart)
        for i in range(5):
            curve = as_dict(errors[i])
            _, variances = oracle.variance_model(curve)
            expected = oracle.given_gamma(curve, fit.theta[i, 2], variances, scheme)[2]
            np.testing.assert_allclose(found[i], expected, rtol=1e-9)


def test_fold_variance_below_that_of_endless_data_is_floored():
    means = np.full((1, 3), 30.0)
    folds, spread = np.full((1, 3), 4.0), np.full((1, 3), 0.001)
    variance = wls.pooled_variance(np.array([10.0, 20, 40]), folds, spread, 0.02, None)
    np.testing.assert_array_equal(variance, np.full_like(means, 0.02))


def test_folds_that_vary_less_than_sigma0_sq_leave_no_slope():
    n, folds = np.array([25.0, 100, 400]), np.array([[8.0, 4, 2]])
    found = wls.pooled_variance(n, folds, np.full((1, 3), 0.005), 0.02, None)
    np.testing.assert_array_equal(found, [[0.02, 0.02, 0.02]])


def test_quadratic_covariances_are_those_of_numerical_derivatives():
    errors, _ = simulate_errors(5, 4)
    fit, sizes, at = fitted(errors, quadratic=True)
    n = errors.training.to_numpy()
    found = Model(n, quadratic=True).covariance(at, sizes, fit)
    for i in range(5):

        def curve(theta):
            error, reliance, gamma, delta = theta
            fall = reliance / (2 * gamma) * ((n / AT) ** gamma - 1)
            return error - fall + delta * (n**gamma - AT**gamma) ** 2

        steps = np.diag(1e-5 * np.maximum(np.abs(fit.theta[i]), 1e-2))
        slopes = np.column_stack([(curve(fit.theta[i] + s) - curve(fit.theta[i] - s)) / (2 * s.sum()) for s in steps])
        w = np.diag(fit.weights[i])
        operator = np.linalg.solve(slopes.T @ w @ slopes, slopes.T @ w)
        expected = operator @ np.diag(fit.variance[i] / sizes.folds[i]) @ operator.T
        scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        np.testing.assert_allclose(found[i] / scale, expected / scale, atol=1e-3)


def test_the_check_of_variances_is_a_chi_square_test():
    folds = np.array([[4.0, 3, 1], [1, 1, 1], [5, 5, 5]])
    spread = np.array([[0.5, 2.0, np.nan], [np.nan] * 3, [9.0, 8.0, 7.0]])
    variance = np.full((3, 3), 1.5)
    found = wls.variance_pvalue(folds, spread, variance)
    for curve, value in ((0, (3 * 0.5 + 2 * 2.0) / 1.5), (2, 4 * (9 + 8 + 7) / 1.5)):
        law = stats.chi2((folds[curve] - 1).sum())
        np.testing.assert_allclose(found[curve], 2 * min(law.cdf(value), law.sf(value)), rtol=1e-10)
    assert found[1] == 1


def test_sizes_near_zero_have_no_variance():
    n = np.array([1e-300, 1.0, 2.0])
    folds = np.full((1, 3), 3.0)
    assert np.isfinite(wls.pooled_variance(n, folds, np.full((1, 3), 0.03), 0.02, None)[0, 1:]).all()
