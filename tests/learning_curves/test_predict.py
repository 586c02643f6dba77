from functools import partial

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import oracles_powerlaw as oracle
import xcurves
from refusals import ANY, refused
from strategies import as_dict, simulate_errors

fit_free = partial(xcurves.fit_power_law, asymptote="free")

N = [10, 100, 400, 1600, 1700]


@pytest.fixture(scope="module")
def errors():
    return simulate_errors(4, 0)[0]


def test_predictions_lie_on_the_curve_with_the_variances_of_dense_matrices(errors):
    fit = fit_free(errors)
    found = xcurves.predict(fit, N)
    assert found.prediction.dims == ("task", "n")
    assert found.prediction_ci.dims == ("task", "n", "ci_bound")
    n = np.array(N, dtype=float)
    for i in range(4):
        here, curve = fit.isel(task=i), as_dict(errors[i])
        alpha, eta, gamma = (here[name].item() for name in ("alpha", "eta", "gamma"))
        _, variances = oracle.variance_model(curve)
        np.testing.assert_allclose(found.prediction[i], alpha + eta * n**gamma, rtol=1e-10)
        j = np.column_stack([np.ones(5), n**gamma, eta * n**gamma * np.log(n)])
        free = oracle.sandwich(curve, (alpha, eta, gamma), variances)
        half = stats.t.ppf(0.975, 26) * np.sqrt(np.einsum("np,pq,nq->n", j, free, j))
        np.testing.assert_allclose(found.prediction_ci[i, :, 1] - found.prediction[i], half, rtol=1e-6)
        _, given, _ = oracle.given_gamma(curve, gamma, variances)
        half = stats.norm.ppf(0.975) * np.sqrt(np.einsum("np,pq,nq->n", j[:, :2], given, j[:, :2]))
        np.testing.assert_allclose(
            found.prediction_ci_given_gamma[i, :, 1] - found.prediction[i],
            half,
            rtol=1e-7,
        )
    assert found.extrapolated.isel(task=0).values.tolist() == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    "options",
    [{}, {"gamma": -0.5}, {"quadratic": True}, {"weighting": "uniform"}, {"at": 50.0}],
)
def test_a_fit_that_predicts_says_the_same(errors, options):
    fit = fit_free(errors, predict_at=N, **options)
    later = xcurves.predict(fit, N)
    for name in ("prediction", "prediction_ci", "extrapolated"):
        np.testing.assert_allclose(fit[name], later[name], rtol=1e-6, err_msg=name)
    here = later.sel(n=400)
    if not options:
        np.testing.assert_allclose(here.prediction, fit.error_at_n)
        np.testing.assert_allclose(here.prediction_ci, fit.estimate_ci.sel(param="error_at_n"), rtol=1e-9)


def test_bounds_of_fixed_gamma_are_the_same_but_for_t(errors):
    fit = fit_free(errors, gamma=-0.5, sigma_hat_sq=30)
    found = xcurves.predict(fit, N)
    np.testing.assert_allclose(found.prediction_ci, found.prediction_ci_given_gamma, rtol=1e-7)


def test_the_linear_rule_is_equation_1(errors):
    fit = fit_free(errors)
    found = xcurves.predict(fit, [100, 400, 1600, 1e15], rule="linear").prediction
    error, reliance = fit.error_at_n, fit.data_reliance
    expected = [error + reliance, error, error - reliance / 2, error - reliance]
    np.testing.assert_allclose(found.transpose(), expected, rtol=1e-4)


def test_the_linear_rule_has_the_variance_of_a_sum(errors):
    fit = fit_free(errors, sigma_hat_sq=30)
    found = xcurves.predict(fit, 1600, rule="linear")
    part = {
        "param": ["error_at_n", "data_reliance"],
        "cov_param": ["error_at_n", "data_reliance"],
    }
    covariance = fit.covariance.sel(part).to_numpy()
    half = stats.norm.ppf(0.975) * np.sqrt(np.einsum("p,tpq,q->t", [1, -0.5], covariance, [1, -0.5]))
    np.testing.assert_allclose(found.prediction_ci[:, 0, 1] - found.prediction[:, 0], half, rtol=1e-9)


def test_the_change_has_the_variance_of_a_difference_on_one_curve(errors):
    """By numerical derivatives of e(n) - e(N) in the parametrisation of the paper, and the fit's own covariance."""
    fit = fit_free(errors, at=200)
    for method in ("power-law", "linear"):
        found = xcurves.predict(fit, N, rule=method)
        names = ["error_at_n", "data_reliance", "gamma"]
        for i in range(4):
            here = fit.isel(task=i)

            def change(theta, n, method=method):
                _, reliance, gamma = theta
                if method == "linear":
                    return (np.sqrt(200 / n) - 1) * reliance
                return -reliance / (2 * gamma) * ((n / 200) ** gamma - 1)

            theta = np.array([here[name].item() for name in names])
            covariance = here.covariance.sel(param=names, cov_param=names).to_numpy()
            for k, n in enumerate(N):
                slopes = [(change(theta + step, n) - change(theta - step, n)) / 2e-5 for step in 1e-5 * np.eye(3)]
                half = stats.t.ppf(0.975, 26) * np.sqrt(slopes @ covariance @ slopes)
                low, high = found.change_ci[i, k].to_numpy()
                np.testing.assert_allclose(found.change[i, k], change(theta, n), rtol=1e-9)
                np.testing.assert_allclose(
                    [(low + high) / 2, (high - low) / 2],
                    [change(theta, n), half],
                    rtol=1e-5,
                )
    assert (xcurves.predict(fit, 200).change_ci == 0).all()
    assert "from 200 to 1,600 the error changes by −" in fit.isel(task=[0]).curves.predict(1600).curves.summary()


def test_a_curve_without_errors_predicts_nothing(errors):
    lost = errors.where(errors.task != 1)
    with pytest.warns(UserWarning, match="no errors"):
        fit = fit_free(lost, predict_at=N)
    found = xcurves.predict(fit, N)
    assert not fit.extrapolated.sel(task=1).any()
    assert not found.extrapolated.sel(task=1).any()
    assert found.change.sel(task=1).isnull().all()
    one = found.isel(task=[1]).curves.summary()
    assert "task 1: nothing can be said; there is no fitted curve." in one
    assert "nan" not in found.curves.summary()


def test_unlike_sizes_of_many_curves_are_said_as_a_range(errors):
    learners = xr.concat([errors, 1.1 * errors], xr.Variable("algorithm", ["plain", "tuned"])).sel(task=[0, 1, 2])
    few = learners.where((learners.task != 0) | (learners.training < learners.training[-1]))
    fit = few.curves.fit_power_law(at="largest")
    said = xcurves.predict(fit, 4 * fit["at"]).curves.summary().split("\n")[0]
    ends = [f"{4 * size:,.0f}" for size in np.unique(fit["at"])]
    assert len(ends) == 2
    assert said.startswith(f"Predicted errors at sizes {ends[0]} to {ends[1]}: ")
    assert "(algorithm 'plain', task 2)" in said
    assert fit.curves.summary().startswith(f"Errors at sizes {' to '.join(f'{n:g}' for n in np.unique(fit['at']))}: ")


@pytest.mark.parametrize("n", ["a", None, [True], [[1, 2]]])
def test_what_is_no_size_is_named(errors, n):
    with refused(
        "n", cure="Such as n=[800, 1600]", names="n must be a number or a list of numbers; got ", kind=xcurves.WrongType
    ):
        xcurves.predict(fit_free(errors), n)


def test_one_curve_and_one_size_keep_their_shape(errors):
    found = xcurves.predict(fit_free(errors[0]), 800.0)
    assert found.prediction.dims == ("n",)
    assert found.n.attrs["long_name"] == "training size"
    assert found.prediction.attrs["units"] == "%"
    columns = "prediction lower upper change change_lower change_upper ratio ratio_lower ratio_upper extrapolated"
    assert found.curves.table().columns.tolist() == columns.split()


@pytest.mark.parametrize(
    ("n", "options", "expected", "said"),
    [
        ([0], {}, ("n", "0", "A curve has no value there"), "must be positive and finite"),
        ([1e-300], {}, ("n", "1e-300", "A curve has no value there"), "must be positive and finite, 1e-50 to 1e.50"),
        ([1, 1], {}, ("n", ANY, "Give each once"), "has numbers twice"),
        ([1], {"rule": "cubic"}, ("rule", "cubic"), "'combined', 'power-law', 'last-fall' or 'linear'"),
    ],
)
def test_bad_sizes_and_methods_are_refused(errors, n, options, expected, said):
    with refused(*expected, names=said):
        xcurves.predict(fit_free(errors), n, **options)


def test_what_is_no_fit_is_refused(errors):
    with refused("fit", "Dataset", cure="Make one: errors.curves.fit_power_law()", kind=xcurves.WrongType):
        xcurves.predict(errors.to_dataset(), 100)
    left_out = xcurves.leave_one_size_out(errors)
    with refused("fit", "leave_one_size_out", cure="Make one: errors.curves.fit_power_law()", kind=xcurves.WrongType):
        left_out.curves.predict(100)
