"""Rows in an order, names that are algorithm and run in one, and further layouts of packages: see `corpus.py`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from frames.corpus import AB, Asks, Files, Input, Read, Refuses, lines, one, rows
from frames.corpus_sources import kept

INPUTS: dict[str, Input] = {}

# --- rows in an order are steps or runs ---


def history(name: str, n_steps: int = 12) -> pd.DataFrame:
    """Return a loss that falls along the rows, as `evals_result` has it."""
    start = 0.9 if name == "ada" else 0.7
    return pd.DataFrame({"logloss": (start * 0.9 ** np.arange(n_steps)).round(5)})


def histories(*, index: bool) -> Callable[[], Files]:
    """Return a file of the history of each of two algorithms, with or without the index that pandas writes."""
    return lambda: {f"logs/{name}.csv": history(name).to_csv(index=index) for name in AB}


OF_STEPS = Read("algorithm", None, "row", "logloss", (), True, 2, 1, 12)
STEPS_OR_RUNS = Asks(
    "does not say whether rows are steps of training or runs",
    2,
    {"--training row": OF_STEPS, "--run row": replace(OF_STEPS, run="row", training=None, runs=12, levels=1)},
)
BY_FILE = ("--names", "{algorithm}.csv")
INPUTS["histories with the index that pandas writes"] = Input(histories(index=True), STEPS_OR_RUNS, BY_FILE)
INPUTS["histories without an index"] = Input(
    lambda: {
        f"logs/{name}.csv": history(name).assign(train_logloss=np.arange(12)[::-1] / 8).to_csv(index=False)
        for name in AB
    },
    STEPS_OR_RUNS,
    BY_FILE,
)
INPUTS["scores of an index in no order"] = Input(
    lambda: {
        f"logs/{name}.csv": rows(place, part=range(6), value="accuracy").drop(columns="part").to_csv()
        for place, name in enumerate(AB)
    },
    Asks("steps of training or runs", 2, {"--run row": Read("algorithm", "row", None, "accuracy", (), False, 2, 6, 1)}),
    BY_FILE,
)
INPUTS["scores without an index in no order are runs"] = Input(
    one(lambda: rows(algorithm=AB, part=range(6), value="accuracy").drop(columns="part")),
    Read("algorithm", "run", None, "accuracy", (), False, 2, 6, 1),
)

# --- names of algorithm and run in one column ---


def trials(name: str, *, phases: bool = False) -> pd.DataFrame:
    """Return a curve of each of eight runs, whose column of names has algorithm and seed in one."""
    frame = rows(
        model=AB, seed=range(4), **({"phase": ["train", "val"]} if phases else {}), epoch=[1, 2, 3], value="acc"
    )
    frame.insert(0, "exp", [name.format(*labels) for labels in frame[["model", "seed"]].itertuples(index=False)])
    return frame.drop(columns=["model", "seed"])


CUT = Read("algorithm", "run", "epoch", "acc", (), False, 2, 4, 3)
for NAME in ("{}-seed{}", "{}_run_{}", "{}-s{}"):
    INPUTS[f"names such as {NAME} in a column"] = Input(
        one(lambda name=NAME: trials(name)), replace(CUT, says=f"exp {NAME.format('ada', 0)} is algorithm ada, run 0")
    )
INPUTS["names of runs in a column, train and val below each other"] = Input(
    one(lambda: trials("{}-seed{}", phases=True)), Asks("scores of several data", 2, {"phase=val": CUT})
)
INPUTS["versions at the end of names in a column are no runs"] = Input(
    one(lambda: rows(exp=["ada-18", "ada-34"], seed=[0, 1, 2], value="acc")),
    Read("exp", "seed", None, "acc", (), False, 2, 3, 1),
)

# --- headers of two rows ---


def in_two_rows(second: list[object], index: str | None) -> pd.DataFrame:
    """Return scores with columns of two levels."""
    columns = pd.MultiIndex.from_product([AB, second])
    values = np.random.default_rng(0).normal(size=(5, len(columns))).round(3)
    return pd.DataFrame(values, pd.RangeIndex(0, 50, 10, name=index), columns)


INPUTS["columns of two levels, runs below"] = Input(
    lambda: {"log.csv": in_two_rows([0, 1, 2], "step").to_csv()},
    Read("algorithm", "run", "step", "score", (), False, 2, 3, 5, says="columns are {algorithm}/{run}"),
)
INPUTS["columns of two levels, mean and std below"] = Input(
    lambda: {"log.csv": in_two_rows(["mean", "std"], "seed").to_csv()},
    Read("algorithm", "seed", None, "score", (), False, 2, 5, 1),
    ("--columns", "{algorithm}/mean"),
)
INPUTS["two columns of one name above numbers"] = Input(
    lambda: {"log.csv": "seed,ada,ada\n0,0.5,0.25\n1,0.75,0.5\n"}, Refuses("has 2 columns 'ada'")
)

# --- rows whose labels have no name ---

INPUTS["means of columns, rows named by an index"] = Input(
    lambda: {
        "log.csv": "Unnamed: 0,ada_mean,ada_std,bob_mean,bob_std\n"
        + "".join(f"{name},0.{place}5,0.01,0.{place}7,0.01\n" for place, name in enumerate("pqr"))
    },
    Asks("whether rows are tasks or runs", 2, {"--run 'Unnamed: 0'": Read("algorithm", runs=3)}),
    ("--columns", "{algorithm}_mean"),
)

# --- learning curves, nested values, arrays with steps first ---

SIZES = [10, 30, 50]
OF_FOLDS = Read("algorithm", "fold", "train_sizes", "test_scores", (), False, 2, 4, 3, matched=True)


def learning_curve(name: str, sizes: str = "train_sizes") -> dict[str, object]:
    """Return the lists of learning_curve: (sizes, folds)."""
    values = np.random.default_rng(len(name)).random((3, 4)).round(3)
    return {sizes: SIZES, "train_scores": (values + 0.1).tolist(), "test_scores": values.tolist()}


INPUTS["learning_curve as JSON, a file of each algorithm"] = Input(
    lambda: {f"logs/{name}.json": json.dumps(learning_curve(name, "train_sizes_abs")) for name in AB}, OF_FOLDS
)
INPUTS["learning_curve as JSON, by names of algorithms"] = Input(
    lambda: {"log.json": json.dumps({name: learning_curve(name) for name in AB})}, OF_FOLDS
)
INPUTS["metrics below algorithm, seed and data"] = Input(
    lambda: {
        "log.json": json.dumps(
            {
                name: {
                    seed: {"valid": {"auc": [0.5, 0.6 + seed / 50, 0.7], "loss": [1, 0.9, 0.8]}} for seed in range(3)
                }
                for name in AB
            }
        )
    },
    Read("algorithm", "run", "step", "auc", (), False, 2, 3, 3),
)
INPUTS["numbers below algorithm and seed"] = Input(
    lambda: {"log.json": json.dumps({name: {f"seed{s}": {"acc": s / 8, "n": 5} for s in range(3)} for name in AB})},
    Read("algorithm", "run", None, "acc", (), False, 2, 3, 1),
)

# --- lines of loggers ---


def logged(form: str) -> Callable[[], Files]:
    """Return the lines of each of six runs, as Python's logging writes them."""

    def text(place: int, seed: int) -> str:
        return "".join(
            form.format(epoch=epoch, loss=1 / epoch, acc=place / 5 + epoch / 20 + seed / 100) for epoch in (1, 2, 3)
        )

    return lambda: {f"logs/{name}_s{seed}.log": text(place, seed) for place, name in enumerate(AB) for seed in range(3)}


for TITLE, FORM in {
    "items below the epoch": "2026-03-01 10:00:00,123 INFO trainer: Epoch {epoch}/3\n"
    "2026-03-01 10:00:01,123 INFO trainer: - loss: {loss:.4f}\n"
    "2026-03-01 10:00:02,123 INFO trainer: - val_acc: {acc:.4f}\n",
    "a name before": "INFO:root:epoch {epoch} done - loss: {loss:.4f} - val_acc: {acc:.4f}\n",
    "a name and a level": "2026-03-01 10:00:00 - train.py - INFO - epoch {epoch}: loss={loss:.4f} val_acc={acc:.4f}\n",
}.items():
    INPUTS[f"lines of logging, {TITLE}"] = Input(
        logged(FORM), Read("algorithm", "run", None, "val_acc", (), False, 2, 3, 3, difference=-0.2)
    )

# --- units, counts, labels that sum up ---


def with_units() -> pd.DataFrame:
    """Return the throughput and the memory of two servers."""
    frame = rows(engine=AB, run=range(4), value="throughput").assign(memory=lambda each: 500 + each.throughput)
    frame["throughput"] = [f"{900 + each:.1f} req/s" for each in frame.throughput]
    frame["memory"] = [f"{each:.1f} MiB" for each in frame.memory]
    return frame


INPUTS["numbers with units, one of which has a slash"] = Input(
    one(with_units),
    Asks("which column is the score (throughput or memory)", 2, {"--value throughput": Read("engine", "run", runs=4)}),
)
INPUTS["tokens seen in millions"] = Input(
    one(lambda: rows(model=AB, seed=range(3), tokens_seen=["0.5M", "1M", "2M"], value="val_loss")),
    Read("model", "seed", "tokens_seen", "val_loss", (), True, 2, 3, 3),
)


def report() -> pd.DataFrame:
    """Return what classification_report says of three seeds of two models."""
    labels = ["0", "1", "accuracy", "macro avg", "weighted avg"]
    frame = rows(model=AB, seed=range(3), **{"class": labels}, value="f1-score")
    return frame.assign(precision=frame["f1-score"] + 0.1, support=[20, 30, 0.5, 50, 50] * 6)


INPUTS["classification reports"] = Input(
    one(report),
    Asks(
        "'class'",
        3,
        {"--select 'class=macro avg'": Read("model", "seed", None, "f1-score", (), False, 2, 3, 1)},
    ),
)
INPUTS["labels of the first row of several"] = Input(
    lambda: {"log.csv": "algo,seed,score\nppo,0,0.5\n,1,0.6\n,2,0.7\nsac,0,0.8\n,1,0.9\n,2,0.7\n"},
    Refuses("If a label is that of the rows below it too"),
)

# --- folds whose runs have ids of their own ---


def folds(*, ids: bool) -> pd.DataFrame:
    """Return a run of each fold and algorithm, with an id of its own, or two of each fold with seeds."""
    if not ids:
        return rows(model=AB, fold=range(4), seed=[0, 1], value="accuracy")
    frame = rows(model=AB, fold=range(4), value="accuracy")
    return frame.assign(run_id=[f"{place:08x}" for place in range(900, 908)])


FOLDED = Read("model", "fold", None, "accuracy", (), False, 2, 4, 1, matched=True)
INPUTS["each fold has a run with an id"] = Input(
    one(lambda: folds(ids=True)),
    replace(FOLDED, says="run_id not used: each fold of an algorithm has one"),
)
INPUTS["each fold has two seeds"] = Input(
    one(lambda: folds(ids=False)), Read("model", None, None, "accuracy", (), False, 2, 8, 1, matched=True)
)
INPUTS["a search as to_json writes it"] = Input(
    lambda: {
        f"logs/{name}.json": pd.DataFrame(
            {
                "mean_fit_time": [0.1, 0.1],
                f"param_{name}": [1, 2],
                "params": [{name: 1}, {name: 2}],
                "split0_test_score": [0.5, 0.6],
                "split1_test_score": [0.6, 0.7],
                "mean_test_score": [0.55, 0.65],
            }
        ).to_json()
        for name in AB
    },
    Asks(
        "scores of 2 settings of each search on the same folds",
        2,
        {"--duplicates first": Read("algorithm", "fold", None, "test_score", (), False, 2, 2, matched=True)},
    ),
)
INPUTS["metrics of two experiments, of which each has one"] = Input(
    lambda: {
        "log.jsonl": lines(
            [{"model": name, "seed": s, "metric": "acc", "value": s / 8 + 0.01} for name in AB for s in range(3)]
            + [
                {"width": w, "seed": s, "metric": "val_loss", "value": s / 7 + 0.1}
                for w in ("x", "y")
                for s in range(3)
            ]
        )
    },
    Asks("has 2 metrics", 2, {"metric=acc": Read("model", "seed", None, "value", (), False, 2, 3, mean=0.135)}),
)

# --- times of pytest-benchmark ---

INPUTS["pytest-benchmark, five files"] = Input(
    kept("pytest-benchmark"),
    Asks(
        "whether n counts steps",
        3,
        {
            "--extra n": Read("pop", "run", None, "time", ("n",), True, 2, 5, n_tasks=2),
            "--training n": Read("pop", "run", "n", "time", (), True, 2, 5, 2),
        },
    ),
)


def npz_of_two() -> Files:
    """Return arrays (steps, runs) of two algorithms."""
    file = io.BytesIO()
    np.savez(file, **{name: np.arange(20.0).reshape(4, 5) + place for place, name in enumerate(AB)})
    return {"scores.npz": file.getvalue()}


INPUTS["arrays, steps along the first axis"] = Input(
    npz_of_two,
    Read("algorithm", "run", "step", "score", (), False, 2, 5, 4, difference=-1.0),
    ("--source", "array-steps-first"),
)

# --- names in a column are cut as those of folders are ---

PLACED = Read("algorithm", "run", "step", "return", ("task",), False, 2, 3, 2, 2)
for NAME, SAYS in (
    ("{agent}_{env}-v4_s{seed}_2026-01-03_10-2{seed}", "is task Ant-v4, algorithm ada, run 0"),
    ("{env}-v4__{agent}__{seed}", "is task Ant-v4, algorithm ada, run 0"),
):
    INPUTS[f"names of runs in a column with environments, {NAME}"] = Input(
        one(
            lambda name=NAME: (
                rows(agent=AB, env=["Ant", "Hopper"], seed=range(3), step=[0, 10], value="return")
                .assign(run_name=lambda frame: [name.format(**row) for row in frame.to_dict("records")])
                .drop(columns=["agent", "env", "seed"])
            )
        ),
        replace(PLACED, says=SAYS),
    )
INPUTS["names of runs in a column with a slash, and a setting"] = Input(
    one(
        lambda: (
            rows(agent=AB, seed=range(3), context=[1024, 2048], value="bpb")
            .assign(exp=lambda frame: frame.agent + "/s" + frame.seed.astype(str))
            .drop(columns=["agent", "seed"])
        )
    ),
    Asks(
        "whether context counts steps",
        3,
        {
            "--training context": Read("algorithm", "run", "context", "bpb", (), True, 2, 3, 2),
            "--algorithm algorithm context": Read("algorithm, context", "run", lower=True, algorithms=4, runs=3),
        },
    ),
)


def curve(place: int) -> str:
    """Return a short log."""
    return "step,return\n" + "".join(f"{step},{place + step / 7:.4f}\n" for step in (0, 10, 20))


OF_NAMES = Read("algorithm", "run", "step", "return", (), False, 2, 3, 3)
for NAME in (
    "{}_seed{}_slurm-48120{}.csv",
    "slurm-4711{2}-{0}_seed{1}.csv",
    "Jan0{2}_14-20-11_gpu0{1}_{0}_seed{1}/log.csv",
    "Jan0{2}_14-20-11_{0}_seed{1}/log.csv",
):
    INPUTS[f"names with a job or the time of a writer, {NAME}"] = Input(
        lambda name=NAME: {
            f"logs/{name.format(agent, seed, 3 * place + seed)}": curve(place)
            for place, agent in enumerate(AB)
            for seed in range(3)
        },
        replace(OF_NAMES, difference=-1.0),
    )

# --- steps of checkpoints, columns of seeds, folds and numbered scores ---

INPUTS["checkpoints that say their step"] = Input(
    one(lambda: rows(model=AB, seed=range(3), checkpoint=["step500", "step1000", "step2000"], value="accuracy")),
    Read("model", "seed", "checkpoint", "accuracy", (), False, 2, 3, 3),
)
INPUTS["checkpoints, benchmarks and their average"] = Input(
    one(
        lambda: rows(model=AB, seed=range(3), checkpoint=["step500", "step1000"], value="piqa").assign(
            arc=lambda each: each.piqa / 2, average=lambda each: (each.piqa + each.arc) / 2
        )
    ),
    Read("model", "seed", "checkpoint", "score", ("task",), False, 2, 3, 2, 2),
    ("--columns", "{task}"),
)


def of_seeds(*columns: str) -> pd.DataFrame:
    """Return scores of steps in columns."""
    values = np.random.default_rng(0).random((4, len(columns))).round(4)
    return pd.DataFrame(values, columns=list(columns)).assign(step=range(4))


INPUTS["columns of seeds after an s, before a metric"] = Input(
    one(lambda: of_seeds(*(f"{name}_s{seed}_bpb" for name in AB for seed in range(3)))),
    Asks("scores of algorithms and runs", 1, {"": Read("algorithm", "run", "step", "bpb", (), True, 2, 3, 4)}),
)
INPUTS["columns of seeds after an s, of two metrics"] = Input(
    one(lambda: of_seeds(*(f"{name}_s{s}_{m}_loss" for name in AB for s in range(3) for m in ("train", "val")))),
    Asks(
        "scores of algorithms and runs", 1, {"val_loss": Read("algorithm", "run", "step", "val_loss", (), True, 2, 3)}
    ),
)
INPUTS["columns of one score with numbers"] = Input(
    one(
        lambda: rows(dataset=["p", "q", "r"], model=AB, value="acc_0").assign(
            acc_1=lambda each: each.acc_0 + 0.1, acc_2=lambda each: each.acc_0 - 0.1, mean_acc=lambda each: each.acc_0
        )
    ),
    Asks(
        "whether columns such as acc_0 are runs",
        2,
        {
            "--columns 'acc_{run,": Read("model", "run", None, "acc", ("dataset",), False, 2, 3, n_tasks=3),
            "--value acc_0": Read("model", None, None, "acc_0", ("dataset",), False, 2, 1, n_tasks=3),
        },
    ),
)
for PART in ("split", "fold"):
    INPUTS[f"columns of folds called {PART}0 are matched"] = Input(
        one(
            lambda part=PART: rows(model=AB, train_size=[50, 100], value=f"{part}0").assign(
                **{f"{part}{number}": lambda each, part=part: each[f"{part}0"] + 0.1 for number in (1, 2)}
            )
        ),
        Read("model", "fold", "train_size", "score", (), False, 2, 3, 2, matched=True),
    )

# --- what is no task and no score ---

INPUTS["levels of a stack are no tasks"] = Input(
    one(
        lambda: rows(dataset=["p", "q"], fold=range(5), model=["ada", "bob", "stack"], value="score_test").assign(
            stack_level=lambda each: 1 + (each.model == "stack")
        )
    ),
    Read("model", "fold", None, "score_test", ("dataset",), False, 3, 5, n_tasks=2, matched=True),
)
INPUTS["a memory beside a time is asked"] = Input(
    one(
        lambda: rows(library=AB, repeat=range(5), value="peak_mem_mb").assign(
            elapsed_s=[1.5, 1.4, 1.6, 1.2, 1.3, 2.5, 2.1, 2.9, 2.2, 2.7]
        )
    ),
    Asks("the score (elapsed_s or peak_mem_mb)", 2, {"elapsed_s": Read("library", "repeat", lower=True, runs=5)}),
    ("--algorithm", "library"),
)
INPUTS["fractions beside percentages"] = Input(
    one(
        lambda: rows(model=AB, seed=range(4), value="acc").assign(acc=[0.86, 0.85, 0.84, 0.86, 0.87, 87.2, 0.88, 86.9])
    ),
    Refuses("has fractions and percentages, such as 0.86 and 87.2"),
)
INPUTS["percentages of a curve that begins below 1"] = Input(
    one(
        lambda: rows(model=AB, seed=range(2), epoch=range(3), value="acc").assign(
            acc=[0.1, 40, 76.0, 0.2, 41, 75.0, 0.1, 45, 78.0, 0.15, 44, 77.5]
        )
    ),
    Read("model", "seed", "epoch", "acc", (), False, 2, 2, 3),
)
INPUTS["the inner score of a nested search is not taken"] = Input(
    one(lambda: rows(clf=AB, outer_fold=range(5), value="inner_score").assign(outer_score=0.5 + np.arange(10) / 37)),
    Read("clf", "outer_fold", None, "outer_score", (), False, 2, 5, matched=True),
)
INPUTS["a run that was made again is no curve by its date"] = Input(
    one(
        lambda: pd.concat(
            [
                rows(model=AB, seed=range(4), value="acc").assign(date=[f"2026-05-0{day}" for day in range(1, 9)]),
                pd.DataFrame({"model": ["ada"], "seed": [2], "acc": [0.5], "date": ["2026-05-09"]}),
            ]
        )
    ),
    Asks(
        "1 row repeats a (model, seed)", 3, {"--duplicates first": Read("model", "seed", None, "acc", (), False, 2, 4)}
    ),
)

# --- further lines of text logs ---

INPUTS["lines of an evaluation between those of training"] = Input(
    lambda: {
        f"logs/{name}_seed{seed}.log": "".join(
            f"[2026-05-06 07:0{step}:00] iter {step}00/300 loss {3 / step:.4f} lr 3.0e-04\n"
            f"[2026-05-06 07:0{step}:30] eval: iter {step}00 val loss {place + 1 / step:.4f} time 2.5\n"
            for step in (1, 2, 3)
        )
        for place, name in enumerate(AB)
        for seed in range(2)
    },
    Read("algorithm", "run", "iter", "val loss", (), True, 2, 2, 3, difference=-1.0),
)
INPUTS["lines of LightGBM that stopped early"] = Input(
    lambda: {
        f"logs/{name}_seed{seed}.log": "Training until validation scores don't improve for 2 rounds\n"
        + "".join(f"[{step}]\tvalid's auc: 0.{place + 5}{step}\n" for step in (1, 2, 3, 4))
        + f"Early stopping, best iteration is:\n[2]\tvalid's auc: 0.{place + 5}2\n"
        for place, name in enumerate(AB)
        for seed in range(2)
    },
    Read("algorithm", "run", "iteration", "valid's auc", (), False, 2, 2, 4, difference=-0.1),
)
INPUTS["requests of each trial are joined if so said"] = Input(
    one(lambda: rows(engine=AB, trial=range(4), request_id=range(6), value="latency_ms")),
    Asks(
        "whether request_id counts steps",
        4,
        {
            "--duplicates mean": Read("engine", "trial", None, "latency_ms", (), True, 2, 4),
            "--extra request_id": Read("engine", "trial", None, "latency_ms", ("request_id",), True, 2, 4, n_tasks=6),
        },
    ),
)
INPUTS["a runtime of each run names no task"] = Input(
    one(lambda: rows(model=AB, seed=range(4), value="val_acc").assign(Runtime=[3, 4, 3, 4, 4, 3, 4, 3])),
    Read("model", "seed", None, "val_acc", (), False, 2, 4),
)

# --- columns of two levels with scores or tasks, summaries, forecasts ---


def two_levels(*firsts: str) -> pd.DataFrame:
    """Return scores of two folds and two streams in columns first/ada, first/bob."""
    frame = rows(stream=["p", "q"], seed=range(3), value="x").drop(columns="x")
    numbers = np.random.default_rng(1).random((len(frame), 2 * len(firsts))).round(3)
    names = [f"{first}/{name}" for first in firsts for name in AB]
    return frame.assign(**dict(zip(names, numbers.T, strict=True)))


INPUTS["columns of two levels, scores above algorithms"] = Input(
    one(lambda: two_levels("Accuracy", "Time")),
    Asks(
        "has columns that seem to be scores of algorithms",
        1,
        {"--value Accuracy": Read("algorithm", "seed", None, "Accuracy", ("stream",), False, 2, 3, n_tasks=2)},
    ),
)
INPUTS["columns of two levels, tasks above algorithms, beside seeds"] = Input(
    one(lambda: two_levels("Ant-v4", "Hop-v4").query("stream == 'p'").drop(columns="stream")),
    Asks(
        "which part of columns such as Ant-v4/ada is the algorithm",
        2,
        {"{task}/{algorithm}": Read("algorithm", "seed", None, None, ("task",), False, 2, 3, n_tasks=2)},
    ),
)
INPUTS["columns that pandas numbered beside an index"] = Input(
    lambda: {"log.csv": ",0,1,2\nada,0.5,0.25,0.75\nbob,0.5,0.75,0.25\ncy,0.5,0.5,0.5\n"},
    Asks("whether columns are runs or steps", 2, {"{run,": Read(None, "run", None, "score", (), False, 3, 3)}),
)
INPUTS["columns 0, 1, ... may be runs"] = Input(
    lambda: {
        "log.csv": "env_id,algo,0,1,2\n"
        + "".join(f"{env},{name},0.5,0.2{place},0.7{place}\n" for env in "pq" for place, name in enumerate(AB))
    },
    Asks(
        "whether columns are runs or steps of training",
        2,
        {
            "{run,": Read("algo", "run", None, "score", ("env_id",), False, 2, 3, n_tasks=2),
            "{training,": Read("algo", None, "training", "score", ("env_id",), False, 2, 1, 3, 2),
        },
    ),
)
INPUTS["errors of forecasts by metric"] = Input(
    one(
        lambda: rows(unique_id=list("pqr"), metric=["mae", "rmse"], value="Naive").assign(
            Theta=lambda each: each.Naive + 0.25
        )
    ),
    Asks(
        "whether rows are tasks or runs",
        2,
        {"metric=mae": Read("algorithm", None, None, "score", ("unique_id",), True, 2, 1, n_tasks=3)},
    ),
)
INPUTS["forecasts beside what was forecast"] = Input(
    one(lambda: rows(unique_id=list("pq"), ds=range(4), value="y").assign(Naive=0.5, Theta=0.25)),
    Refuses("has forecasts beside y"),
)
INPUTS["what describe says of scores"] = Input(
    lambda: {"log.csv": pd.DataFrame({name: [0.5, 0.25, 0.75] for name in AB}).describe().to_csv()},
    Refuses("a summary of scores"),
)
INPUTS["validation_curve as JSON"] = Input(
    lambda: {
        "log.json": json.dumps({"param_range": [2, 4], "train_scores": [[1, 1.0]] * 2, "test_scores": [[0.5, 0.6]] * 2})
    },
    Asks(
        "the algorithm (param_range)",
        1,
        {"": Read("param_range", "fold", None, "test_scores", (), False, 2, 2, 1, matched=True)},
    ),
)


def of_optuna(name: str) -> pd.DataFrame:
    """Return a table of trials of a study, as trials_dataframe() has it."""
    values = np.random.default_rng(sum(map(ord, name))).random(4).round(3)
    frame = pd.DataFrame({"number": range(4), "value": values, "datetime_start": "2026-11-30", "params_x": range(4)})
    return frame.assign(state="COMPLETE", study=name)


INPUTS["studies called by sampler and seed in one table"] = Input(
    one(lambda: pd.concat([of_optuna(f"{name}-seed{seed}") for name in ("tpe", "rnd") for seed in range(3)])),
    Asks(
        "the score (lowest_value or highest_value)",
        2,
        {"lowest_value": Read("algorithm", "run", "trial_number", "lowest_value", (), True, 2, 3, 4)},
    ),
)
INPUTS["a last line without a label and a score is none"] = Input(
    lambda: {
        "log.jsonl": lines(
            [{"learner": name, "seed": s, "val_loss": 0.5 + s / 8} for name in AB for s in range(3)] + [{"best": 4}]
        )
    },
    Read("learner", "seed", None, "val_loss", (), True, 2, 3),
)
INPUTS["JSON lines whose only score is true or false"] = Input(
    lambda: {
        "log.jsonl": lines(
            [
                {"model": name, "question_id": f"q{item}", "subject": "xy"[item % 2], "correct": (item + place) % 3 > 0}
                for place, name in enumerate(AB)
                for item in range(9)
            ]
        )
    },
    Read("model", None, None, "correct", ("question_id",), False, 2, 1, n_tasks=9),
)
INPUTS["numbers below algorithm and bare numbers"] = Input(
    lambda: {
        "log.json": json.dumps(
            {name: {str(step): {"loss": 1 / (step + 1), "n": 5} for step in range(4)} for name in AB}
        )
    },
    Asks(
        "what key2 is",
        3,
        {
            "--run key2": Read("algorithm", "key2", None, "loss", (), True, 2, 4, 1),
            "--training key2": Read("algorithm", None, "key2", "loss", (), True, 2, 1, 4),
        },
    ),
)
INPUTS["names in a column are cut beside columns of tasks"] = Input(
    one(
        lambda: (
            rows(name_of=AB, seed=range(3), size=[1, 2], value="piqa")
            .assign(exp=lambda each: each.name_of + "-seed" + each.seed.astype(str), arc=lambda each: each.piqa / 2)
            .drop(columns=["name_of", "seed"])
        )
    ),
    Read("algorithm, size", "run", None, "score", ("task",), False, 4, 3, n_tasks=2),
    ("--columns", "{task,piqa|arc}", "--algorithm", "algorithm", "size"),
)
