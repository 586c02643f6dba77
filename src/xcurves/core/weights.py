"""Weights of the labels of a dim, such as the levels by which a curve becomes one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels, validation

TrainingWeights = Literal["final"] | Sequence[float] | xr.DataArray | None

_SHOWN = 10  # labels that a message lists


def weights_on(curves: xr.DataArray, dim: str, given: Any, argument: str) -> xr.DataArray:
    """Return a weight for every label of a dim of curves, zero for those that a DataArray does not name."""
    if isinstance(given, xr.DataArray) and given.dims != (dim,):
        raise ValueError(f"{argument} must have the dim {dim!r}; got {given.dims}. Name labels with a DataArray of it")
    known = curves[dim].to_numpy()
    named, values = _named(given, dim)
    numbers = validation.numbers_of(values)
    if numbers is None:
        raise TypeError(f"{argument} must be numbers; got {labels.shown(values)}")
    what = "levels" if dim == "training" else f"{dim}s"
    if numbers.shape != (len(known if named is None else named),):
        raise ValueError(
            f"{argument} must have one weight for each of {len(known)} {what}; got shape {numbers.shape}. "
            f"Name {what} with a DataArray of dim {dim!r}"
        )
    got = labels.shown(numbers.tolist())
    if not np.isfinite(numbers).all():
        raise ValueError(f"{argument} must be finite; got {got}")
    if numbers.size and np.abs(numbers).max() > validation.LARGEST:
        raise ValueError(f"{argument} must be at most {validation.LARGEST:g}; got {got}. Divide them by the largest")
    spread = np.zeros(len(known))
    spread[slice(None) if named is None else _places(known, named, dim, argument)] = numbers
    return xr.DataArray(spread, {dim: known}, (dim,))


def _named(given: Any, dim: str) -> tuple[list[Any] | None, Any]:
    """Return the labels that weights name, None if they name none, and the weights."""
    if isinstance(given, Mapping):
        return list(given), list(given.values())
    if isinstance(given, pd.Series):
        return given.index.tolist(), given.to_numpy()
    if isinstance(given, xr.DataArray):
        return given[dim].to_numpy().tolist() if dim in given.coords else None, given.to_numpy()
    return None, given


def _places(known: np.ndarray[Any, Any], named: list[Any], dim: str, argument: str) -> list[int]:
    """Return the places of labels, which pandas cannot look up if they are no text that can be encoded."""
    place = {label: i for i, label in enumerate(known.tolist())}
    for label in named:
        if label not in place:
            has = ", ".join([*labels.words(known[:_SHOWN]), *(["..."] if len(known) > _SHOWN else [])])
            near = labels.did_you_mean(label, place) if isinstance(label, str) else ""
            raise ValueError(f"{argument} names {label!r}, which is no {dim} of the curves; they have {has}{near}")
    if len(set(named)) < len(named):
        raise ValueError(f"{argument} names a label of {dim} twice: {labels.shown(named)}")
    return [place[label] for label in named]


def level_weights(curves: xr.DataArray, given: Any) -> xr.DataArray:
    """Return a weight for every level of curves, not all zero."""
    weights = weights_on(curves, "training", given, "training_weights")
    if not weights.any():
        raise ValueError("training_weights are all zero. Give weight to at least one level")
    return weights


def check_training_weights(curves: xr.DataArray, given: TrainingWeights) -> xr.DataArray | str | None:
    """Return a weight for every level of curves, "final" for the last of each task, or None for equal ones."""
    if given is None or (isinstance(given, str) and given == "final"):
        return given
    if isinstance(given, str):
        raise ValueError(f"training_weights must be None, 'final' or weights; got {labels.shown(given)}")
    return level_weights(curves, given)
