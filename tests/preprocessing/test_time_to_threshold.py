import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import xcurves
from lazy import refuse_to_compute
from strategies import make_curves


def by_loop(curves, threshold, sustained, higher):
    """The first level of a run from which on so many levels in a row meet the threshold, level by level."""
    times = {}
    for task in curves.task.values:
        of_task = curves.sel(task=task)
        grid = [t for t in curves.training.values if of_task.sel(training=t).notnull().any()]
        for algorithm in curves.algorithm.values:
            for run in curves.run.values:
                scores = [of_task.sel(algorithm=algorithm, run=run, training=t).item() for t in grid]
                if np.isnan(scores).all():
                    times[task, algorithm, run] = np.nan
                    continue
                times[task, algorithm, run] = np.inf
                for i in range(len(grid) - sustained + 1):
                    row = scores[i : i + sustained]
                    if all(y >= threshold[task] if higher else y <= threshold[task] for y in row):
                        times[task, algorithm, run] = grid[i]
                        break
    return times


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_times_are_those_of_a_loop(seed, sustained, higher):
    """Tasks with grids of their own, absent runs, a threshold for each task."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, size=(2, 2, 3, 8)).astype(float)
    values[1, :, :, rng.choice(8, 4, replace=False)] = np.nan
    values[0, 1, 2] = np.nan
    curves = make_curves(values, task=["x", "y"])
    threshold = {"x": 2.0, "y": float(rng.integers(0, 4))}
    given_threshold = xr.DataArray(list(threshold.values()), {"task": list(threshold)}, ("task",))
    options = {"sustained": sustained, "higher_is_better": higher}
    times = curves.curves.time_to_threshold(given_threshold, **options)
    assert times.dims == ("task", "algorithm", "run")
    for (task, algorithm, run), expected in by_loop(curves, threshold, sustained, higher).items():
        np.testing.assert_equal(times.sel(task=task, algorithm=algorithm, run=run).item(), expected)


def test_batches_change_nothing(monkeypatch):
    curves = make_curves(np.random.default_rng(0).integers(0, 4, size=(2, 2, 5, 8)).astype(float), task=["x", "y"])
    whole = xcurves.time_to_threshold(curves, 2, sustained=2)
    monkeypatch.setattr("xcurves.kernels.thresholds._AT_ONCE", 24)
    assert whole.identical(xcurves.time_to_threshold(curves, 2, sustained=2))


def test_times_are_labelled_and_have_the_units_of_training():
    curves = make_curves([[[[0.0, 1.0], [0.0, 0.0]]]], task=["x"])
    curves.training.attrs["units"] = "steps"
    times = curves.curves.time_to_threshold(1, sustained=1)
    assert times.name == "time_to_threshold"
    assert times.attrs == {
        "long_name": "training until the score is at least 1",
        "comment": "infinite where the threshold is never reached",
        "units": "steps",
        "history": "time_to_threshold(threshold=1, sustained=1, higher_is_better=True)",
    }
    assert times.values.tolist() == [[[100.0, np.inf]]]
    assert set(times.coords) == {"task", "algorithm", "run"}


def test_it_stays_lazy_and_chunks_change_nothing():
    curves = make_curves(np.random.default_rng(1).normal(size=(3, 2, 4, 9)), task=["x", "y", "z"])
    tau = xr.DataArray([0.0, 1.0, 2.0], {"task": ["x", "y", "z"]}, ("task",))
    chunked = curves.chunk(task=1, training=4)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.time_to_threshold(chunked, tau, sustained=2)
    assert lazy.chunks is not None
    assert lazy.compute().identical(xcurves.time_to_threshold(curves, tau, sustained=2))


@pytest.mark.parametrize("chunks", [None, {"task": 1}])
@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"training": [100.0]}, {}, r"^task 'y': algorithm 'a1', run 2 lacks 1 of 4 training levels"),
        (None, {"sustained": 5}, r"^task '[xy]': sustained=5 is more than its 4 training levels\. Give at most 4$"),
        (np.inf, {}, r"^task 'y': algorithm 'a1', run 2 has infinite values"),
    ],
)
def test_runs_that_cannot_be_timed_are_named(change, options, message, chunks):
    curves = make_curves(np.zeros((2, 2, 3, 4)), task=["x", "y"])
    if change is not None:
        where, score = (change, np.nan) if isinstance(change, dict) else ({}, change)
        curves.loc[{"task": "y", "algorithm": "a1", "run": 2, **where}] = score
    curves = curves if chunks is None else curves.chunk(chunks)
    with pytest.raises(ValueError, match=message):
        xcurves.time_to_threshold(curves, 1, **options).compute()


@pytest.mark.parametrize(
    ("threshold", "options", "message"),
    [
        (np.inf, {}, "threshold must be a finite number; got inf"),
        (1, {"sustained": 0}, "sustained must be a whole number from 1; got 0"),
        (1, {"sustained": 1.5}, "sustained must be a whole number from 1; got 1.5"),
        (xr.DataArray([1.0, 2.0], dims="run"), {}, "threshold has the dim 'run'"),
        (xr.DataArray([1.0], {"task": ["x"]}, ("task",)), {}, "threshold has no reference for task 'y'"),
    ],
)
def test_bad_options_say_what_to_do(threshold, options, message):
    curves = make_curves(np.zeros((2, 2, 3, 4)), task=["x", "y"])
    with pytest.raises(ValueError, match=message):
        xcurves.time_to_threshold(curves, threshold, **options)
