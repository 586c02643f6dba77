"""The subcommand `gate`, as a script runs it."""

import json
import os
import re
import shlex
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import xcurves
from places import ROOT
from xcurves.__main__ import main

pytestmark = pytest.mark.usefixtures("here")
MAIN = [10.3, 9.1, 10.9, 9.8, 10.2, 9.5, 10.6, 9.9, 10.1, 9.7]


def write_log(*candidates, name="runs.csv", **columns):
    """Write a log of main and of candidates, pairs of a name and scores, in this order."""
    rows = [(who, score) for who, scores in [("main", MAIN), *candidates] for score in scores]
    frame = pd.DataFrame(rows, columns=["candidate", "score"]).rename(columns=columns)
    frame.to_csv(name, index=False)


def gate(capsys, *options):
    status = main(["gate", "runs.csv", "--baseline", "main", *options])
    out, err = capsys.readouterr()
    return status, out, err


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def decided(text):
    """Return what is next of an answer, beside its verdict and ledger."""
    answer = strict(text)
    made = answer["reading"]["made"]
    return answer["next"] | {name: answer[name] for name in ("verdict", "ledger")} | {"read_as": "; ".join(made)}


BETTER = [12.0, 11.4, 12.9, 11.8, 12.2, 11.5, 12.6, 11.9, 12.1, 11.7]


@pytest.mark.plain(3)
@pytest.mark.parametrize(
    ("scores", "status", "said"),
    [
        (BETTER, 0, "Keep new: better than main by 2.00 ("),
        ([8.0], 1, "Drop new: after 1 run its mean is below main's."),
        (["-inf"], 1, "Drop new: its run failed."),
        (BETTER[:3], 3, "Run new 1 more time, main no more."),
        (BETTER[:4], 3, "Run new 4 more times, main no more."),
    ],
)
def test_the_decision_is_the_status(scores, status, said, capsys):
    write_log(("new", scores))
    found, out, err = gate(capsys)
    assert (found, err) == (status, "")
    assert out.startswith(f"read as algorithm = candidate, run = run, no training, score = score\n\n{said}")


@pytest.mark.slow
def test_a_script_gets_the_decision_as_its_status(capsys):
    write_log(("new", BETTER[:3]))
    _, out, _ = gate(capsys)
    command = [sys.executable, "-m", "xcurves", "gate", "runs.csv"]
    done = subprocess.run([*command, "--baseline", "main"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, out, "")


@pytest.mark.slow
def test_numbers_are_those_of_the_function(here, capsys):
    write_log(("worse", [9.0]), ("new", BETTER))
    status, out, _ = gate(capsys, "--json")
    said = decided(out)
    assert (status, said["decision"], said["candidate"], said["champion"]) == (
        0,
        "kept",
        "new",
        "new",
    )
    runs = {"main": MAIN, "worse": [9.0, *[np.nan] * 9], "new": BETTER}
    scores = (
        pd.DataFrame(runs)
        .rename_axis(index="run", columns="algorithm")
        .unstack()
        .to_xarray()
        .sel(algorithm=list(runs))
        .rename("score")
    )
    found = scores.curves.gate(baseline="main")
    assert [each["candidate"] for each in said["candidates"]] == ["worse", "new"]
    assert said["candidates"][0]["difference_ci"] == [None, None]
    assert said["candidates"][1]["pvalue"] == found["pvalue"].values[1]
    assert said["candidates"][1]["difference_ci"] == found["difference_ci"].values[1].tolist()
    assert (said["progress"], said["progress_ci"]) == (
        found["progress"].item(),
        found["progress_ci"].values.tolist(),
    )
    assert said["runs"] == {}
    assert found.curves.summary().startswith(said["verdict"])
    (here / "gate.json").write_text(out)
    assert found.identical(scores.curves.gate(baseline="main", previous="gate.json"))


@pytest.mark.slow
def test_the_open_candidate_is_the_one_that_is_answered(capsys):
    write_log(("a", BETTER[:2]), ("b", [11.0]), ("c", [9.0]))
    status, out, _ = gate(capsys, "--json")
    said = decided(out)
    assert (status, said["candidate"], said["runs"]) == (3, "a", {"a": 2})
    assert [each["decision"] for each in said["candidates"]] == [
        "run_more",
        "waiting",
        "waiting",
    ]
    status, out, _ = gate(capsys, "--json", "--candidate", "c", "--candidate", "a")
    assert (status, [each["candidate"] for each in decided(out)["candidates"]]) == (
        3,
        ["c", "a"],
    )
    status, out, _ = gate(capsys, "--json", "--candidate", "c")
    assert (status, decided(out)["decision"]) == (1, "dropped")
    status, out, _ = gate(capsys, "--json", "--candidate", "new")
    assert (status, decided(out)["runs"]) == (3, {"new": 1})


@pytest.mark.slow
def test_the_ledger_is_read_checked_and_replaced_whole(here, capsys):
    path = here / "gate.json"
    write_log(("new", BETTER[:1]))
    status, out, _ = gate(capsys, "--ledger", "gate.json", "--json")
    assert status == 3
    assert path.read_text() == out
    # what is left of a longer file would be no JSON
    path.write_text(out + " " * 10_000)
    write_log(("new", BETTER[:2]))
    status, out, _ = gate(capsys, "--ledger", "gate.json", "--json")
    assert (status, path.read_text()) == (3, out)
    assert not list(here.glob(".*.part"))
    before = path.read_text()
    for scores, options, message in (
        (
            [11.9, 11.4],
            (),
            "row 11 of runs.csv (new, score 11.9) differs from what it was at the earlier call, which a later one",
        ),
        (
            BETTER[:1],
            (),
            "run 2 of algorithm 'new' is gone, and was there at the earlier call, which a later one must repeat",
        ),
        (
            BETTER[:2],
            ("--level", "0.1"),
            "--level must stay as it was at the earlier call, 0.2; got 0.1",
        ),
        (BETTER[:2], ("--looks", "1,2,3"), "--looks must stay as it was"),
    ):
        write_log(("new", scores))
        status, out, err = gate(capsys, "--ledger", "gate.json", *options)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert message in err
        assert path.read_text() == before
    write_log(("new", BETTER))
    assert gate(capsys, "--ledger", "gate.json")[0] == 0


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[" * 200_000, '{"ledger": {"plan": null, "n_done": 1, "digests": {}}}'],
)
def test_a_file_that_is_no_ledger_is_not_replaced(here, capsys, text):
    write_log(("new", BETTER))
    (here / "gate.json").write_text(text)
    status, out, err = gate(capsys, "--ledger", "gate.json")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "cannot be read as the JSON of an earlier look" in err
    assert (here / "gate.json").read_text() == text


@pytest.mark.slow
def test_names_are_recognised_and_low_losses_are_better(capsys):
    rng = np.random.default_rng(0)
    rows = [
        (agent, f"{agent}-{seed}", step, shift + rng.normal() + 1 / step)
        for agent, shift in (("main", 0.0), ("new", -4.0))
        for seed in range(9, -1, -1)
        for step in (1, 2)
    ]
    pd.DataFrame(rows, columns=["agent", "run_id", "step", "val_loss"]).to_csv("runs.csv", index=False)
    status, out, err = gate(capsys)
    assert (status, err) == (0, "")
    said, decision = out.split("\n\n")[:2]
    assert said == (
        "read as algorithm = agent, run = run_id, training = step, score = val_loss, "
        "lower is better, as the name val_loss says (else: --higher-is-better)"
    )
    assert decision.startswith("Keep new")
    status, out, _ = gate(capsys, "--higher-is-better")
    assert status == 1
    assert "lower is better" not in out.split("\n")[0]


@pytest.mark.slow
def test_runs_count_in_the_order_of_the_log(capsys):
    frame = pd.DataFrame(
        {
            "agent": ["main"] * 4 + ["new"] * 2,
            "seed": [3, 2, 1, 0, 7, 5],
            "score": [1, 2, 3, 4, 0.5, 9],
        }
    )
    frame.to_csv("runs.csv", index=False)
    status, out, _ = gate(capsys, "--json")
    assert (status, decided(out)["candidates"][0]["difference"]) == (1, 0.5 - 2.5)
    frame.iloc[[0, 1, 2, 3, 5, 4]].to_csv("runs.csv", index=False)
    assert gate(capsys)[0] == 3


def test_tasks_are_averaged_where_they_are_named(capsys):
    rows = [
        (task, who, run, score + shift)
        for who, scores in (("main", MAIN), ("new", BETTER))
        for run, score in enumerate(scores)
        for task, shift in (("x", 0), ("y", 5))
    ]
    pd.DataFrame(rows, columns=["env", "agent", "seed", "score"]).to_csv("runs.csv", index=False)
    status, _, err = gate(capsys)
    assert status == 2
    typed = "python -m xcurves gate runs.csv --baseline main --task env"
    assert err.endswith(f"runs.csv has tasks, over which a run is averaged if they are named. Type: {typed}\n")
    status, out, _ = gate(capsys, "--task", "env", "--json")
    assert status == 0
    assert decided(out)["candidates"][0]["difference"] == pytest.approx(np.mean(BETTER[:8]) - np.mean(MAIN[:8]))


def test_an_archive_of_scores_is_read(capsys):
    write_log(("new", BETTER))
    frame = pd.read_csv("runs.csv").assign(run=[*range(10)] * 2)
    frame.set_index(["candidate", "run"])["score"].to_xarray().rename(candidate="algorithm").to_netcdf("runs.nc")
    assert main(["gate", "runs.nc", "--baseline", "main"]) == 0
    assert capsys.readouterr().out.startswith("read from runs.nc\n\nKeep new")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--looks", "1,x"],
            "--looks must be numbers of runs; got '1,x'. Such as 1,2,4,8",
        ),
        (["--looks", "2,1"], "looks must be ascending"),
        (["--level", "1.5"], "--level must lie between 0 and 1; got 1.5"),
        (["--candidate", "main"], "candidates name the baseline 'main'"),
        (
            ["--value", "socre"],
            "--value socre is no column of runs.csv. It has 'candidate', 'score'. Did you mean 'score'?",
        ),
        (
            ["--baseline", "man"],
            "--baseline must be an algorithm of scores; got 'man'. They have 'main', 'new'",
        ),
    ],
)
def test_bad_input_is_one_line_and_two(capsys, options, message):
    write_log(("new", BETTER))
    status, out, err = gate(capsys, *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.slow
def test_a_champion_that_failed_is_refused_in_words_of_the_shell(capsys):
    write_log(("new", [12.0]), name="whole.csv")
    frame = pd.read_csv("whole.csv")
    frame.loc[2, "score"] = -np.inf
    frame.to_csv("runs.csv", index=False)
    status, _, err = gate(capsys)
    assert status == 2
    command = "python -m xcurves gate runs.csv --baseline main --fill-failed worst"
    refused = "row 3 of runs.csv (main, score -inf) failed; a champion needs a mean. Say what failed runs count as: "
    assert err == f"python -m xcurves: {refused}--fill-failed worst. Type: {command}\n"
    status, out, _ = gate(capsys, "--fill-failed", "worst")
    assert status in (0, 1, 3)
    assert "1 of 11 runs failed and counts as the worst score of its task." in out


def test_a_row_without_a_score_is_no_run_and_no_failure(capsys):
    write_log(("new", [12.0, None]))
    status, out, err = gate(capsys)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "row 12 of runs.csv, of new, has no score. Give a failed run -inf" in err


def test_without_a_log_or_a_column_of_candidates_it_says_what_is_missing(capsys):
    assert main(["gate", "--baseline", "main"]) == 2
    assert "PATH is missing. Name the log" in capsys.readouterr().err
    pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 3.0]}).to_csv("runs.csv", index=False)
    assert gate(capsys)[0] == 2


@pytest.mark.parametrize("options", [(), ("--traceback",)])
def test_an_unexpected_error_is_no_decision(capsys, monkeypatch, options):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    write_log(("new", BETTER))
    monkeypatch.setattr(xcurves, "gate", broken)
    status, _, err = gate(capsys, *options)
    assert status == 4
    assert "ZeroDivisionError: a bug" in err


@pytest.mark.slow
def test_the_documented_keys_are_those_of_the_json(capsys):
    write_log(("new", BETTER))
    said = decided(gate(capsys, "--json")[1])
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = page.partition("## Keep or drop")[2].partition("\n## ")[0]
    keys = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert keys == list(strict(gate(capsys, "--json")[1])["next"])
    (of_candidate,) = re.findall(r"^\| `candidates` \|.*", section, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", of_candidate)) == {
        "candidates",
        *said["candidates"][0],
    }


@pytest.mark.slow
def test_failed_runs_count_as_a_number_that_later_runs_do_not_change(capsys):
    write_log(("new", [12.0]), name="whole.csv")
    frame = pd.read_csv("whole.csv")
    frame.loc[2, "score"] = -np.inf
    frame.to_csv("runs.csv", index=False)
    ledger = ("--ledger", "gate.json")
    status, _, err = gate(capsys, *ledger)
    assert status == 2
    assert err.endswith("Say what failed runs count as: --fill-failed SCORE, a number that no later run changes\n")
    status, _, err = gate(capsys, *ledger, "--fill-failed", "worst")
    assert status == 2
    assert "every look must repeat the scores of earlier ones. Give a number: --fill-failed 9.1" in err
    first = gate(capsys, *ledger, "--fill-failed", "9.1")
    assert "1 of 11 runs failed and counts as a score of 9.1." in first[1]
    pd.concat([frame, frame.tail(1).assign(score=3.0)]).to_csv("runs.csv", index=False)
    status, out, err = gate(capsys, *ledger, "--fill-failed", "9.1")
    assert (status in (0, 1, 3), err) == (True, "")
    assert "1 of 12 runs failed and counts as a score of 9.1." in out


@pytest.mark.slow
def test_a_ledger_that_is_no_file_or_has_no_end_is_refused_without_reading_it(here, capsys):
    write_log(("new", BETTER))
    (here / "large.json").touch()
    os.truncate(here / "large.json", 3 * 10**9)
    refused = {"large.json": "it has more than 100 MB"}
    if sys.platform != "win32":
        os.mkfifo(here / "pipe")
        refused |= dict.fromkeys(("pipe", "/dev/full"), "it is a device, a pipe or a")
    for path, why in refused.items():
        tracemalloc.start()
        status, out, err = gate(capsys, "--ledger", path)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert f"--ledger '{path}' cannot be read as the JSON of an earlier" in err
        assert why in err
        assert most < 50e6
        status, out, err = sequential(capsys, "--ledger", path)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert f"--ledger '{path}' cannot be read as the JSON of an earlier" in err
        assert why in err


def sequential(capsys, *options):
    command = ["sequential", "runs.csv", "--looks", "2", "--batch-size", "5", *options]
    status = main(command)
    out, err = capsys.readouterr()
    return status, out, err


def test_a_score_of_zero_is_a_run_that_no_later_call_may_change(here, capsys):
    zeros = [0.0, 0.5, -0.5, 0.25]
    frame = pd.DataFrame({"candidate": ["main"] * 4 + ["new"], "score": [*zeros, 0.0]})
    frame.to_csv("runs.csv", index=False)
    status, *_ = gate(capsys, "--ledger", "gate.json")
    assert status == 1
    better = frame.copy()
    better.loc[4, "score"] = 9.0
    better.to_csv("runs.csv", index=False)
    status, out, err = gate(capsys, "--ledger", "gate.json")
    assert (status, out) == (2, "")
    assert "row 5 of runs.csv (new, score 9) differs from what it was" in err


@pytest.mark.slow
def test_the_plan_has_refresh_and_a_ledger_without_it_is_zero(here, capsys):
    write_log(("new", [8.0]), ("other", [8.5]))
    status, *_ = gate(capsys, "--ledger", "gate.json", "--refresh", "0")
    assert status == 1
    said = json.loads((here / "gate.json").read_text())
    for name in ("refresh", "share_failed"):
        del said["ledger"]["plan"][name]
    (here / "gate.json").write_text(json.dumps(said))
    status, _, err = gate(capsys, "--ledger", "gate.json")
    assert status == 2
    assert "--refresh must stay as it was at the earlier call, 0; got 2" in err
    assert gate(capsys, "--ledger", "gate.json", "--refresh", "0")[0] == 1
    status, _, err = gate(capsys, "--ledger", "gate.json", "--refresh", "0", "--share-failed", "0.1")
    assert status == 2
    assert "--share-failed must stay as it was at the earlier call, 0.0" in err


@pytest.mark.slow
def test_the_champion_is_run_again_for_every_second_candidate(capsys):
    rows = [("main", score) for score in MAIN[:4]] + [("a", 8.0), ("b", 8.5)]
    pd.DataFrame(rows, columns=["candidate", "score"]).to_csv("runs.csv", index=False)
    status, out, _ = gate(capsys, "--json")
    assert (status, decided(out)["runs"]) == (3, {"main": 1})
    rows.append(("main", "-inf"))
    pd.DataFrame(rows, columns=["candidate", "score"]).to_csv("runs.csv", index=False)
    status, out, _ = gate(capsys, "--json")
    said = decided(out)
    assert (status, said["runs"]) == (3, {"main": 1})
    assert [each["n_failed"] for each in said["candidates"]] == [0, 1]
    assert "1 run of main failed where it was run again" in " ".join(said["details"])
    rows.append(("main", MAIN[4]))
    pd.DataFrame(rows, columns=["candidate", "score"]).to_csv("runs.csv", index=False)
    status, out, _ = gate(capsys, "--json")
    assert status == 1
    assert [each["n_runs_champion"] for each in decided(out)["candidates"]] == [4, 5]


@pytest.mark.slow
def test_a_score_that_is_logged_eight_times_is_named_by_its_rows(capsys):
    write_log(("new", [12.3] * 8))
    status, _, err = gate(capsys)
    assert status == 0
    assert err.endswith(
        "warning: rows 11 and 12 of runs.csv (new, score 12.3) have the same score, and 7 of its 8 runs repeat one. "
        "Were data copied?\n"
    )
    write_log(("new", BETTER[:8]))
    assert gate(capsys)[2] == ""


def dates(n):
    return [f"2026-01-{day:02d}T00:00" for day in range(1, n + 1)]


@pytest.mark.plain(1)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    ("column", "made"),
    [
        ("created_at", dates),
        ("finished_at", dates),
        ("time", lambda n: [1.7e9 + 60 * k for k in range(n)]),
    ],
)
def test_a_log_with_the_newest_rows_first_is_sorted(capsys, grouped, column, made):
    write_log(("new", [12.0, 8.0, 8.5, 8.2]))
    frame = pd.read_csv("runs.csv")
    frame[column] = made(len(frame))
    frame.to_csv("runs.csv", index=False)
    expected = gate(capsys, "--json")
    newest = frame[::-1]
    if grouped:
        newest = newest.sort_values("candidate", kind="stable")
    newest.to_csv("runs.csv", index=False)
    status, out, _ = gate(capsys, "--json")
    assert status == expected[0] == 1
    said, before = decided(out), decided(expected[1])
    assert said["candidates"] == before["candidates"]
    assert said["ledger"] == before["ledger"]
    sorted_by = f"; sorted by {column}, as the newest rows come first"
    assert said["read_as"] == before["read_as"] + sorted_by


@pytest.mark.slow
def test_durations_and_rows_in_any_other_order_are_not_sorted(capsys):
    write_log(("new", [12.0, 8.0, 8.5, 8.2]))
    frame = pd.read_csv("runs.csv")
    durations = np.random.default_rng(0).uniform(60, 70, len(frame))
    frame.assign(time=durations).to_csv("runs.csv", index=False)
    said = decided(gate(capsys, "--json")[1])
    assert "sorted" not in said["read_as"]
    assert said["candidates"][0]["n_runs"] == 2


def test_rows_keep_their_numbers_where_they_are_sorted_or_selected(capsys):
    write_log(("new", [12.0, 8.0, 8.5, "-inf"]))
    frame = pd.read_csv("runs.csv").assign(created=dates(14), kind="x")
    frame.loc[12, "score"] = np.nan
    other = frame.assign(kind="y")
    pd.concat([other, frame])[::-1].to_csv("runs.csv", index=False)
    status, _, err = gate(capsys, "--select", "kind=x")
    assert status == 2
    assert "row 2 of runs.csv, of new, has no score" in err


def test_rows_of_one_run_are_refused_by_row_and_score_with_a_cure_that_works(capsys):
    rows = [("main", seed, score) for seed, score in enumerate(MAIN)]
    rows += [("new", 7, 12.0), ("new", 7, 8.0)]
    frame = pd.DataFrame(rows, columns=["candidate", "seed", "score"])
    frame.to_csv("runs.csv", index=False)
    status, _, err = gate(capsys)
    assert status == 2
    assert "rows 11 and 12 of runs.csv are both of candidate new, seed 7, with the scores 12 and 8." in err
    assert "_run" not in err
    command = err.rstrip().partition("Type: python -m xcurves ")[2].split()
    assert main([*command, "--json"]) == 1
    said = decided(capsys.readouterr().out)
    assert said["candidates"][0]["difference"] == pytest.approx(8.0 - np.mean(MAIN[:4]))


@pytest.mark.slow
def test_a_run_without_levels_of_the_others_is_named_by_its_row(capsys):
    rows = [
        (who, seed, step, score + step / 10)
        for who, scores in (("main", MAIN[:4]), ("new", [8.0]))
        for seed, score in enumerate(scores)
        for step in (1, 2)
    ]
    frame = pd.DataFrame(rows, columns=["candidate", "seed", "step", "score"])
    frame.drop(3).to_csv("runs.csv", index=False)
    status, _, err = gate(capsys)
    assert status == 2
    assert "the run of main that begins in row 3 of runs.csv lacks 1 of 2 training" in err
    _, first, *_ = err.splitlines()
    assert main([*shlex.split(first, comments=True)[3:], "--json"]) == 1
    said = decided(capsys.readouterr().out)
    # The run that ended failed: at the last level it has the worst score there, 8.2.
    means = np.array(MAIN[:4]) + 0.15
    means[1] = (MAIN[1] + 0.1 + 8.2) / 2
    assert said["candidates"][0]["difference"] == pytest.approx(8.15 - means.mean())


def test_a_row_that_does_not_say_which_run_it_is_of_is_refused(capsys):
    rows = [("main", seed, score) for seed, score in enumerate(MAIN)]
    frame = pd.DataFrame([*rows, ("c1", np.nan, 12.0)], columns=["who", "seed", "score"])
    frame.to_csv("runs.csv", index=False)
    status, out, err = gate(capsys, "--algorithm", "who", "--run", "seed")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "row 11 of runs.csv has no seed. Write it, or leave the row out" in err
    frame.fillna({"seed": 0}).to_csv("runs.csv", index=False)
    assert gate(capsys, "--algorithm", "who", "--run", "seed")[0] == 3


@pytest.mark.slow
def test_rows_that_no_decision_uses_are_counted(capsys):
    write_log(("worse", [8.0, 12.0, 12.5]), ("new", BETTER))
    said = decided(gate(capsys, "--json")[1])
    assert "Runs that no decision used: 2 of worse." in " ".join(said["details"])
    # main was run again for its second candidate, within the 8 runs of the last look
    assert "Runs that only measure the progress: 2 of main and 2 of new." in " ".join(said["details"])
    write_log(("worse", [8.0]))
    said = decided(gate(capsys, "--json")[1])
    assert "Runs that no decision used: 6 of main." in " ".join(said["details"])


@pytest.mark.slow
def test_a_share_of_runs_may_fail(capsys):
    write_log(("new", [*BETTER[:3], "-inf", *BETTER[4:8]]))
    status, out, _ = gate(capsys)
    assert (status, "one of its 4 runs failed" in out) == (1, True)
    status, out, _ = gate(capsys, "--share-failed", "0.25")
    assert status in (0, 1)
    assert "Up to a share of 0.25 of the runs at a look may fail" in out
    status, _, err = gate(capsys, "--share-failed", "1.5")
    assert status == 2
    assert "--share-failed must lie between 0 and 1; got 1.5" in err
