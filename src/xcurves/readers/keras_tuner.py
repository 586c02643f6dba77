"""Trials of KerasTuner: metrics of each step, in a file of each trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core.refusal import Refusal
from xcurves.readers.formats.json_rows import parse
from xcurves.readers.log_files import Run, check_cells
from xcurves.readers.open_files import read_bytes


def is_trial(path: Path) -> bool:
    """Return whether a file has metrics of a trial."""
    try:
        return bool(_series(path))
    except (Refusal, ValueError, OSError, EOFError, RecursionError):
        return False


def _series(path: Path) -> dict[str, Any]:
    """Return the observations of each metric; none of another file.

    keras_tuner/src/engine/metrics_tracking.py: MetricsTracker.get_config, MetricHistory.get_config.
    """
    told = parse(read_bytes(path), path)
    if not isinstance(told, dict) or "trial_id" not in told:
        return {}
    metrics: Any = told.get("metrics")
    for _ in range(2):  # of the tracker, and of its histories
        metrics = metrics.get("metrics") if isinstance(metrics, dict) else None
        if isinstance(metrics, dict) and all(
            isinstance(each, dict) and "observations" in each for each in metrics.values()
        ):
            return metrics
    return {}


def read_trial(files: Sequence[Path]) -> Run:
    """Return a row for each step of a trial."""
    (path,) = files
    rows: dict[float, dict[str, float]] = {}
    for name, history in _series(path).items():
        for observation in history["observations"]:
            values, step = observation["value"], observation["step"]
            if len(values) != 1:
                raise Refusal(
                    "path",
                    str(path),
                    f"{path}: {name!r} has {len(values)} values at step {step}, of {len(values)} executions of a trial",
                    "Write those of each execution to a file of its own",
                )
            rows.setdefault(step, {})[name] = values[0]
    made = pd.DataFrame([{"step": step, **rows[step]} for step in sorted(rows)])
    return Run(check_cells(made, path))
