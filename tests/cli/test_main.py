from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from places import TICTACTOE
from strategies import make_curves
from xcurves.__main__ import main

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(2, 6, 4)))


@pytest.mark.slow
def test_without_an_archive_the_bundled_benchmark_gets_one_answer(capsys, here):
    assert main(["--n-resamples", "99", "--confidence-level", "0.9"]) == 0
    out, err = capsys.readouterr()
    assert not err
    assert out.lstrip().startswith("Which algorithm is better over all tasks?\n")
    assert "\nWhere along the budget do algorithms differ over all tasks?\n" in out
    assert out.endswith("Results: benchmark-answer.nc\nReport: benchmark.html\n")
    with xr.open_dataset("benchmark-answer.nc") as written:
        answer = written.load()
    assert answer.attrs.pop("xcurves_digest").startswith("sha256:")
    assert answer.attrs["xcurves_result"] == "across_tasks"
    assert answer.attrs["confidence_level"] == 0.9
    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"]
    expected = accuracy.curves.across_tasks(n_resamples=99, confidence_level=0.9, rng=int(answer.attrs["rng"]))
    xr.testing.assert_identical(answer, expected)
    assert xcurves.summary(answer).split("\n")[0] in out
    assert "random forest" in (here / "benchmark.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in here.iterdir()) == [
        "benchmark-answer.nc",
        "benchmark.html",
    ]


@pytest.mark.slow
def test_curves_of_one_task_are_compared_in_pairs(capsys, here):
    assert main([TICTACTOE]) == 0
    out, err = capsys.readouterr()
    assert not err
    assert out.lstrip().startswith("Which ones differ, and by how much?\n")
    assert "\nWhere along training do they differ?\n" in out
    assert out.endswith("Results: tictactoe-answer.nc\n")
    answer = xcurves.archive.read("tictactoe-answer.nc")
    scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    xr.testing.assert_identical(answer, scores.curves.pairwise(rng=int(answer.attrs["rng"])))
    assert [path.name for path in here.iterdir()] == ["tictactoe-answer.nc"]


@pytest.mark.slow
def test_the_old_table_is_one_option_away(capsys):
    assert main([TICTACTOE, "--include", "anova"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    head = lines.index(["df", "SS", "MS", "F", "p"])
    # p by the part's own seed
    assert lines[head + 1] == ["Algorithm", "2", "188.1", "94.06", "0.9263", ".404"]


STORES = [pytest.param(each, marks=pytest.mark.slow) for each in ("h5netcdf", "zarr", "zarr consolidated")]


@pytest.mark.plain(1)
@pytest.mark.parametrize("kind", ["scipy", "netcdf4", "csv", "csv.gz", *STORES])
def test_every_kind_of_archive_gives_the_same_numbers(curves, here, kind, capsys):
    endings = {
        "zarr": ".zarr",
        "zarr consolidated": "",
        "csv": ".csv",
        "csv.gz": ".csv.gz",
    }
    path = here / f"mine{endings.get(kind, '.nc')}"
    if "csv" in kind:
        curves.to_dataframe("score").reset_index().to_csv(path, index=False)
    elif "zarr" in kind:
        curves.to_dataset().to_zarr(path, zarr_format=2, consolidated=kind != "zarr")
    else:
        curves.to_dataset().to_netcdf(path, engine=kind)
    assert main([str(path)]) == 0
    with xr.open_dataset("mine-answer.nc") as written:
        expected = xcurves.pairwise(curves, rng=int(written.attrs["rng"]))
        np.testing.assert_allclose(written.difference, expected.difference)
        np.testing.assert_array_equal(written.pvalue, expected.pvalue)


def test_options_name_columns_and_reach_the_test(curves, here, capsys):
    tasks = xr.concat([curves, curves + 1], "game").assign_coords(game=["x", "y"])
    tasks[0, 0, 0, 3] = np.nan
    names = {"algorithm": "agent", "run": "seed", "training": "step"}
    rows = tasks.rename(names).to_dataframe("y").reset_index().assign(note=1)
    rows.dropna(subset="y").to_csv("t.csv", index=False)
    columns = [
        "--value",
        "y",
        "--algorithm",
        "agent",
        "--run",
        "seed",
        "--training",
        "step",
        "--extra",
        "game",
    ]
    options = [
        "--n-resamples",
        "99",
        "--confidence-level",
        "0.9",
        "--rng",
        "5",
        "--output",
        "out.nc",
    ]
    options += ["--include", "anova"]
    assert main(["t.csv", *columns, *options, "--align", "--runs-short", "cut"]) == 0
    tree = xcurves.archive.read("out.nc")
    assert tree.attrs["rng"] == "5"
    anova = tree["anova"].to_dataset()
    assert anova.confidence_level == 0.9
    assert anova.n_levels.values.tolist() == [3, 4]
    assert "on='intersection'" in anova.attrs["history"]
    assert main(["t.csv", *columns, *options, "--drop-incomplete", "--rng", "6"]) == 0
    assert xcurves.archive.read("out.nc")["anova"].n_runs.values.tolist() == [
        [5, 6],
        [6, 6],
    ]


@pytest.mark.slow
def test_dims_of_a_file_can_be_renamed(curves, capsys):
    curves.rename(algorithm="agent", run="seed").to_dataset().to_netcdf("c.nc")
    assert main(["c.nc", "--algorithm", "agent", "--run", "seed", "--paired"]) == 0
    with xr.open_dataset("c-answer.nc") as written:
        assert written.paired == 1


def test_a_warning_is_one_line_on_stderr(curves, capsys):
    curves.isel(run=slice(3)).to_dataset().to_netcdf("small.nc")
    assert main(["small.nc"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("python -m xcurves: warning: ") for line in lines)
    assert any(line.endswith("10 reassignments allow no p below 0.1") for line in lines)
    assert len(set(lines)) == len(lines)


@pytest.mark.plain(1)
@pytest.mark.parametrize("trouble", [OSError("disk full"), KeyboardInterrupt()])
def test_a_file_is_replaced_whole_or_not_at_all(here, monkeypatch, capsys, trouble):
    assert main([TICTACTOE, "--output", "r.nc"]) == 0
    good = (here / "r.nc").read_bytes()

    def half(self, path, **options):
        Path(path).write_text("half")
        raise trouble

    monkeypatch.setattr(xr.Dataset, "to_netcdf", half)
    assert main([TICTACTOE, "--output", "r.nc"]) == (130 if isinstance(trouble, KeyboardInterrupt) else 2)
    assert (here / "r.nc").read_bytes() == good
    assert [path.name for path in here.iterdir()] == ["r.nc"]


@pytest.mark.slow
def test_duplicates_are_kept_as_asked(curves, here, capsys):
    table = curves.to_dataframe("score").reset_index()
    again = table.head(3).assign(score=0.0)
    pd.concat([table, again]).sort_values("training", kind="stable").to_csv("twice.csv", index=False)
    assert main(["twice.csv"]) == 2
    assert "3 rows repeat a (algorithm, run, training)" in capsys.readouterr().err
    assert main(["twice.csv", "--duplicates", "last"]) == 0
    with xr.open_dataset("twice-answer.nc") as written:
        assert "3 repeated rows, kept the last of each" in written.attrs["history"]
