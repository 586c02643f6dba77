"""The picture and the table of places: who may be the best, between which places, and who is not shown to differ."""

import re
from html import unescape
from itertools import combinations, pairwise

import numpy as np
import pytest
import xarray as xr

import xcurves
from items import KIND, compare, make_items
from refusals import refused
from xcurves.draw import room
from xcurves.multi_task.place_plots import joined_stretches

matplotlib = pytest.importorskip("matplotlib")
ACCURACY = np.linspace(0.2, 0.8, 8)


@pytest.fixture(scope="module")
def found():
    return compare(make_items(80, accuracy=ACCURACY), n_resamples=499)


def longest_by_loops(found, order):
    """All stretches of the order of which no two are shown to differ, without those inside of others."""
    names = found.algorithm.values[order].tolist()
    differ = {
        frozenset((str(a), str(b)))
        for a, b, p in zip(
            found.algorithm_a.values,
            found.algorithm_b.values,
            found.pvalue_adjusted.sel(task_effect="random").values,
            strict=True,
        )
        if p <= 0.05
    }
    every = [
        (i, j)
        for i, j in combinations(range(len(names)), 2)
        if not any(frozenset(pair) in differ for pair in combinations(names[i : j + 1], 2))
    ]
    return [(i, j) for i, j in every if not any((a, b) != (i, j) and a <= i and j <= b for a, b in every)]


@pytest.mark.parametrize("seed", range(4))
def test_bars_join_the_longest_stretches_without_a_shown_difference(seed):
    found = compare(make_items(80, accuracy=ACCURACY, seed=seed), n_resamples=499)
    order = np.random.default_rng(seed).permutation(8)
    for each in (order, np.argsort(-found.score_mean.values)):
        part = found.sel(task_effect="random")
        assert joined_stretches(part, each) == longest_by_loops(found, each)


def test_rows_are_in_the_order_of_means_and_only_those_that_may_be_best_have_colour(
    found,
):
    ax = found.curves.plot("places")
    names = [label.get_text() for label in ax.get_yticklabels()]
    order = np.argsort(-found.score_mean.values, kind="stable")
    assert names == found.algorithm.values[order].tolist()
    best = found.may_be_best.sel(task_effect="random").values[order] == 1
    inks = [label.get_color() for label in ax.get_yticklabels()]
    assert [ink == "black" for ink in inks] == best.tolist()
    _, means = ax.child_axes
    drawn = [(y, x, line.get_color()) for line in means.lines if line.get_marker() == "o" for x, y in line.get_xydata()]
    np.testing.assert_allclose([x for _, x, _ in sorted(drawn)], 100 * found.score_mean.values[order])
    assert [color != "#B8B8B8" for _, _, color in sorted(drawn)] == best.tolist()
    matplotlib.pyplot.close(ax.figure)


def test_the_table_of_algorithms_has_their_places(found):
    rows = KIND.part.algorithms(found)
    assert (rows["place_from"] <= rows["place_to"]).all()
    assert rows["place_from"].min() == 1
    of_two = KIND.part.algorithms(compare(make_items(accuracy=(0.4, 0.8))))
    assert "place_from" not in of_two


def of_many(n):
    """Return a comparison of so many algorithms on 40 questions."""
    accuracy = np.linspace(0.2, 0.8, n)
    rng = np.random.default_rng(0)
    scores = make_items(40, accuracy=accuracy[:3]).isel(algorithm=[0] * n)
    scores = scores.assign_coords(algorithm=[f"model {i:03d}" for i in range(n)])
    scores = (scores * 0 + (rng.random((n, 40, 1)) < accuracy[:, None, None])).rename("accuracy")
    return compare(scores, n_resamples=19)


@pytest.mark.slow
def test_the_picture_of_100_algorithms_can_be_read():
    found = of_many(100)
    ax = found.curves.plot("places")
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert len(boxes) == 100
    gaps = [above.y0 - below.y1 for above, below in pairwise(boxes)]
    assert min(gaps) > -0.2 * boxes[0].height  # names stand under each other
    assert ax.figure.get_size_inches()[1] <= 14
    matplotlib.pyplot.close(ax.figure)


@pytest.mark.slow
def test_of_many_algorithms_places_are_drawn_and_written_on_the_page(tmp_path, monkeypatch):
    many = of_many(181)
    ax = many.curves.plot()
    wide, high = ax.figure.get_size_inches()
    assert len(ax.get_yticklabels()) == 181
    assert wide <= 14 < high
    # the size that is named when a smaller one is asked for is one that draws
    with refused("data", cure="Give figsize=(", names="view 'places' of so many rows") as caught:
        many.curves.plot(figsize=(6, 6))
    wide, high = re.search(r"figsize=\((.*?), (.*?)\)", str(caught.value.cure)).groups()
    assert len(many.curves.plot(figsize=(float(wide), float(high))).get_yticklabels()) == 181
    several = of_many(26)
    labels = [[each.get_xlabel() for each in ax.child_axes] for ax in map(several.curves.plot, (None, "places"))]
    assert labels[0] == labels[1] == ["place", "mean accuracy (%)"]
    matplotlib.pyplot.close("all")
    # where no figure has room the page says so
    monkeypatch.setattr(room, "_MOST_INCHES", 14.0)
    page = xr.DataTree.from_dict({"across_tasks": many}).curves.report(tmp_path / "page.html").read_text()
    assert "Not drawn: view 'places' of so many rows" in unescape(page)


def test_the_caption_says_what_it_is_for(found):
    caption = xcurves.plot(found, "places").figure
    said = KIND.views["places"].caption
    assert "critical-difference diagram" in said[""]
    matplotlib.pyplot.close(caption)
