from itertools import combinations

import numpy as np
import pytest
import scipy

import xcurves
from across_reference import CASES, needed
from layers import slow
from oracles import flips_min_p
from refusals import refused
from strategies import make_curves
from xcurves import kinds
from xcurves.core.validation import check_curves
from xcurves.multi_task.profile_across_tasks import score_fractions


def make(n_tasks=8, n_levels=5, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_tasks, 2, 4, n_levels)).cumsum(axis=-1) + np.array([0, 1.5])[:, np.newaxis, np.newaxis]
    return make_curves(values, 20.0 * np.arange(1, n_levels + 1), task=range(n_tasks))


def test_on_a_common_grid_it_is_the_paired_profile():
    curves = make()
    found = xcurves.profile_across_tasks(curves, fractions=5)
    expected = xcurves.ss_profile(curves.mean("run").rename(task="run"), paired=True)
    d = (curves.mean("run").diff("algorithm") * -1).isel(algorithm=0).transpose("training", "task")
    np.testing.assert_allclose(found.pvalue_adjusted[0], flips_min_p(d))
    np.testing.assert_array_equal(found.pvalue[0], expected.pvalue)
    np.testing.assert_allclose(found.mean_curve, curves.mean(["task", "run"]))


@needed
@pytest.mark.parametrize(
    "name",
    [
        slow(name) if len(case["answers"]["profile"]["d"][0]) > 8 else name
        for name, case in CASES.items()
        if "profile" in case["answers"]
    ],
)
def test_answers_of_the_reference(name):
    expected = CASES[name]["answers"]["profile"]
    d = np.array(expected["d"])
    values = np.stack([d.T, np.zeros_like(d.T)], axis=1)[:, :, np.newaxis]
    curves = make_curves(values, expected["fractions"], task=range(d.shape[1]))
    found = xcurves.profile_across_tasks(curves, fractions=expected["fractions"]).isel(pair=0)
    np.testing.assert_allclose(found.pvalue_adjusted, flips_min_p(d))
    np.testing.assert_array_equal(found.pvalue, expected["pvalue"])
    np.testing.assert_allclose(found.difference, expected["difference"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.difference_band, expected["band"], rtol=1e-9, atol=1e-12)
    assert found.mean_curve_band.isnull().all()


def test_tasks_are_brought_to_fractions_of_their_own_budgets():
    rng = np.random.default_rng(1)
    levels = np.array([0, 1, 2, 5, 10, 30.0])
    curves = rng.normal(size=(3, 2, 2, 6))
    grid = np.array([[1, 1, 0, 1, 1, 0], [0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]], bool)
    fractions = np.array([0.02, 0.1, 0.5, 1])
    ragged = make_curves(np.where(grid[:, np.newaxis, np.newaxis], curves, np.nan), task=range(3))
    found = score_fractions(check_curves(ragged.assign_coords(training=levels)), fractions).to_numpy()
    for task, budget in ((0, 10), (1, 30)):
        here = grid[task]
        for own, row in zip(found[task].reshape(4, 4), curves[task].reshape(4, 6), strict=True):
            expected = np.interp(fractions * budget, levels[here], row[here])
            expected[fractions * budget < levels[here][0]] = np.nan
            np.testing.assert_allclose(own, expected)
    assert np.isnan(found[2]).all()


def test_fractions_before_the_first_level_are_left_out():
    curves = make()
    curves[3, :, :, :2] = np.nan
    found = xcurves.profile_across_tasks(curves, fractions=5)
    assert found.difference[0].isnull().values.tolist() == [
        True,
        True,
        False,
        False,
        False,
    ]
    later = xcurves.profile_across_tasks(curves, fractions=[0.6, 0.8, 1])
    np.testing.assert_array_equal(found.pvalue_adjusted[0, 2:], later.pvalue_adjusted[0])
    assert "Below 60 % of the budget some task has no score" in found.curves.summary()


@pytest.mark.parametrize("fractions", [0, [0.0, 1.0], [0.5, 0.5], [0.5, 1.2]])
def test_fractions_are_refused(fractions):
    with refused("fractions", names="fractions must be"):
        xcurves.profile_across_tasks(make(), fractions=fractions)


def subset_interval(d, level):
    """Return the ends between means of subsets, of which so few lie outside (Hartigan 1969), by a plain loop."""
    n = len(d)
    means = sorted(
        sum(d[i] for i in chosen) / len(chosen) for k in range(1, n + 1) for chosen in combinations(range(n), k)
    )
    rare = int(level * 2**n / 2 + 1e-9)
    return [means[rare - 1], means[-rare]] if rare else [-np.inf, np.inf]


@pytest.mark.parametrize("n_lacking", [0, 2])
def test_the_mean_over_training_has_its_difference_and_an_interval_of_all_pairs(n_lacking):
    rng = np.random.default_rng(8)
    values = rng.normal(size=(9, 3, 4, 5)) + np.array([1.5, 0.0, 0.3])[:, np.newaxis, np.newaxis]
    curves = make_curves(values, task=list("abcdefghi"))
    if n_lacking:
        curves[:n_lacking, 2] = np.nan
    found = xcurves.profile_across_tasks(curves, fractions=5, rng=0)
    mean = {name: curves.sel(algorithm=name).mean(["run", "training"]) for name in curves["algorithm"].to_numpy()}
    for pair in found["pair"].to_numpy():
        first, second = pair.split(" - ")
        d = (mean[first] - mean[second]).dropna("task").to_numpy().tolist()
        of_pair = found.sel(pair=pair)
        np.testing.assert_allclose(of_pair["mean_difference"], np.mean(d), rtol=1e-9)
        np.testing.assert_allclose(of_pair["mean_difference_ci_simultaneous"], subset_interval(d, 0.05 / 3), rtol=1e-9)
    as_pairs = {(each["first"], each["second"]): each for each in found.curves.to_dict()["pairs"]}
    best = as_pairs["a0", "a1"]
    assert best["difference"] == pytest.approx(found["mean_difference"].sel(pair="a0 - a1").item())
    assert best["p"] == found["mean_pvalue_adjusted"].sel(pair="a0 - a1").item()


def test_the_mean_over_training_is_that_of_across_tasks():
    found = xcurves.profile_across_tasks(make(), fractions=3, rng=0)
    whole = xcurves.across_tasks(make(), rng=0).sel(task_effect="random")
    np.testing.assert_allclose(found["mean_difference"], whole["difference"], rtol=1e-9)
    np.testing.assert_allclose(found["mean_difference_ci_simultaneous"], whole["difference_ci_simultaneous"])


def test_of_many_tasks_the_interval_of_the_mean_is_near_that_of_student():
    curves = make(40)
    found = xcurves.profile_across_tasks(curves, fractions=3, n_resamples=9999, rng=0).isel(pair=0)
    d = -curves.mean(["run", "training"]).diff("algorithm").to_numpy().ravel()
    low, high = scipy.stats.t.interval(0.95, len(d) - 1, d.mean(), scipy.stats.sem(d))
    np.testing.assert_allclose(found["mean_difference"], d.mean(), rtol=1e-9)
    np.testing.assert_allclose(found["mean_difference_ci_simultaneous"], [low, high], atol=0.05 * (high - low))


def test_sentences():
    found = xcurves.profile_across_tasks(make(10) + 0.0, fractions=5)
    said = found.curves.summary().split("\n")[0]
    assert said.startswith("Over 10 tasks like these, a1 is higher than a0 at ")
    assert " of the budget (smallest adjusted p = " in said
    (row,) = found.curves.to_dict()["pairs"]
    np.testing.assert_allclose(row["ci"], -found["mean_difference_ci_simultaneous"].to_numpy()[0, ::-1])
    assert (
        ". a1 has the higher mean score over training. On tasks like these it is shown to be higher than a0, " in said
    )
    assert f"by {row['difference']:.2f} ({row['ci'][0]:.2f} to {row['ci'][1]:.2f}; p = " in said
    few = xcurves.profile_across_tasks(make(3), fractions=5).curves.summary()
    assert few.startswith("a1 has the higher mean score over training over 3 tasks. ")
    assert "no difference could be tested: they share 3 tasks, too few for a p." in few


def test_the_first_picture_is_still_where_curves_differ():
    """Which part is drawn first does not depend on what has pairs."""
    part = kinds.kind("profile_across_tasks").part
    assert part.along
    assert not kinds.kind("across_tasks").part.along


@pytest.mark.slow
def test_panels_of_single_algorithms_have_no_bars_of_pairs():
    pytest.importorskip("matplotlib")
    values = 0.1 * np.random.default_rng(0).normal(size=(9, 13, 2, 2))
    values[:, 0] += 1
    found = xcurves.profile_across_tasks(make_curves(values, task=list("abcdefghi")), n_resamples=199, rng=0)
    assert (found.pvalue_adjusted <= 0.05).any()
    axes = found.curves.plot("mean_curve")
    assert sum(len(ax.lines) > 0 for ax in axes.flat) == 13
    assert not [ax for ax in axes.flat if ax.child_axes]
