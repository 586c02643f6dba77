"""Commands that messages propose replace options that do not work, and work."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from xcurves.__main__ import main

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def logs(here, tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("logs")
    monkeypatch.chdir(home)
    rng = np.random.default_rng(0)
    for agent, gain in (("sac", 9), ("td3", 5)):
        for seed in range(5):
            folder = home / "logs" / agent / str(seed)
            folder.mkdir(parents=True)
            steps = [step + seed * 7 * (agent == "td3") for step in (0, 1000, 2000, 3000)]
            rows = [json.dumps({"step": step, "return": gain * step / 1000 + rng.normal()}) for step in steps]
            (folder / "metrics.jsonl").write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize(
    ("options", "cured"),
    [
        ([], ["--align", "budget:4"]),
        (["--align", "final"], ["--align", "budget:1"]),
        (["--align", "intersection"], ["--align", "budget:4"]),
        (
            ["--align", "--n-resamples", "99"],
            ["--n-resamples", "99", "--align", "budget:4"],
        ),
        (["--folders", "algorithm"], ["--names", "{algorithm}/{run}/metrics.jsonl"]),
        (
            ["--folders", "a", "b", "c", "--rng", "1"],
            ["--rng", "1", "--names", "{algorithm}/{run}/metrics.jsonl"],
        ),
    ],
)
def test_the_command_replaces_what_did_not_work(options, cured, logs, capsys):
    assert main(["logs", *options]) == 2
    command = shlex.split(capsys.readouterr().err.partition("Type: ")[2])
    assert command == ["python", "-m", "xcurves", "logs", *cured]
    if "--names" in cured:  # whose levels no two runs share
        assert main(command[3:]) == 2
        command = shlex.split(capsys.readouterr().err.partition("Type: ")[2])
    assert main(command[3:]) == 0
    assert "sac over td3" in capsys.readouterr().out


def test_rows_without_a_score_are_said_and_count_as_failed_where_asked(capsys):
    frame = pd.DataFrame(
        {
            "algorithm": ["x"] * 8 + ["y"] * 8,
            "seed": [*range(8)] * 2,
            "score": np.arange(16.0),
        }
    )
    frame.loc[2, "score"] = np.nan
    frame.to_csv("gap.csv", index=False)
    assert main(["gap.csv"]) == 0
    said = capsys.readouterr()
    assert "1 row has no score and counts as no run. If such runs failed: --missing-scores failed" in said.err
    assert main(["gap.csv", "--missing-scores", "failed"]) == 2
    command = shlex.split(capsys.readouterr().err.partition("Type: ")[2])
    assert command[3:] == [
        "gap.csv",
        "--missing-scores",
        "failed",
        "--fill-failed",
        "worst",
    ]
    assert main(command[3:]) == 0
    said = capsys.readouterr()
    assert (
        said.err,
        "1 of 16 runs failed and counts as the worst score of its task." in said.out,
    ) == ("", True)
    frame.rename(columns={"score": "loss"}).to_csv("gap.csv", index=False)
    assert main(["gap.csv", "--missing-scores", "failed", "--fill-failed", "99"]) == 0
    assert "1 of 16 runs failed and counts as a score of 99." in capsys.readouterr().out


def test_a_gate_takes_rows_without_a_score_as_failed_where_asked(capsys):
    pd.DataFrame({"candidate": ["main"] * 4 + ["new"], "score": [1.0, 2.0, 3.0, 4.0, None]}).to_csv(
        "g.csv", index=False
    )
    assert main(["gate", "g.csv", "--baseline", "main"]) == 2
    assert "say --missing-scores failed" in capsys.readouterr().err
    assert main(["gate", "g.csv", "--baseline", "main", "--missing-scores", "failed"]) == 1
    assert "Drop new: its run failed." in capsys.readouterr().out
