"""Scores without training: methods that compare one number of each run take them as they are."""

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused

RNG = np.random.default_rng(0)
SCORES = xr.DataArray(
    RNG.normal(size=(6, 3, 8)) + np.arange(3)[:, np.newaxis],
    {"task": list("uvwxyz"), "algorithm": list("abc"), "run": range(8)},
    name="auc",
)
ONE = SCORES.isel(task=0, drop=True)
LOOKS = ONE.assign_coords(look=("run", [1, 1, 1, 1, 2, 2, 2, 2]))
TAKES = {
    "pairwise": (xcurves.pairwise, ONE, {"n_resamples": 999, "rng": 0}),
    "contrast": (
        xcurves.contrast,
        ONE,
        {"weights": {"a": 1, "b": -1}, "n_resamples": 999, "rng": 0},
    ),
    "across_tasks": (xcurves.across_tasks, SCORES, {"n_resamples": 999, "rng": 0}),
    "sequential": (
        xcurves.sequential,
        LOOKS,
        {"n_looks": 2, "n_resamples": 999, "rng": 0},
    ),
    "runs_needed": (
        xcurves.runs_needed,
        xr.concat([ONE.isel(algorithm=0, drop=True) * s for s in (1, 2)], "algorithm"),
        {"n_runs": [3], "n_replications": 50, "rng": 0},
    ),
}
CURVES = xr.concat([SCORES, SCORES + 1], "training").assign_coords(training=[1.0, 2.0])
WITHOUT = {
    "compare_distributions": (xcurves.compare_distributions, SCORES, {"rng": 0}),
    "performance_cdf": (xcurves.performance_cdf, SCORES, {}),
    "tuning_curve": (xcurves.tuning_curve, SCORES, {"n_trials": 3}),
    "gate": (xcurves.gate, ONE, {"baseline": "a"}),
}
REFUSE = {
    "randomized_anova": (xcurves.randomized_anova, {}),
    "ss_profile": (xcurves.ss_profile, {}),
    "profile_across_tasks": (xcurves.profile_across_tasks, {}),
    "align": (xcurves.align, {"on": "union"}),
    "time_to_target": (xcurves.time_to_target, {"target": 1.0}),
    "mean_time_to_target": (xcurves.mean_time_to_target, {"target": 1.0}),
    "mean_curves": (xcurves.mean_curves, {}),
    "drop_incomplete": (xcurves.drop_incomplete, {}),
    "fit_power_law": (xcurves.fit_power_law, {}),
    "leave_one_size_out": (xcurves.leave_one_size_out, {}),
    "explore": (xcurves.explore, {}),
}


@pytest.mark.plain(2)
@pytest.mark.parametrize("name", TAKES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_number_of_each_run_is_a_curve_of_one_level(name):
    method, scores, options = TAKES[name]
    found = method(scores, **options)
    of_curves = method(scores.expand_dims(training=[0.0], axis=-1), **options)
    assert found.attrs["no_training"] == 1
    xr.testing.assert_equal(found, of_curves)
    said = found.curves.summary()
    assert "training" not in said
    assert "over training" in of_curves.curves.summary() or name not in (
        "pairwise",
        "contrast",
    )
    found.curves.table()


@pytest.mark.parametrize("name", WITHOUT)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_methods_of_scores_name_what_they_compare_by_the_score(name):
    method, scores, options = WITHOUT[name]
    found = method(scores, **options)
    said = found.curves.summary()
    assert "training" not in said
    assert "training" not in found.dims
    of_last = method(
        CURVES.sel({"task": "u"} if "task" not in scores.dims else {}).isel(training=0, drop=True),
        **options,
    )
    xr.testing.assert_equal(
        found.drop_vars("task", errors="ignore"),
        of_last.drop_vars("task", errors="ignore"),
    )


@pytest.mark.parametrize("name", REFUSE)
def test_methods_about_curves_say_which_compares_scores(name):
    method, options = REFUSE[name]
    argument = "errors" if name in ("fit_power_law", "leave_one_size_out") else "curves"
    cure = "Compare them: .curves.pairwise(), or across_tasks("
    with refused(argument, "('task', 'algorithm', 'run')", cure, names="Scores have no training"):
        method(SCORES, **options)


def test_a_dim_that_could_be_training_is_not_taken_for_tasks():
    with refused("dims", "('step', 'algorithm', 'run')", cure="Rename: da.rename(step='training')"):
        xcurves.pairwise(SCORES.rename(task="step").assign_coords(step=range(6)))
    with refused("dims", "('algorithm', 'run')", cure="A selection dropped it; keep it with a list"):
        xcurves.pairwise(ONE.assign_coords(training=3.0))
    assert xcurves.pairwise(SCORES.rename(task="problem"), n_resamples=99, rng=0).sizes["problem"] == 6
