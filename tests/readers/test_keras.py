"""Files of CSVLogger and Histories that Keras itself made of the same runs."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import xcurves
from refusals import refused
from xcurves import readers
from xcurves.readers import keras

LOGS = Path(__file__).parent / "logs" / "keras"
FILES = sorted(LOGS.rglob("history.json"))


@pytest.fixture
def histories():
    """What fit returned for each run: an epoch list and a history, as keras.callbacks.History has them."""
    return {
        (path.parent.parent.name, int(path.parent.name)): SimpleNamespace(**json.loads(path.read_text()))
        for path in FILES
    }


def test_a_history_and_the_file_of_its_logger_are_the_same_curves(histories):
    assert len(histories) == 4
    for metric in ("loss", "val_loss"):
        logged = readers.read(LOGS, source="keras").curves.to_dataarray(metric, training="epoch")
        fitted = keras.fit_history(histories).curves.to_dataarray(metric, training="epoch")
        assert logged.sizes == fitted.sizes == {"algorithm": 2, "run": 2, "training": 3}
        assert abs(logged - fitted).max() < 1e-12
        for (algorithm, run), own in histories.items():
            assert fitted.sel(algorithm=algorithm, run=run).values.tolist() == own.history[metric]


def test_the_dict_of_a_history_does_too(histories):
    plain = {key: fitted.history for key, fitted in histories.items()}
    assert keras.fit_history(plain).equals(keras.fit_history(histories))


def test_histories_need_the_names_of_their_runs():
    for key in ("cnn", "ab", ("cnn",), ("cnn", 0, 1)):
        with refused("histories", "dict", cure="Name them: {('cnn', 0): model.fit(...)}", kind=xcurves.WrongType):
            keras.fit_history({key: {"loss": [1.0]}})
    with refused("histories", "list", kind=xcurves.WrongType):
        keras.fit_history({("cnn", 0): [1.0]})
    with refused("histories", cure="Leave such runs out", names=r"^histories have no epochs.*Leave such runs out"):
        keras.fit_history({("cnn", 0): {"loss": []}})


@pytest.mark.parametrize(
    "values",
    [[[1.0, 2.0], [3.0, 4.0]], {"a": [1.0]}, np.ones((2, 3)), ["high", "low"], 1.0],
)
def test_metrics_of_several_values_an_epoch_are_refused(values):
    with refused(
        "histories",
        cure="Give a metric of several values a name for each",
        names=r"^histories\[\('cnn', 0\)\]: 'f1' must have a number for each epoch; got .*name",
        kind=xcurves.WrongType,
    ) as caught:
        keras.fit_history({("cnn", 0): {"loss": [1.0, 0.5], "f1": values}})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_arrays_of_one_number_an_epoch_are_read():
    frame = keras.fit_history({("cnn", 0): {"loss": np.array([1.0, 0.5], np.float32), "n": [1, 2]}})
    assert frame.to_dict("list")["loss"] == [1.0, 0.5]
