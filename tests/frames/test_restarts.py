"""Runs whose step falls: restarted, copied, counted anew, newest first, or in no order."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import xcurves  # noqa: F401  # registers the accessor
from refusals import refused
from xcurves.core.doubts import Doubtful
from xcurves.core.refusal import call


def run_of(steps, scores=None, **columns):
    """Return the rows of one run; scores are their places."""
    return pd.DataFrame(
        {
            "algorithm": "a",
            "run": 0,
            "training": steps,
            "y": np.arange(len(steps), dtype=float) if scores is None else scores,
            **columns,
        }
    )


def read(frame, **how):
    """Return what each level has, of one run."""
    curve = frame.curves.to_dataarray("y", **how).squeeze(["algorithm", "run"])
    curve = curve.dropna("training")
    return dict(zip(curve.training.values.tolist(), curve.values.tolist(), strict=True))


def purged(steps, scores):
    """Return what TensorBoard keeps of events in this order: each one removes all at its step or above."""
    kept = {}
    for step, score in zip(steps, scores, strict=True):
        kept = {known: value for known, value in kept.items() if known < step}
        kept[step] = score
    return kept


def test_a_restart_takes_the_rows_from_its_first_step_on():
    frame = run_of([0, 10, 20, 30, 20, 25, 35])
    curves = frame.curves.to_dataarray("y")
    assert curves.training.values.tolist() == [0, 10, 20, 25, 35]
    assert curves.squeeze().values.tolist() == [0, 1, 4, 5, 6]
    assert curves.attrs["history"] == (
        "to_dataarray(duplicates='purge'): 1 run restarted at a lower level, which leaves out 2 rows of before"
    )


@pytest.mark.slow
@given(st.lists(st.integers(0, 8), min_size=1, max_size=12))
def test_purge_keeps_what_tensorboard_keeps(steps):
    scores = [float(place) for place in range(len(steps))]
    assert read(run_of(steps), duplicates="purge") == purged(steps, scores)


def test_runs_are_judged_apart_and_rows_of_runs_may_be_mixed():
    restarted = run_of([0, 10, 20, 30, 20, 25, 30])
    whole = run_of([0, 10, 20, 25, 30]).assign(run=1)
    mixed = pd.concat([restarted, whole]).sort_index(kind="stable")
    curves = mixed.curves.to_dataarray("y").squeeze("algorithm")
    assert curves.sel(run=0).values.tolist() == [0, 1, 4, 5, 6]
    assert curves.sel(run=1).values.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("again", [[20], [20, 10, 30], [5, 15]])
def test_a_fall_that_is_no_restart_for_sure_is_refused_and_each_cure_works(again):
    steps = [10, 20, 30, *again]
    with refused("frame", cure="frame.curves.to_dataarray(value='y', ", names="falls in 1 run, first from") as caught:
        run_of(steps).curves.to_dataarray("y")
    said = str(caught.value)
    before, after = steps[2], steps[3]
    assert f"from ('a', 0, {before}) to ('a', 0, {after})" in said
    calls = list(map(str, caught.value.cure.calls))
    assert "duplicates='purge'" in said  # a run that ended soon after it began again has one row of it
    for line in calls:
        assert eval(line, {"frame": run_of(steps)}).size


def test_a_clock_that_goes_back_makes_no_restart():
    steps = [0, 10, 20, 10, 30]
    assert read(run_of(steps, wall_time=[1, 2, 3, 4, 5.0])) == {0: 0, 10: 3, 30: 4}
    text = [f"2026-01-0{day}" for day in (1, 2, 3, 4, 5)]
    assert read(run_of(steps, created_at=text)) == {0: 0, 10: 3, 30: 4}
    dates = pd.to_datetime(pd.Series(text)) - pd.to_timedelta([0, 0, 0, 9, 0], unit="D")
    with refused(
        "frame",
        cure="frame.curves.to_dataarray(value='y', ",
        names=r"(?s)falls in 1 run.*duplicates='purge'",
    ):
        run_of(steps, at=dates).curves.to_dataarray("y")
    # Of several clocks one may count from the restart.
    both = run_of(steps, wall_time=[1, 2, 3, 4, 5], elapsed=[0, 1, 2, 0, 1])
    assert read(both) == {0: 0, 10: 3, 30: 4}


@pytest.mark.parametrize(
    ("steps", "going_on"),
    [
        ([1, 2, 3, 1, 2, 3], [1, 2, 3, 4, 5, 6]),
        ([0, 1, 2, 0, 1], [0, 1, 2, 3, 4]),
        ([0, 10, 20, 0, 10, 20, 0, 10], [0, 10, 20, 30, 40, 50, 60, 70]),
        ([5, 10, 5], [5, 10, 15]),
    ],
)
def test_a_fall_to_the_first_level_is_asked_and_both_answers_work(steps, going_on):
    frame = run_of(steps)
    with refused("frame", cure="frame.curves.to_dataarray(value='y', ", names="their first level") as caught:
        frame.curves.to_dataarray("y")
    said = str(caught.value)
    assert f"runs began again there, runs up to {max(steps)}" in said
    assert f"they go on counting, runs up to {going_on[-1]}" in said
    scores = [float(place) for place in range(len(steps))]
    assert read(frame, resumed=True) == dict(zip(going_on, scores, strict=True))
    assert read(frame, duplicates="purge") == purged(steps, scores)


def test_a_run_that_went_on_may_be_restarted_later():
    frame = run_of([1, 2, 3, 1, 2, 3, 2, 3, 4])
    assert read(frame, resumed=True) == {1: 0, 2: 1, 3: 2, 4: 3, 5: 6, 6: 7, 7: 8}


def test_rows_newest_first_are_sorted_if_a_clock_says_so_too():
    frame = run_of([30, 20, 10], time=[3.0, 2.0, 1.0])
    assert read(frame) == {10: 2, 20: 1, 30: 0}
    with refused("frame", cure="frame.curves.to_dataarray(value='y', ", names="duplicates='last'"):
        run_of([30, 20, 10]).curves.to_dataarray("y")
    assert read(run_of([30, 20, 10]), duplicates="last") == {10: 2, 20: 1, 30: 0}
    with refused("frame", cure="frame.curves.to_dataarray(value='y', ", names="falls in 1 run"):
        run_of([30, 20, 10], time=[1.0, 2.0, 3.0]).curves.to_dataarray("y")


def test_equal_rows_are_one_and_counted():
    frame = run_of([0, 1, 2], [5.0, 6.0, 7.0])
    for doubled in (pd.concat([frame, frame]), frame.loc[[0, 0, 1, 1, 2, 2]]):
        curves = doubled.curves.to_dataarray("y")
        assert curves.squeeze().values.tolist() == [5, 6, 7]
        assert "left out 3 rows equal to another in every column" in curves.attrs["history"]
    # A run that begins with an equal score is no copy.
    anew = run_of([0, 1, 2, 0, 1, 2], [0.0, 0, 0, 0, 1, 2])
    with refused("frame", cure="frame.curves.to_dataarray(value='y', ", names="their first level"):
        anew.curves.to_dataarray("y")
    # Without runs and levels equal rows are equal results.
    with refused("frame", cure="frame.curves.to_dataarray(value='y', ", names="1 row repeats"):
        run_of([0, 0], [1.0, 1.0]).curves.to_dataarray("y", run=None, training=None)


def test_other_repeats_ask_and_nothing_is_averaged():
    with refused("frame", cure="duplicates='mean'", kind=Doubtful) as caught:
        run_of([0, 10, 10, 20]).curves.to_dataarray("y")
    assert str(caught.value).startswith("1 row repeats a (algorithm, run, training)")


@pytest.mark.parametrize("column", ["epoch", "env_step", "wall_time", "date"])
def test_steps_and_clocks_are_never_proposed_as_labels(column):
    frame = run_of([0, 1, 0, 1, 0, 1], **{column: [1, 1, 2, 2, 3, 3]})
    with refused("frame", cure="frame.curves.to_dataarray(value='y', ", names="falls in 1 run") as caught:
        frame.curves.to_dataarray("y")
    assert column not in str(caught.value)


def test_a_column_that_changes_where_the_step_falls_is_named():
    frame = run_of([0, 10, 20, 10, 20, 30], network=["cnn"] * 3 + ["mlp"] * 3)
    with refused("frame", kind=Doubtful) as caught:
        frame.curves.to_dataarray("y")
    assert str(caught.value).startswith("column 'network' ('cnn', 'mlp') is not used, and training column")
    tasks, algorithms, again = (eval(str(call), {"frame": frame}) for call in caught.value.cure.calls)
    assert tasks["network"].values.tolist() == ["cnn", "mlp"]
    assert algorithms.algorithm.values.tolist() == ["algorithm=a, network=cnn", "algorithm=a, network=mlp"]
    assert again.squeeze().values.tolist() == [0, 3, 4, 5]
    assert read(frame, duplicates="purge") == {0: 0, 10: 3, 20: 4, 30: 5}


def test_rows_without_the_score_are_no_repeats():
    frame = pd.DataFrame(
        {
            "algorithm": "a",
            "run": [0, 0, 1, 1],
            "training": 1,
            "score": [5, None, 6, None],
        }
    )
    curves = frame.curves.to_dataarray("score")
    assert curves.squeeze().values.tolist() == [5, 6]
    # Nor do they fall.
    mixed = run_of([0, 5, 10, 5, 20], [1.0, np.nan, 2.0, np.nan, 3.0])
    assert read(mixed) == {0: 1, 10: 2, 20: 3}


def test_negative_steps_are_refused_with_the_first_two_rows():
    frame = run_of([0, -1000, -2000, -3000], epoch=[1, 2, 3, 4])
    with refused("frame", kind=Doubtful) as caught:
        frame.curves.to_dataarray("y")
    assert "'training' is negative in 3 rows, first ('a', 0, -1000), ('a', 0, -2000)" in str(caught.value)
    epochs, first, last = (eval(str(call), {"frame": frame}) for call in caught.value.cure.calls)
    assert epochs.training.values.tolist() == [1, 2, 3, 4]
    assert (first.item(), last.item()) == (0, 3)
    frame["training"] = frame["training"].abs()
    assert read(frame) == {0: 0, 1000: 1, 2000: 2, 3000: 3}


def test_every_run_of_many_is_as_by_itself():
    rng = np.random.default_rng(0)
    runs = []
    for run in range(40):
        begin = np.arange(rng.integers(3, 9))
        again = np.arange(rng.integers(1, len(begin) - 1), 9 + rng.integers(3))
        steps = np.concatenate([begin, again])
        runs.append(run_of(steps, rng.normal(size=len(steps))).assign(run=run))
    together = pd.concat(runs).curves.to_dataarray("y").squeeze("algorithm")
    for run, rows in enumerate(runs):
        expected = purged(rows["training"].tolist(), rows["y"].tolist())
        alone = together.sel(run=run).dropna("training")
        xr.testing.assert_equal(
            alone.reset_coords(drop=True),
            xr.DataArray(list(expected.values()), {"training": list(map(float, expected))}),
        )


def test_rows_are_told_apart_by_the_column_with_the_fewest_labels():
    rows = [(f"j{job}", ("a", "b")[job % 2], ("imdb", "sst")[job // 2 % 2], job // 4, epoch)
            for job in range(12) for epoch in (1, 2)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["job", "model", "data", "seed", "epoch"])
    with refused("frame", cure=call("frame.curves.to_dataarray", extra="data"), names="^column 'data' .* is not used"):
        frame.assign(acc=np.arange(24.0)).curves.to_dataarray()


def test_labels_that_runs_are_spread_over_unevenly_are_asked():
    """Seven runs of one on the first data and one on the other, of another algorithm the other way round."""
    frame = pd.DataFrame({"optimizer": np.repeat(["adam", "sgd"], 8), "seed": [*range(8)] * 2})
    frame["config/data"] = ["imdb", *["sst"] * 7, *["imdb"] * 7, "sst"]
    with refused("frame", cure=call("frame.curves.to_dataarray", extra="config/data"), names="config/data names tasks"):
        frame.assign(acc=np.arange(16.0)).curves.to_dataarray()
