"""The tables of learning curves."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.tables import bounds, frame_of

_FITTED = {
    "error_at_n": "e_N",
    "data_reliance": "beta_N",
    "gamma": "gamma",
    "alpha": "alpha",
    "eta": "eta",
    "delta": "delta",
}


def fit_table(result: xr.Dataset) -> pd.DataFrame:
    """Return the paper's table, a row for each curve."""
    return frame_of({column: result[name] for name, column in _FITTED.items() if name in result})


def prediction_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each size."""
    columns = {"prediction": result["prediction"], **bounds(result["prediction_ci"]), "change": result["change"]}
    return frame_of(
        {**columns, **bounds(result["change_ci"], "change_"), "extrapolated": result["extrapolated"]}, ["n"]
    )


def left_out_table(result: xr.Dataset) -> pd.DataFrame:
    """Return the table of the paper's Figure 2, a row for each variant."""
    levels = result["training"].to_numpy()
    by_size = {f"{level:g}": result["rmse"].isel(training=i, drop=True) for i, level in enumerate(levels)}
    columns = {"R2": result["r_squared"], **by_size, "avg": result["rmse"].mean("training"), "p": result["pvalue"]}
    return frame_of(columns, ["variant"])


def learner_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each learner."""
    columns: dict[str, xr.DataArray] = {}
    for parameter in result["param"].to_numpy():
        here = result.sel(param=parameter, drop=True)
        columns |= {str(parameter): here["difference"], **bounds(here["difference_ci"], f"{parameter}_")}
    columns |= {f"crossing_{i + 1}": result["crossing_size"].isel(crossing=i) for i in range(result.sizes["crossing"])}
    columns |= {"multiplier": result["data_multiplier"], **bounds(result["data_multiplier_ci"], "multiplier_")}
    columns |= {"multiplier_extrapolated": result["data_multiplier_extrapolated"]}
    return frame_of(columns, ["algorithm"])
