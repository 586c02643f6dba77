"""Peak memory and threads, each in a process of its own."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

SETUP = """
import sys
import numpy as np, xarray as xr, xcurves
def labelled(values):
    m, n, k = values.shape
    coords = {"algorithm": [f"a{i}" for i in range(m)], "run": np.arange(n), "training": np.arange(k)}
    return xr.DataArray(values, coords, list(coords))
def memory(what):
    status = open("/proc/self/status").read()  # ru_maxrss would have the peak of the process that started this one
    return int(status.split(what)[1].split()[0]) / 1024
def peak():
    return memory("VmHWM:")
"""


def run(code, **environment):
    import os

    done = subprocess.run(
        [sys.executable, "-c", SETUP + code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")


@linux
def test_ten_million_resamples_of_twenty_curves_stay_under_500_mb():
    code = """
curves = labelled(np.random.default_rng(0).normal(size=(4, 5, 8)))
result = xcurves.randomized_anova(curves, n_resamples=10_000_000, rng=0)
assert result.n_resamples == 10_000_000
print(peak())
"""
    assert float(run(code)) < 500


@linux
def test_the_table_of_shuffles_by_levels_is_never_held_whole():
    """20 curves of 100,000 levels, 16 MB; the table of 999 shuffles would be 800 MB."""
    code = """
curves = labelled(np.random.default_rng(0).normal(size=(2, 10, 100_000)))
before = peak()
xcurves.ss_profile(curves, n_resamples=999, rng=0)
print(peak() - before)
"""
    assert float(run(code)) < 250


def test_three_million_trials_need_a_few_times_their_memory():
    """Two algorithms, 48 MB; one sorted copy and what comes and goes."""
    code = """
scores = labelled(np.random.default_rng(0).normal(size=(2, 3_000_000, 1)))
np.sort(scores.values[:, :10], axis=1)
warm = xcurves.performance_cdf(scores[:, :10], scores_at=[0.0])
before = peak()
result = xcurves.performance_cdf(scores, scores_at=np.linspace(-3, 3, 101), cvar_level=[0.5, 0.9], bounds=(-9, 9))
assert (result.n_trials == 3_000_000).all()
print(peak() - before)
"""
    assert float(run(code)) < 4 * 48


@linux
def test_runs_with_levels_of_their_own_are_aligned_before_anything_dense_is_made():
    """250 runs of 6,000 levels; the array of all levels would be 2.8 GB."""
    code = """
import time
import pandas as pd
rng = np.random.default_rng(0)
steps = rng.integers(1, 400, (250, 6000)).cumsum(axis=1).ravel()
algorithm = np.repeat([f"a{i}" for i in range(5)], 50 * 6000)
frame = pd.DataFrame({"algorithm": algorithm, "run": np.tile(np.repeat(np.arange(50), 6000), 5), "training": steps})
frame["return"] = rng.normal(size=len(frame))
before, start = peak(), time.perf_counter()
curves = frame.curves.to_dataarray("return", on=np.linspace(1e4, 1e6, 100), method="linear")
assert curves.shape == (5, 50, 100) and curves.notnull().all()
print(peak() - before, time.perf_counter() - start)
"""
    megabytes, seconds = map(float, run(code).split())
    assert megabytes < 250
    assert seconds < 10  # 0.4 on an idle machine


def test_blas_threads_change_no_p():
    code = """
for shape in ((2, 10, 8), (5, 10, 60)):
    curves = labelled(np.random.default_rng(0).normal(size=shape))
    print(xcurves.randomized_anova(curves, n_resamples=5000, rng=0).pvalue.values.tolist())
    print(xcurves.ss_profile(curves, n_resamples=5000, rng=0).pvalue_adjusted.values.tolist())
"""
    assert run(code, OPENBLAS_NUM_THREADS="1") == run(code, OPENBLAS_NUM_THREADS="2")


@linux
def test_a_hundred_thousand_learning_curves_need_under_200_mb_over_the_input():
    code = """
n = np.array([25.0, 50, 100, 200, 400])
errors = 10 + 200 * n**-0.5 + np.random.default_rng(0).normal(size=(100_000, 16, 5))
errors[:, np.arange(16)[:, None] >= np.array([16, 8, 4, 2, 1])] = np.nan
coords = {"task": np.arange(100_000), "run": np.arange(16), "training": n}
curves = xr.DataArray(errors, coords, list(coords), attrs={"units": "%"})
xcurves.fit_power_law(curves.isel(task=slice(10)), gamma=-0.5)
filler = np.ones(int((peak() - memory("VmRSS:")) * 2**17))  # temporaries of the input have left a higher peak
before = peak()
xcurves.fit_power_law(curves, sigma0_sq=1.0)
print(peak() - before)
"""
    assert float(run(code)) < 200


@linux
@pytest.mark.parametrize("paired", [False, True])
def test_ten_thousand_runs_of_three_levels_take_seconds_and_little_memory(paired):
    """No square of the number of runs: 10,000 x 10,000 doubles would be 800 MB."""
    code = f"""
import time
curves = labelled(np.random.default_rng(0).normal(size=(2, 5_000, 3)))
xcurves.randomized_anova(curves[:, :10], n_resamples=9)
before, start = peak(), time.process_time()
xcurves.randomized_anova(curves, paired={paired}, rng=0)
assert time.process_time() - start < 10
print(peak() - before)
"""
    assert float(run(code, OPENBLAS_NUM_THREADS="1")) < 100


@linux
def test_a_hundred_thousand_resampled_trials_need_bounded_memory():
    code = """
values = np.random.default_rng(0).normal(size=(2, 100_000))
scores = xr.DataArray(values, {"algorithm": ["a", "b"]}, ("algorithm", "run"))
few = scores[:, :100]
few.curves.performance_cdf(interval="bca", rng=0)
before = peak()
scores.curves.performance_cdf(interval="percentile", n_resamples=99, rng=0)
print(peak() - before)
"""
    assert float(run(code)) < 300


@linux
def test_distributions_at_every_level_take_little_more_than_their_result():
    """2 algorithms of 10 runs and 100,000 levels, whose quantiles with their intervals have 508 MB."""
    code = """
curves = labelled(np.random.default_rng(0).normal(size=(2, 10, 100_000)))
before = peak()
result = xcurves.performance_cdf(curves, rng=0)
assert 505e6 < sum(each.nbytes for each in result.variables.values()) < 512e6
print(peak() - before)
"""
    assert float(run(code)) < 600
