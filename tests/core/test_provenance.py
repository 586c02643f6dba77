import warnings

import numpy as np
import pytest
import xarray as xr

import xcurves
from strategies import make_curves
from xcurves.core import provenance


def test_significance_is_counted_and_not_rounded():
    assert provenance.significant(0.1, 0.1)
    assert provenance.significant(3 / 30, 0.1)
    assert not provenance.significant(0.1 + 1 / 9999, 0.1)


def test_smallest_p_follows_from_the_counts():
    def smallest(n_resamples, n_assignments):
        return provenance.smallest_reachable(xr.Dataset({"n_resamples": n_resamples, "n_assignments": n_assignments}))

    assert smallest(10, 10.0) == 0.1
    assert smallest(999, 92378.0) == 0.001


@pytest.mark.parametrize("through", [lambda c: c.curves.randomized_anova(), xcurves.randomized_anova])
def test_a_warning_points_at_the_line_that_called(through):
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 3, 4)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        through(curves)
    assert caught[0].filename == __file__


def test_an_exact_result_without_a_seed_repeats_itself():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 5, 4)))
    for method in ("randomized_anova", "pairwise"):
        first, second = (getattr(curves.curves, method)() for _ in range(2))
        xr.testing.assert_identical(first, second)
        xr.testing.assert_identical(first, getattr(curves.curves, method)(rng=0))
    random = curves.curves.randomized_anova(n_resamples=100)
    assert random.attrs["rng"] != "0"
