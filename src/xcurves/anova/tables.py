"""The tables of randomization tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.anova.text import SHORT, by_welch, claims
from xcurves.core import labels
from xcurves.core.validation import is_without_training
from xcurves.say.result_frames import frame_of

_ROWS = {
    "algorithm": "Algorithm",
    "welch": "Algorithm (Welch)",
    "runs": "Runs",
    "training": "Training",
    "interaction": "Interaction",
    "runs_by_training": "Runs × training",
    "error": "Error",
    "matched_runs": "Matched runs",
    "total": "Total",
}
_PAIRED_ROWS = _ROWS | {
    "runs": "Algorithm × runs",
    "runs_by_training": "Algorithm × runs × training",
}
_OF_TRAINING = ("training", "interaction", "runs_by_training")
Row = dict[str, xr.DataArray]


def anova_table(result: xr.Dataset) -> pd.DataFrame:
    """Return the split-plot table; if the result has no such error term, the papers' table or Welch's row."""
    paired = bool(result.attrs.get("paired", 0))
    terms = result["error_term"].to_numpy()
    if "split_plot" in terms:
        rows = _split_plot_rows(result, paired=paired)
    elif "pooled" in terms:
        rows = _pooled_rows(result)
    else:
        rows = {"algorithm": _effect(result, "algorithm", "welch")}
    if is_without_training(result):
        rows = {name: row for name, row in rows.items() if name not in _OF_TRAINING}
    columns = {
        column: xr.concat(
            [_table_cell(row, column) for row in rows.values()],
            pd.Index(list(rows), name="source"),
        )
        for column in ("df", "SS", "MS", "F", "p")
    }
    frame = frame_of(columns, ["source"])
    frame["df"] = frame["df"].astype("Int64")
    source = frame.index.get_level_values("source")

    # Blank where a row has no such number; a mean square all have but the total.
    blank = {
        "MS": ["total"],
        "F": [name for name, row in rows.items() if "F" not in row],
        "p": [name for name, row in rows.items() if "p" not in row],
    }
    for column, names in blank.items():
        frame[column] = frame[column].astype(object).where(~source.isin(names), "")
    named = _ROWS
    if paired:
        named = _PAIRED_ROWS
    if frame.index.nlevels > 1:
        return frame.rename(index=named, level="source")
    return frame.rename(index=named).rename_axis(None)


def _split_plot_rows(result: xr.Dataset, *, paired: bool) -> dict[str, Row]:
    """Return the rows of the present effects, each with the error it is compared with."""
    effects = result["effect"].to_numpy()
    rows: dict[str, Row] = {}
    if "algorithm" in effects:
        rows |= {
            "algorithm": _effect(result, "algorithm", "split_plot"),
            **_welch_row(result),
        }
        rows |= {"runs": _error(result, "algorithm")}
    rows["training"] = _source(result, "training")
    if "interaction" in effects:
        error = _error(result, "interaction")
        rows["training"] |= {"F": _mean_square(rows["training"]) / _mean_square(error)}
        rows |= {
            "interaction": _effect(result, "interaction", "split_plot"),
            "runs_by_training": error,
        }
    total = _source(result, "total")
    if paired and len(effects) == 2:
        rows["matched_runs"] = {name: total[name] - sum(row[name] for row in rows.values()) for name in ("df", "SS")}
    return rows | {"total": total}


def _welch_row(result: xr.Dataset) -> dict[str, Row]:
    """Return the row of Welch's statistic, which has no sum of squares, where it is the test of level."""
    speaks = by_welch(result)
    if not speaks.any():
        return {}
    test = result[["f", "pvalue"]].sel(effect="algorithm", error_term="welch", drop=True).where(speaks)
    df = result["df"].sel(source="algorithm", drop=True).where(speaks)
    return {
        "welch": {
            "df": df,
            "SS": xr.full_like(df, np.nan),
            "F": test["f"],
            "p": test["pvalue"],
        }
    }


def _pooled_rows(result: xr.Dataset) -> dict[str, Row]:
    """Return the rows of the papers' table."""
    training, error, total = (_source(result, name) for name in ("training", "error", "total"))
    effects = [name for name in labels.VARIATION_SOURCES if name in result["effect"].to_numpy()]
    rows = {name: _effect(result, name, "pooled") for name in effects}
    rows["training"] = training | {"F": _mean_square(training) / _mean_square(error)}
    return rows | {"error": error, "total": total}


def _source(result: xr.Dataset, source: str) -> Row:
    return {
        "df": result["df"].sel(source=source, drop=True),
        "SS": result["ss"].sel(source=source, drop=True),
    }


def _effect(result: xr.Dataset, effect: str, error_term: str) -> Row:
    test = result[["f", "pvalue"]].sel(effect=effect, error_term=error_term, drop=True)
    return _source(result, effect) | {"F": test["f"], "p": test["pvalue"]}


def _error(result: xr.Dataset, effect: str) -> Row:
    """Return the error of an effect itself."""
    error = result[["error_df", "error_ss"]].sel(effect=effect, error_term="split_plot", drop=True)
    return {"df": error["error_df"], "SS": error["error_ss"]}


def _mean_square(row: Row) -> xr.DataArray:
    return row["SS"] / row["df"].where(row["df"] > 0)


def _table_cell(row: Row, column: str) -> xr.DataArray:
    if column == "MS":
        return _mean_square(row)
    if column not in row:
        return xr.full_like(row["SS"], np.nan)
    return row[column]


def anova_digest(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each task: F and p of level and of shape, by both error terms."""
    columns = {
        f"{symbol} of {SHORT[effect]}{suffix}": result[name].sel(effect=effect, error_term=term, drop=True)
        for term, suffix in (("split_plot", ""), ("pooled", ", pooled errors"))
        for effect in claims(result)
        for symbol, name in (("F", "f"), ("p", "pvalue"))
    }
    return frame_of(columns)


def shapes_of_pairs(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return adjusted p of the shape, which scores without training have not."""
    if "interaction" not in result["effect"].to_numpy() or "interaction" not in claims(result):
        return {}
    return {"p_interaction": result["pvalue_adjusted"].sel(effect="interaction", drop=True)}
