"""A dim that a call names is no training, and "task" is the only further dim, whatever its name and labels."""

import re
import warnings

import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow
from refusals import refused
from xcurves.core.refusal import give
from xcurves.core.task_dims import named_dims

VALUES = np.random.default_rng(0).normal(size=(8, 2, 4)) + np.array([[0.0], [0.8]])
NAMES = ("item", "question", "epoch", "step", "iteration", "level", "my dim")


def scores_of(dim, labels=range(8)):
    coords = {dim: list(labels), "algorithm": ["a", "b"], "run": range(4)}
    return xr.DataArray(VALUES, coords, (dim, "algorithm", "run"), name="accuracy")


CALLS = {
    "across_tasks": lambda data, dim: data.curves.across_tasks(task=dim, rng=0).difference_ci,
    "gate": lambda data, dim: data.curves.gate(baseline="a", task=dim, n_resamples=99).difference,
    "sequential": lambda data, dim: data.curves.assign_looks(2, n_looks=2).curves.sequential(task=dim).difference,
    "performance_cdf": lambda data, dim: (
        data.curves.performance_cdf(
            dim=(dim, "run"), strata=dim, interval="percentile", n_resamples=19, rng=0
        ).score_mean
    ),
    "compare_distributions": lambda data, dim: (
        data.curves.compare_distributions(dim=(dim, "run"), strata=dim, rng=0).prob_greater
    ),
    "tuning_curve": lambda data, dim: data.curves.tuning_curve(dim=(dim, "run"), unit=dim, n_trials=3).best_median,
    "runs_needed": lambda data, dim: (
        data.curves.runs_needed(test="across_tasks", n_runs=[4], n_replications=20, rng=0).rate
    ),
    "speedup": lambda data, dim: np.exp(data).curves.speedup(reference="a", task=dim, rng=0).speedup,
    "performance_profile": lambda data, dim: np.exp(data).curves.performance_profile(task=dim, rng=0).score,
}


@pytest.mark.plain(1)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [slow(name) if name == "runs_needed" else name for name in CALLS])
def test_a_dim_that_a_call_names_is_of_tasks_whatever_its_name_and_labels(name):
    call = CALLS[name]
    # Labels that are texts say by themselves that these are tasks.
    expected = call(scores_of("task", "abcdefgh"), "task").to_numpy()
    names = NAMES
    if name == "runs_needed":  # which takes a second each
        names = NAMES[:2]
    for dim in names:
        np.testing.assert_array_equal(call(scores_of(dim), dim), expected, str(dim))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_means_over_a_named_dim_are_those_of_numpy():
    found = scores_of("item").curves.across_tasks(task="item", rng=0)
    by_item = VALUES.mean(axis=2)
    assert found.difference.item() == pytest.approx((by_item[:, 0] - by_item[:, 1]).mean())
    assert found.n_tasks.item() == 8


@pytest.mark.parametrize(
    "call",
    [
        lambda data: data.curves.across_tasks(task="item"),
        lambda data: data.curves.profile_across_tasks(task="item"),
        lambda data: data.curves.sequential(task="item"),
        lambda data: data.curves.gate(baseline="a", task="item"),
        lambda data: data.curves.speedup(reference="a", task="item"),
        lambda data: data.curves.performance_profile(task="item"),
        lambda data: data.curves.compare_distributions(dim=("item", "run"), strata="item"),
        lambda data: data.curves.performance_cdf(dim=("item", "run"), unit="run"),
        lambda data: data.curves.tuning_curve(dim=("item", "run"), unit="item"),
    ],
)
def test_no_cure_renames_a_dim_that_the_call_names(call):
    with refused("dims", "('item', 'algorithm', 'who')", cure="Rename: da.rename(who='run')") as run:
        call(scores_of("item").rename(run="who"))
    assert "rename(item" not in str(run.value)
    assert "rename({'item'" not in str(run.value)
    if "Rename" in str(run.value):
        renamed = re.search(r"da\.rename\(.*\)", str(run.value))[0]
        assert renamed == "da.rename(who='run')"


def test_curves_along_a_budget_are_not_made_of_a_named_dim():
    with refused(
        "curves", "('item', 'algorithm', 'run')", cure="Scores have no training. Compare them: .curves.pairwise()"
    ):
        scores_of("item").curves.profile_across_tasks(task="item")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_dim_without_evidence_is_asked_for_and_both_cures_work():
    scores = scores_of("site")
    with refused("dims", "('site', 'algorithm', 'run')", cure=give(task="site")) as e:
        scores.curves.across_tasks(rng=0)
    by_item = VALUES.mean(axis=2)
    option = re.search(r"task='(\w+)'", str(e.value))[1]
    found = scores.curves.across_tasks(task=option, rng=0)
    assert found.difference.item() == pytest.approx((by_item[:, 0] - by_item[:, 1]).mean())
    code = re.search(r"da\.rename\(\w+='training'\)", str(e.value))[0]
    renamed = eval(code, {"da": scores})
    assert renamed.curves.randomized_anova(rng=0).n_levels.item() == 8
    # The usual names of training are renamed at once.
    with refused("dims", "('epoch', 'algorithm', 'run')", cure="Rename: da.rename(epoch='training')"):
        scores_of("epoch").curves.across_tasks()


@pytest.mark.plain(1)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dim", ["task", "env", "where", "item"])
def test_the_only_further_dim_is_of_the_tasks(dim, monkeypatch):
    curves = scores_of(dim).expand_dims(training=[1.0, 2.0], axis=-1)
    curves = curves + np.array([0.0, 0.1])
    expected = scores_of("task").mean("run").mean("task").diff("algorithm").item()
    looks = curves.curves.assign_looks(2, n_looks=2)
    assert -curves.curves.across_tasks(rng=0).difference.item() == pytest.approx(expected)
    assert -curves.curves.profile_across_tasks(rng=0).difference[..., -1].item() == pytest.approx(expected)
    found = looks.curves.sequential(task="task")
    assert found.attrs["task"] == dim
    assert -found.difference.isel(look=-1).item() == pytest.approx(expected)
    gate = curves.isel(training=-1).curves.gate(baseline="a", task="task", n_resamples=99)
    assert gate.attrs["task"] == dim
    times = np.exp(curves.isel(training=-1, drop=True))
    assert times.curves.performance_profile(rng=0).attrs["task"] == dim
    assert times.curves.speedup(reference="a", task="task", rng=0).attrs["task"] == dim
    tree = curves.curves.analyze(include=["across_tasks"], rng=0)
    assert tree["across_tasks"].attrs["task"] == dim


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_figures_of_a_benchmark_take_its_only_further_dim():
    pytest.importorskip("matplotlib").use("agg")
    curves = scores_of("env").expand_dims(training=[1.0, 2.0], axis=-1)
    curves = curves + np.array([0.0, 0.1])
    axes = curves.curves.plot_benchmark(n_resamples=19, rng=0)
    assert len(axes) == 6
    others = curves.expand_dims(metric=["f1", "auc"])
    with refused("task", "task", give(task="metric"), names="task='task' is no dim of curves"):
        xcurves.plot_benchmark(others)


def test_dims_are_named_by_texts_alone():
    assert named_dims("item", ("run", "fold"), None, 3) == {"item", "run", "fold"}
    with warnings.catch_warnings(action="error"):
        assert named_dims(xr.DataArray(["x"]), np.array("x")) == frozenset()


def test_joined_dims_may_include_one_that_is_called_task():
    values = np.random.default_rng(0).normal(size=(4, 3, 2, 4))
    coords = {
        "task": list("wxyz"),
        "size": [1, 2, 3],
        "algorithm": ["a", "b"],
        "run": range(4),
    }
    scores = xr.DataArray(values, coords, [*coords])
    found = scores.curves.across_tasks(task=["task", "size"], rng=0)
    other = scores.rename(task="game").curves.across_tasks(task=["game", "size"], rng=0)
    xr.testing.assert_equal(found.reset_coords(drop=True), other.reset_coords(drop=True))
    assert found["task"].values[:2].tolist() == ["w, 1", "w, 2"]
