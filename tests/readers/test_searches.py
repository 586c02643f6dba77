"""Trials of HpBandSter and of three versions of SMAC: costs in the order in which trials ended, never times."""

import json

import numpy as np
import pytest

import labelled
from refusals import refused
from xcurves.__main__ import main

# As hpbandster/core/result.py, json_result_logger, writes them.
CONFIGS = [[[0, 0, 0], {"lr": 0.1}, {}], [[0, 0, 1], {"lr": 0.2}, {}]]
TIMES = {"submitted": 1.5, "started": 2.5, "finished": 3.5}
RESULTS = [
    [[0, 0, 0], 3.0, TIMES, {"loss": 0.5, "info": {}}, None],
    [[0, 0, 1], 3.0, TIMES, None, "Traceback: out of memory"],
    [[0, 0, 0], 9.0, TIMES, {"loss": 0.25, "info": {}}, None],
]
# As smac/runhistory/runhistory.py of 2.4, of 2.0, of 1.4 and of 0.13 writes them.
SMAC = {
    "2.0": [
        [1, None, 7, 3.0, 0.5, 2.0, 1, 1e9, 1e9 + 2, {}],
        [2, None, 7, 3.0, 1e9, 2.0, 2, 1e9, 1e9 + 4, {}],
        [1, None, 7, 9.0, 0.25, 4.0, 1, 1e9, 1e9 + 8, {}],
        [2, None, 7, 9.0, 0.0, 0.0, 0, 0, 0, {}],
    ],
    "1.4": [
        [[1, None, 7, 3.0], [0.5, 2.0, {"__enum__": "StatusType.SUCCESS"}, 1e9, 1e9 + 2, {}]],
        [[2, None, 7, 3.0], [1e9, 2.0, {"__enum__": "StatusType.CRASHED"}, 1e9, 1e9 + 4, {}]],
        [[1, None, 7, 9.0], [0.25, 4.0, {"__enum__": "StatusType.SUCCESS"}, 1e9, 1e9 + 8, {}]],
        [[2, None, 7, 9.0], [0.0, 0.0, {"__enum__": "StatusType.RUNNING"}, 0, 0, {}]],
    ],
    "0.13": [
        [[1, None, 7, 3.0], [0.5, 2.0, {"__enum__": "StatusType.SUCCESS"}, {}]],
        [[2, None, 7, 3.0], [1e9, 2.0, {"__enum__": "StatusType.MEMOUT"}, {}]],
        [[1, None, 7, 9.0], [0.25, 4.0, {"__enum__": "StatusType.SUCCESS"}, {}]],
        [[2, None, 7, 9.0], [0.0, 0.0, {"__enum__": "StatusType.RUNNING"}, {}]],
    ],
}  # fmt: skip


NAMES = "config_id instance seed budget cost time status starttime endtime additional_info"
SMAC["2.4"] = [dict(zip(NAMES.split(), entry, strict=True)) for entry in SMAC["2.0"]]
for each in SMAC["2.4"]:
    each["cpu_time"] = each["time"]


def test_hpbandster(tmp_path):
    for name in ("bohb", "random"):
        folder = tmp_path / name
        folder.mkdir()
        for file, lines in (("configs", CONFIGS), ("results", RESULTS)):
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"{file}.json").write_text(text)
    frame = labelled.read(tmp_path, names="{algorithm}")
    assert frame.attrs["source"].startswith("HpBandSter results below ")
    assert frame["algorithm"].unique().tolist() == ["bohb", "random"]
    one = frame[frame["algorithm"] == "bohb"]
    assert one["config_id"].tolist() == ["0/0/0", "0/0/1", "0/0/0"]
    assert one["budget"].tolist() == [3, 3, 9]
    np.testing.assert_array_equal(one["loss"], [0.5, np.nan, 0.25])
    assert one["state"].tolist() == ["complete", "failed", "complete"]
    assert one["config/lr"].tolist() == [0.1, 0.2, 0.1]


@pytest.mark.parametrize("version", SMAC)
def test_smac(tmp_path, version):
    said = {"data": SMAC[version], "configs": {"1": {"lr": 0.1}, "2": {"lr": 0.2}}}
    (tmp_path / "runhistory.json").write_text(json.dumps(said))
    with pytest.warns(UserWarning, match=r"1 trials without a result are left out$"):
        frame = labelled.read(tmp_path / "runhistory.json")
    assert frame.attrs["source"] == "SMAC run histories in runhistory.json"
    assert frame["trial_number"].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(frame["cost"], [0.5, np.nan, 0.25])
    assert frame["state"].tolist() == ["complete", "failed", "complete"]
    assert frame["budget"].tolist() == [3, 3, 9]
    assert frame["seed"].tolist() == [7, 7, 7]
    assert frame["config/lr"].tolist() == [0.1, 0.2, 0.1]
    assert not {"endtime", "starttime", "instance"} & set(frame)


def test_several_objectives_are_refused(tmp_path):
    entry = SMAC["2.4"][0] | {"cost": [1.0, 2.0]}
    path = tmp_path / "runhistory.json"
    path.write_text(json.dumps({"data": [entry]}))
    with refused("path", cure="Write one of them", names="costs of 2 objectives"):
        labelled.read(path)


@pytest.mark.slow
def test_costs_are_said_to_be_of_each_trial_and_the_best_so_far_is_a_column(tmp_path, capsys):
    for number in range(8):
        costs = [5.0 + number, 7.0, 3.0 - number, 4.0]
        entries = [SMAC["2.4"][0] | {"config_id": at, "cost": cost} for at, cost in enumerate(costs)]
        entries[1] |= {"status": 2}
        folder = tmp_path / "smac" / ("hpo", "random")[number % 2] / str(number // 2)
        folder.mkdir(parents=True)
        (folder / "runhistory.json").write_text(json.dumps({"data": entries}))
    frame = labelled.read(tmp_path / "smac")
    one = frame[(frame["algorithm"] == "random") & (frame["run"] == 0)]
    assert one["best_cost"].tolist() == [6, 6, 2, 2]
    command = [str(tmp_path / "smac"), "--output", str(tmp_path / "a.nc"), "--fill-failed", "worst"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "cost is that of each trial, not the best so far" in out
    assert "score = cost" in out
    assert main([*command, "--value", "best_cost"]) == 0
    assert "score = best_cost" in capsys.readouterr().out


def test_trials_on_several_budgets_have_no_best_so_far(tmp_path):
    (tmp_path / "runhistory.json").write_text(json.dumps({"data": SMAC["2.0"][:3]}))
    assert "best_cost" not in labelled.read(tmp_path / "runhistory.json")
