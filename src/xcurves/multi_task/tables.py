"""The tables of methods over several tasks."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.tables import bounds, frame_of, frame_of_pairs, turned_pairs

TASK_CLAIMS = ("fixed", "random")


def across_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the largest first: the difference, both intervals and p, P(X > Y), and τ."""
    size = result["difference"]
    result = turned_pairs(result, size, ["difference", "difference_ci"], ["prob_greater"])
    columns = {"difference": result["difference"]}
    for claim in result["task_effect"].to_numpy().tolist():
        own = result.sel(task_effect=claim, drop=True)
        columns |= bounds(own["difference_ci"], f"{claim}_") | {f"{claim}_p": own["pvalue_adjusted"]}
    chance = {"prob_greater": result["prob_greater"]}
    adjusted = result["prob_greater_pvalue_adjusted"]
    if "random" in adjusted["task_effect"]:
        chance["prob_greater_p"] = adjusted.sel(task_effect="random", drop=True)
    return frame_of_pairs(columns | chance | {"task_sd": result["task_sd"]}, size, result["pair_turned"])


def aggregate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair and fraction of the budget: the difference, its band and the adjusted p."""
    columns = {"difference": result["difference"], **bounds(result["difference_band"]), "p": result["pvalue_adjusted"]}
    return frame_of(columns, ["pair", "budget_fraction"])
