import math
import warnings

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import xcurves
from lazy import refuse_to_compute
from oracles import power_of_t
from refusals import ANY, refused
from strategies import absent, make_curves
from xcurves.core.refusal import give
from xcurves.kinds import kind


@pytest.fixture
def curves():
    values = np.random.default_rng(0).normal(size=(3, 7, 5)).cumsum(axis=-1)
    values[2] += 4
    return absent(make_curves(values), [7, 6, 5])


@pytest.fixture
def tasks(curves):
    other = curves + make_curves(np.random.default_rng(1).normal(size=(3, 7, 5)))
    other[1] = np.nan
    return xr.concat([curves, other], "task").assign_coords(task=["x", "y"])


def quiet(curves, **options):

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xcurves.pairwise(curves, **{"rng": 0, **options})


def test_the_intervals_of_a_task_do_not_depend_on_the_others():
    values = np.random.default_rng(5).normal(size=(12, 4, 5, 8)).cumsum(axis=-1)
    tasks = make_curves(values, task=list("abcdefghijkl"))
    together = quiet(tasks, n_resamples=500)
    parts = [quiet(tasks.isel(task=slice(start, start + 3)), n_resamples=500) for start in range(0, 12, 3)]
    xr.testing.assert_equal(xr.concat(parts, "task").difference_ci, together.difference_ci)


def test_intervals_for_all_pairs_together_have_the_level_of_each_divided_by_their_number(
    curves,
):
    result = xcurves.pairwise(curves, n_resamples=999, confidence_level=0.7, rng=0)
    # .3 / 3 = .1
    each = xcurves.pairwise(curves, n_resamples=999, confidence_level=0.9, rng=0)
    np.testing.assert_array_equal(result.difference_ci_simultaneous, each.difference_ci)
    alone = xcurves.pairwise(curves.isel(algorithm=[0, 1]), n_resamples=999, rng=0)
    np.testing.assert_array_equal(alone.difference_ci_simultaneous, alone.difference_ci)


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_those_over_whom_none_is_shown_better_may_be_best(higher_is_better):
    scores = np.random.default_rng(3).normal(size=(4, 8, 3)) + np.array([0, 2, 0.1, 2.1])[:, None, None]
    curves = make_curves(scores).isel(algorithm=[2, 0, 3, 1])
    result = xcurves.pairwise(curves, higher_is_better=higher_is_better, rng=0)
    expected = dict.fromkeys(curves.algorithm.values.tolist(), 1.0)
    for pair in result.pair:
        one = result.sel(pair=pair)
        if one.pvalue_adjusted.sel(effect="algorithm") <= 0.05:
            first = (one.difference > 0).item() == higher_is_better
            expected[(one.algorithm_b if first else one.algorithm_a).item()] = 0.0
    assert sorted(expected.values()) == [0, 0, 1, 1]
    assert result.may_be_best.to_series().to_dict() == expected
    assert xcurves.pairwise(curves, reference="a0", rng=0).may_be_best.isnull().all()


def test_scores_at_the_ceiling_have_no_interval():
    scores = make_curves(np.repeat([1.0, 1.0, 0.4], 15).reshape(3, 5, 3))
    with pytest.warns(UserWarning, match="p is NaN: too few runs, or all scores are equal"):
        result = xcurves.pairwise(scores, rng=0)
    assert result.difference_ci.isnull().all()
    said = result.curves.summary()
    assert "nan" not in said
    assert "Untested beside a0: a1 (their runs do not differ at all)." in said


@pytest.mark.parametrize("paired", [False, True])
def test_a_pair_is_its_own_two_algorithm_test(curves, paired):
    curves = curves.isel(run=slice(5)) if paired else curves
    result = xcurves.pairwise(curves, paired=paired, confidence_level=0.5, rng=0)
    for label, a, b in zip(
        result.pair.values,
        result.algorithm_a.values,
        result.algorithm_b.values,
        strict=True,
    ):
        pair = curves.sel(algorithm=[a, b])
        alone = xcurves.randomized_anova(pair, paired=paired, confidence_level=0.5, rng=0).sel(error_term="split_plot")
        here = result.sel(pair=label)
        np.testing.assert_array_equal(
            here.pvalue.sel(effect="interaction"),
            alone.pvalue.sel(effect="interaction"),
        )
        np.testing.assert_allclose(here.f, alone.f, rtol=1e-9)
        assert here.n_assignments == alone.n_assignments
        planned = xcurves.contrast(pair, {a: 1, b: -1}, paired=paired, confidence_level=0.5, rng=0)
        np.testing.assert_allclose(here.pvalue.sel(effect="algorithm"), planned.pvalue)
        np.testing.assert_allclose(here.difference, planned.estimate)
        np.testing.assert_allclose(here.difference_ci, planned.estimate_ci)


def test_difference_is_the_first_minus_the_second(curves):
    result = quiet(curves)
    means = curves.mean(["run", "training"])
    for a, b, difference in zip(result.algorithm_a, result.algorithm_b, result.difference, strict=True):
        np.testing.assert_allclose(difference, means.sel(algorithm=a) - means.sel(algorithm=b))


def test_adjustment_is_for_each_effect_by_itself(curves):
    from statsmodels.stats.multitest import multipletests

    result = quiet(curves)
    for effect in result.effect:
        here = result.sel(effect=effect)
        np.testing.assert_allclose(here.pvalue_adjusted, multipletests(here.pvalue, method="holm")[1])
    other = quiet(curves, correction="bonferroni")
    np.testing.assert_allclose(other.pvalue_adjusted, np.minimum(3 * other.pvalue, 1))
    assert other.attrs["correction"] == "bonferroni"


@pytest.mark.slow
def test_order_of_algorithms_names_the_pairs_and_leaves_p(curves):
    turned, result = quiet(curves.isel(algorithm=[2, 0, 1])), quiet(curves)
    assert turned.pair.values.tolist() == ["a2 - a0", "a2 - a1", "a0 - a1"]
    np.testing.assert_array_equal(turned.pvalue.isel(pair=[2, 0, 1]), result.pvalue)
    np.testing.assert_allclose(turned.difference.isel(pair=[0, 1]), -result.difference.isel(pair=[1, 2]))


def test_pairs_of_absent_algorithms_are_nan_and_do_not_count(tasks):
    with pytest.warns(UserWarning, match="^task 'y': a0 -.*equal .in 2 comparisons.$"):
        result = xcurves.pairwise(tasks, rng=0)
    here = result.sel(task="y")
    assert np.isnan(here.pvalue.sel(pair=["a0 - a1", "a1 - a2"])).all()
    assert here.n_resamples.values.tolist() == [0, 792, 0]
    np.testing.assert_array_equal(here.pvalue_adjusted.sel(pair="a0 - a2"), here.pvalue.sel(pair="a0 - a2"))
    xr.testing.assert_allclose(result.sel(task="x", drop=True), quiet(tasks.sel(task="x", drop=True)))


def test_a_single_run_each_gives_a_difference_without_p_or_interval():
    result = quiet(absent(make_curves(np.random.default_rng(0).normal(size=(3, 4, 3))), [1, 1, 4]))
    lonely = result.sel(pair="a0 - a1")
    assert np.isnan(lonely.pvalue).all()
    assert lonely.difference_ci.values.tolist() == [-np.inf, np.inf]
    assert np.isfinite(lonely.difference)


def test_few_runs_are_warned_of():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 4, 3)))
    with pytest.warns(UserWarning, match="^a0 - a1: runs.*0.05 .in 3 comparisons.$"):
        result = xcurves.pairwise(curves)
    # 2 of 70 labelled assignments are below .05
    assert np.isfinite(result.difference_ci).all()


def test_few_reassignments_are_not_called_few_runs(curves):
    with pytest.warns(UserWarning, match="^a0 - a1: n_resamples.*adjusted p reaches 0.05"):
        result = xcurves.pairwise(curves, n_resamples=30, rng=0)
    said = " ".join(each.text for each in kind("pairwise").statements(result) if each.role == "answer")
    assert (
        "With 30 reassignments no adjusted p of these 3 pairs can be below 0.0968: make more: n_resamples=59 is enough."
        in said
    )


@pytest.mark.parametrize(
    ("correction", "sizes", "few"),
    [
        ("holm", [4, 4, 8, 8], []),  # of 35 assignments, and the last of Holm's steps
        ("holm", [3, 3, 8, 8], ["a0 - a1"]),  # of 10
        ("bonferroni", [4, 4, 8, 8], ["a0 - a1"]),  # 6 / 35
    ],
)
def test_a_warning_of_few_runs_is_right_of_every_pair_that_could_not_differ_more(correction, sizes, few):
    scores = 100.0 * np.arange(4)[:, None, None] + np.random.default_rng(0).normal(size=(4, 8, 3))
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        result = xcurves.pairwise(
            absent(make_curves(scores), sizes),
            n_resamples=10_000,
            correction=correction,
            rng=0,
        )
    p = result.pvalue_adjusted.sel(effect="algorithm")  # each as small as it can be
    assert p.pair.values[p > 0.05].tolist() == few
    assert [str(each.message).split(":")[0] for each in given if "no adjusted p" in str(each.message)] == few
    said = " ".join(each.text for each in kind("pairwise").statements(result) if each.role == "answer")
    assert ("no adjusted p" in said) == bool(few)
    if few:
        assert f"no adjusted p of 1 of 6 pairs can be below {p.sel(pair=few).item():.3g}: run more: " in said
        assert result["pvalue_adjusted_least"].sel(pair=few).item() == p.sel(pair=few).item()


def test_dask_backed_curves_stay_lazy(tasks):
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.pairwise(tasks.chunk(task=1, training=2), n_resamples=300, rng=0)
    found, whole = lazy.compute(), quiet(tasks, n_resamples=300)
    np.testing.assert_array_equal(found.pvalue_adjusted, whole.pvalue_adjusted)
    xr.testing.assert_allclose(found, whole)
    by_task = quiet(tasks.chunk(task=1), n_resamples=300).compute()
    # roots of other batches differ by an ulp on some machines
    ends = ["difference_ci", "difference_ci_simultaneous"]
    xr.testing.assert_identical(by_task.drop_vars(ends), whole.drop_vars(ends))
    xr.testing.assert_allclose(by_task[ends], whole[ends], rtol=1e-12)


def test_the_means_of_algorithms_are_those_of_their_runs(curves):
    result = quiet(curves, n_resamples=300)
    np.testing.assert_allclose(result["score_mean"], [np.nanmean(each) for each in curves.values], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "expected", "said"),
    [
        ({"correction": "sidak"}, ("correction", "sidak"), "'holm' or 'bonferroni'"),
        ({"paired": True}, ("curves", ANY, give(paired=False)), "every algorithm; algorithm 'a1' lacks run 6"),
    ],
)
def test_bad_options(curves, options, expected, said):
    with refused(*expected, names=said):
        xcurves.pairwise(curves, **options)


def test_a_reference_limits_the_pairs(curves):
    result, every = quiet(curves, reference="a1"), quiet(curves)
    assert result.pair.values.tolist() == ["a0 - a1", "a2 - a1"]
    assert result.algorithm_b.values.tolist() == ["a1", "a1"]
    np.testing.assert_allclose(result.pvalue, every.pvalue.sel(pair=["a0 - a1", "a1 - a2"]))
    np.testing.assert_allclose(result.difference, every.difference.sel(pair=["a0 - a1", "a1 - a2"]) * [1, -1])
    smallest = result.pvalue.min("pair")
    np.testing.assert_allclose(result.pvalue_adjusted.min("pair"), 2 * smallest)
    with refused("reference", "sac", cure="They have 'a0', 'a1', 'a2'"):
        xcurves.pairwise(curves, reference="sac")


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.integers(3, 7), st.integers(3, 7)),
    st.sampled_from([0.25, 1, 4]),
    st.sampled_from([0.05, 0.1, 0.3]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_p_and_interval_never_disagree(sizes, spread, alpha, rounded, seed):
    scores = np.random.default_rng(seed).normal(size=(2, 7, 2)) * np.array([1, spread])[:, None, None]
    scores = np.round(2 * scores) if rounded else scores
    result = quiet(
        absent(make_curves(scores), sizes),
        confidence_level=1 - alpha,
        n_resamples=2_000,
    )
    p = result.pvalue.sel(effect="algorithm").item()
    low, high = result.difference_ci.values[0]
    assert result.difference_ci_gap == 1 or p != p or (p <= alpha + 1e-12) == (low > 0 or high < 0)


@pytest.mark.parametrize("scale", [1e-310, 1e160])
def test_scores_whose_squares_are_no_numbers_are_refused_before_any_test(scale):
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 3, 4)) * scale)
    with refused("curves", cure="Rescale: curves / abs(curves).max()", names=r"too (large|small) to be squared"):
        curves.curves.pairwise()


def test_a_label_with_half_of_a_surrogate_pair_stands_in_the_table():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)) - np.array([[[5.0]], [[0.0]]]))
    table = curves.assign_coords(algorithm=["é\ud800", "b"]).curves.pairwise().curves.table()
    assert table.index.tolist() == ["b over é\ud800"]  # turned


def test_a_third_algorithm_has_no_say_in_a_pair(curves):
    far = curves + 1000 * (curves.algorithm == "a2") * (1 + curves.training)
    pair = {"pair": "a0 - a1"}
    np.testing.assert_array_equal(quiet(far).pvalue.sel(pair), quiet(curves).pvalue.sel(pair))


def test_of_equal_means_neither_is_said_to_be_higher():
    values = np.repeat([[0.0, 1, 2, 3], [3, 2, 1, 0]], 3, axis=1).reshape(2, 4, 3)
    said = make_curves(values).curves.pairwise().curves.summary()
    assert said.startswith("a0 and a1 have the same mean score over training, 1.5. No difference is shown.")


def least_runs(effect, alpha, n_samples):
    """Return the first number of runs with the power, counted up; effects are in standard deviations."""
    for n in range(2, 500):
        power = power_of_t(abs(effect) * np.sqrt(n / n_samples), n_samples * (n - 1), alpha)
        least = 2 / math.comb(2 * n, n) if n_samples == 2 else 2.0 ** (1 - n)
        if least <= alpha and power >= 0.8:
            return n
    return np.inf


@pytest.mark.parametrize("paired", [False, True])
def test_runs_that_would_show_a_difference_are_those_of_the_t_test(paired):
    rng = np.random.default_rng(11)
    values = rng.normal(size=(3, 6, 4)) + np.array([0.0, 0.6, 1.4])[:, np.newaxis, np.newaxis]
    result = quiet(make_curves(values), paired=paired, n_resamples=999)
    means, alpha = values.mean(axis=-1), 0.05 / 3
    for pair, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
        apart = means[a] - means[b]
        sd = apart.std(ddof=1) if paired else np.sqrt(means[[a, b]].var(axis=1, ddof=1).mean())
        furthest = np.abs(result.difference_ci[pair]).max().item()
        expected = [least_runs(each / sd, alpha, 2 - paired) for each in (apart.mean(), furthest)]
        found = [result[name][pair].item() for name in ("runs_to_show", "runs_at_least")]
        if result.pvalue_adjusted.sel(effect="algorithm")[pair] <= 0.05:
            assert np.isnan(found[1])
            found, expected = found[:1], expected[:1]
        assert found == expected
    assert result.runs_at_least.notnull().any()


@pytest.mark.slow
def test_so_many_runs_show_such_a_difference_in_eight_of_ten_cases():
    rng = np.random.default_rng(12)
    for effect in (2.0, 1.0):
        n_runs = least_runs(effect, 0.05, 2)
        values = rng.normal(size=(400, 2, n_runs, 1))
        values[:, 0] += effect
        tasks = make_curves(values, task=list(range(400)))
        shown = (quiet(tasks, n_resamples=999).pvalue_adjusted.sel(effect="algorithm") <= 0.05).sum().item()
        # of 400 at a power between .8 and .9, which few runs step over
        assert stats.binom.ppf(0.001, 400, 0.8) <= shown <= stats.binom.ppf(0.999, 400, 0.9)


@pytest.mark.slow
def test_the_answer_says_how_many_runs_tell_the_best_from_its_nearest_rival():
    rng = np.random.default_rng(0)
    curves = make_curves(rng.normal(size=(3, 6, 4)) + np.array([0, 1.6, 2.2])[:, None, None])
    result = quiet(curves.assign_coords(algorithm=["bad", "good", "best"]), n_resamples=999)
    pair = result.sel(pair="good - best")
    n_runs = int(pair.runs_to_show.item())
    assert 6 < n_runs < 120
    words = f"To tell best from good takes at least {pair.runs_at_least.item():.0f} runs of each, about "
    assert words in result.curves.summary().split("\n")[0]
    assert result.curves.to_dict()["next"]["runs"] == {"best": n_runs - 6, "good": n_runs - 6}
    # The one that has more runs takes fewer more.
    uneven = curves.assign_coords(algorithm=["bad", "good", "best"])
    uneven = quiet(uneven.where((uneven["algorithm"] != "good") | (uneven["run"] >= 1)), n_resamples=999)
    to_show = int(uneven.sel(pair="good - best").runs_to_show.item())
    assert uneven.curves.to_dict()["next"]["runs"] == {"best": to_show - 6, "good": to_show - 5}
    few = quiet(curves.isel(run=slice(3)))
    assert "To tell" not in few.curves.summary()
    assert "run more" in few.curves.summary()
