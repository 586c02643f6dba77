"""Differences of curves of pairs with their bands, along training or a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.labels import each_of
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.validation import is_without_training
from xcurves.draw.drawn_names import wrapped
from xcurves.draw.look import fill_band
from xcurves.draw.ticks import scale_training
from xcurves.pictures.styles import bounds_of, style_in
from xcurves.say.numbers import label_of
from xcurves.say.pairs import MOST_PAIRS, pairs_by_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TASKS = 4


def suits_along_training(result: xr.Dataset) -> bool:
    """Return whether differences along training are drawn where nobody asked for them: of few tasks."""
    if is_without_training(result):
        return False
    known = result.get("curve_difference")
    return known is not None and {"pair", "training"} <= set(known.dims) and known[..., 0, 0].size <= _TASKS


def draw_along_training(result: xr.Dataset, ax: Axes) -> None:
    """Draw the difference of every pair along training, with its band."""
    if "curve_difference" not in result:
        raise Refusal(
            "result",
            UNSAID,
            f"more than {MOST_PAIRS} pairs have no curves here",
            "Select algorithms before comparing them",
        )
    here = result.isel(training=result["curve_difference"].notnull().any("pair").to_numpy())
    scale_training(ax, result["training"])
    draw_pairs_along(
        here,
        ax,
        here["training"].to_numpy(),
        "curve_difference",
        "curve_difference_band",
    )


def draw_pairs_along(result: xr.Dataset, ax: Axes, x: Floats, difference: str, band: str) -> None:
    """Draw the difference of every pair with its band, turned so that its mean is positive, the largest first.

    The only pair of several panels keeps its direction: they then share a label.
    """
    name_as_given = str(result["pair"].values.flat[0])
    title = ax.get_title()
    is_same_in_panels = result.sizes["pair"] == 1 and title and name_as_given not in title
    if "pair" in result.dims and not is_same_in_panels:
        size = result[difference].mean([dim for dim in result[difference].dims if dim != "pair"])
        result = pairs_by_size(result, size, [difference, band])
    ax.axhline(0, color="0.6", linewidth=1)
    for pair in each_of(result, "pair"):
        style = style_in(pair, "pair")
        fill_band(ax, x, bounds_of(pair[band]), style.color)
        look: dict[str, Any] = {"color": style.color, "linestyle": style.linestyle}
        if np.isfinite(pair[difference]).sum() == 1:
            look["marker"] = "."
        if result.sizes["pair"] > 1:
            look["label"] = str(pair["pair"].item())
        ax.plot(x, pair[difference], **look)

    # The only pair is named in the title, if it is there, or beside the axis.
    label = label_of(result[difference])
    if result.sizes["pair"] == 1:
        name = str(result["pair"].item())
        if name_as_given in title:
            ax.set_title(title.replace(name_as_given, name))
        else:
            label += f"\n{name}"
    ax.set_ylabel(wrapped(label))
