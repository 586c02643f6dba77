"""Intervals of means over tasks, and of one more task, against plain loops, statsmodels, and simulated coverage."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from xcurves.kernels.over_tasks import family_means
from xcurves.kernels.resampling.plans import TIE

ALPHA = 0.05 / 3


def over_equal_families(values):
    """Return sums and weights of families that weigh alike, values of (member, family)."""
    weights = np.full(values.shape, 1 / values.shape[1])
    return values * weights, weights


def by_loop(x, n):
    """Return the mean and its standard error from sums of families and their weights."""
    mean = sum(x)
    squares = sum((xg - ng * mean) ** 2 for xg, ng in zip(x, n, strict=True))
    return mean, sqrt(len(x) / (len(x) - 1) * squares)


def test_of_families_that_weigh_alike_it_is_students():
    values = np.random.default_rng(0).normal(3, 2, (4, 9))
    x, weights = over_equal_families(values)
    found = family_means.means_over_families(x, weights, ALPHA, of_shares=False)
    low, high = stats.t.interval(1 - ALPHA, 8, values.mean(axis=1), stats.sem(values, axis=1))
    np.testing.assert_allclose(found, np.stack([low, high], axis=-1), rtol=1e-12)


def test_families_of_unlike_weight_and_absent_ones_as_in_a_plain_loop():
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.1, 1, (3, 8))
    weights[1, :3] = np.nan
    weights[2, 1:] = np.nan
    weights /= np.nansum(weights, axis=1, keepdims=True)
    x = weights * rng.normal(1, 3, (3, 8))
    found = family_means.means_over_families(x, weights, ALPHA, of_shares=False)
    for member in (0, 1):
        here = ~np.isnan(x[member])
        mean, error = by_loop(x[member, here].tolist(), weights[member, here].tolist())
        half = stats.t.ppf(1 - ALPHA / 2, here.sum() - 1) * error
        np.testing.assert_allclose(found[member], [mean - half, mean + half])
    assert np.isnan(found[2]).all()  # of one family


def test_shares_have_wilsons_interval():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    rng = np.random.default_rng(2)
    values = (rng.random((5, 40)) < [[0.5], [0.9], [0.1], [1.1], [0.0]]).astype(float)
    found = family_means.means_over_families(*over_equal_families(values), ALPHA, of_shares=True)
    for member, scores in enumerate(values.tolist()):
        mean, error = sum(scores) / 40, sqrt(np.var(scores) / 39)
        n = 40 if error == 0 else mean * (1 - mean) / error**2
        expected = proportion.proportion_confint(mean * n, n, ALPHA, method="wilson")
        np.testing.assert_allclose(found[member], expected, rtol=1e-12, atol=1e-15)
        if error > 0:
            assert n == pytest.approx(39)  # of one answer a task: tasks less one
    assert found[3, 1] == pytest.approx(1, abs=1e-15)
    assert found[4, 0] == 0


def test_a_mean_of_equal_numbers_has_no_interval():
    values = np.array([[0.1] * 7, [1e9 / 3] * 7])
    error = family_means.error_over_families(*over_equal_families(values))
    assert error.tolist() == [0, 0]
    found = family_means.means_over_families(*over_equal_families(values), ALPHA, of_shares=False)
    assert np.isnan(found).all()


@pytest.mark.parametrize("n_families", range(2, 60))
def test_shares_of_only_successes_are_held_whatever_their_weights(n_families):
    """Their mean is 1 but for rounding."""
    weights = np.random.default_rng(n_families).uniform(0.1, 1, (1, n_families))
    weights /= weights.sum()
    found = family_means.means_over_families(weights, weights, ALPHA, of_shares=True)
    z = stats.norm.ppf(1 - ALPHA / 2)
    np.testing.assert_allclose(found, [[n_families / (n_families + z**2), 1]])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0, 1, 1, np.nan], True),
        ([0, 0.25, 0.75, 1], True),
        ([0, 1 / 3, 2 / 3], True),
        ([0, 1 / 3, 1 / 4], False),  # of 12 answers
        ([0.764, 0.81, 0.9], False),
        ([0, 1, 2], False),
        ([-1, 0, 1], False),
        ([0, 1, np.inf], False),
        ([0, 1, -np.inf], False),
        ([np.nan, np.nan], False),
    ],
)
def test_shares_of_a_few_answers_are_told_from_other_scores(scores, expected):
    assert family_means.are_shares(np.array(scores, float)) == expected


@pytest.mark.parametrize("kind", ["normal", "answers"])
def test_all_means_together_are_held_as_often_as_they_say(kind):
    """Three algorithms: of the answers of 60 questions, 96 % right, t would hold all in .73."""
    rng = np.random.default_rng(3)
    held, n_sets = 0, 1000
    truth = 0.96
    for _ in range(n_sets):
        if kind == "answers":
            values = (rng.random((3, 60)) < truth).astype(float)
        else:
            values = rng.normal(truth, 0.3, (3, 9))
        ends = family_means.means_over_families(*over_equal_families(values), 0.05 / 3, of_shares=kind == "answers")
        held += bool(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all())
    low, high = stats.binom.interval(0.999, n_sets, 0.95)
    assert held >= low
    if kind == "normal":
        assert held <= high


def one_more_by_loop(d, alpha):
    known = sorted(each for each in d if not np.isnan(each))
    t, j = len(known), 1
    while (j + 1) / (t + 1) <= alpha / 2 + 1e-12:
        j += 1
    if t < 5 or len({round(each, 9) for each in known}) < 4:
        return (np.nan, np.nan), np.nan
    return (known[j - 1], known[t - j]), 1 - 2 * j / (t + 1)


def test_one_more_value_lies_between_sorted_ones():
    rng = np.random.default_rng(4)
    for alpha in (0.05, 0.2, 0.5):
        values = rng.normal(size=(30, 120))
        for member, n_known in enumerate([*range(20), 39, 40, 59, 60, 79, 80, 99, 118, 119, 120]):
            values[member, rng.permutation(120)[n_known:]] = np.nan
        values[12, ~np.isnan(values[12])] = np.repeat([1.0, 2.0, 0.1 + 0.2], 4)
        values[13, ~np.isnan(values[13])] = [1, 2, 3, 0.3, *[0.1 + 0.2] * 9]
        ends, level = family_means.one_more_value(values, alpha)
        expected = [one_more_by_loop(each, alpha) for each in values.tolist()]
        np.testing.assert_array_equal(ends, [each for each, _ in expected])
        np.testing.assert_allclose(level, [each for _, each in expected])
        assert np.isnan(level[[0, 4, 12]]).all()
        assert level[13] < 1


def test_one_more_value_asks_all_values_whether_four_are_distinct():
    first_alike, chained = np.zeros((2, 2000))
    # the last ones differ; the first do not
    first_alike[-3:] = 1.0, 2.0, 3.0
    # among the first some are far apart, and all others between them are as good as equal to the next
    step = 0.9 * TIE
    chained[:] = 1 + step * np.random.default_rng(0).permutation(2000)
    _, level = family_means.one_more_value(np.array([first_alike, chained]), 0.05)
    assert level[0] < 1
    assert np.isnan(level[1])
    few = chained[:64]
    assert np.count_nonzero(np.diff(np.sort(few)) > TIE * few.max()) >= 3


@pytest.mark.parametrize("n_tasks", [5, 16, 60])
def test_one_more_value_is_held_as_often_as_it_says(n_tasks):
    rng = np.random.default_rng(5)
    n_sets = 4000
    values = rng.exponential(size=(n_sets, n_tasks + 1))
    ends, level = family_means.one_more_value(values[:, :-1], 0.05)
    assert np.ptp(level) == 0
    new = values[:, -1]
    held = np.count_nonzero((ends[:, 0] <= new) & (new <= ends[:, 1]))
    low, high = stats.binom.interval(0.999, n_sets, level[0])
    assert low <= held <= high
