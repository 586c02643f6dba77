"""Items as the tasks of `gate` and `sequential`: the mean over items decides, and the claim is about them."""

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused


@pytest.fixture
def answers():
    """Three models, 40 questions, eight answers to each, of 0 and 1."""
    rng = np.random.default_rng(0)
    hard = rng.random((40, 1))
    chance = np.clip(hard + np.array([0.0, 0.02, 0.4])[:, np.newaxis, np.newaxis], 0, 1)
    return xr.DataArray(
        (rng.random((3, 40, 8)) < chance).astype(float),
        {
            "algorithm": ["main", "c1", "c2"],
            "question_id": range(40),
            "run": range(8),
        },
        ("algorithm", "question_id", "run"),
        name="accuracy",
    )


def test_a_gate_over_items_is_that_of_means_over_them(answers):
    found = answers.curves.gate(baseline="main", task="question_id")
    means = answers.mean("question_id").curves.gate(baseline="main")
    for name in ("decision", "n_runs", "difference", "pvalue"):
        np.testing.assert_allclose(found[name], means[name], rtol=1e-12)
    said = "by its mean over the questions: the claim is about these questions, not others like them"
    assert said in found.curves.summary()
    assert "the claim is about" not in means.curves.summary()


def test_a_gate_names_the_item_that_a_run_lacks(answers):
    answers[1, 5, 0] = np.nan
    with refused("scores", ("c1", "1"), cure="Run it there, or leave the run out"):
        answers.curves.gate(baseline="main", task="question_id")


@pytest.mark.slow
def test_looks_over_items_say_what_the_claim_is_about(answers):
    planned = answers.curves.assign_looks(4, n_looks=2)
    found = planned.curves.sequential(task="question_id")
    d = answers.sel(algorithm="c2").mean() - answers.sel(algorithm="main").mean()
    last = found.difference.sel(pair="main - c2").isel(look=-1)
    np.testing.assert_allclose(last, -d)
    summary = found.curves.summary()
    assert "(320 runs each, over these questions)" in summary
    assert "Runs are dealt anew within each question: the claim is about these" in summary


@pytest.mark.slow
def test_looks_that_lack_the_same_items_are_said_once(answers):
    answers[1, 5] = np.nan
    planned = answers.curves.assign_looks(4, n_looks=2)
    summary = xcurves.sequential(planned, task="question_id").curves.summary()
    assert summary.count("the numbers of runs differ") == 1
    differ = "At looks 1 and 2 the numbers of runs differ (main 160, c1 156, c2 160)"
    assert differ in summary
