"""Pictures of predicted errors and of compared learners have the numbers of their results."""

import numpy as np
import pytest
import xarray as xr

import xcurves
from pictures import faults
from plotly_traces import numbers, of
from synthetic_results import synthetic_result
from xcurves.core.schema import caption_of
from xcurves.kinds import kind

SIZES = [80, 160, 320, 640]


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(1)
    law = np.array([[3.0, 90.0], [2.0, 60.0], [1.0, 95.0]])
    means = law[:, :1] + law[:, 1:] * np.array(SIZES) ** -0.5
    values = means[:, np.newaxis] + 0.1 * rng.normal(size=(3, 4, 4))
    coords = {
        "algorithm": ["plain", "augmented", "wide"],
        "run": range(4),
        "training": SIZES,
    }
    errors = xr.DataArray(
        values,
        coords,
        ["algorithm", "run", "training"],
        name="error",
        attrs={"units": "%"},
    )
    errors["training"].attrs["units"] = "examples"
    return errors.curves.fit_power_law()


def lines(ax, flag):
    return [line for line in ax.lines if line.get_gid() == flag]


def test_points_curve_and_predicted_sizes_are_drawn(fit):
    predicted = fit.curves.predict([2560, 1280])
    ax = predicted.curves.plot()
    places = range(3)
    for place, measured, fitted, ahead in zip(
        places,
        lines(ax, "measured"),
        lines(ax, "fitted"),
        lines(ax, "asked"),
        strict=True,
    ):
        np.testing.assert_array_equal(measured.get_xdata(), SIZES)
        np.testing.assert_allclose(measured.get_ydata(), fit["mean_error"][place])
        np.testing.assert_allclose(fitted.get_ydata(), fit["fitted"][place])
        np.testing.assert_array_equal(ahead.get_xdata(), [640, 1280, 2560])
        np.testing.assert_allclose(ahead.get_ydata()[1:], predicted["prediction"][place, ::-1])
    for place, drawn in zip(places, ax.containers, strict=True):
        ends = np.array([segment[:, 1] for segment in drawn.lines[2][0].get_segments()])
        np.testing.assert_allclose(ends, predicted["prediction_ci"][place, ::-1])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlabel() == "training size (examples)"
    assert ax.get_xticklabels()[-1].get_text() == "2560"
    assert faults(ax.figure) == []
    said = caption_of(kind("predict").views["prediction"].caption, ax.figure)
    assert "Points: measured errors. Lines: the fitted curve. Diamonds: predicted errors" in said


@pytest.mark.slow
def test_points_and_predictions_come_in_plotly(fit):
    pytest.importorskip("plotly")
    predicted = fit.curves.predict([1280, 2560])
    figure = predicted.curves.explore("prediction")
    assert [trace.name for trace in figure.data if trace.showlegend] == ["plain", "augmented", "wide"]
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    assert list(figure.layout.xaxis.ticktext) == ["80", "160", "320", "640", "1280", "2560"]
    marks = of(figure, "points")
    measured = [trace for trace in marks if trace.error_y.array is None]
    asked = [trace for trace in marks if trace.error_y.array is not None]
    for place, (errors, ahead) in enumerate(zip(measured, asked, strict=True)):
        np.testing.assert_array_equal(numbers(errors, "x"), SIZES)
        np.testing.assert_array_equal(numbers(errors, "y"), fit["mean_error"][place].astype("f4"))
        np.testing.assert_array_equal(numbers(ahead, "y"), predicted["prediction"][place].astype("f4"))
        arms = [-np.array(ahead.error_y.arrayminus), np.array(ahead.error_y.array)]
        ends = predicted["prediction"][place].values + arms
        np.testing.assert_allclose(ends.T, predicted["prediction_ci"][place])
        said = numbers(ahead, "customdata").reshape(-1, 2)
        np.testing.assert_array_equal(said, predicted["prediction_ci"][place].astype("f4"))
        assert errors.legendgroup == ahead.legendgroup
    assert len({trace.legendgroup for trace in measured}) == 3


def test_the_fitted_curve_and_its_band_come_in_plotly(fit):
    pytest.importorskip("plotly")
    figure = fit.curves.explore()
    band = of(figure, "shade")[0]
    x, y = (np.split(numbers(band, axis)[:-1], 2) for axis in "xy")
    drawn = np.concatenate([np.geomspace(80, 640, 150), np.geomspace(640, 4 * 640, 50)[1:]])
    np.testing.assert_array_equal(x[0], drawn.astype("f4"))
    again = fit.curves.predict(drawn)
    np.testing.assert_allclose(y[0], again["prediction_ci"][0].sel(ci_bound="lower"), rtol=1e-7)
    np.testing.assert_allclose(y[1][::-1], again["prediction_ci"][0].sel(ci_bound="upper"), rtol=1e-7)
    np.testing.assert_array_equal(x[0], x[1][::-1])
    (rule,) = figure.layout.shapes
    assert (rule.x0, rule.x1, rule.yref) == (640, 640, "y domain")
    assert {trace.legendgroup for trace in figure.data} == set(fit.algorithm.values)


@pytest.mark.slow
def test_many_predicted_sizes_are_a_line_with_a_shade(fit):
    ax = fit.curves.predict(np.geomspace(700, 9000, 40)).curves.plot()
    assert not ax.containers
    assert len(lines(ax, "predicted")) == 3


def test_a_size_for_each_curve_and_a_result_without_the_fit_are_drawn(fit):
    ax = fit.curves.predict(4 * fit["at"]).curves.plot()
    assert [line.get_xdata()[-1] for line in lines(ax, "asked")] == [2560] * 3
    bare = fit.curves.predict([2560]).drop_vars(["mean_error", "fitted"])
    assert len(lines(bare.curves.plot(), "measured")) == 0


@pytest.mark.slow
def test_the_axis_of_a_fit_has_labels_to_its_end(fit):
    ax = fit.curves.plot()
    assert ax.get_xticks()[-1] == 2560
    assert max(line.get_xdata().max() for line in lines(ax, "predicted")) == pytest.approx(2560)


@pytest.mark.slow
def test_learners_stand_beside_the_reference(fit):
    compared = fit.curves.compare_learners(reference="plain")
    axes = compared.curves.plot()
    assert [ax.get_xlabel().split(",")[0] for ax in axes] == [
        "error at n = 640 (%)",
        "data-reliance at n = 640 (%)",
        "large-sample error (%)",
    ]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == [
        "augmented",
        "wide",
    ]
    for ax, param in zip(axes, compared["param"].values, strict=True):
        here = compared.sel(param=param)
        drawn = [line for line in ax.lines if line.get_marker() not in ("None", "none", "")]
        np.testing.assert_allclose([line.get_xdata()[0] for line in drawn], here["difference"])
        ends = [each.get_segments()[0][:, 0] for each in ax.collections]
        np.testing.assert_allclose(ends, here["difference_ci_simultaneous"])
        shown = (here["difference_ci_simultaneous"].prod("ci_bound") > 0).values.tolist()
        assert [line.get_gid() == "shown" for line in drawn] == shown
    assert faults(axes[0].figure) == []


def test_one_learner_is_one_low_row(fit):
    compared = xcurves.compare_learners(fit.isel(algorithm=[0, 1])).sel(param=["error_at_n"])
    ax = compared.curves.plot()
    ax.figure.draw_without_rendering()
    assert 0.3 <= ax.get_window_extent().height / ax.figure.dpi <= 0.5


@pytest.mark.slow
def test_panels_that_share_a_scale_show_every_curve():
    fit = synthetic_result("fit_power_law", 1, 10)
    panels = fit.curves.plot("curve")
    assert len(panels) == 10
    for place, ax in enumerate(panels):
        low, high = ax.get_ylim()
        errors = fit["mean_error"].isel(algorithm=place).values
        assert (errors > low).all()
        assert (errors < high).all()


@pytest.mark.parametrize("is_missed", [True, False])
def test_a_star_in_the_legend_is_explained_where_there_is_one(is_missed):
    fit = synthetic_result("fit_power_law", 1, 2)
    error = 1.0 if is_missed else 0.0
    ax = fit.assign(backtest_error=fit["backtest_error"] * 0 + error).curves.plot("curve")
    caption = kind("fit_power_law").views["curve"].caption
    assert (caption["missed"] in caption_of(caption, ax.figure)) == is_missed
    names = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert [name.endswith(" *") for name in names] == [is_missed] * 2
