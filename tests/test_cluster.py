"""A real scheduler: worker processes give the numbers of the local call, bit for bit, even if workers die."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

import xcurves
from lazy import assert_identical_but_for_blas
from refusals import refused
from strategies import make_curves, simulate_errors
from xcurves.core import chunking as blocks
from xcurves.core.refusal import call

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workers")
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "local_directory": str(folder),
    }
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def tasks():
    return make_curves(np.random.default_rng(0).normal(size=(12, 3, 6, 5)), task=range(12))


@pytest.fixture(scope="module")
def learners():
    errors, _ = simulate_errors(12, seed=3)
    return xr.concat([errors, errors * 0.9], "algorithm").assign_coords(algorithm=["plain", "better"])


@pytest.mark.parametrize(
    "method",
    [
        lambda curves: curves.curves.randomized_anova(n_resamples=500, rng=0),
        lambda curves: curves.curves.randomized_anova(n_resamples=500, paired=True, keep_null=True, rng=0),
        lambda curves: curves.curves.pairwise(n_resamples=500, rng=0),
        lambda curves: curves.curves.contrast({"a0": 1, "a1": -1}, n_resamples=500, rng=0),
        lambda curves: curves.curves.ss_profile(n_resamples=500, intervals=[0, 200, 400], margin=3, rng=0),
        lambda curves: curves.curves.performance_cdf(dim=("run", "training"), strata=(), scores_at=[0.0, 1.0], rng=0),
        lambda curves: curves.isel(training=-1).curves.performance_cdf(interval="bca", n_resamples=99, rng=0),
        lambda curves: curves.isel(training=-1).curves.compare_distributions(),
        lambda curves: curves.curves.align([0.0, 150.0], method="linear").to_dataset(),
        # what it dropped is named in memory
        lambda curves: curves.curves.drop_incomplete().drop_attrs().to_dataset(),
        lambda curves: curves.curves.normalize(low=-1, high=3).to_dataset(),
    ],
    ids=[
        *(
            "randomized_anova",
            "paired",
            "pairwise",
            "contrast",
            "ss_profile",
            "performance_cdf",
            "bootstrap",
        ),
        *("compare_distributions", "align", "drop_incomplete", "normalize"),
    ],
)
@pytest.mark.filterwarnings(
    # few runs; in a worker, facts of the result
    "ignore::UserWarning"
)
def test_workers_give_the_same(client, tasks, method):
    assert_identical_but_for_blas(method(tasks.chunk(task=5)).compute(), method(tasks))


@pytest.mark.parametrize(
    "method",
    [
        lambda errors: errors.curves.fit_power_law(n_resamples=20, predict_at=[800.0], rng=0),
        lambda errors: errors.curves.fit_power_law().curves.predict([800.0, 1600.0]),
        lambda errors: xcurves.compare_learners(errors.curves.fit_power_law(), reference="plain"),
        lambda errors: errors.curves.leave_one_size_out(),
    ],
    ids=["fit_power_law", "predict", "compare_learners", "leave_one_size_out"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_workers_fit_the_same(client, learners, method):
    xr.testing.assert_identical(method(learners.chunk(task=5)).compute(), method(learners))


def killing(flag, at):
    """Return a function of a block that kills the process it runs in when it first meets the block that holds `at`."""

    def pass_on(block):
        if (block == at).any() and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    return pass_on


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize(
    ("chunks", "method"),
    [
        ({"task": 1}, xcurves.randomized_anova),
        ({"task": 4, "training": 2}, xcurves.randomized_anova),
        ({"task": 4, "training": 2}, xcurves.ss_profile),
    ],
    ids=["tasks", "training", "profile"],
)
def test_a_worker_killed_in_mid_run_changes_no_digit(client, tasks, tmp_path, monkeypatch, chunks, method):
    # so that the profile leaves the levels in their chunks
    monkeypatch.setattr(blocks, "_BYTES", 100)
    workers = set(client.run(os.getpid).values())
    lazy = tasks.chunk(chunks)
    doomed = lazy.copy(data=lazy.data.map_blocks(killing(tmp_path / "killed", tasks[7, 1, 2, 3].item()), dtype=float))
    found = method(doomed, n_resamples=500, rng=0).compute()
    client.wait_for_workers(2)
    assert (tmp_path / "killed").exists()
    assert set(client.run(os.getpid).values()) != workers
    local = method(lazy, n_resamples=500, rng=0).compute(scheduler="threads")
    xr.testing.assert_identical(found, local)


def test_an_error_in_a_worker_names_the_task(client, tasks):
    spoilt = tasks.copy()
    spoilt[7, 1, 2, 3] = np.inf
    lazy = xcurves.randomized_anova(spoilt.chunk(task=5))
    fill = call(".curves.fill_failed", "worst", higher_is_better=False)
    with refused("curves", ("'a1'", "2"), fill, names="^task 7: algorithm 'a1', run 2 has infinite values"):
        lazy.compute()


def test_a_cancelled_computation_leaves_no_files(client, tasks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def wait(block):
        time.sleep(0.05)
        return block

    slow = tasks.chunk(task=1)
    slow = slow.copy(data=slow.data.map_blocks(wait, dtype=float))
    future = client.compute(xcurves.randomized_anova(slow, n_resamples=500, rng=0))
    time.sleep(0.2)
    client.cancel(future)
    assert future.cancelled()
    assert not list(tmp_path.iterdir())


def test_a_scheduler_that_is_gone_is_dasks_own_error(tmp_path):
    """In a process of its own, since a lost scheduler is a matter of the whole process."""
    code = """
import dask, dask.array as da, distributed, xarray as xr, xcurves
if __name__ == "__main__":
    cluster = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None)
    curves = xr.DataArray(da.ones((2, 3, 4)), dims=("algorithm", "run", "training")).assign_coords(training=range(4))
    result = xcurves.randomized_anova(curves, n_resamples=9, rng=0)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        client = distributed.Client(cluster.scheduler_address, timeout=1)
        cluster.close()
        try:
            result.compute()
        except Exception as error:
            print(type(error).__module__)
        try:
            distributed.Client(cluster.scheduler_address, timeout=1)
        except OSError as error:
            print(str(error)[:9])
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.stdout.splitlines() == ["distributed.client", "Timed out"], done.stderr
