"""Inputs of the corpus that nearly meet a rule, or meet it in another form: see `corpus.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from frames.corpus import AB, Asks, Files, Input, Read, Refuses, configured, crossed, one, placed, rows
from frames.corpus_rows import levels, stepped

INPUTS: dict[str, Input] = {}
SEEDS = [0, 1, 2]

# --- steps and clocks ---

CURVES = Read("algo", "seed", None, "acc", (), False, 2, 3, 4)


def measured(**columns: object) -> pd.DataFrame:
    """Return four scores of each run, with further columns of a value for each row, or for each of a run."""
    frame = rows(algo=AB, seed=SEEDS, at=range(4), value="acc").drop(columns="at")
    return frame.assign(**{name: np.resize(np.asarray(values), len(frame)) for name, values in columns.items()})


CLOCKS = {
    "timestamp": 1.7e9 + 7.0 * np.arange(24),
    "wall_time": 1.7e9 + 7.0 * np.arange(24),
    "created_at": pd.date_range("2026-01-01", periods=24, freq="min").astype(str),
    "date": ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"],
}
for CLOCK, TIMES in CLOCKS.items():
    INPUTS[f"a clock {CLOCK} and no step"] = Input(
        one(lambda name=CLOCK, times=TIMES: measured(**{name: times})),
        replace(CURVES, training=f"order of {CLOCK}", says=f"{CLOCK} is a clock: training is the order of {CLOCK}"),
    )
INPUTS["seconds since the start are training"] = Input(
    one(lambda: measured(elapsed=[1.5, 3, 4.5, 6])), replace(CURVES, training="elapsed")
)
for CLOCK in ("time_s", "minutes", "gpu_hours", "Time (ms)"):
    INPUTS[f"a time in a unit, {CLOCK}, is training"] = Input(
        one(lambda name=CLOCK: measured(**{name: [1.5, 3, 4.5, 6]})), replace(CURVES, training=CLOCK)
    )
    INPUTS[f"a time in a unit, {CLOCK}, beside steps and an unknown score"] = Input(
        one(lambda name=CLOCK: measured(step=range(4), **{name: [1.5, 3, 4.5, 6.5]}).rename(columns={"acc": "y"})),
        replace(CURVES, score="y", training="step"),
    )
    INPUTS[f"a time in a unit, {CLOCK}, is all that is measured"] = Input(
        one(lambda name=CLOCK: rows(algo=AB, instance=[3, 5, 7], value=name)),
        Read("algo", None, None, CLOCK, ("instance",), True, 2, n_tasks=3),
    )
INPUTS["a time of each instance is no training"] = Input(
    one(lambda: rows(algo=AB, instance=[3, 5, 7], value="cost").assign(time=[4.0, 9, 1, 3, 8, 2])),
    Read("algo", None, None, "cost", ("instance",), True, 2, n_tasks=3),
)
INPUTS["a latency in a unit is no time of a run"] = Input(
    one(lambda: rows(algo=AB, seed=SEEDS, value="y").assign(latency_ms=[4.0, 9, 1, 3, 8, 2])),
    Asks("which column is the score (y or latency_ms)", 2),
)
for TIMES, NAME in (([3.0, 5, 4, 6, 2, 7, 3, 8], "up and down"), ([3.0, 5, 1, 6, 2, 7, 1, 8], "to before the first")):
    INPUTS[f"times of rows without runs, {NAME}"] = Input(
        one(lambda times=TIMES: rows(algo=AB, at=range(4), value="acc").drop(columns="at").assign(minutes=times)),
        Asks(
            "no column says which run a row is of",
            3,
            {
                "--training none": Read("algo", "run", None, "acc", (), False, 2, 4),
                "--duplicates last": Read("algo", None, "minutes", "acc", (), False, 2, 1),
            },
        ),
    )
for NUMBER in ("config_id", "trial_number"):
    INPUTS[f"a {NUMBER} in each run names no task"] = Input(
        one(lambda name=NUMBER: measured(**{name: range(4)})),
        Asks(
            f"whether {NUMBER} counts steps of training or is a setting of the algorithm",
            2,
            {
                f"--training {NUMBER}": replace(CURVES, training=NUMBER),
                f"--algorithm algo {NUMBER}": Read(f"algo, {NUMBER}", "seed", None, "acc", (), False, 8, 3, 1),
            },
        ),
    )
INPUTS["whole numbers of an unknown name that fall"] = Input(
    one(lambda: measured(count=[4, 3, 2, 1])),
    Asks(
        "column 'count' (4, 3, 2, ...) is not used",
        4,
        {
            "--training count --duplicates last": replace(CURVES, training="count"),
            "--extra count": Read(tasks=("count",), n_tasks=4),
        },
    ),
)
INPUTS["a game that is text is a task"] = Input(
    one(lambda: rows(algo=AB, game=["Pong", "Qbert"], seed=SEEDS, step=[0, 5])),
    Read("algo", "seed", "step", "score", ("game",), False, 2, 3, 2, 2),
)
INPUTS["games that are counted are training"] = Input(
    one(lambda: measured(games=[0, 10, 20, 30])), replace(CURVES, training="games")
)


def in_epochs(epoch: str, step: str, rises_by: int = 0) -> pd.DataFrame:
    """Return three rows in each of three epochs, whose step begins anew, each time a little later or not."""
    frame = rows(algo=AB, seed=SEEDS, **{epoch: [1, 2, 3], step: [0, 10, 20]}, value="acc")
    frame[step] += rises_by * frame[epoch]
    return frame


for EPOCH, STEP, RISES_BY in (
    ("epoch", "iters", 0),
    ("epoch", "it", 0),
    ("epoch", "minibatch", 0),
    ("epoch_no", "iter", 0),
    ("EpochNr", "StepIdx", 0),
    ("epoch", "iter", 1),
):
    INPUTS[f"{STEP} in {EPOCH}, later by {RISES_BY}"] = Input(
        one(lambda epoch=EPOCH, step=STEP, rises_by=RISES_BY: in_epochs(epoch, step, rises_by)),
        replace(CURVES, training=EPOCH, levels=3, says=f"{STEP} begins anew in each {EPOCH}"),
    )
INPUTS["epochs beside a step that goes on, restarted"] = Input(
    one(lambda: stepped([0, 10, 20, 30, 20, 30, 40], {"epoch": [1, 1, 2, 2, 2, 2, 3]})), levels(5, -20)
)

INPUTS["epochs that begin anew while the step goes on"] = Input(
    one(lambda: stepped([10, 20, 30, 40, 50, 60], {"epoch": [1, 2, 3, 1, 2, 3]})), levels(6, -20)
)
INPUTS["rows of one step are runs"] = Input(
    one(lambda: measured(step=[1000]).drop(columns="seed")),
    Read("algo", "run", "step", "acc", (), False, 2, 12, 1),
)
INPUTS["time steps begin anew in each episode"] = Input(
    one(lambda: stepped([0, 1, 2, 0, 1, 2], {"episode": [1, 1, 1, 2, 2, 2]}, "timestep")),
    Asks(
        "column 'episode' (1, 2) is not used",
        2,
        {"--training episode": Read("algo", "seed", "episode", "return", (), False, 2, 2, 2, difference=-20)},
    ),
)

# --- runs, folds and parts of the data ---

INPUTS["two columns of runs tell them apart together"] = Input(
    one(lambda: rows(algo=AB, seed=SEEDS, rep=[1, 2])),
    Asks(
        "the run (seed or rep)",
        3,
        {
            "--run seed rep": Read("algo", "seed, rep", None, "score", (), False, 2, 6, 1),
            "--run seed --duplicates mean": Read("algo", "seed", None, "score", (), False, 2, 3, 1),
        },
    ),
)
INPUTS["two columns of folds tell them apart together"] = Input(
    one(lambda: rows(algo=AB, outer_fold=SEEDS, inner_fold=[1, 2])),
    Asks(
        "the run (outer_fold or inner_fold)",
        3,
        {
            "--run outer_fold inner_fold": Read(
                "algo", "outer_fold, inner_fold", None, "score", (), False, 2, 6, 1, matched=True
            )
        },
    ),
)
for PARTS in (["train", "holdout"], ["test-clean", "test-other"]):
    INPUTS[f"a split of {PARTS[1]} is no fold"] = Input(
        one(lambda parts=PARTS: rows(algo=AB, seed=SEEDS, split=parts)),
        Asks("has scores of several data: split", 2, {f"split={PARTS[0]}": Read("algo", "seed", runs=3, algorithms=2)}),
    )
for PART in ("dataset", "phase", "mode"):
    INPUTS[f"a {PART} that is train or val is no task"] = Input(
        one(lambda name=PART: rows(algo=AB, seed=SEEDS, epoch=[1, 2], **{name: ["train", "val"]})),
        Asks(
            f"has scores of several data: {PART}",
            2,
            {f"{PART}=val": Read("algo", "seed", "epoch", "score", (), False, 2, 3, 2)},
        ),
    )
for SETTING in ("min_samples_split", "n_folds"):
    INPUTS[f"{SETTING} is no fold"] = Input(
        one(lambda name=SETTING: rows(algo=AB, seed=SEEDS, **{name: [2, 5]})),
        Asks(
            f"whether {SETTING} counts steps",
            3,
            {f"--algorithm algo {SETTING}": Read(f"algo, {SETTING}", "seed", algorithms=4, runs=3)},
        ),
    )

INPUTS["a setting of a search that is called like folds"] = Input(
    one(
        lambda: pd.DataFrame(
            {
                "mean_fit_time": [0.5, 0.25, 0.5, 0.25],
                "param_max_depth": [2, 2, 4, 4],
                "param_min_samples_split": [2, 5, 2, 5],
                "params": [
                    f"{{'max_depth': {depth}, 'min_samples_split': {split}}}" for depth in (2, 4) for split in (2, 5)
                ],
                "split0_test_score": [0.5, 0.625, 0.75, 0.875],
                "split1_test_score": [0.75, 0.5, 0.875, 0.625],
                "mean_test_score": [0.625, 0.5625, 0.8125, 0.75],
            }
        ),
        "cv_results.csv",
    ),
    Read("algorithm", "fold", None, "test_score", (), False, 4, 2, 1, matched=True),
)

# --- rungs ---


def rungs(budget: str, trial: str) -> pd.DataFrame:
    """Return four trials of each algorithm on 25 samples, of which two went on to 50."""
    first = rows(algo=AB, **{trial: range(4), budget: [25]}, value="acc")
    return pd.concat([first, first[first[trial] < 2].assign(acc=lambda each: each["acc"] + 0.5, **{budget: 50})])


RUNG = Read("algo", "trial", None, "acc", (), False, 2, 4, 1)
for BUDGET in ("n_resources", "Budget", "hyperband_budget", "resource"):
    INPUTS[f"trials of several rungs, {BUDGET}"] = Input(
        one(lambda name=BUDGET: rungs(name, "trial")),
        Asks(
            f"has trials that were stopped on 2 budgets, column '{BUDGET}'",
            3,
            {
                f"--select {BUDGET}=25": RUNG,
                f"--select {BUDGET}=50": replace(RUNG, runs=2),
                f"--training {BUDGET}": replace(RUNG, training=BUDGET, levels=2),
            },
        ),
    )
INPUTS["rungs of rows that are runs"] = Input(
    one(lambda: rungs("budget", "config_id")),
    Asks(
        "pools trials of 2 budgets",
        2,
        {"--select budget=25": replace(RUNG, run="run"), "--select budget=50": replace(RUNG, run="run", runs=2)},
    ),
)
INPUTS["rungs that are epochs of numbered configurations"] = Input(
    one(lambda: rungs("epochs", "config_id")),
    Asks("the run (config_id)", 1, {"--run config_id": replace(RUNG, run="config_id", training="epochs", levels=2)}),
)

# --- items ---

ITEMS = Read("model", None, None, "score", ("question",), False, 2, 1, 1, 6)


def answers(**columns: object) -> pd.DataFrame:
    """Return a score of two models on each of six questions."""
    return rows(model=AB, question=range(6)).assign(**columns)


INPUTS["rows without a score beside answers"] = Input(one(lambda: pd.concat([answers(), answers(score=np.nan)])), ITEMS)
INPUTS["times that are all that is measured"] = Input(
    one(lambda: rows(solver=AB, instance=["i", "j", "k"], value="time").assign(time=lambda each: each["time"].abs())),
    Read("solver", None, None, "time", ("instance",), True, 2, 1, 1, 3),
)
INPUTS["two names of items"] = Input(one(lambda: answers(question_id=[f"q{item}" for item in range(6)] * 2)), ITEMS)
for NAME, LABELS in {"difficulty": [1, 2, 3], "length": [10.5, 7.25, 3.5]}.items():
    INPUTS[f"numbers {NAME} that are constant in each item"] = Input(
        one(lambda name=NAME, labels=LABELS: answers(**{name: labels * 4})),
        replace(ITEMS, says=f"{NAME} not used: the same in all rows of a task"),
    )
INPUTS["numbers that are constant in each item are no score"] = Input(
    one(lambda: answers(length=[10.5, 7.25, 3.5] * 4).rename(columns={"score": "z"})), replace(ITEMS, score="z")
)

# --- falls of the step ---

INPUTS["a restart with one row after it"] = Input(
    one(lambda: stepped([0, 10, 20, 30, 20])),
    Asks("falls in 4 runs", 2, {"--duplicates purge": levels(3), "--duplicates last": levels(4)}),
)

# --- folders ---

OF_FOLDERS = Read("algorithm", "run", "step", "return", (), False, 2, 4, 3)
RUNS = ["0", "1", "2", "3"]
FOUR = ["a3f9c12", "b3f9c13", "2b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "0a3f9c1"]


def own(*places: str, inside: str = "") -> Files:
    """Return runs whose folder none of another algorithm has, below folders of algorithms."""
    return placed(*(f"{AB[number % 2]}/{place}{inside}" for number, place in enumerate(places)))()


for NAME, PLACES in {
    "dates": crossed(["2026-01-01", "2026-01-02"], RUNS),
    "hashes": crossed(["a3f9c12", "b3f9c13"], RUNS),
    "train": crossed(["train"], RUNS),
}.items():
    INPUTS[f"{NAME} above runs are no algorithms"] = Input(placed(*PLACES), Refuses("is no name of an algorithm"))
INPUTS["times above algorithms are runs"] = Input(
    placed(*crossed(["10-30-00", "10-31-00", "11-00-00", "11-00-01"], AB)), OF_FOLDERS
)
for INSIDE in ("", "/0"):
    INPUTS[f"hashes below algorithms are runs, inside {INSIDE}"] = Input(
        lambda inside=INSIDE: own(*FOUR, inside=inside), replace(OF_FOLDERS, runs=4)
    )
INPUTS["a date of each run says nothing"] = Input(
    placed(*(f"{place}/2026-01-0{number + 1}" for number, place in enumerate(crossed(AB, RUNS)))), OF_FOLDERS
)
INPUTS["dates above algorithms and runs"] = Input(
    placed(*crossed(["2026-01-01", "2026-01-02"], AB, RUNS)),
    Asks(
        "tell runs apart too, and are no algorithm",
        2,
        {
            "--folders task algorithm run": replace(OF_FOLDERS, tasks=("task",), n_tasks=2),
            "--run folder run": replace(OF_FOLDERS, run="folder, run", runs=8),
        },
    ),
)
INPUTS["checkpoints are no algorithms"] = Input(
    placed(*crossed(AB, RUNS, ["checkpoint-100", "checkpoint-200"])),
    Asks(
        "tell runs apart too, and are no algorithm",
        1,
        {"--folders algorithm run task": replace(OF_FOLDERS, tasks=("task",), n_tasks=2)},
    ),
)
INPUTS["two levels of numbers and nothing else"] = Input(
    placed(*crossed(["18", "34"], RUNS)),
    Asks("two levels of folders are whole numbers", 1, {"--folders algorithm run": OF_FOLDERS}),
)
INPUTS["names above and below runs"] = Input(
    placed(*crossed(AB, RUNS, ["left", "right"])),
    Asks(
        "whether 'ada' or 'left' is the algorithm or the task",
        2,
        {"--folders algorithm run task": replace(OF_FOLDERS, tasks=("task",), n_tasks=2)},
    ),
)
INPUTS["environments below algorithms are tasks"] = Input(
    placed(*crossed(AB, ["Ant-v4", "Hopper-v4"], RUNS)),
    replace(OF_FOLDERS, tasks=("task",), n_tasks=2, says="levels of the path are algorithm, task, run"),
)
INPUTS["a folder and a key that disagree, of the same seeds"] = Input(
    configured(
        lambda place, number: {"algo": ["ppo", "a2c"][number % 2], "seed": number % 4},
        ["first", "second"],
        RUNS,
    ),
    Asks(
        "the algorithm (algorithm or config/algo)",
        2,
        {
            "--algorithm algorithm ": OF_FOLDERS,
            "--algorithm config/algo": Read("config/algo", "algorithm, run", algorithms=2, runs=8),
        },
    ),
)
INPUTS["sizes in names are no runs"] = Input(
    placed("resnet-18", "resnet-34", "vgg-16", "vgg-19"), Refuses("do not say algorithm and run")
)
INPUTS["sizes in names above runs are of algorithms"] = Input(
    placed(*crossed(["resnet-18", "resnet-34"], RUNS)), OF_FOLDERS
)


# --- names of charts ---


def chart(*names: str) -> pd.DataFrame:
    """Return the export of a chart with a column for each run."""
    scores = np.random.default_rng(0).normal(size=(len(names), 3)).round(3)
    return pd.DataFrame(
        {"Step": [0, 10, 20]} | {f"{name} - return": each for name, each in zip(names, scores, strict=True)}
    )


OF_CHART = Read("algorithm", "run", "Step", "return", (), False, 2, 2, 3)
for NAMES in (["sac-1", "sac-2", "ppo-1", "ppo-2"], ["sac_seed10", "sac_seed20", "ppo_seed10", "ppo_seed20"]):
    INPUTS[f"a chart of {NAMES[0]}"] = Input(one(lambda names=NAMES: chart(*names), "chart.csv"), OF_CHART)
for NAMES in (["resnet-18", "resnet-34", "vgg-16", "vgg-19"], ["sac-10", "sac-20", "ppo-10", "ppo-20"]):
    INPUTS[f"a chart of {NAMES[0]}"] = Input(
        one(lambda names=NAMES: chart(*names), "chart.csv"), Refuses(f"are called {NAMES[0]!r}")
    )
