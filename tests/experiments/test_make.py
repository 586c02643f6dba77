"""The command that makes the example files again."""

import inspect
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest
import xarray as xr

from experiments import make

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(path.name.removesuffix(".nc") for path in Path(str(files("xcurves") / "data")).glob("*.nc"))


def quick(monkeypatch):
    """Let the first two examples be small."""
    options = {"learning_rates": [0.1], "n_runs": 2, "levels": [0, 5]}
    small = make.Example("tictactoe", options=options)
    monkeypatch.setattr(make, "EXAMPLES", {"tictactoe": small, "other": small})


def test_every_shipped_file_has_its_row_with_options_of_its_function():
    assert sorted(make.EXAMPLES) == SHIPPED
    for example in make.EXAMPLES.values():
        module = import_module(f"experiments.{example.module}")
        function = getattr(module, example.function)
        inspect.signature(function).bind(**example.options)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_file_says_its_command_and_the_seed_of_its_function(name):
    shipped = xr.load_dataset(files("xcurves") / "data" / f"{name}.nc", engine="scipy")
    python, script, *names = shlex.split(shipped.attrs["command"])
    assert (python, names) == ("python", [name])
    assert (ROOT / script).samefile(make.__file__)
    example = make.EXAMPLES[name]
    module = import_module(f"experiments.{example.module}")
    parameters = inspect.signature(getattr(module, example.function)).parameters
    assert parameters["seed"].default == shipped.attrs["seed"]
    assert "seed" not in example.options


@pytest.mark.parametrize(("names", "made"), [(["other"], ["other"]), ([], ["other", "tictactoe"])])
def test_named_examples_are_made_or_all(tmp_path, monkeypatch, names, made):
    quick(monkeypatch)
    make.main([*names, "--out", str(tmp_path)])
    assert sorted(path.stem for path in tmp_path.iterdir()) == made
    for name in made:
        found = xr.load_dataset(tmp_path / f"{name}.nc", engine="scipy")
        command = found.attrs.pop("command")
        assert command == f"python notebooks/experiments/make.py {name}"
        example = make.EXAMPLES[name]
        module = import_module(f"experiments.{example.module}")
        expected = module.learning_curves(**example.options)
        xr.testing.assert_identical(found, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["chess", "checkers"],
            f"NAME must be one of {', '.join(SHIPPED)}; got checkers",
        ),
        (["--out", "no/such"], "--out no/such: there is no such folder. Make it"),
    ],
)
def test_nothing_is_begun_where_something_is_wrong(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(make, "write", None)
    with pytest.raises(SystemExit, match="2"):
        make.main(arguments)
    assert capsys.readouterr().err.endswith(f"python notebooks/experiments/make.py: error: {message}\n")


def test_a_package_that_is_missing_is_named_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(SystemExit, match="2"):
        make.main(["endgame", "--out", str(tmp_path)])
    assert "pip install 'xcurves[sklearn]'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_script_runs_from_any_folder_and_makes_the_same_bytes(tmp_path):
    script = ROOT / "notebooks" / "experiments" / "make.py"
    subprocess.run([sys.executable, script, "tictactoe"], cwd=tmp_path, check=True)
    shipped = files("xcurves") / "data" / "tictactoe.nc"
    assert (tmp_path / "tictactoe.nc").read_bytes() == shipped.read_bytes()
