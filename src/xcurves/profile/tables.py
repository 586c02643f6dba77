"""The tables of profiles."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from xcurves.core.tables import frame_of


def profile_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each training level, of the simple profile."""
    simple = result.sel(effect="simple", drop=True)
    columns = {"SS": simple["ss"], "fraction": simple["fraction"], "cumulative": simple["cumulative_fraction"]}
    names = {
        "corrected": "fraction_corrected",
        "F": "f",
        "p": "pvalue",
        "p_adjusted": "pvalue_adjusted",
        "equivalent": "equivalent",
    }
    columns |= {column: simple[name] for column, name in names.items() if name in simple}
    return frame_of(columns, ["training"])


def profile_digest(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each task: first and last level that differ."""
    names = {"first_significant": "first level that differs", "last_significant": "last level that differs"}
    columns = {said: result[name] for name, said in names.items() if name in result}
    return frame_of(columns)
