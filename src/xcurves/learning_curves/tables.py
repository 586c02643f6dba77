"""The tables of learning curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.learning_curves.curvefit import PARAMETERS
from xcurves.learning_curves.text import MISSED, PAIRED, STRETCH, edge_word
from xcurves.learning_curves.unfit_curves import REASONS
from xcurves.say.numbers import number
from xcurves.say.result_frames import columns_of_variables, frame_of

_SHORT = {"error_at_n": "e_N", "data_reliance": "beta_N"}


def fit_table(result: xr.Dataset) -> pd.DataFrame:
    """Return the paper's table, a row for each curve; of bounded asymptotes also backtest errors and notes."""
    columns = {_SHORT.get(name, name): result[name] for name in PARAMETERS if name in result}
    if result.attrs.get("asymptote") == "free":
        return frame_of(columns)
    with np.errstate(invalid="ignore"):  # curves that are not fitted have NaN
        names = ("unfit", "asymptote_at_bound", "gamma_at_edge", "gamma", "backtest_error")
        notes = xr.apply_ufunc(_note, *(result[name] for name in names), vectorize=True)
    return frame_of({**columns, "backtest": result["backtest_error"], "note": notes})


def _note(unfit: int, at_bound: int, at_edge: int, gamma: float, rho: float) -> str:
    """Return in words what a reader has to know of a curve."""
    if unfit:
        return f"not fitted: {REASONS[int(unfit)]}"
    notes = {
        "misses its last octaves": rho > MISSED,
        "asymptote at 0": at_bound,
        f"gamma at its {edge_word(gamma)} edge": at_edge,
    }
    return ", ".join(note for note, holds in notes.items() if holds)


def left_out_table(result: xr.Dataset) -> pd.DataFrame:
    """Return the table of the paper's Figure 2, a row for each variant."""
    if "training" not in result.dims:  # one size was selected
        result = result.expand_dims("training")
    by_size = {number(level): result["rmse"].sel(training=level, drop=True) for level in result["training"].to_numpy()}
    columns = {"R2": result["r_squared"], **by_size, "avg": result["rmse"].mean("training"), "p": result["pvalue"]}
    return frame_of(columns, ["variant"])


def columns_of_learners(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return the differences of other parameters, where curves cross, and how much data each learner is worth."""
    columns: dict[str, xr.DataArray] = {}
    for parameter in result["param"].to_numpy().tolist():
        if parameter != PAIRED:
            here = result.sel(param=parameter, drop=True)
            columns |= columns_of_variables(here, {parameter: "difference"}, prefixed=True)
    for i in range(result.sizes["crossing"]):
        stretch = result.isel(crossing=i)
        columns |= {f"{name.removesuffix('_size')}_{i + 1}": stretch[name] for name in STRETCH}
    columns |= columns_of_variables(result, {"multiplier": "data_multiplier"}, prefixed=True)
    return columns | {"multiplier_extrapolated": result["data_multiplier_extrapolated"] == 1}
