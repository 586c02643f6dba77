import itertools

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import oracles
import xcurves
from lazy import refuse_to_compute
from refusals import refused
from strategies import absent, make_curves
from strategies import curves as any_curves
from xcurves.core.refusal import call
from xcurves.kernels.one_task import level_differences, level_tests
from xcurves.kernels.resampling import batches, engine, group_products, plans
from xcurves.results import kind_of

PROFILES = ["simple", "algorithm", "interaction"]
TRY = "Try edges, [0, 1000, 5000], or pd.IntervalIndex.from_tuples([(0, 1000), (2000, 5000)])"
QUIET = 0.01  # a confidence level that any number of runs can reach


def groups_of(curves):
    """Lists of the curves that are present, algorithm by algorithm."""
    rows = [curves.sel(algorithm=name).dropna("run", how="all").to_numpy().tolist() for name in curves.algorithm]
    return [group for group in rows if group]


def profile(curves, **options):
    return xcurves.ss_profile(curves, **{"confidence_level": QUIET, **options})


@pytest.fixture
def curves():
    values = np.random.default_rng(1).normal(size=(2, 4, 5)).cumsum(axis=-1)
    values[0, :, 2:4] += 4
    return make_curves(values)


@pytest.fixture
def tasks():
    """Four tasks of which one lacks runs, one levels and one an algorithm."""
    values = np.random.default_rng(2).normal(size=(4, 3, 4, 6)).cumsum(axis=-1)
    values[1, 0, 3], values[2, :, :, [1, 5]], values[3, 2] = np.nan, np.nan, np.nan
    return make_curves(values, task=["full", "runs", "levels", "algorithms"])


def test_result_has_the_variables_and_labels_of_the_contract(curves):
    curves = curves.assign_attrs(units="points")
    curves.training.attrs = {"units": "games", "long_name": "training games"}
    result = profile(curves, intervals=[0, 200, 400], margin=1.0, rng=0)
    on_level = [
        "pvalue_adjusted",
        "pvalue",
        "f",
        "cluster",
        "cluster_pvalue",
        "equivalent",
    ]
    bands = ["ss_null_upper", "ss_null_upper_simultaneous"]
    dims = dict.fromkeys(("fraction", "cumulative_fraction", "ss"), ("effect", "training"))
    dims |= dict.fromkeys(["fraction_corrected", *on_level, *bands], ("training",))
    dims |= {
        "curve_difference": ("pair", "training"),
        "curve_difference_band": ("pair", "training", "ci_bound"),
    }
    dims |= {
        "first_significant": (),
        "last_significant": (),
        "interval_fraction": ("effect", "interval"),
    }
    dims |= dict.fromkeys(["interval_pvalue", "interval_pvalue_adjusted"], ("interval",))
    assert {name: variable.dims for name, variable in result.data_vars.items()} == dims
    assert result.effect.values.tolist() == PROFILES
    assert result.interval_left.values.tolist() == [0, 200]
    assert result.interval_right.values.tolist() == [200, 400]
    assert {name: result[name].attrs["units"] for name in ["ss", *bands]} == dict.fromkeys(["ss", *bands], "(points)^2")
    for name in (
        "first_significant",
        "last_significant",
        "training",
        "interval_left",
        "interval_right",
    ):
        assert result[name].attrs["units"] == "games"
    assert result.pvalue.attrs["units"] == "1"
    assert result.n_resamples == result.n_assignments == 35
    assert kind_of(result.drop_attrs()).name == "ss_profile"
    given = profile(curves, margin=0.25, cluster_threshold=2.5, rng=0).attrs
    assert (given["margin"], given["cluster_threshold"], given["paired"]) == (
        0.25,
        2.5,
        0,
    )


@given(
    any_curves(max_levels=5).filter(lambda curves: curves.sizes["training"] > 1),
    st.floats(-6, 6),
)
@settings(deadline=None)
@pytest.mark.slow
def test_profiles_add_up_to_the_anova_table(curves, magnitude):
    curves = curves * 10**magnitude
    result = profile(curves, n_resamples=1, rng=0)
    anova = xcurves.randomized_anova(curves, n_resamples=1, rng=0, confidence_level=QUIET)
    table = {source: anova.ss.sel(source=source).item() for source in anova.source.values}
    sums = result.ss.sum("training")
    expected = [
        table["algorithm"] + table["interaction"],
        table["algorithm"],
        table["interaction"],
    ]
    np.testing.assert_allclose(sums.sel(effect=PROFILES), expected, rtol=0, atol=1e-10 * table["total"])
    np.testing.assert_allclose(result.fraction, result.ss / sums, atol=1e-12)
    np.testing.assert_allclose(result.cumulative_fraction, result.fraction.cumsum("training"), atol=1e-12)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 3, 3), (4, 2), (1, 3, 2)])
def test_sums_and_f_are_those_of_the_plain_loops(sizes, paired):
    if paired and len(set(sizes)) > 1:
        pytest.skip("paired runs are equally many")
    curves = absent(
        make_curves(np.random.default_rng(3).normal(size=(len(sizes), max(sizes), 4)) + 1e6),
        sizes,
    )
    groups = groups_of(curves)
    result, expected = (
        profile(curves, paired=paired, rng=0),
        oracles.level_sums(groups, paired),
    )
    for effect in PROFILES:
        np.testing.assert_allclose(result.ss.sel(effect=effect), expected[effect], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(result.f, oracles.level_f(groups, paired), rtol=1e-8)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_matched_runs_and_algorithms_that_add_up_leave_no_error(size):
    """Means of 3 whole scores round: what that leaves is no spread."""
    runs = np.concatenate([np.ones((9, 1)), np.random.default_rng(size).integers(2, 100, (9, size - 1))], axis=1)
    curves = (runs[:, np.newaxis] + 7.0 * np.arange(3)[:, np.newaxis]).reshape(9, -1, 1)
    measured = level_tests.measure_levels(curves, (size,) * 3, paired=True)
    assert not measured.error.any()
    np.testing.assert_allclose(measured.simple, 98.0 * size)


EXACT_CASES = [
    ((3, 3), False),
    ((4, 2), False),
    ((2, 2, 2), False),
    ((3, 2, 1), False),
    ((3, 3, 3), True),
]


@pytest.mark.parametrize("integers", [True, False], ids=["ties", "noise"])
@pytest.mark.parametrize(("sizes", "paired"), [*EXACT_CASES, ((4, 4), True)])
def test_every_p_is_that_of_a_full_enumeration(sizes, paired, integers):
    rng = np.random.default_rng(sum(sizes) + integers)
    shape = (len(sizes), max(sizes), 4)
    values = rng.integers(0, 3, shape).astype(float) if integers else rng.normal(size=shape).cumsum(axis=-1)
    values[0, :, 1:3] += 2
    curves = absent(make_curves(values), sizes)
    groups, threshold, stretches = groups_of(curves), 1.7, [[0, 1], [2, 3]]
    result = profile(
        curves,
        paired=paired,
        cluster_threshold=threshold,
        intervals=[0, 200, 300],
        rng=0,
    )
    null = [oracles.level_f(each, paired) for each in oracles.all_assignments(groups, paired)]
    observed = oracles.level_f(groups, paired)
    np.testing.assert_allclose(
        result.pvalue,
        [oracles.share_at_least([row[h] for row in null], observed[h]) for h in range(4)],
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        result.pvalue_adjusted,
        oracles.family_pvalues(observed, null),
        rtol=1e-12,
    )
    of_intervals = [oracles.interval_f(e, stretches, paired) for e in oracles.all_assignments(groups, paired)]
    own = oracles.interval_f(groups, stretches, paired)
    np.testing.assert_allclose(
        result.interval_pvalue,
        [oracles.share_at_least([r[i] for r in of_intervals], own[i]) for i in (0, 1)],
    )
    adjusted = oracles.family_pvalues(own, of_intervals)
    np.testing.assert_allclose(result.interval_pvalue_adjusted, adjusted, rtol=1e-12)
    masses = [max((mass for _, mass in oracles.clusters_of(row, threshold)), default=0) for row in null]
    cluster, p = np.full(4, np.nan), np.full(4, np.nan)
    for number, (places, mass) in enumerate(oracles.clusters_of(observed, threshold), 1):
        cluster[places], p[places] = number, oracles.share_at_least(masses, mass, 1e-8)
    np.testing.assert_array_equal(result.cluster, cluster)
    np.testing.assert_allclose(result.cluster_pvalue, p, rtol=1e-12)


def test_random_p_counts_the_observed_assignment(curves):
    result = profile(curves, n_resamples=19, rng=0)
    assert result.n_resamples == 19
    np.testing.assert_allclose((result.pvalue * 20) % 1, 0, atol=1e-9)
    assert result.pvalue.min() >= 0.05


def test_bands_mark_what_the_tests_reject():
    wide = make_curves(np.random.default_rng(5).normal(size=(2, 8, 60)).cumsum(axis=-1))
    wide[0] += 4
    result = xcurves.ss_profile(wide, n_resamples=499, rng=0)
    simple = result.ss.sel(effect="simple")
    assert 0 < (result.pvalue <= 0.05).sum() < 60
    np.testing.assert_array_equal(simple > result.ss_null_upper * (1 + 1e-9), result.pvalue <= 0.05)
    assert (result.ss_null_upper <= result.ss_null_upper_simultaneous).all()


def test_the_simultaneous_band_marks_levels_that_the_largest_f_of_all_levels_rejects():
    values = np.random.default_rng(8).normal(size=(2, 4, 4))
    values[0, :, :2] += 3
    curves = make_curves(values)
    result = xcurves.ss_profile(curves, rng=0)
    groups = groups_of(curves)
    null = [oracles.level_f(each, False) for each in oracles.all_assignments(groups)]
    largest = [max(row) for row in null]
    single_step = np.array([oracles.share_at_least(largest, f) for f in oracles.level_f(groups, False)])
    marks = result.ss.sel(effect="simple") > result.ss_null_upper_simultaneous * (1 + 1e-9)
    np.testing.assert_array_equal(marks, single_step <= 0.05)
    # step-down marks these levels too, and here one more
    assert 0 < marks.sum() < (result.pvalue_adjusted <= 0.05).sum() < 4


def test_first_and_last_significant_levels():
    values = np.random.default_rng(0).normal(size=(2, 6, 8))
    values[0, :, [2, 3, 5]] += 10
    result = xcurves.ss_profile(make_curves(values), rng=0)
    assert np.flatnonzero(result.pvalue_adjusted <= 0.05).tolist() == [2, 3, 5]
    assert result.first_significant == 200
    assert result.last_significant == 500
    none = xcurves.ss_profile(make_curves(np.random.default_rng(4).normal(size=(2, 6, 3))), rng=0)
    assert (none.pvalue_adjusted > 0.05).all()
    assert np.isnan(none.first_significant)
    assert np.isnan(none.last_significant)


@pytest.mark.parametrize("paired", [False, True])
def test_blocks_and_batches_change_no_digit(monkeypatch, paired):
    """A table of levels by shuffles held whole, or a few levels of it at a time."""
    values = np.random.default_rng(6).normal(size=(3, 3, 5, 40)).cumsum(axis=-1)
    values[0, 0, :, 10:30] += 3
    curves = make_curves(values, task=range(3))
    options = {
        "paired": paired,
        "intervals": [0, 1000, 4000],
        "margin": 5,
        "n_resamples": 200,
        "rng": 0,
    }
    whole = profile(curves, **options)
    monkeypatch.setattr(level_tests, "_ROWS", 7)
    xr.testing.assert_identical(profile(curves, **options), whole)
    monkeypatch.setattr(level_tests, "_TABLE", 0)
    for module in (batches, plans):
        monkeypatch.setattr(module, "MEMORY", 7 * 200 * 8)
    monkeypatch.setattr(engine.rows_that_fit, "__defaults__", (7 * 200 * 8,))
    monkeypatch.setattr(group_products, "CACHE", 8 * 64 * 9)
    monkeypatch.setattr(group_products, "_FEATURES", 3)
    monkeypatch.setattr(level_tests, "_PART", 300)
    monkeypatch.setattr(plans, "KEPT", 0)
    blocked = profile(curves, **options)
    xr.testing.assert_allclose(blocked, whole, rtol=1e-12)
    for name in (
        "pvalue",
        "pvalue_adjusted",
        "cluster",
        "cluster_pvalue",
        "interval_pvalue_adjusted",
        "equivalent",
    ):
        xr.testing.assert_equal(blocked[name], whole[name])


def test_tasks_have_their_own_runs_levels_and_algorithms(tasks):
    result = profile(tasks, intervals=[0, 200, 500], margin=3, n_resamples=50, rng=0)
    for task in tasks.task.values:
        alone = tasks.sel(task=task, drop=True).dropna("training", how="all").dropna("algorithm", how="all")
        expected = profile(alone, intervals=[0, 200, 500], margin=3, n_resamples=50, rng=0)
        here = result.sel(task=task, drop=True).sel(training=alone.training)
        assert here.n_runs.sel(algorithm=alone.algorithm).values.tolist() == expected.n_runs.values.tolist()
        here, expected = (each.drop_dims("algorithm") for each in (here.sel(pair=expected.pair.values), expected))
        xr.testing.assert_allclose(
            here,
            expected.reset_coords(["n_resamples", "n_assignments"], drop=True),
            rtol=1e-12,
        )
    outside = result.sel(task="levels", training=[100, 500])
    assert outside[["ss", "fraction", "f", "pvalue_adjusted", "equivalent"]].to_array().isnull().all()


@pytest.mark.parametrize("chunks", [{"task": 1}, {"task": 3, "training": 2, "run": 1}])
def test_dask_backed_curves_stay_lazy_and_give_the_same(tasks, chunks):
    options = {"intervals": [0, 200, 500], "margin": 3, "n_resamples": 50, "rng": 0}
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = profile(tasks.chunk(chunks), **options)
    assert lazy.pvalue_adjusted.chunks is not None
    xr.testing.assert_identical(lazy.compute(scheduler="synchronous"), profile(tasks, **options))


def test_what_must_not_matter_does_not(curves):
    options = {"n_resamples": 100, "cluster_threshold": 3.0, "rng": 0}
    result = profile(curves, **options)
    tests = ["pvalue", "pvalue_adjusted", "f", "cluster", "cluster_pvalue", "fraction"]
    for other in (
        curves * 7 + 1e5,
        curves + 100 * curves.training,
        curves.isel(algorithm=[1, 0], run=[3, 1, 0, 2]),
    ):
        xr.testing.assert_allclose(profile(other, **options)[tests], result[tests], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_without_inference_there_is_the_profile_alone(curves, offset):
    alone = xcurves.ss_profile(curves + offset, n_resamples=0, intervals=[0, 300, 400])
    assert set(alone.data_vars) == {
        "fraction",
        "cumulative_fraction",
        "ss",
        "interval_fraction",
    }
    assert alone.n_resamples == 0
    expected = profile(curves, intervals=[0, 300, 400], rng=0)
    xr.testing.assert_allclose(
        alone[list(alone.data_vars)].drop_vars("n_resamples"),
        expected[list(alone.data_vars)].drop_vars("n_resamples"),
        rtol=1e-6 if offset else 1e-10,
    )
    assert alone.attrs["rng"] == "0"


@pytest.mark.parametrize("offset", [1e7, 1e9, 1e15])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 3, 2), (5, 5)])
def test_an_offset_costs_no_digit_and_no_tie_that_the_scores_had(sizes, offset):
    """Means of 3 or 5 whole scores are no binary fractions: an offset that is added and taken off again would show."""
    rng = np.random.default_rng(len(sizes))
    curves = absent(
        make_curves(rng.integers(0, 4, (len(sizes), max(sizes), 30)).astype(float)),
        sizes,
    )
    near, far = (profile(each, intervals=[0, 1000, 2900], rng=0) for each in (curves, curves + offset))
    names = [
        "pvalue",
        "pvalue_adjusted",
        "cluster",
        "cluster_pvalue",
        "interval_pvalue",
        "interval_pvalue_adjusted",
    ]
    xr.testing.assert_equal(far[names], near[names])
    xr.testing.assert_allclose(far.f, near.f, rtol=1e-12)
    alone = xcurves.ss_profile(curves + offset, n_resamples=0)
    np.testing.assert_allclose(alone.ss, near.ss, rtol=1e-10, atol=1e-12)


def test_an_effect_of_nothing_has_no_fractions():
    parallel = np.array([[[1, 2, 3.0], [2, 3, 1], [0, 1, 2]], [[2, 3, 4], [3, 4, 2], [1, 2, 3]]]) * 0.1
    crossing = np.array([[[0.1, 0.5], [0.2, 0.9]], [[0.5, 0.1], [0.9, 0.2]]])
    for values, effect in ((parallel, "interaction"), (crossing, "algorithm")):
        for options in ({"rng": 0}, {"n_resamples": 0}):
            result = profile(make_curves(values), intervals=[0, 100, 200], **options).sel(effect=effect)
            assert (result.ss == 0).all()
            assert result[["fraction", "cumulative_fraction", "interval_fraction"]].to_array().isnull().all()


def test_equal_means_are_no_empty_interval():
    values = np.random.default_rng(0).normal(size=(1, 5, 3))
    result = profile(make_curves(np.concatenate([values, values])), intervals=[0, 100, 200], rng=0)
    assert (result.interval_pvalue == 1).all()
    assert "The mean curves are equal at every training level." in result.curves.summary()


def test_open_ended_intervals_are_summarized(curves):
    assert "Interval −∞ to 200:" in profile(curves, intervals=[-np.inf, 200, np.inf], rng=0).curves.summary()


def test_a_cluster_begins_above_its_threshold_and_not_at_it(curves):
    f = profile(curves, rng=0).f
    at = profile(curves, cluster_threshold=f[2].item(), rng=0)
    assert np.isnan(at.cluster[2])
    assert profile(curves, cluster_threshold=f[2].item() * (1 - 1e-6), rng=0).cluster[2] >= 1


@pytest.mark.parametrize(
    ("intervals", "chosen"),
    [
        ([0, 200, 300, 400], [[0, 100], [200], [300, 400]]),
        *(
            (pd.IntervalIndex.from_tuples([(100, 300)], closed=closed), [levels])
            for closed, levels in {
                "left": [100, 200], "right": [200, 300], "both": [100, 200, 300], "neither": [200]
            }.items()
        ),
    ],
)  # fmt: skip
def test_intervals_sum_their_levels(curves, intervals, chosen):
    result = profile(curves, intervals=intervals, rng=0)
    for place, levels in enumerate(chosen):
        expected = result.fraction.sel(training=levels).sum("training")
        np.testing.assert_allclose(result.interval_fraction.isel(interval=place), expected, rtol=1e-12)


def test_an_interval_without_levels_is_nan_and_named(curves):
    with pytest.warns(UserWarning, match=r"^interval 110 to 190 holds no training level; it is NaN$"):
        result = profile(curves, intervals=[0, 110, 190, 400], rng=0)
    for name in ("interval_fraction", "interval_pvalue", "interval_pvalue_adjusted"):
        assert result[name].isel(interval=1).isnull().all()
        assert result[name].isel(interval=[0, 2]).notnull().all()
    others = profile(curves, intervals=pd.IntervalIndex.from_tuples([(-1, 110), (190, 500)]), rng=0)
    assert others.interval_pvalue_adjusted.values.tolist() == result.interval_pvalue_adjusted[[0, 2]].values.tolist()


def some(*ends):
    return pd.IntervalIndex.from_tuples(ends)


BAD_INTERVALS = [
    (
        [0, 200, 100],
        "intervals must have increasing edges; got 100 after 200. Sort them",
    ),
    ([0], f"intervals must have at least two edges; got [0]. {TRY}"),
    ([0, np.nan], f"intervals must have edges that are numbers; got [0.0, nan]. {TRY}"),
    ("all", f"intervals must be edges or a pandas.IntervalIndex; got 'all'. {TRY}"),
    (
        some((0, 200), (100, 300)),
        "intervals must not overlap; got (0, 200], (100, 300]. Give intervals that do not",
    ),
    (
        some((200, 300), (0, 200)),
        "intervals must be increasing; got (200, 300], (0, 200]. Sort: intervals.sort_values()",
    ),
    (
        some((0, 200), None),
        "intervals must not be missing; got NaN. Drop it: intervals.dropna()",
    ),
    (
        pd.interval_range(pd.Timestamp("2026"), periods=1),
        f"intervals must be of numbers; got interval[datetime64[us], right]. {TRY}",
    ),
]
BAD = [
    *(({"intervals": intervals}, message) for intervals, message in BAD_INTERVALS),
    (
        {"cluster_threshold": 0},
        "cluster_threshold must be above 0; got 0. Leave it out for the default",
    ),
    (
        {"cluster_threshold": "high"},
        "cluster_threshold must be a finite number; got 'high'. At most 1e+140 in size",
    ),
    (
        {"margin": -1.0},
        "margin must be a number of at least 0, in score units; got -1.0. Try margin=1.0",
    ),
    (
        {"margin": 1, "n_resamples": 0},
        "margin needs reassignments; got n_resamples=0. Leave n_resamples out for the default",
    ),
    (
        {"n_resamples": -1},
        "n_resamples must be at least 0; got -1. Leave it out for the default",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_options(curves, options, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        profile(curves, **options)
    assert str(caught.value).replace("[ns]", "[us]") == message


def test_a_single_level_is_no_profile(curves, tasks):
    with refused("curves", cure=call(".curves.randomized_anova")) as caught:
        profile(curves.isel(training=[2]))
    assert str(caught.value) == (
        "there is one training level (200); a profile over training needs two. Use .curves.randomized_anova()"
    )
    tasks.loc[{"task": "levels", "training": slice(100, None)}] = np.nan
    with refused("curves", cure=call(".curves.randomized_anova")):
        profile(tasks)


@pytest.mark.parametrize("paired", [False, True])
def test_levels_at_which_all_scores_are_equal_are_nan_and_named(curves, paired):
    curves[:, :, 0] = 0.1 + 0.2
    with pytest.warns(UserWarning, match=r"^training 0: all scores are equal; F and p are NaN there$"):
        result = profile(curves, paired=paired, rng=0)
    for name in (
        "f",
        "pvalue",
        "pvalue_adjusted",
        "cluster",
        "ss_null_upper",
        "ss_null_upper_simultaneous",
    ):
        assert np.isnan(result[name][0]), name
    rest = profile(curves.isel(training=slice(1, None)), paired=paired, rng=0)
    xr.testing.assert_allclose(result.pvalue_adjusted[1:], rest.pvalue_adjusted)
    assert (result.ss[:, 0].sel(effect="simple") == 0).all()


def test_no_error_at_a_level_makes_f_infinite_and_no_p_too_small(curves):
    curves[0, :, 1], curves[1, :, 1] = 3.0, 5.0
    result = profile(curves, cluster_threshold=100.0, rng=0)
    assert np.isposinf(result.f[1])
    assert result.pvalue[1] == result.cluster_pvalue[1] == 1 / 35


def test_a_task_without_runs_is_nan_and_named(tasks):
    tasks[0] = np.nan
    with pytest.warns(UserWarning, match=r"^task 'full': no run has a value; the result is NaN$"):
        result = profile(tasks, n_resamples=20, rng=0)
    assert result.isel(task=0).drop_vars("n_resamples").to_array().isnull().all()
    assert result.n_resamples[0] == 0


def test_few_runs_are_warned_of(curves):
    with pytest.warns(UserWarning, match=r"^10 reassignments allow no p below 0.1$"):
        xcurves.ss_profile(curves.isel(run=slice(3)))


def test_incomplete_and_infinite_runs_are_refused(curves):
    gap = curves.copy()
    gap[1, 2, 3] = np.nan
    with refused("curves", ("'a1'", "2"), cure=call(".curves.align", "intersection")):
        profile(gap)
    gap[1, 2, 3] = np.inf
    with refused("curves", ("'a1'", "2"), cure=call(".curves.fill_failed", "worst", higher_is_better=False)):
        profile(gap)
    for options in ({}, {"n_resamples": 0}):
        with refused(
            "curves", cure="Rescale: curves / abs(curves).max()", names=r"^scores are too large to be squared"
        ):
            profile(curves * 1e160, **options)
    with refused("curves", cure="Rescale: curves / abs(curves).max()", names=r"^scores are too small to be squared"):
        profile(curves * 1e-170, n_resamples=0)
    with refused("curves", cure="Add one", names=r"^curves has one algorithm; a comparison needs two"):
        profile(curves.isel(algorithm=[0]))


@pytest.mark.slow
def test_exact_where_assignments_times_levels_are_affordable():
    few = make_curves(np.random.default_rng(0).normal(size=(2, 10, 2)))
    assert profile(few, rng=0).n_resamples == 92_378
    many = make_curves(np.random.default_rng(0).normal(size=(2, 10, 20)))
    assert profile(many, rng=0).n_resamples == 9_999
    long = make_curves(np.random.default_rng(0).normal(size=(2, 4, 40_000)))
    assert profile(long, rng=0).n_resamples == 35


def curves_and_largest_t(sizes, paired):
    """Curves of groups of these sizes, the groups, and the largest residual |T| of every assignment by plain loops."""
    values = np.random.default_rng(8).normal(size=(len(sizes), max(sizes), 6))
    curves = absent(make_curves(values), sizes)
    groups = groups_of(curves)
    if paired:
        assignments = list(oracles.paired_assignments(len(sizes), sizes[0]))
    else:
        where = [(i, j) for i, size in enumerate(sizes) for j in range(size)]
        assignments = [[[where[c] for c in group] for group in a] for a in oracles.distinct_assignments(sizes)]
    return curves, groups, oracles.largest_residual_t(groups, assignments, paired)


@pytest.mark.parametrize(
    ("sizes", "paired"),
    [((4, 4), False), ((4, 3), False), ((5, 5), True), ((3, 3, 3), True)],
)
def test_bands_of_differences_are_those_of_the_plain_loops(sizes, paired):
    curves, groups, largest = curves_and_largest_t(sizes, paired)
    expected = oracles.difference_bands(groups, largest, 0.25, paired)
    options = {"paired": paired, "confidence_level": 0.75, "n_resamples": 10**6}
    found = profile(curves, **options)
    np.testing.assert_allclose(found.curve_difference_band, expected, rtol=1e-12)
    np.testing.assert_allclose(found.curve_difference, expected.mean(axis=-1), rtol=1e-12)
    if len(sizes) == 2:
        pairs = xcurves.pairwise(curves, **options)
        np.testing.assert_allclose(pairs.curve_difference_band, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("sizes", "paired"),
    [
        ((5, 5), False),
        ((4, 3), False),
        ((3, 3, 2), False),
        ((5, 5), True),
        ((4, 4, 4), True),
    ],
)
@pytest.mark.slow
def test_equivalence_is_that_of_the_plain_loops(sizes, paired):
    curves, groups, largest = curves_and_largest_t(sizes, paired)
    seen = set()
    for margin in (1.5, 2.5, 4.0, 8.0, 20.0):
        expected = oracles.equivalent_levels(groups, margin, largest, 0.2, paired)
        result = profile(
            curves,
            margin=margin,
            paired=paired,
            confidence_level=0.8,
            n_resamples=10**6,
        )
        np.testing.assert_array_equal(result.equivalent, expected)
        seen.update(expected.tolist())
    assert seen == {False, True}


@pytest.mark.parametrize("sizes", [(3, 3), (9, 1)])
def test_too_few_runs_show_no_equivalence(sizes):
    curves = absent(
        make_curves(np.random.default_rng(0).normal(size=(2, max(sizes), 3)) * 1e-9),
        sizes,
    )
    with pytest.warns(UserWarning, match="no p below"):
        assert (xcurves.ss_profile(curves, margin=1e9, rng=0).equivalent == 0).all()
    assert (profile(curves, margin=1e9, rng=0).equivalent == int(1 not in sizes)).all()


def test_runs_that_all_score_the_same_show_no_equivalence():
    """Ten coarse scores of 1 each are no proof that the next is 1 too."""
    values = np.random.default_rng(0).normal(size=(3, 8, 4))
    values[0, :, 1], values[:, :, 2] = 0.5, 0.5
    with pytest.warns(UserWarning, match="training 200: all scores are equal"):
        result = xcurves.ss_profile(make_curves(values), margin=1e9, n_resamples=199, rng=0)
    np.testing.assert_array_equal(result.equivalent, [1, 0, np.nan, 1])


def test_same_seed_same_result_and_the_generator_moves_on(curves):
    options = {"n_resamples": 30}
    xr.testing.assert_identical(profile(curves, rng=5, **options), profile(curves, rng=5, **options))
    generator = np.random.default_rng(0)
    first, second = (profile(curves, rng=generator, **options) for _ in range(2))
    assert first.attrs["rng"] != second.attrs["rng"]
    assert (first.pvalue != second.pvalue).any()


def test_the_corrected_fraction_by_its_definition():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 5, 4)) + 5.0 * np.arange(3)[:, None, None])
    values = absent(curves, [5, 3, 4]).to_numpy()
    result = xcurves.ss_profile(absent(curves, [5, 3, 4]), n_resamples=100, rng=0)
    rest = []
    for level in range(4):
        groups = [row[~np.isnan(row)] for row in values[:, :, level]]
        everyone = np.concatenate(groups)
        between = sum(len(g) * (g.mean() - everyone.mean()) ** 2 for g in groups)
        within = sum(((g - g.mean()) ** 2).sum() for g in groups)
        rest.append(between - 2 * within / (12 - 3))
    np.testing.assert_allclose(result.fraction_corrected, np.array(rest) / sum(rest))


def test_many_stretches_are_said_in_few_words():
    scores = np.random.default_rng(0).normal(size=(2, 10, 60))
    scores[1, :, ::2] += 10
    scores[1, :, 40:50] += 10
    said = xcurves.ss_profile(make_curves(scores), n_resamples=999, rng=0).curves.summary()
    first = said.splitlines()[0]
    assert "58 % of the training levels (longest stretch: 4,000 to 5,000)" in first
    assert len(first) < 250


@pytest.mark.parametrize("sizes", [(3, 2), (2,) * 8, (1, 2, 3, 1, 2, 3, 2)])
def test_shuffled_shares_are_those_of_plain_loops_for_few_groups_and_many(sizes, monkeypatch):
    monkeypatch.setattr(level_tests, "_ROWS", 4)
    plan = plans.plan_runs(sizes, 9)
    scores = np.random.default_rng(sum(sizes)).normal(size=(3, sum(sizes)))
    scores -= scores.mean(axis=1, keepdims=True)
    scores /= np.sqrt((scores**2).sum(axis=1, keepdims=True))
    found = level_tests._shuffled_shares(scores[np.newaxis], plan)[0]
    between, within = len(sizes) - 1, sum(sizes) - len(sizes)
    for order, share in zip(group_products.orders_of(plan.block(0)), found.T, strict=True):
        parts = np.split(order, np.cumsum(sizes)[:-1])
        f = np.array(oracles.level_f([scores[:, part].T.tolist() for part in parts], False))
        np.testing.assert_allclose(share, between * f / (between * f + within), rtol=1e-10)


@pytest.mark.plain(1)
@pytest.mark.parametrize("sizes", [(4, 4), (3, 4), (2, 2, 3)])
def test_the_largest_difference_is_that_of_one_reassignment_at_all_levels_though_batches_differ(sizes, monkeypatch):
    for module in (level_differences, engine):
        monkeypatch.setattr(module, "CACHE", 2**11)
    plan = plans.plan_runs(sizes, None)
    scores = np.random.default_rng(sum(sizes)).normal(size=(2, sum(sizes), 7))
    found = level_differences.level_differences(scores, plan).largest
    for task in range(2):
        parts = np.split(scores[task], np.cumsum(sizes)[:-1])
        residuals = np.concatenate([part - part.mean(axis=0) for part in parts])
        largest = []
        for labels in np.concatenate(list(plan.blocks())):
            groups = [residuals[labels == group] for group in range(len(sizes))]
            pairs = itertools.combinations(groups, 2)
            largest.append(max((stats.ttest_ind(a, b, equal_var=False).statistic ** 2).max() for a, b in pairs))
        # 0 as observed
        np.testing.assert_allclose(np.sort(found[task]), np.sort(largest), rtol=1e-9, atol=1e-20)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
@settings(deadline=None)
def test_cluster_masses_are_those_of_plain_loops(seed, n_resamples):
    rng = np.random.default_rng(seed)
    table, threshold = rng.random((2, 12, n_resamples)), rng.random((2, 12))
    masses = level_tests.largest_masses(table, threshold, (1, 1))
    f = table / (1 - table)
    for task in range(2):
        for shuffle in range(n_resamples):
            # 0 where not above
            relative = f[task, :, shuffle] * (table[task, :, shuffle] > threshold[task])
            expected = max(
                (mass for _, mass in oracles.clusters_of(relative.tolist(), 0)),
                default=0,
            )
            np.testing.assert_allclose(masses[task, shuffle], expected, rtol=1e-12)


def test_an_alpha_of_almost_one_is_no_trouble(curves):
    assert (profile(curves, confidence_level=1e-12, n_resamples=5, rng=0).ss_null_upper >= 0).all()
