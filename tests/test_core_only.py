"""`pip install .` without extras, in an environment of its own."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

HERE = Path(__file__).parent
pytestmark = pytest.mark.environment


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """Return an interpreter that has the package and what it depends on; that of XCURVES_CORE if it is said."""
    if "XCURVES_CORE" in os.environ:
        return os.environ["XCURVES_CORE"]
    folder = tmp_path_factory.mktemp("core")
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    command = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--retries",
        "1",
        "--timeout",
    ]
    done = subprocess.run([*command, "10", str(HERE.parent)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no network, or nothing to install from: {done.stderr.strip().splitlines()[-1]}")
    return python


def test_the_core_alone_runs_the_four_methods_and_names_every_extra(core):
    done = subprocess.run([core, "-I", str(HERE / "core_only.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("the core alone is enough\n")


def test_the_core_alone_has_no_more_than_it_depends_on(core):
    code = "import importlib.metadata as m; print(*sorted({d.name.lower() for d in m.distributions()}))"
    found = set(subprocess.run([core, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.split())
    direct = {"numpy", "scipy", "pandas", "xarray", "xcurves"}
    indirect = {
        "packaging",
        "python-dateutil",
        "six",
        "pytz",
        "tzdata",
        "pip",
        "setuptools",
        "wheel",
    }
    assert direct <= found
    assert found <= direct | indirect


def test_the_command_line_needs_the_core_alone(core, tmp_path):
    command = [core, "-I", "-m", "xcurves", "--n-resamples", "99"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "benchmark-answer.nc",
        "benchmark.html",
    ]


def test_a_whole_analysis_names_the_extra_that_its_archive_needs(core, tmp_path):
    command = [core, "-I", "-m", "xcurves", "--include", "all", "--n-resamples", "99"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "needs netCDF4 or h5netcdf. Install it: pip install 'xcurves[io]'" in done.stderr
    assert not list(tmp_path.iterdir())
    assert sys.executable != core
