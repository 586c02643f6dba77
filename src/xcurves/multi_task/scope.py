"""Which algorithms and tasks a verdict is about, where not all algorithms have all tasks."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Bools

_MOST_LACKING = 0.1  # share of tasks that may be left out so that all algorithms are compared


class Scope(NamedTuple):
    """What a verdict is about."""

    tasks: Bools  # shape (task,)
    algorithms: Bools  # shape (algorithm,)
    # "all": all algorithms, over nine tenths of the tasks or more, those that all have; "full": the algorithms that
    # have every task; "common": all algorithms, over the fewer tasks that all have; "none": no algorithm
    about: Literal["all", "full", "common", "none"]


def scope_of_tasks(has: Bools) -> Scope:
    """Return what a verdict is about, given which algorithms have which tasks, shape (task, algorithm).

    A task that no algorithm has, and an algorithm that has no task, do not count.
    """
    used, compared = np.asarray(has.any(axis=1)), np.asarray(has.any(axis=0))
    common = np.asarray(used & has[:, compared].all(axis=1))
    n_tasks, n_common = np.count_nonzero(used), np.count_nonzero(common)
    if n_common and n_tasks - n_common <= _MOST_LACKING * n_tasks + 1e-9:
        return Scope(common, compared, "all")
    full = np.asarray(compared & has[used].all(axis=0))
    if np.count_nonzero(full) >= 2:
        return Scope(used, full, "full")
    if n_common >= 2:
        return Scope(common, compared, "common")
    return Scope(np.zeros_like(used), np.zeros_like(compared), "none")


def scope_of(benchmark: xr.Dataset) -> Scope:
    """Return what the verdict on one benchmark is about; its result has the dim of tasks."""
    n_runs = benchmark["n_runs"].transpose(benchmark.attrs["task"], "algorithm")
    return scope_of_tasks(n_runs.to_numpy() > 0)
