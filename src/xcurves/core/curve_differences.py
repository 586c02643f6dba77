"""Differences of two curves with their bands: the picture of pairs along training, or along shares of a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core.axes import fill_band, scale_training, style_in, wrapped
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import Drawing, View
from xcurves.core.tables import pairs_by_size
from xcurves.core.wording import label_of
from xcurves.kernels.moments import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PAIRS = 8  # whose curves are compared along training
_IN_A_PANEL, _TASKS = 3, 4


def view_along_training(together: str) -> View:
    """Return the view of `curve_difference`, whose band holds for what is said `together`."""
    caption = {
        "": "Difference of mean scores, the first less the second, along training.",
        "band": f"The band holds for {together}: where it leaves 0 the difference is shown.",
    }
    return View(Drawing(_draw, suits=_suits), caption, panels={"pair": _IN_A_PANEL})


def _suits(result: xr.Dataset) -> bool:
    known = result.get("curve_difference")
    return known is not None and {"pair", "training"} <= set(known.dims) and known[..., 0, 0].size <= _TASKS


def _draw(result: xr.Dataset, ax: Axes) -> None:
    if "curve_difference" not in result:
        raise ValueError(f"more than {MOST_PAIRS} pairs have no curves here. Select algorithms before comparing them")
    here = result.isel(training=result["curve_difference"].notnull().any("pair").to_numpy())
    scale_training(ax, result["training"])
    draw_pairs_along(here, ax, here["training"].to_numpy(), "curve_difference", "curve_difference_band")


def draw_pairs_along(result: xr.Dataset, ax: Axes, x: Floats, difference: str, band: str) -> None:
    """Draw the difference of every pair with its band, turned so that its mean is positive, the largest first."""
    if "pair" in result.dims:
        size = result[difference].mean([dim for dim in result[difference].dims if dim != "pair"])
        result = pairs_by_size(result, size, [difference, band])
    ax.axhline(0, color="0.6", linewidth=1)
    n = result.sizes["pair"]
    for place in range(n):
        own = result.isel(pair=place)
        style = style_in(own, "pair")
        low, high = (own[band].sel(ci_bound=bound).to_numpy() for bound in CI_BOUNDS)
        fill_band(ax, x, low, high, style)
        marker = "." if np.isfinite(own[difference]).sum() == 1 else None
        label = str(own["pair"].item()) if n > 1 else None
        ax.plot(x, own[difference], linestyle=style.linestyle, marker=marker, color=style.color, label=label)
    said = label_of(result[difference])
    ax.set_ylabel(wrapped(said if n > 1 else f"{said}\n{result['pair'].item()}"))
