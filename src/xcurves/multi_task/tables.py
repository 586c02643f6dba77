"""The tables of methods over several tasks."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.labels import named_tasks
from xcurves.core.provenance import alpha_of, significant
from xcurves.kernels.over_tasks.task_effects import difference_of_means
from xcurves.multi_task.about import scales_of
from xcurves.multi_task.answers_shown import shows_answers
from xcurves.multi_task.claims import (
    claim_of_verdict,
    claims_of,
    of_claim,
)
from xcurves.multi_task.too_few import noun_of
from xcurves.say.pairs import (
    SWAPPED,
    TURNED,
    better_first,
    heading,
    is_shown,
    lower_is_better,
    shown_interval,
)
from xcurves.say.result_frames import (
    bounds,
    frame_of,
    frame_of_algorithms,
    note_open_ends,
)

_MOST_PAIRS = 300  # of which wins in single tasks are counted


def further_columns(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return P(X > Y) of the better first with its p, τ, and in how many tasks the first is better, or worse."""
    turned = better_first(result, result["difference"], [], ["prob_greater"])
    columns = {"prob_greater": turned["prob_greater"]}
    if "random" in claims_of(result):
        adjusted = of_claim(result, "random")["prob_greater_pvalue_adjusted"]
        columns["prob_greater_p"] = adjusted.reset_coords(drop=True)
    columns["task_sd"] = result["task_sd"]
    columns |= _wins(result, turned)
    if shows_answers(result):
        # of one answer to each question nothing is known about these very ones
        return {name: column for name, column in columns.items() if column.notnull().any()}
    return columns


def _wins(result: xr.Dataset, turned: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return in how many tasks the first of a turned pair has the better mean, an equal one, a worse one; and shown.

    Of very many pairs there is nothing: an array of pairs and tasks may be large.
    """
    task = str(result.attrs["task"])
    if task not in result["task_mean"].dims or result.sizes.get("pair", 1) > _MOST_PAIRS:
        return {}
    means = [result["task_mean"].sel(algorithm=result[f"algorithm_{side}"]).reset_coords(drop=True) for side in "ab"]
    ahead = xr.apply_ufunc(difference_of_means, *means)
    if lower_is_better(result):
        ahead = -ahead
    if SWAPPED in turned.coords:
        ahead = ahead.where(~turned[SWAPPED].reset_coords(drop=True), -ahead)
    columns = {"win": ahead > 0, "tie": ahead == 0, "loss": ahead < 0}
    p = result.get("task_pvalue_adjusted")
    if p is not None and p.notnull().any():
        shown = significant(p.reset_coords(drop=True), alpha_of(result))
        columns |= {"win_shown": (ahead > 0) & shown, "loss_shown": (ahead < 0) & shown}
    return {name: column.sum(task).reset_coords(drop=True) for name, column in columns.items()}


def aggregate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair and fraction of the budget: the difference, its interval and the adjusted p.

    The algorithm that is better on the mean of the fractions is first.
    """
    adjusted, difference = (result.variables[name] for name in ("pvalue_adjusted", "difference"))
    shown = is_shown(adjusted, difference, alpha_of(result))
    together = shown_interval(difference, result["difference_ci_simultaneous"], shown)
    mean = result["difference"].mean("budget_fraction")
    ordered = better_first(result.assign(together=together, p=adjusted), mean, ["difference", "together"])
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
    note_open_ends(frame, xr.Dataset({"amount": ordered["difference"], "interval": ordered["together"]}))
    return frame


def algorithm_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: its mean over its own tasks with an interval, their number, places, may be best.

    Those that the verdict is about stand first.
    """
    part = of_claim(result, claim_of_verdict(result))
    columns = {"mean": result["score_mean"]}
    interval = result["score_mean_ci"]
    if interval.notnull().any():
        columns |= bounds(interval)
    columns[f"{noun_of(result)}s"] = result["n_tasks_algorithm"]
    places = part["place_ci"]
    # of two the better one says all
    if result.sizes["algorithm"] > 2 and places.notnull().any():
        columns["place_from"], columns["place_to"] = bounds(places).values()
    columns |= {
        "mean_rank": result["rank_mean"],
        "may_be_best": part["may_be_best"],
        "order": result["score_mean_common"],
    }
    frame = frame_of_algorithms(result, columns)
    level = heading(result).partition(",")[0]
    scales = (scales_of(benchmark) for benchmark, _ in named_tasks(result, "difference"))
    frame.attrs["interval"] = f"{level}, all algorithms together{next(filter(None, scales), '')}"
    return frame
