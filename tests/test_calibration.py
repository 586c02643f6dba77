"""Error rates over 2,000 simulated data sets, each a task of one call, within 99.9 % binomial bounds."""

import numpy as np
import pytest
from scipy import stats

import xcurves
from strategies import absent, make_curves

N = 2_000
LEVELS = 8
ALPHA = 0.05
RESAMPLES = 199  # 200 with the observed one: a p of exactly .05 exists
MAIN = np.full(LEVELS, 10.0)
SHAPE = 5 * np.array([-1, -1, -1, -1, 1, 1, 1, 1.0])


def simulate(sizes, effect, seed, paired=False):
    """AR(1) curves around a common rise with per-run offsets; the first algorithm has the effect as well."""
    rng = np.random.default_rng(seed)
    shape = (N, len(sizes), max(sizes), LEVELS)
    noise = rng.normal(size=shape)
    for level in range(1, LEVELS):
        noise[..., level] += 0.7 * noise[..., level - 1]
    values = noise + 2 * rng.normal(size=(*shape[:3], 1)) + 3 * np.arange(LEVELS)
    if paired:
        values = values + 4 * rng.normal(size=(N, 1, max(sizes), LEVELS))
    values[:, 0] += effect
    return absent(make_curves(values, task=np.arange(N)), sizes)


def assert_holds_its_level(pvalues):
    low, high = stats.binom.interval(0.999, N, ALPHA)
    rejected = int((pvalues <= ALPHA + 1e-12).sum())
    assert low <= rejected <= high, rejected / N


def assert_rejects_too_often(pvalues):
    assert int((pvalues <= ALPHA + 1e-12).sum()) > stats.binom.ppf(1 - 1e-6, N, ALPHA)


@pytest.mark.parametrize("sizes", [(10, 10), (15, 5), (5, 15)])
@pytest.mark.parametrize(
    ("effect", "other"),
    [(0 * MAIN, "interaction"), (0 * MAIN, "algorithm"), (MAIN, "interaction"), (SHAPE, "algorithm")],
)
def test_a_real_effect_of_one_kind_leaves_the_stratum_test_of_the_other_at_its_level(sizes, effect, other):
    result = xcurves.randomized_anova(simulate(sizes, effect, 1), n_resamples=RESAMPLES, rng=1)
    assert_holds_its_level(result.pvalue.sel(effect=other, error_term="stratum"))


@pytest.mark.parametrize(("effect", "other"), [(MAIN, "interaction"), (SHAPE, "algorithm"), (0 * MAIN, "interaction")])
def test_so_in_paired_designs(effect, other):
    curves = simulate((8, 8), effect, 2, paired=True)
    result = xcurves.randomized_anova(curves, paired=True, n_resamples=RESAMPLES, rng=1)
    assert_holds_its_level(result.pvalue.sel(effect=other, error_term="stratum"))


def test_the_pooled_interaction_test_does_not_hold_its_level_under_a_main_effect():
    """The reason for the stratum terms, and a check that a wrong level would be seen."""
    result = xcurves.randomized_anova(simulate((10, 10), MAIN, 3), n_resamples=RESAMPLES, rng=1)
    assert_rejects_too_often(result.pvalue.sel(effect="interaction", error_term="pooled"))


def test_three_algorithms_under_the_complete_null():
    result = xcurves.randomized_anova(simulate((6, 6, 6), 0 * MAIN, 4), n_resamples=RESAMPLES, rng=1)
    for effect in ("algorithm", "interaction"):
        for term in ("pooled", "stratum"):
            assert_holds_its_level(result.pvalue.sel(effect=effect, error_term=term))


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_a_contrast_holds_its_level_beside_a_third_algorithm_far_away(alternative):
    curves = simulate((8, 8, 8), np.full(LEVELS, 30.0), 5)
    result = xcurves.contrast(curves, {"a1": 1, "a2": -1}, alternative=alternative, n_resamples=RESAMPLES, rng=1)
    assert_holds_its_level(result.pvalue)


def test_a_paired_contrast_holds_its_level():
    curves = simulate((8, 8), 0 * MAIN, 6, paired=True)
    late = np.repeat([0, 1 / 3], [5, 3])
    result = xcurves.contrast(
        curves, {"a0": 1, "a1": -1}, training_weights=late, paired=True, n_resamples=RESAMPLES, rng=1
    )
    assert_holds_its_level(result.pvalue)


def test_intervals_of_a_contrast_cover_the_true_difference():
    curves = simulate((8, 8), MAIN, 7)
    result = xcurves.contrast(curves, {"a0": 1, "a1": -1}, n_resamples=RESAMPLES, rng=1)
    low, high = result.estimate_ci.sel(ci_bound="lower"), result.estimate_ci.sel(ci_bound="upper")
    missed = int(((low > 10) | (high < 10)).sum())
    assert stats.binom.interval(0.999, N, ALPHA)[0] <= missed <= stats.binom.interval(0.999, N, ALPHA)[1], missed / N


def test_holm_holds_the_family_wise_level_with_one_algorithm_far_away():
    """Two of three pairs are truly different in level; the third must be rejected in at most .05."""
    pairs = xcurves.pairwise(simulate((7, 7, 7), MAIN, 8), n_resamples=RESAMPLES, rng=1)
    adjusted = pairs.pvalue_adjusted.sel(effect="algorithm", pair="a1 - a2")
    assert int((adjusted <= ALPHA + 1e-12).sum()) <= stats.binom.ppf(0.999, N, ALPHA)
    interaction = pairs.pvalue_adjusted.sel(effect="interaction").min("pair")
    assert int((interaction <= ALPHA + 1e-12).sum()) <= stats.binom.ppf(0.999, N, ALPHA)


EARLY = np.where(np.arange(LEVELS) < 4, 20.0, 0.0)  # a difference at the first half of the levels only
LATE = slice(400, None)


@pytest.mark.parametrize("sizes", [(10, 10), (15, 5)])
@pytest.mark.parametrize("step_down", [True, False])
def test_marks_of_a_profile_under_the_complete_null(sizes, step_down):
    curves = simulate(sizes, 0 * MAIN, 10)
    result = xcurves.ss_profile(curves, n_resamples=RESAMPLES, step_down=step_down, intervals=[0, 400, 700], rng=1)
    assert_holds_its_level(result.pvalue_adjusted.min("training"))
    assert_holds_its_level(result.pvalue.isel(training=3))
    assert_holds_its_level(result.cluster_pvalue.fillna(1).min("training"))
    assert_holds_its_level(result.interval_pvalue_adjusted.min("interval"))
    assert_holds_its_level(result.interval_pvalue.isel(interval=0))


@pytest.mark.parametrize("sizes", [(10, 10), (15, 5)])
def test_marks_of_a_profile_where_there_is_no_difference_beside_a_large_one(sizes):
    curves = simulate(sizes, EARLY, 11)
    result = xcurves.ss_profile(curves, n_resamples=RESAMPLES, intervals=[0, 400, 700], rng=1)
    assert (result.pvalue_adjusted.sel(training=slice(None, 300)) <= ALPHA).mean() > 0.99
    assert_holds_its_level(result.pvalue_adjusted.sel(training=LATE).min("training"))
    assert_holds_its_level(result.interval_pvalue_adjusted.isel(interval=1))
    single = xcurves.ss_profile(curves, n_resamples=RESAMPLES, step_down=False, rng=1)
    assert int((single.pvalue_adjusted.sel(training=LATE).min("training") <= ALPHA).sum()) <= stats.binom.ppf(
        0.999, N, ALPHA
    )


def test_clusters_under_a_threshold_of_ones_own_and_paired_profiles():
    given = xcurves.ss_profile(simulate((10, 10), 0 * MAIN, 12), n_resamples=RESAMPLES, cluster_threshold=3.0, rng=1)
    assert_holds_its_level(given.cluster_pvalue.fillna(1).min("training"))
    curves = simulate((8, 8), EARLY, 13, paired=True)
    paired = xcurves.ss_profile(curves, paired=True, n_resamples=RESAMPLES, intervals=[0, 400, 700], rng=1)
    assert_holds_its_level(paired.pvalue_adjusted.sel(training=LATE).min("training"))
    assert_holds_its_level(paired.interval_pvalue_adjusted.isel(interval=1))


@pytest.mark.parametrize(("sizes", "paired"), [((10, 10), False), ((15, 5), False), ((5, 5, 5), False), ((8, 8), True)])
def test_equivalence_is_claimed_wrongly_no_more_often_than_its_level(sizes, paired):
    """At a true difference of just the margin, now to one side and now to the other: each claim is wrong."""
    margin = 20.0
    curves = simulate(sizes, margin * np.resize([1, -1], LEVELS), 14, paired=paired)
    result = xcurves.ss_profile(curves, margin=margin, paired=paired, n_resamples=RESAMPLES, rng=1)
    assert int(result.equivalent.max("training").sum()) <= stats.binom.ppf(0.999, N, ALPHA)
    nearer = simulate(sizes, 0 * MAIN, 14, paired=paired)
    claimed = xcurves.ss_profile(nearer, margin=margin, paired=paired, n_resamples=RESAMPLES, rng=1)
    assert claimed.equivalent.mean() > 0.9
