"""Runs that are one training evaluated on all tasks: their scores go up and down together."""

from __future__ import annotations

import numpy as np
import scipy.special
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, provenance
from xcurves.core.driver import is_lazy
from xcurves.core.refusal import Words

_ALPHA = 0.001  # of independent runs one benchmark in so many is warned of
_FEWEST = 3  # tasks


def warn_of_shared_runs(curves: xr.DataArray, task: str) -> None:
    """Warn of runs called alike whose scores go up and down together over tasks, as those of one training do.

    Methods over several tasks take runs as independent between them; to take one training for several makes p too
    small. Curves have the dims (..., task, algorithm, run, training); lazy ones are not looked at.
    """
    if is_lazy(curves) or curves.sizes["run"] < 2:
        return
    scores = curves.transpose(..., task, "algorithm", "run", "training").to_numpy()
    for number, benchmark in enumerate(scores.reshape(-1, *scores.shape[-4:])):
        p = together(benchmark.mean(axis=-1))
        if p < _ALPHA:
            _warn(curves, task, number, p)
            return


def _warn(curves: xr.DataArray, task: str, number: int, p: float) -> None:
    """Warn of one benchmark."""
    name = labels.task_names(curves.isel({task: 0}, drop=True))[number]
    noun = labels.noun(task)
    size = f"p = {p:.1g}" if p > 1e-9 else "p < 1e-9"
    provenance.warn(
        f"{name}runs of one label go up and down together over {noun}s ({size}), as those of one training that was "
        f"evaluated on all do, and claims take them as independent: p is too small then. Compare the mean of each run: "
        + str(Words(f"curves.mean({task!r})", "--extra none --duplicates mean"))
    )


def together(scores: Floats) -> float:
    """Return the p of runs whose means over tasks differ more than those of independent runs, NaN if it is not known.

    `scores` have the shape (task, algorithm, run). F is that of runs in a two-way analysis of variance of tasks and
    runs without replication, of each algorithm and pooled, after tasks are brought to one spread:
    F = Σ_a Σ_r T z̄²_ar / Σ_a (R - 1) over Σ_a Σ_t Σ_r (z_tar - z̄_ar)² / Σ_a (R - 1) (T - 1). Tasks that lack a score of
    an algorithm, or in which runs do not differ, are left out.
    """
    whole = np.asarray(np.isfinite(scores).all(axis=-1))
    centred = np.where(whole[..., np.newaxis], scores, 0.0)
    centred = centred - centred.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=(1, 2)) / np.maximum(whole.sum(axis=1), 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = centred / spread[:, np.newaxis, np.newaxis]
    used = whole & (spread > 0)[:, np.newaxis]
    n_tasks = used.sum(axis=0)
    counts = n_tasks >= _FEWEST
    z = np.where((used & counts)[..., np.newaxis], z, 0.0)
    means = z.sum(axis=0) / np.maximum(n_tasks, 1)[:, np.newaxis]
    between = (np.where(counts, n_tasks, 0)[:, np.newaxis] * means**2).sum()
    within = (z**2).sum() - between
    free = (scores.shape[-1] - 1) * counts.sum()
    free_within = ((scores.shape[-1] - 1) * np.where(counts, n_tasks - 1, 0)).sum()
    if free == 0 or within <= 0:
        return float("nan")
    return float(scipy.special.fdtrc(free, free_within, between / free / (within / free_within)))
