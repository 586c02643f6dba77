"""Best of k and scaling laws are reached from a table by one command."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from xcurves.__main__ import main


@pytest.mark.slow
def test_a_table_of_trials_reaches_best_of_k_by_its_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "method": np.repeat(["a", "b"], 20),
            "trial": [*range(20)] * 2,
            "accuracy": rng.random(40),
        }
    )
    frame.to_csv("trials.csv", index=False)
    assert main(["trials.csv", "--include", "tuning_curve"]) == 0
    assert "How good is the best of k trials?" in capsys.readouterr().out
    by_hand = frame.curves.to_dataarray(training=None).curves.tuning_curve()
    with xcurves.archive.read("trials-analysis.nc") as tree:
        np.testing.assert_allclose(tree["tuning_curve"]["best_median"], by_hand["best_median"], rtol=1e-12)


def test_a_table_of_one_search_reaches_best_of_k_by_what_is_proposed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    accuracy = np.random.default_rng(1).random(30)
    pd.DataFrame({"number": range(30), "accuracy": accuracy}).to_csv("search.csv", index=False)
    assert main(["search.csv", "--include", "tuning_curve"]) == 2
    told = capsys.readouterr().err
    assert "if all scores are of one: --algorithm none" in told
    command = shlex.split(told.partition("Type: ")[2])
    assert main(command[3:]) == 0
    by_hand = xr.DataArray([accuracy], {"algorithm": [0]}, ("algorithm", "run"), name="accuracy").curves.tuning_curve()
    with xcurves.archive.read("search-analysis.nc") as tree:
        np.testing.assert_allclose(tree["tuning_curve"]["best_median"].squeeze(), by_hand["best_median"].squeeze())


@pytest.mark.slow
def test_points_of_several_laws_are_compared_by_their_laws_alone(tmp_path, monkeypatch, capsys):
    """Of larger models the mean loss is lower, whatever their method."""
    monkeypatch.chdir(tmp_path)
    sizes, tokens = np.meshgrid([1e6, 3e6, 1e7, 3e7, 1e8], [1e8, 3e8, 1e9, 3e9])
    noise = np.random.default_rng(0).normal(0, 0.005, sizes.shape)
    both = []
    for method, scale in (("small", 1), ("large", 100)):
        losses = 1.7 + 400 / (scale * sizes) ** 0.34 + 410 / tokens**0.28 + noise
        points = {"method": method, "N": scale * sizes.ravel(), "D": tokens.ravel(), "loss": losses.ravel()}
        both.append(pd.DataFrame(points))
    frame = pd.concat(both)
    frame.to_csv("laws.csv", index=False)
    assert main(["laws.csv"]) == 0
    said = capsys.readouterr().out
    assert "read as algorithm = method, " in said
    assert "each row is a point of a scaling law" in said
    assert "is shown to be" not in said
    assert set(frame.curves.to_dataarray().curves.analyze(rng=0)) == {"curves", "scaling_law"}


def test_a_table_of_sizes_and_tokens_reaches_the_law(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sizes, tokens = np.meshgrid([1e6, 3e6, 1e7, 3e7, 1e8], [1e8, 3e8, 1e9, 3e9])
    noise = np.random.default_rng(0).normal(0, 0.005, sizes.shape)
    losses = 1.7 + 400 / sizes**0.34 + 410 / tokens**0.28 + noise
    pd.DataFrame({"N": sizes.ravel(), "D": tokens.ravel(), "loss": losses.ravel()}).to_csv("law.csv", index=False)
    assert main(["law.csv"]) == 0
    assert "What would more compute buy?" in capsys.readouterr().out
    with xcurves.archive.read("law-answer.nc") as result:
        alpha = result["estimate"].sel(param="alpha").item()
    assert alpha == pytest.approx(0.34, abs=0.02)


@pytest.mark.slow
def test_scores_and_tasks_are_called_as_options_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    index = pd.MultiIndex.from_product(
        [["a", "b"], range(4), [f"t{n}" for n in range(7)]],
        names=["model", "seed", "env_name"],
    )
    frame = index.to_frame(index=False)
    frame["val_loss"] = np.random.default_rng(0).random(len(frame)) + (frame["model"] == "b")
    frame.to_csv("runs.csv", index=False)
    assert main(["runs.csv"]) == 0
    assert "lower mean val_loss, 0.5" in (out := capsys.readouterr().out)
    assert "over 7 envs" in out
    assert main(["runs.csv", "--score-name", "validation loss", "--task-name", "game"]) == 0
    out = capsys.readouterr().out
    assert "lower is better, as the name val_loss says" in out
    assert "a has the lower mean validation loss" in out
    assert "over 7 games" in out
    frame.query("env_name == 't0'").to_csv("one.csv", index=False)
    assert main(["one.csv", "--task-name", "game"]) == 2
    assert "--task-name game is for scores of several tasks" in capsys.readouterr().err


@pytest.mark.slow
def test_tasks_of_a_configuration_are_called_without_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"algorithm": np.repeat(["a", "b"], 8), "seed": [0, 1, 2, 3] * 4})
    frame["config/data"] = np.repeat(["x", "y"] * 2, 4)
    frame.assign(acc=np.arange(16.0)).to_csv("runs.csv", index=False)
    assert main(["runs.csv", "--extra", "config/data"]) == 0
    assert "over 2 data sets" in capsys.readouterr().out
    with xcurves.archive.read("runs-answer.nc") as result:
        assert result.attrs["task"] == "data"
