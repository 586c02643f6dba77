"""Results of trials of Ray Tune and RLlib."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.readers import csvfile, paths
from xcurves.readers.source import Source

_LABELS = ["algorithm", "task", "run"]
_FILES = ("result.json", "progress.csv")
_STEPS = {
    "num_env_steps_sampled_lifetime": "environment steps sampled",
    "timesteps_total": "total time steps",
    "training_iteration": "training iterations",
}


def results(root: str | Path) -> pd.DataFrame:
    r"""Read the results of all trials below a folder.

    Parameters
    ----------
    root : path
        Folder of an experiment, or of several. Each trial has a folder with ``result.json`` or ``progress.csv``, and
        ``params.json``.

    Returns
    -------
    DataFrame
        One row per trial and iteration: `algorithm` and `task`, as the trial's folder and its configuration name them,
        `run` (the trial's id), `step` (environment steps; without them, iterations), all numbers of the result under
        their names, nested ones joined by "/", and single values of the configuration as ``config/lr``. For runs that
        differ by their seed: ``run="config/seed"``.

    Raises
    ------
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If a file is damaged, or has no training iterations.

    Warns
    -----
    UserWarning
        If the last line of a file is cut short; it is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xcurves.readers import rllib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "PPO_CartPole-v1_c2a3f_00000_0_2026-01-01"
    >>> folder.mkdir()
    >>> row = '"training_iteration": 1, "timesteps_total": 4000, "episode": {"mean": 21.5}'
    >>> _ = (folder / "result.json").write_text('{"trial_id": "c2a3f_00000", ' + row + "}\n")
    >>> _ = (folder / "params.json").write_text('{"env": "CartPole-v1", "lr": 0.001}')
    >>> rllib.results(folder.parent)[["algorithm", "task", "run", "step", "episode/mean", "config/lr"]]
      algorithm         task          run  step  episode/mean  config/lr
    0       PPO  CartPole-v1  c2a3f_00000  4000          21.5      0.001
    """
    frame = paths.read_runs(root, _is_log, "results of Ray trials", (), _run, lambda _: Path(root))
    name = next(name for name in _STEPS if name in frame)
    frame = pd.concat([frame[_LABELS], frame[name].rename("step"), frame.drop(columns=_LABELS)], axis=1)
    frame.attrs = {"long_name": {"step": _STEPS[name]}, "source": f"Ray results {paths.where(root)}"}
    return frame


def _is_log(path: Path) -> bool:
    return path.name in _FILES and (path.parent / "params.json").exists()


def _run(files: Sequence[Path]) -> paths.Run:
    """Return the results of all trials; `files` are those of all trials."""
    trials = [_trial(folder) for folder in dict.fromkeys(file.parent for file in files)]
    return paths.Run(
        pd.concat([trial.rows for trial in trials], ignore_index=True),
        "; ".join(trial.left_out for trial in trials if trial.left_out),
    )


def _trial(folder: Path) -> paths.Run:
    path = next(folder / name for name in _FILES if (folder / name).exists())
    rows, left_out = _json_lines(path) if path.suffix == ".json" else csvfile.read_log(path)
    if not len(rows):
        return paths.Run(rows, f"{path} has no results and is left out")
    if "training_iteration" not in rows or "trial_id" not in rows:
        raise ValueError(f"{path} is no result of a Ray trial: it has no training_iteration or trial_id. Remove it")
    config = dict(_flat(_load(folder / "params.json")))
    trial, task = str(rows["trial_id"].iloc[0]), config.get("env")
    algorithm = folder.name.partition(f"_{trial}")[0]
    if isinstance(task, str):
        algorithm = algorithm.removesuffix("_" + task.replace("/", "_"))
    constant = {"algorithm": algorithm, "task": task, "run": trial} | {f"config/{key}": config[key] for key in config}
    first = pd.DataFrame({name: [value] * len(rows) for name, value in constant.items()}, index=rows.index)
    rest = rows.drop(columns=["trial_id", *(name for name in rows if str(name).startswith("config/"))])
    return paths.Run(pd.concat([first[_LABELS], rest, first.drop(columns=_LABELS)], axis=1), left_out)


def _json_lines(path: Path) -> paths.Run:
    lines, cut = csvfile.split_cut_line(csvfile.read_bytes(path))
    try:
        rows = [dict(_flat(json.loads(line))) for line in lines.splitlines()]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}. Copy it again, or remove it") from None
    left_out = f"{path}: the last line is cut short and left out: {cut[:60]!r}" if cut else ""
    return paths.Run(pd.DataFrame(rows), left_out)


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}. Copy it again") from None


def _flat(nested: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single values of nested mappings, their names joined by "/"."""
    for name, value in nested.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}/")
        elif isinstance(value, str | int | float):
            yield prefix + name, value


SOURCE = Source(
    "rllib",
    "a folder of trials of RLlib or Ray Tune (result.json, progress.csv)",
    _is_log,
    results,
    extra=("task",),
    also_writes=("tensorboard", "table"),
)
