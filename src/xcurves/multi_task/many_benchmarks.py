"""The p-values of `across_tasks` for many data sets of one benchmark, in one call of each kernel."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core import labels, validation
from xcurves.kernels import plans, task_effects, task_flips, task_plans, task_ranks
from xcurves.kernels.engine import holm
from xcurves.multi_task.tables import TASK_CLAIMS

PVALUES = ("pvalue", "pvalue_adjusted", "prob_greater_pvalue", "prob_greater_pvalue_adjusted")


def many_pvalues(
    scores: xr.DataArray, *, task: str, name: str, n_resamples: int, rng: validation.Rng = None
) -> xr.DataArray:
    """Return one of the `PVALUES` of each data set, dims (..., pair, task_effect): those of `across_tasks`.

    `scores` have the dims (..., task, algorithm, run) and all runs, two at least; other options are the defaults.
    """
    core = (task, "algorithm", "run")
    ordered = labels.in_label_order(scores.transpose(..., *core), core)
    first, second = labels.pairs_in_label_order(scores).T
    lead, (n_tasks, _, n_runs) = ordered.shape[:-3], ordered.shape[-3:]
    by_algorithm = ordered.to_numpy().swapaxes(-3, -2)
    x, y = (by_algorithm[..., each, :, :].reshape(-1, n_tasks, n_runs) for each in (first, second))
    weights, entropy = np.full(n_tasks, 1 / n_tasks), validation.check_rng(rng)
    of_ranks, adjusted = name.startswith("prob_greater"), name.endswith("_adjusted")

    deals = task_plans.plan_deals(((n_runs, n_runs),) * n_tasks, n_resamples, entropy=entropy)
    found = task_effects.task_effect_tests(x, y, weights, deals, (), ranks=of_ranks)
    fixed = found[name.removesuffix("_adjusted")].reshape(*lead, len(first))

    of_tasks = task_ranks.thetas(x, y) - 0.5 if of_ranks else task_effects.differences(x, y, paired=False)[0]
    flips = plans.plan_flips(n_tasks, n_resamples, entropy)
    enough = 2.0 ** (1 - n_tasks) <= 0.05
    random = task_flips.pvalues(
        (weights * of_tasks).reshape(*lead, len(first), n_tasks), flips, np.arange(len(first) if enough else 0)
    )[int(adjusted)]

    values = np.stack([holm(fixed) if adjusted else fixed, random], axis=-1)
    coords = {dim: each for dim, each in scores.coords.items() if not set(each.dims) & set(core)}
    coords |= labels.pair_coords(scores) | {"task_effect": list(TASK_CLAIMS)}
    return xr.DataArray(values, coords, (*ordered.dims[:-3], "pair", "task_effect"))
