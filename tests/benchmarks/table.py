"""Time xcurves and its peers in turn, in one run; print ratios: `python tests/benchmarks/table.py`."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import workloads
from benchmarks.workloads import PEERS, WORKLOADS, Workload

SECONDS = 20  # for one workload, warm-up not counted
TURN = 25  # ms for which a quick contender is called again and again in its turn, not to time cold caches
PAPER, EXACT, LONG, LARGE, TASKS = WORKLOADS
SCIPY = [peer for peer in PEERS if "scipy" in peer]
Times = dict[str, np.ndarray]


def time_in_turn(contenders: dict[str, Callable[[], Any]]) -> Times:
    """Return the milliseconds of all calls of each contender. In every round each has its turn."""
    for contender in contenders.values():
        contender()  # warm-up
    once = {name: _milliseconds(contender) for name, contender in contenders.items()}
    n_calls = {name: 1 + int(TURN // once[name]) for name in contenders}
    one_round = sum(n_calls[name] * once[name] for name in contenders)
    n_rounds = int(np.clip(SECONDS * 1e3 / one_round, 5, 50))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for i in range(n_rounds):
        start = i % len(names)
        for name in names[start:] + names[:start]:
            times[name] += [_milliseconds(contenders[name]) for _ in range(n_calls[name])]
    return {name: np.array(found) for name, found in times.items()}


def _milliseconds(contender: Callable[[], Any]) -> float:
    start = time.perf_counter()
    contender()
    return (time.perf_counter() - start) * 1e3


def time_workload(workload: Workload) -> Times:
    """Time the call, its fixed cost, the kernels and every peer, peers' times scaled to the whole work."""
    jobs = {peer: job for peer in PEERS if (job := workloads.job(peer, workload))}
    contenders = {
        "call": partial(workloads.call, workload),
        "fixed": partial(workloads.fixed, workload),
        "kernels": partial(workloads.kernels, workload),
        "shuffles": partial(workloads.null_distribution, *workloads.design_and_plan(workload)),
    }
    times = time_in_turn(contenders | jobs)
    return {name: found * (jobs[name].scale if name in jobs else 1.0) for name, found in times.items()}


def time_twice_the_levels() -> Times:
    """Time a call at k = 1,000 and 2,000, and reading the curves once."""
    long = WORKLOADS[LONG]
    longer = Workload("", long.n_algorithms, long.n_runs, 2 * long.n_levels, long.n_resamples, long.n_random)
    return time_in_turn(
        {
            "k = 1,000": partial(workloads.call, long),
            "k = 2,000": partial(workloads.call, longer),
            "curves.mean() at k = 1,000": long.curves.mean,
            "curves.mean() at k = 2,000": longer.curves.mean,
        }
    )


def ratio(times: Times, peer: str, ours: str = "call") -> float:
    """Return how many times longer a peer takes, median by median; NaN if it was not timed."""
    return float(np.median(times[peer]) / np.median(times[ours])) if peer in times else np.nan


def beyond(times: Times, part: str) -> float:
    """Return how much longer a call takes than a part of it."""
    return float(np.median(times["call"]) - np.median(times[part]))


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Print Markdown."""
    for row in [header, ["---"] * len(header), *rows]:
        print("| " + " | ".join(row) + " |")
    print()


NOTE = """\
Ratios are of medians, peer by xcurves. scipy: permutation_test of F_algorithm alone, with the paper's pooled
error from the scores, in SciPy's one batch (default) or in batches that fit the cache (curves), from their Gram
matrix (gram), or with the split-plot error from curve means (means). scikit-bio: permanova, pseudo-F alone,
distance matrix included. statsmodels: anova_lm in a loop. xcurves: both effects, both error terms, table,
critical values, effect sizes. – : does not fit in memory. ~ : extrapolated from"""


def print_ratios(found: dict[str, Times]) -> None:
    """Print one row for each workload."""
    rows, parts = [], []
    for name, times in found.items():
        row = [name, both(times["call"])]
        for peer in PEERS:
            job = workloads.job(peer, WORKLOADS[name])
            row.append(f"{'~' * bool(job.part)}{show(ratio(times, peer))}" if job else "–")
            parts += [f"{peer}, {job.part} ({name})"] if job and job.part else []
        rows.append(row)
    print_table(["workload", "xcurves ms, median (best)", *PEERS], rows)
    print(NOTE, "; ".join(parts) + ".\n")


def print_parts(found: dict[str, Times]) -> None:
    """Print what a call is made of, and the peers by the kernels alone."""
    parts = ["call", "fixed", "kernels", "shuffles"]
    rows = []
    for name, times in found.items():
        rows.append([name, *(both(times[part]) for part in parts), show(beyond(times, "fixed"))])
    meaning = ["call", "fixed cost: one shuffle", "kernels: scores to p", "shuffles alone", "call − fixed"]
    print_table(["ms, median (best)", *meaning], rows)
    peers = [*SCIPY, "scikit-bio"]
    rows = [[name, *(show(ratio(found[name], peer, "kernels")) for peer in peers)] for name in (PAPER, EXACT)]
    print_table(["peer / kernels", *peers], rows)


def show(number: float) -> str:
    """Return two figures, three from 100."""
    return f"{float(f'{number:.2g}' if number < 100 else f'{number:.3g}'):,g}"


def both(times: np.ndarray) -> str:
    """Return the median and the best time."""
    return f"{np.median(times):.3g} ({times.min():.3g})"


def print_machine(*peers: str) -> None:
    """Say what this ran on."""
    packages = ("numpy", "scipy", "xarray", *peers)
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    python = platform.python_version()
    print(f"Machine: Python {python}, {versions}; {_cpu()}, {os.cpu_count()} cores; {_threads()}")


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    fields = dict(line.replace("\t", "").split(": ", 1) for line in lines if ": " in line)
    known = "model name" in fields
    number = f"family {fields.get('cpu family')} model {fields.get('model')}"
    return f"{fields['model name']} ({number})" if known else platform.processor()


def _threads() -> str:
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "BLAS threads: " + os.environ.get("OPENBLAS_NUM_THREADS", "default")
    pools = {(pool["user_api"], pool["internal_api"], pool["num_threads"]) for pool in threadpool_info()}
    return ", ".join(f"{api} threads: {threads} ({internal})" for api, internal, threads in sorted(pools))


def main() -> None:
    """Print everything."""
    found = {name: time_workload(workload) for name, workload in WORKLOADS.items()}
    twice = time_twice_the_levels()
    print_ratios(found)
    print_parts(found)
    print(f"Doubling k ({LONG} shuffles), ms, median (best):", end=" ")
    print("; ".join(f"{name}: {both(times)}" for name, times in twice.items()) + "\n")
    print_machine("scikit-bio", "statsmodels")


if __name__ == "__main__":
    main()
