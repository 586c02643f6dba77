"""Power by number of runs against SciPy's isotonic regression, NumPy's quantile and a plain loop."""

import numpy as np
from scipy import optimize

from xcurves.kernels.distributions import ecdf

RATES = np.random.default_rng(0).integers(0, 11, (50, 2, 7)) / 10


def test_isotonic_rates_are_those_of_scipy():
    expected = [optimize.isotonic_regression(row).x for row in RATES.reshape(-1, 7)]
    np.testing.assert_allclose(ecdf.isotonic(RATES).reshape(-1, 7), expected, atol=1e-12)


def test_the_first_number_from_which_on_the_power_is_reached_is_that_of_a_plain_loop():
    n_runs = [3, 4, 5, 7, 10, 15, 20]
    found = ecdf.first_reaching(RATES, 0.3, n_runs)
    for row, number in zip(RATES.reshape(-1, 7).tolist(), found.ravel().tolist(), strict=True):
        assert number == min((n_runs[i] for i in range(7) if min(row[i:]) >= 0.3), default=np.inf)
    missing = np.array([[np.nan] * 3, [np.nan, 0.9, 0.9]])
    np.testing.assert_array_equal(ecdf.first_reaching(missing, 0.8, [3, 4, 5]), [np.nan, 4])


def test_quantiles_are_those_of_numpy_with_shares_that_binary_fractions_miss():
    numbers = RATES.reshape(50, -1)
    for probability in (0.1, 0.5, 0.8, 0.999):
        expected = np.quantile(numbers, probability, axis=0, method="inverted_cdf")
        np.testing.assert_array_equal(ecdf.quantile(numbers, probability), expected)
    ranks = np.arange(1.0, 201)
    assert [ecdf.quantile(ranks, 1 - k / 200) for k in range(200)] == (200 - np.arange(200)).tolist()
