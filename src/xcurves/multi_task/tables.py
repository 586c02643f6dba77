"""The tables of methods over several tasks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import t

from xcurves.core.labels import CI_BOUNDS
from xcurves.core.pairs import TURNED, better_first, heading, is_shown, shown_interval
from xcurves.core.provenance import alpha_of
from xcurves.core.tables import (
    bounds,
    frame_of,
    frame_of_algorithms,
    frame_of_displayed,
    frame_of_pairs,
)
from xcurves.multi_task.claims import (
    claim_of_verdict,
    claims_of,
    of_claim,
    shown_of_claim,
)


def across_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the better first: the difference, interval and p by both claims, P(X > Y), and τ."""
    size = result["difference"]
    turned = better_first(result, size, ["difference"], ["prob_greater"])
    columns = {"difference": turned["difference"]}
    for claim in reversed(claims_of(result)):  # that of the verdict first
        shown = shown_of_claim(result, claim)
        columns |= bounds(shown["interval"], f"{claim}_")
        columns[f"{claim}_p"] = shown["p"]
    columns["prob_greater"] = turned["prob_greater"]
    if "random" in claims_of(result):
        adjusted = of_claim(result, "random")["prob_greater_pvalue_adjusted"]
        columns["prob_greater_p"] = adjusted.reset_coords(drop=True)
    columns["task_sd"] = result["task_sd"]
    frame = frame_of_pairs(columns, size, turned[TURNED])
    frame.attrs["interval"] = heading(result)
    return frame


def aggregate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair and fraction of the budget: the difference, its interval and the adjusted p.

    The algorithm that is better on the mean of the fractions is first.
    """
    adjusted = result["pvalue_adjusted"]
    shown = is_shown(adjusted, result["difference"], alpha_of(result))
    together = shown_interval(
        result["difference"], result["difference_ci_simultaneous"], shown
    )
    mean = result["difference"].mean("budget_fraction")
    ordered = better_first(
        result.assign(together=together, p=adjusted), mean, ["difference", "together"]
    )
    # Pairs are named with the better first, where that is the same in all tasks.
    if ordered[TURNED].ndim == 1:
        ordered = ordered.assign_coords(pair=ordered[TURNED].to_numpy())
    columns = {
        "difference": ordered["difference"],
        **bounds(ordered["together"]),
        "p": ordered["p"],
    }
    frame = frame_of(columns, ["pair", "budget_fraction"])
    level = heading(result).partition(",")[0]
    frame.attrs["interval"] = f"{level}, all pairs and fractions together"
    return frame


def pairs_of_verdict(result: xr.Dataset) -> pd.DataFrame:
    """Return the pairs by the claim that the verdict makes."""
    claim = claim_of_verdict(result)
    frame = frame_of_displayed(shown_of_claim(result, claim))
    task = result.attrs["task"]
    frame.attrs["caption"] = f"on these very {task}s"
    if claim == "random":
        frame.attrs["caption"] = f"on {task}s like these"
    return frame


def algorithm_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: its mean over tasks with an interval for these tasks, rank, may be the best."""
    part = of_claim(result, claim_of_verdict(result))
    columns = {"mean": result["score_mean"]}
    interval = mean_over_tasks_ci(result)
    if interval.notnull().any():
        columns |= bounds(interval)
    columns |= {"mean_rank": result["rank_mean"], "may_be_best": part["may_be_best"]}
    frame = frame_of_algorithms(result, columns)
    level = heading(result).partition(",")[0]
    frame.attrs["interval"] = f"{level}, these {result.attrs['task']}s"
    return frame


def mean_over_tasks_ci(result: xr.Dataset) -> xr.DataArray:
    r"""Return t intervals of mean scores over these tasks, had other runs been made, dims (..., algorithm, ci_bound).

    The standard error is :math:`\sqrt{\sum_t w_t^2 s_t^2 / n_t}`, its degrees of freedom are Satterthwaite's. NaN where
    an algorithm has a single run in some task.
    """
    task = result.attrs["task"]
    n_runs = result["n_runs"]
    weights = xr.ones_like(result["task_mean"].isel(algorithm=0, drop=True))
    if "task_weights" in result:
        weights = result["task_weights"].reset_coords(drop=True)
    used = (n_runs > 0).any("algorithm")
    shares = weights.where(used, 0.0) / weights.where(used, 0.0).sum(task)
    variance = (
        shares**2 * result["task_mean_sd"] ** 2 / n_runs.where(n_runs > 1)
    ).where(used, 0.0)
    total = variance.sum(task, skipna=False)
    degrees = total**2 / (variance**2 / (n_runs - 1).where(n_runs > 1, 1)).sum(task)
    level = (1 + float(result.attrs["confidence_level"])) / 2
    half = xr.apply_ufunc(t.ppf, level, degrees) * np.sqrt(total)
    # Runs that do not differ at all leave no degrees of freedom.
    half = half.where(total > 0, total)
    mean = result["score_mean"]
    ends = xr.concat(
        [mean - half, mean + half], dim=pd.Index(CI_BOUNDS, name="ci_bound")
    )
    interval: xr.DataArray = ends.transpose(..., "ci_bound")
    return interval
