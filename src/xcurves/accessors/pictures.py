"""`.curves` of arrays, results and analyses: their pictures."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import xarray as xr
from numpy.typing import NDArray

import xcurves
from xcurves.accessors.documented import documented
from xcurves.core import validation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawn = TypeVar("Drawn", xr.DataArray, xr.Dataset, xr.DataTree)


class Drawable(Generic[Drawn]):
    """What `plot` takes."""

    def __init__(self, data: Drawn) -> None:
        self._data: Drawn = data

    @documented
    def plot(
        self,
        view: str | None = None,
        *,
        ax: Axes | None = None,
        col: Hashable | None = None,
        row: Hashable | None = None,
        col_wrap: int | None = None,
        figsize: tuple[float, float] | None = None,
        colors: Mapping[Any, Any] | Sequence[Any] | None = None,
        labels: Mapping[Any, str] | None = None,
        order: Sequence[Any] | None = None,
        n_resamples: int | None = None,
        confidence_level: float | None = None,
        rng: validation.Rng = None,
    ) -> Axes | NDArray[Any]:
        """Call :func:`xcurves.plot`."""
        return xcurves.plot(
            self._data, view, ax=ax, col=col, row=row, col_wrap=col_wrap, figsize=figsize, colors=colors,
            labels=labels, order=order, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng,
        )  # fmt: skip
