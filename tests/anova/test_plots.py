"""Pictures of the randomized ANOVA, of pairs and of contrasts have the numbers of the results."""

from itertools import pairwise

import numpy as np
import pytest

import xcurves
from strategies import absent, make_curves
from xcurves.say.numbers import number, p_text
from xcurves.say.tables import columns_of


@pytest.fixture(scope="module")
def curves():
    values = np.random.default_rng(0).normal(size=(2, 3, 6, 5)) + np.arange(3)[:, np.newaxis, np.newaxis]
    curves = make_curves(values, task=["x", "y"])
    curves.attrs["units"] = "points"
    return curves


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def said(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def beside(ax):
    """Return F and p beside each row."""
    texts = said(ax)
    half = len(texts) // 2
    assert (texts[0], texts[half]) == ("F", "p")
    return list(zip(texts[1:half], texts[half + 1 :], strict=True))


def arrows(ax):
    """How many arrowheads stand at the left and at the right edge."""
    heads = [collection.get_offsets()[:, 0] for collection in ax.collections if hasattr(collection, "get_sizes")]
    ends = np.concatenate([np.asarray(each, float) for each in heads if len(each)] or [np.array([])])
    return tuple(int((ends == edge).sum()) for edge in ax.get_xlim())


@pytest.mark.slow
def test_an_anova_shows_welch_where_it_is_the_test_of_level(curves):
    unlike = curves[0].copy()
    result = unlike.curves.randomized_anova(level_test="welch", n_resamples=199, rng=0)
    ax = result.curves.plot()
    assert "Level is tested by Welch's statistic" in result.curves.summary()
    assert rows(ax)[0] == "algorithm, welch"
    assert len(rows(ax)) == 5
    welch = result.sel(effect="algorithm", error_term="welch")
    np.testing.assert_allclose(ax.lines[1].get_xdata()[0], welch.f / welch.critical_value)
    assert beside(ax)[0] == (number(welch.f.item()), p_text(welch.pvalue.item()))
    two = unlike.isel(algorithm=[0, 1]).curves.randomized_anova(n_resamples=199, rng=0)
    assert len(rows(two.curves.plot())) == 4  # of equal numbers F speaks


def test_an_anova_shows_f_over_its_critical_value(curves):
    result = curves[0].curves.randomized_anova(n_resamples=199, rng=0)
    ax = result.curves.plot()
    assert rows(ax) == [
        "algorithm, split-plot",
        "algorithm, pooled",
        "interaction, split-plot",
        "interaction, pooled",
    ]
    ratio = result.f / result.critical_value
    drawn = {line.get_gid(): line.get_xdata() for line in ax.lines[1:]}
    assert list(drawn) == ["split_plot", "pooled"]
    for term, ratios in drawn.items():
        np.testing.assert_allclose(ratios, ratio.sel(effect=["algorithm", "interaction"], error_term=term))
    assert ax.lines[0].get_xdata() == [1, 1]
    first = result.sel(effect="algorithm", error_term="split_plot")
    assert beside(ax)[0] == (number(first.f.item()), p_text(first.pvalue.item()))
    assert " ".join(ax.get_xlabel().split()) == "F / critical value at the 0.05 level"
    assert not ax.patches


@pytest.mark.slow
def test_a_kept_null_distribution_stands_on_each_row(curves):
    result = curves.curves.randomized_anova(n_resamples=499, keep_null=True, rng=0)
    axes = result.curves.plot()
    assert [ax.get_title() for ax in axes] == ["task = x", "task = y"]
    for ax, task in zip(axes, ("x", "y"), strict=True):
        assert len(ax.patches) == 4
        test = result.sel(task=task, effect="interaction", error_term="split_plot")
        heights, edges, _ = ax.patches[2].get_data()
        ratios = (test.null_distribution / test.critical_value).values
        counts = np.array([((ratios >= a) & (ratios < b)).sum() for a, b in pairwise(edges)])
        counts[-1] += (ratios == edges[-1]).sum()
        np.testing.assert_allclose(2 - heights, 0.75 * counts / counts.max(), atol=1e-12)
        assert counts.sum() >= 0.99 * len(ratios)


def test_an_anova_that_cannot_reject_has_no_f_beyond_its_critical_value():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 2, 3)) + 9 * np.arange(2)[:, np.newaxis, np.newaxis])
    with pytest.warns(UserWarning, match="no p below"):
        result = curves.curves.randomized_anova()
    ax = result.curves.plot()
    assert max(max(line.get_xdata()) for line in ax.lines[1:]) <= 1 + 1e-9
    low, high = ax.get_xlim()
    assert low < 1 < high


def test_an_f_that_is_undefined_is_not_drawn():
    with pytest.warns(UserWarning, match="F is 0 / 0"):
        result = make_curves(np.ones((2, 5, 3))).curves.randomized_anova(n_resamples=99, rng=0)
    ax = result.curves.plot()
    assert len(ax.lines) == 1
    assert beside(ax) == [("none", "none")] * 4


def test_a_forest_has_the_numbers_of_the_table_grouped_by_the_better_algorithm(curves):
    pairs = curves[0].curves.pairwise(n_resamples=199, rng=0)
    ax = pairs.curves.plot("difference")
    table, group, drawn = pairs.curves.table(), None, {}
    for place, label in enumerate(rows(ax)):
        if not label.startswith("over "):
            group = label
            continue
        drawn[f"{group} {label}"] = place
    assert set(drawn) == set(table.index)
    points = {y: x for line in ax.lines[1:] for x, y in line.get_xydata()}
    segments = {path[0][1]: path[:, 0].tolist() for each in ax.collections for path in each.get_segments()}
    texts = said(ax)
    for label, place in drawn.items():
        row = table.loc[label]
        np.testing.assert_allclose(points[place], row["difference"])
        np.testing.assert_allclose(segments[place], [row["lower"], row["upper"]])
        assert p_text(row["p"]) in texts
    assert "95 %, all pairs" in texts
    assert arrows(ax) == (0, 0)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


@pytest.mark.slow
def test_intervals_without_an_end_are_arrows_to_the_edge():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 3, 4)))
    with pytest.warns(UserWarning, match="no adjusted p"):
        pairs = curves.curves.pairwise()
    assert np.isinf(pairs.difference_ci).all()
    assert arrows(pairs.curves.plot("difference")) == (3, 3)
    one = curves.curves.contrast({"a0": 1, "a1": -1}, alternative="greater", confidence_level=0.9)
    assert np.isinf(one.estimate_ci.values).tolist() == [False, True]
    assert arrows(one.curves.plot()) == (0, 1)


def test_a_pair_without_runs_has_an_empty_row(curves):
    with pytest.warns(UserWarning, match="too few runs, or all scores are equal"):
        pairs = absent(curves[0], [6, 6, 0]).curves.pairwise(n_resamples=99, rng=0)
    ax = pairs.curves.plot("difference")
    assert np.isnan([x for line in ax.lines[1:] for x in line.get_xdata()]).sum() == 2


@pytest.mark.slow
def test_tasks_of_a_contrast_are_rows(curves):
    result = curves.curves.contrast({"a0": 1, "a2": -1}, n_resamples=199, rng=0)
    ax = result.curves.plot()
    assert rows(ax) == ["x", "y"]
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), result.estimate)
    np.testing.assert_array_equal([[a[0], b[0]] for a, b in ax.collections[0].get_segments()], result.estimate_ci)
    assert said(ax) == ["p", *map(p_text, result.pvalue.values)]
    alone = result.isel(task=0).curves.plot()
    assert rows(alone) == ["contrast"]
    both = curves.expand_dims(metric=["m", "n"]).curves.contrast({"a0": 1, "a2": -1}, n_resamples=99, rng=0)
    assert rows(both.curves.plot()) == [f"{m}, {t}" for m in "mn" for t in "xy"]


@pytest.mark.slow
def test_many_rows_make_a_high_picture():
    curves = make_curves(np.random.default_rng(0).normal(size=(8, 4, 2)))
    pairs = curves.curves.pairwise(n_resamples=999, confidence_level=0.1, rng=0)
    ax = pairs.curves.plot()
    assert len([label for label in rows(ax) if label.startswith("over ")]) == 28
    assert ax.figure.get_figheight() > 7


@pytest.mark.filterwarnings("ignore")
def test_intervals_beside_a_forest_are_written_as_in_the_table():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 3, 4)))
    pairs = xcurves.pairwise(curves, rng=0)
    written = columns_of(pairs.curves.table())[2].texts
    beside = [text.get_text() for text in pairs.curves.plot("difference").texts]
    assert set(written) == {"unbounded"}
    assert [text for text in beside if text == "unbounded"] == written
    assert not any("∞" in text for text in beside)
