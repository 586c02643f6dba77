"""What all plots share: new axes, labels from attrs, a scale that suits the training levels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw = Callable[[xr.Dataset, "Axes"], None]

_EVEN = 4.0  # the largest step may be so many times the smallest for a linear scale
_NAMED = 12  # levels that get a tick each


@dataclass(frozen=True)
class Family:
    """How the results of one method are drawn.

    `views` draw a result that has no extra dims but the `overlaid` ones on one Axes; `default` names those that are
    drawn if none is asked for.
    """

    views: Mapping[str, Draw]
    default: tuple[str, ...]
    overlaid: Collection[str] | Callable[[xr.Dataset], Collection[Hashable]] = ()

    def together(self, result: xr.Dataset) -> Collection[Hashable]:
        """Return the extra dims that one Axes holds; of some methods they depend on the result."""
        return self.overlaid(result) if callable(self.overlaid) else self.overlaid


def new_axes(n_rows: int = 1, n_columns: int = 1, **options: Any) -> NDArray[Any]:
    """Return new axes, shape (row, column), 5 by 3.2 inches each."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("plot needs matplotlib. Install it: pip install 'xcurves[plot]'") from error
    size = (5 * n_columns, 3.2 * n_rows)
    _, axes = plt.subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained", **options)
    return np.asarray(axes)


def label_of(variable: xr.DataArray) -> str:
    """Return the label of an axis: long_name, or the name, and the units."""
    name = str(variable.attrs.get("long_name", variable.name))
    units = str(variable.attrs.get("units", "1"))
    return name if units in ("1", "") else f"{name} ({units})"


def scale_training(ax: Axes, training: xr.DataArray) -> None:
    """Label the x axis and scale it by the levels: linear if they are even, else log, symlog if 0 is one of them."""
    ax.set_xlabel(label_of(training))
    levels = training.to_numpy()
    steps = np.diff(levels)
    if steps.size == 0 or steps.max() <= _EVEN * steps.min():
        return
    if levels[0] < 0:
        return
    ax.set_xscale("log") if levels[0] > 0 else ax.set_xscale("symlog", linthresh=levels[1], linscale=0.5)
    if len(levels) <= _NAMED:
        ax.set_xticks(levels, [f"{level:g}" for level in levels], fontsize="small", rotation=30)
        ax.minorticks_off()


def say_task(task: Mapping[Hashable, Any]) -> str:
    """Return the title of one task's panel."""
    return ", ".join(f"{dim} = {label}" for dim, label in task.items())
