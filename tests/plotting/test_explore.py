"""The interactive figure: its numbers, and what it does in a browser."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt

import xcurves
from browser import EXECUTABLE, Browser
from plotly_traces import numbers, of, unpacked
from refusals import refused
from strategies import make_curves, make_errors
from synthetic_results import synthetic_result
from xcurves.core.refusal import give
from xcurves.draw.interactive import interactive_figure
from xcurves.draw.shapes import draw_picture
from xcurves.pictures.curves import CurvesPicture, Line, Points, Scale, Span
from xcurves.pictures.styles import BLACK, OTHER_COLOURS, style_of
from xcurves.reporting.small_pictures import small_picture

pytest.importorskip("plotly")

NASTY = [
    "<b>x</b>",
    "<a href='javascript:alert(1)'>y</a>",
    "</script><script>alert(1)</script>",
    "$\\frac{1}{2}$",
]


@pytest.fixture(scope="module")
def curves():
    values = np.random.default_rng(0).normal(size=(3, 4, 5, 8)).cumsum(axis=-1)
    return make_curves(values, task=["x", "y", "z"]).assign_coords(algorithm=NASTY)


def test_the_figure_shows_means_bands_and_runs(curves):
    one = curves.isel(task=0, drop=True)
    figure = one.curves.explore()
    # log x, log y, bands, single runs: no menu of one task
    assert len(figure.layout.updatemenus) == 4
    for place in range(4):
        own = one[place].values
        band, runs, mean = (of(figure, part)[place] for part in ("band", "runs", "line"))
        np.testing.assert_allclose(numbers(mean, "y"), own.mean(axis=0), rtol=1e-6)
        np.testing.assert_allclose(numbers(band, "y")[:8], numbers(mean, "customdata")[::2], rtol=1e-6)
        parts = np.split(numbers(runs, "y"), 5)
        np.testing.assert_allclose([part[:-1] for part in parts], own, rtol=1e-6)
        assert all(np.isnan(part[-1]) for part in parts)
        assert {band.legendgroup, runs.legendgroup, mean.legendgroup} == {NASTY[place]}
        assert (band.showlegend, runs.showlegend, mean.showlegend) == (
            False,
            False,
            True,
        )
        assert runs.opacity == 0


def test_the_menu_has_the_mean_over_tasks_then_each_task(curves):
    figure = curves.curves.explore()
    menu = figure.layout.updatemenus[0]
    assert [button.label.split(" (")[0] for button in menu.buttons] == [
        "all tasks",
        "task 'x'",
        "task 'y'",
        "task 'z'",
    ]
    content, layout, traces = menu.buttons[2].args
    assert [trace.meta for trace in figure.data] == 4 * ["runs"] + 4 * ["band"] + 4 * ["line"]
    np.testing.assert_allclose(unpacked(content["y"][8]), curves[1, 0].mean("run"), rtol=1e-6)
    assert layout["xaxis.autorange"]
    assert list(traces) == list(range(12))


@pytest.mark.slow
def test_of_more_than_a_million_numbers_runs_of_one_task_are_kept():
    curves = make_curves(np.zeros((4, 2, 400, 200)) + np.arange(200.0), task=list("abcd"))
    figure = curves.curves.explore()
    assert figure.layout.title.text == "Single runs of task 'a' only: 1,280,000 numbers would be too many"
    buttons = figure.layout.updatemenus[0].buttons
    runs = figure.data.index(of(figure, "runs")[1])
    lengths = [len(unpacked(button.args[0]["y"][runs])) for button in buttons]
    assert lengths == [0, 400 * 201, 0, 0, 0]


def test_budgets_that_are_not_above_0_have_no_shares(curves):
    late = curves.assign_coords(training=curves["training"] - curves["training"].max())
    menus = [each.curves.explore().layout.updatemenus[0].buttons for each in (curves, late)]
    assert [menu[0].label.split(" (")[0] for menu in menus] == ["all tasks", "task 'x'"]
    assert len(menus[1]) == len(menus[0]) - 1


@pytest.mark.slow
def test_results_along_the_budget_or_training_are_explored():
    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"].isel(task=slice(6))
    profile = accuracy.curves.profile_across_tasks(n_resamples=99, rng=0)
    figure = profile.curves.explore()
    assert [trace.name for trace in of(figure, "line")] == profile.algorithm.values.tolist()
    known = profile["mean_curve"][2].dropna("budget_fraction")
    np.testing.assert_allclose(numbers(of(figure, "line")[2], "y"), known, rtol=1e-6)
    pairs = accuracy.isel(task=0, algorithm=slice(3)).curves.pairwise(n_resamples=99, rng=0)
    drawn = pairs.curves.plot("curve_difference").get_legend_handles_labels()[1]
    assert {trace.name for trace in of(pairs.curves.explore(), "line")} == set(drawn)


def test_long_curves_are_reduced_for_either_axis_and_keep_extremes():
    values = np.random.default_rng(0).normal(size=(2, 3, 20_000))
    curves = make_curves(values, training=np.arange(1.0, 20_001))
    figure = curves.curves.explore()
    for place, trace in enumerate(of(figure, "line")):
        x, y = (numbers(trace, axis) for axis in "xy")
        whole = values[place].mean(axis=0)
        np.testing.assert_allclose(y, whole[x.astype(int) - 1], rtol=1e-6)
        assert len(x) < 1000
        assert {1, 2, 3, 5, 8} <= set(x.tolist())  # which a log axis shows
        assert y.min() == np.float32(whole.min())
        assert y.max() == np.float32(whole.max())
    assert len(figure.to_json()) < 300_000


@pytest.mark.parametrize(
    ("levels", "dtype"),
    [
        (np.arange(1.0, 9), "f4"),
        (1.7e9 + 20 * np.arange(8), "f8"),
        (np.geomspace(1e-60, 1, 8), "f8"),
        (np.geomspace(1, 1e60, 8), "f8"),
    ],
    ids=["steps", "a clock", "tiny", "huge"],
)
def test_levels_that_single_precision_would_make_alike_are_double(levels, dtype):
    curves = make_curves(np.random.default_rng(0).normal(size=(1, 3, 8)), training=levels)
    (mean,) = of(curves.curves.explore(), "line")
    assert mean.to_plotly_json()["x"]["dtype"] == dtype
    np.testing.assert_array_equal(numbers(mean, "x"), levels)


@pytest.mark.slow
def test_pairs_have_the_colours_of_static_pictures():
    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"].isel(task=0, algorithm=slice(3))
    figure = accuracy.curves.pairwise(n_resamples=99, rng=0).curves.explore()
    assert [trace.line.color for trace in of(figure, "line")] == list(OTHER_COLOURS[:3])


@pytest.mark.slow
def test_bars_of_pairs_stand_below_the_curves_as_in_matplotlib():
    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"].isel(task=slice(12))
    profile = accuracy.curves.profile_across_tasks(n_resamples=199, rng=0)
    figure = profile.curves.explore("mean_curve")
    (below,) = profile.curves.plot("mean_curve").child_axes
    rows = [[segment[:, 0] for segment in row.get_segments()] for row in below.collections]
    names = [text.get_text() for text in below.texts if " over " in text.get_text()]
    traces = of(figure, "below")
    assert len(traces) == len(rows) == 3
    for at, (trace, row) in enumerate(zip(traces, rows, strict=True)):
        drawn = numbers(trace, "x").reshape(-1, 3)
        np.testing.assert_array_equal(drawn[:, :2], np.array(row).astype("f4"))
        assert np.isnan(drawn[:, 2]).all()
        assert set(numbers(trace, "y").tolist()) == {at}
        assert trace.yaxis == "y2"
    assert [each.text.split("</span> ")[-1] for each in figure.layout.annotations] == names
    assert figure.layout.yaxis2.domain[1] == figure.layout.yaxis.domain[0]
    assert figure.layout.xaxis.anchor == "y2"


def test_levels_that_differ_stand_below_the_profile():
    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"].isel(task=0)
    profile = accuracy.curves.ss_profile(n_resamples=99, rng=0)
    figure = profile.curves.explore("fraction")
    (bar,) = of(figure, "below")
    shown = profile.training[(profile["pvalue_adjusted"] <= 0.05).values].values
    assert 0 < len(shown) < profile.sizes["training"]
    np.testing.assert_array_equal(numbers(bar, "x")[np.isfinite(numbers(bar, "y"))], shown)
    assert [trace.name for trace in figure.data if trace.showlegend] == ["chance, one level", "chance, all levels"]


def test_the_legend_switches_what_is_of_one_algorithm():
    """Two algorithms of one look are two entries; points without a name of their own go with their algorithm."""
    ends = np.array([0.0, 1.0])
    lines = [Line("a", BLACK, ends, ends), Line("b", BLACK, ends, 1 - ends)]
    points = [Points(ends, ends, BLACK, of="a"), Points(ends, 1 - ends, BLACK, of="b")]
    spans = [Span(0.5, 0.0, 1.0, "black", 3.0, 0.5, of="b")]
    figure = interactive_figure([CurvesPicture(lines, points=points, spans=spans)], [""])
    groups = {name: [trace.meta for trace in figure.data if trace.legendgroup == name] for name in "ab"}
    assert groups == {"a": ["line", "points"], "b": ["line", "span", "points"]}
    assert [trace.name for trace in figure.data if trace.showlegend] == ["a", "b"]


def test_pairs_that_have_a_panel_each_keep_their_looks_and_share_no_entry():
    one, other = style_of(0, OTHER_COLOURS), style_of(1, OTHER_COLOURS)
    ends = np.array([0.0, 1.0])
    pictures = [CurvesPicture([Line("", style, ends, ends, of=pair)]) for style, pair in ((one, "p"), (other, "q"))]
    figure = interactive_figure(pictures, ["p", "q"])
    assert [(trace.legendgroup, trace.line.color) for trace in figure.data] == [("p", one.color), ("q", other.color)]
    assert not any(trace.showlegend for trace in figure.data)
    shown = [[bool(packed) for packed in button.args[0]["x"]] for button in figure.layout.updatemenus[0].buttons]
    assert shown == [[True, False], [False, True]]


@pytest.mark.parametrize("steps", [None, "post", "mid"])
@pytest.mark.parametrize("breaks", [False, True])
def test_a_band_breaks_where_its_line_does(breaks, steps):
    """A level without a band does not cut a band whose line goes on; in both libraries and in small pictures."""
    x = np.arange(7.0)
    y = np.where(breaks & (x == 3), np.nan, x)
    low, high = (np.where(x == 3, np.nan, x + each) for each in (-1, 1))
    line = Line("a", BLACK, x, y, low, high, steps=steps)
    whole = [(0, 2), (4, 6)] if breaks else [(0, 6)]
    scales = (Scale("x"), Scale("y"))
    picture = CurvesPicture([line], *scales)
    _, ax = plt.subplots()
    draw_picture(ax, picture)
    bands = [each.get_paths()[0].get_extents() for each in ax.collections if each.get_gid() == "band"]
    assert [(band.x0, band.x1) for band in bands] == whole
    (band,) = of(interactive_figure([picture], [""]), "band")
    drawn = np.ma.clump_unmasked(np.ma.masked_invalid(numbers(band, "x")))
    ends = [numbers(band, "x")[part] for part in drawn]
    assert [(part.min(), part.max()) for part in ends] == whole
    if steps == "post":
        low_path = numbers(band, "y")[drawn[0]][:4].tolist()
        assert (ends[0][:4].tolist(), low_path) == ([0, 1, 1, 2], [-1, -1, 0, 0])
    if steps == "mid":
        assert ends[0][:3].tolist() == [0, 0.5, 0.5]
    if steps is None and not breaks:
        assert small_picture(picture, "", 40).count("<polygon") == 1


def test_what_cannot_be_explored_is_said(curves, monkeypatch):
    one = curves.isel(task=0, drop=True)
    anova = one.curves.randomized_anova(n_resamples=9, rng=0, confidence_level=0.5)
    left_out = xcurves.leave_one_size_out(make_errors([[30, 25, 22, 20, 19]]), sigma_hat_sq=1)
    for view in (None, "curves"):
        with refused("data", cure="Its numbers: data.curves.table()", names="leave_one_size_out has no picture"):
            xcurves.explore(left_out, view=view)
    with refused("smooth", 1, cure=give(smooth=0.6)):
        one.curves.explore(smooth=1)
    with refused("smooth", "a", cure=give(smooth=0.6), kind=xcurves.WrongType):
        one.curves.explore(smooth="a")
    with refused("smooth", cure="Leave it out", names=r"^smooth is for curves; got 0\.5 with a result"):
        xcurves.explore(anova, smooth=0.5)
    assert one.curves.explore(smooth=0.5).layout.yaxis.title.text == "mean score, smoothed by 0.5"
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(
        ModuleNotFoundError,
        match=r"^explore needs plotly\. Install it: pip install 'xcurves\[inter",
    ):
        one.curves.explore()


GRAPH = 'const gd = document.querySelector(".js-plotly-plot");'
# of bands and means: Plotly counts a trace without numbers as hidden
KEPT = "gd._fullData.filter(one => one.meta !== 'runs')"
SHOWN = f"(() => {{ {GRAPH} return {KEPT}.map(one => one.visible === true) }})()"


def click(browser, expression):
    """Click the middle of an element, as a person does."""
    script = f"(() => {{ const box = ({expression}).getBoundingClientRect(); return [box.x + box.width / 2, "
    x, y = browser.ask(f"{script} box.y + box.height / 2] }})()")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    # a double click could follow
    browser.ask("new Promise(done => setTimeout(done, 700))")


def button(label):
    return f"[...document.querySelectorAll('.updatemenu-button')].find(one => one.textContent === {label!r})"


@pytest.mark.browser
@pytest.mark.skipif(EXECUTABLE is None, reason="no chromium here: apt-get install chromium")
def test_hover_legend_menu_and_buttons_in_a_browser(curves, tmp_path):
    path = tmp_path / "explore.html"
    curves.curves.explore(save=path)
    with Browser() as browser:
        browser.open(path, 1000, 700)
        # hover: mean, interval and number of runs of every algorithm
        where = f"(() => {{ {GRAPH} const box = gd.querySelector('.nsewdrag').getBoundingClientRect(); "
        x, y = browser.ask(f"{where} return [box.x + box.width / 2, box.y + box.height / 2] }})()")
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        browser.ask("new Promise(done => setTimeout(done, 500))")
        said = browser.ask("document.querySelector('.hoverlayer').textContent")
        assert said.count("15 runs") == 4
        assert said.count(" to ") == 4
        assert all(name in said for name in NASTY)
        # the legend hides an algorithm with its band and its runs
        click(browser, "document.querySelectorAll('.legendtoggle')[1]")
        expected = 2 * [True, False, True, True]
        assert browser.ask(SHOWN) == expected
        # buttons and menu leave it hidden
        click(browser, button("bands"))
        opacity = f"(() => {{ {GRAPH} return gd.data.map(one => one.opacity ?? 1) }})()"
        assert browser.ask(opacity) == [0] * 8 + [1] * 4
        click(browser, button("single runs"))
        assert browser.ask(opacity) == [0.45] * 4 + [0] * 4 + [1] * 4
        click(browser, button("log x"))
        assert browser.ask(f"(() => {{ {GRAPH} return gd._fullLayout.xaxis.type }})()") == "log"
        click(browser, "document.querySelector('.updatemenu-header')")
        click(browser, "[...document.querySelectorAll('.updatemenu-dropdown-button')][2]")
        drawn = browser.ask(f"(() => {{ {GRAPH} return Array.from(gd._fullData[8].y) }})()")
        np.testing.assert_allclose(drawn, curves[1, 0].mean("run"), rtol=1e-6)
        assert browser.ask(opacity) == [0.45] * 4 + [0] * 4 + [1] * 4
        assert browser.ask(SHOWN) == expected
        click(browser, "document.querySelectorAll('.legendtoggle')[1]")
        assert all(browser.ask(SHOWN))
        click(browser, button("bands"))
        assert browser.ask(opacity) == [0.45] * 4 + [1] * 8
        # no network, no error, nothing injected
        asked = [each["request"]["url"] for each in browser.told("Network.requestWillBeSent")]
        assert not [url for url in asked[1:] if not url.startswith(("data:", "blob:"))]
        assert not browser.told("Runtime.exceptionThrown", "Page.javascriptDialogOpening")
        assert browser.ask("document.querySelectorAll('a[href^=javascript]').length") == 0


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(EXECUTABLE is None, reason="no chromium here: apt-get install chromium")
def test_the_menu_sets_points_with_their_intervals_and_leaves_the_legend(tmp_path):
    predicted = synthetic_result("fit_power_law", 2, 3).curves.predict([5000, 9000])
    path = tmp_path / "explore.html"
    predicted.curves.explore("prediction", save=path)
    points = f"(() => {{ {GRAPH} return gd._fullData.filter(one => one.meta === 'points' && one.error_y.array)"
    with Browser() as browser:
        browser.open(path, 1000, 700)
        click(browser, "document.querySelectorAll('.legendtoggle')[1]")
        click(browser, "document.querySelector('.updatemenu-header')")
        click(browser, "[...document.querySelectorAll('.updatemenu-dropdown-button')][1]")
        assert browser.ask(f"{points}.map(one => one.visible) }})()") == [True, "legendonly", True]
        y, arms = (browser.ask(f"{points}.map(one => Array.from(one.{name})) }})()") for name in ("y", "error_y.array"))
        second = predicted.isel(task=1)
        np.testing.assert_array_equal(y, second["prediction"].astype("f4"))
        upper = second["prediction_ci"].sel(ci_bound="upper") - second["prediction"]
        np.testing.assert_allclose(arms, upper)
        assert not browser.told("Runtime.exceptionThrown")


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(EXECUTABLE is None, reason="no chromium here: apt-get install chromium")
def test_sixty_tasks_of_ten_algorithms_open_and_are_small(tmp_path):
    values = np.random.default_rng(0).normal(size=(60, 10, 5, 200)).cumsum(axis=-1)
    path = tmp_path / "sixty.html"
    make_curves(values, task=[f"t{i}" for i in range(60)]).curves.explore(save=path)
    assert path.stat().st_size < 15e6
    with Browser() as browser:
        browser.open(path, 1000, 700)
        assert browser.ask("document.querySelectorAll('.scatterlayer .trace').length") >= 20


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(EXECUTABLE is None, reason="no chromium here: apt-get install chromium")
def test_a_saved_page_is_as_wide_as_a_phone(curves, tmp_path):
    curves.curves.explore(save=tmp_path / "explore.html")
    with Browser() as browser:
        phone = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        browser.open(tmp_path / "explore.html", 390, 800)
        browser.call("Emulation.setDeviceMetricsOverride", **phone)
        browser.call("Page.reload")
        browser.ask("new Promise(done => setTimeout(done, 2000))")
        assert browser.ask("[window.innerWidth, document.documentElement.scrollWidth]") == [390, 390]


@pytest.mark.slow
def test_an_interval_beside_its_mark_has_no_arm_that_points_back():
    """Of a mark above its interval only the arm down is drawn, in both libraries."""
    mark = Points(np.array([1.0]), np.array([5.0]), BLACK, name="a", y_ends=np.array([[2.0], [4.0]]))
    picture = CurvesPicture([], points=[mark])
    (drawn,) = of(interactive_figure([picture], [""]), "points")
    assert (drawn.error_y.arrayminus, drawn.error_y.array) == ((3.0,), (0.0,))
    _, ax = plt.subplots()
    draw_picture(ax, picture)
    (bars,) = [each for each in ax.containers if each.has_yerr]
    (segment,) = bars.lines[2][0].get_segments()
    assert segment[:, 1].tolist() == [2, 5]
