import itertools
import math

import numpy as np
import pytest
from scipy import stats

from across_reference import (
    ALPHA,
    CASES,
    close_by_chance,
    needed,
    numbers,
    padded,
    pairs_with,
    weights,
)
from layers import every, slow
from xcurves.kernels.over_tasks import task_effects, task_plans, task_ranks
from xcurves.kernels.resampling import batches


def runs_of(x, y):
    return tuple(
        zip(
            *(np.count_nonzero(~np.isnan(each), axis=1).tolist() for each in (x, y)),
            strict=True,
        )
    )


def evaluate(x, y, w=None, n_resamples=None, paired=False, alpha=ALPHA, entropy=0):
    w = np.full(len(x), 1 / len(x)) if w is None else w
    plan = task_plans.plan_deals(runs_of(x, y), n_resamples, paired=paired, entropy=entropy)
    found = task_effects.task_effect_tests(x[np.newaxis], y[np.newaxis], w, plan, alpha)
    return {name: values[0] for name, values in found.items()}, plan


@needed
@pytest.mark.parametrize(("name", "number"), every(4, pairs_with("T_F")))
def test_statistics_of_the_reference(name, number):
    case = CASES[name]
    pair = case["answers"]["pairs"][number]
    x, y = numbers(case, pair["pair"])
    w, expected = weights(case), pair["fixed"]
    found, _ = evaluate(x, y, w, n_resamples=19, paired=case["recipe"].get("paired", False))
    d, v = task_effects.task_differences(x, y, paired=case["recipe"].get("paired", False))
    np.testing.assert_allclose(d, expected["d"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(v, expected["v"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(max(0, d.var(ddof=1) - v.mean()), expected["tau_squared"], rtol=1e-9, atol=1e-12)
    for key, other in (
        ("difference", "difference"),
        ("statistic", "T_F"),
        ("interaction", "R"),
    ):
        np.testing.assert_allclose(found[key], expected[other], rtol=1e-9, atol=1e-12)
    if "prob_greater" in expected:
        np.testing.assert_allclose(task_ranks.thetas(x, y), expected["prob_greater_by_task"], rtol=1e-9)
        np.testing.assert_allclose(found["prob_greater"], expected["prob_greater"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            found["prob_greater_statistic"],
            float(expected["T_prob_greater"]),
            rtol=1e-9,
        )


@needed
@pytest.mark.parametrize(("name", "number"), pairs_with("deals"))
def test_exact_answers_of_the_reference(name, number):
    case = CASES[name]
    pair = case["answers"]["pairs"][number]
    expected = pair["fixed"]
    found, plan = evaluate(
        *numbers(case, pair["pair"]),
        weights(case),
        paired=case["recipe"].get("paired", False),
    )
    assert (plan.exact, plan.n_resamples) == (True, expected["deals"])
    assert round(found["pvalue"] * plan.n_total) == expected["count"]
    assert round(found["interaction_pvalue"] * plan.n_total) == expected["count_R"]
    if "count_prob_greater_numerator_first" in expected:
        assert round(found["prob_greater_pvalue"] * plan.n_total) == expected["count_prob_greater_numerator_first"]
    low, high = expected["interval"]
    np.testing.assert_allclose(found["difference_ci"], [low, high], rtol=0, atol=1e-8 * (high - low))


@needed
@pytest.mark.parametrize(("name", "number"), pairs_with("random_deals"))
def test_random_answers_of_the_reference(name, number):
    case = CASES[name]
    pair = case["answers"]["pairs"][number]
    expected = pair["fixed"]
    found, plan = evaluate(*numbers(case, pair["pair"]), weights(case))
    assert not plan.exact
    for key, other in (
        ("", ""),
        ("interaction_", "_R"),
        ("prob_greater_", "_prob_greater"),
    ):
        count = round(found[f"{key}pvalue"] * plan.n_total)
        assert close_by_chance(count, plan.n_total, expected[f"pvalue_mc{other}"], expected["random_deals"])


def paired_difference(apart, w):
    """The difference over tasks and its variance, of the differences within runs of every task."""
    d, v = np.transpose([(np.mean(each), np.var(each, ddof=1) / len(each)) for each in apart])
    return w @ d, w**2 @ v


def placements(x, y, w):
    """P(X > Y) over tasks less one half and its variance, by definition: run after run."""
    theta, q = [], []
    for a, b in zip(x, y, strict=True):
        of_a = [np.mean([(s > t) + (s == t) / 2 for t in b]) for s in a]
        of_b = [np.mean([(t > s) + (t == s) / 2 for s in a]) for t in b]
        theta.append(np.mean(of_a))
        q.append(np.var(of_a, ddof=1) / len(a) + np.var(of_b, ddof=1) / len(b))
    return w @ np.array(theta) - 0.5, w**2 @ np.array(q)


def at_least(numerator, variance, own_numerator, own_variance):
    """Whether |T| is at least the observed one; of variance 0 beyond every other, by the numerator."""

    def key(number, var):
        return (
            (0, 0.0) if abs(number) < 1e-12 else (1, abs(number)) if var < 1e-15 else (0, abs(number) / math.sqrt(var))
        )

    (rank, size), (own_rank, own_size) = (
        key(numerator, variance),
        key(own_numerator, own_variance),
    )
    return rank > own_rank or (rank == own_rank and size >= own_size * (1 - 1e-9))


def draw(sizes, seed, rounded=False):
    rng = np.random.default_rng(seed)
    x = [rng.normal(rng.normal(), 1 + i, m) for i, (m, _) in enumerate(sizes)]
    y = [rng.normal(rng.normal(), 2, n) for _, n in sizes]
    return [[np.round(each).tolist() if rounded else each.tolist() for each in rows] for rows in (x, y)]


@pytest.mark.parametrize("rounded", [False, True])
def test_paired_p_values_equal_those_of_a_plain_loop(rounded):
    x, y = draw([(3, 3), (4, 4)], 5, rounded)
    w = np.array([0.25, 0.75])
    found, plan = evaluate(padded(x), padded(y), w, paired=True)
    apart = [np.subtract(*both) for both in zip(x, y, strict=True)]
    count = 0
    for signs in itertools.product((1, -1), repeat=7):
        flipped = paired_difference([apart[0] * signs[:3], apart[1] * signs[3:]], w)
        count += at_least(*flipped, *paired_difference(apart, w))
    assert plan.n_resamples == 2**7
    assert found["pvalue"] * plan.n_total == pytest.approx(count)
    assert "prob_greater" not in found


@pytest.mark.parametrize(
    ("sizes", "paired", "n_seeds"),
    [
        ([(4, 4), (3, 5)], False, 1),
        ([(6, 6), (4, 4)], True, 1),
        slow([(4, 4), (3, 5)], False, 3),
        slow([(6, 6), (4, 4)], True, 3),
        slow([(2, 7)], False, 3),
    ],
)
@pytest.mark.parametrize("n_resamples", [None, 500])
def test_the_interval_ends_where_shifts_are_rejected(sizes, paired, n_seeds, n_resamples):
    for seed in range(n_seeds):
        x, y = map(padded, draw(sizes, seed))
        found, _ = evaluate(x, y, n_resamples=n_resamples, paired=paired, alpha=0.1)
        low, high = found["difference_ci"]
        width = high - low
        assert low < found["difference"] < high
        for end, outwards in ((low, -1), (high, 1)):
            p = [
                evaluate(
                    x - end - outwards * k * width,
                    y,
                    n_resamples=n_resamples,
                    paired=paired,
                )[0]["pvalue"]
                for k in (-1e-6, 1e-6, 0.3, 2)
            ]
            assert p[0] > 0.1
            assert max(p[1:]) <= 0.1


def test_too_few_deals_leave_the_interval_unbounded():
    x, y = map(padded, draw([(3, 3)], 0))
    found, _ = evaluate(x, y)
    np.testing.assert_array_equal(found["difference_ci"], [-np.inf, np.inf])


def test_numbers_do_not_depend_on_batches_or_on_other_pairs(monkeypatch):
    x, y = map(padded, draw([(10, 10), (12, 12), (3, 3)], 1))
    alone, plan = evaluate(x, y)
    both = task_effects.task_effect_tests(np.stack([y, x]), np.stack([x, y]), np.full(3, 1 / 3), plan, ALPHA)
    monkeypatch.setattr(batches, "MEMORY", 1)
    apart = task_effects.task_effect_tests(np.stack([y, x]), np.stack([x, y]), np.full(3, 1 / 3), plan, ALPHA)
    for name, values in alone.items():
        np.testing.assert_allclose(both[name][1], values, rtol=1e-12)
        np.testing.assert_array_equal(apart[name], both[name])


def test_scale_and_level_of_scores_change_no_p_value():
    x, y = map(padded, draw([(5, 5), (4, 6)], 3))
    level = np.array([[1e6], [-1e6]])
    here, there = (evaluate(*each)[0] for each in ((x, y), (1e3 * x + level, 1e3 * y + level)))
    for name in ("pvalue", "interaction_pvalue", "prob_greater_pvalue"):
        assert here[name] == there[name]
    np.testing.assert_allclose(there["difference_ci"], 1e3 * here["difference_ci"], rtol=1e-6)


def test_runs_that_do_not_differ_have_no_interval():
    x, y = np.tile([[1.0], [2.0]], (1, 4)), np.tile([[0.0], [1.0]], (1, 4))
    found, plan = evaluate(x, y)
    assert found["statistic"] == np.inf
    assert found["pvalue"] == 2 / plan.n_total
    assert np.isnan(found["difference_ci"]).all()
    same, _ = evaluate(x, x)
    assert (same["statistic"], same["pvalue"], same["prob_greater_pvalue"]) == (0, 1, 1)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("sizes", [slow((40, 30)), (20, 25), (4, 5)])
def test_placements_of_drawn_deals_equal_plain_loops(sizes, rounded):
    x, y = map(padded, draw([sizes] * 2, 3, rounded))
    w = np.array([0.3, 0.7])
    found, plan = evaluate(x, y, w, n_resamples=30)
    assert not plan.exact
    pools = [np.sort(np.concatenate([a[~np.isnan(a)], b[~np.isnan(b)]])) for a, b in zip(x, y, strict=True)]
    observed = placements([a[~np.isnan(a)] for a in x], [b[~np.isnan(b)] for b in y], w)
    count = 1
    for labels in plan.blocks():
        for rows in plan.cells[0].of(labels):
            dealt = [(pool[row == 0], pool[row == 1]) for pool, row in zip(pools, rows, strict=True)]
            count += at_least(*placements(*zip(*dealt, strict=True), w), *observed)
    assert found["prob_greater_pvalue"] * plan.n_total == pytest.approx(count)


def test_many_curves_are_dealt_uniformly():
    rows = task_plans.draw_flags(np.random.default_rng(0), 60_000, 2, 6)
    assert (rows.sum(axis=1) == 2).all()
    _, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(counts) == 15
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("sizes", [(3, 3), (2, 5), (12, 11)])
def test_random_deals_are_uniform(sizes):
    plan = task_plans.plan_deals((sizes,) * 2, 4000, entropy=3)
    rows = 1 - np.concatenate([plan.cells[0].of(labels) for labels in plan.blocks()]).swapaxes(0, 1)
    assert rows.shape == (2, 4000, sum(sizes)) or plan.exact
    assert (rows.sum(axis=-1) == sizes[0]).all()
    share = sizes[0] / sum(sizes)
    error = math.sqrt(share * (1 - share) / rows.shape[1])
    assert (np.abs(rows.mean(axis=1) - share) < 5 * error).all()
    assert abs(np.corrcoef(rows[0, :, 0], rows[1, :, 0])[0, 1]) < 5 / math.sqrt(rows.shape[1])


def test_equal_numbers_have_no_variance_though_their_mean_rounds():
    numbers = np.array([[0.1] * 3 + [np.nan], [0.1, 0.1, 0.1 + 1e-12, 0.1], [1e9 / 7] * 4])
    _, mean, variance = task_effects.moments(numbers)
    assert mean[0] != 0.1
    assert variance[0] == variance[2] == 0
    assert variance[1] == pytest.approx(2.5e-25, rel=1e-3)
