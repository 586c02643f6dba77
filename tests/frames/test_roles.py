"""Which columns are algorithm, run, training, tasks and score, by names that public logs have."""

import numpy as np
import pandas as pd
import pytest

import xcurves
from refusals import refused
from xcurves.core.names import dim_of
from xcurves.frames.finder import read_frame


def table(**columns):
    """Return two rows of each combination of labels; a column that is a float varies."""
    rng = np.random.default_rng(0)
    labels = {name: value for name, value in columns.items() if value is not float}
    frame = pd.MultiIndex.from_product(labels.values(), names=labels).to_frame(index=False)
    for name, value in columns.items():
        if value is float:
            frame[name] = rng.normal(size=len(frame))
    return frame


FOUND = {  # the columns, and what they are: algorithm, run, training, tasks, score
    "issue": (
        {
            "algo": ["a", "b"],
            "seed": [1, 2],
            "env_steps": [0, 5],
            "env": ["x", "y"],
            "episodic_return": float,
        },
        ("algo", "seed", "env_steps", ("env",), "episodic_return"),
    ),
    "ids": (
        {
            "env_id": ["x", "y"],
            "model_name": ["a", "b"],
            "run_id": [3, 4],
            "global_step": [0, 1],
            "val_loss": float,
        },
        ("model_name", "run_id", "global_step", ("env_id",), "val_loss"),
    ),
    "spinning up": (
        {"agent": ["a", "b"], "seed": [1, 2], "TotalEnvInteracts": [10, 20]}
        | dict.fromkeys(["AverageEpRet", "StdEpRet", "LossPi", "Time"], float),
        ("agent", "seed", "TotalEnvInteracts", (), "AverageEpRet"),
    ),
    "keras": (
        {"optimizer": ["adam", "sgd"], "fold": [0, 1], "epoch": [1, 2]}
        | dict.fromkeys(["accuracy", "loss", "val_accuracy", "val_loss"], float),
        ("optimizer", "fold", "epoch", (), "val_accuracy"),
    ),
    "steps before epochs": (
        {
            "method": ["a", "b"],
            "trial": [1, 2],
            "epoch": [1],
            "step": [5, 6],
            "train_acc": float,
            "eval_loss": float,
        },
        ("method", "trial", "step", (), "eval_loss"),
    ),
    "no training": (
        {"framework": ["a", "b"], "fold": [1, 2], "task": ["x", "y"], "auc": float},
        ("framework", "fold", None, ("task",), "auc"),
    ),
    "one text": (
        {"variant": ["a", "b"], "seed": [1, 2], "step": [1, 2], "z": float},
        ("variant", "seed", "step", (), "z"),
    ),
    "constant names are passed over": (
        {
            "model": ["m"],
            "optimizer": ["a", "b"],
            "seed": [1, 2],
            "step": [1, 2],
            "loss": float,
        },
        ("optimizer", "seed", "step", (), "loss"),
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_columns_are_found_by_their_names(case):
    columns, wanted = FOUND[case]
    read = read_frame(table(**columns))
    assert (read.algorithm, read.run, read.training, read.tasks, read.score) == wanted
    assert read.doubt is None
    for column in filter(None, [*wanted[:3], *wanted[3], wanted[4]]):
        assert f" = {column}" in read.said


def test_what_is_given_is_not_guessed():
    frame = table(algo=["a", "b"], seed=[1, 2], step=[0, 1], size=["s", "l"], loss=float)
    given = {"algorithm": "size", "tasks": ["algo"], "training": "step"}
    read = read_frame(frame, given)
    assert (read.algorithm, read.tasks, read.run) == ("size", ("algo",), "seed")
    with refused(
        "run", "sede", cure="It has 'algo', 'seed', 'step', 'size', 'loss'. Did you mean", kind=xcurves.Missing
    ):
        read_frame(frame, {"run": "sede"})


def test_two_names_that_both_vary_are_not_chosen_between():
    frame = table(model=["m", "n"], optimizer=["a", "b"], seed=[1, 2], step=[1, 2], loss=float)
    assert read_frame(frame).doubt.unknown == {"algorithm": ["model", "optimizer"]}
    both = read_frame(frame, {"algorithm": ["optimizer", "model"]})
    assert both.algorithm == "optimizer, model"
    assert set(both.frame[both.algorithm]) == {f"optimizer={o}, model={m}" for o in "ab" for m in "mn"}


def test_two_names_of_the_same_runs_are_one():
    frame = table(algo=["a", "b"], seed=[1, 2], step=[1, 2], loss=float)
    assert read_frame(frame.assign(run_id="r" + frame["seed"].astype(str))).run == "seed"


def test_numbers_are_joined_as_people_write_them():
    frame = table(lr=[3e-4, 1e-5], opt=["muon"], seed=[1, 2], step=[1, 2], loss=float)
    read = read_frame(frame, {"algorithm": ["lr", "opt"]})
    assert sorted(read.frame[read.algorithm].unique()) == [
        "lr=0.0003, opt=muon",
        "lr=1e-05, opt=muon",
    ]


def test_rows_are_runs_where_scores_have_neither():
    frame = table(method=["a", "b"], row=[0, 1, 2], score=float).drop(columns="row")
    read = read_frame(frame)
    assert (read.run, read.training, read.doubt) == ("run", None, None)
    assert read.frame.groupby("method")["run"].agg(list).to_dict() == {
        "a": [0, 1, 2],
        "b": [0, 1, 2],
    }


def test_what_is_missing_is_said_with_what_it_could_be():
    frame = table(kind=["a", "b"], shape=["x", "y"], step=[1, 2], alpha=float, beta=float)
    read = read_frame(frame)
    assert read.doubt.unknown == {
        "algorithm": ["kind", "shape"],
        "run": ["kind", "shape"],
        "score": ["alpha", "beta"],
    }


@pytest.mark.parametrize(
    ("name", "dim"),
    [
        ("env_steps", "training"),
        ("Seed", "run"),
        ("dataset_name", "task"),
        ("algo", "algorithm"),
        ("model_size", None),
    ],
)
def test_a_name_alone_says_a_dim(name, dim):
    assert dim_of(name) == dim


def test_a_column_for_each_algorithm_is_read_where_all_others_name_runs_or_tasks():
    wide = table(dataset=["x", "y"], fold=[0, 1, 2], logreg=float, svm=float)
    read = read_frame(wide)
    assert (read.algorithm, read.run, read.training, read.tasks, read.score) == (
        *("algorithm", "fold", None),
        *(("dataset",), "score"),
    )
    assert read.said.endswith("columns are the algorithms: logreg, svm")
    assert sorted(read.frame.query("algorithm == 'svm'")["score"]) == sorted(wide["svm"])


@pytest.mark.parametrize("columns", [["loss", "f1"], ["mean", "svm"], ["val_accuracy", "svm"]])
def test_columns_called_like_scores_are_no_algorithms(columns):
    read = read_frame(table(fold=[0, 1, 2], **dict.fromkeys(columns, float)))
    assert "algorithm" in read.doubt.unknown


@pytest.mark.parametrize(("column", "name", "said"), [("metric", "value", "val_loss"), ("tag", "reward", "reward")])
def test_scores_of_one_metric_are_called_like_it_where_their_own_name_says_nothing(column, name, said):
    rows = [(a, r, "val_loss", r + 2 * (a == "b")) for a in "ab" for r in range(4)]
    frame = pd.DataFrame(rows, columns=["algorithm", "run", column, name])
    result = frame.curves.to_dataarray(training=None).curves.pairwise(n_resamples=99, rng=0)
    assert f"mean {said}" in result.curves.summary()
