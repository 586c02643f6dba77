"""Weights of training levels or of algorithms, by their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.core import labels

TrainingWeights = Literal["final"] | Sequence[float] | xr.DataArray | None

_SHOWN = 10  # labels that a message lists


def check_score_weights(curves: xr.DataArray, given: TrainingWeights) -> xr.DataArray | None:
    """Return the weights on (training) of a run's score; None if it is a mean, or the score at the last level."""
    if given is None or (isinstance(given, str) and given == "final"):
        return None
    if isinstance(given, str):
        raise ValueError(f"training_weights must be None, 'final' or weights; got {given!r}")
    return check_training_weights(curves, given)


def check_training_weights(curves: xr.DataArray, given: Sequence[float] | xr.DataArray) -> xr.DataArray:
    """Return weights on (training), not all zero; levels that are not named have none."""
    if not isinstance(given, xr.DataArray) or "training" not in given.coords:
        values = np.asarray(given, dtype=np.float64)
        if values.shape != (curves.sizes["training"],):
            raise ValueError(
                f"training_weights must have one weight for each of {curves.sizes['training']} levels; "
                f"got shape {values.shape}. Name levels with a DataArray of dim 'training'"
            )
        given = xr.DataArray(values, {"training": curves["training"].to_numpy()}, ("training",))
    weights = spread_weights(given, curves, "training", "training_weights")
    if not weights.any():
        raise ValueError("training_weights are all zero. Give weight to at least one level")
    return weights


def spread_weights(weights: xr.DataArray, curves: xr.DataArray, dim: str, argument: str) -> xr.DataArray:
    """Return weights for every label of `dim`, zero where none is given."""
    if weights.dims != (dim,):
        raise ValueError(f"{argument} must have the dim {dim!r}; got {weights.dims}")
    unknown = [label for label in weights[dim].to_numpy().tolist() if label not in curves.indexes[dim]]
    if unknown:
        known = labels.words(curves[dim])
        has = ", ".join(known if len(known) <= _SHOWN else [*known[:_SHOWN], "..."])
        raise ValueError(f"{argument} names {unknown[0]!r}, which is no {dim} of the curves; they have {has}")
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"{argument} must be numbers; got {weights.to_numpy().tolist()}")
    if not weights.indexes[dim].is_unique:
        raise ValueError(f"{argument} names a {dim} twice: {weights[dim].to_numpy().tolist()}")
    if not np.isfinite(weights).all():
        raise ValueError(f"{argument} must be finite; got {weights.to_numpy().tolist()}")
    spread = weights.astype(np.float64).reindex({dim: curves[dim]}, fill_value=0.0)
    return spread.drop_vars([name for name in spread.coords if name != dim]).drop_attrs()
