"""Sources with tables or JSON: which files, and the rows of one run, or of all where the logs name their runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype

from xcurves.readers import formats, log_files, logs
from xcurves.readers.formats import delimited, text_lines
from xcurves.readers.log_files import Run, check_cells, parsing
from xcurves.readers.logs import Source
from xcurves.readers.open_files import LogError, open_arrays, read_bytes

_MONITOR = {"r": "return", "l": "episode_length", "t": "time"}
_EVALUATIONS = {"results": "return", "ep_lengths": "episode_length", "successes": "success"}
_TOTALS = {"total_flos", "train_runtime", "train_samples_per_second", "train_steps_per_second"}
_RAY_STEPS = {
    "num_env_steps_sampled_lifetime": "environment steps sampled",
    "timesteps_total": "total time steps",
    "training_iteration": "training iterations",
}
_OF_RUNS = ["env", "task", "algorithm", "run"]
_NESTED = "\0"  # between labels, in none of them


def _table(files: Sequence[Path]) -> Run:
    path = logs.only(files)
    data = read_bytes(path)
    return Run(delimited.parse(data, path), delimited.missing_end(data, path))


def _lines(files: Sequence[Path]) -> Run:
    path = logs.only(files)
    lines, cut = log_files.whole_lines(path)
    return Run(delimited.parse(lines, path), cut)


def _merged_lines(files: Sequence[Path]) -> Run:
    """Return one row for each step of which several lines have the metrics."""
    read = _lines(files)
    return Run(logs.merge_steps(read.rows), read.left_out)


def _is_keras(path: Path) -> bool:
    first, *metrics = log_files.header(path) or [""]
    return first == "epoch" and "loss" in metrics and not {"step", "algorithm", "run"} & set(metrics)


def _evaluations(files: Sequence[Path]) -> Run:
    """Return a row for each episode of an evaluation."""
    path = logs.only(files)
    with open_arrays(path) as saved:
        arrays = {name: saved[name] for name in ("timesteps", *_EVALUATIONS) if name in saved}
    shapes = {name: array.shape for name, array in arrays.items()}
    steps = shapes.pop("timesteps", ())
    alike = len(set(shapes.values())) == 1 and shapes.get("results", ())[:1] == steps and len(steps) == 1
    if not alike or len(shapes["results"]) != 2:
        raise ValueError(f"arrays must have one shape (timesteps, episodes); got {shapes}")
    n_episodes = shapes["results"][1]
    rows = {"step": np.repeat(arrays["timesteps"], n_episodes), "episode": np.tile(np.arange(n_episodes), steps[0])}
    return Run(
        pd.DataFrame(rows | {column: arrays[name].ravel() for name, column in _EVALUATIONS.items() if name in arrays})
    )


def _trainer_states(files: Sequence[Path]) -> Run:
    """Return the history of the checkpoint with most steps, which is the whole one, without totals at the end."""
    states = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    last = max(states, key=lambda state: int(state["global_step"]))
    history = [row for row in last["log_history"] if not _TOTALS & set(row)]
    if not all("step" in row for row in history):
        raise ValueError("its rows have no step")
    columns = dict.fromkeys(["step", "epoch", *(name for row in history for name in row)])
    return Run(logs.merge_steps(pd.DataFrame(history, columns=list(columns))))


def _episodes(files: Sequence[Path]) -> Run:
    """Return the episodes of one run, of parallel environments in the order of time."""
    found, began, cut = zip(*map(_monitor, files), strict=True)
    rows = pd.concat(found, ignore_index=True)
    if len(files) > 1:
        rows["time"] += np.repeat(np.subtract(began, min(began)), [len(each) for each in found])
        rows = rows.sort_values("time", kind="stable", ignore_index=True)
    rows.insert(1, "episode", range(1, len(rows) + 1))
    rows.insert(2, "step", rows["episode_length"].cumsum())
    return Run(rows, "; ".join(filter(None, cut)))


def _monitor(path: Path) -> tuple[pd.DataFrame, float, str]:
    """Return the episodes of one file, the time at which it was begun, and what of it is left out."""
    lines, cut = log_files.whole_lines(path)
    header, _, table = lines.partition(b"\n")
    try:
        about = json.loads(header.removeprefix(b"#"))
        began, env = float(about["t_start"]), about.get("env_id")
        if not math.isfinite(began):
            raise ValueError
    except (ValueError, TypeError, LookupError, RecursionError):
        first = f"its first line must be a JSON header with t_start; got {header[:60].decode(errors='replace')!r}"
        raise LogError(f"{path} is no Monitor log: {first}. Remove it") from None
    if b"\n#{" in table:
        line = 2 + table[: table.index(b"\n#{") + 1].count(b"\n")
        raise LogError(f"{path}: line {line} is a header again: two logs in one file. Make a file of each")
    rows = delimited.parse(table, path, first_line=2, skipinitialspace=True)
    try:
        numbers = {column: pd.to_numeric(rows.pop(name)) for name, column in _MONITOR.items()}
        if any(column.isna().any() for column in numbers.values()):
            raise ValueError("a row lacks r, l or t")
        lengths = numbers["episode_length"]
        if not is_integer_dtype(lengths) or (lengths < 0).any() or lengths.astype(float).sum() >= 2**63:
            raise ValueError(f"lengths must be whole numbers that sum to less than 2**63; got {lengths.max()}")
    except (ValueError, KeyError) as error:
        raise LogError(f"{path} is no Monitor log of columns r, l, t: {error}. Correct or remove it") from None
    return pd.DataFrame({"env": env} | numbers | dict(rows.items()), index=rows.index), began, cut


def _is_text(path: Path) -> bool:
    if path.suffix.lower() not in (".txt", ".log", ".out"):
        return False
    with parsing(path, "text log"):
        return formats.format_of(path) == "text lines"


def _text(files: Sequence[Path]) -> Run:
    path = logs.only(files)
    return text_lines.read(read_bytes(path), path)


def _results(root: str | Path) -> pd.DataFrame:
    """Return a row per trial and iteration, with the configuration of each trial."""
    frame = logs.read_each_run(root, RLLIB._replace(read_run=_trial), names="{folder,.*}").drop(columns="folder").copy()
    name = next(name for name in _RAY_STEPS if name in frame)
    frame.insert(3, "step", frame[name])
    frame.attrs["long_name"] = {"step": _RAY_STEPS[name]}
    return frame


def _is_trial(path: Path) -> bool:
    return path.name in ("progress.csv", "result.json") and (path.parent / "params.json").exists()


def _trial(files: Sequence[Path]) -> Run:
    path, folder = files[-1], files[-1].parent
    lines, left_out = log_files.whole_lines(path)
    rows = _json_lines(lines, path) if path.suffix == ".json" else delimited.parse(lines, path)
    if not len(rows):
        return Run(rows, left_out)
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


MONITOR = Source(
    "monitor",
    "Stable-Baselines3 Monitor logs",
    lambda path: path.name.endswith("monitor.csv"),
    _episodes,
    logs="monitor.csv",
    units={"step": "steps", "episode_length": "steps", "time": "s"},
    long_names={"return": "episode return", "step": "environment steps", "time": "time since the run began"},
    value="return",
    also_writes=("evaluations", "tensorboard"),
)
EVALUATIONS = Source(
    "evaluations",
    "Stable-Baselines3 evaluations",
    lambda path: path.name == "evaluations.npz",
    _evaluations,
    logs="evaluations.npz",
    units={"step": "steps", "episode_length": "steps"},
    long_names={"return": "episode return", "step": "environment steps"},
    value="return",
    also_writes=("tensorboard",),
)
LIGHTNING = Source(
    "lightning",
    "Lightning metrics",
    lambda path: path.name == "metrics.csv" and {"epoch", "step"} <= set(log_files.header(path)),
    _merged_lines,
    logs="metrics.csv of Lightning",
    units={"step": "steps"},
    also_writes=("tensorboard",),
)
HUGGINGFACE = Source(
    "huggingface",
    "Hugging Face Trainer logs",
    lambda path: path.name == "trainer_state.json",
    _trainer_states,
    logs="trainer_state.json",
    units={"step": "steps"},
    also_writes=("tensorboard",),
)
KERAS = Source(
    "keras",
    "Keras CSVLogger files",
    _is_keras,
    _lines,
    logs="files of Keras's CSVLogger (epoch, loss, ...)",
    units={"epoch": "epochs"},
    training="epoch",
    also_writes=("tensorboard",),
)
TEXT = Source(
    "text",
    "text logs",
    _is_text,
    _text,
    logs="text logs with a line 'step:1 loss:2.5' for each step (.txt, .log, .out)",
    below=formats.could_be_log,
    file_names_run=True,
)
TABLE = Source("table", "CSV", log_files.is_table, _table, logs="CSV files", training="training", file_names_run=True)
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
