"""Small inputs with their right reading: what an engineer who knows the logs would say of their columns.

An input is files below a folder, made by a function that returns their text by path (or a frame, written as CSV), the
options that are typed, and what is right: a `Read`, `ASKS` or `REFUSES`. `test_readings.py` reads each by the shell and
by Python, compares the two, and follows every command that a question proposes. Rows of repeated scores, wide tables
and arrays are in `corpus_rows.py`, formats of packages in `corpus_sources.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

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
    difference: float | None = (
        None  # at the last level: the first algorithm less the second
    )


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
    Read(
        "model_name", "run_id", "global_step", "val_loss", ("env_id",), True, 2, 2, 2, 2
    ),
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
    one(
        lambda: rows(
            variant=AB, flavour=["x", "y"], seed=[1, 2], step=[1, 2], value="z"
        )
    ),
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
