"""A bar is shown where it is asked for, or where a long call is watched; never in a pipe."""

import io
import sys
import types
from functools import partial

import numpy as np
import pytest
import xarray as xr

import xcurves
from strategies import make_curves
from xcurves.core import validation
from xcurves.core.validation import check_progress

tqdm = pytest.importorskip("tqdm")


class Screen(io.StringIO):
    def __init__(self, *, terminal):
        super().__init__()
        self.isatty = lambda: terminal


@pytest.fixture
def run(monkeypatch):
    """Run blocks of so many seconds each, by a clock of the test; return what is written to standard error."""
    clock = [0.0]
    for module in (validation, tqdm.std):
        monkeypatch.setattr(module, "time", lambda: clock[0])

    def run(asked, seconds, *, terminal=True, loops=1, total=None, **options):
        screen = Screen(terminal=terminal)
        monkeypatch.setattr(sys, "stderr", screen)
        bar = check_progress(asked, "deals", **options)
        for _ in range(loops):
            blocks = range(len(seconds)) if total is None else iter(range(len(seconds)))
            for number in bar(blocks) if total is None else bar(blocks, total=total):
                clock[0] += seconds[number]
        return screen.getvalue()

    return run


@pytest.mark.parametrize(
    ("seconds", "is_long"),
    [
        ([0.6] * 10, True),
        ([0.4] * 10, False),
        ([0.01] * 100, False),
        ([0.01] * 600, True),
        ([4], False),
        ([3, 3], True),
    ],
)
def test_in_a_terminal_a_call_that_lasts_shows_a_bar(run, seconds, is_long):
    for total in (None, len(seconds)):
        written = run(None, seconds, total=total)
        assert ("deals" in written) == is_long
        assert (f"/{len(seconds)} [" in written) == is_long
        assert not written or written.endswith("\r")  # the line is empty again


def test_many_short_loops_are_one_long_call(run):
    assert run(None, [0.2] * 4, loops=4) == ""
    assert "deals" in run(None, [0.2] * 4, loops=10)


@pytest.mark.parametrize("asked", [None, False])
def test_in_a_pipe_there_is_no_bar(run, asked):
    assert run(asked, [9] * 9, terminal=False) == ""


def test_a_bar_that_is_asked_for_is_shown_anywhere_and_none_that_is_not(run):
    assert "deals" in run(True, [0.01], terminal=False)
    assert run(False, [9] * 9) == ""
    assert run(None, [9] * 9, lazy=True) == run(True, [9] * 9, lazy=True) == ""


@pytest.mark.parametrize(
    ("shell", "watched"),
    [(types.SimpleNamespace(kernel=1), True), (object(), False), (None, False)],
)
def test_a_notebook_has_a_kernel(monkeypatch, shell, watched):
    monkeypatch.setattr(sys, "stderr", Screen(terminal=False))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert validation.is_watched() == watched


def test_without_tqdm_only_a_bar_that_is_asked_for_is_missed(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert run(None, [9] * 9) == ""
    with pytest.raises(
        ImportError,
        match=r"^progress=True needs tqdm\. Install it: pip install 'xcurves\[progress\]'$",
    ):
        run(True, [9] * 9)


@pytest.mark.plain(2)
@pytest.mark.parametrize(
    "name",
    [
        "randomized_anova",
        "ss_profile",
        "across_tasks",
        "profile_across_tasks",
        "runs_needed",
    ],
)
@pytest.mark.filterwarnings("ignore:an algorithm has 6 pilot runs")
@pytest.mark.filterwarnings("ignore:power 0.8 is reached with none")
def test_a_bar_of_a_method_changes_no_number(monkeypatch, name):
    monkeypatch.setattr(validation, "_LONG_CALL", -1.0)
    curves = make_curves(np.random.default_rng(0).normal(size=(8, 2, 6, 5)), task=list("stuvwxyz"))

    def call():
        if name == "runs_needed":
            test = partial(xcurves.randomized_anova, n_resamples=19)
            return xcurves.runs_needed(curves[0], test=test, n_runs=[4, 6], n_replications=4, rng=0)
        return getattr(xcurves, name)(curves, n_resamples=200, rng=0)

    plain = call()
    screen = Screen(terminal=True)
    monkeypatch.setattr(sys, "stderr", screen)
    xr.testing.assert_identical(call(), plain)
    assert "/" in screen.getvalue()


def test_without_standard_error_there_is_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert check_progress(None) is validation.no_bar
