"""Weights of labels: by name or one for each, numbers, and known."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from strategies import make_curves
from xcurves.core.weights import check_training_weights, weights_on


@pytest.fixture
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(2, 4, 3))).assign_coords(training=[1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    "given",
    [
        [0, 3, 1],
        np.array([0, 3, 1]),
        {4.0: 1, 2: 3},
        pd.Series([1, 3], [4.0, 2.0]),
        xr.DataArray([1, 3], {"training": [4, 2]}, ("training",)),
        xr.DataArray([0, 3, 1], dims="training"),
    ],
)
def test_labels_that_are_not_named_have_none(curves, given):
    found = weights_on(curves, "training", given, "training_weights")
    assert found.to_series().to_dict() == {1.0: 0, 2.0: 3, 4.0: 1}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (xr.DataArray(1.0), ValueError, r"must have the dim 'training'; got \(\)"),
        (xr.DataArray(np.ones((2, 3)), dims=("algorithm", "training")), ValueError, "must have the dim 'training'"),
        ([[1.0, 2.0, 3.0]], ValueError, r"must have one weight for each of 3 levels; got shape \(1, 3\)"),
        ([1.0, 2.0], ValueError, r".*got shape \(2,\). Name levels with a DataArray of dim 'training'"),
        (object(), TypeError, "must be numbers; got <object"),
        ([1j, 1, 1], TypeError, "must be numbers; got"),
        ({8.0: 1}, ValueError, r"names 8.0, which is no training of the curves; they have 1.0, 2.0, 4.0"),
        (pd.Series([1, 1], [2.0, 2.0]), ValueError, "names a label of training twice"),
        ([1e300, 1, 1], ValueError, "must be at most 1e.140; got .* Divide them"),
        ([np.nan, 1, 1], ValueError, "must be finite; got"),
        ([0, 0, 0], ValueError, "are all zero. Give weight to at least one level"),
        ("last", ValueError, "must be None, 'final' or weights; got 'last'"),
    ],
)
def test_what_are_no_weights_is_refused(curves, given, error, message):
    with pytest.raises(error, match=rf"^training_weights {message}"):
        check_training_weights(curves, given)


@pytest.mark.parametrize("dims", [("training", "x"), ("algorithm", "training", "x"), ("training",)])
def test_weights_of_a_contrast_have_the_dim_of_algorithms(curves, dims):
    with pytest.raises(ValueError, match=r"^weights must be numbers with the dim 'algorithm', or with 'training' too"):
        xcurves.contrast(curves, xr.DataArray(np.ones([2] * len(dims)), dims=dims))


def test_labels_that_cannot_be_encoded_can_be_contrasted(curves):
    plain = xcurves.contrast(curves.assign_coords(algorithm=["b", "a"]), {"b": 1, "a": -1})
    odd = xcurves.contrast(curves.assign_coords(algorithm=["b\ud800", "a"]), {"b\ud800": 1, "a": -1})
    assert odd["pvalue"].item() == plain["pvalue"].item()
