"""How long `watch` takes to see that one file changed, and its memory: `python tests/tools/benchmarks/watching.py`.

Logs of 1,000 runs with 1,000 rows each, of four algorithms and two tasks, below a folder that is made for it. Wall time
of five refreshes, each after one run has a row more, and the most memory that the process had.
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from xcurves.cli import watch

N_RUNS, N_ROWS = 125, 1000
ALGORITHMS, TASKS = ("a2c", "ppo", "sac", "td3"), ("Ant", "Hopper")
LONG_AGO = 1e9


def write_logs(root):
    rng = np.random.default_rng(0)
    steps = 1000 * np.arange(1, N_ROWS + 1)
    for task in TASKS:
        for algorithm in ALGORITHMS:
            for run in range(N_RUNS):
                folder = root / task / algorithm / str(run)
                folder.mkdir(parents=True)
                rows = zip(steps, *rng.normal(size=(2, N_ROWS)).round(4), strict=True)
                lines = ["step,return,loss", *(f"{step},{score},{loss}" for step, score, loss in rows)]
                (folder / "progress.csv").write_text("\n".join(lines) + "\n")
                os.utime(folder / "progress.csv", (LONG_AGO, LONG_AGO))


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "runs")
        write_logs(root)
        options = watch.COMMANDS["watch"].parser().parse_args([str(root), "--ledger", str(Path(name, "ledger.json"))])
        options.given, options.answers = [], []
        watched = watch.Watch(options)
        first = timed(watched.refresh)
        times = []
        for run in range(5):
            with (root / "Ant" / "sac" / str(run) / "progress.csv").open("a") as file:
                file.write(f"{1000 * N_ROWS + 1000},0.5,0.5\n")
            times.append(timed(watched.refresh))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"first reading {first:.1f} s; refreshes {' '.join(f'{each:.2f}' for each in times)} s; {memory:.0f} MB")
    return int(max(times) > 0.5 or memory > 300)


if __name__ == "__main__":
    sys.exit(main())
