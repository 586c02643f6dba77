"""Runs that failed: what they count as, and that every summary says it."""

import math

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from layers import slow
from lazy import refuse_to_compute
from refusals import ANY, refused
from strategies import make_curves
from xcurves.core.refusal import call, give

INF = math.inf


@pytest.fixture
def curves():
    """Two tasks, two algorithms, four runs, three levels; one run failed at the end, one from the start."""
    values = np.random.default_rng(0).normal(size=(2, 2, 4, 3))
    values[0, 1, 2, 1:] = -INF
    values[1, 0, 3] = -INF
    values[1, 1, 0] = np.nan
    return make_curves(values, task=["x", "y"])


def filled_by_loop(values, better, given=None):
    """The worst finite score of each task and level, by one score at a time."""
    out = values.copy()
    for place in np.ndindex(values.shape):
        if values[place] == -better * INF:
            task, level = place[0], place[-1]
            finite = [each for each in values[task, ..., level].ravel() if math.isfinite(each)]
            if not finite:
                finite = [each for each in values[task].ravel() if math.isfinite(each)]
            out[place] = given[task] if given else (min(finite) if better > 0 else max(finite))
    return out


@pytest.mark.parametrize("better", [1, -1])
def test_failed_runs_get_the_worst_score_of_their_task_and_level(curves, better):
    curves = better * curves
    filled = curves.curves.fill_failed(higher_is_better=better > 0)
    np.testing.assert_array_equal(filled, filled_by_loop(curves.values, better))
    assert filled.n_failed.dims == ("task", "algorithm")
    assert filled.n_failed.values.tolist() == [[0, 1], [1, 0]]
    option = "" if better > 0 else ", higher_is_better=False"
    said = "2 of 15 runs failed and count as the worst score of their task at each level at which they failed"
    assert filled.attrs["history"] == f"fill_failed('worst'{option}): {said}"


def test_a_level_at_which_all_failed_takes_the_worst_of_the_task(curves):
    curves[0, :, :, 2] = -INF
    np.testing.assert_array_equal(curves.curves.fill_failed("worst"), filled_by_loop(curves.values, 1))
    curves[0] = -INF
    with refused("scores", cure=call(".curves.fill_failed", 0.0)):
        curves.curves.fill_failed("worst")
    assert (curves.curves.fill_failed(0.0)[0] == 0).all()


def test_a_number_or_one_for_each_task(curves):
    assert (xcurves.fill_failed(curves, -3)[1, 0, 3] == -3).all()
    given = xr.DataArray([-5.0, -7.0], {"task": ["x", "y"]}, ("task",))
    np.testing.assert_array_equal(curves.curves.fill_failed(given), filled_by_loop(curves.values, 1, [-5.0, -7.0]))


def test_runs_with_levels_of_their_own_take_the_worst_of_all_levels():
    scores = make_curves(np.arange(12.0).reshape(2, 2, 3)).rename(training="evaluation").drop_vars("evaluation")
    levels = xr.DataArray(np.tile([1.0, 2.0, 4.0], (2, 2, 1)), dims=scores.dims)
    scores = scores.where(scores != 9, -INF).assign_coords(training=levels)
    filled = scores.curves.fill_failed()
    assert filled[1, 1, 0] == 0
    assert filled.n_failed.values.tolist() == [0, 1]


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("worst", "2 of 15 runs failed and count as the worst score of their task at each level at which they failed."),
        slow(0.5, "2 of 15 runs failed and count as a score of 0.5."),
        (
            xr.DataArray([1.0, 2.0], {"task": ["x", "y"]}),
            "2 of 15 runs failed and count as the given score of their task.",
        ),
    ],
)
def test_every_summary_says_what_failed_runs_count_as(curves, value, sentence):
    filled = curves.curves.fill_failed(value)
    last = filled.isel(training=-1)
    results = [
        filled.curves.randomized_anova(rng=0, n_resamples=99),
        filled.curves.pairwise(rng=0, n_resamples=99),
        filled.curves.contrast({"a0": 1, "a1": -1}, rng=0, n_resamples=99),
        last.curves.performance_cdf(),
        last.curves.compare_distributions(),
        last.curves.performance_cdf(dim=("task", "run"), unit=("task", "run")),
        last.curves.tuning_curve(),
    ]
    with pytest.warns(UserWarning, match="so few tasks"):
        results.append(filled.curves.across_tasks(rng=0, n_resamples=99))
    for result in results:
        assert sentence in result.curves.summary().splitlines(), result.attrs["xcurves_result"]
        assert sentence in repr(result.curves)
    assert results[-1].n_failed.dims == ("task", "algorithm")


SAID = "2 of 36 runs failed and count as the worst score of their task at each level at which they failed."
OF_MEANS = {
    "ss_profile": lambda filled: filled.curves.ss_profile(n_resamples=99, rng=0),
    "sequential": lambda filled: filled.curves.assign_looks(3, n_looks=2).curves.sequential(rng=0),
    "profile_across_tasks": lambda filled: filled.curves.profile_across_tasks(n_resamples=99, rng=0),
    "gate": lambda filled: filled.isel(training=-1).curves.gate(baseline="a0", task="task", rng=0),
    "performance_profile": lambda filled: filled.isel(training=-1).curves.performance_profile(rng=0),
    "mean_time_to_target": lambda filled: filled.curves.mean_time_to_target(12.0),
    "speedup": lambda filled: filled.curves.speedup(reference="a0"),
    "runs_needed": lambda filled: filled.isel(task=0).curves.runs_needed(n_runs=[4], n_replications=9, rng=0),
    "normalized": lambda filled: (
        filled.curves.normalize(low=0.0, high=20.0).curves.align([1.0, 2.0]).curves.pairwise(n_resamples=99, rng=0)
    ),
}


@pytest.fixture(scope="module")
def filled():
    """Three tasks of two algorithms with six runs, of which two failed, one late."""
    levels = np.array([1.0, 2, 4, 8, 16, 32])
    values = 10 + np.log(levels) + np.random.default_rng(0).normal(size=(3, 2, 6, 6))
    values[0, 0, 1] = -INF
    values[1, 1, 2, 3:] = -INF
    return make_curves(values, levels, task=["x", "y", "z"]).curves.fill_failed()


@pytest.mark.plain(4)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", OF_MEANS)
def test_every_other_method_says_it_too(filled, method):
    assert SAID in OF_MEANS[method](filled).curves.summary().splitlines()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fits_of_errors_and_whole_analyses_say_it_too(filled):
    errors = (filled * 0 + 5 + 60 * filled.training**-0.5).rename("loss")
    errors.attrs = {"units": "loss", "history": filled.attrs["history"]}
    errors = errors + 0.1 * np.random.default_rng(1).normal(size=errors.shape)
    errors.attrs = {"units": "loss", "history": filled.attrs["history"]}
    fit = errors.curves.fit_power_law()
    found = [
        fit,
        fit.curves.predict([64.0]),
        fit.curves.compare_learners(),
        errors.curves.leave_one_size_out(),
    ]
    for result in found:
        assert SAID in result.curves.summary().splitlines()
    assert SAID in xcurves.summary(filled.curves.analyze(rng=0))


def test_the_coordinate_says_it_where_arithmetic_dropped_the_history(curves):
    filled = curves.curves.fill_failed("worst").drop_attrs(deep=False)
    said = filled.curves.pairwise(rng=0, n_resamples=99).curves.summary()
    assert "Failed runs count as the worst score of their task at each level at which they failed." in said


def test_nothing_is_said_where_no_run_failed():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)))
    result = curves.curves.fill_failed().curves.randomized_anova(rng=0, n_resamples=99)
    assert "no run failed" in result.attrs["history"]
    assert "failed" not in result.curves.summary()


def test_lazy_scores_stay_lazy(curves):
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler=refuse_to_compute):
        filled = curves.chunk(task=1).curves.fill_failed("worst")
    whole = curves.curves.fill_failed("worst")
    xr.testing.assert_equal(filled.compute(scheduler="synchronous"), whole)
    said = filled.compute(scheduler="synchronous").curves.pairwise(rng=0, n_resamples=99).curves.summary()
    assert "Failed runs count as the worst score of their task at each level at which they failed." in said


@pytest.mark.parametrize(
    ("replacement", "wanted"),
    [
        ("best", ("replacement", "best")),
        (np.nan, ("replacement", ANY, "At most", "must be a finite number; got nan")),
        (xr.DataArray([1.0], {"task": ["x"]}), ("replacement", ANY, "Add it", "no reference for task 'y'")),
    ],
)
def test_other_values_are_refused_by_name(curves, replacement, wanted):
    with refused(*wanted[:3], names="".join(wanted[3:])):
        curves.curves.fill_failed(replacement)


def test_the_wrong_infinity_is_refused_by_name(curves):
    with refused("scores", cure=give(higher_is_better=True)):
        curves.curves.fill_failed(higher_is_better=False)
    with refused("scores", cure=give(higher_is_better=False)):
        (-curves).curves.fill_failed()


def tidy(scores):
    return pd.DataFrame({"algorithm": list("aabb"), "run": [0, 1, 0, 1], "score": scores})


@pytest.mark.parametrize("better", [True, False])
def test_rows_without_a_score_may_say_that_the_run_failed(better):
    frame = tidy([0.5, None, 0.7, 0.6])
    options = {"training": None, "higher_is_better": better}
    absent = frame.curves.to_dataarray("score", **options)
    failed = frame.curves.to_dataarray("score", missing_scores="failed", **options)
    assert absent.isnull().values.tolist() == [[False, True], [False, False]]
    xr.testing.assert_equal(failed, absent.fillna(-INF if better else INF))
    assert failed.attrs["history"].endswith("1 rows without a score are of failed runs")
    both = frame.curves.to_dataset(["score"], missing_scores="failed", **options)
    xr.testing.assert_equal(both.score, failed)
    with refused("missing_scores", "fail", cure="Did you mean 'failed'?"):
        frame.curves.to_dataarray("score", training=None, missing_scores="fail")


@pytest.mark.parametrize("method", ["linear", "previous", "nearest", "mean"])
def test_between_levels_a_failed_run_has_failed(method):
    """Never the other infinity, whatever side of a level the failure is on."""
    values = [[[1.0, 2.0, -INF, -INF], [1.0, 2.0, 3.0, 4.0]]]
    curves = make_curves(values, training=[1.0, 2.0, 3.0, 4.0])
    options = {"method": method, "tolerance": 1.0 if method == "nearest" else None}
    found = curves.curves.align([1.5, 2.5, 3.5, 4.0], **options).sel(run=0).squeeze()
    assert found.min() == -INF
    assert not (found == INF).any()
    assert found.values[-2:].tolist() == [-INF, -INF]
