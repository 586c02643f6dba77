"""Scores without training have a strip for each algorithm: runs, mean and interval."""

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from matplotlib import pyplot as plt

from pictures import faults
from refusals import refused
from strategies import make_curves
from xcurves.__main__ import main
from xcurves.core.schema import caption_of
from xcurves.means.kinds import SCORES_CAPTION
from xcurves.pictures.styles import style_of
from xcurves.plotting.curves import curves_caption

NAMES = ["SAC", "TD3", "PPO"]


@pytest.fixture
def scores():
    values = np.random.default_rng(0).normal(size=(3, 12)) + np.arange(3)[:, np.newaxis]
    values[1, 4] = np.nan
    return xr.DataArray(values, {"algorithm": NAMES, "run": range(12)}, name="success rate")


def dots(ax):
    return [line for line in ax.lines if line.get_gid() == "score"]


def means(ax):
    return [line for line in ax.lines if line.get_gid() == "score mean"]


def ends(ax):
    return np.array([each.get_segments()[0][:, 0] for each in ax.collections])


@pytest.mark.slow
def test_each_run_is_a_dot_and_each_mean_has_its_t_interval(scores):
    ax = scores.curves.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == NAMES
    assert ax.get_xlabel() == "success rate"
    for place, (drawn, mean, interval) in enumerate(zip(dots(ax), means(ax), ends(ax), strict=True)):
        known = scores[place].dropna("run").to_numpy()
        np.testing.assert_array_equal(drawn.get_xdata(), known)
        assert np.abs(drawn.get_ydata() - place).max() < 0.5
        assert mean.get_xdata() == known.mean()
        expected = scipy.stats.t.interval(0.95, len(known) - 1, known.mean(), scipy.stats.sem(known))
        np.testing.assert_allclose(interval, expected)
        assert mean.get_color() == style_of(place).color
    assert curves_caption(scores) == caption_of(SCORES_CAPTION, ax.figure)
    assert (
        curves_caption(scores)
        == "Dots: the score of each run. Diamonds: their mean. Lines: the t interval of the mean."
    )
    assert faults(ax.figure) == []


@pytest.mark.parametrize(("band", "factor"), [("sd", 1), ("se", 12**-0.5)])
def test_other_intervals_are_as_asked(scores, band, factor):
    low, high = ends(scores.curves.plot(band=band))[0]
    assert high - low == pytest.approx(2 * factor * scores[0].std(ddof=1).item())


def test_runs_and_intervals_are_left_out_where_asked(scores):
    ax = scores.curves.plot(runs=False)
    assert (len(dots(ax)), len(means(ax))) == (0, 3)
    ax = scores.curves.plot(band=None)
    assert (len(dots(ax)), len(ax.collections)) == (3, 0)


def test_the_level_of_confidence_is_that_asked(scores):
    low, high = ends(scores.curves.plot(confidence_level=0.5))[0]
    half = scipy.stats.t.ppf(0.75, 11) * scipy.stats.sem(scores[0])
    assert high - low == pytest.approx(2 * half)


def test_curves_of_one_level_are_scores_there():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 5, 3)), training=[10, 100, 2000])
    ax = curves.isel(training=[2]).curves.plot()
    assert ax.get_xlabel().endswith("at training 2000")
    assert len(dots(ax)) == 2


def test_a_single_run_has_no_interval(scores):
    ax = scores.isel(run=[0]).curves.plot(runs=False)
    assert len(dots(ax)) == 3
    assert not ax.collections


@pytest.mark.slow
def test_tasks_have_a_panel_each_and_names_stand_once(scores):
    tasks = xr.concat([scores, scores + 1], "task").assign_coords(task=["x", "y"])
    left, right = tasks.curves.plot()
    assert [left.get_title(), right.get_title()] == ["task = x", "task = y"]
    left.figure.draw_without_rendering()
    assert left.yaxis.get_tick_params()["labelleft"]
    assert not right.yaxis.get_tick_params()["labelleft"]
    assert scores.curves.plot(ax=plt.figure().add_subplot()).has_data()


def test_options_of_curves_are_refused(scores):
    with refused("smooth", cure="Leave it out", names="for curves of several training levels; these scores have one"):
        scores.curves.plot(smooth=0.5)
    with refused("band", "simultaneous", names="must be 'pointwise', 'sd' or 'se'"):
        scores.curves.plot(band="simultaneous")


@pytest.mark.slow
def test_the_page_and_the_shell_show_the_strip(scores, here):
    scores = scores.fillna(0.0).rename("accuracy")
    scores.to_dataframe().reset_index().to_csv("mine.csv", index=False)
    assert (
        main(
            [
                "mine.csv",
                "--figure",
                "scores.svg",
                "--report",
                "page.html",
                "--n-resamples",
                "99",
            ]
        )
        == 0
    )
    drawn = (here / "scores.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {name} -->" in drawn for name in NAMES)
    assert "Dots: the score of each run." in (here / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_many_tasks_are_drawn():
    many = make_curves(
        np.random.default_rng(0).normal(size=(24, 3, 5, 1)),
        task=[f"t{place}" for place in range(24)],
    )
    axes = many.isel(training=0, drop=True).curves.plot()
    assert faults(axes[0].figure) == []
