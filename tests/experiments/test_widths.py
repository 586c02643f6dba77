"""The suite of widths and amounts of data that comes with the package."""

import numpy as np
import pytest

import xcurves
from experiments import widths
from refusals import raises_other


@pytest.mark.slow
def test_wider_learners_with_more_examples_have_lower_losses():
    runs = widths.losses([8, 64], [64, 512], seed=1).loss
    assert runs.dims == ("model_size", "tokens")
    assert runs[1, 1] < min(runs[0, 1], runs[1, 0]) < runs[0, 0]
    np.testing.assert_array_equal(runs, widths.losses([8, 64], [64, 512], seed=1).loss)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [([0, 4], "widths must increase"), ([8, 4], "widths must increase")],
)
def test_bad_widths_are_refused(sizes, message):
    with raises_other(ValueError, match=message):
        widths.losses(sizes)


@pytest.mark.slow
def test_the_bundled_suite_is_what_the_function_makes():
    bundled = xcurves.tutorial.open_dataset("widths")
    np.testing.assert_allclose(widths.losses().loss, bundled.loss, rtol=1e-6)
