"""Which scales of scores can be computed with: their squares, their size, and the digits that differences keep."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats
from xcurves.core.labels import task_names
from xcurves.core.refusal import UNSAID, Refusal

_SQUARES = 1e-280, 1e290  # least and largest sum of squares
_LARGEST = 1e140  # of a value, either sign, that is squared
# Scores of 53 bits, of which differences between runs have ten or more: sums of squares then have six digits.
_LEAST_RANGE = 2.0**-43  # of the scores of a task, of the largest of them
_FIRST = 4  # labels of each dim that are looked at before all are


def check_squares(squares: Floats, differ: Bools, names: Sequence[str]) -> None:
    """Refuse tasks whose squares overflow, or vanish although scores differ; both of shape (task,)."""
    least, most = _SQUARES
    vanishes = (squares < least) & differ
    overflows = ~np.isfinite(squares) | (squares > most)
    refused = np.flatnonzero(vanishes | overflows)
    if refused.size:
        task = refused[0]
        size = "large"
        if vanishes[task]:
            size = "small"
        raise Refusal(
            "curves",
            UNSAID,
            f"{names[task]}scores are too {size} to be squared",
            "Rescale: curves / abs(curves).max()",
        )


def check_size(values: Floats, names: Sequence[str], name: str = "curves", limit: float = _LARGEST) -> None:
    """Refuse tasks of which the largest value, either sign, is beyond a limit or below its inverse, but not 0.

    `values`, shape (task, ...), are NaN where there is none; `name` is that of the argument.
    """
    # Infinite scores have checks of their own.
    sizes = np.nan_to_num(np.abs(values.reshape(len(names), -1)), posinf=0.0)
    largest = sizes.max(axis=1, initial=0.0)
    is_tiny = (largest < 1 / limit) & (largest > 0)
    refused = np.flatnonzero((largest > limit) | is_tiny)
    if refused.size:
        task = refused[0]
        size = "small"
        if largest[task] > 1:
            size = "large"
        raise Refusal(
            "curves",
            UNSAID,
            f"{names[task]}{name} has values too {size} to compute with, up to {largest[task]:.3g}",
            f"Rescale: {name} / abs({name}).max()",
        )


def check_range(curves: xr.DataArray, core: Collection[Hashable], name: str) -> None:
    """Refuse scores in memory that differ in their last digits only, which rounding changes.

    The range R of a task must be 2⁻⁴³ of its largest score M or more, if it is not 0. Where the range r of some of its
    scores is 2⁻⁴² of their largest m or more, it is: either M > 2 m, and then R ≥ M - m > M / 2, or R / M ≥ r / 2 m.
    """
    # are lazy: the property `chunks` takes far longer
    if getattr(curves.data, "chunks", None) is not None:
        return
    first = curves.isel({dim: slice(_FIRST) for dim in core if dim in curves.dims})
    some, largest_of_some = _ranges(first, core)
    if not (some < 2 * _LEAST_RANGE * largest_of_some).any():
        return
    ranges, largest = _ranges(curves, core)
    refused = np.flatnonzero((ranges > 0) & (ranges < _LEAST_RANGE * largest))
    if refused.size:
        task = refused[0]
        of_task = ""
        if len(ranges) > 1:
            of_task = repr([dim for dim in curves.dims if dim in core])
        raise Refusal(
            "curves",
            UNSAID,
            f"{task_names(curves, core)[task]}{name} has scores of {largest[task]:.3g} that differ "
            f"by {ranges[task]:.3g}, in their last digits only",
            f"Subtract what they share: {name} - {name}.min({of_task})",
        )


def _ranges(curves: xr.DataArray, core: Collection[Hashable]) -> tuple[Floats, Floats]:
    """Return the range of the finite scores of each task, NaN without any, and the largest of them, either sign."""
    tasks = [dim for dim in curves.dims if dim not in core]
    values = curves.transpose(*tasks, ...).to_numpy()
    values = values.reshape(int(np.prod(values.shape[: len(tasks)])), -1)
    values = np.where(np.isfinite(values), values, np.nan)
    least, most = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
    return most - least, np.maximum(np.abs(least), np.abs(most))
