"""Runs that sacred's FileStorageObserver wrote: metrics with steps, lists in the info, and how a run ended."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import labelled
from refusals import refused
from xcurves.__main__ import main

LOGS = Path(__file__).parent / "logs" / "sacred"


@pytest.fixture
def logs(tmp_path):
    return Path(shutil.copytree(LOGS, tmp_path / "logs"))


def test_each_metric_stands_at_its_steps_and_who_a_run_is_in_its_configuration():
    frame = labelled.read(LOGS)
    assert frame.attrs["source"] == "runs of sacred below sacred"
    for folder in LOGS.iterdir():
        config = json.loads((folder / "config.json").read_text())
        rows = frame[(frame["algorithm"] == config["agent"]) & (frame["run"] == config["seed"])]
        for name, metric in json.loads((folder / "metrics.json").read_text()).items():
            own = rows[["step", name]].dropna().to_numpy().tolist()
            assert own == [list(pair) for pair in zip(metric["steps"], metric["values"], strict=True)]
        info = json.loads((folder / "info.json").read_text())
        assert rows[["step", "test_return"]].dropna().to_numpy().tolist() == [
            list(pair) for pair in zip(info["test_return_T"], info["test_return"], strict=True)
        ]
    assert not {"final", "test_return_T", "state"} & set(frame)


@pytest.mark.slow
def test_one_command_answers(logs, monkeypatch, capsys):
    monkeypatch.chdir(logs.parent)
    assert main(["logs", "--value", "return", "--n-resamples", "99"]) == 0
    assert "\nsac over td3 " in capsys.readouterr().out


def test_lists_without_steps_count_their_places_also_as_jsonpickle_writes_numbers(
    logs,
):
    for path in logs.rglob("metrics.json"):
        path.write_text("{}")
    numbers = [{"py/object": "numpy.float64", "value": value} for value in (0.5, 0.25)]
    for path in logs.rglob("info.json"):
        path.write_text(json.dumps({"won": numbers, "layers": ["a"], "empty": []}))
    frame = labelled.read(logs)
    assert list(frame)[-2:] == ["step", "won"]
    np.testing.assert_array_equal(frame[["step", "won"]], [[1, 0.5], [2, 0.25]] * 4)


@pytest.mark.parametrize(
    ("status", "state"),
    [("FAILED", "failed"), ("TIMEOUT", "failed"), ("INTERRUPTED", "killed")],
)
def test_a_run_that_did_not_end_well_says_so(logs, status, state):
    (logs / "1" / "run.json").write_text(json.dumps({"status": status}))
    frame = labelled.read(logs)
    assert set(frame.loc[frame["state"].notna(), "run"]) == {0}
    assert frame["state"].dropna().unique().tolist() == [state]


def test_a_metric_twice_at_a_step_is_refused(logs):
    metric = {"steps": [1, 1], "values": [1, 2]}
    (logs / "1" / "metrics.json").write_text(json.dumps({"return": metric}))
    with refused("path", cure="Remove one of them", names=r"metrics.json has 'return' twice at step 1"):
        labelled.read(logs)
