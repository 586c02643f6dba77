import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import xcurves
from lazy import refuse_to_compute
from refusals import ANY, refused
from strategies import make_curves


def by_loop(curves, target, sustained, higher):
    """The first level of a run from which on so many levels in a row meet the target, level by level."""
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
                    if all(y >= target[task] if higher else y <= target[task] for y in row):
                        times[task, algorithm, run] = grid[i]
                        break
    return times


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_times_are_those_of_a_loop(seed, sustained, higher):
    """Tasks with grids of their own, absent runs, a target for each task."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, size=(2, 2, 3, 8)).astype(float)
    values[1, :, :, rng.choice(8, 4, replace=False)] = np.nan
    values[0, 1, 2] = np.nan
    curves = make_curves(values, task=["x", "y"])
    target = {"x": 2.0, "y": float(rng.integers(0, 4))}
    given_target = xr.DataArray(list(target.values()), {"task": list(target)}, ("task",))
    options = {"sustained": sustained, "higher_is_better": higher}
    times = curves.curves.time_to_target(given_target, **options)
    assert times.dims == ("task", "algorithm", "run")
    for (task, algorithm, run), expected in by_loop(curves, target, sustained, higher).items():
        np.testing.assert_equal(times.sel(task=task, algorithm=algorithm, run=run).item(), expected)


def test_batches_change_nothing(monkeypatch):
    curves = make_curves(
        np.random.default_rng(0).integers(0, 4, size=(2, 2, 5, 8)).astype(float),
        task=["x", "y"],
    )
    whole = xcurves.time_to_target(curves, 2, sustained=2)
    monkeypatch.setattr("xcurves.kernels.times.hitting_times._AT_ONCE", 24)
    assert whole.identical(xcurves.time_to_target(curves, 2, sustained=2))


def test_times_are_labelled_and_have_the_units_of_training():
    curves = make_curves([[[[0.0, 1.0], [0.0, 0.0]]]], task=["x"])
    curves.training.attrs["units"] = "steps"
    times = curves.curves.time_to_target(1, sustained=1)
    assert times.name == "time_to_target"
    assert times.attrs == {
        "long_name": "training until the score is at least 1",
        "comment": "infinite where the target is not reached within the budget",
        "units": "steps",
        # of times, whatever it is of the scores
        "higher_is_better": 0,
        "history": "time_to_target(target=1, sustained=1, higher_is_better=True)",
    }
    assert times.values.tolist() == [[[100.0, np.inf]]]
    assert set(times.coords) == {"task", "algorithm", "run", "budget"}


def test_it_stays_lazy_and_chunks_change_nothing():
    curves = make_curves(np.random.default_rng(1).normal(size=(3, 2, 4, 9)), task=["x", "y", "z"])
    tau = xr.DataArray([0.0, 1.0, 2.0], {"task": ["x", "y", "z"]}, ("task",))
    chunked = curves.chunk(task=1, training=4)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.time_to_target(chunked, tau, sustained=2)
    assert lazy.chunks is not None
    assert lazy.compute().identical(xcurves.time_to_target(curves, tau, sustained=2))


def test_each_run_is_read_at_its_own_levels():
    """A level that others have is none of its own: 5 is reached at 30 and 40 in a row, whatever 35 would have been."""
    curves = make_curves(
        np.array([[[[0, 0, 5, np.nan, 5], [5, 0, np.nan, np.nan, np.nan]]]], float),
        task=["x"],
    )
    curves = curves.assign_coords(training=[10, 20, 30, 35, 40])
    times = curves.curves.time_to_target(5, sustained=2).sel(task="x", algorithm="a0")
    assert times.values.tolist() == [30.0, np.inf]
    assert times.budget.values.tolist() == [40.0, 20.0]
    own = curves.stack(all=["task", "algorithm", "run"]).unstack()
    frame = own.to_dataframe("score").reset_index().dropna()
    apart = frame.curves.to_dataarray("score", extra="task", levels="run")
    assert "evaluation" in apart.dims
    found = apart.curves.time_to_target(5, sustained=2).sel(task="x", algorithm="a0")
    assert found.values.tolist() == [30.0, np.inf]
    assert found.budget.values.tolist() == [40.0, 20.0]


@pytest.mark.parametrize(
    ("target", "options", "expected", "said"),
    [
        (np.inf, {}, ("target", np.inf, "At most 1e+140 in size"), "must be a finite number"),
        (1, {"sustained": 5}, ("sustained", 5, "Usual: 1"), "must be at most 4"),
        (
            xr.DataArray([1.0, 2.0], dims="run"),
            {},
            ("target", "run", "target.mean('run')"),
            "^target has the dim 'run'",
        ),
        (
            xr.DataArray([1.0], {"task": ["x"]}, ("task",)),
            {},
            ("target", ANY, "Add it to target"),
            "^target has no reference for task 'y'",
        ),
    ],
)
def test_bad_options_say_what_to_do(target, options, expected, said):
    curves = make_curves(np.zeros((2, 2, 3, 4)), task=["x", "y"])
    with refused(*expected, names=said):
        xcurves.time_to_target(curves, target, **options)


def test_cells_without_labels_are_called_by_their_place():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 2, 3, 4)), task=[0, 1]).drop_vars("task")
    with pytest.warns(UserWarning, match="task 0, a0: no run reaches the target"):
        xcurves.mean_time_to_target(curves, target=99.0)
