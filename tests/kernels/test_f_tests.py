import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from kernels.test_sums import design_of, random_groups
from xcurves.kernels.resampling import engine, plans, sums

PLAIN = {"keep": False, "progress": lambda blocks: blocks}


def evaluate(groups, n_resamples=None, alpha=0.05, paired=False, **options):
    design, _ = design_of(groups, paired)
    plan = plans.plan_runs(design.sizes, n_resamples, paired=paired)
    return {name: values[0] for name, values in sums.f_tests(design, plan, alpha, **(PLAIN | options)).items()}, plan


def as_array(counts):
    return np.array([[counts[e][t] for t in ("pooled", "split_plot")] for e in ("algorithm", "interaction")])


@pytest.mark.plain(4)
@pytest.mark.parametrize("sizes", [(3, 3), (4, 4), (2, 5), (2, 2, 2), (1, 3, 3), (2, 2, 3)])
@pytest.mark.parametrize("k", [2, 7])
def test_exact_counts_equal_brute_force(sizes, k):
    groups = random_groups(sizes, k, seed=5)
    counts, total = oracles.exact_counts(groups)
    found, plan = evaluate(groups)
    assert plan.exact
    np.testing.assert_array_equal(np.rint(found["pvalue"] * total), as_array(counts))
    np.testing.assert_allclose(found["pvalue"] * total, as_array(counts), rtol=1e-12)


@pytest.mark.plain(3)
@pytest.mark.parametrize(("m", "n_runs"), [(2, 2), (2, 3), (2, 4), (2, 6), (3, 2), (3, 3), (3, 4)])
def test_exact_paired_counts_equal_brute_force(m, n_runs):
    groups = random_groups((n_runs,) * m, 3, seed=6)
    counts, total = oracles.exact_paired_counts(groups)
    found, plan = evaluate(groups, paired=True)
    assert plan.exact
    np.testing.assert_allclose(found["pvalue"], as_array(counts) / total, rtol=1e-12)


@given(
    st.sampled_from([(3, 3), (2, 4), (2, 2, 2), (1, 2, 3)]),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
)
def test_ties_of_whole_scores_are_counted_as_in_rational_arithmetic(sizes, k, seed):
    rng = np.random.default_rng(seed)
    groups = [rng.integers(0, 3, (size, k)) for size in sizes]
    if not np.var(np.concatenate(groups)):
        return
    try:
        counts, total = oracles.exact_integer_counts(groups)
    except ZeroDivisionError:  # some assignment leaves 0 / 0; that has a test of its own
        return
    found, _ = evaluate([np.asarray(group, float) for group in groups])
    for (i, effect), (j, term) in itertools.product(
        enumerate(("algorithm", "interaction")), enumerate(("pooled", "split_plot"))
    ):
        if not np.isnan(found["pvalue"][i, j]):
            assert round(found["pvalue"][i, j] * total, 6) == counts[effect, term], (
                effect,
                term,
            )


def test_well_separated_2_by_4_is_1_in_35():
    groups = [np.full((4, 3), 1.0), np.full((4, 3), 2.0)]
    found, _ = evaluate(groups)
    np.testing.assert_array_equal(found["pvalue"][0], 1 / 35)
    np.testing.assert_array_equal(found["pvalue"][1], np.nan)


def test_offsets_of_runs_do_not_swallow_the_interaction():
    """Runs a million apart, and shapes that differ by one: exactly the p of the shapes without the offsets."""
    rng = np.random.default_rng(0)
    shapes = rng.normal(size=(10, 6))
    shapes -= shapes.mean(axis=1, keepdims=True)
    shapes[:5] += np.array([-3, -2, -1, 1, 2, 3])
    offsets = 1e6 * rng.normal(size=(10, 1))
    plain, _ = evaluate([shapes[:5], shapes[5:]])
    shifted, _ = evaluate([(shapes + offsets)[:5], (shapes + offsets)[5:]])
    assert plain["pvalue"][1, 1] == shifted["pvalue"][1, 1] == 1 / 126


@pytest.mark.plain(4)
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("n_resamples", [None, 60, 99, 100])
def test_rejecting_above_the_critical_value_is_rejecting_at_alpha(alpha, n_resamples):
    for seed in range(20):
        groups = random_groups((4, 4, 3) if n_resamples else (4, 4), 4, seed)
        found, plan = evaluate(groups, n_resamples, alpha)
        design, _ = design_of(groups)
        f = sums.f_ratios(design, sums.effect_sums(design))[..., 0, 0]
        significant = found["pvalue"] * plan.n_total <= np.floor(alpha * plan.n_total + 1e-9) + 1e-6
        above = f > found["critical_value"] * (1 + 1e-9)
        np.testing.assert_array_equal(above, significant)


def test_no_critical_value_is_large_enough_where_no_p_is_small_enough():
    found, _ = evaluate(random_groups((4, 4, 4), 3), 9, 0.05)
    np.testing.assert_array_equal(found["critical_value"], np.inf)


def test_random_counts_lie_within_exact_binomial_bounds():
    """200 seeds; each count is binomial with the exact p; two-sided bounds at 1e-6 in all."""
    from scipy import stats

    groups = random_groups((7, 7), 3, seed=8)
    groups[1] = groups[1] + 0.4
    exact, _ = evaluate(groups)
    design, _ = design_of(groups)
    p = exact["pvalue"]
    assert ((p > 0.01) & (p < 0.99)).any()
    level = 1e-6 / (200 * 4)
    low, high = stats.binom.ppf(level / 2, 500, p), stats.binom.isf(level / 2, 500, p)
    for seed in range(200):
        plan = plans.plan_runs(design.sizes, 500, entropy=seed)
        count = sums.f_tests(design, plan, 0.05, **PLAIN)["pvalue"][0] * 501 - 1
        assert ((low <= np.rint(count)) & (np.rint(count) <= high)).all(), seed


def test_kept_null_gives_the_p_value_back():
    groups = random_groups((5, 5, 5), 4)
    found, plan = evaluate(groups, 999, keep=True)
    design, _ = design_of(groups)
    f = sums.f_ratios(design, sums.effect_sums(design))[..., 0, 0]
    count = (found["null_distribution"] >= f[..., np.newaxis] * (1 - 1e-9)).sum(axis=-1)
    np.testing.assert_allclose(found["pvalue"], (1 + count) / 1000)
    assert found["null_distribution"].shape == (2, 2, 999)


def test_stderr_is_the_binomial_one_and_none_when_exact():
    found, _ = evaluate(random_groups((5, 5, 5), 4), 999)
    p = found["pvalue"]
    np.testing.assert_allclose(found["pvalue_stderr"], np.sqrt(p * (1 - p) / 999))
    exact, _ = evaluate(random_groups((4, 4), 4))
    np.testing.assert_array_equal(exact["pvalue_stderr"], 0)


@pytest.mark.parametrize(
    ("observed", "p"),
    [(10.3, 0.028), (0.0, 0.999), (10.2, 0.028), (99.0, 0.0), (np.inf, 0.0)],
)
def test_rank_p_is_the_papers_example(observed, p):
    """The closest of 1,000 null values to 10.3 is 10.2, at rank 972: p = .028 (Piater & Cohen, Section 3)."""
    values = np.concatenate([np.linspace(0.1, 9.9, 971), [10.2], np.linspace(20, 50, 28)])
    shuffled = np.random.default_rng(0).permutation(values)
    assert engine.rank_pvalue(np.array([observed]), shuffled[np.newaxis])[0] == pytest.approx(p)


@pytest.mark.parametrize("size", [1, 10, 5000])
def test_upper_tail_keeps_the_largest(size):
    values = np.random.default_rng(0).normal(size=(2, 200_000))
    tail = engine.UpperTail(size)
    for part in np.split(values, 50, axis=1):
        tail.add(part)
    np.testing.assert_array_equal(tail.smallest((2,)), np.sort(values, axis=1)[:, -size])


@pytest.mark.parametrize("size", [1, 100, 1250, 4000])
def test_upper_tail_of_any_order_and_of_values_that_are_alike_infinite_or_nan(size):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6, 10_000))
    rows[0].sort()
    rows[1, ::16] = 99 + rng.random(625)
    rows[2] = rows[2].round(1)
    rows[3, :50], rows[4, :50], rows[5] = np.inf, np.nan, 0.0
    tail = engine.UpperTail(size)
    tail.add(rows.reshape(2, 3, -1).copy())
    # NaN is largest
    np.testing.assert_array_equal(tail.smallest((2, 3)).ravel(), np.sort(rows, axis=1)[:, -size])


def test_a_reassignment_without_anything_to_compare_counts_as_a_tie():
    """Six curves of which one differs: assignments are alike but for where it goes; none may look better."""
    groups = [np.zeros((3, 2)), np.zeros((3, 2))]
    groups[0][0] = [1.0, 2.0]
    found, _ = evaluate(groups)
    np.testing.assert_array_equal(found["pvalue"], 1.0)
