"""A real scheduler: worker processes give the numbers of the local call, bit for bit."""

import numpy as np
import pytest
import xarray as xr

import xcurves
from strategies import make_curves

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def tasks():
    return make_curves(np.random.default_rng(0).normal(size=(12, 3, 6, 5)), task=range(12))


@pytest.mark.parametrize(
    "method",
    [
        lambda curves: curves.curves.randomized_anova(n_resamples=500, rng=0),
        lambda curves: curves.curves.randomized_anova(n_resamples=500, paired=True, keep_null=True, rng=0),
        lambda curves: curves.curves.pairwise(n_resamples=500, rng=0),
        lambda curves: curves.curves.contrast({"a0": 1, "a1": -1}, n_resamples=500, rng=0),
        lambda curves: curves.curves.ss_profile(n_resamples=500, intervals=[0, 200, 400], margin=3, rng=0),
    ],
    ids=["randomized_anova", "paired", "pairwise", "contrast", "ss_profile"],
)
def test_workers_give_the_same(client, tasks, method):
    xr.testing.assert_identical(method(tasks.chunk(task=5)).compute(), method(tasks))


def test_an_error_in_a_worker_names_the_task(client, tasks):
    spoilt = tasks.copy()
    spoilt[7, 1, 2, 3] = np.inf
    lazy = xcurves.randomized_anova(spoilt.chunk(task=5))
    with pytest.raises(ValueError, match=r"^task 7: algorithm 'a1', run 2 has infinite values"):
        lazy.compute()
