"""Files of others: read exactly as they are named, and nothing in their folder is made, changed or removed."""

import contextlib
import gzip
import hashlib
import io
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from layers import slow
from refusals import raises_other, refused
from xcurves import readers
from xcurves.readers import hydra, mlflow, optuna
from xcurves.readers.open_files import (
    copy_database,
    database_address,
    read_bytes,
)

LOGS = Path(__file__).parent / "logs"
NAMES = [
    "lr%20sweep.db",
    "%2e%2e.db",
    "a?b.db",
    "a#b.db",
    "{x}.db",
    "a b.db",
    "a'b\".db",
    "a\nb.db",
    "%.db",
]
FOLDERS = {
    "monitor": "stable-baselines3",
    "evaluations": "stable-baselines3",
    "lightning": "lightning",
    "huggingface": "transformers",
    "keras": "keras",
    "rllib": "ray",
    "marl-eval": "id-marl-eval",
}


def hashed(root):
    """Return what every file below a folder holds, and the names of all folders."""
    paths = sorted(root.rglob("*"))
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for path in paths}


def read_only(root):
    for path in [*root.rglob("*"), root]:
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A database of Optuna with two studies."""
    package = pytest.importorskip("optuna")
    path = tmp_path_factory.mktemp("optuna") / "study.db"
    package.logging.set_verbosity(package.logging.ERROR)
    storage = package.storages.RDBStorage(f"sqlite:///{path}")
    for name in ("sac", "td3"):
        study = package.create_study(study_name=name, storage=storage)
        for value in range(3):
            trial = study.ask()
            trial.suggest_float("lr", 0, 1)
            trial.report(value, 1)
            study.tell(trial, value)
    storage.remove_session()
    storage.engine.dispose()
    return path


@pytest.fixture(scope="module")
def made_store(tmp_path_factory):
    """A database of MLflow with a run, one that is deleted, and one of a deleted experiment."""
    for name in ("mlflow", "sqlalchemy", "alembic"):
        pytest.importorskip(name)
    from mlflow import MlflowClient

    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = MlflowClient(f"sqlite:///{path}")
        for experiment in ("digits", "gone"):
            number = client.create_experiment(experiment)
            for name in ("first", "deleted"):
                run = client.create_run(number, run_name=name).info.run_id
                client.log_param(run, "lr", 0.1)
                client.log_metric(run, "loss", 0.5, timestamp=2000, step=1)
                client.log_metric(run, "loss", math.nan, timestamp=3000, step=2)
                if name == "deleted":
                    client.delete_run(run)
        client.delete_experiment(number)
    return path


@pytest.fixture
def store(made_store, tmp_path):
    """A copy of it."""
    return Path(shutil.copy(made_store, tmp_path / "mlflow.db"))


@pytest.mark.plain(3)
@pytest.mark.parametrize("source", FOLDERS)
def test_folders_of_logs_stay_as_they_are(tmp_path, monkeypatch, source):
    root = shutil.copytree(LOGS / FOLDERS[source], tmp_path / "a %20?#{x}'\"\n")
    read_only(root)
    monkeypatch.chdir(tmp_path)
    before = hashed(tmp_path)
    assert len(readers.read(root, source=source))
    assert hashed(tmp_path) == before


@pytest.mark.plain(1)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("log", [slow("DELETE"), "WAL"])
def test_a_database_is_read_as_it_is_named(database, tmp_path, monkeypatch, name, log):
    path = tmp_path / "logs" / name
    path.parent.mkdir()
    shutil.copy(database, path)
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}", uri=True)) as made:
        made.execute(f"PRAGMA journal_mode={log}")
    for other in {"lr sweep.db", "a", "..db", "x.db"}:
        (path.parent / other).write_bytes(b"another file")
    read_only(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = hashed(tmp_path)
    assert len(readers.read(path)) == 6
    assert len(optuna.trials(path)) == 6
    assert hashed(tmp_path) == before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_a_store_is_read_as_it_is_named(store, tmp_path, monkeypatch, name):
    path = store.rename(tmp_path / name)
    read_only(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = hashed(tmp_path)
    frame = readers.read(path)
    assert frame["run_name"].tolist() == ["first", "first"]
    assert set(frame["experiment"]) == {"digits"}
    np.testing.assert_array_equal(frame["value"], [0.5, np.nan])
    assert frame["params.lr"].tolist() == [0.1, 0.1]
    assert hashed(tmp_path) == before


def test_what_a_writer_has_not_put_into_its_database_yet_is_read(tmp_path):
    path = tmp_path / "open.db"
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t (x)")
        writer.execute("INSERT INTO t VALUES (7)")
        writer.commit()
        assert (tmp_path / "open.db-wal").stat().st_size
        before = hashed(tmp_path)
        with (
            database_address(path) as address,
            tempfile.TemporaryDirectory() as elsewhere,
        ):
            copy_database(address, Path(elsewhere, "copy.db"))
            with contextlib.closing(sqlite3.connect(f"{elsewhere}/copy.db")) as copy:
                assert copy.execute("SELECT x FROM t").fetchall() == [(7,)]
        assert hashed(tmp_path) == before


def test_a_database_that_only_looks_like_optunas_gets_no_tables(tmp_path):
    pytest.importorskip("optuna")
    path = tmp_path / "like.db"
    with contextlib.closing(sqlite3.connect(path)) as made, made:
        for table in ("studies", "trials"):
            made.execute(f"CREATE TABLE {table} (x)")
            made.execute(f"INSERT INTO {table} VALUES (1)")
    before = hashed(tmp_path)
    with refused("path", str(path), "Copy it again, or remove it", names="damaged or no storage of Optuna: "):
        readers.read(path)
    assert hashed(tmp_path) == before


PAGE = 4096  # bytes of a database that are read at a time


def damaged(whole, kind, rng):
    """Return the bytes of a database after damage of a kind."""
    data = bytearray(whole)
    start = int(rng.integers(100, len(data) - 64))
    if kind == "cut":
        del data[start:]
    elif kind == "bit":
        data[start] ^= 1 << int(rng.integers(8))
    elif kind == "64 bytes":
        data[start : start + 64] = rng.bytes(64)
    elif kind == "zeroed page":
        page = start // PAGE * PAGE
        data[page : page + PAGE] = bytes(PAGE)
    else:
        one, other = rng.choice(len(whole) // PAGE, 2, replace=False) * PAGE
        data[one : one + PAGE] = whole[other : other + PAGE]
        data[other : other + PAGE] = whole[one : one + PAGE]
    return bytes(data)


def labels_of(frame):
    """Return all of a frame but its numbers, in which SQLite sees no changed bit."""
    return frame.select_dtypes(exclude="float").to_dict("list")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", ["cut", "bit", "64 bytes", "zeroed page", "swap"])
def test_damaged_databases_are_read_alike_or_refused_in_one_line(database, tmp_path, recwarn, kind):
    rng = np.random.default_rng(0)
    whole = database.read_bytes()
    expected = optuna.trials(database)
    path, n_refused = tmp_path / "study.db", 0
    for _ in range(30):
        path.write_bytes(damaged(whole, kind, rng))
        try:
            frame = readers.read(path, source="optuna-trials")
        except ValueError as error:
            said = str(error)
            assert "\n" not in said
            assert str(path) in said
            n_refused += 1
        else:
            assert labels_of(frame) == labels_of(expected)
            assert frame.shape == expected.shape
        assert [each.name for each in tmp_path.iterdir()] == ["study.db"]
    assert n_refused >= {"bit": 1, "64 bytes": 1}.get(kind, 25)


@pytest.mark.plain(6)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE trials SET study_id = 99 WHERE trial_id = 2", "a row of trials"),
        ("UPDATE trial_values SET trial_id = 99 WHERE trial_id = 2", "trial_values"),
        ("UPDATE trials SET number = NULL WHERE trial_id = 2", "a trial has no number"),
        ("UPDATE trials SET number = 0 WHERE trial_id = 2", "two trials of a study"),
        ("UPDATE trials SET number = 'x' WHERE trial_id = 2", "a trial has no number"),
        ("DELETE FROM studies WHERE study_id = 1", "belongs to none of studies"),
        ("UPDATE trials SET state = 'DONE'", "DONE"),
        ("UPDATE trial_params SET distribution_json = '{}'", ""),
        (
            "UPDATE studies SET study_name = CAST(X'ff41' AS TEXT) WHERE study_id = 1",
            "",
        ),
        ("DROP TABLE trial_values", ""),
        ("DELETE FROM trial_values", "a finished trial has no value"),
        ("UPDATE trial_values SET value = 'x'", "a value is no number"),
        ("UPDATE trial_params SET param_value = NULL", "a parameter is no number"),
        ("UPDATE trial_params SET param_name = NULL", "a parameter has no name"),
        (
            "UPDATE trial_intermediate_values SET intermediate_value = 'x'",
            "a reported value is no number",
        ),
        ("DELETE FROM study_directions", "a study has no direction"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_database_with_rows_that_optuna_does_not_write_is_refused(database, tmp_path, change, said):
    path = shutil.copy(database, tmp_path / "study.db")
    with contextlib.closing(sqlite3.connect(path)) as changed, changed:
        changed.execute(change)
    with refused("path", str(path), "Copy it again, or remove it", names=said) as caught:
        optuna.trials(path)
    assert "\n" not in str(caught.value)


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
HOSTILE = {
    "a view": f"CREATE VIEW trials AS SELECT *, ({ENDLESS}) AS more FROM old",
    "a virtual table": "CREATE VIRTUAL TABLE trials USING fts5(trial_id, number)",
    "a column that is computed": "CREATE TABLE trials (trial_id, number, state AS (hex(zeroblob(trial_id))))",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_would_run_when_it_is_read_is_refused(database, tmp_path, what):
    """A view named trials that counts for ever is neither recognised nor read."""
    path = shutil.copy(database, tmp_path / "study.db")
    with contextlib.closing(sqlite3.connect(path)) as changed, changed:
        changed.execute("PRAGMA legacy_alter_table=ON")
        changed.execute("ALTER TABLE trials RENAME TO old")
        changed.execute(HOSTILE[what])
    begun = time.process_time()
    with refused("path", str(path), "help(xcurves.readers.read)", names="is nothing that is recognised"):
        readers.read(path)
    with refused("path", str(path), "Copy it again, or remove it", names=f": trials (is|has) {what}"):
        optuna.trials(path)
    assert time.process_time() - begun < 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_store_with_a_view_for_a_table_or_of_another_version_is_refused(store):
    with contextlib.closing(sqlite3.connect(store)) as changed, changed:
        changed.execute("UPDATE alembic_version SET version_num = 'abc'")
    with refused("path", str(store), "Copy it and run", names="is of another version of MLflow"):
        mlflow.metric_history(store)
    with contextlib.closing(sqlite3.connect(store)) as changed, changed:
        changed.execute("PRAGMA legacy_alter_table=ON")
        changed.execute("ALTER TABLE metrics RENAME TO old")
        changed.execute(f"CREATE VIEW metrics AS SELECT *, ({ENDLESS}) FROM old")
    with refused("path", str(store), names=": metrics is a view, no table"):
        mlflow.metric_history(store)


WATCHED = """
import sys
from xcurves import readers
from xcurves.readers import mlflow, optuna
seen = []
def watch(event, arguments):
    started = event in ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn")
    if started or event.startswith(("socket.", "urllib.", "http.client.")):
        seen.append((event, arguments))
kind, path = sys.argv[1:]
if kind == "optuna":  # what a package does when it is imported is its own
    import optuna as package
else:
    import mlflow as package, mlflow.store.tracking.sqlalchemy_store
    from xcurves.readers import mlflow
sys.addaudithook(watch)
assert len(readers.read(path))
assert len(mlflow.metric_history(path) if kind == "mlflow" else optuna.trials(path))
assert seen == [], seen
"""


def watched(kind, path):
    """Read a database in a Python that sees each socket and process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "-c", WATCHED, kind, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_databases_are_read_without_a_socket_or_a_process(database, store):
    watched("mlflow", store)
    watched("optuna", database)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize(
    "read",
    [
        optuna.trials,
        optuna.intermediate_values,
        mlflow.metric_history,
        read_bytes,
    ],
    ids=lambda read: f"{read.__module__}.{read.__name__}",
)
def test_pipes_and_devices_are_refused_at_once(tmp_path, read):
    if read.__module__.endswith("optuna"):
        pytest.importorskip("optuna")
    os.mkfifo(tmp_path / "pipe.db")
    reason = "is (a pipe or a device, which is read only once|no file but a device, a pipe or a socket)"
    for path in (tmp_path / "pipe.db", Path("/dev/zero")):
        with refused("path", str(path), names=reason):
            read(path)


VALUES = [
    "on",
    "yes",
    "off",
    "010",
    "1:30",
    "1_0",
    "1e-3",
    "-3",
    "+3",
    ".5",
    "1.",
    "1_000.5_0",
    "inf",
    "-Inf",
    "true",
]
VALUES += [
    "FALSE",
    "",
    "abc def",
    r"a\,b",
    r"a\ b",
    "'q'",
    r'"a\"b"',
    r"'a\\'",
    r"'a\\\'b'",
    r"'x\ny'",
    "0",
    "00",
]
VALUES += [
    "0x10",
    "1e5",
    "1E+05",
    "1e",
    "--1",
    "1__0",
    "a/b",
    "${x.y}",
    "  3 ",
    "'a b'",
    "3d",
    r"\(x\)",
    r"a\\b",
    "a:b",
]


@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES)
def test_overrides_have_the_values_that_hydra_gives_them(value):
    module = pytest.importorskip("hydra.core.override_parser.overrides_parser")
    expected = module.OverridesParser.create().parse_override(f"x={value}").value()
    expected = getattr(expected, "text", expected)  # of quoted text
    found = hydra._value(value)
    assert type(found) is type(expected)
    assert found == expected


@pytest.mark.parametrize("text", ["agent=sac seed=3\n", "- {a: 1}\n", "- a\n", "- 3\n", "3\n"])
def test_overrides_that_are_no_list_of_texts_are_refused(tmp_path, text):
    pytest.importorskip("yaml")
    path = tmp_path / "0" / ".hydra" / "overrides.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    (tmp_path / "0" / "log.csv").write_text("step,return\n0,1\n")
    with refused("path", str(path), "Copy it again, or remove it", names="damaged or no overrides: "):
        readers.read(tmp_path)


def bomb(path, size):
    with gzip.open(path, "wb") as file:
        file.write(b"step,return\n")
        for _ in range(size // 2**20):
            file.write(b"0" * 2**20)


def test_a_file_that_expands_too_far_is_refused_and_the_option_lifts_it(tmp_path):
    path = tmp_path / "log.csv.gz"
    bomb(path, 8 * 2**20)
    with refused("path", str(path), "max_expanded=1e+07", names=r"expands to more than 1e\+06 bytes"):
        readers.read(path, max_expanded=1e6)
    assert len(read_bytes(path)) > 8 * 2**20


def test_arrays_that_expand_or_claim_too_much_are_refused(tmp_path):
    path = tmp_path / "evaluations.npz"
    np.savez_compressed(path, timesteps=np.arange(10), results=np.zeros((10, 100_000)))
    with refused("path", str(path), "max_expanded=1e+07", names=r"expands to more than 1e\+06 bytes"):
        readers.read(path, max_expanded=1e6)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (400_000_000,)})
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("timesteps.npy", header.getvalue() + bytes(8))
    with refused("path", str(path), names=r"timesteps\.npy claims 3200000000 bytes and has "):
        readers.read(path)


def test_a_tensor_that_claims_many_values_is_refused():
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.scalar import metadata

    from xcurves.readers import tensorboard

    value = Summary.Value(
        tag="return",
        metadata=metadata.create_summary_metadata(display_name="", description=""),
    )
    value.tensor.dtype = 1
    value.tensor.tensor_shape.dim.add().size = 400_000_000
    value.tensor.float_val.append(1.0)
    with raises_other(ValueError, match=r"^the scalar 'return' is a tensor of shape \[400000000\]$"):
        list(tensorboard._scalars(Event(summary=Summary(value=[value])), {}))


@pytest.mark.parametrize("length", ["9223372036854775808", "1e300", "1.5", "-1", "9223372036854775807"])
def test_lengths_of_episodes_beyond_64_bits_are_refused(tmp_path, length):
    path = tmp_path / "monitor.csv"
    path.write_text(f'#{{"t_start": 0.0}}\nr,l,t\n1,{length},3\n1,5,4\n')
    with refused("path", str(path), cure="Correct or remove it", names="of columns r, l, t: lengths must be whole"):
        readers.read(path)


@pytest.mark.parametrize("began", ["NaN", "Infinity", "-Infinity"])
def test_a_monitor_that_began_at_no_time_is_refused(tmp_path, began):
    path = tmp_path / "monitor.csv"
    path.write_text(f'#{{"t_start": {began}}}\nr,l,t\n1,2,3\n')
    with refused("path", str(path), "Remove it", names="is no Monitor log: its first line must be"):
        readers.read(path)


def test_a_monitor_with_a_second_header_is_two_logs(tmp_path):
    log = '#{"t_start": 0.0, "env_id": "a"}\nr,l,t\n1,2,3\n'
    path = tmp_path / "monitor.csv"
    path.write_text(log + log)
    with refused("path", str(path), "Make a file of each", names="line 4 is a header again"):
        readers.read(path)


def test_utf16_without_a_mark_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes("step,return\n0,1\n".encode("utf-16-le"))
    with refused("path", str(path), "Save it as UTF-8", names="no text in UTF-8: byte 1 is 0, as in UTF-16"):
        readers.read(path)


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_folder_whose_name_is_no_text_is_refused(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/sac\xff/1"))
    folder.mkdir(parents=True)
    (folder / "log.csv").write_text("step,return\n0,1\n")
    with refused("path", cure="Rename it", names=r"/sac\\udcff/1/log\.csv' has bytes that are no text in UTF-8"):
        readers.read(tmp_path)
