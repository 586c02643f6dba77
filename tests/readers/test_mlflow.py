"""Stores that the real MLflow wrote, as files and as a database."""

import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from refusals import refused
from xcurves.readers import mlflow as reader
from xcurves.readers import read

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SCORES = np.random.default_rng(0).normal(size=(2, 3, 4))


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """One store of files and one database: the database takes seconds to set up."""
    pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    from mlflow import MlflowClient

    folder, patch = tmp_path_factory.mktemp("mlflow"), pytest.MonkeyPatch()
    patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fill(MlflowClient((folder / "mlruns").as_uri()))
        fill(MlflowClient(f"sqlite:///{folder / 'mlflow.db'}"))
    yield folder
    patch.undo()


def fill(client):
    experiment = client.create_experiment("digits")
    for i, model in enumerate(["cnn", "mlp"]):
        for seed in range(3):
            run = client.create_run(experiment).info.run_id
            client.log_param(run, "model", model)
            client.log_param(run, "seed", seed)
            for step in range(4):
                client.log_metric(run, "val/accuracy", SCORES[i, seed, step], step=10 * step)
            client.log_metric(run, "final", 1.0)
            client.set_tag(run, "stage", f"stage-{seed}")
            client.set_terminated(run)


@pytest.fixture(params=["mlruns", "mlflow.db"])
def store(request, stores, tmp_path):
    path = stores / request.param
    copy = shutil.copytree if path.is_dir() else shutil.copy
    return Path(copy(path, tmp_path / request.param))


def test_tags_of_ones_own_and_how_runs_ended_are_read(store):
    runs = read(store).drop_duplicates("run")
    assert [name for name in runs if name.startswith("tags.")] == ["tags.stage"]
    assert (runs["tags.stage"] == "stage-" + runs["params.seed"].astype(str)).all()
    assert set(runs["status"]) == {"FINISHED"}
    if store.is_dir():
        run = runs["run"].iloc[0]
        (meta,) = store.glob(f"*/{run}/meta.yaml")
        meta.write_text(meta.read_text("utf-8").replace("status: 3", "status: 4"), "utf-8")
        again = read(store)
        assert set(again.loc[again["status"] == "FAILED", "run"]) == {run}


def test_every_value_of_every_metric_is_read(store):
    frame = read(store)
    assert set(frame["experiment"]) == {"digits"}
    accuracy = frame[frame["metric"] == "val/accuracy"]
    curves = accuracy.curves.to_dataarray("value", algorithm="params.model", run="params.seed", training="step")
    np.testing.assert_array_equal(curves, SCORES)
    assert curves.training.values.tolist() == [0, 10, 20, 30]
    curves.curves.randomized_anova(confidence_level=0.5)


def test_the_frame_of_search_runs_is_tidy_already(stores):
    import mlflow

    mlflow.set_tracking_uri((stores / "mlruns").as_uri())
    frame = mlflow.search_runs(experiment_names=["digits"])
    names = {"algorithm": "params.model", "run": "params.seed", "training": None}
    np.testing.assert_array_equal(frame.curves.to_dataarray("metrics.val/accuracy", **names), SCORES[..., -1])


def test_a_damaged_store_is_named(store):
    if store.is_dir():
        (metric,) = list(store.rglob("metrics/final"))[:1]
        metric.write_text("17000")
        damaged = store
    else:
        damaged = store
        data = damaged.read_bytes()
        damaged.write_bytes(data[: len(data) // 2])
    with refused("path", cure="Copy it again, or remove it", names=f"^{re.escape(str(damaged))}"):
        reader.metric_history(damaged)


def test_what_sqlalchemy_deprecates_of_mlflow_is_no_warning_of_a_reading(stores):
    """In a process of its own: SQLAlchemy says it when it first maps MLflow's tables."""
    read = f"import xcurves; xcurves.readers.read({str(stores / 'mlflow.db')!r})"
    command = [sys.executable, "-W", "always", "-c", read]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "DeprecationWarning" not in done.stderr
