"""Columns that nobody named, and data that were copied: said by name."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from places import SHARED
from refusals import refused
from xcurves.core.doubts import Doubtful


def networks(rows_of=("cnn", "mlp", "resnet")) -> pd.DataFrame:
    """Return three networks of each game and agent, each with two seeds."""
    rng = np.random.default_rng(0)
    rows = [
        (game, agent, network, seed, step, rng.normal())
        for game in ("pong", "qbert")
        for agent in ("dqn", "c51")
        for network in rows_of
        for seed in range(2)
        for step in range(5)
    ]
    return pd.DataFrame(rows, columns=["game", "agent", "network", "seed", "step", "return"])


NAMES = {"algorithm": "agent", "run": "seed", "training": "step"}


def test_rows_that_repeat_because_of_a_column_name_it_and_its_labels():
    with refused("frame", kind=Doubtful) as caught:
        networks().curves.to_dataarray("return", **NAMES, extra="game")
    said = "column 'network' ('cnn', 'mlp', 'resnet') is not used, and training column 'step' falls in 8 runs"
    assert str(caught.value).startswith(said)
    tasks, *_ = caught.value.choices
    assert tasks.compares == "2 algorithms, 6 tasks, 2 runs each"
    curves = eval(str(tasks.call), {"frame": networks()})
    assert curves.sizes == {
        "game": 2,
        "network": 3,
        "algorithm": 2,
        "run": 2,
        "training": 5,
    }
    assert curves.notnull().all()


def test_the_cure_by_counting_keeps_networks_apart():
    frame = networks().drop(columns="seed")
    with refused("frame", cure="If runs are in the same order", names="^rows repeat") as caught:
        frame.curves.to_dataarray("return", algorithm="agent", training="step", extra="game")
    exec(
        re.search(r"frame\['run'\] = .*cumcount\(\)", str(caught.value))[0],
        {"frame": frame},
    )
    assert frame["run"].max() == 1
    with refused("frame", cure="frame.curves.to_dataarray(value='return'", names=r"^column 'network' .* is not used"):
        frame.curves.to_dataarray("return", algorithm="agent", training="step", extra="game")


@pytest.mark.parametrize("labels", [(16, 32, 64), (0.1, 0.3, 1.0)])
def test_numbers_of_an_unused_column_are_kept_apart_too(labels):
    frame = networks().assign(
        network=lambda each: each.network.map(dict(zip(("cnn", "mlp", "resnet"), labels, strict=True)))
    )
    shown = re.escape(f"column 'network' ({', '.join(map(str, labels))}) is not used")
    with refused("frame", cure="extra=['game', 'network']", names=f"^{shown}"):
        frame.curves.to_dataarray("return", **NAMES, extra="game")
    with refused("frame", cure="If runs are in the same order", names="^rows repeat") as caught:
        frame.drop(columns="seed").curves.to_dataarray("return", algorithm="agent", training="step", extra="game")
    assert "groupby(['game', 'agent', 'step', 'network'])" in str(caught.value)


def test_a_metric_is_no_reason_for_repeated_rows():
    frame = networks(("cnn",)).drop(columns="network")
    frame = pd.concat([frame, frame]).assign(won=[0, 0, 1] * 26 + [1, 1], loss=np.random.default_rng(1).random(80))
    with refused(
        "frame",
        cure="frame.curves.to_dataarray(value='return'",
        names=r"^training column 'step' falls in 8 runs, .*, their first level\.",
    ):
        frame.curves.to_dataarray("return", **NAMES, extra="game")


@pytest.mark.slow
def test_a_column_of_a_usual_name_is_named_however_many_tasks_it_has():
    frame = pd.concat([networks().assign(task=f"task {i}") for i in range(60)]).drop(columns="network")
    frame = frame.drop_duplicates(["game", "agent", "seed", "step", "task"])
    with refused("frame", cure="frame.curves.to_dataarray(value='return'", names=r"^column 'task' .* is not used"):
        frame.curves.to_dataarray("return", **NAMES, extra="game")
    with pytest.warns(
        UserWarning, match="game 'pong', task 'task 0' and game 'pong', task 'task 1' have the same score"
    ):
        curves = frame.curves.to_dataarray("return", **NAMES, extra=["game", "task"])
    assert curves.sizes["task"] == 60


def test_runs_that_mix_labels_of_an_unused_column_are_said():
    frame = networks(("cnn", "mlp"))
    frame = frame[(frame.network == "cnn") == (frame.step < 2)]
    with pytest.warns(
        UserWarning,
        match=r"^column 'network' is not used and has several labels in one run \('cnn', 'mlp'\), in 8",
    ):
        frame.curves.to_dataarray("return", **NAMES, extra="game")


def test_columns_that_are_other_in_each_row_or_one_in_each_run_are_no_reason_to_warn():
    frame = networks(("cnn",)).assign(date=[f"day {i % 50}" for i in range(40)], host="h", ok=True, epoch=range(40))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame.curves.to_dataarray("return", **NAMES, extra="game")


@pytest.mark.parametrize("number", [int, float])
def test_numbers_that_begin_anew_with_training_are_said(number):
    frame = networks(("cnn", "mlp")).rename(columns={"network": "width"})
    # so that no row repeats
    frame = frame.assign(step=2 * frame.step + (frame.width == "mlp"))
    frame["width"] = frame["width"].map({"cnn": 64, "mlp": 128}).astype(number)
    with refused(
        "frame",
        cure="frame.curves.to_dataarray(value='return'",
        names=r"^column 'width' \(64.*is not used, and .* falls in 8 runs",
    ):
        frame.curves.to_dataarray("return", **NAMES, extra="game")
    with pytest.warns(
        UserWarning,
        match=r"^column 'width' is not used and has several labels in one run \(64.*, in 8",
    ):
        frame.curves.to_dataarray("return", **NAMES, extra="game", duplicates="last")


REAL = {
    "tdmpc2_results": (
        "success",
        {"extra": "task", "training": "step", "duplicates": "last"},
        "",
    ),
    "tianshou_mujoco": ("return", {"extra": "task", "training": "env_step"}, "seed"),
    "algoperf_external": (
        "score",
        {"extra": "task", "training": "step", "levels": "run"},
        "study",
    ),
    "nanogpt_track3_dev": (
        "val_loss",
        {"algorithm": "entry", "training": "step", "levels": "run"},
        "",
    ),
}


@pytest.mark.plain(1)
@pytest.mark.parametrize("name", REAL)
@pytest.mark.filterwarnings("ignore:.*(same score|training level|start again)")
def test_measures_and_counters_of_real_logs_are_no_reason_to_warn_but_mixed_runs_are(
    name,
):
    score, columns, mixed = REAL[name]
    path = SHARED / "data" / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip("the shared data are not here")
    frame = pd.read_csv(path)
    level, value = frame[columns["training"]], frame[score]
    frame = frame.assign(epoch=level // (level.max() / 20), flag=(value > value.median()).astype(int))
    frame = frame.assign(tens=(10 * value.rank(pct=True)).round(), early=level < level.median())
    names = {"run": "seed" if "seed" in frame else "run"} | columns
    whole = frame.assign(run=frame["study"] * 5 + frame["trial"]) if "study" in frame else frame
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="column .* is not used")
        whole.curves.to_dataarray(score, **names)
    if mixed:
        with pytest.warns(
            UserWarning,
            match=f"^column '{mixed}' is not used and has several labels in one run",
        ):
            frame.assign(run=frame.get("trial", 0)).curves.to_dataarray(
                score, **names | {"run": "run", "duplicates": "first"}
            )


def copied(n_levels: int = 6) -> xr.DataArray:
    """Return curves of which one run of two tasks stands in two algorithms, and one twice in one."""
    scores = np.random.default_rng(0).normal(size=(4, 2, 3, n_levels))
    scores[1, 1, 2] = scores[1, 0, 0]
    scores[3, 1, 2] = scores[3, 1, 0]
    coords = {
        "task": list("wxyz"),
        "algorithm": ["a", "b"],
        "run": range(3),
        "training": range(n_levels),
    }
    return xr.DataArray(scores, coords, list(coords), name="score")


SAID = (
    r"^task 'x': algorithm 'a', run 0 and algorithm 'b', run 2 have the same score at every level\. Were data "
    r"copied\?; the same holds in 1 more tasks: task 'z'$"
)


@pytest.mark.filterwarnings("ignore:.*few")
def test_copied_runs_are_said_once():
    frame = copied().curves.to_frame()
    with pytest.warns(UserWarning, match=SAID) as caught:
        frame.curves.to_dataarray("score", extra="task")
    assert len(caught) == 1
    for levels in ("union", "run"):
        with pytest.warns(UserWarning, match=SAID):
            frame.curves.to_dataarray("score", extra="task", levels=levels)
    for method in (xcurves.pairwise, xcurves.across_tasks):
        with pytest.warns(UserWarning, match=SAID):
            method(copied(), n_resamples=99, rng=0)


@pytest.mark.parametrize("levels", ["union", "run"])
def test_tasks_that_are_copies_are_said(levels):
    curves = copied().isel(task=[0, 2])
    again = curves.isel(task=[0]).assign_coords(task=["again"])
    frame = xr.concat([curves, again], "task").curves.to_frame()
    with pytest.warns(UserWarning, match=r"^task 'w' and task 'again' have the same score in every run\. Were data"):
        frame.curves.to_dataarray("score", extra="task", levels=levels)


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_copied_runs_of_few_levels_are_said_where_scores_have_many_digits(n_levels):
    frame = copied(n_levels).curves.to_frame()
    with pytest.warns(UserWarning, match=SAID):
        frame.curves.to_dataarray("score", extra="task")


@pytest.mark.parametrize("scores", [copied(3).round(9), (copied(3) * 1000).round() / 9973])
def test_few_scores_of_few_digits_or_counts_are_not_said_to_be_copied(scores):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores.curves.to_frame().curves.to_dataarray("score", extra="task")


def test_scores_that_are_the_same_by_chance_are_not():
    curves = copied(3).round(3)
    constant = xr.zeros_like(copied())
    absent = copied().where(copied().run > 0).isel(task=[0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in (curves, constant, absent):
            each.to_dataframe("score").reset_index().curves.to_dataarray("score", extra="task")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:so few tasks")
def test_the_only_extra_dim_is_that_of_tasks_and_several_are_joined():
    scores = np.random.default_rng(1).normal(size=(2, 3, 2, 4, 5))
    dims = ("game", "network", "algorithm", "run", "training")
    curves = xr.DataArray(
        scores,
        {"game": ["p", "q"], "network": list("abc"), "algorithm": ["x", "y"]},
        dims,
    )
    curves = curves.assign_coords(training=range(5))
    joined = curves.curves.across_tasks(task=["game", "network"], n_resamples=99, rng=0)
    assert joined.task.values.tolist() == [
        "p, a",
        "p, b",
        "p, c",
        "q, a",
        "q, b",
        "q, c",
    ]
    assert joined.game.values.tolist() == ["p"] * 3 + ["q"] * 3
    by_hand = curves.rename(network="task").stack(pair_of=["game", "task"], create_index=False)
    by_hand = by_hand.drop_vars(["game", "task"]).rename(pair_of="task").assign_coords(task=joined.task.values)
    same = by_hand.curves.across_tasks(n_resamples=99, rng=0)
    for name in ("difference", "pvalue", "difference_ci"):
        np.testing.assert_array_equal(joined[name], same[name])
    families = curves.curves.across_tasks(task=["game", "network"], task_groups="game", n_resamples=99, rng=0)
    assert families.pvalue.sel(task_effect="random").isnull().all() or (families.pvalue <= 1).all()
    one = curves.isel(game=0, drop=True)
    by_name = one.curves.across_tasks(task="network", n_resamples=99, rng=0)
    xr.testing.assert_identical(
        one.curves.across_tasks(n_resamples=99, rng=0).drop_attrs(),
        by_name.drop_attrs(),
    )


def test_rows_are_numbered_within_runs_whose_columns_are_found():
    frame = pd.DataFrame({"algo": np.repeat(["a", "b"], 6), "seed": [0, 0, 0, 1, 1, 1] * 2, "acc": np.arange(12.0)})
    tasks = frame.curves.to_dataarray(extra="row", training=None)
    assert dict(tasks.sizes) == {"row": 3, "algorithm": 2, "run": 2}
    assert tasks.sel(algorithm="b", run=1).values.tolist() == [9, 10, 11]
    typed = frame.curves.to_dataarray("acc", algorithm="algo", run="seed", training=None, extra="row")
    xr.testing.assert_equal(tasks, typed)
