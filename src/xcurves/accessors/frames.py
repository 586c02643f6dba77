"""`.curves` of tidy frames: from rows to labelled curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

import xcurves
from xcurves.accessors.documented import documented

if TYPE_CHECKING:
    from xcurves.preprocessing.columns import Duplicates
    from xcurves.preprocessing.grids import AlignMethod, On


@pd.api.extensions.register_dataframe_accessor("curves")
class DataFrameCurves:
    """Methods of tidy frames: one row per score."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    @documented
    def to_dataarray(
        self,
        value: str,
        *,
        algorithm: str = "algorithm",
        run: str | None = "run",
        training: str | None = "training",
        extra: str | Sequence[str] = (),
        on: On | None = None,
        method: AlignMethod | None = None,
        tolerance: float | None = None,
        duplicates: Duplicates = "raise",
    ) -> xr.DataArray:
        """Call :func:`xcurves.to_dataarray`."""
        return xcurves.to_dataarray(
            self._frame, value, algorithm=algorithm, run=run, training=training, extra=extra, on=on, method=method,
            tolerance=tolerance, duplicates=duplicates,
        )  # fmt: skip

    @documented
    def to_dataset(
        self,
        values: Sequence[str],
        *,
        algorithm: str = "algorithm",
        run: str | None = "run",
        training: str | None = "training",
        extra: str | Sequence[str] = (),
        on: On | None = None,
        method: AlignMethod | None = None,
        tolerance: float | None = None,
        duplicates: Duplicates = "raise",
    ) -> xr.Dataset:
        """Call :func:`xcurves.to_dataset`."""
        return xcurves.to_dataset(
            self._frame, values, algorithm=algorithm, run=run, training=training, extra=extra, on=on, method=method,
            tolerance=tolerance, duplicates=duplicates,
        )  # fmt: skip
