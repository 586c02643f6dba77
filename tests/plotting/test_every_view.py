"""Every view of every kind can be read at any number of tasks and algorithms, or says what to select.

``-m slow --contact-sheet FOLDER`` draws 1 to 60 tasks of 2 to 28 algorithms, which takes a quarter of an hour, and
writes the pictures there, a page for each view; without it, a few of these.
"""

from itertools import product

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

from pictures import faults, page
from synthetic_results import synthetic_curves, synthetic_result
from xcurves import kinds

pytestmark = pytest.mark.filterwarnings("ignore:.*folds vary:UserWarning")
VIEWS = [("curves", "runs"), *((name, view) for name in kinds.NAMES for view in kinds.kind(name).views)]
SIZES = list(product((1, 5, 20, 60), (2, 8, 28)))  # tasks and algorithms
FEW_SIZES = [(5, 28), (20, 8), (60, 2)]
COLUMN = 3.3  # inches of a column of a paper
IN_A_COLUMN = [(1, 2), (1, 8)]
HIGHER = {"statistics": {"figsize": (COLUMN, 11.0), "col_wrap": 1}}  # a panel for each


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def draw(name, view, n_tasks, n_algorithms, **options):
    """Return the figure of a view, or the words with which it is refused."""
    curves = name == "curves"
    if curves:
        shown = synthetic_curves(n_tasks, n_algorithms)
    else:
        shown = synthetic_result(name, n_tasks, n_algorithms, kinds.kind(name).views[view].along)
    try:
        axes = shown.curves.plot(view, **options, **({"rng": 0, "n_resamples": 99} if curves else {}))
    except ValueError as error:
        return str(error)
    return np.ravel([axes])[0].figure


@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_a_few_tasks_of_two_algorithms(name, view):
    assert faults(draw(name, view, 2, 2)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_any_number_of_tasks_and_algorithms(name, view, request):
    found, pictures = {}, []
    folder = request.config.getoption("--contact-sheet")
    for n_tasks, n_algorithms in SIZES if folder else FEW_SIZES:
        drawn = draw(name, view, n_tasks, n_algorithms)
        if isinstance(drawn, str):
            assert "cannot be read in a figure of 14 by 14 inches. Select" in drawn
            assert ".curves.table()" in drawn or ".curves.to_frame()" in drawn
            assert n_tasks > 1 or n_algorithms > 8, drawn
            continue
        found[n_tasks, n_algorithms] = faults(drawn)
        pictures.append(drawn)
        plt.close(drawn)
    for n_tasks, n_algorithms in IN_A_COLUMN:
        drawn = draw(name, view, n_tasks, n_algorithms, **HIGHER.get(view, {"figsize": (COLUMN, 0.8 * COLUMN)}))
        pictures.append(drawn)
        if n_algorithms == 2:
            found["column"] = faults(drawn)
    page(pictures, folder, f"{name}-{view}")
    assert {case: faults for case, faults in found.items() if faults} == {}
