"""Validation of a contrast's weights, over algorithms and over training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.weights import TrainingWeights, check_training_weights, weights_on

Weights = Mapping[Any, float] | pd.Series | xr.DataArray


def check_weights(
    curves: xr.DataArray, weights: Weights, training_weights: TrainingWeights
) -> tuple[xr.DataArray, xr.DataArray | str | None]:
    """Return weights on (algorithm) that sum to zero, and those of training levels."""
    if isinstance(weights, xr.DataArray) and "training" in weights.dims:
        if training_weights is not None:
            raise ValueError("training_weights is given twice: weights has a training dim. Leave one out")
        weights, training_weights = _separate(weights)
    if not isinstance(weights, xr.DataArray | Mapping | pd.Series):
        kind = type(weights).__name__
        raise TypeError(f"weights must map algorithms to weights; got {kind}. Try {{'a': 1, 'b': -1}}")
    over_algorithms = weights_on(curves, "algorithm", weights, "weights")
    values = over_algorithms.to_numpy()
    if np.ptp(values) == 0:
        raise ValueError(f"weights must not be all equal; got {values[0]:g} for every algorithm. Name two that differ")
    if abs(values.sum()) > 1e-9 * np.abs(values).sum():
        raise ValueError(f"weights must sum to zero over algorithms; got {values.sum():g}. Subtract the mean")
    return over_algorithms, check_training_weights(curves, training_weights)


def _separate(weights: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Split weights on (algorithm, training) into their two factors."""
    if set(weights.dims) != {"algorithm", "training"} or weights.dtype.kind not in "biuf":
        raise ValueError(
            f"weights must be numbers with the dim 'algorithm', or with 'training' too; got {weights.dtype} on "
            f"{weights.dims}. Try {{'a': 1, 'b': -1}}"
        )
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
