import numpy as np
import pytest
import xarray as xr
from scipy import stats

import oracles_powerlaw as oracle
import xcurves
from refusals import ANY, refused
from strategies import as_dict, simulate_errors
from xcurves.learning_curves.leave_one_size_out import PAPER


@pytest.fixture(scope="module")
def errors():
    return simulate_errors(5, 3)[0].rename(task="algorithm")


def literal(curve, asymptote="free", gamma="search", quadratic=False, weighting="variance-folds"):
    """Errors of predicting each size's mean from the others."""
    apart = {}
    for left_out, values in curve.items():
        rest = {n: e for n, e in curve.items() if n != left_out}
        _, variances = oracle.variance_model(rest)
        used = oracle.search(rest, variances, weighting, 5.0, quadratic)[0] if gamma == "search" else gamma
        theta, _, _ = oracle.given_gamma(rest, used, variances, weighting, quadratic)
        powers = [1, left_out**used, left_out ** (2 * used)][: len(theta)]
        apart[left_out] = theta @ powers - np.mean(values)
    return np.array(list(apart.values()))


def test_rmse_and_p_are_those_of_literal_refits(errors):
    found = xcurves.leave_one_size_out(errors)
    apart = {name: np.array([literal(as_dict(e), **options) for e in errors]) for name, options in PAPER.items()}
    first = np.abs(apart["power law"]).ravel()
    for name, values in apart.items():
        here = found.sel(variant=name)
        np.testing.assert_allclose(here.rmse, np.sqrt((values**2).mean(axis=0)), rtol=1e-6)
        if name != "power law":
            expected = stats.ttest_rel(np.abs(values).ravel(), first).pvalue
            np.testing.assert_allclose(here.pvalue, expected, rtol=1e-5)
    assert found.pvalue.isel(variant=0).isnull()
    assert found.n_curves == 5


def test_r_squared_is_that_of_the_fits(errors):
    found = xcurves.leave_one_size_out(errors)
    for name, options in PAPER.items():
        fit = xcurves.fit_power_law(errors, **options)
        np.testing.assert_allclose(found.r_squared.sel(variant=name), fit.r_squared.mean(), rtol=1e-10)
        means = errors.mean("run")
        total = ((means - means.mean("training")) ** 2).sum("training")
        expected = 1 - ((means - fit.fitted) ** 2).sum("training") / total
        np.testing.assert_allclose(fit.r_squared, expected, rtol=1e-9)


def test_table_has_the_six_rows_of_the_paper(errors):
    table = xcurves.leave_one_size_out(errors).curves.table()
    assert table.index.tolist() == list(PAPER)
    assert table.columns.tolist() == ["R2", "25", "50", "100", "200", "400", "avg", "p"]
    np.testing.assert_allclose(table["avg"], table[["25", "50", "100", "200", "400"]].mean(axis=1))
    assert "predicts sizes left out best" in xcurves.leave_one_size_out(errors).curves.summary()


def test_without_algorithm_and_with_tasks_the_same(errors):
    tasks = xr.concat([errors, errors * 0.9], "task").assign_coords(task=["x", "y"]).assign_attrs(units="%")
    found = xcurves.leave_one_size_out(tasks)
    np.testing.assert_allclose(found.rmse.sel(task="x"), xcurves.leave_one_size_out(errors).rmse, rtol=1e-9)
    alone = xcurves.leave_one_size_out(errors.isel(algorithm=0, drop=True))
    first = xcurves.leave_one_size_out(errors.isel(algorithm=[0]))
    np.testing.assert_array_equal(alone.rmse, first.rmse)


def test_percent_and_fractions_and_own_variants(errors):
    errors = errors / 2
    errors.attrs = {}
    mine = {"mine": {"gamma": -0.4}, "other": {}}
    percent = xcurves.leave_one_size_out(errors, units="percent", variants=mine)
    fraction = xcurves.leave_one_size_out(errors / 100, units="fraction", variants=mine)
    np.testing.assert_allclose(fraction.rmse * 100, percent.rmse, rtol=1e-9)
    np.testing.assert_allclose(fraction.pvalue, percent.pvalue, rtol=1e-7)
    assert percent.variant.values.tolist() == ["mine", "other"]


@pytest.mark.parametrize(
    ("change", "options", "expected", "said"),
    [
        (
            lambda e: e.isel(training=slice(4)),
            {},
            ("curves", ANY, "A law needs 2, one more"),
            "algorithm 0: variant 'quadratic' without size 25: too few sizes",
        ),
        (
            lambda e: e,
            {"variants": {"a": {"at": 3}}},
            ("variants", "at", "Options are gamma, quadratic, asymptote, weighting"),
            "^variants gives 'a' the option 'at'",
        ),
        (lambda e: e, {"variants": {"a": {"gamma": 1}}}, ("gamma", 1, "Usual: -0.5"), "'search' or a negative number"),
        (lambda e: e.isel(run=[0]), {}, ("curves", ANY, "give sigma_hat_sq, or fit with"), "one fold at every size"),
        (
            lambda e: e.rename("accuracy"),
            {},
            ("errors", ANY, 'Turn it: (100 - accuracy).rename("error")'),
            "errors is called 'accuracy'",
        ),
    ],
)
def test_bad_input_is_refused(errors, change, options, expected, said):
    with refused(*expected, names=said):
        xcurves.leave_one_size_out(change(errors), **options)


def test_messages_name_the_curve_without_folds_too(errors):
    means = errors.mean("run", keep_attrs=True).isel(training=slice(3)).expand_dims(task=["x"])
    with refused(
        "curves",
        cure="A law needs 2, one more each for a searched gamma, relative",
        names=r"^task 'x', algorithm 0:.*variant 'power law'",
    ):
        xcurves.leave_one_size_out(means, sigma_hat_sq=20)


def test_the_size_that_is_left_out_is_named():
    errors = simulate_errors(1, 0)[0].isel(task=0, run=slice(4)).copy()
    errors[1:, 1:] = np.nan
    with refused(
        "curves",
        cure="Weights by variance need folds: give sigma_hat_sq, or fit",
        names=r"^variant 'power law' without size 25: one fold at every size",
    ):
        xcurves.leave_one_size_out(errors)
