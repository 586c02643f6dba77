"""The scores at the end of training, of which an analysis shows the distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xcurves.core.applicability import NotApplicableError, is_lower_better
from xcurves.preprocessing.alignment import align


def final_scores(curves: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return final scores, whether a high one is good, and in attrs at which training level they are."""
    scores = _final_scores(curves)
    return scores, {"higher_is_better": not is_lower_better(curves)}, {"final": _say_level(scores)}


def _final_scores(curves: xr.DataArray) -> xr.DataArray:
    """Return scores at the last training level that all runs of a task have, which is the coordinate `training`."""
    try:
        final = align(curves, "final").compute()
    except ValueError as error:
        raise NotApplicableError(str(error)) from error
    level = final["training"].where(final.notnull().any(["algorithm", "run"])).max("training")
    scores: xr.DataArray = final.max("training", keep_attrs=True)  # of the one level that the task has
    return scores.assign_coords(training=level.assign_attrs(curves["training"].attrs))


def _say_level(scores: xr.DataArray) -> str:
    """Return the final level, or the range over tasks, with its units."""
    levels = scores["training"].to_numpy()
    units = str(scores["training"].attrs.get("units", "1"))
    ends = [f"{level:.12g}" for level in sorted({np.nanmin(levels), np.nanmax(levels)})]
    by_task = ", task by task: see the coordinate training" if len(ends) > 1 else ""
    return " to ".join(ends) + f" {units}" * (units not in ("1", "")) + by_task
