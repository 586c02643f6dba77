"""What holds of every source with files: a missing package is said, and a file that is cut short is named."""

import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from refusals import refused
from xcurves import readers
from xcurves.readers import hydra, mlflow, optuna

LOGS = Path(__file__).parent / "logs"


@pytest.mark.parametrize(
    ("name", "package", "missing"),
    [
        ("mlflow", "mlflow", "mlflow"),
        ("tensorboard", "tensorboard", "tensorboard.compat.proto.event_pb2"),
        ("optuna", "optuna", "optuna"),
        ("hydra", "PyYAML", "yaml"),
    ],
)
def test_a_missing_package_is_said_with_its_extra(name, package, missing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    for log in ("0/0/a.tfevents", "0/.hydra/overrides.yaml", "0/step.csv"):
        (tmp_path / log).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / log).touch()
    cure = rf"^readers\.{name} needs {package}\. Install it: pip install 'xcurves\[{name}\]'"
    # files are read without the package
    server = partial(mlflow.metric_history, "http://127.0.0.1:1")
    read = {
        "mlflow": lambda _: server(),
        "optuna": optuna.trials,
        "hydra": hydra.multirun,
    }
    with pytest.raises(ImportError, match=cure):
        read.get(name, partial(readers.read, source=name))(tmp_path)


CUT = {  # the file, and how many rows its last line is; none: the file is refused
    "monitor": ("stable-baselines3/ppo/0/monitor.csv", 1),
    "evaluations": ("stable-baselines3/ppo/0/evaluations.npz", None),
    "lightning": ("lightning/fast/0/metrics.csv", 0),
    "keras": ("keras/wide/0/training.log", 1),
    "huggingface": ("transformers/fast/0/checkpoint-16/trainer_state.json", None),
    "rllib": (str(next(LOGS.rglob("result.json")).relative_to(LOGS)), 1),
    "marl-eval": ("id-marl-eval/metrics.json", None),
}


@pytest.mark.parametrize("source", CUT)
def test_a_file_that_is_cut_short_is_named(source, tmp_path):
    """An error; of files of lines a warning, and the whole lines are read."""
    name, n_rows = CUT[source]
    folder = tmp_path / "logs"
    shutil.copytree((LOGS / name).parent, folder)
    path = folder / Path(name).name
    given = path if source != "rllib" else folder.parent
    whole = len(readers.read(given, source=source))
    path.write_bytes(path.read_bytes()[:-4])
    if n_rows is None:
        with refused("path", str(path), "Copy it again, or remove it", names="is cut short, damaged or no "):
            readers.read(given, source=source)
        return
    with pytest.warns(UserWarning, match=rf"{name[-9:]}: the last line is cut short and left out: '") as caught:
        assert len(readers.read(given, source=source)) == whole - n_rows
    assert [(each.filename, str(path) in str(each.message)) for each in caught] == [(__file__, True)]
