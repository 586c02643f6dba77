"""Groups of tasks: a column that is the same in all rows of a task, by the shell and by Python."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from refusals import refused
from xcurves.__main__ import main

SUITE_OF = {"p": "easy", "q": "easy", "r": "hard", "s": "hard", "t": "easy", "u": "hard"}


def returns(**columns):
    """Return a row of each run: b is better by 3 on hard tasks, and not on easy ones."""
    columns = {"algo": ["a", "b"], "env": list(SUITE_OF), "seed": range(4), **columns}
    frame = pd.MultiIndex.from_product(columns.values(), names=columns).to_frame(index=False)
    frame["suite"] = frame["env"].map(SUITE_OF)
    noise = np.random.default_rng(5).normal(size=len(frame))
    frame["return"] = noise + 3.0 * ((frame["algo"] == "b") & (frame["suite"] == "hard"))
    return frame


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    returns(step=[0, 10]).to_csv("returns.csv", index=False)
    return "returns.csv"


def differences(frame):
    """Return by how much a is higher than b in each suite, of means over the runs of each task."""
    means = frame.groupby(["suite", "env", "algo"])["return"].mean().unstack("algo")
    return (means["a"] - means["b"]).groupby("suite").mean()


def test_the_shell_compares_in_each_suite(path, capsys):
    assert main([path, "--by", "suite"]) == 0
    said = capsys.readouterr().out
    assert "By suite, on these very envs (all suites together): easy: " in said
    assert "not shown; hard: b is higher by " in said.replace(", not shown)", " not shown")
    with xr.open_dataset("returns-answer.nc") as answer:
        assert answer["group"].to_numpy().tolist() == ["easy", "hard"]
        np.testing.assert_allclose(answer["difference_by"].to_numpy()[0], differences(pd.read_csv(path)))


def test_python_has_the_same_coordinate_of_the_tasks(path, capsys):
    curves = pd.read_csv(path).curves.to_dataarray(coords="suite")
    assert curves["suite"].dims == ("env",)
    assert dict(zip(curves["env"].to_numpy(), curves["suite"].to_numpy(), strict=True)) == SUITE_OF
    by_python = curves.curves.analyze(by="suite", n_resamples=99, rng=0)["across_tasks"].to_dataset()
    assert main([path, "--by", "suite", "--n-resamples", "99"]) == 0
    with xr.open_dataset("returns-answer.nc") as answer:
        for name in ("difference_by", "difference_by_ci", "difference_by_pvalue_adjusted"):
            np.testing.assert_array_equal(answer[name], by_python[name])


def test_groups_of_tasks_are_no_runs_where_there_are_none():
    one_each = returns()[lambda frame: frame["seed"] == 0].drop(columns="seed")
    curves = one_each.curves.to_dataarray(coords="suite")
    assert dict(curves.sizes) == {"env": 6, "algorithm": 2, "run": 1, "training": 1}
    wide = one_each.pivot(index=["env", "suite"], columns="algo", values="return").reset_index()
    of_wide = wide.curves.to_dataarray(coords="suite")
    assert of_wide["suite"].dims == ("env",)
    np.testing.assert_array_equal(of_wide.to_numpy(), curves.to_numpy())


def test_coordinates_of_runs_stay_theirs():
    frame = returns(step=[0, 10])
    frame["look"] = 1 + frame["seed"] // 2
    assert frame.curves.to_dataarray(coords=["look", "suite"], extra="env")["look"].dims == ("run",)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["--by", "suit"], "--by suit is no column of returns.csv. It has "),
        (["--by", "step"], "--by column 'step' has several values in one run"),
        (["--by", "suite", "--select", "env=p"], "--by suite is for scores of several tasks. Leave it out"),
    ],
)
def test_what_groups_no_tasks_is_refused(path, capsys, typed, says):
    assert main([path, *typed]) == 2
    assert says in capsys.readouterr().err


def test_what_differs_within_a_task_is_no_group_of_tasks():
    curves = returns(step=[0, 10]).assign(half=lambda frame: frame["seed"] % 2).curves.to_dataarray(coords="half")
    with refused("by", "half", cure="Name what is the same in all of its runs"):
        curves.curves.across_tasks(by="half")
