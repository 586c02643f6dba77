"""Runs of sacred: metrics that were logged with a step, and lists that a run keeps in its info."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core.refusal import Refusal
from xcurves.readers.formats.json_rows import parse
from xcurves.readers.log_files import Run, check_cells
from xcurves.readers.open_files import read_text

_STEPS = "_T"  # how PyMARL ends the name of the steps of a list in info.json
# As sacred itself calls how a run ended; those that did not end have no word of ours.
_STATES = {"FAILED": "failed", "TIMEOUT": "failed", "INTERRUPTED": "killed"}


def read_run(files: Sequence[Path]) -> Run:
    """Return a row for each step, with a column for each metric of metrics.json and each list of info.json."""
    columns: dict[str, pd.Series[float]] = {}
    for path in sorted(files, reverse=True):  # metrics.json comes first
        said = parse(read_text(path), path)
        of_file = _of_info if path.name == "info.json" else _of_metrics
        found = of_file(said)
        for name, series in found.items():
            if not series.index.is_unique:
                step = series.index[series.index.duplicated()][0]
                raise Refusal(
                    "path",
                    str(path),
                    f"{path} has {name!r} twice at step {step}",
                    "Remove one of them",
                )
            if name not in columns:
                columns[name] = series
    if not columns:
        return Run(pd.DataFrame())
    rows = pd.DataFrame(columns).rename_axis("step").sort_index().reset_index()
    state = _STATES.get(_status(files[0].parent / "run.json"))
    if state:
        rows["state"] = state
    return Run(check_cells(rows, files[0]))


def _of_metrics(said: Mapping[str, Any]) -> dict[str, pd.Series[float]]:
    return {name: pd.Series(each["values"], each["steps"], float) for name, each in said.items() if each["values"]}


def _of_info(said: Mapping[str, Any]) -> dict[str, pd.Series[float]]:
    """Return lists of numbers by the steps of the list that is called like it and _T, or by their places."""
    lists = {name: numbers for name, value in said.items() if (numbers := _numbers(value)) is not None}
    found: dict[str, pd.Series[float]] = {}
    for name, numbers in lists.items():
        of_steps = name.endswith(_STEPS) and name.removesuffix(_STEPS) in lists
        if of_steps:
            continue
        steps = lists.get(name + _STEPS, range(1, len(numbers) + 1))
        found[name] = pd.Series(numbers, steps, float)
    return found


def _numbers(value: Any) -> list[float] | None:
    """Return a list of numbers, also of those that jsonpickle wrote of numpy; None of anything else."""
    if not isinstance(value, list) or not value:
        return None
    plain = [each.get("value") if isinstance(each, dict) else each for each in value]
    numbers = [float(each) for each in plain if isinstance(each, int | float)]
    return numbers if len(numbers) == len(value) else None


def _status(path: Path) -> str:
    return str(parse(read_text(path), path).get("status"))


def is_log(path: Path) -> bool:
    """Return whether a file holds anything."""
    return read_text(path, errors="replace").strip() not in ("", "{}")
