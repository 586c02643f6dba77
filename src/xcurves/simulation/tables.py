"""The tables of simulations."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.tables import bounds, frame_of


def rate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each setting and p-value."""
    return frame_of({"rate": result["rate"], **bounds(result["rate_ci"]), "n": result["n_replications"]})


def plan_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each number of runs."""
    needed, assured = (
        result[name].expand_dims(n_runs=result["n_runs"]) for name in ("runs_needed", "runs_needed_assured")
    )
    columns = {"power": result["rate"], **bounds(result["rate_ci"]), "needed": needed, "assured": assured}
    return frame_of(columns, ["n_runs"])
