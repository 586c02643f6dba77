"""What every method gets from the driver, on toy kinds: groups of alike tasks, and results where they belong."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import dask
import numpy as np
import pytest
import xarray as xr

from lazy import refuse_to_compute
from strategies import make_curves
from xcurves.core.driver import per_task, reduce_runs
from xcurves.core.jobs import AtMost, Reduce
from xcurves.core.run_checks import Context
from xcurves.core.schema import Var
from xcurves.core.validation import check_curves
from xcurves.kinds import kind

OF_LEVELS = {
    "mean_score": Var(("task", "algorithm", "training"), "mean of runs", "score"),
    "last": Var(("task",), "index of the last level of the task", dtype=np.int64),
    "n_runs": Var(("task", "algorithm"), "runs", dtype=np.int64),
    "n_alike": Var(("task", "kept"), "number of tasks in the group, so many times"),
}
OF_PAIRS = {
    "difference": Var(("task", "pair"), "difference of sums", "score"),
    "largest": Var(("task",), "largest difference"),
    "n_runs": Var(("task", "algorithm"), "runs", dtype=np.int64),
}


def toy(name, variables):
    """A kind that only has variables."""
    like = kind("contrast")
    return replace(like, name=name, variables=variables, coords={"kept": (), "pair": ()})


@pytest.fixture
def curves():
    """Five tasks: whole, without an algorithm, without a level and a run, without anything, and whole."""
    values = np.random.default_rng(0).normal(size=(5, 3, 4, 6))
    values[1, 1] = np.nan
    values[2, ..., 2] = values[2, 0, 3] = np.nan
    values[3] = np.nan
    made = make_curves(values, task=list("vwxyz"))
    return check_curves(made.assign_coords(algorithm=["c", "a", "b"], run=[3, 1, 0, 2]))


def by_level(group, *, scale):
    """Means of the runs of each algorithm at the levels of the task."""
    (values,) = group.data
    owner = np.nonzero(group.present)[0]
    mean = np.full((len(values), len(group.present), values.shape[-1]), np.nan)
    for algorithm in set(owner.tolist()):
        mean[:, algorithm] = scale * values[:, owner == algorithm].mean(axis=1)
    alike = np.full((len(values), len(values)), float(len(values)))
    return {"mean_score": mean, "last": group.grid[:, -1], "n_alike": alike}


@pytest.mark.parametrize("chunks", [None, {"task": 2, "run": 2}, {"training": 4}])
def test_groups_of_whole_curves_come_back_at_their_tasks_levels_and_algorithms(curves, chunks):
    given = curves if chunks is None else curves.chunk(chunks)
    with dask.config.set(scheduler=refuse_to_compute):
        found = per_task(
            toy("toy", OF_LEVELS),
            partial(by_level, scale=2.0),
            given,
            context=Context.of(curves, None, False, 0.9, 7),
            sizes={"kept": AtMost(4)},
            attrs={"scale": 2.0},
        )
    assert found.mean_score.dims == ("task", "algorithm", "training")
    xr.testing.assert_allclose(found["mean_score"].drop_attrs(), 2 * curves.mean("run").drop_attrs())
    assert found.n_runs.values.tolist() == [
        [4, 4, 4],
        [4, 0, 4],
        [3, 4, 4],
        [0, 0, 0],
        [4, 4, 4],
    ]
    assert found["last"].values.tolist() == [5, 5, 5, 0, 5]
    assert found.algorithm.values.tolist() == ["c", "a", "b"]
    assert found.attrs["history"] == "toy(scale=2.0)"
    if chunks is None:
        expected = [[2, 2], [1, np.nan], [1, np.nan], [np.nan, np.nan], [2, 2]]
        np.testing.assert_array_equal(found.n_alike, expected)  # the longest has two
    else:
        assert found.sizes["kept"] == 4


class Sums(NamedTuple):
    n_levels: np.ndarray
    counts: np.ndarray
    sums: np.ndarray


def weighted_sums(curves):
    """Sums of the levels of every curve, weighted by their index: (task, algorithm, run, training) to (..., run)."""
    has = ~np.isnan(curves)
    counts = has.sum(axis=-1).reshape(len(curves), -1)
    sums = (np.nan_to_num(curves) * np.arange(curves.shape[-1])).sum(axis=-1)
    return Sums(has.any(axis=(1, 2)).sum(axis=-1), counts, sums)


def of_pairs(group):
    """Differences of the sums of the runs that are present."""
    sums = group.data[0].sums
    return {"difference": sums[:, 0].sum(axis=-1) - sums[:, 1].sum(axis=-1)} if group.present.any(axis=1).all() else {}


def add_largest(found):
    found["largest"] = np.nanmax(np.nan_to_num(found["difference"], nan=-np.inf), axis=1)


@pytest.mark.parametrize(
    "chunks",
    [None, {"task": 2, "algorithm": 1}, {"training": 4}, {"training": 1, "task": 1}],
)
def test_pairs_are_reduced_by_themselves_chunk_by_chunk(curves, chunks):
    """The pairs are (a, b) and (c, a), which have indices (0, 1) and (2, 0) in the order of the labels."""
    given = curves if chunks is None else curves.chunk(chunks)
    with dask.config.set(scheduler=refuse_to_compute):
        found = per_task(
            toy("pairs", OF_PAIRS),
            of_pairs,
            given,
            context=Context.of(curves, None, False, 0.95, 0),
            sizes={"pair": 2},
            reduce=Reduce([weighted_sums], [[0, 1], [2, 0]], add_largest),
        )
    total = (curves * np.arange(6)).sum(["run", "training"])
    expected = np.stack(
        [total.sel(algorithm=a) - total.sel(algorithm=b) for a, b in ("ab", "ca")],
        axis=1,
    )
    expected[[1, 3]] = np.nan  # algorithm a has no run there
    np.testing.assert_allclose(found.difference, expected)
    np.testing.assert_allclose(found.largest[[0, 2, 4]], expected[[0, 2, 4]].max(axis=1))
    assert found.n_runs.values.tolist() == [
        [4, 4, 4],
        [4, 0, 4],
        [3, 4, 4],
        [0, 0, 0],
        [4, 4, 4],
    ]


def ranges(group):
    """Smallest and largest score of every run that is present."""
    (values,) = group.data
    found = np.full((len(values), group.present.size, 2), np.nan)
    found[:, group.curves] = np.stack([values.min(axis=-1), values.max(axis=-1)], -1)
    return {"range": found.reshape(len(values), *group.present.shape, 2)}


@pytest.mark.parametrize("chunks", [None, {"task": 2, "run": 2}, {"training": 4}])
def test_runs_become_other_arrays_in_the_order_that_was_given(curves, chunks):
    given = curves.assign_coords(group=("task", list("ppqqr")))
    if chunks is not None:
        given = given.chunk(chunks)
    with dask.config.set(scheduler=refuse_to_compute):
        found = reduce_runs("range", ranges, given, ("algorithm", "run", "end"), sizes={"end": 2})
    expected = xr.concat([curves.min("training"), curves.max("training")], "end")
    assert found.dims == ("task", "algorithm", "run", "end")
    np.testing.assert_array_equal(found, expected.transpose(*found.dims))
    assert set(found.coords) == {"task", "algorithm", "run", "group"}
