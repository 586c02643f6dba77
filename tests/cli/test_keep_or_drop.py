"""The loop and the job of the page on keeping or dropping candidates, as a person runs them."""

import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest

import xcurves  # noqa: F401  # registers .curves
from places import ROOT

PAGE = (ROOT / "docs" / "howto" / "keep-or-drop.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the loop is for a POSIX shell")


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]


@pytest.fixture
def shell(tmp_path):
    """Return a function that runs a script beside train.py, with this Python as `python`."""
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (tmp_path / "train.py").write_text(block("python"))

    def run(script, *command):
        (tmp_path / "script.sh").write_text(script)
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"PATH": path}
        return subprocess.run(
            [*command, "script.sh"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return run


@pytest.mark.slow
def test_the_loop_decides_about_every_change_with_the_runs_that_it_needs(shell, tmp_path):
    assert len(block("sh").splitlines()) <= 12
    done = shell(block("sh"), "sh")
    assert done.stderr == ""
    said = json.loads((tmp_path / "gate.json").read_text())["next"]
    assert [each["candidate"] for each in said["candidates"]] == [
        "no-warmup",
        "lr-3e-4",
        "wider",
    ]
    assert all(each["decision"] in ("kept", "dropped") for each in said["candidates"])
    assert said["candidates"][1]["decision"] == "kept"
    log = pd.read_csv(tmp_path / "runs.csv")
    made = log.groupby("candidate").size()
    for each in said["candidates"]:
        assert made[each["candidate"]] == each["n_runs"]
    assert made["main"] == max(each["n_runs_champion"] for each in said["candidates"] if each["champion"] == "main")
    scores = log.assign(run=log.groupby("candidate").cumcount()).curves.to_dataarray(
        "score", algorithm="candidate", run="run", training=None
    )
    order = list(dict.fromkeys(log["candidate"]))
    found = scores.sel(algorithm=order).curves.gate(baseline="main")
    assert found.attrs["champion"] == said["champion"]
    before = (tmp_path / "gate.json").read_text()
    # Once more, with everything decided, the loop goes through the same runs and makes one more of each candidate.
    assert (
        shell(
            "python -m xcurves gate runs.csv --baseline main --ledger gate.json --json",
            "sh",
        ).stdout
        == before
    )


def job():
    """Return the last script of the job."""
    (script,) = re.findall(r"^      - run: \|\n(.*)", block("yaml"), re.DOTALL | re.MULTILINE)
    return "\n".join(line.removeprefix(" " * 10) for line in script.splitlines())


def test_the_job_is_yaml_with_the_script_that_is_tested():
    yaml = pytest.importorskip("yaml")
    (made,) = yaml.safe_load(block("yaml"))["jobs"].values()
    assert made["steps"][-1]["run"].rstrip() == job().rstrip()


@pytest.mark.slow  # each starts Python for every run of its training
@pytest.mark.parametrize(("gain", "status", "decision"), [("2.0", 0, "kept"), ("-4.0", 1, "dropped")])
def test_the_job_fails_where_the_change_is_dropped(shell, tmp_path, gain, status, decision):
    train = tmp_path / "train.py"
    train.write_text(train.read_text().replace('"pull-request": 2.0', f'"pull-request": {gain}'))
    # as GitHub runs it
    done = shell(job(), "bash", "--noprofile", "--norc", "-eo", "pipefail")
    assert done.returncode == status, done.stderr
    assert json.loads((tmp_path / "gate.json").read_text())["next"]["decision"] == decision
