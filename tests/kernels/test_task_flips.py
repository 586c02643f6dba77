import itertools
import json

import numpy as np
import pytest
from scipy import stats

from across_reference import (
    ALPHA,
    CASES,
    FILE,
    close_by_chance,
    families,
    needed,
    numbers,
    pairs_with,
    weights,
)
from oracles import flips_min_p
from xcurves.kernels import numbers_needed
from xcurves.kernels.over_tasks import (
    task_effects,
    task_flips,
    task_ranks,
)
from xcurves.kernels.resampling import batches, plans


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
def test_p_values_of_the_reference(key):
    case = CASES["four_algorithms9"]
    expected = case["answers"][key]
    pairs = [each["pair"] for each in case["answers"]["pairs"]]
    x = np.array([family_sums(case, pair)[0] for pair in expected.get("pairs", pairs)])
    pvalue, adjusted = task_flips.pvalues(x, plans.plan_flips(x.shape[1], None))
    np.testing.assert_array_equal(pvalue, expected["pvalue"])
    np.testing.assert_allclose(adjusted, flips_min_p(x))


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


@pytest.mark.parametrize("absent", [0, 3])
@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_step_down_equals_a_plain_loop(absent, scale):
    rng = np.random.default_rng(6)
    x = rng.normal([[0.2], [0.8], [1.2], [0]], 1, (4, 8)) * np.exp(scale * rng.normal(size=8))
    x[1, :absent] = np.nan
    _, adjusted = task_flips.pvalues(x, plans.plan_flips(8, None))
    np.testing.assert_allclose(adjusted, flips_min_p(x))


def test_integers_tie_in_step_down_as_in_a_plain_loop():
    x = np.random.default_rng(3).integers(-2, 4, (5, 7)).astype(float)
    _, adjusted = task_flips.pvalues(x, plans.plan_flips(7, None))
    np.testing.assert_allclose(adjusted, flips_min_p(x))


def test_data_sets_in_front_are_alone():
    x = np.random.default_rng(4).normal(0.5, 1, (3, 4, 7))
    plan = plans.plan_flips(7, None)
    together = task_flips.pvalues(x, plan)
    for place, each in enumerate(x):
        for found, alone in zip(together, task_flips.pvalues(each, plan), strict=True):
            np.testing.assert_array_equal(found[place], alone)


MIN_P = FILE.with_name("dev_minp.json")


@pytest.mark.skipif(not MIN_P.exists(), reason="the reference answers are not beside the project")
def test_step_down_of_the_reference():
    for case in json.loads(MIN_P.read_text()):
        scores, pairs = np.array(case["scores"]), np.array(case["pairs"])
        x = scores[pairs[:, 0]] - scores[pairs[:, 1]]
        n = x.shape[1]
        found = task_flips.pvalues(x, plans.plan_flips(n, None), ALPHA)
        for mine, name in zip(found, ("p", "p_adjusted"), strict=True):
            np.testing.assert_allclose(mine, case[name], rtol=1e-12, err_msg=case["name"])
        wanted = numbers_needed.tasks_to_show(x.mean(1), x.std(1, ddof=1), np.full(len(x), n), ALPHA)
        expected = [np.nan if each is None else each for each in case["tasks_to_show"]]
        np.testing.assert_array_equal(wanted, expected)


def test_a_pair_that_differs_one_way_in_twelve_tasks_of_unlike_scales_is_shown():
    """The largest |T| hides it behind pairs whose large tasks agree: exact p .001, adjusted so .3."""
    rng = np.random.default_rng(4)
    scales = np.exp(2 * rng.normal(size=12))
    x = rng.normal(size=(10, 12)) * scales
    x[0] = scales * rng.uniform(0.1, 1, 12)
    pvalue, adjusted = task_flips.pvalues(x, plans.plan_flips(12, None), ALPHA)
    t = np.abs(stats.ttest_1samp(x, 0, axis=1).statistic)
    signs = np.array([*itertools.product((1, -1), repeat=12)])
    sums, squares = signs @ x.T, (x**2).sum(axis=1)
    largest = (np.abs(sums) / np.sqrt((12 * squares - sums**2) / 11)).max(axis=1)
    by_largest = np.mean(largest >= t[0] - 1e-9)
    assert pvalue[0] == 2 / 2**12
    assert by_largest > 0.2
    assert adjusted[0] < 0.01


def test_six_families_can_show_one_of_several_pairs():
    """All p of so few flips are coarse: between equal ones P(|t| > |T|) decides."""
    x = np.random.default_rng(1).normal(size=(10, 6))
    x[0] = np.array([1.0, 1.01, 0.99, 1.02, 0.98, 1.0])
    pvalue, adjusted = task_flips.pvalues(x, plans.plan_flips(6, None), ALPHA)
    assert pvalue[0] == adjusted[0] == 2 / 64


def test_members_of_too_few_families_do_not_count():
    x = np.random.default_rng(7).normal(size=(3, 8))
    x[1, :5] = np.nan
    plan = plans.plan_flips(8, None)
    pvalue, adjusted = task_flips.pvalues(x, plan, ALPHA)
    assert np.isnan(adjusted[1])
    np.testing.assert_array_equal(adjusted[[0, 2]], task_flips.pvalues(x[[0, 2]], plan)[1])
    np.testing.assert_array_equal(pvalue, task_flips.pvalues(x, plan)[0])


@pytest.mark.parametrize("n_resamples", [None, 300])
def test_a_member_of_few_families_has_all_their_flips(n_resamples):
    """Whatever the seed, and whichever families each data set has; those of all families are drawn."""
    rng = np.random.default_rng(10)
    x = rng.normal(0.3, 1, (2, 3, 24))
    absent = [rng.permutation(24)[7:] for _ in range(2)]
    for each, without in zip(x, absent, strict=True):
        each[1, without] = np.nan
    w = np.where(np.isnan(x), np.nan, 1 / 24)
    small = plans.plan_flips(7, None)
    for entropy in range(3):
        plan = plans.plan_flips(24, n_resamples, entropy)
        assert not plan.exact
        assert task_flips.exact_members(x[0], plan).tolist() == [False, True, False]
        pvalue, adjusted = task_flips.pvalues(x, plan, ALPHA)
        assert (adjusted >= pvalue).all()
        for place in (0, 1):
            here = ~np.isnan(x[place, 1])
            own, weights = x[place, 1:2, here].T, w[place, 1:2, here].T
            assert pvalue[place, 1] == task_flips.pvalues(own, small)[0]
            alone = task_flips.flip_intervals(own, weights, small, ALPHA)
            found = task_flips.flip_intervals(x[place], w[place], plan, ALPHA)
            np.testing.assert_array_equal(found[0, 1], alone[0, 0])
            alone = task_flips.flip_margins(own, weights, small, 0.1, ALPHA)
            found = task_flips.flip_margins(x[place], w[place], plan, 0.1, ALPHA)
            np.testing.assert_array_equal(np.array(found)[:, 1], np.ravel(alone))


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
    monkeypatch.setattr(batches, "MEMORY", 8 * 700)
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
