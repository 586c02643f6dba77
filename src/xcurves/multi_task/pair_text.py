"""The sentences about a single pair over several tasks: each task, how much they vary, how often one is better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.multi_task.claims import TASK_CLAIMS, of_claim
from xcurves.multi_task.too_few import noun_of, units_of_claim
from xcurves.say.floors import runs_a_side
from xcurves.say.numbers import count, ends_of, estimated, number, percent, pvalue
from xcurves.say.pairs import lower_is_better


def details_of_pair(pair: xr.Dataset) -> Iterator[str]:
    """Yield in how many tasks a difference is shown, how much it varies, and how often the better one scores higher."""
    task = noun_of(pair)
    # The one with the higher mean comes first.
    sign = 1
    first, second = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if pair["difference"] < 0:
        sign = -1
        first, second = second, first
    # Of very many tasks the result has nothing by task.
    d = pair.get("task_difference", xr.DataArray(np.nan))
    if pair.attrs["task"] in pair.dims and d.notnull().sum() == pair["n_tasks"]:
        yield from _task_by_task(pair, task, first, sign)
        yield from _spread_over_tasks(pair, task)
    yield from _how_often(pair, task, first, second, sign)


def _task_by_task(pair: xr.Dataset, task: str, first: str, sign: int) -> Iterator[str]:
    """Yield in how many tasks an algorithm is shown to be higher, and lower."""
    p = pair["task_pvalue_adjusted"].to_numpy()
    if pair["difference"].isnull() or not np.isfinite(p).any():
        return
    shown = provenance.significant(p, provenance.alpha_of(pair))
    signs = np.sign(sign * pair["task_difference"].to_numpy()[shown]).tolist()
    by = {"holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}[pair.attrs.get("task_correction", "holm")]
    yield (
        f"Of {count(pair['n_tasks'].item(), task)} {first} is shown higher in {signs.count(1)}, lower in "
        f"{signs.count(-1)} ({runs_a_side(pair['n_runs'].to_numpy().ravel().tolist())}; {by} over {task}s)."
    )


def _spread_over_tasks(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield how much the true difference varies over tasks; a test only where it agrees with the interval."""
    if pair["task_sd"].isnull():
        return
    alpha = provenance.alpha_of(pair)
    low, high = ends_of(pair["task_sd_ci"])
    p = pair.get("interaction_pvalue", xr.DataArray(np.nan)).item()
    is_shown = bool(provenance.significant(p, alpha))
    test = ""
    agrees = is_shown == (low > 0)
    if not np.isnan(p) and agrees and is_shown:
        test = f"; that it differs over {task}s is shown ({pvalue(p)})"
    elif not np.isnan(p) and agrees:
        test = f"; that it differs over {task}s is not shown ({pvalue(p)})"
    yield (
        f"Over {units_of_claim(pair)} the standard deviation of the true difference is estimated at "
        f"{estimated(pair['task_sd'].item(), low, high)}{test}."
    )
    share = pair["noise_share"].item()
    if not np.isnan(share):
        yield f"More runs in these {task}s would take away {percent(share, 2)} of the variance between {task}s."


def _how_often(pair: xr.Dataset, task: str, first: str, second: str, sign: int) -> Iterator[str]:
    """Yield how often a run of the better algorithm scores higher, and in which share of tasks it does."""
    theta = pair["prob_greater"].item()
    if not np.isnan(theta):
        of_first = theta
        if sign < 0:
            of_first = 1 - theta
        fixed, random = (pvalue(of_claim(pair, claim)["prob_greater_pvalue"].item()) for claim in TASK_CLAIMS)
        yield (
            f"A run of {first} scores higher than one of {second} with probability {number(of_first, 2)}, mean over "
            f"{task}s ({fixed} for these, {random} for {task}s like these)."
        )
    share = pair["share_better"].item()
    if np.isnan(share):
        return
    low, high = ends_of(pair["share_better_ci"])
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if (sign > 0) != lower_is_better(pair):
        yield _share_better(pair, (a, b), (share, low, high))
    else:
        yield _share_better(pair, (b, a), (1 - share, 1 - high, 1 - low))


def _share_better(
    pair: xr.Dataset,
    names: tuple[str, str],
    estimate: tuple[float, float, float],
) -> str:
    """Return in which share of tasks the first of two names scores better, given the estimate and its ends."""
    share, low, high = estimate
    return (
        f"With so many runs {names[0]} scores better than {names[1]} in {percent(share, 2)} of "
        f"{units_of_claim(pair)} like these ({number(100 * low, 2)} to {number(100 * high, 2)} %)."
    )
