import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import xcurves

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_version_is_that_of_the_project():
    assert xcurves.__version__ == tomllib.loads(PYPROJECT.read_text())["project"]["version"]


@pytest.mark.parametrize("name", ["py.typed", "data/tictactoe.nc"])
def test_the_package_ships(name):
    assert (files("xcurves") / name).is_file()


def test_importing_is_light():
    """scipy.stats and scipy.special alone would cost more than a fifth of importing xarray."""
    code = (
        "import sys, xarray; before = set(sys.modules); import xcurves; new = set(sys.modules) - before;"
        "heavy = 'scipy.stats scipy.special scipy.sparse dask distributed matplotlib tqdm sklearn netCDF4 zarr';"
        "print(sorted(new & set(heavy.split())))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_function_has_a_numpydoc_with_an_example():
    sections = ("Parameters\n", "Returns\n", "Raises\n", "Examples\n", ">>> ")
    for name in xcurves.__all__:
        function = getattr(xcurves, name)
        if callable(function):
            assert not [section for section in sections if section not in function.__doc__], name
