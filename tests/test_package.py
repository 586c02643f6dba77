import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import xcurves

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_version_is_that_of_the_project():
    assert (
        xcurves.__version__
        == tomllib.loads(PYPROJECT.read_text())["project"]["version"]
    )


@pytest.mark.parametrize(
    "name", ["py.typed", "reporting/page.html", "data/tictactoe.nc", "data/chess.nc"]
)
def test_the_package_ships(name):
    assert (files("xcurves") / name).is_file()


def test_importing_is_light():
    """All modules at once would take half of the time that importing xarray does."""
    code = "import sys, xarray; before = set(sys.modules); import xcurves; print(sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    light = ["accessors", "accessors.method", "kinds"]
    assert done.stdout.strip() == str(
        ["xcurves", *(f"xcurves.{name}" for name in light)]
    )


def told_to_type_checkers(package):
    """Return the public names of a package for type checkers, with the module and the name that each is there."""
    imports = (
        (node.module, alias)
        for block in ast.walk(ast.parse(Path(package.__file__).read_text()))
        if isinstance(block, ast.If)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )
    told = {}
    for module, alias in imports:
        told |= (
            named_by_star(module)
            if alias.name == "*"
            else {alias.asname: (module, alias.name)}
        )
    return told


def named_by_star(name):
    package = importlib.import_module(name)
    if hasattr(package, "__all__"):
        return {each: (name, each) for each in package.__all__}
    return told_to_type_checkers(package)


def test_every_public_name_is_where_type_checkers_are_told():
    told = told_to_type_checkers(xcurves)
    assert sorted(told) == xcurves.__all__
    for name, (module, original) in told.items():
        written = getattr(importlib.import_module(module), original)
        assert inspect.unwrap(getattr(xcurves, name)) is inspect.unwrap(written)


def test_no_module_has_the_name_of_a_function():
    """Importing such a module anywhere would put it in the function's place."""
    modules = {module.name for module in pkgutil.iter_modules(xcurves.__path__)}
    assert not modules & {
        name for name in xcurves.__all__ if callable(getattr(xcurves, name))
    }
