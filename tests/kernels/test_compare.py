import numpy as np
import pytest
from scipy.optimize import brentq

from xcurves.kernels import compare, powerlaw

AT = np.array([400.0])
LOW, HIGH = np.array([25.0]), np.array([400.0])


def crossings(one, other):
    found = compare.crossings(np.array([one]), np.array([other]), AT, LOW, HIGH)[0]
    return found[~np.isnan(found)]


def literal(theta, log):
    error, reliance, gamma, _ = theta
    return error - reliance * ((np.exp(log) / 400) ** gamma - 1) / (2 * gamma)


def scan(one, other):
    """Zeros of the difference on a fine grid from a millionth to a million times the sizes, polished by Brent."""
    grid = np.linspace(np.log(25e-6), np.log(400e6), 4000)
    values = literal(one, grid) - literal(other, grid)
    changes = np.flatnonzero(values[:-1] * values[1:] < 0)
    return [
        np.exp(brentq(lambda log: literal(one, log) - literal(other, log), grid[i], grid[i + 1], xtol=1e-13))
        for i in changes
    ]


def test_crossings_are_those_of_a_fine_scan():
    rng = np.random.default_rng(0)
    counts = []
    for _ in range(150):
        one, other = ([rng.uniform(20, 30), rng.uniform(-2, 20), rng.uniform(-0.9, -0.1), 0.0] for _ in range(2))
        found, expected = crossings(one, other), scan(one, other)
        np.testing.assert_allclose(found, expected, rtol=1e-8)
        counts.append(len(expected))
    assert {0, 1, 2} <= set(counts)


def test_curves_of_one_exponent_cross_where_algebra_says():
    # 20 + b/2 ... with gamma -0.5: e = e_N + b ((n/N)^-0.5 - 1)
    found = crossings([20.0, 10.0, -0.5, 0.0], [22.0, 6.0, -0.5, 0.0])
    np.testing.assert_allclose(found, [400 / 1.5**2])  # 20 + 10 u = 22 + 6 u at u = 0.5
    assert len(crossings([20.0, 10.0, -0.5, 0.0], [20.0, 10.0, -0.5, 0.0])) == 0


def test_the_multiplier_is_that_of_the_formula():
    reference, error = np.array([[28.0, 18.0, -0.41, 0.0]]), np.array([18.0])
    _, _, gamma, alpha, eta, _ = powerlaw.parameters(reference, AT)[0]
    expected = ((18.0 - alpha) / eta) ** (1 / gamma) / 400
    np.testing.assert_allclose(np.exp(compare.log_multiplier(reference, error)), expected, rtol=1e-12)
    assert np.isnan(compare.log_multiplier(reference, np.array([alpha - 1e-9])))
    assert np.isnan(compare.log_multiplier(reference, np.array([alpha - 5])))


def test_welch_is_scipys():
    from scipy import stats

    a, b = np.random.default_rng(0).normal(size=(2, 9)), np.random.default_rng(1).normal(size=(2, 5)) * 3
    variances = np.stack([a.var(axis=1, ddof=1) / 9, b.var(axis=1, ddof=1) / 5])
    found = compare.welch(variances, np.array([[8.0, 8.0], [4.0, 4.0]]))
    expected = [stats.ttest_ind(x, y, equal_var=False).df for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(found, expected)
    assert compare.welch(variances, np.full((2, 2), np.inf)).tolist() == [np.inf, np.inf]
    assert pytest.approx(4) == compare.welch(np.array([[0.0], [2.0]]), np.array([[8.0], [4.0]])).item()


@pytest.mark.parametrize(("n", "found"), [(24e-6, 0), (26e-6, 1), (390e6, 1), (410e6, 0)])
def test_crossings_are_sought_a_million_times_beyond_the_sizes(n, found):
    u = (n / 400) ** -0.5  # 20 + 10 (u - 1) = 20 + d + 6 (u - 1) at u = 1 + d / 4
    assert len(crossings([20.0, 10.0, -0.5, 0.0], [20.0 + 4 * (u - 1), 6.0, -0.5, 0.0])) == found
