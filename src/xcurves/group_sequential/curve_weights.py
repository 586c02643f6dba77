"""Weights of training levels, by which a curve becomes one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.core.packing import Floats

TrainingWeights = Literal["final"] | Sequence[float] | xr.DataArray | None


def check_training_weights(curves: xr.DataArray, given: TrainingWeights) -> Floats | str | None:
    """Return a weight for every level of curves, "final" for the last of each task, or None for equal ones."""
    if given is None:
        return None
    if isinstance(given, str):
        if given != "final":
            raise ValueError(f"training_weights must be None, 'final' or weights; got {given!r}")
        return given
    levels = curves["training"]
    if isinstance(given, xr.DataArray) and given.dims == ("training",) and "training" in given.coords:
        unknown = [level for level in given["training"].to_numpy().tolist() if level not in curves.indexes["training"]]
        if unknown:
            raise ValueError(
                f"training_weights names {unknown[0]}, which is no training level of the curves. Leave it out"
            )
        given = given.reindex(training=levels, fill_value=0.0)
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (levels.size,):
        raise ValueError(
            f"training_weights must have one weight for each of {levels.size} levels; got shape {weights.shape}. "
            "Name levels with a DataArray of dim 'training'"
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"training_weights must be finite, not negative and not all zero; got {weights.tolist()[:8]}. "
            "For slopes use contrast"
        )
    return weights
