"""Profiles beside reading the curves once and beside MNE's cluster test: `python tests/benchmarks/profiles.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.table import both, print_table, show, time_in_turn
from benchmarks.workloads import make_scores

THRESHOLD = 2.5
N_SHUFFLES = 1_000


def make_curves(n_algorithms: int, n_runs: int, n_levels: int) -> xr.DataArray:
    """Draw curves of which the first algorithm is better half of the time."""
    scores = make_scores(1, n_algorithms, n_runs, n_levels)[0]
    scores[0, :, n_levels // 2 :] += 5
    names = {
        "algorithm": [f"algorithm {i}" for i in range(n_algorithms)],
        "run": np.arange(n_runs),
        "training": np.arange(float(n_levels)),
    }
    return xr.DataArray(scores, names, list(names))


def alone(curves: xr.DataArray) -> xr.Dataset:
    """Profile without inference."""
    return curves.curves.ss_profile(n_resamples=0)


def infer(curves: xr.DataArray, *, step_down: bool) -> xr.Dataset:
    """Profile with inference, clusters of a given threshold among it."""
    return curves.curves.ss_profile(n_resamples=N_SHUFFLES, cluster_threshold=THRESHOLD, step_down=step_down, rng=0)


def mne_clusters(curves: xr.DataArray) -> Any:
    """Test clusters by MNE: F, clusters, their p-values; as many shuffles (MNE counts the observed one)."""
    import mne

    return mne.stats.permutation_cluster_test(
        list(curves.to_numpy()),
        threshold=THRESHOLD,
        n_permutations=N_SHUFFLES + 1,
        tail=1,
        rng=0,
        out_type="mask",
        verbose="error",
    )[:3]


def main() -> None:
    """Print ratios."""
    long, usual = make_curves(4, 10, 1_000_000), make_curves(5, 10, 1_000)
    values = long.to_numpy()
    reading = time_in_turn({"profile": lambda: alone(long), "numpy sum": values.sum, "curves.mean()": long.mean})
    clusters = time_in_turn(
        {
            "step-down": lambda: infer(usual, step_down=True),
            "single-step": lambda: infer(usual, step_down=False),
            "mne": lambda: mne_clusters(usual),
        }
    )
    median = {name: float(np.median(times)) for name, times in (reading | clusters).items()}
    rows = [[name, both(times)] for name, times in (reading | clusters).items()]
    print_table(["", "ms, median (best)"], rows)
    rows = [
        ["profile of 4 x 10 x 1e6, without inference / numpy sum", show(median["profile"] / median["numpy sum"])],
        ["the same / curves.mean()", show(median["profile"] / median["curves.mean()"])],
        ["mne / step-down, 5 x 10 x 1,000, 1,000 shuffles", show(median["mne"] / median["step-down"])],
        ["mne / single-step", show(median["mne"] / median["single-step"])],
    ]
    print_table(["ratio", ""], rows)


if __name__ == "__main__":
    main()
