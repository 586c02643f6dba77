"""Long tables of which columns, or rows that repeat, can be read in several ways: see `corpus.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from frames.corpus import AB, Asks, Input, Read, one, rows

INPUTS: dict[str, Input] = {}
STEPS = [10, 20, 30]


# --- names of runs that begin with the task ---


def with_tasks_in_runs(**columns: list[object]) -> pd.DataFrame:
    """Return scores of runs that are called cola_1, cola_2, sst_1, ..."""
    frame = rows(algo=AB, task=["cola", "sst"], seed=[1, 2, 3], **columns)
    frame.insert(0, "run", frame.pop("task") + "_" + frame.pop("seed").astype(str))
    return frame


IN_RUNS = Read("algo", "run", "step", "score", ("task",), False, 2, 6, 3, 2)
for TITLE, COLUMNS, READ in (
    ("curves", {"step": STEPS}, IN_RUNS),
    ("scores", {}, replace(IN_RUNS, training=None, levels=1)),
):
    INPUTS[f"names of runs that begin with the task, {TITLE}"] = Input(
        one(lambda columns=COLUMNS: with_tasks_in_runs(**columns)),
        Asks(
            "'cola' of run 'cola_1' names tasks",
            3,
            {
                "--extra task": READ,
                "--algorithm algo task": replace(READ, algorithm="algo, task", algorithms=4, tasks=(), n_tasks=1),
                "--extra none": replace(READ, tasks=(), n_tasks=1),
            },
        ),
    )
INPUTS["names of runs that begin with the algorithm"] = Input(
    one(
        lambda: rows(algo=AB, seed=[1, 2, 3], step=STEPS).assign(
            run=lambda frame: frame.algo + "_" + frame.pop("seed").astype(str)
        )
    ),
    Read("algo", "run", "step", "score", (), False, 2, 6, 3),
)

# --- settings beside a named algorithm ---

RUNS = [1, 2, 3, 4]
OF_RUNS = Read("algo", "seed", "step", "score", (), False, 2, 4, 3)


def with_setting(name: str, *pairs: tuple[float, float]) -> pd.DataFrame:
    """Return curves with a setting; of each algorithm a pair of values, each of half of its runs."""
    frame = rows(algo=AB, seed=RUNS, step=STEPS)
    value = dict(zip(AB, pairs, strict=True))
    frame[name] = [value[algorithm][seed > 2] for algorithm, seed in zip(frame.algo, frame.seed, strict=True)]
    return frame


for NAME in ("lr", "config/lr"):
    INPUTS[f"two values of {NAME}, the same of each algorithm"] = Input(
        one(lambda name=NAME: with_setting(name, (0.1, 0.01), (0.1, 0.01))),
        Asks(
            f"does not say whether {NAME} names tasks, is a setting of the algorithm, or neither",
            3,
            {
                f"--extra {NAME}": replace(OF_RUNS, tasks=(NAME,), n_tasks=2),
                f"--algorithm algo {NAME}": replace(OF_RUNS, algorithm="algo, lr", algorithms=4),
                "--extra none": OF_RUNS,
            },
        ),
    )
    INPUTS[f"two values of {NAME}, others of each algorithm"] = Input(
        one(lambda name=NAME: with_setting(name, (0.1, 0.01), (0.1, 0.5))),
        Asks(
            f"whether {NAME} names tasks, is a setting of the algorithm, or neither",
            2,
            {
                f"--algorithm algo {NAME}": replace(OF_RUNS, algorithm="algo, lr", algorithms=4),
                "--extra none": OF_RUNS,
            },
        ),
    )
    INPUTS[f"one value of {NAME} of each algorithm"] = Input(
        one(lambda name=NAME: with_setting(name, (0.1, 0.1), (0.01, 0.01))),
        replace(OF_RUNS, says=f"{NAME} not used: one value for each algorithm"),
    )
IN_DOMAINS = replace(OF_RUNS, tasks=("domain",), n_tasks=2)
INPUTS["a setting and tasks without a known name"] = Input(
    one(
        lambda: pd.concat(
            [
                with_setting("lr", (0.1, 0.01), (0.1, 0.01)).assign(
                    domain=domain, seed=lambda frame, domain=domain: domain + frame.seed.astype(str) + frame.algo
                )
                for domain in "uv"
            ]
        ).assign(score=lambda frame: np.arange(len(frame)) / 7)
    ),
    Asks(
        "whether lr and domain are tasks or settings",
        4,
        {
            "log.csv --extra domain ": replace(IN_DOMAINS, runs=16),
            "--algorithm algo lr --extra domain": replace(IN_DOMAINS, algorithm="algo, lr", algorithms=4, runs=16),
            "--extra lr domain": replace(IN_DOMAINS, tasks=("lr", "domain"), n_tasks=4, runs=16),
        },
    ),
)

# --- rows that repeat, and no column tells them apart ---

UNNUMBERED = {
    "--training row": Read("algo", "seed", "row", "score", (), False, 2, 3, 4),
    "--extra row": Read("algo", "seed", None, "score", ("row",), False, 2, 3, 1, 4),
    "--run seed row": Read("algo", "seed, row", None, "score", (), False, 2, 12, 1),
    "--duplicates mean": Read("algo", "seed", None, "score", (), False, 2, 3, 1),
}
INPUTS["several rows of each run without a step"] = Input(
    one(lambda: rows(algo=AB, seed=[1, 2, 3], part=[1, 2, 3, 4]).drop(columns="part")),
    Asks("rows repeat a (algo, seed)", 4, UNNUMBERED),
)
INPUTS["more rows of some runs without a step"] = Input(
    one(lambda: rows(algo=AB, seed=[1, 2, 3], part=[1, 2, 3, 4]).drop(columns="part")[:-1]),
    Asks("rows repeat a (algo, seed)", 4, {key: UNNUMBERED[key] for key in ("--training row", "--duplicates mean")}),
)

# --- scores, runs and tasks without a known name ---


def nets(other: str) -> pd.DataFrame:
    """Return scores of nets beside another measure."""
    return rows(net=AB, trial=[1, 2, 3], value="val_gini").assign(
        **{other: lambda frame: frame.val_gini * 3 + np.arange(6)}
    )


GINI = Read("net", "trial", None, "val_gini", (), False, 2, 3, 1)
INPUTS["scores of two unknown names beside unknown algorithms"] = Input(
    one(lambda: nets("memory_gb")),
    Asks(
        "the score (val_gini or memory_gb)",
        3,
        {
            "--value val_gini": GINI,
            "--extra net": Read(None, "trial", None, "score", ("net",), algorithms=2, runs=3, n_tasks=2),
        },
    ),
)
INPUTS["a score of an unknown name beside a time"] = Input(one(lambda: nets("gpu_hours")), GINI)
INPUTS["unknown runs of unknown tasks with steps"] = Input(
    one(lambda: rows(method=AB, suite=["u", "v"], nr=[1, 2, 3], step=STEPS)),
    Asks(
        "the run (suite or nr)",
        4,
        {
            "--run nr --extra suite": Read("method", "nr", "step", "score", ("suite",), False, 2, 3, 3, 2),
            "--run suite nr": Read("method", "suite, nr", "step", "score", (), False, 2, 6, 3),
        },
    ),
)
INPUTS["unknown algorithms and tasks with a rank that changes in runs"] = Input(
    one(
        lambda: rows(system=AB, city=["u", "v"], seed=[1, 2, 3], step=STEPS).assign(
            rank=lambda frame: frame.groupby(["city", "seed", "step"]).score.rank().astype(int)
        )
    ),
    Asks(
        "the algorithm (system or city or rank)",
        3,
        {"--algorithm system --extra city": Read("system", "seed", "step", "score", ("city",), False, 2, 3, 3, 2)},
    ),
)

# --- a clock beside scores that have no steps ---

INPUTS["items with a clock"] = Input(
    one(lambda: rows(model=AB, question_id=list(range(8))).assign(time=lambda frame: 1.7e9 + 3 * np.arange(16))),
    Read("model", None, None, "score", ("question_id",), False, 2, 1, 1, 8),
)
INPUTS["a clock, and several rows of each task without a known name"] = Input(
    one(
        lambda: (
            rows(method=AB, domain=["u", "v"], part=[1, 2, 3])
            .drop(columns="part")
            .assign(frames=100, wall_time=1.7e9 + 3 * np.arange(12))
        )
    ),
    Asks("what domain is", None, {"--extra domain": Read("method", "run", None, None, ("domain",), False, 2, 3, 1, 2)}),
)

# --- runs that failed: one step ---

INPUTS["a run without a score at its end"] = Input(
    one(lambda: rows(algo=AB, seed=RUNS, step=STEPS).assign(score=lambda frame: frame.score.where(frame.index != 11))),
    Asks(
        "1 run ends with rows without a score",
        2,
        {"--missing-scores failed --fill-failed worst": OF_RUNS, "--missing-scores absent": OF_RUNS},
    ),
)
