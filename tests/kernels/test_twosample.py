from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import oracles_distribution as oracles
from xcurves.kernels.distributions import twosample

TIED = st.lists(st.integers(0, 4), min_size=1, max_size=6)


def merged(x, y, width=8):
    rows = [np.array([*sample, *[np.nan] * (width - len(sample))], float)[np.newaxis] for sample in (x, y)]
    return twosample.merge_samples(*rows)


@given(TIED, TIED)
def test_probability_and_distance_are_those_of_loops(x, y):
    both = merged(x, y)
    np.testing.assert_allclose(twosample.prob_greater(both), oracles.prob_greater(x, y))
    distance = oracles.ks_distance(x, y) * len(x) * len(y)
    assert twosample.gaps(both) == twosample.gaps(merged(y, x)) == distance


@pytest.mark.slow
@given(TIED, TIED)
def test_ks_pvalue_is_that_of_all_splits_ties_included(x, y):
    both = merged(x, y)
    pvalue = twosample.ks_pvalue(both, twosample.gaps(both))
    np.testing.assert_allclose(pvalue, oracles.ks_enumeration(x, y), rtol=1e-12)


@pytest.mark.parametrize(("m", "n"), [(10, 10), (7, 31), (100, 60), (400, 400), (5, 10_000)])
def test_without_ties_it_is_scipys(m, n):
    rng = np.random.default_rng(m)
    x, y = rng.normal(size=(1, m)), rng.normal(0.4, size=(1, n))
    both = twosample.merge_samples(x, y)
    theirs = stats.ks_2samp(x[0], y[0], method="exact")
    gap = twosample.gaps(both)
    np.testing.assert_allclose(gap / (m * n), theirs.statistic)
    np.testing.assert_allclose(twosample.ks_pvalue(both, gap), theirs.pvalue, rtol=1e-9)


def test_beyond_the_limit_it_is_kolmogorovs(monkeypatch):
    rng = np.random.default_rng(0)
    both = twosample.merge_samples(rng.normal(size=(1, 3000)), rng.normal(0.05, size=(1, 2000)))
    gap = twosample.gaps(both)
    exact = twosample.ks_pvalue(both, gap)
    monkeypatch.setattr(twosample, "EXACT_WORK", 2_000 * 5_000)
    np.testing.assert_array_equal(twosample.ks_pvalue(both, gap), exact)
    monkeypatch.setattr(twosample, "EXACT_WORK", 2_000 * 5_000 - 1)
    limit = stats.kstwobign.sf(gap / 6e6 * np.sqrt(3000 * 2000 / 5000))
    np.testing.assert_allclose(twosample.ks_pvalue(both, gap), limit, rtol=1e-12)
    np.testing.assert_allclose(limit, exact, rtol=0.05)


@pytest.mark.parametrize("turned", [False, True])
def test_a_few_trials_by_many_are_tested_exactly(turned):
    """Three below all others: only one split of C(5003, 3), or its mirror, is as far apart."""
    few, many = np.array([[-3.0, -2, -1]]), np.arange(5_000.0)[np.newaxis]
    both = twosample.merge_samples(*((many, few) if turned else (few, many)))
    pvalue = twosample.ks_pvalue(both, twosample.gaps(both))
    np.testing.assert_allclose(pvalue, 2 / comb(5_003, 3), rtol=1e-9)


def test_groups_of_unequal_sizes_are_each_tested_by_themselves():
    rng = np.random.default_rng(0)
    x, y = (
        rng.integers(0, 5, (3, 8)).astype(float),
        rng.integers(0, 5, (3, 8)).astype(float),
    )
    x[1, 5:] = y[2] = np.nan
    both = twosample.merge_samples(x, y)
    found = twosample.ks_pvalue(both, twosample.gaps(both))
    assert np.isnan(found[2])
    for task in (0, 1):
        own = twosample.merge_samples(x[task : task + 1], y[task : task + 1])
        assert found[task] == twosample.ks_pvalue(own, twosample.gaps(own)).item()


@pytest.mark.parametrize(("m", "n"), [(10, 10), (3, 12), (58, 51)])
@pytest.mark.parametrize("probability", [0.0, 0.03, 0.5, 0.893, 1.0])
def test_newcombes_interval_is_the_root_of_his_quartic(m, n, probability):
    found = twosample.newcombe(np.array([probability]), np.array([m]), np.array([n]), 0.05)[0]
    np.testing.assert_allclose(found, oracles.newcombe(probability, m, n, stats.norm.ppf(0.975)), atol=1e-9)


@pytest.mark.slow
def test_stratified_probability_and_interval_are_those_of_a_textbook_bootstrap():
    rng = np.random.default_rng(1)
    x, y = (
        rng.integers(0, 6, (1, 3, 5)).astype(float),
        rng.integers(0, 5, (1, 3, 4)).astype(float),
    )
    x[0, 1, 3:] = np.nan
    x, y = np.sort(x), np.sort(y)
    strata = [(a[~np.isnan(a)], b) for a, b in zip(x[0], y[0], strict=True)]
    np.testing.assert_allclose(
        twosample.stratified_probability(x, y),
        np.mean([oracles.prob_greater(*each) for each in strata]),
    )
    drawn = [
        np.mean([oracles.prob_greater(rng.choice(a, len(a)), rng.choice(b, len(b))) for a, b in strata])
        for _ in range(4_000)
    ]
    low, high = twosample.stratified_interval(x, y, 40_000, 0, 0.05)[0]
    for limit, tail in ((low, 0.025), (high, 0.975)):
        error = 4 * np.sqrt(0.025 * 0.975 / len(drawn))
        assert (
            np.mean(np.array(drawn) < limit - 1e-9) - error <= tail <= np.mean(np.array(drawn) <= limit + 1e-9) + error
        )
