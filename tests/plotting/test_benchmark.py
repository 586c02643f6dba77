"""The figure of a benchmark shows what the methods find."""

import numpy as np
import pytest
import xarray as xr

from layers import slow
from pictures import faults, figsize_in
from refusals import refused
from synthetic_results import named_with, synthetic_curves
from xcurves.core.refusal import call


@pytest.mark.filterwarnings("ignore:.*few")
def test_a_benchmark_in_one_figure():
    curves = synthetic_curves(6, 2, n_runs=5)
    axes = curves.curves.plot_benchmark(target=1000, n_resamples=99, rng=0)
    last = curves.isel(training=-1)
    for ax, expected in (
        (axes[0], last.median(["task", "run"])),
        (axes[2], last.mean(["task", "run"])),
    ):
        np.testing.assert_allclose([line.get_xdata()[0] for line in ax.lines], expected)
    gap = (1000 - last).clip(min=0).mean(["task", "run"])
    np.testing.assert_allclose([line.get_xdata()[0] for line in axes[3].lines], gap)
    across = curves.curves.across_tasks(n_resamples=99, rng=0)
    assert f"{across.prob_greater.item():.2f}".replace("0.", ".") in [text.get_text() for text in axes[5].texts]
    profile = curves.curves.profile_across_tasks(n_resamples=99, rng=0)
    np.testing.assert_allclose(axes[6].lines[0].get_ydata(), profile.mean_curve[0])
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["SAC", "TD3"]
    assert faults(axes[0].figure) == []
    assert len(curves.curves.plot_benchmark(n_resamples=99, rng=0)) == 6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*few")
@pytest.mark.parametrize(("size", "letters"), [((9, 5), 25), slow((5.5, 4.5), 5)])
def test_no_label_of_a_benchmark_runs_over_its_neighbours(size, letters):
    curves = named_with(synthetic_curves(6, 8, n_runs=5), letters)
    axes = curves.curves.plot_benchmark(target=1000, figsize=size, n_resamples=49, rng=0)
    assert faults(axes[0].figure, 0.3, sized=True) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*few")
@pytest.mark.parametrize("width", [5.5, 6.5, 7.5])
def test_a_benchmark_whose_names_have_no_room_names_a_size_that_has(width):
    curves = named_with(synthetic_curves(6, 8, n_runs=5), 25)
    options = {"target": 1000, "n_resamples": 49, "rng": 0}
    with refused("figsize", (width, 4.5), "Give figsize=(", names="no room for the names") as caught:
        curves.curves.plot_benchmark(figsize=(width, 4.5), **options)
    named = figsize_in(str(caught.value))["figsize"]
    axes = curves.curves.plot_benchmark(figsize=named, **options)
    assert faults(axes[0].figure, 0.3, sized=True) == []
    assert named[0] <= 12


@pytest.mark.parametrize(
    ("value", "cure", "said"),
    [
        (np.nan, "Check the selection that made it", "curves has no score at all"),
        (np.inf, call(".curves.fill_failed", "worst", higher_is_better=False), "curves has infinite"),
    ],
)
def test_scores_that_no_axis_shows_are_refused(value, cure, said):
    with refused("curves", cure=cure, names=said):
        xr.full_like(synthetic_curves(2, 2), value).curves.plot_benchmark()


def test_more_than_eight_algorithms_are_refused():
    with refused(
        "curves",
        cure="Select some: .sel(algorithm=[...])",
        names=r"a figure has at most 8 algorithms; got 9\. Select some: \.sel",
    ):
        synthetic_curves(2, 9).curves.plot_benchmark()
