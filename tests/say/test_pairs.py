"""Pairs as they are shown."""

import numpy as np
import xarray as xr

from xcurves.say.pairs import say_open_ends, shown_interval


def test_only_an_end_on_the_side_of_0_of_a_shown_difference_is_0():
    estimate = xr.Variable("pair", [0.3, 0.3, 0.3, -0.3, -0.3, -0.3])
    shown = xr.Variable("pair", [True, True, False, True, True, False])
    low = [-0.2, 0.1, -0.2, -0.5, -0.5, -0.5]
    high = [0.5, 0.5, 0.5, 0.2, -0.1, 0.2]
    interval = xr.DataArray([low, high], {"ci_bound": ["lower", "upper"]}, ("ci_bound", "pair"))
    found = shown_interval(estimate, interval, shown)
    assert found.dims == ("pair", "ci_bound")
    assert found.values.tolist() == [[0, 0.5], [0.1, 0.5], [-0.2, 0.5], [-0.5, 0], [-0.5, -0.1], [-0.5, 0.2]]


def shown_pairs(amounts, lows, highs):
    interval = xr.DataArray(np.stack([lows, highs], axis=-1), {"ci_bound": ["lower", "upper"]}, ["pair", "ci_bound"])
    return xr.Dataset({"amount": ("pair", np.asarray(amounts, float)), "interval": interval})


def test_the_footnote_of_open_ends_has_the_sides_that_the_cells_have():
    above, below = shown_pairs([2, 1], [0, -1], [4, 3]), shown_pairs([-2, 1], [-4, -1], [0, 3])
    end = " than 0: by the test; the level is claimed for the interval without it."
    assert say_open_ends(above) == f"More{end}"
    assert say_open_ends(below) == f"Less{end}"
    assert say_open_ends(above, below) == say_open_ends(below, above) == f"More or less{end}"
    assert say_open_ends(shown_pairs([2.0], [1.0], [4.0])) == ""
