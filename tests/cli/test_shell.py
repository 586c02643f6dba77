"""The command line as a person meets it: sources, analyses, pages, progress, and being interrupted."""

import os
import re
import signal
import struct
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from event_files import event_writer
from places import ROOT, TICTACTOE
from refusals import refused
from strategies import make_curves
from xcurves.__main__ import main
from xcurves.cli.curves_asked import parse_levels
from xcurves.cli.sources import matching

pytestmark = pytest.mark.usefixtures("here")
QUICK = ["--n-resamples", "99"]


@pytest.fixture
def curves():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 6, 4)))
    return curves.assign_coords(algorithm=["sac", "td3"])


def read(path):
    with xr.open_dataset(path, decode_times=False) as written:
        return written.load()


def same(path, curves, **options):
    """The answer in an archive is that of the method by itself."""
    answer = read(path)
    method = getattr(xcurves, answer.attrs["xcurves_result"])
    expected = method(curves, n_resamples=99, rng=int(answer.attrs["rng"]), **options)
    np.testing.assert_array_equal(answer.pvalue, expected.pvalue)
    np.testing.assert_allclose(answer.difference, expected.difference)


@pytest.mark.slow
def test_a_folder_of_monitor_files(here, capsys):
    rng = np.random.default_rng(0)
    for algorithm in ("sac", "td3"):
        for run in range(4):
            folder = here / "logs" / "Hopper" / algorithm / str(run)
            folder.mkdir(parents=True)
            rows = "".join(f"{rng.normal():.6f},{rng.integers(5, 15)},{i}\n" for i in range(50))
            (folder / "monitor.csv").write_text('#{"t_start": 0.0, "env_id": "Hopper"}\nr,l,t\n' + rows)
    grid_of_levels = ["--align", "100:400:100", "--method", "mean"]
    assert main(["logs", "--folders", "task", "algorithm", "run", *grid_of_levels, *QUICK]) == 0
    frame = xcurves.readers.read(here / "logs", folders=("task", "algorithm", "run"), source="monitor")
    grid = [100, 200, 300, 400]
    same(
        "logs-answer.nc",
        frame.curves.to_dataarray("return", training="step", extra="task", on=grid, method="mean"),
    )
    # folders are recognised; a single task is no dim
    assert main(["logs", *grid_of_levels, *QUICK]) == 0
    same(
        "logs-answer.nc",
        frame.curves.to_dataarray("return", extra=(), on=grid, method="mean"),
    )


@pytest.mark.slow
def test_a_folder_of_event_files(curves, here, capsys):
    for algorithm in curves.algorithm.values:
        for run in curves.run.values:
            with event_writer(here / "runs" / algorithm / str(run)) as writer:
                for level in curves.training.values:
                    score = curves.sel(algorithm=algorithm, run=run, training=level).item()
                    writer.add_scalar("eval/return", score, int(level))
                    writer.add_scalar("loss", -score, int(level))
    assert main(["runs", *QUICK]) == 2
    asked = capsys.readouterr().err
    assert "runs has 2 tags (eval/return or loss). Type the one that is right:\n" in asked
    assert "runs --n-resamples 99 --select tag=eval/return  # 2 algorithms, one task, 6 runs each\n" in asked
    assert main(["runs", "--select", "tag=eval/return", *QUICK]) == 0
    same("runs-answer.nc", curves.astype(np.float32).astype(float))
    # of a loss lower is better, of a return higher
    assert main(["runs", "--extra", "tag", "--output", "tags.nc", *QUICK]) == 2
    assert "Select one: --select tag=loss. Type: python -m xcurves runs" in capsys.readouterr().err
    assert not Path("tags.nc").exists()


@pytest.mark.slow
def test_a_weights_and_biases_chart(curves, here, capsys):
    wide = {"Step": curves.training.values} | {
        f"{a}-{r} - return": curves.sel(algorithm=a, run=r) for a in curves.algorithm.values for r in curves.run.values
    }
    pd.DataFrame(wide).to_csv("chart.csv", index=False)
    assert main(["chart.csv", *QUICK]) == 0
    same("chart-answer.nc", curves)
    pd.DataFrame(wide).rename(columns={"sac-0 - return": "sac - return"}).to_csv("odd.csv", index=False)
    assert main(["odd.csv"]) == 2
    err = capsys.readouterr().err
    assert "are called 'sac'" in err
    assert "that does not say which are of one algorithm. Rename them" in err
    assert main(["odd.csv", "--names", "{algorithm}-{run}"]) == 2
    assert "--names '{algorithm}-{run}' does not match the run 'sac'" in capsys.readouterr().err


@pytest.mark.slow
def test_an_analysis_of_parts_is_one_archive_of_curves_and_results(curves, capsys):
    curves.to_dataset().to_netcdf("mine.nc")
    assert main(["mine.nc", "--include", "anova", "pairwise", *QUICK]) == 0
    tree = xcurves.archive.read("mine-analysis.nc")
    expected = xcurves.analyze(curves, include=["anova", "pairwise"], n_resamples=99, rng=0)
    assert sorted(tree) == ["anova", "curves", "pairwise"]
    numbers = ["color_index", "color_index_a", "color_index_b"]
    for group in tree:
        xr.testing.assert_identical(
            tree[group].to_dataset().drop_vars(numbers, errors="ignore"),
            expected[group].to_dataset(),
        )
    out = capsys.readouterr().out
    assert "Do the algorithms differ?" in out
    assert "Which ones differ, and by how much?" in out
    assert out.endswith("Results: mine-analysis.nc\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--value", "a/b", "--value", "a_b"],
            "--output for --value a_b odd-answer-a_b.nc is the file of --output for --value a/b",
        ),
        (
            ["--value", "a_b", "--value", "a_b"],
            "--value must name different scores; got a_b, a_b",
        ),
        (
            ["--value", "a_b", "--output", "x.html", "--report", "x.html"],
            "--report x.html is the file of --output x.html",
        ),
        (
            ["--value", "a_b", "--output", "x.html", "--report", "./y/../x.html"],
            "is the file of --output",
        ),
        (
            ["--value", "a_b", "--output", "odd.csv"],
            "--output odd.csv is the file of the archive. Name another",
        ),
        (
            ["--value", "a_b", "--output", "link.csv"],
            "--output link.csv is the file of the archive. Name another",
        ),
        (
            ["--value", "a_b", "--output", "notes.txt"],
            "--output notes.txt exists and is not replaced: xcurves did",
        ),
        (
            ["--value", "a_b", "--report", "notes.txt"],
            "--report notes.txt exists and is not replaced: xcurves did",
        ),
    ],
)
def test_no_file_is_written_over_another_and_none_before_the_work(curves, here, capsys, monkeypatch, arguments, told):
    frame = curves.to_dataframe("a/b").reset_index()
    frame.assign(a_b=frame["a/b"]).to_csv("odd.csv", index=False)
    (here / "notes.txt").write_text("mine")
    (here / "y").mkdir()
    (here / "link.csv").symlink_to("odd.csv")
    before = {path: path.read_bytes() for path in here.iterdir() if path.is_file()}
    monkeypatch.setattr("xcurves.cli.job.open_archive", lambda *_: pytest.fail("the work began"))
    assert main(["odd.csv", *arguments, *QUICK]) == 2
    assert told in capsys.readouterr().err
    assert {path: path.read_bytes() for path in here.iterdir() if path.is_file()} == before


@pytest.mark.slow
def test_inputs_that_differ_after_a_dot_have_outputs_of_their_own(curves, here):
    for name in ("log.v1.csv", "log.v2.csv", "log.v3.csv.gz"):
        curves.to_dataframe("score").reset_index().to_csv(name, index=False)
        assert main([name, *QUICK]) == 0
    written = sorted(path.name for path in here.glob("*.nc"))
    assert written == ["log.v1-answer.nc", "log.v2-answer.nc", "log.v3-answer.nc"]


@pytest.mark.slow
def test_an_output_that_was_written_before_is_replaced(curves, here):
    curves.to_dataset().to_netcdf("mine.nc")
    for _ in range(2):
        assert main(["mine.nc", "--include", "anova", "--report", "page.html", *QUICK]) == 0


@pytest.mark.slow
def test_few_reassignments_are_an_option_of_the_shell(curves, capsys):
    curves.to_dataset().to_netcdf("mine.nc")
    assert main(["mine.nc", "--include", "anova", "pairwise", "--n-resamples", "9"]) == 0
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 2
    assert all("n_resamples is s" in line for line in err)


@pytest.mark.slow
def test_a_part_says_in_the_shell_all_that_it_says_in_python(curves, capsys):
    stopped = (curves.run == curves.run[0]) & (curves.training == curves.training[-1])
    curves.where(~stopped).to_dataset().to_netcdf("mine.nc")
    assert main(["mine.nc", "--include", "distribution"]) == 0
    tree = xcurves.archive.read("mine-analysis.nc")
    said = tree.curves.summary().split("\n\n")[0].split("\n", 1)[1]
    assert said.startswith("Scores at the last training level that all runs have: ")
    assert said.replace("\n", " ") in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.slow
def test_a_page_of_everything_and_again_from_the_archive(curves, here, capsys):
    curves.to_dataset().to_netcdf("mine.nc")
    assert main(["mine.nc", "--report", "page.html", *QUICK]) == 0
    out = capsys.readouterr().out
    assert out.endswith("Results: mine-analysis.nc\nReport: page.html\n")
    assert sorted(xcurves.archive.read("mine-analysis.nc")) == [
        "anova",
        "curves",
        "distribution",
        "pairwise",
        "profile",
    ]
    assert main(["mine-analysis.nc", "--report", "again.html"]) == 0
    assert capsys.readouterr().out == "Report: again.html\n"
    assert (here / "again.html").read_bytes() == (here / "page.html").read_bytes()
    assert main(["mine-analysis.nc"]) == 2
    assert "holds an analysis. Make its page: --report page.html" in capsys.readouterr().err
    assert main(["mine-analysis.nc", "--include", "anova", "--output", "second.nc", *QUICK]) == 0
    second, first = (xcurves.archive.read(f"{name}.nc")["anova"] for name in ("second", "mine-analysis"))
    xr.testing.assert_identical(second.to_dataset(), first.to_dataset())


@pytest.mark.slow
def test_each_of_several_values_has_its_files_and_its_tasks(curves, capsys):
    tasks = xr.concat([curves, curves + 1, curves * 2], "task").assign_coords(task=["x", "y", "z"])
    success = tasks.where(tasks.task == "y").rename("success")
    both = xr.merge([tasks.where(tasks.task != "z"), success]).to_dataframe().reset_index()
    both.to_csv("both.csv", index=False)
    assert (
        main(
            [
                "both.csv",
                "--extra",
                "task",
                "--value",
                "score",
                "--value",
                "success",
                *QUICK,
            ]
        )
        == 0
    )
    assert read("both-answer-score.nc").task_difference.task.values.tolist() == [
        "x",
        "y",
    ]
    assert read("both-answer-success.nc").task.values.tolist() == ["y"]
    out, err = capsys.readouterr()
    assert [line for line in err.splitlines() if "--value" in line] == [
        "python -m xcurves: warning: --value score: left out task without any score: z",
        "python -m xcurves: warning: --value success: left out task without any score: x and z",
    ]
    assert "== score ==" in out
    assert "== success ==" in out


@pytest.mark.slow
def test_algorithm_and_run_in_one_name_of_a_folder(here, capsys):
    rows = []
    for algorithm, run, step in product(["sac", "td3"], range(4), [0, 100, 200]):
        folder = here / "runs" / f"{algorithm}_seed{run}"
        folder.mkdir(parents=True, exist_ok=True)
        rows.append((algorithm, run, step, float((algorithm == "sac") * step + 7 * run % 5)))
        with (folder / "progress.csv").open("a") as log:
            log.write(("step,return\n" if step == 0 else "") + f"{step},{rows[-1][-1]}\n")
    assert main(["runs", *QUICK]) == 0
    frame = pd.DataFrame(rows, columns=["algorithm", "run", "training", "return"])
    same("runs-answer.nc", frame.curves.to_dataarray("return"))
    assert main(["runs", "--names", "{algorithm}_seed{run}", *QUICK]) == 0
    frame = pd.DataFrame(rows, columns=["algorithm", "run", "training", "return"])
    same("runs-answer.nc", frame.curves.to_dataarray("return"))


@pytest.mark.filterwarnings("ignore:so few tasks")
@pytest.mark.slow
def test_fractions_of_budgets_of_arrays_and_tables_are_the_same(curves, capsys):
    later = curves.assign_coords(training=curves.training + 7.0)
    ragged = xr.concat(
        [curves.sel(algorithm=["sac"]), later.sel(algorithm=["td3"])],
        "algorithm",
        join="outer",
    )
    longer = ragged.assign_coords(training=30.0 * ragged.training + 1)
    budgets = xr.concat([ragged, longer], xr.Variable("task", ["x", "y"]), join="outer")
    budgets.to_dataset().to_netcdf("mine.nc")
    budgets.to_dataframe("score").dropna().reset_index().to_csv("mine.csv", index=False)
    for archive in (["mine.nc"], ["mine.csv", "--extra", "task"]):
        assert main([*archive, *QUICK]) == 2
        command = f"Type: python -m xcurves {' '.join([*archive, *QUICK])} --align budget:4\n"
        assert capsys.readouterr().err.endswith(command)
        assert main([*archive, "--align", "budget", *QUICK, "--output", "out.nc"]) == 0
        same("out.nc", budgets.curves.align(20, relative_to="budget"))
        assert main([*archive, "--align", "budget", "--method", "mean", *QUICK]) == 2
        assert "--method mean does not go with --align budget" in capsys.readouterr().err


@pytest.mark.slow
def test_alignment_of_arrays_and_tables_is_the_same(curves, capsys):
    ragged = curves.copy()
    ragged[0, 2, 3] = np.nan
    ragged.to_dataset().to_netcdf("mine.nc")
    rows = ragged.to_dataframe("score").reset_index()
    rows.dropna(subset="score").to_csv("mine.csv", index=False)
    options = ["--align", "0:300:50", "--method", "linear", "--drop-incomplete", *QUICK]
    for name in ("mine.nc", "mine.csv"):
        assert main([name, *options, "--output", f"{name}.r.nc"]) == 0
        grid = [0, 50, 100, 150, 200, 250, 300]
        same(
            f"{name}.r.nc",
            ragged.curves.align(grid, method="linear").curves.drop_incomplete(),
        )
        assert read(f"{name}.r.nc").n_runs.values.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        ("union", "union"),
        ("0,1e3,5000", [0, 1000, 5000]),
        ("5", [5]),
        ("0:10:4", [0, 4, 8]),
        ("1e4:1e6:1e4", [1e4 * step for step in range(1, 101)]),
        ("0:1:.1", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        ("-1:-0.7:.1", [-1.0, -0.9, -0.8, -0.7]),
        ("-0.2:0.2:0.1", [-0.2, -0.1, 0.0, 0.1, 0.2]),
        ("0:1:.3", [0.0, 0.3, 0.6, 0.9]),
        ("5:5:1", [5.0]),
    ],
)
def test_levels_are_words_lists_and_ranges_counted_in_decimal_digits(given, levels):
    assert parse_levels(given) == levels


@pytest.mark.slow
def test_negative_levels_are_no_options(curves, capsys):
    table = curves.assign_coords(training=[-0.2, -0.1, 0.0, 0.1])
    table.to_dataset().to_netcdf("negative.nc")
    for levels in ("-0.2:0.1:.1", "-0.2,-0.1"):
        assert main(["negative.nc", "--align", levels, *QUICK]) == 0
    # In a table they are a count with its sign turned, or newest first.
    table.to_dataframe("score").reset_index().to_csv("negative.csv", index=False)
    assert main(["negative.csv", "--align", "-0.2,-0.1", *QUICK]) == 2
    refused = capsys.readouterr().err
    assert "training column 'training' is negative in 24 rows, first ('sac', 0, -0.2), ('sac', 0, -0.1)" in refused
    assert (
        "negative.csv --align -0.2,-0.1 --n-resamples 99 --training none --duplicates first  # the first row" in refused
    )


@pytest.mark.parametrize(
    "given",
    [
        "3:1:1",
        "20:10:-5",
        "0:1:1e-30",
        "0:inf:1",
        "nan:1:1",
        "0:1:0",
        "a,b",
        "0:1",
        "x.csv",
        "0:1:-1",
    ],
)
def test_levels_that_are_none_are_refused(given):
    with refused("align", given, names=r"^--align takes intersection, union, final, budget\[:N\], levels such as"):
        parse_levels(given)


def test_labels_are_selected_as_they_are_written():
    names = np.array(["a", "b,c", "b", "2:1"])
    assert matching("x", ["b,c"], names).tolist() == [False, True, False, False]
    assert matching("x", ["a", "b"], names).tolist() == [True, False, True, False]
    assert matching("x", ["2:1"], names).tolist() == [False, False, False, True]
    numbers = np.array([0, 1.5, 1000])
    assert matching("x", ["1e3", "0"], numbers).tolist() == [True, False, True]
    for strange in ("4", "5:9", "one"):
        with refused("select", f"x={strange}", "x has 0.0, 1.5 and 1000.0", names="there is none"):
            matching("x", [strange], numbers)


def test_help_names_every_option_and_status(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    names = """value algorithm run training extra folders names select align method tolerance duplicates drop-incomplete
        include paired n-resamples confidence-level rng output report traceback"""
    for name in names.split():
        assert f"--{name}" in out
    assert "examples:" in out
    for status in (
        "0  done",
        "2  options or input",
        "130  interrupted",
        "143 terminated",
        "141 nobody",
    ):
        assert status in out
    documented = (ROOT / "docs" / "command-line.md").read_text()
    for status in ("| 0 |", "| 1 |", "| 2 |", "| 130 |", "| 141 |", "| 143 |"):
        assert status in documented


@pytest.fixture
def heard():
    """Jobs hear an interruption even if the tests themselves were started in the background, where none is heard."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


WAITS_BEFORE_IT_PUTS = """
import pathlib, sys, time
from xcurves.__main__ import main, _terminate
def wait(beside, path):
    print("written beside:", beside.exists(), flush=True)
    time.sleep(60)
pathlib.Path.replace = wait
import signal
signal.signal(signal.SIGTERM, _terminate)
sys.exit(main([sys.argv[1], "--n-resamples", "99", "--output", "r.nc"]))
"""


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.slow
def test_interrupted_while_it_writes_it_leaves_what_was_there(here, heard, sent, status):
    xcurves.archive.write(xr.Dataset(attrs={"good": 1}), here / "r.nc")
    job = subprocess.Popen(
        [sys.executable, "-c", WAITS_BEFORE_IT_PUTS, TICTACTOE],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert job.stdout.readline() == "written beside: True\n"
    job.send_signal(sent)
    out, err = job.communicate(timeout=60)
    assert job.returncode == status
    assert out == ""
    assert err == ("python -m xcurves: interrupted, nothing written\n" if sent == signal.SIGINT else "")
    assert [path.name for path in here.iterdir()] == ["r.nc"]
    assert xcurves.archive.read("r.nc").attrs == {"good": 1}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.slow
@pytest.mark.parametrize("module", ["xcurves.cli.options", "scipy"])
def test_interrupted_while_it_imports_it_says_so_in_one_line(here, heard, module):
    """The signal comes at a known place: where the module is looked for."""
    code = f"""
import os, runpy, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["__main__.py"]
runpy.run_module("xcurves", run_name="__main__")
"""
    job = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (job.returncode, job.stdout) == (130, "")
    assert job.stderr == "python -m xcurves: interrupted, nothing written\n"


@pytest.mark.skipif(os.name != "posix", reason="descriptors of POSIX")
@pytest.mark.slow
@pytest.mark.parametrize("closed", ["stdout", "pipe"])
def test_nobody_reads_what_it_prints(here, closed):
    command = [sys.executable, "-m", "xcurves", *QUICK]
    if closed == "stdout":
        job = subprocess.run(
            ["sh", "-c", '"$@" >&-', "sh", *command],
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
        assert job.returncode == 2
        assert job.stderr == "xcurves: stdout is closed. Give it a place: > /dev/null\n"
    else:
        job = subprocess.run(
            ["sh", "-c", '{ "$@"; echo $? >status; } | true', "sh", *command],
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
        assert (here / "status").read_text() == "141\n"
        assert job.stderr == ""
    assert "Traceback" not in job.stderr


@pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX")
@pytest.mark.slow
def test_on_a_terminal_there_is_a_bar_and_ctrl_c_ends_the_work(here, heard):
    pytest.importorskip("tqdm")
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [
        sys.executable,
        "-m",
        "xcurves",
        TICTACTOE,
        "--n-resamples",
        "100_000_000",
        "--confidence-level",
        "0.9999",
    ]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"shuffles" not in shown:
        shown += os.read(ours, 1024)
    job.send_signal(signal.SIGINT)
    out, _ = job.communicate(timeout=60)
    shown += os.read(ours, 65536)
    os.close(ours)
    assert (job.returncode, out) == (130, b"")
    assert b"interrupted, nothing written" in shown
    assert b"Traceback" not in shown
    assert not list(here.iterdir())


@pytest.mark.slow
def test_what_was_written_before_an_interruption_is_named(curves, monkeypatch, capsys, here):
    curves.to_dataset().assign(other=curves * 2).to_netcdf("two.nc")
    real, calls = xcurves.archive.write, []

    def stop_at_the_second(data, path):
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(data, path)

    monkeypatch.setattr("xcurves.cli.job.archive.write", stop_at_the_second)
    assert main(["two.nc", "--value", "score", "--value", "other", *QUICK]) == 130
    assert capsys.readouterr().err == "python -m xcurves: interrupted, written before: two-answer-score.nc\n"
    assert sorted(path.name for path in here.iterdir()) == [
        "two-answer-score.nc",
        "two.nc",
    ]


LOGS = ROOT / "tests" / "readers" / "logs"


@pytest.mark.plain(2)
@pytest.mark.parametrize(
    ("path", "options", "source", "sizes"),
    [
        (
            "lightning",
            ["--value", "val_loss"],
            "Lightning metrics below lightning",
            [2, 2, 3],
        ),
        ("keras", ["--value", "loss"], "Keras CSVLogger files below keras", [2, 2, 3]),
        (
            "transformers",
            ["--value", "eval_loss"],
            "Hugging Face Trainer logs below transformers",
            [2, 2, 4],
        ),
        (
            "id-marl-eval",
            ["--value", "return"],
            "marl-eval, 4 runs in metrics.json",
            [2, 2, 3],
        ),
        (
            "stable-baselines3",
            ["--source", "evaluations", "--duplicates", "mean"],
            "Stable-Baselines3 evaluations below stable-baselines3",
            [2, 2, 4],
        ),
        (
            "ray",
            [
                "--value",
                "episode_reward_mean",
                "--algorithm",
                "config/lr",
                "--run",
                "config/seed",
            ],
            "trials of RLlib or Ray Tune below ray",
            [2, 2, 2],
        ),
    ],
)
def test_logs_are_taken_for_what_they_are_and_that_is_said(here, capsys, path, options, source, sizes):
    assert main([str(LOGS / path), *options, "--include", "anova"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"Source: {source}\n")
    assert [line for line in err.splitlines() if "assignments" not in line] == []
    tree = xcurves.archive.read(here / f"{path}-analysis.nc")
    assert list(tree["curves"].to_dataset().to_dataarray().isel(variable=0).shape) == sizes


def test_what_is_not_recognised_gets_the_nearest_sources(here, capsys):
    (here / "log.txt").write_text("hello")
    (here / "folder").mkdir()
    for name in ("log.txt", "folder"):
        assert main([name]) == 2
        err = capsys.readouterr().err
        assert re.match(f"python -m xcurves: {name} (is|holds) nothing that is recognised", err)
        assert err.endswith("python -m xcurves sources\n")
    assert main(["log.txt", "--source", "tensorbord"]) == 2
    said = capsys.readouterr().err
    assert "--source must be one that python -m xcurves sources lists" in said
    assert said.endswith(". Did you mean 'tensorboard'?\n")


@pytest.mark.slow
def test_columns_without_their_options_are_named_with_them_and_near_misses_are_suggested(curves, here, capsys):
    def refused(*options):
        assert main(["my log.csv", *options]) == 2
        return capsys.readouterr().err.splitlines()[-1].removeprefix("python -m xcurves: ")

    log = curves.curves.to_frame().set_axis(["agent", "my seed", "step", "return"], axis=1)
    log.assign(Env="Hopper", loss=0.5).to_csv("my log.csv", index=False)
    has = "It has 'agent', 'my seed', 'step', 'return', 'Env', 'loss'"
    assert refused("--value", "retrun") == f"--value retrun is no column of my log.csv. {has}. Did you mean 'return'?"
    assert refused("--extra", "env") == f"--extra env is no column of my log.csv. {has}. Did you mean 'Env'?"
    assert refused("--select", "agent=sca").endswith("agent has sac and td3. Did you mean 'sac'?")
    assert refused("--select", "agnet=sac").endswith(f"{has}. Did you mean 'agent'?")
    assert refused("--align", "7").startswith("--align 7 leaves no score of any run. Name levels that runs reach")
    assert main(["my log.csv", "--extra", "Env", *QUICK]) == 0
    same("my log-answer.nc", curves.expand_dims(Env=["Hopper"]))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--vlaue", "return"],
            "there is no option --vlaue. Did you mean '--value'? Help: ",
        ),
        (
            ["--n-resample", "9"],
            "there is no option --n-resample. Did you mean '--n-resamples'? Help: ",
        ),
        (
            ["sequential", "--loks=3"],
            "there is no option --loks. Did you mean '--looks'? Help: ",
        ),
        (
            ["gate", "--baseline", "a", "--lvl", "1"],
            "there is no option --lvl. Did you mean '--level'? Help: ",
        ),
        (
            ["gate", "--baseline", "a", "--qq"],
            "there is no option --qq. It has --help, --confidence-level, --rng, ",
        ),
        (["--include", "pairwize"], "'pairs'). Did you mean 'pairwise'? Help: "),
    ],
)
def test_a_misspelt_option_gets_the_nearest(arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_a_missing_package_is_named_with_the_output_that_needs_it(curves, here, capsys, monkeypatch):
    monkeypatch.setattr("xcurves.archive_formats.engines", list)
    curves.to_dataset().to_netcdf("mine.nc", engine="scipy")
    assert main(["mine.nc", "--include", "anova"]) == 2
    said = "--output mine-analysis.nc needs netCDF4 or h5netcdf. Install it: pip install 'xcurves[io]'\n"
    assert capsys.readouterr().err == f"python -m xcurves: {said}"


@pytest.mark.parametrize("arguments", [["--help"], ["sequential", "--help"]])
@pytest.mark.parametrize(
    ("called", "program"),
    [
        ("/venv/bin/xcurves", "xcurves"),
        ("/src/xcurves/__main__.py", "python -m xcurves"),
    ],
)
def test_help_has_the_name_that_the_program_was_called_by(monkeypatch, capsys, called, program, arguments):
    import tomllib

    from xcurves.__main__ import shell

    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"xcurves": "xcurves.__main__:shell"}
    monkeypatch.setattr(sys, "argv", [called, *arguments])
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as stop:
        shell()
    signal.signal(signal.SIGTERM, before)
    assert stop.value.code == 0
    out = capsys.readouterr().out
    name = " ".join([program, *arguments[:-1]])
    assert out.startswith(f"usage: {name} [PATH] [options]\n")
    assert f"{name} log.csv" in out or f"    {name}\n" in out
    assert ("python" in out) == (program != "xcurves")


def test_errors_have_that_name_too(monkeypatch, capsys):
    from xcurves.__main__ import main

    monkeypatch.setattr(sys, "argv", ["/venv/bin/xcurves", "nowhere.nc"])
    assert main() == 2
    assert capsys.readouterr().err.startswith("xcurves: ")
