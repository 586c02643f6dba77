"""Mean curves and their bands, against plain loops and SciPy's t."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import xcurves
from refusals import refused
from strategies import make_curves
from xcurves.core.refusal import call, give


@pytest.fixture
def curves():
    values = np.random.default_rng(0).normal(size=(3, 2, 5, 6)).cumsum(axis=-1)
    return make_curves(values, task=["x", "y", "z"])


def loop(runs, band, confidence_level=0.95):
    """Return mean and ends at each level, NaN where a run lacks it, of runs that have scores."""
    runs = [run for run in runs if not all(np.isnan(run))]
    rows = []
    for scores in np.transpose(runs):
        mean = sum(scores) / len(scores)
        if np.isnan(mean) or len(scores) == 1:
            rows.append((mean, np.nan, np.nan))
        elif band == "pointwise":
            rows.append((mean, *stats.t.interval(confidence_level, len(scores) - 1, mean, stats.sem(scores))))
        else:
            half = {"sd": stats.tstd, "se": stats.sem}[band](scores)
            rows.append((mean, mean - half, mean + half))
    return np.array(rows)


@pytest.mark.parametrize("band", ["pointwise", "sd", "se"])
def test_means_and_bands_are_those_of_a_loop(curves, band):
    curves[0, 1, 3:] = np.nan  # runs that are absent
    curves[1, 0, 2, 4:] = np.nan  # a run that ends before the others
    curves[2, 0, 1:] = np.nan  # one run
    found = xcurves.mean_curves(curves, band=band, confidence_level=0.9)
    for task in range(3):
        for algorithm in range(2):
            expected = loop(curves[task, algorithm].values, band, 0.9)
            own = found.isel(task=task, algorithm=algorithm)
            np.testing.assert_allclose(own.mean_curve, expected[:, 0])
            np.testing.assert_allclose(own.mean_curve_ci, expected[:, 1:])
    assert found.n_runs.values.tolist() == [[5, 3], [5, 5], [1, 5]]
    assert found.attrs["band"] == band


def test_an_algorithm_without_runs_has_no_mean(curves):
    curves[2, 0] = np.nan
    found = xcurves.mean_curves(curves)
    assert found.mean_curve[2, 0].isnull().all()
    assert found.mean_curve[2, 1].notnull().all()
    assert "Without a mean" in found.curves.summary()


def test_runs_are_smoothed_one_by_one_before_the_mean(curves):
    curves[0, 0, 1, 2] = np.nan  # which is no level of this run
    smooth = []
    for run in curves[0, 0].values:
        known = run[~np.isnan(run)]
        weights = [[0.3 * 0.7 ** (last - i) if i <= last else 0.0 for i in range(len(known))]
                   for last in range(len(known))]  # fmt: skip
        made = np.full(6, np.nan)
        made[~np.isnan(run)] = [np.dot(each, known) / sum(each) for each in weights]
        smooth.append(made)
    found = xcurves.mean_curves(curves, smooth=0.7, band="sd")
    np.testing.assert_allclose(found.mean_curve[0, 0], np.mean(smooth, axis=0))
    np.testing.assert_allclose(found.mean_curve_ci[0, 0], loop(smooth, "sd")[:, 1:])


def test_a_simultaneous_band_is_wider_and_holds_at_all_levels_as_often_as_it_says():
    rng = np.random.default_rng(1)
    whole = make_curves(rng.normal(size=(200, 1, 8, 5)).cumsum(axis=-1), task=range(200))
    found = xcurves.mean_curves(whole, band="simultaneous", n_resamples=400, rng=0)
    low, high = (found.mean_curve_ci.sel(ci_bound=bound) for bound in ("lower", "upper"))
    hits = int(((low <= 0) & (high >= 0)).all("training").sum())
    assert stats.binom.ppf(0.0005, 200, 0.95) <= hits
    by_level = xcurves.mean_curves(whole).mean_curve_ci
    assert ((high - low) > by_level.diff("ci_bound").squeeze("ci_bound", drop=True)).mean() > 0.99
    # three runs are too few
    assert xcurves.mean_curves(whole.isel(run=slice(3)), band="simultaneous", rng=0).mean_curve_ci.isnull().all()


def test_no_band_is_nan(curves):
    assert xcurves.mean_curves(curves, band=None).mean_curve_ci.isnull().all()


def test_runs_with_levels_of_their_own_are_read_between_the_last_start_and_the_first_end():
    rows = [("a", run, step, run + step) for run, steps in enumerate([(0, 3, 10), (2, 6, 8)]) for step in steps]
    rows += [("b", run, step, 2.0 * step) for run in range(2) for step in (1, 5)]
    frame = pd.DataFrame(rows, columns=["algorithm", "run", "training", "score"])
    found = xcurves.mean_curves(frame.curves.to_dataarray("score", levels="run"))
    assert found.mean_curve.dims == ("algorithm", "evaluation")
    for name, start, end, mean in (("a", 2, 8, lambda at: at + 0.5), ("b", 1, 5, lambda at: 2 * at)):
        own = found.sel(algorithm=name)
        np.testing.assert_allclose(own.training, np.linspace(start, end, 200))
        np.testing.assert_allclose(own.mean_curve, mean(own.training))
    at = float(found.training[0, 60])
    runs = [np.interp(at, [0, 3, 10], [0, 3, 10]), np.interp(at, [2, 6, 8], [3, 7, 9])]
    np.testing.assert_allclose(found.mean_curve_ci[0, 60], stats.t.interval(0.95, 1, np.mean(runs), stats.sem(runs)))


def test_the_answer_names_means_at_the_last_level_the_highest_first():
    values = [[[0.0, 1.0], [0.0, 3.0]], [[0.0, 5.0], [0.0, 5.0]]]
    curves = make_curves(np.array(values), training=[0, 10]).assign_coords(algorithm=["low", "high"])
    said = xcurves.mean_curves(curves, band="sd").curves.summary()
    assert said.startswith("Mean score at 10: high 5 (5 to 5); low 2.0 (0.6 to 3.4).")


def test_levels_that_not_all_runs_have_are_counted(curves):
    lacking = curves.where((curves["training"] < curves["training"][-2]) | (curves["run"] == curves["run"][0]))
    n_levels = curves.sizes["training"]
    said = xcurves.mean_curves(lacking).curves.summary()
    assert f"2 of {n_levels} levels have no mean, as not all runs have a score there." in said
    assert "levels have no mean" not in xcurves.mean_curves(curves).curves.summary()
    one = lacking.isel(algorithm=[0, 1])
    one = one.where(one["algorithm"] != one["algorithm"][1], curves.isel(algorithm=[0, 1]))
    assert "levels have no mean" not in xcurves.mean_curves(one).curves.summary()


@pytest.mark.parametrize(
    ("name", "value", "cure", "kind"),
    [
        ("band", "iqr", None, xcurves.Refusal),
        ("smooth", 1.0, give(smooth=0.6), xcurves.Refusal),
        ("smooth", "much", give(smooth=0.6), xcurves.WrongType),
    ],
)
def test_what_is_refused(curves, name, value, cure, kind):
    with refused(name, value, cure, kind=kind):
        xcurves.mean_curves(curves, **{name: value})


def test_failed_runs_have_no_mean(curves):
    with refused("curves", cure=call(".curves.fill_failed", "worst"), names="a run that failed"):
        xcurves.mean_curves(xr.where(curves > 2, -np.inf, curves))
