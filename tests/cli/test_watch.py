"""The subcommand `watch`: folders that are written step by step, looks at the right moments, starts after kills."""

import json
import os
import re
import shutil
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import oracles_sequential
import xcurves  # noqa: F401  # registers .curves
from layers import slow
from places import ROOT
from strategies import make_curves
from xcurves.__main__ import main
from xcurves.cli import watch_looks
from xcurves.readers import logs

pytestmark = pytest.mark.usefixtures("here")
SCHEMA = json.loads((ROOT / "docs" / "answer.schema.json").read_text(encoding="utf-8"))
LONG_AGO = 1e9
STEPS = 4
COMMAND = ["watch", "runs", "--every", "60", "--looks", "2,4,6"]
OF_TASKS = ["--folders", "task", "algorithm", "run"]


def scores_of(algorithm, run, gap=0.0, task=""):
    seed = [ord(letter) for letter in f"{task}{algorithm}"] + [run]
    return (
        np.random.default_rng(seed).normal(size=STEPS).round(3) + gap * (algorithm == "sac") - 9 * (algorithm == "low")
    )


def write_run(algorithm, run, steps=STEPS, *, gap=0.0, task="", written=LONG_AGO):
    """Write the first steps of a run; it was written long ago, unless it is said."""
    folder = Path("runs", task, algorithm, str(run))
    folder.mkdir(parents=True, exist_ok=True)
    rows = pd.DataFrame({"step": range(1, steps + 1), "return": scores_of(algorithm, run, gap, task)[:steps]})
    part = folder / ".part"
    rows.to_csv(part, index=False)
    os.utime(part, (written, written))
    part.replace(folder / "progress.csv")


def write_pair(run, **how):
    for algorithm in ("sac", "td3"):
        write_run(algorithm, run, **how)


@pytest.fixture
def watching(monkeypatch, capsys):
    """Return a function that watches a folder to which each sleep adds the next step; it returns status and output."""

    def watch(*steps, command=COMMAND, more=()):
        left = list(steps)

        def sleep(_):
            if not left:
                raise KeyboardInterrupt
            left.pop(0)()

        monkeypatch.setattr(time, "sleep", sleep)
        Path("runs").mkdir(exist_ok=True)
        status = main([*command, *more])
        out, err = capsys.readouterr()
        return status, out, err

    return watch


def write_pairs(*runs, **how):
    for run in runs:
        write_pair(run, **how)


def pair_by_pair(n_runs, **how):
    return [lambda run=run: write_pair(run, **how) for run in range(n_runs)]


def look_by_look(*sizes, **how):
    """Return steps that each write the runs of a look at once."""
    return [lambda runs=range(*two): write_pairs(*runs, **how) for two in pairwise([0, *sizes])]


def kept_now():
    """Return what the ledger holds."""
    return json.loads(Path("xcurves-watch.json").read_text(encoding="utf-8"))


def lines_of(out):
    return [line[9:] for line in out.splitlines() if line[2:3] == ":"]


def q_by_oracle(sizes, gap, n_looks):
    """Return the p of each look by the definition."""
    numbers = {name: [scores_of(name, run, gap).mean() for run in range(sizes[-1])] for name in ("sac", "td3")}
    bounds = [0, *sizes]
    batches = [[tuple(numbers[name][first:last] for name in ("sac", "td3"))] for first, last in pairwise(bounds)]
    shares = [(k / n_looks) ** 2 for k in range(1, n_looks + 1)]
    return [min(look["q"][0], 1.0) for look in oracles_sequential.sequential(batches, shares, 0.05)]


@pytest.mark.slow
@pytest.mark.parametrize(("gap", "status"), [slow(0.0, 3), (4.0, 0)])
def test_looks_are_taken_when_every_algorithm_has_enough_runs(gap, status, watching):
    found, out, err = watching(*pair_by_pair(6, gap=gap), more=["--json"])
    answers = [json.loads(line) for line in out.splitlines()]
    assert found == status, err
    readings = [each["reading"] for each in answers if each["algorithms"]]
    assert all(reading == readings[0] and reading["run"] for reading in readings)
    n_done = [each["ledger"].get("n_done", 0) for each in answers if each["algorithms"]]
    n_runs = [each["next"]["runs"].get("sac", 0) for each in answers if each["algorithms"]]
    assert n_done == [0, 1, 1, 2, 2, 3] or n_done == [1, 1, 2, 2, 3]  # a single run of each may not be read yet
    assert n_runs[-5:] == [2, 1, 2, 1, 0]
    expected = q_by_oracle([2, 4, 6], gap, 3)
    p_of_look = {each["ledger"]["n_done"]: each["pairs"][0]["p"] for each in answers if each["pairs"]}
    assert [p_of_look[look] for look in (1, 2, 3)] == pytest.approx(expected)
    assert answers[-1]["pairs"][0]["shown"] == (expected[-1] <= 0.05) == (status == 0)


def test_numbers_are_those_of_sequential_called_by_hand(watching):
    watching(*look_by_look(2, 4, 6, gap=2.0))
    values = np.array([[scores_of(name, run, 2.0) for run in range(6)] for name in ("sac", "td3")])
    curves = make_curves(values).assign_coords(algorithm=["sac", "td3"], look=("run", [1, 1, 2, 2, 3, 3]))
    (pair,) = curves.curves.sequential(n_looks=3).curves.to_dict()["pairs"]
    kept = kept_now()
    assert kept["pairs"] == [pair]
    assert kept["algorithms"][0]["mean"] == pytest.approx(values[0].mean())


@pytest.mark.slow
def test_a_line_is_said_when_something_changed_and_ends_with_the_verdict(watching):
    nothing = lambda: None  # noqa: E731
    steps = [step for pair in pair_by_pair(6, gap=4.0) for step in (pair, nothing)]
    status, out, _ = watching(*steps)
    lines = lines_of(out)
    assert status == 0
    assert len(lines) == len(set(lines)) <= 7
    assert "no look yet, the next at 2 complete runs" in out or "nothing shown at look 1 of 3" in lines[1]
    assert lines[-1].startswith("sac leads, mean return ")
    assert lines[-1].endswith("shown at look 3 of 3: sac better than td3")
    assert "sac has the higher mean return after look 3 of 3 (6 runs each). It is shown to be higher than td3" in out


@pytest.mark.slow
def test_the_first_lines_say_where_runs_come_from_and_when_something_can_be_shown(watching):
    begin, *later = pair_by_pair(2)
    begin()
    _, out, _ = watching(*later)
    assert out.splitlines()[:4] == [
        "Source: CSV below runs",
        "Runs: levels of the path are algorithm, run",
        "read as algorithm = algorithm, run = run, training = step, score = return",
        "Of 2 algorithms none can be shown to be better before look 3, of 6 runs, whatever the scores",
    ]
    assert out.count("read as") == out.count("whatever the scores") == 1


def test_files_of_runs_in_folders_of_algorithms_are_levels_of_paths(watching):
    def files():
        for algorithm in ("sac", "td3"):
            write_run(algorithm, 0)
            Path("runs", algorithm, "0", "progress.csv").replace(Path("runs", algorithm, "0.csv"))
            Path("runs", algorithm, "0").rmdir()

    files()
    _, out, _ = watching()
    assert out.startswith("Source: CSV below runs\nRuns: levels of the path are algorithm, run\n")
    assert lines_of(out)[0].startswith("td3 leads, mean return ")
    assert "(1 run), sac " in lines_of(out)[0]


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("looks", "tasks"), [("2,4,6", [""]), slow("4,8", [""]), slow("2,4", ["", "hop"]), ("2,4", [""]), slow("1,5", [""])]
)
def test_what_no_look_can_show_is_what_the_clearest_runs_do_not_show(looks, tasks, watching):
    """The sentence is of the plan; which look first shows an enormous difference is found by looking."""
    sizes = [int(size) for size in looks.split(",")]

    def all_tasks(*runs):
        for task in tasks:
            write_pairs(*runs, gap=1e4, task=task and f"on_{task}")

    tasks = tasks if len(tasks) == 1 else ["walk", "hop"]
    steps = [lambda runs=range(*two): all_tasks(*runs) for two in pairwise([0, *sizes])]
    more = OF_TASKS if len(tasks) > 1 else ()
    _, out, _ = watching(*steps, command=[*COMMAND[:-1], looks], more=more)
    answers = [line for line in lines_of(out) if "shown at look" in line and "nothing shown" not in line]
    expected = "no look can show that one is better, whatever the scores: plan more runs with --looks"
    if answers:
        first = int(re.search(r"shown at look (\d)", answers[0])[1])
        expected = (
            f"none can be shown to be better before look {first}, of {sizes[first - 1]} runs, whatever the scores"
        )
    assert f"Of 2 algorithms {expected}\n" in out


def test_programs_are_told_which_looks_can_show_nothing(watching):
    _, out, _ = watching(lambda: write_pair(0), more=["--json"])
    answer = json.loads(out.splitlines()[-1])
    assert answer["cautions"] == [
        "Of 2 algorithms none can be shown to be better before look 3, of 6 runs, whatever the scores"
    ]


@pytest.mark.slow
def test_runs_that_go_on_are_named_and_not_compared(watching):
    def begin():
        write_pair(0)
        write_run("sac", 1)
        write_run("td3", 1, 2)

    status, out, _ = watching(begin, lambda: write_run("td3", 1, 3), lambda: write_run("td3", 1))
    assert status == 130
    lines = lines_of(out)
    assert "going on, not compared: td3 1 (step 2 of 4, not written for " in lines[1]
    assert "missing: td3 1" in lines[1]
    assert len(lines) == 3  # a step more is nothing new
    assert "nothing shown at look 1 of 3" in lines[2]
    assert "going on" not in lines[2]


@pytest.mark.slow
def test_a_run_at_its_end_is_complete_when_it_is_no_longer_written(watching):
    def all_at_once():
        for run in range(2):
            write_pair(run, steps=2, written=time.time())

    def go_on():
        for run in range(2):
            write_pair(run, steps=STEPS, written=LONG_AGO)

    _, out, _ = watching(all_at_once, go_on)
    lines = lines_of(out)
    assert lines[1].startswith("no algorithm has a complete run; no look yet")
    assert "at its end, just written" in lines[1]
    assert kept_now()["ledger"]["watch"]["levels"] == {"": 4.0}


@pytest.mark.slow
def test_the_level_of_the_first_look_stays(watching):
    def short():
        for run in range(2):
            write_pair(run, steps=2)

    def longer():
        for run in range(4):
            write_pair(run)

    watching(short, longer)
    kept = kept_now()
    assert kept["ledger"]["n_done"] == 2
    assert kept["ledger"]["watch"]["levels"] == {"": 2.0}
    means = [scores_of("sac", run)[:2].mean() for run in range(4)]
    assert {each["name"]: each["mean"] for each in kept["algorithms"]}["sac"] == pytest.approx(np.mean(means))


@pytest.mark.slow
def test_the_budget_completes_runs_that_go_on_beyond_it(watching):
    steps = pair_by_pair(2, written=time.time() + 1e6)
    watching(*steps, more=["--budget", "3"])
    kept = kept_now()
    means = [scores_of("sac", run)[:3].mean() for run in range(2)]
    assert {each["name"]: each["mean"] for each in kept["algorithms"]}["sac"] == pytest.approx(np.mean(means))
    status, _, err = watching(more=["--budget", "2"])
    assert status == 2
    assert "--budget" in err


@pytest.mark.slow
def test_of_equal_ones_none_leads(watching):
    def write():
        for run in range(2):
            write_run("sac", run)
            shutil.copytree(f"runs/sac/{run}", f"runs/td3/{run}")

    _, out, _ = watching(write)
    assert lines_of(out)[-1].startswith("sac and td3 have the same mean return, ")


@pytest.mark.slow
def test_an_algorithm_whose_pairs_are_decided_needs_no_more_runs(watching):
    def begin():
        for run in range(6):
            write_pair(run)
            write_run("low", run)

    def go_on():
        for run in range(6, 8):
            write_pair(run)

    command = ["watch", "runs", "--looks", "6,8", "--json"]
    status, out, _ = watching(begin, go_on, command=command)
    after_one, after_two = (json.loads(line) for line in out.splitlines()[-2:])
    assert {each["second"] for each in after_one["pairs"] if each["shown"]} == {"low"}
    assert after_one["next"]["runs"] == {"sac": 2, "td3": 2}
    assert status == 3
    assert after_two["ledger"]["n_done"] == 2
    assert {each["name"]: each["n_runs"] for each in after_two["algorithms"]} == {"sac": 8, "td3": 8, "low": 6}


@pytest.mark.slow
def test_runs_that_stand_before_the_longest_get_the_budget_that_completes_them(watching):
    def write():
        for run in range(2):
            write_run("sac", run, 4 - run)
            write_run("td3", run, 3)

    _, out, _ = watching(write)
    (budget,) = re.findall(r"if they are done, say where runs end: (--budget \d+)\)", out)
    _, out, _ = watching(more=budget.split())
    assert "nothing shown at look 1 of 3" in out
    assert "going on" not in out


@pytest.mark.slow
@pytest.mark.parametrize(("name", "status"), [("td3", 1), slow("sac", 0)])
def test_better_is_the_exit_status(name, status, watching):
    assert watching(*pair_by_pair(6, gap=4.0), more=["--better", name])[0] == status


def test_an_unknown_name_is_refused_before_the_first_look(watching):
    status, _, err = watching(*pair_by_pair(2), more=["--better", "tdd3"])
    assert status == 2
    assert "Did you mean 'td3'?" in err
    assert not Path("xcurves-watch.json").exists()


@pytest.mark.slow
def test_tasks_are_tested_together(watching):
    def both(run):
        for task in ("ant", "hopper"):
            write_pair(run, gap=1.0, task=task)

    watching(*[lambda run=run: both(run) for run in range(6)], more=OF_TASKS)
    kept = kept_now()
    values = np.array(
        [
            [[scores_of(name, run, 1.0, task) for run in range(6)] for name in ("sac", "td3")]
            for task in ("ant", "hopper")
        ]
    )
    curves = make_curves(values, task=["ant", "hopper"]).assign_coords(
        algorithm=["sac", "td3"], look=("run", [1, 1, 2, 2, 3, 3])
    )
    done = kept["ledger"]["n_done"]
    so_far = curves.isel(run=slice(2 * done))
    (pair,) = so_far.curves.sequential(n_looks=3, task="task").curves.to_dict()["pairs"]
    (found,) = kept["pairs"]
    assert found.pop("ci") == pytest.approx(pair.pop("ci"), rel=1e-12)
    assert found == pair


@pytest.mark.slow
def test_an_algorithm_that_comes_late_is_not_compared(watching):
    _, out, _ = watching(*look_by_look(2), lambda: write_run("new", 0))
    assert lines_of(out)[-1].endswith("not compared, as they came after the first look: new")


@pytest.mark.slow
def test_each_object_has_the_schema(watching):
    allowed = pytest.importorskip("jsonschema").Draft202012Validator(SCHEMA)
    _, out, _ = watching(*pair_by_pair(6, gap=4.0), more=["--json"])
    for line in out.splitlines():
        allowed.validate(json.loads(line))
    assert json.loads(line)["verdict"].startswith("sac has the higher mean return after look 3 of 3")
    assert json.loads(line) == kept_now() | {"next": json.loads(line)["next"]}


@pytest.mark.slow
def test_github_gets_the_last_answer(watching, monkeypatch, here):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    watching(*pair_by_pair(6, gap=4.0), more=["--github", "--json"])
    written = (here / "summary.md").read_text()
    assert written.startswith("**sac has the higher mean return after look 3 of 3")
    assert written.count("Exit status 0") == 1


def test_only_files_that_changed_are_read_again(watching, monkeypatch):
    read = []
    rows_of_run = logs.rows_of_run

    def noting(root, source, runs, number):
        read.append(runs.files[number][0].parent.name)
        return rows_of_run(root, source, runs, number)

    def begin():
        for run in range(3):
            write_run("sac", run)
        for run in range(3):
            write_run("td3", run, 1)

    def grow():
        read.clear()
        write_run("td3", 2, 2)

    monkeypatch.setattr(logs, "rows_of_run", noting)
    watching(begin, grow)
    assert read == ["2"]


@pytest.mark.slow
def test_one_file_of_all_runs_is_watched_too(watching):
    rows = [
        (name, run, step, value)
        for run in range(6)
        for name in ("sac", "td3")
        for step, value in enumerate(scores_of(name, run, 4.0), 1)
    ]
    frame = pd.DataFrame(rows, columns=["agent", "seed", "step", "return"])

    def grow(n_runs):
        frame[frame["seed"] < n_runs].to_csv("log.csv", index=False)
        os.utime("log.csv", (LONG_AGO, LONG_AGO + n_runs))

    grow(1)
    steps = [lambda n=n: grow(n) for n in (2, 4, 6)]
    status, _, err = watching(*steps, command=["watch", "log.csv", "--looks", "2,4,6"])
    assert status == 0, err
    kept = kept_now()
    assert kept["pairs"][0]["p"] == pytest.approx(q_by_oracle([2, 4, 6], 4.0, 3)[-1])


@pytest.mark.slow
def test_a_line_that_is_half_written_is_read_later(watching):
    def begin():
        write_pair(0)
        write_pair(1)
        with Path("runs/td3/1/progress.csv").open("a") as file:
            file.write("5")

    status, out, _ = watching(begin, lambda: write_run("td3", 1))
    assert status == 130
    assert "not read now: " in out
    assert "nothing shown at look 1 of 3" in lines_of(out)[-1]


def test_a_start_goes_on_where_it_was(watching):
    *before, last = look_by_look(2, 4, 6, gap=4.0)
    watching(*before)
    before = kept_now()
    assert before["ledger"]["n_done"] == 2
    status, out, _ = watching(last)
    assert status == 0
    assert "nothing shown at look 2 of 3" in lines_of(out)[0]
    assert watching()[0] == 0  # it is clear at once


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--looks", "2,4,8"], "--looks must stay as it was at the first look, 2,4,6; got '2,4,8'"),
        (["--final"], "training_weights must stay as it was"),
        (["--rng", "1"], "--rng must stay as it was"),
    ],
)
def test_another_plan_is_refused(more, message, watching):
    watching(*look_by_look(2))
    command = ["watch", "runs", *([] if "--looks" in more else ["--looks", "2,4,6"])]
    status, _, err = watching(command=command, more=more)
    assert status == 2
    assert message.partition(" ")[2] in err


@pytest.mark.slow
def test_a_run_that_was_compared_may_not_change(watching):
    watching(*look_by_look(2))
    write_run("td3", 1, gap=0.0)
    frame = pd.read_csv("runs/td3/1/progress.csv")
    frame.assign(**{"return": 0.0}).to_csv("runs/td3/1/progress.csv", index=False)
    status, _, err = watching()
    assert status == 2
    assert "run td3 1 differs from what it was at the earlier look 1" in err
    Path("runs/td3/1/progress.csv").unlink()
    status, _, err = watching()
    assert status == 2
    assert "run td3 1, which was compared, is gone" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--ledger", "runs/x.json"], "--ledger must not be in DIR"),
        (["--every", "0"], "--every must be above 0"),
        (["--looks", "4,2"], "--looks must be numbers of runs that rise"),
        (["--looks", "a"], "--looks must be numbers of runs"),
        (["--algorithm", "nobody"], "--algorithm nobody is no column"),
    ],
)
def test_what_cannot_be_is_refused_at_once(more, message, watching):
    write_pair(0)
    write_pair(1)
    command = ["watch", "runs"]
    status, _, err = watching(command=command, more=more)
    assert status == 2
    assert message in err


def test_the_ledger_of_another_command_is_refused(watching, here):
    rows = [(name, run, value, 1) for name in "ab" for run in range(4) for value in [float(run)]]
    pd.DataFrame(rows, columns=["agent", "seed", "score", "batch"]).to_csv("log.csv", index=False)
    main(["sequential", "log.csv", "--look", "batch", "--looks", "2", "--ledger", "other.json"])
    status, _, err = watching(more=["--ledger", "other.json"])
    assert status == 2
    assert "must be of watch, not of another command" in err
    status, _, err = watching(command=["watch", "nowhere"])
    assert (status, "does not exist" in err) == (2, True)


# kills

EVENTS = ("open", "os.rename", "os.remove", "os.scandir", "os.listdir", "os.walk")


def watch_in_child(kill_at):
    """Watch in a process that is killed at one of its events; return whether it was."""
    child = os.fork()
    if not child:
        seen = [0]

        def hook(event, _):
            if event in EVENTS:
                seen[0] += 1
                if seen[0] == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout = sys.__stdout__
        sys.addaudithook(hook)
        time.sleep = write_next_pair
        status = main(COMMAND)
        Path("events").write_text(str(seen[0]))
        os._exit(status)
    status = os.waitpid(child, 0)[1]
    return os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status)


def write_next_pair(_):
    """Write the next runs that are not there, as a process that was not killed goes on with."""
    for run in range(6):
        for algorithm in ("sac", "td3"):
            if not Path(f"runs/{algorithm}/{run}/progress.csv").exists():
                write_run(algorithm, run, gap=4.0)
                return
    raise AssertionError("it is clear by now")


@pytest.mark.slow
def test_a_watch_that_is_killed_goes_on_to_the_same_decision(here, tmp_path):
    Path("runs").mkdir()
    assert watch_in_child(None) == 0
    expected = kept_now()
    n_events = int(Path("events").read_text())
    moments = np.random.default_rng(0).integers(1, n_events + 1, size=10).tolist()
    for number, moment in enumerate(moments):
        Path(f"again{number}/runs").mkdir(parents=True)
        os.chdir(f"again{number}")
        killed = 0
        while watch_in_child(moment) is True:
            killed += 1
            if Path("xcurves-watch.json").exists():
                kept = watch_looks.ledger.read("xcurves-watch.json")  # whole
                assert kept.n_done in (1, 2, 3)
            moment = moment // 2 + 1 if killed < 4 else None
        assert killed
        assert kept_now() == expected
        os.chdir(here)
