"""A folder with one file is that file; files that are read by themselves are named."""

import sqlite3
from contextlib import closing

import pytest
from tests.refusals import refused

import labelled
from xcurves.__main__ import main

TABLE = "algorithm,seed,score\n" + "".join(f"{name},{seed},{ord(name) + seed}\n" for name in "ab" for seed in range(4))


@pytest.mark.slow
def test_a_folder_with_one_table_is_read_as_the_table(tmp_path, capsys):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "results.csv").write_text(TABLE)
    (tmp_path / "bench" / ".cache").write_text("hidden")
    frame = labelled.read(tmp_path / "bench")
    alone = labelled.read(tmp_path / "bench" / "results.csv")
    assert frame.equals(alone)
    assert frame.attrs == alone.attrs
    assert main([str(tmp_path / "bench"), "--output", str(tmp_path / "a.nc")]) == 0
    assert "Source: CSV in results.csv" in capsys.readouterr().out
    named = labelled.read(tmp_path / "bench", names="{kind}.csv")
    assert set(named["kind"]) == {"results"}


def test_a_folder_below_a_folder_names_the_algorithm_still(tmp_path):
    (tmp_path / "logs" / "sac" / "1").mkdir(parents=True)
    (tmp_path / "logs" / "sac" / "1" / "progress.csv").write_text("step,return\n1,2\n2,3\n")
    frame = labelled.read(tmp_path / "logs")
    assert frame["algorithm"].tolist() == ["sac", "sac"]


def database(path):
    """Write a database with the tables of Optuna that tell a store of it."""
    with closing(sqlite3.connect(path)) as made, made:
        for table in ("studies", "trials"):
            made.execute(f"CREATE TABLE {table} (x INTEGER)")
            made.execute(f"INSERT INTO {table} VALUES (1)")


@pytest.mark.parametrize("source", [None, "optuna-trials"])
def test_a_folder_with_several_databases_names_the_first(tmp_path, source):
    for name in ("one.db", "two.db"):
        database(tmp_path / name)
    with refused("path", cure=f"Name the file: {tmp_path / 'one.db'}") as caught:
        labelled.read(tmp_path, source=source)
    said = "holds 2 files, such as 'one.db' (results of trials of Optuna), that are read one at a time"
    assert said in caught.value.reason


@pytest.mark.plain(1)
@pytest.mark.parametrize("source", [None, "optuna-trials"])
def test_a_folder_with_one_database_is_read_as_the_database(tmp_path, source):
    """What is said is what Optuna's reader says of this database, not that it is a folder or of another program."""
    pytest.importorskip("optuna")
    database(tmp_path / "study.db")
    with refused("path", str(tmp_path / "study.db")) as caught:
        labelled.read(tmp_path, source=source)
    assert "no storage of Optuna" in caught.value.reason


def test_runs_that_weights_and_biases_keeps_offline_are_named(tmp_path, capsys):
    run = tmp_path / "wandb" / "offline-run-20260101_000000-8t0s9zds"
    (run / "logs").mkdir(parents=True)
    (run / "run-8t0s9zds.wandb").write_bytes(b":W&B\x00\x01")
    (run / "logs" / "debug-internal.log").write_text('{"time": "2026", "level": "INFO", "msg": "stream: starting"}\n')
    with refused("path", cure="readers.wandb.run_history") as caught:
        labelled.read(tmp_path)
    assert "runs that Weights & Biases keeps offline (run-8t0s9zds.wandb)" in caught.value.reason
    assert len(str(caught.value)) - len(str(tmp_path)) <= 300
    assert main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "wandb sync wandb/offline-run-*" in said
    assert "readers." not in said
    assert "dreamerv3" not in said
