"""Wide tables: a column for each algorithm, run or task."""

import numpy as np
import pandas as pd
import pytest

import xcurves
from refusals import refused
from xcurves.core.doubts import Doubtful
from xcurves.core.refusal import give

RNG = np.random.default_rng(0)


def test_a_column_for_each_algorithm():
    frame = pd.DataFrame({"fold": range(5), "logreg": RNG.random(5), "svm": RNG.random(5)})
    for columns in ("{algorithm}", {"algorithm": ["logreg", "svm"]}):
        scores = xcurves.to_dataarray(frame, "accuracy", run="fold", training=None, columns=columns)
        assert scores.dims == ("algorithm", "run")
        np.testing.assert_array_equal(scores.sel(algorithm="svm"), frame["svm"])


def test_a_column_for_each_fold_as_a_search_of_scikit_learn_has():
    frame = pd.DataFrame(
        {
            "param_C": [1, 10],
            "split0_test_score": [0.1, 0.2],
            "split1_test_score": [0.3, 0.4],
        }
    )
    frame["mean_test_score"] = [0.2, 0.3]
    names = {"algorithm": "param_C", "training": None}
    scores = xcurves.to_dataarray(frame, "score", **names, columns="split{run}_test_score")
    assert scores.run.values.tolist() == [0, 1]
    assert scores.sel(algorithm=10).values.tolist() == [0.2, 0.4]


def test_a_column_for_each_algorithm_and_run_along_training():
    frame = pd.DataFrame(
        {
            "step": [0, 10],
            "sac_seed0": [1.0, 2.0],
            "sac_seed1": [3.0, 4.0],
            "td3_seed0": [5.0, 6.0],
        }
    )
    curves = xcurves.to_dataarray(frame, "return", training="step", columns="{algorithm}_seed{run}")
    assert curves.sel(algorithm="sac", run=1).values.tolist() == [3, 4]
    assert np.isnan(curves.sel(algorithm="td3", run=1)).all()


def test_tasks_and_names_of_its_own():
    frame = pd.DataFrame({"method": ["a", "b"], "iris": [0.5, 0.6], "wine": [0.7, 0.8]})
    options = {
        "algorithm": "method",
        "run": None,
        "training": None,
        "extra": "dataset",
        "columns": "{dataset}",
    }
    scores = xcurves.to_dataarray(frame, "accuracy", **options)
    assert scores.sel(algorithm="b", dataset="wine").item() == 0.8


@pytest.mark.parametrize(
    ("columns", "value", "kind", "cure"),
    [
        ("x{run}", "x{run}", xcurves.Missing, "The frame has 'fold', 'a', 'b'"),
        ("ab", "ab", xcurves.Missing, "It has 'fold', 'a', 'b'. Did you mean 'b'?"),
        ("a,b_,b", "b_", xcurves.Missing, "It has 'fold', 'a', 'b'. Did you mean 'b'?"),
        ({"run": ["a", "c"]}, "c", xcurves.Missing, "It has 'fold', 'a', 'b'"),
        ({"run": ["a", "a"]}, {"run": ["a", "a"]}, xcurves.Refusal, "Leave one out"),
        ({"run": 5}, {"run": 5}, xcurves.WrongType, "Try '{algorithm}'"),
        ({5: ["a", "b"]}, {5: ["a", "b"]}, xcurves.WrongType, "Try '{algorithm}'"),
        ({"run": "a"}, {"run": "a"}, xcurves.WrongType, "Try '{algorithm}'"),
        ("{fold}", "{fold}", xcurves.Refusal, "Rename it, or drop it: frame.drop(columns='fold')"),
    ],
)
def test_what_does_not_fit_is_said(columns, value, kind, cure):
    frame = pd.DataFrame({"fold": [0, 1], "a": [1.0, 2.0], "b": [3.0, 4.0]})
    with refused("columns", value, cure, kind=kind):
        xcurves.to_dataarray(frame, "score", run="fold", training=None, columns=columns)


WIDE = pd.DataFrame({"dataset": ["x", "y"], "svm": [0.1, 0.2], "tree": [0.3, 0.4]})


@pytest.mark.parametrize("names", [("svm", "tree"), np.array(["svm", "tree"]), pd.Series(["svm", "tree"])])
def test_names_of_columns_may_be_any_list(names):
    curves = WIDE.curves.to_dataarray(columns={"algorithm": names})
    assert curves.sel(algorithm="tree").squeeze().to_numpy().tolist() == [0.3, 0.4]


def test_an_algorithm_may_be_called_as_scores_are():
    frame = WIDE.rename(columns={"svm": "score"})
    for given in ({}, {"value": "score"}, {"value": "acc"}):
        curves = frame.curves.to_dataarray(columns="score,tree", **given)
        assert curves.sel(algorithm="score").squeeze().to_numpy().tolist() == [0.1, 0.2]
        assert curves.name == given.get("value", "score")


def test_a_column_called_as_scores_are_is_kept_under_another_name_of_them():
    frame = WIDE.assign(score=[7.0, 8.0])
    with refused("columns", "svm,tree", cure=give(value="measured")) as caught:
        frame.curves.to_dataarray(columns="svm,tree")
    (call,) = caught.value.cure.calls
    curves = frame.curves.to_dataarray(columns="svm,tree", **dict(call.options))
    assert curves.sel(algorithm="tree").squeeze().to_numpy().tolist() == [0.3, 0.4]


@pytest.mark.parametrize("value", [["acc"], 5, None, pd.Series(["acc"])])
def test_the_name_of_the_scores_is_a_text(value):
    with refused("value", kind=TypeError, cure=give(value="score")):
        WIDE.curves.to_dataarray(value, columns="svm,tree")


def test_a_question_about_a_wide_table_repeats_what_was_said_of_it():
    frame = pd.concat([WIDE, WIDE.assign(svm=[0.5, 0.6])], ignore_index=True).assign(machine=list("ppqq"), epoch=9)
    with pytest.raises(Doubtful) as caught:
        frame.curves.to_dataarray("acc", columns="svm,tree", training="epoch", higher_is_better=False)
    calls = [str(choice.call) for choice in caught.value.choices]
    assert calls
    for call in calls:
        curves = eval(call, {"frame": frame})
        assert curves.attrs["higher_is_better"] == 0
        assert curves.name == "acc"
        assert curves.sel(algorithm="tree").max() == 0.4


def test_rows_with_neither_score_nor_training_are_left_out():
    frame = pd.DataFrame(
        {
            "algorithm": "a",
            "run": 0,
            "step": [0, 1, None],
            "loss": [1.0, 2.0, None],
            "epoch": 1,
        }
    )
    assert xcurves.to_dataarray(frame, "loss", training="step").sizes["training"] == 2


def test_several_columns_of_the_algorithm_are_joined():
    frame = pd.DataFrame(
        {
            "opt": ["adam", "muon"],
            "lr": [1e-3, 3e-4],
            "seed": 0,
            "step": 0,
            "loss": [1.0, 2.0],
        }
    )
    losses = xcurves.to_dataarray(frame, "loss", algorithm=["opt", "lr"], run="seed", training="step")
    assert losses.algorithm.values.tolist() == [
        "opt=adam, lr=0.001",
        "opt=muon, lr=0.0003",
    ]
    with refused("algorithm", "ada", cure="It has 'opt', 'lr', 'seed', 'step', 'loss'", kind=xcurves.Missing):
        xcurves.to_dataarray(frame, "loss", algorithm=["ada", "lr"], run="seed", training="step")


def test_several_scores_of_a_wide_table():
    names = [f"{algorithm}_{score}" for algorithm in ("svm", "random_forest") for score in ("acc", "acc_top5")]
    frame = pd.DataFrame({"fold": range(3), **{name: RNG.random(3) for name in names}})
    options = {"run": "fold", "training": None}
    scores = xcurves.to_dataset(frame, ["acc", "acc_top5"], **options, columns="{algorithm}_{value}")
    for algorithm in ("svm", "random_forest"):
        for score in ("acc", "acc_top5"):
            np.testing.assert_array_equal(scores[score].sel(algorithm=algorithm), frame[f"{algorithm}_{score}"])
    each = {"acc": "{algorithm}_acc", "acc_top5": {"algorithm": ["svm_acc_top5"]}}
    named = xcurves.to_dataset(frame, ["acc", "acc_top5"], **options, columns=each)
    np.testing.assert_array_equal(named["acc"].sel(algorithm="svm"), frame["svm_acc"])
    np.testing.assert_array_equal(named["acc_top5"].sel(algorithm="svm_acc_top5"), frame["svm_acc_top5"])
    one = xcurves.to_dataset(frame[["fold", "svm_acc"]], ["acc"], **options, columns="{algorithm}_acc")
    assert one["acc"].algorithm.item() == "svm"


def test_a_score_that_fails_is_no_score_that_is_absent():
    frame = pd.DataFrame({"fold": [0, 1], "a_f1": [0.5, None], "b_f1": [0.5, 0.6], "b_auc": [0.5, 0.6]})
    options = {"run": "fold", "training": None, "missing_scores": "failed"}
    scores = xcurves.to_dataset(frame, ["f1", "auc"], **options, columns="{algorithm}_{value}")
    assert scores["f1"].sel(algorithm="a").values.tolist() == [0.5, -np.inf]
    assert np.isnan(scores["auc"].sel(algorithm="a")).all()
    assert scores.color_index.values.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("columns", "value", "kind", "cure"),
    [
        ("{algorithm}", "{algorithm}", xcurves.Refusal, "Say it with a part {value}"),
        ("{algorithm}-{value}", "{algorithm}-acc", xcurves.Missing, "The frame has 'run', 'a_f1', 'b_acc'"),
        ({"algorithm": ["a_f1"]}, {"algorithm": ["a_f1"]}, xcurves.Refusal, "Try '{algorithm}_{value}'"),
        ({"f1": 3, "acc": "{algorithm}_acc"}, 3, xcurves.WrongType, "Try '{algorithm}'"),
    ],
)
def test_what_does_not_say_the_score_of_a_column_is_refused(columns, value, kind, cure):
    frame = pd.DataFrame({"run": [0, 1], "a_f1": [1.0, 2.0], "b_acc": [3.0, 4.0]})
    with refused("columns", value, cure, kind=kind):
        xcurves.to_dataset(frame, ["f1", "acc"], training=None, columns=columns)
