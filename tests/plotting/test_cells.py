"""Pictures with a cell for each task, pair or training level show the numbers of the result, each in its cell."""

import numpy as np
import pytest

from synthetic_results import synthetic_result

ALPHA = 0.05


def drawn(result, view):
    """Return the cells of a picture, and the labels of its rows and columns."""
    ax = result.curves.plot(view)
    (image,) = ax.images
    rows, columns = ([tick.get_text() for tick in axis.get_ticklabels()] for axis in (ax.yaxis, ax.xaxis))
    return np.ma.filled(image.get_array().astype(float), np.nan), rows, columns, ax


def decided_at(one):
    """Return the look at which a pair was rejected, NaN if at none."""
    for place in range(one.sizes["look"]):
        if one["rejected"].values[place] == 1:
            return one["look"].values[place]
    return np.nan


MATRICES = {
    ("compare_distributions", "prob_greater"): (
        lambda one: one["prob_greater"].item(),
        lambda value: 1 - value,
    ),
    ("sequential", "boundary"): (decided_at, lambda value: value),
}


@pytest.mark.plain(1)
@pytest.mark.parametrize(("name", "view"), MATRICES)
def test_of_many_algorithms_each_two_have_a_cell_on_both_sides_of_the_diagonal(name, view):
    result = synthetic_result(name, 1, 11)
    cells, rows, columns, _ = drawn(result, view)
    assert rows == columns
    value, turned = MATRICES[name, view]
    for place in range(result.sizes["pair"]):
        one = result.isel(pair=place)
        a, b = (rows.index(one[side].item()) for side in ("algorithm_a", "algorithm_b"))
        np.testing.assert_array_equal(cells[a, b], value(one))
        np.testing.assert_allclose(cells[b, a], turned(value(one)))
    assert np.isnan(np.diag(cells)).all()


def pairwise_cell(one):
    shown = one["pvalue_adjusted"].sel(effect="algorithm").item() <= ALPHA
    return np.sign(one["difference"].item()) * (2 if shown else 1)


def prob_greater_cell(one):
    low, high = sorted(one["prob_greater_ci_simultaneous"].values)
    return np.sign(one["prob_greater"].item() - 0.5) * (2 if low > 0.5 or high < 0.5 else 1)


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "view", "cell"),
    [
        ("pairwise", "difference", pairwise_cell),
        ("compare_distributions", "prob_greater", prob_greater_cell),
        ("sequential", "boundary", decided_at),
    ],
)
def test_of_many_tasks_each_task_and_pair_have_a_cell(name, view, cell):
    result = synthetic_result(name, 20, 3)
    cells, rows, columns, _ = drawn(result, view)
    assert (rows, columns) == (
        result["task"].values.tolist(),
        result["pair"].values.tolist(),
    )
    for row, task in enumerate(rows):
        for column, pair in enumerate(columns):
            np.testing.assert_array_equal(cells[row, column], cell(result.sel(task=task, pair=pair)))


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("view", "variable"),
    [("fraction", "fraction"), ("cumulative", "cumulative_fraction")],
)
def test_of_many_tasks_each_task_and_level_of_a_profile_have_a_cell(view, variable):
    result = synthetic_result("ss_profile", 20, 3)
    cells, rows, _, ax = drawn(result, view)
    assert rows == result["task"].values.tolist()
    np.testing.assert_array_equal(cells, result[variable].sel(effect="simple").transpose("task", "training"))
    dots = {(int(y), int(x)) for line in ax.lines for x, y in line.get_xydata()}
    p = result["pvalue_adjusted"].transpose("task", "training").values
    assert dots == ({tuple(place) for place in np.argwhere(p <= ALPHA).tolist()} if view == "fraction" else set())


def test_of_many_tasks_each_task_has_the_f_ratios_of_both_effects():
    result = synthetic_result("randomized_anova", 20, 3).sel(error_term="split_plot")
    ax = synthetic_result("randomized_anova", 20, 3).curves.plot("f")
    points = {
        line.get_label(): line.get_xydata() for line in ax.lines if line.get_label() in ("algorithm", "interaction")
    }
    for effect, found in points.items():
        one = result.sel(effect=effect)
        np.testing.assert_allclose(
            found[:, 0],
            [f / c for f, c in zip(one["f"].values, one["critical_value"].values, strict=True)],
        )
        assert found[:, 1].tolist() == list(range(20))
