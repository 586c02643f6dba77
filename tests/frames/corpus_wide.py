"""Inputs of the corpus with a column for each algorithm, and with arrays: see `corpus.py`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from frames.corpus import AB, Asks, Files, Input, Read, Refuses, one, rows

INPUTS: dict[str, Input] = {}

# --- which columns are algorithms ---


def table(first: str | None = "dataset", *, columns: tuple[str, ...] = ("svm", "tree")) -> pd.DataFrame:
    """Return scores of six rows, whose names are in a column `first`."""
    scores = np.random.default_rng(0).uniform(1, 9, (6, len(columns))).round(2)
    frame = pd.DataFrame(scores, columns=list(columns))
    if first is not None:
        frame.insert(0, first, list("pqrstu"))
    return frame


def with_cell(frame: pd.DataFrame, cell: str) -> pd.DataFrame:
    """Return the scores with another cell in the third row of tree."""
    return frame.assign(tree=frame["tree"].astype(object).where(frame.index != 2, cell))


NO_NAME = "higher is taken as better: scores have no name that says"
TASKS = Read("algorithm", None, None, "score", ("dataset",), False, 2, n_tasks=6)


def of_runs(run: str) -> Read:
    """Return the right reading of two algorithms with six runs."""
    return Read("algorithm", run, None, "score", (), False, 2, 6)


THREE = Read("algorithm", None, None, "score", ("dataset",), False, 3, n_tasks=6)
for NAME, MADE in {
    "delta": lambda frame: frame["svm"] - frame["tree"],
    "diff svm-tree": lambda frame: frame["svm"] - frame["tree"],
    "gain": lambda frame: frame["svm"] - frame["tree"],
    "ratio": lambda frame: (frame["svm"] / frame["tree"]).round(2),
    "p": lambda frame: frame["svm"] / 10,
    "svm_std": lambda frame: frame["svm"] / 7,
    "svm ci": lambda frame: frame["svm"] / 7,
    "svm_lo": lambda frame: frame["svm"] - 0.5,
    "tree_hi": lambda frame: frame["tree"] + 0.5,
    "count": lambda frame: range(len(frame)),
    "difference": lambda frame: frame["svm"] - frame["tree"],
    "p-value": lambda frame: frame["svm"] / 10,
    "stderr": lambda frame: frame["svm"] / 7,
    "upper": lambda frame: frame["svm"] + 0.5,
    "n": lambda frame: range(len(frame)),
}.items():
    INPUTS[f"wide, a column {NAME}"] = Input(
        one(lambda name=NAME, made=MADE: table().assign(**{name: made})),
        Asks(
            f"whether {NAME} is an algorithm",
            2,
            {"--columns svm,tree ": TASKS, f"svm,tree,{NAME}": THREE},
        ),
    )
INPUTS["wide, columns that are named"] = Input(
    one(lambda: table().assign(delta=1.5, p=0.5)), replace(TASKS, says=NO_NAME), ("--columns", "svm,tree")
)
INPUTS["wide, columns that are found"] = Input(one(table), replace(TASKS, says=NO_NAME))
LOSSES = replace(TASKS, score="val_loss", lower=True, says="lower is better, as the name val_loss says")
INPUTS["wide, the file is called like a score"] = Input(lambda: {"val_loss.csv": table()}, LOSSES)
INPUTS["wide, the file is called like a score, and columns are named"] = Input(
    lambda: {"val_loss.csv": table().assign(delta=1.5)}, LOSSES, ("--columns", "svm,tree")
)
INPUTS["wide, the file is called like several scores"] = Input(
    lambda: {"accuracy_and_loss.csv": table()}, replace(TASKS, says=NO_NAME)
)
INPUTS["wide, scores that are called so"] = Input(
    one(table), replace(TASKS, says="no training, score = score"), ("--columns", "svm,tree", "--value", "score")
)
INPUTS["wide, a name that has such letters in a word"] = Input(
    one(lambda: table(columns=("lora", "hifi", "deltas"))), THREE
)
INPUTS["wide, whole numbers"] = Input(
    one(lambda: table().assign(svm=[5, 7, 9, 4, 3, 8], tree=[4, 6, 9, 5, 1, 7])),
    Asks("whether columns are algorithms", 1, {"--columns svm,tree": TASKS}),
)
INPUTS["wide, scores of several metrics"] = Input(
    one(lambda: table("fold", columns=("rf~Accuracy", "rf~Kappa", "gbm~Accuracy", "gbm~Kappa"))),
    Asks(
        "columns that seem to be scores of algorithms",
        1,
        {"--value Accuracy": Read("algorithm", "fold", None, "Accuracy", (), False, 2, 6, matched=True)},
    ),
)

for MARK in ("–", "—", "?", "-"):
    INPUTS[f"wide, {MARK} is a gap"] = Input(
        one(lambda mark=MARK: with_cell(table(), mark)), replace(TASKS, says="columns are the algorithms")
    )
for CELL in ("timeout", "7.5*", "7.5±0.1"):
    for COLUMNS in (("svm", "tree"), ("svm", "tree", "knn")):
        INPUTS[f"wide, {CELL} is no number of {len(COLUMNS)} columns"] = Input(
            one(lambda cell=CELL, columns=COLUMNS: with_cell(table(columns=columns), cell)),
            Refuses(f"the column tree has text in a row, first '{CELL}' in row 2"),
        )
INPUTS["wide, a word among numbers of rows without names"] = Input(
    one(lambda: with_cell(table(None, columns=("svm", "tree", "knn")), "timeout")),
    Refuses("the column tree has text in a row"),
)

# --- what rows are ---

ROWS = Asks(
    "does not say whether rows are tasks or runs",
    2,
    {"--extra row": replace(TASKS, tasks=("row",)), "--run row": of_runs("row")},
)
INPUTS["wide, rows without names"] = Input(one(lambda: table(None)), ROWS)
INPUTS["wide, numbers of rows without a name"] = Input(lambda: {"log.csv": table(None).to_csv()}, ROWS)
INPUTS["wide, names of rows without a name"] = Input(
    lambda: {"log.csv": table().set_index("dataset").rename_axis(None).to_csv()}, ROWS
)
INPUTS["wide, numbers of rows beside tasks"] = Input(lambda: {"log.csv": table().to_csv()}, TASKS)
INPUTS["wide, rows with a name that says nothing"] = Input(
    one(lambda: table("id")),
    Asks("whether rows are tasks or runs", 2, {"--extra id": replace(TASKS, tasks=("id",)), "--run id": of_runs("id")}),
)
INPUTS["wide, rows are seeds"] = Input(one(lambda: table("seed")), of_runs("seed"))
INPUTS["wide, rows without names and a column delta"] = Input(
    one(lambda: table(None).assign(delta=lambda frame: frame["svm"] - frame["tree"])),
    Asks(
        "whether delta is an algorithm and whether rows are tasks or runs",
        4,
        {"--columns svm,tree --run row": of_runs("row")},
    ),
)

# --- rows that sum up others ---


def ending(*last: tuple[Any, ...]) -> Callable[[], Files]:
    """Return the table with further last rows, of their names and scores."""
    rows = pd.DataFrame(list(last), columns=["dataset", "svm", "tree"])
    return one(lambda: pd.concat([table().astype(object), rows]))


def with_gap() -> pd.DataFrame:
    """Return the table without one score."""
    return table().assign(tree=lambda frame: frame["tree"].where(frame["dataset"] != "r"))


for LABEL in ("average", "Avg.", "Mean rank", "rank", "Total", "median", "std", "Overall"):
    INPUTS[f"wide, the last row is {LABEL}"] = Input(ending((LABEL, 1.5, 1.25)), TASKS)
for LABEL in ("W/T/L", "win/tie/loss", "W-T-L", "Wins / ties / losses"):
    INPUTS[f"wide, the last row is {LABEL}"] = Input(ending((LABEL, "3/1/2", "2/1/3")), TASKS)
INPUTS["wide, an average and a row of wins"] = Input(ending(("Average", 4.5, 5.5), ("W/T/L", "3/1/2", "2/1/3")), TASKS)
MEANS = table()[["svm", "tree"]].mean()
INPUTS["wide, means of one digit"] = Input(ending(("all", *MEANS.round(1))), TASKS)
INPUTS["wide, means of columns with a gap"] = Input(
    one(
        lambda: pd.concat([with_gap(), with_gap()[["svm", "tree"]].mean().round(3).to_frame().T.assign(dataset="all")])
    ),
    TASKS,
)
INPUTS["wide, the first row has the means of all"] = Input(
    one(lambda: pd.concat([MEANS.round(3).to_frame().T.assign(dataset="average"), table()])), TASKS
)
INPUTS["wide, one mean and another number"] = Input(ending(("all", MEANS["svm"], 3.25)), replace(TASKS, n_tasks=7))
INPUTS["wide, a task in the middle is called like a mean"] = Input(
    one(lambda: table().assign(dataset=["p", "mean-field", "r", "s", "t", "u"])), TASKS
)

# --- arrays ---


def npz(**arrays: Any) -> Callable[[], Files]:
    """Return an .npz file of arrays; those that are given by a shape have other numbers each."""
    file = io.BytesIO()
    rng = np.random.default_rng(0)
    np.savez(
        file, **{name: rng.normal(size=made) if isinstance(made, tuple) else made for name, made in arrays.items()}
    )
    return lambda: {"scores.npz": file.getvalue()}


def npy(*shape: int) -> bytes:
    """Return an .npy file."""
    file = io.BytesIO()
    np.save(file, np.random.default_rng(sum(shape)).normal(size=shape))
    return file.getvalue()


GAMES = np.array(["pong", "qbert", "alien", "boxing", "asterix"])
OF_TASKS = Read("algorithm", "run", None, "score", ("task",), False, 2, 3, None, 5)
OF_STEPS = Read("algorithm", "run", "step", "score", (), False, 2, 3, 5)
EITHER = Asks("second axis", 3, {"array-curves": OF_STEPS, "--source rliable": OF_TASKS})
for NAME in ("tasks", "games", "env_names"):
    INPUTS[f"arrays, names of tasks in {NAME}"] = Input(npz(ada=(3, 5), bob=(3, 5), **{NAME: GAMES}), OF_TASKS)
INPUTS["arrays, named tasks and frames"] = Input(
    npz(ada=(3, 5, 4), bob=(3, 5, 4), tasks=GAMES),
    Read("algorithm", "run", "frame", "score", ("task",), False, 2, 3, 4, 5),
)
INPUTS["arrays, named tasks and unlike numbers of runs"] = Input(
    npz(ada=(3, 5), bob=(4, 5), tasks=GAMES), replace(OF_TASKS, runs=4)
)
INPUTS["arrays, steps along the second axis"] = Input(
    npz(ada=(3, 5), bob=(3, 5), steps=np.arange(5) * 10), replace(OF_STEPS, training="steps")
)
INPUTS["arrays, 26 places of the second axis"] = Input(
    npz(ada=(3, 26), bob=(3, 26)),
    Asks(
        "second axis",
        3,
        {"array-curves": replace(OF_STEPS, levels=26), "--source rliable": replace(OF_TASKS, n_tasks=26)},
    ),
)
INPUTS["arrays, 26 tasks that are said"] = Input(
    npz(ada=(3, 26), bob=(3, 26)), replace(OF_TASKS, n_tasks=26, says=NO_NAME), ("--source", "rliable")
)
INPUTS["arrays, five places without names"] = Input(npz(ada=(3, 5), bob=(3, 5)), EITHER)
INPUTS["arrays, a file of each algorithm"] = Input(
    lambda: {f"logs/{name}.npy": npy(3, 5) for name in ("ada", "bob")}, EITHER
)
INPUTS["arrays, one file of several axes"] = Input(
    lambda: {"ada.npy": npy(3, 5)},
    Asks(
        "second axis",
        3,
        {"array-curves": replace(OF_STEPS, algorithms=1), "--source rliable": replace(OF_TASKS, algorithms=1)},
    ),
)
INPUTS["arrays, files of several axes in folders of their own"] = Input(
    lambda: {f"logs/{name}/scores.npy": npy(3, 5) for name in ("ada", "bob")}, Refuses("Put the files in one folder")
)
INPUTS["arrays, unlike second axes"] = Input(npz(ada=(3, 5), bob=(3, 6)), Refuses("must be (runs, tasks)"))
INPUTS["arrays of one file each, with steps"] = Input(
    lambda: {
        f"logs/{name}.npz": npz(returns=(3, 4), timesteps=np.arange(4))()["scores.npz"] for name in ("ada", "bob")
    },
    Read("algorithm", "run", "timesteps", "returns", (), False, 2, 3, 4),
    ("--names", "{algorithm}.npz"),
)


# --- numbers at the end of names ---


def numbered(*names: str) -> pd.DataFrame:
    """Return steps, with a column for each name; scores rise with the place of the column."""
    columns = {name: np.array([0.5, 1.5, 2.5]) + place for place, name in enumerate(names)}
    return pd.DataFrame({"step": [0, 5, 9], **columns})


RUNS = Read("algorithm", "run", "step", "score", (), False, 2, 2, 3, difference=-2)
INPUTS["wide, numbers that are runs or versions"] = Input(
    one(lambda: numbered("ppo_1", "ppo_2", "sac_1", "sac_2")),
    Asks(
        "whether numbers at the end of columns such as ppo_1 are runs",
        2,
        {"{algorithm}_{run": RUNS, "ppo_1,ppo_2,": Read("algorithm", None, "step", "score", (), False, 4, 1, 3)},
    ),
)
INPUTS["wide, numbers after names that end in digits"] = Input(
    one(lambda: numbered("ppo2_0", "ppo2_1", "td3_0", "td3_1")),
    Asks("whether numbers at the end of columns such as ppo2_0 are runs", 2, {"{algorithm}_{run": RUNS}),
)
INPUTS["wide, numbers of unlike numbers of runs"] = Input(
    one(lambda: numbered("ppo_1", "ppo_2", "ppo_3", "sac_1", "sac_2")),
    Asks(
        "whether numbers at the end of columns such as ppo_1 are runs",
        2,
        {"{algorithm}_{run": replace(RUNS, runs=3, difference=None)},
    ),
)
INPUTS["wide, numbers that are decimals"] = Input(
    one(lambda: numbered("qwen-2.0", "qwen-2.1", "llama-3.0", "llama-3.1")),
    Read("algorithm", None, "step", "score", (), False, 4, 1, 3),
)


def at_epochs() -> pd.DataFrame:
    """Return a column for each epoch, beside algorithms, tasks and seeds."""
    scores = rows(algo=["ada", "bob"], task=["p", "q"], seed=[0, 1], epoch=[0, 5, 9])
    of_run = scores.pivot(index=["algo", "task", "seed"], columns="epoch", values="score")
    return of_run.add_prefix("epoch_").reset_index()


INPUTS["wide, columns of steps beside tasks"] = Input(
    one(at_epochs),
    Asks(
        "whether columns are steps of training",
        1,
        {"epoch_{training": Read("algo", "seed", "training", "score", ("task",), False, 2, 2, 3, 2)},
    ),
)
INPUTS["wide, columns of steps of which the first are all 0"] = Input(
    one(lambda: at_epochs().assign(epoch_0=0)),
    Asks(
        "whether columns are steps of training", 1, {"epoch_{training": Read(training="training", levels=3, n_tasks=2)}
    ),
)
INPUTS["wide, columns of tasks along steps"] = Input(
    one(
        lambda: rows(algo=["ada", "bob"], seed=[0, 1], step=[0, 5, 9], value="Hopper").assign(
            Walker2d=np.arange(12) / 7, Ant=np.arange(12) / 9
        )
    ),
    Asks(
        "whether columns are tasks, or which one is the score",
        4,
        {
            "--columns '{task}'": Read("algo", "seed", "step", "score", ("task",), False, 2, 2, 3, 3, says=NO_NAME),
            "--value Ant": Read("algo", "seed", "step", "Ant", (), False, 2, 2, 3),
        },
    ),
)
INPUTS["a rate of errors is a score before a loss"] = Input(
    one(lambda: rows(algo=["ada", "bob"], seed=[0, 1, 2], value="error_rate").assign(loss=np.arange(6) / 7)),
    Read("algo", "seed", None, "error_rate", (), True, 2, 3),
)
INPUTS["wide, numbers that are sizes"] = Input(
    one(lambda: numbered("resnet-18", "resnet-34", "vgg-16", "vgg-19")),
    Read("algorithm", None, "step", "score", (), False, 4, 1, 3),
)
INPUTS["wide, numbers of seeds after an s"] = Input(
    one(lambda: numbered("ppo-s0", "ppo-s1", "sac-s0", "sac-s1")),
    Asks("whether numbers at the end of columns such as ppo-s0 are runs", 2, {"{algorithm}-s{run": RUNS}),
)

# --- cells with what they vary by ---


def published(cell: str) -> pd.DataFrame:
    """Return means of methods on data sets as papers print them, and the mean of each."""
    means = np.array([[81.5, 70.2, 79.0], [83.0, 72.5, 77.8]])
    cells = {name: [cell.format(mean) for mean in means[:, place]] for place, name in enumerate(["Cora", "Ant", "Pub"])}
    return pd.DataFrame({"Method": ["GCN", "GAT"], **cells, "Avg": means.mean(axis=1).round(1)})


PUBLISHED = Read("Method", None, None, "score", ("task",), False, 2, 1, n_tasks=3)
for CELL in ("{} ± 0.5", "{}±0.53", "{} (0.5)", "${} \\pm 0.5$", "**{} +/- 1.0**"):
    INPUTS[f"wide, cells {CELL}"] = Input(
        one(lambda cell=CELL: published(cell)),
        Asks(
            "whether columns are tasks, or which one is the score",
            1,
            {"--columns '{task}'": PUBLISHED},
        ),
    )


# --- models beside what is said of items ---


def answered(items: str, **about: list[str]) -> pd.DataFrame:
    """Return right and wrong answers of two models, a column for each, and what is said of each item."""
    right = {"claude": [1, 1, 0, 1, 1, 0], "small": [0, 1, 0, 0, 1, 0]}
    return pd.DataFrame({items: range(6), **about, **right})


SUBJECTS = {"subject": ["a", "a", "b", "b", "c", "c"], "gold": list("ABCDAB")}
for ITEMS, ABOUT in (("id", SUBJECTS), ("id", {}), ("doc_id", SUBJECTS)):
    INPUTS[f"answers of models by {ITEMS}, beside {', '.join(ABOUT) or 'nothing'}"] = Input(
        one(lambda items=ITEMS, about=ABOUT: answered(items, **about)),
        Asks(
            "does not say whether columns are algorithms",
            1,
            {"--columns": Read("algorithm", None, None, "score", (ITEMS,), False, 2, 1, n_tasks=6)},
        ),
    )

# --- what is no score, no run and no task ---

FOUR = [1, 2, 3, 4]


def timed(column: str, cells: str, **tried: list[int]) -> pd.DataFrame:
    """Return times of two methods as text beside whole numbers that were tried, the same for both."""
    frame = rows(method=AB, run=FOUR)
    frame[column] = [cells.format(place) for place in frame.pop("score").rank().astype(int)]
    for name, values in tried.items():
        frame.insert(2, name, values * 2)
    return frame


INPUTS["whole numbers that are the same for each algorithm, beside times"] = Input(
    one(lambda: timed("time to target", "0:59:2{}", threads=[8] * 4)),
    Asks(
        "has no score but threads, the same for each algorithm",
        2,
        {"--value 'time to target'": Read("method", "run", None, "time to target", (), True, 2, 4)},
    ),
)
INPUTS["whole numbers that are the same for each algorithm, beside text"] = Input(
    one(lambda: timed("acc", "0.7{}%?", shots=[1, 2, 4, 8])),
    Asks("acc is text, first '0.7", 1, {"--value shots": Read("method", "run", None, "shots", (), False, 2, 4)}),
)
INPUTS["whole numbers beside shares as text"] = Input(
    one(lambda: timed("solved", "{}/39", n_items=[39, 40, 41, 42]).assign(n_items=range(39, 47))),
    Asks("has no score but n_items, whole numbers; solved is text", 1),
)


def with_sums(**labels: list[str | int]) -> pd.DataFrame:
    """Return scores whose labels end in those of sums."""
    return rows(classifier=AB, **labels, value="acc", shift="classifier")


FOLDED = Read("classifier", "fold", None, "acc", (), False, 2, 4, matched=True)
for SUMS in (["mean", "std"], ["Average", "Std. dev."], ["MEAN"]):
    INPUTS[f"folds beside {', '.join(SUMS)}"] = Input(
        one(lambda sums=SUMS: with_sums(fold=[*map(str, FOUR), *sums])), FOLDED
    )


def with_all(others: list[str]) -> pd.DataFrame:
    """Return scores of corpora, and the means of their scores of each seed as those of ALL."""
    frame = rows(classifier=AB, corpus=others, seed=FOUR, value="acc")
    means = frame.groupby(["classifier", "seed"], as_index=False)["acc"].mean().round(4).assign(corpus="ALL")
    return pd.concat([frame, means], ignore_index=True)


INPUTS["tasks beside ALL"] = Input(
    one(lambda: with_all(["de", "fr", "cs"])),
    Read("classifier", "seed", None, "acc", ("corpus",), False, 2, 4, n_tasks=3),
    ("--algorithm", "classifier", "--extra", "corpus"),
)
INPUTS["a task called ALL"] = Input(
    one(lambda: with_sums(corpus=["de", "fr", "ALL"], seed=FOUR)),
    Read("classifier", "seed", None, "acc", ("corpus",), False, 2, 4, n_tasks=3),
    ("--algorithm", "classifier", "--extra", "corpus"),
)
INPUTS["a task called sd, where none is called mean"] = Input(
    one(lambda: with_sums(task=["de", "fr", "sd"], seed=FOUR)),
    Read("classifier", "seed", None, "acc", ("task",), False, 2, 4, n_tasks=3),
)
INPUTS["algorithms whose labels look like means"] = Input(
    one(lambda: rows(model=["2.5 (70)", "3.1 (8)"], seed=FOUR, value="acc")),
    Read("model", "seed", None, "acc", (), False, 2, 4),
)
INPUTS["keys within keys of four levels"] = Input(
    lambda: {
        "log.json": json.dumps(
            {task: {name: {"13": {"f1": 7.5, "n": 8}, "42": {"f1": 7.25, "n": 8}} for name in AB} for task in "pq"}
        )
    },
    Asks(
        "does not say which column is the algorithm",
        3,
        {"--algorithm key2 --extra key1": Read("key2", "run", None, "f1", ("key1",), False, 2, 2, 1, 2)},
    ),
)
INPUTS["scores of each run at the step where it ended"] = Input(
    one(lambda: rows(algo=AB, seed=FOUR, value="accuracy").assign(epoch=[50, 60, 55, 48, 51, 62, 57, 49])),
    Asks(
        "has one row of each run, at unlike epoch",
        2,
        {"--training none": Read("algo", "seed", None, "accuracy", (), False, 2, 4)},
    ),
)


def with_spread() -> pd.DataFrame:
    """Return the scores of two seeds, their mean and their spread."""
    frame = rows(Agent=AB, Game=["Pong", "Qbert", "Ant"], value="seed 1")
    frame["seed 2"] = frame["seed 1"][::-1].to_numpy()
    seeds = frame[["seed 1", "seed 2"]]
    return frame.assign(mean=seeds.mean(axis=1), std=seeds.std(axis=1))


INPUTS["wide, runs beside their mean and spread"] = Input(
    one(with_spread),
    Asks(
        "columns that seem to be scores of runs",
        None,
        {"'seed {run}'": Read("Agent", "run", None, None, ("Game",), False, 2, 2, n_tasks=3)},
    ),
)
INPUTS["wide, runs in brackets"] = Input(
    one(lambda: numbered("ppo (run 1)", "ppo (run 2)", "sac (run 1)", "sac (run 2)")), RUNS
)
INPUTS["wide, sizes of models beside tasks"] = Input(
    one(lambda: published("{} (0.5)").assign(**{"Params (M)": [25.6, 27.0]})),
    Asks("whether columns are tasks", 2, {"Cora|Ant|Pub": PUBLISHED}),
)
INPUTS["a score whose name says its end in words"] = Input(
    one(lambda: rows(system=AB, run=FOUR, value="rank by people (1=best, 5=worst)")),
    Read("system", "run", None, "rank by people (1=best, 5=worst)", (), True, 2, 4),
)
CROSSED = ["bert/rte", "bert/qnli", "bert/cola", "t5/rte", "t5/qnli", "t5/cola"]
OF_PARTS = Read("algorithm", "row", None, "score", ("task",), False, 2, 4, n_tasks=3)
INPUTS["wide, keys within keys"] = Input(
    one(lambda: pd.DataFrame(np.random.default_rng(0).normal(size=(4, 6)).round(4), columns=CROSSED)),
    Asks(
        "which part of columns such as bert/rte is the algorithm",
        2,
        {"{algorithm}/{task}": OF_PARTS, "{task}/{algorithm}": replace(OF_PARTS, algorithms=3, n_tasks=2)},
    ),
)
