"""The profile of curves that are too long for one place is that of the same curves in memory."""

import pickle

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import xcurves
from strategies import absent, make_curves
from test_anova import refuse_to_compute
from xcurves import blocks
from xcurves.kernels import levels
from xcurves.profile.intervals import check_intervals

EDGES = [0, 200, 2500, 2600, 5000, 7000]
EXACT = ("cluster", "equivalent", "first_significant", "last_significant")
CHUNKS = [{"task": 2, "training": 7, "run": 2}, {"training": (1, 20, 9, 30)}]


@pytest.fixture(autouse=True)
def short_is_long(monkeypatch):
    """A block is 100 values, and so many levels by shuffles are held."""
    monkeypatch.setattr(blocks, "_BYTES", 800)
    monkeypatch.setattr(levels, "_HELD", 1200)


@pytest.fixture
def tasks():
    """Five tasks of which one lacks runs, one levels (a chunk of them whole), one an algorithm, and one is absent."""
    values = np.random.default_rng(2).normal(size=(5, 3, 4, 60)).cumsum(axis=-1)
    values[:, 0, :, 20:40] += 8
    values[1, 0, 3], values[3, 2], values[4] = np.nan, np.nan, np.nan
    values[2, :, :, [1, 5, *range(19, 32)]] = np.nan
    return make_curves(values, task=["full", "runs", "levels", "algorithms", "none"])


def assert_alike(found, expected):
    """P-values and clusters to the last digit, sums of squares to rounding, and everything else."""
    for name in expected.variables:
        assert found[name].dims == expected[name].dims
        assert found[name].attrs == expected[name].attrs
        assert found[name].dtype == expected[name].dtype
        rounded = name in expected.data_vars and "pvalue" not in str(name) and name not in EXACT
        scale = max(1.0, np.nan_to_num(np.abs(expected[name])).max()) if rounded and expected[name].size else 0.0
        if rounded:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-10, atol=1e-12 * scale, err_msg=str(name))
        else:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=str(name))
    assert list(found.data_vars) == list(expected.data_vars)
    assert found.attrs == expected.attrs
    assert set(found.coords) == set(expected.coords)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("chunks", CHUNKS, ids=["even", "uneven"])
@pytest.mark.parametrize(
    "options",
    [
        {"intervals": EDGES, "margin": 9},
        {"intervals": EDGES, "step_down": False},
        {"cluster_threshold": 2.0},
        {"n_resamples": 0, "intervals": EDGES},
        {"confidence_level": 0.5, "margin": 20},
    ],
    ids=["all", "single step", "threshold", "no inference", "many found"],
)
def test_chunks_of_levels_give_the_profile_of_the_whole(tasks, options, chunks):
    tasks.training.attrs["units"] = "games"
    options = {"n_resamples": 100, "rng": 0, **options}
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.ss_profile(tasks.assign_coords(kind=("task", list("abcde"))).chunk(chunks), **options)
    assert lazy.ss.chunksizes["training"] == tasks.chunk(chunks).chunksizes["training"]
    expected = xcurves.ss_profile(tasks.assign_coords(kind=("task", list("abcde"))), **options)
    assert_alike(lazy.compute(scheduler="synchronous"), expected)
    if "confidence_level" in options:
        assert expected.first_significant.notnull().sum() == 4
        assert expected.equivalent.sum() > 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_paired_runs_and_no_task_at_all(tasks, dtype):
    curves = (10 * tasks.sel(task="full", drop=True)).round()
    curves[0, :, 20:40] += 500
    curves = curves.astype(dtype)
    curves = curves.assign_coords(training=np.arange(60, dtype="int32"), epoch=("training", np.arange(60) // 7))
    options = {"paired": True, "margin": 90, "n_resamples": 100, "intervals": [0, 25, 50], "rng": 0}
    found = xcurves.ss_profile(curves.chunk(training=11), confidence_level=0.9, **options).compute()
    assert_alike(found, xcurves.ss_profile(curves, confidence_level=0.9, **options))
    assert found.first_significant.notnull()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_resamples", [0, 99])
@pytest.mark.parametrize("size", [1e4, 1e7])
def test_what_runs_share_costs_the_fractions_no_digit(tasks, size, n_resamples):
    """Matched runs that differ far more from one another than algorithms do."""
    shared = size * np.random.default_rng(5).normal(size=(4, 60))
    curves = tasks.sel(task="full", drop=True) + xr.DataArray(shared, dims=("run", "training"))
    options = {"paired": True, "n_resamples": n_resamples, "rng": 0}
    found = xcurves.ss_profile(curves.chunk(training=11), **options).compute()
    expected = xcurves.ss_profile(curves, **options)
    np.testing.assert_allclose(found.fraction, expected.fraction, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.cumulative_fraction.isel(training=-1), 1, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_resamples", [0, 19])
def test_fractions_of_nothing_but_rounding_are_nan(n_resamples):
    """Algorithms of the same runs in another order: no difference, whatever the order of the sums."""
    values = np.random.default_rng(0).normal(size=(4, 40))
    curves = make_curves(np.stack([values, values[[2, 0, 3, 1]]]))
    for each in (curves, curves.chunk(training=7)):
        result = xcurves.ss_profile(each, n_resamples=n_resamples, rng=0)
        assert result.fraction.isnull().all()
        assert (result.ss == 0).all()


def test_one_task_is_computed_without_the_others(tasks):
    reads = []

    def read(block, block_info=None):
        reads.append(block_info[0]["chunk-location"][0])
        return block

    lazy = tasks.chunk(task=1, training=20)
    noted = lazy.copy(data=lazy.data.map_blocks(read, dtype=float))
    found = xcurves.ss_profile(noted, n_resamples=0).isel(task=0).ss
    reads.clear()
    found.compute(scheduler="synchronous")
    assert reads == [0] * 6  # three chunks, twice


def test_what_is_kept_of_a_chunk_does_not_grow_with_shuffles(tasks):
    """Tables of intervals by shuffles are joined, not kept with the levels that wait for them."""
    lazy = xcurves.ss_profile(tasks.isel(task=0).chunk(training=20), n_resamples=999, intervals=EDGES, rng=0)
    graph = dict(lazy.pvalue.__dask_graph__())
    kept = [key for key in graph if str(key[0]).startswith("pick")]
    sizes = [len(pickle.dumps(each)) for each in dask.get(graph, kept)]
    assert len(sizes) == 6
    assert sorted(sizes)[2] < 5_000 < sorted(sizes)[3]


@given(st.data(), st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None, max_examples=25)
def test_every_p_is_that_of_a_full_enumeration(data, seed, integers):
    """Cut anywhere; whole numbers bring ties, and levels at which nothing differs."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (2, 3, 6)).astype(float) if integers else rng.normal(size=(2, 3, 6)).cumsum(axis=-1)
    curves = absent(make_curves(values), data.draw(st.sampled_from([(3, 3), (3, 2)])))
    cuts = sorted(data.draw(st.sets(st.integers(1, 5), min_size=1)))
    lazy = curves.chunk(training=tuple(np.diff([0, *cuts, 6]).tolist()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_BYTES", 1)
        result = xcurves.ss_profile(lazy, cluster_threshold=1.7, intervals=[0, 200, 500], confidence_level=0.01, rng=0)
    result = result.compute(scheduler="synchronous")
    groups = [curves.sel(algorithm=name).dropna("run").to_numpy().tolist() for name in curves.algorithm]
    null = [oracles.level_f(each, False) for each in oracles.all_assignments(groups, False)]
    observed = oracles.level_f(groups, False)
    defined = ~np.isnan(observed)
    if not defined.all():
        np.testing.assert_array_equal(np.isnan(result.pvalue), ~defined)
        return
    single = [oracles.share_at_least([row[h] for row in null], observed[h]) for h in range(6)]
    np.testing.assert_allclose(result.pvalue, single, rtol=1e-12)
    np.testing.assert_allclose(result.pvalue_adjusted, oracles.family_pvalues(observed, null, True), rtol=1e-12)
    masses = [max((mass for _, mass in oracles.clusters_of(row, 1.7)), default=0) for row in null]
    cluster, p = np.full(6, np.nan), np.full(6, np.nan)
    for number, (places, mass) in enumerate(oracles.clusters_of(observed, 1.7), 1):
        cluster[places], p[places] = number, oracles.share_at_least(masses, mass, 1e-8)
    np.testing.assert_array_equal(result.cluster, cluster)
    np.testing.assert_allclose(result.cluster_pvalue, p, rtol=1e-12)


def test_curves_of_a_block_or_less_are_put_into_one_place(tasks, monkeypatch):
    monkeypatch.setattr(blocks, "_BYTES", 2**26)
    lazy = xcurves.ss_profile(tasks.chunk(training=7), n_resamples=50, rng=0)
    assert lazy.ss.chunksizes["training"] == (60,)
    in_memory = xcurves.ss_profile(tasks.isel(task=[0, 3]), n_resamples=50, confidence_level=0.5, rng=0)
    chunked = xcurves.ss_profile(tasks.isel(task=[0, 3]).chunk(training=7), n_resamples=50, confidence_level=0.5, rng=0)
    xr.testing.assert_identical(chunked.compute(), in_memory)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (np.s_[3, 1, 2, 50], np.nan, "task 'algorithms': algorithm 'a1', run 2 lacks 1 of 60 training levels"),
        (np.s_[0, 1, 2, 50], np.inf, "task 'full': algorithm 'a1', run 2 has infinite values"),
        (np.s_[1, :, :, 1:], np.nan, "task 'runs': there is one training level; a profile over training needs two"),
        (np.s_[1, 1:], np.nan, "task 'runs': only algorithm 'a0' has runs; a comparison needs two"),
        (np.s_[0, 0, 0, 3], 1e200, "task 'full': scores are too large to be squared"),
    ],
)
def test_what_cannot_be_profiled_is_refused_in_the_graph_by_name(tasks, place, value, message):
    tasks[place] = value
    lazy = xcurves.ss_profile(tasks.chunk(training=7), n_resamples=50, rng=0)
    with pytest.raises(ValueError, match=message):
        lazy.ss.compute(scheduler="synchronous")


def test_a_range_of_levels_is_never_written_out():
    """A million million levels, 8 TB; nothing is computed."""
    values = da.zeros((2, 5, 10**12), chunks=(2, 5, 10**10))
    curves = xr.DataArray(values, {"algorithm": ["a", "b"], "run": range(5)}, ["algorithm", "run", "training"])
    curves = curves.assign_coords(training=("training", pd.RangeIndex(0, 10**13, 10)))
    profile = xcurves.ss_profile(curves, intervals=[-5, 0.5, 3e12, 2e13], rng=0)
    assert isinstance(profile.indexes["training"], pd.RangeIndex)
    stretches = check_intervals([-5, 0.5, 3e12, 2e13], profile.indexes["training"])
    assert stretches.start.tolist() == [0, 1, 3 * 10**11]
    assert stretches.stop.tolist() == [1, 3 * 10**11, 10**12]


def test_ends_beside_a_level_of_a_range_are_told_from_it():
    training = pd.RangeIndex(-(10**9), 10**9)
    ends = check_intervals([-1e-9, 1e-9, 5], training)
    assert ends.start.tolist() == [10**9, 10**9 + 1]


@given(st.integers(-5, 5), st.integers(1, 4), st.integers(1, 9), st.lists(st.integers(-40, 60), min_size=2, max_size=5))
@settings(deadline=None)
def test_levels_of_a_range_are_counted_as_those_of_an_array(start, step, n, edges):
    edges = sorted({edge / 2 for edge in edges})
    if len(edges) < 2:
        return
    training = pd.RangeIndex(start, start + n * step, step)
    for closed in ("left", "right", "both", "neither"):
        index = pd.IntervalIndex.from_breaks(edges[:2], closed=closed)
        ranged, listed = (check_intervals(index, each) for each in (training, pd.Index([*training])))
        np.testing.assert_array_equal([ranged.start, ranged.stop], [listed.start, listed.stop])
    ranged, listed = (check_intervals(edges, each) for each in (training, pd.Index([*training])))
    np.testing.assert_array_equal([ranged.start, ranged.stop], [listed.start, listed.stop])
