"""How lazy arrays are cut: few nodes, no other task's names, and the numbers of the call in memory."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import get_ident

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow
from lazy import assert_identical_but_for_blas, refuse_to_compute
from xcurves.core import chunking, jobs, labels

threadpoolctl = pytest.importorskip("threadpoolctl")


def drawn(n, size, shape=(4, 10, 100)):
    """Curves of n tasks in chunks of some, lazily drawn."""
    return label(da.random.default_rng(0).normal(size=(n, *shape), chunks=(size, *shape)))


def label(values):
    n, m, runs, levels = values.shape
    names = {
        "task": [f"t{i}" for i in range(n)],
        "algorithm": [f"a{i}" for i in range(m)],
        "run": np.arange(runs),
        "training": np.arange(1.0, levels + 1),
    }
    return xr.DataArray(values, names, list(names), name="score")


METHODS = {
    "randomized_anova": lambda curves: curves.curves.randomized_anova(n_resamples=50, rng=0),
    "paired": lambda curves: curves.curves.randomized_anova(n_resamples=50, paired=True, rng=0),
    "pairwise": lambda curves: curves.curves.pairwise(n_resamples=50, rng=0),
    "contrast": lambda curves: curves.curves.contrast({"a0": 1, "a1": -1}, n_resamples=50, rng=0),
    "ss_profile": lambda curves: curves.curves.ss_profile(n_resamples=50, rng=0),
    "fit_power_law": lambda curves: (10 + 0 * curves + 50 * curves.training**-0.5).curves.fit_power_law(
        units="percent", sigma_hat_sq=1.0
    ),
    "leave_one_size_out": lambda curves: (
        (10 + 0 * curves + 50 * curves.training**-0.5)
        .isel(training=slice(0, 6))
        .curves.leave_one_size_out(units="percent", sigma_hat_sq=1.0)
    ),
    "performance_cdf": lambda curves: curves.isel(training=-1).curves.performance_cdf(scores_at=[0.0]),
    "bootstrap": lambda curves: curves.isel(training=-1).curves.performance_cdf(
        interval="percentile", n_resamples=50, rng=0
    ),
    "compare_distributions": lambda curves: curves.isel(training=-1).curves.compare_distributions(),
}
methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.mark.plain(3)
@methods
@pytest.mark.parametrize(("n", "size"), [(10_000, 100), slow(2_000, 1)])
def test_many_tasks_make_a_small_graph_and_compute_nothing(method, n, size):
    """At most 100 nodes for each of 100 blocks, two a variable, and what the caller does to chunks (5 at most)."""
    curves = drawn(n, size)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = method(curves)
    assert len(dict(lazy.__dask_graph__())) <= 100 * 100 + 5 * (n // size)


@methods
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.slow
def test_merged_chunks_of_tasks_and_of_curves_give_the_same(method):
    """200 tasks in chunks of one, which are merged to two; runs and algorithms in chunks that cannot be."""
    curves = label(np.random.default_rng(1).normal(size=(200, 3, 3, 8)))
    assert chunking.coarsen(curves.chunk(task=1), labels.DIMS).chunksizes["task"] == (2,) * 100
    assert_identical_but_for_blas(method(curves.chunk(task=1, run=2, algorithm=1)).compute(), method(curves))


def test_chunks_are_merged_over_several_dims_where_they_are_many():
    curves = xr.DataArray(
        da.zeros((50, 400, 2, 3, 4), chunks=(1, 1, 2, 3, 4)),
        dims=("metric", "task", *labels.DIMS),
    )
    merged = chunking.coarsen(curves, labels.DIMS)
    assert merged.chunksizes["metric"] == (10,) * 5
    assert merged.chunksizes["task"] == (10,) * 40


@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((50, 2, 3, 4), (1, 2, 3, 4)),  # few
        ((10_000, 2, 3, 4), (200, 2, 3, 4)),  # large
        ((10_000, 2, 3, 10**6), (1, 2, 3, 10**6)),  # of 48 MB each
    ],
)
def test_chunks_that_are_few_or_large_stay(shape, chunks):
    curves = xr.DataArray(da.zeros(shape, chunks=chunks), dims=("task", *labels.DIMS))
    assert chunking.coarsen(curves, labels.DIMS).chunks == curves.chunks


@pytest.mark.slow
def test_the_levels_of_a_task_are_one_chunk_so_that_a_block_has_few_tasks_with_long_curves():
    curves = xr.DataArray(
        da.zeros((10_000, 2, 3, 10**4), chunks=(1, 2, 3, 5 * 10**3)),
        dims=("task", *labels.DIMS),
    )
    merged = chunking.coarsen(curves, labels.DIMS)
    # 480 kB of a task, 64 MiB of a block at most
    assert 100 <= max(merged.chunksizes["task"]) <= 2**26 // 480_000


@pytest.mark.slow
def test_a_block_takes_the_names_of_its_own_tasks_along():
    lazy = xcurves.randomized_anova(drawn(10_000, 100, (2, 3, 4)), n_resamples=50, rng=0)
    graph = dict(dask.optimize(lazy)[0].__dask_graph__())
    # 10,000 names are 60 kB
    assert max(len(cloudpickle.dumps(node)) for node in graph.values()) < 10_000


@pytest.mark.slow
@pytest.mark.parametrize("chunks", [{"training": 1}, slow({"task": 1})])
def test_a_computed_result_keeps_no_reassignments_in_its_graph(chunks):
    """A graph that is computed stays small: its blocks keep no orders of 2,000 reassignments of 40 curves."""
    curves = label(np.random.default_rng(0).normal(size=(4, 4, 10, 3))).chunk(chunks)
    for lazy in (
        xcurves.randomized_anova(curves.isel(task=0), n_resamples=2_000, rng=0),
        xcurves.pairwise(curves.isel(task=0), n_resamples=2_000, rng=0),
        xcurves.across_tasks(curves, n_resamples=2_000, rng=0),
    ):
        lazy.compute()
        assert len(cloudpickle.dumps(lazy)) < 60_000


def blas_threads():
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.plain(1)
@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("turn", [0, slow(1)])
def test_chunks_are_computed_with_one_blas_thread_and_what_was_set_comes_back(monkeypatch, failing, turn):
    seen = []

    def recorded(method):
        def wrapper(*args, **options):
            seen.append((get_ident(), blas_threads()))
            if failing and len(seen) > 5:
                raise ZeroDivisionError
            return method(*args, **options)

        return wrapper

    monkeypatch.setattr(jobs.Job, "results", recorded(jobs.Job.results))
    lazy = drawn(40, 2).chunk(training=25).curves.randomized_anova(n_resamples=50, rng=0)
    # threadpoolctl lets one thread alone set limits, until it ends
    with ThreadPoolExecutor(1) as pool:
        limit = pool.submit(threadpoolctl.threadpool_limits, 2, "blas").result()
    try:
        before = blas_threads()
        threads = dask.config.set(scheduler="threads", num_workers=3)
        with threads, pytest.raises(ZeroDivisionError) if failing else nullcontext():
            lazy.compute()
        end = time.monotonic() + 10
        # other chunks end after the one that failed
        while blas_threads() != before and time.monotonic() < end:
            time.sleep(0.01)
        assert blas_threads() == before
    finally:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(limit.restore_original_limits).result()
    assert set(before) == {2}
    assert len(seen) > 5
    assert len({thread for thread, _ in seen}) > 1
    assert {tuple(threads) for _, threads in seen} == {(1,) * len(before)}


def test_without_threadpoolctl_chunks_are_computed_all_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    chunking._blas.cache_clear()
    curves = drawn(2, 1).persist()
    found, expected = (
        each.curves.contrast({"a0": 1, "a1": -1}, rng=0).compute() for each in (curves, curves.compute())
    )
    xr.testing.assert_allclose(found, expected)
    chunking._blas.cache_clear()
