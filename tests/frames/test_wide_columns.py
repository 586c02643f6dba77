"""Wide tables: which part of the names of columns is the algorithm, the run or the score, and what is asked."""

import shlex
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layers import every
from xcurves.__main__ import main
from xcurves.core.direction import looks_like_score
from xcurves.frames.finder import read_frame
from xcurves.frames.wide import values_in
from xcurves.frames.wide_columns import fitting_pattern
from xcurves.frames.wide_tables import wide_pattern


def names_score(name):
    return looks_like_score(name) or name == "test"


FITS = {
    "{algorithm}_accuracy": (["svm_accuracy", "random_forest_accuracy"], ("accuracy",)),
    "{value}_{algorithm}": (
        ["acc_svm", "acc_random_forest", "loss_svm", "loss_random_forest"],
        ("acc", "loss"),
    ),
    "{algorithm}/{value}": (
        ["svm/acc", "svm/f1", "tree/acc", "tree/f1"],
        ("acc", "f1"),
    ),
    "{algorithm}_{value}": (
        ["svm_test_acc", "svm_test_f1", "tree_test_acc", "tree_test_f1"],
        ("test_acc", "test_f1"),
    ),
    "{algorithm}_seed{run}": (["sgd_seed0", "sgd_seed1", "adam_seed0"], ()),
    "loss_seed{run}": (["loss_seed0", "loss_seed1"], ("loss",)),
    "seed{run}": (["seed0", "seed1"], ()),
    "split{run}_{value}": (
        ["split0_acc", "split1_acc", "split0_f1", "split1_f1"],
        ("acc", "f1"),
    ),
    "fold {run}": (["fold 1", "fold 2"], ()),
    "{algorithm}": (["svm", "tree"], ()),
    "{value}": (["accuracy", "f1"], ("accuracy", "f1")),
}


@pytest.mark.parametrize("pattern", FITS)
def test_the_pattern_of_names_is_found(pattern):
    names, scores = FITS[pattern]
    found = fitting_pattern(names, names_score)
    assert found == (pattern, scores)
    assert fitting_pattern(names[::-1], names_score).text == pattern


@pytest.mark.parametrize(
    "names",
    [
        ["svm", "accuracy"],
        ["seed0", "fold1"],
        ["a_seed0_b_seed1", "svm_loss"],
        ["seed0_seed1", "seed1_acc"],
    ],
)
def test_names_that_fit_no_one_pattern_have_none(names):
    found = fitting_pattern(names, names_score)
    assert found is None or found.text == "{algorithm}"


WORDS = st.text("gkvxz", min_size=1, max_size=6)


@given(
    algorithms=st.lists(WORDS, min_size=2, max_size=4, unique=True),
    scores=st.lists(st.sampled_from(["accuracy", "f1", "loss"]), min_size=2, max_size=3, unique=True),
    runs=st.sampled_from([(), (0, 1), (3, 10, 7)]),
    pattern=st.sampled_from(["{algorithm}_{value}", "{value}/{algorithm}", "{algorithm}.{value}"]),
)
def test_a_grid_of_names_is_taken_apart_as_it_was_made(algorithms, scores, runs, pattern):
    whole = pattern + "_seed{run}" if runs else pattern
    grid = product(algorithms, scores, runs or [0])
    names = [whole.format(algorithm=algorithm, value=score, run=run) for algorithm, score, run in grid]
    assert fitting_pattern(names, names_score) == (whole, tuple(scores))


def table(names, **others):
    """Return a table whose columns rise by .1 from the first to the last."""
    n = len(next(iter(others.values())))
    noise = np.random.default_rng(0).normal(0, 0.01, (n, len(names)))
    return pd.DataFrame(others).assign(**dict(zip(names, (noise + 0.1 * np.arange(1, 1 + len(names))).T, strict=True)))


DATASETS = [f"d{number}" for number in range(10)]
ASKED = {
    "one metric": (
        table(["svm_accuracy", "tree_accuracy"], dataset=DATASETS),
        "tree over svm",
    ),
    "two metrics": (
        table(["svm_acc", "svm_f1", "tree_acc", "tree_f1"], dataset=DATASETS),
        "tree over svm",
    ),
    "metric first": (
        table(["acc_tree", "acc_random_forest"], fold=range(10)),
        "random_forest over tree",
    ),
    "a metric among them": (
        table(["svm", "accuracy"], dataset=DATASETS),
        "accuracy over svm",
    ),
    "runs of a metric": (
        pd.concat(
            table([f"loss_seed{run}" for run in range(4)], step=range(3)).assign(optimizer=name)
            for name in ("sgd", "adam")
        ),
        "adam",
    ),
}


@pytest.mark.plain(1)
@pytest.mark.parametrize("name", every(2, [(name,) for name in ASKED]))
def test_where_columns_bear_the_name_of_a_metric_it_asks_and_the_cure_works(name, tmp_path, monkeypatch, capsys):
    frame, said = ASKED[name]
    monkeypatch.chdir(tmp_path)
    frame.to_csv("wide.csv", index=False)
    assert main(["wide.csv"]) == 2
    err = capsys.readouterr().err
    command = shlex.split(err.rpartition("python -m xcurves ")[2], comments=True)
    assert command[0] == "wide.csv"
    assert main([*command, "--n-resamples", "99"]) == 0
    assert said in capsys.readouterr().out


def test_columns_of_algorithms_and_runs_are_guessed_and_said():
    frame = table(
        [f"{name}_seed{run}" for name in ("sgd", "adam") for run in range(3)],
        step=range(5),
    )
    read = read_frame(frame)
    assert read.said.endswith("; columns are {algorithm}_seed{run}")
    assert (read.algorithm, read.run, read.training, read.score, read.doubt) == (
        *("algorithm", "run", "step", "score"),
        None,
    )
    chosen = read.frame.query("algorithm == 'adam' and run == 2").sort_values("step")["score"]
    np.testing.assert_array_equal(chosen, frame["adam_seed2"])
    of_runs = read_frame(table(["fold0", "fold1"], method=["a", "b"], step=[1, 1]))
    assert (of_runs.algorithm, of_runs.run, of_runs.matched, of_runs.doubt) == ("method", "fold", "fold", None)


def test_columns_of_logs_are_no_wide_table():
    frame = table(["train_loss", "val_loss", "train_acc", "val_acc"], epoch=range(5))
    assert wide_pattern(frame, {})[0] is None
    assert wide_pattern(table(["svm_mean", "svm_std"], dataset=DATASETS), {})[0] is None
    named = table(["svm_acc", "tree_acc"], algorithm=DATASETS)
    assert wide_pattern(named, {})[0] is None


@pytest.mark.slow
def test_several_scores_of_a_wide_table_in_one_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = table(["svm_acc", "svm_loss", "tree_acc", "tree_loss"], fold=range(8))
    frame.to_csv("wide.csv", index=False)
    assert values_in(frame, "{algorithm}_{value}") == ["acc", "loss"]
    given_ = ["wide.csv", "--columns", "{algorithm}_{value}", "--n-resamples", "99"]
    assert main([*given_, "--value", "loss", "--value", "acc"]) == 0
    out = capsys.readouterr().out
    assert "svm below tree" in out.partition("== acc ==")[0]
    assert "tree over svm" in out.partition("== acc ==")[2]
    assert main(given_) == 0
    assert "score = acc (not loss)" in capsys.readouterr().out
    assert main([*given_[:1], "--columns", "{algorithm}", "--value", "a", "--value", "b"]) == 2
    assert "Say it with a part {value}, such as '{algorithm}_{value}'" in capsys.readouterr().err
