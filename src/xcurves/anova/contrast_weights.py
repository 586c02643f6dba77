"""Validation of a contrast's weights, over algorithms and over training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels

Weights = Mapping[Any, float] | pd.Series | xr.DataArray

_SHOWN = 10  # labels that a message lists


def check_weights(
    curves: xr.DataArray, weights: Weights, training_weights: xr.DataArray | Sequence[float] | None
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return weights on (algorithm) that sum to zero, and a profile on (training), NaN for each grid's mean."""
    if isinstance(weights, xr.DataArray) and "training" in weights.dims:
        if training_weights is not None:
            raise ValueError("training_weights is given twice: weights has a training dim. Leave one out")
        weights, training_weights = _separate(weights)
    if isinstance(weights, pd.Series):
        weights = weights.to_dict()
    if not isinstance(weights, xr.DataArray | Mapping):
        kind = type(weights).__name__
        raise TypeError(f"weights must map algorithms to weights; got {kind}. Try {{'a': 1, 'b': -1}}")
    if not isinstance(weights, xr.DataArray):
        weights = xr.DataArray(list(weights.values()), {"algorithm": list(weights)}, ("algorithm",))
    over_algorithms = _spread(weights, curves, "algorithm", "weights")
    values = over_algorithms.to_numpy()
    if np.ptp(values) == 0:
        raise ValueError(f"weights must not be all equal; got {values[0]:g} for every algorithm. Name two that differ")
    if abs(values.sum()) > 1e-9 * np.abs(values).sum():
        raise ValueError(f"weights must sum to zero over algorithms; got {values.sum():g}. Subtract the mean")
    if training_weights is None:
        return over_algorithms, xr.full_like(curves["training"], np.nan).drop_attrs()
    if not isinstance(training_weights, xr.DataArray) or "training" not in training_weights.coords:
        given = np.asarray(training_weights, dtype=np.float64)
        if given.shape != (curves.sizes["training"],):
            raise ValueError(
                f"training_weights must have one weight for each of {curves.sizes['training']} levels; "
                f"got shape {given.shape}. Name levels with a DataArray of dim 'training'"
            )
        training_weights = xr.DataArray(given, {"training": curves["training"].to_numpy()}, ("training",))
    profile = _spread(training_weights, curves, "training", "training_weights")
    if not profile.any():
        raise ValueError("training_weights are all zero. Give weight to at least one level")
    return over_algorithms, profile / profile.sum() if (profile >= 0).all() else profile


def _spread(weights: xr.DataArray, curves: xr.DataArray, dim: str, argument: str) -> xr.DataArray:
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


def _separate(weights: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Split weights on (algorithm, training) into their two factors."""
    both = weights.transpose("algorithm", "training").fillna(0)
    largest = both.isel(algorithm=int((both**2).sum("training").to_numpy().argmax()), drop=True)
    norm = (largest**2).sum().item()
    over_algorithms = (both * largest).sum("training") / (norm or 1.0)
    if abs(both - over_algorithms * largest).max() > 1e-9 * abs(both).max():
        raise ValueError(
            "weights are not separable: all algorithms must share one profile over training, up to sign and size. "
            "Test one contrast for each profile"
        )
    return over_algorithms, largest
