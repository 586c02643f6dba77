"""Metrics of MLflow's runs, from a file store, a database file or a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.readers.log_files import has_sqlite_rows, needed, parsing
from xcurves.readers.logs import Source


def metric_history(store: str | Path) -> pd.DataFrame:
    """Read the history of every metric of every run.

    Parameters
    ----------
    store : path or str
        Folder of a file store (``mlruns``), SQLite file (``mlflow.db``), or the address of a server.

    Returns
    -------
    DataFrame
        One row per value: `experiment` (its name), `run` (the id), `run_name`, the parameters as ``params.model``, then
        `metric`, `step`, `timestamp` (s since 1970) and `value`. Select a metric, or make it a dim. For one score of
        each run, the frame of ``mlflow.search_runs`` is tidy already: ``to_dataarray("metrics.accuracy",
        algorithm="params.model", run="run_id", training=None)``.

    Raises
    ------
    ImportError, FileNotFoundError, ValueError
        If mlflow is not installed, if nothing is at the path `store`, if it cannot be read, or if no run has a metric.

    Examples
    --------
    >>> from xcurves.readers import mlflow
    >>> frame = mlflow.metric_history("mlruns")  # doctest: +SKIP
    """
    mlflow = needed("mlflow", "mlflow")
    with parsing(Path(str(store)), "store of MLflow"):
        client = mlflow.MlflowClient(tracking_uri=_address(store))
        experiments = {each.experiment_id: each.name for each in _pages(client.search_experiments)}
        runs = _pages(client.search_runs, list(experiments))
        rows = [row for run in runs for row in _rows(client, run, experiments[run.info.experiment_id])]
    if not rows:
        raise ValueError(f"{store}: no run has a metric. Check what was logged")
    frame = pd.DataFrame(rows)
    values = ["metric", "step", "timestamp", "value"]
    frame = frame[[*frame.columns.difference(values, sort=False), *values]]
    frame.attrs = {"units": {"timestamp": "s"}, "source": f"MLflow, {len(runs)} runs of {Path(str(store)).name}"}
    return frame


def _address(store: str | Path) -> str:
    if "://" in str(store):
        return str(store)
    path = Path(store).resolve()
    if not path.exists():
        raise FileNotFoundError(f"path {str(store)!r} does not exist. Check the path")
    return f"sqlite:///{path}" if path.is_file() else path.as_uri()


def _pages(search: Any, *given: Any) -> list[Any]:
    """Return what a search finds on all its pages."""
    page = search(*given)
    found = list(page)
    while page.token:
        page = search(*given, page_token=page.token)
        found += page
    return found


def _rows(client: Any, run: Any, experiment: str) -> list[dict[str, Any]]:
    """Return a row for each value that a run logged."""
    about = {"experiment": experiment, "run": run.info.run_id, "run_name": run.info.run_name}
    about |= {f"params.{name}": value for name, value in run.data.params.items()}
    return [
        about | {"metric": name, "step": value.step, "timestamp": value.timestamp / 1000, "value": value.value}
        for name in run.data.metrics
        for value in client.get_metric_history(run.info.run_id, name)
    ]


def _is_run(path: Path) -> bool:
    """Return whether a file describes a run of a file store."""
    if path.name != "meta.yaml" or not (path.parent / "metrics").is_dir():
        return False
    return "run_id:" in path.read_text(encoding="utf-8", errors="replace")


STORE = Source(
    "mlflow",
    "MLflow's metrics",
    _is_run,
    read_all=metric_history,
    logs="a folder mlruns",
    value="value",
    also_writes=("table", "text"),
)
DATABASE = STORE._replace(
    name="mlflow-database",
    is_log=lambda path: has_sqlite_rows(path, "experiments", "latest_metrics"),
    logs="an SQLite file mlflow.db",
    single=True,
)
