"""The tables of times, speed-ups and performance profiles."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.tables import bounds, frame_of


def time_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: the time and its interval."""
    return frame_of({"time": result["time"], **bounds(result["time_ci"])}, ["algorithm"])


def speedup_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: speed-up, interval, p; of one task the time, over tasks both claims."""
    columns = {"speedup": result["speedup"]}
    if "task_effect" not in result["speedup_ci"].dims:
        columns |= bounds(result["speedup_ci"]) | {"p": result["pvalue"], "p_adjusted": result["pvalue_adjusted"]}
        return frame_of(columns | {"time": result["time"]}, ["algorithm"])
    for claim in result["task_effect"].to_numpy().tolist():
        own = result.sel(task_effect=claim, drop=True)
        columns |= bounds(own["speedup_ci"], f"{claim}_") | {f"{claim}_p": own["pvalue_adjusted"]}
    columns |= {"median": result["median_speedup"], **bounds(result["median_speedup_ci"], "median_")}
    return frame_of(columns | {"tasks": result["n_tasks"]}, ["algorithm"])


def profile_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: the score, both intervals, how many tasks it solves."""
    columns = {"score": result["score"]}
    for claim in result["task_effect"].to_numpy().tolist():
        columns |= bounds(result["score_ci"].sel(task_effect=claim, drop=True), f"{claim}_")
    return frame_of(columns | {"solved": result["n_reached"]}, ["algorithm"])
