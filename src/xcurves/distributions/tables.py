"""The tables of performance distributions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.tables import bounds, frame_of, frame_of_pairs, turned_pairs
from xcurves.distributions.text import say_statistic, statistics

_NO_SIDE = ("score_std",)  # neither a high nor a low one is good


def statistic_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each statistic."""
    values = statistics(result).transpose(..., "param")
    frame = frame_of({"value": values, **bounds(result["statistic_ci"].sel(param=values["param"]))}, ["param"])
    frame = frame.rename_axis(index={"param": "statistic"})
    if "algorithm" in frame.index.names:
        frame.attrs["marks"] = _marks(result, frame)
    return frame


def _marks(result: xr.Dataset, table: pd.DataFrame) -> list[str]:
    """Return which algorithm has the "best" value of each statistic, and whose intervals overlap it, a "tie"."""
    higher = bool(result.attrs.get("higher_is_better", 1))
    groups = [name for name in table.index.names if name != "algorithm"]
    ranks = [""] * len(table)
    places = pd.Series(range(len(table)), table.index)
    for _, rows in table.assign(place=places).groupby(groups, sort=False, dropna=False):
        name = str(rows.index.get_level_values("statistic")[0]).split(" ")[0]
        if name in _NO_SIDE or (name == "partial_mean_above" and not higher) or rows["value"].isna().all():
            continue
        upward = name == "prob_above" or (higher and name != "optimality_gap")
        value, low, high = rows["value"].to_numpy(), rows["lower"].to_numpy(), rows["upper"].to_numpy()
        best = np.nanargmax(value) if upward else np.nanargmin(value)
        low, high = np.nan_to_num(low, nan=-np.inf, neginf=-np.inf), np.nan_to_num(high, nan=np.inf, posinf=np.inf)
        for place, each, least, most in zip(rows["place"].tolist(), value, low, high, strict=True):
            if each == value[best]:
                ranks[place] = "best"
            elif least <= high[best] and most >= low[best] and not np.isnan(each):
                ranks[place] = "tie"
    return ranks


def statistic_digest(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each task and algorithm: its statistics without intervals."""
    values = statistics(result)
    columns = {"trials": result["n_trials"]}
    columns |= {"at training": result["training"]} if "training" in result.coords else {}
    for name in values["param"].to_numpy():
        columns[say_statistic(result, str(name))] = values.sel(param=name, drop=True)
    return frame_of(columns)


def comparison_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the clearest first."""
    size = result["prob_greater"] - 0.5
    result = turned_pairs(result, size, ["dominance"], ["prob_greater", "prob_greater_ci"])
    columns = {"prob_greater": result["prob_greater"], **bounds(result["prob_greater_ci"])}
    if "ks_statistic" in result:
        columns |= {"dominance": result["dominance"], "KS": result["ks_statistic"], "p": result["ks_pvalue_adjusted"]}
    return frame_of_pairs(columns, size, result["pair_turned"])
