"""Results of many runs as JSON: trials of Ray Tune and RLlib, and evaluations of marl-eval."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core import provenance
from xcurves.readers import log_files, logs
from xcurves.readers.log_files import LogError, Run, check_cells, parsing
from xcurves.readers.logs import Source

_OF_TRIALS = ["algorithm", "task", "run"]
_FILES = ("result.json", "progress.csv")
_STEPS = {
    "num_env_steps_sampled_lifetime": "environment steps sampled",
    "timesteps_total": "total time steps",
    "training_iteration": "training iterations",
}
_OF_RUNS = ["env", "task", "algorithm", "run"]
_NESTED = "\0"  # between labels, in none of them


def _results(root: str | Path) -> pd.DataFrame:
    """Return a row per trial and iteration, with the configuration of each trial."""
    folders = dict.fromkeys(file.parent for file in logs.find_logs(root, _is_trial, "results of Ray trials"))
    trials = [_trial(folder) for folder in folders]
    if said := "; ".join(trial.left_out for trial in trials if trial.left_out):
        provenance.warn(said)
    frame = pd.concat([trial.rows for trial in trials], ignore_index=True)
    if frame.empty:
        raise ValueError(f"path {str(root)!r}: its results of Ray trials have no rows. Check what was logged")
    name = next(name for name in _STEPS if name in frame)
    frame = pd.concat([frame[_OF_TRIALS], frame[name].rename("step"), frame.drop(columns=_OF_TRIALS)], axis=1)
    frame.attrs = {"long_name": {"step": _STEPS[name]}, "source": f"Ray results {logs.where(root)}"}
    return frame


def _is_trial(path: Path) -> bool:
    return path.name in _FILES and (path.parent / "params.json").exists()


def _trial(folder: Path) -> Run:
    path = next(folder / name for name in _FILES if (folder / name).exists())
    lines, left_out = log_files.whole_lines(path)
    rows = _json_lines(lines, path) if path.suffix == ".json" else log_files.parse(lines, path)
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
    labels = pd.DataFrame({"algorithm": algorithm, "task": task, "run": trial}, index=rows.index)
    settings = pd.DataFrame({f"config/{key}": value for key, value in config.items()}, index=rows.index)
    rest = rows.drop(columns=["trial_id", *(name for name in rows if str(name).startswith("config/"))])
    return Run(pd.concat([labels, rest, settings], axis=1), left_out)


def _json_lines(lines: bytes, path: Path) -> pd.DataFrame:
    with parsing(path, "results of a trial"):
        return check_cells(pd.DataFrame([dict(_flat(json.loads(line))) for line in lines.splitlines()]), path)


def _flat(nested: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single values of nested mappings, their names joined by "/"."""
    for name, value in nested.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}/")
        elif isinstance(value, str | int | float):
            yield prefix + name, value


def _metrics(path: str | Path) -> pd.DataFrame:
    """Return a row for each run, evaluation and episode; those without a step, of the best model, are left out."""
    frames, of_runs = list[pd.DataFrame](), dict[tuple[str, ...], Path]()
    for file in logs.find_logs(path, _is_marl_eval, MARL_EVAL.logs):
        with parsing(file, "metrics nested as environment, task, algorithm, run, step"):
            nested = pd.json_normalize(json.loads(file.read_text(encoding="utf-8")), sep=_NESTED, max_level=4).iloc[0]
            for place, metrics in nested.items():
                *labels, name = str(place).split(_NESTED)
                rows = dict(metrics)
                if of_runs.setdefault(tuple(labels), file) != file:
                    raise LogError(f"{file} and {of_runs[*labels]} both hold {' / '.join(labels)}. Remove one of them")
                lengths = {key: len(value) for key, value in rows.items() if isinstance(value, list)}
                if len(set(lengths.values())) > 1:
                    raise LogError(f"{file}: {' / '.join(labels)} has unlike lists in {name}: {lengths}. Correct it")
                if "step_count" in rows and any(lengths.values()):
                    about = dict(zip([*_OF_RUNS, "step"], [*labels, rows.pop("step_count")], strict=True))
                    made = pd.DataFrame(about | rows)
                    made.insert(len(about), "episode", range(len(made)))
                    frames.append(check_cells(made, file))
    if not frames:
        raise LogError(f"path {str(path)!r} has no steps of any run")
    frame = pd.concat(frames, ignore_index=True)
    frame.attrs = {"source": f"marl-eval, {len(of_runs)} runs in {Path(path).name}"}
    return frame


def _is_marl_eval(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    return '"step_count"' in path.read_text(encoding="utf-8", errors="replace")


RLLIB = Source(
    "rllib",
    "trials of RLlib or Ray Tune",
    _is_trial,
    read_all=_results,
    logs="result.json or progress.csv beside params.json",
    extra=("task",),
    also_writes=("tensorboard", "table"),
)
MARL_EVAL = Source(
    "marl-eval",
    "evaluations of marl-eval",
    _is_marl_eval,
    read_all=_metrics,
    logs="JSON files of its protocol",
    extra=("env", "task"),
)
