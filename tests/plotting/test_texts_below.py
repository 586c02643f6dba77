"""Texts below rows: no picture is cut, and none changes from one drawing to the next."""

import numpy as np
import pytest
import xarray as xr

from layers import slow
from pictures import faults
from synthetic_results import synthetic_result


@pytest.mark.slow
@pytest.mark.parametrize("n_algorithms", [2, slow(4)])
def test_texts_wider_than_their_panel_end_with_it_and_leave_its_width(n_algorithms):
    panels = synthetic_result("pairwise", 3, n_algorithms).curves.plot("difference", figsize=(5.5, 3.2))
    figure = panels[0].figure
    assert faults(figure, sized=True) == []
    widths = []
    for _ in range(3):
        figure.draw_without_rendering()
        widths.append([ax.bbox.width for ax in panels])
    np.testing.assert_allclose(widths[1:], [widths[0]] * 2, rtol=0.01)


@pytest.mark.slow
def test_what_a_label_says_in_lines_of_its_own_stays_apart():
    panels = synthetic_result("pairwise", 3, 4).curves.plot("difference", figsize=(5.5, 3.2))
    lines = panels[-1].get_xlabel().split("\n")
    assert len(lines) > 2  # it has no room for two
    at = lines.index(next(line for line in lines if line.startswith("in brackets")))
    assert " ".join(lines[:at]) == "how much higher in mean score (points)"
    assert " ".join(lines[at:]) == "in brackets: 95 %, all pairs"


@pytest.mark.plain(1)
@pytest.mark.parametrize(("size", "has_bars"), [((6.0, 3.2), True), ((3.3, 2.6), False)])
def test_bars_of_pairs_stand_where_they_leave_the_curves_room(size, has_bars):
    one = synthetic_result("profile_across_tasks", 3, 3)
    result = xr.concat([one, one], xr.DataArray(["easy", "hard"], dims="suite", name="suite"), data_vars="all")
    panels = result.assign_attrs(one.attrs).curves.plot("mean_curve", figsize=size)
    assert [bool(ax.child_axes) for ax in panels] == [has_bars] * 2
    assert faults(panels[0].figure, sized=True) == []
