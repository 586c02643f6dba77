"""Numbers, units, intervals, p-values and counts as words: the cases that were written badly before."""

import numpy as np
import pytest
import xarray as xr

from xcurves.core import wording
from xcurves.core.tables import cell_text

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (812.4, "812"),
        (0.0794, "0.0794"),
        (0.12324, "0.123"),
        (-1.44, "−1.44"),
        (1.0, "1"),
        (-0.0, "0"),
        (0, "0"),
        (1.11e-16, "0"),
        (7.629e-06, "7.63 × 10⁻⁶"),
        (4.39405e10, "4.39 × 10¹⁰"),
        (-7.629e-06, "−7.63 × 10⁻⁶"),
        (999.6, "1,000"),
        (12345.6, "12,346"),
        (8000, "8,000"),
        (10000003.0, "10,000,003"),
        (0.5, "0.5"),
        (416.7, "417"),
        (99.96, "100"),
        (0.99996, "1"),
        (1e-4, "0.0001"),
        (2e9, "2 × 10⁹"),
        (INF, "∞"),
        (-INF, "−∞"),
        (NAN, "unknown"),
    ],
)
def test_a_number(value, said):
    assert wording.number(value) == said
    assert (
        wording.number(np.float32(value)) == said
        or abs(value) > 1e6
        or 0 < abs(value) < 1e-15
    )


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((-10, 111), "−10 to 111"),
        ((-INF, INF), "interval unbounded"),
        ((3, INF), "at least 3"),
        ((-INF, -0.5), "at most −0.5"),
        ((NAN, NAN), "no interval"),
        ((370.5, 454.5), "370 to 454"),
        ((-3.8356, 7.3622), "−3.8 to 7.4"),
        ((0.4269, 16.8), "0.4 to 16.8"),
        ((1204, 9876), "1,200 to 9,900"),
        ((-0.0004, 0.0206), "0.000 to 0.021"),
        ((1.2e-9, 4.4e-9), "1.2 × 10⁻⁹ to 4.4 × 10⁻⁹"),
        ((5, 5), "5 to 5"),
    ],
)
def test_an_interval(ends, said):
    assert wording.interval(*ends) == said


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.0794, "p = .079"),
        (0.0504, "p = .0504"),
        (0.04996, "p = .04996"),
        (0.05, "p = .050"),
        (1.0, "p = 1"),
        (0.9996, "p = 1"),
        (0.001, "p = .001"),
        (0.000999, "p < .001"),
        (3e-9, "p < .001"),
        (NAN, "no p"),
    ],
)
def test_a_p_value(p, said):
    assert wording.pvalue(p) == said


def test_a_p_at_the_floor_of_random_reassignments_says_so():
    assert (
        wording.pvalue(1e-4, 1e-4, 9999)
        == "p < .001 (the smallest that 9,999 reassignments can give)"
    )
    assert (
        wording.pvalue(2e-3, 2e-3, 499)
        == "p = .002 (the smallest that 499 reassignments can give)"
    )
    assert wording.pvalue(2e-4, 1e-4, 9999) == "p < .001"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((7.5765, -0.1, 15.917), "7.6 (−0.1 to 15.9)"),
        ((0.0213, 0.0121, 0.0549), "0.021 (0.012 to 0.055)"),
        ((812.4, 370.5, 1454.5), "810 (370 to 1,450)"),
        ((5, 2, INF), "5.0 (at least 2.0)"),
        ((5.25, -INF, INF), "5.25 (interval unbounded)"),
        ((5.25, NAN, NAN), "5.25 (no interval)"),
    ],
)
def test_an_estimate_and_its_interval_have_the_same_decimals(given, said):
    assert wording.estimated(*given) == said


def test_an_end_that_a_test_set_to_0_is_open():
    assert wording.open_interval(0, 15.917, 7.5765) == "more than 0 to 15.9"
    assert wording.open_interval(-15.917, 0, -7.5765) == "−15.9 to less than 0"
    assert wording.open_interval(0.5, 15.917, 7.5765) == "0.5 to 15.9"
    assert wording.open_interval(0, INF, 7) == "more than 0"


def test_counts_lists_and_spans():
    assert wording.count(1, "run") == "1 run"
    assert wording.count(9999, "reassignment") == "9,999 reassignments"
    assert wording.count(2, "family", "families") == "2 families"
    assert wording.listed(["a"]) == "a"
    assert wording.listed(["a", "b", "c"]) == "a, b and c"
    assert wording.listed(list("abcdefgh"), 2) == "a, b and 6 more"
    assert (
        wording.listed(["x 1, y 1", "x 1, y 2", "x 2, y 1"], 2)
        == "x 1, y 1; x 1, y 2 and 1 more"
    )
    assert wording.span([3, 5, 4]) == "3 to 5"
    assert wording.span([5]) == "5"
    assert wording.percent(0.07) == "7 %"
    assert wording.percent(1 - 0.9999999) == "1 × 10⁻⁵ %"


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (25618.78, "25619"),
        (-25618.78, "-25619"),
        (9072.31, "9072"),
        (2.5e-6, "2.5e-06"),
        (3e10, "3e+10"),
        (0.0, "0"),
    ],
)
def test_numbers_of_printed_tables_keep_four_digits_at_every_scale(value, printed):
    assert cell_text(value) == printed


@pytest.mark.parametrize(
    ("name", "units", "said"),
    [
        ("step", "steps", "steps"),
        ("training", "games", "training (games)"),
        ("steps", "steps", "steps"),
        ("environment steps", "steps", "environment steps"),
        ("error", "1", "error"),
        ("error", "fraction", "error"),
    ],
)
def test_a_label_says_its_unit_once(name, units, said):
    assert (
        wording.label_of(xr.DataArray(0.0, name=name, attrs={"units": units})) == said
    )
