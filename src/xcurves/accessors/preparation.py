"""`.curves` of arrays: what makes curves ready for a comparison, and frames of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import xarray as xr

import xcurves
from xcurves.accessors.documented import documented

if TYPE_CHECKING:
    from xcurves.preprocessing.grids import AlignMethod, On
    from xcurves.preprocessing.normalization import Reference


class CurvePreparation:
    """Methods that align, normalize and reshape curves."""

    _data: xr.DataArray

    @documented
    def align(
        self,
        on: On | int = "intersection",
        *,
        method: AlignMethod | None = None,
        tolerance: float | None = None,
        relative_to: Literal["budget"] | None = None,
    ) -> xr.DataArray:
        """Call :func:`xcurves.align`."""
        return xcurves.align(self._data, on, method=method, tolerance=tolerance, relative_to=relative_to)

    @documented
    def drop_incomplete(self) -> xr.DataArray:
        """Call :func:`xcurves.drop_incomplete`."""
        return xcurves.drop_incomplete(self._data)

    @documented
    def to_frame(self) -> pd.DataFrame:
        """Call :func:`xcurves.to_frame`."""
        return xcurves.to_frame(self._data)

    @documented
    def assign_looks(
        self, by: int | Mapping[Any, Any] | pd.Series[Any], *, n_looks: int | None = None, name: str = "look"
    ) -> xr.DataArray:
        """Call :func:`xcurves.assign_looks`."""
        return xcurves.assign_looks(self._data, by, n_looks=n_looks, name=name)

    @documented
    def normalize(self, *, low: Reference, high: Reference) -> xr.DataArray:
        """Call :func:`xcurves.normalize`."""
        return xcurves.normalize(self._data, low=low, high=high)

    @documented
    def time_to_threshold(
        self, threshold: Reference, *, sustained: int = 1, higher_is_better: bool = True
    ) -> xr.DataArray:
        """Call :func:`xcurves.time_to_threshold`."""
        return xcurves.time_to_threshold(self._data, threshold, sustained=sustained, higher_is_better=higher_is_better)
