"""A folder for tests that write where they run, one BLAS thread for each process, and how much hypothesis draws.

The plain run draws few examples; ``--hypothesis-profile=ci`` draws all, the same each time.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported; the processes of a run share the cores

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("plain", max_examples=20, deadline=None)
settings.load_profile("plain")


def pytest_addoption(parser):
    parser.addoption("--contact-sheet", metavar="FOLDER", help="write the pictures of every view, to be looked at")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Leave the doctests of tests out; there are none, and importing every file again takes long."""
    return [each for each in (yield) if not isinstance(each, DoctestModule)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
