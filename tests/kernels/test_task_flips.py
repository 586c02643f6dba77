import itertools

import numpy as np
import pytest
from scipy import stats

from across_reference import ALPHA, CASES, close_by_chance, families, needed, numbers, pairs_with, weights
from xcurves.kernels import plans, task_effects, task_flips, task_ranks


def family_sums(case, pair):
    """Return the sums of weighted differences over families, those of P(X > Y) - 1/2, and of weights."""
    x, y = numbers(case, pair)
    of, w = families(case), weights(case)
    d, _ = task_effects.task_differences(x, y, paired=False)
    return of @ (w * d), of @ (w * (task_ranks.thetas(x, y) - 0.5)), of @ w


@needed
@pytest.mark.parametrize(("name", "number"), pairs_with("random"))
def test_answers_of_the_reference(name, number):
    case = CASES[name]
    pair = case["answers"]["pairs"][number]
    expected = pair["random"]
    x, theta, w = family_sums(case, pair["pair"])
    plan = plans.plan_flips(len(x), None)
    pvalue, _ = task_flips.pvalues(x[np.newaxis], plan)
    np.testing.assert_allclose(x.sum(), expected["difference"], rtol=1e-9)
    if "random_flips" in expected:
        count = round(pvalue[0] * plan.n_total)
        assert close_by_chance(count, plan.n_total, expected["pvalue_mc"], expected["random_flips"])
        return
    assert (plan.exact, plan.n_resamples) == (True, expected["flips"])
    assert pvalue[0] * plan.n_total == expected["count"]
    ends = np.array(expected["interval"], float)
    found = task_flips.flip_intervals(x[np.newaxis], w[np.newaxis], plan, ALPHA)[0, 0]
    np.testing.assert_allclose(found, ends, rtol=0, atol=1e-9 * np.ptp(ends) if np.isfinite(ends).all() else 0)
    twin = pair["random_prob_greater"]
    assert task_flips.pvalues(theta[np.newaxis], plan)[0] * plan.n_total == twin["count"]


@needed
@pytest.mark.parametrize("key", ["max_t", "max_t_reference"])
def test_step_down_of_the_reference(key):
    case = CASES["four_algorithms9"]
    expected = case["answers"][key]
    pairs = [each["pair"] for each in case["answers"]["pairs"]]
    x = np.array([family_sums(case, pair)[0] for pair in expected.get("pairs", pairs)])
    pvalue, adjusted = task_flips.pvalues(x, plans.plan_flips(x.shape[1], None))
    np.testing.assert_array_equal(pvalue, expected["pvalue"])
    np.testing.assert_array_equal(adjusted, expected["pvalue_adjusted"])


def t_of(x):
    return stats.ttest_1samp(x, 0).statistic


@pytest.mark.parametrize("n", [2, 5, 9])
def test_p_values_equal_scipys(n):
    x = np.random.default_rng(n).normal(0.4, 1, n)
    found = task_flips.pvalues(x[np.newaxis], plans.plan_flips(n, None))[0]
    test = stats.permutation_test((x,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert found == pytest.approx(test.pvalue)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "n_resamples"), [(8, None), (12, 700)])
def test_the_interval_has_just_the_shifts_that_are_not_rejected(weighted, n, n_resamples):
    rng = np.random.default_rng(4)
    w = rng.uniform(0.2, 1, n) if weighted else np.ones(n)
    w /= w.sum()
    d = rng.normal(0.3, 1, n)
    plan = plans.plan_flips(n, n_resamples, entropy=1)
    low, high = task_flips.flip_intervals((w * d)[np.newaxis], w[np.newaxis], plan, ALPHA)[0, 0]
    assert low < w @ d < high

    def p_at(shift):
        return task_flips.pvalues((w * (d - shift))[np.newaxis], plan)[0].item()

    for end, inwards in ((low, 1), (high, -1)):
        assert p_at(end + inwards * 1e-7 * (high - low)) > ALPHA
        assert p_at(end - inwards * 1e-7 * (high - low)) <= ALPHA


def plain_step_down(x):
    """Step-down over members: families of all members that are not larger, P(|t| > |T|) as the common scale."""
    n = np.count_nonzero(~np.isnan(x), axis=1)

    def size(values):
        t = np.nanmean(values, axis=-1) / np.nanstd(values, axis=-1, ddof=1) * np.sqrt(n)
        return -2 * stats.t.logsf(np.abs(t), n - 1)

    observed = size(x)
    null = size(x * np.array([*itertools.product((1, -1), repeat=x.shape[1])])[:, np.newaxis])
    adjusted = np.empty(len(x))
    floor = 0.0
    for member in np.argsort(-observed):
        rest = observed <= observed[member]
        floor = max(floor, np.mean(null[:, rest].max(axis=1) >= observed[member] * (1 - 1e-9)))
        adjusted[member] = floor
    return adjusted


@pytest.mark.parametrize("absent", [0, 3])
def test_step_down_equals_a_plain_loop(absent):
    x = np.random.default_rng(6).normal([[0.2], [0.8], [1.2], [0]], 1, (4, 8))
    x[1, :absent] = np.nan
    _, adjusted = task_flips.pvalues(x, plans.plan_flips(8, None))
    np.testing.assert_allclose(adjusted, plain_step_down(x))


def test_members_of_too_few_families_do_not_count():
    x = np.random.default_rng(7).normal(size=(3, 8))
    x[1, :5] = np.nan
    plan = plans.plan_flips(8, None)
    pvalue, adjusted = task_flips.pvalues(x, plan, ALPHA)
    assert np.isnan(adjusted[1])
    np.testing.assert_array_equal(adjusted[[0, 2]], task_flips.pvalues(x[[0, 2]], plan)[1])
    np.testing.assert_array_equal(pvalue, task_flips.pvalues(x, plan)[0])


def test_absent_families_change_no_exact_p_value():
    x = np.random.default_rng(8).normal(size=(1, 7))
    with_absent = np.insert(x, [2, 5], np.nan, axis=1)
    here, there = (task_flips.pvalues(each, plans.plan_flips(each.shape[1], None)) for each in (x, with_absent))
    np.testing.assert_array_equal(here, there)


def test_numbers_do_not_depend_on_batches(monkeypatch):
    x = np.random.default_rng(9).normal(size=(3, 25))
    w = np.full((3, 25), 1 / 25)
    plan = plans.plan_flips(25, None, entropy=5)
    whole = [*task_flips.pvalues(x, plan), task_flips.flip_intervals(x, w, plan, ALPHA)]
    monkeypatch.setattr(plans, "MEMORY", 8 * 700)
    parts = [*task_flips.pvalues(x, plan), task_flips.flip_intervals(x, w, plan, ALPHA)]
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_numbers_that_are_all_equal_or_all_zero():
    plan = plans.plan_flips(5, None)
    x = np.array([[0.1] * 5, [0.0] * 5])
    np.testing.assert_array_equal(task_flips.pvalues(x, plan)[0], [2 / 32, 1])


@pytest.mark.parametrize("n_resamples", [None, 1])
def test_no_member_has_no_interval(n_resamples):
    none = np.empty((0, 2))
    plan = plans.plan_flips(2, n_resamples)
    assert task_flips.flip_intervals(none, none, plan, 0.05).shape == (1, 0, 2)
