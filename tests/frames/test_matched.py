"""Folds are compared as matched, unless that is taken back; seeds and numbered rows are not; items have passages."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import xcurves
from refusals import refused
from xcurves.__main__ import main
from xcurves.core.refusal import call, give
from xcurves.results import kind_of

PART = {"include": ["pairwise"], "rng": 0}


def folds(n: int = 8, name: str = "fold") -> pd.DataFrame:
    """Return scores of two models on folds that differ more than the models do."""
    rng = np.random.default_rng(3)
    easy = rng.normal(size=n)
    frame = pd.DataFrame({name: np.tile(np.arange(n), 2), "model": np.repeat(["a", "b"], n)})
    frame["acc"] = np.concatenate([easy, easy - 0.3 + rng.normal(scale=0.2, size=n)])
    return frame


def pvalue(tree) -> float:
    """Return the p-value of the only pair."""
    return float(tree["pairwise"]["pvalue"].sel(effect="algorithm").to_numpy().item())


def test_folds_are_matched_as_all_flips_of_their_differences_say():
    frame = folds()
    differences = frame.pivot_table(index="fold", columns="model", values="acc").diff(axis=1)["b"].to_numpy()
    means = [abs(np.mean(differences * signs)) for signs in product([1, -1], repeat=8)]
    expected = np.mean(np.array(means) >= abs(differences.mean()) - 1e-12)
    curves = frame.curves.to_dataarray()
    assert curves.run.attrs["matched"] == "fold"
    tree = curves.curves.analyze(**PART)
    assert tree.attrs["paired"] == 1
    assert pvalue(tree) == pytest.approx(expected)
    apart = curves.curves.analyze(paired=False, **PART)
    assert apart.attrs["paired"] == 0
    assert pvalue(apart) > 10 * expected


def test_seeds_are_matched_only_if_that_is_said():
    curves = folds(name="seed").curves.to_dataarray()
    assert "matched" not in curves.run.attrs
    assert curves.curves.analyze(**PART).attrs["paired"] == 0
    assert curves.curves.analyze(paired=True, **PART).attrs["paired"] == 1


def test_a_fold_that_one_algorithm_lacks_is_refused_and_leaves_all():
    frame = folds().drop(index=[3, 8 + 5])  # a lacks fold 3, b fold 5
    curves = frame.curves.to_dataarray()
    with refused("curves", cure=call(".curves.drop_incomplete")) as caught:
        curves.curves.analyze(**PART)
    assert ".curves.drop_incomplete()" in str(caught.value)
    complete = curves.curves.drop_incomplete()
    assert complete.dropna("run", how="all").run.to_numpy().tolist() == [
        0,
        1,
        2,
        4,
        6,
        7,
    ]
    both = frame[~frame["fold"].isin([3, 5])].curves.to_dataarray()
    assert pvalue(complete.curves.analyze(**PART)) == pvalue(both.curves.analyze(**PART))


def test_runs_that_were_numbered_by_their_order_are_not_matched():
    frame = folds(name="draw")
    curves = frame.drop(columns="draw").curves.to_dataarray(algorithm="model")
    assert curves.run.attrs["numbered"] == 1
    with refused("paired", True, cure=give(paired=False)):
        curves.curves.analyze(paired=True, **PART)
    named = frame.curves.to_dataarray(algorithm="model", run="draw")
    assert named.curves.analyze(paired=True, **PART).attrs["paired"] == 1
    trials = frame.rename(columns={"draw": "trial_number"}).curves.to_dataarray(algorithm="model")
    with refused("paired", True, cure=give(run="trial_number")):
        trials.curves.analyze(paired=True, **PART)


def test_the_command_that_pairs_no_more_has_one_option_of_the_two(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folds(name="draw").drop(columns="draw").to_csv("log.csv", index=False)
    assert main(["--paired", "log.csv"]) == 2
    *_, command = capsys.readouterr().err.strip().split("Type: python -m xcurves ")
    assert command.split() == ["log.csv", "--not-paired"]
    assert main(command.split()) == 0


def test_repeats_of_folds_are_said_to_be_dependent_and_their_means_are_one_run_a_fold():
    frame = pd.concat([folds().assign(repeat=number) for number in range(3)])
    frame["acc"] += np.random.default_rng(4).normal(0, 0.01, len(frame))
    curves = frame.curves.to_dataarray()
    result = curves.curves.pairwise(paired=True, rng=0)
    (said,) = [text for text in kind_of(result).said(result, "detail") if "Nadeau & Bengio" in text]
    assert "run='fold', duplicates='mean'" in said
    alone = frame.curves.to_dataarray(run="fold", duplicates="mean")
    assert alone.sizes["run"] == 8
    assert alone["run"].attrs["matched"] == "fold"
    np.testing.assert_allclose(alone.mean("run"), curves.mean("run"))
    of_means = alone.curves.pairwise(paired=True, rng=0)
    assert not [text for text in kind_of(of_means).said(of_means, "detail") if "Nadeau" in text]


@pytest.mark.slow
def test_the_shell_pairs_folds_and_takes_it_back(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folds().to_csv("folds.csv", index=False)
    assert main(["folds.csv"]) == 0
    assert "compared as matched (else: --not-paired)" in capsys.readouterr().out
    with xcurves.archive.read("folds-answer.nc") as matched:
        assert matched.attrs["paired"] == 1
    assert main(["folds.csv", "--not-paired"]) == 0
    with xcurves.archive.read("folds-answer.nc") as apart:
        assert apart.attrs["paired"] == 0


@pytest.mark.slow
def test_items_of_a_passage_are_a_family_of_tasks():
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([["a", "b"], range(8), range(3)], names=["model", "passage", "question"])
    frame = index.to_frame(index=False).assign(score=rng.normal(size=48))
    curves = frame.curves.to_dataarray()
    tree = curves.curves.analyze(include=["across_tasks"], rng=0)
    by_hand = curves.curves.across_tasks(task_groups="passage", rng=0)
    assert tree["across_tasks"].attrs["task_groups"] == "passage"
    np.testing.assert_array_equal(tree["across_tasks"]["pvalue"], by_hand["pvalue"])
    by_itself = curves.curves.across_tasks(rng=0)
    np.testing.assert_array_equal(by_itself["pvalue"], by_hand["pvalue"])
    random = by_itself.sel(task_effect="random")
    assert random["n_resamples"].item() == 2**8  # flips of passages

    curves[by_itself.attrs["task"]].attrs.clear()
    apart = curves.curves.across_tasks(rng=0).sel(task_effect="random")
    assert apart["n_resamples"].item() == 9_999  # of 2**24 flips of questions
    assert apart["pvalue"].item() != random["pvalue"].item()
