"""The sequential test of a pair of algorithms: p-values, boundary and interval at every look."""

from __future__ import annotations

import numpy as np

from xcurves.kernels.group_sequential import (
    INFINITE,
    centre_batches,
    normal_scale,
    studentized_difference,
    studentized_terms,
)
from xcurves.kernels.moments import Floats
from xcurves.kernels.nested_assignments import Ints, Look
from xcurves.kernels.sequential_intervals import LEVEL_TIE, ShiftedRuns, sequential_limits
from xcurves.kernels.sequential_pvalues import nested_pvalues, tie_ranks


def sequential_tests(
    u: Floats, look: Ints, looks: list[Look], weights: Floats, share: Floats, alpha: float, *, interval: bool = True
) -> dict[str, Floats]:
    """Test a pair at every look.

    Parameters
    ----------
    u : ndarray, shape (2, task, run)
        Numbers of the first and of the second algorithm, NaN where a run is absent.
    look : ndarray of int, shape (run,)
        Number of each run's batch, from 0.
    looks : list of Look
        Nested assignments, made by `nest` from the numbers of runs.
    weights : ndarray, shape (task,)
        Weights of the tasks.
    share : ndarray, shape (look,)
        Share of the level spent by each look; planned looks may be more than `looks`.
    alpha : float
        Level of the boundary and of the interval.
    interval : bool
        Whether to compute the interval.

    Returns
    -------
    dict of ndarray, shape (look,)
        `statistic` and `z` (on the scale of a t statistic), NaN where a task has one run of an algorithm; `pvalue`;
        `critical_value`, infinite where no assignment crosses; `pvalue_stagewise`; `difference`; and `difference_ci`,
        shape (look, 2), if asked for: NaN where every shift is rejected.
    """
    runs = centre_batches(u, look, looks, weights)
    found = studentized_terms(runs, looks)
    out = {name: np.full(len(looks), np.nan) for name in ("statistic", "pvalue", "critical_value", "pvalue_stagewise")}
    q = np.full(1, np.inf)
    for k, each in enumerate(looks):
        before = q if each.parent is None else q[each.parent]
        now = found[k]
        t = None if now is None else studentized_difference(runs, looks, now, k)
        ranks = None if t is None else tie_ranks(t)
        q = before if ranks is None or not each.deals else nested_pvalues(ranks, before, share[k] * len(before))
        out["pvalue"][k] = min(q[0], 1.0)
        crossed = before <= alpha + LEVEL_TIE
        least = q <= alpha + LEVEL_TIE
        crossing = np.inf if t is None else t.min(initial=np.inf, where=least & ~crossed)
        out["critical_value"][k] = np.inf if crossing >= INFINITE else crossing
        out["pvalue_stagewise"][k] = 1.0
        if t is not None and ranks is not None:
            out["statistic"][k] = np.inf if t[0] >= INFINITE else t[0]
            out["pvalue_stagewise"][k] = np.count_nonzero(crossed | (ranks >= ranks[0])) / len(t)
    out["difference"] = runs.difference
    out["z"] = out["statistic"] * normal_scale(runs, looks)
    if interval:
        out["difference_ci"] = sequential_limits(ShiftedRuns(runs, looks, found, share, alpha))
    return out
