"""Checks of values inside the graph, with their exact messages."""

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from strategies import make_curves
from xcurves.core.refusal import call, give
from xcurves.core.run_checks import as_float


@pytest.fixture
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)))


def test_an_incomplete_run_is_named_with_its_cures(curves):
    tasks = xr.concat([curves, curves], "task").assign_coords(task=["Ant", "Hopper"])
    tasks[1, 0, 2, :2] = np.nan
    tasks[1, 1, 3, 0] = np.nan
    with refused("curves", ("'a0'", "2"), cure=call(".curves.align", 2, relative_to="budget")) as caught:
        xcurves.randomized_anova(tasks)
    assert str(caught.value) == (
        "task 'Hopper': algorithm 'a0', run 2 lacks 2 of 3 training levels (2 incomplete runs in all). "
        "Bring every task to fractions of its budget with .curves.align(2, relative_to='budget') or leave incomplete "
        "ones out with .curves.drop_incomplete()"
    )


def test_one_incomplete_run_is_not_counted(curves):
    curves[0, 2, 0] = np.nan
    with refused("curves", ("'a0'", "2"), cure=call(".curves.align", "intersection")):
        xcurves.randomized_anova(curves)


def test_an_infinite_score_is_named(curves):
    curves[1, 2, 0] = -np.inf
    with refused("curves", ("'a1'", "2"), cure=call(".curves.fill_failed", "worst")) as caught:
        xcurves.randomized_anova(curves)
    assert str(caught.value) == (
        "algorithm 'a1', run 2 has infinite values, -inf: a run that failed, if higher is better, and has no mean. Say "
        "what it counts as with .curves.fill_failed('worst') or compare ranks with .curves.compare_distributions()"
    )


def test_one_algorithm_is_no_comparison(curves):
    with refused("curves", cure="Add runs of another algorithm", names="only") as caught:
        xcurves.randomized_anova(curves.isel(algorithm=[0]))
    assert str(caught.value) == "only algorithm 'a0' has runs; a comparison needs two. Add runs of another algorithm"


def test_paired_runs_must_match(curves):
    curves[1, 2] = np.nan
    curves[1, 3] = np.nan
    with refused("curves", cure=give(paired=False)) as caught:
        xcurves.randomized_anova(curves, paired=True)
    assert str(caught.value) == (
        "paired=True needs every run in every algorithm; algorithm 'a1' lacks run 2, 3. "
        "Select the common runs, or use paired=False"
    )


@pytest.mark.parametrize(
    ("scale", "message"),
    [(1e-170, "small"), (1e160, "large")],
)
@pytest.mark.parametrize("method", ["randomized_anova", "pairwise"])
def test_scores_whose_squares_overflow_or_vanish_are_refused(curves, method, scale, message):
    with refused("curves", cure="curves / abs(curves).max()", names=f"^scores are too {message} to be squared"):
        getattr(xcurves, method)(curves * scale)
    getattr(xcurves, method)(curves * scale / abs(curves * scale).max())


def test_one_run_each_leaves_no_error(curves):
    with refused(
        "curves", cure="Add runs", names=r"^no algorithm has two runs; without them there is no error .*Add runs$"
    ):
        xcurves.randomized_anova(curves.isel(run=[0]))


def test_a_count_beyond_any_float_is_infinite():
    assert as_float(3**600) == float(3**600)
    assert as_float(2**1024) == np.inf
