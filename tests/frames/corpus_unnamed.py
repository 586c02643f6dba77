"""Inputs whose runs, steps and grids bear no known name, and scores whose end or folds must not be guessed."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd

from frames.corpus import AB, Asks, Input, Read, curve, one, rows

INPUTS: dict[str, Input] = {}

# --- repeated measurements in runs without a known name ---

STEPS = [1, 2, 3, 4, 5]


def measured(run: str, step: str, runs=(1, 2, 3, 4), steps=STEPS, value: str = "accuracy") -> pd.DataFrame:
    """Return scores that grow over the steps of each run."""
    frame = rows(algorithm=AB, **{run: list(runs), step: list(steps)}, value=value)
    frame[value] = frame[value] / 10 + 0.1 * pd.factorize(frame[step])[0]
    return frame.round(4)


for RUN, STEP in (("try", "laps"), ("sample_no", "block"), ("rs", "x"), ("person", "cycle"), ("tirage", "cycle")):
    INPUTS[f"unknown run {RUN} and step {STEP}"] = Input(
        one(lambda run=RUN, step=STEP: measured(run, step)),
        Asks(
            f"does not say what {RUN} and {STEP} are",
            4,
            {
                f"--run {RUN} --training {STEP}": Read("algorithm", RUN, STEP, "accuracy", (), False, 2, 4, 5),
                f"--run {RUN} --extra {STEP}": Read("algorithm", RUN, None, "accuracy", (STEP,), False, 2, 4, 1, 5),
                f"--run {STEP} --extra {RUN}": Read("algorithm", STEP, None, "accuracy", (RUN,), False, 2, 5, 1, 4),
            },
        ),
    )
INPUTS["unknown runs that are text"] = Input(
    one(lambda: measured("who", "laps", ["a", "b", "c", "d"])),
    Asks("what who and laps are", 3, {"--training laps": Read("algorithm", "who", "laps", levels=5, runs=4)}),
)
INPUTS["unknown runs of which each algorithm has its own"] = Input(
    one(lambda: measured("who", "laps").assign(who=lambda frame: frame.algorithm + frame.who.astype(str))),
    Asks("what who and laps are", None, {"--run who --training laps": Read("algorithm", "who", "laps", runs=8)}),
)
INPUTS["unknown runs along hours"] = Input(
    one(lambda: measured("try", "hours")),
    Asks("which column is the run (try)", 1, {"--run try": Read("algorithm", "try", "hours", runs=4, levels=5)}),
)
INPUTS["unknown steps with decimals"] = Input(
    one(lambda: measured("rs", "share", steps=[0.1, 0.25, 0.5, 1.0])),
    Asks("what rs and share are", 4, {"--run rs --training share": Read("algorithm", "rs", "share", levels=4)}),
)
INPUTS["unknown runs that end at different steps"] = Input(
    one(lambda: measured("rs", "x").loc[lambda frame: frame.x <= 6 - frame.rs].assign(x=lambda frame: frame.x * 10)),
    Asks("what rs and x are", 4),
)
INPUTS["one unknown column that tells rows apart"] = Input(
    one(lambda: rows(algorithm=AB, phase=STEPS, value="accuracy")),
    Asks(
        "what phase is",
        3,
        {
            "--run phase": Read("algorithm", "phase", None, "accuracy", (), False, 2, 5, 1),
            "--training phase": Read("algorithm", None, "phase", "accuracy", (), False, 2, 1, 5),
            "--extra phase": Read("algorithm", None, None, "accuracy", ("phase",), False, 2, 1, 1, 5),
        },
    ),
)
INPUTS["an unknown column with several rows of each label"] = Input(
    one(lambda: rows(algorithm=AB, animal=[1, 2, 3, 4], part=STEPS, value="accuracy").drop(columns="part")),
    Asks(
        "what animal is",
        4,
        {
            "--extra animal": Read("algorithm", "run", None, "accuracy", ("animal",), False, 2, 5, 1, 4),
            "--run animal --duplicates mean": Read("algorithm", "animal", None, "accuracy", (), False, 2, 4, 1),
            "--run row": Read("algorithm", "row", None, "accuracy", (), False, 2, 20, 1),
        },
    ),
)
INPUTS["three unknown columns"] = Input(
    one(lambda: rows(algorithm=AB, rs=[1, 2, 3], site=["u", "v"], x=STEPS, value="accuracy")),
    Asks(
        "what rs, site and x are",
        4,
        {"--run rs --training x --extra site": Read("algorithm", "rs", "x", "accuracy", ("site",), False, 2, 3, 5, 2)},
    ),
)
INPUTS["names in another language"] = Input(
    one(lambda: measured("Lauf", "Epoche", value="Genauigkeit").rename(columns={"algorithm": "Verfahren"})),
    Asks(
        "what Lauf and Epoche are",
        4,
        {
            "--value Genauigkeit --run Lauf --training Epoche": Read(
                "Verfahren", "Lauf", "Epoche", "Genauigkeit", (), False, 2, 4, 5
            )
        },
    ),
)
INPUTS["a known run and an unknown step and score"] = Input(
    one(lambda: measured("seed", "Schritt", value="Ergebnis")),
    Asks(
        "whether Schritt counts steps",
        3,
        {"--value Ergebnis --training Schritt": Read("algorithm", "seed", "Schritt", "Ergebnis", (), False, 2, 4, 5)},
    ),
)
INPUTS["decimals that rise in each fold"] = Input(
    one(lambda: rows(algorithm=AB, fold=[1, 2, 3], C=[0.1, 1.0, 10.0], value="accuracy")),
    Asks(
        "whether C counts steps of training, names tasks or is a setting of the algorithm",
        3,
        {
            "--training C": Read("algorithm", "fold", "C", "accuracy", (), False, 2, 3, 3, matched=True),
            "--extra C": Read("algorithm", "fold", None, "accuracy", ("C",), False, 2, 3, 1, 3, matched=True),
            "--algorithm algorithm C": Read("algorithm, C", "fold", None, None, (), False, 6, 3, 1, matched=True),
        },
    ),
)
INPUTS["unknown steps in no order"] = Input(
    one(lambda: measured("seed", "shots", steps=[5, 10, 20]).sample(frac=1, random_state=1)),
    Asks(
        "column 'shots' (",
        4,
        {
            "--training shots --duplicates last": Read("algorithm", "seed", "shots", runs=4, levels=3),
            "--extra shots": Read("algorithm", "seed", None, tasks=("shots",), n_tasks=3),
            "--algorithm algorithm shots": Read("algorithm, shots", "seed", algorithms=6, runs=4),
            "--duplicates first": Read("algorithm", "seed", levels=1),
        },
    ),
)
for RUN, STEP in (("random_state", "epoch"), ("chain", "gen"), ("attempt", "nfe"), ("seed", "num_evals")):
    INPUTS[f"known run {RUN} and step {STEP}"] = Input(
        one(lambda run=RUN, step=STEP: measured(run, step)),
        Read("algorithm", RUN, STEP, "accuracy", (), False, 2, 4, 5),
    )
INPUTS["unused measures of rows that are runs are named"] = Input(
    one(
        lambda: (
            rows(algorithm=AB, part=STEPS, value="accuracy")
            .drop(columns="part")
            .assign(
                size=lambda frame: np.random.default_rng(3).permutation(len(frame)) + 0.5, machine=["m1"] * 9 + ["m2"]
            )
        )
    ),
    Read("algorithm", "run", None, "accuracy", (), False, 2, 5, 1, says="size and machine not used"),
    ("--value", "accuracy"),
)
INPUTS["numbers of rows are no steps"] = Input(
    one(
        lambda: (
            rows(algorithm=AB, part=STEPS, value="accuracy")
            .drop(columns="part")
            .assign(code=lambda frame: [f"c{place}" for place in range(len(frame))])
        )
    ),
    Read("algorithm", "run", None, "accuracy", (), False, 2, 5, 1, says="code not used"),
)

INPUTS["what is constant in each algorithm is no run"] = Input(
    one(lambda: measured("no", "epoch").assign(size=lambda frame: frame.algorithm.map({"ada": 10, "bob": 20}))),
    Asks("the run (no)", 1, {"--run no": Read("algorithm", "no", "epoch", "accuracy", (), False, 2, 4, 5)}),
)

# --- a loss whose sign is turned ---

FOLDED = Read("model", "fold", None, None, (), True, 2, 5, 1, matched=True)


def turned(value: str, sign: float = -1.0) -> pd.DataFrame:
    """Return scores of folds of which none, or each, is below 0."""
    frame = rows(model=AB, fold=range(5), value=value)
    frame[value] = sign * (0.1 + frame[value].abs())
    return frame


for NAME in ("test_rmse", "val_loss", "mae", "test_nll", "error_rate", "negative_log_likelihood"):
    INPUTS[f"all of {NAME} is below 0"] = Input(
        one(lambda name=NAME: turned(name)),
        Asks(
            f"does not say which end is better: {NAME} is the name of a loss, but no score is above 0",
            2,
            {"--lower-is-better": replace(FOLDED, score=NAME), "--higher-is-better": replace(FOLDED, lower=False)},
        ),
    )
    INPUTS[f"all of {NAME} is above 0"] = Input(
        one(lambda name=NAME: turned(name, 1.0)), replace(FOLDED, score=NAME, says="lower is better")
    )
for NAME in ("neg_mse", "neg_log_loss", "score", "elbo", "cost"):
    INPUTS[f"{NAME} may be below 0"] = Input(one(lambda name=NAME: turned(name)), replace(FOLDED, lower=NAME == "cost"))
INPUTS["a loss below 0 whose end is said"] = Input(
    one(lambda: turned("test_rmse")), replace(FOLDED, lower=False), ("--higher-is-better",)
)


def search(*scores: str) -> pd.DataFrame:
    """Return the results of a grid search, whose losses have their sign turned."""
    frame = pd.DataFrame({"mean_fit_time": [0.1, 0.2], "param_depth": [1, 3]})
    frame["params"] = [f"{{'depth': {depth}}}" for depth in frame.param_depth]
    rng = np.random.default_rng(5)
    for score in scores:
        splits = -rng.uniform(0.1, 1.0, (2, 5)).round(3)
        for fold in range(5):
            frame[f"split{fold}_test_{score}"] = splits[:, fold]
        frame[f"mean_test_{score}"] = splits.mean(axis=1)
        frame[f"rank_test_{score}"] = [1, 2]
    return frame


for TYPED in ((), ("--value", "test_nll")):
    INPUTS[f"losses of a search, typed {TYPED}"] = Input(
        one(lambda: search("nll"), "cv_results.csv"),
        Read("algorithm", "fold", None, "test_nll", (), False, 2, 5, 1, matched=True),
        TYPED,
    )


# --- folds of arrays ---


def learning_curves(*, n_sizes: int) -> dict[str, bytes]:
    """Return the arrays (sizes, folds) that scikit-learn's learning_curve returns, of five folds."""
    files = {}
    for place, name in enumerate(AB):
        sizes = np.arange(1, n_sizes + 1) * 20
        scores = np.linspace(0.5, 0.9, n_sizes)[:, None] + 0.02 * np.arange(5) + 0.1 * place
        buffer = io.BytesIO()
        np.savez(buffer, train_sizes=sizes, train_scores=scores + 0.05, test_scores=scores)
        files[f"logs/{name}.npz"] = buffer.getvalue()
    return files


for N_SIZES in (5, 4):
    INPUTS[f"arrays of a learning curve of {N_SIZES} sizes"] = Input(
        lambda n_sizes=N_SIZES: learning_curves(n_sizes=n_sizes),
        Read(
            *("algorithm", "fold", "train_sizes", "test_scores", (), False, 2, 5, N_SIZES),
            matched=True,
            difference=-0.1,
        ),
        ("--names", "{algorithm}.npz"),
    )


# --- names of files that cross algorithm and task ---


def crossed(pattern: str, *, suffix: str = ".csv") -> dict[str, str]:
    """Return a log of each of two algorithms, three tasks and four runs, by a pattern of its name."""
    files = {}
    for algorithm in ("dqn", "ppo"):
        for task in ("acrobot", "cartpole", "pendulum"):
            for run in range(4):
                name = pattern.format(algorithm=algorithm, task=task, run=run)
                files[f"logs/{name}{suffix}"] = curve(algorithm + task, run)
    return files


ENVIRONMENTS = [
    f"{task}__{name}__{run}.csv" for task in ("Ant-v4", "Hopper-v4") for name in ("dqn", "ppo") for run in "01"
]
CROSSED = Read("algorithm", "run", "step", "return", ("task",), False, 2, 4, 3, 3)
for PATTERN in (
    "{algorithm}_{task}_{run}",
    "{task}_{algorithm}_{run}",
    "{algorithm}-{task}-seed{run}",
    "{task}__{algorithm}__s{run}",
    "{algorithm}_{task}_v2_{run}",
):
    INPUTS[f"names {PATTERN}"] = Input(
        lambda pattern=PATTERN: crossed(pattern),
        Asks("names do not say whether", 3, {PATTERN: CROSSED}),
    )
INPUTS["folders of runs whose names cross two parts"] = Input(
    lambda: crossed("{algorithm}_{task}/{run}", suffix="/log.csv"),
    Asks("names do not say whether", 3, {"{algorithm}_{task}/{run}": CROSSED}),
)
INPUTS["names of environments come first"] = Input(
    lambda: {f"logs/{name}": curve(name, 0) for name in ENVIRONMENTS},
    Read("algorithm", "run", "step", tasks=("task",), n_tasks=2, says="names are task, algorithm and run"),
)
INPUTS["versions of models are called like environments"] = Input(
    lambda: {
        f"logs/{name}_{size}_{run}.csv": curve("x", run)
        for name in ("Yolo-v5", "Yolo-v8")
        for size in ("small", "large")
        for run in range(2)
    },
    Asks("names do not say whether", 3, {"{task}_{algorithm}_{run}": Read("algorithm", "run", "step", n_tasks=2)}),
)


# --- settings of a grid are the algorithm together ---


def grid(**columns: list[object]) -> pd.DataFrame:
    """Return losses of a grid of settings with seeds."""
    return rows(lr=[0.1, 0.01], batch_size=[32, 64], seed=[0, 1, 2, 3], **columns, value="val_loss")


FOUR = Read("lr, batch_size", "seed", None, "val_loss", (), True, 4, 4, 1)
ONE_OF_TWO = Read("lr", "seed", None, "val_loss", ("batch_size",), True, 2, 4, 1, 2)
SETTINGS = {"--algorithm lr batch_size": FOUR, "--algorithm lr --extra": ONE_OF_TWO}
INPUTS["a grid of settings"] = Input(one(grid), Asks("the algorithm (lr or batch_size)", 3, SETTINGS))
INPUTS["a grid of settings with a constant number of epochs"] = Input(
    one(lambda: grid(epochs=[10])),
    Asks(
        "the algorithm (lr or batch_size)", 3, {key: replace(read, training="epochs") for key, read in SETTINGS.items()}
    ),
)
INPUTS["curves of a grid of settings"] = Input(
    one(lambda: grid(epoch=[1, 2, 3])),
    Asks(
        "the algorithm (lr or batch_size)",
        3,
        {key: replace(read, training="epoch", levels=3) for key, read in SETTINGS.items()},
    ),
)
INPUTS["one setting of a grid is typed"] = Input(
    one(lambda: grid(epochs=[10])),
    Asks(
        "column 'lr' (0.1, 0.01) is not used",
        4,
        {"--algorithm batch_size lr": Read(lower=True, algorithms=4, runs=4, levels=1)},
    ),
    ("--algorithm", "batch_size"),
)
INPUTS["one setting"] = Input(
    one(lambda: rows(lr=[0.1, 0.01], seed=[0, 1, 2], epoch=[1, 2], value="val_loss")),
    Asks("the algorithm (lr)", 1, {"--algorithm lr": Read("lr", "seed", "epoch", "val_loss", (), True, 2, 3, 2)}),
)
INPUTS["three settings and tasks"] = Input(
    one(lambda: rows(lr=[0.1, 0.01], width=[8, 16], decay=[0.0, 0.5], seed=[0, 1], task=["u", "v"], value="acc")),
    Asks(
        "the algorithm (lr or width or decay)",
        None,
        {"--algorithm lr width decay": Read(None, "seed", None, "acc", ("task",), False, 8, 2, 1, 2)},
    ),
)


# --- columns that are tasks ---


def board(**columns: list[float]) -> pd.DataFrame:
    """Return a table of models and benchmarks."""
    rng = np.random.default_rng(7)
    scores = {name: rng.uniform(30, 70, 4).round(3) for name in ("ARC", "MMLU", "GSM 8K (5-shot)")}
    return pd.DataFrame({"Model": ["a", "b", "c", "d"], **scores, **columns})


BOARD = Read("Model", None, None, "score", ("task",), False, 4, 1, 1, 3)
INPUTS["models and benchmarks"] = Input(one(board), Asks("whether columns are tasks", 1, {"--columns '{task}'": BOARD}))
for NAME in ("Average", "Avg.", "Average ⬆️"):
    INPUTS[f"models, benchmarks and a column {NAME}"] = Input(
        one(lambda name=NAME: board().assign(**{name: lambda frame: frame.iloc[:, 1:].mean(axis=1)})),
        Asks("whether columns are tasks", 1, {"--columns '{task}'": BOARD}),
    )
INPUTS["models, benchmarks and a size"] = Input(
    one(lambda: board(Params=[7, 14, 21, 28]).assign(Average=lambda frame: frame.iloc[:, 1:4].mean(axis=1))),
    Asks("whether columns are tasks", 2, {"ARC|MMLU": BOARD, "--columns '{task}'": replace(BOARD, n_tasks=4)}),
)
INPUTS["columns of tasks with seeds"] = Input(
    one(lambda: rows(algo=AB, seed=[0, 1, 2], value="Hopper").assign(Ant=lambda frame: frame.Hopper * 3 + 0.1)),
    Asks(
        "whether columns are tasks",
        3,
        {
            "--columns '{task}'": Read("algo", "seed", None, "score", ("task",), False, 2, 3, 1, 2),
            "--value Ant": Read("algo", "seed", None, "Ant", (), False, 2, 3, 1),
        },
    ),
)


def by_epoch(begin: str) -> pd.DataFrame:
    """Return a row for each run, with a column for each epoch."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"algo": ["ada", "ada", "bob", "bob"], "seed": [1, 2, 1, 2]})
    gains = frame["algo"].map({"ada": 0.5, "bob": 0.0})
    return frame.assign(**{f"{begin}{epoch}": gains + rng.uniform(0, 0.001, 4).round(5) for epoch in (1, 2, 5)})


for BEGIN in ("epoch_", ""):
    INPUTS[f"columns that are steps, {BEGIN}1"] = Input(
        one(lambda begin=BEGIN: by_epoch(begin)),
        Asks(
            "whether columns are steps of training",
            1,
            {f"{BEGIN}{{training": Read("algo", "seed", "training", "score", (), False, 2, 2, 3, difference=0.5)},
        ),
    )
INPUTS["statistics of each command"] = Input(
    one(
        lambda: pd.DataFrame(
            {"command": ["x", "y"], "mean": [1.2, 2.1], "stddev": [0.1, 0.2], "min": [1.1, 2.3], "max": [2.5, 2.6]}
        )
    ),
    Asks(
        "the score (mean or stddev or min or max)", 4, {"--value min": Read("command", None, None, "min", (), False, 2)}
    ),
)


# --- runs that would be pooled over tasks or settings ---


def own_runs(name: str, labels: list, n_runs: int = 3) -> pd.DataFrame:
    """Return two algorithms with runs of their own at each label of a column."""
    frame = rows(algorithm=AB, **{name: labels}, seed=range(n_runs), value="accuracy")
    return frame.assign(seed=[f"u{number:03d}" for number in range(len(frame))])


for NAME, LABELS in (("suite", ["x", "y"]), ("game", [11, 12]), ("beta", [0.1, 0.01])):
    INPUTS[f"runs of their own at each {NAME}"] = Input(
        one(lambda name=NAME, labels=LABELS: own_runs(name, labels)),
        Asks(
            f"whether {NAME} names tasks, is a setting of the algorithm, or neither",
            3,
            {
                f"--extra {NAME}": Read("algorithm", "seed", None, "accuracy", (NAME,), False, 2, 12, 1, 2),
                f"--algorithm algorithm {NAME}": Read(f"algorithm, {NAME}", "seed", None, None, (), False, 4, 12, 1),
                "--extra none": Read("algorithm", "seed", None, "accuracy", (), False, 2, 12, 1),
            },
        ),
    )
INPUTS["runs of their own on each host are of one task"] = Input(
    one(lambda: own_runs("hostname", ["x", "y"])),
    Read("algorithm", "seed", None, "accuracy", (), False, 2, 12, 1),
)
INPUTS["text beside algorithms without a known name"] = Input(
    one(
        lambda: (
            own_runs("kind", ["x", "y"])
            .assign(algorithm=lambda each: each.algorithm.map({"ada": 1, "bob": 2}))
            .rename(columns={"algorithm": "draft"})
        )
    ),
    Asks(
        "whether draft names tasks",
        4,
        {
            "--algorithm draft --extra kind": Read("draft", "seed", None, "accuracy", ("kind",), False, 2, 12, 1, 2),
            "--extra draft": Read("kind", "seed", None, "accuracy", ("draft",), False, 2, 12, 1, 2),
        },
    ),
)
INPUTS["decimals of a known name are algorithms"] = Input(
    one(lambda: rows(method=[0.1, 0.01], seed=[1, 2, 3], env=["x", "y"])),
    Read("method", "seed", None, "score", ("env",), False, 2, 3, 1, 2),
)
INPUTS["a game in words is a task"] = Input(
    one(lambda: rows(agent=AB, seed=[1, 2, 3], game=["pong", "qbert"])),
    Read("agent", "seed", None, "score", ("game",), False, 2, 3, 1, 2),
)
INPUTS["ids of rows are no algorithms"] = Input(
    one(lambda: rows(version=[1, 2], seed=[1, 2, 3]).assign(key=list("qwerty"))),
    Asks("the algorithm (version", None, {"--algorithm version": Read("version", "seed", None, "score", runs=3)}),
)
INPUTS["a written index is no clock"] = Input(
    one(lambda: rows(kind=["x", "y"], agent=AB, seed=range(10)).rename_axis("Unnamed: 0").reset_index()),
    Asks("kind", None, {"--extra kind": Read("agent", "seed", None, "score", ("kind",), False, 2, 10, 1, 2)}),
)
INPUTS["steps of an unknown name in no order"] = Input(
    one(lambda: rows(agent=AB, seed=[1, 2, 3], size=[10, 20, 40]).sample(frac=1, random_state=0)),
    Asks(
        "column 'size'",
        4,
        {
            "--training size --duplicates last": Read("agent", "seed", "size", "score", (), False, 2, 3, 3),
            "--extra size": Read("agent", "seed", None, "score", ("size",), False, 2, 3, 1, 3),
        },
    ),
)
INPUTS["rows in no order of runs that tasks share"] = Input(
    one(lambda: rows(agent=AB, seed=[1, 2], place=["x", "y"], step=[1, 2, 3]).sample(frac=1, random_state=0)),
    Asks(
        "column 'place' ('y', 'x') is not used, and rows repeat",
        2,
        {"--extra place --duplicates last": Read("agent", "seed", "step", "score", ("place",), False, 2, 2, 3, 2)},
    ),
)
INPUTS["algorithms and steps of unknown names"] = Input(
    one(lambda: rows(draft=[1, 2], size=[10, 20, 40], seed=[1, 2, 3])),
    Asks(
        "the algorithm (draft or size)",
        4,
        {"--algorithm draft --training size": Read("draft", "seed", "size", "score", (), False, 2, 3, 3)},
    ),
)
INPUTS["settings beside a score are no algorithms of a wide table"] = Input(
    one(lambda: rows(beta=[0.1, 0.01], seed=[1, 2, 3], epoch=[1, 2], value="perf")),
    Asks("the algorithm (beta)", 1, {"--algorithm beta": Read("beta", "seed", "epoch", "perf", (), False, 2, 3, 2)}),
)
INPUTS["names of algorithms, each with one run of a task"] = Input(
    one(lambda: rows(name=["sac", "td3"], env=["x", "y", "z"], step=[1, 2], value="return")),
    Asks("are called 'sac', 'td3'", 1, {"--algorithm name": Read("name", None, "step", "return", ("env",), n_tasks=3)}),
)
INPUTS["a clock beside what tells rows apart is no training"] = Input(
    one(
        lambda: rows(place=["x", "y", "z"], agent=AB, seed=[1, 2, 3]).assign(timestamp=lambda each: 1.7e9 + each.index)
    ),
    Asks("place", None, {"--extra place": Read("agent", "seed", None, "score", ("place",), False, 2, 3, 1, 3)}),
)
