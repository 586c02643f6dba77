"""Results as Datasets: their coordinates and what they share with what was given."""

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.anova.kinds import RANDOMIZED_ANOVA
from xcurves.core.schema import ResultKind


def make(kind: ResultKind, **coords):
    variables = {"pvalue": xr.Variable(("task", "effect", "error_term"), np.zeros((2, 2, 3)))}
    return kind.dataset(variables, coords, {}, xr.DataArray(0.0))


def test_results_do_not_share_attributes():
    first = make(RANDOMIZED_ANOVA)
    first["effect"].attrs["long_name"] = "changed"
    first["pvalue"].attrs["long_name"] = "changed"
    second = make(RANDOMIZED_ANOVA)
    assert second["effect"].attrs == {"long_name": "effect"}
    assert second["pvalue"].attrs["long_name"] != "changed"


def test_coordinates_equal_those_that_xarray_makes():
    levels = pd.MultiIndex.from_product([["x"], ["y", "z"]], names=["a", "b"])
    stacked = xr.DataArray([1.0, 2.0], dims="task").assign_coords(xr.Coordinates.from_pandas_multiindex(levels, "task"))
    plain = xr.DataArray([1.0, 2.0], {"task": ["x", "y"], "suite": ("task", [1, 2])}, ["task"])
    without = plain.drop_indexes("task")
    for given in (stacked, plain, without):
        found = make(RANDOMIZED_ANOVA, **given.coords)
        for name, each in given.coords.items():
            assert found[name].dims == each.dims
            assert (found[name].to_numpy() == each.to_numpy()).all()
        assert set(found.xindexes) == set(given.xindexes) | {
            "task",
            "effect",
            "error_term",
        }


def test_results_share_no_labels_and_given_coordinates_keep_their_attributes():
    given = xr.DataArray([1.0, 2.0], {"task": ["x", "y"]}, ["task"])
    found = make(RANDOMIZED_ANOVA, **given.coords)
    found["task"].attrs["comment"], found["effect"].values[0] = (
        "of the result",
        "changed",
    )
    assert not given["task"].attrs
    assert make(RANDOMIZED_ANOVA, **given.coords)["effect"].values.tolist() == [
        "algorithm",
        "interaction",
    ]
