"""Trials of RLlib and Ray Tune: their results, and the configuration of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from xcurves.core.names import seeds_in, whole_numbers
from xcurves.core.refusal import Refusal
from xcurves.readers import logs
from xcurves.readers.formats import delimited
from xcurves.readers.formats.json_rows import flat, parse, table_of
from xcurves.readers.log_files import Run, check_cells, parsing, whole_lines
from xcurves.readers.open_files import read_bytes, read_text
from xcurves.readers.packages import RLLIB

_STEPS = {
    "num_env_steps_sampled_lifetime": "environment steps sampled",
    "timesteps_total": "total time steps",
    "training_iteration": "training iterations",
}
# Folders are called ALGORITHM_TASK_TRIAL_NUMBER_SETTINGS_DATE.
_TRIAL = re.compile(r"_[0-9a-f]{5,8}_\d{5}(?:_|$)")


def read_trials(root: str | Path) -> pd.DataFrame:
    """Return a row per trial and iteration, with the configuration of each trial."""
    frame = logs.read_each_run(root, RLLIB._replace(read_run=_trial), names="{folder,.*}")
    # What `names` splits, for folders that are not called as Ray calls them.
    names = frame["folder"].where(frame["folder"] != "", ".")
    frame = frame.rename(columns={"folder": "name"}).assign(name=names)
    trials = frame[["algorithm", "name"]].drop_duplicates()
    seeds = seeds_in(trials["algorithm"].tolist())
    if seeds is not None:
        frame[["algorithm", "run"]] = seeds.set_axis(trials["name"]).loc[frame["name"]].to_numpy()
        frame["run"] = whole_numbers(frame["run"].astype(str))
    name = next(name for name in _STEPS if name in frame)
    frame = frame.copy()  # whole, as many columns of their own are slow to add to
    frame.insert(3, "step", frame[name])
    frame.attrs["long_name"] = {"step": _STEPS[name]}
    return frame


def _trial(files: Sequence[Path]) -> Run:
    """Return the rows of one trial, of result.json where there is progress.csv too."""
    path, folder = files[-1], files[-1].parent
    lines, left_out = whole_lines(read_bytes(path), path)
    if path.suffix == ".json":
        rows = _json_lines(lines, path)
    else:
        rows = delimited.parse(lines, path)
    if not len(rows):
        return Run(rows, left_out)
    if "training_iteration" not in rows or "trial_id" not in rows:
        raise Refusal(
            "path",
            str(path),
            f"{path} is no result of a Ray trial: it has no training_iteration or trial_id",
            "Remove it",
        )

    params = folder / "params.json"
    with parsing(params, "configuration of a trial"):
        config = dict(flat(parse(read_text(params), params)))
        check_cells(pd.DataFrame([config]), params)

    trial, task = str(rows["trial_id"].iloc[0]), config.get("env")
    algorithm = folder.name.partition(f"_{trial}")[0]
    if algorithm == folder.name:
        algorithm = _TRIAL.split(folder.name)[0]
    if isinstance(task, str):
        algorithm = algorithm.removesuffix("_" + task.replace("/", "_"))
    labels = pd.DataFrame({"algorithm": algorithm, "task": task, "run": trial}, index=rows.index)
    settings = pd.DataFrame({f"config/{key}": value for key, value in config.items()}, index=rows.index)
    rest = rows.drop(
        columns=[
            "trial_id",
            *(name for name in rows if str(name).startswith("config/")),
        ]
    )
    return Run(pd.concat([labels, rest, settings], axis=1), left_out)


def _json_lines(lines: bytes, path: Path) -> pd.DataFrame:
    with parsing(path, "results of a trial"):
        found = [parse(line, path) for line in lines.splitlines()]
        return check_cells(table_of(found), path)
