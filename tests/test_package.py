import ast
import importlib
import inspect
import os
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
    light = ["accessors", "core", "core.calls", "public_names"]
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


LOADED = """
import sys
from xcurves.__main__ import main

def loaded():
    ours = [name for name in sys.modules if name.partition(".")[0] == "xcurves"]
    print(len(ours), "matplotlib" in sys.modules, file=sys.stderr)

try:
    main(["--help"])
except SystemExit:
    loaded()
main([sys.argv[1], "--output", sys.argv[2]])
loaded()
"""


def test_a_command_imports_what_it_runs(tmp_path):
    """Help needs the names of options, an answer about logs one method, and neither of them matplotlib."""
    for algorithm, score in (("slow", 1.0), ("fast", 2.0)):
        for run in range(3):
            log = tmp_path / "logs" / algorithm / str(run) / "progress.csv"
            log.parent.mkdir(parents=True)
            log.write_text("".join(["step,reward\n", *(f"{step},{score * step + run}\n" for step in range(1, 6))]))
    given = [str(tmp_path / "logs"), str(tmp_path / "answer.nc")]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOADED, *given], capture_output=True, text=True, check=True
    )
    counts = re.findall(r"^(\d+) (True|False)$", done.stderr, re.MULTILINE)
    (of_help, _), (of_logs, _) = counts
    assert int(of_help) <= 30
    assert int(of_logs) <= 110
    assert {drawn for _, drawn in counts} == {"False"}


WRITING = """
import os, sys
from xcurves import __main__
from xcurves.reporting import page

def main():
    print(os.environ["MPLBACKEND"], "xcurves.plotting.explore" in sys.modules)
    return 0

__main__.main = main
__main__.shell()
"""


def test_a_command_that_writes_a_page_looks_for_no_windows_and_loads_no_scripts():
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    command = [sys.executable, "-W", "ignore", "-c", WRITING]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["agg", "False"]
