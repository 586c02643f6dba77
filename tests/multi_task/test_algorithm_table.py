"""The table of algorithms: the interval of a mean over tasks, had other runs been made on them."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xcurves
from strategies import make_curves
from xcurves.anova.kinds import PAIRWISE
from xcurves.multi_task.kinds import ACROSS_TASKS

pytestmark = pytest.mark.filterwarnings("ignore")


def suite(values, tasks="xyzuvw"):
    each = [make_curves(one) for one in values]
    return xr.concat(each, "task").assign_coords(task=list(tasks[: len(each)]))


def table_of(curves, **options):
    return ACROSS_TASKS.part.algorithms(
        xcurves.across_tasks(curves, n_resamples=19, rng=0, **options)
    )


def by_loops(scores, weights):
    """Return mean, lower and upper from lists of the scores of each task: Satterthwaite's t by plain arithmetic."""
    shares = [weight / sum(weights) for weight in weights]
    mean = sum(
        share * np.mean(runs) for share, runs in zip(shares, scores, strict=True)
    )
    parts = [
        share**2 * np.var(runs, ddof=1) / len(runs)
        for share, runs in zip(shares, scores, strict=True)
    ]
    degrees = sum(parts) ** 2 / sum(
        part**2 / (len(runs) - 1) for part, runs in zip(parts, scores, strict=True)
    )
    low, high = stats.t.interval(0.95, degrees, loc=mean, scale=sum(parts) ** 0.5)
    return mean, low, high


def test_intervals_are_those_of_plain_loops():
    rng = np.random.default_rng(0)
    values = (
        rng.normal(size=(4, 3, 6, 5))
        * np.array([1.0, 2.0, 5.0, 0.5])[:, None, None, None]
    )
    curves = suite(values)
    curves[1, 0, 4:] = np.nan  # fewer runs of one algorithm in one task
    weights = xr.DataArray([1.0, 2.0, 1.0, 4.0], {"task": curves.task}, "task")
    for options, of_task in (
        ({}, [1.0] * 4),
        ({"task_weights": weights}, [1.0, 2.0, 1.0, 4.0]),
    ):
        table = table_of(curves, **options)
        for algorithm in curves.algorithm.values:
            runs = [
                curves.sel(task=task, algorithm=algorithm)
                .mean("training")
                .dropna("run")
                .values
                for task in "xyzu"
            ]
            row = table.loc[algorithm, ["mean", "lower", "upper"]].to_numpy(float)
            np.testing.assert_allclose(row, by_loops(runs, of_task), rtol=1e-12)


def test_the_best_mean_stands_first_and_lower_may_be_better():
    rng = np.random.default_rng(1)
    curves = suite(
        rng.normal(size=(5, 3, 4, 2)) + np.array([0.0, 9.0, 5.0])[:, None, None]
    )
    assert table_of(curves).index.tolist() == ["a1", "a2", "a0"]
    assert table_of(curves, higher_is_better=False).index.tolist() == ["a0", "a2", "a1"]
    assert table_of(curves)["mean_rank"].tolist() == [1.0, 2.0, 3.0]


def test_a_single_run_has_no_interval():
    curves = suite(np.random.default_rng(2).normal(size=(5, 2, 1, 2)))
    assert table_of(curves).columns.tolist() == ["mean", "mean_rank", "may_be_best"]


@pytest.mark.slow
def test_intervals_hold_the_mean_of_these_tasks_as_often_as_they_say():
    rng = np.random.default_rng(3)
    n_sets, held, n = 400, 0, 0
    truth = np.array([[0.0, 3.0], [10.0, 2.0], [-5.0, 0.0], [1.0, 1.0]])
    for _ in range(n_sets):
        values = (
            truth[:, :, None, None]
            + rng.normal(size=(4, 2, 5, 1))
            * np.array([1, 3, 0.5, 2])[:, None, None, None]
        )
        table = table_of(suite(values))
        for place, mean in enumerate(truth.mean(axis=0)):
            row = table.loc[f"a{place}"]
            held += row["lower"] <= mean <= row["upper"]
            n += 1
    low, high = stats.binom.interval(0.999, n, 0.95)
    assert low <= held <= high


def test_of_pairs_mean_runs_and_who_may_be_best():
    curves = make_curves(
        np.random.default_rng(4).normal(size=(3, 5, 4))
        + np.array([0.0, 9.0, 9.1])[:, None, None]
    )
    table = PAIRWISE.part.algorithms(xcurves.pairwise(curves, rng=0))
    means = curves.mean(["run", "training"]).to_series()
    np.testing.assert_allclose(table["mean"], means.sort_values(ascending=False))
    assert table["runs"].tolist() == [5, 5, 5]
    assert table["may_be_best"].to_dict() == {"a2": True, "a1": True, "a0": False}
