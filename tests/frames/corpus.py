"""Small inputs with their right reading: what an engineer who knows the logs would say of their columns.

An input is files below a folder, made by a function that returns their text by path (or a frame, written as CSV), the
options that are typed, and what is right: a `Read`, `ASKS` or `REFUSES`. `test_readings.py` reads each by the shell and
by Python, compares the two, and follows every command that a question proposes. Further folders are in
`corpus_folders.py`, near misses of rules in `corpus_near_misses.py`, rows of repeated scores, wide tables and arrays in
`corpus_rows.py`, formats of packages in `corpus_sources.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd


class Link(str):
    """Where a symbolic link leads, from its own folder."""

    __slots__ = ()


Files = Mapping[str, str | bytes | pd.DataFrame]


@dataclass(frozen=True)
class Read:
    """A right reading: the columns of roles, which end is good, and the numbers of labels; None is not compared."""

    algorithm: str | None = None
    run: str | None = None
    training: str | None = None
    score: str | None = None
    tasks: tuple[str, ...] | None = None
    lower: bool = False
    algorithms: int | None = None
    runs: int | None = None
    levels: int | None = None
    n_tasks: int = 1
    matched: bool = False
    groups: str = ""
    says: str = ""  # words of the line of the shell
    difference: float | None = None  # at the last level: the first algorithm less the second
    mean: float | None = None  # at the last level: of the first algorithm


@dataclass(frozen=True)
class Asks:
    """A question; each proposed command is followed and must read. `words` are in it."""

    words: str = ""
    commands: int | None = None
    then: Mapping[str, Read] = field(default_factory=dict)  # by a part of the command


@dataclass(frozen=True)
class Refuses:
    """A refusal without a reading that fits; `words` are in it."""

    words: str


@dataclass(frozen=True)
class Input:
    """Files, what is typed, and what is right."""

    files: Callable[[], Files]
    right: Read | Asks | Refuses
    typed: tuple[str, ...] = ()


def rows(rng: int = 0, shift: str | None = None, **columns: Any) -> pd.DataFrame:
    """Return a row of each combination of labels with a score; of the last label of `shift` it is higher by 2."""
    value = columns.pop("value", "score")
    index = pd.MultiIndex.from_product(columns.values(), names=columns)
    frame = index.to_frame(index=False)
    frame[value] = np.random.default_rng(rng).normal(size=len(frame)).round(4)
    if shift is not None:
        frame.loc[frame[shift] == columns[shift][-1], value] += 2
    return frame


def one(make: Callable[[], pd.DataFrame], name: str = "log.csv") -> Callable[[], Files]:
    """Return what makes one file of a frame."""
    return lambda: {name: make()}


def lines(records: list[dict[str, Any]]) -> str:
    """Return JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


AB = ["ada", "bob"]
INPUTS: dict[str, Input] = {}

# --- names propose ---

INPUTS["usual names"] = Input(
    one(
        lambda: rows(
            algo=AB,
            seed=[1, 2, 3],
            env_steps=[0, 5, 9],
            env=["x", "y"],
            value="episodic_return",
        )
    ),
    Read("algo", "seed", "env_steps", "episodic_return", ("env",), False, 2, 3, 3, 2),
)
INPUTS["names of dims"] = Input(
    one(lambda: rows(algorithm=AB, run=[1, 2], training=[0, 5], agent=["m"], seed=[0])),
    Read("algorithm", "run", "training", "score", (), False, 2, 2, 2),
)
INPUTS["ids and names"] = Input(
    one(
        lambda: rows(
            env_id=["x", "y"],
            model_name=AB,
            run_id=[3, 4],
            global_step=[0, 1],
            value="val_loss",
        )
    ),
    Read("model_name", "run_id", "global_step", "val_loss", ("env_id",), True, 2, 2, 2, 2),
)
NUMBERED = {
    "words in capitals": {"ModelNo": AB, "SeedIdx": [1, 2], "EpochNr": [0, 5], "EnvIndex": ["x", "y"]},
    "endings that number": {"algo_idx": AB, "run_num": [1, 2], "step_no": [0, 5], "task_index": ["x", "y"]},
}
for title, columns in NUMBERED.items():
    algorithm, run, training, task = columns
    INPUTS[title] = Input(
        one(lambda columns=columns: rows(**columns, value="Reward")),
        Read(algorithm, run, training, "Reward", (task,), False, 2, 2, 2, 2),
    )
INPUTS["a column with a label for each run is no algorithm"] = Input(
    one(
        lambda: rows(opt=AB, seed=[1, 2], step=[0, 5], value="eval_loss").assign(
            job=lambda each: "x" + (2 * (each["opt"] == AB[1]) + each["seed"]).astype(str)
        )
    ),
    Asks(
        "the algorithm (opt or job)",
        1,
        {"--algorithm opt ": Read("opt", "seed", "step", "eval_loss", (), True, 2, 2, 2)},
    ),
)
INPUTS["folds that are numbered"] = Input(
    one(lambda: rows(Learner=AB, FoldNr=[1, 2, 3], value="ValLoss")),
    Read("Learner", "FoldNr", None, "ValLoss", (), True, 2, 3, matched=True),
)
INPUTS["scores without training"] = Input(
    one(lambda: rows(framework=AB, seed=[1, 2], dataset=["x", "y", "z"], value="auc")),
    Read("framework", "seed", None, "auc", ("dataset",), False, 2, 2, 1, 3),
)
INPUTS["one column of text"] = Input(
    one(lambda: rows(variant=AB, seed=[1, 2], step=[1, 2], value="z")),
    Read("variant", "seed", "step", "z", (), False, 2, 2, 2),
)
INPUTS["two columns of text"] = Input(
    one(lambda: rows(variant=AB, flavour=["x", "y"], seed=[1, 2], step=[1, 2], value="z")),
    Asks("the algorithm (variant or flavour)"),
)
INPUTS["typed names"] = Input(
    one(lambda: rows(who=AB, n=[1, 2, 3], x=[1, 2], value="y")),
    Read("who", "n", "x", "y", (), False, 2, 3, 2),
    ("--algorithm", "who", "--run", "n", "--training", "x", "--value", "y"),
)
INPUTS["no training that is typed"] = Input(
    one(lambda: rows(model=AB, seed=[1, 2, 3], epoch=[9], value="acc")),
    Read("model", "seed", None, "acc", (), False, 2, 3, 1),
    ("--training", "none"),
)
INPUTS["no score"] = Input(
    one(lambda: rows(model=AB, seed=[1, 2]).assign(score="good")),
    Refuses("score"),
)

ALIKE = Read("algo", "seed", "step", "score", (), False, 2, 3, 2)
INPUTS["algorithms that differ in case only"] = Input(
    one(lambda: rows(algo=["PPO", "ppo"], seed=[1, 2, 3], step=[0, 5])),
    Asks("Rename one if they are one algorithm", 1, {"--algorithm algo": ALIKE}),
)
INPUTS["tasks that differ in blanks only, below algorithms"] = Input(
    one(lambda: rows(algo=AB, env=["Walker 2d", "walker2d"], seed=[1, 2, 3], step=[0, 5])),
    Asks("Rename one if they are one task", 1, {"--extra env": replace(ALIKE, tasks=("env",), n_tasks=2)}),
)
INPUTS["a dash between digits"] = Input(
    one(lambda: rows(algo=["gpt-4-1", "gpt-41"], seed=[1, 2, 3], step=[0, 5])),
    ALIKE,
)


def answers() -> pd.DataFrame:
    """Return answers to questions that are right or wrong, with what each took."""
    frame = rows(model=AB, question_id=list(range(8)))
    right = frame["question_id"] < frame["model"].map({"ada": 6, "bob": 3})
    tokens = np.arange(100, 100 + len(frame))
    return frame.drop(columns="score").assign(prompt_tokens=tokens, latency_ms=tokens * 1.5, correct=right)


INPUTS["answers that are True or False"] = Input(
    one(answers),
    Read("model", None, None, "correct", ("question_id",), False, 2, n_tasks=8, difference=0.375),
)
INPUTS["a mean and its spread"] = Input(
    one(lambda: rows(model=AB, dataset=["x", "y", "z"], value="mean").assign(std=0.5 + np.arange(6))),
    Asks("the score (mean or std)", 2, {"--value mean": Read("model", None, None, "mean", ("dataset",), n_tasks=3)}),
)
RUN_NAMES = Read("exp_name", "run_name", "_step", "episode_return", (), False, 2, 8, 3)
INPUTS["names of runs beside seeds, and a runtime"] = Input(
    one(
        lambda: rows(exp_name=AB, seed=[1, 2, 3, 4], _step=[0, 5, 9], value="episode_return").assign(
            run_name=lambda frame: "x__" + frame["exp_name"] + "__" + frame["seed"].astype(str),
            _runtime=lambda frame: frame["_step"] * 3 + frame["seed"],
            SPS=lambda frame: frame.index % 7 + 900,
        )
    ),
    Asks("the run (seed or run_name)", None, {"--run run_name": RUN_NAMES}),
)

# --- 1: steps and clocks are no labels ---


def mmcv(algorithm: str, seed: int) -> str:
    """Return a log of MMCV, whose iter begins anew in every epoch."""
    made: list[dict[str, Any]] = [{"env_info": "linux", "seed": seed}]
    for epoch in range(1, 4):
        made += [
            {
                "mode": "train",
                "epoch": epoch,
                "iter": at,
                "loss": 2.0 / epoch + at / 100,
            }
            for at in (10, 20)
        ]
        score = 70.0 + epoch + seed / 10 + 5 * (algorithm == "swin")
        made.append({"mode": "val", "epoch": epoch, "iter": 19, "accuracy_top-1": score})
    return lines(made)


def folders(write: Callable[[str, int], Any], file: str, runs: int = 4) -> Files:
    """Return a file of each of two algorithms and some seeds, in folders."""
    return {f"logs/{name}/{seed}/{file}": write(name, seed) for name in ("res", "swin") for seed in range(runs)}


INPUTS["iter begins anew in every epoch"] = Input(
    lambda: folders(mmcv, "20211028.log.json"),
    Read(
        "algorithm",
        "run",
        "epoch",
        "accuracy_top-1",
        (),
        False,
        2,
        4,
        3,
        says="iter begins anew in each epoch",
        difference=-5.0,
    ),
    ("--value", "accuracy_top-1"),
)


def batches() -> pd.DataFrame:
    """Return several losses in each epoch, whose batch count begins anew."""
    return rows(model=AB, seed=[0, 1, 2], epoch=[1, 2, 3], iteration=[1, 2, 3, 4], value="loss")


INPUTS["the last row of each epoch"] = Input(
    one(batches),
    Read(
        "model",
        "seed",
        "epoch",
        "loss",
        (),
        True,
        2,
        3,
        3,
        says="the last row of each epoch",
    ),
)


def clocked(**changes: Any) -> pd.DataFrame:
    """Return scores of runs with a time of each row."""
    frame = rows(algo=AB, seed=[0, 1, 2, 3], step=[0, 10, 20], value="return")
    frame["wall_time"] = 1.7e9 + 3.0 * np.arange(len(frame))
    return frame.assign(**changes)


INPUTS["wall times beside steps"] = Input(one(clocked), Read("algo", "seed", "step", "return", (), False, 2, 4, 3))
INPUTS["every step 0, a clock goes on"] = Input(
    one(lambda: clocked(step=0)),
    Read(
        "algo",
        "seed",
        "order of wall_time",
        "return",
        (),
        False,
        2,
        4,
        3,
        says="training is the order of wall_time",
    ),
)
INPUTS["every step 0, dates"] = Input(
    one(
        lambda: (
            clocked(step=0)
            .assign(timestamp=lambda each: pd.to_datetime(each["wall_time"], unit="s").dt.strftime("%Y-%m-%d %H:%M:%S"))
            .drop(columns="wall_time")
        )
    ),
    Read("algo", "seed", "order of timestamp", "return", (), False, 2, 4, 3),
)
INPUTS["every step 0 without a clock"] = Input(
    one(lambda: clocked(step=0).drop(columns="wall_time")),
    Asks(
        "never change within a run",
        2,
        {"--duplicates last": Read(run="seed", levels=1, runs=4)},
    ),
)
INPUTS["a step that is the same of one row each"] = Input(
    one(lambda: rows(algo=AB, seed=[0, 1, 2], step=[1000])),
    Read("algo", "seed", "step", "score", (), False, 2, 3, 1),
)
INPUTS["a time of each run is no training"] = Input(
    one(
        lambda: rows(model=AB, seed=[0, 1, 2], dataset=["x", "y"], value="acc").assign(
            time=lambda each: np.arange(len(each)) + 0.5
        )
    ),
    Read("model", "seed", None, "acc", ("dataset",), False, 2, 3, 1, 2),
)
INPUTS["when a run was made is no run"] = Input(
    one(
        lambda: rows(model=AB, seed=[0, 1, 2], value="acc").assign(
            created_at=[f"2026-01-0{day} 10:00:00" for day in range(1, 7)]
        )
    ),
    Read("model", "seed", None, "acc", (), False, 2, 3, 1),
)
INPUTS["a clock of another name"] = Input(
    one(
        lambda: rows(kind=AB, seed=range(4), step=range(6)).assign(
            stamp=lambda each: [f"t{place:03d}" for place in range(len(each))]
        )
    ),
    Read("kind", "seed", "step", "score", (), False, 2, 4, 6),
)
INPUTS["whole numbers that rise in each run"] = Input(
    one(lambda: rows(algo=AB, seed=[0, 1, 2], n=[1, 2, 3, 4])),
    Asks(
        "whether n counts steps of training, names tasks or is a setting of the algorithm",
        3,
        {
            "--training n": Read(training="n", levels=4),
            "--extra n": Read(tasks=("n",), n_tasks=4, levels=1),
        },
    ),
)
INPUTS["sorted seeds stay runs"] = Input(
    one(lambda: rows(algo=AB, seed=range(30))),
    Read("algo", "seed", None, "score", (), False, 2, 30, 1),
)
INPUTS["a step that is typed as a task"] = Input(
    one(lambda: rows(algo=AB, seed=[0, 1, 2], checkpoint=["x"], epoch=[1, 2])),
    Read("algo", "seed", None, "score", ("epoch",), False, 2, 3, 1, 2),
    ("--training", "none", "--extra", "epoch"),
)
INPUTS["trial numbers and configurations are no labels"] = Input(
    one(lambda: rows(variant=AB, seed=[0, 1, 2], value="acc").assign(trial_number=range(6), config_id=range(6))),
    Read("variant", "seed", None, "acc", (), False, 2, 3, 1),
    ("--training", "none"),
)
INPUTS["tokens before epochs"] = Input(
    one(
        lambda: rows(optimizer=AB, seed=[0, 1], tokens=[100, 200, 300], value="val_loss").assign(
            elapsed=lambda each: np.arange(len(each)) / 7
        )
    ),
    Read("optimizer", "seed", "tokens", "val_loss", (), True, 2, 2, 3),
)

INPUTS["batches begin anew in every epoch"] = Input(
    one(lambda: rows(model=AB, seed=[0, 1, 2], epoch=[1, 2, 3], batch_idx=[1, 2, 3, 4], value="loss")),
    Read("model", "seed", "epoch", "loss", (), True, 2, 3, 3, says="batch_idx begins anew in each epoch"),
)
INPUTS["a clock of an unknown name is no task"] = Input(
    one(
        lambda: (
            rows(model=AB, seed=range(6), at=range(5), value="reward")
            .assign(stamp=lambda each: 7 * np.arange(len(each)))
            .drop(columns="at")
        )
    ),
    Read("model", "seed", "order of stamp", "reward", (), False, 2, 6, 5, says="stamp is a clock"),
)

# --- 2: items are tasks, folds are matched runs ---

INPUTS["one score of each item"] = Input(
    one(lambda: rows(model=AB, doc_id=range(12), value="acc")),
    Read("model", None, None, "acc", ("doc_id",), False, 2, 1, 1, 12),
)
INPUTS["items in another order"] = Input(
    one(lambda: rows(model=AB, question_id=range(12), value="acc").sample(frac=1, random_state=1)),
    Read("model", None, None, "acc", ("question_id",), False, 2, 1, 1, 12),
)
INPUTS["answers repeat"] = Input(
    one(lambda: pd.concat([rows(rng, model=AB, item=["q1", "q2", "q3"], value="correct") for rng in range(4)])),
    Read("model", "run", None, "correct", ("item",), False, 2, 4, 1, 3),
    ("--value", "correct"),
)
INPUTS["answers with seeds"] = Input(
    one(lambda: rows(model=AB, sample_id=range(8), seed=[0, 1, 2], value="score")),
    Read("model", "seed", None, "score", ("sample_id",), False, 2, 3, 1, 8),
)


def passages(*, anew: bool) -> pd.DataFrame:
    """Return questions of passages, counted anew in each or not."""
    frame = rows(model=AB, passage=["p1", "p2", "p3"], question=[0, 1, 2], value="score")
    if not anew:
        frame["question"] += 3 * frame["passage"].str[1].astype(int)
    return frame


INPUTS["items counted anew in each passage"] = Input(
    one(lambda: passages(anew=True)),
    Read(
        "model",
        None,
        None,
        "score",
        ("passage, question",),
        False,
        2,
        1,
        1,
        9,
        groups="passage",
    ),
)
INPUTS["items of passages"] = Input(
    one(lambda: passages(anew=False)),
    Read("model", None, None, "score", ("question",), False, 2, 1, 1, 9, groups="passage"),
)
INPUTS["task groups that are named"] = Input(
    one(lambda: passages(anew=False).rename(columns={"passage": "site"})),
    Read("model", None, None, "score", ("question",), False, 2, 1, 1, 9, groups="site"),
    ("--task-groups", "site"),
)
INPUTS["what is constant in each item"] = Input(
    one(
        lambda: rows(model=AB, question=range(6), value="score").assign(
            subject=lambda each: ["law", "art"] * 6,
            difficulty=lambda each: ["easy", "hard", "hard"] * 4,
        )
    ),
    Read(
        "model",
        None,
        None,
        "score",
        ("question",),
        False,
        2,
        1,
        1,
        6,
        says="subject, difficulty not used",
    ),
)
INPUTS["items that no two algorithms share"] = Input(
    one(lambda: rows(model=AB, seed=range(5), value="score").assign(sample_id=range(10))),
    Read("model", "seed", None, "score", (), False, 2, 5, 1),
)
ITEMS = Read("model", None, None, "score", ("question",), False, 3, 1, 1, 8)


def items(**labels: list[str]) -> pd.DataFrame:
    """Return an answer of three models to each of eight questions."""
    return rows(model=["ada", "bob", "cy"], question=range(8), **labels)


def again(*, n_answers: int, equal: bool = False) -> pd.DataFrame:
    """Return answers of which one model has a second one to some questions."""
    frame = items()
    second = frame[frame.model == "bob"].head(n_answers)
    if not equal:
        second = second.assign(score=second.score + 1)
    return pd.concat([frame, second])


for EQUAL in (False, True):
    INPUTS[f"a second answer to one item, equal {EQUAL}"] = Input(
        one(lambda equal=EQUAL: again(n_answers=1, equal=equal)),
        Asks(
            "has a second answer to an item (bob, 0)",
            2,
            {
                "duplicates runs": replace(ITEMS, run="run", runs=2),
                "duplicates last": ITEMS,
            },
        ),
    )
INPUTS["second answers to three items"] = Input(
    one(lambda: again(n_answers=3)), Asks("has 3 further answers to items that have one (bob, 0)", 2)
)
INPUTS["second answers, the mean is asked for"] = Input(
    one(lambda: again(n_answers=3)), ITEMS, ("--duplicates", "mean")
)
INPUTS["one model has two answers to all items"] = Input(
    one(lambda: again(n_answers=8)), replace(ITEMS, run="run", runs=2)
)
for COLUMN in ("metric", "kind"):
    INPUTS[f"items by two metrics, column {COLUMN}"] = Input(
        one(lambda column=COLUMN: items(**{column: ["acc", "f1"]})),
        Asks(f"has 2 {COLUMN}s (acc or f1)", 2, {f"{COLUMN}=acc": ITEMS, f"{COLUMN}=f1": ITEMS}),
    )
    INPUTS[f"values by two metrics, column {COLUMN}"] = Input(
        one(lambda column=COLUMN: items(**{column: ["acc", "f1"]}).rename(columns={"score": "value"})),
        Asks(f"has 2 {COLUMN}s (acc or f1)", 2, {f"{COLUMN}=f1": replace(ITEMS, score="value")}),
    )
INPUTS["models that are called like scores"] = Input(
    one(lambda: items().replace({"ada": "reward a", "bob": "reward b", "cy": "reward c"})), ITEMS
)
INPUTS["the metric of each item"] = Input(
    one(lambda: items().assign(metric=lambda frame: np.where(frame.question < 4, "acc", "f1"))), ITEMS
)


def strangers(n_common: int, models: int = 2) -> pd.DataFrame:
    """Return answers of models of which the last has other questions, but for some."""
    frame = items()
    frame = frame[frame.model.isin(["ada", "bob", "cy"][-models:])]
    is_other = (frame.model == "cy") & (frame.question >= n_common)
    return frame.assign(question=frame.question + 100 * is_other)


for N_COMMON in (0, 1):
    INPUTS[f"two models with {N_COMMON} items in common"] = Input(
        one(lambda n_common=N_COMMON: strangers(n_common)),
        Asks(
            f"has {16 - N_COMMON} questions, of which any two algorithms have {N_COMMON} in common",
            1,
            {"run": Read("model", "question", None, "score", (), False, 2, 16 - N_COMMON, 1)},
        ),
    )
INPUTS["a third model with other items"] = Input(one(lambda: strangers(0, models=3)), replace(ITEMS, n_tasks=16))
INPUTS["folds"] = Input(
    one(
        lambda: rows(
            learner=AB,
            Resample=[f"Fold{n:02d}" for n in range(1, 11)],
            value="Accuracy",
        )
    ),
    Read("learner", "Resample", None, "Accuracy", (), False, 2, 10, 1, matched=True),
)
INPUTS["folds and repeats"] = Input(
    one(lambda: rows(model=AB, repeat=[1, 2], fold=range(5), dataset=["x", "y"], value="auc")),
    Read(
        "model",
        "repeat, fold",
        None,
        "auc",
        ("dataset",),
        False,
        2,
        10,
        1,
        2,
        matched=True,
        says="repeats are not independent (one run a fold: --run fold --duplicates mean)",
    ),
)
INPUTS["folds and repeats that are typed"] = Input(
    one(
        lambda: rows(
            scheme=AB,
            Key_Run=[1, 2],
            Key_Fold=range(1, 4),
            Key_Dataset=["x", "y"],
            value="accuracy",
        )
    ),
    Read(
        "scheme",
        "Key_Run, Key_Fold",
        None,
        "accuracy",
        ("Key_Dataset",),
        False,
        2,
        6,
        1,
        2,
        matched=True,
    ),
    ("--run", "Key_Run", "Key_Fold"),
)
INPUTS["curves of folds"] = Input(
    one(lambda: rows(model=AB, fold=[0, 1, 2], epoch=[1, 2], value="val_loss")),
    Read("model", "fold", "epoch", "val_loss", (), True, 2, 3, 2, matched=True),
)
INPUTS["iteration beside resampling"] = Input(
    one(
        lambda: rows(
            task_id=["t0", "t1"],
            learner_id=AB,
            resampling_id=["cv"],
            iteration=range(1, 6),
            value="classif.ce",
        )
    ),
    Read(
        "learner_id",
        "iteration",
        None,
        "classif.ce",
        ("task_id",),
        True,
        2,
        5,
        1,
        2,
        matched=True,
    ),
)
INPUTS["seeds are not matched"] = Input(
    one(lambda: rows(model=AB, seed=range(5), value="auc")),
    Read("model", "seed", None, "auc", (), False, 2, 5, 1),
)
INPUTS["a split is no fold"] = Input(
    one(lambda: rows(model=AB, seed=range(3), split=["train", "test"], value="acc")),
    Asks(
        "split",
        2,
        {"split=test": Read("model", "seed", None, "acc", (), False, 2, 3, 1)},
    ),
)
INPUTS["one split"] = Input(
    one(lambda: rows(model=AB, seed=range(3), split=["train", "test"], value="acc")),
    Read("model", "seed", None, "acc", (), False, 2, 3, 1),
    ("--select", "split=test"),
)

# --- 9: which end is good: the label of a selected metric ---


def metrics(*names: str, column: str = "metric") -> pd.DataFrame:
    """Return a long table whose column says which metric a row has."""
    return rows(model=AB, seed=[0, 1, 2], step=[1, 2], value="value", **{column: list(names)})


INPUTS["the only metric"] = Input(
    one(lambda: metrics("val_loss")),
    Read("model", "seed", "step", "value", (), True, 2, 3, 2),
)
INPUTS["a metric that is selected"] = Input(
    one(lambda: metrics("val_loss", "accuracy")),
    Read("model", "seed", "step", "value", (), True, 2, 3, 2),
    ("--select", "metric=val_loss"),
)
INPUTS["another metric that is selected"] = Input(
    one(lambda: metrics("val_loss", "accuracy")),
    Read("model", "seed", "step", "value", (), False, 2, 3, 2),
    ("--select", "metric=accuracy"),
)
INPUTS["a tag that is selected"] = Input(
    one(lambda: metrics("eval/return", "train/loss", column="tag")),
    Read("model", "seed", "step", "value", (), True, 2, 3, 2),
    ("--select", "tag=train/loss"),
)
INPUTS["an option of the direction"] = Input(
    one(lambda: metrics("accuracy")),
    Read("model", "seed", "step", "value", (), True, 2, 3, 2),
    ("--lower-is-better",),
)
for name, lower in {
    "val_loss": True,
    "neg_log_loss": False,
    "negative_log_likelihood": True,
    "p99_latency_ms": True,
    "episode_reward_mean": False,
    "cost_saving": False,
    "top1_error_rate": True,
    "survival_time": False,
}.items():
    INPUTS[f"the end of {name}"] = Input(
        one(lambda name=name: rows(model=AB, seed=[0, 1], step=[1, 2], value=name)),
        Read("model", "seed", "step", name, (), lower, 2, 2, 2),
    )

# --- 5: folders ---


def curve(algorithm: str, seed: int) -> str:
    """Return a CSV of a run without names of its own."""
    rng = np.random.default_rng(seed + 10 * len(algorithm))
    return "step,return\n" + "".join(f"{step},{rng.normal():.3f}\n" for step in (0, 10, 20))


def placed(*places: str, file: str = "progress.csv") -> Callable[[], Files]:
    """Return runs at places below logs/, each with other scores."""
    return lambda: {f"logs/{place}/{file}": curve("x", number) for number, place in enumerate(places)}


def crossed(*levels: list[str]) -> list[str]:
    """Return all places of levels of folders."""
    return ["/".join(place) for place in pd.MultiIndex.from_product(levels)] if len(levels) > 1 else list(levels[0])


TWO = Read("algorithm", "run", "step", "return", (), False, 2, 2, 3)
INPUTS["folders are algorithm and run"] = Input(placed(*crossed(["sac", "td3"], ["0", "1"])), TWO)
OF_TASKS = Read("algorithm", "run", "step", "return", ("task",), False, 2, 2, 3, 2)
INPUTS["folders are task, algorithm and run"] = Input(
    placed(*crossed(["Ant", "Hopper"], ["sac", "td3"], ["0", "1"])),
    Asks(
        "'Ant' or 'sac' is the algorithm or the task", 2, {"task algorithm run": OF_TASKS, "algorithm task": OF_TASKS}
    ),
)
INPUTS["folders of environments are tasks"] = Input(
    placed(*crossed(["Ant-v4", "Hopper-v4"], ["sac", "td3"], ["0", "1"])), OF_TASKS
)
INPUTS["names of algorithm and run below tasks"] = Input(
    placed(*crossed(["Ant", "Hopper"], ["sac_seed0", "sac_seed1", "td3_seed0", "td3_seed1"])),
    Asks("'Ant' or 'sac' is the algorithm or the task", 2, {"'{task}/{algorithm}_seed{run}'": OF_TASKS}),
)
INPUTS["names of algorithm and any seed below tasks"] = Input(
    placed(*crossed(["Ant", "Hopper"], ["sac_42", "sac_43", "td3_42", "td3_43"])),
    Asks("'Ant' or 'sac' is the algorithm or the task", 2, {"'{task}/{algorithm}_{run}'": OF_TASKS}),
)
INPUTS["a measure of an unknown name beside a loss is said"] = Input(
    one(lambda: rows(method=AB, seed=[1, 2, 3], value="gini").assign(loss=lambda each: 1 - each.gini.abs())),
    Read("method", "seed", None, "loss", (), True, 2, 3, 1, says="score = loss (not gini)"),
)
INPUTS["names of algorithm and run below a folder"] = Input(
    placed(*crossed(["results"], ["sac_seed0", "sac_seed1", "td3_seed0", "td3_seed1"])), TWO
)
INPUTS["the last level of whole numbers is the run"] = Input(
    placed(*crossed(["sac", "td3"], ["0", "1"], ["logs"])), TWO
)
THREE = Read("algorithm", "run", "step", "return", (), False, 2, 3, 3)
INPUTS["numbers above, algorithms below"] = Input(placed(*crossed(["0", "1", "2"], ["sac", "td3"])), THREE)
INPUTS["seeds above and a version below"] = Input(
    placed(*crossed(["sac", "td3"], ["seed_0", "seed_1", "seed_2"], ["version_0"])),
    THREE,
)
INPUTS["two levels of numbers"] = Input(
    placed(*crossed(["sac", "td3"], ["10", "20"], ["0", "1", "2"])),
    Asks(
        "two levels of folders are whole numbers",
        3,
        {
            "--folders algorithm task run": Read(tasks=("task",), n_tasks=2, algorithms=2, runs=3),
            "--folders task algorithm run": Read(tasks=("task",), n_tasks=2, algorithms=2, runs=3),
            "--algorithm name number": Read(algorithms=4, runs=3, tasks=()),
        },
    ),
)
INPUTS["two levels of numbers that are named"] = Input(
    placed(*crossed(["sac", "td3"], ["10", "20"], ["0", "1", "2"])),
    Read("algorithm", "run", "step", "return", ("size",), False, 2, 3, 3, 2),
    ("--folders", "algorithm", "size", "run"),
)


def configured(keys: Callable[[str, int], dict[str, Any]], *levels: list[str]) -> Callable[[], Files]:
    """Return runs in folders with a configuration of each."""

    def make() -> Files:
        files: dict[str, Any] = {}
        for number, place in enumerate(crossed(*levels)):
            files[f"logs/{place}/progress.csv"] = curve("x", number)
            files[f"logs/{place}/config.json"] = json.dumps(keys(place, number))
        return files

    return make


SEEDS = ["0", "1", "2"]


def of_machine(place: str, number: int) -> dict[str, Any]:
    """Return settings of a machine, and a seed."""
    return {
        "commit": f"c{number % 2}",
        "num_workers": number % 3 % 2,
        "seed": number % 3,
    }


def alternating(key: str, labels: list[str], n_each: int) -> Callable[[str, int], dict[str, Any]]:
    """Return settings whose key alternates from run to run, and whose seed grows after some."""
    return lambda place, number: {key: labels[number % 2], "seed": number // n_each}


INPUTS["a folder wins over settings of the machine"] = Input(
    configured(
        lambda place, number: {
            "commit": f"c{number % 2}",
            "num_workers": number % 3 % 2,
            "seed": number % 3,
        },
        ["sac", "td3"],
        ["0", "1", "2"],
    ),
    THREE,
)
INPUTS["a folder and a key that agree"] = Input(
    configured(
        lambda place, number: {"algo": place[:3].upper(), "seed": number % 3},
        ["sac", "td3"],
        ["0", "1", "2"],
    ),
    THREE,
)
INPUTS["a folder and a key that disagree"] = Input(
    configured(
        lambda place, number: {"algo": ["ppo", "a2c"][number % 2], "seed": number},
        ["first", "second"],
        ["0", "1", "2", "3"],
    ),
    Asks(
        "the algorithm (algorithm or config/algo)",
        2,
        {"config/algo": Read("config/algo", algorithms=2, runs=8)},
    ),
)
INPUTS["dates are no algorithms"] = Input(
    configured(
        lambda place, number: {"algo": ["ppo", "a2c"][number % 2], "seed": number // 2},
        ["2026-01-01", "2026-01-02"],
        ["0", "1", "2"],
    ),
    Read("algorithm", "run", "step", "return", (), False, 2, None, 3),
)
INPUTS["a configuration names what folders do not"] = Input(
    configured(
        lambda place, number: {
            "optimizer": ["sgd", "adam"][number % 2],
            "seed": number // 2,
        },
        ["x1f", "b2", "c3", "d4"],
    ),
    Read("algorithm", "run", "step", "return", (), False, 2, 2, 3),
)

# --- ends of the road ---


def law() -> pd.DataFrame:
    """Return losses of model sizes and tokens."""
    frame = rows(N=[1e6, 3e6, 1e7, 3e7], D=[1e8, 3e8, 1e9], value="loss")
    return frame.assign(loss=1.7 + 400 / frame["N"] ** 0.34 + 410 / frame["D"] ** 0.28)


INPUTS["points of a scaling law"] = Input(
    one(law),
    Read(None, None, None, "loss", (), True, 1, 12, 1, says="model_size = N, tokens = D"),
)
OF_LAWS = Read("arch", None, None, "loss", (), True, 2, 12, 1, says="each row is a point of a scaling law")
for NAME in ("arch", "method"):
    INPUTS[f"points of a scaling law of each {NAME}"] = Input(
        one(lambda name=NAME: pd.concat([law().assign(**{name: each}) for each in AB])),
        replace(OF_LAWS, algorithm=NAME),
    )
INPUTS["curves over tokens are no points of a law"] = Input(
    one(lambda: rows(model_size=[1, 2, 4], seed=[0, 1], tokens=[1e8, 3e8, 1e9], value="loss")),
    Asks(
        "the algorithm",
        None,
        {"--algorithm model_size": Read("model_size", "seed", "tokens", "loss", (), True, 3, 2, 3)},
    ),
)

# --- 10: states ---


def ended(*states: str) -> pd.DataFrame:
    """Return scores of runs that ended in some states."""
    frame = rows(model=AB, seed=range(4), value="acc")
    return frame.assign(state=[*states, *["finished"] * (8 - len(states))])


INPUTS["runs that failed"] = Input(
    one(lambda: ended("crashed", "FAIL").assign(acc=lambda each: each["acc"].where(each["state"] == "finished"))),
    Read("model", "seed", None, "acc", (), False, 2, 4, 1),
)


def stopped(state: str, *, others: str = "finished") -> pd.DataFrame:
    """Return curves of runs, of which the last ended in a state after two of its three steps, without further rows."""
    frame = rows(model=AB, seed=range(4), step=[0, 10, 20], value="return")
    last = (frame["model"] == AB[1]) & (frame["seed"] == 3)
    return frame.assign(state=np.where(last, state, others))[~last | (frame["step"] < 20)]


OF_STOPPED = Read("model", "seed", "step", "return", (), False, 2, 4, 3)
FAILED = replace(OF_STOPPED, says="levels after the last score of runs that failed have the worst one, as state says")
for STATE in ("crashed", "FAIL", "timeout", "Out of memory", "diverged"):
    INPUTS[f"a run that ended before the others, {STATE}"] = Input(one(lambda state=STATE: stopped(state)), FAILED)
INPUTS["a run that ended before the others is going on"] = Input(one(lambda: stopped("running")), OF_STOPPED)
for STATE in ("killed", "CANCELLED", "preempting", "unheard of"):
    INPUTS[f"a run that ended before the others, {STATE}"] = Input(
        one(lambda state=STATE: stopped(state)),
        Asks(
            f"has runs that were {STATE}",
            2,
            {"state=finished": replace(OF_STOPPED, runs=4), "--missing-scores failed": OF_STOPPED},
        ),
    )
INPUTS["killed runs beside some that finished or are going on"] = Input(
    one(
        lambda: stopped("killed", others="running").assign(
            state=lambda each: each["state"].where(each["seed"] > 0, "done")
        )
    ),
    Asks("has runs that were killed", 3),
)
INPUTS["killed runs beside some that failed"] = Input(
    one(lambda: stopped("killed").assign(state=lambda each: each["state"].where(each["seed"] > 0, "crashed"))),
    Asks("has runs that were killed", 1, {"--missing-scores failed": OF_STOPPED}),
)
INPUTS["states that say nothing of failures"] = Input(one(lambda: stopped("warm", others="cold")), OF_STOPPED)
INPUTS["algorithms that are True and False"] = Input(
    one(lambda: rows(algo=[True, False], seed=range(3), step=[0, 5])),
    Read("algo", "seed", "step", "score", (), False, 2, 3, 2),
)
INPUTS["runs that were killed"] = Input(
    one(lambda: ended("killed", "preempted")),
    Asks(
        "has runs that were killed, preempted",
        2,
        {"state=finished": Read("model", "seed", None, "acc", (), False, 2, 4, 1)},
    ),
)
