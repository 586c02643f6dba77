"""The tables of simulations."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.tables import bounds, frame_of


def rate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each setting and p-value."""
    columns = {"rate": result["rate"], **bounds(result["rate_ci"]), "n": result["n_replications"]}
    return frame_of(columns | _runs(result))


def plan_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each number of runs."""
    needed, assured = (
        result[name].expand_dims(n_runs=result["n_runs"]) for name in ("runs_needed", "runs_needed_assured")
    )
    columns = {"power": result["rate"], **bounds(result["rate_ci"]), "needed": needed, "assured": assured}
    return frame_of(columns | _runs(result), ["n_runs"])


def _runs(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return the column of a test that is looked at several times."""
    if "expected_runs" not in result:
        return {}
    return {"expected runs": result["expected_runs"].broadcast_like(result["rate"])}
