"""The page for agents and the list of pages for language models: short, and each command of them runs."""

import json
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from places import ROOT
from xcurves.__main__ import main

PAGE = (ROOT / "docs" / "for-agents.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs" / "answer.schema.json").read_text(encoding="utf-8"))
COMMANDS = re.findall(r"^\| [^|]+ \| `xcurves ([^`]+)`", PAGE, re.MULTILINE)


def write_runs(*columns):
    """Write a table of two algorithms, with the batch of each run where it is asked for, and a folder of logs."""
    rng = np.random.default_rng(0)
    rows = [
        (name, seed, step, 1 + seed // 3, 5.0 * (name == "ours") + rng.normal())
        for seed in range(12)
        for name in ("main", "ours")
        for step in range(1, 5)
    ]
    frame = pd.DataFrame(rows, columns=["agent", "seed", "step", "batch", "return"])
    frame[["agent", "seed", "step", *columns, "return"]].to_csv("runs.csv", index=False)
    for (name, seed), scores in frame.groupby(["agent", "seed"]):
        folder = Path("logs", name, str(seed))
        folder.mkdir(parents=True)
        scores[["step", "return"]].to_csv(folder / "progress.csv", index=False)
        os.utime(folder / "progress.csv", (1e9, 1e9))


def test_the_page_is_short():
    assert len(PAGE.splitlines()) <= 60
    assert len(COMMANDS) >= 7


@pytest.mark.plain(1)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command, tmp_path, monkeypatch, capsys):
    allowed = pytest.importorskip("jsonschema").Draft202012Validator(SCHEMA)
    monkeypatch.chdir(tmp_path)
    write_runs(*{"batch"} & set(shlex.split(command)))
    names = {"FILE": "runs.csv", "DIR": "logs", "NAME": "ours"}
    words = [names.get(word, word) for word in shlex.split(command)]
    assert main(words) == 0
    out = capsys.readouterr().out
    if "--json" in words:
        for line in out.splitlines():
            allowed.validate(json.loads(line))
    else:
        assert "Results: runs-" in out


def test_pages_for_language_models_are_there():
    text = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", text)
    assert len(targets) > 8
    for target, anchor in targets:
        page = (ROOT / "docs" / target).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}
