"""Bounded asymptotes, relative weights, backtests and widened intervals as users meet them."""

import json
import warnings

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import oracles_powerlaw as oracle
import xcurves
from lazy import refuse_to_compute
from places import SHARED
from refusals import refused
from xcurves.kernels.laws.refits import backtest_spread

FIRST = SHARED / "reference" / "dev_extrapolation.json"
REFERENCE = SHARED / "reference" / "dev_extrapolation2.json"
N = 100 * 2.0 ** (np.arange(9) / 2)


def laws(n_curves, seed=0, noise=0.02, units="1"):
    """Noisy power laws, some with an asymptote of 0, without folds."""
    rng = np.random.default_rng(seed)
    alpha, gamma = rng.uniform([0, -0.7], [0.1, -0.2], (n_curves, 2)).T[..., np.newaxis]
    values = np.maximum(alpha - 0.03, 0) + 0.06 * (N / N[-1]) ** gamma
    values = values * np.exp(noise * rng.normal(size=(n_curves, 9)))
    coords = {"curve": np.arange(n_curves), "training": N}
    return xr.DataArray(values, coords, ("curve", "training"), attrs={"units": units})


def quiet(errors, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xcurves.fit_power_law(errors, **options)


@pytest.mark.skipif(not FIRST.exists(), reason="no reference answers beside the repository")
@pytest.mark.parametrize("octave", ["one_per_octave", "two_per_octave"])
def test_laws_of_all_sizes_and_their_backtests_are_those_of_the_first_reference(octave):
    for case in json.loads(FIRST.read_text())[octave]:
        errors = xr.DataArray(case["error"], {"training": case["n"]}, ["training"], attrs={"units": "1"})
        fit = quiet(errors, octaves=None)
        assert fit.gamma == case["gamma"]
        assert fit.asymptote_at_bound == case["bound_binds"]
        names = {
            "alpha": "alpha",
            "eta": "eta",
            "error_at_n": "error_at_n",
            "data_reliance": "data_reliance",
        }
        for name, key in (names | {"backtest_error_law": "rho"}).items():
            np.testing.assert_allclose(fit[name], case[key], rtol=1e-7, err_msg=name)
        more = fit.curves.predict(case["predict_at"])
        np.testing.assert_allclose(more.prediction_by_law, case["prediction"], rtol=1e-7)
        half = np.log(more.prediction_ci_given_law.sel(ci_bound="upper") / more.prediction_by_law)
        np.testing.assert_allclose(half, case["half_width_law_log"], rtol=1e-7)


def check_case(case):
    """One curve of a reference: the law, its sizes, backtests, predictions and their intervals."""
    units = "1" if case["units"] == "fraction" else "nats"
    errors = xr.DataArray(case["error"], {"training": case["n"]}, ["training"], attrs={"units": units})
    fit = quiet(errors, predict_at=case["predict_at"])
    assert (fit.attrs["weighting"], fit.attrs["octaves"]) == (
        case["weights"],
        case["octaves"],
    )
    assert (fit.gamma, fit.asymptote_at_bound, fit.n_sizes_used) == (
        case["gamma"],
        case["bound_binds"],
        case["n_used"],
    )
    assert fit.n_cuts == len(case["cuts"])
    errors = ("backtest_error", "backtest_error_law", "backtest_error_last_fall")
    for name, key in {
        "fitted_from": "used_from",
        **{n: n for n in ("alpha", "eta", "error_at_n", *errors)},
    }.items():
        np.testing.assert_allclose(fit[name], case[key], rtol=1e-8, err_msg=name)
    np.testing.assert_allclose(backtest_spread(fit.backtest_error, fit.n_cuts), case["rho"], rtol=1e-8)
    more = fit.curves.predict(case["predict_at"])
    for found in (fit, more):
        np.testing.assert_allclose(found.prediction, case["prediction"], rtol=1e-8)
        np.testing.assert_allclose(found.prediction_ci, np.transpose([case["lower"], case["upper"]]), rtol=1e-8)
        half = np.log(found.prediction_ci_given_law.sel(ci_bound="upper") / case["by_law"])
        np.testing.assert_allclose(half, case["half_width_law_log"], rtol=1e-8)
    for name, key in (("by_law", "by_law"), ("last_fall", "last_fall")):
        np.testing.assert_allclose(more[f"prediction_{name}"], case[key], rtol=1e-8)
    np.testing.assert_allclose(more.change_ratio, case["change_ratio"], rtol=1e-8)
    half = np.log(more.change_ratio_ci.sel(ci_bound="upper") / more.change_ratio)
    np.testing.assert_allclose(half, case["half_width_ratio_log"], rtol=1e-8, atol=1e-12)


@pytest.mark.skipif(not REFERENCE.exists(), reason="no reference answers beside the repository")
def test_laws_of_the_last_octaves_and_predictions_are_those_of_the_reference():
    for case in json.loads(REFERENCE.read_text())["cases"]:
        check_case(case)


@pytest.mark.parametrize("n", [N, 100 * 2.0 ** np.arange(6)], ids=["half octaves", "octaves"])
def test_predictions_are_those_of_plain_loops(n):
    """The combined rule, its backtest and its interval, from an oracle of loops over cuts and sizes."""
    rng = np.random.default_rng(4)
    means = (0.02 + 0.1 * (n / n[-1]) ** -0.4) * np.exp(0.03 * rng.normal(size=len(n)))
    fit = quiet(xr.DataArray(means, {"training": n}, ["training"], attrs={"units": "1"}))
    later = n[-1] * np.array([1.5, 2, 4])
    more = fit.curves.predict(later)
    expected = oracle.combined(n, means, later)
    np.testing.assert_allclose(more.prediction, expected, rtol=1e-6)
    error = oracle.backtest(n, means, oracle.combined)
    np.testing.assert_allclose(fit.backtest_error, error, rtol=1e-6)
    cuts, octaves = len(oracle.cuts(n)), np.log2(later / n[-1])
    rho = np.sqrt((cuts * error**2 + 0.02**2) / (cuts + 1))
    law = np.log(more.prediction_ci_given_law.sel(ci_bound="upper") / more.prediction_by_law)
    (top,) = oracle.refit_last(n, means, n[-1:])
    parts = [
        (1 - np.minimum(octaves, 1) / 2) * law,
        1.96 * rho * np.sqrt(octaves),
        np.log(expected / top) / 3,
    ]
    half = np.sqrt(sum(part**2 for part in parts))
    np.testing.assert_allclose(
        np.log(more.prediction_ci.sel(ci_bound="upper") / more.prediction),
        half,
        rtol=1e-4,
    )


def test_other_rules_are_there_on_request():
    fit = quiet(laws(3), octaves=None)
    sizes = [400.0, N[-1], 3200.0, 6400.0]
    both, law, fall, linear = (
        fit.curves.predict(sizes, rule=rule) for rule in ("combined", "power-law", "last-fall", "linear")
    )
    np.testing.assert_allclose(law.prediction, both.prediction_by_law)
    np.testing.assert_allclose(fall.prediction, both.prediction_last_fall)
    np.testing.assert_allclose(both.prediction[:, 2:] ** 2, law.prediction[:, 2:] * fall.prediction[:, 2:])
    np.testing.assert_allclose(both.prediction[:, :2], law.prediction[:, :2])
    last = fit.mean_error[:, -1]
    np.testing.assert_allclose(fall.prediction_ci.sel(ci_bound="upper")[:, -1], last)
    np.testing.assert_allclose(
        fall.prediction_ci.sel(ci_bound="lower")[:, -1] * last,
        fall.prediction[:, -1] ** 2,
    )
    expected = fit.error_at_n + ((6400 / N[-1]) ** -0.5 - 1) * fit.data_reliance
    np.testing.assert_allclose(linear.prediction[:, -1], np.maximum(expected, 0))
    free = quiet(laws(3), asymptote="free")
    assert free.attrs["octaves"] == "all"
    xr.testing.assert_equal(
        free.curves.predict(sizes).prediction,
        free.curves.predict(sizes, rule="power-law").prediction,
    )


def test_differences_to_a_reference_are_those_of_predictions():
    fit = quiet(laws(3).rename(curve="algorithm"))
    more = fit.curves.predict([400.0, 6400.0], reference=1)
    alone = fit.curves.predict([400.0, 6400.0])
    one, other = alone.sel(algorithm=[0, 2]), alone.sel(algorithm=1, drop=True)
    np.testing.assert_allclose(more.difference, one.prediction - other.prediction)
    down = np.hypot(
        one.prediction - one.prediction_ci.sel(ci_bound="lower"),
        other.prediction_ci.sel(ci_bound="upper") - other.prediction,
    )
    np.testing.assert_allclose(more.difference_ci.sel(ci_bound="lower"), more.difference - down)
    up = np.hypot(
        one.prediction_ci.sel(ci_bound="upper") - one.prediction,
        other.prediction - other.prediction_ci.sel(ci_bound="lower"),
    )
    np.testing.assert_allclose(more.difference_ci.sel(ci_bound="upper"), more.difference + up)
    assert "it differs from that of 1 by" in more.curves.summary()
    own = fit.curves.predict(4 * fit["at"], reference=1)
    np.testing.assert_allclose(own["n"], 4 * fit["at"].sel(algorithm=[0, 2]))


@pytest.mark.parametrize(("octaves", "used"), [(3, 7), (1, 5), (None, 9)])
def test_sizes_left_out_are_counted_and_said(octaves, used):
    fit = quiet(laws(1).isel(curve=0), octaves=octaves)
    assert fit.n_sizes_used == used
    assert fit.fitted_from == N[-used]
    assert fit.fitted.notnull().sum() == used
    alone = quiet(laws(1).isel(curve=0, training=slice(9 - used, None)), octaves=None)
    np.testing.assert_allclose(fit.estimate_ci, alone.estimate_ci, rtol=1e-6)
    said = f"The law is fitted to the {used} sizes from {N[-used]:g} to {N[-1]:,.0f}"
    assert (said in fit.curves.summary()) == (octaves is not None)
    with refused("octaves", 0, cure="None stands for all sizes"):
        xcurves.fit_power_law(laws(1), octaves=0)


def test_defaults_are_a_bounded_fit_with_relative_weights():
    errors = laws(4)
    fit = quiet(errors)
    assert (fit.attrs["asymptote"], fit.attrs["weighting"]) == (
        "nonnegative",
        "relative",
    )
    np.testing.assert_array_equal(fit["at"], [N[-1]] * 4)
    for i in range(4):
        gamma, x, _ = oracle.relative(N[2:], errors[i, 2:].to_numpy())
        np.testing.assert_allclose([fit.gamma[i], fit.alpha[i]], [gamma, x[0]], rtol=1e-6, atol=1e-12)
    folds = xr.concat([errors, errors * 1.01], "run")
    assert quiet(folds).attrs["weighting"] == "variance-folds"
    single = folds.where((folds.run < 1) | (folds.curve != 2))
    np.testing.assert_allclose(quiet(single).gamma.sel(curve=2), fit.gamma.sel(curve=2))
    error = xr.full_like(errors, 0.005)
    assert quiet(errors, standard_error=error).attrs["weighting"] == "variance"


def test_no_prediction_and_no_interval_is_negative_or_above_one():
    fit = quiet(laws(300, noise=0.15))
    assert fit.asymptote_at_bound.sum() > 30
    more = fit.curves.predict([400, 1600, 6400, 1e6, 1e9])
    rates = (
        "prediction",
        "prediction_ci",
        "prediction_ci_given_law",
        "prediction_ci_given_gamma",
    )
    for name in (*rates, "change_ratio_ci"):
        assert (more[name].fillna(0) >= 0).all(), name
    assert all((more[name].fillna(0) <= 1).all() for name in rates)
    assert (fit.alpha >= 0).all()
    ends = fit.estimate_ci.sel(param=["error_at_n", "alpha"])
    assert ((ends >= 0) | ends.isnull()).all()
    bound = fit.asymptote_at_bound == 1
    assert fit.stderr.sel(param="alpha").where(bound).isnull().all()


def test_each_curve_is_predicted_at_its_own_size():
    errors = laws(3)
    errors[1, -2:] = np.nan
    fit = quiet(errors)
    more = fit.curves.predict(4 * fit["at"])
    assert more.prediction.dims == ("curve",)
    np.testing.assert_allclose(more["n"], [4 * N[-1], 4 * N[-3], 4 * N[-1]])
    for i in range(3):
        alone = fit.isel(curve=i).curves.predict(more["n"][i].item())
        np.testing.assert_allclose(more.prediction[i], alone.prediction[0])
        np.testing.assert_allclose(more.prediction_ci[i], alone.prediction_ci[0])
    assert more.curves.table()["n"].tolist() == more["n"].values.tolist()
    assert f"at size {4 * N[-3]:,.0f} the predicted error is" in more.curves.summary()
    assert "Predicted errors" in xcurves.kinds.kind("predict").answer(more)
    with refused("n", "dims ('other',)", cure="Select one"):
        fit.curves.predict(xr.DataArray([1.0], dims="other"))


def test_a_table_of_curves_is_one_call_with_one_warning():
    errors = laws(24)
    errors[0, 3:] = np.nan  # too few sizes
    errors[1] = np.nan
    errors[2, 4] = 0.0
    errors[3] = np.linspace(0.1, 0.5, 9)
    errors[4:8, 2:] = np.nan
    errors[8:12, -1] = 0.0
    with pytest.warns(UserWarning) as caught:
        fit = xcurves.fit_power_law(errors)
    assert len(caught) == 1
    said = str(caught[0].message)
    assert said.startswith("12 of 24 curves are not fitted and NaN: no errors (curve 1), too few sizes (curve 0; ")
    assert "and 2 more" in said
    assert "error not positive (curve 2; curve 8; curve 9 and 2 more), rising errors (curve 3)" in said
    assert caught[0].filename == __file__
    assert fit.unfit.values[:12].tolist() == [2, 1, 6, 7, 2, 2, 2, 2, 6, 6, 6, 6]
    assert (fit.unfit.values[12:] == 0).all()
    assert fit.error_at_n.isnull().values.tolist() == [True] * 12 + [False] * 12
    more = fit.curves.predict(4 * fit["at"])
    assert (more.prediction[12:] > 0).all()
    assert (more.prediction_ci[12:] >= 0).all()
    assert fit.curves.table()["note"].iloc[2] == "not fitted: error not positive"
    assert fit.curves.table()["note"].iloc[3] == "not fitted: rising errors"
    assert len(fit.curves.summary().split("\n")) <= 12


def test_curves_that_miss_their_last_octaves_are_named():
    errors = laws(3)
    errors[1] = np.maximum(0.6 * (N / N[0]) ** -0.5, 0.2)
    fit = quiet(errors)
    assert (fit.backtest_error > 0.1).values.tolist() == [False, True, False]
    assert fit.curves.table()["note"].iloc[1].startswith("misses its last octaves")
    share = 100 * fit.backtest_error[1].item()
    assert f"curve 1 ({share:.3g} %) misses its own last octaves" in fit.curves.summary()


def test_curves_too_short_for_a_backtest_are_said_once():
    errors = laws(3)
    errors[1:, 4:] = np.nan
    fit = quiet(errors)
    assert fit.backtest_error.isnull().values.tolist() == [False, True, True]
    assert fit.curves.summary().count("2 of 3 curves have too few sizes for that") == 1
    assert "The curve has too few sizes" in fit.isel(curve=1).curves.summary()
    assert "too few sizes" not in fit.isel(curve=0).curves.summary()


def test_losses_have_no_upper_end_and_no_percent():
    losses = (30 * laws(3)).assign_attrs(units="nats")
    fit = quiet(losses, predict_at=[50])
    assert fit.attrs["units"] == "loss"
    assert fit.error_at_n.attrs["units"] == "nats"
    assert (fit.prediction_ci.sel(ci_bound="upper") > 1).all()
    below_zero = (losses.isel(curve=0) - 20).assign_attrs(units="nats")
    with refused(
        "curves",
        cure="Relative weights need errors above 0: mask it, or fit with",
        names=r"error not positive.*above 0: mask it",
    ):
        xcurves.fit_power_law(below_zero)
    shifted = quiet(below_zero, asymptote="free", weighting="uniform")
    assert shifted.error_at_n < 0


def test_lazy_curves_give_the_same():
    errors = laws(6)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.fit_power_law(errors.chunk(curve=2), predict_at=[1600, 9600])
        more = lazy.curves.predict([6400.0])
    fit = quiet(errors, predict_at=[1600, 9600])
    xr.testing.assert_allclose(lazy.compute(), fit)
    xr.testing.assert_allclose(more.compute(), fit.curves.predict([6400.0]))


def test_predictions_of_the_bootstrap_are_widened_too():
    errors = laws(2)
    fit = quiet(errors, predict_at=[6400], n_resamples=99, rng=0)
    plain = quiet(errors, predict_at=[6400])
    np.testing.assert_allclose(fit.prediction, plain.prediction)
    law = np.log(plain.prediction_ci_given_law / plain.curves.predict([6400]).prediction_by_law) / 2
    added = np.log(plain.prediction_ci / plain.prediction) ** 2 - law**2
    boot = np.log(fit.prediction_ci_given_law / plain.curves.predict([6400]).prediction_by_law) / 2
    np.testing.assert_allclose(np.abs(np.log(fit.prediction_ci / fit.prediction)), np.sqrt(boot**2 + added))


def test_a_frame_without_runs_is_fitted():
    frame = pd.DataFrame({"model": "a", "n": N, "error": 0.1 + 0.2 * (N / N[-1]) ** -0.5})
    errors = frame.curves.to_dataarray("error", algorithm="model", run=None, training="n")
    assert errors.dims == ("algorithm", "training")
    fit = quiet(errors.assign_attrs(units="1"))
    np.testing.assert_allclose(fit.gamma, [-0.5])


def test_standard_errors_that_are_zero_leave_one_curve_out():
    errors = laws(3)
    spread = xr.full_like(errors, 0.004)
    spread[1, 2] = 0
    with pytest.warns(UserWarning, match=r"^1 of 3 curves .*: standard error not positive \(curve 1\)"):
        fit = xcurves.fit_power_law(errors, standard_error=spread)
    assert fit.gamma.isnull().values.tolist() == [False, True, False]
