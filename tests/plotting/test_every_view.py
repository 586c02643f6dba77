"""Every view of every kind can be read at any number of tasks and algorithms, or says what to select, which can.

``-m slow --contact-sheet FOLDER`` draws 1 to 60 tasks of 2 to 28 algorithms, which takes a quarter of an hour, and
writes the pictures there, a page for each view; without it, a few of these.
"""

import re
from itertools import product

import pytest
from matplotlib import pyplot as plt

from layers import every
from pictures import SMALL_PANEL, draw, draw_as_told, faults, page
from synthetic_results import (
    MOST_ALGORITHMS,
    REAL,
    VIEWS_OF_RESULTS,
    synthetic_curves,
    synthetic_result,
)
from test_kinds import made
from xcurves import kinds

pytestmark = pytest.mark.filterwarnings("ignore:.*folds vary:UserWarning")
VIEWS = [("curves", "runs"), *VIEWS_OF_RESULTS]
SIZES = list(product((1, 5, 20, 60), (2, 8, 28)))  # tasks and algorithms
FEW_SIZES = [(5, 28), (60, 2)]
ONE_ROW = 0.39  # inches of one interval, which is a line
IN_COLUMN = 0.44  # inches of a panel of the size that is named for a column
COLUMN = 3.3  # inches of a column of a paper
IN_A_COLUMN = [2, 8]  # algorithms of one task


def synthetic(name, view, n_tasks, n_algorithms):
    if name == "curves":
        return synthetic_curves(n_tasks, n_algorithms)
    return synthetic_result(name, n_tasks, n_algorithms, next(iter(kinds.kind(name).views[view].axes), None))


def sizes(view, asked):
    """Return numbers of tasks and algorithms, these at most as many as a view shows."""
    most = MOST_ALGORITHMS.get(view, max(algorithms for _, algorithms in asked))
    return list(dict.fromkeys((tasks, min(algorithms, most)) for tasks, algorithms in asked))


@pytest.mark.plain(1)
@pytest.mark.parametrize(("name", "view"), every(3, VIEWS))
def test_a_few_tasks_of_two_algorithms(name, view):
    result = synthetic(name, view, 2, 2)
    drawn = draw(result, view)
    in_rows = any(re.search("[a-z]", label.get_text()) for ax in drawn.axes for label in ax.get_yticklabels())
    assert faults(drawn, ONE_ROW if in_rows else SMALL_PANEL, sized=in_rows) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_any_number_of_tasks_and_algorithms(name, view, request):
    found, pictures = {}, []
    folder = request.config.getoption("--contact-sheet")
    for n_tasks, n_algorithms in sizes(view, SIZES if folder else FEW_SIZES):
        shown = synthetic(name, view, n_tasks, n_algorithms)
        drawn = draw(shown, view)
        if isinstance(drawn, str):
            assert "cannot be read in a figure of 14 by 14 inches. Select" in drawn
            assert n_tasks > 1 or n_algorithms > 8, drawn
            drawn = draw_as_told(shown, view, drawn)
        found[n_tasks, n_algorithms] = faults(drawn)
        pictures.append(drawn)
        plt.close(drawn)
    for _, n_algorithms in sizes(view, [(1, each) for each in IN_A_COLUMN]):
        shown = synthetic(name, view, 1, n_algorithms)
        drawn = draw(shown, view, figsize=(COLUMN, 0.8 * COLUMN))
        if isinstance(drawn, str):
            drawn = draw_as_told(shown, view, drawn, resized=True)
        pictures.append(drawn)
        found["column", n_algorithms] = faults(drawn, IN_COLUMN)
    page(pictures, folder, f"{name}-{view}")
    assert {case: faults for case, faults in found.items() if faults} == {}


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "view"),
    every(
        2,
        [(name, view) for name in sorted(REAL - {"fit_scaling_law"}) for view in kinds.kind(name).views],
    ),
)
def test_views_of_results_that_need_real_numbers(name, view):
    curves = synthetic_curves(1, 3)
    of_each = view == "curves"  # not of joined tasks
    result = curves.curves.speedup(reference=curves.algorithm[0].item(), target=250.0) if of_each else made(name)
    one = result.isel(task=0, drop=True) if "task" in result.dims else result
    assert faults(draw(one, view)) == []


@pytest.mark.plain(1)
@pytest.mark.parametrize("name", ["pairwise", "ss_profile"])
def test_curves_of_many_pairs_are_refused_by_name_and_left_out_else(name):
    many = synthetic_result(name, 1, 5)
    assert "more than 8 pairs have no curves here. Select algorithms before" in draw(many, "curve_difference")
    assert faults(draw(many, None)) == []


def test_boxes_of_many_pairs_are_refused_by_name():
    compared = synthetic_curves(12, 11).curves.across_tasks(n_resamples=99, rng=0)
    refusal = draw(compared, "task_differences")
    assert "more than 45 pairs have no boxes here. Select algorithms before" in refusal
