import numpy as np
import pytest

import oracles_distribution as oracles
from layers import slow
from xcurves.kernels.distributions import ecdf

PUBLISHED = {5: 0.012271, 20: 0.004771, 48: 0.003015, 200: 0.001703, 1000: 0.001071}


@pytest.mark.parametrize(("n", "level"), PUBLISHED.items())
def test_local_levels_are_the_reference_numbers(n, level):
    assert ecdf.local_level(n, 0.05) == pytest.approx(level, abs=5e-7)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, slow(7), slow(8)])
@pytest.mark.parametrize("level", [0.5, 0.05, 0.001])
def test_coverage_is_that_of_an_enumeration(n, level):
    expected = oracles.in_cells(*oracles.equal_local_levels(n, level))
    assert ecdf.coverage(n, level) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [8, 20, 48, 100])
def test_limits_hold_together_at_the_level_by_stecks_determinant(n):
    for alpha in (0.3, 0.05, 0.01):
        lower, upper = ecdf.band(n, alpha)
        assert oracles.steck(lower[1:], upper[:-1]) == pytest.approx(1 - alpha, abs=1e-7)


@pytest.mark.parametrize("n", [1, 2, 9, 1_000, slow(20_000), 20_001])
def test_limits_rise_are_symmetric_and_hold_the_empirical_cdf(n):
    lower, upper = ecdf.band(n, 0.05)
    assert lower[0] == 0
    assert upper[-1] == 1
    np.testing.assert_allclose(lower, 1 - upper[::-1], atol=1e-12)
    for limits in (lower, upper):
        assert (np.diff(limits) >= 0).all()
    share = np.arange(n + 1) / n
    assert ((lower <= share) & (share <= upper)).all()


def test_beyond_the_largest_size_the_band_is_massarts():
    lower, upper = ecdf.band(20_001, 0.05)
    epsilon = np.sqrt(np.log(40) / 40_002)
    np.testing.assert_allclose(upper[10_000] - lower[10_000], 2 * epsilon)


@pytest.mark.slow
def test_local_levels_are_narrower_in_the_tails_than_massarts_band_and_a_little_wider_in_the_middle():
    inner, epsilon = ecdf.band(20_000, 0.05), np.sqrt(np.log(40) / 40_000)
    assert inner.upper[0] < 0.1 * epsilon
    assert epsilon < inner.upper[10_000] - 0.5 < 1.3 * epsilon


@pytest.mark.parametrize("n", [5, 50, slow(200)])
def test_limits_are_those_of_opda_up_to_its_simulation(n):
    """Its equal-tailed band is simulated: what its limits cover is within three standard errors of 100,000 draws."""
    nonparametric = pytest.importorskip("opda.nonparametric")
    below, _, above = nonparametric.EmpiricalDistribution.confidence_bands(
        np.arange(1.0, n + 1), 0.95, method="ld_equal_tailed", n_jobs=1
    )
    ends = [np.array([each.cdf(z) for z in range(n + 1)]) for each in (below, above)]
    theirs = oracles.steck(np.minimum(*ends)[1:], np.maximum(*ends)[:-1])
    assert theirs == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 100_000))
    ours = ecdf.band(n, 0.05)
    for limits, expected in zip(ours, (np.minimum(*ends), np.maximum(*ends)), strict=True):
        np.testing.assert_allclose(limits, expected, atol=0.02)


def test_limits_at_counts_are_those_of_each_task():
    counts, n = np.array([[0, 1, 3], [2, 5, 7], [0, 0, 0]]), np.array([3, 7, 0])
    lower, upper = ecdf.limits_at(counts, n, 0.1)
    for task in (0, 1):
        limits = ecdf.band(int(n[task]), 0.1)
        np.testing.assert_array_equal(lower[task], limits.lower[counts[task]])
        np.testing.assert_array_equal(upper[task], limits.upper[counts[task]])
    assert (lower[2] == 0).all()
    assert (upper[2] == 1).all()
