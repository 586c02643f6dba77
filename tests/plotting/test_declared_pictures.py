"""A picture of rows is declared as data once and comes in matplotlib, in Plotly and on the page."""

import ast
import inspect
import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import xcurves
from pictures import faults
from plotly_traces import numbers, of
from refusals import refused
from strategies import make_curves, make_scores
from synthetic_results import synthetic_result
from xcurves import kinds
from xcurves.core.schema import Drawing, View, caption_of
from xcurves.draw.interactive import interactive_figure
from xcurves.multi_task import plots
from xcurves.pictures.cells import CellsPicture
from xcurves.pictures.rows import Mark, Row, RowsPicture

pytest.importorskip("matplotlib")
SIZES = [10, 20, 40, 80, 160]
DRAWING = {"ax", "axes", "matplotlib", "plotly", "pyplot", "figure", "Axes"}


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(9, 3, 4, 1)) + np.arange(3)[:, np.newaxis, np.newaxis]
    curves = make_curves(values, task=list("abcdefghi"))
    return curves.curves.across_tasks(n_resamples=199, rng=0)


def test_quartiles_are_those_of_the_tasks_that_both_have(result):
    found = result["task_difference_quartiles"]
    for pair in result["pair"].values:
        expected = np.quantile(result["task_difference"].sel(pair=pair).values, [0.25, 0.5, 0.75])
        np.testing.assert_allclose(found.sel(pair=pair), expected)
    assert found["quartile"].values.tolist() == ["lower", "median", "upper"]
    absent = make_curves(np.random.default_rng(0).normal(size=(6, 3, 4, 1)), task=list("abcdef"))
    absent[4:, 2] = np.nan
    part = absent.curves.across_tasks(n_resamples=99, rng=0)
    of_four = (absent.mean("run")[:4, 0] - absent.mean("run")[:4, 2]).values.ravel()
    own = part["task_difference_quartiles"].sel(pair="a0 - a2")
    np.testing.assert_allclose(own, np.quantile(of_four, [0.25, 0.5, 0.75]))


def test_boxes_show_the_variables_of_the_result_the_better_first(result):
    picture = plots.task_differences(result)
    for row in picture.rows:
        better, other = row.name.split(" over ")
        sign, pair = 1, f"{better} - {other}"
        if pair not in result["pair"].values:
            sign, pair = -1, f"{other} - {better}"
        one = result.sel(pair=pair)
        assert row.marks[0].value == pytest.approx(sign * one["difference"].item())
        assert row.marks[0].value >= 0
        np.testing.assert_allclose(sorted(row.points), np.sort(sign * one["task_difference"].values))
        np.testing.assert_allclose(row.quartiles, np.sort(sign * one["task_difference_quartiles"].values))
    means = [row.marks[0].value for row in picture.rows]
    assert means == sorted(means, reverse=True)


def test_boxes_have_the_intervals_of_the_table():
    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"]
    compared = accuracy.curves.across_tasks(rng=0)
    table = compared.curves.table()
    picture = plots.task_differences(compared)
    drawn = {row.name: row.marks[0][1:3] for row in picture.rows}
    assert len(drawn) == 10
    for pair, ends in drawn.items():
        assert ends == pytest.approx(tuple(table.loc[pair, ["random_lower", "random_upper"]]))
    # shown by the step-down test alone: "more than 0"
    assert drawn["SVM over decision tree"][0] == 0
    assert "open end" in picture.flags


@pytest.mark.plain(1)
@pytest.mark.parametrize("view", ["forest", "places", "task_differences"])
def test_captions_say_of_which_levels_a_score_is(view):
    curves = make_curves(np.random.default_rng(0).normal(size=(7, 3, 4, 6)), task=list("abcdefg"))
    caption = kinds.kind("across_tasks").views[view].caption
    for weights, is_said in ((None, True), ("final", False)):
        found = curves.curves.across_tasks(training_weights=weights, n_resamples=99, rng=0)
        ax = found.curves.plot(view)
        assert ("The score of a run is its mean over training." in caption_of(caption, ax.figure)) == is_said
        table = found.curves.format_table("markdown", rows="task")
        assert table.startswith("Score over training: " if is_said else "Score: ")


def test_a_picture_of_rows_needs_no_drawing_code():
    """The only function of the view and its declaration name nothing that draws."""
    view = kinds.kind("across_tasks").views["task_differences"]
    assert view.drawing.picture is not None
    tree = ast.parse(inspect.getsource(plots.task_differences))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not names & DRAWING
    assert len(inspect.getsource(plots.task_differences).splitlines()) <= 25


@pytest.mark.slow
def test_boxes_come_in_matplotlib_and_plotly(result):
    ax = result.curves.plot("task_differences")
    assert faults(ax.figure) == []
    boxes = [each for each in ax.collections if each.get_gid() == "box"]
    assert len(boxes) == 3
    pytest.importorskip("plotly")
    figure = result.curves.explore("task_differences")
    names = list(figure.layout.yaxis.ticktext)
    assert names == [row.name for row in plots.task_differences(result).rows]
    points = [trace.x for trace in figure.data if trace.mode == "markers" and len(trace.x) == 9]
    assert len(points) == 3


@pytest.mark.slow
def test_a_view_that_is_declared_outside_comes_in_every_way(result, monkeypatch, tmp_path):
    pytest.importorskip("plotly")

    def ranks(found):
        rows = [Row(str(one["algorithm"].item()), (Mark(one["rank_mean"].item()),)) for one in
                (found.isel(algorithm=place) for place in range(found.sizes["algorithm"]))]  # fmt: skip
        return RowsPicture(tuple(rows), "mean rank", reference=None)

    kind = kinds.kind("across_tasks")
    views = {"ranks": View(Drawing(picture=ranks), "Mean ranks."), **kind.views}
    monkeypatch.setattr("xcurves.results.kind_of", lambda _: replace(kind, views=views))
    monkeypatch.setattr("xcurves.plotting.dispatch.kind_of", lambda _: replace(kind, views=views))
    ax = result.curves.plot("ranks")
    assert ax.get_xlabel() == "mean rank"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a0", "a1", "a2"]
    figure = result.curves.explore("ranks")
    assert list(figure.layout.yaxis.ticktext) == ["a0", "a1", "a2"]
    assert figure.layout.xaxis.title.text == "mean rank"
    page = xr.DataTree.from_dict({"across_tasks": result}).curves.report(tmp_path / "page.html").read_text()
    figures = re.findall("<figure.*?</figure>", page, re.DOTALL)
    for caption in ("Mean ranks.", "Differences of each pair in all tasks"):  # of boxes
        assert [each.count("data:image/") > 0 for each in figures if caption in each] == [True]


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "view"), [("pairwise", "difference"), ("performance_cdf", "statistics"), ("performance_cdf", "cdf")]
)
def test_several_panels_have_a_menu(name, view):
    pytest.importorskip("plotly")
    found = synthetic_result(name, 3, 4)
    if "param" in found.dims:
        found = found.isel(param=[0])
    figure = found.curves.explore(view)
    menu = figure.layout.updatemenus[0].buttons
    assert len(menu) == 3
    if view == "cdf":
        first, second, third = (button.args[0]["y"] for button in menu)
        assert [trace.to_plotly_json()["y"] for trace in figure.data] == first
        assert first != second != third
        return
    for place, button in enumerate(menu):
        shown = button.args[0]["visible"]
        assert any(shown)
        first = next(at for at, is_shown in enumerate(shown) if is_shown)
        assert figure.data[first].visible == (place == 0)


def test_a_view_that_is_asked_for_is_shown_where_it_does_not_suit(result, monkeypatch):
    pytest.importorskip("plotly")
    kind = kinds.kind("across_tasks")
    shy = replace(kind.views["forest"], drawing=replace(kind.views["forest"].drawing, suits=lambda _: False))
    monkeypatch.setattr("xcurves.results.kind_of", lambda _: replace(kind, views={**kind.views, "forest": shy}))
    asked, unasked = result.curves.explore("forest"), result.curves.explore()
    assert asked.layout.xaxis.title.text != unasked.layout.xaxis.title.text


def test_what_has_no_picture_is_refused(result):
    pytest.importorskip("plotly")
    errors = make_scores(np.random.default_rng(0).normal(size=(3, 5)) ** 2 + 1, run=range(3), training=SIZES)
    with refused("data", cure="Its numbers: data.curves.table()", names="leave_one_size_out has no picture"):
        xcurves.leave_one_size_out(errors).curves.explore()
    with refused("view", "forests"):
        result.curves.explore("forests")
    with refused("view", "runs", cure="Leave it out"):
        xcurves.explore(make_curves(np.random.default_rng(0).normal(size=(2, 3, 4))), "runs")


def test_cells_have_the_numbers_of_the_result_in_plotly(result):
    pytest.importorskip("plotly")
    figure = result.curves.explore("prob_greater")
    (cells,) = figure.data
    names = list(figure.layout.yaxis.ticktext)
    assert names == list(figure.layout.xaxis.ticktext) == ["a0", "a1", "a2"]
    assert figure.layout.yaxis.autorange == "reversed"
    p = result["prob_greater"]
    for pair, a, b in zip(p["pair"].values, p["algorithm_a"].values, p["algorithm_b"].values, strict=True):
        first, second = names.index(a), names.index(b)
        value = p.sel(pair=pair).item()
        assert cells.z[first][second] == value
        assert cells.z[second][first] == pytest.approx(1 - value)
        assert f"{value:.2f}".removeprefix("0") in cells.text[first][second]
        assert cells.hovertext[first][second].split("<br>")[:2] == [a, b]
    drawn = {text.get_text() for text in result.curves.plot("prob_greater").texts}
    plain = {re.sub("</?b>", "", text) for row in cells.text for text in row if text}
    assert plain == drawn


def test_signs_have_a_colour_each_and_a_menu_of_their_tasks():
    pytest.importorskip("plotly")
    picture = CellsPicture(
        np.array([[-2.0, 0.0], [1.0, np.nan]]), ("x", "y"), ("p", "q"), (-2.5, 2.5), "which", "signs",
        marked=np.array([[True, False], [False, False]]), steps={-2.0: "second, shown", 0.0: "neither", 1.0: "first"},
    )  # fmt: skip
    figure = interactive_figure([picture, picture], ["one", "two"])
    cells, dots = figure.data[:2]
    colours = [colour for _, colour in cells.colorscale]
    assert len(set(colours)) == 5
    assert colours[::2] == colours[1::2]
    assert (dots.x, dots.y) == ((0,), (0,))
    assert [*map(list, cells.hovertext)] == [["x<br>p<br>second, shown", "x<br>q<br>neither"], ["y<br>p<br>first", ""]]
    assert [button.label for button in figure.layout.updatemenus[0].buttons] == ["one", "two"]
    assert [trace.visible for trace in figure.data] == [True, True, False, False]


def test_distributions_step_in_plotly_as_in_matplotlib():
    pytest.importorskip("plotly")
    scores = make_scores(np.random.default_rng(0).normal(size=(2, 30)), algorithm=["a", "b"], run=np.arange(30))
    found = scores.curves.performance_cdf(scores_at=np.linspace(-2, 2, 9))
    figure, ax = found.curves.explore("cdf"), found.curves.plot("cdf")
    lines = of(figure, "line")
    assert [line.name for line in lines] == ["a", "b"]
    for trace, line in zip(lines, ax.get_lines(), strict=True):
        np.testing.assert_array_equal(numbers(trace, "x"), line.get_xdata().astype("f4"))
        np.testing.assert_array_equal(numbers(trace, "y"), found["cdf"].sel(algorithm=trace.name).astype("f4"))
        np.testing.assert_array_equal(numbers(trace, "y"), line.get_ydata().astype("f4"))
        assert (trace.line.shape, line.get_drawstyle()) == ("hv", "steps-post")
    assert figure.layout.yaxis.title.text.startswith("share of trials at or below")


@pytest.mark.slow
def test_f_ratios_stand_on_a_log_axis_in_plotly_with_their_null_distributions():
    pytest.importorskip("plotly")
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 6, 5)))
    found = curves.curves.randomized_anova(n_resamples=199, keep_null=True, rng=0)
    figure, ax = found.curves.explore("f"), found.curves.plot("f")
    assert figure.layout.xaxis.type == "log"
    np.testing.assert_allclose(10 ** np.array(figure.layout.xaxis.range), ax.get_xlim())
    filled = [trace for trace in figure.data if trace.fill == "toself"]
    assert len(filled) == len(ax.patches) == 4
    for trace, patch in zip(filled, ax.patches, strict=True):
        assert (min(trace.x), max(trace.x)) == tuple(patch.get_data().edges[[0, -1]])


def test_candidates_of_a_gate_are_named_in_plotly():
    pytest.importorskip("plotly")
    scores = make_scores(np.random.default_rng(0).normal(size=(3, 8)), algorithm=["main", "b", "c"], run=np.arange(8))
    figure = scores.curves.gate(baseline="main", n_resamples=99, rng=0).curves.explore("record")
    assert list(figure.layout.xaxis.ticktext) == ["main", "b", "c"]
