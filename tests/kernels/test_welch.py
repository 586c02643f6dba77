"""The permuted Welch statistic beside plain loops, statsmodels and limits."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.oneway import anova_oneway

import oracles
from xcurves.kernels.one_task import welch
from xcurves.kernels.one_task.welch import ratio_quantile
from xcurves.kernels.resampling import group_products, plans


def welch_by_definition(groups):
    """W in plain Python; groups without spread as the limit of a spread that vanishes."""
    m = len(groups)
    sizes, means = [len(g) for g in groups], [sum(g) / len(g) for g in groups]
    squares = [sum((x - mean) ** 2 for x in g) / (len(g) - 1) for g, mean in zip(groups, means, strict=True)]
    weights = [n / s if s > 1e-20 else None for n, s in zip(sizes, squares, strict=True)]
    fixed = [i for i in range(m) if weights[i] is None]
    if fixed:
        total = sum(sizes[i] for i in fixed)
        centre = sum(sizes[i] * means[i] for i in fixed) / total
        apart = sum(sizes[i] * (means[i] - centre) ** 2 for i in fixed)
        if apart > 1e-20:
            return math.inf, apart
        shares = [sizes[i] / total if i in fixed else 0.0 for i in range(m)]
    else:
        centre = sum(w * x for w, x in zip(weights, means, strict=True)) / sum(weights)
        shares = [w / sum(weights) for w in weights]
    numerator = sum(w * (x - centre) ** 2 for w, x in zip(weights, means, strict=True) if w is not None) / (m - 1)
    lam = sum((1 - share) ** 2 / (n - 1) for share, n in zip(shares, sizes, strict=True))
    return numerator / (1 + 2 * (m - 2) / (m * m - 1) * lam), 0.0


def reached(value, observed):
    if math.isinf(value[0]) and math.isinf(observed[0]):
        return value[1] >= observed[1] * (1 - 1e-9)
    return value[0] >= observed[0] * (1 - 1e-9)


DATA = {
    "two groups": [[1.0, 2.5, 0.3, 4.0], [5.0, 3.1, 2.2]],
    "three": [[1.0, 2.5, 0.3], [5.0, 3.1], [9.0, 1.0, -4.0]],
    "ties": [[1.0, 1, 2], [2.0, 3, 3], [1.0, 2, 3]],
    "one without spread": [[2.0, 2, 2], [5.0, 3.1], [9.0, 1.0, -4.0]],
    "two without spread, equal means": [[2.0, 2, 2], [2.0, 2], [9.0, 1.0, -4.0]],
    "two without spread, different means": [[2.0, 2, 2], [3.0, 3], [9.0, 1.0, -4.0]],
    "all without spread": [[2.0, 2], [3.0, 3], [7.0, 7, 7]],
}


@pytest.mark.plain(7)
@pytest.mark.parametrize("groups", DATA.values(), ids=DATA)
@pytest.mark.parametrize("factor", [1.0, 1e-9, 1e12])
def test_exact_p_is_the_share_of_all_deals(groups, factor):
    sizes = tuple(map(len, groups))
    plan = plans.plan_runs(sizes, None)
    u = factor * np.concatenate(groups)[np.newaxis]
    found = welch.welch_tests(u, plan, 0.05, keep=True)
    observed = welch_by_definition(groups)
    every = np.concatenate(groups)[oracles.labelled_orders(sizes)]
    null = [welch_by_definition(np.split(each, np.cumsum(sizes)[:-1])) for each in every]
    assert plan.exact
    assert found["f"][0] == pytest.approx(observed[0])
    assert found["pvalue"][0] == pytest.approx(np.mean([reached(each, observed) for each in null]))
    finite = sorted(w for w, _ in null if math.isfinite(w))
    kept = found["null_distribution"][0]
    np.testing.assert_allclose(np.unique(np.round(kept[np.isfinite(kept)], 8)), np.unique(np.round(finite, 8)))
    assert np.isinf(kept).mean() == pytest.approx(np.mean([math.isinf(w) for w, _ in null]))


def test_statistic_and_parametric_p_are_those_of_statsmodels():
    rng = np.random.default_rng(0)
    sizes = (5, 9, 4, 7)
    u = rng.normal(size=(6, 25)) * np.repeat([1, 2, 5, 0.3], sizes)
    found = welch.welch_tests(u, plans.plan_runs(sizes, 50), 0.05)
    for row, f, p, df in zip(u, found["f"], found["pvalue_parametric"], found["error_df"], strict=True):
        expected = anova_oneway(
            np.split(row, np.cumsum(sizes)[:-1]),
            use_var="unequal",
            welch_correction=True,
        )
        assert f == pytest.approx(expected.statistic)
        assert p == pytest.approx(expected.pvalue)
        assert df == pytest.approx(expected.df_denom)


def test_two_groups_are_the_square_of_welchs_t():
    rng = np.random.default_rng(1)
    u = rng.normal(size=(1, 13))
    found = welch.welch_tests(u, plans.plan_runs((8, 5), None), 0.05)
    assert found["f"][0] == pytest.approx(stats.ttest_ind(u[0, :8], u[0, 8:], equal_var=False).statistic ** 2)


def test_random_reassignments_are_those_of_the_plan():
    sizes = (4, 3, 5)
    u = np.random.default_rng(2).normal(size=(2, 12)) * np.repeat([1, 2, 3], sizes)
    plan = plans.plan_runs(sizes, 1_500, entropy=3)
    found = welch.welch_tests(u, plan, 0.1, keep=True)
    for row, null, p, critical in zip(
        u,
        *(found[n] for n in ("null_distribution", "pvalue", "critical_value")),
        strict=True,
    ):
        expected = [
            welch_by_definition(np.split(row[order], np.cumsum(sizes)[:-1]))[0]
            for block in plan.blocks()
            for order in group_products.orders_of(block)
        ]
        np.testing.assert_allclose(null, expected, rtol=1e-9)
        observed = welch_by_definition(np.split(row, np.cumsum(sizes)[:-1]))[0]
        assert p == (1 + np.count_nonzero(np.array(expected) >= observed * (1 - 1e-9))) / 1_501
        assert critical == pytest.approx(np.sort(expected)[-150])


@pytest.mark.parametrize("sizes", [(515, 515), (400, 700), (340, 350, 360)])
def test_more_than_a_thousand_curves_are_those_of_the_plan(sizes):
    u = np.random.default_rng(2).normal(size=(2, sum(sizes))) * np.repeat([1, 2, 3], sizes[0] * 2)[: sum(sizes)]
    plan = plans.plan_runs(sizes, 5, entropy=3)
    found = welch.welch_tests(u, plan, 0.1, keep=True)
    orders = group_products.orders_of(np.concatenate(list(plan.blocks())))
    for row, null in zip(u, found["null_distribution"], strict=True):
        expected = [welch_by_definition(np.split(row[order], np.cumsum(sizes)[:-1]))[0] for order in orders]
        np.testing.assert_allclose(null, expected)


def test_one_run_of_an_algorithm_and_equal_numbers_leave_nothing_to_say():
    plan = plans.plan_runs((4, 1), None)
    assert welch.welch_tests(np.arange(5.0)[np.newaxis], plan, 0.05) == {}
    plan = plans.plan_runs((2, 2), None)
    assert np.isnan(welch.welch_tests(np.full((1, 4), 3.3), plan, 0.05)["pvalue"]).all()


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((5,) * 3, 4.0), ((5,) * 5, 5.0), ((10,) * 5, 2.65), ((5,) * 10, 6.7)],
)
def test_usual_ratios_of_spreads(sizes, expected):
    assert ratio_quantile(sizes, 0.95) == pytest.approx(expected, rel=0.02)


@pytest.mark.plain(3)
@pytest.mark.parametrize("sizes", [(3, 3), (2, 2), (5, 15), (2, 5, 9), (4, 4, 4, 4)])
@pytest.mark.parametrize("probability", [0.5, 0.95])
def test_quantiles_of_the_ratio_hold_by_simulation(sizes, probability):
    rng = np.random.default_rng(0)
    n = 100_000
    variances = np.stack([rng.chisquare(size - 1, n) / (size - 1) for size in sizes])
    below = np.mean(np.sqrt(variances.max(axis=0) / variances.min(axis=0)) <= ratio_quantile(sizes, probability))
    assert abs(below - probability) < 4.5 * math.sqrt(probability * (1 - probability) / n)


def test_two_samples_have_the_quantile_of_f():
    both = stats.f(7, 7).ppf(0.975)  # the larger over the smaller
    assert ratio_quantile((8, 8), 0.95) == pytest.approx(math.sqrt(both), rel=1e-8)
