"""Tables, sentences, pictures and archives of learning curves."""

import re
from functools import partial
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

import xcurves
from strategies import make_errors, simulate_errors

fit_free = partial(xcurves.fit_power_law, asymptote="free")


def legend_of(ax):
    """Return the names of the legend above the panels."""
    return [text.get_text() for legend in ax.figure.legends for text in legend.get_texts()]


@pytest.fixture(scope="module")
def errors():
    values = simulate_errors(6, 0)[0].to_numpy().reshape(2, 3, 16, 5)
    errors = make_errors(values, task=["x", "Ünïcode"], algorithm=["a", "b", "c"])
    errors.training.attrs = {"units": "images", "long_name": "images per class"}
    return errors.assign_attrs(history="measured")


@pytest.fixture(scope="module")
def fit(errors):
    return fit_free(errors)


RESULTS = {
    "fit": lambda e: fit_free(e, predict_at=[10, 1600], n_resamples=20, rng=2**62),
    "quadratic": lambda e: fit_free(e, quadratic=True, at=200),
    "predict": lambda e: fit_free(e).curves.predict([10, 1600], rule="linear"),
    "left out": lambda e: xcurves.leave_one_size_out(e),
    "compare": lambda e: fit_free(e).curves.compare_learners(reference="b"),
}


@pytest.fixture(scope="module", params=RESULTS.values(), ids=RESULTS)
def make(request):
    return request.param


@pytest.fixture(scope="module")
def result(make, errors):
    return make(errors)


@pytest.mark.plain(2)
def test_equal_calls_are_identical(errors, make, result):
    xr.testing.assert_identical(make(errors), result)
    assert result.attrs["history"].startswith("measured\n")


def test_the_table_is_the_papers(fit):
    table = fit.sel(task="x").curves.table()
    assert table.columns.tolist() == ["e_N", "beta_N", "gamma", "alpha", "eta"]
    assert table.index.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(table["beta_N"], fit.data_reliance.sel(task="x"))
    assert fit.curves.table().index.names == ["task", "algorithm"]
    assert fit_free(simulate_errors(1, 0)[0][0]).curves.table().shape == (1, 5)


def test_sentences_say_error_reliance_units_and_limits(fit):
    lines = fit.isel(task=[0]).curves.summary().split("\n")
    assert len(lines) == 1 + 3 + 2
    assert lines[0].startswith("task 'x', algorithm 'a': four times the data, 1,600, give a predicted error of ")
    assert lines[1].startswith("task 'x', algorithm 'a': at size 400 the error is ")
    assert all(re.search(r" % \([\d.]+ to [\d.]+\)", line) for line in lines[:2])
    many = fit.curves.summary().split("\n")
    least = fit.error_at_n.where(fit.error_at_n == fit.error_at_n.min(), drop=True).squeeze()
    assert many[0].startswith(f"Errors at size 400: {least.item():.4g} % (")
    assert "a fall is predicted for " in many[0]
    assert "if curves go on as they did" in many[0]
    assert len(many) == 3
    assert "Errors were taken as percent, weighted by 1 / (F_i sigma_i^2)" in lines[-2]
    assert "test set" in lines[-1]


def test_sentences_mark_what_is_to_be_kept_in_mind(errors):
    one = errors.isel(task=0, algorithm=0)
    far = fit_free(one, at=5).curves.summary()
    assert "Size 5 is far outside the measured ones." in far
    assert "far outside the measured sizes." in fit_free(one).curves.predict(1e5).curves.summary()
    lost = one.where(one.training < 0)
    with pytest.warns(UserWarning, match="no errors"):
        assert "Not fitted: no errors." in fit_free(lost).curves.summary()
    flat = one.where(one.isnull(), 30.0)
    with pytest.warns(UserWarning, match="all equal"):
        assert "ll errors are 30 %; nothing tells how" in fit_free(flat).curves.summary()
    steep = make_errors((20 + 3e4 * one.training.to_numpy() ** -2.0)[np.newaxis])
    with pytest.warns(UserWarning, match="edge"):
        assert "may not be a power law" in fit_free(steep, sigma_hat_sq=1).curves.summary()
    boot = fit_free(one, n_resamples=25, rng=0).curves.summary()
    assert "25 bootstrap refits" in boot


def test_a_gamma_that_was_given_is_said_to_be_without_uncertainty(errors):
    said = fit_free(errors.isel(task=0, algorithm=0), gamma=-0.5).curves.summary()
    assert "gamma −0.5 as given." in said
    assert "uncertainty of gamma" not in said


def test_no_nan_in_a_sentence(errors):
    exact = fit_free(errors.isel(run=[0], training=[0, 2, 4]), weighting="uniform")
    for result in (
        exact,
        exact.curves.predict(1600),
        exact.curves.compare_learners(reference="a"),
    ):
        assert "nan" not in result.curves.summary()
    assert "(no interval)" in exact.isel(task=[0]).curves.summary()


def fitted_law(curve, n):
    """The error at sizes by the fitted parameters, written out."""
    gamma, at, error, slope = (curve[name].item() for name in ("gamma", "at", "error_at_n", "data_reliance"))
    return error + slope * ((n / at) ** gamma - 1) / (-2 * gamma)


def test_curves_are_drawn_with_logarithmic_axes(fit):
    ax = fit.sel(task="x").curves.plot()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    shown = [line for line in ax.lines if len(line.get_xdata())]
    marks = [line for line in shown if line.get_linestyle() == "None"]
    np.testing.assert_allclose(marks[0].get_xdata(), fit.training)
    np.testing.assert_allclose(marks[1].get_ydata(), fit.mean_error.sel(task="x", algorithm="b"))
    (bar,) = [line for line in shown if len(line.get_xdata()) == 2]
    np.testing.assert_allclose(bar.get_xdata(), 400)  # the last measured size
    curves = [line for line in shown if line.get_gid() == "fitted"]
    farther = [line for line in shown if line.get_gid() == "predicted"]
    assert len({(line.get_color(), line.get_linestyle()) for line in curves}) == 3
    for name, line, beyond in zip("abc", curves, farther, strict=True):
        x = line.get_xdata()
        np.testing.assert_allclose(line.get_ydata(), fitted_law(fit.sel(task="x", algorithm=name), x))
        assert x.max() <= 400 <= beyond.get_xdata().min()
        assert beyond.get_xdata().max() == pytest.approx(1600)
    labels = legend_of(ax)
    here = fit.sel(task="x", algorithm="a")
    assert labels[0].startswith("a: ")
    assert f"{here.gamma.item():.2f}".replace("-", "−") in labels[0]
    assert f"{here.error_at_n.item():.4g}" in labels[0]
    assert f"{here.data_reliance.item():.4g}" in labels[0]
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert {"25", "400"} <= set(ticks)
    assert len(ax.collections) == 3  # bounds


@pytest.mark.slow
def test_pictures_of_many_learners_name_each_beside_the_panel():
    sizes = 1000.0 * np.arange(1, 34)
    rng = np.random.default_rng(0)
    means = rng.uniform(5, 15, (28, 1)) * (sizes / sizes[-1]) ** rng.uniform(-0.5, -0.2, (28, 1))
    names = [f"learner {i}" for i in range(28)]
    errors = make_errors(means[:, np.newaxis], sizes, algorithm=names).isel(run=0, drop=True)
    fit = xcurves.fit_power_law(errors)
    ax = fit.curves.plot("scatter")
    ax.figure.canvas.draw()
    (legend,) = ax.figure.legends
    assert legend_of(ax) == names
    assert not legend.get_window_extent().overlaps(ax.get_window_extent())
    assert legend.get_window_extent().y0 > 0
    panels = fit.curves.plot()
    assert [ax.get_title() for ax in panels] == names
    ax = fit.curves.plot("curve", ax=mpl.pyplot.figure().add_subplot())
    ax.figure.canvas.draw()
    looks = {(line.get_color(), line.get_marker()) for line in ax.get_legend().get_lines()}
    assert len(looks) == 28
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert not [here for here, after in pairwise(boxes) if here.x1 >= after.x0]


@pytest.mark.slow
def test_a_long_name_has_its_legend_above_the_panel():
    means = np.stack([30 + 100 * np.arange(1.0, 6) ** -0.5] * 2)[:, np.newaxis]
    errors = make_errors(means, algorithm=["a", "a learner with a name"]).isel(run=0, drop=True)
    ax = xcurves.fit_power_law(errors).curves.plot()
    ax.figure.canvas.draw()
    (legend,) = ax.figure.legends
    assert legend.get_window_extent().y0 > ax.get_window_extent().y1
    assert legend.get_window_extent().x1 < ax.figure.bbox.x1 + 1


def test_scatter_has_a_point_with_error_bars_for_each_learner(fit):
    ax = fit.sel(task="x").curves.plot("scatter")
    points = [container.lines[0].get_xydata()[0] for container in ax.containers]
    here = fit.sel(task="x")
    np.testing.assert_allclose(points, np.column_stack([here.data_reliance, here.error_at_n]))
    assert legend_of(ax) == ["a", "b", "c"]
    assert "n = 400" in ax.get_xlabel()


@pytest.mark.plain(1)
@pytest.mark.parametrize("sizes", [[1, 2, 4], [25, 50, 100, 200, 400], [1, 10, 1e3, 1e5, 1e6]])
def test_the_curve_reaches_all_data_and_four_times_the_last_size(sizes):
    n = np.array(sizes, dtype=float)
    for at in ("largest", float(n[0])):
        ax = fit_free(make_errors((10 + 5 * n**-0.5)[np.newaxis], n), sigma_hat_sq=1, at=at).curves.plot()
        curve, beyond, circles = (line for line in ax.lines if line.get_gid() in ("fitted", "predicted", "measured"))
        (bar,) = [line for line in ax.lines if line.get_linestyle() == ":"]
        x = np.concatenate([curve.get_xdata(), beyond.get_xdata()])
        np.testing.assert_allclose(bar.get_xdata(), n[-1])
        np.testing.assert_allclose([x.min(), x.max()], [n[0], 4 * n[-1]])
        np.testing.assert_allclose(circles.get_xdata(), n)
        low, high = ax.get_xlim()
        assert low <= x.min() <= x.max() <= high


def test_curves_end_at_four_times_the_largest_measured_size(errors):
    """As `extrapolated` says, whatever N is and whatever sizes the array has without errors."""
    one = errors.isel(task=0, algorithm=0).where(errors.training < 400)
    fit = fit_free(one, at=200)
    (beyond,) = [line for line in fit.curves.plot().lines if line.get_gid() == "predicted"]
    edge = beyond.get_xdata()[-1]
    np.testing.assert_allclose(edge, 800)
    assert fit.curves.predict([edge * 0.999, edge * 1.001]).extrapolated.values.tolist() == [0, 1]


def test_scatter_of_curves_at_different_sizes_says_so(errors):
    at = xr.DataArray([100, 200, 400], {"algorithm": ["a", "b", "c"]})
    ax = fit_free(errors.isel(task=0), at=at).curves.plot("scatter")
    assert ax.get_xlabel().startswith("data-reliance each at its own N")
    assert ax.get_ylabel().startswith("error each at its own N")


@pytest.mark.slow
def test_curves_that_are_not_fitted_have_no_point(errors):
    short = errors.isel(task=0).where((errors.algorithm != "b") | (errors.training < 60))
    with pytest.warns(UserWarning, match=r"too few sizes \(algorithm 'b'\)"):
        fit = fit_free(short)
    ax = fit.curves.plot("scatter")
    assert legend_of(ax) == ["a", "c"]
    assert "n = 400" in ax.get_xlabel()
    assert "b: not fitted (too few sizes)" in legend_of(fit.curves.plot())


@pytest.mark.plain(1)
@pytest.mark.parametrize("view", ["curve", "scatter"])
def test_curves_without_errors_are_drawn_empty(errors, view):
    lost = errors.isel(task=0).where(errors.training < 0)
    for each in (lost, lost.isel(algorithm=[0]), lost.isel(algorithm=0, drop=True)):
        with pytest.warns(UserWarning, match="no errors"):
            fit = fit_free(each)
        fit.curves.plot(view)


def test_one_left_out_size_has_its_table():
    sizes = [25.0, 50.0, 100.0, 200.0, 400.0]
    errors = make_errors([[50.8, 40.5, 32.9, 27.9, 24.6], [51.0, 41.0, 33.0, 28.0, 25.0]], sizes)
    tried = xcurves.leave_one_size_out(errors, sigma_hat_sq=20)
    chosen = xcurves.table(tried.isel(training=-1))
    assert chosen["400"].tolist() == xcurves.table(tried)["400"].tolist()
