"""Profiles, and MNE's cluster test."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

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


def infer(curves: xr.DataArray) -> xr.Dataset:
    """Profile with inference, clusters of a given threshold among it."""
    return curves.curves.ss_profile(n_resamples=N_SHUFFLES, cluster_threshold=THRESHOLD, rng=0)


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
