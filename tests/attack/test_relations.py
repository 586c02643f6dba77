"""What must stay the same when the same data are given in another way, and a rational oracle of the ANOVA."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import xcurves
from strategies import make_curves
from test_kinds import CALLS, GIVEN, curves, made, worlds
from xcurves import kinds

FROM_CURVES = [name for name in CALLS if kinds.kind(name).argument in ("curves", "errors", "scores")]
# have no unit
RATES = ("pvalue", "pvalue_adjusted", "prob_greater", "r_squared", "fraction")


OVER_TASKS = {"across_tasks": {}, "profile_across_tasks": {"fractions": 4}}


def again(name, change):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if name in OVER_TASKS:
            return getattr(xcurves, name)(
                change(worlds(curves())),
                task="world",
                n_resamples=49,
                rng=0,
                **OVER_TASKS[name],
            )
        return CALLS[name](change(GIVEN[kinds.kind(name).argument]()))


def same(found, expected, name, rtol=1e-9):
    for variable in set(RATES) & set(expected.data_vars):
        a, b = found[variable], expected[variable]
        if "algorithm" in a.dims:
            a = a.sel(algorithm=b["algorithm"])
        np.testing.assert_allclose(a.transpose(*b.dims), b, rtol=rtol, atol=1e-12, err_msg=f"{name} {variable}")


@pytest.mark.parametrize("name", FROM_CURVES)
@pytest.mark.parametrize("change", ["byte order", "layout", "dims", "runs"])
@pytest.mark.slow
def test_the_same_data_in_another_form_have_the_same_result(name, change):
    changes = {
        "byte order": lambda data: data.astype(">f8"),
        "layout": lambda data: data.copy(data=np.asfortranarray(data.to_numpy())),
        "dims": lambda data: data.transpose(*reversed(data.dims)),
        "runs": lambda data: data.isel(run=slice(None, None, -1)),
    }
    if change == "runs" and name in ("runs_needed", "gate"):
        pytest.skip("draws curves by their places, or takes runs in their order")
    same(again(name, changes[change]), made(name), name)


@pytest.mark.parametrize("name", [name for name in FROM_CURVES if kinds.kind(name).argument == "curves"])
@pytest.mark.parametrize("factor", [2.0**-40, 2.0**60, 4.0])
@pytest.mark.slow
def test_a_power_of_two_changes_no_p(name, factor):
    if name in ("ss_profile", "speedup", "mean_time_to_target"):
        pytest.skip("has a margin or a target in the unit of the scores")
    same(again(name, lambda data: data * factor), made(name), name)


@given(
    st.sampled_from([(2, 2), (3, 2), (2, 2, 2), (1, 3)]),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 10**6, Fraction(1, 2**30)]),
)
@settings(deadline=None)
def test_f_and_p_are_those_of_rational_arithmetic(sizes, k, seed, unit):
    whole = np.random.default_rng(seed).integers(-4, 5, (len(sizes), max(sizes), k))
    groups = [rows[:size] for rows, size in zip(whole, sizes, strict=True)]
    try:
        counts, total = oracles.exact_integer_counts(groups)
    except ZeroDivisionError:  # some assignment leaves 0 / 0
        return
    values = np.full(whole.shape, np.nan)
    for i, group in enumerate(groups):
        values[i, : len(group)] = [[float(Fraction(int(y)) * unit) for y in curve] for curve in group]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = xcurves.randomized_anova(make_curves(values))
    for effect, term in counts:
        p = found["pvalue"].sel(effect=effect, error_term=term).item()
        if np.isnan(p):
            assert k == 1 or not oracles.anova_sums(groups)["error"] or np.isnan(oracles.f_ratios(groups)[effect][term])
            continue
        assert p == pytest.approx(counts[effect, term] / total, rel=1e-12)
        f = found["f"].sel(effect=effect, error_term=term).item()
        assert f == pytest.approx(oracles.f_ratios(groups)[effect][term], rel=1e-9, abs=1e-12)
