"""The shell's answer about many algorithms: their places; all pairs where they are asked for."""

import shlex

import numpy as np
import pytest

from items import make_items
from xcurves import __main__

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(n_models):
        scores = make_items(30, n_answers=3, accuracy=np.linspace(0.2, 0.8, 3))
        scores = scores.isel(algorithm=np.arange(n_models) % 3)
        scores = scores.assign_coords(algorithm=[f"m{i}" for i in range(n_models)])
        frame = scores.to_dataframe("accuracy").reset_index()
        frame = frame.rename(columns={"algorithm": "model"})
        frame[["model", "question_id", "run", "accuracy"]].to_csv("samples.csv", index=False)
        return "samples.csv"

    return make


def said(capsys, *arguments):
    options = ["--algorithm", "model", "--run", "run", "--extra", "question_id"]
    assert __main__.main([*arguments, *options, "--value", "accuracy", "--n-resamples", "19"]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_of_many_algorithms_places_are_printed_and_pairs_on_request(table, capsys):
    path = table(11)
    text = said(capsys, path)
    assert "place from  place to" in text
    assert "All 55 pairs: --include pairs" in text
    assert "m1 over m0" not in text
    assert "Shown to differ" not in text
    every = said(capsys, path, "--include", "pairs")
    n_rows = sum(" over " in line or " and m" in line for line in every.split("\n"))
    assert n_rows >= 55


@pytest.mark.slow
def test_of_few_the_pairs_that_differ_are_printed(table, capsys):
    text = said(capsys, table(3))
    assert "--include pairs" in text or "Shown to differ" in text
    assert "All 3 pairs" not in text


@pytest.mark.slow
def test_pairs_that_could_not_be_tested_have_no_empty_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = make_items(n_items=60, accuracy=(0.4, 0.5, 0.6)).to_dataframe("accuracy").reset_index()
    frame = frame.rename(columns={"algorithm": "model"})
    frame["passage"] = frame["question_id"].str[1:].astype(int) // 15
    frame[["model", "passage", "question_id", "accuracy"]].to_csv("samples.csv", index=False)
    assert __main__.main(["samples.csv"]) == 0
    text = capsys.readouterr().out
    assert "with 4 passages no adjusted p of these 3 pairs can be below 0.125: add passages: 6 are the fewest" in text
    heading = text.split("No pair could be tested on these very questions:\n")[1].splitlines()[0]
    assert heading.split() == ["pair", "difference"]


@pytest.mark.slow
def test_a_model_with_other_items_is_refused_and_the_others_are_compared_as_the_cure_says(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    frame = make_items().to_dataframe("accuracy").reset_index().rename(columns={"algorithm": "a model"})
    frame["a model"] = frame["a model"].replace("B", "B 7b")
    is_last = frame["a model"] == "C"
    frame.loc[is_last, "question_id"] = "z" + frame["question_id"]
    frame[["a model", "question_id", "accuracy"]].to_csv("samples.csv", index=False)
    assert __main__.main(["samples.csv"]) == 2
    said = capsys.readouterr().err
    assert "'C' has 60 questions, of which 0 are common with any other algorithm" in said
    cure = said.split("or leave it out: ")[1].strip()
    assert __main__.main(["samples.csv", *shlex.split(cure)]) == 0
    assert "B 7b has the higher mean accuracy" in capsys.readouterr().out
