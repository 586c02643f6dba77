"""Commands that messages propose replace options that do not work, and work."""

import json
import shlex
import shutil
from pathlib import Path

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


@pytest.mark.plain(1)
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_episodes_are_told_the_options_that_average_them_and_these_work(capsys):
    rng = np.random.default_rng(0)
    rows = [
        {"algorithm": name, "seed": seed, "rollout": 4 * seed + n, "step": step, "score": gain + rng.normal()}
        for name, gain in (("sac", 9), ("td3", 0))
        for seed in range(4)
        for n in range(4)
        for step in (0, 1)
    ]
    pd.DataFrame(rows).to_csv("episodes.csv", index=False)
    assert main(["episodes.csv", "--run", "rollout"]) == 0
    said = capsys.readouterr().err
    assert "--run seed, and average them, --duplicates mean or --align START:STOP:STEP --method mean" in said
    assert main(["episodes.csv", "--run", "seed", "--duplicates", "mean"]) == 0
    assert "sac over td3" in capsys.readouterr().out


@pytest.mark.slow
def test_two_logs_in_one_file_are_told_the_option_that_keeps_the_last_and_it_works(capsys):
    for name, gain in (("sac", 9), ("td3", 5)):
        for seed in range(4):
            log = [f"step {step}: return {gain * step + seed / 10}" for step in (1, 2, 3)]
            path = Path("logs", name, str(seed), "train.log")
            path.parent.mkdir(parents=True)
            path.write_text("\n".join([*log, *log, ""]))
    main(["logs"])
    assert "two logs in one file. Make a file of each, or keep the last row of each step: --duplicates last" in (
        capsys.readouterr().err
    )
    assert main(["logs", "--duplicates", "last"]) == 0
    assert "sac over td3" in capsys.readouterr().out


def test_a_law_of_runs_that_failed_says_in_the_shell_what_a_shell_can_do(capsys):
    sizes = [1e6, 3e6, 1e7, 3e7, 1e8, 3e8]
    rows = [
        {"N": n, "D": d, "loss": 1.7 + 400 / n**0.34 + 400 / d**0.28} for n in sizes for d in (1e8, 1e9, 1e10, 1e11)
    ]
    rows[0]["loss"] = np.inf
    pd.DataFrame(rows).to_csv("law.csv", index=False)
    main(["law.csv"])
    said = capsys.readouterr()
    assert "delete the rows of those that did" in said.err + said.out
    assert "np.isfinite" not in said.err + said.out
    pd.DataFrame(rows[1:]).to_csv("law.csv", index=False)
    assert main(["law.csv"]) == 0


@pytest.mark.slow
def test_evaluations_without_samples_are_told_the_source_that_has_all_and_it_works(capsys):
    shutil.copytree(Path(__file__).parents[1] / "readers" / "logs" / "lm_eval", "logs")
    for file in sorted(Path("logs").rglob("samples_*"))[:2]:
        file.unlink()
    main(["logs", "--n-resamples", "20"])
    assert "have no samples and are left out" in (said := capsys.readouterr().err)
    assert "The results of all: --source lm-eval\n" in said
    assert main(["logs", "--source", "lm-eval", "--n-resamples", "20"]) == 0
