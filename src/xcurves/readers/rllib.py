"""Results of trials of Ray Tune and RLlib."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core import provenance
from xcurves.readers import csvfile, paths
from xcurves.readers.source import LogError, Run, Source, check_cells, parsing

_LABELS = ["algorithm", "task", "run"]
_FILES = ("result.json", "progress.csv")
_STEPS = {
    "num_env_steps_sampled_lifetime": "environment steps sampled",
    "timesteps_total": "total time steps",
    "training_iteration": "training iterations",
}


def _results(root: str | Path) -> pd.DataFrame:
    """Return a row per trial and iteration, with the configuration of each trial."""
    folders = dict.fromkeys(file.parent for file in paths.find_logs(root, _is_log, "results of Ray trials"))
    trials = [_trial(folder) for folder in folders]
    if said := "; ".join(trial.left_out for trial in trials if trial.left_out):
        provenance.warn(said)
    frame = pd.concat([trial.rows for trial in trials], ignore_index=True)
    if frame.empty:
        raise ValueError(f"path {str(root)!r}: its results of Ray trials have no rows. Check what was logged")
    name = next(name for name in _STEPS if name in frame)
    frame = pd.concat([frame[_LABELS], frame[name].rename("step"), frame.drop(columns=_LABELS)], axis=1)
    frame.attrs = {"long_name": {"step": _STEPS[name]}, "source": f"Ray results {paths.where(root)}"}
    return frame


def _is_log(path: Path) -> bool:
    return path.name in _FILES and (path.parent / "params.json").exists()


def _trial(folder: Path) -> Run:
    path = next(folder / name for name in _FILES if (folder / name).exists())
    rows, left_out = _json_lines(path) if path.suffix == ".json" else csvfile.read_log(path)
    if not len(rows):
        return Run(rows, f"{path} has no results and is left out")
    if "training_iteration" not in rows or "trial_id" not in rows:
        raise LogError(f"{path} is no result of a Ray trial: it has no training_iteration or trial_id. Remove it")
    params = folder / "params.json"
    with parsing(params, "configuration of a trial"):
        config = dict(_flat(json.loads(params.read_text(encoding="utf-8"))))
        check_cells(pd.DataFrame([config]), params)
    trial, task = str(rows["trial_id"].iloc[0]), config.get("env")
    algorithm = folder.name.partition(f"_{trial}")[0]
    if isinstance(task, str):
        algorithm = algorithm.removesuffix("_" + task.replace("/", "_"))
    constant = {"algorithm": algorithm, "task": task, "run": trial} | {f"config/{key}": config[key] for key in config}
    first = pd.DataFrame({name: [value] * len(rows) for name, value in constant.items()}, index=rows.index)
    rest = rows.drop(columns=["trial_id", *(name for name in rows if str(name).startswith("config/"))])
    return Run(pd.concat([first[_LABELS], rest, first.drop(columns=_LABELS)], axis=1), left_out)


def _json_lines(path: Path) -> Run:
    lines, cut = csvfile.split_cut_line(csvfile.read_bytes(path))
    with parsing(path, "results of a trial"):
        rows = check_cells(pd.DataFrame([dict(_flat(json.loads(line))) for line in lines.splitlines()]), path)
    return Run(rows, csvfile.say_cut(path, cut))


def _flat(nested: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single values of nested mappings, their names joined by "/"."""
    for name, value in nested.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}/")
        elif isinstance(value, str | int | float):
            yield prefix + name, value


SOURCE = Source(
    "rllib",
    "trials of RLlib or Ray Tune",
    _is_log,
    read_all=_results,
    logs="result.json or progress.csv beside params.json",
    extra=("task",),
    also_writes=("tensorboard", "table"),
)
