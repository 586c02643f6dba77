"""Text logs that a training script wrote, its own source before the lines of steps."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from refusals import refused
from xcurves import readers
from xcurves.readers.formats.text_lines import said_in

SCRIPT = Path(__file__).parent / "train_a_line.py"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("speedruns")
    for seed in range(3):
        subprocess.run(
            [sys.executable, SCRIPT, str(seed), folder / f"sgd_seed{seed}.txt"],
            check=True,
        )
    return folder


def test_every_step_of_every_run_is_read_and_nothing_else(logs):
    frame = readers.read(logs, names="{algorithm}_seed{run}.txt")
    assert frame.attrs["source"] == f"text logs below {logs.name}"
    assert frame.attrs["units"] == {"train_time": "ms", "step_avg": "ms"}
    assert list(frame)[:3] == ["algorithm", "run", "step"]
    for run, rows in frame.groupby("run"):
        text = (logs / f"sgd_seed{run}.txt").read_text()
        for metric in ("val_loss", "train_loss"):
            own = [
                (int(step), float(loss)) for step, loss in re.findall(rf"^step:(\d+)/30 {metric}:([\d.]+)", text, re.M)
            ]
            mine = rows[["step", metric]].dropna().to_numpy().tolist()
            assert sorted(map(tuple, mine)) == sorted(own)
    assert len(frame) == 3 * 32  # step 0 is evaluated, step 31 is trained


def test_two_lines_lead_to_curves(logs):
    losses = readers.read(logs, names="{algorithm}_seed{run}").curves.to_dataarray("val_loss", training="step")
    assert losses.dropna("training").training.values.tolist() == [0, 10, 20, 30]
    assert losses.sizes["run"] == 3
    assert (losses.sel(training=0) == 9).all()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("step:1 loss:2.5\n", [[1, 2.5]]),
        ("x\nstep: 1, loss = 2.5e-3;\nStep 2 loss 3\n", [[1, 0.0025]]),
        ("step=1 | loss=nan\nstep=2 | loss=-inf\n", [[1, np.nan], [2, -np.inf]]),
        ("step:1 a:1\nstep:1 b:2 a:3\nstep:1 a:4\n", [[1, 1, 2], [1, 4, np.nan]]),
        ("epoch:1 loss:.5s\nepoch:2 loss:{loss}\n", [[1, 0.5]]),
    ],
)
def test_lines_of_keys_and_numbers(tmp_path, text, rows):
    path = tmp_path / "run.log"
    path.write_text(text)
    np.testing.assert_array_equal(readers.read(path, source="text"), rows)
    assert readers.recognize(path).name == "text"


def test_a_last_line_without_an_end_is_left_out_and_said(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("step:1 loss:2.5\nstep:2 loss:1")
    with pytest.warns(
        UserWarning,
        match=rf"^{path}: the last line is cut short and left out: 'step:2 loss:1'$",
    ):
        assert len(readers.read(path)) == 1


def test_prose_is_no_log(tmp_path):
    (tmp_path / "readme.txt").write_text("time: 12:30\nsee step: 3 of the guide\nloss:2 step:1\n")
    cure = "Nearest: 'text', as source=. All that can be read: help(xcurves.readers.read)"
    with refused("path", cure=cure, names="nothing that is recognised"):
        readers.read(tmp_path)


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["300ms", "30.3s", "1m 0s"], [0.3, 30.3, 60], "s"),
        (["70.1ms", "80.2ms", "90ms"], [70.1, 80.2, 90], "ms"),
        (["1m 10s", "2m 0s", "1h 0m 1s"], [70, 120, 3601], "s"),
        (["900", "1.3K", "2M"], [900, 1300, 2e6], ""),
        (["90%", "91%", "92%"], [90, 91, 92], "%"),
    ],
)
def test_units_that_change_become_one(tmp_path, cells, values, unit):
    """As CatBoost prints times: never the unit of the last line."""
    lines = [f"{at}:\tlearn: 0.5\ttotal: {cell}\n" for at, cell in enumerate(cells)]
    (tmp_path / "train.log").write_text("".join(lines))
    frame = readers.read(tmp_path / "train.log", source="text")
    np.testing.assert_allclose(frame["total"], values)
    assert frame.attrs.get("units", {}).get("total", "") == unit


def test_units_that_cannot_become_one_are_left_out_and_said(tmp_path):
    path = tmp_path / "train.log"
    path.write_text("step:1 loss:2.5 total:3s\nstep:2 loss:2 total:5K\n")
    with pytest.warns(UserWarning, match="'total' changes its unit and is left out$"):
        frame = readers.read(path)
    assert list(frame) == ["step", "loss"]


@pytest.mark.parametrize("unlike", ["s", "K", ""])
def test_runs_of_unlike_units(tmp_path, unlike):
    for run, unit in enumerate(["ms", "ms", unlike]):
        path = tmp_path / "logs" / "sgd" / str(run) / "train.log"
        path.parent.mkdir(parents=True)
        path.write_text(f"step:1 loss:2.5 total:500{unit}\nstep:2 loss:2 total:800{unit}\n")
    if unlike != "s":
        with pytest.warns(UserWarning, match=f"'total' has unlike units in runs, {unlike or 'none'}, ms"):
            frame = readers.read(tmp_path / "logs")
        assert "total" not in frame
        return
    frame = readers.read(tmp_path / "logs")
    assert frame["total"].tolist() == [0.5, 0.8, 0.5, 0.8, 500, 800]
    assert frame.attrs["units"]["total"] == "s"


def test_a_step_of_all_before_names_and_numbers(tmp_path):
    """As Julia's DQN programs print: 500 / 1000000 eps 0.967 |  avgR 1.27 | Loss 4.184e-03."""
    path = tmp_path / "train.log"
    path.write_text(
        "500 / 9000 eps 0.967 |  avgR 1.27 | Loss 4.184e-03 | Grad 9e-03\n"
        "1000 / 9000 eps 0.9 |  avgR -0.85 | Loss 4e-03 | Grad 9e-03\n"
        "12 / 120 [====>...]\n"
    )
    frame = readers.read(path)
    assert frame.to_dict("list") == {
        "step": [500, 1000],
        "eps": [0.967, 0.9],
        "avgR": [1.27, -0.85],
        "Loss": [4.184e-03, 4e-03],
        "Grad": [9e-03, 9e-03],
    }


def test_names_of_data_that_repeat_are_no_end_of_the_stack():
    assert said_in("", "val: " * 1990 + "step 1: loss 2.5") is None
    assert said_in("", "eval: step 1: loss 2.5").metrics == [("eval loss", "2.5", "")]
