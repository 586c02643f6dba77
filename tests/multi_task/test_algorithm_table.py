"""The table of algorithms: means over the tasks of each, with intervals for tasks like these and all algorithms."""

import re

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xcurves
from strategies import make_curves
from xcurves.anova.kinds import PAIRWISE
from xcurves.kinds import kind
from xcurves.say.comparing import algorithms_of, pairs_of

ACROSS_TASKS = kind("across_tasks")

pytestmark = pytest.mark.filterwarnings("ignore")


def suite(values, tasks="xyzuvw"):
    each = [make_curves(one) for one in values]
    return xr.concat(each, "task").assign_coords(task=list(tasks[: len(each)]))


def table_of(curves, **options):
    return ACROSS_TASKS.part.algorithms(xcurves.across_tasks(curves, n_resamples=19, rng=0, **options))


def by_loops(means, weights, n_algorithms):
    """Return mean, lower and upper from lists of means and weights of tasks: Student's t by plain arithmetic."""
    n = len(means)
    shares = [weight / sum(weights) for weight in weights]
    mean = sum(share * each for share, each in zip(shares, means, strict=True))
    squares = sum((share * each - share * mean) ** 2 for share, each in zip(shares, means, strict=True))
    half = stats.t.isf(0.05 / (2 * n_algorithms), n - 1) * (n / (n - 1) * squares) ** 0.5
    return mean, mean - half, mean + half


@pytest.mark.slow
def test_intervals_are_those_of_plain_loops():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 3, 6, 5)) * np.array([1.0, 2.0, 5.0, 0.5])[:, None, None, None]
    curves = suite(values)
    curves[1, 0, 4:] = np.nan  # fewer runs of one algorithm in one task
    curves[3, 2] = np.nan  # a task that one lacks
    weights = xr.DataArray([1.0, 2.0, 1.0, 4.0], {"task": curves.task}, "task")
    for options, of_task in (
        ({}, [1.0] * 4),
        ({"task_weights": weights}, [1.0, 2.0, 1.0, 4.0]),
    ):
        table = table_of(curves, **options)
        for algorithm in curves.algorithm.values:
            has = [i for i in range(4) if algorithm != "a2" or i != 3]
            means = [curves[i].sel(algorithm=algorithm).mean().item() for i in has]
            if algorithm == "a0":
                means[1] = curves[1, 0, :4].mean().item()
            row = table.loc[algorithm, ["mean", "lower", "upper"]].to_numpy(float)
            expected = by_loops(means, [of_task[i] for i in has], 3)
            np.testing.assert_allclose(row, expected, rtol=1e-12)
            assert table.loc[algorithm, "tasks"] == len(has)
        assert table.attrs["interval"] == "95 %, all algorithms together"
        assert table.index[-1] == "a2"  # which lacks a task: the verdict is about the others


@pytest.mark.slow
def test_the_best_mean_stands_first_and_lower_may_be_better():
    rng = np.random.default_rng(1)
    curves = suite(rng.normal(size=(5, 3, 4, 2)) + np.array([0.0, 9.0, 5.0])[:, None, None])
    assert table_of(curves).index.tolist() == ["a1", "a2", "a0"]
    assert table_of(curves, higher_is_better=False).index.tolist() == ["a0", "a2", "a1"]
    assert table_of(curves)["mean_rank"].tolist() == [1.0, 2.0, 3.0]


def test_of_single_runs_means_have_intervals_for_tasks_like_these():
    curves = suite(np.random.default_rng(2).normal(size=(5, 2, 1, 2)))
    columns = ["mean", "lower", "upper", "tasks", "mean_rank", "may_be_best"]
    assert table_of(curves).columns.tolist() == columns


@pytest.mark.slow
def test_beside_a_reference_nothing_says_who_may_be_best():
    curves = suite(np.random.default_rng(2).normal(size=(6, 3, 2, 2)))
    table = ACROSS_TASKS.part.algorithms(xcurves.across_tasks(curves, reference="a0", rng=0))
    assert table.columns.tolist() == ["mean", "lower", "upper", "tasks", "mean_rank"]
    pairs = xcurves.pairwise(curves.isel(task=0), reference="a0", rng=0)
    assert algorithms_of(PAIRWISE)(pairs).columns.tolist() == ["mean", "runs"]


def test_tasks_have_the_name_of_their_dim():
    curves = suite(np.random.default_rng(2).normal(size=(5, 2, 2, 2)))
    renamed = curves.rename(task="env_name")
    found = xcurves.across_tasks(renamed, n_resamples=19, rng=0)
    assert "envs" in ACROSS_TASKS.part.algorithms(found).columns
    assert "over 5 envs. On " in found.curves.summary()


@pytest.mark.slow
def test_the_interval_of_the_winner_holds_as_often_as_it_says():
    """Equal algorithms on tasks drawn anew: the interval of the one with the highest mean is at least as good."""
    rng = np.random.default_rng(3)
    n_sets, held = 400, 0
    for _ in range(n_sets):
        values = rng.normal(size=(8, 3, 2, 1)) + rng.normal(size=(8, 3, 1, 1))
        row = table_of(suite(values, "abcdefgh")).iloc[0]
        held += row["lower"] <= 0 <= row["upper"]
    low, _ = stats.binom.interval(0.999, n_sets, 0.95)
    assert held >= low


@pytest.mark.slow
def test_unlike_scales_are_said_in_the_heading_and_leave_no_interval_in_the_verdict():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(8, 3, 4, 1)) + 3.0 * np.arange(3)[:, None, None]
    values[3] *= 1000
    found = xcurves.across_tasks(suite(values, "abcdefgh"), n_resamples=199, rng=0)
    heading = "if the tasks' scales count as they are"
    for table in (
        ACROSS_TASKS.part.algorithms(found),
        pairs_of(ACROSS_TASKS)(found),
        ACROSS_TASKS.table(found),
    ):
        assert table.attrs["interval"].endswith(f"together, {heading}")
    said = ACROSS_TASKS.answer(found)
    assert said.startswith("Scales differ ")
    assert not re.search(r"\d to [−\d]|interval", said)
    alike = xcurves.across_tasks(suite(values[:3], "abc"), n_resamples=199, rng=0)
    assert heading not in ACROSS_TASKS.table(alike).attrs["interval"]


def test_of_pairs_mean_runs_and_who_may_be_best():
    curves = make_curves(np.random.default_rng(4).normal(size=(3, 5, 4)) + np.array([0.0, 9.0, 9.1])[:, None, None])
    table = algorithms_of(PAIRWISE)(xcurves.pairwise(curves, rng=0))
    means = curves.mean(["run", "training"]).to_series()
    np.testing.assert_allclose(table["mean"], means.sort_values(ascending=False))
    assert table["runs"].tolist() == [5, 5, 5]
    assert table["may_be_best"].to_dict() == {"a2": True, "a1": True, "a0": False}
