import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import strategies
import xcurves
from lazy import refuse_to_compute
from refusals import refused
from strategies import absent, make_curves
from xcurves.kernels.resampling import engine
from xcurves.say.numbers import pvalue

EXACT = {"n_resamples": 2000}


def p_of(curves, **options):
    options = {"n_resamples": 500, "rng": 0, "confidence_level": 0.5, **options}
    return xcurves.randomized_anova(curves, **options).pvalue


def quiet(curves, **options):
    """Run without the warnings about few assignments and undefined ratios, which have tests of their own."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xcurves.randomized_anova(curves, **{"rng": 0, **options})


@pytest.fixture
def curves():
    """Three algorithms, 7, 6 and 5 runs, 6 levels; random shuffles are needed."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 7, 6)).cumsum(axis=-1) + 0.7 * np.arange(3)[:, np.newaxis, np.newaxis]
    return absent(make_curves(values), [7, 6, 5])


@pytest.fixture
def tasks():
    """Four tasks, each with its own runs, algorithms and training levels; the last has none at all."""
    rng = np.random.default_rng(1)
    curves = make_curves(
        rng.normal(size=(4, 3, 5, 6)).cumsum(axis=-1),
        task=["full", "few", "short", "none"],
    )
    curves.loc[{"task": "few", "algorithm": "a1"}] = np.nan
    curves.loc[{"task": "few", "run": 4, "algorithm": "a2"}] = np.nan
    curves.loc[{"task": "short", "training": [100, 500]}] = np.nan
    curves.loc[{"task": "none"}] = np.nan
    return curves


def test_attrs_say_where_a_result_comes_from(curves):
    curves.attrs = {"units": "points", "history": "made up"}
    result = xcurves.randomized_anova(curves, n_resamples=100, rng=3, confidence_level=0.9)
    assert result.attrs["xcurves_result"] == "randomized_anova"
    assert result.attrs["xcurves_version"] == xcurves.__version__
    assert result.attrs["rng"] == "3"
    assert result.attrs["confidence_level"] == 0.9
    assert result.attrs["paired"] == 0
    assert result.attrs["n_resamples"] == 100
    assert "Piater" in result.attrs["references"]
    assert result.attrs["history"] == "made up\nrandomized_anova(n_resamples=100, paired=False, level_test=None)"
    assert all(type(value) in (str, int, float) for value in result.attrs.values())
    flags = {"level_test": {"flag_values", "flag_meanings"}}
    for name, variable in result.data_vars.items():
        assert set(variable.attrs) == {"long_name", "units"} | flags.get(name, set())
    assert result.ss.attrs["units"] == "(points)^2"
    assert result.pvalue.attrs["units"] == "1"


def test_equal_runs_are_identical_and_the_recorded_seed_repeats_them(curves):
    generator = np.random.default_rng(4)
    first = xcurves.randomized_anova(curves, n_resamples=300, rng=generator)
    again = xcurves.randomized_anova(curves, n_resamples=300, rng=int(first.attrs["rng"]))
    xr.testing.assert_identical(first, again)
    second = xcurves.randomized_anova(curves, n_resamples=300, rng=generator)
    assert (second.pvalue != first.pvalue).any()


@given(strategies.curves(), st.floats(-1e3, 1e3), st.sampled_from([1e-12, 0.5, -3.0, 1e9]))
def test_shifting_and_scaling_scores_leaves_f_and_p(curves, shift, scale):
    plain, moved = (quiet(each, n_resamples=300) for each in (curves, curves * scale + shift * scale))
    for name in ("pvalue", "f", "critical_value"):
        np.testing.assert_allclose(moved[name], plain[name], rtol=1e-6)
    np.testing.assert_array_equal(moved.pvalue, plain.pvalue)


@given(strategies.curves(), st.randoms(use_true_random=False))
def test_order_of_algorithms_runs_and_levels_leaves_p(curves, random):
    places = {dim: random.sample(range(size), size) for dim, size in curves.sizes.items() if dim != "training"}
    plain, mixed = (quiet(each, n_resamples=300) for each in (curves, curves.isel(places)))
    np.testing.assert_array_equal(mixed.pvalue, plain.pvalue)
    xr.testing.assert_equal(mixed.n_runs.sortby("algorithm"), plain.n_runs)
    assert mixed.algorithm.values.tolist() == curves.isel(places).algorithm.values.tolist()


@given(strategies.curves(integers=True))
def test_whole_scores_with_an_offset_of_1e9_keep_their_ties(curves):
    np.testing.assert_array_equal(quiet(curves + 1e9, **EXACT).pvalue, quiet(curves, **EXACT).pvalue)


def test_statsmodels_gives_the_same_table(curves):
    """Type II sums of squares of anova_lm, unequal runs."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = curves.to_dataframe("y").reset_index().dropna()
    expected = anova_lm(ols("y ~ C(algorithm, Sum) * C(training, Sum)", frame).fit(), typ=2)
    table = quiet(curves).sel(error_term="pooled").curves.table()
    rows = {
        "Algorithm": "C(algorithm, Sum)",
        "Training": "C(training, Sum)",
        "Interaction": "C(algorithm, Sum):C(training, Sum)",
        "Error": "Residual",
    }
    for ours, theirs in rows.items():
        np.testing.assert_allclose(table.loc[ours, "SS"], expected.loc[theirs, "sum_sq"], rtol=1e-9)
        assert table.loc[ours, "df"] == expected.loc[theirs, "df"]
    for effect in ("Algorithm", "Interaction"):
        np.testing.assert_allclose(table.loc[effect, "F"], expected.loc[rows[effect], "F"], rtol=1e-9)


@pytest.mark.slow
def test_each_task_is_analysed_as_if_alone(tasks):
    together = quiet(tasks)
    alone = {
        "full": tasks.sel(task="full"),
        "few": tasks.sel(task="few", algorithm=["a0", "a2"]),
        "short": tasks.sel(task="short", training=[0, 200, 300, 400]),
    }
    for name, curves in alone.items():
        single = quiet(curves)
        for variable in single.drop_vars("n_runs").data_vars:
            np.testing.assert_allclose(together[variable].sel(task=name), single[variable], rtol=1e-12)
        np.testing.assert_array_equal(together.pvalue.sel(task=name), single.pvalue)
    assert together.n_runs.sel(task="few").values.tolist() == [5, 0, 4]
    assert together.n_levels.values.tolist() == [6, 6, 4, 0]
    assert together.n_assignments.values[:3].tolist() == [126126, 126, 126126]


def test_a_task_without_runs_is_nan_with_one_warning(tasks):
    with pytest.warns(UserWarning) as caught:
        result = xcurves.randomized_anova(tasks, n_resamples=50)
    assert [str(warning.message) for warning in caught] == ["task 'none': no run has a value; the result is NaN"]
    assert result.pvalue.sel(task="none").isnull().all()
    assert result.pvalue.drop_sel(task="none", error_term="welch").notnull().all()
    assert result.n_resamples.sel(task="none") == 0


@pytest.mark.slow
def test_reordered_tasks_have_the_same_results(tasks):
    some = tasks.isel(task=[0, 1, 2])
    xr.testing.assert_identical(quiet(some.isel(task=[2, 0, 1])), quiet(some).isel(task=[2, 0, 1]))


@pytest.mark.slow
def test_several_extra_dims_stand_in_front(tasks):
    wide = tasks.isel(task=[0, 1, 2]).expand_dims(metric=["x", "y"], axis=1)
    result = quiet(wide)
    assert result.pvalue.dims == ("task", "metric", "effect", "error_term")
    xr.testing.assert_equal(result.sel(metric="y", drop=True), quiet(tasks.isel(task=[0, 1, 2])))


def test_coordinates_of_tasks_and_selections_stay(tasks):
    some = tasks.isel(task=[0, 1]).assign_coords(suite=("task", ["m", "d"]), metric="return")
    result = quiet(some)
    assert result.suite.values.tolist() == ["m", "d"]
    assert result.metric == "return"


@pytest.mark.plain(1)
@pytest.mark.parametrize("budget", [1, 2**10, 2**14])
def test_batches_change_no_p(curves, budget, monkeypatch):
    pair = curves.isel(algorithm=[0, 1])
    whole = p_of(curves), p_of(pair, n_resamples=2000)
    monkeypatch.setattr(engine, "CACHE", budget)
    np.testing.assert_array_equal(p_of(curves), whole[0])
    np.testing.assert_array_equal(p_of(pair, n_resamples=2000), whole[1])


CHUNKS = [
    {},
    {"task": 1},
    {"task": 2, "training": 2},
    {"training": 1},
    {"algorithm": 1, "run": 2, "training": 4},
]


@pytest.mark.plain(2)
@pytest.mark.parametrize("chunks", CHUNKS)
def test_chunked_curves_stay_lazy_and_give_the_same(tasks, chunks):
    whole = quiet(tasks, n_resamples=400)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.randomized_anova(tasks.chunk(chunks), n_resamples=400, rng=0)
    assert all(variable.chunks is not None for variable in lazy.data_vars.values())
    found = lazy.compute(scheduler="threads", num_workers=2)
    np.testing.assert_array_equal(found.pvalue, whole.pvalue)
    if "training" not in chunks:
        xr.testing.assert_identical(found, whole)
    else:
        xr.testing.assert_allclose(found, whole, rtol=1e-12)
    assert found.attrs == whole.attrs


def test_chunks_of_tasks_are_identical_on_every_path():
    """Many levels and groups take another way through the kernel than few; neither may feel its neighbours."""
    rng = np.random.default_rng(3)
    for shape in ((30, 2, 10, 8), (30, 4, 5, 60), (30, 2, 6, 4)):
        curves = make_curves(rng.normal(size=shape), task=range(30))
        whole = quiet(curves, n_resamples=1500)
        xr.testing.assert_identical(quiet(curves.chunk(task=7), n_resamples=1500).compute(), whole)


def test_lazy_kept_null_is_random_and_of_known_length(tasks):
    lazy = xcurves.randomized_anova(tasks.chunk(task=1), keep_null=True, n_resamples=200, rng=0)
    assert lazy.null_distribution.shape == (4, 2, 3, 200)
    found = lazy.compute()
    # 126 assignments would fit in 200
    assert (found.n_resamples.values == [200, 200, 200, 0]).all()
    whole = quiet(tasks.sel(task=["full"]), keep_null=True, n_resamples=200)
    np.testing.assert_array_equal(
        found.null_distribution.sel(task="full"),
        whole.null_distribution.squeeze("task"),
    )


def test_kept_nulls_of_unequal_length_are_filled_with_nan(tasks):
    result = quiet(tasks.sel(task=["full", "few"]), keep_null=True, n_resamples=200)
    lengths = result.null_distribution.notnull().sum("resample").isel(effect=0, error_term=0)
    assert lengths.values.tolist() == [200, 126]


@pytest.mark.parametrize("spoil", [np.inf, np.nan])
def test_an_error_deep_in_the_graph_names_the_task(tasks, spoil):
    tasks[2, 1, 3, 2] = spoil
    lazy = xcurves.randomized_anova(tasks.chunk(task=1, training=3))
    with refused("curves", ("'a1'", "3")):
        lazy.compute()


def test_lazy_curves_give_no_warning(tasks):
    lazy = xcurves.randomized_anova(tasks.isel(run=[0, 1]).chunk(task=1))
    assert lazy.compute().n_assignments.sel(task="few") == 3


def test_no_p_small_enough_is_said_once():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 2, 3, 4)), task=["x", "y", "z"])
    with pytest.warns(UserWarning) as caught:
        xcurves.randomized_anova(curves)
    assert [str(w.message) for w in caught] == [
        "task 'x': 3 v 3 runs allow 10 assignments; no p below 0.1 exists (in 3 tasks)"
    ]
    with pytest.warns(UserWarning, match="^n_resamples is small; no p below 0.1 exists$"):
        xcurves.randomized_anova(curves.isel(task=0, drop=True), n_resamples=9)


def test_p_of_a_tenth_is_significant_at_90_percent_without_a_warning():
    curves = make_curves(
        np.arange(6.0).reshape(2, 3, 1) + np.zeros(4) + np.random.default_rng(0).normal(size=(2, 3, 4)) / 9
    )
    result = xcurves.randomized_anova(curves, confidence_level=0.9)
    assert result.pvalue.sel(effect="algorithm", error_term="split_plot") == 0.1
    assert "over training differ (p = .100);" in result.curves.summary()
    np.testing.assert_array_less(result.critical_value.sel(effect="algorithm"), result.f.sel(effect="algorithm"))


def test_equal_scores_are_nan_with_one_warning():
    with pytest.warns(UserWarning) as caught:
        result = xcurves.randomized_anova(make_curves(np.full((2, 5, 3), 0.1)))
    assert [str(w.message) for w in caught] == [
        "differences and error are both zero: F is 0 / 0 and p is NaN (algorithm and interaction)"
    ]
    assert result.pvalue.isnull().all()
    assert result.f.isnull().all()
    assert result.critical_value.isnull().all()


def test_a_difference_without_error_is_infinite_and_counted():
    curves = make_curves(np.array([1.0, 2.0])[:, np.newaxis, np.newaxis] * np.ones((2, 4, 1)))
    result = quiet(curves)
    assert (result.f.sel(effect="algorithm") == np.inf).all()
    assert (result.pvalue.sel(effect="algorithm") == 1 / 35).all()


def test_one_level_has_no_interaction_and_no_warning(curves):
    result = xcurves.randomized_anova(curves.isel(training=[-1]), n_resamples=100)
    assert result.pvalue.sel(effect="interaction").isnull().all()
    algorithm = result.sel(effect="algorithm")
    np.testing.assert_allclose(algorithm.f.sel(error_term="pooled"), algorithm.f.sel(error_term="split_plot"))
    assert algorithm.pvalue.notnull().all()
    assert result.df.sel(source="interaction") == 0


def test_a_progress_bar_shows_and_changes_nothing(curves, capsys):
    pytest.importorskip("tqdm")
    shown = xcurves.randomized_anova(curves, n_resamples=3000, progress=True, rng=0)
    assert "shuffles" in capsys.readouterr().err
    xr.testing.assert_identical(shown, xcurves.randomized_anova(curves, n_resamples=3000, rng=0))


def test_offsets_of_matched_runs_leave_the_paired_strata():
    """Scores 0 and 1 with runs a million apart; the split-plot p is 2 of 6 assignments in rational arithmetic."""
    values = [
        [[1, 0], [1e6, 1e6 + 1]],
        [[1, 1], [1e6 + 1, 1e6 + 1]],
        [[0, 1], [1e6 + 1, 1e6]],
    ]
    result = quiet(make_curves(values), paired=True)
    np.testing.assert_allclose(result.pvalue.sel(effect="algorithm", error_term="split_plot"), 1 / 3)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8, 1e10])
def test_an_offset_of_one_curve_leaves_the_split_plot_interaction(offset):
    values = np.random.default_rng(0).normal(size=(2, 5, 4))
    values[1] += 1
    plain = quiet(make_curves(values)).sel(effect="interaction", error_term="split_plot")
    values[0, 0] += offset
    moved = quiet(make_curves(values)).sel(effect="interaction", error_term="split_plot")
    assert moved.pvalue == plain.pvalue
    np.testing.assert_allclose(moved.f, plain.f, rtol=1e-4)


def test_no_exact_p_is_below_one_over_the_assignments():
    for seed in range(20):
        curves = make_curves(np.random.default_rng(seed).normal(size=(2, 3, 2)) + np.array([0, 1e9])[:, None, None])
        assert (quiet(curves).pvalue.drop_sel(error_term="welch") >= 0.1).all()
        assert quiet(curves).pvalue.sel(effect="algorithm", error_term="welch") >= 0.1


@pytest.mark.slow
def test_welch_is_the_permuted_statistic_of_curve_means(tasks):
    """By one-way Welch of statsmodels, recomputed in all deals of the curves of a small task."""
    from itertools import permutations

    from statsmodels.stats.oneway import anova_oneway

    curves = absent(
        make_curves(np.random.default_rng(4).normal(size=(3, 3, 4)) * np.array([1, 3, 9])[:, None, None]),
        [3, 2, 2],
    )
    result = quiet(curves)
    means = curves.mean("training").to_numpy()
    means = means[~np.isnan(means)]

    def welch(values):
        return anova_oneway(np.split(values, [3, 5]), use_var="unequal", welch_correction=True).statistic

    observed = welch(means)
    null = [welch(means[list(order)]) for order in permutations(range(7))]
    test = result.sel(effect="algorithm", error_term="welch")
    np.testing.assert_allclose(test.f, observed)
    np.testing.assert_allclose(test.pvalue, np.mean(np.array(null) >= observed * (1 - 1e-9)))
    assert result.sel(effect="interaction", error_term="welch").f.isnull()
    spreads = [means[:3].std(ddof=1), means[3:5].std(ddof=1), means[5:].std(ddof=1)]
    np.testing.assert_allclose(result.sd_ratio, max(spreads) / min(spreads))


def test_paired_designs_have_no_welch():
    result = quiet(make_curves(np.random.default_rng(4).normal(size=(3, 4, 4))), paired=True)
    assert result.sel(error_term="welch").pvalue.isnull().all()
    assert result.sd_ratio.isnull()


def test_omega_squared_is_zero_on_average_where_eta_squared_is_not():
    """Without an effect eta squared of 5 algorithms of 3 runs has mean 4 / 14."""
    curves = make_curves(np.random.default_rng(4).normal(size=(400, 5, 3, 4)), task=range(400))
    result = quiet(curves, n_resamples=1).sel(effect="algorithm", error_term="split_plot")
    n = 400
    assert abs(result.eta_sq_partial.mean() - 4 / 14) < 4 * result.eta_sq_partial.std() / n**0.5
    assert abs(result.omega_sq_partial.mean()) < 4 * result.omega_sq_partial.std() / n**0.5 + 0.02


def variances(y, paired):
    """Unbiased variances of effects and of their errors by plain loops: ((effect, error), ...) by effect.

    Effects have the mean square of their true values as their variance, which their mean square less that of the
    error estimates.
    """
    m, l, k = y.shape
    u = y.mean(axis=2)  # of curves
    of_algorithm, of_run, grand = u.mean(axis=1), u.mean(axis=0), u.mean()
    between = sum(l * (of_algorithm[i] - grand) ** 2 for i in range(m)) / (m - 1)
    left, left_within, between_within = 0.0, 0.0, 0.0
    cell, level, of_run_level = y.mean(axis=1), y.mean(axis=(0, 1)), y.mean(axis=0)
    for i in range(m):
        for h in range(k):
            between_within += l * (cell[i, h] - of_algorithm[i] - level[h] + grand) ** 2
        for j in range(l):
            left += (u[i, j] - of_algorithm[i] - paired * (of_run[j] - grand)) ** 2
            for h in range(k):
                shared = paired * (of_run_level[j, h] - of_run[j] - level[h] + grand)
                left_within += (y[i, j, h] - u[i, j] - cell[i, h] + of_algorithm[i] - shared) ** 2
    df_error = (m - 1) * (l - 1) if paired else m * (l - 1)
    error, error_within = left / df_error, left_within / (df_error * (k - 1))
    between_within /= (m - 1) * (k - 1)
    return (
        ((m - 1) * (between - error) / (m * l), error),
        (
            (m - 1) * (k - 1) * (between_within - error_within) / (m * l * k),
            error_within,
        ),
    )


@pytest.mark.parametrize("paired", [False, True])
def test_omega_squared_by_its_definition(paired):
    """The share of the effect's variance in its sum with the error's, each estimated without bias."""
    slopes = np.arange(3)[:, None, None] * np.array([1.0, 2.0, 2.5, 0.0])
    curves = make_curves(np.random.default_rng(4).normal(size=(3, 5, 4)) + slopes)
    result = quiet(curves, n_resamples=1, paired=paired).omega_sq_partial.sel(error_term="split_plot")
    for effect, (own, error) in zip(("algorithm", "interaction"), variances(curves.to_numpy(), paired), strict=True):
        np.testing.assert_allclose(result.sel(effect=effect), own / (own + error))


@pytest.mark.parametrize("method", ["randomized_anova", "pairwise"])
@pytest.mark.filterwarnings("ignore:differences and error", "ignore:.*p is NaN")
def test_huge_scores_that_are_all_alike_have_no_p(method):
    found = getattr(make_curves(np.full((2, 4, 4), 1e160)).curves, method)(n_resamples=99, rng=0)
    assert found.pvalue.isnull().all()


def of_sizes(*sizes, seed=1):
    values = np.random.default_rng(seed).normal(size=(len(sizes), 5, 4))
    return absent(make_curves(values), sizes)


def test_which_test_of_level_speaks_follows_from_the_numbers_of_runs():
    """Not from scores: to choose by the ratio of spreads would make one test of two."""
    unequal = of_sizes(5, 5, 3)
    cases = [
        (unequal, {}, "welch"),
        (unequal, {"level_test": "f"}, "split_plot"),
        (of_sizes(4, 4, 4), {}, "split_plot"),
        (
            of_sizes(4, 4, 4) * xr.DataArray([9, 1, 1], dims="algorithm"),
            {},
            "split_plot",
        ),
        (of_sizes(4, 4, 4), {"level_test": "welch"}, "welch"),
        # of one run Welch's statistic is not defined
        (of_sizes(5, 4, 1), {}, "split_plot"),
        (of_sizes(4, 4, 4), {"paired": True}, "split_plot"),
    ]
    for curves, options, speaks in cases:
        result = xcurves.randomized_anova(curves, n_resamples=199, rng=0, **options)
        assert result.level_test.item() == (speaks == "welch")
        p = result.pvalue.sel(effect="algorithm", error_term=speaks).item()
        assert pvalue(p) in result.curves.summary().split(";")[0]
        assert ("Algorithm (Welch)" in result.curves.table().index) == (speaks == "welch")
    assert result.level_test.attrs["flag_meanings"] == "f welch"
    table = xcurves.randomized_anova(unequal, n_resamples=199, rng=0).curves.table()
    assert table.index.tolist()[:3] == ["Algorithm", "Algorithm (Welch)", "Runs"]
    curves = of_sizes(4, 4)
    with refused("level_test", "welch", cure="Leave level_test out"):
        xcurves.randomized_anova(curves, paired=True, level_test="welch")
    with refused("level_test", "ratio"):
        xcurves.randomized_anova(curves, level_test="ratio")


def test_tasks_in_which_different_tests_speak():
    both = xr.concat([of_sizes(5, 5, 3), of_sizes(5, 5, 5, seed=2)], "task")
    result = xcurves.randomized_anova(both, n_resamples=199, rng=0)
    assert result.level_test.values.tolist() == [1, 0]
    assert result.level_test.dtype == np.int8
    rows = result.curves.table().xs("Algorithm (Welch)", level="source")
    assert rows.p.notnull().tolist() == [True, False]


@given(strategies.curves())
def test_renaming_algorithms_leaves_f(curves):
    renamed = curves.assign_coords(algorithm=[f"z{9 - i}" for i in range(curves.sizes["algorithm"])])
    f = quiet(curves, **EXACT).f
    kept = ~(f > 1e5)  # of larger ones rounding leaves fewer digits
    np.testing.assert_allclose(quiet(renamed, **EXACT).f.where(kept), f.where(kept), rtol=1e-9)


def test_levels_that_rise_by_1e5_under_noise_of_1_leave_p():
    rng = np.random.default_rng(2)
    curves = make_curves(rng.normal(size=(2, 6, 8)) + np.array([0, 0.8])[:, np.newaxis, np.newaxis])
    plain, risen = quiet(curves), quiet(curves + 1e5 * np.arange(8))
    assert plain.pvalue.sel(effect="algorithm", error_term="split_plot") < 0.2
    np.testing.assert_array_equal(risen.pvalue, plain.pvalue)
    np.testing.assert_allclose(risen.f, plain.f, rtol=1e-9)


def test_an_absent_run_is_as_if_it_had_no_label(curves):
    groups = [curves.isel(algorithm=i).dropna("run", how="all").values for i in range(3)]
    import oracles

    expected = oracles.f_ratios(groups)
    f = quiet(curves).f
    for effect, by_term in expected.items():
        for term, value in by_term.items():
            np.testing.assert_allclose(f.sel(effect=effect, error_term=term), value)


def test_paired_equals_brute_force_through_the_accessor():
    import oracles

    curves = make_curves(np.random.default_rng(7).normal(size=(3, 3, 4)))
    counts, total = oracles.exact_paired_counts(list(curves.values))
    result = quiet(curves, paired=True)
    assert result.n_assignments == 36
    for effect, by_term in counts.items():
        for term, count in by_term.items():
            np.testing.assert_allclose(result.pvalue.sel(effect=effect, error_term=term), count / total)
    assert result.error_df.sel(effect="algorithm", error_term="split_plot") == 4


def test_p_is_the_share_of_the_kept_null_and_curves_are_not_changed(curves):
    before = curves.copy(deep=True)
    result = xcurves.randomized_anova(curves, n_resamples=100, keep_null=True, rng=0)
    count = (result.null_distribution >= result.f * (1 - 1e-9)).sum("resample")
    np.testing.assert_allclose(result.pvalue, ((count + 1) / 101).where(result.f.notnull()))
    xr.testing.assert_identical(curves, before)


@pytest.mark.parametrize(("n_algorithms", "gap"), [(2, 3.0), (3, 3.0), (3, 0.0)])
def test_a_difference_among_several_is_said_to_be_of_none_in_particular(n_algorithms, gap):
    means = np.zeros((n_algorithms, 1, 1))
    means[0] = gap
    curves = make_curves(np.random.default_rng(2).normal(size=(n_algorithms, 6, 4)) + means)
    answer = xcurves.randomized_anova(curves, rng=0).curves.summary()
    said = f"any difference among the {n_algorithms}; which ones differ is tested pair by pair"
    assert (said in answer) == (n_algorithms > 2 and gap > 0)
