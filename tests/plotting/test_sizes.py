"""What cannot be read in a figure is refused with a size that can; views have the heights that they need."""

import re
from itertools import combinations

import numpy as np
import pytest
import xarray as xr

from layers import slow
from pictures import curve_names, draw, drawn_texts, faults, figsize_in
from refusals import refused
from strategies import make_curves
from synthetic_results import named_with, synthetic_curves, synthetic_result
from xcurves.core.schema import caption_of
from xcurves.draw.room import Grid, Room
from xcurves.kinds import kind
from xcurves.multi_task import plots


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_tasks", "n_algorithms", "size"),
    [
        ("curves", 8, 3, (3.25, 2)),
        slow("curves", 20, 3, (5.5, 3)),
        slow("across_tasks", 6, 8, (3.25, 2)),
        slow("performance_cdf", 1, 5, (3.25, 2)),
        slow("compare_learners", 1, 10, (3.25, 1.5)),
    ],
)
def test_the_size_that_a_refusal_names_works(name, n_tasks, n_algorithms, size):
    shown = (
        synthetic_curves(n_tasks, n_algorithms) if name == "curves" else synthetic_result(name, n_tasks, n_algorithms)
    )
    view = {"performance_cdf": "statistics", "across_tasks": "forest"}.get(name)
    refusal = draw(shown, view, figsize=size)
    assert isinstance(refusal, str)
    assert f"cannot be read in a figure of {size[0]:g} by {size[1]:g} inches. Give figsize=(" in refusal
    larger = figsize_in(refusal)
    assert larger["figsize"][0] >= size[0]
    assert larger["figsize"][1] >= size[1]
    figure = draw(shown, view, **larger)
    assert tuple(figure.get_size_inches()) == larger["figsize"]
    assert faults(figure) == []
    one_line = {**larger, "figsize": tuple(0.9 * each for each in larger["figsize"])}
    assert isinstance(draw(shown, view, **one_line), str)  # not larger than it must be


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "view"), [("performance_cdf", "inverse_cdf"), ("compare_distributions", "quantile_difference")]
)
def test_no_panel_of_a_column_is_low_and_words_are_whole(name, view):
    found = synthetic_result(name, 3, 3)
    drawn = draw(found, view, figsize=(3.3, 2.6))
    if isinstance(drawn, str):
        drawn = draw(found, view, **figsize_in(drawn))
    assert faults(drawn, sized=True) == []
    words = {word for text in drawn_texts(drawn) for word in text.get_text().split()}
    assert {"probability", "(shade:"} <= words


@pytest.mark.slow
def test_panels_of_two_dims_stand_in_the_columns_that_are_asked_for():
    result = synthetic_result("pairwise", 3, 4)
    figure = draw(result, "curve_difference", figsize=(9, 7), col_wrap=5)
    assert figure.axes[0].get_gridspec().ncols == 5
    assert faults(figure, sized=True) == []


@pytest.mark.slow
def test_names_without_spaces_are_whole_in_titles():
    curves = named_with(synthetic_curves(1, 9), 25)
    figure = draw(curves, None, figsize=(5.5, 3.4))
    if isinstance(figure, str):
        figure = draw(curves, None, **figsize_in(figure))
    assert [ax.get_title() for ax in figure.axes] == curves["algorithm"].values.tolist()
    assert faults(figure, sized=True) == []


@pytest.mark.slow
def test_a_selection_of_more_tasks_than_there_are_is_no_cure():
    refusal = draw(named_with(synthetic_curves(3, 8), 25), None, figsize=(2.5, 1.5))
    assert "task=slice" not in refusal
    assert figsize_in(refusal)


@pytest.mark.slow
@pytest.mark.parametrize("n_algorithms", [4, slow(8)])
def test_the_legend_of_learning_curves_leaves_them_most_of_the_height(n_algorithms):
    figure = draw(synthetic_result("fit_power_law", 1, n_algorithms), "curve", figsize=(5.5, 2.6))
    assert figure.axes[0].get_position().height > 0.5
    assert faults(figure, sized=True) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_profile_of_several_suites_names_each_algorithm_once():
    scores = synthetic_curves(8, 3)
    suites = [scores.isel(task=slice(4 * at, 4 * at + 4)).assign_coords(task=list("abcd")) for at in range(2)]
    times = xr.concat(suites, xr.DataArray(["x", "y"], dims="suite", name="suite")).curves.time_to_target(300.0)
    profile = times.curves.performance_profile(task="task", rng=0)
    figure = draw(profile, None)
    assert sorted(curve_names(figure.axes[0])) == sorted(scores["algorithm"].values)
    alone = draw(profile.isel(suite=0), None)
    assert all(re.fullmatch(r".+ \([.\d]+\)", name) for name in curve_names(alone.axes[0]))


@pytest.mark.slow
@pytest.mark.parametrize("n_algorithms", [2, slow(4), slow(8)])
def test_eight_panels_are_drawn_in_the_width_of_a_page(n_algorithms):
    figure = draw(synthetic_curves(8, n_algorithms), None, figsize=(5.5, 3))
    assert len(figure.axes) == 8
    assert faults(figure) == []


@pytest.mark.slow
def test_the_nearest_size_is_that_which_grows_least():
    room = Room(Grid(1, 6, 6), 0, 0, (4.0, 2.0))
    named = figsize_in(str(room.refusal("v", [], None, {}, "table", room.nearest())))
    wide, high = named["figsize"]
    sizes = []
    for n_columns in range(1, 7):
        grid = Grid(-(-6 // n_columns), n_columns, 6)
        fitting = [
            (w / 10, h / 10)
            for w in range(40, 141)
            for h in range(20, 141)
            if Room(grid, 0, 0, (w / 10, h / 10)).is_large
        ]
        sizes += fitting
    assert (wide / 4) * (high / 2) == pytest.approx(min(w / 4 * h / 2 for w, h in sizes))


@pytest.mark.slow
def test_a_view_of_too_many_rows_may_be_drawn_larger():
    refusal = draw(synthetic_result("across_tasks", 60, 3).isel(pair=[0]), "forest", figsize=(3, 2))
    # one panel has no columns to choose
    assert re.search(r"Give figsize=\(\S+, \S+\);", refusal)


@pytest.mark.slow
def test_one_pair_is_a_line_and_the_curve_above_it_keeps_its_height():
    curve, forest = synthetic_result("pairwise", 1, 2).curves.plot()
    curve.figure.draw_without_rendering()
    heights = [ax.get_window_extent().height / ax.figure.dpi for ax in (curve, forest)]
    assert heights[0] > 1.5
    assert heights[1] < 0.6


@pytest.mark.slow
def test_a_forest_is_of_the_claim_that_was_asked_for():
    result = synthetic_result("across_tasks", 6, 4)
    said = {"random": "tasks like these", "fixed": "these tasks"}
    for claim, words in said.items():
        ax = result.curves.plot("forest", claim=claim)
        assert ax.get_xlabel().split("\n")[-1] == words
        assert {"random": "For tasks like these.", "fixed": "For these very tasks."}[claim] in caption_of(
            kind("across_tasks").views["forest"].caption, ax.figure
        )
        drawn = [at for line in ax.lines if line.get_marker() == "o" for at in line.get_xdata()]
        values = np.abs(result["difference"].values)
        np.testing.assert_allclose(np.sort(np.abs(drawn)), np.sort(values))
    ends = {claim: forest_ends(result.curves.plot("forest", claim=claim)) for claim in said}
    for claim, found in ends.items():
        own = result["difference_ci_simultaneous"].sel(task_effect=claim).values
        known = set(np.round(np.abs(own), 6).ravel().tolist())
        of_intervals = [end for end in found if end > 0]  # an end that a test sets is 0
        assert len(of_intervals) >= result.sizes["pair"]
        assert set(of_intervals) <= known


def forest_ends(ax):
    segments = [each.get_segments() for each in ax.collections if hasattr(each, "get_segments")]
    return sorted(np.round(np.abs([x for found in segments for one in found for x in one[:, 0]]), 6).tolist())


def test_claims_are_refused_where_there_are_none():
    result = synthetic_result("across_tasks", 6, 4)
    with refused(
        "claim", cure="Leave claim out", names=r"claim is for views of results over tasks; those with one: 'forest'"
    ):
        result.curves.plot("places", claim="fixed")
    with refused("claim", "both"):
        result.curves.plot("forest", claim="both")
    with refused(
        "claim", cure="Leave claim out", names=r"claim is for views of results over tasks; no view of pairwise has one"
    ):
        synthetic_result("pairwise", 1, 3).curves.plot(claim="fixed")
    with refused("claim", cure="Leave claim out", names=r"claim is for views of results over tasks; these are curves"):
        synthetic_curves(1, 2).curves.plot(claim="fixed")


@pytest.mark.plain(1)
@pytest.mark.parametrize("n_algorithms", [10, 11])
def test_a_forest_has_45_pairs_at_most_beyond_that_those_of_the_best(n_algorithms):
    result = synthetic_result("across_tasks", 4, n_algorithms)
    ax = result.curves.plot("forest")
    drawn = [at for line in ax.lines if line.get_marker() == "o" for at in line.get_xdata()]
    expected = len(list(combinations(range(n_algorithms), 2)))
    if expected > 45:
        expected = n_algorithms - 1
    assert len(drawn) == expected


@pytest.mark.plain(1)
@pytest.mark.parametrize("legend", ["direct", "above"])
@pytest.mark.parametrize("n_algorithms", [2, 4, 6])
def test_two_panels_of_a_paper_have_room_and_nothing_over_anything(n_algorithms, legend):
    plt = pytest.importorskip("matplotlib.pyplot")
    rng = np.random.default_rng(1)
    levels = np.linspace(1e4, 1e6, 20)
    gains = 1 / (1 + np.arange(n_algorithms))[:, np.newaxis, np.newaxis]
    values = 100 * (1 - np.exp(-levels * gains / 1e5)) + rng.normal(0, 5, (n_algorithms, 6, 20))
    names = ["SAC", "TD3", "PPO (ours)", "DDPG", "A2C", "TRPO"][:n_algorithms]
    curves = make_curves(values).assign_coords(training=levels, algorithm=names).rename("return")
    figure, (left, right) = plt.subplots(1, 2, figsize=(5.5, 2.4), layout="constrained")
    curves.curves.plot(ax=left, rng=0, legend=legend)
    curves.curves.pairwise(n_resamples=999, rng=0).curves.plot("difference", ax=right)
    figure.draw_without_rendering()
    # of a few curves that have no room at their ends
    assert [fault for fault in faults(figure) if fault != "legend over a panel"] == []
    for ax in (left, right):
        assert ax.get_position().width * 5.5 >= 5.5 / 4
    if n_algorithms == 6:
        assert right.get_xlabel().endswith("\n5 of 15 pairs")


@pytest.mark.plain(1)
@pytest.mark.parametrize("n_algorithms", [2, 6])
def test_given_axes_that_long_names_leave_no_room_are_refused_with_a_size_that_works(n_algorithms):
    plt = pytest.importorskip("matplotlib.pyplot")
    kinds_of = ["gradient boosted trees", "support vector machine", "random forest (500 trees)"]
    names = [f"{name} {n}" for n in (1, 2) for name in kinds_of][:n_algorithms]
    values = np.random.default_rng(1).normal(size=(n_algorithms, 6, 20)) + np.arange(20)
    curves = make_curves(values).assign_coords(algorithm=names)
    pairs = curves.curves.pairwise(n_resamples=999, rng=0)

    def draw_both(**options):
        figure, (left, right) = plt.subplots(1, 2, layout="constrained", **options)
        curves.curves.plot(ax=left, rng=0)
        pairs.curves.plot("difference", ax=right)
        return figure, (left, right)

    with refused("ax", names=r"has \d\.\d of its 2\.8 inches left beside names") as error:
        draw_both(figsize=(5.5, 2.4))
    figure, both = draw_both(**figsize_in(str(error.value).replace("Make a figure of", "Give")))
    assert [fault for fault in faults(figure) if fault != "legend over a panel"] == []
    for ax in both:
        assert ax.get_position().width >= 0.22
    # without a layout engine nothing makes them smaller
    _, ax = plt.subplots(figsize=(2.8, 2.4))
    pairs.curves.plot("difference", ax=ax)


@pytest.mark.slow
def test_columns_beside_pairs_are_those_that_are_asked_for():
    pytest.importorskip("matplotlib")
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 5, 4)))
    pairs = curves.curves.pairwise(n_resamples=99, rng=0)
    heads = {"estimate": "by", "interval": "95 %, all pairs", "p": "p"}
    for asked in (["estimate"], ["p", "interval"], []):
        ax = pairs.curves.plot("difference", columns=asked)
        words = {text.get_text() for text in ax.texts}
        assert {name for name, head in heads.items() if head in words} == set(asked)
    with refused("columns"):
        pairs.curves.plot("difference", columns=["estimates"])
    with refused("columns"):
        curves.curves.plot(columns=["p"])


ROWS = [
    ("across_tasks", "forest"),
    ("across_tasks", "places"),
    ("across_tasks", "task_differences"),
    ("pairwise", "difference"),
    ("compare_distributions", "prob_greater"),
    ("performance_cdf", "statistics"),
]


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "view", "n_algorithms", "letters"),
    [
        ("across_tasks", "forest", 6, 25),
        ("across_tasks", "places", 10, 25),
        *(
            slow(*view, n_algorithms, (5, 25)[(place + n_algorithms // 2) % 2])
            for place, view in enumerate(ROWS)
            for n_algorithms in (2, 4, 6, 8, 10)
        ),
    ],
)
def test_rows_in_the_width_of_a_page_have_half_of_it_and_nothing_over_anything(name, view, n_algorithms, letters):
    n_tasks = 5 if name == "across_tasks" else 1
    result = named_with(synthetic_result(name, n_tasks, n_algorithms), letters)
    if "param" in result.dims:
        result = result.isel(param=[0])
    drawn = draw(result, view, figsize=(5.5, 4))
    if isinstance(drawn, str):
        named = figsize_in(drawn)
        assert named["figsize"][0] == 5.5
        drawn = draw(result, view, **named)
    assert faults(drawn, 0.3, sized=True) == []
    (ax,) = drawn.axes
    assert ax.get_position().width >= 0.5


@pytest.mark.slow
def test_texts_that_have_no_room_beside_rows_stand_below_them():
    result = synthetic_result("across_tasks", 5, 4)
    beside, below = (result.curves.plot("forest", figsize=size) for size in ((9, 5), (4, 5)))
    table = plots.forest(result)
    assert [text.get_text() for text in beside.texts if text.get_text() == "by"] == ["by"]
    written = {text.get_text() for text in below.texts}
    assert written == {table.text_below(row) for row in table.rows if row.texts}
    assert below.get_xlabel().endswith("in brackets: 95 %, all pairs")
    at = dict(zip(below.get_yticks(), [label.get_text() for label in below.get_yticklabels()], strict=True))
    heights = sorted(text.get_position()[1] for text in below.texts)
    for height in heights:  # between its row and the next
        above = max(place for place in at if place < height)
        assert height - above < 1
        assert all(abs(place - height) > 0.5 for place in at)


@pytest.mark.slow
def test_places_in_a_narrow_panel_leave_out_the_means():
    plt = pytest.importorskip("matplotlib.pyplot")
    result = synthetic_result("across_tasks", 5, 4)
    for width, labels in ((5.5, ["place", "mean score (points)"]), (1.8, ["place"])):
        figure, ax = plt.subplots(figsize=(width, 2.4), layout="constrained")
        result.curves.plot("places", ax=ax)
        assert faults(figure, 0.3, sized=True) == []
        assert [" ".join(each.get_xlabel().split()) for each in ax.child_axes] == labels
        plt.close(figure)


@pytest.mark.slow
@pytest.mark.parametrize("n_algorithms", [2, slow(4), 6])
def test_a_picture_over_tasks_and_a_profile_have_room_in_two_panels_of_a_paper(n_algorithms):
    plt = pytest.importorskip("matplotlib.pyplot")
    curves = synthetic_curves(8, n_algorithms)
    one, first = curves.isel(task=0), str(curves.algorithm.values[0])
    profile = curves.curves.profile_across_tasks(reference=first, n_resamples=99, rng=0)
    pair = curves.curves.across_tasks(reference=first, n_resamples=99, rng=0).isel(pair=[0])
    levels = one.curves.ss_profile(n_resamples=99, rng=0)
    drawn = [((profile, None), (pair, "forest")), ((one, None), (levels, "fraction"))]
    for sides in drawn:
        figure, axes = plt.subplots(1, 2, figsize=(5.5, 2.4), layout="constrained")
        for ax, (shown, view) in zip(axes, sides, strict=True):
            shown.curves.plot(view, ax=ax)
        assert [fault for fault in faults(figure) if fault != "legend over a panel"] == []
        legends = [ax.get_legend() for ax in axes if ax.get_legend()]
        for legend in legends:
            # it stands within the panel, or beside it, never over the y axis
            box, panel = legend.get_window_extent(), legend.axes.get_window_extent()
            assert box.x0 >= panel.x0


def along(name, n_algorithms):
    """Return curves or a result along training or a budget, of so many algorithms, and the view to draw."""
    one, many = synthetic_curves(1, n_algorithms), synthetic_curves(4, n_algorithms)
    first, options = str(one.algorithm.values[0]), {"n_resamples": 99, "rng": 0}
    made = {
        "curves": lambda: (one, None),
        "mean_curves": lambda: (one.curves.mean_curves(), None),
        "fraction": lambda: (one.curves.ss_profile(**options), "fraction"),
        "cumulative": lambda: (one.curves.ss_profile(**options), "cumulative"),
        "pairs": lambda: (one.curves.pairwise(reference=first, **options), "curve_difference"),
        "over tasks": lambda: (many.curves.profile_across_tasks(**options), "mean_curve"),
        "iqm": lambda: (
            one.curves.performance_cdf(interval="percentile", **options).sel(param=["iqm"]),
            "training",
        ),
        "speedup": lambda: (one.curves.speedup(reference=first, target=250.0), "curves"),
    }
    return made[name]()


HIGH = (2.4, 3.4)  # inches; each view and each number of algorithms has both


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "n_algorithms", "high"),
    [
        ("curves", 6, 2.4),
        *(slow(name, 3, high) for name in ("fraction", "cumulative") for high in HIGH),
        *(slow("pairs", n, HIGH[n % 2]) for n in range(2, 10)),  # results of more pairs have no curves of them
        *(slow(name, n, HIGH[(place + n) % 2])
          for place, name in enumerate(("curves", "mean_curves", "over tasks", "iqm", "speedup"))
          for n in range(2, 11)),
    ],
)  # fmt: skip
def test_curves_in_the_width_of_a_page_have_half_of_it_and_nothing_over_anything(name, n_algorithms, high):
    shown, view = along(name, n_algorithms)
    drawn = draw(shown, view, figsize=(5.5, high))
    if isinstance(drawn, str):
        named = figsize_in(drawn)
        if not named:  # no size has room for so many: what to select is said
            assert "Select" in drawn
            return
        drawn = draw(shown, view, **named)
    assert faults(drawn, 0.3, sized=True) == []
    rows = {}
    for ax in drawn.axes:
        rows.setdefault(round(ax.get_position().y0, 2), []).append(ax.get_position().width)
    assert max(map(sum, rows.values())) >= 0.5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["over tasks", "speedup"])
def test_a_legend_of_more_than_eight_mean_curves_is_in_the_order_of_scores(name):
    figure = draw(*along(name, 9))
    ends = {line.get_label(): line.get_ydata()[-1] for line in figure.axes[0].lines if line.get_gid() == "mean"}
    named = [ends[each] for each in curve_names(figure.axes[0])]
    assert len(named) == 9
    assert named == sorted(named, reverse=True)
