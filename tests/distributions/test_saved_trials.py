"""Numbered trials that are saved: killed, resumed, refused."""

import os
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from xcurves.distributions.saved_trials import run_trials

N_TRIALS = 250
WORK = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
from scipy.io import netcdf_file
from xcurves.distributions.saved_trials import run_trials

folder, n_trials = Path(sys.argv[1]), int(sys.argv[2])
settings = {"seed": 7, "task": "moons"}

def trial(index):
    rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(index,)))
    time.sleep(0.002)
    if index % 50 == 3:
        raise RuntimeError(f"trial {index}")
    return {"x": rng.normal(), "kind": ["a", "bcd"][rng.integers(2)], "mixed": index if index % 3 else "auto"}

def listing():
    return sorted(file.name for file in folder.glob("*.nc"))

for _ in range(2):
    run_trials(trial, 1, path=folder.with_name("warm"))  # imports what reads and writes, once for all
rng = np.random.default_rng()
for kill in range(10):
    before = listing()
    worker = os.fork()  # a process of its own, without importing all again
    if worker == 0:
        run_trials(trial, n_trials, path=folder, settings=settings)
        os._exit(0)
    while listing() == before:
        time.sleep(0.001)
    time.sleep(rng.uniform(0, 0.06))
    os.kill(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    assert os.WIFSIGNALED(status), "the work ended before it was killed ten times"
    indices = set()
    for name in listing():
        with netcdf_file(folder / name, mmap=False) as part:
            indices.update(part.variables["run"][:].tolist())
    print(len(indices), flush=True)
run_trials(trial, n_trials, path=folder, settings=settings)
"""


def trial(index):
    """The same as in WORK, without the wait."""
    rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(index,)))
    if index % 50 == 3:
        raise RuntimeError(f"trial {index}")
    return {
        "x": rng.normal(),
        "kind": ["a", "bcd"][rng.integers(2)],
        "mixed": index if index % 3 else "auto",
    }


ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
SETTINGS = {"seed": 7, "task": "moons"}


@pytest.mark.slow
def test_an_archive_killed_ten_times_equals_that_of_a_clean_run(tmp_path):
    command = [sys.executable, "-c", WORK, str(tmp_path / "killed"), str(N_TRIALS)]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **ONE_THREAD},
    )
    found = [int(count) for count in done.stdout.split()]
    assert len(found) == 10
    assert found == sorted(found)
    assert found[-1] < N_TRIALS

    clean = run_trials(trial, N_TRIALS, path=tmp_path / "clean", settings=SETTINGS)
    resumed = run_trials(trial, N_TRIALS, path=tmp_path / "killed", settings=SETTINGS)
    xr.testing.assert_identical(resumed, clean)
    assert {name: column.dtype for name, column in resumed.variables.items()} == {
        name: column.dtype for name, column in clean.variables.items()
    }


def listing(folder):
    return sorted(file.name for file in folder.glob("*.nc"))


def saved(folder):
    return {index for name in listing(folder) for index in xr.load_dataset(folder / name, engine="scipy")["run"].values}


@pytest.mark.parametrize(("batch", "kept"), [(1, 8), (3, 6)])
def test_a_batch_is_there_whole_or_not_at_all(tmp_path, batch, kept):
    def last(index):
        if index == 8:
            raise KeyboardInterrupt  # as deadly as a signal: no exception that is recorded
        return {"x": index}

    options = {
        "path": tmp_path,
        "batch": batch,
        "settings": {"n": np.int32(5), "x": np.float64(0.1), "y": np.nan},
    }
    with pytest.raises(KeyboardInterrupt):
        run_trials(last, 9, **options)
    assert saved(tmp_path) == set(range(kept))
    options["settings"] = {"n": 5, "x": 0.1, "y": np.nan}
    assert run_trials(lambda index: {"x": index}, 9, **options)["x"].values.tolist() == list(range(9))


def test_trials_in_the_archive_are_not_run_again(tmp_path):
    run_trials(trial, 20, path=tmp_path, settings=SETTINGS)
    seen = []

    def watched(index):
        seen.append(index)
        return trial(index)

    more = run_trials(watched, 30, path=tmp_path, settings=SETTINGS)
    assert seen == list(range(20, 30))
    xr.testing.assert_identical(more, run_trials(trial, 30))


def test_trials_are_saved_in_a_folder_not_in_a_file(tmp_path):
    file = tmp_path / "trials.nc"
    file.write_text("mine")
    for path in (file, file / "within"):
        with refused("path", str(path), "Name a folder, which is made", names="is, or is in, a file"):
            run_trials(trial, 3, path=path)
    assert file.read_text() == "mine"


@pytest.mark.slow
def test_jobs_leave_no_trace(tmp_path):
    pytest.importorskip("joblib")

    def half(index):
        if index == 2:
            raise ValueError("two")
        return {"half": index / 2, "name": f"trial {index}"}

    xr.testing.assert_identical(run_trials(half, 40, path=tmp_path, n_jobs=2), run_trials(half, 40))


def test_numbers_and_texts_keep_their_kind(tmp_path):
    def mixed(index):
        rows = [
            {"a": 1, "b": "auto", "c": None},
            {"a": 0.1, "b": 5, "d": (1, 2)},
            {"a": np.True_, "b": 0.1, "error": "é"},
        ]
        return rows[index]

    for options in ({}, {"path": tmp_path}):
        found = run_trials(mixed, 3, **options)
        assert found["a"].values.tolist() == [1, 0.1, 1]
        assert found["b"].values.tolist() == ["auto", "5", "0.1"]
        assert np.isnan(found["c"]).all()
        assert found["d"].values.tolist() == ["", "(1, 2)", ""]
        assert found["error"].values.tolist() == ["", "", "é"]


def test_an_exception_is_recorded_and_the_rest_goes_on():
    found = run_trials(trial, 5)
    assert found["error"].values.tolist() == ["", "", "", "RuntimeError: trial 3", ""]
    assert np.isnan(found["x"].values).tolist() == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"seed": 8, "task": "moons"}, "were made with seed = 7, not 8"),
        ({"seed": 7}, 'were made with task = "moons", not none'),
        ({"seed": 7, "task": "moons", "C": 1.5}, "were made with C = none, not 1.5"),
    ],
)
def test_an_archive_of_other_settings_is_refused(tmp_path, settings, said):
    run_trials(trial, 2, path=tmp_path, settings=SETTINGS)
    with refused("path", str(tmp_path), "Give another path, or the same settings", names=said):
        run_trials(trial, 2, path=tmp_path, settings=settings)


def test_a_trial_in_two_files_counts_once(tmp_path):
    run_trials(trial, 10, path=tmp_path, settings=SETTINGS, batch=10)
    run_trials(trial, 4, path=tmp_path / "other", settings=SETTINGS, batch=4)
    (tmp_path / "other" / "00000000-00000003.nc").rename(tmp_path / "00000000-00000003.nc")
    (tmp_path / "00000004-00000004.1.part").write_bytes(b"half")
    found = run_trials(trial, 12, path=tmp_path, settings=SETTINGS)
    xr.testing.assert_identical(found, run_trials(trial, 12))


def test_other_files_in_the_folder_are_left_alone(tmp_path):
    (tmp_path / "mine.tmp").write_text("precious")
    xr.Dataset({"score": 1.0}).to_netcdf(tmp_path / "mine.nc", engine="scipy")
    run_trials(trial, 2, path=tmp_path)
    run_trials(trial, 4, path=tmp_path)
    names = [f"{i:08d}-{i:08d}.nc" for i in range(4)]
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *names,
        "mine.nc",
        "mine.tmp",
    ]


@pytest.mark.parametrize("name", ["run", "", "a/b", 3])
def test_a_value_that_cannot_be_named_is_an_error_of_its_trial(tmp_path, name):
    error = run_trials(lambda index: {name: 1}, 1, path=tmp_path)["error"].item()
    assert error == f"Refusal: a trial's values need names, not 'run' and without '/'; got {name!r}. Rename it"


def blas_threads(index):
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return {"threads": max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")}


@pytest.mark.slow
def test_processes_share_the_cores_between_their_threads_of_blas(monkeypatch):
    pytest.importorskip("joblib")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    n_jobs = os.cpu_count()
    assert (run_trials(blas_threads, 2 * n_jobs, n_jobs=n_jobs)["threads"] == 1).all()


def test_names_have_the_order_of_the_first_trial_however_often_it_was_stopped(tmp_path):
    def half(index):
        if index == 1:
            raise ValueError("one")
        return {"b": index, "a": index, **({"c": 1} if index > 2 else {})}

    for n_trials in (2, 3, 5):
        found = run_trials(half, n_trials, path=tmp_path)
    assert list(found.data_vars) == list(run_trials(half, 5).data_vars) == ["b", "a", "c", "error"]


@pytest.mark.parametrize(
    ("n_trials", "options", "expected", "kind"),
    [
        *((odd, {}, ("n_trials", odd, "Usual: 1000"), xcurves.Refusal) for odd in (0, -3)),
        *((odd, {}, ("n_trials", odd, "Usual: 1000"), xcurves.WrongType) for odd in (2.5, None)),
        *((2, {"n_jobs": odd}, ("n_jobs", odd), xcurves.Refusal) for odd in (0, 2.5, "2", True)),
        *(
            (2, {"settings": odd}, ("settings", kept, "Try settings={'task': 'a'}"), xcurves.WrongType)
            for odd, kept in [(["a"], ["a"]), *((odd, repr(odd)) for odd in ({"a": len}, {"a": [1, 2]}, {1: "a"}))]
        ),
    ],
)
def test_trials_jobs_and_settings_are_checked(n_trials, options, expected, kind):
    with refused(*expected, kind=kind):
        run_trials(trial, n_trials, **options)


def test_fewer_trials_than_there_are_is_an_error(tmp_path):
    run_trials(trial, 4, path=tmp_path)
    with refused("n_trials", "3", cure="To have the first ones, select them"):
        run_trials(trial, 3, path=tmp_path)


def test_a_truncated_file_is_named_and_can_be_deleted(tmp_path):
    run_trials(trial, 4, path=tmp_path, settings=SETTINGS, batch=4)
    (file,) = tmp_path.glob("*.nc")
    whole = file.read_bytes()
    for size in range(0, len(whole) // 2, 37):
        file.write_bytes(whole[:size])
        with refused(
            "path",
            cure="Delete it: its trials will be run again",
            names=r"00000000-00000003.nc cannot be.*truncated. Delete it",
        ):
            run_trials(trial, 4, path=tmp_path, settings=SETTINGS)
    file.unlink()
    xr.testing.assert_identical(run_trials(trial, 4, path=tmp_path, settings=SETTINGS), run_trials(trial, 4))


def test_a_bar_counts_what_is_left(tmp_path, capsys):
    pytest.importorskip("tqdm")
    run_trials(trial, 3, path=tmp_path)
    run_trials(trial, 5, path=tmp_path, progress=True)
    assert "/2" in capsys.readouterr().err


def test_a_long_error_is_cut():
    def long(index):
        raise ValueError("x" * 10_000)

    text = run_trials(long, 1)["error"].item()
    assert len(text) == 500
    assert text.endswith("x…")


def test_what_is_no_function_is_refused():
    with refused(
        "trials",
        cure="Give the function itself, without parentheses",
        names=r"trials are made by functions; got 3\. ",
        kind=xcurves.WrongType,
    ):
        run_trials(3, 2)
