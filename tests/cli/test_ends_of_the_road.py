"""Best of k and scaling laws are reached from a table by one command."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import xcurves
from xcurves.__main__ import main


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
        np.testing.assert_array_equal(
            tree["tuning_curve"]["best_median"], by_hand["best_median"]
        )


def test_a_table_of_sizes_and_tokens_reaches_the_law(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sizes, tokens = np.meshgrid([1e6, 3e6, 1e7, 3e7, 1e8], [1e8, 3e8, 1e9, 3e9])
    noise = np.random.default_rng(0).normal(0, 0.005, sizes.shape)
    losses = 1.7 + 400 / sizes**0.34 + 410 / tokens**0.28 + noise
    pd.DataFrame(
        {"N": sizes.ravel(), "D": tokens.ravel(), "loss": losses.ravel()}
    ).to_csv("law.csv", index=False)
    assert main(["law.csv"]) == 0
    assert "What would more compute buy?" in capsys.readouterr().out
    with xcurves.archive.read("law-answer.nc") as result:
        alpha = result["estimate"].sel(param="alpha").item()
    assert alpha == pytest.approx(0.34, abs=0.02)
