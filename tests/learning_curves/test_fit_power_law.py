import warnings
from functools import partial

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import oracles_powerlaw as oracle
import xcurves
from hoiem_table3 import ROWS
from lazy import refuse_to_compute
from refusals import ANY, refused
from strategies import as_dict, make_errors, simulate_errors
from xcurves.core.refusal import call, give
from xcurves.learning_curves.text import change_in_percent
from xcurves.say.numbers import estimated

fit_free = partial(xcurves.fit_power_law, asymptote="free")

SIZES = np.array([25.0, 50, 100, 200, 400])
RATES = ["error_at_n", "data_reliance", "alpha", "eta"]


@pytest.fixture(scope="module")
def errors():
    return simulate_errors(6, 0)[0]


@pytest.fixture
def tasks(errors):
    """Four curves: whole, fewer sizes, fewer folds, none."""
    some = errors.isel(task=slice(4)).assign_coords(task=["whole", "short", "few", "none"])
    some = some.copy()
    some.loc[{"task": "short", "training": [25, 400]}] = np.nan
    some.loc[{"task": "few", "run": slice(3, None)}] = np.nan
    some.loc[{"task": "none"}] = np.nan
    return some


@pytest.fixture
def one():
    """One error at each size, as a plain curve."""
    return make_errors([[75.0, 58, 45, 35.4, 27.9]]).isel(run=0, drop=True)


def quiet(errors, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_free(errors, **options)


def test_result_has_the_variables_dims_and_coordinates_of_the_contract(errors):
    result = fit_free(errors)
    tested = [
        "backtest_error",
        "backtest_error_law",
        "backtest_error_last_fall",
        "n_cuts",
    ]
    scalars = [
        *RATES,
        "gamma",
        "r_squared",
        "objective",
        *tested,
        "n_sizes_used",
        "asymptote_at_bound",
    ]
    others = {
        "estimate_ci": ("param", "ci_bound"),
        "stderr": ("param",),
        "stderr_given_gamma": ("param",),
        "covariance": ("param", "cov_param"),
        "fitted": ("training",),
        "error_sd": ("training",),
        "n_folds": ("training",),
    }
    expected = {name: ("task", *dims) for name, dims in (dict.fromkeys(scalars, ()) | others).items()}
    assert {name: variable.dims for name, variable in result.data_vars.items()} == expected
    assert {
        "gamma_at_edge",
        "at_extrapolated",
        "mean_error",
        "unfit",
        "fitted_from",
        "at",
    } <= set(result.coords)
    assert result.param.values.tolist() == [
        "error_at_n",
        "data_reliance",
        "gamma",
        "alpha",
        "eta",
    ]
    assert (result["at"] == 400).all()


def test_predictions_and_delta_are_there_if_asked_for(errors):
    result = fit_free(errors, quadratic=True, predict_at=[25, 1600, 1601])
    assert result.prediction.dims == ("task", "n")
    assert result.prediction_ci.dims == ("task", "n", "ci_bound")
    assert result.extrapolated.isel(task=0).values.tolist() == [0, 0, 1]
    assert "delta" in result
    assert result.param.values[-1] == "delta"


def test_estimates_are_those_of_the_paper_s_algorithm(errors):
    result = fit_free(errors)
    for i in range(errors.sizes["task"]):
        curve, here = as_dict(errors[i]), result.isel(task=i)
        sigma_hat_sq, variances = oracle.variance_model(curve)
        gamma, _ = oracle.search(curve, variances)
        (alpha, eta), covariance, objective = oracle.given_gamma(curve, gamma, variances)
        assert here.gamma == gamma
        power = 400**gamma
        expected = [alpha + eta * power, -2 * eta * gamma * power, alpha, eta]
        np.testing.assert_allclose([here[name] for name in RATES], expected, rtol=1e-10)
        np.testing.assert_allclose(here.objective, objective, rtol=1e-9)
        np.testing.assert_allclose(here.error_sd**2, list(variances.values()), rtol=1e-10)
        np.testing.assert_allclose(
            here.stderr_given_gamma.sel(param=["alpha", "eta"]),
            np.sqrt(np.diag(covariance)),
        )
        np.testing.assert_allclose(here.fitted, alpha + eta * SIZES**gamma, rtol=1e-12)
        free = oracle.sandwich(curve, (alpha, eta, gamma), variances)
        by_parameter = here.covariance.sel(param=["alpha", "eta", "gamma"], cov_param=["alpha", "eta", "gamma"])
        np.testing.assert_allclose(by_parameter, free, rtol=1e-6)
        np.testing.assert_allclose(here.stderr**2, np.diag(here.covariance))
        j = np.array([1, power, eta * power * np.log(400)])
        np.testing.assert_allclose(here.stderr.sel(param="error_at_n"), np.sqrt(j @ free @ j), rtol=1e-6)
        b = np.array([0, -2 * gamma * power, -2 * eta * power * (1 + gamma * np.log(400))])
        np.testing.assert_allclose(here.stderr.sel(param="data_reliance"), np.sqrt(b @ free @ b), rtol=1e-6)


def test_intervals_are_by_student_s_t_with_the_folds_degrees(errors):
    from scipy import stats

    result = fit_free(errors, confidence_level=0.9)
    half = stats.t.ppf(0.95, 15 + 7 + 3 + 1) * result.stderr
    estimates = result[result.param.values.tolist()].to_array("param")
    np.testing.assert_allclose(
        result.estimate_ci.sel(ci_bound="upper"),
        (estimates + half).transpose(*half.dims),
    )
    known = fit_free(errors, confidence_level=0.9, sigma_hat_sq=20)
    width = known.estimate_ci.sel(ci_bound="upper") - known.estimate_ci.sel(ci_bound="lower")
    np.testing.assert_allclose(width, 2 * stats.norm.ppf(0.95) * known.stderr)


def test_quadratic_fit_is_the_literal_one(errors):
    result = fit_free(errors, quadratic=True, gamma=-0.5)
    for i in range(errors.sizes["task"]):
        curve, here = as_dict(errors[i]), result.isel(task=i)
        _, variances = oracle.variance_model(curve)
        (alpha, eta, delta), covariance, _ = oracle.given_gamma(curve, -0.5, variances, quadratic=True)
        np.testing.assert_allclose([here.alpha, here.eta, here.delta], [alpha, eta, delta], rtol=1e-7)
        np.testing.assert_allclose(here.error_at_n, alpha + eta / 20 + delta / 400, rtol=1e-10)
        np.testing.assert_allclose(here.data_reliance, eta / 20 + 2 * delta / 400, rtol=1e-8)
        stderr = here.stderr.sel(param=["alpha", "eta", "delta"])
        np.testing.assert_allclose(stderr, np.sqrt(np.diag(covariance)), rtol=1e-6)


@pytest.mark.plain(8)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows_of_the_papers_table_are_one_curve_in_two_parametrizations(row):
    """From α, η, γ as printed, a fit to errors without noise gives e_400 and β_400 to the rounding of all five."""
    for alpha, eta, gamma, error, reliance in (row[:5], (*row[5:7], -0.5, *row[7:])):
        curve = make_errors((alpha + eta * SIZES**gamma)[np.newaxis])
        result = fit_free(curve, weighting="uniform", prior_strength=0)
        assert result.gamma == gamma
        power = 400**gamma
        np.testing.assert_allclose(result.error_at_n, error, atol=0.005 * (2 + power) + 1e-9)
        np.testing.assert_allclose(result.data_reliance, reliance, atol=0.005 * (1 - 2 * gamma * power) + 1e-9)


# --- what may come in ---


def with_attrs(array, **attrs):
    """Return an array with these attrs alone."""
    array = array.copy()
    array.attrs = attrs
    return array


def test_percent_and_fractions_give_the_same(errors):
    errors = with_attrs(errors / 2, units="%")  # some are beyond 100 %
    percent = fit_free(errors, predict_at=[1600])
    fractions = fit_free(with_attrs(errors / 100, units="1"), predict_at=[1600])
    np.testing.assert_array_equal(fractions.gamma, percent.gamma)
    for name in (*RATES, "fitted", "error_sd", "prediction", "prediction_ci"):
        np.testing.assert_allclose(fractions[name] * 100, percent[name], rtol=1e-10)
    np.testing.assert_allclose(fractions.objective, percent.objective, rtol=1e-9)
    by_parameter = xr.where(percent.param == "gamma", 1, 100)
    np.testing.assert_allclose(
        (fractions.estimate_ci * by_parameter).transpose(..., "ci_bound"),
        percent.estimate_ci,
    )
    np.testing.assert_allclose(fractions.stderr_given_gamma * by_parameter, percent.stderr_given_gamma)
    both = by_parameter * by_parameter.rename(param="cov_param")
    np.testing.assert_allclose(fractions.covariance * both, percent.covariance, rtol=1e-8)
    assert (fractions.attrs["units"], percent.attrs["units"]) == ("fraction", "percent")
    assert (fractions.error_at_n.attrs["units"], percent.error_at_n.attrs["units"]) == (
        "1",
        "%",
    )


def test_without_units_errors_above_one_are_percent(errors):
    errors = with_attrs(errors / 2, units="%")
    bare = with_attrs(errors)
    result = fit_free(bare)
    assert result.attrs["units"] == "percent"
    np.testing.assert_array_equal(result.error_at_n, fit_free(errors).error_at_n)
    np.testing.assert_array_equal(fit_free(with_attrs(bare / 100), units="fraction").gamma, fit_free(errors).gamma)


def test_runs_are_optional_and_so_are_all_other_dims(errors):
    mean = errors.mean("run", keep_attrs=True)
    flat = fit_free(mean, sigma_hat_sq=50)
    one_fold = fit_free(mean.expand_dims(run=[0]), sigma_hat_sq=50)
    xr.testing.assert_identical(flat, one_fold)
    alone = fit_free(errors.isel(task=2, drop=True))
    xr.testing.assert_allclose(alone, fit_free(errors).isel(task=2).drop_vars("task"), rtol=1e-12)


def test_order_of_dims_folds_and_gaps_among_them_do_not_matter(errors):
    result = fit_free(errors)
    xr.testing.assert_allclose(fit_free(errors.transpose("training", "run", "task")), result)
    xr.testing.assert_allclose(fit_free(errors.isel(run=slice(None, None, -1))), result, rtol=1e-10)


def test_tasks_have_their_own_sizes_and_folds(tasks):
    result = quiet(tasks, at=200)
    for task in ("whole", "short", "few"):
        alone = quiet(
            tasks.sel(task=task).dropna("training", how="all").dropna("run", how="all"),
            at=200,
        )
        for name in (
            "error_at_n",
            "data_reliance",
            "gamma",
            "estimate_ci",
            "r_squared",
            "objective",
        ):
            np.testing.assert_allclose(result[name].sel(task=task), alone[name], rtol=1e-9, err_msg=name)
    assert result.fitted.sel(task="short").isnull().values.tolist() == [
        True,
        False,
        False,
        False,
        True,
    ]
    none = result.sel(task="none")
    assert none.error_at_n.isnull()
    assert none.n_folds.sum() == 0


def test_at_moves_error_and_reliance_along_the_same_curve(errors):
    here, there = fit_free(errors), fit_free(errors, at=100.0)
    np.testing.assert_allclose(
        there[["alpha", "eta", "gamma"]].to_array(),
        here[["alpha", "eta", "gamma"]].to_array(),
    )
    np.testing.assert_allclose(there.error_at_n, here.alpha + here.eta * 100**here.gamma)
    assert there.attrs["at"] == 100
    per_task = xr.DataArray([100.0] * 3 + [400.0] * 3, {"task": errors.task}, ["task"])
    mixed = fit_free(errors, at=per_task)
    np.testing.assert_array_equal(mixed["at"], per_task)
    np.testing.assert_allclose(mixed.error_at_n[:3], there.error_at_n[:3])
    np.testing.assert_allclose(mixed.error_at_n[3:], here.error_at_n[3:])


def test_an_at_far_below_is_marked_and_one_beyond_is_sent_to_predict(errors):
    assert [fit_free(errors, at=at).at_extrapolated.values[0] for at in (6, 6.25, 400)] == [1, 0, 0]
    with refused(
        "curves",
        cure="Fit with at='largest' and call predict(fit, n), which",
        names=r"at is beyond the largest size.* call predict\(fit, n\)",
    ):
        fit_free(errors, at=401)
    short = errors.copy()
    short[0] = short[0].where(short.training < 400)
    with pytest.warns(UserWarning, match=r"1 of 6 curves .* at is beyond the largest size \(task"):
        assert fit_free(short, at=400).unfit.values.tolist() == [8, 0, 0, 0, 0, 0]


def test_means_with_standard_errors_and_folds_are_what_the_folds_give(errors):
    """At equal σ_i² the aggregated fit is that of the folds: give it the standard errors of the variance model."""
    folded = fit_free(errors)
    mean, count = errors.mean("run", keep_attrs=True), errors.notnull().sum("run")
    standard_error = folded.error_sd / np.sqrt(count)
    result = fit_free(mean, standard_error=standard_error, n_folds=count)
    for name in (*RATES, "gamma", "estimate_ci", "error_sd", "stderr_given_gamma"):
        np.testing.assert_allclose(result[name], folded[name], rtol=1e-9, err_msg=name)
    assert result.attrs["weighting"] == "variance-folds"
    alone = fit_free(mean, standard_error=standard_error)
    assert alone.attrs["weighting"] == "variance"
    by_variance = fit_free(mean, standard_error=standard_error, n_folds=count, weighting="variance")
    np.testing.assert_allclose(alone.error_at_n, by_variance.error_at_n, rtol=1e-12)
    assert (alone.n_folds == 1).all()


def test_uniform_weights_of_single_folds_take_the_variance_from_residuals(one):
    from scipy.optimize import curve_fit

    result = fit_free(one, weighting="uniform", prior_strength=0)
    slope = result.gamma.item()
    free, covariance = curve_fit(lambda n, a, h, g: a + h * n**g, SIZES, one.values, [6, 250, slope])
    residual = one.values - (result.alpha.item() + result.eta.item() * SIZES**slope)
    np.testing.assert_allclose(result.error_sd**2, (residual**2).sum() / 2, rtol=1e-9)
    assert abs(free[2] - slope) <= 0.006  # the grid's step
    np.testing.assert_allclose(result.stderr.sel(param="gamma"), np.sqrt(covariance[2, 2]), rtol=0.1)
    fixed = fit_free(one, weighting="uniform", gamma=-0.5)
    expected = np.polyfit(SIZES**-0.5, one.values, 1, cov=True)
    np.testing.assert_allclose([fixed.eta, fixed.alpha], expected[0], rtol=1e-9)
    np.testing.assert_allclose(fixed.stderr.sel(param=["eta", "alpha"]) ** 2, np.diag(expected[1]), rtol=1e-9)


def test_bootstrap_gives_other_intervals_and_the_same_estimates(errors):
    plain = fit_free(errors, predict_at=[100, 1600])
    result = fit_free(errors, predict_at=[100, 1600], n_resamples=199, rng=1)
    for name in (*RATES, "gamma", "stderr", "prediction"):
        np.testing.assert_array_equal(result[name], plain[name])
    lower, upper = (result.estimate_ci.sel(ci_bound=bound) for bound in ("lower", "upper"))
    assert (lower <= upper).all()
    assert not np.allclose(result.estimate_ci, plain.estimate_ci)
    assert not np.allclose(result.prediction_ci, plain.prediction_ci)
    xr.testing.assert_identical(result, fit_free(errors, predict_at=[100, 1600], n_resamples=199, rng=1))
    other = fit_free(errors, n_resamples=199, rng=2)
    assert not np.array_equal(other.estimate_ci, result.estimate_ci)
    assert result.attrs["rng"] == "1"
    assert plain.attrs["rng"] == "0"


@pytest.mark.plain(1)
@pytest.mark.parametrize("chunks", [{}, {"task": 1}, {"task": 3}, {"training": 2, "run": 3}])
def test_chunked_errors_stay_lazy_and_give_the_same(tasks, chunks):
    options = {"n_resamples": 50, "predict_at": [1600], "rng": 3}
    whole = quiet(tasks, **options)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = fit_free(tasks.chunk(chunks), **options)
        assert lazy.curves.predict([800]).prediction.chunks is not None
    assert all(variable.chunks is not None for variable in lazy.data_vars.values())
    found = lazy.compute(scheduler="threads", num_workers=2)
    xr.testing.assert_allclose(found, whole, rtol=1e-10)
    assert found.attrs == whole.attrs
    np.testing.assert_array_equal(found.gamma, whole.gamma)


# --- what is flagged ---


def test_equal_errors_leave_gamma_unknown():
    flat = make_errors(np.full((1, 3, 5), 30.0), task=["flat"])
    with pytest.warns(UserWarning, match="^task 'flat': errors are.*identified and is NaN$"):
        result = fit_free(flat, predict_at=[1600], n_resamples=10)
    assert result[["gamma", "alpha", "eta"]].to_array().isnull().all()
    assert result.stderr.isnull().all()
    assert result.estimate_ci.isnull().all()
    np.testing.assert_array_equal([result.error_at_n.item(), result.data_reliance.item()], [30, 0])
    np.testing.assert_array_equal(result.prediction, 30)
    fixed = fit_free(flat, gamma=-0.5)
    np.testing.assert_allclose([fixed.alpha.item(), fixed.eta.item()], [30, 0], atol=1e-10)


@pytest.mark.parametrize(
    ("shape", "edge"),
    [(lambda n: 100 - 12 * np.log(n), "flat"), (lambda n: 20 + 3e4 * n**-2.0, "steep")],
)
def test_an_exponent_at_the_edge_is_flagged(shape, edge):
    curve = make_errors(shape(SIZES)[np.newaxis])
    with pytest.warns(UserWarning, match=r"^gamma is -0\.(01|99), the edge of the grid"):
        result = fit_free(curve, sigma_hat_sq=1)
    assert result.gamma_at_edge == 1
    assert f"Gamma is at the {edge} edge of its grid" in result.curves.summary()
    assert fit_free(curve, sigma_hat_sq=1, gamma=-0.99).gamma_at_edge == 0


def test_a_curve_without_errors_is_told_once(tasks):
    tasks = tasks.where(tasks.task != "few")
    with pytest.warns(UserWarning, match=r"^2 of 4 curves.*\(task 'few'; task 'none'\)$") as all_of:
        fit_free(tasks)
    assert len(all_of) == 1


# --- what is refused ---


AT_0 = "errors.isel(training=errors.training > 0)"
MORE_SIZES = "A law needs 2, one more each for a searched gamma, relative weights and quadratic=True: add some"
REFUSED = [
    (lambda e: e.assign_coords(training=[0, 1, 2, 3, 4]), {}, ("curves", "0", AT_0), "training must be positive"),
    (lambda e: e, {"units": "percents"}, ("units", "percents", "Did you mean 'percent'?"), "'fraction' or 'loss'"),
    (
        lambda e: e,
        {"units": "fraction"},
        ("units", ANY, "Leave units out, or correct the attrs"),
        "units is 'fraction', but errors has units '%'",
    ),
    (
        lambda e: with_attrs(e, units="1"),
        {},
        ("curves", ANY, "Say units='percent' and correct the attrs"),
        r"errors are fractions by units '1'; got \d\d\.\d+",
    ),
    (
        lambda e: with_attrs(e) / 100,
        {},
        ("curves", ANY, give(units="percent")),
        r"errors are at most 0\.\d+ and have no units: they may be percent or fractions",
    ),
    (
        lambda e: (100 - e.isel(task=[0])).assign_attrs(e.attrs),
        {},
        ("curves", ANY, "turn it: 100 - accuracy"),
        "rising errors",
    ),
    (lambda e: e.isel(training=[0, 1]), {}, ("curves", ANY, MORE_SIZES), "too few sizes"),
    (lambda e: e.isel(training=[0]), {"gamma": -0.5}, ("curves", ANY, MORE_SIZES), "too few sizes"),
    (lambda e: e.isel(training=[0, 1, 2]), {"quadratic": True}, ("curves", ANY, MORE_SIZES), "too few sizes"),
    (
        lambda e: e.isel(run=[0]),
        {"weighting": "variance-folds"},
        ("curves", ANY, "give sigma_hat_sq, or fit with weighting='relative'"),
        "one fold at every size",
    ),
    (
        lambda e: e.where(e.run != 1, np.inf),
        {},
        ("curves", "inf", call(".curves.fill_failed", "worst", higher_is_better=False)),
        "errors has infinite values: runs that failed",
    ),
    (
        lambda e: with_attrs(e * 0 + e.isel(run=0), units="%"),
        {"sigma0_sq": 0},
        ("curves", ANY, "give a positive sigma0_sq"),
        "no spread between folds",
    ),
    (lambda e: e - 60, {}, ("curves", ANY, "Give error rates, not scores"), "errors must not be negative; got -"),
    (
        lambda e: with_attrs(e * 10, units=""),
        {},
        ("curves", "736", give(units="loss")),
        "but percent end at 100",
    ),
    (lambda e: e, {"sigma0_sq": -1}, ("sigma0_sq", -1, "Leave it out for the default"), "from 0 to 1e.140"),
    (
        lambda e: e,
        {"prior_strength": np.nan},
        ("prior_strength", np.nan, "Leave it out for the default"),
        "from 0 to 1e.140",
    ),
    (lambda e: e, {"gamma": 0.5}, ("gamma", 0.5, "Usual: -0.5"), "must be 'search' or a negative number"),
    (lambda e: e, {"gamma": "fixed"}, ("gamma", "fixed", "Usual: -0.5"), "must be 'search' or a negative number"),
    (
        lambda e: e,
        {"weighting": "folds"},
        ("weighting", "folds"),
        "must be 'variance-folds', 'variance', 'relative' or 'uniform'",
    ),
    (lambda e: e, {"weighting": np.array([1, 2])}, ("weighting", ANY), "must be 'variance-folds'"),
    *((lambda e: e, {"n_resamples": odd}, ("n_resamples", odd, "Usual: 0 or 999"), "") for odd in (-1, None, 10**30)),
    (lambda e: e, {"at": -4}, ("at", "-4", "A curve has no value there"), "must be positive and finite"),
    (lambda e: e, {"at": "400"}, ("at", "400"), "must be a size, or sizes on dims"),
    (
        lambda e: e.drop_attrs().rename("return").assign_coords(training=[0, 1, 2, 3, 4]),
        {},
        ("curves", "0", AT_0),
        "errors are fitted, which fall; is 'return' one",
    ),
    (
        lambda e: e,
        {"at": xr.DataArray([1.0, 2], dims="task")},
        ("at", ANY, "Select the same ones"),
        "must have the labels of errors; its 'task' differs",
    ),
    (
        lambda e: e,
        {"predict_at": [100, 0]},
        ("predict_at", "0", "A curve has no value there"),
        "must be positive and finite",
    ),
    (lambda e: e, {"n_folds": 4}, ("n_folds", ANY, "Leave it out"), "belongs to means with standard_error"),
    (
        lambda e: e,
        {"standard_error": 1.0},
        ("standard_error", ANY, "Give errors.mean('run')"),
        "belongs to means; errors has folds",
    ),
    (
        lambda e: e.rename(training="n_train"),
        {},
        ("dims", "('task', 'run', 'n_train')", "da.rename(n_train='training')"),
        "must include 'training'",
    ),
]


@pytest.mark.parametrize(("change", "options", "expected", "said"), REFUSED)
def test_bad_input_is_refused_in_one_line(errors, change, options, expected, said):
    with refused(*expected, names=said) as caught:
        fit_free(change(errors), **options)
    assert "\n" not in str(caught.value)


NOT_POSITIVE = "Mask errors where it is not, or leave standard_error out"
BAD_AGGREGATES = [
    *(
        (change, {}, ("curves", ANY, NOT_POSITIVE), "^task 0: standard error not positive")
        for change in (
            lambda s: -s,
            lambda s: s.where(s.training != 50),
            lambda s: s * np.inf,
            lambda s: s * 0,
        )
    ),
    *(
        (
            lambda s: s,
            {"n_folds": odd},
            ("curves", str(odd), "Correct it"),
            "^task 0: n_folds must be whole and at leas",
        )
        for odd in (0, 1.5)
    ),
    (
        lambda s: s.assign_attrs(units="1"),
        {},
        ("standard_error", ANY, "Bring both to one unit"),
        "^standard_error is in fraction and errors in percent",
    ),
    (
        lambda s: s.isel(training=[0, 1]),
        {},
        ("standard_error", ANY, "Select the same ones"),
        "must have the labels of errors; its 'training' differs",
    ),
    (lambda s: s.expand_dims(x=2), {}, ("standard_error", "('x', 'task', 'training')"), "must have dims of errors"),
    (
        lambda s: s,
        {"sigma_hat_sq": 3.0},
        ("standard_error", ANY, "Leave one out"),
        "^standard_error and sigma_hat_sq=3.0 both say the variance",
    ),
    (lambda s: 0.5, {}, ("standard_error", "float", "errors.copy(data=...)"), "must be a DataArray like errors"),
]


@pytest.mark.parametrize(("change", "options", "expected", "said"), BAD_AGGREGATES)
def test_bad_standard_errors_are_refused(errors, change, options, expected, said):
    mean = errors.mean("run", keep_attrs=True)
    standard_error = xr.full_like(mean, 0.5)
    with refused(*expected, names=said):
        fit_free(mean, standard_error=change(standard_error), **options)


def test_lazy_curves_that_cannot_be_fitted_say_why_in_the_result(tasks):
    lazy = fit_free(
        tasks.where((tasks.task != "few") | (tasks.run < 1)).chunk(task=1),
        weighting="variance-folds",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lazy.compute()
    reasons = dict(zip(found.task.values.tolist(), found.unfit.values.tolist(), strict=True))
    assert [reasons[task] for task in ("few", "none", "whole")] == [3, 1, 0]
    assert "3 one fold at every size" in found.unfit.attrs["long_name"]


def test_errors_from_the_graph_name_the_task(tasks):
    lazy = fit_free((tasks - 50).chunk(task=1))
    with refused("curves", names=r"^task '\w+': errors must not be negative"):
        lazy.compute()


# naive Bayes on digits, five folds: the last size dips
ACCURACY = np.array([0.6856, 0.788, 0.8014, 0.8086, 0.8069])
SD = np.array([0.0439, 0.0243, 0.0302, 0.0285, 0.0376])


def folds_of(means, sd, n_folds):
    """Folds that have exactly these means and standard deviations."""
    noise = np.random.default_rng(0).normal(size=(n_folds, len(means)))
    noise = (noise - noise.mean(axis=0)) / noise.std(axis=0, ddof=1)
    errors = make_errors(means + sd * noise, [143, 467, 790, 1113, 1437])
    return errors.rename("score").assign_attrs(units="fraction")


@pytest.mark.parametrize("method", [xcurves.fit_power_law, xcurves.leave_one_size_out])
def test_accuracy_is_refused_though_one_size_dips(method):
    accuracy = folds_of(ACCURACY, SD, 5)
    with refused(
        "curves",
        cure="If this is accuracy, turn it: 100 - accuracy, or 1 -",
        names=r"rising errors. If this is accuracy",
    ):
        method(accuracy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method(1 - accuracy, units="fraction")
    with refused("curves", cure="If this is accuracy, turn it: 100 - accuracy, or 1 -", names="rising errors"):
        method(accuracy.mean("run"), units="fraction", sigma_hat_sq=500)


def test_a_rise_of_unknown_noise_is_refused_only_at_every_size():
    rising = make_errors([[20.0, 22, 21.9, 25]], [25, 50, 100, 200])
    assert quiet(rising, weighting="uniform").data_reliance < 0
    with refused("curves", cure="If this is accuracy, turn it: 100 - accuracy, or 1 -", names="rising errors"):
        fit_free(rising.where(rising != 21.9, 22.1), weighting="uniform")


def test_what_four_times_the_data_give_is_what_predict_says(errors):
    """One answer: summary and answer state the prediction, not the linear rule's beside it."""
    result = quiet(errors.isel(task=0))
    more = result.curves.predict(1600)
    low, high = more.prediction_ci[0].values
    predicted = estimated(more.prediction[0].item(), low, high, "%")
    said = f"Four times the data, 1,600, give a predicted error of {predicted}"
    assert said in result.curves.summary()
    assert said in xcurves.kinds.kind("fit_power_law").answer(result)
    assert "linear rule" not in result.curves.summary()
    assert ("a fall is predicted, if the curve goes on as it did" in result.curves.summary()) == (
        more.change_ratio_ci[0, 1] < 1
    )


@pytest.mark.parametrize(("whole", "units"), [(1, "fraction"), (100, "percent")])
@pytest.mark.parametrize("named", ["name", "long_name", "standard_name", "all"])
def test_the_cure_for_accuracy_cures(whole, units, named):
    accuracy = folds_of(ACCURACY, SD, 5) * whole
    accuracy = accuracy.rename("accuracy") if named in ("name", "all") else accuracy
    accuracy.attrs = {key: "accuracy" for key in ("long_name", "standard_name") if named in (key, "all")}
    accuracy.attrs["units"] = units
    with xr.set_options(keep_attrs=True):
        with refused("errors", cure="Turn it", names="Turn it: ") as caught:
            fit_free(accuracy)
        cured = eval(str(caught.value).split("Turn it: ")[1], {"accuracy": accuracy})
    assert quiet(cured).data_reliance > 0


@pytest.mark.parametrize(
    "name",
    [
        "1 - accuracy",
        "100 - acc",
        "1-accuracy",
        "error (1 - accuracy)",
        "accuracy error",
    ],
)
def test_what_is_taken_from_one_is_no_accuracy(errors, name):
    fit_free(errors.assign_attrs(long_name=name))


def test_standard_errors_of_one_fold_are_standard_errors(errors):
    mean = errors.mean("run", keep_attrs=True)
    standard_error = xr.full_like(mean, 0.5)
    plain = fit_free(mean, standard_error=standard_error, weighting="variance")
    for one in (1, xr.ones_like(mean.isel(task=0, drop=True))):
        xr.testing.assert_allclose(fit_free(mean, standard_error=standard_error, n_folds=one), plain)


def test_a_noisy_flat_curve_that_happens_to_rise_is_fitted():
    rng = np.random.default_rng(0)
    flat = make_errors(30 + rng.normal(size=(200, 4, 3)), (100, 200, 400), task=np.arange(200))
    result = quiet(flat)
    assert (result.data_reliance < 0).any()
    assert result.error_at_n.notnull().all()


def test_a_flat_curve_has_no_refits_and_leaves_those_of_others():
    flat = xr.DataArray(np.ones((1, 2, 4)), dims=("task", "run", "training"))
    falling = np.array([[8.0, 5.1, 3.0, 2.0], [8.2, 5.0, 3.0, 2.1]])
    both = xr.concat([flat, flat.copy(data=falling[np.newaxis])], "task")
    both = with_attrs(both.assign_coords(training=[1.0, 2, 4, 8]), units="loss")
    with pytest.warns(UserWarning, match="^task 0: errors are all equal"):
        found = xcurves.fit_power_law(both, n_resamples=19, rng=0)
    assert found["estimate_ci"].isel(task=0).isnull().all()
    xr.testing.assert_equal(found.isel(task=[1]), xcurves.fit_power_law(both.isel(task=[1]), n_resamples=19, rng=0))


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32 - 1),
    shift=st.floats(-10, 40),
    factor=st.floats(0.01, 1e4),
)
def test_a_shift_of_errors_or_a_scale_of_sizes_moves_only_what_it_must(seed, shift, factor):
    errors = simulate_errors(3, seed)[0] + 20
    errors.attrs = {"units": "%"}
    first = quiet(errors)
    shifted = quiet(with_attrs(errors + shift, units="%"))
    scaled = quiet(errors.assign_coords(training=errors.training * factor))
    for name in ("data_reliance", "gamma", "eta", "objective", "stderr"):
        np.testing.assert_allclose(shifted[name], first[name], rtol=1e-6, err_msg=name)
    for name in ("error_at_n", "alpha"):
        np.testing.assert_allclose(shifted[name], first[name] + shift, rtol=1e-8, atol=1e-6, err_msg=name)
    for name in (
        "error_at_n",
        "data_reliance",
        "gamma",
        "alpha",
        "objective",
        "error_sd",
        "fitted",
    ):
        np.testing.assert_allclose(scaled[name], first[name], rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(scaled.eta, first.eta * factor**-first.gamma, rtol=1e-6)


def test_lazy_means_with_standard_errors_that_lack_dims(errors):
    mean = errors.mean("run", keep_attrs=True)
    standard_error = xr.DataArray([0.9, 0.8, 0.7, 0.6, 0.5], {"training": mean.training}, ["training"])
    whole = fit_free(mean, standard_error=standard_error, n_folds=4)
    lazy = fit_free(mean.chunk(task=2), standard_error=standard_error, n_folds=4)
    assert lazy.gamma.chunks is not None
    xr.testing.assert_allclose(lazy.compute(), whole, rtol=1e-12)
    assert (whole.n_folds == 4).all()


@pytest.mark.parametrize(
    "about",
    [{"long_name": "epoch"}, {"units": "steps"}, {"long_name": "train_iteration"}],
)
def test_the_progress_of_one_run_is_no_curve_over_sizes(errors, about):
    one = errors.isel(task=0)
    named = one.assign_coords(training=one["training"].assign_attrs(about))
    (word,) = about.values()
    with pytest.warns(UserWarning, match=f"training is '{word}', the progress of one run"):
        xcurves.fit_power_law(named)


@pytest.mark.parametrize(
    "about",
    [{"long_name": "stepwise samples"}, {"units": "images"}, {"long_name": "n_train"}],
)
def test_sizes_of_data_get_no_warning_of_progress(errors, about):
    one = errors.isel(task=0)
    xcurves.fit_power_law(one.assign_coords(training=one["training"].assign_attrs(about)))


def test_a_dim_called_epoch_is_refused_with_a_cure_that_works(errors):
    one = errors.isel(task=0).rename(training="epoch")
    with refused(
        "errors",
        cure="If each label is a training of its own",
        names=r"errors have the dim 'epoch', the progress.*errors\.rename\(epoch='training'\)",
    ):
        xcurves.fit_power_law(one)
    assert xcurves.fit_power_law(one.rename(epoch="training"))["gamma"].notnull()


def test_analyze_says_of_epochs_why_there_is_no_power_law(errors):
    one = errors.isel(task=[0, 1]).rename(task="algorithm").assign_coords(algorithm=["a", "b"])
    named = one.assign_coords(training=one["training"].assign_attrs(long_name="epoch"))
    with refused("curves", names="training is 'epoch', the progress of one run"):
        named.curves.analyze(include=["power_law"])


@pytest.mark.parametrize(
    ("ratio", "bounds", "said"),
    [
        (0.7782, (0.6906, 0.877), "falls by 22.2 % (12.3 to 30.9)"),
        (0.78, (0.5, 1.1), "falls by 22 % (−10 to 50)"),
        (1.2, (1.1, 1.31), "rises by 20 % (10 to 31)"),
    ],
)
def test_changes_are_said_in_per_cent(ratio, bounds, said):
    assert change_in_percent(ratio, bounds) == said
