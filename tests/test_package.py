import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

import xcurves

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_version_is_that_of_the_project():
    assert xcurves.__version__ == tomllib.loads(PYPROJECT.read_text())["project"]["version"]


@pytest.mark.parametrize("name", ["py.typed", "reporting/page.html", "data/tictactoe.nc", "data/chess.nc"])
def test_the_package_ships(name):
    assert (files("xcurves") / name).is_file()


def test_importing_is_light():
    """All modules at once would take half of the time that importing xarray does."""
    code = "import sys, xarray; before = set(sys.modules); import xcurves; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    light = ["accessors", "accessors.method", "public_names"]
    assert done.stdout.strip() == str(["xcurves", *(f"xcurves.{name}" for name in light)])


def test_every_public_name_is_where_type_checkers_are_told():
    stub = Path(xcurves.__file__).with_suffix(".pyi")
    told = {
        alias.asname: (node.module, alias.name)
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(told) == xcurves.__all__
    for name, (module, original) in told.items():
        written = getattr(importlib.import_module(module), original)
        assert inspect.unwrap(getattr(xcurves, name)) is inspect.unwrap(written)


def test_no_module_has_the_name_of_a_function():
    """Importing such a module anywhere would put it in the function's place."""
    modules = {module.name for module in pkgutil.iter_modules(xcurves.__path__)}
    assert not modules & {name for name in xcurves.__all__ if callable(getattr(xcurves, name))}


def test_modules_share_a_name_only_as_the_same_part_of_families():
    root = Path(xcurves.__file__).parent
    shapes = ("pictures", "draw")  # where a module is named by the shape that one has as data and one draws
    names = Counter(path.stem for path in root.rglob("*.py") if path.parent.name not in shapes)
    shared = {name for name, n in names.items() if n > 1}
    assert shared == {"__init__", "kinds", "plots", "tables", "text"}


@pytest.mark.parametrize("name", ["read", "write", "open_dataset"])
def test_a_function_of_a_module_that_is_looked_for_here_is_named(name):
    with pytest.raises(AttributeError) as caught:
        getattr(xcurves, name)
    places = re.findall(rf"xcurves\.(\w+)\.{name}\b", str(caught.value))
    assert places
    assert all(callable(getattr(getattr(xcurves, module), name)) for module in places)
