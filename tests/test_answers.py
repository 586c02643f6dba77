"""Answers and sentences in the cases that few results have: nothing to compare, one of many, too many to list."""

import re

import numpy as np
import pytest

from refusals import refused
from strategies import make_curves, make_scores
from synthetic_results import synthetic_curves
from xcurves import kinds
from xcurves.reporting.curves_section import counts

RNG = np.random.default_rng(0)


def answer(result):
    return kinds.kind(result.attrs["xcurves_result"]).answer(result)


def answers(result):
    return result.curves.summary()


def over_tasks(n_tasks, gap=2.0, n_runs=4):
    values = RNG.normal(size=(n_tasks, 2, n_runs, 4)) + gap * np.arange(2)[:, None, None]
    return make_curves(values, task=[f"t{i}" for i in range(n_tasks)])


def test_a_pair_that_is_shown_to_differ_is_named_with_the_higher_one_first():
    curves = make_curves(RNG.normal(np.array([0, 50])[:, None, None], size=(2, 5, 4)))
    result = curves.curves.pairwise(rng=0)
    said = answer(result)
    assert said.startswith("a1 has the higher mean score over training, ")
    value = float(re.search(r"shown to be higher than a0, by ([\d.]+) \(", said)[1])
    assert value == pytest.approx((curves.mean(["run", "training"]).diff("algorithm")).item(), abs=0.06)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            make_curves(RNG.normal(size=(2, 4, 3))).curves.pairwise(rng=0),
            "No pair could be compared.",
        ),
        (
            make_curves(RNG.normal(size=(2, 4, 1))).isel(training=0).curves.compare_distributions(),
            "No pair could be compared: trials are missing.",
        ),
    ],
)
def test_pairs_that_cannot_be_compared_are_not_said_to_be_equal(result, said):
    unknown = result.where(False).assign_attrs(result.attrs)
    assert answer(unknown) == said


def test_equal_trials_do_not_show_that_one_is_higher_more_often():
    scores = make_scores(np.tile(np.arange(8.0), (2, 1)), algorithm=["a", "b"], run=range(8))
    said = answer(scores.curves.compare_distributions())
    assert said == "a and b have the same probability to score higher. No difference is shown."


def test_many_groups_of_trials_are_summarised_by_their_range():
    values = RNG.normal(size=(20, 6))
    result = make_scores(values, algorithm=range(20), run=range(6)).curves.performance_cdf(interval="exact")
    means, medians = np.sort(values.mean(axis=1)), np.sort(np.median(values, axis=1))
    said = f"Of 20 groups of trials, the means are {means[0]:.4g} to {means[-1]:.4g}, "
    assert answer(result).replace("−", "-") == f"{said}the medians {medians[0]:.4g} to {medians[-1]:.4g}."


@pytest.mark.slow
def test_a_single_pair_over_tasks_is_its_own_answer():
    curves = over_tasks(8)
    result = curves.curves.across_tasks(n_resamples=99, rng=0)
    mean = f"{curves.sel(algorithm='a1').mean().item():.3g}"
    assert answer(result).startswith(f"a1 has the higher mean score, {mean} over 8 tasks. ")
    assert answer(result) == answers(result).split("\n")[0]


def test_families_of_tasks_are_named():
    curves = over_tasks(16).assign_coords(family=("task", list("aabbccddeeffgghh")))
    said = curves.curves.across_tasks(task_groups="family", n_resamples=99, rng=0).curves.summary()
    assert "The claim for tasks like these is about families of tasks (family): whole families are flipped." in said


def test_algorithms_without_a_task_in_common_have_no_difference():
    curves = make_curves(RNG.normal(size=(16, 3, 4, 4)), task=[f"t{i}" for i in range(16)])
    curves[:, 0] += 5
    curves[:8, 0], curves[8:, 1] = np.nan, np.nan
    said = answers(curves.curves.across_tasks(n_resamples=99, rng=0))
    assert "No task has all 3 algorithms: read pairs." in said


def test_tasks_on_unlike_scales_get_a_caution_with_the_ratio():
    curves = over_tasks(8)
    curves[3] *= 1000
    with pytest.warns(UserWarning, match="times as much in one task as in another"):
        result = curves.curves.across_tasks(n_resamples=99, rng=0)
    found = re.search(
        r"^Scales differ ([\d,]+)-fold between tasks: t3 makes the mean; normalized, a1 leads",
        answer(result),
    )
    assert 500 < int(found[1].replace(",", "")) < 5000


def test_unlike_spreads_without_tasks_that_carry_the_mean_get_no_caution():
    """Scores of 0 to 1000 in every task, some of which all runs solve: the spreads are unlike, the differences not."""
    curves = over_tasks(12, gap=20.0)
    curves = curves.mean("run") + (curves - curves.mean("run")) * np.geomspace(0.1, 2, 12)[:, None, None, None]
    assert "times as much" not in answers(curves.curves.across_tasks(n_resamples=99, rng=0))


def test_too_few_tasks_or_runs_for_a_band_are_said():
    three = over_tasks(3).curves.profile_across_tasks(fractions=4, n_resamples=99, rng=0)
    assert three["difference_band"].isnull().all()
    assert "Of so few tasks or families no band of the difference holds at all fractions together" in answers(three)


@pytest.mark.slow
def test_curves_that_have_no_room_say_what_to_select():
    pytest.importorskip("matplotlib")
    said = r"^view 'runs' of 720 panels \(task × algorithm\) cannot be read in a figure of 14 by 14 inches"
    cure = "Select at most 8 algorithms: .sel(algorithm=[...]); .curves.to_frame() has all numbers"
    with refused("data", cure=cure, names=said):
        synthetic_curves(60, 12).curves.plot()


def test_the_counts_of_each_task_are_those_of_its_own_runs_and_levels():
    curves = make_curves(RNG.normal(size=(3, 2, 4, 5)), task=list("xyz"))
    curves[1, 0, 2:], curves[1, :, :, 3:], curves[2] = np.nan, np.nan, np.nan
    table = counts(curves)
    assert table.index.names == ["task", "algorithm"]
    assert table["runs"].tolist() == [4, 4, 2, 4, 0, 0]
    assert table["absent runs"].tolist()[1:3] == ["none", "2 and 3"]
    assert table["training levels"].tolist() == [5, 5, 3, 3, 0, 0]
    np.testing.assert_array_equal(table[["from", "to"]].iloc[::2], [[0, 400], [0, 200], [np.nan, np.nan]])
