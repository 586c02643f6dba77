"""The tables of methods over several tasks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.packing import Floats
from xcurves.core.tables import bounds, frame_of

CLAIMS = ("fixed", "random")
UNLIKE = 10.0  # times that runs may differ more in one task than in another


def across_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair: the difference, both intervals and p, P(X > Y), and τ."""
    columns = {"difference": result["difference"]}
    for claim in result["task_effect"].to_numpy().tolist():
        own = result.sel(task_effect=claim, drop=True)
        columns |= bounds(own["difference_ci"], f"{claim}_") | {f"{claim}_p": own["pvalue_adjusted"]}
    return frame_of(columns | {"prob_greater": result["prob_greater"], "task_sd": result["task_sd"]}, ["pair"])


def task_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each task and pair: the difference, its interval and the p adjusted over tasks."""
    task = result.attrs["task"]
    columns = {
        "difference": result["task_difference"],
        **bounds(result["task_difference_ci"]),
        "p": result["task_pvalue_adjusted"],
    }
    return frame_of(columns, [task, "pair"])


def profile_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair and fraction of the budget: the difference, its band and the adjusted p."""
    columns = {"difference": result["difference"], **bounds(result["difference_band"]), "p": result["pvalue_adjusted"]}
    return frame_of(columns, ["pair", "budget_fraction"])


def run_sd(result: xr.Dataset) -> xr.DataArray:
    """Return how much runs differ in each task, the mean over pairs of the root mean square of both spreads."""
    counts = result["n_runs"].where(result["n_runs"] > 0)
    a, b = (counts.sel(algorithm=result[name]) for name in ("algorithm_a", "algorithm_b"))
    return (result["task_stderr"] / np.sqrt(1 / a + 1 / b)).mean("pair")


def spread_ratio(result: xr.Dataset) -> Floats:
    """Return how many times as much runs differ in one task as in another, of tasks in which they do."""
    sd = run_sd(result)
    task = result.attrs["task"]
    return np.asarray((sd.max(task) / sd.where(sd > 0).min(task)).fillna(1.0))
