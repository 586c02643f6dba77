"""Metrics of MLflow's runs, from a file store, a database file or a server."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from xcurves.core.calls import names_options
from xcurves.core.refusal import Refusal
from xcurves.core.validation import existing_path
from xcurves.readers.log_files import needed, parsing
from xcurves.readers.logs import files_below
from xcurves.readers.open_files import (
    check_database,
    check_tables,
    copy_database,
    database_address,
    read_text,
)

__all__ = ["metric_history"]  # others serve declarations of sources

# That are read of runs and their metrics; of traces, which are not, MLflow itself computes a column.
_TABLES = (
    "alembic_version experiments experiment_tags runs tags params metrics latest_metrics inputs input_tags datasets"
)

_STATES = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}  # as folders number them
_OWN_TAGS = "mlflow."  # what names of tags begin with that MLflow sets itself


@names_options
def metric_history(store: str | Path) -> pd.DataFrame:
    """Read the history of every metric of every run.

    Parameters
    ----------
    store : path or str
        Folder of a file store (``mlruns``), SQLite file (``mlflow.db``), or the address of a server.

    Returns
    -------
    DataFrame
        One row per value: `experiment` (its name), `run` (the id), `run_name`, `status` (FINISHED, FAILED, ...),
        parameters as ``params.model`` and tags of one's own as ``tags.data``, then `metric`, `step`, `timestamp` (s
        since 1970) and `value`. Select a metric, or make it a dim. For one score of each run, the frame of
        ``mlflow.search_runs`` is tidy already: ``to_dataarray("metrics.accuracy",
        algorithm="params.model", run="run_id", training=None)``.

    Raises
    ------
    ImportError, FileNotFoundError, ValueError
        If mlflow is not installed and `store` is a server or a database (or PyYAML, and it is a folder), if nothing is
        at the path `store`, if it cannot be read, or if no run has a metric.

    Notes
    -----
    Folders are read by xcurves itself, for MLflow's own client would write into them. A database is copied, and its
    client reads the copy. Of a server the client asks, over the network.

    Examples
    --------
    >>> from xcurves.readers import mlflow
    >>> frame = mlflow.metric_history("mlruns")  # doctest: +SKIP
    """
    is_server = "://" in str(store)
    rows = _from_server(str(store)) if is_server else _from_files(existing_path(store))
    if not rows:
        raise Refusal("path", str(store), f"{store}: no run has a metric", "Check what was logged")
    frame = pd.DataFrame(rows)
    values = ["metric", "step", "timestamp", "value"]
    frame = frame[[*frame.columns.difference(values, sort=False), *values]]
    n_runs = frame["run"].nunique()
    frame.attrs = {
        "units": {"timestamp": "s"},
        "source": f"MLflow, {n_runs} runs of {Path(str(store)).name}",
    }
    return frame


def _from_files(path: Path) -> list[dict[str, Any]]:
    """Return a row for each value in a database file or a folder of files."""
    with parsing(path, "store of MLflow"):
        if path.is_dir():
            return [row for run in _runs_below(path) for row in _rows_of_folder(*run)]
        return _from_database(path)


def _from_database(path: Path) -> list[dict[str, Any]]:
    """Return a row for each value in a copy of a database, which MLflow's client may write."""
    needed("mlflow", "mlflow")
    needed("sqlalchemy", "mlflow")
    needed("alembic", "mlflow")
    from mlflow.exceptions import MlflowException

    with database_address(path) as address, TemporaryDirectory() as folder:
        check_tables(address, _TABLES.split())
        check_database(address)
        copy = Path(folder, "copy.db")
        copy_database(address, copy)
        try:
            return _from_client(f"sqlite:///{copy}")
        except MlflowException as error:
            if "out-of-date database schema" not in str(error):
                raise
            raise Refusal(
                "path",
                str(path),
                f"{path} is of another version of MLflow",
                "Copy it and run: mlflow db upgrade sqlite:///COPY",
            ) from None


def _runs_below(root: Path) -> list[tuple[Path, dict[str, Any], str]]:
    """Return the folders of runs that are not deleted, what is said of each, and its experiment; the latest first."""
    yaml = needed("yaml", "mlflow", "PyYAML")
    found = []
    for meta in files_below(root):
        if not is_run(meta):
            continue
        with parsing(meta, "run of MLflow"):
            about = yaml.safe_load(read_text(meta))
            experiment = yaml.safe_load(read_text(meta.parent.parent / meta.name))
            if {
                about.get("lifecycle_stage", "active"),
                experiment.get("lifecycle_stage", "active"),
            } == {"active"}:
                found.append((meta.parent, about, str(experiment["name"])))
    return sorted(
        found,
        key=lambda run: (-int(run[1].get("start_time") or 0), str(run[1]["run_id"])),
    )


def _rows_of_folder(folder: Path, about: dict[str, Any], experiment: str) -> list[dict[str, Any]]:
    """Return a row for each value in the files of a run: lines of a time, a value and a step."""
    name = about.get("run_name") or None
    name_file = folder / "tags" / "mlflow.runName"
    if name is None and name_file.is_file():
        name = read_text(name_file)
    labels = {"experiment": experiment, "run": str(about["run_id"]), "run_name": name}
    if about.get("status") in _STATES:
        labels["status"] = _STATES[about["status"]]
    for kind in ("params", "tags"):
        if (folder / kind).is_dir():
            for file in files_below(folder / kind):
                key = file.relative_to(folder / kind).as_posix()
                if not key.startswith(_OWN_TAGS):
                    labels[f"{kind}.{key}"] = read_text(file)
    rows = []
    for file in files_below(folder / "metrics"):
        metric = file.relative_to(folder / "metrics").as_posix()
        with parsing(file, "metric of MLflow"):
            for line in read_text(file).splitlines():
                timestamp, value, *rest = line.split()
                step = 0
                if rest:
                    step = int(rest[0])
                measured = {
                    "metric": metric,
                    "step": step,
                    "timestamp": int(timestamp) / 1000,
                    "value": float(value),
                }
                rows.append(labels | measured)
    return rows


def _from_server(address: str) -> list[dict[str, Any]]:
    """Return a row for each value that a server has."""
    needed("mlflow", "mlflow")
    if not address.startswith(("http://", "https://", "databricks")):
        raise Refusal(
            "store",
            address,
            "must be a path or the address of a server",
            "Give the path itself",
        )
    with parsing(Path(address), "store of MLflow"):
        return _from_client(address)


def _from_client(address: str) -> list[dict[str, Any]]:
    """Return a row for each value that MLflow's client finds, of runs that are not deleted, the latest run first."""
    from mlflow import MlflowClient

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of SQLAlchemy, about MLflow's own use of it
        client = MlflowClient(tracking_uri=address)
        experiments = {each.experiment_id: each.name for each in _pages(client.search_experiments)}
        runs = _pages(client.search_runs, list(experiments))
        return [row for run in runs for row in _rows(client, run, experiments[run.info.experiment_id])]


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
    about = {
        "experiment": experiment,
        "run": run.info.run_id,
        "run_name": run.info.run_name,
        "status": run.info.status,
    }
    about |= {f"params.{name}": value for name, value in run.data.params.items()}
    about |= {f"tags.{name}": value for name, value in run.data.tags.items() if not name.startswith(_OWN_TAGS)}
    return [
        about
        | {
            "metric": name,
            "step": value.step,
            "timestamp": value.timestamp / 1000,
            "value": value.value,
        }
        for name in run.data.metrics
        for value in client.get_metric_history(run.info.run_id, name)
    ]


def is_run(path: Path) -> bool:
    """Return whether a file describes a run of a file store."""
    return (path.parent / "metrics").is_dir() and "run_id:" in read_text(path, errors="replace")
