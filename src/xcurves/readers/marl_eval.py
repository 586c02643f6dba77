"""JSON files of the protocol of marl-eval."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.readers import paths
from xcurves.readers.source import Source

_LABELS = ["env", "task", "algorithm", "run"]


def step_metrics(path: str | Path) -> pd.DataFrame:
    """Read the evaluations of all runs along training.

    Parameters
    ----------
    path : path
        JSON file, or a folder of such files.

    Returns
    -------
    DataFrame
        One row per run, evaluation and episode: `env`, `task`, `algorithm`, `run`, `step` (its ``step_count``),
        `episode` (its place in the lists of values) and the metrics. Episodes of one evaluation are one measurement of
        one run: ``to_dataarray("return", training="step", extra=["env", "task"], duplicates="mean")``.

    Raises
    ------
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If a file is damaged or not nested as environment, task, algorithm, run, step; if two files hold one run.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from xcurves.readers import marl_eval
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "metrics.json"
    >>> steps = {"step_0": {"step_count": 1000, "return": [1.0, 3.0]}, "absolute_metrics": {"return": [5.0]}}
    >>> _ = path.write_text(json.dumps({"smac": {"3s5z": {"qmix": {"seed_0": steps}}}}))
    >>> marl_eval.step_metrics(path)
        env  task algorithm     run  step  episode  return
    0  smac  3s5z      qmix  seed_0  1000        0     1.0
    1  smac  3s5z      qmix  seed_0  1000        1     3.0
    """
    return _framed(path, ["step"], absolute=False)


def absolute_metrics(path: str | Path) -> pd.DataFrame:
    """Read the absolute metrics of all runs: those of the best model of a run, evaluated after training.

    Parameters
    ----------
    path : path
        JSON file, or a folder of such files.

    Returns
    -------
    DataFrame
        As `step_metrics`, without `step`: scores of trials, ``training=None``.

    Raises
    ------
    FileNotFoundError
        If there is nothing to read.
    ValueError
        As `step_metrics`; also if no run has absolute metrics.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from xcurves.readers import marl_eval
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "metrics.json"
    >>> _ = path.write_text('{"smac": {"3s5z": {"qmix": {"seed_0": {"absolute_metrics": {"return": [5.0]}}}}}}')
    >>> marl_eval.absolute_metrics(path)
        env  task algorithm     run  episode  return
    0  smac  3s5z      qmix  seed_0        0     5.0
    """
    return _framed(path, [], absolute=True)


def _framed(path: str | Path, step: list[str], *, absolute: bool) -> pd.DataFrame:
    files = [file for files in paths.find_logs(path, _is_log, "JSON files of marl-eval").values() for file in files]
    runs: dict[tuple[str, ...], Path] = {}
    frames = []
    for file in files:
        for labels, name, metrics in _measurements(file):
            if runs.setdefault(labels, file) != file:
                raise ValueError(f"{file} and {runs[labels]} both hold {' / '.join(labels)}. Remove one of them")
            if name.lower().startswith("absolute") == absolute:
                frames.append(_rows(file, labels, name, metrics))
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if frame.empty:
        raise ValueError(f"path {str(path)!r} has no {'absolute metrics' if absolute else 'steps'} of any run")
    first = [*_LABELS, *step, "episode"]
    frame = frame[[*first, *(name for name in frame if name not in first)]]
    frame.attrs = {"source": f"marl-eval, {len(runs)} runs in {Path(path).name}"}
    return frame


def _measurements(file: Path) -> Iterator[tuple[tuple[str, ...], str, Mapping[str, Any]]]:
    """Yield the labels of each run, the names of its steps, and what was measured there."""
    try:
        nested = json.loads(file.read_text(encoding="utf-8"))
        for env, tasks in nested.items():
            for task, algorithms in tasks.items():
                for algorithm, runs in algorithms.items():
                    for run, steps in runs.items():
                        for name, metrics in steps.items():
                            yield (env, task, algorithm, run), name, dict(metrics)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{file} is cut short or not nested as environment, task, algorithm, run, step: {error}. Copy it again"
        ) from None


def _rows(file: Path, labels: tuple[str, ...], name: str, metrics: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each episode of an evaluation."""
    values = {key: value for key, value in metrics.items() if isinstance(value, list)}
    once = {key: value for key, value in metrics.items() if key not in values}
    counts = {key: len(value) for key, value in values.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"{file}: {' / '.join(labels)} has lists of different lengths in {name}: {counts}. Correct it")
    if "step_count" in once:
        once["step"] = once.pop("step_count")
    rows = pd.DataFrame(values)
    return rows.assign(**dict(zip(_LABELS, labels, strict=True)), **once, episode=range(len(rows)))


def _is_log(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    return '"step_count"' in text or '"absolute_metrics"' in text


SOURCE = Source(
    "marl-eval",
    "JSON files of marl-eval",
    _is_log,
    step_metrics,
    extra=("env", "task"),
)
