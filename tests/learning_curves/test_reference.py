"""The measurements behind Hoiem et al., Figure 5a, and answers that slow independent code gave."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import xcurves
from places import SHARED
from refusals import refused

fit_free = partial(xcurves.fit_power_law, asymptote="free")

pytestmark = pytest.mark.skipif(
    not SHARED.exists(),
    reason=f"no reference data in {SHARED.name}/ beside the repository",
)
TABLE_3 = {  # alpha, eta, gamma, e_400, beta_400; then with gamma -0.5 on the three largest sizes
    "no_pretr_ft": ((5.68, 259.29, -0.41, 27.91, 18.23), (11.21, 336.13, 28.02, 16.81)),
    "pretr_linear": ((24.4, 65.28, -0.35, 32.42, 5.61), (27.33, 102.16, 32.44, 5.11)),
    "pretr_ft": ((12.48, 194.19, -0.57, 18.86, 7.28), (11.37, 150.73, 18.91, 7.54)),
}
NAMES = ["alpha", "eta", "gamma", "error_at_n", "data_reliance"]
VARIANTS = {
    "paper": {},
    "gamma_fixed_minus_half": {"gamma": -0.5},
    "no_prior": {"prior_strength": 0},
}
CASES = [(classifier, variant) for classifier in TABLE_3 for variant in VARIANTS]


@pytest.fixture(scope="module")
def errors():
    frame = pd.read_csv(SHARED / "data" / "hoiem_cifar100_errors.csv")
    errors = frame.curves.to_dataarray("test_error_pct", algorithm="classifier", run="fold", training="n_per_class")
    return errors.assign_attrs(units="%")


@pytest.fixture(scope="module")
def reference():
    return json.loads((SHARED / "reference" / "dev_powerlaw.json").read_text())["fits"]


@pytest.mark.parametrize("classifier", TABLE_3)
def test_raw_errors_give_the_rows_of_table_3_to_its_printed_digits(classifier, errors):
    searched, lightweight = TABLE_3[classifier]
    fit = fit_free(errors.sel(algorithm=classifier))
    assert [round(fit[name].item(), 2) for name in NAMES] == list(searched)
    last = errors.sel(algorithm=classifier, training=[100, 200, 400])
    fit = fit_free(last, gamma=-0.5)
    assert [round(fit[name].item(), 2) for name in (*NAMES[:2], *NAMES[3:])] == list(lightweight)


@pytest.mark.parametrize(("classifier", "variant"), CASES)
def test_fits_agree_to_the_reference_s_tolerances(classifier, variant, errors, reference):
    expected = reference[classifier][variant]
    check(fit_free(errors.sel(algorithm=classifier), **VARIANTS[variant]), expected)


def test_one_error_at_each_size_needs_its_variance_and_then_agrees(errors, reference):
    lazy = errors.sel(algorithm="no_pretr_ft_lazy")
    cure = "give sigma_hat_sq, or fit with weighting='relative' or 'uniform'"
    with refused("curves", cure=cure, names="one fold at every size"):
        fit_free(lazy, weighting="variance-folds")
    check(fit_free(lazy, sigma_hat_sq=20), reference["no_pretr_ft_lazy"]["with_v1_20"])


def check(fit, expected):
    sizes = [float(n) for n in expected["curve"]]
    assert fit.gamma == expected["gamma"]
    pairs = [
        ("alpha", "alpha"),
        ("eta", "eta"),
        ("error_at_n", "e_N"),
        ("data_reliance", "beta_N"),
    ]
    for name, theirs in (*pairs, ("objective", "objective_G")):
        np.testing.assert_allclose(fit[name], expected[theirs], rtol=1e-8)
    known = {float(n): value for n, value in expected["sigma2"].items()}
    np.testing.assert_allclose(fit.error_sd.sel(training=list(known)) ** 2, list(known.values()), rtol=1e-8)
    v1 = ((fit.error_sd**2 - 0.02) * fit.training).sel(training=list(known))
    np.testing.assert_allclose(v1, expected["v1"], rtol=1e-8)
    given = fit.stderr_given_gamma
    np.testing.assert_allclose(given.sel(param=["alpha", "eta"]) ** 2, np.diag(expected["cov"]), rtol=1e-8)
    np.testing.assert_allclose(given.sel(param="error_at_n"), expected["se_e_N"], rtol=1e-8)
    found = xcurves.predict(fit, sizes)
    np.testing.assert_allclose(found.prediction, [value for value, _ in expected["curve"].values()], rtol=1e-8)
    bounds = found.prediction_ci_given_gamma.sel(ci_bound="upper") - found.prediction
    np.testing.assert_allclose(
        bounds / 1.959963984540054 * 1.96,
        [b for _, b in expected["curve"].values()],
        rtol=1e-8,
    )
