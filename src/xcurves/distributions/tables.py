"""The tables of performance distributions."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.tables import bounds, by_task, frame_of
from xcurves.distributions.text import say_statistic, statistics


def statistic_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each statistic."""
    values = statistics(result).transpose(..., "param")
    frame = frame_of({"value": values, **bounds(result["statistic_ci"].sel(param=values["param"]))}, ["param"])
    return frame.rename_axis(index={"param": "statistic"})


def statistic_digest(result: xr.Dataset) -> tuple[pd.DataFrame, str]:
    """Return a row for each task and algorithm: its statistics without intervals."""
    values = statistics(result)
    columns = {"trials": result["n_trials"]}
    columns |= {"at training": result["training"]} if "training" in result.coords else {}
    for name in values["param"].to_numpy():
        columns[say_statistic(result, str(name))] = values.sel(param=name, drop=True)
    dims = labels.task_dims(result["score_mean"])
    return by_task(columns, dims), "Statistics of the final scores, a row for each task and algorithm."


def comparison_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair."""
    columns = {"prob_greater": result["prob_greater"], **bounds(result["prob_greater_ci"])}
    if "ks_statistic" in result:
        columns |= {"dominance": result["dominance"], "KS": result["ks_statistic"], "p": result["ks_pvalue_adjusted"]}
    return frame_of(columns, ["pair"])
