"""The tables of methods over several tasks."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.pairs import TURNED, better_first, heading, is_shown, shown_interval
from xcurves.core.provenance import alpha_of
from xcurves.core.tables import bounds, frame_of, frame_of_pairs
from xcurves.multi_task.claims import claims_of, of_claim, shown_of_claim


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
    p = result["pvalue_adjusted"]
    shown = is_shown(p, result["difference"], alpha_of(result))
    together = shown_interval(result["difference"], result["difference_ci_simultaneous"], shown)
    mean = result["difference"].mean("budget_fraction")
    turned = better_first(result.assign(together=together), mean, ["difference", "together"])
    if turned[TURNED].ndim == 1:
        turned = turned.assign_coords(pair=turned[TURNED].to_numpy())
        p = p.assign_coords(pair=turned["pair"])
    columns = {"difference": turned["difference"], **bounds(turned["together"]), "p": p}
    frame = frame_of(columns, ["pair", "budget_fraction"])
    level = heading(result).partition(",")[0]
    frame.attrs["interval"] = f"{level}, all pairs and fractions together"
    return frame
