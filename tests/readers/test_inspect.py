"""Logs that Inspect wrote, as .eval and as JSON: each sample and epoch of each model."""

import json
import re
import shlex
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from refusals import refused
from xcurves import readers
from xcurves.__main__ import main

LOGS = Path(__file__).parent / "logs" / "inspect-ai"
TEXTS = "ignore:1 scores are no numbers:UserWarning"


@pytest.fixture
def logs(tmp_path):
    return Path(shutil.copytree(LOGS / "json", tmp_path / "logs"))


def change(path, changed):
    said = json.loads(path.read_text())
    changed(said)
    path.write_text(json.dumps(said))


def keyed(frame):
    return frame.set_index(["algorithm", "item", "run"]).sort_index()


@pytest.mark.parametrize("form", ["json", "eval"])
def test_every_sample_and_epoch_is_a_row(form):
    if form == "eval":
        pytest.importorskip("numcodecs")
    with pytest.warns(
        UserWarning,
        match=r"^1 scores are no numbers .* 'graded/note' with 'well done'$",
    ):
        frame = readers.read(LOGS / form)
    assert frame.attrs["source"] == f"logs of Inspect below {form}"
    rows = keyed(frame)
    n_samples = 0
    for path in (LOGS / "json").iterdir():
        said = json.loads(path.read_text())
        for sample in said["samples"]:
            n_samples += 1
            row = rows.loc[(said["eval"]["model"], sample["id"], sample["epoch"])]
            assert row["match"] == (sample["scores"]["match"]["value"] == "C")
            assert row["graded/form"] == sample["scores"]["graded"]["value"]["form"]
            assert row["passage"] == sample["metadata"]["passage"]
    assert len(frame) == n_samples == 24
    assert not {"state", "graded/note"} & set(frame)


@pytest.mark.filterwarnings(TEXTS)
def test_a_log_without_summaries_has_them_in_its_samples(tmp_path):
    """As versions before 0.3.60 and any other compression of a zip."""
    for path in (LOGS / "json").iterdir():
        said = json.loads(path.read_text())
        samples = said.pop("samples")
        with zipfile.ZipFile(tmp_path / f"{path.stem}.eval", "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("header.json", json.dumps(said))
            for sample in samples:
                name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
                made.writestr(name, json.dumps(sample))
    pd.testing.assert_frame_equal(keyed(readers.read(tmp_path)), keyed(readers.read(LOGS / "json")))


@pytest.mark.slow
@pytest.mark.filterwarnings(TEXTS)
def test_one_command_answers(logs, monkeypatch, capsys):
    monkeypatch.chdir(logs.parent)
    assert main(["logs", "--value", "match", "--n-resamples", "99"]) == 0
    out = capsys.readouterr().out
    assert "run = run" in out
    assert "task = item" in out
    assert "over 6 items" in out


@pytest.mark.filterwarnings(TEXTS)
def test_a_sample_that_failed_has_no_score(logs):
    def fail(said):
        said["samples"][0] |= {"error": {"message": "refused"}, "scores": None}

    change(logs / "small.json", fail)
    frame = readers.read(logs)
    failed = frame[frame["state"] == "failed"]
    assert len(failed) == 1
    assert failed["match"].isna().all()
    assert frame["match"].notna().sum() == 23


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_shell_says_what_to_do_with_a_sample_that_failed(logs, capsys, monkeypatch):
    monkeypatch.chdir(logs.parent)
    change(logs / "small.json", lambda said: said["samples"][0].update(error={"message": "refused"}, scores=None))
    command = [str(logs), "--value", "match"]
    assert main(command) == 0
    said = capsys.readouterr().out
    cure = re.search(r"Runs of mockllm/small failed, so that there is no mean: say what they count as, (--.*)\.", said)
    assert main([*command, *shlex.split(cure[1])]) == 0
    assert "1 of 24 runs failed and counts as the worst score of its task" in capsys.readouterr().out


@pytest.mark.filterwarnings(TEXTS)
def test_a_log_whose_retry_is_there_is_left_out(logs):
    shutil.copy(logs / "small.json", logs / "first.json")
    for name, created, right in (("first", "01", "I"), ("small", "02", "C")):

        def retried(said, created=created, right=right):
            said["eval"] |= {"task_id": "abc", "created": f"2026-01-{created}"}
            for sample in said["samples"]:
                sample["scores"]["match"]["value"] = right

        change(logs / f"{name}.json", retried)
    with pytest.warns(UserWarning, match=r"1 logs are left out.* such as first.json$"):
        frame = readers.read(logs)
    assert set(frame.query("algorithm == 'mockllm/small'")["match"]) == {1.0}


@pytest.mark.filterwarnings(TEXTS)
def test_an_evaluation_that_did_not_end_is_named(logs):
    def stopped(said):
        said["status"] = "cancelled"
        del said["samples"][5:]

    change(logs / "small.json", stopped)
    with pytest.warns(
        UserWarning,
        match=r"^1 of 2 evaluations .*status cancelled.* small.json with 5 samples$",
    ):
        readers.read(logs)


@pytest.mark.filterwarnings(TEXTS)
def test_a_model_with_several_solvers_is_several_algorithms(logs):
    for name, solver in (("small", "generate"), ("large", "react")):

        def solved(said, solver=solver):
            said["eval"] |= {"model": "m", "solver": solver}

        change(logs / f"{name}.json", solved)
    assert set(readers.read(logs)["algorithm"]) == {"m, generate", "m, react"}


def test_a_zip_that_claims_more_than_is_allowed_is_refused():
    with refused(
        "path", cure="If it is no mistake, allow more, max_expanded=1000, or", names=r"expands to more than 100 bytes"
    ):
        readers.read(LOGS / "eval" / "small.eval", max_expanded=100)
