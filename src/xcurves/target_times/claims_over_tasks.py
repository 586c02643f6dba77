"""How much sooner over tasks: for these tasks, and for tasks like these."""

from __future__ import annotations

from typing import Any

import numpy as np

from xcurves.array_types import Floats, Index
from xcurves.core.run_checks import Context
from xcurves.kernels.resampling import plans
from xcurves.kernels.resampling.adjustments import holm
from xcurves.kernels.times import hitting_times
from xcurves.kernels.times.hitting_times import LogTimes
from xcurves.target_times.reasons import Reason

# of each task, beside those over tasks
_OF_EACH = ("speedup", "speedup_ci", "pvalue", "speedup_gap")


def with_claims(cells: dict[str, Any], log_times: LogTimes | None, families: Index, context: Context) -> dict[str, Any]:
    """Return the variables of joined tasks with both claims, given those of cells, (benchmark, task, algorithm)."""
    # Intervals for all comparisons of one task, and times to most of a rise, are not given over tasks.
    variables = {name: values for name, values in cells.items() if not name.startswith(("rise_", "speedup_ci_"))}
    for name in _OF_EACH:
        variables[f"task_{name}"] = variables.pop(name, np.nan)

    is_known = ~np.isnan(cells["low"])
    is_bounded_once = is_known & (cells["low"] != cells["high"])
    fixed = _for_these_tasks(cells["reason"], is_known, log_times, context.alpha)
    random = _for_tasks_like_these(cells["low"], cells["high"], families, context)
    for name, of_these in fixed.items():
        # The claims are the third dim, (benchmark, algorithm, claim).
        random[name] = np.stack([of_these, random[name]], axis=2)
    counts = {
        "n_tasks": is_known.sum(axis=1),
        "n_censored": is_bounded_once.sum(axis=1),
    }
    return variables | random | counts


def _for_these_tasks(reason: Index, is_known: Index, log_times: LogTimes | None, alpha: float) -> dict[str, Floats]:
    """Return intervals and p of the geometric means, (benchmark, algorithm), where no task lacks an estimate."""
    over = (len(reason), reason.shape[-1])
    ends = np.full((*over, 2), np.nan)
    ends_together = np.full((*over, 2), np.nan)
    pvalue = np.full(over, np.nan)
    if log_times is not None:
        compared = reason != Reason.NOT_COMPARED
        is_complete = (~compared | (reason == Reason.ESTIMATED)).all(axis=1)
        estimated = compared.any(axis=1) & is_complete
        rows = np.flatnonzero(compared & estimated[:, np.newaxis])
        # the number of the mean to which each cell belongs
        number = np.cumsum(estimated).reshape(len(reason), 1, -1) - 1
        number = np.broadcast_to(number, reason.shape).ravel()[rows]

        n_comparisons = is_known.any(axis=1).sum(axis=-1, keepdims=True)
        n_comparisons = np.broadcast_to(n_comparisons, over)[estimated]
        (ends[estimated], ends_together[estimated]), pvalue[estimated] = log_times.geometric_means(
            rows, number, alpha, alpha / n_comparisons
        )

    # A p that is lacking by outcome counts as 1.
    lacking = np.isnan(pvalue)
    counted = np.where(lacking & is_known.any(axis=1), 1.0, pvalue)
    return {
        "speedup_ci": ends,
        "speedup_ci_simultaneous": ends_together,
        "pvalue": pvalue,
        "pvalue_adjusted": np.where(lacking, np.nan, holm(counted)),
    }


def _for_tasks_like_these(low: Floats, high: Floats, families: Index, context: Context) -> dict[str, Any]:
    """Return means, medians, intervals and p from flips of whole families of tasks, (benchmark, algorithm)."""
    over = (len(low), low.shape[-1])
    plan = plans.plan_flips(int(families.max()) + 1, None, context.entropy)
    bounds = np.array([low, high]).swapaxes(-1, -2).reshape(2, -1, len(families))
    means, n_families = hitting_times.over_tasks(bounds, families, plan, context.alpha, over[-1])
    claim = {name: values.reshape(*over, *values.shape[1:]) for name, values in means.items()}
    # A p that can never be small is outside the family.
    reachable = 2.0 ** (1 - n_families.reshape(over)) <= context.alpha
    claim["pvalue_adjusted"] = np.where(reachable, claim["pvalue_adjusted"], np.nan)
    return claim
