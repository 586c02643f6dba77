"""How cost grows, and what workers and threads bring: `python tests/tools/benchmarks/scale.py [NAME ...]`.

NAME is workers, threads or cost; all without. Everything is drawn lazily where it is needed, and workers have
imported what they need. Every figure is the best of a few turns (TURNS in the environment); ratios are of one run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
import scipy
import xarray as xr

import xcurves

TURNS = int(os.environ.get("TURNS", "3"))
SHUFFLES = 1_000
MB = 2**20


def lazy(chunks: dict[str, int], **sizes: int) -> xr.DataArray:
    """Return normal curves of given dims and chunks, drawn when they are computed."""
    shape = tuple(sizes.values())
    values = da.random.default_rng(1998).normal(size=shape, chunks=tuple(chunks.get(dim, sizes[dim]) for dim in sizes))
    index = {dim: pd.RangeIndex(1, 1 + size) for dim, size in sizes.items()}
    return xr.DataArray(values, index, list(sizes))


def tasks(n: int, size: int = 100) -> xr.DataArray:
    """Return tasks of 4 algorithms by 10 runs by 100 levels."""
    return lazy({"task": size}, task=n, algorithm=4, run=10, training=100)


def errors(n: int) -> xr.DataArray:
    """Return learning curves of 5 sizes by 5 folds."""
    noise = lazy({"task": 2000}, task=n, run=5, training=5)
    sizes = np.array([25.0, 50, 100, 200, 400])
    return (noise + (10 + 200 * sizes**-0.5)).assign_coords(training=sizes).assign_attrs(units="%")


def trials(n: int) -> xr.DataArray:
    """Return tasks of 5 algorithms by 20 trials."""
    return lazy({"task": 100}, task=n, algorithm=5, run=20)


def peak() -> float:
    """Return the largest memory that this process has had, in MB."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def memory() -> float:
    """Return the memory that this process has, in MB."""
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


def seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def processor_seconds(call: Callable[[], Any]) -> float:
    """Return the time of all cores that a call takes, whatever else the machine does."""
    start = time.process_time()
    call()
    return time.process_time() - start


def show(*cells: object) -> None:
    """Print a row of a table."""
    print(
        "| " + " | ".join(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells) + " |",
        flush=True,
    )


def head(*cells: str) -> None:
    """Print the head of a table."""
    print()
    show(*cells)
    show(*["---"] * len(cells))


JOBS: dict[str, Callable[[], xr.Dataset]] = {
    "randomized_anova, 10,000 tasks": lambda: tasks(10_000).curves.randomized_anova(n_resamples=SHUFFLES, rng=0),
    "the same in chunks of 1 task": lambda: tasks(10_000, 1).curves.randomized_anova(n_resamples=SHUFFLES, rng=0),
    "randomized_anova paired, 10,000": lambda: tasks(10_000).curves.randomized_anova(
        n_resamples=SHUFFLES, paired=True, rng=0
    ),
    "pairwise, 2,000 in chunks of 50": lambda: tasks(2_000, 50).curves.pairwise(n_resamples=SHUFFLES, rng=0),
    "contrast, 10,000 in chunks of 500": lambda: tasks(10_000, 500).curves.contrast(
        {1: 1, 2: -1}, n_resamples=SHUFFLES, rng=0
    ),
    "across_tasks, 10,000": lambda: tasks(10_000).curves.across_tasks(n_resamples=SHUFFLES, rng=0),
    "ss_profile, 2,000": lambda: tasks(2_000).curves.ss_profile(n_resamples=SHUFFLES, rng=0),
    "fit_power_law, 100,000 curves": lambda: errors(100_000).curves.fit_power_law(sigma0_sq=1.0),
    "leave_one_size_out, 20,000 curves": lambda: errors(20_000).curves.leave_one_size_out(sigma0_sq=1.0),
    "performance_cdf, 5,000 × 5 × 20": lambda: trials(5_000).curves.performance_cdf(
        scores_at=np.linspace(-3, 3, 61), cvar_level=[0.5, 0.9]
    ),
    "compare_distributions, 5,000 × 5 × 20": lambda: trials(5_000).curves.compare_distributions(),
}


MEMORY = {  # workers keep memory that they have freed, where dask's own setting returns it to the system at once
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**30,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**29,
}


def warm() -> None:
    """Import what methods import when they are first used."""
    for name in xcurves.__all__:
        getattr(xcurves, name)
    scipy.stats.norm.cdf(0)


def workers() -> None:
    """Time every method on one and on two worker processes, the first also with dask's own setting of memory."""
    head(
        "method",
        "1 worker, s",
        "2 workers, s",
        "times faster",
        "client, processor s",
        "largest worker, MB",
        "nodes",
    )
    first, job = next(iter(JOBS.items()))
    _work(f"{first}, dask's own setting of memory", job)
    with dask.config.set(MEMORY):
        for name, job in JOBS.items():
            _work(name, job)


def _work(name: str, job: Callable[[], xr.Dataset]) -> None:
    from distributed import Client, LocalCluster

    times: dict[int, list[float]] = {1: [], 2: []}
    of_client: list[float] = []  # and of the scheduler, which is in the same process
    largest = 0.0
    nodes = len(dict(dask.optimize(job())[0].__dask_graph__()))
    for _ in range(TURNS):
        for n_workers in times:
            options: dict[str, Any] = {
                "threads_per_worker": 1,
                "memory_limit": "2GiB",
                "dashboard_address": None,
            }
            with (
                LocalCluster(n_workers=n_workers, **options) as cluster,
                Client(cluster) as client,
            ):
                client.run(warm)
                start = time.process_time()
                times[n_workers].append(seconds(job().compute))
                of_client.append(time.process_time() - start)
                largest = max(largest, *client.run(peak).values())
    one, two = (min(each) for each in times.values())
    show(name, one, two, one / two, min(of_client), largest, nodes)


def apart(code: str, **environment: str) -> list[float]:
    """Run code in a process of its own; return the numbers that it prints."""
    here = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\nfrom benchmarks.scale import *\n"
    done = subprocess.run(
        [sys.executable, "-c", here + code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    return [float(word) for word in done.stdout.split()]


THREADS = """
curves = {source}
with dask.config.set(scheduler="threads", num_workers={n}):
    job = lambda: {call}.compute()
    job()
    print(min(seconds(job) for _ in range(TURNS)), min(processor_seconds(job) for _ in range(TURNS)))
"""
THREADED = {
    "many tasks": (
        "tasks(1_000)",
        "curves.curves.randomized_anova(n_resamples=1_000, rng=0)",
    ),
    "wide tasks": (
        "lazy({'task': 10}, task=20, algorithm=10, run=30, training=2_000)",
        "curves.curves.randomized_anova(n_resamples=1_000, rng=0)",
    ),
    "profiles": (
        "tasks(100, 10)",
        "curves.curves.ss_profile(n_resamples=1_000, rng=0)",
    ),
}


def threads() -> None:
    """Time dask threads with BLAS left alone and held to one thread; beside it, the time of all cores together."""
    head(
        "workload",
        "BLAS threads",
        *(f"{n} dask thread{'s' * (n > 1)}, s (all cores)" for n in (1, 2, 3, 4)),
    )
    for name, (source, call) in THREADED.items():
        for said, environment in (("unset", {}), ("1", {"OPENBLAS_NUM_THREADS": "1"})):
            codes = [THREADS.format(source=source, call=call, n=n) for n in (1, 2, 3, 4)]
            found = [apart(code, **environment) for code in codes]
            show(
                name,
                said,
                *(f"{wall:.3g} ({processor:.3g})" for wall, processor in found),
            )


USUAL = {"task": 50, "algorithm": 4, "run": 10, "training": 100, "shuffles": 1_000}
GROWN = {
    "task": (50, 100, 200, 400, 800),
    "algorithm": (2, 4, 8, 16),
    "run": (5, 10, 20, 40),
    "training": (1_000, 4_000, 16_000, 64_000),
    "shuffles": (2_000, 8_000, 32_000, 128_000),
}
CHECKED = (
    *({"task": n} for n in (1_000, 3_000, 10_000)),
    *({"task": 1, "training": n} for n in (300_000, 1_000_000, 3_000_000)),
)


def in_memory(size: dict[str, int]) -> Callable[[], xr.Dataset]:
    """Return the call on curves in memory of the given sizes."""
    sizes = {name: size[name] for name in ("task", "algorithm", "run", "training")}
    values = np.random.default_rng(1998).normal(size=tuple(sizes.values()))
    curves = xr.DataArray(values, {dim: pd.RangeIndex(n) for dim, n in sizes.items()}, list(sizes))
    return lambda: curves.curves.randomized_anova(n_resamples=size["shuffles"], rng=0)


def measure(size: dict[str, int]) -> tuple[float, float]:
    """Return the processor seconds of a call, and the MB that it takes over its input."""
    call = in_memory(size)
    call()
    least = min(processor_seconds(call) for _ in range(2 * TURNS))
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1] / MB
    tracemalloc.stop()
    return least, most


TERMS = (
    "call",
    "task",
    "value × curve",
    "shuffle × curve",
    "task × shuffle × curve × algorithm",
)


def terms(size: dict[str, int]) -> list[float]:
    """Return what the time of a call is a sum of: the call, tasks, products of curves, drawing shuffles, using them."""
    n_curves = size["algorithm"] * size["run"]
    products = size["task"] * n_curves**2 * size["training"]
    used = size["task"] * size["shuffles"] * n_curves * size["algorithm"]
    return [1, size["task"], products, size["shuffles"] * n_curves, used]


def cost() -> None:
    """Measure time and memory against every size, fit exponents and a sum of terms, and check it at other sizes."""
    head("grows", "from", "to", "time, exponent", "memory, exponent")
    rows: list[list[float]] = []
    times: list[float] = []
    for name, grown in GROWN.items():
        sizes = [{**USUAL, name: size} for size in grown]
        found = np.array([measure(size) for size in sizes])
        slope = [np.polyfit(np.log(grown[-3:]), np.log(each[-3:]), 1)[0] for each in found.T]
        show(name, f"{grown[-3]:,}", f"{grown[-1]:,}", *map(float, slope))
        rows += map(terms, sizes)
        times += found[:, 0].tolist()
    relative = np.array(rows) / np.array(times)[:, np.newaxis]
    factors, _ = scipy.optimize.nnls(relative, np.ones(len(times)))
    print("\nseconds: " + ", ".join(f"{factor:.3g} per {word}" for word, factor in zip(TERMS, factors, strict=True)))
    head("size", "predicted, s", "measured, s", "predicted / measured")
    for grown_to in CHECKED:
        size = {**USUAL, **grown_to}
        expected, (found_time, _) = float(np.dot(terms(size), factors)), measure(size)
        show(
            ", ".join(f"{name} {n:,}" for name, n in grown_to.items()),
            expected,
            found_time,
            expected / found_time,
        )
    head("what", "one core, s")
    for far in ({"task": 1_000_000}, {"task": 1, "training": 1_000_000_000}):
        show(
            ", ".join(f"{name} {n:,}" for name, n in far.items()),
            float(np.dot(terms({**USUAL, **far}), factors)),
        )


def main(*names: str) -> None:
    """Print the tables asked for, or all."""
    known = {"workers": workers, "threads": threads, "cost": cost}
    print(f"{os.cpu_count()} cores, numpy {np.__version__}, dask {dask.__version__}, xcurves {xcurves.__version__}")
    for name in names or known:
        known[name]()


if __name__ == "__main__":
    main(*sys.argv[1:])
