import dask
import numpy as np
import pytest

from lazy import refuse_to_compute
from strategies import make_curves
from xcurves.anova.randomized_anova import CurveMoments
from xcurves.core.chunking import reduce_chunks
from xcurves.core.jobs import Job, Reduce
from xcurves.core.layout import Layout
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.kernels.resampling import moments


@pytest.fixture
def curves():
    values = np.random.default_rng(0).normal(size=(3, 4, 2, 5, 12)).cumsum(axis=-1)
    return check_curves(make_curves(values, task=range(3), metric=range(4)))


def reduced(curves, subsets=None, *, within_runs=False):
    """Moments of curves, shape (task, metric, subset, moment), lazy if the curves are."""
    job = Job(
        name="moments",
        kernel=dict,
        context=Context.of(curves),
        layout=Layout({}, curves.sizes),
        reduce=Reduce(subsets=subsets),
    )
    reduction = CurveMoments(within_runs)
    if curves.chunks is None:
        return job.measure(reduction, curves.to_numpy(), slice(None))
    return reduce_chunks(job, reduction, curves.data)


@pytest.mark.parametrize("subsets", [None, ([0, 1], [1, 0]), ([1],)])
@pytest.mark.parametrize(
    "chunks", [{}, {"task": 2}, {"training": 5}, {"metric": 3, "run": 2, "training": 4}]
)
def test_chunks_reduce_lazily_to_the_same(curves, subsets, chunks):
    whole = reduced(curves, subsets)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = reduced(curves.chunk(chunks), subsets)
    assert lazy.shape == whole.shape
    np.testing.assert_allclose(lazy.compute(), whole, rtol=1e-11, atol=1e-11)
    if "training" not in chunks:
        np.testing.assert_array_equal(lazy.compute(), whole)


@pytest.mark.parametrize("within_runs", [False, True])
@pytest.mark.parametrize(
    "chunks", [{"task": 2}, {"training": 2}, {"metric": 3, "run": 2, "training": 4}]
)
def test_chunks_of_few_levels_reduce_lazily_to_a_factor(curves, chunks, within_runs):
    curves = curves.isel(training=slice(0, 7))
    whole = reduced(curves, within_runs=within_runs)
    assert whole.shape[-1] == moments.packed_size(10, 6) < moments.packed_size(10)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = reduced(curves.chunk(chunks), within_runs=within_runs)
    assert lazy.shape == whole.shape
    np.testing.assert_array_equal(lazy.compute(), whole)


def test_a_subset_is_as_if_the_others_were_not_there(curves):
    far = curves.copy()
    far[..., 1, :, :] += 1e12
    found = reduced(far, ([0],))[..., 0, :]
    np.testing.assert_array_equal(
        found, moments.measure_moments(curves.isel(algorithm=0).to_numpy())
    )


def test_the_graph_does_not_grow_with_the_shuffles_and_stays_small():
    import dask.array as da

    import xcurves

    like = make_curves(np.zeros((1000, 2, 3, 4)), task=range(1000))
    big = like.copy(data=da.zeros(like.shape, chunks=(10, 2, 3, 4)))
    few, many = (
        xcurves.randomized_anova(big, n_resamples=n, rng=0).__dask_graph__()
        for n in (10, 10**6)
    )
    assert len(few) == len(many) <= 100 * 60
