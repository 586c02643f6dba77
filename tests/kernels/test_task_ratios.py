import numpy as np
import pytest

from xcurves.kernels import hitting_times
from xcurves.kernels.hitting_times import bootstrap_scores, contributions, medians, ratios
from xcurves.kernels.plans import plan_flips


def claims(x, families=None, alpha=0.05):
    low, high = (np.array(x, float)[np.newaxis], np.array(x, float)[np.newaxis]) if np.ndim(x) == 1 else np.array(x)
    families = np.arange(low.shape[1]) if families is None else np.array(families)
    return hitting_times.over_tasks(low, high, families, plan_flips(families.max() + 1, None), alpha)


def test_a_bound_enters_one_end_and_opens_the_other():
    x = np.array([0.4, 0.3, 0.5, 0.2, 0.6, 0.1, 0.35])
    whole = claims(x)
    low = x.copy()
    low[2] = -np.inf
    bounded = claims([low[np.newaxis], x[np.newaxis]])
    assert np.isnan(bounded.mean[0])
    assert bounded.interval[0].tolist() == [-np.inf, whole.interval[0, 1]]
    assert bounded.pvalue[0] == 1  # an upper bound shows no "sooner"
    later = claims([-x[np.newaxis] - [0, 0, np.inf, 0, 0, 0, 0], -x[np.newaxis]])
    assert later.pvalue[0] == whole.pvalue[0] == 2 / 2**7


def test_tasks_that_say_nothing_are_left_out():
    x = np.array([0.4, np.nan, 0.3, 0.5, 0.2, 0.6, 0.1])
    made, without = claims(x), claims(x[~np.isnan(x)])
    for mine, theirs in zip(made, without, strict=True):
        np.testing.assert_allclose(mine, theirs)


def test_families_weigh_as_their_tasks_and_leave_no_median():
    x = np.array([0.4, 0.2, 0.3, 0.5, 0.2, 0.6, 0.1, 0.3])
    made = claims(x, families=[0, 0, 1, 2, 3, 4, 5, 6])
    assert made.mean[0] == pytest.approx(x.mean())
    assert np.isnan(made.median[0])
    assert made.pvalue[0] == 2 / 2**7


def test_the_median_has_the_interval_of_order_statistics():
    x = np.arange(14.0)[np.random.default_rng(0).permutation(14)]
    assert claims(x).median_interval[0].tolist() == [2, 11]  # 2 P(Bin(14, 1/2) <= 2) = .013
    assert claims(x[:5]).median_interval[0].tolist() == [-np.inf, np.inf]
    assert claims(x).median[0] == 6.5


def test_medians_of_times_are_infinite_if_a_middle_one_is():
    times = np.array([[3.0, 1.0, np.inf, np.nan], [np.inf, 1.0, np.nan, np.nan], [5.0, 2.0, 4.0, 3.0], [np.nan] * 4])
    assert medians(times).tolist()[:3] == [3.0, np.inf, 3.5]
    assert np.isnan(medians(times)[3])


def test_contributions_are_the_areas_under_profiles():
    times = np.array([[2.0, 1.0], [3.0, 6.0], [np.inf, 2.0], [np.inf, np.inf], [9.0, 1.0]])
    found = ratios(times, None, 4.0)
    tau = np.linspace(1, 4, 300_001)
    area = (found[..., np.newaxis] <= tau).mean(axis=0)[:, :-1].mean(axis=-1)
    np.testing.assert_allclose(contributions(found, 4.0, None).mean(axis=0), area, atol=1e-5)
    np.testing.assert_allclose(contributions(found, 4.0, 100).mean(axis=0), area, atol=0.01)


def test_gates_in_their_order():
    times = np.array([[1.0, 2.0, 9.0], [1.0, np.inf, 2.0], [2.0, 1.0, 3.0]])  # base, its variant, another base
    found = ratios(times, np.array([-1, 0, -1]), 4.0)
    assert found.tolist() == [[1.0, np.inf, np.inf], [2.0, 1.0, 3.0]]


def test_scores_of_drawn_runs_vary_only_where_runs_do():
    times = np.array([[[1.0, 1.0, 1.0], [2.0, 2.0, np.nan]], [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]]])
    scores = bootstrap_scores(times, None, 4.0, None, 500, 0)
    first = 0.5 * (1 + (4 - np.array([1.0, 2.0, 3.0])) / 3)
    assert {*np.round(scores[:, 0], 9)} == {*np.round(first, 9)}
    share = np.mean(scores[:, 0] == first[1])
    assert share == pytest.approx(1 - 2 * 7 / 27, abs=0.07)  # the median of three draws of three is the middle one
