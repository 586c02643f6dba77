"""Pictures have the numbers of the result, in the right places, and say what they are."""

import builtins
import warnings
from itertools import product

import numpy as np
import pytest
from matplotlib import pyplot as plt

import xcurves
from layers import every, slow
from pictures import curve_names
from refusals import refused
from strategies import make_curves, make_errors
from synthetic_results import synthetic_result
from xcurves import kinds
from xcurves.core.schema import ALONG, OF_PAIRS, caption_of
from xcurves.draw.shapes import draw_picture
from xcurves.pictures.curves import CurvesPicture, Line, Scale
from xcurves.pictures.styles import BLACK, style_of


@pytest.fixture(scope="module")
def tasks():
    """Two tasks whose algorithms differ at two neighbouring levels and a third apart from them."""
    values = np.random.default_rng(0).normal(size=(2, 2, 8, 6))
    values[:, 0, :, [1, 2, 4]] += 10
    curves = make_curves(values, task=["easy", "hard"], training=[0.0, 200, 500, 1000, 2000, 8000])
    curves.training.attrs = {"long_name": "training games", "units": "games"}
    return curves


@pytest.fixture(scope="module")
def result(tasks):
    return xcurves.ss_profile(tasks.isel(task=0), n_resamples=199, rng=0)


def line(ax, label):
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def simple_profile(ax):
    (found,) = [line for line in ax.lines if line.get_gid() == "simple"]
    return found


def test_a_profile_has_a_panel_for_fractions_and_one_for_their_sums(result):
    _, fraction, cumulative = result.curves.plot()
    np.testing.assert_allclose(simple_profile(fraction).get_ydata(), result.fraction.sel(effect="simple"))
    for effect in ("simple", "algorithm", "interaction"):
        expected = result.cumulative_fraction.sel(effect=effect)
        np.testing.assert_allclose(line(cumulative, effect).get_ydata(), expected)
    assert fraction.get_ylabel() == "fraction per level"
    assert cumulative.get_xlabel() == "training games"
    assert not fraction.xaxis.label.get_visible()


@pytest.mark.slow
def test_the_difference_of_two_curves_is_drawn_first_with_its_band(tasks, result):
    ax = result.curves.plot()[0]
    easy = tasks.isel(task=0)
    expected = easy.isel(algorithm=0).mean("run") - easy.isel(algorithm=1).mean("run")
    (drawn,) = [each for each in ax.lines if len(each.get_xdata()) == 6]
    np.testing.assert_allclose(drawn.get_ydata(), expected)
    (band,) = [each for each in ax.collections if each.get_gid() == "band"]
    corners = band.get_paths()[0].vertices
    for place, level in enumerate(easy.training.to_numpy()):
        limits = result.curve_difference_band.isel(pair=0, training=place).values
        at = corners[corners[:, 0] == level, 1]
        np.testing.assert_allclose([at.min(), at.max()], limits)
    assert ax.get_ylabel().endswith("a0 over a1")


def test_levels_that_differ_have_a_bar_and_others_none(result):
    marked = ~np.isnan(line(result.curves.plot("fraction"), "differ").get_ydata())
    assert marked.tolist() == [False, True, True, False, True, False]
    np.testing.assert_array_equal(marked, result.pvalue_adjusted <= 0.05)


def test_null_bands_are_shaded_up_to_their_fractions(result):
    ax = result.curves.plot("fraction")
    total = result.ss.sel(effect="simple").sum().item()
    upper = [band.get_paths()[0].vertices[:, 1].max() for band in ax.collections]
    expected = [result[name].max().item() / total for name in ("ss_null_upper", "ss_null_upper_simultaneous")]
    np.testing.assert_allclose(upper, expected)


def test_without_inference_there_is_nothing_to_shade_or_mark(tasks):
    ax = xcurves.ss_profile(tasks.isel(task=0), n_resamples=0).curves.plot("fraction")
    assert not ax.collections
    assert [each.get_gid() for each in ax.lines] == ["simple"]


@pytest.mark.plain(2)
@pytest.mark.parametrize(
    ("training", "scale"),
    [
        ([0, 200, 500, 8000], "symlog"),
        ([1, 10, 100, 1000], "log"),
        ([0, 100, 200, 300], "linear"),
        ([-9, 0, 9, 999], "linear"),
    ],
)
def test_training_has_a_scale_that_suits_its_levels(training, scale):
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 3, 4)), training=training)
    ax = xcurves.ss_profile(curves, n_resamples=0).curves.plot("cumulative")
    assert ax.get_xscale() == scale
    fraction = xcurves.ss_profile(curves, n_resamples=0).curves.plot("fraction")
    assert fraction.get_xlim() == ax.get_xlim()
    low, high = ax.transData.transform([(training[0], 0), (training[-1], 0)])[:, 0]
    assert high - low > 0.85 * ax.bbox.width  # the levels fill the panel
    if scale != "linear":
        assert [label.get_text() for label in ax.get_xticklabels()] == [f"{level:g}" for level in training]


@pytest.mark.slow
def test_one_extra_dim_makes_facets(tasks):
    result = xcurves.ss_profile(tasks, n_resamples=199, rng=0)
    axes = result.curves.plot()
    assert axes.shape == (3, 2)
    assert [ax.get_title() for ax in axes[0]] == ["task = easy", "task = hard"]
    hard = result.fraction.sel(effect="simple", task="hard")
    np.testing.assert_allclose(simple_profile(axes[1, 1]).get_ydata(), hard)


@pytest.mark.slow
def test_levels_that_a_task_does_not_have_are_left_out(tasks):
    result = xcurves.ss_profile(
        tasks.where((tasks.task == "easy") | (tasks.training != 500)),
        n_resamples=99,
        rng=0,
    )
    easy, hard = result.curves.plot("fraction")
    assert len(simple_profile(easy).get_xdata()) == 6
    assert 500 not in simple_profile(hard).get_xdata()


def test_given_axes_are_drawn_on(result):
    ax = plt.figure().add_subplot()
    assert result.curves.plot("cumulative", ax=ax) is ax
    assert line(ax, "simple") is not None


def said_of(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.slow
def test_what_cannot_be_drawn_is_told_why(tasks, result):
    said_of(
        lambda: result.curves.plot("cdf"),
        ValueError,
        "view must be 'curve_difference', 'fraction' or 'cumulative'; got 'cdf'",
    )
    said_of(
        lambda: result.curves.plot(ax=plt.figure().add_subplot()),
        ValueError,
        "ax is one Axes; got several views. Give one of them: view='curve_difference', or leave ax out",
    )
    ax = plt.figure().add_subplot()
    assert result.curves.plot("curve_difference", ax=ax) is ax
    with_pairs = xcurves.pairwise(tasks, n_resamples=19, rng=0)
    said_of(
        lambda: with_pairs.curves.plot("curve_difference", ax=plt.figure().add_subplot()),
        ValueError,
        f"ax is one Axes; got {tasks.sizes['task']} panels. Select one: .isel(task=[0]), or leave ax out",
    )
    ax = plt.figure().add_subplot()
    assert with_pairs.isel(task=[0]).curves.plot("curve_difference", ax=ax) is ax
    errors = make_errors([[30, 25, 22, 20, 19]])
    left_out = xcurves.leave_one_size_out(errors, sigma_hat_sq=1)
    many = xcurves.ss_profile(tasks.expand_dims(metric=["return"], fold=[0]), n_resamples=0)
    refused(
        many.curves.plot,
        ValueError,
        "result has the dims ('metric', 'fold', 'task'); two can be drawn, as row and col. "
        "Select: result.isel(metric=0)",
    )
    refused(
        left_out.curves.plot,
        AttributeError,
        "a result of leave_one_size_out has no picture; its table has all numbers: .curves.table()",
    )


def test_without_matplotlib_the_extra_is_named(result, monkeypatch):
    real = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    message = "plot needs matplotlib. Install it: pip install 'xcurves[plot]'"
    refused(result.curves.plot, ModuleNotFoundError, message)
    # before any check, hence before any work
    for work in (xcurves.plot, xcurves.plot_benchmark):
        said_of(lambda work=work: work(None, colors=["red"]), ModuleNotFoundError, message)


@pytest.mark.slow
def test_every_picture_of_a_notebook_is_shown(monkeypatch):
    """The first call loads the backend of the notebook, whose settings the later ones need."""
    nbformat, nbclient = (
        pytest.importorskip("nbformat"),
        pytest.importorskip("nbclient"),
    )
    pytest.importorskip("ipykernel")
    opened = 'import xcurves\ncurves = xcurves.tutorial.open_dataset("tictactoe")["score"]'
    drawn = [
        "curves.curves.plot(rng=0);",
        "curves.curves.pairwise(n_resamples=19, rng=0).curves.plot();",
    ]
    cells = [nbformat.v4.new_code_cell(cell) for cell in (opened, *drawn, *drawn)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    monkeypatch.delenv("MPLBACKEND", raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages of the notebook
        nbclient.NotebookClient(notebook, timeout=60).execute()
    shown = [[output.output_type for output in cell.outputs].count("display_data") for cell in notebook.cells]
    assert shown == [0, 1, 1, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["\ud800", *map(slow, [r"$\alpha$", "\x00", "$$", r"$\frac$", "_x", "a\nb"])],
)
def test_every_name_can_be_drawn(name):
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3))).assign_coords(algorithm=[name, "b"])
    curves.attrs = {"units": name, "long_name": f"score {name}"}
    curves.training.attrs["units"] = name
    for data in (curves, xcurves.pairwise(curves, n_resamples=19)):
        np.ravel([xcurves.plot(data)])[0].figure.canvas.draw()
    assert curves.attrs["units"] == name
    ax = xcurves.plot(curves)
    shown = curve_names(ax)
    assert len(shown) == 2
    assert (shown[0] == name) == (name in (r"$\alpha$", "a\nb"))


def test_a_task_without_a_label_has_its_number():
    curves = make_curves(np.zeros((1, 2, 4, 3)), task=["x"]).drop_vars("task")
    assert xcurves.plot(curves).get_title() == "task = 0"


def test_colours_are_the_same_for_curves_and_results(tasks):
    one = tasks.isel(task=0, drop=True)
    three = make_curves(
        np.random.default_rng(0).normal(size=(3, 8, 6)),
        training=one.training.to_numpy(),
    )
    drawn = [each for each in three.curves.plot(rng=0, colors={"a0": "#123456"}).lines if each.get_label()[0] != "_"]
    assert [each.get_color() for each in drawn] == [
        "#123456",
        style_of(1).color,
        style_of(2).color,
    ]
    listed = three.curves.plot(rng=0, colors=["#111111", "#222222", "#333333"])
    assert line(listed, "a1").get_color() == "#222222"


def test_looks_that_cannot_be_are_refused(tasks):
    def message(**options):
        with pytest.raises((ValueError, TypeError)) as caught:
            tasks.curves.plot(rng=0, **options)
        return str(caught.value)

    assert message(view=np.ones(2)) == "view must be 'runs'; got array([1., 1.])"
    assert message(colors={"a11": "red"}).endswith("got 'a11'. Did you mean 'a1'?")
    assert message(colors={"a0": "no colour"}).startswith("colors must be colours of matplotlib; got 'no colour'")
    assert message(figsize=3) == "figsize must be two numbers; got 3. Give inches: figsize=(6.5, 4)"
    assert message(figsize=(0, 3)).startswith("figsize must be from 0.5 to 200 inches")
    assert message(col="metric") == "col must be one of 'task'; got 'metric'"
    assert message(col_wrap=0).startswith("col_wrap must be at least 1; got 0")


@pytest.mark.plain(1)
@pytest.mark.parametrize("reference", [None, "a5"])
def test_of_many_pairs_along_the_budget_those_of_one_algorithm_are_drawn(reference):
    values = np.random.default_rng(0).normal(size=(6, 6, 3, 4)) + np.arange(6)[:, np.newaxis, np.newaxis]
    profile = make_curves(values, task=list("abcdef")).curves.profile_across_tasks(
        fractions=4, n_resamples=99, reference=reference, rng=0
    )
    ax = profile.curves.plot("difference")
    drawn = [each.get_label() for each in ax.lines if "a5" in each.get_label()]
    assert drawn == [f"{'{0} - a5' if reference else 'a5 over {0}'}".format(f"a{i}") for i in (1, 2, 3, 4)]
    said = caption_of(kinds.kind("profile_across_tasks").views["difference"].caption, ax.figure)
    assert "Of more than four pairs, the closest." in said
    assert ("the algorithm with the highest mean" in said) is (reference is None)
    few = profile.isel(pair=slice(3)).curves.plot("difference")
    assert len([each for each in few.lines if "a" in each.get_label()[:1]]) == 3


@pytest.mark.slow
def test_a_panel_names_its_pair_once_as_it_is_turned():
    values = np.random.default_rng(0).normal(size=(4, 6, 5)) + np.arange(4)[:, np.newaxis, np.newaxis]
    panels = make_curves(values).curves.pairwise(n_resamples=999, rng=0).curves.plot("curve_difference")
    assert [ax.get_title() for ax in panels] == [
        f"a{i} over a{j}" for i, j in [(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2)]
    ]
    assert not any(" over a" in ax.get_ylabel() for ax in panels)


@pytest.mark.slow
def test_a_pair_has_one_name_and_direction_in_all_panels_of_tasks():
    values = np.random.default_rng(0).normal(size=(2, 3, 6, 5)) + np.arange(3)[:, np.newaxis, np.newaxis]
    curves = make_curves(values, task=["x", "y"])
    curves[1] *= -1  # each pair is the other way round there
    compared = curves.curves.pairwise(n_resamples=99, rng=0)
    for ax, task in zip(compared.curves.plot("curve_difference"), ["x", "y"], strict=True):
        lines = {line.get_label(): line.get_ydata() for line in ax.lines if " - " in line.get_label()}
        assert set(lines) == set(compared["pair"].values)
        for pair, drawn in lines.items():
            np.testing.assert_allclose(drawn, compared["curve_difference"].sel(pair=pair, task=task))


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "n_algorithms"),
    every(
        4,
        list(product(["ss_profile", "pairwise", "profile_across_tasks"], range(2, 11))),
    ),
)
def test_all_views_of_any_number_of_algorithms_are_drawn(name, n_algorithms):
    result = synthetic_result(name, 1 if name != "profile_across_tasks" else 3, n_algorithms)
    axes = np.ravel([result.curves.plot()])
    assert all(ax.has_data() for ax in axes)


@pytest.mark.slow
def test_results_along_the_budget_take_their_options_and_others_say_which_do():
    curves = make_curves(np.random.default_rng(0).normal(size=(6, 3, 4, 5)), task=list("abcdef"))
    result = curves.curves.profile_across_tasks(n_resamples=99, rng=0)
    ax = result.curves.plot("mean_curve", xscale="log", title="Hopper", order=["a2"])
    assert (ax.get_xscale(), ax.get_title()) == ("log", "Hopper")
    assert [line.get_label() for line in ax.lines] == ["a2", "a0", "a1"]
    for view in ("mean_curve", "difference"):
        shaded = [each for each in result.curves.plot(view).collections if each.get_gid() == "band"]
        assert len(shaded) == 3
        bare = result.curves.plot(view, band=None)
        assert not [each for each in bare.collections if each.get_gid() == "band"]
    dashed = result.curves.plot("mean_curve", linestyles=True)
    assert [line.get_linestyle() for line in dashed.lines] == ["-", "--", "-."]
    with refused("band", "sd", names="must be left out or None with a result"):
        result.curves.plot(band="sd")
    one = curves.isel(task=0, drop=True)
    cdf = one.isel(training=-1).curves.performance_cdf(scores_at=[0, 1])
    with refused("yscale", cure="Leave it out", names="of performance_cdf these views take it: 'training'"):
        cdf.curves.plot("cdf", yscale="log")
    lines = cdf.curves.plot("cdf", linestyles=True).lines
    assert [line.get_linestyle() for line in lines[:3]] == ["-", "--", "-."]
    anova = one.curves.randomized_anova(n_resamples=99, rng=0)
    with refused("xscale", cure="Leave it out", names="no view of randomized_anova takes it"):
        anova.curves.plot(xscale="log")
    with refused("order", cure="Leave it out", names="^order is of algorithms; this has none"):
        anova.isel(algorithm=0, drop=True).curves.plot(order=["a0"])


def test_every_view_draws_with_the_options_that_it_takes():
    for name in kinds.NAMES:
        for view in kinds.kind(name).views.values():
            assert view.drawing.options <= ALONG | OF_PAIRS


@pytest.mark.plain(1)
@pytest.mark.parametrize("layout", ["constrained", None])
def test_axes_of_a_subfigure_are_drawn_on(layout, tmp_path):
    """As in a figure that has the size of the subfigure: a long label has lines that fit."""
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 5, 6)))
    result = curves.curves.pairwise(n_resamples=99, rng=0, confidence_level=0.5)
    figure = plt.figure(figsize=(9, 3), layout=layout)
    left, right = (each.subplots() for each in figure.subfigures(1, 2, width_ratios=[2, 1]))
    curves.curves.plot(ax=left)
    result.curves.plot("difference", ax=right, save=tmp_path / "whole.png")
    assert (tmp_path / "whole.png").stat().st_size
    alone = plt.figure(figsize=(3, 3), layout=layout).subplots()
    result.curves.plot("difference", ax=alone)
    assert right.get_xlabel() == alone.get_xlabel()
    assert [label.get_fontsize() for label in right.get_yticklabels()] == [
        label.get_fontsize() for label in alone.get_yticklabels()
    ]


@pytest.mark.parametrize("ratio", [40, 99])
def test_a_log_axis_of_less_than_two_decades_has_several_ticks(ratio):
    """Between 2 and 2 × 99 there are only one or two powers of ten."""
    picture = CurvesPicture(
        [Line("a", BLACK, np.arange(6.0), np.geomspace(2, 2 * ratio, 6))], y=Scale("y", "log", low=2, high=2 * ratio)
    )
    _, ax = plt.subplots()
    draw_picture(ax, picture)
    low, high = ax.get_ylim()
    named = [label for label in ax.get_yticklabels() if low <= label.get_position()[1] <= high and label.get_text()]
    assert len(named) >= 4
    assert {label.get_text() for label in named} >= {"5", "10", "20"}
