"""The table of group-sequential tests."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.tables import bounds, frame_of_pairs, turned_pairs
from xcurves.group_sequential.text import at_latest_look


def sequential_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the largest difference first, at the latest look."""
    latest = at_latest_look(result)
    size = latest["difference"]
    latest = turned_pairs(latest, size, ["difference", "difference_ci"])
    decided = result["look"].where(result["rejected"] == 1).min("look")
    columns = {
        "look": latest["_look"].broadcast_like(decided),
        "decided at": decided,
        "T": latest["statistic"],
        "boundary": latest["critical_value"],
        "p": latest["pvalue"],
        "p_adjusted": latest["pvalue_adjusted"],
        "difference": latest["difference"],
        **(bounds(latest["difference_ci"]) if "difference_ci" in latest else {}),
        "undecided": result["undecided"],
    }
    return frame_of_pairs(columns, size, latest["pair_turned"])
