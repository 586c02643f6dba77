"""Histories that the real package logged offline, and charts made from them as its pages export them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xcurves
from refusals import refused
from xcurves import readers
from xcurves.__main__ import main
from xcurves.readers import wandb as reader

LOGS = Path(__file__).parent / "logs" / "wandb"


@pytest.fixture(scope="module")
def histories():
    """Three runs: their history items, as the real package logged them without a network."""
    return {
        (path.parent.name, int(path.stem)): [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted(LOGS.rglob("*.jsonl"))
    }


def test_every_logged_score_finds_its_place(histories):
    frame = reader.run_history(histories)
    assert list(frame)[:2] == ["algorithm", "run"]
    assert len(frame) == 15
    returns = frame.curves.to_dataarray("return", training="_step")
    assert returns.training.values.tolist() == [0, 10, 20, 30, 40]
    assert returns.sel(algorithm="sac", run=2).values.tolist() == [
        100,
        110,
        120,
        130,
        140,
    ]
    assert returns.sel(algorithm="td3", run=2).isnull().all()
    losses = frame.curves.to_dataarray("loss", training="_step")
    assert losses.sel(algorithm="td3", run=1).notnull().values.tolist() == [
        True,
        True,
    ]
    assert frame.attrs["units"] == {"_runtime": "s", "_timestamp": "s"}
    assert returns.attrs["source"] == "Weights & Biases histories of 3 runs"


def test_a_sampled_history_is_recognised_and_said(histories, monkeypatch):
    """`Run.history` itself, with answers of the server cut to the samples that it asks for."""
    public = pytest.importorskip("wandb.apis.public")
    rows = histories["sac", 1]

    def answer(self, query, *, samples):
        chosen = np.unique(np.linspace(0, len(rows) - 1, samples).round().astype(int))
        return {"project": {"run": {"history": [json.dumps(rows[i]) for i in chosen]}}}

    monkeypatch.setattr(public.Run, "_exec", answer)
    run = object.__new__(public.Run)
    with pytest.warns(UserWarning, match=r"^\('sac', 1\): 3 rows.*sample\. Get every row"):
        reader.run_history({("sac", 1): run.history(samples=3)}, samples=3)
    assert len(reader.run_history({("sac", 1): run.history()})) == 5


def test_500_rows_of_consecutive_steps_are_whole():
    rows = pd.DataFrame({"_step": range(500), "return": 0.0})
    assert len(reader.run_history({("sac", 1): rows})) == 500
    with pytest.warns(
        UserWarning,
        match=r"500 rows with gaps in their steps, a sample.*\(in 2 runs\)$",
    ):
        reader.run_history({("sac", run): rows.assign(_step=rows._step * 20) for run in (1, 2)})


def export(frame, path, spread=0.0):
    """Write a chart of returns as the pages do: a point for each step and run, beside its minimum and maximum."""
    names = frame.assign(name=frame.algorithm + "-" + frame.run.astype(str))
    wide = names.pivot(index="_step", columns="name", values="return")
    ends = {"": 0.0, "__MIN": -spread, "__MAX": spread}
    columns = {f"{name} - return{end}": wide[name] + by for name in wide for end, by in ends.items()}
    table = pd.DataFrame(columns).rename_axis("Step").reset_index()
    table.to_csv(path, index=False, quoting=1)


def test_a_chart_gives_the_runs_of_its_histories(histories, tmp_path):
    frame = reader.run_history(histories)
    export(frame[(frame.algorithm != "td3") | (frame._step < 30)], tmp_path / "chart.csv")
    chart = readers.read(tmp_path / "chart.csv", source="wandb-chart")
    assert list(chart) == ["algorithm", "run", "name", "step", "return"]
    curves = chart.curves.to_dataarray("return", training="step")
    assert curves.sel(algorithm="td3", run=1).dropna("training").values.tolist() == [
        200,
        210,
        220,
    ]
    assert curves.sel(algorithm="sac", run=1).values.tolist() == [0, 10, 20, 30, 40]
    assert chart.attrs["source"] == "Weights & Biases chart chart.csv"


def test_points_that_stand_for_several_scores_are_said(tmp_path):
    frame = pd.DataFrame({"algorithm": ["a", "b"], "run": 0, "_step": 10, "return": [1.0, 2.0]})
    export(frame, tmp_path / "chart.csv", spread=0.5)
    with pytest.warns(UserWarning, match=r"chart\.csv: 'a-0 - return'.*several .*\(in 2 col"):
        assert readers.read(tmp_path / "chart.csv", source="wandb-chart")["return"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "reason", "cure"),
    [
        ("", "is empty", "Write it again"),
        ('"Step","sac - r","sac - r"\n1,2,3\n', "has 2 columns 'sac - r'", "Rename all but one"),
        ("step,reward\n1,2\n", "columns after the first must be 'run - metric'; got 'reward'", "Export the chart"),
        ("Step\n1\n", "columns after the first must be 'run - metric'; got 'Step'", "Export the chart"),
        ('"Step","sac - r"\n1,oops\n', "is cut short, .*oops", "Copy it again, or remove it"),
        ('"Step","a-1 - r","b-1 - r"\n1,2,3\n2,3', "line 3, has 2 fields where the header names 3", "Write it again"),
        ('"Step","a-1 - r","b-1 - r"\n1,2,3,4\n', "line 2 has 4 fields where the header names 3", "Correct the file"),
    ],
)
def test_a_file_that_is_no_chart_is_named(tmp_path, text, reason, cure):
    path = tmp_path / "chart.csv"
    path.write_text(text)
    with refused("path", cure=cure, names=rf"chart\.csv.*{reason}"):
        readers.read(path, source="wandb-chart")


def test_histories_need_the_names_of_their_runs():
    rows = [{"_step": 0, "return": 1.0}]
    with refused("histories", "list", cure="Name them: {('sac', 1): run.scan_history()}", kind=xcurves.WrongType):
        reader.run_history([rows])
    with refused("histories", cure="Leave such runs out", names=r"^histories have no rows.*Leave such runs out"):
        reader.run_history({("sac", 1): rows, ("sac", 2): []})


def test_a_last_line_without_an_end_is_said(tmp_path):
    (tmp_path / "chart.csv").write_text('"Step","a-1 - r"\n1,2.25\n2,3.')
    with pytest.warns(UserWarning, match=r"chart\.csv: the last line.*be cut short: '2,3\.'$"):
        readers.read(tmp_path / "chart.csv", source="wandb-chart")
    (tmp_path / "chart.csv").write_text('"Step","a-1 - r"\n"1","2.25"\n"2","3.5"')
    assert readers.read(tmp_path / "chart.csv", source="wandb-chart")["r"].tolist() == [
        2.25,
        3.5,
    ]


def test_runs_01_and_1_are_two_and_names_say_how_runs_are_named(tmp_path):
    path = tmp_path / "chart.csv"
    path.write_text('"Step","a-01 - r","a-1 - r"\n1,2,3\n')
    assert readers.read(path, names="{algorithm}-{run}")["run"].tolist() == ["01", "1"]
    path.write_text('"Step","a s7 - r","b s8 - r"\n1,2,3\n')
    frame = readers.read(path, names="{algorithm} s{run}")
    assert frame[["algorithm", "run", "r"]].to_numpy().tolist() == [
        ["a", 7, 2],
        ["b", 8, 3],
    ]
    with refused("names", "b{run}", cure="Say how runs are named"):
        readers.read(path, names="b{run}")


@pytest.mark.parametrize("metric", ["step", "name", "run", "algorithm"])
def test_a_metric_with_the_name_of_a_label_is_refused(tmp_path, metric):
    path = tmp_path / "chart.csv"
    path.write_text(f'"Step","a-1 - {metric}","a-1 - r"\n5,2,3\n')
    with refused("path", str(path), "Rename it in the first line", names=f"the metric '{metric}' has the name of a"):
        readers.read(path)


def chart(path, names, metric="val/loss", spread=0.0):
    """Write a chart as Weights & Biases exports it: of each run its scores, their minimum and maximum."""
    head = ["Step", *(f"{name} - {metric}{bound}" for name in names for bound in ("", "__MIN", "__MAX"))]
    rows = [
        [step, *(value for at in range(len(names)) for value in (at + step, at + step - spread, at + step + spread))]
        for step in range(4)
    ]
    path.write_text("\n".join(",".join(map(str, row)) for row in [head, *rows]) + "\n")


AUTOMATIC = ["dainty-sun-1", "happy-moon-2", "fresh-river-3", "bold-sky-4"]


@pytest.mark.slow
def test_names_that_wandb_makes_say_no_algorithm(tmp_path, capsys):
    chart(tmp_path / "chart.csv", AUTOMATIC)
    for place in (tmp_path, tmp_path / "chart.csv"):
        frame = readers.read(place)
        assert frame["name"].unique().tolist() == AUTOMATIC
        with refused("frame", cure="Rename them, ppo-1, ppo-2") as caught:
            frame.curves.to_dataarray()
        assert (
            "are called 'dainty-sun-1', 'happy-moon-2', ...: that does not say which are of one algorithm"
            in caught.value.reason
        )
        assert main([str(place), "--output", str(tmp_path / "a.nc")]) == 2
        assert "which are of one algorithm. Rename them" in capsys.readouterr().err
    chart(tmp_path / "renamed.csv", ["ppo-1", "ppo-2", "sac-1", "sac-2"])
    assert main([str(tmp_path / "renamed.csv"), "--output", str(tmp_path / "a.nc")]) == 0


@pytest.mark.slow
def test_names_of_another_form_get_a_pattern_that_cuts_them(tmp_path, capsys):
    path = tmp_path / "chart.csv"
    chart(path, ["ppo_a", "ppo_b", "sac_a", "sac_b"])
    assert main([str(path)]) == 2
    assert f"Type: python -m xcurves {path} --names '{{algorithm}}_{{run}}'" in capsys.readouterr().err
    assert main([str(path), "--names", "{algorithm}_{run}", "--output", str(tmp_path / "a.nc")]) == 0


def test_a_chart_of_groups_has_no_runs(tmp_path):
    chart(tmp_path / "chart.csv", ["model: cnn", "model: vit"], spread=0.5)
    with pytest.warns(UserWarning, match="stand for several scores"):  # noqa: SIM117
        with refused("path", cure="Take the grouping out of the chart"):
            readers.read(tmp_path)


def test_a_folder_of_charts_names_the_first(tmp_path):
    for metric in ("loss", "acc"):
        chart(tmp_path / f"{metric}.csv", ["ppo-1", "ppo-2", "sac-1", "sac-2"], metric)
    with refused("path", cure=f"Name the file: {tmp_path / 'acc.csv'}"):
        readers.read(tmp_path)
