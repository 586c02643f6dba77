"""A folder for tests that write where they run, one BLAS thread for each process, figures that nobody sees, and how
much hypothesis draws.

The plain run draws few examples; ``--hypothesis-profile=ci`` draws all, the same each time.
"""

import gc
import importlib.util
import os
import re
import sys
from collections import defaultdict

os.environ.setdefault("MPLBACKEND", "Agg")
# before numpy is imported; the processes of a run share the cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("plain", max_examples=10, deadline=None)
settings.load_profile("plain")


def pytest_addoption(parser):
    parser.addoption(
        "--contact-sheet",
        metavar="FOLDER",
        help="write the pictures of every view, to be looked at",
    )
    # whose option stands in pyproject.toml
    if importlib.util.find_spec("pytest_mpl") is None:
        parser.addoption(
            "--mpl",
            action="store_true",
            help="compare pictures, if pytest-mpl is installed",
        )
    parser.addoption(
        "--every-size",
        action="store_true",
        help="all sizes of pictures, not each two values",
    )


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "mpl_image_compare: compares a picture with a stored one, see pytest-mpl",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Leave the doctests of tests out; there are none, and importing every file again takes long."""
    return [each for each in (yield) if not isinstance(each, DoctestModule)]


def pytest_ignore_collect(collection_path, config):
    """Leave out, unread by Python, the files whose tests all have a mark that this run leaves out."""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    marks = re.findall(
        r"^pytestmark = \[?\s*pytest\.mark\.(\w+)",
        collection_path.read_text("utf-8"),
        re.MULTILINE,
    )
    return any(f"not {mark}" in config.option.markexpr for mark in marks) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow all but some cases of a test with the mark `plain`, evenly over their order."""
    cases = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("plain")
        if mark and not item.get_closest_marker("slow"):
            cases[item.parent, item.originalname, mark.args[0]].append(item)
    for (*_, most), alike in cases.items():
        taken = {place * len(alike) // most for place in range(most)}
        for place, item in enumerate(alike):
            if place not in taken:
                item.add_marker("slow")


def pytest_collection_finish():
    """What the collection made lives as long as the run: garbage is not looked for in it, and less often."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
