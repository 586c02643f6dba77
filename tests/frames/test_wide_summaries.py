"""Averages, ranks and totals of a wide table are no tasks and no algorithms."""

import warnings

import numpy as np
import pandas as pd
import pytest

import xcurves  # noqa: F401  # registers the accessor
from xcurves.frames.finder import read_frame

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "dataset": list("pqrstu"),
        **{name: RNG.uniform(1, 9, 6).round(2) for name in ("svm", "tree", "knn")},
    }
)
SCORES = ["svm", "tree", "knn"]


def with_last(label, row):
    last = pd.DataFrame([{"dataset": label, **dict(zip(SCORES, row, strict=True))}])
    return pd.concat([TABLE, last], ignore_index=True)


def tasks_of(frame):
    curves = frame.curves.to_dataarray(
        "score",
        algorithm="algorithm",
        run=None,
        training=None,
        extra="dataset",
        columns={"algorithm": SCORES},
    )
    return curves.dataset.values.tolist()


MEANS = TABLE[SCORES].mean().round(3).tolist()


@pytest.mark.parametrize(
    ("label", "row"),
    [
        ("Average", [1.0, 2.0, 3.0]),
        ("mean rank", [1.0, 2.0, 3.0]),
        ("Avg.", MEANS),
        ("Std", [0.5, 0.25, 0.75]),
        ("W/T/L", ["3/0/3", "2/1/3", "1/0/5"]),
        ("v", MEANS),  # by its numbers alone
        ("v", [round(mean, 1) for mean in MEANS]),
    ],
)
def test_a_last_row_that_sums_up_the_others_is_left_out_and_said(label, row):
    with pytest.warns(UserWarning, match="left out, as they sum up other rows"):
        assert tasks_of(with_last(label, row)) == list("pqrstu")


def test_several_last_rows_are_left_out_together():
    frame = with_last("Average", MEANS)
    rank = {"dataset": "Rank", **dict.fromkeys(SCORES, 2.0)}
    frame = pd.concat([frame, pd.DataFrame([rank])], ignore_index=True)
    with pytest.warns(UserWarning, match="other rows: 'Average', 'Rank'"):
        assert tasks_of(frame) == list("pqrstu")


@pytest.mark.parametrize(
    "row",
    [
        [MEANS[0], MEANS[1], MEANS[2] + 0.01],  # one is no mean
        [1.0, 2.0, 3.0],
    ],
)
def test_other_last_rows_stay(row):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tasks_of(with_last("v", row)) == list("pqrstuv")


def test_equal_rows_and_few_rows_are_no_means():
    same = TABLE.assign(svm=1.0, tree=2.0, knn=3.0)
    few = pd.concat([TABLE.iloc[:2], with_last("v", TABLE[SCORES][:2].mean())[-1:]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(tasks_of(same)) == 6
        assert len(tasks_of(few)) == 3


@pytest.mark.parametrize("name", ["average", "Avg", "mean", "overall"])
def test_a_column_that_sums_up_the_others_is_no_algorithm(name):
    frame = TABLE.assign(**{name: TABLE[SCORES].mean(axis=1)})
    reading = read_frame(frame, {})
    assert reading.frame["algorithm"].unique().tolist() == SCORES
    assert f"without {name}" in reading.said
