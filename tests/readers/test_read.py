"""The one entrance: what is recognised, and what is said where nothing is."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import labelled
from refusals import refused
from xcurves import readers
from xcurves.__main__ import main
from xcurves.core.refusal import call
from xcurves.readers import listing

LOGS = Path(__file__).parent / "logs"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_other_files_are_recognised_by_what_they_hold(tmp_path):
    write(tmp_path / "t.csv", "algorithm,run,step,r\na,0,0,1\n")
    write(tmp_path / "c.csv", '"Step","a-1 - r"\n1,2\n')
    np.savez(tmp_path / "s.npz", a=np.ones((2, 2)))
    names = {path.name: readers.recognize(path).name for path in tmp_path.iterdir()}
    assert names == {"t.csv": "table", "c.csv": "wandb-chart", "s.npz": "arrays"}


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "hello", "\x00\x01", "{}", "SQLite format 3\x00"])
def test_what_is_not_recognised_gets_the_nearest_in_few_words(tmp_path, text):
    path = tmp_path / "log.json"
    path.write_text(text)
    for place in (path, tmp_path):
        cure = "help(xcurves.readers.read)"
        with refused("path", str(place), cure, names="(is|holds) nothing that is recognised") as caught:
            labelled.read(place)
        assert len(str(caught.value)) - len(str(place)) <= 300


def test_the_source_can_be_named_and_a_near_miss_is_suggested(tmp_path):
    evaluations = labelled.read(LOGS / "stable-baselines3", source="evaluations")
    assert "Stable-Baselines3 evaluations" in evaluations.attrs["source"]
    with refused("source", "tensorbord", cure="Did you mean 'tensorboard'?"):
        labelled.read(LOGS, source="tensorbord")
    with pytest.raises(FileNotFoundError, match=r"does not exist\. Check the path"):
        labelled.read(tmp_path / "elsewhere")


def test_logs_of_two_sources_in_one_folder_are_said(tmp_path):
    write(tmp_path / "a" / "0" / "metrics.csv", "epoch,step,x\n0,1,2\n")
    write(
        tmp_path / "a" / "0" / "trainer_state.json",
        '{"global_step": 0, "log_history": []}',
    )
    said = r"is read as 'lightning' and holds huggingface too\. Choose: source='huggingface'$"
    with pytest.warns(UserWarning, match=said):
        assert len(labelled.read(tmp_path)) == 1


def test_folders_name_levels_where_folders_name_runs(tmp_path):
    write(tmp_path / "x" / "a" / "0" / "progress.csv", "step,r\n0,1\n")
    frame = labelled.read(tmp_path, folders=("task", "algorithm", "run"))
    assert list(frame) == ["task", "algorithm", "run", "step", "r"]
    assert labelled.read(tmp_path).equals(frame)
    write(tmp_path / "y" / "0" / "progress.csv", "step,r\n0,1\n")
    again = call("xcurves.readers.read", str(tmp_path), names="{task}/{algorithm}/{run}/progress.csv")
    with refused("path", cure=again, names=r"'x/a/0/progress\.csv' do not say algorithm and run"):
        labelled.read(tmp_path)
    with refused("folders", "run", cure="Leave it out"):
        labelled.read(tmp_path / "x" / "a" / "0" / "progress.csv", folders="run")
    with refused("folders", "run", cure="Leave it out"):
        labelled.read(LOGS / "ray", folders="run")


def test_every_source_has_a_name_of_its_own_and_is_listed_in_the_docstring():
    names = [source.name for source in readers.SOURCES]
    assert len(set(names)) == len(names)
    assert all(f'"{name}"' in readers.read.__doc__ for name in names)
    assert all(source.read_all is None or source.reads_whole(__file__) for source in readers.SOURCES)
    assert {beside for source in readers.SOURCES for beside in source.also_writes} <= set(names)


def test_the_page_and_the_command_list_every_source_as_declared(capsys):
    assert main(["sources"]) == 0
    printed = capsys.readouterr().out
    page = (Path(__file__).parents[2] / "docs" / "your-logs.md").read_text()
    assert "```{xcurves-sources}\n```" in page
    table = listing.as_html(readers.SOURCES)
    assert table.count("<tr>") == 1 + len(readers.SOURCES)
    for source in readers.SOURCES:
        assert f"<tr><td><code>{source.name}</code></td><td>" in table
        assert f"{source.what}: {source.logs}" in printed


@pytest.mark.parametrize("source", readers.SOURCES, ids=lambda source: source.name)
def test_functions_that_a_source_names_exist(source):
    named = [function for function in (source.is_log, source.read_all, source.read_run) if function is not None]
    for function in named:
        if function.__name__ != "<lambda>":
            assert callable(getattr(importlib.import_module(function.__module__), function.__name__))
