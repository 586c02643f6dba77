"""Curves reduced to moments or sums: the same of chunked curves, whatever the chunks, and of each subset by itself."""

import dask
import numpy as np
import pytest
import xarray as xr

import xcurves
from lazy import refuse_to_compute
from strategies import make_curves


@pytest.fixture
def curves():
    values = np.random.default_rng(0).normal(size=(3, 4, 2, 7, 12)).cumsum(axis=-1)
    return make_curves(values, task=range(3), metric=range(4))


CHUNKS = [{}, {"task": 2}, {"training": 5}, {"metric": 3, "run": 2, "training": 4}]
CALLS = {
    "randomized_anova": lambda da: xcurves.randomized_anova(da, rng=0),
    "paired": lambda da: xcurves.randomized_anova(da, paired=True, rng=0),
    "pairwise": lambda da: xcurves.pairwise(da, rng=0),
    "contrast": lambda da: xcurves.contrast(
        da, dict(zip(da["algorithm"].values.tolist(), (1, -1), strict=True)), rng=0
    ),
}


@pytest.mark.plain(4)
@pytest.mark.parametrize("n_levels", [7, 12])  # a factor of the co-moments, or these
@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("call", CALLS)
def test_chunks_reduce_lazily_to_the_same(curves, call, chunks, n_levels):
    curves = curves.isel(training=slice(n_levels))
    whole = CALLS[call](curves)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = CALLS[call](curves.chunk(chunks))
    xr.testing.assert_identical(lazy.compute(), whole)


def test_a_subset_is_as_if_the_others_were_not_there():
    three = make_curves(np.random.default_rng(0).normal(size=(3, 5, 6)))
    three[2] += 1e12
    found = xcurves.pairwise(three, rng=0).isel(pair=0)
    alone = xcurves.pairwise(three[:2], rng=0).isel(pair=0)
    for name in ("difference", "difference_ci", "pvalue"):
        np.testing.assert_array_equal(found[name], alone[name])


def test_pairs_of_one_level_in_several_tasks_are_those_of_each_task():
    scores = make_curves(np.random.default_rng(0).normal(size=(4, 3, 7, 1)), task=range(4))
    every = xcurves.pairwise(scores, rng=0)
    for task in range(4):
        alone = xcurves.pairwise(scores.isel(task=task), rng=0)
        for name in ("difference", "difference_ci", "pvalue"):
            np.testing.assert_array_equal(every[name].isel(task=task), alone[name])


def test_the_graph_does_not_grow_with_the_shuffles_and_stays_small():
    import dask.array as da

    like = make_curves(np.zeros((1000, 2, 3, 4)), task=range(1000))
    big = like.copy(data=da.zeros(like.shape, chunks=(10, 2, 3, 4)))
    few, many = (xcurves.randomized_anova(big, n_resamples=n, rng=0).__dask_graph__() for n in (10, 10**6))
    assert len(few) == len(many) <= 100 * 60
