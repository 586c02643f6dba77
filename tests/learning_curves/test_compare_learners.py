import re
import warnings
from functools import partial

import dask
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xcurves
from lazy import refuse_to_compute
from refusals import ANY, refused
from strategies import make_errors
from xcurves.core.refusal import give

fit_free = partial(xcurves.fit_power_law, asymptote="free")

NAMES = ["plain", "augmented", "pretrained"]


@pytest.fixture(scope="module")
def errors():
    """Two tasks of three learners: one that needs 1.8 times less data, and one with less data-reliance."""
    rng = np.random.default_rng(0)
    n = np.array([25.0, 50, 100, 200, 400])
    means = np.stack([10 + 300 * n**-0.5, 10 + 300 * (1.8 * n) ** -0.5, 14 + 150 * n**-0.5])
    values = means[:, np.newaxis] + rng.normal(size=(2, 3, 16, 5)) * np.sqrt(0.02 + 5 / n)
    values[..., np.arange(16)[:, np.newaxis] >= np.array([16, 8, 4, 2, 1])] = np.nan
    return make_errors(values, task=["x", "y"], algorithm=NAMES)


@pytest.fixture(scope="module")
def fit(errors):
    return fit_free(errors)


def test_differences_are_first_minus_reference_with_welch_intervals(fit):
    found = xcurves.compare_learners(fit, reference="plain")
    assert found.algorithm.values.tolist() == NAMES[1:]
    assert found.param.values.tolist() == [
        "error_at_n",
        "data_reliance",
        "large_sample_error",
    ]
    assert found.difference.dims == ("task", "algorithm", "param")
    one, other = fit.sel(algorithm="pretrained"), fit.sel(algorithm="plain")
    gap = (one.error_at_n - one.data_reliance) - (other.error_at_n - other.data_reliance)
    here = found.sel(algorithm="pretrained")
    np.testing.assert_allclose(here.difference.sel(param="large_sample_error"), gap)
    np.testing.assert_allclose(here.difference.sel(param="error_at_n"), one.error_at_n - other.error_at_n)
    variances = np.stack([each.stderr.sel(param="data_reliance") ** 2 for each in (one, other)])
    df = variances.sum(axis=0) ** 2 / (variances**2 / 26).sum(axis=0)
    half = stats.t.ppf(0.975, df) * np.sqrt(variances.sum(axis=0))
    bounds = here.difference_ci.sel(param="data_reliance")
    np.testing.assert_allclose(
        bounds.sel(ci_bound="upper") - here.difference.sel(param="data_reliance"),
        half,
        rtol=1e-9,
    )
    keep = {
        "param": ["error_at_n", "data_reliance"],
        "cov_param": ["error_at_n", "data_reliance"],
    }
    combined = [np.einsum("p,tpq,q->t", [1, -1], each.covariance.sel(keep), [1, -1]) for each in (one, other)]
    df = sum(combined) ** 2 / sum(v**2 / 26 for v in combined)
    width = here.difference_ci.sel(param="large_sample_error").diff("ci_bound").squeeze("ci_bound")
    np.testing.assert_allclose(width, 2 * stats.t.ppf(0.975, df) * np.sqrt(sum(combined)), rtol=1e-9)


def test_the_multiplier_is_the_papers_and_covers_what_it_was_made_with(fit):
    found = xcurves.compare_learners(fit, reference="plain").sel(algorithm="augmented")
    a, b = fit.sel(algorithm="plain"), fit.sel(algorithm="augmented")
    expected = ((b.error_at_n - a.alpha) / a.eta) ** (1 / a.gamma) / 400
    np.testing.assert_allclose(found.data_multiplier, expected, rtol=1e-9)
    assert (found.data_multiplier_ci.sel(ci_bound="lower") < 1.8).all()
    assert (found.data_multiplier_ci.sel(ci_bound="upper") > 1.8).all()


def test_the_multiplier_s_interval_is_that_of_drawn_parameters(fit):
    """ln d over draws of both learners' parameters has the spread that the interval says."""
    found = xcurves.compare_learners(fit, reference="plain").sel(algorithm="augmented", task="x")
    one, other = (fit.sel(algorithm=name, task="x") for name in ("augmented", "plain"))
    rng = np.random.default_rng(0)
    keep = {
        "param": ["error_at_n", "data_reliance", "gamma"],
        "cov_param": ["error_at_n", "data_reliance", "gamma"],
    }
    mean = [other[name].item() for name in keep["param"]]
    error, reliance, gamma = rng.multivariate_normal(mean, other.covariance.sel(keep), 200_000).T
    learner = rng.normal(one.error_at_n, one.stderr.sel(param="error_at_n"), 200_000)
    draws = np.log1p(2 * gamma * (error - learner) / reliance) / gamma
    width = np.log(found.data_multiplier_ci).diff("ci_bound").item() / 2
    np.testing.assert_allclose(width, stats.t.ppf(0.975, 45) * np.nanstd(draws), rtol=0.05)


def test_an_error_never_reached_has_no_multiplier(fit):
    worse = xcurves.compare_learners(fit, reference="pretrained").sel(algorithm="augmented")
    reached = fit.sel(algorithm="augmented").error_at_n > fit.sel(algorithm="pretrained").alpha
    np.testing.assert_array_equal(worse.data_multiplier.notnull(), reached)
    shifted = fit.copy(deep=True)
    shifted["error_at_n"].loc[{"algorithm": "augmented"}] = 1.0
    assert xcurves.compare_learners(shifted, reference="plain").data_multiplier.isel(algorithm=0).isnull().all()


def quiet_comparison(means, reference, **options):
    """Compare learners of one fold a size with these means, sizes 25 to 400."""
    names = list(means)
    errors = make_errors(np.stack(list(means.values()))[:, np.newaxis], algorithm=names).isel(run=0, drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = fit_free(errors, sigma_hat_sq=20, **options)
    return xcurves.compare_learners(fit, reference=reference)


SIZES = np.array([25.0, 50, 100, 200, 400])
FALLING = 10 + 60 * SIZES**-0.5


def test_of_many_learners_those_that_differ_have_their_differences():
    lost = np.full(5, np.nan)
    curves = {
        "a": FALLING,
        "b": FALLING + 30,
        "c": FALLING + 0.01,
        "d": FALLING / 4,
        "e": FALLING / 2,
        "f": lost,
    }
    found = quiet_comparison(curves, "a")
    b, d, e = found.difference.sel(param="error_at_n", algorithm=["b", "d", "e"]).values.tolist()
    said = found.curves.summary().split("\n")[0].replace("−", "-")
    start, higher, lower, rest, untested = re.split("(?<=size 400): |; ", said)
    assert start == "Beside a, in error (%) at size 400"
    assert re.fullmatch(rf"b \({b:.2f}: [\d.]+ to [\d.]+\) is shown to be higher", higher)
    assert re.fullmatch(rf"d \({d:.2f}: .*\) and e \({e:.2f}: .*\) are shown to be lower", lower)
    assert re.fullmatch(r"c \(.*\) is not shown to differ", rest)
    assert untested == "untested: f (no fitted curve)."
    nothing = quiet_comparison(dict.fromkeys("bcde", lost) | {"a": FALLING}, "a").curves.summary()
    assert nothing.startswith("No difference to a could be tested: no fitted curve.")


@pytest.mark.slow
def test_of_a_learner_without_errors_nothing_is_said():
    lost = np.full(5, np.nan)
    for reference, silent in (("a", ["b"]), ("b", ["a", "c"])):
        found = quiet_comparison({"a": FALLING, "b": lost, "c": FALLING + 1}, reference)
        assert found.difference.sel(algorithm=silent).isnull().all()
        assert found.equal_from.sel(algorithm=silent).isnull().all()
        assert not found.data_multiplier_extrapolated.sel(algorithm=silent).any()
        said = found.curves.summary()
        for name in silent:
            assert f"lgorithm '{name}': nothing can be said; it or {reference} has no fitted curve" in said
        assert "no amount of data" not in said


@pytest.mark.slow
def test_a_curve_whose_errors_are_all_equal_claims_no_worth_and_no_crossing():
    for reference in "ab":
        found = quiet_comparison({"a": FALLING, "b": np.full(5, 20.0)}, reference)
        assert found.difference.sel(param="error_at_n").notnull().all()
        assert found.difference.sel(param=["data_reliance", "large_sample_error"]).isnull().all()
        assert found.data_multiplier.isnull().all()
        said = found.curves.summary()
        assert "nothing tells what it is worth in data" in said
        assert "do not cross" not in said
        assert "never" not in said


@pytest.mark.plain(2)
@pytest.mark.parametrize("slope", [0.0, 0.02])
@pytest.mark.parametrize("learner", [FALLING, FALLING + 30])
def test_a_reference_that_does_not_fall_gives_no_multiplier(slope, learner):
    found = quiet_comparison({"a": 20 + slope * np.log(SIZES), "b": learner}, "a", gamma=-0.5)
    assert found.data_multiplier.isnull().all()
    assert found.data_multiplier_ci.isnull().all()
    assert "the curve of a does not fall, or levels off above its error" in found.curves.summary()


@pytest.mark.plain(2)
@pytest.mark.parametrize(("times", "far"), [(0.01, 1), (0.5, 0), (3.9, 0), (4.1, 1), (50, 1)])
def test_a_multiplier_far_outside_the_reference_s_sizes_is_marked(times, far):
    """The learner's curve is the reference's at `times` the sizes, and the reference is measured from 25 to 400."""
    found = quiet_comparison(
        {"a": 10 + 60 * SIZES**-0.5, "b": 10 + 60 * (times * SIZES) ** -0.5},
        "a",
        gamma=-0.5,
    )
    np.testing.assert_allclose(found.data_multiplier, [times], rtol=1e-6)
    assert found.data_multiplier_extrapolated.dtype == np.int8
    assert found.data_multiplier_extrapolated.values.tolist() == [far]
    assert ("times the data (far outside the measured sizes)" in found.curves.summary()) == far


def crossing_pair(gap):
    """A learner that is better with few data, and worse with many, by `gap` at the ends."""
    return {"a": FALLING, "b": FALLING + gap * np.linspace(-1, 1, 5)}


def test_curves_cross_only_between_shown_differences_of_opposite_signs():
    found = quiet_comparison(crossing_pair(4.0), "a", gamma=-0.5).isel(algorithm=0, crossing=0)
    assert 25 < found.equal_from < found.crossing_size < found.equal_to < 400
    said = found.curves.summary()
    assert (
        f"no difference is shown between sizes {found.equal_from:.4g} and {found.equal_to:.4g}, where the curves cross"
        in said
    )
    close = quiet_comparison(crossing_pair(0.1), "a", gamma=-0.5).isel(algorithm=0, crossing=0)
    assert close.crossing_size.isnull()
    np.testing.assert_allclose([close.equal_from, close.equal_to], [25, 400])
    assert "cross" not in close.curves.summary()


@pytest.mark.slow
def test_the_ends_of_a_stretch_are_where_an_interval_of_the_difference_ends_at_zero():
    """At these sizes a fit that states its errors there has an interval of the difference that touches 0."""
    pair = crossing_pair(4.0)
    errors = make_errors(np.stack(list(pair.values()))[:, np.newaxis], algorithm=list(pair)).isel(run=0, drop=True)
    found = quiet_comparison(pair, "a", gamma=-0.5).isel(algorithm=0, crossing=0)
    for end in (found.equal_from, found.equal_to):
        fit = fit_free(errors, sigma_hat_sq=20, gamma=-0.5, at=end.item())
        bounds = xcurves.compare_learners(fit, reference="a").difference_ci.sel(param="error_at_n").squeeze()
        assert np.abs(bounds).min() < 1e-6


def test_a_difference_at_all_sizes_leaves_none_equal():
    found = quiet_comparison({"a": FALLING, "b": FALLING + 8}, "a", gamma=-0.5)
    assert found.equal_from.isnull().all()
    assert "a difference is shown at every size at which both were measured" in found.curves.summary()


@pytest.mark.slow
def test_learners_with_another_largest_size_each_are_compared_at_the_smaller_one():
    errors = make_errors(
        np.stack([FALLING, np.where(SIZES < 400, FALLING, np.nan)])[:, np.newaxis],
        algorithm=["a", "b"],
    )
    errors = errors.isel(run=0, drop=True)
    own = fit_free(errors, sigma_hat_sq=20)
    np.testing.assert_array_equal(own["at"], [400, 200])
    found = xcurves.compare_learners(own, reference="a")
    assert found["at"].item() == 200
    stated = xcurves.compare_learners(fit_free(errors, sigma_hat_sq=20, at=200))
    xr.testing.assert_allclose(found.drop_vars("at"), stated.drop_vars("at"))
    assert xcurves.compare_learners(own, at=400).difference.isnull().all()


@pytest.mark.slow
def test_at_another_size_learners_differ_as_fits_that_state_it(errors, fit):
    """Differences at 100 are those of a fit with at=100; sizes beyond the data are sent to `predict`."""
    found = xcurves.compare_learners(fit, reference="plain", at=100)
    in_a_list = xcurves.compare_learners(fit, reference="plain", at=[100])
    assert in_a_list.identical(found)
    expected = xcurves.compare_learners(fit_free(errors, at=100), reference="plain")
    xr.testing.assert_allclose(found, expected, rtol=1e-6)
    with refused("at", 800, cure="For the difference at any size: predict(fit, 800"):
        xcurves.compare_learners(fit, reference="plain", at=800)


@pytest.mark.slow
def test_lazy_fits_stay_lazy_and_compare_the_same(errors, fit):
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.compare_learners(fit_free(errors.chunk(task=1, algorithm=2)), reference="plain")
    assert lazy.difference.chunks is not None
    xr.testing.assert_allclose(lazy.compute(), xcurves.compare_learners(fit, reference="plain"), rtol=1e-9)


def test_units_and_sentences_say_what_is_what(fit):
    found = fit.sel(task="x").curves.compare_learners(reference="plain")
    assert found.difference.attrs["units"] == "%"
    assert found.data_multiplier.attrs["units"] == "1"
    assert found.attrs["reference"] == "plain"
    assert "times the data" in found.curves.summary()
    table = found.curves.table()
    assert table.index.tolist() == NAMES[1:]
    assert {
        "error_at_n",
        "lower",
        "multiplier",
        "multiplier_upper",
        "crossing_1",
    } <= set(table.columns)


@pytest.mark.parametrize(
    ("change", "reference", "expected", "said"),
    [
        (lambda e: e, "sgd", ("reference", "sgd", "It has 'plain', "), "must be an algorithm of the fit"),
        (
            lambda e: e.isel(algorithm=[0]),
            "plain",
            ("fit", ANY, "Fit them in one array"),
            "one algorithm, 'plain'; a comparison needs two",
        ),
        (
            lambda e: e.isel(algorithm=0),
            "plain",
            ("fit", ANY, "fit.rename(model='algorithm')"),
            "no dim 'algorithm'",
        ),
    ],
)
def test_bad_references_are_refused(errors, change, reference, expected, said):
    with refused(*expected, names=said):
        xcurves.compare_learners(fit_free(change(errors)), reference=reference)


def test_quadratic_fits_are_refused(errors):
    with refused("fit", cure=give(quadratic=False)):
        xcurves.compare_learners(fit_free(errors, quadratic=True), reference="plain")


def test_learners_are_compared_at_every_size_as_it_was_given():
    digits = range(1, 100, 4)
    sizes = sorted({float(n * 10**power) for n in digits for power in range(6) if n * 10**power <= 100_000})
    parts = np.array([1 / 8, 1 / 4, 1 / 2, 1.0])
    given = parts * np.array(sizes)[:, np.newaxis]
    training = np.unique(given)
    has = (training == given[..., np.newaxis]).any(axis=1)  # (task, size)
    means = np.stack([10 + 30 * training**-0.5, 10 + 25 * training**-0.5])
    values = np.where(has[:, np.newaxis], means, np.nan)
    errors = xr.DataArray(
        values,
        {"task": sizes, "algorithm": ["a", "b"], "training": training},
        ["task", "algorithm", "training"],
        attrs={"units": "%"},
    )
    fit = xcurves.fit_power_law(errors, sigma_hat_sq=20, octaves=None)
    versus = xcurves.compare_learners(fit)
    assert (versus["at"] == versus["task"]).all()
    assert versus["difference"].notnull().all()
    assert versus["data_multiplier"].notnull().all()
    ends = versus[["equal_from", "equal_to"]].to_array()
    lowest, highest = versus["task"] / 8, versus["task"]
    assert (((ends >= lowest) & (ends <= highest)) | ends.isnull()).all()
    assert (ends.sel(variable="equal_to").max("crossing") == highest).any()
    assert (xcurves.predict(fit, 4 * fit["at"])["extrapolated"] == 0).all()
    assert (xcurves.predict(fit, 4.0001 * fit["at"])["extrapolated"] == 1).all()


@pytest.mark.slow
def test_intervals_for_all_learners_together_are_at_the_level_over_their_number(errors):
    found = xcurves.compare_learners(fit_free(errors), reference="plain")
    wider = xcurves.compare_learners(fit_free(errors, confidence_level=1 - 0.05 / 2), reference="plain")
    for name in ("difference_ci", "data_multiplier_ci"):
        np.testing.assert_allclose(found[f"{name}_simultaneous"], wider[name])
    two = xcurves.compare_learners(fit_free(errors.sel(algorithm=NAMES[:2])), reference="plain")
    np.testing.assert_array_equal(two["difference_ci"], two["difference_ci_simultaneous"])
    table = found.curves.table()
    ends = found["difference_ci_simultaneous"].sel(param="error_at_n", ci_bound="lower").to_series()
    np.testing.assert_allclose(table["lower"], ends.reindex(table.index))


def test_one_axes_has_one_parameter(fit):
    plt = pytest.importorskip("matplotlib.pyplot")
    found = xcurves.compare_learners(fit, reference="plain").isel(task=0)
    _, ax = plt.subplots()
    with refused("result", names="one Axes has one parameter; got 3", cure="result.sel(param=['error_at_n'])"):
        found.curves.plot(ax=ax)
    assert found.sel(param=["data_reliance"]).curves.plot(ax=ax) is ax
