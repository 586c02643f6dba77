"""Pictures of statistics of scores along training, with their intervals or bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.axes import SHADE, scale_training, wrapped
from xcurves.core.sentences import joined
from xcurves.distributions.plots import bounds_of, say_shade, styled_groups
from xcurves.distributions.text import say_statistic, statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_along_training(result: xr.Dataset, ax: Axes) -> None:
    """Draw one statistic of every algorithm against training, with its intervals or band."""
    names = result["param"].to_numpy().tolist()
    if len(names) > 1:
        raise ValueError(f"one Axes has one statistic; got {len(names)}. Select one: result.sel(param=[{names[0]!r}])")
    scale_training(ax, result["training"])
    x = result["training"].to_numpy()
    for style, group in styled_groups(result):
        own = group.isel(param=0).transpose("training", ...)
        low, high = (bound.to_numpy() for bound in bounds_of(own["statistic_ci"]))
        known = np.isfinite(low) & np.isfinite(high)
        name = str(group["algorithm"].item()) if "algorithm" in group.coords else None
        ax.fill_between(x, low, high, where=known, color=style.color, alpha=SHADE, linewidth=0)
        ax.plot(x, statistics(group).isel(param=0), linestyle=style.linestyle, marker=style.marker, markersize=3.5,
                color=style.color, label=name)  # fmt: skip
    units = str(result["score_mean"].attrs.get("units", "1"))
    said = say_statistic(result, names[0])
    ax.set_ylabel(wrapped(said if units in ("1", "") else f"{said} ({units})"))
    shade = say_shade(result, "simultaneous" if "simultaneous" in result.attrs else "pointwise")
    ax.set_xlabel(f"{ax.get_xlabel()}\n{shade}")


def say_along_training(result: xr.Dataset) -> str:
    """Return what the picture of statistics along training shows."""
    values = statistics(result)
    whose = labels.result_names(values.isel(param=0, training=0, drop=True))
    said = []
    for name in values["param"].to_numpy().tolist():
        own = values.sel(param=name).transpose(..., "training").to_numpy().reshape(len(whose), -1)
        known = [row[np.isfinite(row)] for row in own]
        ends = [f"{who}{row[0]:.4g} to {row[-1]:.4g}" for who, row in zip(whose, known, strict=True) if row.size]
        said.append(f"{say_statistic(result, name)}, first to last: {joined(ends) or 'none'}")
    return f"Line charts of statistics against training. {joined(said, '; ')}."
