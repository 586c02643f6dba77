"""How many tasks show a difference, and which difference so many tasks show, against SciPy and statsmodels."""

import json
import math

import numpy as np
import pytest
from scipy import optimize, stats

from across_reference import FILE
from oracles import power_of_t
from xcurves.kernels import numbers_needed
from xcurves.kernels.over_tasks import family_means

ALPHA = 0.05
ITEMS = FILE.with_name("dev_items.json")


def power_of_nct(effect, n, alpha):
    critical, shift = stats.t.ppf(1 - alpha / 2, n - 1), effect * np.sqrt(n)
    return stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)


def power_by_integral(effect, n, alpha):
    return power_of_t(effect * np.sqrt(n), n - 1, alpha)


def simulated_power(effect, n, alpha, n_sets=20_000):
    rng = np.random.default_rng(0)
    x = rng.normal(effect, 1, (n_sets, n))
    t = np.sqrt(n) * x.mean(axis=1) / x.std(axis=1, ddof=1)
    return np.count_nonzero(np.abs(t) > stats.t.ppf(1 - alpha / 2, n - 1)), n_sets


def first_number(effect, alpha):
    """Return the least number of tasks, of all from two on."""
    n = np.arange(2, 1000)
    enough = (2.0 ** (1 - n) <= alpha * (1 + 1e-9)) & ~(power_of_nct(effect, n, alpha) < 0.8)
    return n[enough][0]


def power_in_one_sample(effect, n, alpha):
    return numbers_needed._power(*numbers_needed._noncentral(effect, n, alpha, 1))


@pytest.mark.parametrize("alpha", [ALPHA, ALPHA / 3, ALPHA / 28])
def test_numbers_of_tasks_are_the_first_that_have_the_power(alpha):
    effects = np.array([0.21, 0.4, 0.7, 1.0, 1.3, 1.7, 2.2])
    found = numbers_needed.tasks_to_show(effects, np.ones(7), np.full(7, 9.0), alpha)
    assert found.tolist() == [first_number(each, alpha) for each in effects]


def test_powers_are_those_of_statsmodels():
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    smallest = numbers_needed.smallest_to_show(np.array([2.0]), np.array([12.0]), ALPHA)
    effect = power.solve_power(None, 12, ALPHA, 0.8)
    np.testing.assert_allclose(smallest, 2 * np.sqrt(12) * effect, rtol=1e-6)
    for effect, n in ((0.3, 12), (0.9, 12), (0.1, 500), (1.5, 5)):
        mine = power_in_one_sample(np.array([effect]), np.array([float(n)]), ALPHA / 3)
        np.testing.assert_allclose(mine, power.power(effect, n, ALPHA / 3), rtol=1e-9)


@pytest.mark.parametrize("alpha", [ALPHA, ALPHA / 3, ALPHA / 28])
def test_numbers_of_runs_of_each_are_the_first_that_have_the_power(alpha):
    effects = np.array([0.21, 0.4, 0.7, 1.0, 1.5, 2.2, 4.0])
    # in 5 and 8 runs with a standard deviation of 2
    error = 2 * np.sqrt(1 / 5 + 1 / 8)
    found = numbers_needed.runs_to_show(2 * effects, np.full(7, error), (5, 8), alpha)
    for effect, n in zip(effects, found, strict=True):
        assert two_samples(effect, n, alpha) >= 0.8
        assert 2 / math.comb(2 * int(n), int(n)) <= alpha
        fewer = int(n) - 1
        assert two_samples(effect, fewer, alpha) < 0.8 or 2 / math.comb(2 * fewer, fewer) > alpha


def two_samples(effect, n, alpha):
    return power_of_t(effect * np.sqrt(n / 2), 2 * n - 2, alpha)


def test_where_no_number_of_runs_is_known():
    mean, error = np.array([0.0, 0.0, 1e-9, np.nan]), np.array([1.0, 0.0, 1.0, 1.0])
    found = numbers_needed.runs_to_show(mean, error, (4, 4), ALPHA)
    np.testing.assert_array_equal(found, [np.nan, np.inf, np.inf, np.nan])
    assert np.isnan(numbers_needed.runs_to_show(np.ones(1), np.ones(1), (1, 4), ALPHA)).all()


@pytest.mark.parametrize("effect", [3, 5, 8, 20, 1e3, 1e9, 1e200])
def test_a_difference_of_many_standard_deviations_takes_the_fewest_tasks(effect):
    one = np.ones(1)
    found = numbers_needed.tasks_to_show(effect * one, one, 12 * one, ALPHA)
    assert found == 6
    assert power_in_one_sample(effect * one, 6 * one, ALPHA) > 0.99


def test_any_difference_takes_the_fewest_where_nothing_varies():
    mean, sd = np.array([-1e-3, 1e-3, -2.0]), np.zeros(3)
    assert numbers_needed.tasks_to_show(mean, sd, np.full(3, 9.0), ALPHA).tolist() == [6, 6, 6]
    # 2 / C(8, 4) is the first below .05
    assert numbers_needed.runs_to_show(mean, sd, (5, 8), ALPHA).tolist() == [4, 4, 4]


def test_which_of_two_is_better_does_not_change_the_number():
    mean, one = np.array([0.3, 1.1, 2.5]), np.ones(3)
    for found in (
        [numbers_needed.tasks_to_show(sign * mean, one, 9 * one, ALPHA).tolist() for sign in (1, -1)],
        [numbers_needed.runs_to_show(sign * mean, one / 2, (5, 8), ALPHA).tolist() for sign in (1, -1)],
    ):
        assert found[0] == found[1]
        assert np.isfinite(found).all()


def test_no_number_is_below_the_fewest_at_a_level_of_very_many_pairs():
    effects, alpha = np.array([1.0, 2.0, 5.0, 40.0]), 1e-9
    found = numbers_needed.tasks_to_show(effects, np.ones(4), np.full(4, 9.0), alpha)
    least = 31  # 2 / 2^31 is the first below the level
    assert found[1:].tolist() == [least, least, least]
    assert power_by_integral(1.0, found[0], alpha) >= 0.8 > power_by_integral(1.0, found[0] - 1, alpha)


@pytest.mark.parametrize(("effect", "n"), [(0.8, 6), (1.2, 6), (5.0, 2), (8.0, 2)])
def test_powers_by_spreads_are_those_of_simulated_tasks(effect, n):
    """They stand in where SciPy's noncentral t is NaN, as at 8 standard deviations and 2 tasks."""
    critical = stats.t.ppf([1 - ALPHA / 2], n - 1)
    found = numbers_needed._power_by_spreads(np.array([effect * np.sqrt(n)]), np.array([n - 1.0]), critical)
    held, n_sets = simulated_power(effect, n, ALPHA)
    low, high = stats.binom.interval(0.999, n_sets, found.item())
    assert low <= held <= high
    known = power_of_nct(effect, n, ALPHA)
    if np.isfinite(known):
        np.testing.assert_allclose(found, known, atol=1e-4)
        np.testing.assert_allclose(found, power_in_one_sample(np.array([effect]), np.array([n]), ALPHA), 1e-3)


def test_where_no_number_of_tasks_is_known():
    mean = np.array([0.0, 0.0, 1e-9, 0.5, np.nan])
    sd = np.array([1.0, 0.0, 1.0, 1.0, 1.0])
    n = np.array([9.0, 9.0, 9.0, 2.0, 9.0])
    found = numbers_needed.tasks_to_show(mean, sd, n, ALPHA)
    np.testing.assert_array_equal(found, [np.nan, np.inf, np.inf, np.nan, np.nan])


def test_the_furthest_end_takes_at_least_so_many_tasks():
    ends = np.array([[-0.2, 1.5], [-1.5, 0.2], [-np.inf, np.inf], [0.4, np.inf], [np.nan, np.nan]])
    one = np.ones(5)
    found = numbers_needed.tasks_at_least(ends, 2 * one, 9 * one, ALPHA / 3)
    both = first_number(0.75, ALPHA / 3)
    assert found[:4].tolist() == [both, both, 7, 7]  # 2 / 2^7 <= .05 / 3
    assert np.isnan(found[4])
    few = numbers_needed.tasks_at_least(ends, 2 * one, 2 * one, ALPHA)
    assert np.isnan(few).all()


@pytest.mark.parametrize("alpha", [ALPHA, ALPHA / 28])
def test_the_smallest_difference_has_the_power(alpha):
    numbers = np.array([6.0, 16.0, 7.0, 250.0, 6.0])
    errors = np.array([0.1, 2.0, 1.0, 0.01, 0.3])
    found = numbers_needed.smallest_to_show(errors, numbers, alpha)
    for smallest, error, n in zip(found, errors, numbers, strict=True):
        effect = smallest / error / np.sqrt(n)
        by_integral = power_by_integral(effect, n, alpha)
        np.testing.assert_allclose(by_integral, 0.8, rtol=2e-4)
        assert power_by_integral(0.999 * effect, n, alpha) < by_integral
        known = power_of_nct(effect, n, alpha)
        if n >= 16:  # SciPy's is NaN at some larger shifts
            np.testing.assert_allclose(known, 0.8, rtol=1e-9)
    nothing = numbers_needed.smallest_to_show(np.array([0.1, 0.0]), np.array([5, 9.0]), 1)
    assert np.isnan(nothing).all()


@pytest.mark.skipif(not ITEMS.exists(), reason="the reference answers are not beside the project")
def test_smallest_differences_of_the_reference():
    for case in json.loads(ITEMS.read_text()):
        scores = np.array(case["scores"], float).mean(axis=-1)
        pairs = np.array(case["answer"]["pairs"])
        d = scores[pairs[:, 0]] - scores[pairs[:, 1]]
        here = ~np.isnan(d)
        cluster = np.arange(d.shape[1]) if case["cluster"] is None else case["cluster"]
        w = here / here.sum(axis=1, keepdims=True)
        x, weights = (
            np.stack([each[:, np.equal(cluster, one)].sum(1) for one in set(cluster)], 1)
            for each in (w * np.nan_to_num(d), w)
        )
        absent = weights == 0
        x[absent] = weights[absent] = np.nan
        n = np.count_nonzero(~absent, axis=1)
        assert n.tolist() == case["answer"]["n_families"]
        error = family_means.error_over_families(x, weights)
        found = numbers_needed.smallest_to_show(error, n * 1.0, ALPHA / len(pairs))
        expected = case["answer"]["smallest_to_show"]
        np.testing.assert_allclose(found, expected, atol=2e-8, rtol=0)


@pytest.mark.parametrize("n", [101, 2_000, 50_000])
def test_the_power_of_many_tasks_is_that_of_the_noncentral_t(n):
    # at a level of many pairs, where SciPy's special function is NaN
    alpha = 0.05 / 4950
    critical = stats.t.isf(alpha / 2, n - 1)
    shift = critical + np.array([-1.0, 0.0, 0.5, 0.84, 1.5, 3.0])
    expected = stats.nct.sf(critical, n - 1, shift)
    found = numbers_needed._power_by_normal(shift, np.full(6, n - 1.0), np.full(6, critical))
    np.testing.assert_allclose(found, expected, atol=5e-4)


def test_the_power_by_normal_spreads_has_both_tails():
    # at so wide a level the other tail is up to a half of the power
    df, alpha = 200, 0.5
    critical = stats.t.ppf(1 - alpha / 2, df)
    shift = np.array([0.0, 0.1, 0.5, 1.0])
    expected = stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)
    found = numbers_needed._power_by_normal(shift, np.full(4, 1.0 * df), np.full(4, critical))
    np.testing.assert_allclose(found, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("alpha", [0.5, ALPHA, ALPHA / 45, ALPHA / 4950, 1e-10])
@pytest.mark.parametrize("n", [2, 3, 6, 11, 26, 60, 200])
def test_a_normal_spread_says_the_power_but_close_to_what_is_asked(n, alpha):
    """Shifts to which a normal spread gives a little more, or less, than the power have it, or lack it."""
    df, critical = float(n - 1), stats.t.isf(alpha / 2, n - 1)
    off = numbers_needed._BY_NORMAL / df

    def by_normal(shift):
        return numbers_needed._power_by_normal(*(np.array([each]) for each in (shift, df, critical))).item()

    for wanted, is_enough in ((0.8 - off, False), (0.8 + off, True)):
        shift = optimize.brentq(lambda at, wanted=wanted: by_normal(at) - wanted, 0, 2 * critical + 10)
        assert (power_of_t(shift, df, alpha) >= 0.8) == is_enough
        found = numbers_needed._has_power(np.array([shift / np.sqrt(n)]), np.array([float(n)]), alpha, 1)
        assert found.tolist() == [is_enough]


@pytest.mark.parametrize("n_samples", [1, 2])
def test_numbers_have_the_power_where_its_least_shift_is_stepped_over(n_samples):
    """Effects a millionth above and below those of which so many tasks, or runs, just have the power."""
    for n in (4, 9, 30, 45):
        df = n_samples * (n - 1)
        shift = optimize.brentq(lambda at, df=df: power_of_t(at, df, ALPHA) - 0.8, 0, 20, xtol=1e-13)
        effects = shift / np.sqrt(n / n_samples) * np.array([1 - 1e-6, 1 + 1e-6])
        found = numbers_needed._has_power(effects, np.full(2, 1.0 * n), ALPHA, n_samples)
        assert found.tolist() == [False, True]
