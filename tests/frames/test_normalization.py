from fractions import Fraction

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from lazy import refuse_to_compute
from strategies import make_scores


@pytest.fixture
def scores():
    values = np.random.default_rng(0).normal(size=(3, 2, 4))
    return make_scores(values, task=["x", "y", "z"], algorithm=["a", "b"], run=np.arange(4))


@pytest.fixture
def high():
    return xr.DataArray(
        [4.0, 2.0, 8.0, 1.0],
        {"task": ["z", "x", "y", "unused"]},
        ("task",),
        attrs={"units": "points"},
    )


def test_each_task_has_its_own_references(scores, high):
    found = scores.curves.normalize(low=-1, high=high)
    for task, top in (("x", 2), ("y", 8), ("z", 4)):
        np.testing.assert_allclose(found.sel(task=task), (scores.sel(task=task) + 1) / (top + 1))
    assert found.dims == scores.dims
    assert found.name == "score"
    assert found.attrs == {
        "units": "1",
        "history": "normalize(low=-1, high=<by task>)",
        "higher_is_better": 1,
    }
    assert set(found.coords) == set(scores.coords)


def test_references_may_have_several_dims_come_from_a_series_or_be_reversed(scores, high):
    series = pd.Series([1.0, 2, 3], pd.Index(["x", "y", "z"], name="task")).to_xarray()
    np.testing.assert_allclose(xcurves.normalize(scores, low=series, high=0)[0], 1 - scores[0])
    both = high * xr.DataArray([1, 2], {"algorithm": ["a", "b"]}, ("algorithm",))
    np.testing.assert_allclose(xcurves.normalize(scores, low=0, high=both)[2, 1], scores[2, 1] / 8)


def test_it_stays_lazy(scores, high):
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.normalize(scores.chunk(task=1), low=0, high=high)
    xr.testing.assert_identical(lazy.compute(), xcurves.normalize(scores, low=0, high=high))


@pytest.mark.parametrize(
    ("references", "message"),
    [
        (
            {"low": 1, "high": 1},
            "low and high are equal. Leave the task out, or give references that differ",
        ),
        (
            {"low": np.nan, "high": 1},
            "low must be a finite number; got nan. At most 1e+140 in size",
        ),
        (
            {"low": 0, "high": xr.DataArray([1.0, 2], {"task": ["x", "y"]}, ("task",))},
            "high has no reference for task 'z' (1 lacking). Add it to high",
        ),
        (
            {
                "low": 8,
                "high": xr.DataArray([1.0, 8, 2], {"task": ["x", "y", "z"]}, ("task",)),
            },
            "task 'y': low and high are equal. Leave the task out, or give references that differ",
        ),
        (
            {
                "low": 0,
                "high": xr.DataArray([1.0, np.inf, 2], {"task": ["x", "y", "z"]}, ("task",)),
            },
            "task 'y': high is not finite. Give a finite reference, or leave the task out",
        ),
        (
            {"low": 0, "high": xr.DataArray([1.0], {"suite": ["m"]}, ("suite",))},
            "high has the dim 'suite', which scores do not have; they have ('task', 'algorithm', 'run'). "
            "Average over it: high.mean('suite')",
        ),
        (
            {"low": 0, "high": xr.DataArray([1.0, 2, 3], dims=("task",))},
            "high and scores must both have labels on 'task', or neither. Add: assign_coords(task=...)",
        ),
        (
            {
                "low": 0,
                "high": xr.DataArray([1.0, 2, 3, 3], {"task": list("xyzz")}, ("task",)),
            },
            "high names a label of task twice. Keep one: high.drop_duplicates('task')",
        ),
        (
            {"low": xr.DataArray(-1.7e308), "high": xr.DataArray(1.7e308)},
            "high - low is beyond the largest number. Rescale scores and references",
        ),
    ],
)
def test_bad_references_say_what_to_do(scores, references, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        xcurves.normalize(scores, **references)
    assert str(caught.value) == message


def test_a_reference_is_any_real_number(scores):
    with_fraction = xcurves.normalize(scores, low=0, high=Fraction(1, 2))
    np.testing.assert_array_equal(with_fraction, scores * 2)
    assert with_fraction.attrs["history"].endswith("normalize(low=0, high=0.5)")
