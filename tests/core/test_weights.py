"""Weights of labels: by name or one for each, numbers, and known."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from layers import slow
from refusals import ANY, refused
from strategies import make_curves
from xcurves.core.driver import number_of_run
from xcurves.core.validation import check_curves
from xcurves.core.weights import check_training_weights, run_numbers, weights_on


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


BY_LEVEL = "Name levels with a DataArray of dim 'training'"


@pytest.mark.parametrize(
    ("given", "value", "cure", "said"),
    [
        (xr.DataArray(1.0), "()", "Name labels with a DataArray of it", "must have the dim 'training'"),
        (
            xr.DataArray(np.ones((2, 3)), dims=("algorithm", "training")),
            "('algorithm', 'training')",
            "Name labels with a DataArray of it",
            "must have the dim 'training'",
        ),
        ([[1.0, 2.0, 3.0]], "shape (1, 3)", BY_LEVEL, "must have one weight for each of 3 levels"),
        ([1.0, 2.0], "shape (2,)", BY_LEVEL, "must have one weight for each of 3 levels"),
        ({8.0: 1}, 8.0, "They have 1.0, 2.0, 4.0", "names 8.0, which is no training of the curves"),
        (pd.Series([1, 1], [2.0, 2.0]), ANY, "Name each once", "names a label of training twice"),
        ([1e300, 1, 1], "[1e+300, 1.0, 1.0]", "Divide them by the largest", "must be at most 1e.140"),
        ([np.nan, 1, 1], "[nan, 1.0, 1.0]", None, "must be finite"),
        ([0, 0, 0], [0.0] * 3, "Give weight to at least one level", "are all zero"),
        ("last", "last", None, "must be None, 'final' or weights"),
    ],
)
def test_what_are_no_weights_is_refused(curves, given, value, cure, said):
    with refused("training_weights", value, cure, names=f"^training_weights {said}"):
        check_training_weights(curves, given)


@pytest.mark.parametrize("given", [object(), [1j, 1, 1]])
def test_weights_that_are_no_numbers_are_refused(curves, given):
    value = given if isinstance(given, list) else repr(given)
    with refused("training_weights", value, names="must be numbers", kind=xcurves.WrongType):
        check_training_weights(curves, given)


@pytest.mark.parametrize("dims", [("training", "x"), ("algorithm", "training", "x"), ("training",)])
def test_weights_of_a_contrast_have_the_dim_of_algorithms(curves, dims):
    with refused(
        "weights",
        cure="Try {'a': 1, 'b': -1}",
        names=r"^weights must be numbers with the dim 'algorithm', or with 'training' too",
    ):
        xcurves.contrast(curves, xr.DataArray(np.ones([2] * len(dims)), dims=dims))


def number(scores, levels, weights):
    """The number of one run by the rule, in plain loops; `levels` are those of its task."""
    if weights is None:
        return sum(scores[h] for h in levels) / len(levels)
    if isinstance(weights, str):
        return scores[levels[-1]]
    total = sum(weights) if min(weights) >= 0 else 1.0
    return sum(weights[h] / total * scores[h] for h in levels)


def benchmark():
    """Four tasks: whole, without the last level, without a run and a level in the middle, without any run."""
    values = np.random.default_rng(1).normal(size=(4, 2, 6, 5)).cumsum(axis=-1)
    values[1, ..., 4] = values[2, ..., 2] = values[2, 1, 0] = values[3] = np.nan
    made = make_curves(values, task=list("defg"))
    return made.assign_coords(algorithm=["b", "a"], run=[5, 3, 1, 0, 2, 4])


KINDS_OF_WEIGHTS = [
    None,
    "final",
    [1, 2, 0, 0.5, 0],
    [3, -1, 0, -2, 0],
    [0, 7, 0, 0, 0],
]


@pytest.mark.plain(2)
@pytest.mark.parametrize("chunks", [None, slow({"task": 1}), {"training": 2, "run": 3}])
@pytest.mark.parametrize("weights", KINDS_OF_WEIGHTS)
def test_a_run_is_one_number_as_in_plain_loops(weights, chunks):
    curves = check_curves(benchmark())
    given = curves if chunks is None else curves.chunk(chunks)
    found = number_of_run(given, run_numbers(check_training_weights(curves, weights)))
    assert found.dims == ("task", "algorithm", "run")
    assert found.run.values.tolist() == curves.run.values.tolist()
    for task in range(4):
        own = curves.values[task]
        levels = np.flatnonzero(~np.isnan(own).all(axis=(0, 1))).tolist()
        for place in np.ndindex(2, 6):
            expected = number(own[place], levels, weights) if levels else np.nan
            np.testing.assert_allclose(found.values[(task, *place)], expected, rtol=1e-13, atol=1e-13)


@pytest.mark.plain(2)
@pytest.mark.filterwarnings("ignore:so few tasks")
@pytest.mark.parametrize("chunks", [None, slow({"training": 2})])
@pytest.mark.parametrize("weights", KINDS_OF_WEIGHTS)
def test_weights_mean_the_same_in_every_method(weights, chunks):
    """The difference of algorithms in a task is that of the means of numbers made in plain loops."""
    curves = benchmark().isel(task=[0, 1, 2])
    expected = []
    for own in curves.values:
        levels = np.flatnonzero(~np.isnan(own).all(axis=(0, 1))).tolist()
        numbers = [[number(run, levels, weights) for run in runs if not np.isnan(run).all()] for runs in own]
        expected.append(np.mean(numbers[0]) - np.mean(numbers[1]))
    given = curves if chunks is None else curves.chunk(chunks)
    options = {"training_weights": weights, "n_resamples": 99, "rng": 0}
    across = xcurves.across_tasks(given, **options)
    of_contrast = xcurves.contrast(given, {"b": 1, "a": -1}, **options)
    looked = xcurves.sequential(given.assign_coords(look=("run", [1] * 6)), n_looks=2, **options)
    for found in (
        across.task_difference,
        of_contrast.estimate,
        looked.difference.isel(look=0),
    ):
        np.testing.assert_allclose(found.values.ravel(), expected, rtol=1e-12)
    if weights == "final":
        assert of_contrast.attrs["training_weights"] == "final"
        assert "at the end of training" in of_contrast.curves.summary()


@pytest.mark.parametrize("weights", [[0, 0, 0, 1, 1], [1, 0, 0, 0, -1]])
def test_weights_on_a_level_that_a_task_lacks_are_refused_by_every_method(weights):
    curves = benchmark().isel(task=[0, 1])
    for call in (
        lambda: xcurves.across_tasks(curves, training_weights=weights),
        lambda: xcurves.contrast(curves, {"b": 1, "a": -1}, training_weights=weights),
        lambda: xcurves.sequential(
            curves.assign_coords(look=("run", [1] * 6)),
            n_looks=2,
            training_weights=weights,
            n_resamples=99,
        ),
    ):
        with refused(
            "curves",
            cure="Give weight to the task's own training levels",
            names="^task 'e': training_weights gives weight to levels that no run has",
        ):
            call()


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no number is longer than a double here")
def test_the_same_scores_in_another_order_make_the_same_number():
    scores = np.random.default_rng(0).uniform(size=(1, 200, 30))
    both = np.concatenate([scores, np.random.default_rng(1).permuted(scores, axis=-1)])
    found = number_of_run(check_curves(make_curves(both)), run_numbers(None))
    np.testing.assert_array_equal(found[0], found[1])
