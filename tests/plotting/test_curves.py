"""Pictures of curves: the runs, means and bands that are drawn are those of the array."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex, to_rgb
from matplotlib.legend import Legend
from matplotlib.text import Text

import xcurves
from layers import slow
from pictures import curve_names, faults
from plotly_traces import of
from refusals import refused
from strategies import absent, make_curves, simulate_errors
from xcurves.core.refusal import give
from xcurves.kernels.distributions import bootstrap
from xcurves.pictures.styles import ALGORITHM_COLOURS, OTHER_COLOURS, style_of, with_styles


@pytest.fixture
def curves():
    values = np.random.default_rng(0).normal(size=(2, 3, 5, 6)) + 10 * np.arange(3)[:, np.newaxis, np.newaxis]
    curves = make_curves(values, task=["x", "y"])
    curves.attrs = {"long_name": "episode return", "units": "points"}
    curves.training.attrs["units"] = "steps"
    return curves


def means(ax):
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def thin(ax):
    return [line for line in ax.lines if line.get_label().startswith("_")]


def bands(ax):
    return {to_hex(band.get_facecolor()[0][:3]): band.get_paths()[0].vertices for band in ax.collections}


def test_runs_and_means_are_those_of_the_array(curves):
    here = curves.sel(task="x")
    ax = here.curves.plot(runs=True)
    assert len(thin(ax)) == 15
    drawn = {tuple(line.get_ydata()) for line in thin(ax)}
    assert drawn == {tuple(run) for run in here.to_numpy().reshape(15, 6)}
    assert list(means(ax)) == ["a0", "a1", "a2"]
    for name, line in means(ax).items():
        np.testing.assert_allclose(line.get_ydata(), here.sel(algorithm=name).mean("run"))
        np.testing.assert_array_equal(line.get_xdata(), here.training)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "training (steps)",
        "mean episode return (points)",
    )
    assert sorted(curve_names(ax)) == ["a0", "a1", "a2"]


@pytest.mark.plain(1)
@pytest.mark.parametrize("band", ["pointwise", "sd", "se"])
def test_the_band_of_each_level_is_that_of_scipy(curves, band):
    here = curves.sel(task="x")
    ax = here.curves.plot(band=band, confidence_level=0.9)
    for place in range(3):
        vertices = bands(ax)[style_of(place).color.lower()]
        for level, x in enumerate(here.training.to_numpy()):
            scores = here[place, :, level].to_numpy()
            expected = {
                "pointwise": tuple(scipy.stats.ttest_1samp(scores, 0).confidence_interval(0.9)),
                "sd": scores.mean() + np.array([-1, 1]) * scipy.stats.tstd(scores),
                "se": scores.mean() + np.array([-1, 1]) * scipy.stats.sem(scores),
            }[band]
            found = np.unique(vertices[vertices[:, 0] == x, 1])[[0, -1]]
            np.testing.assert_allclose(found, expected)


@pytest.mark.slow
def test_a_simultaneous_band_is_wider_and_needs_four_runs(curves):
    here = curves.sel(task="x")
    one, other = (bands(here.curves.plot(band=band, rng=0)) for band in ("pointwise", "simultaneous"))
    assert one.keys() == other.keys()
    assert all(np.ptp(other[name][:, 1]) > np.ptp(one[name][:, 1]) for name in one)
    assert bands(here.isel(run=slice(3)).curves.plot(band="simultaneous", rng=0)) == {}
    assert bands(here.curves.plot(band=None)) == {}


@pytest.mark.slow
def test_a_simultaneous_band_of_mean_curves_holds_everywhere_about_as_often_as_it_says():
    n, held = 400, 0
    rng = np.random.default_rng(1)
    for number in range(n):
        runs = rng.normal(size=(1, 8, 1)) + rng.normal(size=(1, 8, 20)).cumsum(axis=-1)
        band = bootstrap.mean_curve(runs, 499, 0.1, number)["mean_curve_band"]
        held += bool(((band[:, 0] <= 0) & (band[:, 1] >= 0)).all())
    low, high = scipy.stats.binom.ppf([0.0005, 0.9995], n, 0.9)
    # .905 in 20,000 data sets; docs/calibration.md has the rates of other designs
    assert low <= held <= high


def test_smoothing_is_the_debiased_mean_of_every_run_and_keeps_gaps(curves):
    here = curves.sel(task="x").copy()
    here[0, :, 2] = np.nan
    ax = here.curves.plot(smooth=0.6)
    for name, line in means(ax).items():
        frame = here.sel(algorithm=name).dropna("training").to_pandas()
        np.testing.assert_allclose(line.get_ydata(), frame.T.ewm(alpha=0.4).mean().mean(axis=1))
    assert ax.get_ylabel().replace("\n", " ") == "mean episode return (points), smoothed by 0.6"
    with refused("smooth", 1, cure=give(smooth=0.6)):
        here.curves.plot(smooth=1)


def long_curves(n_levels=2000):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 5, n_levels)).cumsum(axis=-1) / 10 + rng.normal(size=(5, 5, n_levels))
    return make_curves(values, training=np.arange(1.0, n_levels + 1))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, slow({"band": "sd"}), slow({"xscale": "log"}), slow({"figsize": (14, 4)})])
def test_vector_files_of_long_curves_are_small(tmp_path, options):
    figure = long_curves().curves.plot(**options).figure
    for kind in ("svg", "pdf"):
        figure.savefig(tmp_path / f"long.{kind}")
        assert (tmp_path / f"long.{kind}").stat().st_size < 300_000


def test_long_curves_keep_the_lowest_and_highest_of_each_column_of_pixels_and_the_data(
    tmp_path,
):
    curves = long_curves()
    before = curves.copy(deep=True)
    ax = curves.curves.plot()
    for name, line in means(ax).items():
        whole = curves.sel(algorithm=name).mean("run").to_numpy()
        x, y = line.get_data()
        np.testing.assert_allclose(y, whole[x.astype(int) - 1])
        assert (x[0], x[-1]) == (1, 2000)
        assert len(x) < 1200
        n_columns = max(100, int(72 * ax.get_window_extent().width / ax.figure.dpi))
        # as wide as four columns
        for stretch in np.array_split(np.arange(2000), n_columns // 4):
            shown = y[(x >= stretch[0] - 20) & (x <= stretch[-1] + 22)]
            assert shown.min() <= whole[stretch].min()
            assert shown.max() >= whole[stretch].max()
    assert curves.identical(before)


def test_scales_and_a_title_are_as_asked(curves):
    ax = (curves.sel(task="x") + 10).curves.plot(xscale="linear", yscale="log", title="Hopper")
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_title()) == (
        "linear",
        "log",
        "Hopper",
    )


def test_single_runs_stand_where_asked_or_where_there_is_no_band(curves):
    here = curves.sel(task="x")
    assert thin(here.curves.plot()) == []
    assert len(thin(here.isel(run=[0]).curves.plot())) == 3


@pytest.mark.slow
def test_the_same_seed_draws_the_same_and_tasks_do_not_matter_to_each_other():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 3, 12, 6)), task=["x", "y"])
    made = {"band": "simultaneous", "n_resamples": 99, "rng": 3}
    both, again = curves.curves.plot(**made), curves.curves.plot(**made)
    alone = curves.sel(task="y").curves.plot(**made)
    for name, vertices in bands(both[1]).items():
        np.testing.assert_array_equal(vertices, bands(again[1])[name])
        np.testing.assert_array_equal(vertices, bands(alone)[name])
    other = curves.sel(task="y").curves.plot(**(made | {"rng": 4}))
    assert any((bands(other)[name] != vertices).any() for name, vertices in bands(alone).items())


def test_incomplete_runs_go_as_far_as_they_go_and_means_as_far_as_all_do(curves):
    here = curves.sel(task="x").copy()
    here[0, 0, 4:] = np.nan  # ends early
    here[1, 2, 2] = np.nan  # a gap
    ax = here.curves.plot(runs=True)
    ended, whole = means(ax)["a0"], means(ax)["a2"]
    np.testing.assert_array_equal(ended.get_xdata(), here.training[:4])
    np.testing.assert_allclose(ended.get_ydata(), here[0, :, :4].mean("run"))
    np.testing.assert_array_equal(means(ax)["a1"].get_xdata(), here.training[[0, 1, 3, 4, 5]])
    assert len(whole.get_xdata()) == 6
    lengths = sorted(len(line.get_xdata()) for line in thin(ax))
    assert lengths == [4, 5] + [6] * 13
    assert bands(ax)[style_of(0).color.lower()][:, 0].max() == here.training[3]


@pytest.mark.slow
def test_a_legend_stands_above_the_panels(curves):
    figure = curves.curves.plot(rng=0)[0].figure
    figure.draw_without_rendering()
    (legend,) = figure.findobj(Legend)
    assert all(legend.get_window_extent().y0 > ax.get_window_extent().y1 for ax in figure.axes)
    assert faults(figure) == []


def test_names_at_ends_have_the_last_value(curves):
    here = curves.sel(task="x").isel(algorithm=[0, 2])
    ax = here.curves.plot(rng=0)
    # the highest first
    for text, algorithm in zip(ax.texts, here.algorithm.values[::-1], strict=True):
        name, last = text.get_text().split("  ")
        assert name == algorithm
        assert float(last.replace("\N{MINUS SIGN}", "-")) == pytest.approx(
            here.sel(algorithm=algorithm)[:, -1].mean().item(), abs=0.05
        )


@pytest.mark.plain(1)
@pytest.mark.parametrize("n_algorithms", [5, 6, 7, 8])
def test_a_legend_of_a_narrow_panel_stays_within_the_figure(n_algorithms):
    many = make_curves(np.random.default_rng(0).normal(size=(n_algorithms, 4, 5)))
    ax = many.curves.plot(rng=0, n_resamples=9, figsize=(3.7, 3.2))
    assert faults(ax.figure) == []


@pytest.mark.slow
def test_panels_share_a_kind_of_axis():
    rng = np.random.default_rng(0)
    even, uneven = np.arange(1.0, 9), 2.0 ** np.arange(8)
    levels = np.unique([*even, *uneven])
    values = rng.normal(size=(2, 2, 3, len(levels)))
    values[0][..., ~np.isin(levels, even)] = np.nan
    values[1][..., ~np.isin(levels, uneven)] = np.nan
    both = make_curves(values, training=levels, task=["even", "uneven"])
    assert [ax.get_xscale() for ax in both.curves.plot()] == ["log", "log"]
    assert both.sel(task="even").curves.plot().get_xscale() == "linear"
    from_0 = both.copy().assign_coords(training=np.concatenate([[0], levels[1:]]))
    assert [ax.get_xscale() for ax in from_0.curves.plot()] == ["symlog", "symlog"]


def test_large_levels_are_written_short(curves):
    here = curves.sel(task="x")
    ax = here.assign_coords(training=np.arange(here.sizes["training"]) * 250_000).curves.plot(rng=0)
    ax.figure.draw_without_rendering()
    said = {text.get_text() for text in ax.get_xticklabels()}
    assert {"0", "1M"} <= said
    assert max(map(len, said)) <= 5


def test_labels_of_uneven_levels_do_not_cover_each_other(curves):
    here = curves.sel(task="x")
    ax = here.assign_coords(training=np.array([9, 32, 37, 41, 52, 138]) * 1e5).curves.plot(rng=0)
    said = [text.get_text() for text in ax.get_xticklabels()]
    assert (said[0], said[-1]) == ("900k", "13.8M")
    assert 3 <= len(set(said) - {""}) < 6
    assert {text.get_rotation() for text in ax.get_xticklabels()} == {0}
    assert faults(ax.figure) == []
    assert len(ax.get_xticks()) == 6


def test_absent_runs_algorithms_and_levels_are_not_drawn(curves):
    here = absent(curves.sel(task="x"), [5, 0, 1]).where(curves.training != 200)
    ax = here.curves.plot(runs=True)
    assert list(means(ax)) == ["a0", "a2"]
    assert curve_names(ax) == ["a2", "a0"]
    assert list(bands(ax)) == [style_of(0).color.lower()]  # one run has no band
    assert len(thin(ax)) == 6
    assert 200 not in means(ax)["a0"].get_xdata()


@pytest.mark.slow
def test_an_algorithm_absent_from_a_task_where_runs_have_their_own_levels_is_not_drawn(
    curves,
):
    frame = curves.curves.to_frame()
    frame = frame[(frame["task"] == "x") | (frame["algorithm"] != "a2")]
    value = next(name for name in frame if name not in {*curves.dims})
    own = frame.curves.to_dataarray(value, extra="task", levels="run")
    assert [len(means(ax)) for ax in own.curves.plot(rng=0)] == [3, 2]


def test_runs_without_a_common_level_have_no_mean_and_it_is_said():
    values = np.full((1, 2, 4), np.nan)
    values[0, 0, :2] = values[0, 1, 2:] = 1
    with pytest.warns(UserWarning, match="^algorithm 'a0' has no.*have, so no mean"):
        ax = make_curves(values).curves.plot()
    assert len(means(ax)["a0"].get_xdata()) == 0
    assert len(thin(ax)) == 2


@pytest.mark.slow
def test_an_algorithm_looks_the_same_in_every_picture_and_every_selection(curves):
    looks = {name: (line.get_color(), line.get_linestyle()) for name, line in means(curves[0].curves.plot()).items()}
    assert len(set(looks.values())) == 3
    assert {line for _, line in looks.values()} == {"-"}
    some = curves.sel(task="y", algorithm=["a2"]).reindex(algorithm=curves.algorithm)
    assert {name: (line.get_color(), line.get_linestyle()) for name, line in means(some.curves.plot()).items()} == {
        "a2": looks["a2"]
    }
    cdf = curves.isel(task=0, training=-1).curves.performance_cdf(scores_at=[0, 10, 20])
    for view in ("inverse_cdf", "cdf", "profile"):
        drawn = means(cdf.curves.plot(view))
        assert {name: (line.get_color(), line.get_linestyle()) for name, line in drawn.items()} == looks
    errors = simulate_errors(3, seed=0)[0].rename(task="algorithm").assign_coords(algorithm=["a0", "a1", "a2"])
    fit = errors.curves.fit_power_law()
    drawn = {name[:2]: (line.get_color(), line.get_linestyle()) for name, line in means(fit.curves.plot()).items()}
    assert drawn == looks
    with pytest.warns(UserWarning, match=r"no errors \(algorithm 'a1'\)"):
        with_gap = errors.where(errors.algorithm != "a1").curves.fit_power_law()
    assert {name[:2] for name in means(with_gap.curves.plot())} == {"a0", "a2"}
    drawn = {name[:2]: line.get_color() for name, line in means(with_gap.curves.plot()).items()}
    assert drawn["a2"] == looks["a2"][0]


def linear(channel):
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def seen_by(colour, blind):
    """Return the linear RGB that a protanope or deuteranope sees (Machado, Oliveira & Fernandes 2009), severity 1."""
    matrices = {
        "protan": [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        "deutan": [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    }
    return np.clip(
        np.array(matrices[blind]) @ [linear(channel) for channel in to_rgb(colour)],
        0,
        1,
    )


@pytest.mark.parametrize("blind", ["protan", "deutan"])
def test_colours_can_be_told_apart_and_read_on_white(blind):
    for colours in (ALGORITHM_COLOURS, OTHER_COLOURS):
        for one, other in itertools.combinations(colours, 2):
            assert np.linalg.norm(seen_by(one, blind) ** (1 / 2.2) - seen_by(other, blind) ** (1 / 2.2)) > 0.12
    for colour in (*ALGORITHM_COLOURS, *OTHER_COLOURS):
        luminance = np.array([0.2126, 0.7152, 0.0722]) @ [linear(channel) for channel in to_rgb(colour)]
        assert 1.05 / (luminance + 0.05) > 1.9


def test_the_first_forty_algorithms_differ_and_lines_from_the_seventh_on():
    assert len({style_of(place)[::2] for place in range(40)}) == 40
    # markers are seen on few lines only
    assert len({style_of(place)[:2] for place in range(40)}) == 40
    assert len({style_of(place).color for place in range(12)}) == 12
    assert {style_of(place).linestyle for place in range(6)} == {"-"}
    assert "-" not in {style_of(place).linestyle for place in (6, 7, 8, 9)}
    assert len({style_of(place).marker for place in range(8)}) == 8


def test_lines_differ_without_colour_where_asked(curves):
    drawn = means(curves.sel(task="x").curves.plot(linestyles=True)).values()
    assert len({line.get_linestyle() for line in drawn}) == 3


@pytest.mark.slow
def test_each_task_is_a_panel_in_rows():
    curves = make_curves(np.random.default_rng(0).normal(size=(6, 2, 3, 4)), task=list("abcdef"))
    axes = curves.curves.plot()
    assert axes.shape == (6,)
    assert [ax.get_title() for ax in axes] == [f"task = {name}" for name in "abcdef"]
    assert [ax.yaxis.label.get_visible() for ax in axes] == [True, False, False] * 2
    assert [ax.xaxis.label.get_visible() for ax in axes] == [False] * 3 + [True] * 3
    assert len(axes[0].figure.legends) == 1
    three = curves.isel(task=slice(3))
    assert three.curves.plot(col_wrap=2)[0].get_gridspec().get_geometry() == (2, 2)
    assert three.curves.plot(row="task")[0].get_gridspec().get_geometry() == (3, 1)


def test_even_grids_of_algorithms_are_linear_together():
    """Steps of 5 and of 30 are both even; joined they are not."""
    training = np.unique([*np.arange(0, 601, 5), *np.arange(0, 601, 30)]).astype(float)
    values = np.random.default_rng(0).normal(size=(2, 3, len(training)))
    values[1, :, training % 30 > 0] = np.nan
    values[0, :, (training > 0) & (training < 30)] = np.nan
    values[0, :, 3] = 1
    assert make_curves(values, training=training).curves.plot().get_xscale() == "linear"
    longer = training.copy()
    longer[-1] = 6000
    assert make_curves(values, training=longer).curves.plot().get_xscale() == "symlog"


def test_given_axes_are_drawn_on_and_nothing_is_shown(curves, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("shown"))
    ax = plt.figure().add_subplot()
    assert xcurves.plot(curves[0], ax=ax) is ax


@pytest.mark.slow
def test_dask_backed_curves_look_the_same(curves):
    pytest.importorskip("dask")
    eager, lazy = (
        curves[0].curves.plot(rng=0),
        curves[0].chunk(run=2).curves.plot(rng=0),
    )
    for name, line in means(eager).items():
        np.testing.assert_array_equal(line.get_ydata(), means(lazy)[name].get_ydata())


def test_what_cannot_be_drawn_is_told_why(curves):
    def said_of(call, error, message):
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == message

    said_of(lambda: curves.curves.plot("f"), ValueError, "view must be 'runs'; got 'f'")
    said_of(
        lambda: curves.curves.plot(ax=plt.figure().add_subplot()),
        ValueError,
        "ax is one Axes; got 2 panels. Select one: .isel(task=[0]), or leave ax out",
    )
    said_of(
        lambda: curves.expand_dims(metric=["r"], fold=["f"]).curves.plot(),
        ValueError,
        "curves has the dims ('metric', 'fold', 'task'); two can be drawn, as row and col. "
        "Select: curves.isel(metric=0)",
    )
    said_of(
        lambda: curves.where(curves < 20, np.inf).curves.plot(),
        ValueError,
        "curves has infinite values, inf: a run that failed, if lower is better, and has no mean. Say what it counts "
        "as with .curves.fill_failed('worst', higher_is_better=False) or compare ranks with "
        ".curves.compare_distributions(higher_is_better=False)",
    )
    result = curves[0].curves.randomized_anova(n_resamples=99, rng=0)
    said_of(
        lambda: result.curves.plot(rng=0),
        ValueError,
        "rng is for pictures of curves, scores.curves.plot(rng=...); no view of a result takes it. Leave it out",
    )


def names_of(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


@pytest.mark.slow
def test_algorithms_come_in_the_order_asked_for_in_their_own_colours(curves):
    here = curves.sel(task="x")
    usual = {name: line.get_color() for name, line in means(here.curves.plot()).items()}
    drawn = means(here.curves.plot(order=["a2", "a0"]))
    assert list(drawn) == ["a2", "a0", "a1"]
    assert {name: line.get_color() for name, line in drawn.items()} == usual
    for order, value, cure, kind in (
        (["a3"], "'a3'. There are 'a0', 'a1', 'a2'", None, xcurves.Refusal),
        (["a0", "a0"], "'a0' twice", "Leave one out", xcurves.Refusal),
        ("a0", "a0", "Give ['sac', 'td3']", xcurves.WrongType),
    ):
        with refused("order", value, cure, kind=kind):
            here.curves.plot(order=order)


@pytest.mark.slow
def test_names_stand_where_asked(curves):
    here = curves.sel(task="x")
    drawn = {legend: here.curves.plot(legend=legend) for legend in ("direct", "above", "outside", None)}
    for ax in drawn.values():
        ax.figure.draw_without_rendering()
        assert faults(ax.figure) == []
    assert len(drawn["direct"].texts) == 3
    assert names_of(drawn["direct"].figure) == names_of(drawn[None].figure) == []
    assert len(drawn[None].texts) == 0
    for legend in ("above", "outside"):
        assert names_of(drawn[legend].figure) == ["a2", "a1", "a0"]
    (above,), (outside,) = (drawn[legend].figure.legends for legend in ("above", "outside"))
    assert above.get_window_extent().y0 > drawn["above"].get_window_extent().y1
    assert outside.get_window_extent().x0 > drawn["outside"].get_window_extent().x1
    with refused("legend", "inside", cure="Did you mean 'outside'?"):
        here.curves.plot(legend="inside")
    ax = here.curves.plot(ax=plt.figure().add_subplot(), legend="above")
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().y0 > ax.get_window_extent().y1


@pytest.mark.slow
def test_a_legend_stands_in_the_empty_cell():
    curves = make_curves(np.random.default_rng(0).normal(size=(5, 2, 3, 4)), task=list("abcde"))
    axes = curves.curves.plot()
    figure = axes[0].figure
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box, beside, above = (
        legend.get_window_extent(),
        axes[4].get_window_extent(),
        axes[2].get_window_extent(),
    )
    assert above.x0 <= box.x0 < box.x1 <= above.x1
    assert beside.y0 <= box.y0 < box.y1 <= beside.y1
    assert faults(figure) == []
    axes = curves.assign_coords(algorithm=["a name " * 3 + name for name in "ab"]).curves.plot(figsize=(5.5, 3.4))
    axes[0].figure.draw_without_rendering()
    assert faults(axes[0].figure) == []


@pytest.mark.slow
def test_a_subset_keeps_its_colours_by_color_index_in_curves_results_and_explore(curves, tmp_path):
    whole = curves.assign_coords(color_index=("algorithm", range(3)))
    usual = {name: line.get_color() for name, line in means(whole.sel(task="x").curves.plot()).items()}
    some = whole.isel(algorithm=[2, 0])
    expected = {name: usual[name] for name in ("a2", "a0")}
    assert {name: line.get_color() for name, line in means(some.sel(task="x").curves.plot()).items()} == expected
    alone = whole.sel(algorithm=["a2"], task="x").curves.plot()
    assert [line.get_color() for line in means(alone).values()] == [usual["a2"]]

    result = some.curves.profile_across_tasks(n_resamples=99, rng=0)
    path = tmp_path / "result.nc"
    result.to_netcdf(path)
    for each in (result, xr.load_dataset(path)):
        drawn = means(each.curves.plot("mean_curve"))
        assert {name: line.get_color() for name, line in drawn.items()} == expected
        assert each.curves.to_frame() is not None
    for explored in (some, result):
        means_of = of(explored.curves.explore(), "line")
        assert {trace.name: trace.line.color for trace in means_of} == expected

    cure = ".assign_coords(color_index=('algorithm', range(3)))"
    with refused("data", "[0.5, 1.0, 2.0]", cure, names="^color_index must be whole numbers from 0 on"):
        whole.assign_coords(color_index=("algorithm", [0.5, 1, 2])).curves.plot()


@pytest.mark.filterwarnings("ignore:so few tasks")
@pytest.mark.parametrize("call", ["pairwise", *map(slow, ("across_tasks", "profile_across_tasks", "randomized_anova"))])
def test_color_index_changes_no_result(curves, call):
    indexed = curves.assign_coords(color_index=("algorithm", [5, 1, 3]))
    plain, coloured = (getattr(each.curves, call)(n_resamples=99, rng=0) for each in (curves, indexed))
    assert coloured.color_index.values.tolist() == [5, 1, 3]
    if "pair" in coloured.dims:
        assert coloured.color_index_a.values.tolist() == [5, 5, 1]
        assert coloured.color_index_b.values.tolist() == [1, 3, 3]
    numbers = ["color_index", "color_index_a", "color_index_b"]
    assert plain.equals(coloured.drop_vars(numbers, errors="ignore"))
    assert coloured.curves.summary() == plain.curves.summary()
    pd.testing.assert_frame_equal(coloured.curves.table(), plain.curves.table())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gamma", "ignore:.*runs are so few")
def test_frames_number_the_algorithms_and_references_and_single_pairs_keep_colours():
    frame = pd.DataFrame(
        [
            {"algorithm": name, "run": run, "training": level, "error": error}
            for place, name in enumerate("abcd")
            for run in range(3)
            for level, error in zip((10, 20, 40, 80), (9 + place, 6 + place, 4 + run, 3), strict=True)
        ]
    )
    errors = frame.curves.to_dataarray("error")
    usual = {name: line.get_color() for name, line in means(errors.curves.plot()).items()}
    last = errors.sel(algorithm=["d"]).curves.plot()
    assert [line.get_color() for line in means(last).values()] == [usual["d"]]

    fit = errors.drop_vars("color_index").curves.fit_power_law(units="loss")
    compared = fit.curves.compare_learners(reference="a")
    assert compared.color_index.values.tolist() == [1, 2, 3]

    every = errors.curves.pairwise(n_resamples=99, rng=0)
    assert every.color_index_a.values.tolist() == [0, 0, 0, 1, 1, 2]
    for places in ([5], [4, 1]):
        chosen = with_styles(every.isel(pair=places), {})
        assert [each.color for each in chosen.pair_style.values] == [
            with_styles(every, {}).pair_style.values[place].color for place in places
        ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_numbers_of_colours_that_arrays_lost_or_have_twice_are_places(curves):
    one = xcurves.tutorial.open_dataset("tictactoe")["score"]
    twice = xr.concat([one, one.assign_coords(algorithm=["x", "y", "z"])], "algorithm")
    colours = [line.get_color() for line in means(twice.curves.plot()).values()]
    assert len(set(colours)) == 6
    lacking = twice.assign_coords(color_index=("algorithm", [0, 1, 2, 3, 4, np.nan]))
    for curves_of_both in (twice, lacking):
        result = curves_of_both.curves.pairwise(n_resamples=99, rng=0)
        assert not {"color_index", "color_index_a"} & set(result.coords)
        styles = with_styles(result, {}).pair_style.values
        assert len(set(styles)) == 15
        sped = curves_of_both.curves.speedup(reference="x")
        assert sped.color_index_reference == 3
        assert sped.color_index.values.tolist() == [0, 1, 2, 4, 5]


@pytest.mark.slow
def test_the_reference_and_the_others_have_the_colours_of_all_algorithms():
    scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    usual = {name: line.get_color() for name, line in means(scores.curves.plot()).items()}
    for curves in (scores, scores.drop_vars("color_index")):
        result = curves.curves.speedup(reference="rate 0.1")
        lines = result.curves.plot("curves").get_lines()
        drawn = {str(line.get_label()).removesuffix(" (reference)"): line.get_color() for line in lines}
        assert {name: drawn[name] for name in usual} == usual


@pytest.mark.slow
def test_names_stand_at_the_ends_on_given_axes_where_a_layout_makes_room(curves):
    one = curves.isel(task=0, drop=True)
    for layout, n_names in (("constrained", 3), (None, 0)):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout=layout)
        one.curves.plot(ax=left)
        one.curves.plot(ax=right, legend="above")
        assert len(left.texts) == n_names
        assert (left.get_legend() is None) == (n_names > 0)
        if layout:
            figure.draw_without_rendering()
            assert faults(figure) == []


@pytest.mark.plain(1)
@pytest.mark.parametrize("levels", [[1e-300, 1e-3, 1, 1e300], [1.0, 1e150, 1e300, 1.5e300]])
@pytest.mark.parametrize("scale", [None, "log"])
def test_levels_of_all_magnitudes_have_a_picture(levels, scale):
    """A margin of a twentieth of 600 decades would end at infinity."""
    values = np.random.default_rng(0).normal(size=(2, 4, 4))
    curves = xr.DataArray(
        values,
        {"algorithm": ["a", "b"], "run": range(4), "training": levels},
        name="score",
    )
    options = {}
    if scale:
        options["xscale"] = scale
    ax = curves.curves.plot(**options)
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert 0 < low <= levels[0]
    assert levels[-1] <= high < np.inf


@pytest.mark.slow
def test_names_of_a_legend_stand_as_curves_end_unless_an_order_is_given():
    ends = np.array([3.0, 9.0, 1.0, 6.0])[:, np.newaxis, np.newaxis]
    curves = make_curves(np.random.default_rng(0).normal(0, 0.1, (4, 5, 6)) + ends)
    curves = curves.assign_coords(algorithm=list("abcd"))
    assert names_of(curves.curves.plot(legend="above").figure) == list("bdac")
    assert names_of(curves.curves.plot(legend="above", order=list("cba")).figure) == list("cbad")


@pytest.mark.slow
def test_other_names_keep_colours_and_name_pairs():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 5, 6))).assign_coords(algorithm=["sac", "td3", "ppo"])
    labels = {"sac": "SAC", "ppo": "PPO (ours)"}
    given = curves.curves.plot(legend="above")
    renamed = curves.curves.plot(legend="above", labels=labels)
    colours = {text.get_text(): line.get_color() for text, line in _legend_lines(given)}
    of_renamed = {text.get_text(): line.get_color() for text, line in _legend_lines(renamed)}
    assert of_renamed == {labels.get(name, name): colour for name, colour in colours.items()}
    pairs = curves.curves.pairwise(n_resamples=99, rng=0).curves.plot("difference", labels=labels)
    words = " ".join(text.get_text() for text in pairs.figure.findobj(Text))
    assert "SAC" in words
    assert "sac" not in words
    with refused("labels"):
        curves.curves.plot(labels={"SAC": "x"})


def _legend_lines(ax):
    """Return the texts and lines of the legend of a figure."""
    (legend,) = ax.figure.legends
    return list(zip(legend.get_texts(), legend.get_lines(), strict=True))


@pytest.mark.slow
def test_letters_have_the_size_asked_for_in_a_figure_and_in_given_axes(curves):
    one = curves.sel(task="x")
    given = plt.subplots(layout="constrained")[1]
    for ax in (one.curves.plot(fontsize=7), one.curves.plot(ax=given, fontsize=7)):
        assert {ax.xaxis.label.get_fontsize(), ax.yaxis.label.get_fontsize()} == {7}
        assert {round(label.get_fontsize(), 6) for label in ax.get_xticklabels()} == {6.3}
        names = [*ax.texts, *(text for legend in ax.figure.findobj(Legend) for text in legend.get_texts())]
        assert {round(text.get_fontsize(), 1) for text in names} == {5.8}
    for wrong, kind in ((1, xcurves.Refusal), ("large", xcurves.WrongType)):
        with refused("fontsize", wrong, give(fontsize=8), kind=kind):
            one.curves.plot(fontsize=wrong)
