"""Student's interval of a mean, Welch's of a difference, and degrees of freedom, against SciPy and plain sums."""

import numpy as np
import pytest
from scipy import stats

from xcurves.kernels import intervals

ALPHA = 0.1


def runs_of(n, seed):
    return np.random.default_rng(seed).normal(3, 2, n)


@pytest.mark.parametrize("n", [2, 3, 30])
def test_the_interval_of_a_mean_is_scipys(n):
    runs = runs_of(n, n)
    mean, ends = intervals.mean_interval(runs, ALPHA)
    expected = stats.t.interval(1 - ALPHA, n - 1, runs.mean(), stats.sem(runs))
    assert mean == runs.mean()
    np.testing.assert_allclose(ends, expected, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(2, 2), (4, 9), (12, 3)])
def test_the_interval_of_a_difference_is_that_of_scipys_welch_test(sizes):
    some, others = runs_of(sizes[0], 1), 5 * runs_of(sizes[1], 2)
    difference, ends = intervals.welch_interval(some, others, ALPHA)
    test = stats.ttest_ind(some, others, equal_var=False)
    expected = test.confidence_interval(1 - ALPHA)
    assert difference == pytest.approx(some.mean() - others.mean(), rel=1e-15)
    np.testing.assert_allclose(ends, [expected.low, expected.high], rtol=1e-12)


@pytest.mark.parametrize("runs", [[], [1.0], [2.0, 2.0], [0.1 + 0.2, 0.3, 0.3]])
def test_runs_without_a_spread_have_no_interval(runs):
    runs = np.array(runs)
    assert np.isnan(intervals.mean_interval(runs, ALPHA)[1]).all()
    assert np.isnan(intervals.welch_interval(runs, runs, ALPHA)[1]).all()


def test_infinite_degrees_of_freedom_are_normal_ones_and_shapes_stay():
    degrees = np.array([[1.0, 7.0], [np.inf, 7.0]])
    found = intervals.student(np.zeros((2, 2)), 1.0, degrees, ALPHA)
    expected = stats.t.ppf(1 - ALPHA / 2, degrees)
    expected[1, 0] = stats.norm.ppf(1 - ALPHA / 2)
    np.testing.assert_allclose(found, np.stack([-expected, expected], axis=-1), rtol=1e-12)


def test_degrees_of_freedom_of_three_means_are_those_of_the_sum_by_simulation():
    sigma, n = np.array([1.0, 3.0, 0.5]), np.array([4, 6, 5])
    rng = np.random.default_rng(0)
    errors = sigma**2 / n
    drawn = errors * rng.chisquare(n - 1, (200_000, 3)) / (n - 1)
    total = drawn.sum(axis=1)
    # a mean of squares with df degrees has the variance 2 mean² / df
    expected = 2 * total.mean() ** 2 / total.var()
    found = intervals.satterthwaite(errors.sum(), (errors**2 / (n - 1)).sum())
    assert found == pytest.approx(expected, rel=0.02)
    assert np.isnan(intervals.satterthwaite(np.zeros(1), np.zeros(1))).all()
