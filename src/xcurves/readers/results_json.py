"""Results of many runs as JSON: trials of Ray Tune and RLlib, and files of the protocol of marl-eval."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
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
    rows, left_out = _json_lines(path) if path.suffix == ".json" else log_files.read_log(path)
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


def _json_lines(path: Path) -> Run:
    lines, cut = log_files.split_cut_line(log_files.read_bytes(path))
    with parsing(path, "results of a trial"):
        rows = check_cells(pd.DataFrame([dict(_flat(json.loads(line))) for line in lines.splitlines()]), path)
    return Run(rows, log_files.say_cut(path, cut))


def _flat(nested: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single values of nested mappings, their names joined by "/"."""
    for name, value in nested.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}/")
        elif isinstance(value, str | int | float):
            yield prefix + name, value


def _metrics(path: str | Path, *, absolute: bool) -> pd.DataFrame:
    """Return a row for each run, evaluation and episode; `absolute` metrics are of the best model, without steps."""
    files = logs.find_logs(path, _is_marl_eval, MARL_EVAL.logs)
    runs: dict[tuple[str, ...], Path] = {}
    frames = []
    for file in files:
        for labels, name, metrics in _measurements(file):
            if runs.setdefault(labels, file) != file:
                raise LogError(f"{file} and {runs[labels]} both hold {' / '.join(labels)}. Remove one of them")
            if name.lower().startswith("absolute") == absolute:
                frames.append(_episodes_of(file, labels, name, metrics))
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if frame.empty:
        raise LogError(f"path {str(path)!r} has no {'absolute metrics' if absolute else 'steps'} of any run")
    first = [*_OF_RUNS, *([] if absolute else ["step"]), "episode"]
    frame = frame[[*first, *frame.columns.difference(first, sort=False)]]
    frame.attrs = {"source": f"marl-eval, {len(runs)} runs in {Path(path).name}"}
    return frame


def _measurements(file: Path) -> list[tuple[tuple[str, ...], str, dict[str, Any]]]:
    """Return the labels of each run, the names of its steps, and what was measured there."""
    with parsing(file, "metrics nested as environment, task, algorithm, run, step"):
        nested = json.loads(file.read_text(encoding="utf-8"))
        return [
            ((env, task, algorithm, run), name, dict(metrics))
            for env, tasks in nested.items()
            for task, algorithms in tasks.items()
            for algorithm, runs in algorithms.items()
            for run, steps in runs.items()
            for name, metrics in steps.items()
        ]


def _episodes_of(file: Path, labels: tuple[str, ...], name: str, metrics: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each episode of an evaluation."""
    values = {key: value for key, value in metrics.items() if isinstance(value, list)}
    once = {key: value for key, value in metrics.items() if key not in values}
    counts = {key: len(value) for key, value in values.items()}
    if len(set(counts.values())) > 1:
        raise LogError(f"{file}: {' / '.join(labels)} has lists of different lengths in {name}: {counts}. Correct it")
    if "step_count" in once:
        once["step"] = once.pop("step_count")
    with parsing(file, MARL_EVAL.what):
        rows = pd.DataFrame(values)
        rows = rows.assign(**dict(zip(_OF_RUNS, labels, strict=True)), **once, episode=range(len(rows)))
        return check_cells(rows, file)


def _is_marl_eval(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    return '"step_count"' in text or '"absolute_metrics"' in text


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
    read_all=partial(_metrics, absolute=False),
    logs="JSON files of its protocol",
    extra=("env", "task"),
    also_writes=("marl-eval-absolute",),
)
MARL_EVAL_ABSOLUTE = MARL_EVAL._replace(
    name="marl-eval-absolute",
    what="marl-eval's metrics of the best model of each run",
    read_all=partial(_metrics, absolute=True),
    training=None,
)
