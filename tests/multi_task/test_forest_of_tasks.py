"""The difference of two algorithms in every task: what its axis and its rows are called."""

import numpy as np
import pytest
import xarray as xr

from xcurves.multi_task.plots import forest


def compared(**options):
    """Return two algorithms on ten tasks of a dim with a name of one letter; `low` has scores of 9, `high` of 11."""
    noise = np.random.default_rng(0).normal(size=(10, 2, 6, 1))
    curves = xr.DataArray(
        np.array([9.0, 11.0])[:, np.newaxis, np.newaxis] + noise,
        {"k": range(10), "algorithm": ["low", "high"], "training": [1.0]},
        ("k", "algorithm", "run", "training"),
    )
    return curves.curves.across_tasks(rng=0, n_resamples=99, **options)


@pytest.mark.parametrize(
    ("higher", "reference", "pair", "sign"),
    [
        (True, None, "high − low", 1),
        (False, None, "low below high", 1),
        (True, "high", "low − high", -1),
        (False, "high", "low − high", -1),
    ],
)
def test_the_axis_says_of_what_sign_the_differences_are(higher, reference, pair, sign):
    picture = forest(compared(higher_is_better=higher, reference=reference))
    assert picture.x_label.splitlines()[-1] == pair
    means = [row for row in picture.rows if row.name.startswith("mean")]
    assert [row.name for row in means] == ["mean, these k tasks", "mean, k tasks like these"]
    assert all(1 < sign * row.marks[0].value < 3 for row in means)
