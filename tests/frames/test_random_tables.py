"""Random long tables of a known truth are read as it says, or asked about with a choice that leads to it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from xcurves.core.doubts import Doubtful
from xcurves.core.labels import DIMS

KNOWN = {
    "algorithm": ["algo", "model", "method", "agent", "optimizer", "Model", "classifier"],
    "run": ["seed", "run", "trial", "rep", "run_id", "replicate", "Seed"],
    "task": ["task", "env", "dataset", "benchmark", "env_id"],
    "training": ["step", "epoch", "iteration", "env_steps", "frames", "global_step"],
    "score": ["score", "return", "accuracy", "val_loss", "reward", "f1"],
}
UNKNOWN = {
    "algorithm": ["net", "variant", "system", "architecture", "Verfahren"],
    "run": ["no", "try", "rs", "replica", "Lauf"],
    "task": ["domain", "corpus", "city", "suite", "species"],
    "training": ["hours", "x", "n_examples", "Schritt", "samples_seen"],
    "score": ["dice", "y", "result", "quality", "Ergebnis"],
}
ALGORITHMS, TASKS = ["ppo", "sac", "td3", "dqn"], ["ant", "hopper", "walker"]
DEEPEST = 3  # questions that are answered one after the other


def table(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table, and its truth: numbers of algorithm, task, run and step by score."""
    rng = np.random.default_rng(seed)

    def has(share: float) -> bool:
        return bool(rng.random() < share)

    kind = str(rng.choice(["curves", "scores", "items", "folds"], p=[0.55, 0.2, 0.12, 0.13]))
    n_runs = int(rng.integers(2, 6))
    sizes = {"algorithm": int(rng.integers(2, 5)), "task": int(rng.integers(1, 4)), "run": n_runs, "training": 1}
    unknown = [role for role in KNOWN if has(0.2)][:2]
    name = {role: str(rng.choice((UNKNOWN if role in unknown else KNOWN)[role])) for role in KNOWN}
    if kind == "curves":
        sizes["training"] = int(rng.integers(3, 8))
    elif kind == "items":
        sizes |= {"task": int(rng.integers(6, 16)), "run": 1}
        name["task"] = str(rng.choice(["question_id", "item", "doc_id", "sample_id"]))
    elif kind == "folds":
        name["run"] = str(rng.choice(["fold", "cv_fold"]))
    truth = pd.MultiIndex.from_product([range(size) for size in sizes.values()], names=list(sizes)).to_frame(
        index=False
    )
    n_rows = len(truth)
    truth["score"] = rng.random(n_rows)
    columns = {name["algorithm"]: truth.algorithm.map(dict(enumerate(ALGORITHMS)))}
    if sizes["task"] > 1:
        columns[name["task"]] = truth.task if kind == "items" else truth.task.map(dict(enumerate(TASKS)))
    if sizes["run"] > 1:
        columns[name["run"]] = _runs(rng, truth, sizes, are_matched=kind == "folds")
    if kind == "curves":
        columns[name["training"]] = (truth.training + int(has(0.5))) * int(rng.choice([1, 10, 1000]))
    elif has(0.15):
        columns[name["training"]] = 100
    others = {
        "wall_time": 1.7e9 + np.cumsum(rng.uniform(0.5, 3, n_rows)).round(2),
        "date": pd.date_range("2026-01-01", periods=n_rows, freq="h").astype(str),
        "version": 1,
        "device": "cuda",
        "config/lr": truth.algorithm.map({0: 0.1, 1: 0.01, 2: 0.001, 3: 0.3}),
        "params": truth.algorithm * 1000 + 1000,
        "rank": truth.groupby(["task", "run", "training"]).score.rank().astype(int),
        "id": np.arange(n_rows),
        "uuid": [f"k{place}" for place in rng.permutation(n_rows)],
        "notes": "with " + truth.algorithm.map(dict(enumerate(ALGORITHMS))),
        "fps": rng.uniform(10, 99, n_rows).round(3),
    }
    columns |= {other: values for other, values in others.items() if has(0.08)}
    frame = pd.DataFrame({**columns, name["score"]: truth.score})
    if has(0.2):
        frame = frame[rng.permutation(list(frame))]
    if has(0.25):
        frame = frame.iloc[rng.permutation(n_rows)].reset_index(drop=True)
    return frame, truth


def _runs(rng, truth: pd.DataFrame, sizes: dict[str, int], *, are_matched: bool) -> pd.Series:
    """Return labels of runs: the same in each algorithm and task, other ones, or texts."""
    number = (truth.algorithm * sizes["task"] + truth.task) * sizes["run"] + truth.run
    kinds = [truth.run + int(rng.choice([0, 1, 42])), number]
    kinds.append(
        number.map({key: f"{value:08x}" for key, value in enumerate(rng.integers(0, 2**32, number.max() + 1))})
    )
    kinds.append("run_" + truth.run.astype(str))
    return kinds[0 if are_matched else int(rng.choice(4, p=[0.55, 0.15, 0.15, 0.15]))]


def readings(frame: pd.DataFrame, call: str, depth: int = 0) -> Iterator[xr.DataArray]:
    """Yield the curves of a call; of a question those of each call that it proposes."""
    rows, _, arguments = call.partition(".curves.")
    frame = eval(rows, {"frame": frame})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            curves = eval(f"frame.curves.{arguments}", {"frame": frame})
    except Doubtful as question:
        if depth < DEEPEST:
            for each in question.choices:
                yield from readings(frame, str(each.call), depth + 1)
    else:
        yield curves


def is_right(curves: xr.DataArray, truth: pd.DataFrame) -> bool:
    """Return whether scores are of the same algorithms, tasks and runs, and at steps in the same order."""
    found = curves.reset_coords(drop=True).to_series().dropna().rename("score").reset_index()
    if len(found) != len(truth):
        return False
    found = found.assign(**{dim: 0 for dim in DIMS if dim not in found}).sort_values("score", ignore_index=True)
    right = truth.sort_values("score", ignore_index=True)
    if not np.array_equal(found.score, right.score):
        return False
    tasks = [dim for dim in curves.dims if dim not in DIMS]
    for mine, theirs in (
        (["algorithm"], ["algorithm"]),
        (tasks, ["task"]),
        ([*tasks, "algorithm", "run"], ["task", "algorithm", "run"]),
        (["training"], ["training"]),
    ):
        labels = found.groupby(mine).ngroup() if mine else pd.Series(0, found.index)
        pairs = pd.DataFrame({"mine": labels, "theirs": right.groupby(theirs).ngroup()}).drop_duplicates()
        if not (pairs.mine.is_unique and pairs.theirs.is_unique):
            return False
    return bool((found.training.rank(method="dense") == right.training.rank(method="dense")).all())


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 80, 20))
def test_random_tables_are_read_right_or_asked_about(first):
    for seed in range(first, first + 20):
        frame, truth = table(seed)
        every = readings(frame, "frame.curves.to_dataarray()")
        assert any(is_right(curves, truth) for curves in every), (seed, list(frame))
