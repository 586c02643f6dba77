"""The largest of many numbers, against a sort."""

import numpy as np
import pytest

from xcurves.kernels.resampling.adjustments import largest_of


@pytest.mark.parametrize("size", [1, 7, 300, 2_000, 5_000])
@pytest.mark.parametrize("kind", ["normal", "ties", "rising", "alternating", "infinite", "unknown", "single"])
def test_the_smallest_of_the_largest_comes_first(size, kind):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 3, 5_000))
    if kind == "ties":
        values = np.round(values)
    if kind == "rising":
        values = np.sort(values, axis=-1)
    if kind == "alternating":
        values[..., ::16] += 100  # what is looked at first says nothing of the others
    if kind == "infinite":
        values[..., :700] = np.inf
    if kind == "unknown":
        values[..., rng.permutation(5_000)[:400]] = np.nan
    if kind == "single":
        values = values.astype(np.float32)
    expected = np.sort(values, axis=-1)[..., -size:]  # NaN last
    found = largest_of(values.copy(), size)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found[..., 0], expected[..., 0])
    np.testing.assert_array_equal(np.sort(found, axis=-1), expected)


def test_there_may_be_more_rows_than_numbers_that_are_looked_at_first():
    values = np.random.default_rng(0).normal(size=(300, 4_096))
    found = largest_of(values.copy(), 7)
    np.testing.assert_array_equal(np.sort(found, axis=-1), np.sort(values, axis=-1)[:, -7:])
