"""The subcommand `sequential`, and the loop of its how-to page, as a person runs them."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import xcurves  # noqa: F401  # registers .curves
from places import ROOT
from strategies import make_curves
from xcurves.__main__ import main

pytestmark = pytest.mark.usefixtures("here")
PAGE = (ROOT / "docs" / "howto" / "add-seeds.md").read_text(encoding="utf-8")
NAMES = [
    "--value",
    "return",
    "--algorithm",
    "agent",
    "--run",
    "seed",
    "--training",
    "step",
    "--n-resamples",
    "999",
]


def write_log(path, n_batches, gap=3.0, tasks=("x",)):
    rng = np.random.default_rng(0)
    rows = [
        (
            task,
            agent,
            5 * batch + seed,
            step,
            gap * (agent == "sac") + rng.normal(),
            batch + 1,
        )
        for batch in range(n_batches)
        for seed in range(5)
        for agent in ("sac", "td3", "ddpg")
        for task in tasks
        for step in (1, 2)
    ]
    pd.DataFrame(rows, columns=["task", "agent", "seed", "step", "return", "batch"]).to_csv(path, index=False)


def look(capsys, *options):
    status = main(["sequential", "log.csv", *NAMES, *options])
    out, err = capsys.readouterr()
    return status, out, err


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def decided(text):
    """Return what is next of an answer, beside its verdict and ledger."""
    answer = strict(text)
    return answer["next"] | {name: answer[name] for name in ("verdict", "ledger")}


@pytest.mark.slow
def test_an_earlier_look_is_compared(here, capsys):
    plan = ("--look", "batch", "--looks", "6", "--ledger", "look.json")
    write_log("log.csv", 1)
    _, out, _ = look(capsys, *plan, "--json")
    assert (here / "look.json").read_text() == out
    write_log("log.csv", 2)
    status, _, err = look(capsys, *plan)
    assert (status, err) == (3, "")
    second = (here / "look.json").read_text()
    assert decided(second)["by_task"][0]["look"] == 2
    frame = pd.read_csv("log.csv")
    frame.loc[(frame.seed == 3) & (frame.agent == "td3"), "return"] += 1e-6
    frame.to_csv("log.csv", index=False)
    status, _, err = look(capsys, *plan)
    assert status == 2
    assert "run 3 of algorithm 'td3' differs from what it was at the earlier look 2" in err
    status, _, err = look(capsys, "--look", "batch", "--looks", "4", "--ledger", "look.json")
    assert status == 2
    assert "must stay as it was at the earlier look, 6; got 4" in err
    assert (here / "look.json").read_text() == second


@pytest.mark.slow
def test_more_runs_are_needed_then_the_last_look_is_done(here, capsys):
    write_log("log.csv", 1)
    status, out, _ = look(capsys, "--look", "batch", "--looks", "6", "--json")
    said = decided(out)
    assert status == 3
    assert said["decision"] == "more runs needed"
    assert said["runs"] == {"sac": 5, "td3": 5, "ddpg": 5}
    assert said["run_at_most"] == {"sac": 25, "td3": 25, "ddpg": 25}
    assert (said["by_task"][0]["look"], str(said["by_task"][0]["n_runs"])) == (
        1,
        "{'ddpg': 5, 'sac': 5, 'td3': 5}",
    )
    assert said["by_task"][0]["pairs"][0]["difference_ci_simultaneous"] == [None, None]
    assert said["by_task"][0]["pairs"][0]["critical_value"] is None
    write_log("log.csv", 2)
    status, out, _ = look(capsys, "--look", "batch", "--looks", "2", "--json")
    said = decided(out)
    assert status == 0
    assert said["decision"] == "last look done, not all shown"
    assert (said["undecided"], said["runs"]) == ([], {})
    curves = pd.read_csv("log.csv").curves.to_dataarray("return", algorithm="agent", run="seed", training="step")
    found = curves.curves.assign_looks(5).curves.sequential(n_looks=2, n_resamples=999)
    for pair in said["by_task"][0]["pairs"]:
        at = found.sel(pair=pair["pair"]).isel(look=1)
        assert pair["pvalue_adjusted"] == at.pvalue_adjusted.item()
        assert pair["rejected"] == bool(at.rejected)
        assert pair["difference_ci_simultaneous"] == at.difference_ci_simultaneous.values.tolist()
    assert found.curves.summary().startswith(said["verdict"])


@pytest.mark.slow
def test_only_algorithms_with_an_open_pair_are_run_on(here, capsys):
    write_log("log.csv", 2, gap=6.0)
    status, out, _ = look(capsys, "--batch-size", "5", "--looks", "3", "--json")
    said = decided(out)
    assert status == 3
    assert said["undecided"] == [{"task": {}, "pair": "ddpg - td3"}]
    assert said["runs"] == {"ddpg": 5, "td3": 5}
    assert said["run_at_most"] == said["by_task"][0]["run_at_most"] == {"ddpg": 5, "td3": 5}


@pytest.mark.slow
def test_everything_decided_ends_with_zero_and_sentences(here, capsys):
    write_log("log.csv", 2, gap=6.0)
    status, out, _ = look(
        capsys,
        "--batch-size",
        "5",
        "--looks",
        "3",
        "--select",
        "agent=sac",
        "--select",
        "agent=td3",
    )
    assert status == 0
    assert out.startswith("sac has the higher mean return after look 2 of 3 (10 runs each). It is shown to be higher ")


@pytest.mark.slow
def test_tasks_by_themselves_and_together(here, capsys):
    write_log("log.csv", 1, tasks=("x", "y"))
    status, out, _ = look(capsys, "--batch-size", "5", "--looks", "3", "--extra", "task", "--json")
    assert status == 3
    assert [each["task"] for each in decided(out)["by_task"]] == [
        {"task": "x"},
        {"task": "y"},
    ]
    status, out, _ = look(
        capsys,
        "--batch-size",
        "5",
        "--looks",
        "3",
        "--extra",
        "task",
        "--task",
        "task",
        "--json",
    )
    assert [each["task"] for each in decided(out)["by_task"]] == [{}]


@pytest.mark.slow
def test_bad_input_is_one_line_and_two(here, capsys):
    write_log("log.csv", 2)
    for options, message in (
        (
            ["--look", "batch", "--looks", "1"],
            "look must lie between 1 and n_looks=1; got 2",
        ),
        (
            ["--look", "lot", "--looks", "3"],
            "--look lot is no column of log.csv. It has 'task', 'agent'",
        ),
        (
            ["--batch-size", "5", "--looks", "1000000"],
            "n_looks must be at most 1,000; got 1000000. Usual: 2 to 20",
        ),
        (["--batch-size", "4", "--looks", "3"], "the last batch 2 of 4"),
        (
            ["--batch-size", "5", "--looks", "3", "--reference", "ppo"],
            "reference must be an algorithm of",
        ),
    ):
        status, out, err = look(capsys, *options)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert message in err
    assert main(["sequential", "none.csv", "--looks", "2", "--batch-size", "5"]) == 2


def page_block(language):
    return re.search(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]


def start(folder, pause=0):
    """Start the loop of the page in a shell; with a pause, of seconds, after the training of each algorithm."""
    (folder / "bin").mkdir(exist_ok=True)
    python = folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    trained = 'Path("part.tmp").rename(part)\n'
    program = page_block("python")
    assert trained in program
    program = program.replace(trained, f'{trained}        __import__("time").sleep({pause})\n')
    (folder / "train.py").write_text(program)
    (folder / "loop.sh").write_text(page_block("sh") + "exit $status\n")
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        ["sh", "loop.sh"],
        cwd=folder,
        env=os.environ | {"PATH": path},
        start_new_session=True,
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the loop is for a POSIX shell")
def test_the_loop_of_the_page_stops_by_itself_and_decides_the_same_when_killed_and_restarted(
    here,
):
    assert len(page_block("sh").splitlines()) <= 11
    whole, broken = here / "whole", here / "broken"
    whole.mkdir()
    broken.mkdir()
    loop = start(whole)
    assert loop.wait(timeout=500) == 0
    decision = decided((whole / "look.json").read_text())
    assert decision["decision"] != "more runs needed"
    # as after an interruption between two batches
    for path in whole.glob("batch-1-*.csv"):
        (broken / path.name).write_bytes(path.read_bytes())
    loop = start(broken, pause=2)
    while not list(broken.glob("batch-2-*.csv")):  # in the middle of the second batch
        assert loop.poll() is None
        time.sleep(0.05)
    os.killpg(loop.pid, signal.SIGKILL)
    loop.wait()
    assert len(list(broken.glob("batch-2-*.csv"))) == 1
    subprocess.run([sys.executable, "train.py", "1", "greedy", "curious"], cwd=broken, check=True)
    # a look never sees half of a batch
    assert set(pd.read_csv(broken / "log.csv")["batch"]) == {1}
    assert start(broken).wait(timeout=500) == 0
    assert decided((broken / "look.json").read_text()) == decision


@pytest.mark.plain(1)
@pytest.mark.parametrize(("batch_size", "n_looks"), [(2, 4), (3, 4), (5, 3)])
def test_scores_without_overlap_are_shown_at_the_look_that_the_plan_says(batch_size, n_looks, capsys):
    assert main(["sequential", "--looks", str(n_looks), "--batch-size", str(batch_size)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"Planned: {n_looks} looks, {batch_size} runs of each of 2 algorithms in a batch, ")
    first = int(re.search(r"From look (\d+) on, a pair can be shown to differ\.", said)[1])
    scores = np.random.default_rng(0).normal(np.array([0, 1000])[:, None, None], size=(2, batch_size * n_looks, 2))
    found = make_curves(scores).curves.assign_looks(batch_size).curves.sequential(n_looks=n_looks, rng=0)
    assert found.rejected.sel(pair="a0 - a1").values.tolist() == [k >= first for k in range(1, n_looks + 1)]
    blind = re.search(r"At look (.*) no pair could be shown", said)
    assert (blind[1].split(", ") if blind else []) == [str(k) for k in range(1, first)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--look", "batch", "--looks", "3"],
            "PATH is missing. Name the log, or plan without one: --batch-size N",
        ),
        (
            ["--batch-size", "0", "--looks", "3"],
            "--batch-size must be at least 1; got 0",
        ),
        (["--batch-size", "5", "--looks", "0"], "--looks must be at least 1; got 0"),
        (
            ["--batch-size", "5", "--looks", "3", "--algorithms", "1"],
            "--algorithms must be at least 2; got 1",
        ),
        *(
            (
                ["--looks", "3", "--batch-size", "5", option, "1" + "0" * 400],
                f"{option} must be at most 1,0",
            )
            for option in ("--looks", "--batch-size", "--algorithms", "--n-resamples")
        ),
    ],
)
def test_plans_that_cannot_be_made_are_refused(options, said, capsys):
    assert main(["sequential", *options]) == 2
    assert capsys.readouterr().err.startswith(f"python -m xcurves: {said}")


@pytest.mark.slow
def test_the_looks_of_an_archive_are_a_coordinate_of_runs(here, capsys):
    curves = make_curves(np.random.default_rng(0).normal(np.array([0, 100])[:, None, None], size=(2, 6, 2)))
    curves.assign_coords(batch=("run", [1, 1, 1, 2, 2, 2])).to_dataset().to_netcdf("log.nc")
    assert main(["sequential", "log.nc", "--look", "batch", "--looks", "2", "--json"]) == 0
    assert decided(capsys.readouterr().out)["decision"] == "all shown"
    assert main(["sequential", "log.nc", "--look", "lot", "--looks", "2"]) == 2
    said = "--look lot is no coordinate of log.nc. Say how many runs: --batch-size 5"
    assert capsys.readouterr().err.startswith(f"python -m xcurves: {said}")


def test_a_missing_column_of_batches_is_the_error_before_that_of_scores(here, capsys):
    write_log("log.csv", 2)
    frame = pd.read_csv("log.csv").assign(loss=0.5)
    frame.to_csv("log.csv", index=False)
    names = ["--algorithm", "agent", "--run", "seed", "--training", "step"]
    assert main(["sequential", "log.csv", *names, "--look", "btach", "--looks", "3"]) == 2
    assert capsys.readouterr().err.endswith("Did you mean 'batch'?\n")


def test_batches_are_those_of_the_selected_algorithms(here, capsys):
    write_log("log.csv", 2)
    frame = pd.read_csv("log.csv")
    frame.loc[frame.agent == "ddpg", "batch"] = 7
    frame.to_csv("log.csv", index=False)
    chosen = ["--select", "agent=sac", "--select", "agent=td3"]
    status, out, err = look(capsys, "--look", "batch", "--looks", "3", *chosen)
    assert (status in (0, 3), err) == (True, "")
    assert "after look 2 of 3 (10 runs each)" in out.splitlines()[0]


@pytest.mark.plain(1)
@pytest.mark.parametrize(("name", "sign"), [("score", 1), ("loss", -1)])
def test_failed_runs_count_as_what_is_asked_for(name, sign, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "algorithm": np.repeat(["a", "b"], 8),
            "run": [*range(8)] * 2,
            "batch": [1, 1, 1, 1, 2, 2, 2, 2] * 2,
        }
    )
    frame[name] = sign * (rng.normal(size=16) + 3 * (frame["algorithm"] == "b"))
    frame.loc[2, name] = -sign * np.inf
    frame.to_csv("log.csv", index=False)
    options = ["sequential", "log.csv", "--look", "batch", "--looks", "2"]
    assert main(options) == 2
    command = shlex.split(capsys.readouterr().err.partition("Type: ")[2])
    assert main(command[3:]) == 0
    out = capsys.readouterr().out
    assert "1 of 16 runs failed and counts as the worst score of its task." in out
    assert f"It is shown to be {'higher' if sign > 0 else 'lower'} than a, by " in out
