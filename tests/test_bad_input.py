"""What cannot be used is told in one line, with the option or the correction that cures it, and nothing is written."""

import gzip
import os
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import xcurves
from places import TICTACTOE
from refusals import refused
from strategies import make_curves
from xcurves.__main__ import main

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(2, 6, 4)))


@pytest.fixture
def refusal(capsys, here):
    """Run the command line on bad input; return its line, and the commands of which one is right."""

    def run(*arguments):
        before = {path: path.stat().st_mtime_ns for path in here.rglob("*")}
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as stop:
            status = stop.code
        out, err = capsys.readouterr()
        assert status == 2
        assert re.fullmatch(r"(?:(?:Source: |read as ).*\n)*\n?", out)
        line, *commands = [each for each in err.splitlines() if ": warning: " not in each]
        assert all(each.startswith("python -m xcurves ") for each in commands)
        assert {path: path.stat().st_mtime_ns for path in here.rglob("*")} == before
        line = line.removeprefix("python -m xcurves: ")
        assert "Traceback" not in err
        return "\n".join([line, *commands])

    return run


def table(curves, path="c.csv", **columns):
    frame = curves.to_dataframe("score").reset_index().assign(**columns)
    frame.to_csv(path, index=False)
    return frame


def log_of(curves, path="c.csv"):
    """Write a table whose runs have rows up to their last score."""
    rows = curves.to_dataframe("score").reset_index().dropna(subset="score")
    rows.to_csv(path, index=False)


def test_an_empty_file(refusal, here):
    (here / "empty.csv").write_text("")
    (here / "empty.nc").write_text("")
    (here / "head.csv").write_text("algorithm,run,training,score\n")
    (here / "empty.csv.gz").write_bytes(gzip.compress(b""))
    assert refusal("empty.csv") == "empty.csv is empty. Write it again, or name another"
    assert refusal("empty.csv.gz") == "empty.csv.gz is empty. Write it again, or name another"
    assert refusal("head.csv") == "head.csv: its CSV files have no rows. Check what was logged"
    assert refusal("empty.nc").startswith("empty.nc cannot be read as a complete archive: ")
    (here / "noise.nc").write_bytes(b"no archive")
    assert refusal("noise.nc").startswith("noise.nc cannot be read as a complete archive: ")
    (here / "empty.zarr").mkdir()
    assert refusal("empty.zarr").startswith("empty.zarr cannot be read as a complete archive: ")


def test_a_table_without_a_column_tells_those_that_it_has(refusal, curves):
    table(curves)
    has = "is no column of c.csv. It has 'algorithm', 'run', 'training', 'score'"
    assert refusal("c.csv", "--run", "seed", "--value", "score") == f"--run seed {has}"
    assert refusal("c.csv", "--value", "return").startswith(f"--value return {has}")
    assert refusal("c.csv", "--extra", "task") == f"--extra task {has}"
    assert refusal("c.csv", "--select", "task=x") == f"--select task=x: 'task' {has}"


def test_mixed_types_in_a_column_name_the_first_row(refusal, curves, here):
    frame = table(curves).astype({"score": object, "training": object})
    frame.loc[[3, 5], "score"] = ["high", "low"]
    frame.to_csv("score.csv", index=False)
    assert refusal("score.csv") == (
        "score.csv: the column score has text in 2 rows, first 'high' in row 3. Correct it, or leave it empty for a gap"
    )
    frame = table(curves).astype({"training": object})
    frame.loc[7, "training"] = "8k"
    frame.to_csv("training.csv", index=False)
    assert refusal("training.csv").partition(", first ")[2].startswith("'8k' in row 7. Correct it, or leave it empty")
    frame = table(curves).astype({"run": object})
    frame.loc[2, "run"] = None
    frame.to_csv("run.csv", index=False)
    assert refusal("run.csv") == (
        "run column 'run' has 1 rows without a label (read_csv reads NA, None and null as missing), first row 2. "
        "Delete these rows, or write a label"
    )


@pytest.mark.parametrize("engine", ["scipy", "h5netcdf", "netcdf4"])
def test_a_netcdf_file_cut_short(refusal, curves, here, engine):
    curves.to_dataset().to_netcdf("cut.nc", engine=engine)
    whole = (here / "cut.nc").read_bytes()
    for share in (0.1, 0.5, 0.9):
        (here / "cut.nc").write_bytes(whole[: int(len(whole) * share)])
        assert refusal("cut.nc").startswith("cut.nc cannot be read as a complete archive: ")


def test_a_zarr_store_that_lacks_a_part(refusal, curves, here):
    curves.to_dataset().to_zarr("c.zarr", zarr_format=2, consolidated=False)
    (here / "c.zarr" / "score" / ".zarray").write_text("{")
    assert refusal("c.zarr").startswith("c.zarr cannot be read as a complete archive: ")


def test_two_algorithms_of_one_name(refusal, curves, here, capsys):
    curves.assign_coords(algorithm=["sac", "sac"]).to_dataset().to_netcdf("twice.nc")
    assert refusal("twice.nc") == (
        "algorithm labels must be unique; got 'sac' 2 times. Number them: "
        "da.assign_coords(algorithm=range(da.sizes['algorithm']))"
    )
    table(curves.assign_coords(algorithm=["sac", "sac"]))
    assert main(["c.csv"]) == 2
    assert capsys.readouterr().err == (
        "python -m xcurves: c.csv: training column 'training' falls in 6 runs, first from ('sac', 0, 300.0) to "
        "('sac', 0, 0.0), their first level. If each is several runs, give each a label of its own in 'run'. "
        "Type the one that is right:\n"
        "python -m xcurves c.csv --duplicates purge  # runs began again there, runs up to 300\n"
        "python -m xcurves c.csv --resumed  # they go on counting, runs up to 700\n"
    )
    (here / "chart.csv").write_text('"Step","sac-1 - return","sac-1 - return"\n"0","1.5","2"\n')
    assert refusal("chart.csv") == "chart.csv has 2 columns 'sac-1 - return'. Rename all but one"


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(refusal, curves, here, monkeypatch):
    (here / "file").write_text("in the way")
    assert refusal("--output", "file/out.nc") == (
        "--output file/out.nc: there is no folder file. Make it, or name another"
    )
    assert refusal("--output", "nowhere/out.nc").startswith("--output nowhere/out.nc: there is no folder nowhere.")
    assert refusal("--report", "nowhere/page.html").startswith(
        "--report nowhere/page.html: there is no folder nowhere."
    )
    (here / "folder").mkdir()
    for option in ("--output", "--report"):
        assert "folder exists and is not replaced: folders are not" in refusal(option, "folder")
    (here / "page.zarr").mkdir()
    assert "page.zarr exists and is not replaced: folders are not" in refusal("--report", "page.zarr")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc, where nobody may write")
def test_a_folder_that_is_not_writable(refusal):
    assert refusal("--output", "/proc/self/out.nc").startswith("--output /proc/self/out.nc cannot be written: ")
    assert refusal("--report", "/proc/self/page.html").endswith("that you may write to and that has room")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_called_a_pipe(refusal, here):
    os.mkfifo("scores.csv")
    said = " is a pipe or a device, which is read only once. Write what comes from it to a file, and name that"
    assert refusal("scores.csv") == f"scores.csv{said}"
    assert refusal("/dev/null") == f"/dev/null{said}"
    with refused("path", "scores.csv", "Write what comes from it to a file, and name that"):
        xcurves.readers.read("scores.csv")


def test_what_is_no_archive(refusal, curves, here):
    curves.to_dataset().assign(other=curves).to_netcdf("two.nc")
    xcurves.randomized_anova(curves).to_netcdf("r.nc")
    assert refusal("gone.nc") == "gone.nc does not exist. Check the path"
    assert refusal("tow.nc") == "tow.nc does not exist. Did you mean 'two.nc'?"
    assert refusal("souces") == "souces does not exist. Did you mean 'sources'?"
    assert refusal("two.nc") == (
        "two.nc has 2 variables that could be scores, score and other. Type one: python -m xcurves two.nc --value score"
    )
    assert refusal("two.nc", "--value", "x") == "--value x is no variable of two.nc. It has 'score', 'other'"
    assert refusal("r.nc") == (
        "r.nc holds a result of randomized_anova, not curves. Name the archive that it was made from"
    )


@pytest.mark.slow
def test_runs_that_lack_levels_are_cured_by_options(refusal, curves):
    short = curves.copy()
    short[0, 1, 2:] = np.nan
    log_of(short)
    assert refusal("c.csv") == (
        "no part of the analysis fits curves: pairwise, profile: algorithm 'a0', run 1 lacks 2 of 4 training levels. "
        "1 of 12 runs ends before 90 % of the longest of the task: algorithm 'a0', run 1 at 100 of 300 (33 %). Say "
        "what they are. Type the one that is right:\n"
        "python -m xcurves c.csv --align intersection --runs-short failed --fill-failed worst  # if they failed\n"
        "python -m xcurves c.csv --align intersection --runs-short cut  # to compare up to 33 % of the longest only\n"
        "python -m xcurves c.csv --align intersection --runs-short drop  # to leave them out\n"
        "python -m xcurves c.csv --training none --duplicates last  # if they were done, to compare the last score of "
        "each"
    )
    apart = curves.copy()
    apart[0, :, 1:] = np.nan
    log_of(apart)
    assert refusal("c.csv", "--align").startswith(
        "--align intersection leaves 1 common training level of 4. Runs that end at 0 share no other level with those "
        "that begin at 0: keep those that reach the same levels: --align START:STOP:STEP --drop-incomplete"
    )
    one = curves.copy()
    one[:, 1, 2:] = np.nan
    log_of(one)
    assert "algorithm 'a0', run 1 lacks 2 of 4 training levels (2 incomplete runs in all)" in refusal("c.csv")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--bad"],
            "there is no option --bad. It has --help, --confidence-level, --rng, ",
        ),
        (
            ["--n-resamples", "0"],
            "--n-resamples must be at least 1; got 0. Leave it out for the default",
        ),
        (
            ["--confidence-level", "95"],
            "--confidence-level must lie between 0 and 1; got 95.0. Usual: 0.95",
        ),
        (
            ["--rng", "-1"],
            "--rng must not be negative; got -1. Give a whole number from 0",
        ),
        (
            ["--select", "algorithm"],
            "--select algorithm: say NAME=LABEL, such as --select task=Hopper",
        ),
        (
            [TICTACTOE, "--select", "algorithm=sac"],
            "--select algorithm=sac: there is none. algorithm has rate 0.001, rate 0.8 and rate 0.1",
        ),
        (
            [TICTACTOE, "--select", "task=x"],
            f"--select task=x: 'task' is no dim of {TICTACTOE}. It has 'algorithm', 'run', 'training'",
        ),
        (
            [TICTACTOE, "--select", "algorithm=rate 0.1"],
            "no part of the analysis fits curves: pairwise, profile: only algorithm",
        ),
        (
            ["--align", "some"],
            "--align takes intersection, union, final, budget[:N], levels such as 0,1000,5000, or START:STOP:STEP; "
            "got 'some'. Put PATH before the options",
        ),
        (
            ["--align", "9,1"],
            "--align must be finite training levels in increasing order; got [9, 1]. Sort them",
        ),
        (
            ["--align", "union", "--method", "mean"],
            "--align union with --method mean has no levels to bring runs to. Give them: --align START",
        ),
        (
            ["--align", "union", "--method", "nearest"],
            "--method nearest needs --tolerance, the largest distance from a level",
        ),
        (
            ["--align", "--tolerance", "3"],
            "--tolerance 3.0 has no meaning without a method. Name one, or leave it out",
        ),
        (
            ["--method", "linear"],
            "--method and --tolerance are for --align LEVELS. Say them: --align 0,1000,2000",
        ),
    ],
)
def test_options_that_do_not_go(refusal, arguments, said):
    assert refusal(*arguments).startswith(said)


def test_what_should_not_be_is_a_line_too_and_shows_where_if_asked(capsys, monkeypatch):
    def broken(*args, **options):
        raise AttributeError("a defect")

    monkeypatch.setattr("xcurves.cli.job.open_archive", broken)
    assert main([]) == 4
    assert capsys.readouterr().err == (
        "python -m xcurves: AttributeError: a defect. This is unexpected; --traceback shows where\n"
    )
    assert main(["--traceback"]) == 4
    assert "AttributeError: a defect" in capsys.readouterr().err


def test_a_table_of_numbers_as_labels_can_be_selected(curves):
    table(curves)
    chosen = [
        *(f"run={run}" for run in range(4)),
        *(f"training={level}" for level in (100, 200, 3e2)),
    ]
    assert (
        main(
            [
                "c.csv",
                *(word for label in chosen for word in ("--select", label)),
                "--include",
                "anova",
                "--output",
                "r.nc",
            ]
        )
        == 0
    )
    expected = xcurves.randomized_anova(curves.sel(run=[0, 1, 2, 3], training=slice(100, 300)), rng=0)
    with xr.open_dataset("r.nc", group="anova") as written:
        np.testing.assert_array_equal(written.pvalue, expected.pvalue)
        assert written.n_levels == 3
