import numpy as np
import pytest

from xcurves.kernels.resampling.plans import plan_flips
from xcurves.kernels.times import hitting_times
from xcurves.kernels.times.hitting_times import (
    bootstrap_scores,
    contributions,
    medians,
    ratios,
)


def claims(low, high=None, families=None):
    """Claims about one algorithm, as logarithms, given bounds of the logarithm of its ratio in each task."""
    bounds = np.exp(np.array([low, low if high is None else high], float)[:, np.newaxis])
    families = np.arange(bounds.shape[-1]) if families is None else np.array(families)
    made, _ = hitting_times.over_tasks(bounds, families, plan_flips(families.max() + 1, None), 0.05)
    with np.errstate(divide="ignore"):
        return {name: each[0] if name == "pvalue" else np.log(each[0]) for name, each in made.items()}


def test_a_bound_enters_one_end_and_opens_the_other():
    x = np.array([0.4, 0.3, 0.5, 0.2, 0.6, 0.1, 0.35])
    whole, low = claims(x), x.copy()
    low[2] = -np.inf
    bounded = claims(low, x)
    assert np.isnan(bounded["speedup"])
    assert bounded["speedup_ci"].tolist() == [-np.inf, whole["speedup_ci"][1]]
    assert bounded["pvalue"] == 1  # an upper bound shows no "sooner"
    assert claims(np.where(np.arange(7) == 2, -np.inf, -x), -x)["pvalue"] == whole["pvalue"] == 2 / 2**7


def test_tasks_that_say_nothing_are_left_out():
    x = np.array([0.4, np.nan, 0.3, 0.5, 0.2, 0.6, 0.1])
    made, without = claims(x), claims(x[~np.isnan(x)])
    for name, each in without.items():
        np.testing.assert_allclose(made[name], each)


def test_families_weigh_as_their_tasks_and_leave_no_median():
    x = np.array([0.4, 0.2, 0.3, 0.5, 0.2, 0.6, 0.1, 0.3])
    made = claims(x, families=[0, 0, 1, 2, 3, 4, 5, 6])
    assert made["speedup"] == pytest.approx(x.mean())
    assert np.isnan(made["median_speedup"])
    assert made["pvalue"] == 2 / 2**7


def test_the_median_has_the_interval_of_order_statistics():
    x = np.arange(14.0)[np.random.default_rng(0).permutation(14)]
    # 2 P(Bin(14, 1/2) <= 2) = .013
    np.testing.assert_allclose(claims(x)["median_speedup_ci"], [2, 11])
    assert claims(x[:5])["median_speedup_ci"].tolist() == [-np.inf, np.inf]
    assert claims(x)["median_speedup"] == pytest.approx(6.5)


def test_medians_of_times_are_infinite_if_a_middle_one_is():
    times = np.array(
        [
            [3.0, 1.0, np.inf, np.nan],
            [np.inf, 1.0, np.nan, np.nan],
            [5.0, 2.0, 4.0, 3.0],
            [np.nan] * 4,
        ]
    )
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
    # base, its variant, another base
    times = np.array([[1.0, 2.0, 9.0], [1.0, np.inf, 2.0], [2.0, 1.0, 3.0]])
    found = ratios(times, np.array([-1, 0, -1]), 4.0)
    assert found.tolist() == [[1.0, np.inf, np.inf], [2.0, 1.0, 3.0]]


def test_scores_of_drawn_runs_vary_only_where_runs_do():
    times = np.array([[[1.0, 1.0, 1.0], [2.0, 2.0, np.nan]], [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]]])
    scores = bootstrap_scores(times, None, 4.0, None, 500, 0)
    first = 0.5 * (1 + (4 - np.array([1.0, 2.0, 3.0])) / 3)
    assert {*np.round(scores[:, 0], 9)} == {*np.round(first, 9)}
    share = np.mean(scores[:, 0] == first[1])
    # the median of three draws of three is the middle one
    assert share == pytest.approx(1 - 2 * 7 / 27, abs=0.07)
