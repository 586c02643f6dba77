"""JSON files of the protocol of marl-eval."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.readers import paths
from xcurves.readers.source import LogError, Source, check_cells, parsing

_LABELS = ["env", "task", "algorithm", "run"]


def _metrics(path: str | Path, *, absolute: bool) -> pd.DataFrame:
    """Return a row for each run, evaluation and episode; `absolute` metrics are of the best model, without steps."""
    files = paths.find_logs(path, _is_log, SOURCE.logs)
    runs: dict[tuple[str, ...], Path] = {}
    frames = []
    for file in files:
        for labels, name, metrics in _measurements(file):
            if runs.setdefault(labels, file) != file:
                raise LogError(f"{file} and {runs[labels]} both hold {' / '.join(labels)}. Remove one of them")
            if name.lower().startswith("absolute") == absolute:
                frames.append(_rows(file, labels, name, metrics))
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if frame.empty:
        raise LogError(f"path {str(path)!r} has no {'absolute metrics' if absolute else 'steps'} of any run")
    first = [*_LABELS, *([] if absolute else ["step"]), "episode"]
    frame = frame[[*first, *(name for name in frame if name not in first)]]
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


def _rows(file: Path, labels: tuple[str, ...], name: str, metrics: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each episode of an evaluation."""
    values = {key: value for key, value in metrics.items() if isinstance(value, list)}
    once = {key: value for key, value in metrics.items() if key not in values}
    counts = {key: len(value) for key, value in values.items()}
    if len(set(counts.values())) > 1:
        raise LogError(f"{file}: {' / '.join(labels)} has lists of different lengths in {name}: {counts}. Correct it")
    if "step_count" in once:
        once["step"] = once.pop("step_count")
    with parsing(file, SOURCE.what):
        rows = pd.DataFrame(values)
        rows = rows.assign(**dict(zip(_LABELS, labels, strict=True)), **once, episode=range(len(rows)))
        return check_cells(rows, file)


def _is_log(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    return '"step_count"' in text or '"absolute_metrics"' in text


SOURCE = Source(
    "marl-eval",
    "evaluations of marl-eval",
    _is_log,
    read_all=partial(_metrics, absolute=False),
    logs="JSON files of its protocol",
    extra=("env", "task"),
    also_writes=("marl-eval-absolute",),
)
ABSOLUTE = SOURCE._replace(
    name="marl-eval-absolute",
    what="marl-eval's metrics of the best model of each run",
    read_all=partial(_metrics, absolute=True),
    training=None,
)
