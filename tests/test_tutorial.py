import io
import socket
import zipfile
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import xcurves
from experiments import benchmark, digits, endgames, tictactoe
from refusals import refused

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def curves():
    return xcurves.tutorial.open_dataset("tictactoe")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("checkers", "chess"),
        ("", None),
        ("tictactoe.nc", "tictactoe"),
        ("../data/tictactoe", "tictactoe"),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_those_known(name, near):
    cure = f"Did you mean {near!r}?" if near else ""
    with refused("name", name, cure, names=f"must be one of {', '.join(map(repr, NAMES))}; got"):
        xcurves.tutorial.open_dataset(name)


# All that come with the package

NAMES = sorted(path.name.removesuffix(".nc") for path in Path(str(files("xcurves") / "data")).glob("*.nc"))


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_is_described_and_says_how_it_was_made(name):
    assert f"``{name}``" in xcurves.tutorial.open_dataset.__doc__
    dataset = xcurves.tutorial.open_dataset(name)
    assert {"command", "title", "seed"} <= set(dataset.attrs)


@pytest.mark.parametrize(
    "name",
    [
        "tictactoe",
        "tictactoe_100",
        "chess",
        "endgame",
        "digits_learning",
        "benchmark",
        "widths",
    ],
)
def test_curves_are_float64_with_names_and_units_in_the_classic_format(name):
    assert (files("xcurves") / "data" / f"{name}.nc").read_bytes()[:3] == b"CDF"
    dataset = xcurves.tutorial.open_dataset(name)
    for array in dataset.data_vars.values():
        assert array.dtype == np.float64
        assert {"long_name", "units"} <= set(array.attrs)


def test_the_wheel_stays_under_2_mb():
    root, packed = Path(str(files("xcurves"))), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in root.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                wheel.write(path, path.relative_to(root))
    assert 50_000 < len(packed.getvalue()) < 2_000_000


def test_tictactoe_is_the_first_ten_of_the_hundred_runs(curves):
    hundred = xcurves.tutorial.open_dataset("tictactoe_100")
    assert dict(hundred.sizes) == {"algorithm": 3, "run": 100, "training": 8}
    xr.testing.assert_identical(hundred.score.isel(run=slice(10)), curves.score)


def as_made(name):
    """Return a data set as its experiment makes it, without the numbers of colours."""
    return xcurves.tutorial.open_dataset(name).drop_vars("color_index")


def test_later_runs_of_the_hundred_are_remade(curves):
    """The last run only; the first ten are those of the other file, which is remade whole."""
    hundred = as_made("tictactoe_100")
    found = tictactoe.learning_curves([0.8], 100, hundred.training.values[:4].astype(int), seed=1998)
    xr.testing.assert_identical(found.score, hundred.score.sel(algorithm=["rate 0.8"]).isel(training=slice(4)))


def same_scikit_learn(dataset):
    made, here = (
        dataset.attrs["scikit_learn"],
        pytest.importorskip("sklearn").__version__,
    )
    if made != here:
        pytest.skip(f"made by scikit-learn {made}, here is {here}: numbers may differ")


@pytest.mark.parametrize(("name", "columns"), [("chess", [0, 4]), ("endgame", [0, 9])])
def test_trees_are_remade_at_some_levels(name, columns):
    dataset = as_made(name)
    same_scikit_learn(dataset)
    some = dataset.accuracy.isel(training=columns, algorithm=[0, 2])
    levels, names = some.training.values.astype(int), some.algorithm.values.tolist()
    found = endgames.learning_curves(name, algorithms=names, levels=levels, seed=int(dataset.attrs["seed"]))
    xr.testing.assert_identical(found.accuracy, some)


def test_digits_are_remade_where_no_linear_algebra_decides():
    dataset = as_made("digits_learning")
    same_scikit_learn(dataset)
    names = ["1 neighbour", "decision tree"]
    found = digits.learning_curves(names, seed=int(dataset.attrs["seed"]))
    xr.testing.assert_identical(found.error, dataset.error.sel(algorithm=names))


def test_the_benchmark_is_remade_where_no_linear_algebra_decides():
    dataset = as_made("benchmark")
    same_scikit_learn(dataset)
    tasks, names = ["parity", "wine", "Friedman"], ["decision tree"]
    found = benchmark.learning_curves(tasks, names, seed=int(dataset.attrs["seed"]))
    xr.testing.assert_identical(found.accuracy, dataset.accuracy.sel(task=tasks, algorithm=names))


def whole(counts):
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)


def test_bundled_data_have_their_sizes_and_whole_numbers_of_games_and_examples(
    monkeypatch,
):
    monkeypatch.setattr(socket, "socket", None)  # no network
    open_dataset = xcurves.tutorial.open_dataset
    open_dataset("tictactoe").score[:] = 0  # a copy
    score = open_dataset("tictactoe").score
    assert dict(score.sizes) == {"algorithm": 3, "run": 10, "training": 8}
    assert score.algorithm.values.tolist() == ["rate 0.001", "rate 0.8", "rate 0.1"]
    assert score.training.values.tolist() == [0, 200, 500, 1000, 2000, 3000, 5000, 8000]
    assert (abs(score) <= 100).all()
    assert (score.mean("run")[:, -1] > score.mean("run")[:, 0] + 50).all()
    whole(score)
    for name, n_examples in (("chess", 28056), ("endgame", 958)):
        accuracy = open_dataset(name).accuracy
        assert dict(accuracy.sizes) == {"algorithm": 3, "run": 20, "training": 10}
        in_fold = n_examples // 20 + (np.arange(20) < n_examples % 20)
        whole(accuracy * xr.DataArray(in_fold, dims="run") / 100)
        assert accuracy.training.values.tolist() == [(n_examples - max(in_fold)) * step // 10 for step in range(1, 11)]
    digits = open_dataset("digits_learning")
    assert digits.training.values.tolist() == [80, 160, 320, 640, 1280]
    assert (digits.error.count("run") == [16, 8, 4, 2, 1]).all()
    assert digits.attrs["n_test"] == 517
    whole(digits.error.fillna(0) * 517 / 100)


def test_the_benchmark_has_sixteen_tasks_on_grids_of_their_own_and_whole_numbers_of_examples():
    accuracy = as_made("benchmark").accuracy
    assert dict(accuracy.sizes) == {"task": 16, "algorithm": 5, "run": 5, "training": 6}
    n_levels = accuracy.notnull().all(["algorithm", "run"]).sum("training")
    n_expected = {"breast cancer": 5, "iris": 3, "wine": 3}
    assert n_levels.values.tolist() == [n_expected.get(task, 6) for task in accuracy.task.values]
    assert (accuracy.notnull().any(["algorithm", "run"]).sum("training") == n_levels).all()
    tables = {
        "breast cancer": 569 - 320,
        "iris": 150 - 80,
        "wine": 178 - 80,
        "tic-tac-toe": 958 - 640,
    }
    n_examples = xr.DataArray([tables.get(task, 1000) for task in accuracy.task.values], dims="task")
    whole(accuracy.fillna(0) * n_examples / 100)
