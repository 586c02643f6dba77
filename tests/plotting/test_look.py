"""The look: names moved apart, and a style for papers that matplotlib finds in the package."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from pictures import faults
from synthetic_results import synthetic_curves
from xcurves.draw import drawn_names, look


@given(st.lists(st.floats(0, 10), min_size=1, max_size=8))
def test_names_are_moved_apart_and_keep_their_order_and_their_middle(heights):
    moved = drawn_names.moved_apart(np.array(heights), 1.0)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(moved[order]) >= 1 - 1e-3).all()
    np.testing.assert_allclose(moved.mean(), np.mean(heights), atol=1e-9)


def test_names_that_have_room_stay_where_they_are():
    np.testing.assert_array_equal(drawn_names.moved_apart(np.array([5.0, 1.0, 3.0]), 2.0), [5, 1, 3])


def test_the_style_of_papers_has_fonts_that_journals_embed():
    with plt.style.context("xcurves.draw.paper"):
        assert (
            plt.rcParams["pdf.fonttype"],
            plt.rcParams["ps.fonttype"],
            plt.rcParams["font.size"],
        ) == (42, 42, 8)
    assert look.WIDTH_COLUMN < look.WIDTH_TEXT


@pytest.mark.slow
def test_eight_panels_have_room_in_the_width_of_a_text():
    axes = synthetic_curves(8, 4).curves.plot(figsize=(look.WIDTH_TEXT, 3))
    assert len(axes) == 8
    assert faults(axes[0].figure) == []
