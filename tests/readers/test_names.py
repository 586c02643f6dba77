"""Runs whose names stand in the names of folders or files, read by a pattern of braces."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

import labelled
from refusals import refused
from xcurves.core.names import compiled
from xcurves.core.refusal import give

KERAS = Path(__file__).parent / "logs" / "keras"


@pytest.fixture
def flat(tmp_path):
    """Return Keras' own logs, copied to one folder."""
    for log in KERAS.rglob("training.log"):
        shutil.copy(log, tmp_path / f"{log.parent.parent.name}_seed{log.parent.name}.log")
    return tmp_path


@pytest.mark.parametrize(
    "names",
    [
        "{algorithm}_seed{run}.log",
        "{algorithm}_seed{run}",
        r"{algorithm,\w+}_seed{run,\d}.log",
    ],
)
def test_files_of_one_folder_are_the_runs_of_folders(flat, names):
    frame = labelled.read(flat, names=names)
    assert frame.attrs["source"].startswith("Keras CSVLogger files below ")
    assert frame.equals(labelled.read(KERAS))


def test_folders_and_deeper_files_match_too(flat):
    for log in flat.glob("*.log"):
        folder = flat / "runs" / "Hopper" / log.stem
        folder.mkdir(parents=True)
        shutil.move(log, folder / "training.log")
    frame = labelled.read(flat / "runs", names="{task}/{algorithm}_seed{run}")
    assert list(frame)[:4] == ["task", "algorithm", "run", "epoch"]
    assert frame.drop(columns="task").equals(labelled.read(KERAS))
    deeper = labelled.read(flat, names="runs/{task}/{algorithm}_seed{run}/training.log")
    assert deeper.equals(frame)


def test_one_file_has_a_name_too(flat):
    frame = labelled.read(flat / "wide_seed1.log", names="{algorithm}_seed{run}.log")
    assert frame[["algorithm", "run"]].drop_duplicates().to_numpy().tolist() == [["wide", 1]]


def test_what_does_not_match_is_said(flat):
    (flat / "other.csv").write_text("epoch,loss\n0,1\n")
    with pytest.warns(
        UserWarning,
        match=r"^names='.*': 1 logs do not match and are left out, such as 'other\.csv'$",
    ):
        assert len(labelled.read(flat, names="{algorithm}_seed{run}.log")) == 12
    with refused("names", "{run}.txt", cure=give(names="{algorithm}_seed{run}.log")):
        labelled.read(flat, names="{run}.txt")


def test_the_files_of_a_flat_folder_are_runs_as_their_names_say(flat):
    frame = labelled.read(flat)
    pd.testing.assert_frame_equal(frame, labelled.read(flat, names="{algorithm}_seed{run}.log"))
    assert len(frame) == 12


@pytest.mark.parametrize("names", ["", "run", "{1}", "{run", "{run,(}", "{run,(a)}", 3])
def test_patterns_that_are_none_are_refused(names):
    with refused("names", cure="Correct it", names=r"^names must be a pattern of parts in braces, .*Correct it$"):
        compiled(names)


def test_a_quantifier_may_stand_in_a_part():
    assert compiled(r"{run,\d{2}}-{x}").fullmatch("12-a").groupdict() == {
        "run": "12",
        "x": "a",
    }


def test_names_go_with_no_folders_and_no_source_that_names_its_runs(flat):
    with refused("names", "{run}.log", cure="Leave one out"):
        labelled.read(flat, names="{run}.log", folders="run")
    with refused("names", "{run}", cure="Leave it out"):
        labelled.read(KERAS.parent / "id-marl-eval" / "metrics.json", names="{run}")
