import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from xcurves.kernels.laws import compare, powerlaw

AT = np.array([400.0])
LOW, HIGH = np.array([25.0]), np.array([1600.0])
ALPHA = 0.05


def literal(theta, log):
    error, reliance, gamma, _ = theta
    return error - reliance * ((np.exp(log) / 400) ** gamma - 1) / (2 * gamma)


def curves_of(theta, sd, degrees=np.inf):
    """Curves of which e_N, β_N and γ are known with these standard errors, independently."""
    covariance = np.zeros((1, 4, 4))
    covariance[0, range(3), range(3)] = np.square(sd)
    at, degrees, rho, largest = (np.full(1, float(each)) for each in (400.0, degrees, 0.1, 1600.0))
    fall = powerlaw.LastFall(largest, rho, -rho)
    return powerlaw.Curves(np.array([theta], dtype=float), covariance, at, degrees, fall, rho, rho, at)


def shown(one, other, log):
    """The difference and half its interval by derivatives that are taken numerically, at sizes exp(log)."""
    value, variances = 0.0, []
    for sign, each in ((1, one), (-1, other)):
        theta, covariance = each.theta[0], each.covariance[0]
        steps = 1e-6 * np.eye(4)[:3]
        slopes = [(literal(theta + step, log) - literal(theta - step, log)) / 2e-6 for step in steps]
        variances.append(sum(covariance[i, i] * slopes[i] ** 2 for i in range(3)))
        value = value + sign * literal(theta, log)
    degrees = sum(variances) ** 2 / sum(v**2 / each.degrees[0] for v, each in zip(variances, (one, other), strict=True))
    return value, stats.t.ppf(0.975, degrees) * np.sqrt(sum(variances))


def test_differences_are_those_of_plain_formulas():
    one = curves_of([28, 18, -0.41, 0], [0.2, 0.5, 0.03], 12)
    other = curves_of([20, 7, -0.3, 0], [0.1, 0.6, 0.05], 5)
    n = np.array([[30.0, 400, 1500]])
    found, half = compare.curve_difference(one, other, n, ALPHA)
    np.testing.assert_allclose([found[0], half[0]], shown(one, other, np.log(n[0])), rtol=1e-6)


def scan(one, other):
    """Stretches of a fine grid without a shown difference: their ends, and the crossing if opposite signs flank it."""
    grid = np.linspace(np.log(25), np.log(1600), 20_001)  # steps of 0.0002
    value, half = shown(one, other, grid)
    sign = np.where(np.abs(value) > half, np.sign(value), 0)
    parts = np.split(np.arange(len(grid)), np.flatnonzero(np.diff(sign)) + 1)
    stretches = [(part[0], part[-1]) for part in parts if sign[part[0]] == 0]
    found = []
    for first, last in stretches:
        flanked = first > 0 and last < len(grid) - 1 and sign[first - 1] * sign[last + 1] < 0
        gap = lambda log: literal(one.theta[0], log) - literal(other.theta[0], log)  # noqa: E731
        crossing = np.exp(brentq(gap, grid[first], grid[last])) if flanked else np.nan
        found.append((np.exp(grid[first]), np.exp(grid[last]), crossing))
    return found


def test_sizes_without_a_shown_difference_are_those_of_a_fine_scan():
    rng = np.random.default_rng(0)
    counts = []
    for _ in range(10):
        pair = [
            curves_of(
                [rng.uniform(20, 24), rng.uniform(2, 20), rng.uniform(-0.9, -0.1), 0],
                [0.3, 0.4, 0.02],
                20,
            )
            for _ in range(2)
        ]
        expected = scan(*pair)
        if len(expected) > 2:
            continue
        found = np.array(compare.equal_sizes(*pair, LOW, HIGH, ALPHA))[:, 0]
        for i in range(2):
            here = expected[i] if i < len(expected) else (np.nan,) * 3
            np.testing.assert_allclose(found[:, i], here, rtol=5e-4)
        counts.append((len(expected), sum(not np.isnan(each[2]) for each in expected)))
    assert {(0, 0), (1, 0), (1, 1)} <= set(counts)


def test_a_stretch_that_begins_and_ends_in_the_outermost_cells_of_the_grid_has_its_own_ends():
    pair = curves_of([20, 10, -0.5, 0], [0.3, 0.4, 0.02], 20), curves_of([22, 6, -0.5, 0], [0.3, 0.4, 0.02], 20)
    ((first, last, _),) = scan(*pair)
    assert LOW[0] < first / 1.004
    assert last * 1.004 < HIGH[0]
    begin, end, _ = compare.equal_sizes(*pair, np.array([first / 1.004]), np.array([last * 1.004]), ALPHA)
    np.testing.assert_allclose([begin[0, 0], end[0, 0]], [first, last], rtol=5e-4)


def test_curves_that_cross_between_two_points_of_the_grid_are_seen():
    # e = e_N + b ((n/N)^-0.5 - 1): 20 + 10 u = 22 + 6 u at u = 0.5
    pair = [
        curves_of([20, 10, -0.5, 0], [1e-9] * 3),
        curves_of([22, 6, -0.5, 0], [1e-9] * 3),
    ]
    begin, end, crossing = compare.equal_sizes(*pair, LOW, HIGH, ALPHA)
    np.testing.assert_allclose([begin[0, 0], end[0, 0], crossing[0, 0]], 400 / 1.5**2, rtol=1e-6)
    assert np.isnan([begin[0, 1], end[0, 1], crossing[0, 1]]).all()


def test_equal_curves_differ_nowhere_and_unknown_ones_are_nan():
    same = curves_of([20, 10, -0.5, 0], [0.1, 0.1, 0.01])
    begin, end, crossing = compare.equal_sizes(same, same, LOW, HIGH, ALPHA)
    np.testing.assert_allclose([begin[0, 0], end[0, 0]], [25, 1600])
    assert np.isnan(crossing).all()
    unknown = same._replace(theta=np.full((1, 4), np.nan))
    assert np.isnan(compare.equal_sizes(same, unknown, LOW, HIGH, ALPHA)).all()


def taken(curves, some):
    fall = powerlaw.LastFall(*(each[some] for each in curves.fall))
    return powerlaw.Curves(*(each[some] for each in curves._replace(fall=curves.at)))._replace(fall=fall)


@pytest.mark.slow
def test_many_pairs_are_compared_as_each_alone():
    rng = np.random.default_rng(1)
    theta = np.column_stack(
        [
            rng.uniform(20, 24, 1100),
            rng.uniform(2, 20, 1100),
            rng.uniform(-0.9, -0.1, 1100),
        ]
    )
    theta = np.column_stack([theta, np.zeros(1100)])
    one = curves_of(theta[0], [0.3, 0.4, 0.02], 20)
    against = taken(one, np.zeros(1100, dtype=int))
    many = against._replace(theta=theta)
    found = compare.equal_sizes(many, against, np.repeat(LOW, 1100), np.repeat(HIGH, 1100), ALPHA)
    for i in (0, 511, 512, 1099):
        alone = compare.equal_sizes(taken(many, slice(i, i + 1)), one, LOW, HIGH, ALPHA)
        np.testing.assert_array_equal(np.array(found)[:, i], np.array(alone)[:, 0])


def test_the_multiplier_is_that_of_the_formula():
    reference, error = np.array([[28.0, 18.0, -0.41, 0.0]]), np.array([18.0])
    _, _, gamma, alpha, eta, _ = powerlaw.parameters(reference, AT)[0]
    expected = ((18.0 - alpha) / eta) ** (1 / gamma) / 400
    np.testing.assert_allclose(np.exp(compare.log_multiplier(reference, error)), expected, rtol=1e-12)
    assert np.isnan(compare.log_multiplier(reference, np.array([alpha - 1e-9])))
    assert np.isnan(compare.log_multiplier(reference, np.array([alpha - 5])))


def test_a_curve_restated_at_another_size_is_the_same_curve():
    one = curves_of([28, 18, -0.41, 0], [0.2, 0.5, 0.03], 12)
    moved, n = compare.restated(one, np.array([100.0])), np.array([[30.0, 100, 700]])
    np.testing.assert_allclose(powerlaw.values(moved.theta, n, moved.at), powerlaw.values(one.theta, n, one.at))
    np.testing.assert_allclose(
        *(powerlaw.variance(powerlaw.gradient(each.theta, n, each.at), each.covariance) for each in (one, moved))
    )
    back = compare.restated(moved, one.at)
    np.testing.assert_allclose(back.covariance, one.covariance, atol=1e-12)


def test_welch_is_scipys():
    a, b = (
        np.random.default_rng(0).normal(size=(2, 9)),
        np.random.default_rng(1).normal(size=(2, 5)) * 3,
    )
    variances = np.stack([a.var(axis=1, ddof=1) / 9, b.var(axis=1, ddof=1) / 5])
    found = compare.welch(variances, np.array([[8.0, 8.0], [4.0, 4.0]]))
    expected = [stats.ttest_ind(x, y, equal_var=False).df for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(found, expected)
    assert compare.welch(variances, np.full((2, 2), np.inf)).tolist() == [
        np.inf,
        np.inf,
    ]
    assert pytest.approx(4) == compare.welch(np.array([[0.0], [2.0]]), np.array([[8.0], [4.0]])).item()
