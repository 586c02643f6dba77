"""Pairs as they are shown."""

import xarray as xr

from xcurves.say.pairs import shown_interval


def test_only_an_end_on_the_side_of_0_of_a_shown_difference_is_0():
    estimate = xr.DataArray([0.3, 0.3, 0.3, -0.3, -0.3, -0.3], dims="pair")
    shown = xr.DataArray([True, True, False, True, True, False], dims="pair")
    low = [-0.2, 0.1, -0.2, -0.5, -0.5, -0.5]
    high = [0.5, 0.5, 0.5, 0.2, -0.1, 0.2]
    interval = xr.DataArray([low, high], {"ci_bound": ["lower", "upper"]}, ("ci_bound", "pair"))
    found = shown_interval(estimate, interval, shown)
    assert found.dims == ("pair", "ci_bound")
    assert found.values.tolist() == [[0, 0.5], [0.1, 0.5], [-0.2, 0.5], [-0.5, 0], [-0.5, -0.1], [-0.5, 0.2]]
