"""What pictures of mean curves show, against plain loops."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from strategies import make_curves
from xcurves import mean_curves
from xcurves.means.over_tasks import means_over_tasks
from xcurves.means.plots import pictures_of
from xcurves.pictures.thinned import extremes
from xcurves.plotting.curves import curves_caption


@pytest.fixture
def curves():
    values = np.random.default_rng(0).normal(size=(3, 2, 5, 6)).cumsum(axis=-1)
    return make_curves(values, task=["x", "y", "z"])


def test_means_and_intervals_are_those_of_t_at_each_level(curves):
    curves[0, 1, 3:] = np.nan  # runs that are absent
    panel = pictures_of(mean_curves(curves, confidence_level=0.9))[0]
    for line, own in zip(panel.lines, (curves[0, 0], curves[0, 1, :3]), strict=True):
        assert line.n_runs == len(own)
        np.testing.assert_array_equal(line.x, curves.training)
        for level in range(curves.sizes["training"]):
            scores = own[:, level].values
            expected = stats.t.interval(0.9, len(scores) - 1, scores.mean(), stats.sem(scores))
            np.testing.assert_allclose((line.low[level], line.high[level]), expected)


def test_a_mean_is_taken_where_all_runs_have_a_level_and_one_run_has_no_interval(
    curves,
):
    curves[1, 0, 2, 4:] = np.nan
    curves[1, 1, 1:] = np.nan
    whole, single = pictures_of(mean_curves(curves), curves)[1].lines
    np.testing.assert_array_equal(whole.x, curves.training[:4])
    np.testing.assert_array_equal(single.y, curves[1, 1, 0])
    assert np.isnan(single.low).all()
    assert [len(levels) for levels, _ in whole.runs] == [6, 6, 4, 6, 6]


def test_an_algorithm_without_runs_has_no_line(curves):
    curves[2, 0] = np.nan
    assert [line.place for line in pictures_of(mean_curves(curves))[2].lines] == [1]


def over_tasks(curves):
    """Return the lines of the means over tasks."""
    return pictures_of(means_over_tasks(mean_curves(curves), curves))[0].lines


def test_the_mean_over_tasks_is_at_shares_of_each_budget():
    grids = [np.arange(0, 11.0), np.arange(0, 101.0, 10)]
    curves = [
        make_curves(
            (at / at[-1])[None, None] * np.array([[[1.0]], [[3.0]]]) + np.zeros((2, 2, 1)),
            training=at,
        )
        for at in grids
    ]
    joined = xr.concat(curves, "task", join="outer").assign_coords(task=["short", "long"])
    for line, factor in zip(over_tasks(joined), (1.0, 3.0), strict=True):
        np.testing.assert_allclose(line.y, factor * line.x / 100)
        assert (line.x[0], line.x[-1]) == (0, 100)
        assert line.n_runs == 4


@pytest.mark.slow
def test_intervals_over_tasks_hold_the_mean_as_often_as_they_say():
    rng = np.random.default_rng(2)
    hits = 0
    n = 600
    for _ in range(n):
        curves = make_curves(
            rng.normal(size=(4, 1, 3, 2)) * [[[[1.0]]], [[[2.0]]], [[[1.0]]], [[[3.0]]]],
            task=range(4),
        )
        line = over_tasks(curves)[0]
        hits += line.low[-1] <= 0 <= line.high[-1]
    low, high = stats.binom.ppf([0.0005, 0.9995], n, 0.95)
    assert low <= hits <= n
    # Satterthwaite's degrees of freedom are a little cautious
    assert hits <= high + 0.03 * n


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("n", [10, 1000])
def test_reduced_lines_keep_the_extremes_of_every_column_against_a_loop(n, scale):
    rng = np.random.default_rng(3)
    values, levels = (
        rng.normal(size=n),
        np.sort(rng.choice(10_000, n, replace=False)) + 1.0,
    )
    kept = extremes(levels, values, 50, scale).tolist()
    if n <= 100:
        assert kept == list(range(n))
        return
    at = np.log(levels) if scale == "log" else levels
    width = (at[-1] - at[0]) / 50
    wanted = {0, n - 1}
    for column in range(50):
        inside = [i for i in range(n) if min(int((at[i] - at[0]) / width), 49) == column]
        if inside:
            wanted |= {
                min(inside, key=values.__getitem__),
                max(inside, key=values.__getitem__),
            }
    assert kept == sorted(wanted)


@pytest.mark.parametrize(
    ("options", "runs", "flags"),
    [
        ({}, None, {"mean", "band"}),
        ({"band": None}, True, {"mean", "run"}),
        ({"band": "sd"}, None, {"mean", "band sd"}),
        ({"band": "simultaneous", "rng": 0}, None, {"mean", "band simultaneous"}),
    ],
)
def test_flags_say_what_is_seen(curves, options, runs, flags):
    assert {picture.flags for picture in pictures_of(mean_curves(curves, **options), curves, runs=runs)} == {
        frozenset(flags)
    }


def test_captions_are_of_flags(curves):
    assert curves_caption(curves).startswith("Thick lines: the mean of an algorithm's runs. Bands: t intervals")
    assert (
        curves_caption(curves.isel(run=[0])) == "Each run is a thin line. Thick lines: the mean of an algorithm's runs."
    )
