"""Numbers, units, intervals, p-values and counts as words: the cases that were written badly before."""

import re

import numpy as np
import pytest
import xarray as xr

from xcurves.say import numbers

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
    assert numbers.number(value) == said
    assert numbers.number(np.float32(value)) == said or abs(value) > 1e6 or 0 < abs(value) < 1e-15


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((-10, 111), "−10 to 111"),
        ((-INF, INF), "interval unbounded"),
        ((3, INF), "at least 3"),
        ((1.23456, INF), "at least 1.23"),
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
    assert numbers.interval(*ends) == said


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.0794, "p = .079"),
        (0.0504, "p = .0504"),
        (0.04996, "p = .04996"),
        (0.05, "p = .050"),
        (0.05 + 1e-9, "p = .050000"),
        (1.0, "p = 1"),
        (0.9996, "p = 1"),
        (0.001, "p = .001"),
        (0.000999, "p < .001"),
        (3e-9, "p < .001"),
        (NAN, "no p"),
    ],
)
def test_a_p_value(p, said):
    assert numbers.pvalue(p) == said


def test_a_p_at_the_floor_of_random_reassignments_says_so():
    assert numbers.pvalue(1e-4, 1e-4, 9999) == "p < .001 (the smallest that 9,999 reassignments can give)"
    assert numbers.pvalue(2e-3, 2e-3, 499) == "p = .002 (the smallest that 499 reassignments can give)"
    assert numbers.pvalue(2e-4, 1e-4, 9999) == "p < .001"


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
    assert numbers.estimated(*given) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        # two digits of the estimate where its interval is far wider
        ((4.1, 0, 2500), "4.1 (0.0 to 2,500.0)"),
        ((1.4, 0.2, 900), "1.4 (0.2 to 900.0)"),
        ((0.0123, -3, 3), "0.012 (−3.000 to 3.000)"),
        # of an estimate of 0, or of what rounding leaves of it, those of the interval
        ((0, -3.21, 3.4), "0.0 (−3.2 to 3.4)"),
        ((1e-16, -3.21, 3.4), "0.0 (−3.2 to 3.4)"),
        # one end: the distance from it
        ((100, 96.1, INF), "100.0 (at least 96.1)"),
        ((100, -INF, 196), "100 (at most 196)"),
        ((5.2549, 5.2549, 5.2549), "5.25 (5.25 to 5.25)"),
        ((3.2e-7, 1.1e-7, 5e-4), "3.2 × 10⁻⁷ (1.1 × 10⁻⁷ to 0.00050000)"),
        ((3e-9, 0, 6.1e-9), "3.0 × 10⁻⁹ (0 to 6.1 × 10⁻⁹)"),
        ((3.14e12, 2.9e12, 3.4e12), "3.14 × 10¹² (2.90 × 10¹² to 3.40 × 10¹²)"),
        ((0.0, -1e308, 1.5e308), "0 (−1.0 × 10³⁰⁸ to 1.5 × 10³⁰⁸)"),
    ],
)
def test_an_estimate_has_two_digits_at_least(given, said):
    assert numbers.estimated(*given) == said


_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def parsed(text):
    """A printed number, and the unit of its last digit; None of a 0 without decimals."""
    text = text.replace("−", "-").replace(",", "")
    mantissa, _, power = text.partition(" × 10")
    exponent = int(power.translate(_DIGITS) or 0)
    decimals = len(mantissa.partition(".")[2])
    return float(f"{mantissa}e{exponent}"), exponent - decimals


def digits_of(text):
    """How many digits a printed number has from its first that is not 0."""
    mantissa = text.partition(" × 10")[0]
    return len(re.sub(r"[^0-9]", "", mantissa).lstrip("0"))


SIZES = [s * 10.0**p for p in range(-9, 13) for s in (1, 1.049, 3.3, 9.951, 9.996)]


@pytest.mark.plain(1)
@pytest.mark.parametrize("side", ["both", "lower", "upper"])
def test_numbers_from_a_billionth_to_a_trillion_keep_their_digits(side):
    """Printed numbers are within half a unit of their last digit, and that is the same in an estimate and its ends."""
    rng = np.random.default_rng(0)
    for size in SIZES:
        for half in rng.choice(SIZES, 25):
            estimate = size * rng.choice([-1, 1])
            ends = [estimate - 0.7 * half, estimate + 1.3 * half]
            if side == "lower":
                ends[1] = INF
            elif side == "upper":
                ends[0] = -INF
            decimals = numbers.decimals_of(*ends, estimate)
            if decimals is None:
                # the interval has no width but for rounding
                assert 0.7 * half < 1e-14 * size
                continue
            width = np.ptp([end for end in [*ends, estimate] if np.isfinite(end)])
            if side == "both":
                width /= 2
            said = [numbers.rounded(each, decimals) for each in (estimate, *ends) if np.isfinite(each)]
            least = width
            # next to an interval a trillion times as wide an estimate is as good as 0
            if size > 1e-12 * width:
                assert digits_of(said[0]) >= 2
                least = min(width, size)
            # not more of both than there need be
            assert 10 * 10.0**-decimals <= least * 1.001 < 101 * 10.0**-decimals
            for text, value in zip(said, [estimate, *filter(np.isfinite, ends)], strict=True):
                number, unit = parsed(text)
                # whole tens and beyond are written with zeros
                if unit >= 0 and " × " not in text:
                    assert number % 10.0 ** max(0, -decimals) == 0
                elif number != 0 or unit != 0:
                    assert unit == -decimals
                slack = 1e-15 * abs(value)
                assert abs(number - value) <= 0.5 * 10.0**-decimals + slack


def test_an_end_that_a_test_set_to_0_is_open():
    assert numbers.interval(0, 15.917, estimate=7.5765, null=0) == "more than 0 to 15.9"
    assert numbers.interval(-15.917, 0, estimate=-7.5765, null=0) == "−15.9 to less than 0"
    assert numbers.interval(0.5, 15.917, estimate=7.5765, null=0) == "0.5 to 15.9"
    assert numbers.interval(0, INF, estimate=7, null=0) == "more than 0"
    # all decimals that are shown are 0
    assert numbers.interval(0.004, 15.917, estimate=7.5765, null=0) == "more than 0 to 15.9"
    assert numbers.interval(-15.917, -0.004, estimate=-7.5765, null=0) == "−15.9 to less than 0"
    assert numbers.interval(-INF, 1, estimate=0.3, null=1) == "less than 1"
    assert numbers.interval(1, 2, estimate=1.3, null=1) == "more than 1 to 2.00"


def test_counts_lists_and_spans():
    assert numbers.count(1, "run") == "1 run"
    assert numbers.count(9999, "reassignment") == "9,999 reassignments"
    assert numbers.count(2, "family", "families") == "2 families"
    assert numbers.listed(["a"]) == "a"
    assert numbers.listed(["a", "b", "c"]) == "a, b and c"
    assert numbers.listed(list("abcdefgh"), 2) == "a, b and 6 more"
    assert numbers.listed(["x 1, y 1", "x 1, y 2", "x 2, y 1"], 2) == "x 1, y 1; x 1, y 2 and 1 more"
    assert numbers.span([3, 5, 4]) == "3 to 5"
    assert numbers.span([5]) == "5"
    assert numbers.percent(0.07) == "7 %"
    assert numbers.percent(1 - 0.9999999) == "1 × 10⁻⁵ %"


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
    assert numbers.label_of(xr.DataArray(0.0, name=name, attrs={"units": units})) == said
