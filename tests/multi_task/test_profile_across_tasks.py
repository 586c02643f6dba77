import numpy as np
import pytest

import xcurves
from across_reference import CASES, needed
from layers import slow
from oracles import flips_min_p
from refusals import refused
from strategies import make_curves
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


def test_sentences():
    said = xcurves.profile_across_tasks(make(10) + 0.0, fractions=5).curves.summary().split("\n")[0]
    assert said.startswith("Over 10 tasks ")
    assert "of the budget (smallest adjusted p " in said


def test_panels_of_single_algorithms_have_no_bars_of_pairs():
    pytest.importorskip("matplotlib")
    values = 0.1 * np.random.default_rng(0).normal(size=(9, 13, 2, 2))
    values[:, 0] += 1
    found = xcurves.profile_across_tasks(make_curves(values, task=list("abcdefghi")), n_resamples=199, rng=0)
    assert (found.pvalue_adjusted <= 0.05).any()
    axes = found.curves.plot("mean_curve")
    assert sum(len(ax.lines) > 0 for ax in axes.flat) == 13
    assert not [ax for ax in axes.flat if ax.child_axes]
