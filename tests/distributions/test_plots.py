import numpy as np
import pytest
from matplotlib import pyplot as plt

import xcurves  # noqa: F401
from pictures import curve_names
from refusals import refused
from strategies import make_curves, make_scores


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(0).normal(size=(2, 3, 40)) + np.arange(3)[:, np.newaxis]
    return make_scores(values, task=["x", "y"], algorithm=["a", "b", "c"], run=np.arange(40))


@pytest.fixture(scope="module")
def result(scores):
    return scores.curves.performance_cdf(scores_at=np.linspace(-3, 5, 81), cvar_level=[0.5, 0.9], threshold=1, target=3)


@pytest.mark.plain(2)
@pytest.mark.parametrize("view", [None, "inverse_cdf", "cdf", "profile"])
def test_every_view_has_a_panel_for_each_task_and_a_line_for_each_algorithm(result, view):
    axes = result.curves.plot(view)
    assert axes.shape == (2,)
    for ax, task in zip(axes, ("x", "y"), strict=True):
        assert ax.get_title() == f"task = {task}"
        assert curve_names(ax) == ["a", "b", "c"]
        assert len(ax.get_lines()) == 3


NAMES = [
    "score_mean",
    "score_median",
    "iqm",
    "cvar 0.5",
    "cvar 0.9",
    "cvar_lower 0.5",
    "cvar_lower 0.9",
]


def values_of(here):
    return [
        here.score_mean,
        here.score_median,
        here.iqm,
        *here.cvar.T,
        *here.cvar_lower.T,
    ]


@pytest.mark.slow
def test_what_is_drawn_is_what_was_found(result):
    here = result.sel(task="x")
    line = here.curves.plot().get_lines()[1]
    np.testing.assert_array_equal(line.get_ydata(), here.score_quantile.sel(algorithm="b"))
    np.testing.assert_array_equal(line.get_xdata(), here.probability)
    np.testing.assert_array_equal(here.curves.plot("cdf").get_lines()[2].get_ydata(), here.cdf.sel(algorithm="c"))
    np.testing.assert_allclose(
        here.curves.plot("profile").get_lines()[2].get_ydata(),
        1 - here.cdf.sel(algorithm="c"),
    )
    for ax, expected in zip(here.sel(param=NAMES).curves.plot("statistics"), values_of(here), strict=True):
        np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), expected.sel(algorithm="a"))


@pytest.mark.slow
def test_a_statistic_along_training_has_a_line_and_a_band_for_each_algorithm():
    values = np.random.default_rng(0).normal(size=(2, 12, 4)).cumsum(axis=-1)
    curves = make_curves(values, training=[0.0, 10, 20, 30])
    options = {"interval": "percentile", "n_resamples": 99, "rng": 0}
    found = curves.curves.performance_cdf(**options, simultaneous="training")
    with pytest.warns(UserWarning, match="few"):
        by_level = curves.curves.performance_cdf(**options)
    ax = found.sel(param=["iqm"]).curves.plot("training")
    for place, (line, band) in enumerate(zip(ax.get_lines(), ax.collections, strict=True)):
        own = found.isel(algorithm=place)
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curves.training, own.iqm]))
        corners = band.get_paths()[0].vertices
        low, high = own.statistic_ci.sel(param="iqm").transpose("ci_bound", ...).to_numpy()
        for x, *ends in zip(curves.training.to_numpy(), low, high, strict=True):
            assert set(ends) <= set(corners[corners[:, 0] == x, 1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "training\nshade: 95 %, simultaneous",
        "IQM",
    )
    assert by_level.sel(param=["iqm"]).curves.plot("training").get_xlabel() == "training\nshade: 95 %, pointwise"
    assert [ax.get_ylabel() for ax in found.isel(param=[0, 1]).curves.plot("training")] == ["mean", "median"]


def test_what_has_no_training_or_several_statistics_is_not_drawn_along_it(result):
    with refused(
        "view",
        cure="Take performance_cdf of curves",
        names=r"^view 'training' needs a result with the dim 'training'; got .* of curves$",
    ):
        result.curves.plot("training")
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 40, 3)))
    along = curves.curves.performance_cdf(interval="percentile", n_resamples=99, rng=0)
    ax = plt.figure().add_subplot()
    with refused(
        "result",
        cure="Select one: result.sel(param=['score_mean'])",
        names=r"^one Axes has one statistic; got \d+. Select one: result.sel\(param=\[",
    ):
        along.curves.plot("training", ax=ax)
    along.sel(param=["score_mean"]).curves.plot("training", ax=ax)
    assert len(ax.get_lines()) == 2


@pytest.mark.slow
def test_statistics_have_a_panel_each_and_algorithms_a_row(result):
    here = result.sel(task="x", param=["score_mean", "iqm", "score_std"])
    axes = here.curves.plot("statistics", col_wrap=4)
    assert len(axes) == here.sizes["param"]
    at = here["param"].to_numpy().tolist().index("iqm")
    ax = axes[at]
    assert ax.get_xlabel() == "IQM (points)"
    # once for a row of panels
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["a", "b", "c"]
    assert [tick.label1.get_visible() for tick in ax.yaxis.get_major_ticks()] == [at == 0] * 3
    np.testing.assert_array_equal([line.get_xdata()[0] for line in ax.get_lines()], here.iqm)
    both = result.sel(param=["iqm", "score_mean"]).curves.plot("statistics")
    assert both.shape == (2, 2)
    assert [ax.get_title() for ax in both[:, 0]] == ["x", "y"]


@pytest.mark.slow
def test_intervals_without_an_end_reach_the_edge(result, scores):
    here = result.sel(task="x")
    ax = here.curves.plot("inverse_cdf")
    shade = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (shade.min(), shade.max()) == ax.get_ylim()
    assert "pointwise" in ax.get_xlabel()
    at_the_edge = {"left": 0, "right": 0}
    for dots in here.sel(param=NAMES).curves.plot("statistics"):
        segmented = [lines for lines in dots.collections if hasattr(lines, "get_segments")]
        for (start, _), (stop, _) in (segment for lines in segmented for segment in lines.get_segments()):
            at_the_edge["left"] += min(start, stop) == dots.get_xlim()[0]
            at_the_edge["right"] += max(start, stop) == dots.get_xlim()[1]
    ends = here.statistic_ci.sel(param=NAMES)
    assert at_the_edge == {
        "left": np.isneginf(ends).sum(),
        "right": np.isposinf(ends).sum(),
    }
    assert min(at_the_edge.values()) > 0
    pairs = scores.sel(task="x").curves.compare_distributions().curves.plot("quantile_difference")
    shade = pairs.collections[0].get_paths()[0].vertices[:, 1]
    assert (shade.min(), shade.max()) == pairs.get_ylim()
    assert "simultaneous" in pairs.get_xlabel()


def test_the_profile_has_the_band_upside_down(result):
    ax = result.sel(task="x").curves.plot("profile")
    shade = ax.collections[1].get_paths()[0].vertices[:, 1]
    band = 1 - result.cdf_band.sel(task="x", algorithm="b")
    np.testing.assert_allclose([shade.min(), shade.max()], [band.min(), band.max()])
    assert set(np.round(band.values.ravel(), 9)) <= set(np.round(shade, 9))
    assert "simultaneous" in ax.get_ylabel()


def test_one_group_needs_no_legend(scores):
    ax = scores[0, 0].drop_vars("algorithm").curves.performance_cdf().curves.plot()
    assert not curve_names(ax)
    assert ax.get_ylabel() == "score (points)"


def test_a_cdf_that_was_not_asked_for_cannot_be_drawn(scores):
    with refused(
        "result", cure="Give scores: performance_cdf(scores_at=...)", names=r"has no CDF\. Give scores: performance_cdf"
    ):
        scores[0].curves.performance_cdf().curves.plot("cdf")


@pytest.mark.plain(1)
@pytest.mark.parametrize("view", ["prob_greater", "quantile_difference"])
def test_comparisons_are_drawn(scores, view):
    pairs = scores.sel(task="x").curves.compare_distributions()
    ax = pairs.curves.plot(view)
    if view == "prob_greater":
        chances = dict(
            zip(
                pairs.pair.values.tolist(),
                pairs.prob_greater.values.tolist(),
                strict=True,
            )
        )
        likelier = {
            (p if chance >= 0.5 else p[::-1]).replace(" - ", " over "): max(chance, 1 - chance)
            for p, chance in chances.items()
        }
        expected = sorted(likelier.items(), key=lambda each: -each[1])
        assert set(likelier) != set(chances)  # some are turned
        assert [label.get_text() for label in ax.get_yticklabels()] == [pair for pair, _ in expected]
        np.testing.assert_array_equal(ax.get_lines()[1].get_xdata(), [chance for _, chance in expected])
    else:
        np.testing.assert_array_equal(ax.get_lines()[1].get_ydata(), pairs.quantile_difference[0])
    pooled = scores.curves.compare_distributions(dim=("task", "run"), strata="task", n_resamples=9, rng=0)
    assert pooled.curves.plot(view) is not None
